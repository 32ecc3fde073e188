"""Events: what each trigger is read as, by position, reference and notation."""

from __future__ import annotations

import pytest

from procession.model.definition import Kind, TimerKind, Trigger, Work
from procession.testing.bpmn import process as build
from tests.model.models import around, codes, compiled, findings, process

CATCH = '<intermediateCatchEvent id="x">{0}</intermediateCatchEvent>'
THROW = '<intermediateThrowEvent id="x">{0}</intermediateThrowEvent>'


def event(definition: str, roots: str = "", template: str = CATCH, **options):
    """The only event definition of ``x``."""
    (found,) = compiled(around(template.format(definition), roots), **options).element("x").events
    return found


def test_a_message_has_a_name_and_a_correlation_key():
    element = compiled(build("p").start().catch("c", message="paid", key="=order.id").end()).element("c")
    (found,) = element.events
    assert (found.trigger, found.name.text, found.ref) == (Trigger.MESSAGE, "paid", "message_paid")
    assert found.correlation_key.evaluate({"order": {"id": 7}}) == 7


def test_a_message_name_may_be_an_expression():
    found = event('<messageEventDefinition messageRef="m"/>', '<message id="m" name="=&quot;paid-&quot; + region"/>')
    assert found.name.evaluate({"region": "eu"}) == "paid-eu"
    found = event('<messageEventDefinition messageRef="m"/>', '<message id="m" name="paid-${region}"/>')
    assert found.name.evaluate({"region": "eu"}) == "paid-eu"


@pytest.mark.parametrize(
    ("timer", "kind"),
    [
        ("<timeDuration>PT10S</timeDuration>", TimerKind.DURATION),
        ("<timeDate>2030-01-01T00:00:00Z</timeDate>", TimerKind.DATE),
        ("<timeDuration>=wait</timeDuration>", TimerKind.DURATION),
        ("<timeDuration>${wait}</timeDuration>", TimerKind.DURATION),
    ],
)
def test_a_timer_is_a_date_or_a_duration(timer: str, kind: TimerKind):
    found = event(f"<timerEventDefinition>{timer}</timerEventDefinition>")
    assert found.timer_kind == kind
    assert found.timer is not None


def test_a_timer_cycle_stands_where_it_can_fire_again():
    model = build("p").start().user("u").end().boundary("b", on="u", timer="R3/PT10S", interrupting=False).end()
    (found,) = compiled(model).element("b").events
    assert (found.timer_kind, found.timer.evaluate({})) == (TimerKind.CYCLE, "R3/PT10S")


@pytest.mark.parametrize(
    ("timer", "code"),
    [
        ("", "TIMER_DEFINITION"),
        ("<timeDuration/>", "TIMER_DEFINITION"),
        ("<timeDuration>PT1S</timeDuration><timeDate>2030-01-01</timeDate>", "TIMER_DEFINITION"),
        ("<timeDuration>10 seconds</timeDuration>", "INVALID_TIMER"),
        ("<timeDate>tomorrow</timeDate>", "INVALID_TIMER"),
        ("<timeDuration>=</timeDuration>", "EMPTY_EXPRESSION"),
        ("<timeDuration>=1 +</timeDuration>", "FEEL_SYNTAX"),
    ],
)
def test_a_timer_without_a_usable_time_is_refused(timer: str, code: str):
    assert codes(around(CATCH.format(f"<timerEventDefinition>{timer}</timerEventDefinition>"))) == [code]


def test_a_signal_has_a_name():
    found = event('<signalEventDefinition signalRef="s"/>', '<signal id="s" name="alarm"/>', THROW)
    assert (found.trigger, found.name.text) == (Trigger.SIGNAL, "alarm")


def test_an_error_end_throws_a_code_and_a_boundary_catches_it_or_all():
    model = (
        build("p").start().sub_process("s").start().end("throw", error="E1").done().end()
        .boundary("one", on="s", error="E1").end().boundary("all", on="s", error="").end()
    )  # fmt: skip
    definition = compiled(model)
    assert definition.element("throw").events[0].code.evaluate({}) == "E1"
    assert definition.element("one").events[0].code.text == "E1"
    assert definition.element("all").events[0].code is None


def test_a_caught_code_and_message_go_into_the_variables_that_camunda_7_names():
    roots = '<error id="e" errorCode="E1"/>'
    definition = (
        '<errorEventDefinition errorRef="e" camunda:errorCodeVariable="code" camunda:errorMessageVariable="text"/>'
    )
    content = around(
        f'<task id="x"/><boundaryEvent id="b" attachedToRef="x">{definition}</boundaryEvent>'
        '<sequenceFlow id="f3" sourceRef="b" targetRef="end"/>',
        roots,
    )
    (found,) = compiled(content).element("b").events
    assert (found.code_variable, found.message_variable) == ("code", "text")


def test_a_thrown_code_may_be_an_expression_and_a_caught_one_may_not():
    roots = '<escalation id="e" escalationCode="=code"/>'
    assert event('<escalationEventDefinition escalationRef="e"/>', roots, THROW).code.evaluate({"code": "X"}) == "X"
    content = around(
        '<subProcess id="x"><startEvent id="xs"/></subProcess><boundaryEvent id="b" attachedToRef="x">'
        '<escalationEventDefinition escalationRef="e"/></boundaryEvent>'
        '<sequenceFlow id="f3" sourceRef="b" targetRef="end"/>',
        roots,
    )
    assert codes(content) == ["CODE_NOT_LITERAL"]


def test_a_condition_may_be_limited_to_variables_and_kinds_of_change():
    found = event(
        "<conditionalEventDefinition><condition>=a &gt; 1</condition><extensionElements>"
        '<zeebe:conditionalFilter variableNames="a, b" variableEvents="create,update"/></extensionElements>'
        "</conditionalEventDefinition>"
    )
    assert found.condition.evaluate({"a": 2}) is True
    assert found.variable_names == {"a", "b"}
    assert found.variable_events == {"create", "update"}
    found = event(
        '<conditionalEventDefinition camunda:variableName="a" camunda:variableEvents="delete">'
        "<condition>${a == 1}</condition></conditionalEventDefinition>"
    )
    assert (found.variable_names, found.variable_events) == ({"a"}, {"delete"})


def test_an_event_definition_may_stand_at_the_root():
    found = event(
        "<eventDefinitionRef>sd</eventDefinitionRef>",
        '<signalEventDefinition id="sd" signalRef="s"/><signal id="s" name="n"/>',
    )
    assert (found.trigger, found.name.text) == (Trigger.SIGNAL, "n")


def test_a_multiple_event_has_its_triggers_in_order():
    element = compiled(
        build("p").start().catch("c", message="m", key="=1", signal="s", parallel_multiple=True).end()
    ).element("c")
    assert [found.trigger for found in element.events] == [Trigger.MESSAGE, Trigger.SIGNAL]
    assert element.parallel_multiple


def test_compensation_may_be_for_one_activity_and_need_not_wait():
    model = (
        build("p").start().service("a").compensation("undo", on="a").throw("t", compensate="a").end("e", compensate="")
    )
    definition = compiled(model)
    (one,), (every,) = definition.element("t").events, definition.element("e").events
    assert (one.activity, one.wait_for_completion, every.activity) == (definition.index_of["a"], True, -1)
    found = event('<compensateEventDefinition waitForCompletion="false"/>', template=THROW)
    assert not found.wait_for_completion


def test_terminate_and_cancel_are_ends():
    model = (
        build("p").start().transaction("t").start().exclusive("x").when("=a").end("c", cancel=True)
        .at("x").otherwise().end().done().end("stop", terminate=True)
    )  # fmt: skip
    definition = compiled(model)
    assert definition.element("c").events[0].trigger == Trigger.CANCEL
    assert definition.element("stop").events[0].trigger == Trigger.TERMINATE


def test_a_thrown_message_is_published_by_the_engine_or_sent_by_a_job():
    definition = compiled(
        build("p").start().throw("engine", message="m", key="=k").throw("job", message="n", type="send").end()
    )
    assert definition.element("engine").work == Work.CONNECTOR_MESSAGE
    assert definition.element("job").work == Work.JOB
    assert definition.element("job").job.type.text == "send"


def test_a_message_that_a_job_sends_needs_no_name():
    task = '<extensionElements><zeebe:taskDefinition type="send"/></extensionElements>'
    element = compiled(around(THROW.format(f"{task}<messageEventDefinition/>"))).element("x")
    assert (element.work, element.events[0].name) == (Work.JOB, None)
    external = '<messageEventDefinition camunda:type="external" camunda:topic="send"/>'
    assert compiled(around(THROW.format(external))).element("x").job.type.text == "send"


@pytest.mark.parametrize(
    ("definition", "template", "code"),
    [
        ("<messageEventDefinition/>", CATCH, "MISSING_MESSAGE"),
        ('<messageEventDefinition messageRef="gone"/>', CATCH, "UNKNOWN_REFERENCE"),
        ("<signalEventDefinition/>", CATCH, "MISSING_SIGNAL"),
        ('<signalEventDefinition signalRef="gone"/>', THROW, "UNKNOWN_REFERENCE"),
        ("<conditionalEventDefinition/>", CATCH, "MISSING_CONDITION"),
        ("<linkEventDefinition/>", THROW, "MISSING_LINK_NAME"),
        ("<escalationEventDefinition/>", THROW, "MISSING_ESCALATION"),
        ('<escalationEventDefinition escalationRef="gone"/>', THROW, "UNKNOWN_REFERENCE"),
        ("<eventDefinitionRef>gone</eventDefinitionRef>", CATCH, "UNKNOWN_REFERENCE"),
        ('<compensateEventDefinition activityRef="gone"/>', THROW, "UNKNOWN_REFERENCE"),
        ('<compensateEventDefinition waitForCompletion="perhaps"/>', THROW, "INVALID_ATTRIBUTE"),
    ],
)
def test_an_event_without_what_it_needs_is_refused(definition: str, template: str, code: str):
    content = around(template.format(definition))
    if "link" in definition:
        content = content.replace(b'<sequenceFlow id="f2" sourceRef="x" targetRef="end"/>', b"")
    assert code in codes(content)


@pytest.mark.parametrize(
    ("roots", "code"),
    [
        ('<message id="m"/>', "MISSING_MESSAGE_NAME"),
        ('<signal id="m"/>', "MISSING_SIGNAL_NAME"),
        ('<escalation id="m"/>', "MISSING_ESCALATION_CODE"),
        ('<message id="m" name="=("/>', "FEEL_SYNTAX"),
        ('<message id="m" name="${a.b()}"/>', "EXPRESSION_NOT_SUPPORTED"),
    ],
)
def test_a_declaration_without_what_it_needs_is_refused(roots: str, code: str):
    kind = roots.partition(" ")[0][1:]
    content = around(THROW.format(f'<{kind}EventDefinition {kind}Ref="m"/>'), roots)
    assert codes(content) == [code]


def test_an_error_end_without_an_error_or_code_is_refused():
    end = '<startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="x"/><endEvent id="x">{0}</endEvent>'
    assert codes(process(end.format("<errorEventDefinition/>"))) == ["MISSING_ERROR"]
    with_error = process(end.format('<errorEventDefinition errorRef="e"/>'), roots='<error id="e"/>')
    assert codes(with_error) == ["MISSING_ERROR_CODE"]


def test_a_trigger_of_a_vendor_is_refused_by_name():
    extension = "<extensionElements><flowable:variableListenerEventDefinition/></extensionElements>"
    (problem,) = findings(around(CATCH.format(extension)))
    assert problem.code == "UNSUPPORTED_EXTENSION"
    assert "variableListenerEventDefinition" in problem.message


def test_gaps_are_filled_where_a_model_is_only_explored():
    content = around(CATCH.format("<messageEventDefinition/>"))
    (found,) = compiled(content, lenient=True).element("x").events
    assert found.name.text == "x"
    (found,) = compiled(around(CATCH.format("<timerEventDefinition/>")), lenient=True).element("x").events
    assert found.timer.text == "PT1S"


def test_a_start_form_is_kept():
    form = '<extensionElements><zeebe:formDefinition formId="order" bindingType="deployment"/></extensionElements>'
    element = compiled(process(f'<startEvent id="s">{form}</startEvent>')).element("s")
    assert (element.kind, element.user_task.form_id.text) == (Kind.START_EVENT, "order")
    assert element.user_task.form_binding == "deployment"
