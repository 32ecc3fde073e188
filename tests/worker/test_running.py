"""Stories of running handlers: threads, processes, timeouts, handlers that ignore their end.

Time is real here, but nothing sleeps: every wait is for something that happens.
"""

from __future__ import annotations

import asyncio
import os
import threading

from procession.engine import Engine, History, Settings
from procession.jobs.kinds import JobKind, JobState
from procession.store.rows import NewJob
from procession.testing.bpmn import process
from procession.worker import Job, LocalDispatcher, Registry, WorkerSettings
from tests.engine.stage import Stage
from tests.worker import handlers

WORK = process("p").start().service("work").end()


async def test_a_blocking_handler_runs_in_a_thread_and_leaves_the_loop_free(stage: Stage):
    loop_went_on = threading.Event()
    names: list[str] = []

    @stage.registry.job("work")
    def work(a: int) -> dict[str, int]:
        assert loop_went_on.wait(10)
        names.append(threading.current_thread().name)
        return {"b": a + 1}

    await stage.deploy(WORK)
    key = await stage.engine.start_instance("p", {"a": 1})
    loop_went_on.set()
    await stage.turn()
    assert names[0].startswith("procession handler")
    assert (await stage.variables(key))["b"] == 2


async def test_as_many_threads_work_at_once_as_the_concurrency_says(stage: Stage):
    together = threading.Barrier(3)

    @stage.registry.job("work", concurrency=3)
    def work():
        together.wait(10)

    await stage.deploy(WORK)
    keys = await asyncio.gather(*(stage.engine.start_instance("p") for _ in range(3)))
    await stage.turn()
    assert [await stage.status(key) for key in keys] == ["completed"] * 3


async def test_a_handler_in_a_process_of_its_own_gives_its_result_and_its_failure(stage: Stage):
    stage.registry.job("square", process=True)(handlers.square)
    stage.registry.job("refuse", process=True, retries=1)(handlers.refuse)
    await stage.deploy(process("p").start().service("square").end(), process("q").start().service("refuse").end())
    key = await stage.start("p", {"number": 7})
    variables = await stage.variables(key)
    assert variables["square"] == 49
    assert variables["attempt"] == 1
    assert variables["process"] != os.getpid()
    failed = await stage.start("q")
    assert "ValueError: not today" in await stage.incident(failed)


async def test_a_handler_that_kills_its_process_fails_alone(stage: Stage):
    stage.registry.job("die", process=True, retries=1)(handlers.die)
    stage.registry.job("square", process=True)(handlers.square)
    await stage.deploy(process("p").start().service("die").end(), process("q").start().service("square").end())
    key = await stage.start("p")
    assert "die died" in await stage.incident(key)
    fine = await stage.start("q", {"number": 2})
    assert await stage.status(fine) == "completed"


async def test_a_handler_over_its_timeout_is_cancelled_and_tried_again(stage: Stage):
    attempts: list[int] = []

    @stage.registry.job("work", timeout="60ms", retries=2, backoff="1s")
    async def work(job: Job):
        attempts.append(job.attempt)
        await asyncio.Event().wait()

    await stage.deploy(WORK)
    key = await stage.start("p")
    (job,) = await stage.jobs(instance=key)
    assert job.state == JobState.SCHEDULED
    assert "'work' did not end within its timeout" in job.error
    await stage.pass_time(1_000)
    assert attempts == [1, 2]
    assert "did not end within its timeout" in await stage.incident(key)


async def test_a_blocking_handler_sees_that_its_time_is_over(stage: Stage):
    @stage.registry.job("work", timeout="60ms", retries=1)
    def work(job: Job):
        while not job.canceled:
            threading.Event().wait(0.005)
        raise RuntimeError("stopped half way")

    await stage.deploy(WORK)
    key = await stage.start("p")
    assert "stopped half way" in await stage.incident(key)


async def test_a_handler_that_survives_its_cancellation_keeps_its_result(stage: Stage):
    @stage.registry.job("work", timeout="60ms", retries=1)
    async def work():
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return {"saved": True}

    await stage.deploy(WORK)
    key = await stage.start("p")
    assert await stage.variables(key) == {"saved": True}
    again = await stage.start("p")
    assert await stage.status(again) == "completed", "the slot goes on as before"


async def test_a_handler_that_ignores_its_cancellation_is_given_up_and_its_slot_replaced():
    registry = Registry()
    free = asyncio.Event()
    seen: list[int] = []

    @registry.job("work", timeout="60ms", retries=1, concurrency=1)
    async def work(n: int):
        seen.append(n)
        while n == 0 and not free.is_set():
            try:
                await free.wait()
            except asyncio.CancelledError:
                continue

    stage = Stage()
    stage.dispatcher = dispatcher = LocalDispatcher(registry, WorkerSettings(stuck_ms=100))
    engine = Engine(
        stage.store,
        dispatcher=dispatcher,
        clock=stage.clock,
        settings=Settings(history=History.FULL),
        chance=lambda: 0.0,
    )
    dispatcher.attach(engine)
    stage.engines.append(engine)
    stage._engine = engine
    await stage.deploy(WORK)
    stuck = await stage.engine.start_instance("p", {"n": 0})
    fine = await stage.engine.start_instance("p", {"n": 1})
    await stage.turn()
    assert "did not end within its timeout" in await stage.incident(stuck)
    assert await stage.status(fine) == "completed"
    assert seen == [0, 1]
    free.set()
    await stage.stop()
    await stage.check_books()


async def test_a_job_of_an_unknown_type_in_a_plain_queue_is_left_to_others(stage: Stage):
    @stage.registry.job("known")
    async def known(): ...

    await stage.engine.open()
    (key,) = await stage.engine.take_keys(1)
    await stage.engine.enqueue([NewJob(key=key, kind=JobKind.TASK, queue="default", type="unknown")])
    await stage.turn()
    (job,) = await stage.jobs()
    assert (job.state, job.attempt, job.retries) == (JobState.READY, 0, 3)


async def test_a_fast_queue_is_drained_in_large_claims(stage: Stage):
    count = 0

    @stage.registry.job("noop")
    async def noop():
        nonlocal count
        count += 1

    await stage.engine.open()
    producer = stage.add_engine()
    await producer.open()
    keys = await producer.take_keys(3_000)
    await producer.enqueue([NewJob(key=key, kind=JobKind.TASK, queue="default", type="noop") for key in keys])
    claims = 0
    claim = stage.store.claim

    async def counted(node, wants):
        nonlocal claims
        jobs = await claim(node, wants)
        claims += bool(jobs)
        return jobs

    stage.store.claim = counted
    await stage.turn()
    assert count == 3_000
    assert claims < 20
    assert await stage.jobs() == []


async def test_slow_jobs_are_not_leased_ahead_and_fast_ones_are():
    """A job that waits in this process' buffer is kept from an idle one elsewhere."""
    registry = Registry()
    dispatcher = LocalDispatcher(registry)
    registry.job("work", concurrency=4)(lambda: None)
    dispatcher.attach(Engine(Stage().store, dispatcher=dispatcher))
    line = dispatcher._lines["$job:work"]
    assert line.capacity == 4
    line._ended(3.0)
    assert line.capacity == 4
    for _ in range(500):
        line._ended(0.00001)
    assert line.capacity == 4 + 500
    dispatcher.share(alone=True)
    line._ended(0.00001)
    assert line.capacity == 4 + 5_000, "nobody else would run them"
