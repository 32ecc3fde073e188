"""Stories of listeners whose jobs are done by handlers: they hold an element up, deny a change, correct a user task."""

from __future__ import annotations

from procession import Correct, Deny, Job
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
