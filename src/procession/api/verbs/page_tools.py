"""Trying things out: FEEL with where it cannot be read, models with what is wrong with them, decisions with a trace.

Nothing here touches what runs; decisions that are given as a file need not be deployed.
"""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from procession.api.endpoints import Call, Endpoint
from procession.api.problems import Problem
from procession.api.roles import Role
from procession.api.search import Record, Request
from procession.api.words import key_of, when
from procession.core import events as e
from procession.dmn import DecisionModel, Evaluation, trace_as_json
from procession.dmn import compile_resource as compile_decisions
from procession.dmn import lint_resource as lint_decisions
from procession.engine import plain_variables
from procession.engine.deploy_forms import read_form
from procession.engine.settings import History
from procession.errors import InvalidModel, NotFound
from procession.explorer import remarks
from procession.feel import (
    Date,
    DateTime,
    DaysDuration,
    FeelSyntaxError,
    FeelWarning,
    Function,
    MonthsDuration,
    Range,
    Time,
    compile_unary_tests,
    flaws,
    from_json,
    text_of,
    to_json,
)
from procession.feel import compile as compile_expression
from procession.jobs.schedule import to_datetime
from procession.model import compile_resource, lint_resource
from procession.model.definition import Problem as ModelProblem
from procession.store.rows import StoredDecision
from procession.store.rows.watching import InstanceSearch

GROUP = "Playground"
TEXT_CHARS_MAX = 100_000
FILE_CHARS_MAX = 4_000_000
EXPLORED_CHARS_MAX = 400_000  # of a model that is explored as one types
PAST_INSTANCES_MAX = 2_000  # whose history one look for past evaluations reads
_events = msgspec.json.Decoder(list[e.AnyEvent]).decode

TYPES: dict[type, str] = {
    bool: "boolean",
    str: "string",
    list: "list",
    dict: "context",
    Date: "date",
    Time: "time",
    DateTime: "date and time",
    DaysDuration: "days and time duration",
    MonthsDuration: "years and months duration",
    Range: "range",
    Function: "function",
}


class EvaluateFeel(Request):
    """An expression on some values; with ``isTests`` the tests of a decision table's cell, on ``value``.

    With ``checkOnly`` it is read and not evaluated: warnings then say what of it can never have a value.
    """

    expression: Annotated[str, Meta(max_length=TEXT_CHARS_MAX)]
    context: dict[str, Any] = {}
    is_tests: bool = False
    value: Any = None
    check_only: bool = False


class FeelPlace(Record):
    """Where a text is no FEEL, or why a part of it is null. Lines and columns count from 1."""

    message: str
    line: int
    column: int


class FeelAnswer(Record):
    """The value as JSON, as FEEL writes it, and its type; or where the text cannot be read."""

    result: Any
    text: str
    type: str | None
    error: FeelPlace | None
    warnings: list[FeelPlace]


class LintFile(Request):
    """A file: BPMN, or by its name DMN (``.dmn``) or a form (``.form``)."""

    content: Annotated[str, Meta(max_length=FILE_CHARS_MAX)]
    name: Annotated[str, Meta(max_length=500)] = ""
    explore: bool = True


class LintFinding(Record):
    """What is wrong, or worth a remark."""

    severity: str
    code: str
    message: str
    element_id: str
    line: int
    column: int
    suggestion: str


class LintFindings(Record):
    """Everything that was found, by line."""

    findings: list[LintFinding]


class TryDecision(Request):
    """A deployed decision by its key, or one of a file that need not be deployed."""

    decision_definition_key: str | UnsetType = UNSET
    xml: Annotated[str, Meta(max_length=FILE_CHARS_MAX)] | UnsetType = UNSET
    decision_id: str = ""
    variables: dict[str, Any] = {}


class DecisionWarned(Record):
    """Why something became null."""

    code: str
    message: str
    decision_id: str
    element_id: str
    line: int
    column: int


class TriedDecision(Record):
    """The result, and every decision on the way: its inputs, the rules of its tables that matched, its output."""

    decision_id: str
    result: Any
    trace: list[Any]
    warnings: list[DecisionWarned]
    left_out: int


class PastEvaluation(Record):
    """An evaluation by a business rule task. Inputs and outputs are kept at history level ``full``: see ``isKept``."""

    date: datetime | None
    decision_id: str
    decision_definition_key: str
    decision_version: int
    process_instance_key: str
    process_definition_id: str
    element_id: str
    result: Any
    trace: list[Any]
    warnings: str
    is_kept: bool  # False: which rules matched is known, and no value; null means nothing then


class PastEvaluations(Record):
    """The newest first; ``endCursor`` is where to look on, null where every instance was looked at."""

    items: list[PastEvaluation]
    end_cursor: str | None


# -- FEEL -------------------------------------------------------------------------------------------------------------
async def evaluate_feel(call: Call) -> FeelAnswer:
    """The value of an expression, or where it cannot be read. What cannot be read is an answer here, no refusal."""
    body: EvaluateFeel = call.body
    names = {name: from_json(value) for name, value in body.context.items()}
    now = to_datetime(call.desk.app.now)
    return await asyncio.to_thread(_evaluated, body, names, now)


def _evaluated(body: EvaluateFeel, names: dict[str, Any], now: datetime) -> FeelAnswer:
    is_marked = body.expression.startswith("=") and not body.is_tests
    text = body.expression[1:] if is_marked else body.expression
    warnings: list[FeelWarning] = []
    found: object = None
    try:
        if body.check_only:
            warnings.extend(flaws(text, names, tests=body.is_tests))
        elif body.is_tests:
            value = from_json(body.value)
            found = compile_unary_tests(text, names).evaluate(names, value, now=now, warnings=warnings)
        else:
            found = compile_expression(text, names).evaluate(names, now=now, warnings=warnings)
    except FeelSyntaxError as error:
        place = FeelPlace(message=error.message, line=error.line, column=error.column + _shift(error.line, is_marked))
        return FeelAnswer(result=None, text="", type=None, error=place, warnings=[])
    return FeelAnswer(
        result=_plain(found),
        text="" if body.check_only else text_of(found),
        type=None if body.check_only else _type_of(found),
        error=None,
        warnings=[
            FeelPlace(message=each.message, line=each.line, column=each.column + _shift(each.line, is_marked))
            for each in warnings
        ],
    )


def _shift(line: int, is_marked: bool) -> int:  # noqa: FBT001 - a fact about the text
    """The sign of equality in front stands in the first line's columns."""
    return 1 if is_marked and line == 1 else 0


def _type_of(found: object) -> str:
    """The type's name in FEEL."""
    return "null" if found is None else TYPES.get(type(found), "number")


def _plain(found: object) -> object:
    """The value as JSON has it; as FEEL writes it where there is a function in it."""
    try:
        return to_json(found)
    except ValueError:
        return text_of(found)


# -- models -----------------------------------------------------------------------------------------------------------
async def lint(call: Call) -> LintFindings:
    """What is wrong with a file or worth a remark, as ``procession lint`` says it."""
    body: LintFile = call.body
    methods = call.desk.app.handlers.methods.keys()
    return LintFindings(findings=await asyncio.to_thread(_findings, body, frozenset(methods)))


def _findings(body: LintFile, methods: frozenset[str]) -> list[LintFinding]:
    content, name = body.content.encode(errors="replace"), body.name.lower()
    if name.endswith((".form", ".form.json")):
        return _of_form(body.name, content)
    if name.endswith(".dmn"):
        found = lint_decisions(content)
    else:
        found = lint_resource(content, methods=methods)
        if body.explore and len(content) <= EXPLORED_CHARS_MAX:
            found += _foreseen(content, methods)
    return [_finding(problem) for problem in sorted(found, key=lambda problem: (problem.line, problem.column))]


def _foreseen(content: bytes, methods: frozenset[str]) -> list[ModelProblem]:
    """What can go wrong when it runs; nothing of a model that does not compile."""
    try:
        return list(remarks(compile_resource(content, methods=methods)))
    except InvalidModel:
        return []


def _of_form(name: str, content: bytes) -> list[LintFinding]:
    try:
        read_form(name, content)
    except InvalidModel as error:
        return [
            LintFinding(
                severity="error",
                code="INVALID_FORM",
                message=str(problem),
                element_id="",
                line=1,
                column=0,
                suggestion="Save it from a modeler of Camunda 8 forms (form-js)",
            )
            for problem in error.problems
        ]
    return []


def _finding(problem: ModelProblem) -> LintFinding:
    return LintFinding(
        severity=problem.severity,
        code=problem.code,
        message=problem.message,
        element_id=problem.element_id,
        line=problem.line,
        column=problem.column,
        suggestion=problem.suggestion,
    )


# -- decisions --------------------------------------------------------------------------------------------------------
async def try_decision(call: Call) -> TriedDecision:
    """What a decision says of some variables, with every rule that matched on the way."""
    body: TryDecision = call.body
    if isinstance(body.decision_definition_key, str):
        stored = await _decision(call, body.decision_definition_key)
        return _tried(stored.decision_id, await call.desk.app_of(stored.tenant).evaluate(stored, body.variables))
    if not isinstance(body.xml, str):
        raise Problem(400, "Expected decisionDefinitionKey, or a file as xml, found neither")
    model = await asyncio.to_thread(compile_decisions, body.xml.encode(errors="replace"), name="draft.dmn")
    decision_id = body.decision_id or _only_decision(model)
    values, now = plain_variables(body.variables).values, to_datetime(call.desk.app.now)
    return _tried(decision_id, await asyncio.to_thread(model.evaluate, decision_id, values, now=now))


def _only_decision(model: DecisionModel) -> str:
    names = list(model.decisions)
    if len(names) != 1:
        raise Problem(400, f"Expected decisionId, since the file holds {len(names)} decisions")
    return names[0]


def _tried(decision_id: str, evaluation: Evaluation) -> TriedDecision:
    return TriedDecision(
        decision_id=decision_id,
        result=_plain(evaluation.result),
        trace=trace_as_json(evaluation),
        warnings=[
            DecisionWarned(
                code=each.code,
                message=each.message,
                decision_id=each.decision_id,
                element_id=each.element_id,
                line=each.line,
                column=each.column,
            )
            for each in evaluation.warnings
        ],
        left_out=evaluation.left_out,
    )


async def _decision(call: Call, text: str) -> StoredDecision:
    """A deployed decision that somebody sees. Raises NotFound."""
    key = key_of(text, "decisionDefinitionKey")
    rows = await call.desk.rows.list_decisions()
    found = next((row for row in rows if row.key == key and call.who.sees(row.tenant)), None)
    if found is None:
        raise NotFound(f"Expected a decision definition with key {key}, found none")
    return found


def _has_values(event: e.DecisionEvaluated) -> bool:
    """Whether it was written at a level that keeps values, whatever the level is now."""
    tables = [table for each in event.trace for table in each.get("tables", ())]
    return (
        event.result is not None
        or any(rule["evaluatedOutputs"] for table in tables for rule in table["matchedRules"])
        or any(one["inputValue"] is not None for table in tables for one in table["evaluatedInputs"])
    )


async def past_evaluations(call: Call) -> PastEvaluations:
    """Evaluations of a decision by instances, the newest instances first; every version of it."""
    decision = await _decision(call, call.path["decisionDefinitionKey"])
    after = call.query.get("after", "")
    which = InstanceSearch(
        after=key_of(after, "after") if after else 0, limit=PAST_INSTANCES_MAX, look=PAST_INSTANCES_MAX
    )
    if call.who.tenants is not None:
        which.tenants = sorted(call.who.tenants) or ["\0"]
    page = await call.desk.rows.find_instances(which)
    owners = {row.key: row for row in page.instances}
    name = msgspec.json.encode(decision.decision_id).decode()
    is_full = call.desk.app.history_level == History.FULL
    rows = await call.desk.rows.histories(list(owners), containing=name)
    items: list[PastEvaluation] = []
    for row in rows:
        for event in _events(row.events):
            if isinstance(event, e.DecisionEvaluated) and event.decision_id == decision.decision_id:
                definition = await call.desk.app.compiled(row.definition)
                items.append(
                    PastEvaluation(
                        date=when(row.at),
                        decision_id=event.decision_id,
                        decision_definition_key=str(event.decision),
                        decision_version=event.version,
                        process_instance_key=str(row.instance),
                        process_definition_id=owners[row.instance].process_id,
                        element_id=definition.elements[event.element].id,
                        result=event.result,
                        trace=event.trace,
                        warnings=event.warnings,
                        is_kept=is_full or _has_values(event),
                    )
                )
    items.sort(key=lambda each: each.date or to_datetime(0), reverse=True)
    return PastEvaluations(items=items, end_cursor=str(page.next_after) if page.next_after else None)


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/feel",
        operation_id="evaluateFeel",
        verb=evaluate_feel,
        role=Role.READER,
        summary="The value of a FEEL expression, or where it cannot be read",
        group=GROUP,
        body=EvaluateFeel,
        answer=FeelAnswer,
    ),
    Endpoint(
        method="POST",
        path="/lint",
        operation_id="lintFile",
        verb=lint,
        role=Role.READER,
        summary="What is wrong with a BPMN file, a DMN file or a form, or worth a remark",
        group=GROUP,
        body=LintFile,
        answer=LintFindings,
    ),
    Endpoint(
        method="POST",
        path="/decisions/evaluate",
        operation_id="tryDecision",
        verb=try_decision,
        role=Role.READER,
        summary="What a decision says of some variables, deployed or not, with its trace",
        group=GROUP,
        body=TryDecision,
        answer=TriedDecision,
        problems=(404,),
    ),
    Endpoint(
        method="GET",
        path="/decisions/{decisionDefinitionKey}/evaluations",
        operation_id="getPastEvaluations",
        verb=past_evaluations,
        role=Role.READER,
        summary="What a decision has decided for instances, as their history tells",
        group=GROUP,
        answer=PastEvaluations,
        queries=("after",),
    ),
)
