"""What operators ask of the PostgreSQL store: deletion and batches. Part of the store's face."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from procession.store._shared.refusals import clean_text
from procession.store._shared.texts import NOT_DELETED
from procession.store.postgres._columns import job_columns
from procession.store.postgres._sessions import Session, Sessions
from procession.store.rows import JobFence, NewJob
from procession.store.rows.operating import BatchAdvance, NewBatch, StoredBatch, StoredBatchError


class Operating:
    """Deletion and batches."""

    _rest: Sessions

    def _bound_now(self) -> int | None:
        raise NotImplementedError

    # -- jobs that wait -------------------------------------------------------------------------------------------
    async def retry_jobs(self, jobs: Sequence[int], retries: int) -> list[int]:
        """Make failed jobs ready."""
        rows = await self._rest.fetch("retry_jobs", list(jobs), retries, self._bound_now())
        return sorted(row[0] for row in rows)

    async def hasten(self, instance: int) -> list[str]:
        """Make what is tried again later ready now."""
        rows = await self._rest.fetch("hasten", instance, self._bound_now())
        return sorted({row[0] for row in rows})

    # -- deletion -------------------------------------------------------------------------------------------------
    async def ended_instances(self, *, ended_before: int, after: int = 0, limit: int = 1000) -> tuple[list[int], int]:
        """Of the next instances by key, those that may be deleted."""
        rows = await self._rest.fetch("find_ended_instances", ended_before, after, limit)
        return [row[0] for row in rows if row[1]], rows[-1][0] if len(rows) == limit else 0

    async def delete_instances(self, instances: Sequence[int]) -> list[int]:
        """Delete ended instances with what they called."""
        rows = await self._rest.fetch("delete_instances", list(instances)) if instances else []
        return [row[0] for row in rows]

    async def delete_definition(self, definition: int) -> bool:
        """Delete a version that no instance is of."""
        return bool(await self._rest.fetch("delete_definition", definition, self._bound_now()))

    async def purge_definitions(self, *, deleted_before: int) -> int:
        """Remove versions that were deleted long ago."""
        return (await self._rest.fetch("purge_definitions", deleted_before))[0][0]

    # -- batches --------------------------------------------------------------------------------------------------
    async def create_batch(self, batch: NewBatch, job: NewJob) -> bool:
        """Begin a batch."""
        now = self._bound_now()
        values = (batch.key, batch.kind, batch.request, batch.total, batch.tenant, now, batch.retry_of)
        async with self._transaction() as session:
            if await session.fetch("create_batch", *values):
                await session.fetch("enqueue", now, *job_columns([job]))
                return True
            return bool(await session.fetch("list_batches", [batch.key], "", 0, 1))

    async def batches(
        self, *, keys: Sequence[int] = (), tenant: str = "", after: int = 0, limit: int = 100
    ) -> list[StoredBatch]:
        """Batches, newest first."""
        return [
            StoredBatch(
                key=row[0],
                kind=row[1],
                request=row[2],
                state=row[3],
                total=row[4],
                emitted=row[5],
                failed=row[6],
                cursor=row[7],
                open=list(row[8]),
                created_at=row[9],
                ended_at=row[10] or 0,
                tenant=row[11],
                retry_of=row[12] or 0,
            )
            for row in await self._rest.fetch("list_batches", list(keys), tenant, after, limit)
        ]

    async def advance_batch(self, advance: BatchAdvance) -> bool:
        """Emit the next items."""
        now = self._bound_now()
        listed = [*advance.open, *(job.key for job in advance.jobs)]
        async with self._transaction() as session:
            before = await session.fetch(
                "advance_batch", advance.key, advance.cursor, advance.to, advance.count, listed, advance.ended, now
            )
            if not before:
                return False
            await session.fetch("fail_batch_items", advance.key, list(before[0][0]))
            if advance.deletes:
                rows = await session.fetch("delete_instances", advance.deletes)
                for key in set(advance.deletes) - {row[0] for row in rows}:
                    await session.fetch("insert_batch_error", advance.key, key, NOT_DELETED)
            for key, message in advance.errors.items():
                await session.fetch("insert_batch_error", advance.key, key, clean_text(message))
            if advance.jobs:
                jobs = sorted(advance.jobs, key=_key_of)
                await session.fetch("enqueue", now, *job_columns(jobs))
        return True

    async def fail_batch_item(self, batch: int, item: int, message: str, closes: JobFence) -> bool:
        """Keep why an item was not done, and close its job."""
        async with self._transaction() as session:
            if not await session.fetch("finish_done", [closes.key], [closes.lease]):
                return False
            await session.fetch("insert_batch_error", batch, item, clean_text(message))
        return True

    async def end_batch(self, batch: int) -> bool:
        """Emit no more items."""
        now = self._bound_now()
        async with self._transaction() as session:
            dropped = await session.fetch("drop_suspended_items", batch)
            return bool(await session.fetch("end_batch", batch, now, len(dropped)))

    async def suspend_batch(self, batch: int) -> bool:
        """Let it rest."""
        async with self._transaction() as session:
            found = await session.fetch("suspend_batch", batch)
            if found:
                await session.fetch("suspend_items", list(found[0][0]))
        return bool(found)

    async def resume_batch(self, batch: int, turn: NewJob) -> bool:
        """Let it go on."""
        now = self._bound_now()
        async with self._transaction() as session:
            found = await session.fetch("resume_batch", batch)
            if found:
                await session.fetch("resume_items", list(found[0][0]), now)
                await session.fetch("enqueue", now, *job_columns([turn]))
        return bool(found)

    async def delete_batches(self, *, ended_before: int, limit: int) -> int:
        """Delete batches that ended long ago."""
        return (await self._rest.fetch("delete_ended_batches", ended_before, limit))[0][0]

    async def batch_errors(self, batch: int, *, after: int = 0, limit: int = 1000) -> list[StoredBatchError]:
        """What was not done, by item."""
        rows = await self._rest.fetch("list_batch_errors", batch, after, limit)
        return [StoredBatchError(batch=row[0], item=row[1], message=row[2]) for row in rows]

    @asynccontextmanager
    async def _transaction(self) -> AsyncGenerator[Session, None]:
        """A session whose statements are one transaction."""
        session = await self._rest.take()
        try:
            async with session.transaction():
                yield session
        finally:
            self._rest.give_back(session)


def _key_of(job: NewJob) -> int:
    return job.key
