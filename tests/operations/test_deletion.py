"""Stories of what is not kept: ended instances after their time, one instance, a version."""

from __future__ import annotations

import pytest

from procession.engine import Settings
from procession.errors import Conflict, NotFound
from procession.testing.bpmn import process
from tests.operations.stage import DAY, MINUTE, Stage


async def test_ended_instances_go_after_their_time_with_what_they_called_and_running_ones_stay(url: str):
    """Scenario 125: in chunks."""
    stage = Stage(url, Settings(retention_ms=DAY, retention_chunk=2))
    inner = process("inner").start().script("sum", "=1").end()
    await stage.deploy(process("outer").start().call("call", process="inner").end(), inner)
    await stage.deploy(process("waits").start().call("call", process="inner").user("check").end())
    ended = [await stage.start("outer") for _ in range(3)]
    waiting = await stage.start("waits")
    await stage.pass_time(DAY - MINUTE)
    late = await stage.start("outer")
    assert len(await stage.app.instances()) == 10
    await stage.pass_time(2 * MINUTE)
    left = {row.process_instance_key for row in await stage.app.instances()}
    assert not left & set(ended)
    assert {late, waiting} < left
    assert len(left) == 4
    with pytest.raises(NotFound):
        await stage.app.history(ended[0])
    await stage.pass_time(10 * DAY)
    assert {row.process_instance_key for row in await stage.app.instances()} >= {waiting}
    assert len(await stage.app.instances()) == 2
    await stage.app.close()


async def test_without_a_retention_everything_is_kept(stage: Stage):
    await stage.deploy(process("order").start().end())
    key = await stage.start("order")
    await stage.pass_time(1000 * DAY)
    assert await stage.state(key) == "COMPLETED"


async def test_one_ended_instance_is_deleted_and_one_that_runs_is_not(stage: Stage):
    await stage.deploy(process("order").start().user("check").end())
    key = await stage.start("order")
    with pytest.raises(Conflict, match="still runs"):
        await stage.app.delete_instance(key)
    await stage.app.cancel(key)
    await stage.app.delete_instance(key)
    with pytest.raises(NotFound):
        await stage.app.instance(key)
    with pytest.raises(NotFound):
        await stage.app.delete_instance(key)


async def test_a_called_instance_is_deleted_with_its_caller_only(stage: Stage):
    await stage.deploy(process("outer").start().call("call", process="inner").end(), process("inner").start().end())
    key = await stage.start("outer")
    (called,) = await stage.app.instances(parent=key)
    with pytest.raises(Conflict, match="was called by"):
        await stage.app.delete_instance(called.process_instance_key)
    await stage.app.delete_instance(key)
    assert await stage.app.instances() == []


async def test_a_version_is_deleted_with_its_ended_instances_and_not_while_one_runs(stage: Stage):
    first = await stage.deploy(process("order").start().user("check").end())
    ended, runs = await stage.start("order"), await stage.start("order")
    await stage.app.cancel(ended)
    second = await stage.deploy(process("order").start().user("check").user("pack").end())
    with pytest.raises(Conflict, match="still runs"):
        await stage.app.delete_definition(first)
    await stage.app.migrate_instance(runs, second)
    await stage.app.delete_definition(first)
    assert [row.process_definition_key for row in await stage.app.definitions("order")] == [second]
    assert [row.process_instance_key for row in await stage.app.instances()] == [runs]
    with pytest.raises(NotFound):
        await stage.app.delete_definition(first)


async def test_the_timer_and_message_of_a_deleted_version_start_nothing(stage: Stage):
    key = await stage.deploy(process("nightly").start(timer="R/P1D").end(), process("paid").start(message="paid").end())
    await stage.app.delete_definition(key)
    await stage.pass_time(3 * DAY)
    assert await stage.app.instances() == []
    for row in await stage.app.definitions("paid"):
        await stage.app.delete_definition(row.process_definition_key)
    published = await stage.app.publish("paid")
    assert published.process_instance_keys == []


async def test_a_batch_does_not_migrate_to_a_version_that_is_deleted_meanwhile(stage: Stage):
    """Its items fail, and say why; nobody starts or restarts anything of it either."""
    await stage.deploy(process("order").start().user("check").end())
    keys = [await stage.start("order") for _ in range(3)]
    second = await stage.deploy(process("order").start().user("check").user("pack").end())
    batch = await stage.app.batch("migrate", target_process_definition_key=second)
    await stage.app.delete_definition(second)
    for _ in range(5):
        await stage.pass_time(1_000)
    found = await stage.app.batch_progress(batch)
    assert (found.state, found.done, found.failed) == ("COMPLETED", 0, 3)
    assert f"Expected process definition {second} to be deployed" in (await stage.app.batch_errors(batch))[0].message
    await stage.app.cancel(keys[0])
    for refused in (
        stage.app.batch("migrate", target_process_definition_key=second),
        stage.app.migrate_instance(keys[1], second),
        stage.app.restart(keys[0], before=["check"], process_definition_key=second),
        stage.app.start_version(second),
        stage.app.definition_xml(second),
    ):
        with pytest.raises(NotFound):
            await refused


async def test_a_start_that_is_on_its_way_when_its_version_is_deleted_does_not_happen(stage: Stage):
    key = await stage.deploy(process("paid").start(message="paid").user("check").end())
    published = await stage.app.publish("paid")
    assert len(published.process_instance_keys) == 1
    await stage.app.delete_definition(key)
    await stage.app.run_until_idle()
    assert await stage.app.instances() == []
    assert await stage.app.jobs() == []


async def test_a_number_of_a_version_is_not_given_twice(stage: Stage):
    await stage.deploy(process("order").start().user("check").end())
    second = await stage.deploy(process("order").start().user("check").user("pack").end())
    await stage.app.delete_definition(second)
    assert [row.version for row in await stage.app.definitions()] == [1]
    third = await stage.deploy(process("order").start().user("check").user("pack").end())
    assert third != second
    assert [row.version for row in await stage.app.definitions()] == [3, 1]
