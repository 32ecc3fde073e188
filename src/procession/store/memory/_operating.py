"""What operators ask of the memory store: deletion and batches. Part of the store's face."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from procession.core.state import Status
from procession.jobs.kinds import JobKind, JobState
from procession.store._shared.refusals import clean_text
from procession.store._shared.texts import NOT_DELETED
from procession.store.memory._jobs import close_job
from procession.store.memory._queue_tables import QueueTables
from procession.store.memory._tables import Tables
from procession.store.rows import JobFence, NewJob, StoredJob
from procession.store.rows.operating import BatchAdvance, BatchState, NewBatch, StoredBatch, StoredBatchError

ENDED = (Status.COMPLETED, Status.TERMINATED)
UNDER_WAY = (BatchState.ACTIVE, BatchState.SUSPENDED)


class Operating:
    """Deletion and batches."""

    _tables: Tables
    _queue: QueueTables

    # -- jobs that wait -------------------------------------------------------------------------------------------
    async def retry_jobs(self, jobs: Sequence[int], retries: int) -> list[int]:
        """Make failed jobs ready."""
        tables, now = self._tables, self._tables.clock()
        plain = [key for key in dict.fromkeys(jobs) if not self._queue.beyond(key).traits]
        found = [job for key in plain if (job := tables.jobs.get(key)) and job.state == JobState.FAILED]
        for job in found:
            job.retries, job.crashes, job.run_at = retries, 0, now
            self._queue.set_ended(job.key, 0)
            tables.make_ready(job)
        return sorted(job.key for job in found)

    async def hasten(self, instance: int) -> list[str]:
        """Make what is tried again later ready now."""
        tables, now = self._tables, self._tables.clock()
        found = [
            job
            for job in tables.jobs.values()
            if job.instance == instance
            and job.state == JobState.SCHEDULED
            and job.kind in (JobKind.TIMER, JobKind.FOLLOW_UP)
            and job.attempt > 0
        ]
        for job in found:
            job.run_at = now
            tables.make_ready(job)
        return sorted({job.queue for job in found})

    # -- deletion -------------------------------------------------------------------------------------------------
    async def ended_instances(self, *, ended_before: int, after: int = 0, limit: int = 1000) -> tuple[list[int], int]:
        """Of the next instances by key, those that may be deleted."""
        instances = self._tables.instances
        page = sorted(key for key in instances if key > after)[:limit]
        found = [
            key
            for key in page
            if (row := instances[key]).status in ENDED and row.ended_at <= ended_before and row.parent not in instances
        ]
        return found, page[-1] if len(page) == limit else 0

    async def delete_instances(self, instances: Sequence[int]) -> list[int]:
        """Delete ended instances with what they called."""
        return delete_instances(self._tables, instances)

    async def delete_definition(self, definition: int) -> bool:
        """Delete a version that no instance is of."""
        tables = self._tables
        found = tables.definitions.get(definition)
        if found is None or found.deleted or _is_used(tables, definition):
            return False
        found.deleted = True
        tables.deleted[definition] = tables.clock()
        for meant in tables.deployments.values():
            if definition in meant:
                meant.remove(definition)
        starts = tables.starts.get((found.tenant, found.process_id), [])
        starts[:] = [row for row in starts if row.definition != definition]
        for job in list(tables.jobs.values()):
            if job.kind == JobKind.TIMER and not job.instance and job.definition == definition:
                del tables.jobs[job.key]
        return True

    async def purge_definitions(self, *, deleted_before: int) -> int:
        """Remove versions that were deleted long ago."""
        tables = self._tables
        gone = [key for key, at in tables.deleted.items() if at <= deleted_before and not _is_used(tables, key)]
        for key in gone:
            del tables.deleted[key]
            found = tables.definitions.pop(key)
            tables.versions[found.tenant, found.process_id].remove(key)
            defined = [*tables.definitions.values(), *tables.decisions.values()]
            if all(row.resource != found.resource for row in defined):
                tables.resources.pop(found.resource, None)
        return len(gone)

    # -- batches --------------------------------------------------------------------------------------------------
    async def create_batch(self, batch: NewBatch, job: NewJob) -> bool:
        """Begin a batch."""
        tables, now = self._tables, self._tables.clock()
        if batch.key in tables.batches:
            return True
        if batch.retry_of and any(row.retry_of == batch.retry_of for row in tables.batches.values()):
            return False
        fields = msgspec.structs.asdict(batch)
        tables.batches[batch.key] = StoredBatch(
            **fields, state=BatchState.ACTIVE, emitted=0, failed=0, cursor=0, open=[], created_at=now, ended_at=0
        )
        tables.insert_job(job, now)
        return True

    async def batches(
        self, *, keys: Sequence[int] = (), tenant: str = "", after: int = 0, limit: int = 100
    ) -> list[StoredBatch]:
        """Batches, newest first."""
        tables = self._tables
        found = [tables.batches[key] for key in sorted(keys or tables.batches, reverse=True) if key in tables.batches]
        found = [row for row in found if tenant in ("", row.tenant) and (not after or row.key < after)]
        return [_as_it_stands(tables, row) for row in found[:limit]]

    async def advance_batch(self, advance: BatchAdvance) -> bool:
        """Emit the next items."""
        tables, now = self._tables, self._tables.clock()
        row = tables.batches.get(advance.key)
        if row is None or row.state != BatchState.ACTIVE or row.cursor != advance.cursor:
            return False
        for key in row.open:
            job = tables.jobs.get(key)
            if job is not None and job.state == JobState.FAILED:
                _fail(tables, row.key, job.instance, job.error)
                del tables.jobs[key]
        deleted = set(delete_instances(tables, advance.deletes))
        for key in advance.deletes:
            if key not in deleted:
                _fail(tables, row.key, key, NOT_DELETED)
        for key, message in advance.errors.items():
            _fail(tables, row.key, key, message)
        for job in advance.jobs:
            tables.insert_job(job, now)
        row.emitted += advance.count
        row.cursor = advance.to
        row.open = [*advance.open, *(job.key for job in advance.jobs)]
        if advance.ended:
            row.state, row.ended_at = BatchState.COMPLETED, now
        return True

    async def fail_batch_item(self, batch: int, item: int, message: str, closes: JobFence) -> bool:
        """Keep why an item was not done, and close its job."""
        if not close_job(self._tables, closes):
            return False
        _fail(self._tables, batch, item, message)
        return True

    async def end_batch(self, batch: int) -> bool:
        """Emit no more items."""
        tables = self._tables
        row = tables.batches.get(batch)
        if row is None or row.state not in UNDER_WAY:
            return False
        for job in _items(tables, row, JobState.SUSPENDED):
            del tables.jobs[job.key]
            row.emitted -= 1
        row.state, row.ended_at = BatchState.CANCELED, tables.clock()
        return True

    async def suspend_batch(self, batch: int) -> bool:
        """Let it rest."""
        row = self._tables.batches.get(batch)
        if row is None or row.state != BatchState.ACTIVE:
            return False
        for job in _items(self._tables, row, JobState.READY, JobState.SCHEDULED):
            job.state = JobState.SUSPENDED
        row.state = BatchState.SUSPENDED
        return True

    async def resume_batch(self, batch: int, turn: NewJob) -> bool:
        """Let it go on."""
        tables, now = self._tables, self._tables.clock()
        row = tables.batches.get(batch)
        if row is None or row.state != BatchState.SUSPENDED:
            return False
        for job in _items(tables, row, JobState.SUSPENDED):
            job.run_at = now
            tables.make_ready(job)
        tables.insert_job(turn, now)
        row.state = BatchState.ACTIVE
        return True

    async def delete_batches(self, *, ended_before: int, limit: int) -> int:
        """Delete batches that ended long ago."""
        tables = self._tables
        again = {row.retry_of for row in tables.batches.values() if row.state in UNDER_WAY}
        doomed = [
            row.key
            for row in tables.batches.values()
            if row.state not in UNDER_WAY and row.ended_at <= ended_before and row.key not in again
        ]
        errors = [error for error in tables.batch_errors if error[0] in doomed][:limit]
        for error in errors:
            del tables.batch_errors[error]
        empty = [key for key in doomed if all(batch != key for batch, _ in tables.batch_errors)][:limit]
        for key in empty:
            del tables.batches[key]
        return len(errors) + len(empty)

    async def batch_errors(self, batch: int, *, after: int = 0, limit: int = 1000) -> list[StoredBatchError]:
        """What was not done, by item."""
        found = sorted((item, text) for (owner, item), text in self._tables.batch_errors.items() if owner == batch)
        return [StoredBatchError(batch=batch, item=item, message=text) for item, text in found if item > after][:limit]


def _is_used(tables: Tables, definition: int) -> bool:
    return any(row.definition == definition for row in tables.instances.values())


def _as_it_stands(tables: Tables, row: StoredBatch) -> StoredBatch:
    failed = sum(1 for owner, _ in tables.batch_errors if owner == row.key)
    return msgspec.structs.replace(row, failed=failed, open=[key for key in row.open if key in tables.jobs])


def _items(tables: Tables, row: StoredBatch, *states: JobState) -> list[StoredJob]:
    """The jobs of its items that are in one of these states."""
    return [job for key in row.open if (job := tables.jobs.get(key)) is not None and job.state in states]


def _fail(tables: Tables, batch: int, item: int, message: str) -> None:
    tables.batch_errors.setdefault((batch, item), clean_text(message))


def delete_instances(tables: Tables, keys: Sequence[int]) -> list[int]:
    """Delete ended instances that nothing there has called, with everything that they called."""
    children: dict[int, list[int]] = {}
    if keys:
        for row in tables.instances.values():
            if row.parent:
                children.setdefault(row.parent, []).append(row.key)
    deleted: list[int] = []
    for root in dict.fromkeys(keys):
        row = tables.instances.get(root)
        if row is None or row.parent in tables.instances:
            continue
        tree = [root]
        for key in tree:
            tree += children.get(key, [])
        if all(tables.instances[key].status in ENDED for key in tree):
            for key in tree:
                del tables.instances[key]
                tables.history.pop(key, None)
                tables.incident_counts.pop(key, None)
            deleted.append(root)
    return deleted
