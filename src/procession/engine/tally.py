"""What happened to plain jobs in this process, by queue and type, until it is added to the counts per minute.

Counting is a few additions in memory for each job. Nothing is asked of the database before the next flush, a few
seconds later, which is one statement however many jobs there were. Processes add to the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from procession.engine.delivery import Delivery
from procession.jobs.kinds import JobKind
from procession.store.rows import JobEnd, NewJob
from procession.store.rows.queue_reading import StatRow

MINUTE_MS: Final = 60_000
PLACES_MAX: Final = 1_000  # queues and types counted apart between two flushes; the types of all others are one
_COLUMN: Final = {int(JobEnd.DONE): 1, int(JobEnd.FAILED): 2, int(JobEnd.RETRY): 3}  # 0 is enqueued, 4 run time
_COLUMNS: Final = [_COLUMN.get(end, 0) for end in range(max(JobEnd) + 1)]  # by end: an enumeration's hash is slow
_TASK: Final = JobKind.TASK


class Tally:
    """Counts since the last flush."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], list[float]] = {}

    def enqueued(self, jobs: Sequence[NewJob]) -> None:
        """Jobs were inserted."""
        queue = type_ = ""
        row: list[float] = []
        for job in jobs:
            if job.kind != _TASK:
                continue
            if job.queue != queue or job.type != type_:
                queue, type_ = job.queue, job.type
                row = self._row(queue, type_)
            row[0] += 1

    def ended(self, job: Delivery, end: JobEnd) -> None:
        """A run of a plain job has ended, and that is durable."""
        column = _COLUMNS[end]
        if column:
            self._row(job.queue, job.type)[column] += 1

    def failed(self, queue: str, type_: str) -> None:
        """A plain job has failed for good without a run that ended here: its deadline is over, its processes died."""
        self._row(queue, type_)[2] += 1

    def took(self, job: Delivery, took_s: float) -> None:
        """A handler was called, and took so long."""
        if job.kind == _TASK:
            self._row(job.queue, job.type)[4] += took_s * 1_000

    def take(self, now: int) -> list[StatRow]:
        """The counts, which begin anew; they are of the minute that it is now."""
        counts, self._counts = self._counts, {}
        minute = now // MINUTE_MS * MINUTE_MS
        return [
            StatRow(
                minute=minute,
                queue=queue,
                type=type_,
                enqueued=int(row[0]),
                succeeded=int(row[1]),
                failed=int(row[2]),
                retried=int(row[3]),
                run_ms=round(row[4]),
            )
            for (queue, type_), row in counts.items()
        ]

    def put_back(self, rows: Sequence[StatRow]) -> None:
        """They could not be added: they wait for the next flush."""
        for row in rows:
            counts = self._row(row.queue, row.type)
            for place, number in enumerate((row.enqueued, row.succeeded, row.failed, row.retried, row.run_ms)):
                counts[place] += number

    def _row(self, queue: str, type_: str) -> list[float]:
        place = (queue, type_)
        row = self._counts.get(place)
        if row is None:
            if len(self._counts) >= PLACES_MAX:
                place = (queue, "")
                row = self._counts.get(place)
            if row is None:
                row = self._counts[place] = [0, 0, 0, 0, 0.0]
        return row
