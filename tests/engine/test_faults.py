"""Stories of a database that does not answer, or answers too late: nothing is lost, nothing is done twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from procession.core.commands import CompleteUserTask, SetVariables
from procession.engine import History, Settings
from procession.errors import Unavailable
from procession.ids import Keys
from procession.jobs.kinds import JobState
from procession.store.memory import MemoryStore
from procession.store.rows import Step, StepResult, StoredDefinition, UserTaskFilter
from procession.testing.bpmn import process
from procession.worker import Registry
from tests.engine.stage import Stage

WAITING = process("p").start().user("wait").end()


class Shaky(MemoryStore):
    """A memory store whose commits fail so many times, before or after they are applied."""

    before = 0
    after = 0

    async def commit(self, steps: Sequence[Step], keys: Keys) -> list[StepResult]:
        if self.before:
            self.before -= 1
            raise Unavailable("the connection was refused")
        results = await super().commit(steps, keys)
        if self.after:
            self.after -= 1
            raise Unavailable("the connection was lost before the answer came")
        return results


@pytest.fixture
def shaky(stage: Stage) -> Shaky:
    stage.store = store = Shaky(clock=stage.clock)
    return store


async def test_a_commit_is_sent_again_until_the_database_answers(stage: Stage, shaky: Shaky):
    await stage.deploy(WAITING)
    shaky.before = 3
    key = await stage.start("p")
    assert await stage.status(key) == "active"
    assert await stage.steps(key) == 1


async def test_a_start_whose_answer_got_lost_is_not_made_twice(stage: Stage, shaky: Shaky):
    ran: list[str] = []

    @stage.registry.job("work")
    async def work():
        ran.append("work")

    await stage.deploy(process("p").start().service("work").end())
    shaky.after = 1
    key = await stage.start("p", {"a": 1})
    assert await stage.status(key) == "completed"
    assert sum((await stage.store.count_instances("p")).values()) == 1
    assert ran == ["work"]


async def test_a_start_waits_for_a_database_that_cannot_say_yet_which_version_is_the_latest(stage: Stage):
    refusals = 3

    class Away(MemoryStore):
        async def find_definition(self, process_id: str, **which: Any) -> StoredDefinition | None:
            nonlocal refusals
            if refusals:
                refusals -= 1
                raise Unavailable("the connection was refused")
            return await super().find_definition(process_id, **which)

    stage.store = Away(clock=stage.clock)
    await stage.deploy(WAITING)
    assert await stage.status(await stage.start("p")) == "active"
    assert not refusals


async def test_a_start_gives_up_waiting_for_which_version_is_the_latest_when_its_caller_does(stage: Stage):
    class Gone(MemoryStore):
        async def find_definition(self, process_id: str, **which: Any) -> StoredDefinition | None:
            raise Unavailable("the connection was refused")

    stage.store = Gone(clock=stage.clock)
    stage.settings = Settings(command_deadline_ms=20)
    await stage.deploy(WAITING)
    with pytest.raises(Unavailable, match="refused"):
        await stage.start("p")


async def test_a_step_whose_answer_got_lost_is_recognised_by_what_is_stored(stage: Stage, shaky: Shaky):
    await stage.deploy(WAITING)
    key = await stage.start("p")
    (task,) = await stage.store.list_user_tasks(UserTaskFilter(instance=key))
    shaky.after = 2
    status = await stage.engine.command(key, CompleteUserTask(task.key, {"x": 1}))
    assert status == 1
    assert await stage.steps(key) == 2
    assert stage.engine.counters.rejected == {}


async def test_a_method_whose_commit_got_no_answer_is_not_called_again(stage: Stage, shaky: Shaky):
    calls: list[int] = []

    @stage.registry.method("work")
    async def work():
        calls.append(1)
        shaky.after = 1
        return {"done": True}

    await stage.deploy(process("p").start().task("work").user("wait").end(), methods=("work",))
    key = await stage.start("p")
    assert calls == [1]
    assert await stage.variables(key) == {"done": True}


async def test_a_caller_loses_patience_and_the_engine_goes_on(stage: Stage, shaky: Shaky):
    stage.settings = Settings(history=History.FULL, command_deadline_ms=20)
    await stage.deploy(WAITING)
    key = await stage.start("p")
    shaky.before = 3
    with pytest.raises(Unavailable, match="refused"):
        await stage.engine.command(key, SetVariables({"x": 1}))
    shaky.before = 0
    await stage.turn()
    await stage.engine.command(key, SetVariables({"y": 2}))
    assert (await stage.variables(key))["y"] == 2


async def test_a_follow_up_survives_a_database_that_comes_and_goes(stage: Stage, shaky: Shaky):
    await stage.deploy(
        process("outer").start().call("inner", process="inner").end(), process("inner").start().user("wait").end()
    )
    await stage.engine.start_instance("outer")
    shaky.before, shaky.after = 1, 1
    await stage.turn()
    assert sum((await stage.store.count_instances("inner")).values()) == 1


class Unwilling(MemoryStore):
    """A memory store that cannot be read for a while."""

    refusing = False

    async def load(self, instances):
        if self.refusing:
            raise Unavailable("the connection was refused")
        return await super().load(instances)


async def test_claimed_jobs_are_returned_when_their_instances_cannot_be_read(stage: Stage):
    stage.store = store = Unwilling(clock=stage.clock)
    await stage.deploy(process("p").start().service("work").end())
    key = await stage.start("p")
    registry = Registry()
    ran: list[int] = []

    @registry.job("work")
    async def work():
        ran.append(1)

    other = stage.add_engine(registry)
    await other.open()
    store.refusing = True
    with pytest.raises(Unavailable):
        await other._claims.once()
    await other._come_to_rest()
    assert other.counters.jobs_returned == 1
    assert other.dispatcher.idle()
    store.refusing = False
    await stage.turn()
    assert ran == [1]
    assert await stage.status(key) == "completed"


async def test_a_definition_that_does_not_compile_any_more_keeps_its_jobs_and_harms_no_others(stage: Stage):
    await stage.deploy(process("p").start().service("work").end())
    await stage.deploy(process("q").start().service("work").end())
    bad, good = await stage.start("p"), await stage.start("q")
    (row,) = await stage.store.definitions([(await stage.instance(bad)).definition])
    content, stage.store._tables.resources[row.resource] = stage.store._tables.resources[row.resource], b"<broken"
    registry = Registry()

    @registry.job("work")
    async def work(): ...

    other = stage.add_engine(registry)
    await other.run_until_idle()
    assert await stage.status(good) == "completed"
    (job,) = await stage.jobs(instance=bad)
    assert job.state == JobState.SCHEDULED
    assert "does not compile any more" in job.error

    stage.store._tables.resources[row.resource] = content
    await other.stop()
    stage.engines.remove(other)
    stage.add_engine(registry)
    await stage.pass_time(60_000)
    assert await stage.status(bad) == "completed"
