"""What a process makes of a decision: a value of plain JSON, and the shapes of Camunda 7's `mapDecisionResult`.

A result of decisions is a list of rows, each a context of outputs by name: none or one of a table with one result, one
per rule of a table with a list, one for any other logic.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, cast

from procession.dmn.graph import Decision
from procession.dmn.model import DecisionModel
from procession.dmn.trace import EvaluatedInput, EvaluatedTable, Evaluation
from procession.errors import InvalidValue
from procession.feel import Function, text_of, to_json
from procession.feel.convert import Json
from procession.feel.values import is_context

DecisionResultMapping = Literal["singleEntry", "singleResult", "collectEntries", "resultList"]


def evaluate_decision(
    model: DecisionModel,
    decision_id: str,
    variables: Mapping[str, object],
    *,
    now: datetime | None = None,
    functions: Mapping[str, Function] | None = None,
) -> tuple[Json, Evaluation]:
    """A decision's result as plain JSON, and the evaluation with its trace and warnings.

    Raises NotFound for a decision that is not there, InvalidValue for a result that JSON has no form for.
    """
    evaluation = model.evaluate(decision_id, variables, now=now, functions=functions)
    try:
        return to_json(evaluation.result), evaluation
    except ValueError as problem:
        message = f"The result of the decision '{decision_id}' cannot be a variable: {problem}"
        raise InvalidValue(message) from None


def trace_as_json(evaluation: Evaluation) -> list[Json]:
    """The decisions of a trace as plain JSON, in Camunda 8's words. What JSON has no form for is its text."""
    return [
        {
            "decisionId": decision.id,
            "decisionName": decision.name,
            "decisionType": decision.kind,
            "evaluatedInputs": _inputs_as_json(decision.inputs),
            "tables": [_table_as_json(table) for table in decision.tables],
            "output": _lenient_json(decision.result),
        }
        for decision in evaluation.trace
    ]


def _table_as_json(table: EvaluatedTable) -> Json:
    rules: list[Json] = [
        {
            "ruleId": rule.id,
            "ruleIndex": rule.index,
            "evaluatedOutputs": [
                {"outputId": output.id, "outputName": output.name, "outputValue": _lenient_json(output.value)}
                for output in rule.outputs
            ],
        }
        for rule in table.matched_rules
    ]
    return {
        "tableId": table.id,
        "hitPolicy": table.hit_policy,
        "evaluatedInputs": _inputs_as_json(table.inputs),
        "matchedRules": rules,
        "output": _lenient_json(table.result),
    }


def _inputs_as_json(inputs: tuple[EvaluatedInput, ...]) -> list[Json]:
    return [{"inputId": one.id, "inputName": one.name, "inputValue": _lenient_json(one.value)} for one in inputs]


def _lenient_json(value: object) -> Json:
    try:
        return to_json(value)
    except ValueError:
        return text_of(value)


def map_decision_result(decision: Decision, value: Json, mapping: DecisionResultMapping) -> Json:
    """A decision's result, as JSON, in one of the shapes that Camunda 7 gives to business rule tasks.

    singleEntry: the one value of the one row. singleResult: the one row, a context. collectEntries: the list of the
    one value of every row. resultList: the list of all rows. Without rows the first two are null and the others
    empty. Raises InvalidValue where a result has more rows, or a row more outputs, than the shape has place for.
    """
    rows = result_rows(decision, value)
    match mapping:
        case "singleEntry":
            row = _only_row(decision, rows, mapping)
            return None if row is None else _only_entry(decision, row, mapping)
        case "singleResult":
            return cast("Json", _only_row(decision, rows, mapping))
        case "collectEntries":
            return [_only_entry(decision, row, mapping) for row in rows]
        case "resultList":
            return cast("Json", rows)


def result_rows(decision: Decision, value: Json) -> list[dict[str, Json]]:
    """A decision's result as a list of rows, each with its outputs by name."""
    logic = decision.logic
    if logic.kind != "decision table":
        return [{decision.variable: value}]
    if logic.lists and isinstance(value, list):
        return [_row(logic.outputs, item) for item in value]
    return [] if value is None else [_row(logic.outputs, value)]


def _row(outputs: tuple[str, ...], value: Json) -> dict[str, Json]:
    if len(outputs) > 1 and is_context(value):
        return dict(cast("Mapping[str, Json]", value))
    return {next(iter(outputs), ""): value}


def _only_row(decision: Decision, rows: list[dict[str, Json]], mapping: str) -> dict[str, Json] | None:
    if len(rows) > 1:
        raise InvalidValue(
            f"The decision '{decision.id}' gave {len(rows)} results, but the mapping {mapping} has place for one; "
            "use collectEntries or resultList, or another hit policy"
        )
    return rows[0] if rows else None


def _only_entry(decision: Decision, row: Mapping[str, Json], mapping: str) -> Json:
    if len(row) > 1:
        raise InvalidValue(
            f"The decision '{decision.id}' has the outputs {', '.join(row)}, but the mapping {mapping} has place for "
            "one; use singleResult or resultList"
        )
    return next(iter(row.values()), None)
