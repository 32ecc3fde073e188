"""Stories of commands that meet: one step at a time per instance, many commands per step, each with its own answer."""

from __future__ import annotations

import asyncio

import pytest

from procession.core.commands import Cancel, CompleteJob, CompleteUserTask, Resume, SetVariables, Suspend
from procession.engine import Settings
from procession.errors import Conflict, InvalidValue, NotFound, Unavailable
from procession.jobs.kinds import JobState
from procession.limits import VARIABLES_BYTES_MAX
from procession.store.rows import JobEnd, JobOutcome, Want
from procession.testing.bpmn import process
from tests.engine.stage import Stage

WAITING = process("p").start().user("wait").end()


async def test_commands_that_come_while_a_step_is_under_way_are_written_as_one_step(stage: Stage):
    await stage.deploy(WAITING)
    key = await stage.start("p")
    commands = [stage.engine.command(key, SetVariables({f"v{number}": number})) for number in range(20)]
    await asyncio.gather(*commands)
    assert await stage.steps(key) == 1 + 2, "the start, the first command alone, and the other nineteen together"
    assert len(await stage.variables(key)) == 20


async def test_each_command_has_its_own_answer(stage: Stage):
    await stage.deploy(WAITING)
    key = await stage.start("p")
    answers = await asyncio.gather(
        stage.engine.command(key, SetVariables({"a": 1})),
        stage.engine.command(key, CompleteUserTask(1)),
        stage.engine.command(key, SetVariables({"b": 2})),
        return_exceptions=True,
    )
    assert answers[0] == answers[2] == 0
    assert isinstance(answers[1], NotFound)
    assert await stage.variables(key) == {"a": 1, "b": 2}


async def test_many_instances_share_a_commit(stage: Stage):
    await stage.deploy(WAITING)
    before = stage.engine.counters.commits
    await asyncio.gather(*(stage.engine.start_instance("p") for _ in range(200)))
    assert stage.engine.counters.commits - before <= 2


async def test_two_engines_that_write_the_same_instance_lose_nothing(stage: Stage):
    """Scenario 108."""
    await stage.deploy(WAITING)
    key = await stage.start("p")
    other = stage.add_engine()
    await other.open()
    engines = [stage.engine, other]
    await asyncio.gather(
        *(engines[number % 2].command(key, SetVariables({f"v{number}": number})) for number in range(50))
    )
    assert len(await stage.variables(key)) == 50
    assert stage.engine.counters.stale + other.counters.stale > 0


async def test_a_completion_under_a_lost_lease_is_refused_and_its_neighbours_are_not(stage: Stage):
    await stage.deploy(process("p").start().parallel("f").service("a").end().at("f").service("b").end())
    key = await stage.start("p")
    claimed = {
        job.type: job
        for job in await stage.store.claim(
            stage.engine.node, [Want(queue="$job:a", count=1), Want(queue="$job:b", count=1)]
        )
    }
    a, b = claimed["a"], claimed["b"]
    await stage.store.finish([JobOutcome(key=a.key, lease=a.lease, end=JobEnd.RELEASE)])
    answers = await asyncio.gather(
        stage.engine.command(key, SetVariables({"x": 1})),
        stage.engine.command(key, SetVariables({"y": 2})),
        stage.engine.command(key, CompleteJob(a.key), fences={a.key: a.lease}),
        stage.engine.command(key, CompleteJob(b.key), fences={b.key: b.lease}),
        return_exceptions=True,
    )
    assert isinstance(answers[2], Conflict)
    assert [answer for answer in answers if isinstance(answer, Exception)] == [answers[2]]
    assert await stage.variables(key) == {"x": 1, "y": 2}
    assert [job.type for job in await stage.jobs(instance=key)] == ["a"]


async def test_variables_over_the_limit_are_refused_and_the_instance_goes_on(stage: Stage):
    await stage.deploy(WAITING)
    key = await stage.start("p", {"big": "x" * (VARIABLES_BYTES_MAX - 1000)})
    answers = await asyncio.gather(
        stage.engine.command(key, SetVariables({"first": 1})),
        stage.engine.command(key, SetVariables({"a": 1})),
        stage.engine.command(key, SetVariables({"more": "y" * 2000})),
        stage.engine.command(key, SetVariables({"b": 2})),
        return_exceptions=True,
    )
    assert isinstance(answers[2], InvalidValue)
    assert "VARIABLES_BYTES_MAX" in str(answers[2])
    assert sorted(await stage.variables(key)) == ["a", "b", "big", "first"]
    with pytest.raises(InvalidValue, match="4194304"):
        await stage.engine.start_instance("p", {"big": "x" * VARIABLES_BYTES_MAX})


@pytest.mark.parametrize(
    ("variables", "where"),
    [
        ({"a": [1, float("inf")]}, r"variables\.a\[1\]"),
        ({"a": {"b": "x\0y"}}, r"variables\.a\.b"),
        ({"a": "\ud800"}, r"variables\.a"),
        ({"a": 2**64}, r"variables\.a"),
        ({"a": object()}, r"variables\.a"),
        ({(1, 2): "x"}, r"variables"),
    ],
    ids=["infinite", "NUL", "surrogate", "long integer", "object", "name"],
)
async def test_a_value_that_cannot_be_stored_is_refused_with_its_path(stage: Stage, variables, where):
    await stage.deploy(WAITING)
    with pytest.raises(InvalidValue, match=where):
        await stage.engine.start_instance("p", variables)
    assert await stage.store.count_instances("p") == {}


async def test_variables_given_at_the_start_are_not_shared_with_the_caller(stage: Stage):
    await stage.deploy(WAITING)
    items = [1]
    key = await stage.start("p", {"items": items})
    items.append(2)
    await stage.engine.command(key, SetVariables({"x": 1}))
    assert await stage.variables(key) == {"items": [1], "x": 1}


async def test_the_cache_forgets_the_least_recently_used_and_reads_it_again(stage: Stage):
    stage.settings = Settings(history=stage.settings.history, instances_cached=10)
    await stage.deploy(WAITING)
    keys = [await stage.start("p", {"number": number}) for number in range(30)]
    assert stage.engine.counters.loads == 0
    await stage.engine.command(keys[0], SetVariables({"x": 1}))
    await stage.engine.command(keys[-1], SetVariables({"x": 1}))
    assert stage.engine.counters.loads == 1
    assert await stage.variables(keys[0]) == {"number": 0, "x": 1}


async def test_too_many_commands_under_way_are_refused_with_the_reason(stage: Stage):
    stage.settings = Settings(history=stage.settings.history, commands_waiting_max=5)
    await stage.deploy(WAITING)
    answers = await asyncio.gather(*(stage.engine.start_instance("p") for _ in range(8)), return_exceptions=True)
    refused = [answer for answer in answers if isinstance(answer, Unavailable)]
    assert len(refused) == 3
    assert "commands_waiting_max" in str(refused[0])
    assert stage.engine.counters.rejected == {"Busy": 3}


async def test_a_suspended_instance_keeps_its_jobs_from_workers_until_it_is_resumed(stage: Stage):
    """Scenario 118."""
    await stage.deploy(process("p").start().service("work").end().boundary("late", on="work", timer="PT1H").end())
    key = await stage.start("p")
    await stage.engine.command(key, Suspend())
    assert {job.state for job in await stage.jobs(instance=key)} == {JobState.SUSPENDED}
    await stage.engine.command(key, Resume())
    assert {job.state for job in await stage.jobs(instance=key)} == {JobState.READY, JobState.SCHEDULED}
    await stage.engine.command(key, Cancel())


async def test_whoever_waits_for_the_end_is_told_wherever_it_ends(stage: Stage):
    await stage.deploy(WAITING)
    key = await stage.start("p")
    waiting = asyncio.ensure_future(stage.engine.wait_ended(key))
    await stage.complete_task(key, "wait")
    assert await waiting == 1
    assert await stage.engine.wait_ended(key) == 1
