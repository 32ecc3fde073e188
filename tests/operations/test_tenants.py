"""What is another tenant's is not there: every public look-up and command, with keys of another tenant and of nobody.

The list is checked against the public verbs, so that a new one cannot be forgotten.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from procession import Procession
from procession.core.commands import ResolveIncident, Suspend
from procession.errors import Conflict, InvalidValue, Misconfigured, NotFound
from procession.testing.bpmn import process, resource
from tests.operations.stage import Stage

Keys = dict[str, int]
Verb = Callable[[Procession, Keys], Awaitable[Any]]
FORM = ("f.form", json.dumps({"id": "f", "components": []}).encode())
TABLE = b"""<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="d" name="d" namespace="d">
<decision id="ok" name="ok"><literalExpression id="l"><text>true</text></literalExpression></decision></definitions>"""

BY_KEY: dict[str, Verb] = {
    "instance": lambda app, of: app.instance(of["instance"]),
    "stored_instance": lambda app, of: app.stored_instance(of["instance"]),
    "compiled": lambda app, of: app.compiled(of["target"]),
    "start_version": lambda app, of: app.start_version(of["target"]),
    "command": lambda app, of: app.command(of["instance"], Suspend()),
    "command_for": lambda app, of: app.command_for("incident", of["incident"], ResolveIncident(of["incident"], 1)),
    "history": lambda app, of: app.history(of["instance"]),
    "wait": lambda app, of: app.wait(of["ended"], timeout=5),
    "cancel": lambda app, of: app.cancel(of["instance"]),
    "set_variables": lambda app, of: app.set_variables(of["instance"], {"x": 2}),
    "modify": lambda app, of: app.modify(of["instance"], activate=["check"]),
    "modify, terminate": lambda app, of: app.modify(of["instance"], activate=["check"], terminate=["check"]),
    "assign_business_id": lambda app, of: app.assign_business_id(of["instance"], "A-17"),
    "suspend": lambda app, of: app.suspend(of["instance"]),
    "resume": lambda app, of: app.resume(of["resting"]),
    "migrate_instance": lambda app, of: app.migrate_instance(of["instance"], of["target"]),
    "migrate_instance, dry_run": lambda app, of: app.migrate_instance(of["instance"], of["target"], dry_run=True),
    "restart": lambda app, of: app.restart(of["ended"], before=["check"]),
    "restart, dry_run": lambda app, of: app.restart(of["ended"], before=["check"], dry_run=True),
    "delete_instance": lambda app, of: app.delete_instance(of["ended"]),
    "definition_xml": lambda app, of: app.definition_xml(of["target"]),
    "delete_definition": lambda app, of: app.delete_definition(of["unused"]),
    "start_form": lambda app, of: app.start_form(of["target"]),
    "decision_xml": lambda app, of: app.decision_xml(of["decision"]),
    "form": lambda app, of: app.form(of["form"]),
    "form_file": lambda app, of: app.form_file(of["form"]),
    "delete_form": lambda app, of: app.delete_form(of["form"]),
    "user_task": lambda app, of: app.user_task(of["task"]),
    "user_task_form": lambda app, of: app.user_task_form(of["task"]),
    "claim_user_task": lambda app, of: app.claim_user_task(of["task"], "ada"),
    "unclaim_user_task": lambda app, of: app.unclaim_user_task(of["task"]),
    "assign_user_task": lambda app, of: app.assign_user_task(of["task"], "ada"),
    "update_user_task": lambda app, of: app.update_user_task(of["task"], priority=1),
    "complete_user_task": lambda app, of: app.complete_user_task(of["task"]),
    "resolve": lambda app, of: app.resolve(of["incident"]),
    "stored_job": lambda app, of: app.stored_job(of["job"]),
    "complete_job": lambda app, of: app.complete_job(of["job"]),
    "put_completion": lambda app, of: app.put_completion(of["shop"], of["job"], None),
    "fail_job": lambda app, of: app.fail_job(of["job"], retries=0),
    "fail_job, retries": lambda app, of: app.fail_job(of["job"], retries=2, variables={"y": 1}),
    "throw_error": lambda app, of: app.throw_error(of["job"], "E"),
    "job_in_full": lambda app, of: app.job_in_full(of["job"]),
    "job_attempts": lambda app, of: app.job_attempts(of["job"]),
    "flow": lambda app, of: app.flow(of["job"]),
    "change_job": lambda app, of: app.change_job(of["job"], priority=3),
    "update_job": lambda app, of: app.update_job(of["job"], priority=3),
    "batch_progress": lambda app, of: app.batch_progress(of["batch"]),
    "batch_errors": lambda app, of: app.batch_errors(of["batch"]),
    "cancel_batch": lambda app, of: app.cancel_batch(of["batch"]),
    "suspend_batch": lambda app, of: app.suspend_batch(of["batch"]),
    "resume_batch": lambda app, of: app.resume_batch(of["batch"]),
    "update_jobs": lambda app, of: app.update_jobs([of["job"]], priority=3),
    "retry_batch": lambda app, of: app.retry_batch(of["over"]),
    "batch, migrate": lambda app, of: app.batch("migrate", target_process_definition_key=of["target"]),
    "try_batch, migrate": lambda app, of: app.try_batch("migrate", target_process_definition_key=of["target"]),
    "batch, restart": lambda app, of: app.batch("restart", before=["a"], process_definition_key=of["target"]),
}
LISTINGS: dict[str, Verb] = {
    "definitions": lambda app, of: app.definitions(),
    "decisions": lambda app, of: app.decisions(),
    "forms": lambda app, of: app.forms(),
    "instances": lambda app, of: app.instances(),
    "count_instances": lambda app, of: app.count_instances(),
    "count_instances, process_id": lambda app, of: app.count_instances("order"),
    "jobs": lambda app, of: app.jobs(),
    "count_jobs": lambda app, of: app.count_jobs(),
    "incidents": lambda app, of: app.incidents(),
    "incidents, instance": lambda app, of: app.incidents(process_instance_key=of["broken"]),
    "user_tasks": lambda app, of: app.user_tasks(),
    "user_tasks, instance": lambda app, of: app.user_tasks(process_instance_key=of["instance"]),
    "messages": lambda app, of: app.messages(),
    "subscriptions": lambda app, of: app.subscriptions(),
    "subscriptions, instance": lambda app, of: app.subscriptions(process_instance_key=of["waiting"]),
    "batches": lambda app, of: app.batches(),
}
APART = {
    "deploy": "the tenant's own",
    "start": "the tenant's own",
    "prepare_start": "the tenant's own",
    "start_by_conditions": "the tenant's own",
    "publish": "within the tenant",
    "broadcast": "within the tenant",
    "batch": "above, by its options",
    "try_batch": "above, by its options",
    "retry_job": "below: it takes what failed for good",
    "return_jobs": "what was taken here",
    "activate_jobs": "of the tenant; with the remote workers",
    "correlate": "within the tenant",
    "stored_definition": "by name, within the tenant",
    "latest_key": "by name, within the tenant",
    "past": "of a row",
    "state_of": "of a row",
    "evaluate": "of a row",
    "new_key": "of nothing yet",
    "nodes": "the machine's processes, of no tenant",
    "enqueue": "the tenant's own",
    "enqueue_many": "the tenant's own",
    "prepare_enqueue": "the tenant's own",
    "prepare_jobs": "the tenant's own",
    "enqueue_flow": "the tenant's own",
    "prepare_flow": "the tenant's own",
    "around_enqueue": "of the application",
    "around_run": "of the application",
    "work_on": "of the application",
    "open_batch": "the tenant's own; in tests/app/test_flows.py",
    "seal_batch": "in tests/app/test_flows.py",
    "job_batch": "in tests/app/test_flows.py",
    "job_batches": "in tests/app/test_flows.py",
    "flows": "in tests/app/test_flows.py",
    "requeue": "in tests/app/test_queues.py",
    "delete_job": "in tests/app/test_queues.py",
    "put_recurring": "the tenant's own, by name",
    "recurring_jobs": "the tenant's own; in tests/app/test_recurring.py",
    "recurring_job": "by name, within the tenant",
    "pause_recurring": "by name, within the tenant",
    "resume_recurring": "by name, within the tenant",
    "trigger_recurring": "by name, within the tenant",
    "remove_recurring": "by name, within the tenant",
    "queues": "of the cluster, shared by tenants",
    "pause_queue": "of the cluster, shared by tenants",
    "resume_queue": "of the cluster, shared by tenants",
    "pause_type": "of the cluster, shared by tenants",
    "resume_type": "of the cluster, shared by tenants",
    "limits": "of the cluster, shared by tenants",
    "set_limit": "of the cluster, shared by tenants",
    "sweep": "of the cluster",
    "job_record": "in tests/app/test_queues.py",
    "job_records": "in tests/app/test_queues.py",
    "job_log": "in tests/app/test_queues.py",
    "delete_jobs": "in tests/app/test_queues.py",
    "requeue_jobs": "in tests/app/test_queues.py",
    "find_jobs": "in tests/app/test_administration.py",
    "count_matching_jobs": "in tests/app/test_administration.py",
    "change_jobs": "in tests/app/test_administration.py",
    "bulk_page": "in tests/app/test_administration.py",
    "cancel_job_batch": "it begins with seal_batch, and goes on with bulk_page",
    "recurring_history": "by name, within the tenant",
    "next_runs": "by name, within the tenant",
    "keep_finished": "of the cluster, shared by tenants",
    "queue_standings": "of the cluster, shared by tenants",
    "paused_types": "of the cluster, shared by tenants",
    "job_series": "of the cluster, shared by tenants",
    "count_limits": "of the cluster, shared by tenants",
    "delete_limit": "of the cluster, shared by tenants",
    "workers": "the machine's processes, of no tenant; of what they run, the tenant's own",
    "vital": "of the application",
    "at_edge": "of the application",
    "for_tenant": "below",
}
LIFE = {"open", "close", "run", "run_until_idle", "migrate", "schema_version", "use", "using", "forget"}
LIFE |= {"execute_on", "expect_commit", "method", "job"}


async def _filled(stage: Stage) -> Keys:
    """One of everything, of tenant "theirs"."""
    await stage.open()
    theirs = stage.app.for_tenant("theirs")
    order = process("order").start().user("check", form_id="f").end()
    pay = process("shop").start().service("pay", retries=1).end()
    waits = process("waits").start().catch("letter", message="paid", key='="A"').end()
    broken = process("broken").start().user("check", form_id="=missing").end()
    model = resource(order, pay, waits, broken)
    (target, *_) = await theirs.deploy(("p.bpmn", model), ("d.dmn", TABLE), FORM)
    unused = (await theirs.deploy(("u.bpmn", process("unused").start().user("a").end().xml())))[0]
    instance, resting, ended = [await theirs.start("order", {"x": 1}) for _ in range(3)]
    shop, waiting, stuck = [await theirs.start(name) for name in ("shop", "waits", "broken")]
    await stage.app.run_until_idle()
    await theirs.suspend(resting)
    await theirs.cancel(ended)
    await theirs.publish("nobody", ttl="1h")
    over = await theirs.batch("resolve", which={"process_id": "broken"})
    for _ in range(3):
        await stage.pass_time(1_000)
    batch = await theirs.batch("cancel", which={"business_id": "none"})
    second = await theirs.deploy(("p2.bpmn", process("order").start().user("check").user("more").end().xml()))
    return {
        "instance": instance,
        "resting": resting,
        "shop": shop,
        "ended": ended,
        "waiting": waiting,
        "broken": stuck,
        "target": second[0].process_definition_key,
        "old": target.process_definition_key,
        "unused": unused.process_definition_key,
        "decision": (await theirs.decisions())[0].decision_definition_key,
        "form": (await theirs.forms())[0].form_key,
        "task": (await theirs.user_tasks(process_instance_key=instance))[0].user_task_key,
        "incident": (await theirs.incidents(process_instance_key=stuck))[0].incident_key,
        "job": (await theirs.jobs(process_instance_key=shop))[0].job_key,
        "batch": batch,
        "over": over,
    }


async def _said(verb: Verb, app: Procession, keys: Keys) -> str:
    """What a refused verb says, with the key that it names as an X."""
    with pytest.raises(NotFound) as refused:
        await verb(app, keys)
    text = str(refused.value)
    for key in keys.values():
        text = text.replace(str(key), "X")
    return text


async def test_what_is_anothers_is_not_there(stage: Stage):
    """Scenario 124: another's key says what a key of nothing says; nothing changes, and the owner still may."""
    theirs = await _filled(stage)
    ours = stage.app.for_tenant("ours")
    before = await _everything(stage)
    nothing = {name: 2**61 + number for number, name in enumerate(theirs)}
    for name, verb in BY_KEY.items():
        assert await _said(verb, ours, theirs) == await _said(verb, ours, nothing), name
        assert await _everything(stage) == before, name
    for name, verb in LISTINGS.items():
        assert not await verb(ours, theirs), name
        assert await _everything(stage) == before, name


@pytest.mark.parametrize("name", [*BY_KEY, *LISTINGS])
async def test_the_owner_may(name: str):
    """On the memory store: the keys above are such that the verb has something to do."""
    stage = Stage("memory://")
    keys = await _filled(stage)
    owner = stage.app.for_tenant("theirs")
    with suppress(Conflict):  # it is there, and is not as the verb wants it
        answer = await (BY_KEY | LISTINGS)[name](owner, keys)
        assert answer or name in BY_KEY
    await stage.app.close()


async def _everything(stage: Stage) -> object:
    """What there is, of anybody."""
    app = stage.app
    instances = await app.instances()
    return (
        instances,
        [(await app.instance(row.process_instance_key)).variables for row in instances],
        await app.user_tasks(),
        await app.incidents(),
        [(job.job_key, job.state, job.retries, job.priority) for job in await app.jobs() if job.kind != "FOLLOW_UP"],
        [(row.batch_key, row.retry_of) for row in await app.batches()],
        await app.definitions(),
        await app.forms(),
    )


def test_no_verb_is_forgotten():
    verbs = {name for name, _ in inspect.getmembers(Procession, inspect.isfunction) if not name.startswith("_")}
    listed = {name.partition(",")[0] for name in (*BY_KEY, *LISTINGS)} | set(APART) | LIFE
    assert verbs <= listed, f"say in this file what a tenant may do with {verbs - listed}"


async def test_a_failed_follow_up_of_another_is_not_there_either(stage: Stage):
    await _filled(stage)
    ours = stage.app.for_tenant("ours")
    for job in await stage.app.jobs():
        with pytest.raises(NotFound, match=f"Expected a job with key {job.job_key}"):
            await ours.retry_job(job.job_key)


async def test_messages_and_starts_stay_within_a_tenant(stage: Stage):
    """Scenario 124."""
    keys = await _filled(stage)
    ours = stage.app.for_tenant("ours")
    assert not (await ours.publish("paid", correlation_key="A")).process_instance_keys
    with pytest.raises(NotFound):
        await ours.start("order")
    found = await stage.app.for_tenant("theirs").publish("paid", correlation_key="A")
    assert found.process_instance_keys == [keys["waiting"]]


async def test_a_view_is_open_while_the_whole_is(stage: Stage):
    view = stage.app.for_tenant("ours")
    with pytest.raises(Misconfigured, match="Open it first"):
        await view.instances()
    with pytest.raises(Misconfigured, match="one tenant's view"):
        await view.open()
    with pytest.raises(Misconfigured, match="one tenant's view"):
        view.use("memory://")
    await stage.open()
    await view.close()
    assert await view.instances() == []
    with pytest.raises(Misconfigured, match="one of tenant 'ours'"):
        view.for_tenant("theirs")
    with pytest.raises(InvalidValue, match="tenant_id"):
        stage.app.for_tenant("")


def test_the_synchronous_face_has_views_too():
    app = Procession("memory://")
    with app.sync as face:
        model = process("order").start().user("check").end().xml()
        face.for_tenant("theirs").deploy(("p.bpmn", model))
        key = face.for_tenant("theirs").start("order")
        assert [row.tenant_id for row in face.instances()] == ["theirs"]
        assert face.for_tenant("ours").instances() == []
        with pytest.raises(NotFound):
            face.for_tenant("ours").cancel(key)
