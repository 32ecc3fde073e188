"""Built-in functions that make one kind of value out of another, and the boolean ones."""

from typing import cast

from procession.feel import syntax
from procession.feel.functions.registry import builtin
from procession.feel.functions.temporal import day_of
from procession.feel.numbers import Number, number_of_text, whole
from procession.feel.parser import parse
from procession.feel.problems import FeelSyntaxError, Invalid
from procession.feel.ranges import Range
from procession.feel.run import Run
from procession.feel.temporal import Date, DateTime, DaysDuration, MonthsDuration, Time
from procession.feel.temporal import date as make_date
from procession.feel.temporal import time as make_time
from procession.feel.temporal_text import (
    parse_date,
    parse_date_time,
    parse_duration,
    parse_temporal,
    parse_time,
    seconds_and_nanoseconds,
)
from procession.feel.text import text_of_value
from procession.feel.values import identical, kind_of, order


@builtin("date(from: string or date or date and time)")
def date_from(value: str | Date | DateTime) -> Date:
    return parse_date(value) if isinstance(value, str) else day_of(value)


@builtin("date(year: number, month: number, day: number)")
def date_of_parts(year: Number, month: Number, day: Number) -> Date:
    return make_date(whole(year), whole(month), whole(day))


@builtin("time(from: string or time or date and time or date)")
def time_from(value: str | Time | DateTime | Date) -> Time:
    """Of a date: midnight in UTC."""
    match value:
        case str():
            return parse_time(value)
        case Time():
            return value
        case DateTime():
            return value.time
        case Date():
            return Time(0, 0, 0, 0, 0)


@builtin("time(hour: number, minute: number, second: number, offset?: days and time duration?)")
def time_of_parts(hour: Number, minute: Number, second: Number, offset: DaysDuration | None = None) -> Time:
    seconds, nanoseconds = seconds_and_nanoseconds(second)
    if second < 0:
        raise Invalid("the second must not be negative")
    shift = None if offset is None else int(offset.nanoseconds / 1_000_000_000)
    return make_time(whole(hour), whole(minute), seconds, nanoseconds, shift)


@builtin("date and time(from: string or date and time)")
def date_time_from(value: str | DateTime) -> DateTime:
    return parse_date_time(value) if isinstance(value, str) else value


@builtin("date and time(date: date or date and time, time: time)")
def date_time_of_parts(value: Date | DateTime, time: Time) -> DateTime:
    return DateTime(day_of(value), time)


@builtin("duration(from: string or days and time duration or years and months duration)")
def duration_from(value: str | DaysDuration | MonthsDuration) -> DaysDuration | MonthsDuration:
    return parse_duration(value) if isinstance(value, str) else value


@builtin("number(from: string or number)")
def number_from(value: str | Number) -> Number:
    return _number(value) if isinstance(value, str) else value


@builtin("number(from: string, grouping separator: string?, decimal separator: string?)")
def number_with_separators(text: str, grouping: str | None, decimal: str | None) -> Number:
    if grouping not in (None, " ", ",", "."):
        raise Invalid(f"the grouping separator must be ' ', ',', '.' or null, found {grouping!r}")
    if decimal not in (None, ",", "."):
        raise Invalid(f"the decimal separator must be ',', '.' or null, found {decimal!r}")
    if grouping is not None and grouping == decimal:
        raise Invalid("the grouping and the decimal separator must differ")
    if grouping is not None:
        text = text.replace(grouping, "")
    if decimal == ",":
        if "." in text:
            raise Invalid(f"{text[:40]!r} is not a number")
        text = text.replace(",", ".")
    return _number(text)


def _number(text: str) -> Number:
    body = text.removeprefix("-")
    whole_part, point, fraction = body.partition(".")
    mantissa, letter, exponent = (fraction if point else whole_part).lower().partition("e")
    digits = (whole_part if point else mantissa) + (mantissa if point else "")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 400 or (point and not mantissa):
        raise Invalid(f"{text[:40]!r} is not a number")
    if letter and not exponent.removeprefix("+").removeprefix("-").isdigit():
        raise Invalid(f"{text[:40]!r} is not a number")
    if letter and len(exponent) > 5:
        raise Invalid(f"{text[:40]!r} is too large")
    value = number_of_text(body)
    return -value if text.startswith("-") else value


@builtin("string(from: any)")
def string_from(run: Run, value: object) -> str | None:
    return None if value is None else text_of_value(value, run)


@builtin("range(from: string)")
def range_from(text: str) -> Range:
    """Only literals may be its ends, so that a text from elsewhere cannot make an evaluation do anything else."""
    try:
        node = parse(text)
    except FeelSyntaxError as problem:
        raise Invalid(f"{text[:40]!r} is not a range: {problem.message}") from None
    if not isinstance(node, syntax.RangeLiteral):
        raise Invalid(f"{text[:40]!r} is not a range")
    low, high = _literal(node.low), _literal(node.high)
    if low is None and high is None:
        raise Invalid("a range needs at least one end")
    if low is not None and high is not None:
        sign = order(low, high)
        if sign is None or sign > 0:
            raise Invalid(f"{text[:40]!r} does not go from a lower to a higher value of one type")
    return Range(low, high, node.low_included, node.high_included)


def _literal(node: syntax.Node) -> object:
    match node:
        case syntax.Constant(value):
            return value
        case syntax.Negation(syntax.Constant(int() as value)) if not isinstance(value, bool):
            return -value
        case syntax.AtLiteral(text):
            return parse_temporal(text)
        case syntax.Call(syntax.Name(name), (syntax.Constant(str() as text),), ()) if name in _CONSTRUCTORS:
            return cast("object", _CONSTRUCTORS[name](text))
        case _:
            raise Invalid("the ends of the range must be literals")


_CONSTRUCTORS = {"date": date_from, "time": time_from, "date and time": date_time_from, "duration": duration_from}


@builtin("not(negand: boolean?)")
def negate(value: bool | None) -> bool | None:  # noqa: FBT001 - called with what stands in the expression
    return None if value is None else not value


@builtin("is(value1?: any, value2?: any)")
def is_same(run: Run, value1: object = None, value2: object = None) -> bool:
    return kind_of(value1) == kind_of(value2) and identical(value1, value2, run)
