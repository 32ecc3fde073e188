"""Compiled expressions and unary tests: what callers hold. Evaluating never raises; what went wrong is a warning."""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Final, TypeVar

from procession.feel.build import TypeMeaning
from procession.feel.compiler import Compiled, CompiledTest, CompiledTests, compile_node, compile_tests
from procession.feel.lexer import syntax_error
from procession.feel.operators import Test
from procession.feel.parser import parse, parse_unary_tests
from procession.feel.problems import FeelWarning, Invalid, LimitReached
from procession.feel.run import NOWHERE, Frame, Function, Run
from procession.feel.values import feel

Result = TypeVar("Result")

_NO_NAMES: Final[frozenset[str]] = frozenset()
_NO_TYPES: Final[Mapping[str, TypeMeaning]] = {}


class Expression:
    """An expression, compiled once. `names` are the variables of the context it may read.

    `turns` says how many turns of a loop one evaluation is worth, for callers that evaluate it again and again.
    """

    __slots__ = ("_closure", "names", "text", "turns")

    def __init__(self, text: str, compiled: Compiled) -> None:
        self.text = text
        self.names = compiled.names
        self.turns = compiled.turns
        self._closure = compiled.closure

    def evaluate(
        self,
        context: Mapping[str, object],
        *,
        now: datetime | None = None,
        warnings: list[FeelWarning] | None = None,
        functions: Mapping[str, Function] | None = None,
    ) -> object:
        """The value of the expression over a context of plain Python values (see docs/feel.md).

        `now` is what now() and today() mean. `warnings` receives why parts became null. Never raises.
        """
        run = Run(now, warnings, functions)
        try:
            return self._closure(Frame(run, context, None, None))
        except Exception as problem:  # noqa: BLE001 - the contract: evaluation never raises
            return note(run, problem)

    def value(self, run: Run, context: Mapping[str, object]) -> object:
        """The same for callers that evaluate many expressions in one run.

        It may raise LimitReached, RecursionError or Invalid; `note` says what they mean.
        """
        return self._closure(Frame(run, context, None, None))

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"


class UnaryTests:
    """The tests of one cell of a decision table, compiled once.

    `passes` is the same as `evaluate` for callers that evaluate many cells in one run: a function of the frame, whose
    value is the value tested, and that value. It may raise LimitReached, RecursionError or Invalid; `note` says what
    they mean.
    """

    __slots__ = ("names", "passes", "text", "turns")

    def __init__(self, text: str, compiled: CompiledTests, *, negated: bool) -> None:
        self.text = text
        self.names = compiled.names
        self.turns = compiled.turns
        self.passes = _passing(compiled.tests, negated=negated)

    def evaluate(
        self,
        context: Mapping[str, object],
        input_value: object,
        *,
        now: datetime | None = None,
        warnings: list[FeelWarning] | None = None,
        functions: Mapping[str, Function] | None = None,
    ) -> bool | None:
        """Whether the value passes one of the tests (none of them after not). Never raises."""
        run = Run(now, warnings, functions)
        try:
            value = feel(input_value)
            return self.passes(Frame(run, context, value, None), value)
        except Exception as problem:  # noqa: BLE001 - the contract: evaluation never raises
            return note(run, problem)

    def __repr__(self) -> str:
        return f"UnaryTests({self.text!r})"


def _passing(tests: tuple[CompiledTest, ...], *, negated: bool) -> Test:
    """One function for all tests; most cells have one test, which then is that function."""
    if not tests:
        return lambda _frame, _value: True
    passes = _one(tests[0]) if len(tests) == 1 else _any_of(tuple(_one(test) for test in tests))
    if not negated:
        return passes

    def fails(frame: Frame, value: object) -> bool | None:
        found = passes(frame, value)
        return found if found is None else not found

    return fails


def _any_of(tests: tuple[Test, ...]) -> Test:
    def passes(frame: Frame, value: object) -> bool | None:
        frame.run.spend(len(tests))
        return any(test(frame, value) is True for test in tests)

    return passes


def _one(compiled: CompiledTest) -> Test:
    if not compiled.asks:
        return compiled.test
    closure, test = compiled.closure, compiled.test

    def asking(frame: Frame, value: object) -> bool | None:
        answer = closure(frame)
        return answer if answer is None or isinstance(answer, bool) else test(frame, value)

    return asking


def note(run: Run, problem: Exception) -> None:
    """The warning that an exception out of an evaluation stands for."""
    match problem:
        case LimitReached():
            run.warn("limit", problem.message, NOWHERE)
        case RecursionError():
            run.warn("limit", "The evaluation is nested too deeply", NOWHERE)
        case Invalid():
            run.warn(problem.code, problem.message, NOWHERE)
        case _:
            run.warn("internal", f"Bug in the evaluation: {type(problem).__name__}: {problem}", NOWHERE)


def compile_expression(
    text: str,
    names: Collection[str] = _NO_NAMES,
    *,
    members: Collection[str] = _NO_NAMES,
    types: Mapping[str, TypeMeaning] = _NO_TYPES,
) -> Expression:
    """Compile an expression once, to evaluate it often.

    `names` are the variables in scope; only those with spaces or operators inside need to be there. `members` are
    such names that may stand after a dot. `types` gives names used after `instance of` and in parameters a meaning.
    Raises FeelSyntaxError.
    """
    known = frozenset(names)
    node = parse(text, known, members)
    return Expression(text, _shallow(text, lambda: compile_node(text, node, known, types)))


def compile_unary_tests(
    text: str,
    names: Collection[str] = _NO_NAMES,
    *,
    members: Collection[str] = _NO_NAMES,
    types: Mapping[str, TypeMeaning] = _NO_TYPES,
) -> UnaryTests:
    """Compile the tests of a decision table's cell; `?` in them is the value tested. Raises FeelSyntaxError."""
    known = frozenset(names)
    node = parse_unary_tests(text, known, members)
    compiled = _shallow(text, lambda: compile_tests(text, node, known, types))
    return UnaryTests(text, compiled, negated=node.negated)


def _shallow(text: str, compile_it: Callable[[], Result]) -> Result:
    try:
        return compile_it()
    except RecursionError:
        raise syntax_error("The expression is nested too deeply", text, 0) from None
