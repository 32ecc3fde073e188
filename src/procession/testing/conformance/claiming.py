"""Leases: who gets a job, in which order, and how a run ends."""
# ruff: noqa: D102 - a test is named as a sentence

from __future__ import annotations

import asyncio

import pytest

from procession.ids import Keys
from procession.jobs.kinds import JobState
from procession.store.port import Store
from procession.store.rows import JobEnd, JobOutcome, Want
from procession.testing.conformance.stage import ManualClock, claim, jobs_of, new_job, read, the_job


class TestClaim:
    """One statement over all queues."""

    async def test_a_claimed_job_carries_all_that_a_worker_needs(self, store: Store, keys: Keys) -> None:
        job = new_job(
            keys,
            instance=11,
            element_instance=12,
            element="charge-card",
            definition=13,
            priority=-4,
            retries=2,
            args=b'{"a":1}',
            tenant="acme",
        )
        await store.enqueue([job])
        (claimed,) = await claim(store, 5)
        assert (claimed.key, claimed.lease, claimed.attempt, claimed.retries) == (job.key, 1, 1, 2)
        assert (claimed.kind, claimed.queue, claimed.type, claimed.priority) == (job.kind, "mail", "send", -4)
        assert (claimed.instance, claimed.element_instance, claimed.element) == (11, 12, "charge-card")
        assert (claimed.definition, claimed.tenant, read(claimed.args)) == (13, "acme", {"a": 1})
        stored = await the_job(store, job.key)
        assert stored is not None
        assert (stored.state, stored.owner, stored.lease, stored.attempt) == (JobState.RUNNING, 5, 1, 1)

    async def test_higher_priority_goes_first_then_the_older(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        first = new_job(keys, priority=1)
        await store.enqueue([first])
        clock.advance(10)
        urgent, second = new_job(keys, priority=9), new_job(keys, priority=1)
        await store.enqueue([second, urgent])
        got = [(await claim(store, 1, count=1))[0].key for _ in range(3)]
        assert got == [urgent.key, first.key, second.key]

    async def test_a_page_of_claims_is_in_claim_order(self, store: Store, keys: Keys) -> None:
        jobs = [new_job(keys, priority=priority) for priority in (0, 5, 3, 5, 1)]
        await store.enqueue(jobs)
        assert [job.priority for job in await claim(store, 1)] == [5, 5, 3, 1, 0]

    async def test_each_queue_gives_as_many_as_it_was_asked_for(self, store: Store, keys: Keys) -> None:
        await store.enqueue([new_job(keys, queue=name) for name in ("a", "b", "c") for _ in range(5)])
        wants = [Want(queue="a", count=2), Want(queue="b", count=9), Want(queue="none", count=3)]
        claimed = await store.claim(1, wants)
        assert sorted(job.queue for job in claimed) == ["a"] * 2 + ["b"] * 5
        assert await store.count_jobs() == {
            ("a", JobState.READY): 3,
            ("a", JobState.RUNNING): 2,
            ("b", JobState.RUNNING): 5,
            ("c", JobState.READY): 5,
        }

    async def test_an_urgent_job_of_one_queue_does_not_hide_those_of_another(self, store: Store, keys: Keys) -> None:
        await store.enqueue([new_job(keys, queue="a", priority=9) for _ in range(5)] + [new_job(keys, queue="b")])
        claimed = await store.claim(1, [Want(queue="a", count=1), Want(queue="b", count=1)])
        assert sorted(job.queue for job in claimed) == ["a", "b"]

    async def test_asking_for_nothing_gives_nothing(self, store: Store, keys: Keys) -> None:
        await store.enqueue([new_job(keys)])
        assert await store.claim(1, []) == []
        assert await store.claim(1, [Want(queue="mail", count=0)]) == []

    async def test_a_lease_never_goes_down(self, store: Store, keys: Keys) -> None:
        job = new_job(keys)
        await store.enqueue([job])
        leases: list[int] = []
        for _ in range(3):
            (claimed,) = await claim(store, 1)
            leases.append(claimed.lease)
            await store.finish([JobOutcome(key=job.key, lease=claimed.lease, end=JobEnd.RELEASE)])
        assert leases == [1, 2, 3]


class TestFinish:
    """How a run ends, under its lease."""

    async def test_done_deletes_the_job(self, store: Store, keys: Keys) -> None:
        await store.enqueue([new_job(keys)])
        (run,) = await claim(store, 1)
        done = JobOutcome(key=run.key, lease=run.lease, end=JobEnd.DONE)
        assert await store.finish([done]) == [True]
        assert await the_job(store, run.key) is None
        assert await store.finish([done]) == [False]

    async def test_a_retry_uses_one_attempt_and_waits(self, store: Store, keys: Keys, clock: ManualClock) -> None:
        await store.enqueue([new_job(keys, retries=3)])
        (run,) = await claim(store, 1)
        retry = JobOutcome(key=run.key, lease=run.lease, end=JobEnd.RETRY, delay_ms=500, error="no route to host")
        assert await store.finish([retry]) == [True]
        stored = await the_job(store, run.key)
        assert stored is not None
        assert (stored.state, stored.run_at, stored.owner) == (JobState.SCHEDULED, clock() + 500, 0)
        assert (stored.retries, stored.attempt, stored.error) == (2, 1, "no route to host")
        assert await store.finish([retry]) == [False]
        clock.advance(500)
        await store.promote(10)
        (again,) = await claim(store, 1)
        assert (again.attempt, again.retries, again.lease) == (2, 2, 2)

    async def test_a_retry_without_delay_is_ready_at_once(self, store: Store, keys: Keys) -> None:
        await store.enqueue([new_job(keys)])
        (run,) = await claim(store, 1)
        await store.finish([JobOutcome(key=run.key, lease=run.lease, end=JobEnd.RETRY, retries=9)])
        (again,) = await claim(store, 1)
        assert (again.key, again.retries) == (run.key, 9)

    async def test_a_snooze_uses_no_attempt(self, store: Store, keys: Keys, clock: ManualClock) -> None:
        await store.enqueue([new_job(keys, retries=3)])
        (run,) = await claim(store, 1)
        await store.finish([JobOutcome(key=run.key, lease=run.lease, end=JobEnd.SNOOZE, delay_ms=100)])
        stored = await the_job(store, run.key)
        assert stored is not None
        assert (stored.state, stored.run_at, stored.retries, stored.attempt) == (
            JobState.SCHEDULED,
            clock() + 100,
            3,
            0,
        )

    async def test_a_released_job_is_as_it_was_before_the_claim_but_for_its_lease(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        await store.enqueue([new_job(keys)])
        before = (await jobs_of(store))[0]
        clock.advance(1_000)
        (run,) = await claim(store, 1)
        await store.finish([JobOutcome(key=run.key, lease=run.lease, end=JobEnd.RELEASE)])
        after = (await jobs_of(store))[0]
        assert after.lease == 1
        after.lease = 0
        assert after == before

    async def test_a_failed_job_is_kept_with_its_reason(self, store: Store, keys: Keys) -> None:
        await store.enqueue([new_job(keys, retries=1)])
        (run,) = await claim(store, 1)
        failed = JobOutcome(key=run.key, lease=run.lease, end=JobEnd.FAILED, error="card expired")
        assert await store.finish([failed]) == [True]
        stored = await the_job(store, run.key)
        assert stored is not None
        assert (stored.state, stored.owner, stored.retries) == (JobState.FAILED, 0, 0)
        assert (stored.error, stored.attempt) == ("card expired", 1)
        assert await claim(store, 1) == []

    @pytest.mark.parametrize("end", list(JobEnd))
    async def test_a_lease_that_is_not_held_changes_nothing(self, store: Store, keys: Keys, end: JobEnd) -> None:
        await store.enqueue([new_job(keys)])
        (run,) = await claim(store, 1)
        await store.finish([JobOutcome(key=run.key, lease=run.lease, end=JobEnd.RELEASE)])
        (second,) = await claim(store, 2)
        before = await jobs_of(store)
        stale = JobOutcome(key=run.key, lease=run.lease, end=end, error="too late")
        unknown = JobOutcome(key=keys.take(), lease=1, end=end)
        assert await store.finish([stale, unknown]) == [False, False]
        assert await jobs_of(store) == before
        assert await store.finish([JobOutcome(key=run.key, lease=second.lease, end=JobEnd.DONE)]) == [True]

    async def test_each_outcome_of_a_batch_is_answered_in_order(self, store: Store, keys: Keys) -> None:
        await store.enqueue([new_job(keys) for _ in range(5)])
        runs = await claim(store, 1)
        ends = [JobEnd.DONE, JobEnd.RETRY, JobEnd.SNOOZE, JobEnd.RELEASE, JobEnd.FAILED]
        outcomes = [JobOutcome(key=run.key, lease=run.lease, end=end) for run, end in zip(runs, ends, strict=True)]
        outcomes.insert(2, JobOutcome(key=runs[0].key, lease=77, end=JobEnd.DONE))
        assert await store.finish(outcomes) == [True, True, False, True, True, True]
        assert await store.count_jobs() == {("mail", JobState.READY): 3, ("mail", JobState.FAILED): 1}

    @pytest.mark.parametrize("end", [JobEnd.RETRY, JobEnd.FAILED])
    async def test_attempts_left_never_go_below_none(self, store: Store, keys: Keys, end: JobEnd) -> None:
        await store.enqueue([new_job(keys, retries=0)])
        (run,) = await claim(store, 1)
        assert await store.finish([JobOutcome(key=run.key, lease=run.lease, end=end)]) == [True]
        stored = await the_job(store, run.key)
        assert stored is not None
        assert stored.retries == 0

    @pytest.mark.parametrize("end", [JobEnd.RETRY, JobEnd.FAILED])
    async def test_the_attempts_left_may_be_set(self, store: Store, keys: Keys, end: JobEnd) -> None:
        await store.enqueue([new_job(keys), new_job(keys)])
        runs = await claim(store, 1)
        for run, retries in zip(runs, (0, 7), strict=True):
            await store.finish([JobOutcome(key=run.key, lease=run.lease, end=end, retries=retries)])
        assert [job.retries for job in await jobs_of(store)] == [0, 7]

    @pytest.mark.parametrize("end", [JobEnd.SNOOZE, JobEnd.RELEASE])
    async def test_what_uses_no_attempt_sets_none(self, store: Store, keys: Keys, end: JobEnd) -> None:
        await store.enqueue([new_job(keys, retries=3)])
        (run,) = await claim(store, 1)
        await store.finish([JobOutcome(key=run.key, lease=run.lease, end=end, retries=9)])
        stored = await the_job(store, run.key)
        assert stored is not None
        assert (stored.retries, stored.attempt) == (3, 0)

    async def test_a_snooze_without_delay_is_ready_at_once(self, store: Store, keys: Keys, clock: ManualClock) -> None:
        await store.enqueue([new_job(keys)])
        (run,) = await claim(store, 1)
        clock.advance(5)
        await store.finish([JobOutcome(key=run.key, lease=run.lease, end=JobEnd.SNOOZE)])
        stored = await the_job(store, run.key)
        assert stored is not None
        assert (stored.state, stored.run_at) == (JobState.READY, clock())

    @pytest.mark.parametrize(
        ("end", "crashes"),
        [(JobEnd.RETRY, 0), (JobEnd.SNOOZE, 0), (JobEnd.FAILED, 0), (JobEnd.RELEASE, 1)],
    )
    async def test_a_run_that_happened_clears_crashes_and_one_that_did_not_leaves_them(
        self, store: Store, keys: Keys, end: JobEnd, crashes: int
    ) -> None:
        await store.enqueue([new_job(keys, owner=4_711)])  # of a node that nobody knows
        await store.rescue(10_000, 10, crash_budget=3, backoff_ms=0)
        (run,) = await claim(store, 1)
        await store.finish([JobOutcome(key=run.key, lease=run.lease, end=end)])
        stored = await the_job(store, run.key)
        assert stored is not None
        assert stored.crashes == crashes

    async def test_an_error_that_cannot_be_stored_as_it_is_does_not_lose_the_outcome(
        self, store: Store, keys: Keys
    ) -> None:
        await store.enqueue([new_job(keys)])
        (run,) = await claim(store, 1)
        hostile = "NUL \0, surrogate \ud800, " + "x" * 50_000
        failed = JobOutcome(key=run.key, lease=run.lease, end=JobEnd.FAILED, error=hostile)
        assert await store.finish([failed]) == [True]
        stored = await the_job(store, run.key)
        assert stored is not None
        assert stored.state == JobState.FAILED
        assert stored.error.startswith("NUL ")
        assert len(stored.error) <= 10_000


class TestConcurrency:
    """Many at once."""

    async def test_no_job_is_claimed_twice_and_none_is_left(self, store: Store, keys: Keys) -> None:
        await store.enqueue([new_job(keys) for _ in range(600)])
        taken: list[int] = []

        async def drain(node: int) -> None:
            while jobs := await claim(store, node, count=7):
                taken.extend(job.key for job in jobs)
                ended = [JobOutcome(key=job.key, lease=job.lease, end=JobEnd.DONE) for job in jobs]
                assert all(await store.finish(ended))

        # A claim may skip what another one holds at the moment: drain until nothing is left.
        while await store.count_jobs():
            await asyncio.gather(*(drain(node) for node in range(1, 17)))
        assert len(taken) == 600 == len(set(taken))

    async def test_only_one_of_several_ends_of_a_run_counts(self, store: Store, keys: Keys) -> None:
        await store.enqueue([new_job(keys)])
        (run,) = await claim(store, 1)
        done = JobOutcome(key=run.key, lease=run.lease, end=JobEnd.DONE)
        answers = await asyncio.gather(*(store.finish([done]) for _ in range(10)))
        assert sorted(answers) == [[False]] * 9 + [[True]]

    async def test_jobs_enqueued_while_others_claim_are_all_claimed(self, store: Store, keys: Keys) -> None:
        taken: set[int] = set()
        jobs = [new_job(keys) for _ in range(200)]

        async def put() -> None:
            for start in range(0, len(jobs), 10):
                await store.enqueue(jobs[start : start + 10])

        async def take() -> None:
            while len(taken) < len(jobs):
                taken.update(job.key for job in await claim(store, 1, count=20))
                await asyncio.sleep(0)

        async with asyncio.timeout(30):
            await asyncio.gather(put(), take())
        assert taken == {job.key for job in jobs}
