"""Decisions as the rules see them: asked of the surroundings, kept as an event, an incident where they fail."""

from __future__ import annotations

from typing import Any

import pytest

from procession.core import DecisionRequest, DeployedDecision, NotAtHand, Surroundings
from procession.core.commands import ResolveIncident, SetVariables
from procession.core.events import DecisionEvaluated
from procession.core.state import IncidentKind
from procession.model import Definition, compile_resource
from procession.testing.bpmn import process
from procession.testing.core import CoreRun
from tests.dmn.models import compiled, decision, literal, table

RULES = [("< 100", "5"), (">= 100", "15")]
DISCOUNT = decision("discount", table(["orderTotal"], ["percent"], *RULES))


class Deployed:
    """Surroundings with these decisions; remembers what it was asked."""

    def __init__(self, *decisions: str, strict: bool = False) -> None:
        self.model = compiled(*decisions) if decisions else None
        self.asked: list[DecisionRequest] = []
        self.surroundings = Surroundings(find_decision=self.find, strict=strict)

    def find(self, request: DecisionRequest) -> DeployedDecision | None:
        self.asked.append(request)
        if self.model is None or request.decision_id not in self.model.decisions:
            return None
        return DeployedDecision(7, 3, request.decision_id, self.model)


def definition_of(model: Any) -> Definition:
    return compile_resource(model.xml()).definitions[0]


def start(model: Any, around: Deployed, variables: dict[str, Any] | None = None) -> CoreRun:
    definition = model if isinstance(model, Definition) else definition_of(model)
    return CoreRun(definition, surroundings=around.surroundings).start(variables)


def asks(decision_id: str = "discount") -> Any:
    return process("p").start().rule("decide", decision=decision_id, result="answer").user("check").end()


def problem(run: CoreRun) -> Any:
    assert run.state is not None
    (incident,) = run.state.incidents.values()
    return incident


def test_a_result_becomes_the_result_variable_and_the_trace_an_event():
    run = start(asks(), Deployed(DISCOUNT), {"orderTotal": 250})
    assert run.state is not None
    assert run.state.variables == {"orderTotal": 250, "answer": 15}
    (event,) = [event for event in run.events if isinstance(event, DecisionEvaluated)]
    assert (event.decision, event.decision_id, event.version, event.result, event.warnings) == (
        7,
        "discount",
        3,
        15,
        "",
    )
    assert [rule["ruleIndex"] for rule in event.trace[0]["tables"][0]["matchedRules"]] == [2]


@pytest.mark.parametrize(
    ("attributes", "binding", "tag"),
    [
        ("", "latest", ""),
        ('bindingType="deployment"', "deployment", ""),
        ('bindingType="versionTag" versionTag="b"', "versionTag", "b"),
    ],
)
def test_the_binding_of_camunda_8_is_asked_for(attributes, binding, tag):
    content = asks().xml().replace(b'decisionId="discount"', f'decisionId="discount" {attributes}'.encode())
    around = Deployed(DISCOUNT)
    start(compile_resource(content).definitions[0], around, {"orderTotal": 1})
    (request,) = around.asked
    assert (request.decision_id, request.binding, request.version_tag) == ("discount", binding, tag)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("singleEntry", 15),
        ("singleResult", {"percent": 15}),
        ("collectEntries", [15]),
        ("resultList", [{"percent": 15}]),
    ],
)
def test_camunda_7_gets_its_shapes(shape, expected):
    content = f"""<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t"
        xmlns:camunda="http://camunda.org/schema/1.0/bpmn"><process id="p" isExecutable="true"><startEvent id="s"/>
        <sequenceFlow id="a" sourceRef="s" targetRef="decide"/><businessRuleTask id="decide"
        camunda:decisionRef="discount" camunda:decisionRefBinding="version" camunda:decisionRefVersion="3"
        camunda:resultVariable="answer" camunda:mapDecisionResult="{shape}"/>
        <sequenceFlow id="b" sourceRef="decide" targetRef="u"/><userTask id="u"/></process></definitions>"""
    around = Deployed(DISCOUNT)
    run = start(compile_resource(content.encode()).definitions[0], around, {"orderTotal": 250})
    assert run.state is not None
    assert run.state.variables["answer"] == expected
    assert (around.asked[0].binding, around.asked[0].version) == ("version", 3)


def test_a_decision_that_is_missing_is_an_incident_and_resolving_asks_again():
    around = Deployed()
    run = start(asks(), around, {"orderTotal": 250})
    assert problem(run).kind == IncidentKind.CALLED_DECISION_ERROR
    around.model = compiled(DISCOUNT)
    run.send(ResolveIncident(problem(run).key))
    assert run.state is not None
    assert run.state.variables["answer"] == 15
    assert not run.state.incidents


def test_a_question_that_the_surroundings_cannot_answer_yet_leaves_the_rules():
    def unknown(request: DecisionRequest) -> None:
        raise NotAtHand(request)

    run = CoreRun(definition_of(asks("=which")), surroundings=Surroundings(find_decision=unknown))
    with pytest.raises(NotAtHand) as question:
        run.start({"which": "discount"})
    assert question.value.request.decision_id == "discount"


def test_rules_that_contradict_are_an_incident_with_inputs_and_rules():
    around = Deployed(decision("discount", table(["orderTotal"], ["percent"], *RULES, ("> 200", "20"))))
    run = start(asks(), around, {"orderTotal": 250})
    incident = problem(run)
    assert incident.kind == IncidentKind.DECISION_EVALUATION_ERROR
    assert "orderTotal = 250; rules that matched: 2, 3" in incident.message
    assert "'decide'" in incident.message


def test_a_warning_without_effect_is_kept_and_strictly_an_incident():
    lenient = decision("discount", literal("if missing = 1 then 1 else 2"))
    run = start(asks(), Deployed(lenient))
    assert run.state is not None
    assert run.state.variables["answer"] == 2
    (event,) = [event for event in run.events if isinstance(event, DecisionEvaluated)]
    assert "missing" in event.warnings
    assert problem(start(asks(), Deployed(lenient, strict=True))).kind == IncidentKind.DECISION_EVALUATION_ERROR


def test_no_rule_gives_null_and_strictly_an_incident():
    around = decision("discount", table(["orderTotal"], ["percent"], ("< 100", "5")))
    run = start(asks(), Deployed(around), {"orderTotal": 250})
    assert run.state is not None
    assert run.state.variables["answer"] is None
    assert "No rule matches" in problem(start(asks(), Deployed(around, strict=True), {"orderTotal": 250})).message


CHOICE = (
    process("p").start().exclusive("choose").when("=missing > 1", id="s").user("big").end()
    .at("choose").otherwise().user("small").end()
)  # fmt: skip
WAITS = process("p").start().catch("s", message="paid", key="=string(missing)").end()


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (process("p").start().script("s", "missing + 1").end(), IncidentKind.EXTRACT_VALUE_ERROR),
        (process("p").start().user("s", inputs={"x": "=missing + 1"}).end(), IncidentKind.IO_MAPPING_ERROR),
        (CHOICE, IncidentKind.CONDITION_ERROR),
        (WAITS, IncidentKind.EXTRACT_VALUE_ERROR),
    ],
)
def test_where_expressions_are_strict_a_warning_is_an_incident_that_says_where(model, kind):
    run = start(model, Deployed(strict=True))
    incident = problem(run)
    assert incident.kind == kind
    assert "'s'" in incident.message
    assert "missing" in incident.message
    run.send(SetVariables({"missing": 1})).send(ResolveIncident(incident.key))
    assert run.state is not None
    assert not run.state.incidents


def test_otherwise_a_condition_that_gives_a_warning_is_not_true():
    run = start(CHOICE, Deployed())
    assert run.state is not None
    assert not run.state.incidents
