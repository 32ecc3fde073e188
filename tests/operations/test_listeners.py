"""Stories of listeners whose jobs are done by handlers: they hold an element up, deny a change, correct a user task."""

from __future__ import annotations

from procession import ActivateElements, Correct, Deny, Job
from procession.testing.bpmn import process
from tests.operations.stage import Stage


async def test_listeners_reach_the_handlers_of_their_type_and_their_results_become_variables(stage: Stage):
    told: list[str] = []

    @stage.app.job("prepare")
    async def prepare(job: Job) -> dict[str, int]:
        told.append(job.element_id)
        return {"prepared": 1}

    @stage.app.job("tidy")
    async def tidy(job: Job) -> dict[str, int]:
        told.append(job.element_id)
        return {"tidied": 2}

    @stage.app.job("pay")
    async def pay(prepared: int) -> dict[str, int]:
        return {"paid": prepared}

    listeners = {"start": "prepare", "end": "tidy"}
    await stage.deploy(process("order").start().service("pay", listeners=listeners).user("check").end())
    key = await stage.start("order")
    assert told == ["pay", "pay"]
    variables = (await stage.app.instance(key)).variables
    assert (variables["paid"], variables["tidied"]) == (1, 2)


async def test_a_task_listener_denies_until_it_agrees(stage: Stage):
    agrees = False

    @stage.app.job("may-complete")
    async def may_complete() -> Deny | None:
        return None if agrees else Deny("not yet")

    await stage.deploy(process("order").start().user("check", listeners={"completing": "may-complete"}).end())
    key = await stage.start("order")
    (task,) = await stage.app.user_tasks(process_instance_key=key)
    await stage.app.complete_user_task(task.user_task_key)
    await stage.app.run_until_idle()
    assert await stage.active(key) == ["check"]
    agrees = True
    await stage.app.complete_user_task(task.user_task_key)
    await stage.app.run_until_idle()
    assert await stage.state(key) == "COMPLETED"


async def test_a_task_listener_corrects_who_gets_the_task(stage: Stage):
    @stage.app.job("choose")
    async def choose() -> Correct:
        raise Correct({"assignee": "deputy"}, {"chosen": True})

    await stage.deploy(process("order").start().user("check", listeners={"assigning": "choose"}).end())
    key = await stage.start("order")
    (task,) = await stage.app.user_tasks(process_instance_key=key)
    await stage.app.assign_user_task(task.user_task_key, "boss")
    await stage.app.run_until_idle()
    (task,) = await stage.app.user_tasks(process_instance_key=key)
    assert task.assignee == "deputy"


async def test_only_a_listener_may_deny(stage: Stage):
    @stage.app.job("pay", retries=1)
    async def pay() -> Deny:
        return Deny("no")

    await stage.deploy(process("order").start().service("pay").end())
    key = await stage.start("order")
    (incident,) = await stage.app.incidents(process_instance_key=key)
    assert incident.error_message.endswith("no")


async def test_the_worker_of_an_ad_hoc_sub_process_says_what_starts_and_when_it_is_enough(stage: Stage):
    """As an agent calls its tools: the same one twice, each with its own arguments, until it is content."""
    turns: list[list[int]] = []

    @stage.app.job("agent")
    async def agent(found: list[int] | None = None) -> ActivateElements:
        turns.append(found or [])
        if len(turns) == 1:
            return ActivateElements(("look-up", {"number": 1}), ("look-up", {"number": 2}), variables={"asked": True})
        raise ActivateElements(is_completion_condition_fulfilled=True, is_cancel_remaining_instances=True)

    @stage.app.job("look-up")
    async def look_up(number: int) -> dict[str, int]:
        return {"answer": number * 10}

    collects = '<zeebe:adHoc outputCollection="found" outputElement="=number" /><zeebe:taskDefinition type="agent" />'
    await stage.deploy(process("order").start().ad_hoc("tools", extensions=collects).service("look-up").done().end())
    key = await stage.start("order")
    assert await stage.state(key) == "COMPLETED"
    variables = (await stage.app.instance(key)).variables
    assert variables["asked"] is True
    assert len(turns) >= 2, "asked at the start, and whenever an activity has completed"


async def test_a_worker_that_names_an_unknown_activity_gets_an_incident_and_is_asked_again(stage: Stage):
    known = False

    @stage.app.job("agent", retries=1)
    async def agent() -> ActivateElements:
        return ActivateElements("look-up" if known else "guess")

    tools = process("order").start().ad_hoc("tools", extensions='<zeebe:taskDefinition type="agent" />')
    await stage.deploy(tools.user("look-up").done().end())
    key = await stage.start("order")
    (incident,) = await stage.app.incidents(process_instance_key=key)
    assert "'guess' is not an activity of 'tools'" in incident.error_message
    known = True
    await stage.app.resolve(incident.incident_key)
    await stage.app.run_until_idle()
    assert "look-up" in await stage.active(key)


async def test_only_the_worker_of_an_ad_hoc_sub_process_starts_activities(stage: Stage):
    @stage.app.job("pay", retries=1)
    async def pay() -> ActivateElements:
        return ActivateElements("check")

    await stage.deploy(process("order").start().service("pay").user("check").end())
    key = await stage.start("order")
    (incident,) = await stage.app.incidents(process_instance_key=key)
    assert "starts check" in incident.error_message
