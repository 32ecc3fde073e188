"""Text of a model to something that can be evaluated: static, FEEL or JUEL, by where it stands and how it begins.

    zeebe: attributes        `=...` is FEEL, anything else is static
    camunda: attributes      `${...}` is JUEL, anything else is static
    BPMN values              names, codes, timers: `=...` FEEL, `${...}` JUEL, else static
    BPMN expressions         conditions, cardinalities: the same, but a bare text is FEEL

A text that does not compile is a finding; what is returned then evaluates to null and is never deployed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from procession.feel import FeelSyntaxError, FeelWarning, flaws
from procession.feel import compile as compile_feel
from procession.model.definition import Evaluable
from procession.model.juel import JuelError, compile_juel, has_expression
from procession.model.problems import Findings
from procession.model.xml import Xml

_NO_NAMES: Final[frozenset[str]] = frozenset()
_AS_TEXT: Final = object()  # the value is the text itself
# Languages of scripts and expressions that need an interpreter of their own.
_FOREIGN: Final = (
    "javascript",
    "ecmascript",
    "groovy",
    "python",
    "ruby",
    "java",
    "mvel",
    "kotlin",
    "jython",
    "beanshell",
)


class Static:
    """A value that the model gives as it is."""

    __slots__ = ("text", "value")

    def __init__(self, text: str, value: object = _AS_TEXT) -> None:
        self.text = text
        self.value = text if value is _AS_TEXT else value

    @property
    def names(self) -> frozenset[str]:
        """No variables are read."""
        return _NO_NAMES

    def evaluate(
        self,
        context: Mapping[str, Any],  # noqa: ARG002 - the protocol's arguments; a static value needs none
        *,
        now: object = None,  # noqa: ARG002
        warnings: list[Any] | None = None,  # noqa: ARG002
    ) -> object:
        """The value, whatever the context."""
        return self.value

    def __repr__(self) -> str:
        return f"Static({self.value!r})"


class Variable:
    """The value of one variable, by its name as it stands (it need not be a name of FEEL)."""

    __slots__ = ("names", "text")

    def __init__(self, name: str) -> None:
        self.text = name
        self.names = frozenset({name})

    def evaluate(
        self,
        context: Mapping[str, Any],
        *,
        now: object = None,  # noqa: ARG002 - the protocol's argument
        warnings: list[Any] | None = None,
    ) -> object:
        """The variable's value; null with a warning where there is none."""
        if self.text not in context and warnings is not None:
            warnings.append(FeelWarning("no-variable", f"No variable '{self.text}'", 1, 1))
        return context.get(self.text)


class Collected:
    """A list or map of evaluables (``camunda:list``, ``camunda:map``)."""

    __slots__ = ("_keys", "_parts", "names", "text")

    def __init__(self, text: str, parts: tuple[Evaluable, ...], keys: tuple[str, ...] | None = None) -> None:
        self.text = text
        self._parts = parts
        self._keys = keys
        self.names = _NO_NAMES.union(*(part.names for part in parts))

    def evaluate(self, context: Mapping[str, Any], *, now: object = None, warnings: list[Any] | None = None) -> object:
        """The list, or the map by its keys."""
        values = [part.evaluate(context, now=now, warnings=warnings) for part in self._parts]
        return values if self._keys is None else dict(zip(self._keys, values, strict=True))


class Unreadable:
    """What stands for a text that does not compile, next to the finding that says so: evaluates to null."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    @property
    def names(self) -> frozenset[str]:
        """None are known."""
        return _NO_NAMES

    def evaluate(
        self,
        context: Mapping[str, Any],  # noqa: ARG002 - the protocol's arguments
        *,
        now: object = None,  # noqa: ARG002
        warnings: list[Any] | None = None,
    ) -> object:
        """Null, with a warning."""
        if warnings is not None:
            warnings.append(FeelWarning("invalid-argument", f"'{self.text}' could not be read", 1, 1))
        return None


class Expressions:
    """Compiles the expressions of one resource and reports those that cannot be."""

    def __init__(self, findings: Findings, *, zeebe: bool, language: str = "") -> None:
        self._findings = findings
        self._zeebe = zeebe
        self._language = language  # the file's expressionLanguage
        self._compiled: dict[str, Evaluable] = {}

    def feel(self, text: str, at: Xml, what: str, *, bare: bool = False) -> Evaluable:
        """A FEEL expression without its leading ``=``. A bare one never had it: it may be prose."""
        body = text.strip()
        if not body:
            self._findings.gap("EMPTY_EXPRESSION", f"The {what} is empty", at, "Write an expression or remove it")
            return Unreadable(text)
        known = self._compiled.get(body)
        if known is not None:
            return known
        try:
            compiled: Evaluable = compile_feel(body)
        except FeelSyntaxError as problem:
            message = f"The {what} '{_short(body)}' is not a FEEL expression: {problem}"
            report = self._findings.gap if bare else self._findings.error
            report("FEEL_SYNTAX", message, at)
            return Unreadable(text)
        found = flaws(body)
        for flaw in found:
            message = f"The {what} '{_short(body)}' can never have a value: {flaw.message} ({_place(flaw)})"
            report = self._findings.gap if bare else self._findings.error
            report("FEEL_CONSTANT", message, at, "Correct it, or write null where nothing is meant")
        if found and not compiled.names:
            return Unreadable(text)  # all has been said about it
        self._compiled[body] = compiled
        return compiled

    def juel(self, text: str, at: Xml, what: str) -> Evaluable:
        """A text with ``${...}`` in it."""
        try:
            return compile_juel(text)
        except JuelError as problem:
            message = f"The {what} '{_short(text)}' cannot be evaluated: {problem}"
            suggestion = "Write it as a FEEL expression (`=...`), or compute the value in a task before"
            self._findings.error("EXPRESSION_NOT_SUPPORTED", message, at, suggestion)
            return Unreadable(text)

    def zeebe(self, text: str, at: Xml, what: str) -> Evaluable:
        """An attribute of Camunda 8: FEEL after ``=``, else static."""
        stripped = text.strip()
        return self.feel(stripped[1:], at, what) if stripped.startswith("=") else Static(text)

    def camunda(self, text: str, at: Xml, what: str) -> Evaluable:
        """An attribute of Camunda 7 or a relative: JUEL where ``${...}`` stands in it, else static."""
        return self.juel(text, at, what) if has_expression(text) else Static(text)

    def value(self, text: str, at: Xml, what: str) -> Evaluable:
        """A value of BPMN itself, such as a message's name or a timer: static unless it is marked as an expression."""
        if text.strip().startswith("="):
            return self.zeebe(text, at, what)
        return self.camunda(text.strip(), at, what)

    def expression(self, at: Xml, what: str) -> Evaluable:
        """A BPMN expression element, such as a condition, in whichever language it is written."""
        return self.expression_text(at.text, at, what, at.get("language"))

    def expression_text(self, text: str, at: Xml, what: str, language: str = "") -> Evaluable:
        """The same for a text that is no element of its own."""
        stripped = text.strip()
        if at.get("camunda:resource"):
            message = f"The {what} is an external script ('{at.get('camunda:resource')}'), which is not supported"
            self._findings.error("SCRIPT_NOT_SUPPORTED", message, at, "Write it as a FEEL expression")
            return Unreadable(stripped)
        if stripped.startswith("="):
            return self.feel(stripped[1:], at, what)
        if has_expression(stripped):
            return self.juel(stripped, at, what)
        foreign = foreign_language(language or self._language)
        if foreign:
            message = f"The {what} is written in '{foreign}', which is not supported"
            self._findings.gap("EXPRESSION_LANGUAGE", message, at, "Write it as a FEEL expression (`=...`)")
            return Unreadable(stripped)
        if self._zeebe and stripped:
            message = f"The {what} '{_short(stripped)}' does not begin with '='; it is read as FEEL all the same"
            self._findings.warning("EXPRESSION_WITHOUT_PREFIX", message, at, f"Write ={_short(stripped)}")
        return self.feel(stripped, at, what, bare=True)


def foreign_language(language: str) -> str:
    """The language, if it is one that needs an interpreter of its own, else nothing."""
    lowered = language.lower()
    if not lowered or "feel" in lowered or "juel" in lowered or "xpath" in lowered:
        return ""
    return language if any(name in lowered for name in _FOREIGN) else ""


def _place(flaw: FeelWarning) -> str:
    return f"line {flaw.line}, column {flaw.column}"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 60 else flat[:57] + "..."
