"""What any element may carry: mappings, listeners, properties, continuations, retries, delegates, conditions."""

from __future__ import annotations

import pytest

from procession.model.definition import Work
from procession.testing.bpmn import process as build
from tests.model.models import around, codes, compiled, findings, last_flow, process
from tests.model.test_tasks import element, extended

IO = "<camunda:inputOutput>{0}</camunda:inputOutput>"


def test_mappings_keep_their_order_and_split_their_targets():
    model = build("p").start().service("x", inputs={"a": "=1", "b.c": "=a + 1", "d": "text"}, outputs={"e": "=a"}).end()
    found = compiled(model).element("x")
    assert [mapping.target for mapping in found.inputs] == [("a",), ("b", "c"), ("d",)]
    assert found.inputs[1].source.evaluate({"a": 1}) == 2
    assert found.inputs[2].source.evaluate({}) == "text"
    assert found.outputs[0].source.names == {"a"}


def test_an_empty_source_is_null():
    mapping = '<zeebe:taskDefinition type="t"/><zeebe:ioMapping><zeebe:input target="a"/></zeebe:ioMapping>'
    assert element(extended("serviceTask", mapping)).inputs[0].source.evaluate({}) is None


@pytest.mark.parametrize("target", ["", ".a", "a..b", "1a", "$.a", "a b.", "a["])
def test_a_target_that_is_no_path_is_refused(target: str):
    mapping = f'<zeebe:ioMapping><zeebe:output source="=1" target="{target}"/></zeebe:ioMapping>'
    assert codes(around(extended("task", mapping))) == ["INVALID_MAPPING_TARGET"]


def test_listeners_are_jobs_at_points_of_the_life_cycle():
    listeners = (
        '<zeebe:executionListeners><zeebe:executionListener eventType="start" type="a" retries="2"/>'
        '<zeebe:executionListener eventType="end" type="=b"/></zeebe:executionListeners>'
        '<zeebe:taskListeners><zeebe:taskListener eventType="creating" type="c"/></zeebe:taskListeners>'
    )
    found = element(extended("userTask", listeners)).listeners
    assert [(listener.event, listener.type.text) for listener in found] == [
        ("start", "a"),
        ("end", "b"),
        ("creating", "c"),
    ]
    assert found[0].retries.evaluate({}) == 2


@pytest.mark.parametrize(
    "listener", ['<zeebe:executionListener eventType="never" type="a"/>', '<zeebe:executionListener eventType="end"/>']
)
def test_a_listener_without_a_known_event_or_a_type_is_refused(listener: str):
    content = around(extended("task", f"<zeebe:executionListeners>{listener}</zeebe:executionListeners>"))
    assert codes(content) == ["INVALID_LISTENER"]


@pytest.mark.parametrize(
    ("kind", "listeners"),
    [
        ("task", '<zeebe:taskListeners><zeebe:taskListener eventType="creating" type="a"/></zeebe:taskListeners>'),
        ("userTask", '<zeebe:taskListeners><zeebe:taskListener eventType="start" type="a"/></zeebe:taskListeners>'),
        (
            "userTask",
            (
                '<zeebe:executionListeners><zeebe:executionListener eventType="creating" type="a"/>'
                "</zeebe:executionListeners>"
            ),
        ),
        ("task", '<camunda:taskListener event="create" class="a.B"/>'),
        ("userTask", '<camunda:taskListener event="start" class="a.B"/>'),
        ("task", '<camunda:executionListener event="take" class="a.B"/>'),
        ("userTask", '<camunda:executionListener event="create" class="a.B"/>'),
    ],
)
def test_a_listener_that_would_never_be_told_is_refused(kind: str, listeners: str):
    (problem,) = findings(around(extended(kind, listeners)))
    assert problem.code == "INVALID_LISTENER"
    assert problem.element_id == "x"
    assert problem.suggestion


def test_properties_are_kept():
    found = compiled(build("p").start().task("x", properties={"a": "1"}).end()).element("x")
    assert found.properties == (("a", "1"),)
    seven = '<camunda:properties><camunda:property name="b" value="2"/></camunda:properties>'
    assert element(extended("task", seven)).properties == (("b", "2"),)


# -- Camunda 7 and its relatives --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attributes", "name"),
    [
        ('camunda:class="org.example.orders.ChargeCard"', "ChargeCard"),
        ('flowable:class="ChargeCard"', "ChargeCard"),
        ('camunda:delegateExpression="${chargeCard}"', "chargeCard"),
        ('camunda:expression="${orders.charge(execution)}"', "orders.charge"),
    ],
)
@pytest.mark.parametrize("tag", ["serviceTask", "task", "sendTask"])
def test_java_code_is_a_method_of_that_name(tag: str, attributes: str, name: str):
    found = element(f'<{tag} id="x" {attributes} camunda:resultVariable="r"/>')
    assert (found.work, found.work_name, found.result_variable) == (Work.METHOD, name, "r")


def test_a_java_expression_that_only_computes_is_a_script():
    found = element('<serviceTask id="x" camunda:expression="${a + 1}" camunda:resultVariable="b"/>')
    assert (found.work, found.script.result_variable) == (Work.SCRIPT, "b")
    assert found.script.expression.evaluate({"a": 1}) == 2


def test_a_java_expression_on_engine_objects_is_refused():
    content = around('<serviceTask id="x" camunda:expression="${execution.setVariable(\'a\', 1)}"/>')
    assert codes(content) == ["EXPRESSION_NOT_SUPPORTED"]
    no_bean = around('<serviceTask id="x" camunda:delegateExpression="${1 + 1}"/>')
    assert codes(no_bean) == ["EXPRESSION_NOT_SUPPORTED"]


def test_an_external_task_is_a_job_with_its_topic():
    found = element(
        extended(
            "serviceTask",
            "<camunda:failedJobRetryTimeCycle>PT1M,PT10M</camunda:failedJobRetryTimeCycle>",
            'camunda:type="external" camunda:topic="charge" camunda:taskPriority="7" camunda:asyncBefore="true"',
        )
    )
    assert (found.work, found.job.type.text, found.job.priority.evaluate({})) == (Work.JOB, "charge", 7)
    assert (found.job.retries.evaluate({}), found.job.retry_delays_ms) == (3, (60_000, 600_000))
    assert (found.async_before, found.async_after) == (True, False)
    assert codes(around('<serviceTask id="x" camunda:type="external"/>')) == ["MISSING_JOB_TYPE"]


def test_a_methods_retry_cycle_is_kept_beside_it():
    cycle = "<camunda:failedJobRetryTimeCycle>R5/PT5M</camunda:failedJobRetryTimeCycle>"
    found = element(extended("serviceTask", cycle, 'camunda:class="a.B"'))
    assert (found.work, found.job.retries.evaluate({}), found.job.retry_delays_ms) == (Work.METHOD, 5, (300_000,))
    bad = extended("serviceTask", cycle.replace("R5/PT5M", "sometimes"), 'camunda:class="a.B"')
    assert codes(around(bad)) == ["INVALID_RETRIES"]


def test_connectors_and_built_in_types_are_jobs():
    connector = f"<camunda:connector><camunda:connectorId>http</camunda:connectorId>{IO}</camunda:connector>"
    url = '<camunda:inputParameter name="url">u</camunda:inputParameter>'
    found = element(extended("serviceTask", connector.format(url)))
    assert (found.job.type.text, found.inputs[0].target) == ("http", ("url",))
    mail = element(
        extended("serviceTask", '<flowable:field name="to" stringValue="a@example.com"/>', 'flowable:type="mail"')
    )
    assert (mail.job.type.text, mail.inputs[0].source.evaluate({})) == ("mail", "a@example.com")


def test_injected_fields_are_local_variables():
    fields = (
        '<camunda:field name="a"><camunda:string>x</camunda:string></camunda:field>'
        '<camunda:field name="b" expression="${c}"/>'
    )
    found = element(extended("serviceTask", fields, 'camunda:class="a.B"'))
    assert [(m.target, m.source.evaluate({"c": 3})) for m in found.inputs] == [(("a",), "x"), (("b",), 3)]


def test_input_and_output_parameters_may_be_texts_lists_and_maps():
    parameters = (
        '<camunda:inputParameter name="a">${x}</camunda:inputParameter>'
        '<camunda:inputParameter name="b"><camunda:list><camunda:value>1</camunda:value>'
        "<camunda:value>${x}</camunda:value>"
        "</camunda:list></camunda:inputParameter>"
        '<camunda:inputParameter name="c"><camunda:map><camunda:entry key="k">${x}</camunda:entry></camunda:map>'
        "</camunda:inputParameter>"
        '<camunda:outputParameter name="d">text</camunda:outputParameter>'
    )
    found = element(extended("task", IO.format(parameters)))
    assert [mapping.source.evaluate({"x": 7}) for mapping in found.inputs] == [7, ["1", 7], {"k": 7}]
    assert found.inputs[1].source.names == {"x"}
    assert [(mapping.target, mapping.source.evaluate({})) for mapping in found.outputs] == [(("d",), "text")]


def test_a_script_as_a_parameter_is_refused_unless_it_is_an_expression():
    value = '<camunda:script scriptFormat="{0}">1 + 1</camunda:script>'
    script = f'<camunda:inputParameter name="a">{value}</camunda:inputParameter>'
    assert codes(around(extended("task", IO.format(script.format("groovy"))))) == ["SCRIPT_NOT_SUPPORTED"]
    assert element(extended("task", IO.format(script.format("feel")))).inputs[0].source.evaluate({}) == 2


def test_java_listeners_become_listeners_of_that_name():
    listeners = (
        '<camunda:executionListener event="end" class="a.Audit"/>'
        '<camunda:taskListener event="complete" expression="${b.done(task)}"/>'
    )
    found = element(extended("userTask", listeners)).listeners
    assert [(listener.event, listener.type.text) for listener in found] == [("end", "Audit"), ("completing", "b.done")]


def test_a_task_listener_of_all_events_is_told_of_each():
    found = element(extended("userTask", '<flowable:taskListener event="all" class="a.B"/>')).listeners
    events = {"creating", "assigning", "updating", "completing", "canceling"}
    assert {listener.event for listener in found} == events
    assert {listener.type.text for listener in found} == {"B"}


def test_a_listener_on_a_flow_without_an_event_is_about_taking_it():
    content = last_flow('<extensionElements><camunda:executionListener class="a.Taken"/></extensionElements>')
    (listener,) = compiled(content).flows[1].listeners
    assert listener.event == "take"


def test_a_listener_on_a_flow_is_kept_with_the_flow():
    content = last_flow(
        '<extensionElements><camunda:executionListener event="take" class="a.Taken"/></extensionElements>'
    )
    (listener,) = compiled(content).flows[1].listeners
    assert (listener.event, listener.type.text) == ("take", "Taken")


@pytest.mark.parametrize(
    ("xml", "code", "word"),
    [
        (
            '<serviceTask id="x" flowable:triggerable="true" flowable:class="a.B"/>',
            "UNSUPPORTED_EXTENSION",
            "triggerable",
        ),
        ('<task id="x" flowable:skipExpression="${a}"/>', "UNSUPPORTED_EXTENSION", "skipExpression"),
        (
            extended("task", '<camunda:errorEventDefinition errorRef="e"/>'),
            "UNSUPPORTED_EXTENSION",
            "errorEventDefinition",
        ),
        (extended("userTask", '<camunda:taskListener event="timeout" class="a.B"/>'), "INVALID_LISTENER", "timeout"),
        (extended("userTask", '<camunda:taskListener event="create"/>'), "INVALID_LISTENER", "names no class"),
        (extended("task", IO.format("<camunda:inputParameter/>")), "INVALID_MAPPING_TARGET", "no name"),
        (extended("callActivity", '<camunda:in source="a"/>', 'calledElement="c"'), "INVALID_MAPPING_TARGET", "target"),
    ],
)
def test_what_has_no_counterpart_is_refused_by_name(xml: str, code: str, word: str):
    (problem,) = findings(around(xml))
    assert problem.code == code
    assert word in problem.message
    assert problem.line == 4


def test_attributes_of_the_process_are_kept():
    content = process('<startEvent id="s"/>').replace(
        b'isExecutable="true"', b'isExecutable="true" camunda:versionTag="v7" camunda:historyTimeToLive="P30D"'
    )
    definition = compiled(content)
    assert definition.version_tag == "v7"
    assert definition.elements[0].properties == (("camunda:historyTimeToLive", "P30D"),)


# -- conditions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("=a &gt; 1", True),
        ("${a &gt; 1}", True),
        ("a &gt; 1", True),
        ("#{a == 1}", False),
        ("total price &gt; 5", True),
    ],
)
def test_a_condition_may_be_feel_juel_or_bare_feel(condition: str, value: bool):
    content = last_flow(f"<conditionExpression>{condition}</conditionExpression>")
    assert compiled(content).flows[1].condition.evaluate({"a": 2, "total price": 7}) is value


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("<conditionExpression>=a &gt;</conditionExpression>", "FEEL_SYNTAX"),
        ("<conditionExpression/>", "EMPTY_EXPRESSION"),
        ('<conditionExpression language="javascript">a === 1</conditionExpression>', "EXPRESSION_LANGUAGE"),
        ('<conditionExpression camunda:resource="a.js"/>', "SCRIPT_NOT_SUPPORTED"),
        ("<conditionExpression>${bean.check()}</conditionExpression>", "EXPRESSION_NOT_SUPPORTED"),
    ],
)
def test_a_condition_that_cannot_be_evaluated_is_refused_with_its_line(expression: str, code: str):
    content = last_flow(expression)
    assert [(problem.code, problem.element_id, problem.line) for problem in findings(content)] == [(code, "f2", 5)]


def test_prose_as_a_condition_is_tolerated_where_a_model_is_only_explored():
    content = last_flow("<conditionExpression>x : any y</conditionExpression>")
    assert codes(content) == ["FEEL_SYNTAX"]
    warnings: list = []
    assert compiled(content, lenient=True).flows[1].condition.evaluate({}, warnings=warnings) is None
    assert len(warnings) == 1
