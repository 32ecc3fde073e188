"""Decisions of DMN 1.1 to 1.5: files to compiled models, models to results with a trace. Pure: values in, values out.

    from procession.dmn import compile_resource

    model = compile_resource(content, name="discount.dmn")         # raises InvalidModel with every error
    evaluation = model.evaluate("discount", {"orderTotal": 1200})  # never raises for what the values are
    evaluation.result, evaluation.trace, evaluation.warnings

What has no meaning is null (None), as in FEEL, and a warning says why and in which element. The room reads no clock,
stores nothing, and fetches nothing that a file refers to.
"""

from procession.dmn.compile import compile_resource, compile_resources, lint_resource
from procession.dmn.model import DecisionModel
from procession.dmn.results import DecisionResultMapping, evaluate_decision, map_decision_result, trace_as_json
from procession.dmn.trace import (
    DecisionWarning,
    EvaluatedDecision,
    EvaluatedInput,
    EvaluatedOutput,
    EvaluatedTable,
    Evaluation,
    MatchedRule,
)
from procession.errors import InvalidModel
from procession.model.definition import Problem

__all__ = [
    "DecisionModel",
    "DecisionResultMapping",
    "DecisionWarning",
    "EvaluatedDecision",
    "EvaluatedInput",
    "EvaluatedOutput",
    "EvaluatedTable",
    "Evaluation",
    "InvalidModel",
    "MatchedRule",
    "Problem",
    "compile_resource",
    "compile_resources",
    "evaluate_decision",
    "lint_resource",
    "map_decision_result",
    "trace_as_json",
]
