"""Claims that leave out types: those that no handler of the process is for."""
# ruff: noqa: D102 - a test is named as a sentence

from __future__ import annotations

from procession.ids import Keys
from procession.jobs.kinds import JobState
from procession.store.rows import Claimed, JobEnd, Want
from procession.testing.conformance.queue_stage import QueueStore, end, is_clean, job_with, mutex, paced, state_of, take
from procession.testing.conformance.stage import ManualClock, new_job


async def take_but(store: QueueStore, *strangers: str, count: int = 100, at_once: int | None = None) -> Claimed:
    """Claim from a queue what is of other types."""
    return await store.claim(1, [Want(queue="mail", count=count, at_once=at_once, strangers=strangers)])


class TestStrangers:
    """What a claim leaves out is there for others, as it was."""

    async def test_a_claim_leaves_out_types_and_keeps_the_order_of_all_others(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        jobs = [new_job(keys, type=name, priority=priority) for priority in (0, 5, 3) for name in ("b", "a", "c")]
        for job in jobs:
            clock.advance(10)
            await store.enqueue([job])
        found = await take_but(store, "b", "c", count=2)
        assert [(run.type, run.priority) for run in found] == [("a", 5), ("a", 3)]
        assert [(run.type, run.priority) for run in await take_but(store, "b", "c")] == [("a", 0)]
        assert await take_but(store, "b", "c") == []
        others = await take(store, 2)
        order = [("b", 5), ("c", 5), ("b", 3), ("c", 3), ("b", 0), ("c", 0)]
        assert [(run.type, run.priority) for run in others] == order
        assert [(run.attempt, run.lease) for run in others] == [(1, 1)] * 6

    async def test_types_are_left_out_of_their_queue_alone(self, store: QueueStore, keys: Keys) -> None:
        await store.enqueue([new_job(keys, queue=queue, type=name) for queue in ("x", "y", "z") for name in ("a", "b")])
        wants = [Want(queue="x", count=5, strangers=("a",)), Want(queue="y", count=5, strangers=("b", "c"))]
        runs = await store.claim(1, [*wants, Want(queue="z", count=5)])
        assert sorted((run.queue, run.type) for run in runs) == [("x", "b"), ("y", "a"), ("z", "a"), ("z", "b")]

    async def test_types_of_any_spelling_are_left_out_by_their_whole_name(self, store: QueueStore, keys: Keys) -> None:
        strange = ('it\'s "b"', "b,c", "{b}", "\\b", "100 %s", "ä→b", "null")
        await store.enqueue([new_job(keys, type=name) for name in (*strange, "b", "B", "it")])
        assert sorted(run.type for run in await take_but(store, *strange)) == ["B", "b", "it"]

    async def test_what_comes_back_is_ready_at_its_place_and_has_used_no_attempt(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        strange = new_job(keys, type="b")
        await store.enqueue([strange])
        clock.advance(10)
        later = new_job(keys, type="b")
        await store.enqueue([later])
        (run,) = await take(store, 1, count=1)
        clock.advance(10)
        assert await end(store, run, JobEnd.RELEASE)
        assert await take_but(store, "b") == []
        assert [(run.key, run.attempt) for run in await take(store, 2)] == [(strange.key, 1), (later.key, 1)]

    async def test_limited_jobs_of_other_types_start_and_none_of_these(self, store: QueueStore, keys: Keys) -> None:
        strange = [job_with(keys, type="b", priority=9, limits=mutex("own")) for _ in range(30)]
        mine = [job_with(keys, type="a", limits=mutex("door")) for _ in range(2)]
        plain = [new_job(keys, type=name) for name in ("b", "a")]
        await store.submit([*strange, *mine])
        await store.enqueue(plain)
        assert [run.key for run in await take_but(store, "b")] == [mine[0].key, plain[1].key]
        assert await take_but(store, "b") == []
        assert [run.key for run in await take(store, 2)] == [strange[0].key, plain[0].key]
        assert await is_clean(store)

    async def test_a_stranger_that_is_next_in_the_queue_takes_no_place_of_a_limited_job(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        await store.enqueue([new_job(keys, type="b", priority=9) for _ in range(5)])
        clock.advance(10)
        mine = job_with(keys, type="a", limits=paced(5))
        await store.submit([mine])
        assert [run.key for run in await take_but(store, "b", count=1)] == [mine.key]

    async def test_no_slot_is_held_back_for_a_limited_job_that_has_no_handler(
        self, store: QueueStore, keys: Keys
    ) -> None:
        strange, plain = job_with(keys, type="b", limits=mutex()), [new_job(keys, type="a") for _ in range(3)]
        await store.submit([strange])
        await store.enqueue(plain)
        runs = await take_but(store, "b", count=2, at_once=0)
        assert ([run.key for run in runs], runs.held_back) == ([job.key for job in plain[:2]], set())
        runs = await take_but(store, "b", count=2, at_once=1)
        assert ([run.key for run in runs], runs.held_back) == ([plain[2].key], set())
        mine = job_with(keys, type="a", limits=mutex("mine"))
        await store.submit([mine])
        assert (await take_but(store, "b", count=2, at_once=0)).held_back == {"mail"}
        assert await state_of(store, strange) == JobState.THROTTLED
