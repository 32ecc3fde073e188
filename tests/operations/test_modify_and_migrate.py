"""Stories of operators who change where an instance stands, let it rest, or let it go on under another version."""

from __future__ import annotations

import pytest

from procession.errors import Conflict, InvalidValue, NotFound
from procession.testing.bpmn import ProcessBuilder, process
from tests.operations.stage import DAY, MINUTE, Stage


def _waiting_for_four(person: str, job: str, message: str, timer: str) -> ProcessBuilder:
    """A process that waits at once for a person, a job, a message and a timer; their elements' ids."""
    model = process("order").start().parallel("fork").user(person, name=person.title()).end()
    model.at("fork").service(job, type="pay").end()
    model.at("fork").receive(message, message="paid", key="=amount").end()
    return model.at("fork").catch(timer, timer="P1D").end()


async def test_a_token_is_moved_and_another_one_put_in_one_step(stage: Stage):
    await stage.deploy(process("order").start().user("check").user("pack").user("send").end())
    key = await stage.start("order")
    await stage.app.modify(key, move={"check": "pack"}, activate={"send": {"note": "by hand"}})
    assert await stage.active(key) == ["pack", "send"]
    assert {task.element_id for task in await stage.app.user_tasks(process_instance_key=key)} == {"pack", "send"}


async def test_what_is_not_active_cannot_be_moved_and_nothing_changes(stage: Stage):
    await stage.deploy(process("order").start().user("check").user("pack").end())
    key = await stage.start("order")
    with pytest.raises(NotFound, match="'pack' is not active"):
        await stage.app.modify(key, move={"pack": "check"}, activate=["pack"])
    with pytest.raises(NotFound, match="nothing to terminate"):
        await stage.app.modify(key, terminate=["pack"])
    assert await stage.active(key) == ["check"]


async def test_an_instance_that_loses_its_last_token_is_over(stage: Stage):
    await stage.deploy(process("order").start().user("check").end())
    key = await stage.start("order")
    await stage.app.modify(key, terminate=["check"])
    assert await stage.state(key) == "TERMINATED"
    assert await stage.app.user_tasks(process_instance_key=key) == []


async def test_jobs_and_timers_of_a_suspended_instance_are_hidden_and_shown_again(stage: Stage):
    runs: list[int] = []

    @stage.app.job("pay", retries=2, backoff="10m")
    async def pay() -> None:
        runs.append(stage.now)
        if len(runs) == 1:
            raise ValueError("no connection")

    await stage.deploy(
        process("order")
        .start()
        .service("pay")
        .boundary("late", on="pay", interrupting=False, timer="P1D")
        .end()
        .at("pay")
        .end()
    )
    key = await stage.start("order")
    await stage.app.suspend(key)
    assert await stage.state(key) == "SUSPENDED"
    assert {job.state for job in await stage.app.jobs(process_instance_key=key)} == {"SUSPENDED"}
    with pytest.raises(Conflict, match="suspended"):
        await stage.app.suspend(key)
    await stage.pass_time(2 * DAY)
    assert len(runs) == 1
    await stage.app.resume(key)
    await stage.pass_time(MINUTE)
    assert len(runs) == 2
    assert await stage.state(key) == "COMPLETED"


async def test_an_instance_goes_on_under_another_version_with_every_row_of_it(stage: Stage):
    @stage.app.job("pay", retries=1)
    async def pay(amount: int) -> None:
        if amount < 0:
            raise ValueError("no amount")

    await stage.deploy(_waiting_for_four("check", "pay", "paid", "wait"))
    key = await stage.start("order", {"amount": -1})
    assert len(await stage.app.incidents(process_instance_key=key)) == 1
    target = await stage.deploy(_waiting_for_four("check-again", "pay-now", "paid-now", "wait-a-day"))
    names = {"check": "check-again", "pay": "pay-now", "paid": "paid-now", "wait": "wait-a-day"}
    assert [each.severity for each in await stage.app.migrate_instance(key, target, names)].count("error") == 0

    details = await stage.app.instance(key)
    assert details.instance.process_definition_key == target
    assert {it.element_id for it in details.elements} == set(names.values())
    assert {job.element_id for job in await stage.app.jobs(process_instance_key=key)} == {"pay-now", "wait-a-day"}
    (task,) = await stage.app.user_tasks(process_instance_key=key)
    assert (task.element_id, task.name) == ("check-again", "Check-Again")
    (incident,) = await stage.app.incidents(process_instance_key=key)
    assert incident.element_id == "pay-now"
    (subscription,) = await stage.app.subscriptions(process_instance_key=key)
    assert subscription.element_id == "paid-now"

    await stage.app.set_variables(key, {"amount": 1})
    await stage.app.resolve(incident.incident_key)
    await stage.app.complete_user_task(task.user_task_key)
    await stage.app.publish("paid", correlation_key="-1")
    await stage.pass_time(DAY)
    assert await stage.state(key) == "COMPLETED"
    told = [event.element_id for event in await stage.app.history(key) if event.event == "activated"]
    assert {"check", "pay", "paid", "wait"} <= set(told)


async def test_a_dry_run_names_every_finding_and_the_migration_changes_nothing(stage: Stage):
    await stage.deploy(process("order").start().parallel("fork").user("check").end().at("fork").user("pack").end())
    key = await stage.start("order")
    target = await stage.deploy(process("order").start().service("check").end())
    found = await stage.app.migrate_instance(key, target, {"nothing": "check"}, dry_run=True)
    errors = [each.element_id for each in found if each.severity == "error"]
    assert sorted(errors) == ["check", "nothing", "pack"]
    with pytest.raises(Conflict, match="'pack' is active"):
        await stage.app.migrate_instance(key, target)
    details = await stage.app.instance(key)
    assert details.instance.process_definition_key != target
    assert await stage.active(key) == ["check", "pack"]
    with pytest.raises(NotFound):
        await stage.app.migrate_instance(key, 1)


async def test_a_suspended_instance_can_be_migrated_and_goes_on_when_it_is_resumed(stage: Stage):
    @stage.app.job("pay")
    async def pay() -> None: ...

    await stage.deploy(process("order").start().user("check").service("pay").end())
    key = await stage.start("order")
    target = await stage.deploy(process("order").start().user("check").service("pay").user("pack").end())
    await stage.app.suspend(key)
    await stage.app.migrate_instance(key, target)
    await stage.app.resume(key)
    (task,) = await stage.app.user_tasks(process_instance_key=key)
    await stage.app.complete_user_task(task.user_task_key)
    await stage.app.run_until_idle()
    assert await stage.active(key) == ["pack"]


async def test_a_business_id_is_given_once_and_what_begins_later_has_it(stage: Stage):
    await stage.deploy(process("order").start().user("check").service("pay").end())
    key = await stage.start("order")
    await stage.app.assign_business_id(key, "A-17")
    await stage.app.assign_business_id(key, "A-17")
    with pytest.raises(Conflict, match="'A-17' already"):
        await stage.app.assign_business_id(key, "A-18")
    with pytest.raises(InvalidValue, match="at least one character"):
        await stage.app.assign_business_id(key, "")
    (row,) = await stage.app.instances(business_id="A-17")
    assert (row.process_instance_key, row.state) == (key, "ACTIVE")
    (task,) = await stage.app.user_tasks(process_instance_key=key)
    await stage.app.complete_user_task(task.user_task_key)
    assert (await stage.app.instance(key)).instance.business_id == "A-17"
