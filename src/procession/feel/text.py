"""Any value as text: what string() gives. Strings inside lists and contexts are quoted, so that it can be read back."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Final, cast

from procession.feel.limits import CHARACTERS_PER_TURN, STRING_LENGTH_MAX, VALUE_DEPTH_MAX
from procession.feel.numbers import normal, text_of_number
from procession.feel.problems import Invalid, LimitReached
from procession.feel.ranges import Range
from procession.feel.run import Budget, Function
from procession.feel.temporal import Date, DateTime, DaysDuration, MonthsDuration, Time
from procession.feel.temporal_text import text_of
from procession.feel.values import feel, kind_of

_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_SIMPLE_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z_0-9]*(?: [A-Za-z_][A-Za-z_0-9]*)*")


def quoted(text: str) -> str:
    """As a string literal."""
    return '"' + "".join(_ESCAPES.get(character, character) for character in text) + '"'


def key_text(name: str) -> str:
    """As a key of a context literal: bare where it is made of plain words."""
    return name if _SIMPLE_KEY.fullmatch(name) else quoted(name)


def text_of_value(value: object, budget: Budget) -> str:
    """Raises LimitReached for a value that is nested too deeply or gives too long a text."""
    return value if isinstance(value, str) else _text(value, 0, budget)


def feel_text(value: object) -> str:
    """Any value as FEEL writes it, for eyes: strings in quotes, dates as literals. What is too long says so."""
    try:
        return _text(feel(value), 1, Budget())
    except (LimitReached, Invalid) as problem:
        return f"({kind_of(value)}: {problem.message})"


def _text(value: object, depth: int, budget: Budget) -> str:
    if depth > VALUE_DEPTH_MAX:
        raise LimitReached("VALUE_DEPTH_MAX", VALUE_DEPTH_MAX)
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value)
        case int() | Decimal():
            return text_of_number(normal(value) if isinstance(value, int) else value)
        case Date() | Time() | DateTime() | DaysDuration() | MonthsDuration():
            return text_of(value) if not depth else f'@"{text_of(value)}"'
        case Range():
            return _range_text(value, depth, budget)
        case Function():
            return f"function({', '.join(value.parameters or ())})"
        case _:
            return _container_text(value, depth, budget)


def _range_text(value: Range, depth: int, budget: Budget) -> str:
    if value.operator is not None:
        end = value.high if value.operator in ("<", "<=") else value.low
        return f"({value.operator} {_text(end, depth + 1, budget)})"
    low, high = _text(value.low, depth + 1, budget), _text(value.high, depth + 1, budget)
    return f"{'[' if value.low_included else '('}{low}..{high}{']' if value.high_included else ')'}"


def _container_text(value: object, depth: int, budget: Budget) -> str:
    inner = depth + 1
    if isinstance(value, Mapping):
        members = cast("Mapping[str, object]", value)
        parts = (f"{key_text(str(key))}: {_text(feel(member), inner, budget)}" for key, member in members.items())
        return _joined("{", parts, "}", budget)
    items = (_text(feel(item), inner, budget) for item in cast("list[object]", value))
    return _joined("[", items, "]", budget)


def _joined(opening: str, parts: Iterator[str], closing: str, budget: Budget) -> str:
    """Counts while the parts are written: there may be more of them than the memory holds."""
    budget.spend()
    gathered: list[str] = []
    length = 0
    for part in parts:
        length += len(part) + 2
        if length > STRING_LENGTH_MAX:
            raise LimitReached("STRING_LENGTH_MAX", STRING_LENGTH_MAX)
        gathered.append(part)
    budget.spend(length // CHARACTERS_PER_TURN)
    return opening + ", ".join(gathered) + closing
