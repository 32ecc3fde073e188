"""What operators ask: deletion of what has ended, batches of operations."""

from __future__ import annotations

from procession.core.state import Status
from procession.ids import Keys
from procession.jobs.kinds import FOLLOW_UP_QUEUE, JobKind, JobState
from procession.store.port import Store
from procession.store.rows import JobEnd, JobOutcome, NewJob
from procession.store.rows.operating import BatchAdvance, BatchState, NewBatch
from procession.testing.conformance.stage import (
    ManualClock,
    apply,
    claim,
    definition,
    deploy,
    fence,
    jobs_of,
    start_step,
    the_job,
)


class TestDeletion:
    """Only what has ended goes, with what it called."""

    async def test_an_ended_instance_goes_with_its_history_and_what_it_called(self, store: Store, keys: Keys) -> None:
        """A called one does not go alone, nor the caller of one that runs."""
        caller = start_step(keys, status=Status.COMPLETED)
        called = start_step(keys, status=Status.TERMINATED, parent=caller.instance)
        deep = start_step(keys, status=Status.COMPLETED, parent=called.instance)
        other = start_step(keys, status=Status.COMPLETED)
        runs = start_step(keys, parent=other.instance)
        await apply(store, keys, caller, called, deep, other, runs)
        assert await store.delete_instances([called.instance, runs.instance]) == []
        found = await store.delete_instances([caller.instance, other.instance, runs.instance, 1])
        assert found == [caller.instance]
        left = await store.load([step.instance for step in (caller, called, deep, other, runs)])
        assert {row.key for row in left} == {other.instance, runs.instance}
        assert await store.history(deep.instance) == []
        assert len(await store.history(other.instance)) == 1

    async def test_what_ended_long_ago_is_found_page_by_page(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        """By key; what runs, what was called and what ended later is passed over."""
        early = [start_step(keys, status=Status.COMPLETED) for _ in range(3)]
        runs = start_step(keys)
        called = start_step(keys, status=Status.COMPLETED, parent=early[0].instance)
        orphan = start_step(keys, status=Status.COMPLETED, parent=1)
        await apply(store, keys, *early, runs, called, orphan)
        until = clock()
        clock.advance(1)
        late = start_step(keys, status=Status.COMPLETED)
        await apply(store, keys, late)
        found: list[int] = []
        after, pages = 0, 0
        while pages == 0 or after:
            page, after = await store.ended_instances(ended_before=until, after=after, limit=2)
            found += page
            pages += 1
        assert found == [*(step.instance for step in early), orphan.instance]
        assert pages == 4

    async def test_a_version_goes_when_no_instance_is_of_it(self, store: Store, keys: Keys, clock: ManualClock) -> None:
        """With its start events and its file."""
        (kept, gone) = await deploy(
            store, keys, definition(keys, "kept"), definition(keys, "gone", messages=["paid"], timers=[9])
        )
        step = start_step(keys, process_id="gone", definition=gone.key, status=Status.COMPLETED)
        await apply(store, keys, step)
        assert not await store.delete_definition(gone.key)
        await store.delete_instances([step.instance])
        assert await store.delete_definition(gone.key)
        assert not await store.delete_definition(gone.key)
        assert await store.find_definition("gone") is None
        assert [row.process_id for row in await store.list_definitions()] == ["kept"]
        assert [row.deleted for row in await store.definitions([gone.key, kept.key])] in ([True, False], [False, True])
        assert await store.list_subscriptions(name="paid") == []
        assert await jobs_of(store, kind=JobKind.TIMER) == []
        assert await store.resource(kept.resource) is not None
        assert await store.delete_definition(kept.key)
        assert await store.resource(kept.resource) is not None
        assert await store.purge_definitions(deleted_before=clock()) == 2
        assert await store.resource(kept.resource) is None
        assert await store.definitions([gone.key, kept.key]) == []

    async def test_a_deleted_version_stays_for_an_instance_that_somebody_has_just_started(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        """Its number is not given again, and the same bytes make a new version."""
        (old,) = await deploy(store, keys, definition(keys, "order"))
        assert await store.delete_definition(old.key)
        late = start_step(keys, definition=old.key, status=Status.COMPLETED)
        await apply(store, keys, late)
        (new,) = await deploy(store, keys, definition(keys, "order"))
        assert (new.version, new.created) == (2, True)
        assert await store.purge_definitions(deleted_before=clock() - 1) == 0
        assert await store.purge_definitions(deleted_before=clock()) == 0
        assert [row.deleted for row in await store.definitions([old.key])] == [True]
        assert await store.resource(old.resource) is not None
        await store.delete_instances([late.instance])
        assert await store.purge_definitions(deleted_before=clock()) == 1
        assert await store.resource(old.resource) is None
        assert [row.version for row in await store.list_definitions()] == [2]


def _job(keys: Keys, instance: int = 0) -> NewJob:
    return NewJob(key=keys.take(), kind=JobKind.FOLLOW_UP, queue=FOLLOW_UP_QUEUE, type="BatchItem", instance=instance)


async def _begin(store: Store, keys: Keys) -> int:
    batch = NewBatch(key=keys.take(), kind="cancel", request=b'{"a":1}', total=3)
    job = _job(keys)
    assert await store.create_batch(batch, job)
    assert await store.create_batch(batch, job)
    return batch.key


class TestWaitingJobs:
    """What failed is tried again, and what waits for a next try need not."""

    async def test_failed_jobs_are_ready_again_and_others_stay(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        """With the attempts given."""
        failed, waits = _job(keys, 7), _job(keys, 8)
        await store.enqueue([failed])
        node = await store.register("one", b"{}")
        (claimed,) = await claim(store, node, FOLLOW_UP_QUEUE)
        await store.enqueue([waits])
        await store.finish([JobOutcome(key=claimed.key, lease=claimed.lease, end=JobEnd.FAILED, error="a defect")])
        clock.advance(5)
        assert await store.retry_jobs([failed.key, waits.key, 1], 4) == [failed.key]
        assert await store.retry_jobs([failed.key], 4) == []
        job = await the_job(store, failed.key)
        assert job is not None
        assert (job.state, job.retries, job.run_at, job.error) == (JobState.READY, 4, clock(), "a defect")
        assert {each.key for each in await claim(store, node, FOLLOW_UP_QUEUE)} == {failed.key, waits.key}

    async def test_what_an_instance_tries_again_later_is_ready_now(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        """Not what was never tried, nor what is of another instance."""
        tried, others = _job(keys, 7), _job(keys, 8)
        timer = NewJob(key=keys.take(), kind=JobKind.TIMER, queue="$timer", type="", instance=7, delay_ms=60_000)
        await store.enqueue([tried, others, timer])
        node = await store.register("one", b"{}")
        for job in await claim(store, node, FOLLOW_UP_QUEUE):
            await store.finish([JobOutcome(key=job.key, lease=job.lease, end=JobEnd.RETRY, delay_ms=300_000)])
        assert await claim(store, node, FOLLOW_UP_QUEUE) == []
        assert await store.hasten(7) == [FOLLOW_UP_QUEUE]
        assert await store.hasten(7) == []
        assert [job.key for job in await claim(store, node, FOLLOW_UP_QUEUE)] == [tried.key]
        clock.advance(1)
        waiting = {job.key: job.state for job in await jobs_of(store)}
        assert (waiting[others.key], waiting[timer.key]) == (JobState.SCHEDULED, JobState.SCHEDULED)


class TestBatches:
    """Items are emitted with the batch's place, and what fails is kept."""

    async def test_items_are_emitted_once_from_each_place(self, store: Store, keys: Keys, clock: ManualClock) -> None:
        """An advance from another place does nothing."""
        batch = await _begin(store, keys)
        first, second = _job(keys, 7), _job(keys, 8)
        assert await store.advance_batch(BatchAdvance(key=batch, cursor=0, to=7, jobs=[first, second]))
        assert not await store.advance_batch(BatchAdvance(key=batch, cursor=0, to=9, jobs=[_job(keys)]))
        (row,) = await store.batches(keys=[batch])
        assert (row.emitted, row.open, row.cursor, row.state) == (2, [first.key, second.key], 7, BatchState.ACTIVE)
        assert (row.kind, row.request, row.total, row.created_at) == ("cancel", b'{"a":1}', 3, clock())
        assert await store.advance_batch(BatchAdvance(key=batch, cursor=7, to=7, open=row.open, ended=True))
        assert not await store.advance_batch(BatchAdvance(key=batch, cursor=7, to=8))
        (row,) = await store.batches()
        assert (row.state, row.ended_at) == (BatchState.COMPLETED, clock())
        assert not await store.end_batch(batch)

    async def test_an_item_fails_once_under_its_lease(self, store: Store, keys: Keys) -> None:
        """Its job is gone, and why is kept."""
        batch = await _begin(store, keys)
        await store.advance_batch(BatchAdvance(key=batch, cursor=0, to=7, jobs=[_job(keys, 7), _job(keys, 8)]))
        node = await store.register("one", b"{}")
        claimed = [job for job in await claim(store, node, FOLLOW_UP_QUEUE) if job.instance]
        closes = fence(claimed[0])
        assert await store.fail_batch_item(batch, 7, "no\x00", closes)
        assert not await store.fail_batch_item(batch, 7, "no again", closes)
        await store.finish(
            [JobOutcome(key=claimed[1].key, lease=claimed[1].lease, end=JobEnd.FAILED, error="a defect")]
        )
        (row,) = await store.batches()
        assert (row.failed, row.open) == (1, [claimed[1].key])
        await store.advance_batch(BatchAdvance(key=batch, cursor=7, to=9))
        errors = await store.batch_errors(batch)
        assert [(each.item, each.message) for each in errors] == [(7, errors[0].message), (8, "a defect")]
        assert errors[0].message.startswith("no")
        assert await store.batch_errors(batch, after=7) == errors[1:]
        assert await the_job(store, claimed[1].key) is None

    async def test_instances_are_deleted_with_the_batchs_place(self, store: Store, keys: Keys) -> None:
        """Those that cannot be are errors."""
        over, runs = start_step(keys, status=Status.COMPLETED), start_step(keys)
        await apply(store, keys, over, runs)
        batch = await _begin(store, keys)
        advance = BatchAdvance(key=batch, cursor=0, to=1, deletes=[over.instance, runs.instance], ended=True)
        assert await store.advance_batch(advance)
        (row,) = await store.batches()
        assert (row.emitted, row.failed, row.open) == (2, 1, [])
        assert [each.item for each in await store.batch_errors(batch)] == [runs.instance]
        assert await store.load([over.instance]) == []

    async def test_a_canceled_batch_emits_no_more(self, store: Store, keys: Keys) -> None:
        """Its jobs that are there already stay."""
        batch = await _begin(store, keys)
        assert await store.end_batch(batch)
        assert not await store.end_batch(batch)
        assert not await store.advance_batch(BatchAdvance(key=batch, cursor=0, to=7, jobs=[_job(keys)]))
        (row,) = await store.batches()
        assert row.state == BatchState.CANCELED
        assert [job.state for job in await jobs_of(store)] == [JobState.READY]

    async def test_a_suspended_batch_rests_with_its_items_until_it_is_resumed(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        """What somebody holds goes on; what waits is not claimed, and the batch is not deleted as one that is over."""
        batch = await _begin(store, keys)
        held, waits = _job(keys, 7), _job(keys, 8)
        node = await store.register("one", b"{}")
        await store.advance_batch(BatchAdvance(key=batch, cursor=0, to=7, jobs=[held]))
        claimed = await claim(store, node, FOLLOW_UP_QUEUE)
        assert held.key in {job.key for job in claimed}
        await store.advance_batch(BatchAdvance(key=batch, cursor=7, to=8, open=[held.key], jobs=[waits]))
        assert await store.suspend_batch(batch)
        assert not await store.suspend_batch(batch)
        assert not await store.advance_batch(BatchAdvance(key=batch, cursor=8, to=9))
        (row,) = await store.batches(keys=[batch])
        assert (row.state, row.open, row.ended_at) == (BatchState.SUSPENDED, [held.key, waits.key], 0)
        stored = [await the_job(store, job.key) for job in (waits, held)]
        assert [job and job.state for job in stored] == [JobState.SUSPENDED, JobState.RUNNING]
        clock.advance(1_000_000)
        await store.promote(100)
        assert await claim(store, node, FOLLOW_UP_QUEUE) == []
        assert await store.delete_batches(ended_before=clock(), limit=10) == 0
        turn = _job(keys)
        assert await store.resume_batch(batch, turn)
        assert not await store.resume_batch(batch, _job(keys))
        assert {job.key for job in await claim(store, node, FOLLOW_UP_QUEUE)} == {waits.key, turn.key}
        assert (await store.batches(keys=[batch]))[0].state == BatchState.ACTIVE

    async def test_a_suspended_batch_that_is_canceled_takes_back_what_has_not_begun(
        self, store: Store, keys: Keys
    ) -> None:
        """Those items were not emitted; what was done stays done."""
        batch = await _begin(store, keys)
        waits = _job(keys, 8)
        await store.advance_batch(BatchAdvance(key=batch, cursor=0, to=8, done=[3, 4], errors={4: "no"}, jobs=[waits]))
        assert await store.suspend_batch(batch)
        assert await store.end_batch(batch)
        (row,) = await store.batches(keys=[batch])
        assert (row.state, row.emitted, row.failed, row.open) == (BatchState.CANCELED, 2, 1, [])
        assert [(error.item, error.message) for error in await store.batch_errors(batch)] == [(4, "no")]
        assert not await store.resume_batch(batch, _job(keys))
        assert not await store.suspend_batch(batch)

    async def test_the_failed_items_of_a_batch_are_done_again_once(self, store: Store, keys: Keys) -> None:
        """By one other batch."""
        batch = await _begin(store, keys)
        again, twice = keys.take(), keys.take()
        for key, is_made in ((again, True), (again, True), (twice, False)):
            row = NewBatch(key=key, kind="cancel", request=b"{}", total=1, retry_of=batch)
            assert await store.create_batch(row, _job(keys)) is is_made
        assert [(row.key, row.retry_of) for row in await store.batches()] == [(again, batch), (batch, 0)]
        assert len(await jobs_of(store)) == 2

    async def test_batches_are_listed_by_tenant_and_page_by_page(self, store: Store, keys: Keys) -> None:
        """Newest first."""
        made = [await _begin(store, keys) for _ in range(3)]
        theirs = NewBatch(key=keys.take(), kind="cancel", request=b"{}", total=0, tenant="acme")
        await store.create_batch(theirs, _job(keys))
        assert [row.key for row in await store.batches(tenant="acme")] == [theirs.key]
        assert [row.key for row in await store.batches(after=theirs.key, limit=2)] == [made[2], made[1]]
        assert await store.batches(keys=[made[0]], tenant="acme") == []

    async def test_batches_that_ended_long_ago_go_with_their_errors_in_chunks(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        """Not one that is under way, nor one whose failed items another does again just now."""
        batch, runs = await _begin(store, keys), await _begin(store, keys)
        await store.advance_batch(BatchAdvance(key=batch, cursor=0, to=9, deletes=[1, 2, 3], ended=True))
        again = NewBatch(key=keys.take(), kind="delete", request=b"{}", total=3, retry_of=batch)
        await store.create_batch(again, _job(keys))
        until = clock()
        assert await store.delete_batches(ended_before=until - 1, limit=10) == 0
        assert await store.delete_batches(ended_before=until, limit=10) == 0
        clock.advance(1)
        assert await store.end_batch(again.key)
        assert await store.delete_batches(ended_before=until, limit=2) == 2
        assert len(await store.batches(keys=[batch])) == 1
        assert await store.delete_batches(ended_before=until, limit=2) == 2
        assert await store.delete_batches(ended_before=until, limit=2) == 0
        assert await store.batch_errors(batch) == []
        assert {row.key for row in await store.batches()} == {runs, again.key}
