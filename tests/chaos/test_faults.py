"""Any call to the store may fail before or after it took effect, at moments that a seed decides: the books balance.

Two engines share the data; clocks are turned by hand and pauses between tries take no time.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import partial
from typing import Any

import pytest

from procession.core.commands import SetVariables
from procession.engine import Engine, History, Settings
from procession.engine.lane import Patience
from procession.errors import Unavailable
from procession.store.memory import MemoryStore
from procession.store.rows import JobFilter
from procession.store.sqlite import SqliteStore
from procession.testing.bpmn import process, resource
from procession.worker import Job, LocalDispatcher, Registry
from tests.chaos.books import balance
from tests.chaos.faults import Faulty
from tests.chaos.models import content, process_of, variables_of, words_of

START = 1_767_225_600_000
NUMBERS = range(1, 33)
SEEDS = range(1, 9)
SETTINGS = Settings(history=History.FULL, command_deadline_ms=60_000, crash_backoff_ms=0)
ROUNDS = 60
SHAKEN = 6


@pytest.fixture(params=["memory", "sqlite"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Patience, "next_s", lambda self: setattr(self, "tries", self.tries + 1) or 0.0)


class Scene:
    """Two engines on faulty connections to the same data."""

    def __init__(self, kind: str, path: Any, seed: int) -> None:
        self.now = START
        self._kind = kind
        self._path = path
        self._seed = seed
        self._memory = MemoryStore(clock=self.clock)
        self.ran: list[list[str]] = []
        self.stores: list[Faulty] = []
        self.engines: list[Engine] = []

    def clock(self) -> int:
        return self.now

    async def open(self) -> None:
        for number in range(2):
            store = self._memory if self._kind == "memory" else SqliteStore(self._path / "f.db", clock=self.clock)
            await store.migrate()
            await store.open()
            faulty = Faulty(store, self._seed * 10 + number)
            dispatcher = LocalDispatcher(self.handlers(), chance=lambda: 0.0)
            engine = Engine(
                faulty, dispatcher=dispatcher, settings=SETTINGS, clock=self.clock, chance=lambda: 0.0, name=str(number)
            )
            dispatcher.attach(engine)
            await engine.open()
            self.stores.append(faulty)
            self.engines.append(engine)

    async def close(self) -> None:
        for engine, faulty in zip(self.engines, self.stores, strict=True):
            await engine.stop()
            await faulty.store.close()

    def handlers(self) -> Registry:
        registry = Registry()

        def note(job: Job) -> None:
            self.ran.append(["ran", str(job.key), job.element_id, str(job.process_instance_key), "1", str(job.lease)])

        results = {
            "reserve": lambda of: {"reserved": of["amount"]},
            "pay": lambda of: {"paid": of["total"]},
            "pack": lambda of: {"packed": of["amount"]},
            "work": lambda of: {"made": of["seed"] + 1},
            "each": lambda of: {"result": of["item"] * 2},
            "note": lambda of: {"noted": int(of["number"])},
            "listen": lambda of: {"listened": int(of["number"])},
        }
        for name, result in results.items():

            async def run(job: Job, result: Any = result) -> dict[str, Any]:
                note(job)
                await asyncio.sleep(0)
                return result(job.variables)

            run.__defaults__ = (result,)
            registry.job(name)(_of_job(run, result))

        @registry.method("price")
        async def price(amount: int) -> dict[str, int]:
            return {"total": amount * 2}

        return registry

    async def turn(self) -> None:
        """Everything that is due, on both engines."""
        for engine in self.engines:
            for _ in range(100):
                try:
                    await engine.run_until_idle()
                except Unavailable:
                    continue
                break

    def shake(self, *, on: bool) -> None:
        for store in self.stores:
            store.shaking = on


def _of_job(run: Any, result: Any) -> Any:
    async def handler(job: Job) -> dict[str, Any]:
        return await run(job, result)

    return handler


async def speak(engine: Engine, number: int, word: str) -> None:
    """A word for a talk; its id makes it the same when it is said again."""
    await engine.publish("word", str(number), {"word": word}, ttl_ms=3_600_000, message_id=f"{number}-{word}")


async def _until_done(call: Any) -> Any:
    """What a caller does who wants it done: again, while the answer is Unavailable."""
    for _ in range(100):
        try:
            return await call()
        except Unavailable:
            continue
    raise AssertionError("never answered")


@pytest.mark.parametrize("seed", SEEDS)
async def test_calls_that_fail_at_random_lose_nothing_and_do_nothing_twice(kind: str, tmp_path, seed: int):
    scene = Scene(kind, tmp_path, seed)
    await scene.open()
    one, _ = scene.engines
    await one.deploy([("chaos.bpmn", content())], methods=["price"])
    scene.shake(on=True)

    async def begin(number: int) -> int:
        name = process_of(number)
        engine = scene.engines[number % 2]
        key = await _until_done(
            lambda: engine.start_instance(name, variables_of(number), business_id=f"{name}-{number}")
        )
        for word in words_of(number) if name == "talk" else ():
            await _until_done(partial(speak, engine, number, word))
        return key

    keys = await asyncio.gather(*(begin(number) for number in NUMBERS))
    assert len(set(keys)) == len(NUMBERS)
    for _ in range(SHAKEN):
        await scene.turn()
        scene.now += 1_000
    scene.shake(on=False)
    for _ in range(ROUNDS):
        await scene.turn()
        scene.now += 1_000
    starts = [
        line
        for number, key in zip(NUMBERS, keys, strict=True)
        for line in (["asked", str(number)], ["started", str(number), str(key)])
    ]
    found = await balance(scene.stores[0].store, starts, [[*line, "0"] for line in scene.ran])
    left = await scene.stores[0].store.list_jobs(JobFilter(limit=1000))
    failed = sum((store.failed for store in scene.stores), Counter())
    await scene.close()
    assert not left
    assert not found, "\n".join(found[:20])
    assert sum(failed.values()) > 20


@pytest.mark.parametrize("seed", SEEDS)
async def test_variables_written_by_two_processes_are_all_there(kind: str, tmp_path, seed: int):
    scene = Scene(kind, tmp_path, seed)
    await scene.open()
    one, two = scene.engines
    await one.deploy([("w.bpmn", resource(process("w").start().user("wait").end()))])
    key = await one.start_instance("w")
    scene.shake(on=True)
    names = [f"v{number}" for number in range(60)]

    async def write(number: int) -> None:
        await (one if number % 2 else two).command(key, SetVariables({names[number]: number}))

    await asyncio.gather(*(write(number) for number in range(60)))
    scene.shake(on=False)
    (row,) = await scene.stores[0].store.load([key])
    await scene.close()
    assert [name for name in names if f'"{name}"'.encode() not in row.variables] == []
