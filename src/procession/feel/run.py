"""The state of one evaluation: its instant, its warnings, its budget; and the frames that hold local names.

A closure gets a Frame and returns a value. Nothing here outlives the evaluation, and nothing reads a clock.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final, cast

from procession.feel.lexer import place
from procession.feel.limits import (
    CALL_DEPTH_MAX,
    CHARACTERS_PER_TURN,
    ITEMS_PER_TURN,
    ITERATIONS_MAX,
    WARNING_LENGTH_MAX,
    WARNINGS_MAX,
)
from procession.feel.problems import FeelWarning, Invalid, LimitReached, WarningCode

# The text of an expression and the index of a character in it: where a warning points to.
Spot = tuple[str, int]

NOWHERE: Final[Spot] = ("", 0)


class Budget:
    """How much work may be done. Whoever walks through values pays for what it looks at."""

    __slots__ = ("iterations",)

    name = "ITERATIONS_MAX"
    maximum = ITERATIONS_MAX

    def __init__(self) -> None:
        self.iterations = 0

    def spend(self, iterations: int = 1) -> None:
        """Count turns of loops, or what is as much work. Raises LimitReached."""
        self.iterations += iterations
        if self.iterations > self.maximum:
            raise LimitReached(self.name, self.maximum)


class Run(Budget):
    """What all closures of one evaluation share."""

    __slots__ = ("calls", "functions", "now", "warnings")

    def __init__(
        self,
        now: datetime | None,
        warnings: list[FeelWarning] | None,
        functions: "Mapping[str, Function] | None" = None,
    ) -> None:
        super().__init__()
        self.now = now
        self.warnings = warnings
        self.functions = functions
        self.calls = 0

    def warn(self, code: WarningCode, message: str, spot: Spot) -> None:
        """Note why a value became null. Returns None so that a closure can return it."""
        if self.warnings is None or len(self.warnings) >= WARNINGS_MAX:
            return
        line, column = place(*spot) if spot[0] else (0, 0)
        if len(message) > WARNING_LENGTH_MAX:
            message = message[: WARNING_LENGTH_MAX - 3] + "..."
        self.warnings.append(FeelWarning(code, message, line, column))


def turns_of(values: Sequence[object]) -> int:
    """The turns that it costs to look at all of these values, or to make them: long texts, lists, contexts."""
    turns = 0
    for value in values:
        kind = type(value)
        if kind is str:
            turns += len(cast("str", value)) // CHARACTERS_PER_TURN
        elif kind is list or kind is dict:
            turns += len(cast("list[object]", value)) // ITEMS_PER_TURN
    return turns


class Frame:
    """Local names. `value` is the iterator's value, the filter's item, or a dict of parameters or entries."""

    __slots__ = ("context", "parent", "run", "value")

    def __init__(self, run: Run, context: Mapping[str, object], value: object, parent: "Frame | None") -> None:
        self.run = run
        self.context = context
        self.value = value
        self.parent = parent


Closure = Callable[[Frame], object]


class Function:
    """A function as a value. `parameters` is None where any number of arguments may come (built-in functions)."""

    __slots__ = ("_call", "_call_named", "name", "parameters")

    def __init__(
        self,
        name: str,
        parameters: tuple[str, ...] | None,
        call: Callable[[Sequence[object], Run], object],
        call_named: Callable[[Sequence[str], Sequence[object], Run], object] | None = None,
    ) -> None:
        self.name = name
        self.parameters = parameters
        self._call = call
        self._call_named = call_named  # where the parameters depend on the form

    def invoke(self, arguments: Sequence[object], run: Run) -> object:
        """The result for positional arguments. Raises Invalid for a wrong number, LimitReached for deep recursion."""
        if self.parameters is not None and len(arguments) != len(self.parameters):
            raise Invalid(f"{self} takes {len(self.parameters)} arguments, found {len(arguments)}")
        run.calls += 1
        if run.calls > CALL_DEPTH_MAX:
            raise LimitReached("CALL_DEPTH_MAX", CALL_DEPTH_MAX)
        try:
            return self._call(arguments, run)
        finally:
            run.calls -= 1

    def invoke_named(self, names: Sequence[str], arguments: Sequence[object], run: Run) -> object:
        """The result for named arguments; all parameters must be named, in any order."""
        if self.parameters is None:
            if self._call_named is None:
                raise Invalid(f"{self} takes no named arguments here")
            return self._call_named(names, arguments, run)
        given = dict(zip(names, arguments, strict=True))
        if len(given) != len(names) or given.keys() != set(self.parameters):
            raise Invalid(f"{self} has the parameters {', '.join(self.parameters)}; found {', '.join(names)}")
        return self.invoke([given[name] for name in self.parameters], run)

    def __str__(self) -> str:
        return f"function {self.name}" if self.name else "the function"
