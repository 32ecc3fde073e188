"""Stories of programs that share a queue, each with handlers of its own: nobody is in anybody's way."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest

from procession.engine import Delivery, Engine
from procession.jobs.kinds import JobKind, JobState
from procession.store.rows import NewJob
from procession.testing.bpmn import process
from procession.worker import Registry
from procession.worker.strangers import MEMORY_S, PAUSE_MS, TYPES_MAX, Strangers
from tests.engine.stage import SECOND, Stage

MEMORY_MS = int(MEMORY_S * SECOND)


def counting(registry: Registry, ran: list[str], *names: str) -> Registry:
    """Handlers that say that they ran."""
    for name in names:

        def run(of: str = name) -> None:
            ran.append(of)

        registry.job(name)(run)
    return registry


async def enqueue(engine: Engine, *types: str) -> list[int]:
    """Plain jobs of these types, on the queue that all share."""
    keys = await engine.take_keys(len(types))
    jobs = [
        NewJob(key=key, kind=JobKind.TASK, queue="default", type=type_) for key, type_ in zip(keys, types, strict=True)
    ]
    await engine.enqueue(jobs)
    return list(keys)


def counted(stage: Stage) -> Callable[[], tuple[int, int]]:
    """How many claims there were, and how many jobs they gave."""
    claims, given, claim = 0, 0, stage.store.claim

    async def counting_claim(node, wants):
        nonlocal claims, given
        jobs = await claim(node, wants)
        claims, given = claims + 1, given + len(jobs)
        return jobs

    stage.store.claim = counting_claim
    return lambda: (claims, given)


async def test_a_thousand_jobs_of_two_programs_are_done_without_waiting(stage: Stage):
    ran: list[str] = []
    mine, other = (stage.add_engine(counting(Registry(), ran, name)) for name in "ab")
    producer = stage.add_engine()
    for engine in (mine, other, producer):
        await engine.open()
    given = counted(stage)
    await enqueue(producer, *("a" if n % 3 else "b" for n in range(1_000)))
    await stage.turn()
    await stage.turn()
    assert (ran.count("a"), ran.count("b")) == (666, 334)
    assert await stage.jobs() == []
    assert given()[1] < 1_000 + 2 * 500, "each program takes what is not its own at most once"


async def test_what_nobody_handles_is_claimed_once_by_each_and_again_when_that_is_forgotten(
    stage: Stage, caplog: pytest.LogCaptureFixture
):
    ran: list[str] = []
    for name in "ab":
        await stage.add_engine(counting(Registry(), ran, name)).open()
    given = counted(stage)
    (key,) = await enqueue(stage.engines[0], "nobody's")
    for _ in range(20):
        await stage.turn()
    assert given()[1] == 2, "by each of the two"
    (job,) = await stage.jobs()
    assert (job.key, job.state, job.attempt, job.retries, job.run_at) == (key, JobState.READY, 0, 3, stage.now)
    lines = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert lines == ["no handler for job type 'nobody's' from queue 'default'"] * 2
    await stage.pass_time(MEMORY_MS - 1)
    assert given()[1] == 2
    await stage.pass_time(1)
    await stage.turn()
    assert given()[1] == 4
    assert given()[0] < 200


async def test_a_handler_that_is_registered_later_takes_what_had_none(stage: Stage):
    ran: list[str] = []
    registry = counting(Registry(), ran, "a")
    engine = stage.add_engine(registry)
    await engine.open()
    await enqueue(engine, "late", "late", "a")
    await stage.turn()
    assert ran == ["a"]
    counting(registry, ran, "late")
    engine.room()
    await stage.turn()
    assert ran == ["a", "late", "late"]
    assert await stage.jobs() == []


async def test_a_program_that_comes_later_finds_what_the_others_have_left(stage: Stage):
    ran: list[str] = []
    first = stage.add_engine(counting(Registry(), ran, "a"))
    await first.open()
    await enqueue(first, *["b"] * 40)
    await stage.turn()
    assert ran == []
    await stage.add_engine(counting(Registry(), ran, "b")).open()
    await stage.turn()
    assert ran == ["b"] * 40


async def test_a_job_without_a_handler_is_not_leased_where_it_is_enqueued(stage: Stage):
    engine = stage.add_engine(counting(Registry(), [], "a"))
    await engine.open()
    given = counted(stage)
    await enqueue(engine, "b", "a")
    assert engine.counters.handed_over == 1, "its own"
    (job,) = [job for job in await stage.jobs() if job.type == "b"]
    assert (job.state, job.lease) == (JobState.READY, 0)
    assert given() == (0, 0)


async def test_service_tasks_of_one_process_go_to_the_programs_that_handle_them(stage: Stage):
    ran: list[str] = []
    for name in "ab":
        await stage.add_engine(counting(Registry(), ran, name)).open()
    await stage.deploy(process("p").start().service("a").service("b").service("a2", type="a").end())
    given = counted(stage)
    keys = [await stage.start("p") for _ in range(20)]
    for _ in range(4):
        await stage.turn()
    assert [await stage.status(key) for key in keys] == ["completed"] * 20
    assert (ran.count("a"), ran.count("b")) == (40, 20)
    assert given()[1] <= 60, "nobody takes what is not its own"


async def test_an_idle_program_takes_what_is_its_own_out_of_a_backlog_of_others(stage: Stage):
    ran: list[str] = []
    engine = stage.add_engine(counting(Registry(), ran, "a"))
    await engine.open()
    await enqueue(engine, *["b"] * 2_000)
    given = counted(stage)
    await enqueue(engine, *["a"] * 3)
    await stage.turn()
    assert ran == ["a"] * 3
    assert given()[0] < 50


def test_types_beyond_what_is_remembered_go_back_with_a_pause(caplog: pytest.LogCaptureFixture):
    strangers = Strangers(set())

    def meet(name: str, now: float) -> int:
        return strangers.meet(Delivery(key=1, lease=1, kind=JobKind.TASK, queue="q", type=name), now)

    assert [meet(f"t{n}", 0.0) for n in range(TYPES_MAX)] == [0] * TYPES_MAX
    assert [meet(f"u{n}", 1.0) for n in range(50)] == [PAUSE_MS] * 50
    assert strangers.of("q", 1.0) == tuple(f"t{n}" for n in range(TYPES_MAX))
    assert strangers.of("other", 1.0) == ()
    assert len(caplog.records) == TYPES_MAX + 1, "one line for all beyond"
    assert strangers.of("q", MEMORY_S) == ()
    assert meet("u0", MEMORY_S) == 0
