"""Nodes to closures: the table of which function compiles which node, and the literals after @."""

from collections.abc import Mapping
from typing import Final, NamedTuple, cast

from procession.feel import access, calls, loops, operators, syntax
from procession.feel import scope as scopes
from procession.feel.build import Build, CompileNode, TypeMeaning
from procession.feel.problems import Invalid
from procession.feel.run import Closure
from procession.feel.scope import Scope
from procession.feel.temporal_text import parse_temporal


def _compile_at_literal(build: Build, node: syntax.AtLiteral, _scope: Scope | None) -> Closure:
    try:
        value = parse_temporal(node.text)
    except Invalid as problem:
        message, spot = problem.message, build.spot(node.at)
        return lambda frame: frame.run.warn("invalid-argument", message, spot)
    return lambda _frame: value


_COMPILERS: Final[dict[type, CompileNode]] = {
    syntax.Constant: operators.compile_literal,
    syntax.AtLiteral: _compile_at_literal,
    syntax.Name: access.compile_name,
    syntax.Path: access.compile_path,
    syntax.Filter: access.compile_filter,
    syntax.Call: calls.compile_call,
    syntax.Negation: operators.compile_negation,
    syntax.Arithmetic: operators.compile_arithmetic,
    syntax.Comparison: operators.compile_comparison,
    syntax.And: operators.compile_and,
    syntax.Or: operators.compile_or,
    syntax.Between: operators.compile_between,
    syntax.In: operators.compile_in,
    syntax.InstanceOf: operators.compile_instance_of,
    syntax.If: loops.compile_if,
    syntax.For: loops.compile_for,
    syntax.Quantified: loops.compile_quantified,
    syntax.FunctionDefinition: calls.compile_function,
    syntax.ListLiteral: loops.compile_list,
    syntax.ContextLiteral: loops.compile_context,
    syntax.RangeLiteral: operators.compile_range,
    syntax.UnaryRange: operators.compile_unary_range,
}


class Compiled(NamedTuple):
    """A closure, the variables it may read, and the turns of a loop that one evaluation is worth."""

    closure: Closure
    names: frozenset[str]
    turns: int


class CompiledTests(NamedTuple):
    """`any` is the test `-`."""

    tests: "tuple[CompiledTest, ...]"
    names: frozenset[str]
    turns: int


class CompiledTest(NamedTuple):
    """`asks` says that the test reads `?` itself, so that its own answer counts."""

    closure: Closure
    test: operators.Test
    asks: bool


def compile_node(text: str, node: syntax.Node, names: frozenset[str], types: Mapping[str, TypeMeaning]) -> Compiled:
    """The closure of an expression."""
    build = Build(text, names, types, _COMPILERS)
    closure = build.node(node, None)
    return Compiled(closure, frozenset(build.names), build.turns())


def compile_tests(
    text: str, node: syntax.UnaryTests, names: frozenset[str], types: Mapping[str, TypeMeaning]
) -> CompiledTests:
    """Each test both as an expression and as a test of the value that `?` stands for."""
    build = Build(text, names, types, _COMPILERS)
    scope = scopes.one("?", None)
    tests = tuple(_compile_test(build, test, scope) for test in _joined(node.tests))
    return CompiledTests(tests, frozenset(build.names), build.turns())


def _joined(tests: tuple[syntax.Node, ...]) -> tuple[syntax.Node, ...]:
    """Tests that are all strings as one test: a list of strings, which is looked up."""
    if len(tests) < 2 or not all(isinstance(test, syntax.Constant) and isinstance(test.value, str) for test in tests):
        return tests
    return (syntax.ListLiteral(tests),)


def _compile_test(build: Build, node: syntax.Node, scope: Scope) -> CompiledTest:
    return CompiledTest(
        build.node(node, scope),
        operators.compile_test(build, node, scope, cell=True),
        "?" in build.text and _reads_input(node),
    )


def _reads_input(node: object) -> bool:
    """Whether `?` stands anywhere in an expression."""
    if isinstance(node, syntax.Name):
        return node.name == "?"
    if isinstance(node, tuple):
        return any(map(_reads_input, cast("tuple[object, ...]", node)))
    slots: tuple[str, ...] = getattr(type(node), "__slots__", ())
    return any(_reads_input(getattr(node, slot)) for slot in slots) if slots and isinstance(node, _NODES) else False


_NODES: Final = (*_COMPILERS, syntax.Iterator, syntax.Parameter)
