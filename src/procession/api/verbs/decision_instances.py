"""Decisions that instances have evaluated, as their history tells: search them, one with its inputs and rules.

What ``evaluateDecision`` evaluates leaves no trace; at history level ``activity`` there are no values.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, cast

import msgspec
from msgspec import UNSET, UnsetType

from procession.api.endpoints import Call, Endpoint
from procession.api.problems import Problem
from procession.api.roles import Role, tenant_id_of
from procession.api.search import Date, Found, Record, Request, Search, Text, by_position
from procession.api.verbs.decisions import EvaluatedInput, EvaluatedOutput, MatchedRule
from procession.api.words import DECISION_STATES, key_of, text_or_none, when
from procession.core import events as e
from procession.engine.settings import History
from procession.errors import NotFound
from procession.store.rows import StoredDecision, StoredInstance
from procession.store.rows.watching import InstanceSearch

GROUP = "Decision instance"
INSTANCES_MAX = 1_000  # process instances whose history one search reads

_events = msgspec.json.Decoder(list[e.AnyEvent]).decode


class DecisionInstance(Record):
    """A decision that was evaluated."""

    decision_evaluation_instance_key: str  # the process instance, and the how manyth of it
    decision_evaluation_key: str  # the element instance that asked
    decision_definition_id: str
    decision_definition_key: str
    decision_definition_name: str
    decision_definition_type: str
    decision_definition_version: int
    root_decision_definition_key: str
    decision_requirements_key: str | None
    process_instance_key: str
    root_process_instance_key: str | None
    process_definition_key: str
    element_instance_key: str
    evaluation_date: datetime | None
    evaluation_failure: str | None
    state: str
    result: str
    business_id: str | None
    tenant_id: str


class DecisionInstanceDetails(DecisionInstance):
    """The same, and why it came out like that."""

    evaluated_inputs: list[EvaluatedInput]
    matched_rules: list[MatchedRule]


class DecisionInstanceFilter(Request):
    """Which evaluations."""

    WORDS = {"state": DECISION_STATES}

    decision_evaluation_instance_key: Text = UNSET
    decision_evaluation_key: str | UnsetType = UNSET
    state: Text = UNSET
    evaluation_failure: str | UnsetType = UNSET
    evaluation_date: Date = UNSET
    decision_definition_id: str | UnsetType = UNSET
    decision_definition_key: Text = UNSET
    decision_definition_name: str | UnsetType = UNSET
    decision_definition_version: int | UnsetType = UNSET
    decision_definition_type: str | UnsetType = UNSET
    root_decision_definition_key: Text = UNSET
    decision_requirements_key: Text = UNSET
    process_definition_key: str | UnsetType = UNSET
    process_instance_key: str | UnsetType = UNSET
    element_instance_key: Text = UNSET
    business_id: Text = UNSET
    tenant_id: str | UnsetType = UNSET


async def search_evaluations(call: Call) -> Found[DecisionInstance]:
    """Evaluations, the newest instances first unless sorted; within one, in their order."""
    query: Search[DecisionInstanceFilter] = call.body
    chosen = query.filter or DecisionInstanceFilter()
    if isinstance(chosen.process_instance_key, str):
        rows = await call.desk.rows.load([key_of(chosen.process_instance_key, "processInstanceKey")])
    else:
        page = await call.desk.rows.find_instances(InstanceSearch(limit=INSTANCES_MAX, look=INSTANCES_MAX))
        rows = page.instances
    seen = [row for row in rows if call.who.sees(row.tenant)]
    found = await _evaluations(call, seen)
    items = [DecisionInstance(**_without_reasons(each)) for each in found]
    return by_position(query, items, DecisionInstance)


def _without_reasons(details: DecisionInstanceDetails) -> dict[str, Any]:
    return {name: getattr(details, name) for name in DecisionInstance.__struct_fields__}


async def get_evaluation(call: Call) -> DecisionInstanceDetails:
    """One evaluation. Raises NotFound, Problem."""
    named = call.path["decisionEvaluationInstance"]
    instance, dash, number = named.partition("-")
    if not dash or not (number.isascii() and number.isdigit() and len(number) < 10):
        raise Problem(400, f"Expected the key of an evaluation, such as 2251799813685251-1, found '{named[:60]}'")
    rows = await call.desk.rows.load([key_of(instance, "decisionEvaluationInstanceKey")])
    seen = [row for row in rows if call.who.sees(row.tenant)]
    for found in await _evaluations(call, seen):
        if found.decision_evaluation_instance_key == named:
            return found
    raise NotFound(f"Expected an evaluation of a decision with key {named}, found none")


async def _evaluations(call: Call, instances: list[StoredInstance]) -> list[DecisionInstanceDetails]:
    """Everything that these instances evaluated, as far as their history kept it."""
    if not instances:
        return []
    decisions = {row.key: row for row in await call.desk.rows.list_decisions()}
    roots = await call.desk.roots(instances)
    found: dict[int, list[DecisionInstanceDetails]] = {row.key: [] for row in instances}
    owners = {row.key: row for row in instances}
    has_values = call.desk.app.history_level == History.FULL
    for row in await call.desk.rows.histories(list(owners), containing='"decision"'):
        for event in _events(row.events):
            if isinstance(event, e.DecisionEvaluated):
                mine = found[row.instance]
                owner, root = owners[row.instance], roots[row.instance]
                about = _About(owner, root, row.definition, row.at, event, decisions, has_values=has_values)
                mine += about.records(len(mine))
    return [each for row in instances for each in found[row.key]]


class _About:
    """One evaluation of a decision with those that it required."""

    def __init__(
        self,
        instance: StoredInstance,
        root: int,
        definition: int,
        at: int,
        event: e.DecisionEvaluated,
        decisions: dict[int, StoredDecision],
        *,
        has_values: bool,
    ) -> None:
        self._instance = instance
        self._root = root
        self._definition = definition
        self._at = at
        self._event = event
        self._has_failed = has_values and event.result is None and bool(event.warnings)
        asked = decisions.get(event.decision)
        self._asked = asked
        same_file = [row for row in decisions.values() if asked is not None and row.resource == asked.resource]
        self._beside = {row.decision_id: row for row in same_file}

    def records(self, before: int) -> list[DecisionInstanceDetails]:
        """Each decision of it; ``before``: so many evaluations the instance had already."""
        event = self._event
        name = self._asked.name if self._asked is not None else event.decision_id
        alone = {"decisionId": event.decision_id, "decisionName": name, "output": event.result}
        trace = cast("list[dict[str, Any]]", event.trace) or [alone]
        return [self._record(each, before + number) for number, each in enumerate(trace, 1)]

    def _record(self, traced: dict[str, Any], number: int) -> DecisionInstanceDetails:
        event, instance = self._event, self._instance
        stored = self._beside.get(traced["decisionId"], self._asked)
        tables: list[dict[str, Any]] = traced.get("tables") or []
        return DecisionInstanceDetails(
            decision_evaluation_instance_key=f"{instance.key}-{number}",
            decision_evaluation_key=str(event.key),
            decision_definition_id=traced["decisionId"],
            decision_definition_key=str(stored.key if stored is not None else event.decision),
            decision_definition_name=traced["decisionName"],
            decision_definition_type="DECISION_TABLE" if tables else "LITERAL_EXPRESSION",
            decision_definition_version=stored.version if stored is not None else event.version,
            root_decision_definition_key=str(event.decision),
            decision_requirements_key=str(stored.resource) if stored is not None else None,
            process_instance_key=str(instance.key),
            root_process_instance_key=str(self._root),
            process_definition_key=str(self._definition),
            element_instance_key=str(event.key),
            evaluation_date=when(self._at),
            evaluation_failure=event.warnings if self._has_failed else None,
            state="FAILED" if self._has_failed else "EVALUATED",
            result=_json(traced.get("output")),
            business_id=text_or_none(instance.business_id),
            tenant_id=tenant_id_of(instance.tenant),
            evaluated_inputs=[
                EvaluatedInput(
                    input_id=one["inputId"], input_name=one["inputName"], input_value=_json(one.get("inputValue"))
                )
                for table in tables
                for one in table.get("evaluatedInputs", ())
            ],
            matched_rules=[_rule(rule) for table in tables for rule in table.get("matchedRules", ())],
        )


def _rule(rule: dict[str, Any]) -> MatchedRule:
    outputs = [
        EvaluatedOutput(
            output_id=one["outputId"],
            output_name=one["outputName"],
            output_value=_json(one.get("outputValue")),
            rule_id=rule["ruleId"],
            rule_index=rule["ruleIndex"],
        )
        for one in rule.get("evaluatedOutputs", ())
    ]
    return MatchedRule(rule_id=rule["ruleId"], rule_index=rule["ruleIndex"], evaluated_outputs=outputs)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/decision-instances/search",
        operation_id="searchDecisionInstances",
        verb=search_evaluations,
        role=Role.READER,
        summary="Search decisions that instances have evaluated",
        group=GROUP,
        body=Search[DecisionInstanceFilter],
        optional=True,
        answer=Found[DecisionInstance],
    ),
    Endpoint(
        method="GET",
        path="/decision-instances/{decisionEvaluationInstance}",
        operation_id="getDecisionInstance",
        verb=get_evaluation,
        role=Role.READER,
        summary="One decision that was evaluated, with its inputs and rules",
        group=GROUP,
        answer=DecisionInstanceDetails,
    ),
)
