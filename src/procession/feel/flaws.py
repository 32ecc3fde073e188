"""What of an expression can never have a value, found without evaluating it: for those who deploy it.

A constant that is null with a warning, such as date("2024-02-30"), `@"P1Q"` or 1 / 0; a call of a function that does
not exist, or with arguments that no form of it takes; a pattern that is no regular expression. Nothing is said of what
depends on a variable, nor of what stands where null is asked for (`is defined`, `get or else`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from typing import Final, cast

from procession.feel import syntax
from procession.feel.compiler import compile_node
from procession.feel.expression import note
from procession.feel.functions.registry import BUILTINS, Builtin
from procession.feel.lexer import place
from procession.feel.parser import parse, parse_unary_tests
from procession.feel.problems import FeelWarning, Invalid, LimitReached, WarningCode
from procession.feel.regex import compile_pattern
from procession.feel.run import Frame, Run

_NO_NAMES: Final[frozenset[str]] = frozenset()
_NOW: Final = datetime(2000, 1, 1, tzinfo=UTC)
_FLAWS_MAX: Final = 20  # of one expression
_PATTERNS: Final = frozenset({"matches", "replace", "split", "extract"})
# Nodes whose value says something where all their parts are constant.
_OPERATIONS: Final = (
    syntax.AtLiteral,
    syntax.Arithmetic,
    syntax.Negation,
    syntax.Comparison,
    syntax.Between,
    syntax.In,
    syntax.RangeLiteral,
    syntax.Call,
)


def flaws(
    text: str, names: Collection[str] = _NO_NAMES, *, members: Collection[str] = _NO_NAMES, tests: bool = False
) -> tuple[FeelWarning, ...]:
    """The flaws of an expression, or of the tests of a cell, in the order of the text. Raises FeelSyntaxError.

    `names` are the variables in scope; one of them may hold a function.
    """
    finder = _Finder(text, frozenset(names))
    if tests:
        for test in parse_unary_tests(text, finder.names, members).tests:
            finder.look(test, finder.names, in_item=False)
    else:
        finder.look(parse(text, finder.names, members), finder.names, in_item=False)
    return tuple(finder.found[:_FLAWS_MAX])


class _Finder:
    def __init__(self, text: str, names: frozenset[str]) -> None:
        self.text = text
        self.names = names
        self.found: list[FeelWarning] = []

    def look(self, node: object, names: frozenset[str], *, in_item: bool) -> None:
        """Look at a node and what is within; `in_item`: any name may be a member of a list's item."""
        if isinstance(node, _OPERATIONS) and _is_constant(node):
            self._constant(node)
            return
        match node:
            case syntax.Call(syntax.Name() as called, arguments):
                self._call(node, called, names, in_item=in_item)
                builtin = BUILTINS.get(called.name)
                asked = 1 if builtin is not None and builtin.forgives else 0
                for argument in arguments[asked:]:
                    self.look(argument, names, in_item=in_item)
            case syntax.Filter(base, condition):
                self.look(base, names, in_item=in_item)
                self.look(condition, names, in_item=True)
            case syntax.For(iterators, body) | syntax.Quantified(_, iterators, body):
                for iterator in iterators:
                    self.look(iterator.source, names, in_item=in_item)
                    self.look(iterator.end, names, in_item=in_item)
                    names |= {iterator.name}
                self.look(body, names, in_item=in_item)
            case syntax.FunctionDefinition(parameters, body, external):
                if not external:
                    self.look(body, names | {parameter.name for parameter in parameters}, in_item=in_item)
            case syntax.ContextLiteral(entries):
                for name, value in entries:
                    names |= {name}
                    self.look(value, names, in_item=in_item)
            case _:
                for part in _parts(node):
                    self.look(part, names, in_item=in_item)

    def _constant(self, node: syntax.Node) -> None:
        """A constant that is null, and why; or what of it is."""
        warnings: list[FeelWarning] = []
        run = Run(_NOW, warnings)
        try:
            value = compile_node(self.text, node, self.names, {}).closure(Frame(run, {}, None, None))
        except (LimitReached, Invalid, RecursionError) as problem:
            value = note(run, problem)
        if value is None and warnings:
            self.found.append(warnings[0])
        elif warnings:  # a part of it is null, such as an end of a range
            for part in _parts(node):
                self.look(part, self.names, in_item=False)

    def _call(self, node: syntax.Call, called: syntax.Name, names: frozenset[str], *, in_item: bool) -> None:
        builtin = BUILTINS.get(called.name)
        if called.name in names or in_item:
            return
        if builtin is None:
            self._say("no-function", f"There is no function {called.name!r}", node.at)
        elif not (builtin.named(node.names) if node.names else builtin.forms_for(len(node.arguments))):
            self._say("invalid-argument", f"No form of it takes these arguments: {builtin.usage()}", node.at)
        elif called.name in _PATTERNS:
            self._pattern(node, builtin)

    def _pattern(self, node: syntax.Call, builtin: Builtin) -> None:
        """A pattern that is written out, with flags that are."""
        names = node.names or tuple(parameter.name for parameter in builtin.forms[0].parameters)
        given = dict(zip(names, node.arguments, strict=False))
        flags = given.get("flags", syntax.Constant(""))
        pattern = given.get("pattern") or given.get("delimiter")
        if not isinstance(pattern, syntax.Constant) or not isinstance(flags, syntax.Constant):
            return
        try:
            if isinstance(pattern.value, str):
                compile_pattern(pattern.value, str(flags.value or ""))
        except (Invalid, LimitReached) as problem:
            self._say("invalid-argument", problem.message, pattern.at)

    def _say(self, code: WarningCode, message: str, at: int) -> None:
        line, column = place(self.text, at)
        self.found.append(FeelWarning(code, message, line, column))


def _is_constant(node: object) -> bool:
    """Whether nothing in it depends on a variable, and no function of its own is made."""
    match node:
        case syntax.Call(syntax.Name(name), arguments):
            builtin = BUILTINS.get(name)
            return builtin is not None and not builtin.forgives and all(map(_is_constant, arguments))
        case syntax.Name() | syntax.FunctionDefinition() | syntax.For() | syntax.Quantified() | syntax.Filter():
            return False
        case syntax.Call() | syntax.Path():
            return False
        case _:
            return all(map(_is_constant, _parts(node)))


def _parts(node: object) -> Iterator[object]:
    """The nodes directly within a node."""
    if isinstance(node, tuple):
        for one in cast("tuple[object, ...]", node):
            yield from (one,) if isinstance(one, _NODES) else _parts(one)
    elif isinstance(node, _NODES):
        slots: tuple[str, ...] = getattr(type(node), "__slots__", ())
        for name in slots:
            value = cast("object", getattr(node, name))
            yield from (value,) if isinstance(value, _NODES) else _parts(value)


_NODES: Final = (*syntax.Node.__args__, syntax.Iterator, syntax.UnaryTests)
