"""What pages look at: instances by any condition, marks of change, problems grouped, counts of what the history says.

A tally counts by (definition, place, measure). A place is an element's index, or ``flow_place`` of a flow's; a measure
is one of ``Measure``, or ``TIME`` plus the bucket of a duration. It only grows: what must not happen is
that something is added twice.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from procession.store.rows.reading import StoredIncident, StoredInstance
from procession.store.rows.row import Row

TIME: Final = 1_000  # measures from here on: how many took as long as the bucket says
BUCKETS_PER_DOUBLING: Final = 4  # a duration is known to a fifth of itself
BUCKET_MAX: Final = 200  # 35 years


class Measure(IntEnum):
    """What is counted of an element."""

    BEGAN = 0
    COMPLETED = 1
    TERMINATED = 2
    TOOK_MS = 3  # all durations together


class VariableIs(Row):
    """A variable of the instance has this value: JSON of a text, number, boolean or null."""

    name: str
    value: str


class InstanceSearch(Row, kw_only=True):
    """Which instances are looked for; zeros, -1 and empty values do not restrict.

    ``definition`` is looked for among the instances of ``process_id``. ``incident_element`` and ``fingerprint`` are
    those of an open incident. ``text`` is looked for, without regard to case, in the business id, the tags and the
    variables. A search looks at ``look`` instances at most, newest first, and says where it stands.
    """

    process_id: str = ""
    definition: int = 0
    statuses: list[int] = []
    business_id: str = ""
    parent: int = 0
    tag: str = ""
    with_incident: bool = False
    incident_element: str = ""
    fingerprint: str = ""
    started_from: int = 0
    started_until: int = 0  # not included
    ended_from: int = 0
    ended_until: int = 0  # not included
    variables: list[VariableIs] = []  # SEARCH_VARIABLES_MAX at most
    text: str = ""
    tenants: list[str] = []
    with_state: bool = False
    after: int = 0  # cursor: only keys below this one
    limit: int = 100
    look: int = 100_000


class FoundInstances(Row, kw_only=True):
    """A page, newest first; ``next_after`` is where to go on, 0 when that was all."""

    instances: list[StoredInstance]
    next_after: int = 0


class Marks(Row, kw_only=True):
    """Numbers that differ when something changed."""

    history: int = 0
    instances: int = 0
    jobs: int = 0
    incidents: int = 0
    user_tasks: int = 0
    batches: int = 0
    definitions: int = 0
    recurring: int = 0
    nodes: int = 0


class Standing(Row, kw_only=True):
    """How much there is, each counted up to a bound."""

    ready: int = 0
    running: int = 0
    scheduled: int = 0
    incidents: int = 0
    user_tasks: int = 0
    oldest_at: int = 0  # since when the oldest of the ready jobs that were counted waits; 0: none does


class Statuses(Row, kw_only=True):
    """How many of the newest instances there are, by status; ``is_part``: there are older ones."""

    counts: dict[int, int]
    is_part: bool = False


class Queued(Row, kw_only=True):
    """How many of the newest jobs there are, by queue and state; ``is_part``: there are older ones."""

    counts: dict[tuple[str, int], int]
    is_part: bool = False


class IncidentGroup(Row, kw_only=True):
    """Open incidents that are alike."""

    fingerprint: str
    count: int
    first_at: int
    last_at: int
    sample: StoredIncident  # the newest


class TallyCursor(Row, kw_only=True):
    """How far the history was counted."""

    txid: int = 0
    position: int = 0
    moved_at: int = 0


class TallyCount(Row, kw_only=True):
    """One number of a tally."""

    definition: int
    place: int
    measure: int
    times: int


class HistoryAt(Row, kw_only=True):
    """One committed step in the order in which steps are counted."""

    txid: int
    position: int
    instance: int
    definition: int
    at: int
    events: bytes


def flow_place(flow: int) -> int:
    """The place of a sequence flow."""
    return -1 - flow


def bucket_of(took_ms: int) -> int:
    """The bucket that a duration falls into; 0 for less than a millisecond."""
    if took_ms < 1:
        return 0
    whole = took_ms.bit_length() - 1
    part = ((took_ms << 16 >> whole) - 65_536) * BUCKETS_PER_DOUBLING >> 16
    return min(BUCKET_MAX, 1 + whole * BUCKETS_PER_DOUBLING + part)


def duration_of(bucket: int) -> float:
    """The middle of a bucket, in milliseconds."""
    if bucket < 1:
        return 0.0
    whole, part = divmod(bucket - 1, BUCKETS_PER_DOUBLING)
    return 2.0**whole * (1 + (part + 0.5) / BUCKETS_PER_DOUBLING)
