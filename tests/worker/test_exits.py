"""Stories of handlers that end in unusual ways: each has failed an attempt, and the worker goes on."""

from __future__ import annotations

import asyncio
import sys

import pytest

from procession.testing.bpmn import process
from tests.engine.stage import Stage

WORK = process("p").start().service("work").end()


class Drastic(BaseException):
    """No ``Exception``, as some libraries have it."""


def leave() -> None:
    sys.exit(3)


def be_drastic() -> None:
    raise Drastic("enough")


def end_the_generator() -> None:
    raise GeneratorExit("not mine")


@pytest.mark.parametrize(
    ("ends", "why"),
    [(leave, "SystemExit: 3"), (be_drastic, "Drastic: enough"), (end_the_generator, "GeneratorExit")],
)
@pytest.mark.parametrize("where", ["on the loop", "in a thread", "in a method"])
async def test_a_handler_that_exits_fails_alone(stage: Stage, ends, why: str, where: str):
    async def on_the_loop():
        ends()

    def in_a_thread():
        ends()

    @stage.registry.job("other")
    async def other(): ...

    register = stage.registry.method if where == "in a method" else stage.registry.job
    register("work", retries=1)(in_a_thread if where == "in a thread" else on_the_loop)
    model = process("p").start().task("work").end() if where == "in a method" else WORK
    await stage.deploy(model, process("q").start().service("other").end(), methods=("work",))
    failed = await stage.start("p")
    assert why in await stage.incident(failed)
    assert await stage.status(await stage.start("q")) == "completed", "the worker goes on"


async def test_a_cancellation_that_nobody_asked_for_is_a_failed_attempt(stage: Stage):
    attempts: list[int] = []

    @stage.registry.job("work", retries=2, backoff=0)
    async def work():
        attempts.append(1)
        shared = asyncio.ensure_future(asyncio.Event().wait())
        shared.cancel()  # others have given up what this one waits for
        await shared

    await stage.deploy(WORK)
    key = await stage.start("p")
    await stage.turn()
    assert "CancelledError" in await stage.incident(key)
    assert len(attempts) == 2


async def test_an_error_with_half_of_a_surrogate_pair_is_an_incident_as_any_other(stage: Stage):
    @stage.registry.job("work", retries=1)
    async def work():
        raise FileNotFoundError(b"caf\xe9.txt".decode("utf-8", "surrogateescape"))

    await stage.deploy(WORK)
    assert "caf\\udce9.txt" in await stage.incident(await stage.start("p"))
