"""Races that random kills found, told one by one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import NamedTuple

import msgspec
import pytest_asyncio

from procession.core.commands import CompleteJob, Correlate, Send
from procession.errors import Conflict
from procession.jobs.kinds import FOLLOW_UP_QUEUE, job_queue
from procession.store.rows import Want
from procession.testing.bpmn import process
from tests.engine.stage import Stage


@pytest_asyncio.fixture
async def stage() -> AsyncIterator[Stage]:
    """A stage whose books are checked when the story is over."""
    made = Stage()
    yield made
    await made.stop()
    await made.check_books()


async def test_a_late_outcome_does_not_stand_in_the_way_of_the_one_that_holds_the_lease(stage: Stage):
    await stage.deploy(process("p").start().service("work").end())
    key = await stage.start("p")
    node = await stage.store.register("other", b"{}")
    (job,) = await stage.store.claim(node, [Want(queue=job_queue("work"), count=1)])
    engine = stage.add_engine()  # it has to read the instance, so both wait for that and are decided together
    await engine.open()
    late, right = await asyncio.gather(
        engine.command(key, CompleteJob(job.key, {"by": "late"}), fences={job.key: job.lease + 7}),
        engine.command(key, CompleteJob(job.key, {"by": "right"}), fences={job.key: job.lease}),
        return_exceptions=True,
    )
    assert isinstance(late, Conflict)
    assert right == 1
    assert await stage.variables(key) == {"by": "right"}


async def test_a_job_claimed_again_while_its_method_still_runs_is_not_taken_for_done(stage: Stage):
    began, go_on = asyncio.Event(), asyncio.Event()
    calls: list[int] = []

    @stage.registry.method("first")
    async def first() -> dict[str, int]:
        return {"first": 1}

    @stage.registry.method("second")
    async def second() -> dict[str, int]:
        calls.append(1)
        if len(calls) == 1:
            began.set()
            await go_on.wait()
        return {"second": len(calls)}

    await stage.deploy(process("p").start().task("first").task("second").end(), methods=("first", "second"))
    engine = stage.engine
    starting = asyncio.create_task(stage.start("p"))
    await began.wait()  # the state in memory is ahead by one method
    await stage.store.leave(engine.node)  # others have taken its jobs away
    await engine._enter()
    claimed = await engine._claims.once()
    go_on.set()
    key = await starting
    assert claimed == 1
    assert await stage.status(key) == "completed"


async def test_a_follow_up_under_two_leases_takes_effect_once(stage: Stage):
    model = process("p").start().user("wait").end()
    model.boundary("knock", on="wait", interrupting=False, message="knock", key="=id")
    await stage.deploy(model.script("count", "=knocks + 1", result="knocks").end("counted"))
    key = await stage.start("p", {"id": "1", "knocks": 0})
    await stage.engine.publish("knock", "1")
    leases: list[Correlating] = []
    for name in ("silent", "living"):
        node = await stage.store.register(name, b"{}")
        (job,) = await stage.store.claim(node, [Want(queue=FOLLOW_UP_QUEUE, count=1)])
        leases.append(Correlating(job.key, job.lease, decode_send(job.args).command))
        if name == "silent":
            await stage.store.leave(node)
    engine = stage.add_engine()
    await engine.open()
    late, right = await asyncio.gather(
        *(engine.command(key, each.command, fences={each.job: each.lease}) for each in leases), return_exceptions=True
    )
    assert isinstance(late, Conflict)
    assert right == 0
    assert (await stage.variables(key))["knocks"] == 1


class Correlating(NamedTuple):
    """A message on its way to an instance, and the lease of whoever brings it."""

    job: int
    lease: int
    command: Correlate


decode_send = msgspec.json.Decoder(Send).decode
