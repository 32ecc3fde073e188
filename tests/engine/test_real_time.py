"""Stories in real time, with every loop running, on every store: what the crank cannot show.

Nothing sleeps: each wait is for something that happens, and pytest's timeout bounds it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from procession.core.commands import SetVariables
from procession.engine import Engine, Settings
from procession.errors import Unavailable
from procession.jobs.kinds import JobState
from procession.store.memory import MemoryStore
from procession.store.mysql import MysqlStore
from procession.store.port import Store
from procession.store.postgres import PostgresStore
from procession.store.rows import JobFilter
from procession.store.sqlite import SqliteStore
from procession.testing.bpmn import process, resource
from procession.worker import Job, LocalDispatcher, Registry
from tests.support.servers import SERVERS

QUICK = Settings(
    heartbeat_ms=150,
    blocked_ms=40,
    dead_after_ms=1_000,
    lead_term_ms=300,
    promote_poll_ms_max=50,
    claim_poll_ms_max=50,
    stop_wait_ms=500,
)
MODEL = resource(
    process("p").start().service("a").task("b").service("c", type="a").end(),
    process("hang").start().service("work").end(),
    process("timer").start().catch("wait", timer="PT0.05S").end(),
    process("outer").start().call("inner", process="p").end(),
)

Make = Callable[[], Awaitable[Store]]


STORES = {"postgres": PostgresStore, "mariadb": MysqlStore}


@pytest.fixture(params=["memory", "sqlite", *SERVERS])
def make_store(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """Another connection to the same data at each call."""
    memory = MemoryStore()
    url = request.getfixturevalue(f"{request.param}_url") if request.param in STORES else ""

    async def make() -> Store:
        if request.param == "memory":
            return memory
        store = STORES[request.param](url) if url else SqliteStore(str(tmp_path / "test.db"))
        await store.migrate()
        await store.open()
        return store

    return make


Launch = Callable[..., Awaitable[Engine]]


@pytest_asyncio.fixture
async def launch(make_store: Make) -> AsyncIterator[Launch]:
    """Start engines; they are stopped and their stores closed when the story is over."""
    engines: list[Engine] = []

    async def start(registry: Registry | None = None, settings: Settings = QUICK, **options) -> Engine:
        dispatcher = LocalDispatcher(registry or Registry())
        store = await make_store()
        options.setdefault("open_store", make_store if store.shared else None)
        engine = Engine(store, dispatcher=dispatcher, settings=settings, **options)
        dispatcher.attach(engine)
        engines.append(engine)
        await engine.start()
        return engine

    yield start
    for engine in engines:
        await engine.stop()
        await engine.store.close()


def handlers() -> Registry:
    registry = Registry()

    @registry.job("a")
    async def a():
        await asyncio.sleep(0)

    @registry.method("b")
    def b() -> dict[str, int]:
        return {"b": 1}

    return registry


async def deploy(engine: Engine) -> None:
    await engine.deploy([("test.bpmn", MODEL)], methods=["b"])


async def test_instances_run_to_their_end_by_themselves(launch: Launch):
    engine = await launch(handlers())
    await deploy(engine)
    keys = await asyncio.gather(*(engine.start_instance(name) for name in ["p", "outer", "timer"] * 20))
    assert await asyncio.gather(*(engine.wait_ended(key) for key in keys)) == [1] * 60
    assert await engine.store.list_jobs(JobFilter()) == []


async def test_one_process_starts_what_another_runs(launch: Launch):
    starter = await launch()
    await launch(handlers())
    await launch(handlers())
    await deploy(starter)
    keys = await asyncio.gather(*(starter.start_instance("p") for _ in range(100)))
    assert await asyncio.gather(*(starter.wait_ended(key) for key in keys)) == [1] * 100
    assert starter.counters.completed == 0


async def test_a_process_that_cannot_beat_stops_its_work_and_comes_back_as_another(launch: Launch, make_store: Make):
    silent = False

    class Silent:
        """A connection that can be cut."""

        def __init__(self, store: Store) -> None:
            self.store = store

        async def beat(self, node: int) -> bool:
            if silent:
                raise Unavailable("the line is dead")
            return await self.store.beat(node)

        async def now(self) -> int:
            return await self.store.now()

        async def close(self) -> None:
            if self.store.shared:
                await self.store.close()

    async def open_store() -> Store:
        return Silent(await make_store())

    registry = Registry()
    began: asyncio.Queue[int] = asyncio.Queue()
    cancelled = asyncio.Event()

    @registry.job("work")
    async def hang(job: Job):
        began.put_nowait(job.lease)
        if job.lease > 1:
            return
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    engine = await launch(registry, open_store=open_store)
    await deploy(engine)
    first = engine.node
    key = await engine.start_instance("hang")
    assert await began.get() == 1
    silent = True
    await cancelled.wait()
    silent = False
    assert await began.get() == 2
    assert await engine.wait_ended(key) == 1
    assert engine.node > first


async def test_a_handler_that_blocks_the_event_loop_is_named_and_the_process_stays_alive(
    launch: Launch, caplog: pytest.LogCaptureFixture
):
    registry = Registry()

    @registry.job("work")
    async def hang():
        time.sleep(1.2)  # noqa: ASYNC251 - what must not be done is what is tested

    caplog.set_level(logging.WARNING)
    engine = await launch(registry)
    other = await launch()
    await deploy(engine)
    first = engine.node
    key = await engine.start_instance("hang")
    assert await engine.wait_ended(key) == 1
    reports = [record.getMessage() for record in caplog.records if "event loop has been blocked" in record.getMessage()]
    assert any("<job 'work'" in report for report in reports)
    if engine.store.shared:
        assert engine.node == first, "its heartbeat went on, so nobody took it for dead"
    assert other.counters.rejected == {}


async def test_every_loop_survives_a_database_that_goes_away_and_comes_back(launch: Launch):
    engine = await launch(handlers())
    await deploy(engine)
    store = engine.store
    down = False
    refused = {name: asyncio.Event() for name in ("commit", "claim", "promote", "lead", "beat")}

    def breaking(name: str) -> None:
        original = getattr(store, name)

        async def call(*args, **kwargs):
            if down:
                if name in refused:
                    refused[name].set()
                raise Unavailable("the database is restarting")
            return await original(*args, **kwargs)

        setattr(store, name, call)

    for name in ("commit", "claim", "finish", "promote", "lead", "rescue", "load", "expire_messages", "beat"):
        breaking(name)
    before = await asyncio.gather(*(engine.start_instance("p") for _ in range(20)))
    down = True
    during = [asyncio.ensure_future(engine.start_instance(name)) for name in ["p", "outer", "timer"] * 10]
    if store.shared:
        refused.pop("beat")  # that is the heartbeat's own connection
    await asyncio.gather(*(event.wait() for event in refused.values()))
    down = False
    keys = [*before, *(await asyncio.gather(*during))]
    assert await asyncio.gather(*(engine.wait_ended(key) for key in keys)) == [1] * len(keys)


async def test_a_claim_loop_that_hangs_is_noticed_and_begun_anew(launch: Launch, caplog: pytest.LogCaptureFixture):
    engine = await launch(handlers(), Settings(check_ms=60, claim_poll_ms_max=20))
    await deploy(engine)
    starter = await launch()
    hung = asyncio.Event()
    claim = engine.store.claim

    async def hang(node, wants):
        if node == engine.node and not hung.is_set():
            hung.set()
            await asyncio.Event().wait()
        return await claim(node, wants)

    engine.store.claim = hang
    engine._claims.heard("")
    await hung.wait()
    key = await starter.start_instance("p")
    assert await starter.wait_ended(key) == 1
    assert any("made no round" in record.getMessage() for record in caplog.records)


async def test_the_work_of_a_process_that_vanished_is_done_by_another(launch: Launch):
    registry = Registry()
    began = asyncio.Event()

    @registry.job("work")
    async def hang():
        began.set()
        await asyncio.Event().wait()

    doomed = await launch(registry)
    await deploy(doomed)
    key = await doomed.start_instance("hang")
    await began.wait()
    doomed._running = False  # from here on it is dead: it does nothing and says nothing
    await doomed._claims.duty.stop()
    await doomed._duties.stop()
    await doomed._heartbeat.stop()

    healthy = Registry()

    @healthy.job("work")
    async def done(): ...

    other = await launch(healthy)
    assert await other.wait_ended(key) == 1
    assert [node.node for node in await other.store.list_nodes()] == [other.node]


async def test_writers_in_two_processes_lose_nothing(launch: Launch):
    one, two = await launch(), await launch()
    await one.deploy([("w.bpmn", resource(process("w").start().user("wait").end()))])
    key = await one.start_instance("w")
    await asyncio.gather(
        *((one if number % 2 else two).command(key, SetVariables({f"v{number}": number})) for number in range(40))
    )
    (row,) = await one.store.load([key])
    assert row.variables.count(b'"v') == 40
    assert [job.state for job in await one.store.list_jobs(JobFilter(state=JobState.FAILED))] == []
