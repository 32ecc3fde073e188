"""Jobs as operators look for them: filters, pages, one job in full, why it waits, what it belongs to. Plain data.

Nothing is read here: ``administration`` reads, the store's rules decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Self, TypedDict

import msgspec

from procession.app import arguments
from procession.app.queues import JobRecord
from procession.app.views import View
from procession.errors import InvalidValue
from procession.jobs.codec import Codec
from procession.jobs.kinds import JobKind, JobState
from procession.jobs.options import JobOptions
from procession.jobs.schedule import to_datetime
from procession.limits import PAGE_MAX
from procession.store.rows.queue_reading import JobDetails, QueueFilter, StoredAttempt


class JobFilters(TypedDict, total=False):
    """Which jobs are meant; what is left out does not restrict.

    ``text`` is looked for in title, type, error and arguments; ``flow`` is the key of any job of a flow; ``kind`` is
    task (a plain job), service, method, timer, follow_up or listener.
    """

    state: str
    queue: str
    type: str
    kind: str
    tag: str
    text: str
    batch: int
    flow: int
    node: int


class QueueJob(JobRecord, frozen=True, kw_only=True):
    """A job as a list shows it."""

    node: int  # the process that it is leased to; 0 for none
    batch_key: int
    unique_key: str
    limits: list[str]
    fair_key: str
    timeout_ms: int
    deadline_at: datetime | None
    parent_keys: list[int]  # what it comes after

    @classmethod
    def of(cls, row: JobDetails, codec: Codec | None = None) -> Self:
        """From its rows."""
        options = row.options or JobOptions()
        base = msgspec.structs.asdict(JobRecord.of(row, codec))
        deadline = options.deadline_at or (row.created_at + options.deadline_ms if options.deadline_ms else 0)
        return cls(
            **base,
            node=max(0, row.owner),
            batch_key=options.batch,
            unique_key=options.unique.key if options.unique is not None else "",
            limits=[limit.key for limit in options.limits],
            fair_key=options.fair_key,
            timeout_ms=options.timeout_ms,
            deadline_at=to_datetime(deadline) if deadline else None,
            parent_keys=[after.key for after in options.after],
        )


class JobPage(View, frozen=True, kw_only=True):
    """A page of jobs. ``after`` is where the next one begins, 0 when this is the last.

    ``total`` is how many are meant, exact unless ``is_more``: a count goes no further than a bound. A page may be
    short, even empty, and yet not the last: only so many jobs are looked at for one.
    """

    jobs: list[QueueJob]
    after: int
    total: int
    is_more: bool


class JobAttempt(View, frozen=True, kw_only=True):
    """An attempt of a job that failed."""

    attempt: int  # the first is 1
    at: datetime
    worker: str  # the process or remote worker that had it
    error_type: str
    message: str

    @classmethod
    def of(cls, row: StoredAttempt) -> Self:
        """From its row."""
        at = to_datetime(row.at)
        return cls(attempt=row.attempt, at=at, worker=row.worker, error_type=row.type, message=row.message)


class RelatedJob(View, frozen=True, kw_only=True):
    """A job that another one comes after, or that comes after it."""

    job_key: int
    type: str
    title: str
    state: str  # as of jobs; GONE for one that ended without a trace
    either: bool  # whether it only has to be over


class JobInFull(View, frozen=True, kw_only=True):
    """A job with what it belongs to, and in a sentence what it waits for."""

    job: QueueJob
    why: str
    checkpoint: Any
    parents: list[RelatedJob]
    children: list[RelatedJob]
    attempts: list[JobAttempt]  # that failed, the last JOB_ATTEMPTS_KEPT_MAX


def filter_of(choice: JobFilters, tenant: str) -> QueueFilter:
    """Users' words as a filter; a flow's keys are not in it. Raises InvalidValue."""
    if unknown := sorted(map(str, choice.keys() - JobFilters.__optional_keys__)):
        message = f"Expected filters of jobs ({', '.join(sorted(JobFilters.__optional_keys__))}), found '{unknown[0]}'"
        raise InvalidValue(message)
    kind = _member(JobKind, choice.get("kind", ""), "kind")
    return QueueFilter(
        state=_member(JobState, choice.get("state", ""), "state"),
        queue=arguments.text(choice.get("queue", ""), "queue"),
        type=arguments.text(choice.get("type", ""), "type"),
        kinds=[kind] if kind >= 0 else [],
        tag=arguments.text(choice.get("tag", ""), "tag"),
        text=arguments.text(choice.get("text", ""), "text"),
        batch=arguments.key_or_none(choice.get("batch", 0), "batch"),
        owner=arguments.whole(choice.get("node", 0), "node", 0, 2**31 - 1),
        tenant=tenant,
        limit=PAGE_MAX,
    )


def _member(names: type[JobState | JobKind], name: object, what: str) -> int:
    """The number that a name stands for; -1 for none. Raises InvalidValue."""
    text = arguments.text(name, what).upper().replace("-", "_")
    if not text:
        return -1
    if text not in names.__members__:
        known = ", ".join(member.name.lower() for member in names)
        message = f"Expected {what} to be one of {known}, found {arguments.shown(name)}"
        raise InvalidValue(message)
    return names[text]


def why_it_waits(row: JobDetails, waiting: int, paused: Sequence[str]) -> str:
    """What has to happen for a job to go on; ``waiting``: parents that are not over, ``paused``: what holds it."""
    state = JobState(row.state)
    if state == JobState.READY:
        return f"waits until {' and '.join(paused)} is resumed" if paused else f"waits for a worker of '{row.queue}'"
    if state == JobState.RUNNING:
        return "its run is being canceled" if row.cancel_reason is not None else f"is leased to process {row.owner}"
    if state == JobState.SCHEDULED:
        return f"{'is tried again' if row.error and row.attempt else 'is due'} at {_moment(row.run_at)}"
    if state == JobState.THROTTLED:
        keys = ", ".join(f"'{limit.key}'" for limit in (row.options or JobOptions()).limits)
        by_rate = f"may start at {_moment(row.run_at)}, by its limits ({keys})"
        return f"waits for a slot of limit '{row.waits_for}'" if row.waits_for else by_rate
    return {
        JobState.AWAITING: f"waits for {waiting} job{'s' if waiting != 1 else ''} that it comes after",
        JobState.FAILED: "has failed for good: requeue or delete it",
        JobState.SUSPENDED: "waits until its instance is resumed",
        JobState.SUCCEEDED: "is done",
        JobState.DELETED: "was deleted" + (f": {row.error}" if row.error else ""),
    }[state]


def _moment(instant: int) -> str:
    return f"{to_datetime(instant):%Y-%m-%dT%H:%M:%SZ}"
