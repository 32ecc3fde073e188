"""The synchronous face: many threads, an interrupted caller, a fork, and the same verbs."""

from __future__ import annotations

import asyncio
import inspect
import os
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from procession import Procession, SyncProcession
from procession.app.commanding import Commanding
from procession.app.looking import Looking
from procession.errors import InvalidValue, Misconfigured, Unavailable
from procession.testing.bpmn import process

MODEL = process("order").start().service("work", type="work").user("approve").end()
IN_THE_LOOP = process("b").start().service("s", type="in the loop").end()
BEGINS = process("c").start().service("s", type="begin").end()
THREADS = 8


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'shop.db'}"


@pytest.fixture
def app(url: str) -> Iterator[Procession]:
    app = Procession(url)
    yield app
    app.sync.close()


def test_it_has_the_verbs_and_options_of_the_asynchronous_one() -> None:
    life = {"open", "close", "run", "run_until_idle", "migrate", "schema_version", "use", "using", "forget"}
    life |= {"method", "job", "around_enqueue", "around_run", "work_on"}
    inner = (
        {"prepare_start", "prepare_enqueue", "prepare_jobs", "prepare_flow", "execute_on", "expect_commit"}
        | set(vars(Commanding))
        | set(vars(Looking))
    )  # for edges
    for name, verb in inspect.getmembers(Procession, inspect.isfunction):
        if name.startswith("_") or name in life | inner:
            continue
        assert hasattr(SyncProcession, name), f"{name} is missing"
        own = inspect.signature(getattr(SyncProcession, name)).parameters
        if not any(parameter.kind == inspect.Parameter.VAR_KEYWORD for parameter in own.values()):
            assert list(own) == list(inspect.signature(verb).parameters), f"options of {name}"


def test_of_many_threads_that_open_it_each_finds_it_open(app: Procession) -> None:
    barrier = threading.Barrier(THREADS)

    def request(number: int) -> int:
        barrier.wait(10)
        procession = app.sync.open()
        if number == 0:
            procession.deploy(("order.bpmn", MODEL.xml()))
        return len(procession.nodes())

    with ThreadPoolExecutor(THREADS) as pool:
        assert list(pool.map(request, range(THREADS))) == [0] * THREADS


def test_threads_start_instances_each_on_its_own_connection(app: Procession, url: str) -> None:
    app.sync.open().deploy(("order.bpmn", MODEL.xml()))

    def place(number: int) -> int:
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"), timeout=30)) as connection, connection:
            connection.execute("begin immediate")
            return app.sync.start("order", {"n": number}, connection=connection)

    with ThreadPoolExecutor(THREADS) as pool:
        keys = list(pool.map(place, range(40)))
    assert sorted(it.process_instance_key for it in app.sync.instances()) == sorted(keys)


def test_with_workers_handlers_run_and_wait_has_no_end_unless_one_is_named(url: str) -> None:
    app = Procession(url)
    told: list[str] = []

    @app.job("work")
    def work() -> None:
        told.append(threading.current_thread().name)
        try:
            face.instances()
        except Misconfigured as error:
            told.append(str(error))

    @app.job("in the loop")
    async def within() -> None:
        with pytest.raises(Misconfigured, match="event loop's own thread"):
            face.instances()
        told.append("refused")

    with SyncProcession(app, run_workers=True) as face:
        face.deploy(
            ("order.bpmn", MODEL.xml()), ("b.bpmn", process("b").start().service("s", type="in the loop").end().xml())
        )
        key = face.start("b")
        assert face.wait(key).state == "COMPLETED"
        assert told == ["refused"]
        key = face.start("order")
        with pytest.raises(TimeoutError):
            face.wait(key, timeout=0.05)
        with pytest.raises(InvalidValue):
            face.wait(key, timeout=float("nan"))
        face.cancel(key, reason="enough")
        assert face.wait(key, timeout=10).state == "TERMINATED"


def test_closing_answers_those_who_wait(app: Procession) -> None:
    face = app.sync.open()
    face.deploy(("p.bpmn", process("p").start().user("u").end().xml()))
    key = face.start("p")
    started = threading.Event()

    async def wait() -> None:
        started.set()
        await app.wait(key)

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(face.call, wait(), timeout_s=None)
        assert started.wait(10)
        face.close()
        with pytest.raises(Unavailable):
            waiting.result(10)
    with pytest.raises(Misconfigured, match="Open it first"):
        face.instances()
    assert face.open().instance(key).instance.state == "ACTIVE"


@pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")
def test_a_forked_process_opens_its_own_and_leaves_the_parents_alone(app: Procession) -> None:
    face = app.sync.open()
    face.deploy(("order.bpmn", MODEL.xml()))
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        answer = "nothing"
        try:
            try:
                face.instances()
            except Misconfigured as error:
                answer = "refused" if "forked" in str(error) else str(error)
            answer += f", started {face.open().start('order') > 0}"
            face.close()
        except BaseException as error:  # noqa: BLE001 - told to the parent
            answer += repr(error)
        os.write(writing, answer.encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 1000) == b"refused, started True"
    os.close(reading)
    os.close(writing)
    assert len(face.instances()) == 1
    face.start("order")
    assert len(face.instances()) == 2


def test_a_blocking_handler_of_a_worker_uses_the_loop_that_the_application_is_open_on(app: Procession) -> None:
    begun: list[int] = []

    @app.job("begin")
    def begin() -> None:
        begun.append(app.sync.open().start("order"))

    async def story() -> None:
        async with app:
            await app.deploy(("order.bpmn", MODEL.xml()), ("c.bpmn", BEGINS.xml()))
            await app.wait(await app.start("c"), timeout=30)
            assert [it.process_instance_key for it in await app.instances("order")] == begun
            app.sync.close()  # ends nothing that is not its own
            assert await app.count_instances("c") == {"COMPLETED": 1}

    asyncio.run(story())
    with pytest.raises(Misconfigured, match="Open it first"):
        app.sync.instances()
    with app.sync as procession:
        assert len(procession.instances(process_id="order")) == 1
