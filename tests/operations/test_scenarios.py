"""Acceptance scenarios that only a whole application can show, on every store: what a death leaves, what rests."""

from __future__ import annotations

import asyncio

import pytest

from procession.app.wiring import store_factory
from procession.app.working import ActivatedJob
from procession.engine import History, Settings
from procession.errors import NotFound
from procession.jobs.kinds import JobState
from procession.testing.bpmn import process
from procession.worker import Registry
from tests.engine.stage import SECOND
from tests.engine.stage import Stage as EngineStage
from tests.engine.test_duties import dead_engine, kill
from tests.operations.stage import MINUTE, Stage

PAY = process("order").start().service("pay").end()


async def take(stage: Stage) -> list[ActivatedJob]:
    """What a worker elsewhere gets now."""
    waiting = asyncio.create_task(stage.app.activate_jobs("pay", timeout="30s"))
    await asyncio.sleep(0)
    await stage.app.run_until_idle()
    return await waiting


async def test_a_job_that_kills_its_process_again_and_again_ends_as_an_incident_on_every_store(url: str):
    """Scenario 112: a budget of crashes, then a person is asked."""
    stage = EngineStage()
    stage.store = store_factory(url, clock=stage.clock)()
    stage.settings = Settings(history=History.FULL, crash_budget=2, crash_backoff_ms=1000)
    await stage.store.migrate()
    await stage.store.open()
    await stage.deploy(PAY)
    key = await stage.start("order")
    for _ in range(3):
        registry = Registry()
        began = asyncio.Event()

        @registry.job("pay")
        async def crash(began: asyncio.Event = began):
            began.set()
            await asyncio.Event().wait()

        doomed = await dead_engine(stage, registry)
        await doomed._duties.promote_once()
        if not await doomed._claims.once():
            break
        await began.wait()
        await kill(doomed)
        stage.now += 11 * SECOND
        await stage.store.beat(stage.engine.node)
        await stage.engine._duties.rescue_once()
        stage.now += 2 * SECOND
        await stage.store.beat(stage.engine.node)
    await stage.engine._come_to_rest()
    assert "crash budget" in await stage.incident(key)
    (job,) = await stage.jobs(instance=key)
    assert job.state == JobState.FAILED
    await stage.stop()
    await stage.store.close()


async def test_a_job_whose_lease_is_over_may_still_be_completed_while_nobody_else_has_it(stage: Stage):
    """Scenario 113: as in Camunda 8, by a completion that names no lease; afterwards it is not found."""
    await stage.deploy(PAY)
    key = await stage.start("order")
    (job,) = await take(stage)
    stage.now += MINUTE
    await stage.app.complete_job(job.job_key)
    assert await stage.state(key) == "COMPLETED"
    with pytest.raises(NotFound):
        await stage.app.complete_job(job.job_key)


async def test_a_suspended_instance_holds_its_timers_and_its_messages_wait_within_their_time(stage: Stage):
    """Scenario 118: jobs are hidden, timers held, messages buffered; resumed, it takes what came meanwhile."""
    await stage.deploy(
        process("order")
        .start()
        .parallel("fork")
        .service("pay")
        .end("paid")
        .at("fork")
        .catch("wait", timer="PT1M")
        .user("waited")
        .end("e2")
        .at("fork")
        .catch("told", message="told", key="=1")
        .user("heard")
        .end("e3")
    )
    key = await stage.start("order")
    await stage.app.suspend(key)
    assert await take(stage) == []
    await stage.app.publish("told", correlation_key="1", ttl="1h")
    await stage.pass_time(2 * MINUTE)
    assert await stage.active(key) == ["pay", "told", "wait"]
    await stage.app.resume(key)
    for _ in range(6):
        await stage.pass_time(MINUTE)
    assert await stage.active(key) == ["heard", "pay", "waited"]
    assert len(await take(stage)) == 1
