"""Values of FEEL to JSON and to plain Python. The way in needs no function: plain values are contexts as they are."""

import math
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import cast

from procession.feel.limits import CHARACTERS_PER_TURN, VALUE_DEPTH_MAX, VALUE_PARTS_MAX
from procession.feel.numbers import INT_MAX, ROUGH, as_int_if_whole, is_number
from procession.feel.problems import Invalid, LimitReached
from procession.feel.ranges import Range
from procession.feel.run import Budget, Function
from procession.feel.temporal import Date, DateTime, DaysDuration, MonthsDuration, Time
from procession.feel.temporal_python import python_date, python_date_time, python_time, python_timedelta
from procession.feel.temporal_text import text_of, text_with_offset
from procession.feel.text import text_of_value
from procession.feel.values import feel


class _Parts(Budget):
    """What one value may hold on its way out."""

    __slots__ = ()

    name = "VALUE_PARTS_MAX"
    maximum = VALUE_PARTS_MAX


Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def to_json(value: object) -> Json:
    """A value as JSON has it: temporal values and ranges as text, whole decimals as int, others as float.

    A decimal that is larger than any float becomes text.

    Raises ValueError for a function, for nesting deeper than VALUE_DEPTH_MAX, for more parts than VALUE_PARTS_MAX.
    """
    try:
        return json_within(value, _Parts())
    except LimitReached as problem:
        raise ValueError(problem.message) from None


def json_within(value: object, budget: Budget) -> Json:
    """The same at the expense of a budget. Raises LimitReached, ValueError."""
    return _json(feel(value), 0, budget)


def _json(value: object, depth: int, budget: Budget) -> Json:
    if depth > VALUE_DEPTH_MAX:
        raise LimitReached("VALUE_DEPTH_MAX", VALUE_DEPTH_MAX)
    match value:
        case None | bool():
            return value
        case int():
            return value if -INT_MAX <= value <= INT_MAX else _json_number(ROUGH.plus(Decimal(value)))
        case str():
            budget.spend(len(value) // CHARACTERS_PER_TURN)
            return value
        case Decimal():
            return _json_number(value)
        case DateTime():
            return text_with_offset(value)
        case Date() | Time() | DaysDuration() | MonthsDuration():
            return text_of(value)
        case Range():
            return text_of_value(value, budget)
        case Function():
            raise ValueError(f"{value} cannot be written as JSON; call it in the expression")
        case list():
            items = cast("list[object]", value)
            budget.spend(1 + len(items))
            return [_json(feel(item), depth + 1, budget) for item in items]
        case _:
            members = cast("Mapping[str, object]", value)
            budget.spend(1 + len(members))
            return {str(key): _json(feel(member), depth + 1, budget) for key, member in members.items()}


def _json_number(value: Decimal) -> int | float | str:
    """An int where whole, else a float; as text where it is larger than any float."""
    number = as_int_if_whole(value)
    if isinstance(number, int):
        return number
    nearest = float(number)
    return nearest if math.isfinite(nearest) else str(number)


def from_json(value: Json) -> object:
    """A JSON value as a value of FEEL. Strings stay strings: JSON does not say which of them is a date."""
    return feel(value)


Python = None | bool | int | Decimal | str | date | time | datetime | timedelta | list["Python"] | dict[str, "Python"]


def to_python(value: object) -> Python:
    """A value as plain Python: date, time, datetime, timedelta; years and months durations and ranges as text.

    Raises ValueError for a function, for a year or duration that Python cannot hold, for too deep nesting.
    """
    try:
        return _python(feel(value), 0, _Parts())
    except (LimitReached, Invalid) as problem:
        raise ValueError(problem.message) from None


def _python(value: object, depth: int, budget: Budget) -> Python:
    if depth > VALUE_DEPTH_MAX:
        raise LimitReached("VALUE_DEPTH_MAX", VALUE_DEPTH_MAX)
    match value:
        case Date():
            return python_date(value)
        case Time():
            return python_time(value)
        case DateTime():
            return python_date_time(value)
        case DaysDuration():
            return python_timedelta(value)
        case list():
            items = cast("list[object]", value)
            budget.spend(1 + len(items))
            return [_python(feel(item), depth + 1, budget) for item in items]
        case Mapping():
            members = cast("Mapping[str, object]", value)
            budget.spend(1 + len(members))
            return {str(key): _python(feel(member), depth + 1, budget) for key, member in members.items()}
        case _ if is_number(value):
            return cast("Decimal", value)
        case _:
            return cast("Python", _json(value, depth, budget))
