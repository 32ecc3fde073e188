"""Stories of user tasks: dates and candidates by expressions, claims, changes, lists."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from procession.errors import Conflict, InvalidValue, NotFound
from procession.testing.bpmn import process
from tests.operations.stage import Stage

ORDER = process("order").start().user("check", candidate_groups="clerks, managers").user("pack").end()


async def _task(stage: Stage, **variables: object) -> int:
    """The open task of a new order."""
    if not stage.is_open:
        await stage.deploy(ORDER)
    key = await stage.start("order", variables)
    return (await stage.app.user_tasks(process_instance_key=key))[0].user_task_key


async def test_dates_candidates_and_priority_are_expressions(stage: Stage):
    assigned = '<zeebe:userTask /><zeebe:assignmentDefinition candidateUsers="=people" candidateGroups="=[team]" />'
    dated = '<zeebe:taskSchedule dueDate="=date and time(due)" followUpDate="=now() + duration(&#34;P1D&#34;)" />'
    rest = '<zeebe:priorityDefinition priority="=if big then 90 else 10" />'
    await stage.deploy(process("order").start().user("check", extensions=assigned + dated + rest).end())
    await stage.start("order", {"people": ["ada", "bob"], "team": "clerks", "due": "2026-02-01T12:00:00Z", "big": True})
    (task,) = await stage.app.user_tasks()
    assert (task.candidate_users, task.candidate_groups, task.priority) == (["ada", "bob"], ["clerks"], 90)
    assert task.due_date == datetime(2026, 2, 1, 12, tzinfo=UTC)
    assert task.follow_up_date == datetime(2026, 1, 2, tzinfo=UTC)


async def test_a_date_that_is_none_is_an_incident_with_its_element(stage: Stage):
    await stage.deploy(process("order").start().user("check", due_date="=soon").end())
    await stage.start("order", {"soon": "tomorrow"})
    (incident,) = await stage.app.incidents()
    assert "due date of 'check'" in incident.error_message


async def test_of_two_who_claim_a_task_at_once_one_gets_it(stage: Stage):
    key = await _task(stage)
    claims = [stage.app.claim_user_task(key, name) for name in ("ada", "bob", "eve")]
    answers = await asyncio.gather(*claims, return_exceptions=True)
    refused = [answer for answer in answers if isinstance(answer, Conflict)]
    assert (len(refused), answers.count(None)) == (2, 1)
    owner = (await stage.app.user_task(key)).assignee
    assert f"User task {key} is assigned to '{owner}'" in str(refused[0])
    await stage.app.claim_user_task(key, owner)


async def test_a_claim_among_other_commands_of_its_instance_counts(stage: Stage):
    key = await _task(stage)
    instance = (await stage.app.user_task(key)).process_instance_key
    writes = [stage.app.set_variables(instance, {"n": n}) for n in range(20)]
    await asyncio.gather(*writes[:10], stage.app.claim_user_task(key, "ada"), *writes[10:])
    assert (await stage.app.user_task(key)).assignee == "ada"


async def test_a_task_is_given_back_and_reassigned(stage: Stage):
    key = await _task(stage)
    await stage.app.claim_user_task(key, "ada")
    await stage.app.unclaim_user_task(key)
    await stage.app.claim_user_task(key, "bob")
    await stage.app.assign_user_task(key, "eve")
    assert (await stage.app.user_task(key)).assignee == "eve"
    await stage.app.complete_user_task(key)
    for gone in (stage.app.claim_user_task(key, "ada"), stage.app.user_task(key), stage.app.unclaim_user_task(key)):
        with pytest.raises(NotFound, match=f"user task {key}"):
            await gone


async def test_what_is_given_of_a_task_changes(stage: Stage):
    """Only what is named; an empty date or list is taken away."""
    key = await _task(stage)
    due = datetime(2026, 5, 1, tzinfo=UTC)
    await stage.app.update_user_task(key, due_date=due, follow_up_date="2026-04-01T00:00:00Z", priority=7)
    task = await stage.app.user_task(key)
    assert (task.due_date, task.follow_up_date, task.priority) == (due, datetime(2026, 4, 1, tzinfo=UTC), 7)
    assert task.candidate_groups == ["clerks", "managers"]
    await stage.app.update_user_task(key, due_date="", candidate_groups=[], candidate_users=["bob"])
    task = await stage.app.user_task(key)
    assert (task.due_date, task.follow_up_date, task.priority) == (None, datetime(2026, 4, 1, tzinfo=UTC), 7)
    assert (task.candidate_groups, task.candidate_users) == ([], ["bob"])
    for wrong, why in (
        ({}, "something of the user task to change"),
        ({"due_date": "soon"}, "Expected due_date to be a date"),
        ({"priority": -1}, "Expected priority"),
        ({"candidate_groups": "clerks"}, "Expected candidate_groups to be a list"),
    ):
        with pytest.raises(InvalidValue, match=why):
            await stage.app.update_user_task(key, **wrong)


async def test_tasks_are_listed_by_whom_they_are_for_and_when(stage: Stage):
    first, second, third = [await _task(stage) for _ in range(3)]
    await stage.app.claim_user_task(first, "ada")
    await stage.app.update_user_task(second, due_date="2026-03-01T00:00:00Z", priority=80, candidate_users=["bob"])

    async def found(**which: object) -> list[int]:
        return [task.user_task_key for task in await stage.app.user_tasks(**which)]  # pyright: ignore[reportArgumentType]

    assert await found(assignee="ada") == [first]
    assert await found(unassigned=True, candidate_group="managers") == [second, third]
    assert await found(candidate_user="bob") == await found(priority=60) == [second]
    assert await found(due_before="2026-03-02T00:00:00Z") == [second]
    assert await found(due_before=datetime(2026, 3, 1, tzinfo=UTC)) == []
    assert await found(process_id="order", element_id="check", limit=2) == [first, second]
    assert await found(after=second) == [third]
    assert await found(process_id="other") == []
