"""What is counted by time: how much was done in an hour or a minute, for whom, of what type, by which worker."""

from __future__ import annotations

from enum import IntEnum
from hashlib import blake2b
from typing import Final

from procession.store.rows.row import Row

MINUTE_MS: Final = 60_000
HOUR_MS: Final = 3_600_000
TEXT_CHARS_MAX: Final = 200  # of each text; what differs only behind that is counted as one


class Measure(IntEnum):
    """What a row counts."""

    INSTANCES = 1  # that nobody called
    DECISIONS = 2
    ASSIGNEE = 3  # user tasks given to ``name``
    JOBS_CREATED = 4  # of the type ``name``
    JOBS_COMPLETED = 5
    JOBS_FAILED = 6  # for good, or with a thrown error
    GIVEN = 7  # jobs of the type ``name`` to the remote ``worker``
    WORKER_COMPLETED = 8
    WORKER_FAILED = 9  # ``detail``: why
    WORKER_RETRIED = 10  # failed with attempts left; ``detail``: why


USAGE: Final = frozenset({Measure.INSTANCES, Measure.DECISIONS, Measure.ASSIGNEE})


class MeterRow(Row, kw_only=True):
    """So many times, from ``at`` on, for an hour (usage) or a minute."""

    at: int
    measure: int
    times: int
    last_at: int
    tenant: str = ""
    name: str = ""
    worker: str = ""
    detail: str = ""

    @property
    def id(self) -> int:
        """A number that stands for everything but the time and the counts."""
        texts = "\0".join((str(int(self.measure)), self.tenant, self.name, self.worker, self.detail))
        return int.from_bytes(blake2b(texts.encode(), digest_size=8).digest(), "big", signed=True)


def bucket(measure: Measure, at: int) -> int:
    """The beginning of the hour or minute that an instant belongs to."""
    width = HOUR_MS if measure in USAGE else MINUTE_MS
    return at // width * width


def cut(text: str) -> str:
    """A text as it is counted."""
    return text.replace("\0", "")[:TEXT_CHARS_MAX]
