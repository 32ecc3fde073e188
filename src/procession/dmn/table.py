"""Compiled decision tables: rows of tests and outputs, evaluated rule by rule.

A rule is left at its first test that fails, and outputs are evaluated only for rules that matched. How a table gets
here from its XML is the matter of `table_reader`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from procession.dmn.hits import (
    MULTIPLE,
    Aggregation,
    HitPolicy,
    Priorities,
    Row,
    aggregate,
    by_priority,
    single_row,
)
from procession.dmn.limits import RULES_PER_TURN
from procession.dmn.run import Boxed, DecisionRun, Place, Variables
from procession.dmn.trace import EvaluatedInput, EvaluatedOutput, EvaluatedTable, MatchedRule
from procession.dmn.types import Coercion
from procession.feel import UnaryTests
from procession.feel.problems import Invalid
from procession.feel.run import NOWHERE, Frame


class Input(NamedTuple):
    """An input column. `alias` is a name that cells of Camunda 7 use for the value; empty where none does."""

    id: str
    name: str
    value: Boxed
    coercion: Coercion | None
    allowed: UnaryTests | None
    alias: str
    place: Place


class Output(NamedTuple):
    """An output column. `priorities` are its output values, highest first."""

    id: str
    name: str
    coercion: Coercion | None
    allowed: UnaryTests | None
    priorities: Priorities
    default: Boxed | None
    place: Place


Passes = Callable[[Frame, object], bool | None]


class Test(NamedTuple):
    """One input entry that not every value passes."""

    column: int
    passes: Passes
    place: Place
    turns: int


class Rule(NamedTuple):
    """A row: its tests and its output entries."""

    id: str
    number: int
    tests: tuple[Test, ...]
    outputs: tuple[tuple[Boxed, Place], ...]


class Table:
    """A compiled decision table."""

    __slots__ = ("_turns", "aggregation", "has_defaults", "id", "inputs", "outputs", "place", "policy", "rules")

    def __init__(
        self,
        place: Place,
        policy: HitPolicy,
        aggregation: Aggregation | None,
        inputs: tuple[Input, ...],
        outputs: tuple[Output, ...],
        rules: tuple[Rule, ...],
    ) -> None:
        self.id = place.element_id
        self.place = place
        self.policy: HitPolicy = policy
        self.aggregation: Aggregation | None = aggregation
        self.inputs = inputs
        self.outputs = outputs
        self.rules = rules
        texts = sum(test.turns for rule in rules for test in rule.tests)
        self._turns = 1 + len(rules) // RULES_PER_TURN + texts
        self.has_defaults = any(output.default is not None for output in outputs)

    def __call__(self, run: DecisionRun, variables: Variables) -> object:
        """The table's result over the variables in scope; the run keeps what matched."""
        run.spend(self._turns)  # a table in a function that a loop calls costs what it is large
        try:
            inputs = [self._input(run, variables, column) for column in self.inputs]
        except Invalid as problem:
            return self._finish(run, [], [], run.note(problem))
        frames = [_frame(run, variables, column, value) for column, value in zip(self.inputs, inputs, strict=True)]
        matched = self._matches(run, frames, inputs)
        rows: list[Row] = []
        try:
            rows.extend(self._outputs(run, variables, rule) for rule in matched)
            result = self._result(run, variables, rows)
        except Invalid as problem:
            return self._finish(run, inputs, list(zip(matched, rows, strict=False)), run.note(problem))
        return self._finish(run, inputs, list(zip(matched, rows, strict=True)), result)

    def _input(self, run: DecisionRun, variables: Variables, column: Input) -> object:
        value = column.value(run, variables)
        if column.coercion is not None:
            value = column.coercion(run, value, column.place, f"The input '{column.name}'")
        if column.allowed is not None and value is not None:
            run.at = column.place
            if column.allowed.passes(Frame(run, variables, value, None), value) is not True:
                raise Invalid(f"The value of the input '{column.name}' is none of its input values")
        return value

    def _matches(self, run: DecisionRun, frames: list[Frame], inputs: list[object]) -> list[Rule]:
        matched: list[Rule] = []
        only_first = self.policy == "FIRST"
        for rule in self.rules:
            for column, passes, place, _ in rule.tests:
                run.at = place
                if passes(frames[column], inputs[column]) is not True:
                    break
            else:
                matched.append(rule)
                if only_first:
                    break
        run.at = self.place
        return matched

    def _outputs(self, run: DecisionRun, variables: Variables, rule: Rule) -> Row:
        return tuple(
            _output(run, column, boxed(run, variables), place)
            for column, (boxed, place) in zip(self.outputs, rule.outputs, strict=True)
        )

    def _result(self, run: DecisionRun, variables: Variables, rows: list[Row]) -> object:
        policy = self.policy
        if not rows and self.has_defaults:
            default = self._named(tuple(self._default(run, variables, column) for column in self.outputs))
            return [default] if policy in MULTIPLE and self.aggregation is None else default
        run.at = self.place
        if not rows and (policy not in MULTIPLE or self.aggregation not in (None, "COUNT")):
            return run.warn("no-rule", "No rule matches, and the table has no default output entries", NOWHERE)
        if policy not in MULTIPLE:
            return self._named(single_row(policy, rows, self._priorities(), run))
        if policy == "OUTPUT ORDER":
            rows = by_priority(rows, self._priorities(), run)
        if self.aggregation is not None:
            return aggregate(self.aggregation, [row[0] for row in rows], run)
        return [self._named(row) for row in rows]

    def _priorities(self) -> list[Priorities]:
        return [column.priorities for column in self.outputs]

    def _default(self, run: DecisionRun, variables: Variables, column: Output) -> object:
        return None if column.default is None else _output(run, column, column.default(run, variables), column.place)

    def _named(self, row: Row) -> object:
        """One output is its value, several are a context."""
        if len(row) == 1:
            return row[0]
        return {column.name: value for column, value in zip(self.outputs, row, strict=True)}

    def _finish(
        self, run: DecisionRun, inputs: list[object], matched: list[tuple[Rule, Row]], result: object
    ) -> object:
        columns = zip(self.inputs, inputs, strict=False)
        run.keep_table(
            EvaluatedTable(
                id=self.id,
                hit_policy=self.policy,
                inputs=tuple([EvaluatedInput(column.id, column.name, value) for column, value in columns]),
                matched_rules=tuple([self._matched(rule, row) for rule, row in matched]),
                result=result,
            )
        )
        return result

    def _matched(self, rule: Rule, row: Row) -> MatchedRule:
        outputs = [
            EvaluatedOutput(column.id, column.name, value) for column, value in zip(self.outputs, row, strict=True)
        ]
        return MatchedRule(rule.id, rule.number, tuple(outputs))


def _frame(run: DecisionRun, variables: Variables, column: Input, value: object) -> Frame:
    if column.alias:
        return Frame(run, {**variables, column.alias: value}, value, None)
    return Frame(run, variables, value, None)


def _output(run: DecisionRun, column: Output, value: object, place: Place) -> object:
    if column.coercion is not None:
        value = column.coercion(run, value, place, f"The output '{column.name}'")
    if column.allowed is not None and value is not None:
        run.at = place
        if column.allowed.passes(Frame(run, {}, value, None), value) is not True:
            raise Invalid(f"The value of the output '{column.name}' is none of its output values")
    return value
