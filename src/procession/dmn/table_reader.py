"""Decision tables from XML: columns, rules and hit policies to compiled tables, with every problem noted.

Tests that any value passes are left out here.
"""

from __future__ import annotations

from typing import Final, cast

from procession.dmn.build import NOT_FEEL, Build, Names, text_of
from procession.dmn.hits import (
    AGGREGATIONS,
    MULTIPLE,
    NO_PRIORITIES,
    PRIORITIZED,
    Aggregation,
    HitPolicy,
    Priorities,
    hit_policy,
)
from procession.dmn.run import Boxed
from procession.dmn.table import Input, Output, Rule, Table, Test
from procession.feel import FeelSyntaxError, UnaryTests
from procession.feel import compile as compile_feel
from procession.model.xml import Xml

_CELL_INPUT: Final = "cellInput"  # what Camunda 7 calls the input's value in a cell, unless the model says otherwise


def compile_table(build: Build, element: Xml, names: Names) -> Boxed:
    """The closure of a decision table."""
    policy = hit_policy(element.get("hitPolicy"))
    if policy is None:
        build.findings.error("UNKNOWN_HIT_POLICY", f"There is no hit policy '{element.get('hitPolicy')}'", element)
        policy = "UNIQUE"
    columns = list(element.every("output"))
    if not columns:
        build.findings.error("NO_OUTPUT", "The decision table has no output column", element)
    _check_names(build, columns)
    inputs = tuple(_read_input(build, column, names) for column in element.every("input"))
    outputs = tuple(_read_output(build, element, column, names, single=len(columns) == 1) for column in columns)
    if policy in PRIORITIZED and not any(output.priorities for output in outputs):
        message = f"The hit policy {policy} needs output values, which give the order"
        build.findings.error("NO_OUTPUT_VALUES", message, element, "List the output values, the most important first")
    aggregation = _aggregation(build, element, policy, len(outputs))
    reader = _Rules(build, inputs, len(outputs), names)
    rules = tuple(reader.rule(rule, number) for number, rule in enumerate(element.every("rule"), 1))
    inputs = tuple(
        column if place in reader.aliased else column._replace(alias="") for place, column in enumerate(inputs)
    )
    return Table(build.place(element), policy, aggregation, inputs, outputs, rules)


def _check_names(build: Build, columns: list[Xml]) -> None:
    """Several outputs are members of a context, and so need names of their own."""
    seen: set[str] = set()
    for column in columns if len(columns) > 1 else []:
        name = _output_name(column)
        if not name:
            build.findings.error("NO_NAME", "Each of several output columns needs a name", column)
        elif name in seen:
            build.findings.error("NAME_TWICE", f"There are two output columns '{name}'", column)
        seen.add(name)


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
        return NO_PRIORITIES
    try:
        values = compile_feel(f"[{text}]").evaluate({})
    except FeelSyntaxError:
        return NO_PRIORITIES
    return Priorities(cast("list[object]", values)) if type(values) is list else NO_PRIORITIES


class _Rules:
    """Reads the rows of one table; equal texts in it are compiled once."""

    def __init__(self, build: Build, inputs: tuple[Input, ...], outputs: int, names: Names) -> None:
        self.aliased: set[int] = set()  # columns whose value is read by its alias
        self._build = build
        self._inputs = inputs
        self._outputs = outputs
        self._names = names
        self._compiled: dict[tuple[str, str], UnaryTests | None] = {}

    def rule(self, element: Xml, number: int) -> Rule:
        """One row."""
        build = self._build
        cells, entries = list(element.every("inputEntry")), list(element.every("outputEntry"))
        self._count(element, number, "input", len(cells), len(self._inputs))
        self._count(element, number, "output", len(entries), self._outputs)
        tests = [self._test(column, entry) for column, entry in enumerate(cells[: len(self._inputs)])]
        results = tuple((build.literal(entry, self._names), build.place_of_text(entry)) for entry in entries)
        return Rule(element.id, number, tuple(test for test in tests if test is not None), results)

    def _count(self, element: Xml, number: int, what: str, found: int, wanted: int) -> None:
        if found != wanted:
            message = f"Rule {number} has {found} {what} entries, but the table has {wanted} {what} columns"
            self._build.findings.error("WRONG_NUMBER_OF_ENTRIES", message, element)

    def _test(self, column: int, entry: Xml) -> Test | None:
        compiled = self._tests(entry)
        if compiled is None:
            return None
        if self._inputs[column].alias in compiled.names:
            self.aliased.add(column)
        return Test(column, compiled.passes, self._build.place_of_text(entry), compiled.turns)

    def _tests(self, entry: Xml) -> UnaryTests | None:
        key = (text_of(entry), entry.get("expressionLanguage"))
        if key in self._compiled:
            return self._compiled[key]
        compiled = self._build.tests(entry, self._names)
        if compiled is not NOT_FEEL:  # so that each place of a text that is no FEEL is a problem of its own
            self._compiled[key] = compiled
        return compiled
