"""Stories of instances that are started anew from what ended ones left."""

from __future__ import annotations

import pytest

from procession import Settings
from procession.engine import History
from procession.errors import Conflict, InvalidValue, NotFound
from procession.testing.bpmn import process
from tests.operations.stage import Stage

ORDER = process("order").start().user("check").user("pack").end("done")
SECOND = 1_000


async def _ended(stage: Stage, variables: dict[str, object] | None = None, business_id: str = "A-17") -> int:
    """An instance that was canceled at "pack"; "check" had added a variable."""
    key = await stage.app.start("order", variables, business_id=business_id, tags=["vip"])
    (task,) = await stage.app.user_tasks(process_instance_key=key)
    await stage.app.complete_user_task(task.user_task_key, {"checked": True, "n": 2})
    await stage.app.cancel(key)
    await stage.app.run_until_idle()
    return key


async def test_a_new_instance_begins_with_the_last_variables(stage: Stage):
    await stage.deploy(ORDER)
    old = await _ended(stage, {"n": 1})
    made = await stage.app.restart(old, before=["pack"])
    found = await stage.app.instance(made.process_instance_key)
    assert found.variables == made.variables == {"n": 2, "checked": True}
    assert (found.instance.business_id, found.instance.tags) == ("A-17", ["vip"])
    assert await stage.active(made.process_instance_key) == ["pack"]
    assert await stage.state(old) == "TERMINATED"


async def test_or_with_those_that_the_old_one_began_with(stage: Stage):
    await stage.deploy(ORDER)
    old = await _ended(stage, {"n": 1, "gone": None})
    made = await stage.app.restart(old, after=["check"], variables="initial", changes={"more": 3}, business_id=False)
    assert made.variables == {"n": 1, "gone": None, "more": 3}
    assert (await stage.app.instance(made.process_instance_key)).instance.business_id == ""
    assert await stage.active(made.process_instance_key) == ["pack"]
    empty = await stage.app.restart(await _ended(stage), before=["check"], variables="initial")
    assert empty.variables == {}
    assert (await stage.app.restart(old, before=["check"], variables="none")).variables == {}


async def test_what_a_start_event_maps_from_its_message_is_among_them(stage: Stage):
    """What a script adds in the same step is not."""
    begins = process("order").start(message="placed", outputs={"amount": "=total * 2"}).script("more", "=1")
    await stage.deploy(begins.user("check").end())
    await stage.app.publish("placed", variables={"total": 4, "secret": 1})
    await stage.app.run_until_idle()
    (old,) = [row.process_instance_key for row in await stage.app.instances()]
    assert (await stage.app.instance(old)).variables == {"amount": 8, "result": 1}
    await stage.app.cancel(old)
    assert (await stage.app.restart(old, before=["check"], variables="initial")).variables == {"amount": 8}


async def test_a_trial_says_what_would_be_and_does_nothing(stage: Stage):
    await stage.deploy(ORDER)
    old = await _ended(stage)
    plan = await stage.app.restart(old, before=["pack"], dry_run=True)
    assert (plan.process_instance_key, plan.from_process_instance_key, plan.before) == (0, old, ["pack"])
    assert len(await stage.app.instances()) == 1


async def test_it_may_be_of_another_version(stage: Stage):
    await stage.deploy(ORDER)
    old = await _ended(stage)
    new = await stage.deploy(process("order").start().user("check").user("send").end())
    with pytest.raises(NotFound, match=r"Process 'order' \(version 1\) has no element 'send'"):
        await stage.app.restart(old, before=["send"])
    made = await stage.app.restart(old, before=["send"], process_definition_key=new)
    assert (made.version, await stage.active(made.process_instance_key)) == (2, ["send"])


async def test_what_cannot_be_is_refused_in_a_trial_too(stage: Stage):
    await stage.deploy(ORDER, process("fork").start().parallel("f").user("a").end().at("f").user("b").end())
    runs = await stage.start("order")
    old = await _ended(stage)
    forked = await stage.start("fork")
    await stage.app.cancel(forked)
    for dry_run in (True, False):
        with pytest.raises(Conflict, match=f"Instance {runs} still runs"):
            await stage.app.restart(runs, before=["pack"], dry_run=dry_run)
        with pytest.raises(Conflict, match="2 flows leave it"):
            await stage.app.restart(forked, after=["f"], dry_run=dry_run)
        with pytest.raises(InvalidValue, match="at least one element"):
            await stage.app.restart(old, dry_run=dry_run)
        with pytest.raises(InvalidValue, match="last, initial, none"):
            await stage.app.restart(old, before=["pack"], variables="first", dry_run=dry_run)
        with pytest.raises(InvalidValue, match="found 'befor'"):
            await stage.app.restart(old, befor=["pack"], dry_run=dry_run)  # pyright: ignore[reportCallIssue]
    await stage.app.delete_instance(old)
    with pytest.raises(NotFound, match="it may have been deleted"):
        await stage.app.restart(old, before=["pack"])


@pytest.mark.parametrize(("level", "why"), [(History.OFF, "was kept off"), (History.ACTIVITY, "level 'activity'")])
async def test_a_history_that_does_not_say_is_refused_and_the_last_variables_do(url: str, level: History, why: str):
    stage = Stage(url)
    stage.app._settings = Settings(history=level)
    try:
        await stage.deploy(ORDER)
        old = await _ended(stage, {"n": 1})
        with pytest.raises(Conflict, match=why):
            await stage.app.restart(old, before=["pack"], variables="initial")
        assert (await stage.app.restart(old, before=["pack"])).variables["checked"] is True
    finally:
        await stage.app.close()


async def test_many_are_started_anew_once_each(stage: Stage):
    """A trial says who would not be; those are errors, which a later batch does again."""
    await stage.deploy(ORDER)
    old = [await _ended(stage, business_id="B" if number else "C") for number in range(4)]
    which = {"process_id": "order"}
    trial = await stage.app.try_batch("restart", which=which, before=["pack"], variables="initial")
    assert (trial.total, trial.tried, trial.errors) == (4, 4, [])
    batch = await stage.app.batch("restart", which=which, before=["pack"])
    for _ in range(5):
        await stage.pass_time(SECOND)
    found = await stage.app.batch_progress(batch)
    assert (found.state, found.total, found.done, found.failed) == ("COMPLETED", 4, 4, 0)
    assert await stage.app.count_instances() == {"ACTIVE": 4, "TERMINATED": 4}
    assert len(await stage.app.instances(state=["TERMINATED", "COMPLETED"])) == len(old)
    assert {row.business_id for row in await stage.app.instances(state="ACTIVE")} == {"B", "C"}
