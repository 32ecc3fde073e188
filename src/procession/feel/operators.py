"""Closures for arithmetic, comparison, logic, between, in and the ranges. Ints and strings take a short way."""

import operator
from collections.abc import Callable
from typing import Any, Final, cast

from procession.feel import syntax
from procession.feel.arithmetic import ARITHMETIC, negation
from procession.feel.build import Build
from procession.feel.limits import CHARACTERS_PER_TURN
from procession.feel.numbers import INT_MAX
from procession.feel.problems import Invalid
from procession.feel.ranges import Range, range_of_comparison
from procession.feel.run import Closure, Frame, Run, Spot
from procession.feel.scope import Scope
from procession.feel.types import conforms
from procession.feel.values import equal, is_in, kind_of, order

_FAST_INT: Final[dict[str, Callable[[int, int], int]]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_ORDERINGS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def compile_literal(_build: Build, node: syntax.Constant, _scope: Scope | None) -> Closure:
    """A number, string, boolean or null."""
    value = node.value
    return lambda _frame: value


def compile_negation(build: Build, node: syntax.Negation, scope: Scope | None) -> Closure:
    """``-a``."""
    operand, spot = build.node(node.operand, scope), build.spot(node.at)
    if isinstance(node.operand, syntax.Constant) and type(node.operand.value) is int:
        value = -node.operand.value
        return lambda _frame: value

    def negate(frame: Frame) -> object:
        try:
            return negation(operand(frame))
        except Invalid as problem:
            return frame.run.warn(problem.code, problem.message, spot)

    return negate


def compile_arithmetic(build: Build, node: syntax.Arithmetic, scope: Scope | None) -> Closure:
    """``a + b`` and its like."""
    left, right = build.node(node.left, scope), build.node(node.right, scope)
    slow, spot = ARITHMETIC[node.operator], build.spot(node.at)
    fast = _FAST_INT.get(node.operator)

    def calculate(frame: Frame) -> object:
        return _calculated(slow, left(frame), right(frame), frame.run, spot)

    if fast is None:
        return calculate

    def calculate_fast(frame: Frame) -> object:
        a, b = left(frame), right(frame)
        if type(a) is int and type(b) is int:
            result = fast(a, b)
            if -INT_MAX <= result <= INT_MAX:
                return result
        return _calculated(slow, a, b, frame.run, spot)

    return calculate_fast


def _calculated(slow: Callable[[Any, Any], object], left: object, right: object, run: Run, spot: Spot) -> object:
    try:
        result = slow(left, right)
    except Invalid as problem:
        return run.warn(problem.code, problem.message, spot)
    if type(result) is str:
        run.spend(len(result) // CHARACTERS_PER_TURN)
    return result


def compile_comparison(build: Build, node: syntax.Comparison, scope: Scope | None) -> Closure:
    """``a < b`` and its like."""
    left, right, spot = build.node(node.left, scope), build.node(node.right, scope), build.spot(node.at)
    if node.operator in ("=", "!="):
        return _equality(left, right, spot, wanted=node.operator == "=")
    holds = _ORDERINGS[node.operator]

    def compare(frame: Frame) -> bool | None:
        a, b = left(frame), right(frame)
        if type(a) is type(b) is int or type(a) is type(b) is str:
            return holds(a, b)
        sign = order(a, b)
        return _not_comparable(a, b, frame.run, spot) if sign is None else holds(sign, 0)

    return compare


def _equality(left: Closure, right: Closure, spot: Spot, *, wanted: bool) -> Closure:
    def compare(frame: Frame) -> bool | None:
        a, b = left(frame), right(frame)
        if type(a) is type(b) is str:
            return (a == b) is wanted
        same = equal(a, b, frame.run)
        return _not_comparable(a, b, frame.run, spot) if same is None else same is wanted

    return compare


def _not_comparable(left: object, right: object, run: Run, spot: Spot) -> None:
    kinds = f"{kind_of(left)} with {kind_of(right)}"
    if kind_of(left) == kind_of(right) and kind_of(left) in ("time", "date and time"):
        kinds = f"a local {kind_of(left)} with one that has an offset or a zone"
    run.warn("invalid-type", f"Cannot compare {kinds}", spot)


def compile_and(build: Build, node: syntax.And, scope: Scope | None) -> Closure:
    """``a and b``."""
    return _junction(build, node.operands, scope, build.spot(node.at), absorbing=False)


def compile_or(build: Build, node: syntax.Or, scope: Scope | None) -> Closure:
    """``a or b``."""
    return _junction(build, node.operands, scope, build.spot(node.at), absorbing=True)


def _junction(
    build: Build, nodes: tuple[syntax.Node, ...], scope: Scope | None, spot: Spot, *, absorbing: bool
) -> Closure:
    """Three-valued: the absorbing value wins wherever it stands; else null wins; operands after a win are not read."""
    operands = tuple(build.node(node, scope) for node in nodes)
    neutral = not absorbing

    def several(frame: Frame) -> bool | None:
        result: bool | None = neutral
        for operand in operands:
            value = operand(frame)
            if value is absorbing:
                return absorbing
            if value is not neutral:
                result = _not_boolean(value, frame.run, spot)
        return result

    if len(operands) != 2:
        return several
    first, second = operands

    def two(frame: Frame) -> bool | None:
        a = first(frame)
        if a is absorbing:
            return absorbing
        b = second(frame)
        if b is absorbing:
            return absorbing
        if a is neutral and b is neutral:
            return neutral
        return _not_boolean(b if a is neutral else a, frame.run, spot)

    return two


def _not_boolean(value: object, run: Run, spot: Spot) -> None:
    if value is not None:
        run.warn("invalid-type", f"Expected a boolean, found a {kind_of(value)}", spot)


def compile_between(build: Build, node: syntax.Between, scope: Scope | None) -> Closure:
    """``a between b and c``."""
    operand, low, high = (build.node(part, scope) for part in (node.operand, node.low, node.high))
    spot = build.spot(node.at)

    def between(frame: Frame) -> bool | None:
        value = operand(frame)
        above, below = order(value, low(frame)), order(value, high(frame))
        if above is None or below is None:
            frame.run.warn("invalid-type", f"Cannot say whether a {kind_of(value)} lies between these bounds", spot)
            return None
        return above >= 0 and below <= 0

    return between


Test = Callable[[Frame, object], bool | None]


def compile_in(build: Build, node: syntax.In, scope: Scope | None) -> Closure:
    """``a in b`` and ``a in (< b, c)``."""
    operand = build.node(node.operand, scope)
    tests = [compile_test(build, test, scope) for test in node.tests]
    if len(tests) == 1:
        test = tests[0]
        return lambda frame: test(frame, operand(frame))

    def any_test(frame: Frame) -> bool:
        value = operand(frame)
        return any(test(frame, value) is True for test in tests)

    return any_test


def compile_test(build: Build, node: syntax.Node, scope: Scope | None, *, cell: bool = False) -> Test:
    """A test of `in` or of a decision table's cell, as a function of the frame and the value.

    In a cell an expression may answer itself, such as `creditLimit > 100` in the column of another input, and an
    input that is null fits no test without a warning.
    """
    if isinstance(node, syntax.UnaryRange) and node.operator in _ORDERINGS:
        return _test_of_order(build, node, scope, cell=cell)
    wanted, spot = build.node(node, scope), build.spot(node.at)
    answers = cell and not isinstance(node, syntax.Constant)

    def test(frame: Frame, value: object) -> bool | None:
        expected = wanted(frame)
        if answers and type(expected) is bool and value is not None and type(value) is not bool:
            return expected
        found = is_in(value, expected, frame.run)
        if found is None and not (cell and value is None):
            frame.run.warn("invalid-type", f"Cannot test a {kind_of(value)} against a {kind_of(expected)}", spot)
        return found

    return _shortened(node, test)


def _shortened(node: syntax.Node, test: Test) -> Test:
    """Constants, lists of strings and ranges between ints need no evaluation where the value has their type."""
    strings = _literal_strings(node)
    if strings is not None:
        return lambda frame, value: value in strings if type(value) is str else test(frame, value)
    if isinstance(node, syntax.Constant) and type(node.value) in (str, bool, int):
        constant, kind = node.value, type(node.value)
        return lambda frame, value: value == constant if type(value) is kind else test(frame, value)
    if isinstance(node, syntax.RangeLiteral):
        low, high = _literal_int(node.low), _literal_int(node.high)
        if low is not None and high is not None:
            first = low if node.low_included else low + 1
            last = high if node.high_included else high - 1
            return lambda frame, value: first <= value <= last if type(value) is int else test(frame, value)
    return test


def _literal_int(node: syntax.Node) -> int | None:
    if isinstance(node, syntax.Negation):
        inner = _literal_int(node.operand)
        return None if inner is None else -inner
    return node.value if isinstance(node, syntax.Constant) and type(node.value) is int else None


def _literal_strings(node: syntax.Node) -> frozenset[str] | None:
    """The strings of a list that holds nothing else; looked up instead of compared one by one."""
    if not isinstance(node, syntax.ListLiteral) or not node.items:
        return None
    values = [item.value if isinstance(item, syntax.Constant) else None for item in node.items]
    return frozenset(cast("list[str]", values)) if all(type(value) is str for value in values) else None


def _test_of_order(build: Build, node: syntax.UnaryRange, scope: Scope | None, *, cell: bool) -> Test:
    bound, spot, holds = build.node(node.operand, scope), build.spot(node.at), _ORDERINGS[node.operator]

    def test(frame: Frame, value: object) -> bool | None:
        limit = bound(frame)
        if type(value) is type(limit) is int:
            return holds(value, limit)
        sign = order(value, limit)
        if sign is not None:
            return holds(sign, 0)
        return None if cell and value is None else _not_comparable(value, limit, frame.run, spot)

    constant = _literal_int(node.operand)
    if constant is None:
        return test
    return lambda frame, value: holds(value, constant) if type(value) is int else test(frame, value)


def compile_unary_range(build: Build, node: syntax.UnaryRange, scope: Scope | None) -> Closure:
    """``(< a)`` as a value."""
    operand, comparison = build.node(node.operand, scope), node.operator
    return lambda frame: range_of_comparison(comparison, operand(frame))


def compile_range(build: Build, node: syntax.RangeLiteral, scope: Scope | None) -> Closure:
    """``[a..b]`` and its like."""
    low, high, spot = build.node(node.low, scope), build.node(node.high, scope), build.spot(node.at)
    low_included, high_included = node.low_included, node.high_included

    def make(frame: Frame) -> object:
        start, end = low(frame), high(frame)
        if start is not None and end is not None and order(start, end) is None:
            return _not_comparable(start, end, frame.run, spot)
        return Range(start, end, low_included, high_included)

    return make


def compile_instance_of(build: Build, node: syntax.InstanceOf, scope: Scope | None) -> Closure:
    """``a instance of b``."""
    operand, wanted, types = build.node(node.operand, scope), node.type, build.types
    return lambda frame: conforms(operand(frame), wanted, types, frame.run)
