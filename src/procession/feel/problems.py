"""What can go wrong with an expression: at compile time an exception, at run time a warning.

FeelSyntaxError   the text is not FEEL; raised by compile, never by evaluate
FeelWarning       why a part of an expression is null, and where; collected by evaluate
Invalid           inside this room only: a function refuses its arguments; becomes a warning
LimitReached      inside this room only: a named maximum was reached; the whole evaluation is null

Nothing here knows the grammar or the values.
"""

from typing import Literal

import msgspec

WarningCode = Literal[
    "no-variable",
    "no-function",
    "no-member",
    "invalid-type",
    "invalid-argument",
    "assertion",
    "no-rule",
    "limit",
    "internal",
]


class FeelWarning(msgspec.Struct, frozen=True):
    """Why a part of an expression became null. `line` and `column` count from 1; 0 when there is no place."""

    code: WarningCode
    message: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.message}"


class FeelSyntaxError(ValueError):
    """The text is not a FEEL expression. `line` and `column` count from 1."""

    def __init__(self, message: str, line: int, column: int, text: str) -> None:
        super().__init__(message, line, column, text)
        self.message = message
        self.line = line
        self.column = column
        self.text = text

    def __str__(self) -> str:
        return f"{self.message} (line {self.line}, column {self.column})"


class Invalid(Exception):
    """A value does not fit; the expression around it becomes null with this message as the warning."""

    def __init__(self, message: str, code: WarningCode = "invalid-argument") -> None:
        super().__init__(message)
        self.message = message
        self.code: WarningCode = code


class LimitReached(Exception):
    """A named maximum of `limits` was reached; evaluation stops and its result is null."""

    def __init__(self, name: str, maximum: int) -> None:
        super().__init__(f"{name} of {maximum} reached")
        self.message = f"The evaluation reached {name} = {maximum}; make the expression or its data smaller"
