"""Processes that come, beat, lead, leave and die."""
# ruff: noqa: D102 - a test is named as a sentence

from __future__ import annotations

import asyncio

from procession.ids import Keys
from procession.jobs.kinds import JobState
from procession.store.port import Store
from procession.store.rows import JobEnd, JobOutcome
from procession.testing.conformance.stage import ManualClock, claim, jobs_of, new_job, the_job

DEAD_AFTER_MS = 10_000
BACKOFF_MS = 1_000


class TestNodes:
    """Coming, beating, leaving."""

    async def test_a_node_number_is_never_used_twice(self, store: Store) -> None:
        first = await store.register("a", b"{}")
        await store.leave(first)
        second = await store.register("a", b"{}")
        assert 0 < first < second

    async def test_a_node_is_listed_with_what_it_runs(self, store: Store, keys: Keys, clock: ManualClock) -> None:
        node = await store.register("worker-1", b'{"pid":42}')
        await store.enqueue([new_job(keys), new_job(keys), new_job(keys)])
        await claim(store, node, count=2)
        started = clock()
        clock.advance(500)
        assert await store.beat(node)
        (listed,) = await store.list_nodes()
        assert (listed.node, listed.name, listed.details) == (node, "worker-1", b'{"pid":42}')
        assert (listed.started_at, listed.beat_at, listed.running) == (started, clock(), 2)

    async def test_a_node_that_leaves_gives_its_jobs_back_unused(self, store: Store, keys: Keys) -> None:
        node, other = await store.register("a", b"{}"), await store.register("b", b"{}")
        await store.enqueue([new_job(keys, retries=3) for _ in range(3)])
        ours = await claim(store, node, count=2)
        theirs = await claim(store, other)
        await store.leave(node)
        assert [listed.node for listed in await store.list_nodes()] == [other]
        given_back = [job for job in await jobs_of(store) if job.key != theirs[0].key]
        assert [(job.state, job.owner, job.attempt, job.retries, job.lease) for job in given_back] == [
            (JobState.READY, 0, 0, 3, 1)
        ] * 2
        assert await store.finish([JobOutcome(key=ours[0].key, lease=1, end=JobEnd.DONE)]) == [False]

    async def test_a_node_that_left_does_not_beat(self, store: Store) -> None:
        node = await store.register("a", b"{}")
        await store.leave(node)
        await store.leave(node)
        assert not await store.beat(node)


class TestLeader:
    """One at a time, for a term."""

    async def test_one_node_leads_until_its_term_is_over(self, store: Store, clock: ManualClock) -> None:
        one, two = await store.register("a", b"{}"), await store.register("b", b"{}")
        first = await store.lead(one, 1_000)
        assert first > 0
        assert await store.lead(two, 1_000) == 0
        clock.advance(999)
        assert await store.lead(one, 1_000) == first
        clock.advance(999)
        assert await store.lead(two, 1_000) == 0
        clock.advance(1)
        second = await store.lead(two, 1_000)
        assert second > first
        assert await store.lead(one, 1_000) == 0

    async def test_a_node_that_nobody_knows_does_not_lead(self, store: Store) -> None:
        assert await store.lead(4_711, 1_000) == 0

    async def test_a_term_grows_with_every_change_of_leader_only(self, store: Store, clock: ManualClock) -> None:
        one, two = await store.register("a", b"{}"), await store.register("b", b"{}")
        first = await store.lead(one, 1_000)
        clock.advance(5_000)
        assert await store.lead(one, 1_000) == first
        clock.advance(1_000)
        second = await store.lead(two, 1_000)
        clock.advance(1_000)
        assert await store.lead(one, 1_000) > second > first

    async def test_a_leader_that_leaves_makes_room_at_once(self, store: Store) -> None:
        one, two = await store.register("a", b"{}"), await store.register("b", b"{}")
        first = await store.lead(one, 60_000)
        await store.leave(one)
        assert await store.lead(two, 60_000) > first

    async def test_of_many_candidates_one_leads(self, store: Store) -> None:
        nodes = [await store.register(f"n{number}", b"{}") for number in range(8)]
        terms = await asyncio.gather(*(store.lead(node, 60_000) for node in nodes))
        assert sorted(terms)[:-1] == [0] * 7
        assert max(terms) > 0

    async def test_a_node_declared_dead_does_not_lead(self, store: Store, clock: ManualClock) -> None:
        node = await store.register("a", b"{}")
        await store.lead(node, 1_000)
        clock.advance(DEAD_AFTER_MS)
        await store.rescue(DEAD_AFTER_MS, 10, crash_budget=3, backoff_ms=BACKOFF_MS)
        assert await store.lead(node, 1_000) == 0


class TestRescue:
    """Jobs of the dead go on; a job that kills its process does not do so for ever."""

    async def test_jobs_of_a_dead_node_are_ready_at_once_the_first_time(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        dead, alive = await store.register("a", b"{}"), await store.register("b", b"{}")
        await store.enqueue([new_job(keys, retries=3), new_job(keys)])
        (lost,) = await claim(store, dead, count=1)
        (kept,) = await claim(store, alive, count=1)
        clock.advance(DEAD_AFTER_MS)
        await store.beat(alive)
        rescue = await store.rescue(DEAD_AFTER_MS, 10, crash_budget=3, backoff_ms=BACKOFF_MS)
        assert (rescue.nodes, rescue.jobs, rescue.woken, rescue.failed) == ([dead], 1, ["mail"], [])
        stored = await the_job(store, lost.key)
        assert stored is not None
        assert (stored.state, stored.owner, stored.crashes, stored.retries) == (JobState.READY, 0, 1, 3)
        untouched = await the_job(store, kept.key)
        assert untouched is not None
        assert (untouched.state, untouched.owner) == (JobState.RUNNING, alive)
        assert not await store.beat(dead)
        assert await store.finish([JobOutcome(key=lost.key, lease=lost.lease, end=JobEnd.DONE)]) == [False]
        (again,) = await claim(store, alive)
        assert (again.lease, again.attempt) == (2, 2)

    async def test_a_node_that_beats_is_not_dead(self, store: Store, keys: Keys, clock: ManualClock) -> None:
        node = await store.register("a", b"{}")
        await store.enqueue([new_job(keys)])
        await claim(store, node)
        clock.advance(DEAD_AFTER_MS - 1)
        rescue = await store.rescue(DEAD_AFTER_MS, 10, crash_budget=3, backoff_ms=BACKOFF_MS)
        assert (rescue.nodes, rescue.jobs) == ([], 0)
        assert await store.beat(node)

    async def test_a_job_of_an_unknown_node_is_given_back(self, store: Store, keys: Keys) -> None:
        await store.enqueue([new_job(keys, owner=4_711)])
        rescue = await store.rescue(DEAD_AFTER_MS, 10, crash_budget=3, backoff_ms=BACKOFF_MS)
        assert (rescue.nodes, rescue.jobs, rescue.woken) == ([], 1, ["mail"])

    async def test_a_job_whose_runs_crash_waits_then_fails(self, store: Store, keys: Keys, clock: ManualClock) -> None:
        job = new_job(keys, owner=4_711)
        await store.enqueue([job])
        seen: list[tuple[int, int, int]] = []
        failed: list[int] = []
        for _ in range(3):
            rescue = await store.rescue(DEAD_AFTER_MS, 10, crash_budget=2, backoff_ms=BACKOFF_MS)
            stored = await the_job(store, job.key)
            assert stored is not None
            seen.append((stored.state, stored.crashes, stored.run_at - clock()))
            failed += rescue.failed
            if stored.state == JobState.SCHEDULED:
                assert rescue.woken == []
                clock.advance(BACKOFF_MS)
                await store.promote(10)
            if stored.state != JobState.FAILED:
                await claim(store, 4_712)
        assert seen[0][:2] == (JobState.READY, 1)
        assert seen[1] == (JobState.SCHEDULED, 2, BACKOFF_MS)
        assert seen[2][:2] == (JobState.FAILED, 3)
        assert failed == [job.key]
        dead_letter = await the_job(store, job.key)
        assert dead_letter is not None
        assert "3" in dead_letter.error

    async def test_a_run_that_ends_by_itself_clears_the_crashes_before_it(self, store: Store, keys: Keys) -> None:
        job = new_job(keys, owner=4_711)
        await store.enqueue([job])
        await store.rescue(DEAD_AFTER_MS, 10, crash_budget=3, backoff_ms=BACKOFF_MS)
        (run,) = await claim(store, 4_712)
        await store.finish([JobOutcome(key=job.key, lease=run.lease, end=JobEnd.RETRY)])
        stored = await the_job(store, job.key)
        assert stored is not None
        assert stored.crashes == 0

    async def test_all_dead_nodes_go_at_once_however_few_jobs_a_rescue_may_take(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        dead = [await store.register(name, b"{}") for name in ("a", "b", "c")]
        await store.enqueue([new_job(keys) for _ in range(3)])
        for node in dead:
            await claim(store, node, count=1)
        clock.advance(DEAD_AFTER_MS)
        rescue = await store.rescue(DEAD_AFTER_MS, 1, crash_budget=3, backoff_ms=BACKOFF_MS)
        assert (rescue.nodes, rescue.jobs) == (dead, 1)
        assert await store.list_nodes() == []
        assert (await store.rescue(DEAD_AFTER_MS, 9, crash_budget=3, backoff_ms=BACKOFF_MS)).jobs == 2

    async def test_a_rescue_is_bounded_and_the_next_goes_on(self, store: Store, keys: Keys, clock: ManualClock) -> None:
        node = await store.register("a", b"{}")
        await store.enqueue([new_job(keys) for _ in range(5)])
        await claim(store, node)
        clock.advance(DEAD_AFTER_MS)
        counts: list[int] = []
        for _ in range(3):
            rescue = await store.rescue(DEAD_AFTER_MS, 3, crash_budget=3, backoff_ms=BACKOFF_MS)
            counts.append(rescue.jobs)
        assert counts == [3, 2, 0]
        assert await store.count_jobs() == {("mail", JobState.READY): 5}


class TestHints:
    """Announcements may be lost; what is heard was said."""

    async def test_an_announcement_is_heard_until_the_listener_stops(self, store: Store) -> None:
        heard: list[str] = []
        arrived = asyncio.Event()

        def hear(queue: str) -> None:
            heard.append(queue)
            arrived.set()

        stop = await store.listen(hear)
        await store.announce(["mail", "mail"])
        await store.announce([])
        if stop is None:
            assert heard == []
            return
        async with asyncio.timeout(10):
            await arrived.wait()
        assert set(heard) == {"mail"}
        await stop()
        await store.announce(["late"])
        assert "late" not in heard
