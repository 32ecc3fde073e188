"""What the compiling functions of this room hand to each other, and how texts of FEEL become closures.

A text that is no FEEL is a problem with element and line; compilation goes on, so that all problems come at once.
"""

from __future__ import annotations

import re
from typing import Final

from procession.dmn.limits import CONSTANTS_KEPT
from procession.dmn.run import Boxed, DecisionRun, Place, Variables
from procession.dmn.types import Coercion, Types
from procession.feel import Expression, FeelSyntaxError, UnaryTests, compile_unary_tests, flaws
from procession.feel import compile as compile_feel
from procession.feel.problems import Invalid
from procession.feel.syntax import TypeNode
from procession.model.problems import Findings
from procession.model.xml import Xml

Names = frozenset[str]
NO_NAMES: Final[Names] = frozenset()

# Texts whose value needs no evaluation; most output entries of tables are such.
_CONSTANT: Final = re.compile(r'-?\d{1,34}(\.\d{1,34})?|"[^"\\]{0,1000}"|true|false|null', re.ASCII)

# Only calls, literals of dates and divisions can be constants without a value, but for few.
_MAY_BE_FLAWED: Final = re.compile(r"[(@/]")

# What expressions see that are compiled in place of those that cannot be compiled.
_NOTHING: Final = compile_feel("null")
NOT_FEEL: Final = compile_unary_tests("-")


class Build:
    """One compilation of one resource."""

    def __init__(self, findings: Findings, types: Types, members: Names, language: str) -> None:
        self.findings = findings
        self.types = types
        self.members = members
        self._language = language
        self._constants: dict[str, tuple[object]] = {}

    def place(self, element: Xml) -> Place:
        """Where warnings about an element point to."""
        nearest: Xml | None = element
        while nearest is not None and not nearest.id:
            nearest = nearest.parent
        return Place(element.owner_id(), nearest.id if nearest is not None else "", element.line)

    def place_of_text(self, element: Xml) -> Place:
        """The same for the text that an element holds, which modelers write on a line of its own."""
        return self.place(element)._replace(line=(element.first("text") or element).line)

    def speaks_feel(self, element: Xml) -> bool:
        """Whether an expression is written in FEEL; any other language is a problem."""
        language = element.get("expressionLanguage") or self._language
        if not language or "feel" in language.lower() or "/spec/DMN/" in language:
            return True
        self.findings.error(
            "UNSUPPORTED_LANGUAGE",
            f"The expression language '{language}' is not supported in decisions",
            element,
            "Write the expression in FEEL",
        )
        return False

    def expression(self, element: Xml, names: Names) -> Expression | None:
        """The expression that an element's text holds; None where there is no text."""
        text = text_of(element)
        if element.first("importedValues") is not None:
            message = "Values of other documents (importedValues) are not read"
            self.findings.error("IMPORTED_VALUES", message, element, "Write the values as an expression")
            return _NOTHING
        if not text or not self.speaks_feel(element):
            return None
        try:
            compiled = compile_feel(text, names, members=self.members, types=self.types.shapes)
        except FeelSyntaxError as problem:
            self._syntax_error(element, problem)
            return _NOTHING
        self._remark_flaws(element, text, names, tests=False)
        return compiled

    def constant(self, element: Xml) -> tuple[object] | None:
        """The value of a text that is a plain number, string or the like, which most output entries are."""
        text = text_of(element)
        if not _CONSTANT.fullmatch(text) or not self.speaks_feel(element):
            return None
        if text not in self._constants:
            if len(self._constants) >= CONSTANTS_KEPT:
                self._constants.clear()
            self._constants[text] = (_plain(text),)
        return self._constants[text]

    def tests(self, element: Xml | None, names: Names = NO_NAMES) -> UnaryTests | None:
        """The unary tests that an element's text holds; None where any value passes."""
        text = "" if element is None else text_of(element)
        if element is None or text in ("", "-") or not self.speaks_feel(element):
            return None
        try:
            compiled = compile_unary_tests(text, names, members=self.members, types=self.types.shapes)
        except FeelSyntaxError as problem:
            self._syntax_error(element, problem)
            return NOT_FEEL
        self._remark_flaws(element, text, names, tests=True)
        return compiled

    def _remark_flaws(self, element: Xml, text: str, names: Names, *, tests: bool) -> None:
        """What can never have a value is null by the standard, and probably a mistake."""
        if not _MAY_BE_FLAWED.search(text):
            return
        for flaw in flaws(text, names, members=self.members, tests=tests):
            spot = _spot(flaw.line, flaw.column)
            message = f"The expression can never have a value: {flaw.message} ({spot}): {text!r:.200}"
            self.findings.warning("FEEL_CONSTANT", message, element.first("text") or element)

    def _syntax_error(self, element: Xml, problem: FeelSyntaxError) -> None:
        at = element.first("text") or element
        if problem.text.startswith("${"):
            message = f"Expressions in ${{...}} are not supported in decisions: {problem.text!r:.200}"
            self.findings.error("UNSUPPORTED_LANGUAGE", message, at, "Write the expression in FEEL")
            return
        message = f"{problem.message} ({_spot(problem.line, problem.column)}): {problem.text!r:.200}"
        self.findings.error("FEEL_SYNTAX", message, at)

    def type(self, element: Xml | None) -> TypeNode | None:
        """The type that an element's attribute `typeRef` names; None where it names none."""
        reference = "" if element is None else element.get("typeRef").strip()
        if element is None or not reference:
            return None
        node = self.types.node(reference)
        if node is None:
            self.unknown_type(element, reference)
        return node

    def unknown_type(self, element: Xml, reference: str) -> None:
        """The problem of a type that nobody defines."""
        self.findings.error(
            "UNKNOWN_TYPE",
            f"There is no type '{reference}'",
            element,
            "Define an item definition with this name, or use a type of FEEL",
        )

    def coercion(self, element: Xml | None) -> Coercion | None:
        """The coercion to the type that an element's attribute `typeRef` names."""
        return self.types.coercion(self.type(element))

    def literal(self, element: Xml, names: Names) -> Boxed:
        """The closure of an element that holds a text of FEEL."""
        constant = self.constant(element)
        if constant is not None:
            value_of_constant = constant[0]
            return lambda _run, _variables: value_of_constant
        expression = self.expression(element, names)
        if expression is None:
            return nothing
        place = self.place_of_text(element)
        value, turns = expression.value, expression.turns

        def literal(run: DecisionRun, variables: Variables) -> object:
            run.at = place
            if turns:
                run.spend(turns)  # it may stand in a loop or a function
            try:
                return value(run, variables)
            except Invalid as problem:
                return run.note(problem)

        return literal


def _spot(line: int, column: int) -> str:
    """A place within a text; the element's line is that of its beginning."""
    return f"column {column}" if line == 1 else f"line {line} of the text, column {column}"


def _plain(text: str) -> object:
    if text[0] == '"':
        return text[1:-1]
    return compile_feel(text).evaluate({})


def text_of(element: Xml) -> str:
    """The text of a literal expression or of unary tests."""
    inner = element.first("text")
    return "" if inner is None else inner.text


def nothing(_run: DecisionRun, _variables: Variables) -> object:
    """The value of an expression that is not there."""
    return None


def typed(boxed: Boxed, coercion: Coercion | None, place: Place, what: str) -> Boxed:
    """An expression whose value is made to fit a type."""
    if coercion is None:
        return boxed

    def value(run: DecisionRun, variables: Variables) -> object:
        return coercion(run, boxed(run, variables), place, what)

    return value
