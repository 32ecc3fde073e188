"""One evaluation of decisions: where it stands, what it warned of, what it decided; and the shape of compiled logic.

A boxed expression is compiled to a function of the run and the variables in scope. Nothing here knows the elements of
DMN, and nothing outlives the evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final, NamedTuple

from procession.dmn.limits import TRACE_DECISIONS_MAX, TRACE_TABLES_MAX
from procession.dmn.trace import DecisionWarning, EvaluatedDecision, EvaluatedTable
from procession.feel import FeelWarning, Function
from procession.feel.problems import Invalid, LimitReached, WarningCode
from procession.feel.run import NOWHERE, Run, Spot


class Place(NamedTuple):
    """What a warning points to: the decision or function, the element within, its line in the resource."""

    owner_id: str
    element_id: str
    line: int


UNPLACED: Final = Place("", "", 0)

Variables = dict[str, object]


class DecisionRun(Run):
    """A run of FEEL that knows which element of the model it is in. `at` is set before every expression."""

    __slots__ = ("_place_of", "at", "decisions", "left_out", "tables")

    def __init__(self, now: datetime | None, functions: Mapping[str, Function] | None = None) -> None:
        super().__init__(now, [], functions)
        self.at = UNPLACED
        self.decisions: list[EvaluatedDecision] = []
        self.tables: list[EvaluatedTable] = []
        self.left_out = 0
        self._place_of: list[tuple[FeelWarning, Place]] = []

    def warn(self, code: WarningCode, message: str, spot: Spot) -> None:
        """Note why a value became null, and in which element."""
        warnings = self.warnings
        before = 0 if warnings is None else len(warnings)
        super().warn(code, message, spot)
        if warnings is not None and len(warnings) > before:
            self._place_of.append((warnings[-1], self.at))

    def keep_table(self, table: EvaluatedTable) -> None:
        """Keep a table for the trace of its decision, as long as there is room."""
        if len(self.tables) < TRACE_TABLES_MAX:
            self.tables.append(table)
        else:
            self.left_out += 1

    def keep_decision(self, decision: EvaluatedDecision) -> None:
        """Keep a decision for the trace, as long as there is room."""
        if len(self.decisions) < TRACE_DECISIONS_MAX:
            self.decisions.append(decision)
        else:
            self.left_out += 1

    def note(self, problem: Exception) -> None:
        """The warning that an exception out of an evaluation stands for."""
        match problem:
            case LimitReached():
                self.warn("limit", problem.message, NOWHERE)
            case RecursionError():
                self.warn("limit", "The evaluation is nested too deeply", NOWHERE)
            case Invalid():
                self.warn(problem.code, problem.message, NOWHERE)
            case _:
                self.warn("internal", f"Bug in the evaluation: {type(problem).__name__}: {problem}", NOWHERE)

    def decision_warnings(self) -> tuple[DecisionWarning, ...]:
        """Every warning so far, with the element that it belongs to."""
        return tuple(
            DecisionWarning(
                code=warning.code,
                message=warning.message,
                decision_id=place.owner_id,
                element_id=place.element_id,
                line=place.line + max(warning.line - 1, 0),
                column=warning.column,
            )
            for warning, place in self._place_of
        )


# A boxed expression, compiled: the run and the variables in scope give its value.
Boxed = Callable[[DecisionRun, Variables], object]
