"""Reads the DMN TCK as far as it is a test of FEEL alone: decisions made of literal expressions, contexts and inputs.

Everything else (decision tables, business knowledge models, services, imports, invocations, boxed functions) is left to
the tests of the room that evaluates decisions. Types of variables are not enforced here, so that folders about
coercion count as what they are: a matter of decisions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from lxml import etree

from procession import feel
from procession.feel import syntax
from procession.feel.cursor import Cursor
from procession.feel.names import Scope
from procession.feel.run import Budget
from procession.feel.temporal_text import parse_date, parse_date_time, parse_duration, parse_time
from procession.feel.values import equal
from procession.feel.values import feel as feel_value

NOW = datetime(2024, 5, 17, 12, 30, tzinfo=UTC)
XSI = "{http://www.w3.org/2001/XMLSchema-instance}"
TOLERANCE = Decimal("1e-8")  # the expected results are written with eight digits and more


class Case(NamedTuple):
    name: str  # folder/case/decision
    model: Model
    decision: str
    inputs: dict[str, Any]
    expected: Any
    error: bool


class NotLiteral(Exception):
    """The decision needs more than FEEL."""


class Model:
    """The decisions of one file that FEEL alone can evaluate."""

    def __init__(self, path: Path) -> None:
        self.root = etree.parse(path).getroot()
        self.decisions = {element.get("name"): element for element in self.root.iterfind("{*}decision")}
        self.ids = {element.get("id"): element for element in self.root if isinstance(element.tag, str)}
        self.types = {
            item.get("name"): type_node
            for item in self.root.iterfind("{*}itemDefinition")
            if (type_node := type_of(item)) is not None
        }
        self.members = frozenset(
            component.get("name") for component in self.root.iterfind(".//{*}itemComponent") if component.get("name")
        )

    def evaluate(self, name: str, inputs: dict[str, Any], warnings: list[feel.FeelWarning]) -> Any:
        element = self.decisions[name]
        context: dict[str, Any] = {}
        for reference in element.iterfind("{*}informationRequirement/*"):
            required = self.required(reference)
            other = required.get("name")
            if other in inputs or etree.QName(required).localname == "inputData":
                context[other] = inputs.get(other)
            else:
                context[other] = self.evaluate(other, inputs, warnings)
        if element.find("{*}knowledgeRequirement") is not None:
            raise NotLiteral
        return self.boxed(element, context, warnings)

    def required(self, reference: Any) -> Any:
        required = self.ids.get(reference.get("href").removeprefix("#"))
        if required is None:
            raise NotLiteral
        return required

    def boxed(self, parent: Any, context: dict[str, Any], warnings: list[feel.FeelWarning]) -> Any:
        """The value of the boxed expression that an element holds: a literal expression or a context of them."""
        literal = parent.find("{*}literalExpression")
        if literal is not None:
            text = literal.findtext("{*}text") or ""
            expression = feel.compile(text, context.keys(), members=self.members, types=self.types)
            return expression.evaluate(context, now=NOW, warnings=warnings)
        boxed = parent.find("{*}context")
        if boxed is None:
            raise NotLiteral
        result: dict[str, Any] = {}
        for entry in boxed.iterfind("{*}contextEntry"):
            variable = entry.find("{*}variable")
            value = self.boxed(entry, context | result, warnings)
            if variable is None:
                return value
            result[variable.get("name")] = value
        return result


def type_of(item: Any) -> syntax.TypeNode | None:
    reference = item.findtext("{*}typeRef")
    components = item.findall("{*}itemComponent")
    node: syntax.TypeNode | None
    if components:
        node = syntax.ContextType(tuple((c.get("name"), type_of(c) or syntax.NamedType("Any")) for c in components))
    elif reference:
        text = re.sub(r"^feel[.:]", "", reference.strip())
        node = Cursor(text, Scope(()), Scope(())).type()
    else:
        return None
    return syntax.ListType(node) if item.get("isCollection") == "true" else node


def cases(folder: Path) -> Iterator[Case]:
    """The cases of one folder that FEEL alone decides."""
    model = Model(next(folder.glob("*.dmn")))
    for path in sorted(folder.glob("*.xml")):
        for case in etree.parse(path).getroot().iterfind("{*}testCase"):
            inputs = {node.get("name"): value_of(node) for node in case.iterfind("{*}inputNode")}
            for result in case.iterfind("{*}resultNode"):
                name = f"{folder.name}/{case.get('id')}/{result.get('name')}"
                expected = result.find("{*}expected")
                value = None if expected is None else value_of(expected)
                yield Case(name, model, result.get("name"), inputs, value, result.get("errorResult") == "true")


def value_of(node: Any) -> Any:
    """The value that an element of a test describes: a value, a list or components."""
    items = node.find("{*}list")
    if items is not None:
        return [value_of(item) for item in items.iterchildren("{*}item")]
    components = node.findall("{*}component")
    if components:
        return {component.get("name"): value_of(component) for component in components}
    value = node.find("{*}value")
    if value is None or value.get(XSI + "nil") == "true":
        return None
    text = value.text or ""
    match (value.get(XSI + "type") or "string").rpartition(":")[2]:
        case "decimal" | "double" | "integer" | "int" | "float" | "long":
            return Decimal(text)
        case "boolean":
            return text == "true"
        case "date":
            return parse_date(text)
        case "time":
            return parse_time(text)
        case "dateTime":
            return parse_date_time(text)
        case "duration":
            return parse_duration(text)
        case _:
            return text


def same(found: Any, expected: Any) -> bool:
    """Equal, numbers up to the digits that the tests write."""
    found = feel_value(found)
    if isinstance(expected, dict):
        return (
            isinstance(found, dict)
            and found.keys() == expected.keys()
            and all(same(found[key], expected[key]) for key in expected)
        )
    if isinstance(expected, list):
        return isinstance(found, list) and len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(expected, Decimal) and isinstance(found, int | Decimal) and not isinstance(found, bool):
        return abs(Decimal(found) - expected) <= TOLERANCE * max(1, abs(expected))
    return equal(found, expected, Budget()) is True


class Outcome(NamedTuple):
    case: Case
    passed: bool
    found: Any
    warnings: list[feel.FeelWarning]


def run(case: Case) -> Outcome | None:
    """How a case went; None where it needs more than FEEL."""
    warnings: list[feel.FeelWarning] = []
    if case.decision not in case.model.decisions:
        return None
    try:
        found = case.model.evaluate(case.decision, case.inputs, warnings)
    except NotLiteral:
        return None
    except feel.FeelSyntaxError as problem:
        found = None if case.error else problem
    return Outcome(case, same(found, case.expected), found, warnings)
