"""Stories of what waits in a process: leased ahead of need, never lost, hoarded or blamed for a neighbour's crash."""

from __future__ import annotations

import asyncio

from procession import Procession
from procession.core.commands import Cancel
from procession.engine import Engine, Settings
from procession.jobs.kinds import JobKind, JobState
from procession.store.memory import MemoryStore
from procession.store.rows import JobFilter, NewJob, StoredJob, Want
from procession.testing.bpmn import process
from procession.worker import LocalDispatcher, Registry
from tests.engine.stage import Stage

JOBS = 200
SLOTS = 2
TURNS_MAX = 100_000  # of the loop


class Counter:
    """A handler that ends when it is told to, and counts."""

    def __init__(self) -> None:
        self.began = 0
        self.first = asyncio.Event()
        self.go_on = asyncio.Event()

    async def run(self) -> None:
        self.began += 1
        self.first.set()
        await self.go_on.wait()


async def working(store: MemoryStore, handler: Counter, settings: Settings | None = None) -> Engine:
    """A process of its own on the store, in which much may wait."""
    registry = Registry()
    registry.job("work", concurrency=SLOTS)(handler.run)
    dispatcher = LocalDispatcher(registry)
    engine = Engine(store, dispatcher=dispatcher, settings=settings or Settings(stop_wait_ms=20, stop_cancel_ms=200))
    dispatcher.attach(engine)
    await engine.start()
    for line in dispatcher._lines.values():
        line._ended(0.001)
        line.taken += 1
    return engine


async def plain_jobs(engine: Engine) -> None:
    keys = await engine.take_keys(JOBS)
    await engine.enqueue([NewJob(key=key, kind=JobKind.TASK, queue="default", type="work") for key in keys])


async def leased(store: MemoryStore) -> list[StoredJob]:
    return await store.list_jobs(JobFilter(state=JobState.RUNNING, limit=1000))


async def test_what_waits_beyond_the_slots_is_leased_with_its_insert_and_claimed_by_nobody():
    store, handler = MemoryStore(), Counter()
    engine = await working(store, handler)
    await engine.deploy([("p.bpmn", process("p").start().service("a", type="work").end().xml())])
    keys = await asyncio.gather(*(engine.start_instance("p") for _ in range(JOBS)))
    assert len(await leased(store)) == JOBS
    assert handler.began <= SLOTS
    handler.go_on.set()
    await asyncio.gather(*(engine.wait_ended(key) for key in keys))
    assert (handler.began, engine.counters.claimed, engine.counters.loads) == (JOBS, 0, 0)
    await engine.stop()


async def test_what_waits_does_not_begin_once_its_instance_is_cancelled():
    store, handler = MemoryStore(), Counter()
    engine = await working(store, handler)
    await engine.deploy([("p.bpmn", process("p").start().service("a", type="work").end().xml())])
    keys = await asyncio.gather(*(engine.start_instance("p") for _ in range(JOBS)))
    await handler.first.wait()
    await asyncio.gather(*(engine.command(key, Cancel()) for key in keys))
    handler.go_on.set()
    for _ in range(TURNS_MAX):
        if engine.quiet:
            break
        await asyncio.sleep(0)
    assert handler.began == SLOTS
    assert await store.list_jobs(JobFilter()) == []
    await engine.stop()


async def test_what_waits_is_returned_by_a_stop_as_if_it_had_never_been_leased():
    store, handler = MemoryStore(), Counter()
    engine = await working(store, handler)
    await plain_jobs(engine)
    await handler.first.wait()
    assert len(await leased(store)) == JOBS
    await engine.stop()
    jobs = await store.list_jobs(JobFilter(limit=1000))
    assert handler.began == SLOTS
    assert {(job.state, job.attempt, job.retries, job.crashes, job.owner) for job in jobs} == {
        (JobState.READY, 0, 3, 0, 0)
    }
    assert len(jobs) == JOBS


async def test_what_waits_in_a_process_that_lost_its_leases_runs_once_when_it_is_back():
    store, handler = MemoryStore(), Counter()
    engine = await working(store, handler)
    await plain_jobs(engine)
    await handler.first.wait()
    before = engine.node
    engine._lost_from_thread("a test says so")
    for _ in range(TURNS_MAX):
        if engine.node != before:
            handler.go_on.set()
        if not await store.list_jobs(JobFilter(limit=1)):
            break
        await asyncio.sleep(0)
    assert JOBS <= handler.began <= JOBS + SLOTS, "only what ran when the leases were lost begins a second time"
    await engine.stop()


async def test_a_job_whose_process_died_takes_no_neighbours_with_it(stage: Stage):
    """Of what a dead process held nobody knows what had begun. It is tried in free slots, nothing waits beside it."""
    most = 0
    dead = await stage.store.register("dead", b"{}")

    @stage.registry.job("work", concurrency=SLOTS)
    async def work():
        nonlocal most
        most = max(most, len(await leased(stage.store)))

    engine = stage.engine
    await engine.open()
    keys = await engine.take_keys(JOBS)
    await stage.store.enqueue([NewJob(key=key, kind=JobKind.TASK, queue="default", type="work") for key in keys])
    assert len(await stage.store.claim(dead, [Want(queue="default", count=JOBS)])) == JOBS
    stage.now += 60_000
    await engine._duties.rescue_once()
    await stage.turn()
    assert await stage.jobs() == []
    assert 0 < most <= SLOTS


async def test_a_backlog_is_claimed_as_room_comes_without_waiting_for_a_poll(tmp_path):
    rarely = 600_000
    settings = Settings(claim_poll_ms_min=rarely, claim_poll_ms_max=rarely, check_ms=rarely)
    app = Procession(f"sqlite:///{tmp_path / 'jobs.db'}", settings=settings)
    left, over = set(range(30)), asyncio.Event()

    @app.job("work", concurrency=2)
    async def work(n: int) -> None:
        await asyncio.sleep(0.02)  # longer than the claim takes that comes at once and finds no room
        left.discard(n)
        if not left:
            over.set()

    await app.open(run_workers=False)
    await app.enqueue_many("work", [{"n": n} for n in range(30)])
    await app._engine.start()
    await asyncio.wait_for(over.wait(), 30)
    await app.close()
