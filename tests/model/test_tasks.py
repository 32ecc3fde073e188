"""Who does a task's work, and how: native elements and both vendors' notations."""

from __future__ import annotations

import pytest

from procession.model.definition import Work
from procession.model.expressions import Static
from procession.testing.bpmn import process as build
from tests.model.models import around, codes, compiled, findings, process


def element(xml: str, roots: str = "", **options):
    """The element ``x`` of a process around it."""
    return compiled(around(xml, roots), **options).element("x")


def extended(tag: str, extensions: str, attributes: str = "") -> str:
    """An element ``x`` with extension elements."""
    return f'<{tag} id="x" {attributes}><extensionElements>{extensions}</extensionElements></{tag}>'


# -- jobs and methods -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tag", ["serviceTask", "sendTask", "businessRuleTask", "scriptTask"])
def test_a_task_definition_makes_a_job(tag: str):
    found = element(extended(tag, '<zeebe:taskDefinition type="charge" retries="5"/>'))
    assert (found.work, found.job.type.text, found.job.retries.evaluate({})) == (Work.JOB, "charge", 5)


def test_type_retries_and_priority_may_be_expressions():
    found = element(
        extended(
            "serviceTask",
            '<zeebe:taskDefinition type="=&quot;charge-&quot; + region" retries="=attempts"/>'
            '<zeebe:jobPriorityDefinition priority="=urgency * 10"/>'
            '<zeebe:taskHeaders><zeebe:header key="a" value="1"/><zeebe:header key="b"/></zeebe:taskHeaders>',
        )
    )
    assert found.job.type.evaluate({"region": "eu"}) == "charge-eu"
    assert found.job.retries.evaluate({"attempts": 7}) == 7
    assert found.job.priority.evaluate({"urgency": 4}) == 40
    assert found.job.headers == (("a", "1"), ("b", ""))


def test_retries_are_three_unless_the_model_says_otherwise():
    assert element(extended("serviceTask", '<zeebe:taskDefinition type="a"/>')).job.retries.evaluate({}) == 3


def test_a_job_type_must_not_be_empty():
    assert codes(around(extended("serviceTask", '<zeebe:taskDefinition type=" "/>'))) == ["MISSING_JOB_TYPE"]


def test_a_plain_task_passes_unless_a_method_is_bound_to_it():
    assert element('<task id="x"/>').work == Work.NONE
    bound = element('<task id="x"/>', methods=["x"])
    assert (bound.work, bound.work_name) == (Work.METHOD, "x")
    named = element(extended("task", '<zeebe:taskDefinition type="price"/>'))
    assert (named.work, named.work_name) == (Work.METHOD, "price")
    assert element('<manualTask id="x"/>', methods=["x"]).work == Work.NONE


def test_a_methods_name_cannot_be_an_expression():
    assert codes(around(extended("task", '<zeebe:taskDefinition type="=a"/>'))) == ["METHOD_NOT_LITERAL"]


@pytest.mark.parametrize("tag", ["serviceTask", "sendTask", "businessRuleTask"])
def test_a_task_without_a_definition_is_refused_unless_a_method_is_bound_to_it(tag: str):
    content = around(f'<{tag} id="x"/>')
    (problem,) = findings(content)
    assert (problem.code, problem.line, problem.element_id) == ("MISSING_TASK_DEFINITION", 4, "x")
    assert problem.suggestion
    assert compiled(content, methods=["x"]).element("x").work == Work.METHOD
    assert compiled(content, lenient=True).element("x").job.type.text == "x"


def test_a_send_task_with_a_message_is_done_by_the_engine():
    found = element('<sendTask id="x" messageRef="m"/>', '<message id="m" name="paid"/>')
    assert (found.work, found.events[0].name.text) == (Work.CONNECTOR_MESSAGE, "paid")


def test_a_receive_task_waits_for_its_message():
    found = compiled(build("p").start().receive("r", message="paid", key="=id").end()).element("r")
    assert (found.work, found.events[0].name.text) == (Work.MESSAGE, "paid")
    assert codes(around('<receiveTask id="x"/>')) == ["MISSING_MESSAGE"]


# -- scripts and decisions --------------------------------------------------------------------------------------------


def test_a_script_is_evaluated_into_its_variable():
    found = compiled(build("p").start().script("x", "a + 1", result="b").end()).element("x")
    assert (found.work, found.script.result_variable) == (Work.SCRIPT, "b")
    assert found.script.expression.evaluate({"a": 1}) == 2


@pytest.mark.parametrize(
    ("body", "attributes"),
    [
        ("a + 1", ""),
        ("= a + 1", ""),
        ("a + 1", 'scriptFormat="feel"'),
        ("${a + 1}", ""),
        ("${a + 1}", 'scriptFormat="juel"'),
    ],
)
def test_a_script_body_may_be_feel_or_juel(body: str, attributes: str):
    found = element(f'<scriptTask id="x" {attributes} camunda:resultVariable="b"><script>{body}</script></scriptTask>')
    assert found.script.expression.evaluate({"a": 1}) == 2
    assert found.script.result_variable == "b"


@pytest.mark.parametrize("language", ["javascript", "groovy", "python", "text/x-ruby"])
def test_a_script_in_a_foreign_language_is_refused_by_name(language: str):
    content = around(f'<scriptTask id="x" scriptFormat="{language}"><script>x = 1</script></scriptTask>')
    (problem,) = findings(content)
    assert problem.code == "SCRIPT_NOT_SUPPORTED"
    assert language in problem.message
    assert compiled(content, methods=["x"]).element("x").work == Work.METHOD
    assert compiled(content, lenient=True).element("x").work == Work.JOB


def test_a_script_task_without_a_script_is_refused():
    assert codes(around('<scriptTask id="x"/>')) == ["MISSING_SCRIPT"]
    outside = '<scriptTask id="x" camunda:resource="a.js" scriptFormat="javascript"/>'
    assert codes(around(outside)) == ["SCRIPT_NOT_SUPPORTED"]


def test_a_decision_is_called_by_id_and_binding():
    called = '<zeebe:calledDecision decisionId="=which" resultVariable="r" bindingType="versionTag" versionTag="v1"/>'
    found = element(extended("businessRuleTask", called))
    assert found.work == Work.DECISION
    assert found.decision.decision_id.evaluate({"which": "d"}) == "d"
    assert (found.decision.result_variable, found.decision.binding, found.decision.version_tag) == (
        "r",
        "versionTag",
        "v1",
    )
    seven = element(
        '<businessRuleTask id="x" camunda:decisionRef="d" camunda:resultVariable="r" '
        'camunda:mapDecisionResult="singleEntry" camunda:decisionRefBinding="version" camunda:decisionRefVersion="3"/>'
    )
    assert (seven.decision.map_result, seven.decision.version, seven.decision.binding) == ("singleEntry", 3, "version")


@pytest.mark.parametrize(
    ("xml", "code"),
    [
        (extended("businessRuleTask", '<zeebe:calledDecision decisionId="d"/>'), "MISSING_DECISION"),
        (
            extended("businessRuleTask", '<zeebe:calledDecision decisionId="d" resultVariable="r" bindingType="x"/>'),
            "INVALID_BINDING",
        ),
        (extended("callActivity", '<zeebe:calledElement processId="d" bindingType="versionTag"/>'), "INVALID_BINDING"),
        (extended("callActivity", "<zeebe:calledElement/>"), "MISSING_CALLED_ELEMENT"),
        ('<callActivity id="x"/>', "MISSING_CALLED_ELEMENT"),
        ('<callActivity id="x" calledElement="a" camunda:calledElementBinding="version"/>', "INVALID_BINDING"),
        ('<callActivity id="x" calledElement="a" camunda:caseRef="c"/>', "UNSUPPORTED_EXTENSION"),
        ('<businessRuleTask id="x" camunda:decisionRef="d" camunda:mapDecisionResult="all"/>', "INVALID_ATTRIBUTE"),
    ],
)
def test_a_call_without_what_it_needs_is_refused(xml: str, code: str):
    assert codes(around(xml)) == [code]


# -- call activities --------------------------------------------------------------------------------------------------


def test_a_call_passes_everything_unless_told_otherwise():
    definition = compiled(
        build("p").start().call("a", process="callee").call("b", process="=which", propagate_child=False).end()
    )
    first, second = definition.element("a").call, definition.element("b").call
    assert (first.process_id.evaluate({}), first.propagate_parent, first.propagate_child) == ("callee", True, True)
    assert second.process_id.evaluate({"which": "other"}) == "other"
    assert (second.propagate_parent, second.propagate_child) == (True, False)


def test_a_call_in_plain_bpmn_passes_everything_and_one_of_camunda_7_what_it_names():
    plain = element('<callActivity id="x" calledElement="callee"/>').call
    assert (plain.propagate_parent, plain.propagate_child) == (True, True)
    seven = element(
        '<callActivity id="x" calledElement="${which}" camunda:calledElementBinding="deployment"><extensionElements>'
        '<camunda:in source="a" target="b"/><camunda:in sourceExpression="${a + 1}" target="c"/>'
        '<camunda:in businessKey="#{execution.processBusinessKey}"/><camunda:out variables="all"/>'
        "</extensionElements></callActivity>"
    ).call
    assert (seven.propagate_parent, seven.propagate_child, seven.binding) == (False, True, "deployment")
    assert [(m.target, m.source.evaluate({"a": 1})) for m in seven.inputs] == [(("b",), 1), (("c",), 2)]
    assert seven.process_id.evaluate({"which": "w"}) == "w"
    assert seven.business_id is not None


# -- people -----------------------------------------------------------------------------------------------------------


def test_a_user_task_of_camunda_8():
    found = element(
        extended(
            "userTask",
            '<zeebe:userTask/><zeebe:assignmentDefinition assignee="=who" candidateGroups="sales, support"/>'
            '<zeebe:taskSchedule dueDate="2030-01-01T00:00:00Z" followUpDate="=later"/>'
            '<zeebe:priorityDefinition priority="70"/>'
            '<zeebe:formDefinition formId="f" bindingType="versionTag" versionTag="v"/>',
        )
    )
    task = found.user_task
    assert found.work == Work.USER
    assert task.assignee.evaluate({"who": "ada"}) == "ada"
    assert isinstance(task.candidate_groups, Static)
    assert (task.candidate_groups.text, task.due_date.text, task.priority.text) == (
        "sales, support",
        "2030-01-01T00:00:00Z",
        "70",
    )
    assert (task.form_id.text, task.form_binding, task.form_version_tag) == ("f", "versionTag", "v")
    assert task.follow_up_date.names == {"later"}


def test_a_user_task_of_camunda_7():
    task = element(
        '<userTask id="x" camunda:assignee="${who}" camunda:candidateUsers="a,b" camunda:dueDate="2030-01-01" '
        'camunda:priority="80" camunda:formKey="embedded:app:form.html"/>'
    ).user_task
    assert task.assignee.evaluate({"who": "ada"}) == "ada"
    assert (task.candidate_users.text, task.priority.evaluate({}), task.form_key.text) == (
        "a,b",
        80,
        "embedded:app:form.html",
    )


def test_a_user_task_with_bpmns_own_roles():
    role = "<resourceAssignmentExpression><formalExpression>{0}</formalExpression></resourceAssignmentExpression>"
    task = element(
        f'<userTask id="x"><humanPerformer>{role.format("ada")}</humanPerformer>'
        f"<potentialOwner>{role.format('user(bob), group(sales), support')}</potentialOwner></userTask>"
    ).user_task
    assert (task.assignee.text, task.candidate_users.text, task.candidate_groups.text) == (
        "ada",
        "bob",
        "sales,support",
    )


def test_forms_within_the_process_are_kept():
    content = process(
        '<extensionElements><zeebe:versionTag value="v2"/>',
        '<zeebe:userTaskForm id="f1">{"a": 1}</zeebe:userTaskForm></extensionElements>',
        '<startEvent id="s"/>',
    )
    definition = compiled(content)
    assert (definition.version_tag, definition.forms) == ("v2", (("f1", '{"a": 1}'),))


def test_the_process_may_name_the_priority_of_its_jobs():
    own = '<zeebe:taskDefinition type="t"/><zeebe:jobPriorityDefinition priority="7"/>'
    assert element(extended("serviceTask", own)).job.priority.text == "7"
    without = extended("serviceTask", '<zeebe:taskDefinition type="t"/>')
    on_process = '<extensionElements><zeebe:jobPriorityDefinition priority="=urgency"/></extensionElements>'
    content = around(without).replace(b'<startEvent id="start"/>', on_process.encode() + b'<startEvent id="start"/>')
    assert compiled(content).element("x").job.priority.names == {"urgency"}
    topic = around('<serviceTask id="x" camunda:type="external" camunda:topic="t"/>')
    content = topic.replace(b'isExecutable="true"', b'isExecutable="true" camunda:taskPriority="30"')
    assert compiled(content).element("x").job.priority.evaluate({}) == "30"
