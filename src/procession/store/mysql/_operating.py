"""What operators ask of this store: deletion and batches. Part of the store's face."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from procession.jobs.kinds import JobState
from procession.store._shared.refusals import clean_text
from procession.store._shared.texts import NOT_DELETED
from procession.store.mysql import _deploying as deploying
from procession.store.mysql._failures import Duplicate
from procession.store.mysql._jobs import closed_of, put_close, put_jobs, put_keys, put_rows
from procession.store.mysql._sessions import Session, Sessions
from procession.store.mysql._statements import number, text
from procession.store.rows import JobFence, NewJob
from procession.store.rows.operating import BatchAdvance, BatchState, NewBatch, StoredBatch, StoredBatchError

_encode_json: Final = msgspec.json.Encoder().encode
_decode_keys: Final = msgspec.json.Decoder(list[int]).decode


class Operating:
    """Deletion and batches."""

    _rest: Sessions

    # -- jobs that wait -------------------------------------------------------------------------------------------
    async def retry_jobs(self, jobs: Sequence[int], retries: int) -> list[int]:
        """Make failed jobs ready."""

        async def work(session: Session) -> list[int]:
            found = [row[0] for row in await session.fetch("lock_failed_jobs", keys=sorted(jobs))]
            put_keys(session, "retry_jobs", found, retries=retries)
            return found

        return await self._rest.transact(work) if jobs else []

    async def hasten(self, instance: int) -> list[str]:
        """Make what is tried again later ready now."""

        async def work(session: Session) -> list[str]:
            found = await session.fetch("lock_hastened_jobs", instance=instance)
            put_keys(session, "hasten_jobs", [row[0] for row in found])
            return sorted({row[1] for row in found})

        return await self._rest.transact(work)

    # -- deletion -------------------------------------------------------------------------------------------------
    async def ended_instances(self, *, ended_before: int, after: int = 0, limit: int = 1000) -> tuple[list[int], int]:
        """Of the next instances by key, those that may be deleted."""
        rows = await self._rest.fetch("find_ended_instances", ended_before=ended_before, after=after, limit=limit)
        return [row[0] for row in rows if row[1]], rows[-1][0] if len(rows) == limit else 0

    async def delete_instances(self, instances: Sequence[int]) -> list[int]:
        """Delete ended instances with what they called."""
        return await self._rest.transact(lambda session: _delete(session, instances)) if instances else []

    async def delete_definition(self, definition: int) -> bool:
        """Delete a version that no instance is of."""
        return await deploying.delete_definition(self._rest, definition)

    async def purge_definitions(self, *, deleted_before: int) -> int:
        """Remove versions that were deleted long ago."""
        return await deploying.purge_definitions(self._rest, deleted_before)

    async def delete_form(self, form: int) -> bool:
        """Delete a version with its file."""
        return await deploying.delete_form(self._rest, form)

    # -- batches --------------------------------------------------------------------------------------------------
    async def create_batch(self, batch: NewBatch, job: NewJob) -> bool:
        """Begin a batch."""

        async def work(session: Session) -> None:
            session.put("insert_batch", **msgspec.structs.asdict(batch))
            put_jobs(session, [job])

        try:
            await self._rest.transact(work)
        except Duplicate:
            if not await self.batches(keys=[batch.key]):
                return False
        return True

    async def batches(
        self, *, keys: Sequence[int] = (), tenant: str = "", after: int = 0, limit: int = 100
    ) -> list[StoredBatch]:
        """Batches, newest first."""

        async def work(session: Session) -> list[StoredBatch]:
            rows = await session.fetch(
                "list_batches", any_key=not keys, keys=list(keys), tenant=tenant, after=after, limit=limit
            )
            listed = {row[0]: _decode_keys(row[8]) for row in rows}
            jobs = sorted({key for each in listed.values() for key in each})
            there = {row[0] for row in await session.fetch("find_jobs", keys=jobs)} if jobs else set[int]()
            return [
                StoredBatch(
                    key=row[0],
                    kind=row[1],
                    request=row[2].encode(),
                    state=row[3],
                    total=row[4],
                    emitted=row[5],
                    failed=row[6],
                    cursor=row[7],
                    open=sorted(key for key in listed[row[0]] if key in there),
                    created_at=row[9],
                    ended_at=row[10],
                    tenant=row[11],
                    retry_of=row[12],
                )
                for row in rows
            ]

        return await self._rest.transact(work)

    async def advance_batch(self, advance: BatchAdvance) -> bool:
        """Emit the next items."""
        return await self._rest.transact(lambda session: _advance(session, advance))

    async def fail_batch_item(self, batch: int, item: int, message: str, closes: JobFence) -> bool:
        """Keep why an item was not done, and close its job."""

        async def work(session: Session) -> bool:
            held = put_close(session, [closes])
            await session.send()
            if not closed_of(held, [closes]):
                return False
            await _put_errors(session, batch, [(item, message)])
            return True

        return await self._rest.transact(work)

    async def end_batch(self, batch: int) -> bool:
        """Emit no more items."""

        async def work(session: Session) -> bool:
            found = await _items(session, batch, BatchState.SUSPENDED, JobState.SUSPENDED)
            put_keys(session, "delete_jobs", found or [])
            ended = session.put("end_batch", key=batch, dropped=len(found or []))
            await session.send()
            return ended.count > 0

        return await self._rest.transact(work)

    async def suspend_batch(self, batch: int) -> bool:
        """Let it rest."""

        async def work(session: Session) -> bool:
            found = await _items(session, batch, BatchState.ACTIVE, JobState.READY, JobState.SCHEDULED)
            if found is None:
                return False
            put_keys(session, "suspend_items", found)
            session.put("turn_batch", key=batch, state=BatchState.SUSPENDED)
            return True

        return await self._rest.transact(work)

    async def resume_batch(self, batch: int, turn: NewJob) -> bool:
        """Let it go on."""

        async def work(session: Session) -> bool:
            found = await _items(session, batch, BatchState.SUSPENDED, JobState.SUSPENDED)
            if found is None:
                return False
            put_keys(session, "hasten_jobs", found)
            session.put("turn_batch", key=batch, state=BatchState.ACTIVE)
            put_jobs(session, [turn])
            return True

        return await self._rest.transact(work)

    async def delete_batches(self, *, ended_before: int, limit: int) -> int:
        """Delete batches that ended long ago."""

        async def work(session: Session) -> int:
            found = [row[0] for row in await session.fetch("find_old_batches", ended_before=ended_before, limit=limit)]
            if not found:
                return 0
            errors = session.put("delete_errors_of_batches", keys=found, limit=limit)
            batches = session.put("delete_batches_without_errors", keys=found)
            await session.send()
            return errors.count + batches.count

        return await self._rest.transact(work)

    async def batch_errors(self, batch: int, *, after: int = 0, limit: int = 1000) -> list[StoredBatchError]:
        """What was not done, by item."""
        rows = await self._rest.fetch("list_batch_errors", batch=batch, after=after, limit=limit)
        return [StoredBatchError(batch=row[0], item=row[1], message=row[2]) for row in rows]


async def _delete(session: Session, keys: Sequence[int]) -> list[int]:
    trees = await session.fetch("find_deletable_instances", keys=sorted(keys))
    doomed = [row[1] for row in trees]
    put_keys(session, "delete_history", doomed)
    put_keys(session, "delete_instances", doomed)
    return list(dict.fromkeys(row[0] for row in trees))


async def _items(session: Session, batch: int, stands: BatchState, *states: JobState) -> list[int] | None:
    """The jobs of its items in these states, locked as it is; None where it does not stand so."""
    rows = await session.fetch("lock_batch_in_state", key=batch, state=stands)
    if not rows:
        return None
    listed = _decode_keys(rows[0][0])
    if not listed:
        return []
    found = await session.fetch("lock_jobs_in_states", keys=sorted(listed), states=list(states))
    return [row[0] for row in found]


async def _advance(session: Session, advance: BatchAdvance) -> bool:
    found = await session.fetch("lock_batch", key=advance.key, cursor=advance.cursor)
    if not found:
        return False
    listed = _decode_keys(found[0][0])
    failed = await session.fetch("find_failed_items", keys=sorted(listed)) if listed else ()
    errors = [*((row[1], row[2] or "") for row in failed), *advance.errors.items()]
    session.put(
        "advance_batch",
        key=advance.key,
        to=advance.to,
        count=advance.count,
        jobs=_encode_json([*advance.open, *(job.key for job in advance.jobs)]),
        ended=advance.ended,
    )
    put_keys(session, "delete_jobs", [row[0] for row in failed])
    if advance.deletes:
        deleted = set(await _delete(session, advance.deletes))
        errors += [(key, NOT_DELETED) for key in advance.deletes if key not in deleted]
    await _put_errors(session, advance.key, errors)
    put_jobs(session, advance.jobs)
    return True


async def _put_errors(session: Session, batch: int, errors: Sequence[tuple[int, str]]) -> None:
    """Gather the errors of items that have none yet."""
    if not errors:
        return
    items = sorted({item for item, _ in errors})
    known = {row[0] for row in await session.fetch("find_batch_errors", batch=batch, items=items)}
    first = {item: message for item, message in reversed(errors) if item not in known}
    rows = [(number(batch), number(item), text(clean_text(message))) for item, message in sorted(first.items())]
    put_rows(session, "insert_batch_errors", rows)
