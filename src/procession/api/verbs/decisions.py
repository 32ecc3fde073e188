"""Decisions: search them and the files that hold them, read their XML, evaluate one."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from procession.api.endpoints import Call, Content, Endpoint
from procession.api.problems import Problem
from procession.api.roles import Role, tenant_id_of
from procession.api.search import Flag, Found, Record, Request, Search, Text, listed, search
from procession.api.words import key_of
from procession.dmn import EvaluatedDecision
from procession.errors import NotFound
from procession.feel import to_json
from procession.store.rows import StoredDecision

DEFINITION = "Decision definition"
REQUIREMENTS = "Decision requirements"

Variables = dict[str, Any]


class DecisionDefinition(Record):
    """A deployed version of a decision."""

    decision_definition_key: str
    decision_definition_id: str
    name: str
    version: int
    decision_requirements_id: str
    decision_requirements_key: str
    decision_requirements_name: str
    decision_requirements_version: int
    tenant_id: str


class DecisionFilter(Request):
    """Which decisions."""

    decision_definition_key: Text = UNSET
    decision_definition_id: Text = UNSET
    name: Text = UNSET
    is_latest_version: Flag = UNSET
    version: int | UnsetType = UNSET
    decision_requirements_id: Text = UNSET
    decision_requirements_key: Text = UNSET
    decision_requirements_name: Text = UNSET
    decision_requirements_version: int | UnsetType = UNSET
    tenant_id: Text = UNSET


class DecisionRequirements(Record):
    """A deployed DMN file."""

    decision_requirements_key: str
    decision_requirements_id: str
    decision_requirements_name: str
    version: int
    resource_name: str
    tenant_id: str


class RequirementsFilter(Request):
    """Which files."""

    decision_requirements_key: Text = UNSET
    decision_requirements_id: Text = UNSET
    decision_requirements_name: Text = UNSET
    version: int | UnsetType = UNSET
    resource_name: Text = UNSET
    tenant_id: Text = UNSET


class EvaluateDecision(Request):
    """A decision by its id (the latest version) or key."""

    decision_definition_id: str | UnsetType = UNSET
    decision_definition_key: str | UnsetType = UNSET
    variables: Variables | None = None
    tenant_id: str | UnsetType = UNSET


class EvaluatedOutput(Record):
    """An output entry of a rule that matched."""

    output_id: str
    output_name: str
    output_value: str
    rule_id: str | None
    rule_index: int | None


class MatchedRule(Record):
    """A rule that matched."""

    rule_id: str
    rule_index: int
    evaluated_outputs: list[EvaluatedOutput]


class EvaluatedInput(Record):
    """What an input column was compared with."""

    input_id: str
    input_name: str
    input_value: str


class Evaluated(Record):
    """One decision on the way to the result."""

    decision_definition_key: str
    decision_definition_id: str
    decision_definition_name: str
    decision_definition_version: int
    decision_definition_type: str
    decision_evaluation_instance_key: str
    output: str
    matched_rules: list[MatchedRule]
    evaluated_inputs: list[EvaluatedInput]
    tenant_id: str


class DecisionResult(Record):
    """The result, as JSON."""

    decision_definition_key: str
    decision_definition_id: str
    decision_definition_name: str
    decision_definition_version: int
    decision_requirements_id: str
    decision_requirements_key: str
    decision_evaluation_key: str
    decision_instance_key: str
    output: str
    failed_decision_definition_id: str | None
    failure_message: str | None
    evaluated_decisions: list[Evaluated]
    tenant_id: str


async def _rows(call: Call) -> list[StoredDecision]:
    """What the principal sees."""
    return [row for row in await call.desk.rows.list_decisions() if call.who.sees(row.tenant)]


def _versions(rows: list[StoredDecision]) -> dict[int, int]:
    """The version of each file: the how-many-th with its id it is."""
    files: dict[tuple[str, str], set[int]] = {}
    for row in rows:
        files.setdefault((row.tenant, row.requirements_id), set()).add(row.resource)
    return {key: number for keys in files.values() for number, key in enumerate(sorted(keys), 1)}


async def definitions_of(call: Call) -> list[DecisionDefinition]:
    """Every decision that the principal sees."""
    rows = await _rows(call)
    versions = _versions(rows)
    return [
        DecisionDefinition(
            decision_definition_key=str(row.key),
            decision_definition_id=row.decision_id,
            name=row.name,
            version=row.version,
            decision_requirements_id=row.requirements_id,
            decision_requirements_key=str(row.resource),
            decision_requirements_name=row.requirements_id,
            decision_requirements_version=versions[row.resource],
            tenant_id=tenant_id_of(row.tenant),
        )
        for row in rows
    ]


async def search_decisions(call: Call) -> Found[DecisionDefinition]:
    """Deployed versions of decisions."""
    records = await definitions_of(call)
    latest: dict[tuple[str, str], int] = {}
    for record in records:
        at = (record.tenant_id, record.decision_definition_id)
        latest[at] = max(latest.get(at, 0), record.version)
    newest = {
        record.decision_definition_key
        for record in records
        if latest[record.tenant_id, record.decision_definition_id] == record.version
    }
    source = listed(
        records,
        "decision_definition_key",
        {"is_latest_version": lambda asked, record: (record.decision_definition_key in newest) is asked},
    )
    return await search(call.body, source, DecisionDefinition)


async def get_decision(call: Call) -> DecisionDefinition:
    """One version."""
    key = key_of(call.path["decisionDefinitionKey"], "decisionDefinitionKey")
    for record in await definitions_of(call):
        if record.decision_definition_key == str(key):
            return record
    raise NotFound(f"Expected a decision definition with key {key}, found none")


async def get_decision_xml(call: Call) -> Content:
    """The file that it was deployed from."""
    return await _file(call, int((await get_decision(call)).decision_requirements_key))


async def _file(call: Call, resource: int) -> Content:
    content = await call.desk.rows.resource(resource)
    if content is None:
        raise NotFound(f"Expected a DMN file with key {resource}, found none")
    return Content(data=content, media_type="text/xml; charset=utf-8")


async def requirements_of(call: Call) -> list[DecisionRequirements]:
    """Every DMN file that the principal sees."""
    rows = await _rows(call)
    versions = _versions(rows)
    files = {row.resource: row for row in rows}
    return [
        DecisionRequirements(
            decision_requirements_key=str(row.resource),
            decision_requirements_id=row.requirements_id,
            decision_requirements_name=row.requirements_id,
            version=versions[row.resource],
            resource_name=row.resource_name,
            tenant_id=tenant_id_of(row.tenant),
        )
        for row in files.values()
    ]


async def search_requirements(call: Call) -> Found[DecisionRequirements]:
    """Deployed DMN files."""
    source = listed(await requirements_of(call), "decision_requirements_key")
    return await search(call.body, source, DecisionRequirements)


async def get_requirements(call: Call) -> DecisionRequirements:
    """One file."""
    key = key_of(call.path["decisionRequirementsKey"], "decisionRequirementsKey")
    for record in await requirements_of(call):
        if record.decision_requirements_key == str(key):
            return record
    raise NotFound(f"Expected decision requirements with key {key}, found none")


async def get_requirements_xml(call: Call) -> Content:
    """The file itself."""
    return await _file(call, int((await get_requirements(call)).decision_requirements_key))


async def evaluate_decision(call: Call) -> DecisionResult:
    """What a decision says of some variables."""
    body: EvaluateDecision = call.body
    tenant = call.desk.tenant(call.who, body.tenant_id)
    stored = await _decision(call, body, tenant)
    app = call.desk.app_of(tenant)
    evaluation = await app.evaluate(stored, body.variables)
    known = {row.decision_id: row for row in await _rows(call) if row.resource == stored.resource}
    evaluation_key = await app.new_key()
    trace = [
        _evaluated(call, each, known.get(each.id, stored), f"{evaluation_key}-{number}")
        for number, each in enumerate(evaluation.trace, 1)
    ]
    return DecisionResult(
        decision_definition_key=str(stored.key),
        decision_definition_id=stored.decision_id,
        decision_definition_name=stored.name,
        decision_definition_version=stored.version,
        decision_requirements_id=stored.requirements_id,
        decision_requirements_key=str(stored.resource),
        decision_evaluation_key=str(evaluation_key),
        decision_instance_key=str(evaluation_key),
        output=_json(evaluation.result),
        failed_decision_definition_id=None,
        failure_message=None,
        evaluated_decisions=trace,
        tenant_id=tenant_id_of(tenant),
    )


async def _decision(call: Call, body: EvaluateDecision, tenant: str) -> StoredDecision:
    """Which version is meant. Raises Problem, NotFound."""
    by_key, by_id = body.decision_definition_key, body.decision_definition_id
    if isinstance(by_key, str):
        key = key_of(by_key, "decisionDefinitionKey")
        for row in await _rows(call):
            if row.key == key and row.tenant == tenant:
                return row
        raise NotFound(f"Expected a decision definition with key {key}, found none")
    if not isinstance(by_id, str) or not by_id:
        raise Problem(400, "Expected decisionDefinitionId or decisionDefinitionKey, found neither")
    found = await call.desk.rows.find_decision(by_id, tenant=tenant)
    if found is None:
        raise NotFound(f"Expected decision '{by_id}' to be deployed, found none")
    return found


def _evaluated(call: Call, decision: EvaluatedDecision, row: StoredDecision, key: str) -> Evaluated:
    del call
    inputs = [value for table in decision.tables for value in table.inputs] or list(decision.inputs)
    return Evaluated(
        decision_definition_key=str(row.key),
        decision_definition_id=decision.id,
        decision_definition_name=decision.name,
        decision_definition_version=row.version,
        decision_definition_type="DECISION_TABLE" if decision.tables else "LITERAL_EXPRESSION",
        decision_evaluation_instance_key=key,
        output=_json(decision.result),
        matched_rules=[
            MatchedRule(
                rule_id=rule.id,
                rule_index=rule.index,
                evaluated_outputs=[
                    EvaluatedOutput(
                        output_id=output.id,
                        output_name=output.name,
                        output_value=_json(output.value),
                        rule_id=rule.id,
                        rule_index=rule.index,
                    )
                    for output in rule.outputs
                ],
            )
            for table in decision.tables
            for rule in table.matched_rules
        ],
        evaluated_inputs=[
            EvaluatedInput(input_id=each.id, input_name=each.name, input_value=_json(each.value)) for each in inputs
        ],
        tenant_id=tenant_id_of(row.tenant),
    )


def _json(value: object) -> str:
    """A value of FEEL as JSON."""
    return msgspec.json.encode(to_json(value)).decode()


def _read(group: str, path: str, operation: str, verb: Any, summary: str, answer: Any, **more: Any) -> Endpoint:  # noqa: ANN401
    method = "POST" if "body" in more else "GET"
    return Endpoint(
        method=method,
        path=path,
        operation_id=operation,
        verb=verb,
        role=Role.READER,
        summary=summary,
        group=group,
        answer=answer,
        **more,
    )


ENDPOINTS = (
    _read(
        DEFINITION,
        "/decision-definitions/search",
        "searchDecisionDefinitions",
        search_decisions,
        "Search deployed versions of decisions",
        Found[DecisionDefinition],
        body=Search[DecisionFilter],
        optional=True,
    ),
    _read(
        DEFINITION,
        "/decision-definitions/{decisionDefinitionKey}",
        "getDecisionDefinition",
        get_decision,
        "One deployed version of a decision",
        DecisionDefinition,
    ),
    _read(
        DEFINITION,
        "/decision-definitions/{decisionDefinitionKey}/xml",
        "getDecisionDefinitionXML",
        get_decision_xml,
        "The DMN file of a version",
        Content,
        media_type="text/xml",
    ),
    _read(
        REQUIREMENTS,
        "/decision-requirements/search",
        "searchDecisionRequirements",
        search_requirements,
        "Search deployed DMN files",
        Found[DecisionRequirements],
        body=Search[RequirementsFilter],
        optional=True,
    ),
    _read(
        REQUIREMENTS,
        "/decision-requirements/{decisionRequirementsKey}",
        "getDecisionRequirements",
        get_requirements,
        "One deployed DMN file",
        DecisionRequirements,
    ),
    _read(
        REQUIREMENTS,
        "/decision-requirements/{decisionRequirementsKey}/xml",
        "getDecisionRequirementsXML",
        get_requirements_xml,
        "The XML of a DMN file",
        Content,
        media_type="text/xml",
    ),
    Endpoint(
        method="POST",
        path="/decision-definitions/evaluation",
        operation_id="evaluateDecision",
        verb=evaluate_decision,
        role=Role.OPERATOR,
        summary="Evaluate a decision",
        group=DEFINITION,
        body=EvaluateDecision,
        answer=DecisionResult,
        problems=(404,),
    ),
)
