"""Limits: slots, paces, both, newer rules, and what crashes and stalls make of them."""
# ruff: noqa: D102 - a test is named as a sentence

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from procession.errors import NotFound
from procession.ids import Keys
from procession.jobs.kinds import JobState
from procession.jobs.options import Limit, Unique, UniqueMode
from procession.store.rows import JobEnd, NewJob, Want
from procession.store.rows.queue import Deletion
from procession.testing.conformance.queue_stage import (
    QueueStore,
    details,
    end,
    is_clean,
    job_with,
    mutex,
    paced,
    run_all,
    state_of,
    take,
)
from procession.testing.conformance.stage import ManualClock, new_job


def most_in(starts: list[int], window_ms: int) -> int:
    """The most starts in any window of that length, both ends included."""
    return max(sum(first <= other <= first + window_ms for other in starts) for first in starts)


class TestSlots:
    """So many run at once."""

    async def test_never_more_than_the_limit_run_and_all_do_in_the_end(self, store: QueueStore, keys: Keys) -> None:
        jobs = [job_with(keys, limits=mutex(most=3)) for _ in range(20)]
        await store.submit(jobs)
        order: list[int] = []
        while runs := await take(store, 1):
            assert len(runs) <= 3
            order += [run.key for run in runs]
            for run in runs:
                await end(store, run)
        assert order == [job.key for job in jobs]
        assert await is_clean(store)

    async def test_a_run_that_ends_in_any_way_makes_room_for_the_next(self, store: QueueStore, keys: Keys) -> None:
        jobs = [job_with(keys, limits=mutex()) for _ in range(6)]
        await store.submit(jobs)
        for how in (JobEnd.DONE, JobEnd.FAILED, JobEnd.CANCELED, JobEnd.RETRY, JobEnd.SNOOZE):
            (run,) = await take(store, 1)
            assert await take(store, 1) == []
            await end(store, run, how, delay_ms=60_000)
        (run,) = await take(store, 1)
        assert run.key == jobs[5].key
        await end(store, run, JobEnd.RELEASE)
        (again,) = await take(store, 1)
        assert (again.key, again.attempt, again.lease) == (run.key, 1, 2)
        assert await is_clean(store)

    async def test_priority_comes_first_among_those_that_wait(self, store: QueueStore, keys: Keys) -> None:
        first = job_with(keys, limits=mutex())
        await store.submit([first])
        (run,) = await take(store, 1)
        others = [job_with(keys, limits=mutex(), priority=n) for n in (0, 5, 3)]
        await store.submit(others)
        await end(store, run)
        assert await run_all(store, 1) == [others[1].key, others[2].key, others[0].key]

    async def test_limited_jobs_never_block_unlimited_ones(self, store: QueueStore, keys: Keys) -> None:
        limited = [job_with(keys, limits=mutex(), priority=9) for _ in range(50)]
        plain = [new_job(keys) for _ in range(5)]
        await store.submit(limited)
        await store.enqueue(plain)
        runs = await take(store, 1, count=10)
        assert Counter(run.key in {job.key for job in plain} for run in runs) == {True: 5, False: 1}
        assert [await state_of(store, job) for job in limited[1:]] == [JobState.THROTTLED] * 49

    async def test_limited_and_unlimited_jobs_have_one_order_of_priority_then_age(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        jobs: list[NewJob] = []
        for priority, is_limited in ((0, False), (0, True), (5, True), (5, False), (9, False), (0, False)):
            options = {"limits": mutex(most=9)} if is_limited else {"title": "t"}
            jobs.append(job_with(keys, priority=priority, **options))
            await store.submit(jobs[-1:])
            clock.advance(10)
        order = [(await take(store, 1, count=1))[0].key for _ in jobs]
        assert order == [jobs[place].key for place in (4, 2, 3, 0, 1, 5)]

    async def test_limited_jobs_come_to_their_turn_while_there_are_always_unlimited_ones(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        await store.enqueue([new_job(keys) for _ in range(3)])
        clock.advance(10)
        limited = job_with(keys, limits=mutex())
        await store.submit([limited])
        order: list[int] = []
        for _ in range(6):
            clock.advance(10)
            await store.enqueue([new_job(keys)])
            order += [run.key for run in await take(store, 1, count=1)]
        assert order.index(limited.key) == 3

    async def test_a_limited_job_is_leased_only_for_a_slot_that_is_free_at_once(
        self, store: QueueStore, keys: Keys
    ) -> None:
        limited = job_with(keys, limits=mutex(), priority=9)
        plain = [new_job(keys) for _ in range(3)]
        await store.submit([limited])
        await store.enqueue(plain)
        runs = await store.claim(1, [Want(queue="mail", count=2, at_once=0)])
        assert ([run.key for run in runs], runs.held_back) == ([job.key for job in plain[:2]], {"mail"})
        runs = await store.claim(1, [Want(queue="mail", count=2, at_once=1)])
        assert ([run.key for run in runs], runs.held_back) == ([limited.key, plain[2].key], set())
        assert [run.is_limited for run in runs] == [True, False]

    async def test_a_paced_job_says_how_soon_it_must_start(self, store: QueueStore, keys: Keys) -> None:
        await store.submit([job_with(keys, limits=paced(2, burst=1)), job_with(keys, limits=mutex())])
        assert [run.start_within_ms for run in await take(store, 1)] == [250, 0]

    async def test_a_job_needs_room_in_all_of_its_limits(self, store: QueueStore, keys: Keys) -> None:
        both = [job_with(keys, limits=[*mutex("a"), *mutex("b", 2)]) for _ in range(3)]
        only_b = [job_with(keys, limits=mutex("b", 2)) for _ in range(3)]
        await store.submit([*both, *only_b])
        ran: list[int] = []
        for _ in range(20):
            runs = await take(store, 1)
            keys_now = {run.key for run in runs}
            assert len(keys_now & {job.key for job in both}) <= 1
            assert len(keys_now) <= 2
            ran += [run.key for run in runs]
            for run in runs:
                await end(store, run)
        assert sorted(ran) == sorted(job.key for job in (*both, *only_b))
        assert await is_clean(store)

    async def test_a_dead_process_frees_its_slots(self, store: QueueStore, keys: Keys, clock: ManualClock) -> None:
        node = await store.register("worker", b"{}")
        jobs = [job_with(keys, limits=mutex(most=2)) for _ in range(3)]
        await store.submit(jobs)
        assert len(await take(store, node)) == 2
        (limit,) = await store.limits()
        assert (limit.key, limit.most, limit.used, limit.waiting) == ("door", 2, 2, 1)
        clock.advance(10_000)
        await store.rescue(10_000, 100, crash_budget=3, backoff_ms=0)
        (limit,) = await store.limits()
        assert (limit.used, limit.waiting) == (0, 3)
        assert len(await run_all(store, 5)) == 3
        assert await is_clean(store)

    async def test_a_waiting_job_that_is_deleted_leaves_the_line(self, store: QueueStore, keys: Keys) -> None:
        jobs = [job_with(keys, limits=mutex()) for _ in range(4)]
        await store.submit(jobs)
        assert await store.delete_jobs([jobs[0].key, jobs[2].key]) == [Deletion.DELETED] * 2
        assert await run_all(store, 1) == [jobs[1].key, jobs[3].key]
        assert await is_clean(store)

    async def test_a_delayed_job_is_limited_when_its_time_comes(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        jobs = [job_with(keys, limits=mutex(), delay_ms=100) for _ in range(2)]
        await store.submit(jobs)
        assert await take(store, 1) == []
        clock.advance(100)
        queues, _ = await store.promote(10)
        assert queues == ["mail"]
        assert await state_of(store, jobs[0]) == JobState.THROTTLED
        (run,) = await take(store, 1)
        assert await take(store, 1) == []
        await end(store, run)
        assert await run_all(store, 1) == [jobs[1].key]
        assert await is_clean(store)

    async def test_claims_at_once_see_every_slot_once(self, store: QueueStore, keys: Keys) -> None:
        jobs = [job_with(keys, limits=mutex(f"door-{n % 3}", 2)) for n in range(60)]
        await store.submit(jobs)
        running: dict[str, int] = Counter()
        for _ in range(20):
            claims = await asyncio.gather(*(take(store, node, count=5) for node in range(1, 5)))
            runs = [run for claim in claims for run in claim]
            running = Counter(f"door-{(run.key - jobs[0].key) % 3}" for run in runs)
            assert all(count <= 2 for count in running.values())
            await asyncio.gather(*(end(store, run) for run in runs))
        assert (await store.count_jobs()).get(("mail", JobState.THROTTLED), 0) == 0
        assert await is_clean(store)

    async def test_who_leaves_the_line_lets_the_next_one_try(self, store: QueueStore, keys: Keys) -> None:
        """One that is pushed back, and one whose other limit gets a new rule."""
        unique = Unique("u", mode=UniqueMode.DEBOUNCE)
        first, second = job_with(keys, limits=mutex(), unique=unique), job_with(keys, limits=mutex())
        await store.submit([first, second])
        await store.submit([job_with(keys, limits=mutex(), unique=unique, delay_ms=60_000)])
        assert await state_of(store, first) == JobState.SCHEDULED
        assert await is_clean(store)
        assert await run_all(store, 1) == [second.key]
        both, after = job_with(keys, limits=[*mutex("a", 5), *mutex("b")]), job_with(keys, limits=mutex("b"))
        await store.submit([both, after])
        await store.set_limit("a", most=4, rate=0, per_ms=1_000, burst=0)
        assert await is_clean(store)
        assert await run_all(store, 1) == [both.key, after.key]


class TestPace:
    """So many start per time."""

    async def test_a_backlog_gets_start_times_one_interval_apart(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        jobs = [job_with(keys, limits=paced(10, burst=2)) for _ in range(6)]
        await store.submit(jobs[:3])
        await store.submit(jobs[3:])
        times = [(await details(store, job)).run_at - clock() for job in jobs]
        assert times == [0, 0, 100, 200, 300, 400]
        assert [run.key for run in await take(store, 1)] == [job.key for job in jobs[:2]]
        assert await store.promote(10) == ([], clock() + 100)
        clock.advance(100)
        assert await store.promote(10) == (["mail"], clock() + 100)
        assert [run.key for run in await take(store, 1)] == [jobs[2].key]
        assert await take(store, 1) == []

    async def test_after_a_stall_only_the_burst_starts_and_the_rest_get_new_times(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        jobs = [job_with(keys, limits=paced(10, burst=3)) for _ in range(30)]
        await store.submit(jobs)
        clock.advance(60_000)
        starts: list[int] = []
        order: list[int] = []
        for _ in range(500):
            runs = await take(store, 1)
            starts += [clock()] * len(runs)
            order += [run.key for run in runs]
            clock.advance(10)
        assert len(order) == 30
        assert order == [job.key for job in jobs]
        assert most_in(starts, 1_000) <= 13
        assert starts[-1] - starts[0] <= 2_800

    @pytest.mark.parametrize("poll_ms", [1, 7, 40, 300, 1_500])
    async def test_in_any_window_at_most_rate_and_burst_start(
        self, store: QueueStore, keys: Keys, clock: ManualClock, poll_ms: int
    ) -> None:
        """Whatever the polling, with stalls, crashes and retries in between."""
        await store.submit([job_with(keys, limits=paced(7, per_ms=300, burst=4)) for _ in range(40)])
        starts: list[int] = []
        for turn in range(min(400, 30_000 // poll_ms)):
            node = await store.register("worker", b"{}")
            runs = await take(store, node, count=5 if turn % 3 else 50)
            starts += [clock()] * len(runs)
            if turn == 5:
                clock.advance(10_000)
                await store.rescue(10_000, 100, crash_budget=9, backoff_ms=0)
                continue
            for n, run in enumerate(runs):
                await end(store, run, JobEnd.RETRY if n % 4 == 3 else JobEnd.DONE, retries=3)
            clock.advance(900 if turn == 9 else poll_ms)
            await store.promote(100)
        assert len(starts) > 4
        assert most_in(starts, 300) <= 7 + 4
        assert await is_clean(store)

    async def test_without_a_burst_a_tenth_of_the_rate_may_start_at_once(self, store: QueueStore, keys: Keys) -> None:
        await store.submit([job_with(keys, limits=paced(100, burst=0)) for _ in range(30)])
        assert len(await take(store, 1)) == 10

    async def test_a_pace_and_slots_together(self, store: QueueStore, keys: Keys, clock: ManualClock) -> None:
        rule = [Limit("api", most=2, rate=10, per_ms=1_000, burst=5)]
        jobs = [job_with(keys, limits=rule) for _ in range(8)]
        await store.submit(jobs)
        running = await take(store, 1)
        assert [run.key for run in running] == [job.key for job in jobs[:2]]
        clock.advance(5_000)
        assert await take(store, 1) == []
        starts, ran = [clock()] * 2, 0
        while running:
            for run in running:
                ran += 1
                await end(store, run)
            clock.advance(100)
            running = await take(store, 1)
            assert len(running) <= 2
            starts += [clock()] * len(running)
        assert ran == 8
        assert most_in(starts, 1_000) <= 15
        assert await is_clean(store)


class TestRules:
    """The newest rule of a key counts."""

    async def test_a_newer_rule_gives_those_that_wait_new_places(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        jobs = [job_with(keys, limits=paced(1, per_ms=60_000)) for _ in range(5)]
        await store.submit(jobs)
        (run,) = await take(store, 1)
        newest = job_with(keys, limits=paced(100, per_ms=1_000))
        await store.submit([newest])
        (limit,) = await store.limits(key="api")
        assert (limit.rate, limit.per_ms, limit.waiting) == (100, 1_000, 5)
        await end(store, run)
        ran: list[int] = []
        for _ in range(70_000 // 10):
            ran += [each.key for each in await take(store, 1)]
            if len(ran) == 5:
                break
            clock.advance(10)
        assert ran == [*(job.key for job in jobs[1:]), newest.key]

    async def test_more_slots_let_more_start_at_once(self, store: QueueStore, keys: Keys) -> None:
        await store.submit([job_with(keys, limits=mutex()) for _ in range(5)])
        assert len(await take(store, 1)) == 1
        assert await store.set_limit("door", most=3, rate=0, per_ms=1_000, burst=0)
        assert not await store.set_limit("door", most=3, rate=0, per_ms=1_000, burst=0)
        assert len(await take(store, 1)) == 2
        with pytest.raises(NotFound, match="gate"):
            await store.set_limit("gate", most=3, rate=0, per_ms=1_000, burst=0)
        assert await is_clean(store)

    async def test_fewer_slots_wait_until_enough_have_ended(self, store: QueueStore, keys: Keys) -> None:
        await store.submit([job_with(keys, limits=mutex(most=3)) for _ in range(5)])
        runs = await take(store, 1)
        await store.set_limit("door", most=1, rate=0, per_ms=1_000, burst=0)
        await end(store, runs[0])
        assert await take(store, 1) == []
        await end(store, runs[1])
        assert await take(store, 1) == []
        await end(store, runs[2])
        (run,) = await take(store, 1)
        await end(store, run)
        assert len(await run_all(store, 1)) == 1
        assert await is_clean(store)

    async def test_a_limit_that_a_later_job_names_is_there_to_be_changed(self, store: QueueStore, keys: Keys) -> None:
        await store.submit([job_with(keys, limits=mutex(), delay_ms=60_000)])
        await store.expire_archive(100)
        assert await store.set_limit("door", most=2, rate=0, per_ms=1_000, burst=0) is not None

    async def test_a_limit_that_nobody_uses_is_forgotten(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        await store.submit([job_with(keys, limits=paced(10)), job_with(keys, limits=mutex(), delay_ms=1)])
        await run_all(store, 1)
        assert [limit.key for limit in await store.limits()] == ["api", "door"]
        assert [limit.key for limit in await store.limits(after="api")] == ["door"]
        clock.advance(2 * 24 * 3_600_000)
        await store.expire_archive(100)
        assert await store.limits() == []
        await store.promote(10)
        assert len(await run_all(store, 1)) == 1
        assert await is_clean(store)
