"""Stories of the end: whatever was leased is run or returned, however the worker stops."""

from __future__ import annotations

import asyncio
import random
import threading

import pytest

from procession.engine import Engine, Settings
from procession.jobs.kinds import JobKind, JobState
from procession.store.memory import MemoryStore
from procession.store.rows import JobFilter, NewJob
from procession.testing.bpmn import process, resource
from procession.worker import Fail, Job, LocalDispatcher, Registry

FAST = Settings(stop_wait_ms=50, stop_cancel_ms=200)


async def engine_with(registry: Registry, store: MemoryStore, settings: Settings = FAST) -> Engine:
    dispatcher = LocalDispatcher(registry)
    engine = Engine(store, dispatcher=dispatcher, settings=settings)
    dispatcher.attach(engine)
    await engine.start()
    return engine


async def enqueue(engine: Engine, count: int, type: str = "work") -> list[int]:  # noqa: A002
    keys = await engine.take_keys(count)
    await engine.enqueue([NewJob(key=key, kind=JobKind.TASK, queue="default", type=type) for key in keys])
    return keys


async def test_running_work_is_waited_for_and_its_outcome_written():
    registry, store = Registry(), MemoryStore()
    began, go_on = asyncio.Event(), asyncio.Event()

    @registry.job("work")
    async def work():
        began.set()
        await go_on.wait()

    engine = await engine_with(registry, store, Settings(stop_wait_ms=10_000))
    await enqueue(engine, 1)
    await began.wait()
    stopping = asyncio.ensure_future(engine.stop())
    await asyncio.sleep(0)
    go_on.set()
    await stopping
    assert await store.list_jobs(JobFilter()) == []
    assert await store.list_nodes() == []


async def test_work_that_does_not_end_is_cancelled_and_uses_up_no_attempt():
    registry, store = Registry(), MemoryStore()
    began = asyncio.Event()

    @registry.job("work", concurrency=1)
    async def work():
        began.set()
        await asyncio.Event().wait()

    engine = await engine_with(registry, store)
    await enqueue(engine, 3)
    await began.wait()
    await engine.stop()
    jobs = await store.list_jobs(JobFilter())
    assert [(job.state, job.attempt, job.retries, job.owner) for job in jobs] == [(JobState.READY, 0, 3, 0)] * 3


async def test_a_blocking_handler_that_goes_on_is_given_up_and_its_job_given_back():
    registry, store = Registry(), MemoryStore()
    began, free = threading.Event(), threading.Event()

    @registry.job("work")
    def work():
        began.set()
        free.wait(30)

    engine = await engine_with(registry, store, Settings(stop_wait_ms=20, stop_cancel_ms=20))
    await enqueue(engine, 1)
    await asyncio.to_thread(began.wait, 10)
    await engine.stop()
    (job,) = await store.list_jobs(JobFilter())
    assert (job.state, job.owner) == (JobState.READY, 0)
    free.set()


@pytest.mark.parametrize("gives_up", ["by an error", "by an outcome"])
async def test_a_blocking_handler_that_gives_up_when_told_so_has_used_no_attempt(gives_up: str):
    registry, store = Registry(), MemoryStore()
    began = threading.Event()

    @registry.job("work", retries=1)
    def work(job: Job):
        began.set()
        while not job.canceled:
            threading.Event().wait(0.001)
        raise Fail("it never will") if gives_up == "by an outcome" else RuntimeError("gave up")

    engine = await engine_with(registry, store, Settings(stop_wait_ms=20, stop_cancel_ms=10_000))
    await enqueue(engine, 1)
    await asyncio.to_thread(began.wait, 10)
    await engine.stop()
    (job,) = await store.list_jobs(JobFilter())
    if gives_up == "by an outcome":
        assert (job.state, job.error) == (JobState.FAILED, "it never will")
    else:
        assert (job.state, job.attempt, job.error) == (JobState.READY, 0, "")


@pytest.mark.parametrize("seed", range(8))
async def test_every_leased_job_is_started_or_returned(seed: int):
    """Handlers of all kinds, a stop at a random moment: no job is lost, none is held, none loses an attempt unseen."""
    chance = random.Random(seed)
    registry, store = Registry(), MemoryStore()
    started: dict[int, int] = {}
    ended: set[int] = set()

    def begin(job: Job) -> None:
        started[job.key] = started.get(job.key, 0) + 1

    @registry.job("quick", concurrency=3)
    async def quick(job: Job):
        begin(job)
        ended.add(job.key)

    @registry.job("slow", concurrency=3)
    async def slow(job: Job):
        begin(job)
        await asyncio.sleep(chance.random() * 0.02)
        ended.add(job.key)

    @registry.job("blocking", concurrency=3)
    def blocking(job: Job):
        begin(job)
        threading.Event().wait(0.002)
        ended.add(job.key)

    engine = await engine_with(registry, store)
    other = await engine_with(Registry(), store)
    keys: list[int] = []
    for _ in range(20):
        who = chance.choice([engine, other])
        keys += await enqueue(who, chance.randint(1, 30), chance.choice(["quick", "slow", "blocking"]))
    for _ in range(chance.randint(0, 40)):
        await asyncio.sleep(0)
    await engine.stop()
    await other.stop()
    left = {job.key: job for job in await store.list_jobs(JobFilter(limit=1000))}
    assert set(left) == set(keys) - ended, "what ended is gone, and nothing else"
    assert all(job.state == JobState.READY and job.owner == 0 for job in left.values())
    assert all(job.retries == 3 for job in left.values())
    assert all(count == 1 for count in started.values())


async def test_instances_under_way_are_taken_over_by_the_next_process():
    registry, store = Registry(), MemoryStore()

    @registry.job("a")
    async def a():
        await asyncio.sleep(0)

    @registry.method("b")
    async def b():
        await asyncio.sleep(0)

    model = resource(process("p").start().service("a").task("b").service("c", type="a").end())
    engine = await engine_with(registry, store)
    await engine.deploy([("p.bpmn", model)], methods=["b"])
    keys = await asyncio.gather(*(engine.start_instance("p") for _ in range(300)))
    await engine.stop()
    engine = await engine_with(registry, store)
    await asyncio.gather(*(engine.wait_ended(key) for key in keys))
    await engine.stop()
    assert await store.count_instances("p") == {1: 300}
    assert await store.list_jobs(JobFilter()) == []
