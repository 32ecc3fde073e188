"""What an evaluation tells: the result, what was decided on the way, and why something is null.

The shapes and names are those of Camunda 8's decision instances. Values are values of FEEL; `procession.feel.to_json`
writes them as JSON.
"""

from __future__ import annotations

from typing import Literal

import msgspec

ElementKind = Literal["decision table", "expression", "service", "function", "none"]


class DecisionWarning(msgspec.Struct, frozen=True, rename="camel"):
    """Why something became null: `line` is that of the resource, `column` that of the expression (0: no place)."""

    code: str
    message: str
    decision_id: str = ""
    element_id: str = ""
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        where = f"line {self.line}, decision '{self.decision_id}'"
        if self.element_id and self.element_id != self.decision_id:
            where += f", element '{self.element_id}'"
        return f"{where}: {self.message}" + (f" (column {self.column})" if self.column else "")


class EvaluatedInput(msgspec.Struct, frozen=True):
    """The value that one input column was compared with."""

    id: str
    name: str
    value: object


class EvaluatedOutput(msgspec.Struct, frozen=True):
    """The value of one output entry of a rule that matched."""

    id: str
    name: str
    value: object


class MatchedRule(msgspec.Struct, frozen=True):
    """A rule that matched. `index` counts from 1."""

    id: str
    index: int
    outputs: tuple[EvaluatedOutput, ...]


class EvaluatedTable(msgspec.Struct, frozen=True):
    """One evaluation of a decision table. A table within a function may be evaluated often in one decision."""

    id: str
    hit_policy: str
    inputs: tuple[EvaluatedInput, ...]
    matched_rules: tuple[MatchedRule, ...]
    result: object


class EvaluatedDecision(msgspec.Struct, frozen=True):
    """One decision of the graph: what it required, the tables within it, and its result."""

    id: str
    name: str
    kind: ElementKind
    inputs: tuple[EvaluatedInput, ...]
    tables: tuple[EvaluatedTable, ...]
    result: object


class Evaluation(msgspec.Struct, frozen=True):
    """The result of the decision that was asked for; `trace` holds every decision in the order of evaluation.

    `left_out` counts the decisions and tables that the trace has no room for.
    """

    result: object
    trace: tuple[EvaluatedDecision, ...]
    warnings: tuple[DecisionWarning, ...]
    left_out: int = 0
