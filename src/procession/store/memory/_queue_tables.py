"""The queue's tables in memory: dictionaries, and a journal that undoes what a script wrote before it failed.

Rows of jobs stay where they are (``Tables.jobs``); what a job has beyond a plain one is an ``Extra`` beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from procession.jobs.kinds import JobState
from procession.jobs.limits import LimitState
from procession.jobs.options import JobOptions
from procession.store._shared.queue.rows import BatchRow
from procession.store.memory._lines import Lines
from procession.store.memory._tables import Tables
from procession.store.rows import StoredJob

ABSENT: Any = object()


class Extra(msgspec.Struct):
    """What a job has beyond a plain one."""

    traits: int = 0
    options: str | None = None
    batch: int = 0
    deadline_at: int = 0
    ended_at: int = 0
    waits_for: str = ""
    cancel_reason: str | None = None
    progress: float = 0.0
    progress_text: str = ""
    checkpoint: bytes = b""


class Archived(msgspec.Struct):
    """A row of the archive."""

    job: StoredJob
    extra: Extra
    ended_at: int
    expires_at: int
    output: bytes


class Dependency(msgspec.Struct):
    """A child, and one that it comes after."""

    child: int
    parent: int
    either: bool
    resolved: bool


NO_EXTRA = Extra()


class QueueTables:
    """All rows of the queue, and how they are changed so that it can be undone."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.extras: dict[int, Extra] = {}
        self.lines = Lines(tables.jobs, lambda key: self.beyond(key).waits_for)
        self.archive: dict[int, Archived] = {}
        self.unique: dict[tuple[str, str], tuple[int, int]] = {}  # (tenant, key) -> (job, until or 0)
        self.limits: dict[str, LimitState] = {}
        self.slots: dict[tuple[str, int], int] = {}  # (limit, job) -> node
        self.links: dict[tuple[int, int], Dependency] = {}  # (child, parent)
        self.batches: dict[int, BatchRow] = {}
        self.recurring: dict[tuple[str, str], list[Any]] = {}  # (tenant, name) -> columns of list_recurring
        self.logs: dict[tuple[int, int], tuple[int, int, str]] = {}  # (job, number) -> (at, level, text)
        self.attempts: dict[
            tuple[int, int], tuple[int, int, str, str, str, int]
        ] = {}  # (job, lease) -> the other columns
        self.pauses: dict[tuple[int, str], tuple[int, str]] = {}
        self.places: dict[tuple[str, str], int] = {}
        self.stats: dict[tuple[int, str, str], list[int]] = {}
        self.tally: dict[tuple[int, int, int], int] = {}  # (definition, place, measure)
        self.meter: dict[tuple[int, int], dict[str, Any]] = {}  # (time, id)
        self.tally_cursor: dict[int, tuple[int, int, int]] = {}
        self._journal: list[tuple[dict[Any, Any], Any, Any]] = []

    # -- changes ----------------------------------------------------------------------------------------------------
    def put(self, table: dict[Any, Any], key: Any, row: Any) -> None:  # noqa: ANN401 - any table
        """Write a row; the one before is remembered."""
        self._journal.append((table, key, table.get(key, ABSENT)))
        table[key] = row

    def drop(self, table: dict[Any, Any], key: Any) -> None:  # noqa: ANN401 - any table
        """Remove a row if it is there."""
        if key in table:
            self._journal.append((table, key, table.pop(key)))

    def begin(self) -> None:
        """From here on can be undone."""
        self._journal.clear()

    def undo(self) -> None:
        """Put back what was before ``begin``."""
        for table, key, row in reversed(self._journal):
            if row is ABSENT:
                table.pop(key, None)
            else:
                table[key] = row
            if table is self.tables.jobs or table is self.extras:
                self.lines.add(key)
        self._journal.clear()

    # -- jobs -------------------------------------------------------------------------------------------------------
    def beyond(self, key: int) -> Extra:
        """What a job has beyond a plain one; not to be changed."""
        return self.extras.get(key, NO_EXTRA)

    def change_extra(self, key: int, **changes: Any) -> None:  # noqa: ANN401 - any field
        """Change what a job has beyond a plain one."""
        self.put(self.extras, key, msgspec.structs.replace(self.beyond(key), **changes))
        self.lines.add(key)

    def set_ended(self, key: int, now: int) -> None:
        """When a job that is kept as failed has ended; in no script."""
        if now or key in self.extras:
            self.extras[key] = msgspec.structs.replace(self.beyond(key), ended_at=now)

    def change_job(self, key: int, **changes: Any) -> StoredJob:  # noqa: ANN401 - any field
        """Change a job's row, and put it in the line that its state asks for."""
        job = msgspec.structs.replace(self.tables.jobs[key], **changes)
        self.put(self.tables.jobs, key, job)
        if job.state == JobState.READY:
            self.tables.make_ready(job)
        elif job.state == JobState.SCHEDULED:
            self.tables.schedule(job)
        else:
            self.lines.add(key)
        return job

    def is_paused(self, job: StoredJob) -> bool:
        """Whether nobody claims jobs of its type for now."""
        return (1, job.type) in self.pauses

    def remove_job(self, key: int) -> None:
        """Take a job out of the queue."""
        self.drop(self.tables.jobs, key)
        self.drop(self.extras, key)

    def jobs_in(self, *states: JobState) -> Iterator[StoredJob]:
        """Jobs in these states, by key."""
        for key in sorted(self.tables.jobs):
            job = self.tables.jobs[key]
            if job.state in states:
                yield job

    def options(self, key: int) -> JobOptions | None:
        """A job's options."""
        found = self.beyond(key).options
        return msgspec.json.decode(found, type=JobOptions) if found else None

    def row(self, key: int) -> tuple[Any, ...]:
        """A job as ``JobRow`` has it."""
        job, extra = self.tables.jobs[key], self.beyond(key)
        return (
            job.key,
            int(job.kind),
            int(job.state),
            job.queue,
            job.type,
            job.priority,
            job.run_at,
            job.attempt,
            job.retries,
            job.crashes,
            job.lease,
            job.owner,
            job.created_at,
            job.instance,
            extra.traits,
            extra.batch,
            extra.deadline_at,
            job.tenant,
            job.error,
            extra.waits_for,
            extra.cancel_reason,
            extra.options,
        )
