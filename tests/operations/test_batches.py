"""Stories of operations over many instances: progress, errors by item, a restart in the middle, a pace."""

from __future__ import annotations

import asyncio

import pytest

from procession.app.batches import Batch
from procession.errors import Conflict, InvalidValue, NotFound
from procession.testing.bpmn import process
from tests.operations.stage import MINUTE, Stage

SECOND = 1_000


async def _start_many(stage: Stage, count: int) -> list[int]:
    await stage.deploy(process("order").start().user("check").end())
    return await asyncio.gather(*(stage.app.start("order", business_id=f"A-{number % 2}") for number in range(count)))


async def _ended(stage: Stage, batch: int) -> Batch:
    """Let time pass until a batch is over."""
    for _ in range(100):
        found = await stage.app.batch_progress(batch)
        if found.state != "ACTIVE":
            return found
        await stage.pass_time(SECOND)
    raise AssertionError(found)


async def test_all_instances_of_a_filter_are_canceled_and_no_others(stage: Stage):
    await _start_many(stage, 20)
    batch = await stage.app.batch("cancel", which={"process_id": "order", "business_id": "A-1"}, reason="a mistake")
    assert (await stage.app.batch_progress(batch)).total == 10
    found = await _ended(stage, batch)
    assert (found.state, found.done, found.failed, found.open) == ("COMPLETED", 10, 0, 0)
    assert await stage.app.count_instances() == {"ACTIVE": 10, "TERMINATED": 10}
    assert {row.business_id for row in await stage.app.instances(state="ACTIVE")} == {"A-0"}
    assert [each.batch_key for each in await stage.app.batches()] == [batch]


async def test_many_are_suspended_and_resumed_and_those_that_are_not_suspended_are_left_alone(stage: Stage):
    await _start_many(stage, 6)
    batch = await stage.app.batch("suspend", which={"business_id": "A-1"})
    assert (await _ended(stage, batch)).done == 3
    assert await stage.app.count_instances() == {"ACTIVE": 3, "SUSPENDED": 3}
    batch = await stage.app.batch("resume")
    found = await _ended(stage, batch)
    assert (found.total, found.done, found.failed) == (3, 3, 0)
    assert await stage.app.count_instances() == {"ACTIVE": 6}


async def test_what_refuses_is_an_error_of_the_batch_and_the_others_are_done(stage: Stage):
    """Scenario 123: errors by item."""
    keys = await _start_many(stage, 4)
    await stage.app.modify(keys[0], activate=["check"])
    target = await stage.deploy(process("order").start().user("check").user("pack").end())
    await stage.app.modify(keys[1], move={"check": "check"})
    other = await stage.deploy(process("order").start().user("look").user("pack").end())
    batch = await stage.app.batch("migrate", target_process_definition_key=target)
    assert (await _ended(stage, batch)).done == 4
    batch = await stage.app.batch("migrate", target_process_definition_key=other)
    found = await _ended(stage, batch)
    assert (found.done, found.failed) == (0, 4)
    errors = await stage.app.batch_errors(batch)
    assert [each.key for each in errors] == sorted(keys)
    assert "'check' is active and the target has no 'check'" in errors[0].message


async def test_tokens_are_moved_incidents_resolved_and_ended_instances_deleted(stage: Stage):
    broken = True

    @stage.app.job("pay", retries=1)
    async def pay() -> None:
        if broken:
            raise ValueError("no connection")

    await stage.deploy(process("order").start().user("check").service("pay").end())
    keys = [await stage.start("order") for _ in range(3)]
    assert (await _ended(stage, await stage.app.batch("modify", move={"check": "pay"}))).done == 3
    await stage.app.run_until_idle()
    assert len(await stage.app.incidents()) == 3
    broken = False
    assert (await _ended(stage, await stage.app.batch("resolve", which={"process_id": "order"}))).done == 3
    await stage.app.run_until_idle()
    assert [await stage.state(key) for key in keys] == ["COMPLETED"] * 3
    assert (await _ended(stage, await stage.app.batch("delete"))).done == 3
    assert await stage.app.instances() == []


async def test_a_batch_keeps_its_pace_and_can_be_canceled(stage: Stage):
    """Scenario 123: throttled."""
    await _start_many(stage, 30)
    batch = await stage.app.batch("cancel", per_second=20)
    await stage.app.run_until_idle()
    for _ in range(5):
        await stage.pass_time(50)
    begun = await stage.app.batch_progress(batch)
    assert 0 < begun.done < 12
    await stage.app.cancel_batch(batch)
    await stage.pass_time(60 * SECOND)
    found = await stage.app.batch_progress(batch)
    assert (found.state, found.done) == ("CANCELED", begun.done)


async def test_what_cannot_be_a_batch_is_refused(stage: Stage):
    await _start_many(stage, 1)
    with pytest.raises(InvalidValue, match="kind of batch"):
        await stage.app.batch("explode")
    with pytest.raises(InvalidValue, match="'delete'"):
        await stage.app.batch("delete", which={"state": "ACTIVE"})
    with pytest.raises(InvalidValue, match="found mapping"):
        await stage.app.batch("cancel", mapping={})
    with pytest.raises(NotFound):
        await stage.app.batch("migrate", target_process_definition_key=1)
    with pytest.raises(NotFound):
        await stage.app.batch_progress(1)


async def test_ten_thousand_instances_are_canceled_across_a_restart_each_once(url: str):
    """Scenario 123: progress, safe across a restart."""
    if url == "memory://":
        pytest.skip("this store is one object: nothing outlives it")
    stage = Stage(url)
    await _start_many(stage, 10_000)
    batch = await stage.app.batch("cancel", which={"process_id": "order"})
    for _ in range(4):
        await stage.pass_time(SECOND)
    halfway = await stage.app.batch_progress(batch)
    assert 0 < halfway.done < 10_000
    await stage.app.close()

    again = Stage(url)
    again.now = stage.now
    await again.open()
    found = await _ended(again, batch)
    assert (found.state, found.total, found.done, found.failed) == ("COMPLETED", 10_000, 10_000, 0)
    assert await again.app.count_instances("order") == {"TERMINATED": 10_000}
    assert await again.app.jobs() == []
    await again.app.close()


async def test_items_are_done_once_even_if_a_process_that_was_declared_dead_goes_on(url: str):
    if url == "memory://":
        pytest.skip("this store is one object: nothing outlives it")
    dead, other = Stage(url), Stage(url)
    keys = await _start_many(dead, 200)
    batch = await dead.app.batch("modify", activate=["check"])
    working = asyncio.create_task(dead.app.run_until_idle())
    while not (await dead.app.batch_progress(batch)).done:  # noqa: ASYNC110 - the database says it
        await asyncio.sleep(0)
    working.cancel()
    dead.app._opened, abandoned = None, dead.app._opened

    await other.open()
    for _ in range(10):
        other.now += MINUTE
        await other.app.run_until_idle()
        await other.app._engine._duties.rescue_once()
    found = await _ended(other, batch)
    assert (found.done, found.failed) == (200, 0)
    assert {len(await other.active(key)) for key in keys} == {2}
    await other.app.close()
    assert abandoned is not None
    await abandoned.store.close()


async def test_a_suspended_batch_stops_at_the_next_item_and_goes_on_after_a_restart(stage: Stage):
    await _start_many(stage, 30)
    batch = await stage.app.batch("cancel", per_second=20)
    await stage.app.run_until_idle()
    for _ in range(5):
        await stage.pass_time(50)
    await stage.app.suspend_batch(batch)
    begun = await stage.app.batch_progress(batch)
    assert (begun.state, 0 < begun.done < 12) == ("SUSPENDED", True)
    await stage.pass_time(60 * SECOND)
    assert (await stage.app.batch_progress(batch)).done == begun.done
    with pytest.raises(Conflict, match="found it suspended"):
        await stage.app.suspend_batch(batch)
    with pytest.raises(Conflict, match="under way"):
        await stage.app.retry_batch(batch)
    if not stage.url.startswith("memory"):
        await stage.app.close()
        stage = await _restarted(stage)
        await stage.pass_time(60 * SECOND)
        assert (await stage.app.batch_progress(batch)).done == begun.done
    await stage.app.resume_batch(batch)
    found = await _ended(stage, batch)
    assert (found.state, found.done, found.failed) == ("COMPLETED", 30, 0)
    with pytest.raises(Conflict, match="found it completed"):
        await stage.app.resume_batch(batch)
    await stage.app.close()


async def _restarted(stage: Stage) -> Stage:
    """Another process on the same database, at the same time."""
    again = Stage(stage.url)
    again.now = stage.now
    await again.open()
    return again


async def test_many_jobs_are_changed_and_those_that_cannot_be_are_errors(stage: Stage):
    await stage.deploy(process("shop").start().service("pay").end())
    for _ in range(5):
        await stage.start("shop")
    jobs = [row.job_key for row in await stage.app.jobs(type="pay")]
    batch = await stage.app.update_jobs(jobs, priority=7, retries=9)
    found = await _ended(stage, batch)
    assert (found.kind, found.state, found.total, found.done, found.failed) == ("update-jobs", "COMPLETED", 5, 5, 0)
    rows = [await stage.app.stored_job(key) for key in jobs]
    assert {(row.priority, row.retries) for row in rows} == {(7, 9)}
    found = await _ended(stage, await stage.app.update_jobs(jobs, timeout="5m"))
    assert (found.done, found.failed) == (0, 5)
    errors = await stage.app.batch_errors(found.batch_key)
    assert [error.key for error in errors] == jobs
    assert "a remote worker holds" in errors[0].message
    with pytest.raises(InvalidValue, match="retries, timeout or priority"):
        await stage.app.update_jobs(jobs)
    with pytest.raises(InvalidValue, match="BATCH_JOBS_MAX"):
        await stage.app.update_jobs([], priority=1)
    with pytest.raises(NotFound):
        await stage.app.update_jobs([jobs[0] + 99_999], priority=1)
