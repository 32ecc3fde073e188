"""What operators ask of the SQLite store: deletion and batches. Part of the store's face; one transaction per call."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec

from procession.store._shared.refusals import clean_text
from procession.store._shared.texts import NOT_DELETED
from procession.store.rows import JobFence, NewJob
from procession.store.rows.operating import BatchAdvance, NewBatch, StoredBatch, StoredBatchError
from procession.store.sqlite._jobs import close_jobs, insert_jobs
from procession.store.sqlite._session import Session, as_json
from procession.store.sqlite._threads import Work

_decode_keys = msgspec.json.Decoder(list[int]).decode


class Operating:
    """Deletion and batches."""

    async def _read(self, work: Work) -> Any:  # noqa: ANN401 - what the work gives
        raise NotImplementedError

    async def _write(self, work: Work) -> Any:  # noqa: ANN401 - what the work gives
        raise NotImplementedError

    # -- jobs that wait -------------------------------------------------------------------------------------------
    async def retry_jobs(self, jobs: Sequence[int], retries: int) -> list[int]:
        """Make failed jobs ready."""

        def work(session: Session) -> list[int]:
            rows = session.rows("retry_jobs", keys=as_json(list(jobs)), retries=retries, now=session.now)
            return sorted(key for (key,) in rows)

        return await self._write(work)

    async def hasten(self, instance: int) -> list[str]:
        """Make what is tried again later ready now."""

        def work(session: Session) -> list[str]:
            rows = session.rows("hasten", instance=instance, now=session.now)
            return sorted({queue for (queue,) in rows})

        return await self._write(work)

    # -- deletion -------------------------------------------------------------------------------------------------
    async def ended_instances(self, *, ended_before: int, after: int = 0, limit: int = 1000) -> tuple[list[int], int]:
        """Of the next instances by key, those that may be deleted."""

        def work(session: Session) -> tuple[list[int], int]:
            rows = session.rows("find_ended_instances", ended_before=ended_before, after=after, limit=limit)
            return [key for key, is_over in rows if is_over], rows[-1][0] if len(rows) == limit else 0

        return await self._read(work)

    async def delete_instances(self, instances: Sequence[int]) -> list[int]:
        """Delete ended instances with what they called."""
        return await self._write(partial(_delete_instances, keys=instances)) if instances else []

    async def delete_definition(self, definition: int) -> bool:
        """Delete a version that no instance is of."""
        return await self._write(partial(_delete_definition, key=definition))

    async def purge_definitions(self, *, deleted_before: int) -> int:
        """Remove versions that were deleted long ago."""
        return await self._write(partial(_purge_definitions, deleted_before=deleted_before))

    # -- batches --------------------------------------------------------------------------------------------------
    async def create_batch(self, batch: NewBatch, job: NewJob) -> bool:
        """Begin a batch."""

        def work(session: Session) -> bool:
            values = {**msgspec.structs.asdict(batch), "request": batch.request.decode()}
            if session.value("insert_batch", now=session.now, **values) is not None:
                insert_jobs(session, [job])
                return True
            return bool(session.rows("list_batches", keys=as_json([batch.key]), tenant="", after=0, limit=1))

        return await self._write(work)

    async def batches(
        self, *, keys: Sequence[int] = (), tenant: str = "", after: int = 0, limit: int = 100
    ) -> list[StoredBatch]:
        """Batches, newest first."""
        which: dict[str, object] = {"keys": as_json(list(keys)), "tenant": tenant, "after": after, "limit": limit}

        def work(session: Session) -> list[StoredBatch]:
            return [_batch(row) for row in session.rows("list_batches", **which)]

        return await self._read(work)

    async def advance_batch(self, advance: BatchAdvance) -> bool:
        """Emit the next items."""
        return await self._write(partial(_advance, advance=advance))

    async def fail_batch_item(self, batch: int, item: int, message: str, closes: JobFence) -> bool:
        """Keep why an item was not done, and close its job."""

        def work(session: Session) -> bool:
            if not close_jobs(session, [closes]):
                return False
            session.run("insert_batch_error", batch=batch, item=item, message=clean_text(message))
            return True

        return await self._write(work)

    async def end_batch(self, batch: int) -> bool:
        """Emit no more items."""

        def work(session: Session) -> bool:
            dropped = session.run("drop_suspended_items", batch=batch).rowcount
            return session.run("end_batch", key=batch, dropped=dropped, now=session.now).rowcount > 0

        return await self._write(work)

    async def suspend_batch(self, batch: int) -> bool:
        """Let it rest."""

        def work(session: Session) -> bool:
            if not session.run("suspend_batch", key=batch).rowcount:
                return False
            session.run("suspend_items", batch=batch)
            return True

        return await self._write(work)

    async def resume_batch(self, batch: int, turn: NewJob) -> bool:
        """Let it go on."""

        def work(session: Session) -> bool:
            if not session.run("resume_batch", key=batch).rowcount:
                return False
            session.run("resume_items", batch=batch, now=session.now)
            insert_jobs(session, [turn])
            return True

        return await self._write(work)

    async def delete_batches(self, *, ended_before: int, limit: int) -> int:
        """Delete batches that ended long ago."""

        def work(session: Session) -> int:
            errors = session.run("delete_ended_batch_errors", ended_before=ended_before, limit=limit).rowcount
            return errors + session.run("delete_ended_batches", ended_before=ended_before, limit=limit).rowcount

        return await self._write(work)

    async def batch_errors(self, batch: int, *, after: int = 0, limit: int = 1000) -> list[StoredBatchError]:
        """What was not done, by item."""

        def work(session: Session) -> list[StoredBatchError]:
            rows = session.rows("list_batch_errors", batch=batch, after=after, limit=limit)
            return [StoredBatchError(batch=row[0], item=row[1], message=row[2]) for row in rows]

        return await self._read(work)


def _delete_instances(session: Session, keys: Sequence[int]) -> list[int]:
    trees = session.rows("find_deletable_instances", keys=as_json(list(keys)))
    doomed = [key for _, key in trees]
    session.for_keys("delete_history", doomed)
    session.for_keys("delete_instances", doomed)
    return list(dict.fromkeys(root for root, _ in trees))


def _delete_definition(session: Session, key: int) -> bool:
    if session.value("delete_definition", key=key, now=session.now) is None:
        return False
    for name in ("delete_deployment_definition", "delete_starts_of_definition", "delete_start_timers_of_definition"):
        session.run(name, key=key)
    return True


def _purge_definitions(session: Session, deleted_before: int) -> int:
    rows = session.rows("purge_definitions", deleted_before=deleted_before)
    for (resource,) in rows:
        session.run("delete_resource", key=resource)
    return len(rows)


def _advance(session: Session, advance: BatchAdvance) -> bool:
    failed = session.rows("find_failed_items", batch=advance.key)
    moved = session.run(
        "advance_batch",
        key=advance.key,
        cursor=advance.cursor,
        to=advance.to,
        count=advance.count,
        jobs=as_json([*advance.open, *(job.key for job in advance.jobs)]),
        ended=advance.ended,
        now=session.now,
    ).rowcount
    if not moved:
        return False
    errors = [*((item, error) for _, item, error in failed), *advance.errors.items()]
    session.for_keys("delete_jobs", [key for key, _, _ in failed])
    if advance.deletes:
        deleted = set(_delete_instances(session, advance.deletes))
        errors += [(key, NOT_DELETED) for key in advance.deletes if key not in deleted]
    for item, message in errors:
        session.run("insert_batch_error", batch=advance.key, item=item, message=clean_text(message))
    insert_jobs(session, advance.jobs)
    return True


def _batch(row: Any) -> StoredBatch:  # noqa: ANN401 - a row of a query
    return StoredBatch(
        key=row[0],
        kind=row[1],
        request=row[2],
        state=row[3],
        total=row[4],
        emitted=row[5],
        failed=row[6],
        cursor=row[7],
        open=_decode_keys(row[8]),
        created_at=row[9],
        ended_at=row[10],
        tenant=row[11],
        retry_of=row[12],
    )
