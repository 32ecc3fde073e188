"""Stories of forms: deployed and versioned like processes, found by their bindings, embedded, deleted."""

from __future__ import annotations

import json

import pytest

from procession.errors import InvalidModel, NotFound
from procession.testing.bpmn import process, resource
from tests.operations.stage import MINUTE, Stage

ORDER = process("order").start().user("approve", form_id="approval").end()


def form_file(form_id: str = "approval", label: str = "Amount", **more: object) -> tuple[str, bytes]:
    """A file as a modeler writes it."""
    content = {"id": form_id, "type": "default", "components": [{"type": "number", "label": label}], **more}
    return f"{form_id}.form", json.dumps(content).encode()


async def deploy(stage: Stage, *files: tuple[str, bytes]) -> list[int]:
    """The keys of the forms."""
    if not stage.is_open:
        await stage.open()
    return [form.form_key for form in (await stage.app.deploy(*files)).forms]


async def _bound(stage: Stage, binding: str) -> str:
    """The form key of a user task that names its form with this binding."""
    definition = f'<zeebe:userTask /><zeebe:formDefinition formId="approval" {binding} />'
    await stage.deploy(process("order").start().user("approve", extensions=definition).end())
    key = await stage.start("order")
    tasks = await stage.app.user_tasks(process_instance_key=key)
    return tasks[0].form_key if tasks else (await stage.app.incidents(process_instance_key=key))[0].error_type


async def test_a_user_task_shows_the_latest_form_of_the_moment_it_was_created(stage: Stage):
    (first,) = await deploy(stage, form_file())
    await stage.deploy(ORDER)
    old = await stage.start("order")
    (second,) = await deploy(stage, form_file(label="Sum"))
    new = await stage.start("order")
    shown = [(await stage.app.user_tasks(process_instance_key=key))[0] for key in (old, new)]
    assert [task.form_key for task in shown] == [str(first), str(second)]
    found = await stage.app.user_task_form(shown[0].user_task_key)
    assert found is not None
    assert (found.form_id, found.version, found.form_schema["components"][0]["label"]) == ("approval", 1, "Amount")


async def test_the_same_bytes_make_no_new_version(stage: Stage):
    first = await deploy(stage, form_file())
    assert await deploy(stage, form_file()) == first
    await deploy(stage, form_file(label="Sum", versionTag="spring"))
    await deploy(stage, form_file("other"))
    listed = [(form.form_id, form.version, form.version_tag) for form in await stage.app.forms()]
    assert listed == [("approval", 2, "spring"), ("approval", 1, ""), ("other", 1, "")]
    assert [form.version for form in await stage.app.forms("approval")] == [2, 1]
    assert await stage.app.form_file(first[0]) == form_file()[1]


async def test_a_form_is_bound_by_version_tag(stage: Stage):
    (tagged,) = await deploy(stage, form_file(versionTag="spring"))
    await deploy(stage, form_file(label="Sum"))
    assert await _bound(stage, 'bindingType="versionTag" versionTag="spring"') == str(tagged)
    assert await _bound(stage, 'bindingType="versionTag" versionTag="autumn"') == "FORM_NOT_FOUND"


async def test_a_form_is_bound_by_the_deployment_of_the_process(stage: Stage):
    definition = '<zeebe:userTask /><zeebe:formDefinition formId="approval" bindingType="deployment" />'
    model = resource(process("order").start().user("approve", extensions=definition).end())
    (with_it,) = await deploy(stage, ("order.bpmn", model), form_file())
    await deploy(stage, form_file(label="Sum"))
    await stage.start("order")
    assert [task.form_key for task in await stage.app.user_tasks()] == [str(with_it)]


async def test_a_form_may_be_named_by_an_expression(stage: Stage):
    (key,) = await deploy(stage, form_file())
    await stage.deploy(process("order").start().user("approve", form_id="=kind").end())
    await stage.start("order", {"kind": "approval"})
    assert [task.form_key for task in await stage.app.user_tasks()] == [str(key)]


async def test_a_missing_form_is_an_incident_that_a_deployment_lets_resolve(stage: Stage):
    await stage.deploy(ORDER)
    key = await stage.start("order")
    (incident,) = await stage.app.incidents()
    assert incident.error_type == "FORM_NOT_FOUND"
    assert "Expected form 'approval' to be deployed, found none; 'approve' (line" in incident.error_message
    (form,) = await deploy(stage, form_file())
    await stage.app.resolve(incident.incident_key)
    assert [task.form_key for task in await stage.app.user_tasks(process_instance_key=key)] == [str(form)]


async def test_what_is_no_form_is_refused_with_its_name(stage: Stage):
    await stage.open()
    for content, why in (
        (b"<form/>", "expected a form as JSON"),
        (b"[]", "expected a form as JSON"),
        (b'{"components": []}', "expected a form to have an id"),
        (b'{"id": "x"}', "expected form 'x' to have components"),
        (b'{"id": "\\u0000", "components": []}', "expected a form id of at most"),
    ):
        with pytest.raises(InvalidModel, match=why) as refused:
            await stage.app.deploy(("x.form", content))
        assert refused.value.name == "x.form"
    with pytest.raises(InvalidModel, match=r"form 'approval' stands in 'approval.form' too"):
        await stage.app.deploy(form_file(), ("other.form", form_file(label="Sum")[1]))
    assert await stage.app.forms() == []


async def test_an_embedded_form_is_shown_from_its_process(stage: Stage):
    schema = json.dumps({"id": "inner", "components": []}).replace('"', "&quot;")
    form = f'<zeebe:userTaskForm id="inner">{schema}</zeebe:userTaskForm>'
    task = '<zeebe:userTask /><zeebe:formDefinition formKey="camunda-forms:bpmn:inner" />'
    model = process("order").start().user("approve", extensions=task).end()
    model.node.extend(form)
    key = await stage.deploy(model)
    await stage.start("order")
    (open_task,) = await stage.app.user_tasks()
    assert (open_task.form_key, open_task.external_form_reference) == ("camunda-forms:bpmn:inner", "")
    found = await stage.app.user_task_form(open_task.user_task_key)
    assert found is not None
    assert (found.form_key, found.form_id, found.form_schema) == (0, "inner", {"id": "inner", "components": []})
    assert await stage.app.start_form(key) is None


async def test_a_reference_that_only_others_know_is_handed_on(stage: Stage):
    task = '<zeebe:userTask /><zeebe:formDefinition externalReference="https://forms.example/7" />'
    await stage.deploy(process("order").start().user("new", extensions=task).end())
    old = process("old").start().user("approve", attributes={"camunda:formKey": "embedded:app:approve.html"}).end()
    await stage.app.deploy(("old.bpmn", old.xml().replace(b"<zeebe:userTask />", b"")))
    await stage.start("order")
    await stage.start("old")
    tasks = await stage.app.user_tasks()
    assert [task.external_form_reference for task in tasks] == ["https://forms.example/7", "embedded:app:approve.html"]
    assert [await stage.app.user_task_form(task.user_task_key) for task in tasks] == [None, None]


async def test_the_start_of_a_process_may_show_a_form(stage: Stage):
    (form,) = await deploy(stage, form_file())
    shows = '<zeebe:formDefinition formId="approval" />'
    key = await stage.deploy(process("order").start(extensions=shows).user("check").end())
    found = await stage.app.start_form(key)
    assert found is not None
    assert found.form_key == form


async def test_a_deleted_form_is_gone_for_those_who_show_it(stage: Stage):
    """The version before is the latest then."""
    (first,) = await deploy(stage, form_file())
    (second,) = await deploy(stage, form_file(label="Sum"))
    await stage.deploy(ORDER)
    await stage.start("order")
    (task,) = await stage.app.user_tasks()
    await stage.app.delete_form(second)
    assert await stage.app.user_task_form(task.user_task_key) is None
    with pytest.raises(NotFound):
        await stage.app.form(second)
    with pytest.raises(NotFound):
        await stage.app.delete_form(second)
    await stage.pass_time(MINUTE)
    later = await stage.start("order")
    assert (await stage.app.user_tasks(process_instance_key=later))[0].form_key == str(first)
