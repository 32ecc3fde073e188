"""What + - * / ** and the minus sign do with values of each pair of types. Where they have no meaning: Invalid."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final, cast

from procession.feel import numbers
from procession.feel.calendar import NANOSECONDS
from procession.feel.limits import STRING_LENGTH_MAX
from procession.feel.numbers import Number, is_number
from procession.feel.problems import Invalid, LimitReached
from procession.feel.temporal import (
    Date,
    DateTime,
    DaysDuration,
    MonthsDuration,
    Time,
    at_start_of_day,
    plus_days_duration,
    plus_months,
)
from procession.feel.values import kind_of


def _refuse(sign: str, left: object, right: object) -> Invalid:
    return Invalid(f"{sign} has no meaning for {kind_of(left)} and {kind_of(right)}", "invalid-type")


def add(left: object, right: object) -> object:
    """``left + right``."""
    if is_number(left) and is_number(right):
        return numbers.add(cast("Number", left), cast("Number", right))
    if type(left) is str and type(right) is str:
        if len(left) + len(right) > STRING_LENGTH_MAX:
            raise LimitReached("STRING_LENGTH_MAX", STRING_LENGTH_MAX)
        return left + right
    match left, right:
        case DaysDuration(), DaysDuration():
            return DaysDuration(left.nanoseconds + right.nanoseconds)
        case MonthsDuration(), MonthsDuration():
            return MonthsDuration(left.months + right.months)
        case ((Date() | Time() | DateTime()), DaysDuration()):
            return plus_days_duration(left, right.nanoseconds)
        case DaysDuration(), (Date() | Time() | DateTime()):
            return plus_days_duration(right, left.nanoseconds)
        case ((Date() | DateTime()), MonthsDuration()):
            return plus_months(left, right.months)
        case MonthsDuration(), (Date() | DateTime()):
            return plus_months(right, left.months)
        case _:
            raise _refuse("+", left, right)


def subtract(left: object, right: object) -> object:
    """``left - right``; a date that meets a date and time counts as its midnight in UTC."""
    if is_number(left) and is_number(right):
        return numbers.subtract(cast("Number", left), cast("Number", right))
    match left, right:
        case DaysDuration(), DaysDuration():
            return DaysDuration(left.nanoseconds - right.nanoseconds)
        case MonthsDuration(), MonthsDuration():
            return MonthsDuration(left.months - right.months)
        case ((Date() | Time() | DateTime()), DaysDuration()):
            return plus_days_duration(left, -right.nanoseconds)
        case ((Date() | DateTime()), MonthsDuration()):
            return plus_months(left, -right.months)
        case Time(), Time():
            return _time_difference(left, right)
        case Date(), Date():
            return DaysDuration((left.days - right.days) * 86_400 * NANOSECONDS)
        case ((Date() | DateTime()), (Date() | DateTime())):
            return _instant_difference(left, right)
        case _:
            raise _refuse("-", left, right)


def _time_difference(left: Time, right: Time) -> DaysDuration:
    if left.is_local is not right.is_local:
        raise Invalid("A local time and one with an offset or a zone have no difference", "invalid-type")
    fraction = left.nanosecond - right.nanosecond
    return DaysDuration((left.value - right.value) * NANOSECONDS + fraction)


def _instant_difference(left: Date | DateTime, right: Date | DateTime) -> DaysDuration:
    first = at_start_of_day(left) if isinstance(left, Date) else left
    second = at_start_of_day(right) if isinstance(right, Date) else right
    if first.is_local is not second.is_local:
        raise Invalid("A local date and time and one with an offset or a zone have no difference", "invalid-type")
    return DaysDuration(first.nanoseconds - second.nanoseconds)


def multiply(left: object, right: object) -> object:
    """``left * right``."""
    if is_number(left) and is_number(right):
        return numbers.multiply(cast("Number", left), cast("Number", right))
    if is_number(left):
        left, right = right, left
    if not is_number(right):
        raise _refuse("*", left, right)
    match left:
        case DaysDuration():
            return DaysDuration(_scaled(left.nanoseconds, cast("Number", right)))
        case MonthsDuration():
            return MonthsDuration(_scaled(left.months, cast("Number", right)))
        case _:
            raise _refuse("*", left, right)


def divide(left: object, right: object) -> object:
    """``left / right``."""
    if is_number(left) and is_number(right):
        return numbers.divide(cast("Number", left), cast("Number", right))
    match left, right:
        case DaysDuration(), DaysDuration():
            return numbers.divide(left.nanoseconds, right.nanoseconds)
        case MonthsDuration(), MonthsDuration():
            return numbers.divide(left.months, right.months)
        case DaysDuration(), (int() | Decimal()):
            return DaysDuration(_quotient(left.nanoseconds, right))
        case MonthsDuration(), (int() | Decimal()):
            return MonthsDuration(_quotient(left.months, right))
        case _:
            raise _refuse("/", left, right)


def _scaled(amount: int, factor: Number) -> int:
    """Rounded towards zero to whole months or nanoseconds."""
    return amount * factor if type(factor) is int else int(numbers.to_decimal(Decimal(amount) * Decimal(factor)))


def _quotient(amount: int, divisor: Number) -> int:
    if isinstance(divisor, bool):
        raise _refuse("/", amount, divisor)
    return int(numbers.divide(amount, divisor))


def power(left: object, right: object) -> object:
    """``left ** right``."""
    if is_number(left) and is_number(right):
        return numbers.power(cast("Number", left), cast("Number", right))
    raise _refuse("**", left, right)


def negation(value: object) -> object:
    """``-value``."""
    if is_number(value):
        return numbers.negate(cast("Number", value))
    match value:
        case DaysDuration():
            return DaysDuration(-value.nanoseconds)
        case MonthsDuration():
            return MonthsDuration(-value.months)
        case _:
            raise Invalid(f"A minus sign has no meaning for {kind_of(value)}", "invalid-type")


ARITHMETIC: Final[dict[str, Callable[[Any, Any], object]]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "**": power,
}
