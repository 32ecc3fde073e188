"""What the simple process costs, counted in this program's own function calls: a figure without clock or machine."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator
from types import CodeType, FrameType
from typing import Any

import pytest

import procession
from procession import Procession, Settings
from procession.testing.bpmn import ProcessBuilder, process

HOME = procession.__path__[0]
STARTERS, EACH = 8, 20
TURNS_MAX = 10_000  # of the loop
VARIABLES = {"orderId": 17, "customer": "a b c", "total": 12.5}
# Calls per instance from start to end, about a tenth above what they were when this was written.
METHODS_MAX = 160  # 146
JOBS_MAX = 212  # 194
QUEUED_MAX = 53  # 48: from the call of enqueue to the end of the run

QUIET = Settings(claim_poll_ms_min=60_000, claim_poll_ms_max=60_000, heartbeat_ms=60_000, dead_after_ms=600_000)


class Calls:
    """Counts the calls of the program's functions, the keeper of rows apart."""

    def __init__(self) -> None:
        self.count = 0
        self._ours: dict[CodeType, bool] = {}

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call":
            code = frame.f_code
            ours = self._ours.get(code)
            if ours is None:
                path = code.co_filename
                ours = self._ours[code] = path.startswith(HOME) and "/store/" not in path
            self.count += ours


async def nothing() -> None:
    """Do no work."""


async def start_some(app: Procession) -> None:
    async def starter() -> None:
        for _ in range(EACH):
            await app.start("p", VARIABLES)

    until = app.counters.completed + STARTERS * EACH
    await asyncio.gather(*(starter() for _ in range(STARTERS)))
    for _ in range(TURNS_MAX):
        if app.counters.completed >= until:
            return
        await asyncio.sleep(0)
    pytest.fail(f"{until - app.counters.completed} instances did not end")


async def enqueue_some(app: Procession) -> None:
    async def caller() -> None:
        for _ in range(EACH):
            await app.enqueue("a", {"i": 1})

    until = app.counters.jobs_done + STARTERS * EACH
    await asyncio.gather(*(caller() for _ in range(STARTERS)))
    for _ in range(TURNS_MAX):
        if app.counters.jobs_done >= until:
            return
        await asyncio.sleep(0)
    pytest.fail(f"{until - app.counters.jobs_done} jobs did not end")


@pytest.fixture
async def app() -> AsyncGenerator[Procession, None]:
    app = Procession("memory:", settings=QUIET)
    for name in ("a", "b"):
        app.method(name)(nothing)
        app.job(name)(nothing)
    async with app:
        yield app


@pytest.mark.parametrize(
    ("model", "most"),
    [
        (process("p").start().task("a").task("b").end(), METHODS_MAX),
        (process("p").start().service("a", type="a").service("b", type="b").end(), JOBS_MAX),
    ],
    ids=["methods", "service tasks"],
)
async def test_an_instance_stays_within_its_budget_of_calls(app: Procession, model: ProcessBuilder, most: int):
    await app.deploy(("p.bpmn", model.xml()))
    await start_some(app)
    calls, before = Calls(), sys.getprofile()
    sys.setprofile(calls)
    try:
        await start_some(app)
    finally:
        sys.setprofile(before)
    assert calls.count / (STARTERS * EACH) <= most


async def test_a_queued_job_stays_within_its_budget_of_calls(app: Procession):
    await enqueue_some(app)
    calls, before = Calls(), sys.getprofile()
    sys.setprofile(calls)
    try:
        await enqueue_some(app)
    finally:
        sys.setprofile(before)
    assert calls.count / (STARTERS * EACH) <= QUEUED_MAX
