"""Leases of workers that are no nodes: they end by themselves, and are held like any other until then."""
# ruff: noqa: D102 - a test is named as a sentence

from __future__ import annotations

from procession.ids import Keys
from procession.jobs.kinds import REMOTE, JobState
from procession.store.port import Store
from procession.store.rows import (
    ClaimedJob,
    JobAdjustment,
    JobEnd,
    JobFence,
    JobOutcome,
    StepOutcome,
    StoredJob,
    Want,
)
from procession.testing.conformance.stage import (
    ManualClock,
    apply,
    new_job,
    next_step,
    service_job,
    start_step,
    the_job,
)


async def claim_remotely(
    store: Store, *, queue: str = "mail", count: int = 10, lease_ms: int = 500
) -> list[ClaimedJob]:
    """Lease jobs to a worker that is no node."""
    return await store.claim(5, [Want(queue=queue, count=count, lease_ms=lease_ms)])


async def stored(store: Store, key: int) -> StoredJob:
    """The job, which is there."""
    job = await the_job(store, key)
    assert job is not None
    return job


class TestRemoteLeases:
    """Claims with a time of their own."""

    async def test_a_remote_lease_is_nobodys_and_says_when_it_ends(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        await store.enqueue([new_job(keys, priority=3)])
        (run,) = await claim_remotely(store)
        assert (run.lease, run.attempt, run.priority) == (1, 1, 3)
        job = await stored(store, run.key)
        assert (job.state, job.owner, job.run_at) == (JobState.SCHEDULED, REMOTE, clock() + 500)
        assert await claim_remotely(store) == []

    async def test_claims_of_both_kinds_go_together_in_claim_order(self, store: Store, keys: Keys) -> None:
        jobs = [new_job(keys, queue=name, priority=priority) for name in ("a", "b") for priority in (1, 7, 4)]
        await store.enqueue(jobs)
        claimed = await store.claim(5, [Want(queue="a", count=2), Want(queue="b", count=2, lease_ms=500)])
        for name, owner in (("a", 5), ("b", REMOTE)):
            of_queue = [job for job in claimed if job.queue == name]
            assert [job.priority for job in of_queue] == [7, 4]
            assert {(await stored(store, job.key)).owner for job in of_queue} == {owner}

    async def test_a_worker_of_some_tenants_gets_only_their_jobs(self, store: Store, keys: Keys) -> None:
        of = {tenant: new_job(keys, tenant=tenant, priority=len(tenant)) for tenant in ("acme", "", "initech")}
        await store.enqueue(list(of.values()))
        claimed = await store.claim(5, [Want(queue="mail", count=9, lease_ms=500, tenants=["", "acme"])])
        assert [job.key for job in claimed] == [of["acme"].key, of[""].key]
        assert await store.claim(5, [Want(queue="mail", count=9, lease_ms=500, tenants=[])]) == []
        (left,) = await claim_remotely(store)
        assert (left.key, left.tenant) == (of["initech"].key, "initech")

    async def test_what_is_not_answered_in_time_is_ready_again(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        await store.enqueue([new_job(keys)])
        (run,) = await claim_remotely(store)
        clock.advance(499)
        assert await store.promote(10) == ([], clock() + 1)
        clock.advance(1)
        assert await store.promote(10) == (["mail"], 0)
        job = await stored(store, run.key)
        assert (job.state, job.owner, job.retries) == (JobState.READY, 0, run.retries)
        (again,) = await claim_remotely(store)
        assert (again.lease, again.attempt) == (2, 2)

    async def test_a_late_answer_under_an_old_lease_is_refused(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        await store.enqueue([new_job(keys)])
        (run,) = await claim_remotely(store)
        done = JobOutcome(key=run.key, lease=run.lease, end=JobEnd.DONE)
        clock.advance(500)
        await store.promote(10)
        assert await store.finish([done]) == [False]
        (again,) = await claim_remotely(store)
        assert await store.finish([done]) == [False]
        assert await store.finish([JobOutcome(key=run.key, lease=again.lease, end=JobEnd.DONE)]) == [True]
        assert await the_job(store, run.key) is None

    async def test_every_end_of_a_run_is_taken_under_a_remote_lease(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        ends = {
            JobEnd.RETRY: (JobState.SCHEDULED, clock() + 70, 2, 1),
            JobEnd.SNOOZE: (JobState.SCHEDULED, clock() + 70, 3, 0),
            JobEnd.RELEASE: (JobState.READY, clock(), 3, 0),
            JobEnd.FAILED: (JobState.FAILED, clock(), 2, 1),
        }
        await store.enqueue([new_job(keys, retries=3) for _ in ends])
        for (end, expected), run in zip(ends.items(), await claim_remotely(store), strict=True):
            outcome = JobOutcome(key=run.key, lease=run.lease, end=end, delay_ms=70 if end < JobEnd.RELEASE else 0)
            assert await store.finish([outcome]) == [True]
            job = await stored(store, run.key)
            assert (job.state, job.run_at, job.retries, job.attempt) == expected
            assert job.owner == 0
            assert await store.finish([outcome]) == [False]

    async def test_a_job_that_waits_for_its_next_attempt_is_not_held(self, store: Store, keys: Keys) -> None:
        await store.enqueue([new_job(keys)])
        (run,) = await claim_remotely(store)
        await store.finish([JobOutcome(key=run.key, lease=run.lease, end=JobEnd.RETRY, delay_ms=70)])
        assert await store.finish([JobOutcome(key=run.key, lease=run.lease, end=JobEnd.DONE)]) == [False]

    async def test_no_death_of_a_node_takes_a_remote_lease_away(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        node = await store.register("server", b"{}")
        await store.enqueue([new_job(keys)])
        (run,) = await store.claim(node, [Want(queue="mail", count=1, lease_ms=60_000)])
        clock.advance(20_000)
        rescue = await store.rescue(10_000, 100, crash_budget=5, backoff_ms=0)
        assert (rescue.nodes, rescue.jobs) == ([node], 0)
        await store.leave(node)
        assert (await stored(store, run.key)).owner == REMOTE

    async def test_a_step_closes_a_job_under_its_remote_lease_only(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        start = start_step(keys)
        job = service_job(keys, start)
        start.new_jobs = [job]
        await apply(store, keys, start)
        (run,) = await claim_remotely(store, queue=job.queue)
        clock.advance(500)
        await store.promote(10)
        late = next_step(start, closed_jobs=[JobFence(key=job.key, lease=run.lease)])
        assert [each.outcome for each in await store.commit([late], keys)] == [StepOutcome.FENCED]
        (again,) = await claim_remotely(store, queue=job.queue)
        right = next_step(start, closed_jobs=[JobFence(key=job.key, lease=again.lease)])
        assert [each.outcome for each in await store.commit([right], keys)] == [StepOutcome.APPLIED]
        assert await the_job(store, job.key) is None


class TestAdjustments:
    """Changes of jobs that stay where they are."""

    async def test_a_remote_lease_is_made_longer_and_shorter(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        await store.enqueue([new_job(keys)])
        (run,) = await claim_remotely(store)
        assert await store.adjust_jobs([JobAdjustment(key=run.key, lease=run.lease, lease_ms=9_000)]) == [True]
        clock.advance(500)
        assert (await store.promote(10))[0] == []
        assert (await stored(store, run.key)).run_at == clock() + 8_500
        assert await store.adjust_jobs([JobAdjustment(key=run.key, lease_ms=0)]) == [True]
        assert (await store.promote(10))[0] == ["mail"]

    async def test_retries_and_priority_change_wherever_the_job_is(self, store: Store, keys: Keys) -> None:
        low, high = new_job(keys, priority=1), new_job(keys, priority=5)
        await store.enqueue([low, high])
        assert await store.adjust_jobs([JobAdjustment(key=low.key, retries=7, priority=9)]) == [True]
        (first,) = await claim_remotely(store, count=1)
        assert (first.key, first.retries, first.priority) == (low.key, 7, 9)
        assert await store.adjust_jobs([JobAdjustment(key=low.key, retries=4)]) == [True]
        assert (await stored(store, low.key)).retries == 4

    async def test_what_is_not_leased_has_no_lease_to_change(self, store: Store, keys: Keys) -> None:
        await store.enqueue([new_job(keys), new_job(keys, delay_ms=1_000)])
        (run,) = await store.claim(5, [Want(queue="mail", count=1)])
        waiting = JobAdjustment(key=run.key + 1, lease_ms=100)
        assert await store.adjust_jobs([JobAdjustment(key=run.key, lease_ms=100), waiting]) == [False, False]
        assert await store.adjust_jobs([JobAdjustment(key=run.key, lease=run.lease + 1, retries=9)]) == [False]
        assert await store.adjust_jobs([JobAdjustment(key=1, retries=9)]) == [False]
        assert (await stored(store, run.key)).retries == run.retries
