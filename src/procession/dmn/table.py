"""Decision tables: compiled once to rows of tests and outputs, then evaluated rule by rule.

Tests that any value passes are left out at compile time, a rule is left at its first test that fails, and outputs are
evaluated only for rules that matched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, cast

from procession.dmn.build import Build, Names, text_of
from procession.dmn.hits import (
    AGGREGATIONS,
    MULTIPLE,
    PRIORITIZED,
    Aggregation,
    HitPolicy,
    Priorities,
    Row,
    aggregate,
    by_priority,
    hit_policy,
    single_row,
)
from procession.dmn.run import Boxed, DecisionRun, Place, Variables
from procession.dmn.trace import EvaluatedInput, EvaluatedOutput, EvaluatedTable, MatchedRule
from procession.dmn.types import Coercion
from procession.feel import FeelSyntaxError, UnaryTests
from procession.feel import compile as compile_feel
from procession.feel.problems import Invalid
from procession.feel.run import Frame
from procession.model.xml import Xml

_CELL_INPUT: Final = "cellInput"  # what Camunda 7 calls the input's value in a cell, unless the model says otherwise


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


class Rule(NamedTuple):
    """A row: its tests and its output entries."""

    id: str
    number: int
    tests: tuple[Test, ...]
    outputs: tuple[tuple[Boxed, Place], ...]


class Table:
    """A compiled decision table."""

    __slots__ = ("aggregation", "has_defaults", "id", "inputs", "outputs", "place", "policy", "rules")

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
        self.has_defaults = any(output.default is not None for output in outputs)

    def __call__(self, run: DecisionRun, variables: Variables) -> object:
        """The table's result over the variables in scope; the run keeps what matched."""
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
            for column, passes, place in rule.tests:
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
        if policy not in MULTIPLE:
            return self._named(single_row(policy, rows, self._priorities())) if rows else None
        if policy == "OUTPUT ORDER":
            rows = by_priority(rows, self._priorities())
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


# Compiling


def compile_table(build: Build, element: Xml, names: Names) -> Boxed:
    """The closure of a decision table."""
    policy = hit_policy(element.get("hitPolicy"))
    if policy is None:
        build.findings.error("UNKNOWN_HIT_POLICY", f"There is no hit policy '{element.get('hitPolicy')}'", element)
        policy = "UNIQUE"
    columns = list(element.every("output"))
    if not columns:
        build.findings.error("NO_OUTPUT", "The decision table has no output column", element)
    inputs = tuple(_read_input(build, column, names) for column in element.every("input"))
    outputs = tuple(_read_output(build, element, column, names, single=len(columns) == 1) for column in columns)
    if policy in PRIORITIZED and not any(output.priorities for output in outputs):
        message = f"The hit policy {policy} needs output values, which give the order"
        build.findings.error("NO_OUTPUT_VALUES", message, element, "List the output values, the most important first")
    aggregation = _aggregation(build, element, policy, len(outputs))
    aliased: set[int] = set()
    rules = tuple(
        _rule(build, rule, number, inputs, len(outputs), names, aliased)
        for number, rule in enumerate(element.every("rule"), 1)
    )
    inputs = tuple(column if place in aliased else column._replace(alias="") for place, column in enumerate(inputs))
    return Table(build.place(element), policy, aggregation, inputs, outputs, rules)


def _aggregation(build: Build, element: Xml, policy: HitPolicy, outputs: int) -> Aggregation | None:
    text = element.get("aggregation").strip().upper()
    if not text or policy != "COLLECT":
        return None
    aggregation: Aggregation | None = next((known for known in AGGREGATIONS if known == text), None)
    if aggregation is None:
        build.findings.error("UNKNOWN_AGGREGATION", f"There is no aggregation '{text}'", element)
        return None
    if outputs > 1:
        message = f"The aggregation {text} needs a table with one output column, found {outputs}"
        build.findings.error("AGGREGATION_OF_SEVERAL_OUTPUTS", message, element)
        return None
    return aggregation


def _read_input(build: Build, element: Xml, names: Names) -> Input:
    expression = element.first("inputExpression")
    if expression is None or not text_of(expression):
        build.findings.warning("NO_EXPRESSION", "The input column has no expression; its value is null", element)
        expression = element
    return Input(
        id=element.id,
        name=element.get("label") or text_of(expression) or element.id,
        value=build.literal(expression, names),
        coercion=build.coercion(expression),
        allowed=build.tests(element.first("inputValues"), names),
        alias=element.get("camunda:inputVariable") or _CELL_INPUT,
        place=build.place(expression),
    )


def _read_output(build: Build, table: Xml, element: Xml, names: Names, *, single: bool) -> Output:
    values = element.first("outputValues")
    default = element.first("defaultOutputEntry")
    typed_by = element
    if single and not element.get("typeRef"):
        typed_by = _declared_type(table)
    return Output(
        id=element.id,
        name=_output_name(element),
        coercion=build.coercion(element),
        allowed=build.tests(values, names),
        priorities=_priorities(text_of(values) if values is not None else build.types.allowed(typed_by.get("typeRef"))),
        default=build.literal(default, names) if default is not None and text_of(default) else None,
        place=build.place(element),
    )


def _output_name(element: Xml) -> str:
    return " ".join((element.get("name") or element.get("label") or element.id).split())


def table_shape(element: Xml) -> tuple[tuple[str, ...], bool]:
    """The names of a table's outputs, and whether its result is a list with an item per rule that matched."""
    is_aggregated = bool(element.get("aggregation").strip()) and hit_policy(element.get("hitPolicy")) == "COLLECT"
    is_list = hit_policy(element.get("hitPolicy")) in MULTIPLE and not is_aggregated
    return tuple(_output_name(column) for column in element.every("output")), is_list


def _declared_type(table: Xml) -> Xml:
    """The element that says of which type the result of a table with one output is."""
    if table.get("typeRef") or table.parent is None:
        return table
    return table.parent.first("variable") or table.parent


def _priorities(text: str) -> Priorities:
    """Output values as a list. Those that are no list of values have been reported as tests, or have no order."""
    if not text or text == "-":
        return ()
    try:
        values = compile_feel(f"[{text}]").evaluate({})
    except FeelSyntaxError:
        return ()
    return tuple(cast("list[object]", values)) if type(values) is list else ()


def _rule(
    build: Build, element: Xml, number: int, inputs: tuple[Input, ...], outputs: int, names: Names, aliased: set[int]
) -> Rule:
    """A row; `aliased` gathers the columns whose value is read by its alias."""
    cells, entries = list(element.every("inputEntry")), list(element.every("outputEntry"))
    for what, found, wanted in (("input", len(cells), len(inputs)), ("output", len(entries), outputs)):
        if found != wanted:
            message = f"Rule {number} has {found} {what} entries, but the table has {wanted} {what} columns"
            build.findings.error("WRONG_NUMBER_OF_ENTRIES", message, element)
    tests: list[Test] = []
    for column, (cell, clause) in enumerate(zip(cells, inputs, strict=False)):
        compiled = build.tests(cell, names)
        if compiled is not None:
            tests.append(Test(column, compiled.passes, build.place(cell)))
            if clause.alias in compiled.names:
                aliased.add(column)
    results = tuple((build.literal(entry, names), build.place(entry)) for entry in entries)
    return Rule(element.id, number, tuple(tests), results)
