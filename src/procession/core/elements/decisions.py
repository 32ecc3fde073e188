"""Business rule tasks whose work is a decision of DMN: find it, evaluate it, keep what it said.

A result that is null because something could not be evaluated is an incident. A table with no rule that matched is null
as well, by rule: with a warning, which is an incident only where expressions are strict, as any other warning.
"""

from __future__ import annotations

from typing import Any

from procession.core import events as e
from procession.core.lifecycle import complete
from procession.core.problems import Problem
from procession.core.state import ElementInstance, IncidentKind
from procession.core.step import Step
from procession.core.surroundings import DecisionRequest, DeployedDecision
from procession.core.waits import text_of
from procession.dmn import DecisionResultMapping, Evaluation, evaluate_decision, map_decision_result, trace_as_json
from procession.errors import InvalidValue, NotFound
from procession.feel import text_of as text_of_value
from procession.model.definition import DecisionSpec, Definition, Element

NO_RULE = "no-rule"  # the code of the warning that no rule of a table matched
TEXT_MAX = 120  # characters of a value in an incident's text
SHAPES: dict[str, DecisionResultMapping] = {
    "singleEntry": "singleEntry",
    "singleResult": "singleResult",
    "collectEntries": "collectEntries",
    "resultList": "resultList",
}


def run_decision(step: Step, element: Element, node: ElementInstance) -> None:
    """Evaluate a business rule task's decision; its result becomes the result variable. Raises Problem."""
    spec = element.decision
    assert spec is not None
    decision_id = text_of(step, spec.decision_id, node.key, f"decision id of '{element.id}' (line {element.line})")
    found = step.surroundings.find_decision(request_of(step.definition, spec, decision_id))
    if found is None:
        cure = "deploy both together and migrate the instance" if spec.binding == "deployment" else "deploy it"
        message = (
            f"Expected decision '{decision_id}'{_which(spec)} to be deployed, found none; '{element.id}' (line "
            f"{element.line}) needs it: {cure}, then resolve this incident"
        )
        raise Problem(IncidentKind.CALLED_DECISION_ERROR, message)
    value = _evaluate(step, element, node, spec, found)
    complete(step, element, node, {spec.result_variable: value})


def request_of(definition: Definition, spec: DecisionSpec, decision_id: str) -> DecisionRequest:
    """What a business rule task asks for."""
    return DecisionRequest(decision_id, spec.binding, spec.version, spec.version_tag, definition.key, definition.tenant)


def _which(spec: DecisionSpec) -> str:
    match spec.binding:
        case "version":
            return f" version {spec.version}"
        case "versionTag":
            return f" with version tag '{spec.version_tag}'"
        case "deployment":
            return " in the deployment of the process"
        case _:
            return ""


def _evaluate(step: Step, element: Element, node: ElementInstance, spec: DecisionSpec, found: DeployedDecision) -> Any:  # noqa: ANN401 - any JSON value
    where = f"The decision '{found.decision_id}' (version {found.version}) of '{element.id}' (line {element.line})"
    try:
        decision = found.model.decision(found.decision_id)
        value, evaluation = evaluate_decision(found.model, found.decision_id, step.context(node.key), now=step.moment())
    except (InvalidValue, NotFound) as error:
        raise Problem(IncidentKind.DECISION_EVALUATION_ERROR, f"{where} failed: {error}") from None
    why = "; ".join(str(warning) for warning in evaluation.warnings)
    trace = trace_as_json(evaluation)
    step.emit(
        e.DecisionEvaluated(
            node.key, element.index, found.key, found.decision_id, found.version, value, list(trace), why
        )
    )
    failed = value is None and any(warning.code != NO_RULE for warning in evaluation.warnings)
    if failed or (why and step.strict):
        raise Problem(IncidentKind.DECISION_EVALUATION_ERROR, f"{where} failed: {why}{_matched(evaluation)}")
    if not spec.map_result:
        return value
    try:
        return map_decision_result(decision, value, SHAPES[spec.map_result])
    except InvalidValue as error:
        raise Problem(IncidentKind.DECISION_EVALUATION_ERROR, f"{where} failed: {error}") from None


def _matched(evaluation: Evaluation) -> str:
    """What the last table was given and which of its rules matched, for the text of an incident."""
    tables = [table for decision in evaluation.trace for table in decision.tables]
    if not tables:
        return ""
    last = tables[-1]
    given = ", ".join(f"{one.name} = {_short(one.value)}" for one in last.inputs)
    rules = ", ".join(str(rule.index) for rule in last.matched_rules) or "none"
    return f" (inputs: {given or 'none'}; rules that matched: {rules})"


def _short(value: object) -> str:
    text = text_of_value(value)
    return text if len(text) <= TEXT_MAX else text[: TEXT_MAX - 3] + "..."
