"""Strict expressions everywhere: a warning is an incident that says where, and resolving it evaluates again."""

from __future__ import annotations

from typing import Any

import pytest

from procession.core import Surroundings
from procession.core.commands import ChildEnded, ResolveIncident, SetVariables
from procession.core.state import Incident, IncidentKind
from procession.model import compile_resource
from procession.testing.bpmn import process
from procession.testing.core import CoreRun


def start(model: Any, variables: dict[str, Any] | None = None, *, strict: bool = True) -> CoreRun:
    definition = compile_resource(model.xml()).definitions[0]
    return CoreRun(definition, surroundings=Surroundings(strict=strict)).start(variables)


def incident_of(run: CoreRun) -> Incident:
    assert run.state is not None
    (incident,) = run.state.incidents.values()
    return incident


def corrected(run: CoreRun, variables: dict[str, Any]) -> CoreRun:
    return run.send(SetVariables(variables)).send(ResolveIncident(incident_of(run).key))


def is_clean(run: CoreRun) -> bool:
    assert run.state is not None
    return not run.state.incidents


def repeated(inside: str, attributes: str = "") -> Any:
    loop = f"<bpmn:multiInstanceLoopCharacteristics {attributes}>{inside}</bpmn:multiInstanceLoopCharacteristics>"
    return process("p").start().service("s", raw=loop).end()


def test_the_cardinality_of_a_repetition():
    run = start(repeated("<bpmn:loopCardinality>missing + 1</bpmn:loopCardinality>"))
    incident = incident_of(run)
    assert incident.kind == IncidentKind.EXTRACT_VALUE_ERROR
    assert "cardinality of 's'" in incident.message
    assert "'missing'" in incident.message
    assert is_clean(corrected(run, {"missing": 1}))


def test_without_strictness_a_cardinality_that_is_null_says_why():
    run = start(repeated("<bpmn:loopCardinality>missing + 1</bpmn:loopCardinality>"), strict=False)
    assert "no variable 'missing'" in incident_of(run).message


def test_the_condition_of_a_behaviour():
    inside = (
        "<bpmn:loopCardinality>1</bpmn:loopCardinality><bpmn:complexBehaviorDefinition>"
        "<bpmn:condition>missing &gt; 1</bpmn:condition><bpmn:event><bpmn:signalEventDefinition/></bpmn:event>"
        "</bpmn:complexBehaviorDefinition>"
    )
    text = repeated(inside.replace("Definition/>", 'Definition signalRef="done"/>'), 'behavior="Complex"').text()
    text = text.replace("<bpmn:process", '<bpmn:signal id="done" name="done"/><bpmn:process', 1)
    definition = compile_resource(text.encode()).definitions[0]
    run = CoreRun(definition, surroundings=Surroundings(strict=True)).start().complete("s")
    incident = incident_of(run)
    assert incident.kind == IncidentKind.CONDITION_ERROR
    assert "behaviour of 's'" in incident.message
    run = corrected(run, {"missing": 1})
    assert run.ended


def ad_hoc(**options: Any) -> Any:
    return process("p").start().ad_hoc("hoc", **options).service("s").done().end()


def test_what_an_ad_hoc_sub_process_starts_keeps_and_when_it_is_done():
    run = start(ad_hoc(active='=[if missing = 1 then "s" else "s"]'))
    assert "active elements of 'hoc'" in incident_of(run).message
    assert is_clean(corrected(run, {"missing": 1}))

    run = start(ad_hoc(completion="=missing > 1 or true")).complete("s")
    assert "completion condition of 'hoc'" in incident_of(run).message
    assert corrected(run, {"missing": 1}).ended

    model = ad_hoc(active='=["s"]')
    outputs = 'outputCollection="all" outputElement="=missing + 1" activeElementsCollection'
    text = model.text().replace("activeElementsCollection", outputs)
    definition = compile_resource(text.encode()).definitions[0]
    run = CoreRun(definition, surroundings=Surroundings(strict=True)).start().complete("s")
    assert "output element of the ad-hoc sub-process of 's'" in incident_of(run).message
    run = corrected(run, {"missing": 1})
    assert run.ended
    assert run.state is not None
    assert run.state.variables["all"] == [2]


def test_the_activation_condition_of_a_complex_gateway():
    model = (
        process("p").start().parallel("fork").service("a")
        .complex("gate", activation="=activationCount >= needed").user("after").end()
        .at("fork").service("b").to("gate")
    )  # fmt: skip
    run = start(model, {"needed": "two"}).complete("a")
    incident = incident_of(run)
    assert incident.kind == IncidentKind.CONDITION_ERROR
    assert "activation condition of 'gate'" in incident.message
    assert "Cannot compare number with string" in incident.message
    run.complete("b")  # goes on; one question is enough
    run = corrected(run, {"needed": 2})
    assert is_clean(run)
    assert "after" in run.active


WATCHED = (
    process("p").start().service("work").end()
    .boundary("hot", on="work", condition="=temperature > 90", interrupting=True).user("cool").end()
)  # fmt: skip


def test_a_conditional_event_waits_for_its_variables_and_then_is_strict():
    run = start(WATCHED)
    assert is_clean(run)  # there is no temperature yet: that is what it waits for
    run.send(SetVariables({"temperature": "high"}))
    incident = incident_of(run)
    assert incident.kind == IncidentKind.CONDITION_ERROR
    assert "condition of 'hot'" in incident.message
    run.send(SetVariables({"temperature": "higher"}))
    assert incident_of(run).key == incident.key  # one question is enough
    run.send(SetVariables({"temperature": 95}))  # the question is answered
    assert is_clean(run)
    assert run.active == ["cool"]


def test_a_person_may_answer_before_the_variable_changes():
    run = start(WATCHED).send(SetVariables({"temperature": "high"}))
    first = incident_of(run)
    run.send(ResolveIncident(first.key))
    assert incident_of(run).key != first.key  # it is still no number


def test_what_is_watched_works_on_while_its_condition_is_in_doubt():
    run = start(WATCHED).send(SetVariables({"temperature": "high"})).complete("work")
    assert not run.ended
    assert run.send(ResolveIncident(incident_of(run).key)).ended  # nothing waits for the condition any more


@pytest.mark.parametrize("interrupting", [True, False])
def test_the_condition_of_an_event_sub_process(interrupting):
    model = (
        process("p").start().user("work").end()
        .event_sub_process("late").start("alarm", condition="=n > 2", interrupting=interrupting)
        .user("look").end().done()
    )  # fmt: skip
    run = start(model, {"n": "many"})
    assert "condition of 'alarm'" in incident_of(run).message
    run.send(SetVariables({"n": 3}))
    assert is_clean(run)
    assert "look" in run.active


def test_otherwise_a_condition_with_a_warning_is_just_not_true():
    run = start(WATCHED, {"temperature": "high"}, strict=False)
    assert is_clean(run)
    assert run.complete("work").ended


CALL = (
    '<bpmn:callActivity id="c" calledElement="sub"><bpmn:extensionElements>'
    '<camunda:in sourceExpression="${missing + 1}" target="x"/>'
    '<camunda:out sourceExpression="${returned + 1}" target="y"/>'
    "</bpmn:extensionElements></bpmn:callActivity>"
)


def test_the_mappings_of_a_call_activity():
    definition = compile_resource(called()).definitions[0]
    run = CoreRun(definition, surroundings=Surroundings(strict=True)).start()
    assert "mapping of the call of 'c'" in incident_of(run).message
    run = corrected(run, {"missing": 1})
    assert is_clean(run)
    assert run.state is not None
    (node,) = [node for node in run.state.nodes.values() if node.called]
    run.send(ChildEnded(node.key, node.called, "completed", variables={"returned": "text"}))
    assert "mapping of the call of 'c'" in incident_of(run).message
    assert run.state.nodes[node.key].data == {"returned": {"returned": "text"}}


def called() -> bytes:
    return (
        '<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" '
        'xmlns:camunda="http://camunda.org/schema/1.0/bpmn" targetNamespace="t">'
        '<bpmn:process id="p" isExecutable="true">'
        '<bpmn:startEvent id="begin"/><bpmn:sequenceFlow id="f" sourceRef="begin" targetRef="c"/>'
        f'{CALL}<bpmn:sequenceFlow id="g" sourceRef="c" targetRef="stop"/><bpmn:endEvent id="stop"/>'
        "</bpmn:process></bpmn:definitions>"
    ).encode()
