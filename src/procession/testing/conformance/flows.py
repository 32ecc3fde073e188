"""Jobs that come after jobs."""
# ruff: noqa: D102 - a test is named as a sentence

from __future__ import annotations

import asyncio

import pytest

from procession.errors import Conflict, InvalidValue, NotFound
from procession.ids import Keys
from procession.jobs.kinds import JobState
from procession.jobs.options import After, JobOptions, Unique
from procession.store.rows import JobEnd
from procession.store.rows.queue import JobBatchState, NewJobBatch, Submission
from procession.testing.conformance.queue_stage import (
    QueueStore,
    after,
    details,
    end,
    is_clean,
    job_with,
    mutex,
    run_all,
    state_of,
    submit_one,
    take,
)
from procession.testing.conformance.stage import ManualClock, new_job, read


class TestFlows:
    """A graph of jobs, inserted at once."""

    async def test_children_wait_for_all_of_their_parents(self, store: QueueStore, keys: Keys) -> None:
        """In whatever order they stand in the call."""
        top = job_with(keys, output=True)
        left, right = (job_with(keys, after=after(top)) for _ in range(2))
        bottom = job_with(keys, after=after(left, right))
        answers = await store.submit([bottom, right, top, left])
        awaiting, ready = JobState.AWAITING, JobState.READY
        assert [answer.state for answer in answers] == [awaiting, awaiting, ready, awaiting]
        (run,) = await take(store, 1)
        assert run.key == top.key
        await end(store, run, output=b'{"n":1}')
        runs = await take(store, 1)
        assert {each.key for each in runs} == {left.key, right.key}
        for each in runs:
            (parent,) = await store.parent_results(each.key)
            assert (parent.key, parent.state, parent.type) == (top.key, JobState.SUCCEEDED, "send")
            assert read(parent.output) == {"n": 1}
        await end(store, runs[0], output=b"[1]")
        assert await state_of(store, bottom) == JobState.AWAITING
        await end(store, runs[1], output=b"[2]")
        (last,) = await take(store, 1)
        assert sorted(read(each.output)[0] for each in await store.parent_results(last.key)) == [1, 2]
        await end(store, last)
        assert await is_clean(store)

    async def test_a_circle_is_refused_at_once(self, store: QueueStore, keys: Keys) -> None:
        one, two, three = (new_job(keys) for _ in range(3))
        for job, parent in ((one, three), (two, one), (three, two)):
            job.options = JobOptions(after=[After(parent.key)])
        with pytest.raises(InvalidValue, match="circle"):
            await store.submit([one, two, three])
        one.options = JobOptions(after=[After(one.key)])
        with pytest.raises(InvalidValue, match="circle"):
            await store.submit([one])
        assert await store.count_jobs() == {}

    async def test_a_parent_may_be_there_already(self, store: QueueStore, keys: Keys) -> None:
        parent = new_job(keys)
        await store.enqueue([parent])
        child = job_with(keys, after=after(parent))
        assert (await submit_one(store, child)).state == JobState.AWAITING
        (run,) = await take(store, 1)
        await end(store, run, output=b"[7]")
        (run,) = await take(store, 1)
        assert run.key == child.key
        (result,) = await store.parent_results(child.key)
        assert read(result.output) == [7]

    async def test_a_parent_that_has_ended_long_ago_does_not_matter(self, store: QueueStore, keys: Keys) -> None:
        gone, kept = new_job(keys), job_with(keys, output=True)
        await store.enqueue([gone])
        await store.submit([kept])
        for run in await take(store, 1):
            await end(store, run, output=b"[1]")
        child = job_with(keys, after=after(gone, kept))
        assert (await submit_one(store, child)).state == JobState.READY
        results = await store.parent_results(child.key)
        assert [(each.key, each.state) for each in results] == [
            (gone.key, JobState.SUCCEEDED),
            (kept.key, JobState.SUCCEEDED),
        ]
        assert read(results[1].output) == [1]

    async def test_a_failed_parent_leaves_its_children_waiting_until_it_succeeds(
        self, store: QueueStore, keys: Keys
    ) -> None:
        parent = job_with(keys, title="x")
        child, either = job_with(keys, after=after(parent)), job_with(keys, after=after(parent, either=True))
        await store.submit([parent, child, either])
        (run,) = await take(store, 1)
        await end(store, run, JobEnd.FAILED, error="no")
        assert await state_of(store, child) == JobState.AWAITING
        (run,) = await take(store, 1)
        assert run.key == either.key
        (result,) = await store.parent_results(either.key)
        assert (result.state, result.error) == (JobState.FAILED, "no")
        await end(store, run)
        late = job_with(keys, after=after(parent))
        assert (await submit_one(store, late)).state == JobState.AWAITING
        await store.requeue_jobs([parent.key])
        assert await run_all(store, 1) == [parent.key, child.key, late.key]
        assert await is_clean(store)

    async def test_a_deleted_parent_dooms_those_that_wait_for_it_with_the_reason(
        self, store: QueueStore, keys: Keys
    ) -> None:
        parent = job_with(keys, delay_ms=5)
        child, either = job_with(keys, after=after(parent)), job_with(keys, after=after(parent, either=True))
        grandchild = job_with(keys, after=after(child))
        after_all = job_with(keys, after=after(grandchild, either=True))
        await store.submit([parent, child, either, grandchild, after_all])
        await store.delete_jobs([parent.key], "not wanted")
        for doomed, reason in ((child, parent), (grandchild, child)):
            found = await details(store, doomed)
            assert found.state == JobState.DELETED
            assert str(reason.key) in found.error
            assert found.error.endswith(", which it comes after, was deleted: not wanted")
            assert found.error.count("which it comes after") == 1
        assert await run_all(store, 1) == [either.key, after_all.key]
        late = job_with(keys, after=after(child))
        answer = await submit_one(store, late)
        assert (answer.outcome, answer.state) == (Submission.DOOMED, JobState.DELETED)
        later = [job_with(keys, after=after(parent)), job_with(keys, title="x")]
        later.append(job_with(keys, after=after(later[0])))
        answers = await store.submit(later)
        assert [each.outcome for each in answers] == [Submission.DOOMED, Submission.INSERTED, Submission.DOOMED]
        assert await is_clean(store)

    async def test_a_child_may_be_delayed_limited_and_unique(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        parent = job_with(keys, title="x")
        late = job_with(keys, after=after(parent), delay_ms=500)
        limited = [job_with(keys, after=after(parent), limits=mutex()) for _ in range(2)]
        unique = job_with(keys, after=after(parent), unique=Unique("u"))
        await store.submit([parent, late, *limited, unique])
        again = job_with(keys, unique=Unique("u"))
        assert (await submit_one(store, again)).key == unique.key
        (run,) = await take(store, 1)
        await end(store, run)
        assert await state_of(store, late) == JobState.SCHEDULED
        assert [await state_of(store, job) for job in limited] == [JobState.THROTTLED] * 2
        runs = await take(store, 1)
        assert {each.key for each in runs} == {unique.key, limited[0].key}
        for each in runs:
            await end(store, each)
        assert await run_all(store, 1) == [limited[1].key]
        clock.advance(500)
        await store.promote(10)
        assert await run_all(store, 1) == [late.key]
        assert await is_clean(store)

    async def test_a_duplicate_stands_for_its_holder_in_a_flow(self, store: QueueStore, keys: Keys) -> None:
        holder = job_with(keys, unique=Unique("u"))
        await store.submit([holder])
        again = job_with(keys, unique=Unique("u"))
        child = job_with(keys, after=after(again))
        answers = await store.submit([again, child])
        assert (answers[0].key, answers[1].state) == (holder.key, JobState.AWAITING)
        assert await run_all(store, 1) == [holder.key, child.key]

    @pytest.mark.parametrize("either", [(False, True), (True, False)])
    async def test_a_parent_that_is_named_twice_counts_as_the_stricter_link_says(
        self, store: QueueStore, keys: Keys, either: tuple[bool, bool]
    ) -> None:
        holder = job_with(keys, unique=Unique("u"))
        await store.submit([holder])
        again = job_with(keys, unique=Unique("u"))
        links = [After(again.key, either=either[0]), After(holder.key, either=either[1])]
        child = job_with(keys, after=links)
        await store.submit([again, child])
        await store.delete_jobs([holder.key], "by hand")
        assert await state_of(store, child) == JobState.DELETED
        assert await is_clean(store)

    async def test_parents_that_end_at_once_release_their_child_once(self, store: QueueStore, keys: Keys) -> None:
        for _ in range(5):
            parents = [job_with(keys, title="x") for _ in range(8)]
            child = job_with(keys, after=after(*parents))
            await store.submit([*parents, child])
            runs = await take(store, 1)
            assert len(runs) == 8
            await asyncio.gather(*(end(store, run) for run in runs))
            assert await run_all(store, 1) == [child.key]
        assert await is_clean(store)

    async def test_a_child_that_comes_while_its_parent_ends_is_not_forgotten(
        self, store: QueueStore, keys: Keys
    ) -> None:
        for _ in range(10):
            parent = new_job(keys)
            await store.enqueue([parent])
            (run,) = await take(store, 1)
            child = job_with(keys, after=after(parent))
            await asyncio.gather(store.submit([child]), end(store, run))
            assert await run_all(store, 1) == [child.key]
        assert await is_clean(store)

    async def test_what_a_child_may_still_read_is_kept(self, store: QueueStore, keys: Keys, clock: ManualClock) -> None:
        parent = job_with(keys, title="x")
        child = job_with(keys, after=after(parent), delay_ms=10 * 24 * 3_600_000)
        await store.submit([parent, child])
        (run,) = await take(store, 1)
        await end(store, run, output=b"[1]")
        clock.advance(9 * 24 * 3_600_000)
        assert await store.expire_archive(10) == 0
        (result,) = await store.parent_results(child.key)
        assert read(result.output) == [1]
        await store.delete_jobs([child.key])
        assert await store.expire_archive(10) == 1

    async def test_a_key_that_nobody_had_is_refused_and_one_that_somebody_had_counts_as_done(
        self, store: QueueStore, keys: Keys
    ) -> None:
        gone = new_job(keys)
        await store.enqueue([gone])
        assert await run_all(store, 1) == [gone.key]
        assert (await submit_one(store, job_with(keys, after=after(gone)))).state == JobState.READY
        for nobody in (7, gone.key + 2**40, 2**63 - 1):
            with pytest.raises(NotFound, match=f"found {nobody}"):
                await store.submit([job_with(keys, after=after(nobody))])
        assert len(await run_all(store, 1)) == 1


class TestNamedFlows:
    """Flows with a title are listed, with how many of their jobs are over."""

    async def test_a_named_flow_is_there_with_its_jobs_and_counts_them(self, store: QueueStore, keys: Keys) -> None:
        flow, batch = keys.take(), NewJobBatch(key=keys.take(), title="no flow")
        await store.open_job_batch(batch)
        first = job_with(keys, batch=flow, flow_title="Ship it Ω")
        second = job_with(keys, batch=flow, after=after(first))
        for _ in range(2):  # sent again: nothing is counted twice
            await store.submit([first, second])
        (found,) = await store.job_batches(flows=True)
        assert (found.key, found.title, found.total, found.is_flow) == (flow, "Ship it Ω", 2, True)
        assert [each.key for each in await store.job_batches()] == [batch.key]
        assert [each.is_flow for each in await store.job_batches(keys=[flow, batch.key])] == [False, True]
        assert (await details(store, first)).options == JobOptions(batch=flow)
        assert await run_all(store, 1) == [first.key, second.key]
        (found,) = await store.job_batches(flows=True)
        assert (found.state, found.succeeded) == (JobBatchState.FINISHED, 2)
        assert await store.job_batches(flows=True, after=flow) == []
        assert await store.job_batches(flows=True, tenant="other") == []
        with pytest.raises(Conflict, match="to be open"):
            await store.submit([job_with(keys, batch=flow)])
        assert await is_clean(store)

    async def test_a_named_flow_of_duplicates_alone_is_over_at_once(self, store: QueueStore, keys: Keys) -> None:
        holder = job_with(keys, unique=Unique("it"))
        await store.submit([holder])
        flow = keys.take()
        answer = await submit_one(store, job_with(keys, batch=flow, flow_title="again", unique=Unique("it")))
        assert answer.outcome == Submission.DUPLICATE
        (found,) = await store.job_batches(flows=True)
        assert (found.total, found.state) == (0, JobBatchState.FINISHED)
        assert await is_clean(store)

    async def test_a_named_flow_goes_with_the_call_that_is_refused(self, store: QueueStore, keys: Keys) -> None:
        with pytest.raises(NotFound):
            await store.submit([job_with(keys, batch=keys.take(), flow_title="lost", after=after(7))])
        assert await store.job_batches(flows=True) == []
