"""The order of limited jobs in a backlog: by priority and age however long it is, and no key in the way of another."""
# ruff: noqa: D102 - a test is named as a sentence

from __future__ import annotations

import asyncio
from typing import Any

from procession import limits
from procession.ids import Keys
from procession.store.rows import NewJob, Want
from procession.store.rows.queue import PauseKind
from procession.testing.conformance.queue_stage import QueueStore, end, is_clean, job_with, mutex, paced, take
from procession.testing.conformance.stage import ManualClock

BACKLOG, AT_ONCE = 5_000, 5


def spread(keys: Keys, count: int, tenants: int = 50, **options: Any) -> list[NewJob]:  # noqa: ANN401 - any option
    """Limited jobs of many keys, all of which may start."""
    return [job_with(keys, limits=mutex(f"tenant {n % tenants}", most=count), **options) for n in range(count)]


class TestOrderOfLimited:
    """What a claim finds first in a long line."""

    async def test_a_late_job_of_a_higher_priority_goes_before_five_thousand(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        backlog = spread(keys, BACKLOG)
        await store.submit(backlog)
        clock.advance(1_000)
        late = job_with(keys, limits=mutex("tenant 7", most=BACKLOG), priority=5)
        await store.submit([late])
        runs = await take(store, 1, count=AT_ONCE)
        assert [run.key for run in runs] == [late.key, *(job.key for job in backlog[: AT_ONCE - 1])]
        assert await is_clean(store)

    async def test_every_priority_has_its_place_and_what_is_to_start_later_is_in_nobodys_way(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        later = [job_with(keys, limits=paced(1, 60_000, key="slow"), priority=9) for _ in range(200)]
        await store.submit(later)
        low, middle, high = (spread(keys, 30, priority=priority) for priority in (-3, 0, 4))
        for each in (low, middle, high):
            clock.advance(10)
            await store.submit(each)
        order: list[int] = []
        while runs := await take(store, 1, count=AT_ONCE):
            order += [run.key for run in runs]
            for run in runs:
                await end(store, run)
        assert order == [job.key for job in (later[0], *high, *middle, *low)]

    async def test_a_key_without_room_does_not_hide_those_behind_it(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        busy: list[NewJob] = []
        for _ in range(60):  # one at a time, as each is alone in line when it comes
            busy.append(job_with(keys, limits=mutex("busy")))
            await store.submit(busy[-1:])
        clock.advance(10)
        free = job_with(keys, limits=mutex("free"))
        await store.submit([free])
        assert [run.key for run in await take(store, 1, count=1)] == [busy[0].key]
        assert [run.key for run in await take(store, 1, count=1)] == [free.key]
        assert await is_clean(store)

    async def test_a_pace_that_fell_behind_does_not_hide_those_behind_it(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        jobs = [job_with(keys, limits=paced(10, burst=2, key="paced")) for _ in range(1_500)]
        await store.submit(jobs)
        clock.advance(200_000)  # the start of all of them is due, and two may
        free = job_with(keys, limits=mutex("free"))
        await store.submit([free])
        claims = started = 0
        while True:
            runs = await take(store, 1, count=AT_ONCE)
            claims += 1
            if free.key in {run.key for run in runs}:
                break
            started += len(runs)
            assert runs.is_partial
        assert claims <= 1 + len(jobs) // limits.THROTTLED_LOOK_MAX
        assert started <= 3

    async def test_those_that_age_find_their_place_among_the_others(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        def ageing(priority: int) -> NewJob:
            return job_with(keys, limits=mutex("tenant 0", most=500), priority=priority, ageing_ms=1_000)

        old = ageing(-2)  # stands behind what comes within two seconds
        await store.submit([old])
        clock.advance(1_000)
        before = spread(keys, 10)
        await store.submit(before)
        clock.advance(2_000)
        behind = spread(keys, 100)
        await store.submit(behind)
        clock.advance(1_000)
        urgent = ageing(9)
        await store.submit([urgent])
        runs = await take(store, 1, count=13)
        assert [run.key for run in runs] == [urgent.key, *(job.key for job in before), old.key, behind[0].key]

    async def test_a_type_that_is_paused_hides_nothing(self, store: QueueStore, keys: Keys) -> None:
        paused = [job_with(keys, limits=mutex("tenant 0", most=500), priority=5, type="paused") for _ in range(50)]
        await store.submit(paused)
        await store.pause(PauseKind.TYPE, "paused")
        free = job_with(keys, limits=mutex("free"))
        await store.submit([free])
        assert [run.key for run in await take(store, 1, count=1)] == [free.key]
        assert await take(store, 1, count=1) == []
        await store.resume(PauseKind.TYPE, "paused")
        assert [run.key for run in await take(store, 1, count=1)] == [paused[0].key]

    async def test_each_of_two_queues_has_its_own_order(self, store: QueueStore, keys: Keys) -> None:
        first = spread(keys, 40)
        second = spread(keys, 40, queue="other")
        await store.submit([*first, *second])
        runs = await store.claim(1, [Want(queue="mail", count=2), Want(queue="other", count=3)])
        expected = {job.key for job in (*first[:2], *second[:3])}
        assert {run.key for run in runs} == expected

    async def test_many_claims_at_once_give_each_job_once(self, store: QueueStore, keys: Keys) -> None:
        jobs = spread(keys, 120, tenants=6)
        await store.submit(jobs)
        claims = await asyncio.gather(*(take(store, 1, count=20) for _ in range(6)))
        got = [run.key for runs in claims for run in runs]
        assert len(got) == len(set(got))
        while runs := await take(store, 1, count=20):
            got += [run.key for run in runs]
        assert sorted(got) == sorted(job.key for job in jobs)


class TestReadsAtOnce:
    """Reads share the connections of a store."""

    async def test_more_reads_than_there_are_connections_wait_for_each_other(
        self, store: QueueStore, keys: Keys
    ) -> None:
        job = job_with(keys, output=True)
        await store.submit([job])
        found = await asyncio.wait_for(asyncio.gather(*(store.job(job.key) for _ in range(32))), 10)
        assert {each.key for each in found if each is not None} == {job.key}
        pages = await asyncio.wait_for(asyncio.gather(*(store.queue_stats() for _ in range(32))), 10)
        assert len(pages) == 32
