"""Batches of jobs: opened, sealed, finished, within each other."""
# ruff: noqa: D102 - a test is named as a sentence

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from procession import limits
from procession.errors import Conflict, InvalidValue, NotFound
from procession.ids import Keys
from procession.jobs.kinds import JobState
from procession.jobs.options import KEEP_OUTPUT_MS
from procession.store.rows import JobEnd
from procession.store.rows.queue import JobBatchState, NewJobBatch
from procession.store.rows.queue_reading import StoredJobBatch
from procession.testing.conformance.queue_stage import (
    QueueStore,
    after,
    details,
    end,
    is_clean,
    job_with,
    run_all,
    state_of,
    submit_one,
    take,
)
from procession.testing.conformance.stage import ManualClock


async def _open(store: QueueStore, keys: Keys, **more: Any) -> int:  # noqa: ANN401 - any field
    batch = NewJobBatch(key=keys.take(), **more)
    assert await store.open_job_batch(batch)
    return batch.key


async def _batch(store: QueueStore, key: int) -> StoredJobBatch:
    (found,) = await store.job_batches(keys=[key])
    return found


def _counts(batch: StoredJobBatch) -> tuple[int, int, int, int]:
    return batch.total, batch.succeeded, batch.failed, batch.deleted


class TestJobBatches:
    """Members, and what comes after all of them."""

    async def test_what_comes_after_a_batch_waits_for_every_member(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        batch = await _open(store, keys, title="nightly")
        jobs = [job_with(keys, batch=batch) for _ in range(3)]
        follow_up = job_with(keys, after=after(batch), queue="next")
        await store.submit(jobs[:2])
        await store.submit([jobs[2], follow_up])
        found = await _batch(store, batch)
        assert (found.title, found.state, found.created_at) == ("nightly", JobBatchState.OPEN, clock())
        assert _counts(found) == (3, 0, 0, 0)
        assert len(await run_all(store, 1)) == 3
        assert _counts(await _batch(store, batch)) == (3, 3, 0, 0)
        assert await state_of(store, follow_up) == JobState.AWAITING  # more members may come
        clock.advance(5)
        assert await store.seal_job_batch(batch) == ["next"]
        assert await store.seal_job_batch(batch) == []
        found = await _batch(store, batch)
        assert (found.state, found.finished_at) == (JobBatchState.FINISHED, clock())
        assert await run_all(store, 1, queue="next") == [follow_up.key]
        assert await is_clean(store)

    async def test_an_empty_batch_is_finished_when_it_is_sealed(self, store: QueueStore, keys: Keys) -> None:
        batch = await _open(store, keys)
        follow_up = job_with(keys, after=after(batch))
        await store.submit([follow_up])
        await store.seal_job_batch(batch)
        late = job_with(keys, after=after(batch))
        assert (await submit_one(store, late)).state == JobState.READY
        assert await run_all(store, 1) == [follow_up.key, late.key]

    async def test_only_an_open_batch_takes_members(self, store: QueueStore, keys: Keys) -> None:
        batch = await _open(store, keys)
        assert not await store.open_job_batch(NewJobBatch(key=batch))
        await store.seal_job_batch(batch)
        good = job_with(keys, title="x")
        for wrong in (batch, 12345):
            with pytest.raises(Conflict, match=str(wrong)):
                await store.submit([good, job_with(keys, batch=wrong)])
        with pytest.raises(Conflict, match="open"):
            await store.open_job_batch(NewJobBatch(key=keys.take(), parent=batch))
        with pytest.raises(NotFound, match="12345"):
            await store.seal_job_batch(12345)
        assert await state_of(store, good) is None

    async def test_members_that_fail_or_are_deleted_count_as_such(self, store: QueueStore, keys: Keys) -> None:
        batch = await _open(store, keys)
        jobs = [job_with(keys, batch=batch) for _ in range(4)]
        well, either = job_with(keys, after=after(batch)), job_with(keys, after=after(batch, either=True))
        await store.submit([*jobs, well, either])
        await store.seal_job_batch(batch)
        runs = {run.key: run for run in await take(store, 1)}
        await end(store, runs[jobs[0].key])
        await end(store, runs[jobs[1].key], JobEnd.FAILED)
        await end(store, runs[jobs[2].key], JobEnd.RETRY, delay_ms=1_000)
        await end(store, runs[jobs[3].key], JobEnd.CANCELED)
        assert _counts(await _batch(store, batch)) == (4, 1, 1, 1)
        await store.delete_jobs([jobs[2].key])
        found = await _batch(store, batch)
        assert (found.state, _counts(found)) == (JobBatchState.FINISHED, (4, 1, 1, 2))
        assert await run_all(store, 1) == [either.key]
        assert await state_of(store, well) == JobState.DELETED
        await store.delete_jobs([jobs[1].key])
        assert _counts(await _batch(store, batch)) == (4, 1, 0, 3)
        assert await is_clean(store)

    async def test_a_failed_member_that_starts_over_opens_its_batches_again(
        self, store: QueueStore, keys: Keys
    ) -> None:
        outer = await _open(store, keys)
        inner = await _open(store, keys, parent=outer)
        job = job_with(keys, batch=inner)
        well = job_with(keys, after=after(outer))
        await store.submit([job, well])
        await store.seal_job_batch(inner)
        await store.seal_job_batch(outer)
        (run,) = await take(store, 1)
        await end(store, run, JobEnd.FAILED)
        assert _counts(await _batch(store, outer)) == (1, 0, 1, 0)
        assert await state_of(store, well) == JobState.AWAITING
        await store.requeue_jobs([job.key])
        for batch in (inner, outer):
            found = await _batch(store, batch)
            assert (found.state, found.finished_at, _counts(found)) == (JobBatchState.SEALED, 0, (1, 0, 0, 0))
        assert await run_all(store, 1) == [job.key, well.key]
        assert _counts(await _batch(store, outer)) == (1, 1, 0, 0)
        assert await is_clean(store)

    async def test_a_batch_within_a_batch_is_one_of_its_members(self, store: QueueStore, keys: Keys) -> None:
        outer = await _open(store, keys)
        inner = await _open(store, keys, parent=outer)
        jobs = [job_with(keys, batch=outer), job_with(keys, batch=inner), job_with(keys, batch=inner)]
        last = job_with(keys, after=after(outer))
        await store.submit([*jobs, last])
        await store.seal_job_batch(outer)
        assert len(await run_all(store, 1)) == 3
        assert _counts(await _batch(store, outer)) == (2, 1, 0, 0)
        await store.seal_job_batch(inner)
        assert _counts(await _batch(store, outer)) == (2, 2, 0, 0)
        assert await run_all(store, 1) == [last.key]

    async def test_batches_are_bounded_in_depth(self, store: QueueStore, keys: Keys) -> None:
        batch = 0
        for _ in range(limits.BATCH_DEPTH_MAX):
            batch = await _open(store, keys, parent=batch)
        with pytest.raises(InvalidValue, match="BATCH_DEPTH_MAX"):
            await _open(store, keys, parent=batch)

    async def test_members_that_end_at_once_are_all_counted(self, store: QueueStore, keys: Keys) -> None:
        batch = await _open(store, keys)
        last = job_with(keys, after=after(batch), queue="next")
        await store.submit([*(job_with(keys, batch=batch) for _ in range(24)), last])
        await store.seal_job_batch(batch)
        runs = await take(store, 1)
        await asyncio.gather(*(end(store, run) for run in runs))
        assert _counts(await _batch(store, batch)) == (24, 24, 0, 0)
        assert await run_all(store, 1, queue="next") == [last.key]
        assert await is_clean(store)

    async def test_pages_of_batches_are_newest_first(self, store: QueueStore, keys: Keys) -> None:
        opened = [await _open(store, keys, tenant="acme" if n % 2 else "") for n in range(4)]
        assert [each.key for each in await store.job_batches(limit=2)] == opened[:1:-1]
        assert [each.key for each in await store.job_batches(after=opened[2])] == opened[1::-1]
        assert [each.key for each in await store.job_batches(tenant="acme")] == [opened[3], opened[1]]

    async def test_what_comes_after_a_batch_of_which_a_job_was_deleted_is_deleted_too(
        self, store: QueueStore, keys: Keys
    ) -> None:
        outer = await _open(store, keys)
        inner = await _open(store, keys, parent=outer)
        members = [job_with(keys, batch=inner) for _ in range(3)]
        waiting, later = (
            job_with(keys, after=after(inner), queue="next"),
            job_with(keys, after=after(outer), queue="next"),
        )
        either = job_with(keys, after=after(outer, either=True), queue="next")
        await store.submit([*members, waiting, later, either])
        await store.seal_job_batch(inner)
        await store.seal_job_batch(outer)
        first, second, third = await take(store, 1)
        await end(store, first)
        await end(store, second, JobEnd.FAILED)
        await end(store, third, JobEnd.CANCELED, error="of no use")
        assert [await state_of(store, job) for job in (waiting, later)] == [JobState.DELETED] * 2
        assert (
            await details(store, waiting)
        ).error == f"Batch {inner}, which it comes after, has jobs that were deleted"
        assert _counts(await _batch(store, outer)) == (1, 0, 0, 1)
        assert await run_all(store, 1, queue="next") == [either.key]
        late = job_with(keys, after=after(outer))
        assert (await submit_one(store, late)).state == JobState.DELETED
        assert await is_clean(store)

    async def test_a_failed_member_that_is_deleted_decides_about_its_batch(self, store: QueueStore, keys: Keys) -> None:
        batch = await _open(store, keys)
        member, waiting = job_with(keys, batch=batch), job_with(keys, after=after(batch), queue="next")
        await store.submit([member, waiting])
        await store.seal_job_batch(batch)
        (run,) = await take(store, 1)
        await end(store, run, JobEnd.FAILED)
        assert await state_of(store, waiting) == JobState.AWAITING, "the member may be tried again"
        await store.delete_jobs([member.key])
        assert await state_of(store, waiting) == JobState.DELETED
        assert _counts(await _batch(store, batch)) == (1, 0, 0, 1)
        assert await is_clean(store)

    async def test_a_job_does_not_come_after_the_batch_that_it_is_in(self, store: QueueStore, keys: Keys) -> None:
        outer = await _open(store, keys)
        inner = await _open(store, keys, parent=outer)
        for batch in (inner, outer):
            with pytest.raises(InvalidValue, match=f"not to come after batch {batch}"):
                await store.submit([job_with(keys, batch=inner, after=after(batch))])
        await store.submit([job_with(keys, batch=outer, after=after(inner))])

    async def test_the_row_of_a_finished_batch_goes_when_nothing_of_it_is_there(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        outer = await _open(store, keys)
        inner = await _open(store, keys, parent=outer)
        running, kept = await _open(store, keys), await _open(store, keys)
        awaited = await _open(store, keys)
        jobs = [job_with(keys, batch=batch) for batch in (inner, running, kept, awaited)]
        failing = job_with(keys, batch=kept)
        callback = job_with(keys, after=after(awaited), run_at=clock() + 30 * KEEP_OUTPUT_MS, queue="next")
        flow = await self._flow(store, keys)
        await store.submit([*jobs, failing, callback])
        for batch in (inner, outer, running, kept, awaited):
            await store.seal_job_batch(batch)
        for run in await take(store, 1):
            if run.key != jobs[1].key:
                await end(store, run, JobEnd.FAILED if run.key == failing.key else JobEnd.DONE)
        everything = [outer, inner, running, kept, awaited, flow]
        clock.advance(KEEP_OUTPUT_MS - 1)
        assert await store.expire_archive(100) == 0
        assert len(await store.job_batches(keys=everything)) == 6
        clock.advance(1)
        while await store.expire_archive(1):  # a chunk at a time
            pass
        left = {batch.key for batch in await store.job_batches(keys=everything)}
        assert left == {running, kept, awaited}, "one runs, of one a failed job is there, for one somebody waits"
        await store.delete_jobs([failing.key])
        clock.advance(limits.DELETED_KEPT_MS)
        while await store.expire_archive(10):
            pass
        assert {batch.key for batch in await store.job_batches(keys=everything)} == {running, awaited}
        late = job_with(keys, after=after(kept))
        assert (await submit_one(store, late)).state == JobState.READY, "whoever has ended long ago holds nobody up"
        assert await is_clean(store)

    async def _flow(self, store: QueueStore, keys: Keys) -> int:
        """A flow with a title, of a job that has succeeded."""
        key = keys.take()
        job = job_with(keys, batch=key, flow_title="import", queue="flow")
        await store.submit([job])
        assert await run_all(store, 1, queue="flow") == [job.key]
        return key
