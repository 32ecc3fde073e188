"""Stories of two processes on one database: each remembers instances that the other has changed since."""

from __future__ import annotations

import pytest

from procession.core.commands import CompleteUserTask
from procession.errors import NotFound
from procession.store.rows import UserTaskFilter
from procession.testing.bpmn import process
from tests.engine.stage import Stage

TWO_TASKS = process("p").start().user("first").user("second").end()


async def test_a_command_about_what_another_process_made_is_not_refused_from_memory(stage: Stage):
    await stage.deploy(TWO_TASKS)
    key = await stage.start("p")
    other = stage.add_engine()
    await other.open()
    await other.command(key, CompleteUserTask(await task_of(stage, key)))

    await stage.engine.command(key, CompleteUserTask(await task_of(stage, key)))

    assert await stage.status(key) == "completed"
    await stage.check_books()


async def test_a_command_that_does_not_fit_is_refused_after_one_look_at_what_is_stored(stage: Stage):
    await stage.deploy(TWO_TASKS)
    key = await stage.start("p")
    first = await task_of(stage, key)
    other = stage.add_engine()
    await other.open()
    await other.command(key, CompleteUserTask(first))
    loads = stage.engine.counters.loads

    with pytest.raises(NotFound, match=str(first)):
        await stage.engine.command(key, CompleteUserTask(first))

    assert stage.engine.counters.loads - loads <= 1 + 1  # the stale step, or the doubt about a refusal: one each
    assert stage.engine.counters.in_flight == 0
    assert await stage.status(key) == "active"


async def task_of(stage: Stage, instance: int) -> int:
    (task,) = await stage.store.list_user_tasks(UserTaskFilter(instance=instance))
    return task.key
