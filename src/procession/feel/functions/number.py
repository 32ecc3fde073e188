"""Built-in functions on numbers (and durations, where the specification says so)."""

from decimal import (
    ROUND_CEILING,
    ROUND_DOWN,
    ROUND_FLOOR,
    ROUND_HALF_DOWN,
    ROUND_HALF_EVEN,
    ROUND_HALF_UP,
    ROUND_UP,
    Decimal,
    InvalidOperation,
    Overflow,
)

from procession.feel.functions.registry import builtin
from procession.feel.numbers import DECIMAL128, Number, as_int_if_whole, floor_modulo, round_to
from procession.feel.problems import Invalid
from procession.feel.temporal import DaysDuration, MonthsDuration


@builtin("decimal(n: number, scale: number)")
def decimal(number: Number, scale: Number) -> Number:
    return round_to(number, scale, ROUND_HALF_EVEN)


@builtin("floor(n: number, scale?: number)")
def floor(number: Number, scale: Number = 0) -> Number:
    return round_to(number, scale, ROUND_FLOOR)


@builtin("ceiling(n: number, scale?: number)")
def ceiling(number: Number, scale: Number = 0) -> Number:
    return round_to(number, scale, ROUND_CEILING)


@builtin("round up(n: number, scale: number)")
def round_up(number: Number, scale: Number) -> Number:
    return round_to(number, scale, ROUND_UP)


@builtin("round down(n: number, scale: number)")
def round_down(number: Number, scale: Number) -> Number:
    return round_to(number, scale, ROUND_DOWN)


@builtin("round half up(n: number, scale: number)")
def round_half_up(number: Number, scale: Number) -> Number:
    return round_to(number, scale, ROUND_HALF_UP)


@builtin("round half down(n: number, scale: number)")
def round_half_down(number: Number, scale: Number) -> Number:
    return round_to(number, scale, ROUND_HALF_DOWN)


@builtin("abs(n: number or days and time duration or years and months duration)")
def absolute(value: Number | DaysDuration | MonthsDuration) -> object:
    match value:
        case DaysDuration():
            return DaysDuration(abs(value.nanoseconds))
        case MonthsDuration():
            return MonthsDuration(abs(value.months))
        case _:
            return abs(value)


@builtin("modulo(dividend: number, divisor: number)")
def modulo(dividend: Number, divisor: Number) -> Number:
    return floor_modulo(dividend, divisor)


@builtin("sqrt(number: number)")
def square_root(number: Number) -> Number:
    if number < 0:
        raise Invalid("a negative number has no square root")
    return as_int_if_whole(DECIMAL128.sqrt(Decimal(number)))


@builtin("log(number: number)")
def logarithm(number: Number) -> Number:
    if number <= 0:
        raise Invalid("only positive numbers have a logarithm")
    return as_int_if_whole(DECIMAL128.ln(Decimal(number)))


# e to the power of this is smaller than any number of 34 digits and an exponent of -6176.
_EXPONENT_MIN = -14_300


@builtin("exp(number: number)")
def exponential(number: Number) -> Number:
    if number < _EXPONENT_MIN:
        return 0
    try:
        return as_int_if_whole(DECIMAL128.exp(Decimal(number)))
    except (InvalidOperation, Overflow):
        raise Invalid("the result is too large for 34 digits and an exponent of 6144") from None


@builtin("odd(number: number)")
def odd(number: Number) -> bool:
    return _remainder_of_two(number) == 1


@builtin("even(number: number)")
def even(number: Number) -> bool:
    return _remainder_of_two(number) == 0


def _remainder_of_two(number: Number) -> Number:
    if isinstance(number, Decimal) and number.adjusted() > 33:
        return 0  # more than 34 digits: the last ones are zeros
    return abs(number) % 2
