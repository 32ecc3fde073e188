"""Numbers: decimals of 34 digits. Whole numbers are Python ints where that is exact, all others Decimals.

No floats: a float that comes in is read as the decimal its repr shows. NaN and infinities are not numbers in FEEL.
"""

import math
from decimal import (
    ROUND_HALF_EVEN,
    Clamped,
    Context,
    Decimal,
    DivisionByZero,
    Inexact,
    InvalidOperation,
    Overflow,
    Rounded,
    Subnormal,
    Underflow,
)
from typing import Final

from procession.feel.limits import SCALE_MAX, SCALE_MIN
from procession.feel.problems import Invalid

Number = int | Decimal

# IEEE 754 decimal128, which the DMN specification names: 34 digits, half to even.
DECIMAL128: Final = Context(
    prec=34,
    rounding=ROUND_HALF_EVEN,
    Emin=-6143,
    Emax=6144,
    traps=[DivisionByZero, InvalidOperation, Overflow],
)
for _signal in (Clamped, Inexact, Rounded, Subnormal, Underflow):
    DECIMAL128.traps[_signal] = False

# Wide enough to be exact for any two decimals of 34 digits.
_WIDE: Final = Context(prec=20_000, Emin=-99_999, Emax=99_999)

# 34 digits and any exponent, for what comes from outside.
ROUGH: Final = Context(prec=34, Emin=-999_999_999, Emax=999_999_999)

# Ints up to here are exact in 34 digits.
INT_MAX: Final = 10**34 - 1


def is_number(value: object) -> bool:
    """Whether it is an int or a Decimal, and no bool."""
    kind = type(value)
    return kind is int or kind is Decimal


def number_of_text(text: str) -> Number:
    """The number that digits stand for; the caller has checked their form."""
    if text.isdigit():
        return normal(int(text)) if len(text) < 4000 else to_decimal(Decimal(text))
    return to_decimal(Decimal(text))


def number_of_float(value: float) -> Number | None:
    """A float as the decimal that its repr shows; None where it is not finite."""
    if not math.isfinite(value):
        return None
    if value.is_integer() and abs(value) < 2**53:
        return int(value)
    return Decimal(float.__repr__(value))


def number_of_decimal(value: Decimal) -> Decimal | None:
    """A decimal from outside, rounded to 34 digits where it has more; None where it is no number or too large."""
    if not value.is_finite():
        return None
    is_within = DECIMAL128.Emin <= value.adjusted() <= DECIMAL128.Emax
    if type(value) is Decimal and is_within and len(value.as_tuple().digits) <= DECIMAL128.prec:
        return value
    try:
        return to_decimal(Decimal(value))
    except Invalid:
        return None


def normal(value: int) -> Number:
    """An int of at most 34 digits as it is, a larger one as the decimal it is rounded to."""
    if -INT_MAX <= value <= INT_MAX:
        return value
    return to_decimal(Decimal(value))


def to_decimal(value: Number) -> Decimal:
    """Rounded to 34 digits. Raises Invalid for what decimal128 cannot hold."""
    try:
        return DECIMAL128.plus(value if isinstance(value, Decimal) else Decimal(value))
    except (InvalidOperation, Overflow):
        raise Invalid("The number is too large for 34 digits and an exponent of 6144") from None


def whole(value: Number) -> int:
    """Truncated towards zero; what has more than 34 digits is as good as the largest int of 34 for every position."""
    if value > INT_MAX:
        return INT_MAX
    return -INT_MAX if value < -INT_MAX else int(value)


def as_int_if_whole(value: Decimal) -> Number:
    """An int where the decimal is whole and small enough to be exact."""
    if value == value.to_integral_value() and value.adjusted() < 34:
        return int(value)
    return value


def text_of_number(value: Number) -> str:
    """Digits without an exponent and without trailing zeros."""
    if type(value) is int and -INT_MAX <= value <= INT_MAX:
        return str(value)
    text = format(to_decimal(value), "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def add(left: Number, right: Number) -> Number:
    """The sum."""
    if type(left) is int and type(right) is int:
        return normal(left + right)
    try:
        return DECIMAL128.add(Decimal(left), Decimal(right))
    except (InvalidOperation, Overflow):
        raise _overflow("+") from None


def subtract(left: Number, right: Number) -> Number:
    """The difference."""
    if type(left) is int and type(right) is int:
        return normal(left - right)
    try:
        return DECIMAL128.subtract(Decimal(left), Decimal(right))
    except (InvalidOperation, Overflow):
        raise _overflow("-") from None


def multiply(left: Number, right: Number) -> Number:
    """The product."""
    if type(left) is int and type(right) is int:
        return normal(left * right)
    try:
        return DECIMAL128.multiply(Decimal(left), Decimal(right))
    except (InvalidOperation, Overflow):
        raise _overflow("*") from None


def divide(left: Number, right: Number) -> Number:
    """The quotient; an int where two ints divide evenly."""
    if right == 0:
        raise Invalid("Division by zero")
    if type(left) is int and type(right) is int and not left % right:
        return left // right
    try:
        return DECIMAL128.divide(Decimal(left), Decimal(right))
    except (InvalidOperation, Overflow, DivisionByZero):
        raise _overflow("/") from None


def power(left: Number, right: Number) -> Number:
    """The power; an int where it is whole. Anything to the power of 0 is 1, as IEEE 754 has it."""
    if right == 0:
        return 1
    try:
        result = DECIMAL128.power(Decimal(left), Decimal(right))
    except (InvalidOperation, Overflow, DivisionByZero):
        result = None
    if result is None or not result.is_finite():
        raise Invalid(f"{_short(left)} ** {_short(right)} is not a number of 34 digits")
    return as_int_if_whole(result)


def negate(value: Number) -> Number:
    """The number with the other sign."""
    return -value if type(value) is int else DECIMAL128.minus(value)


def floor_modulo(dividend: Number, divisor: Number) -> Number:
    """Dividend - divisor * floor(dividend / divisor): the sign of the divisor, as the specification says."""
    if divisor == 0:
        raise Invalid("modulo by zero")
    if type(dividend) is int and type(divisor) is int:
        return normal(dividend % divisor)
    left, right = to_decimal(dividend), to_decimal(divisor)
    exponent = min(int(left.as_tuple().exponent), int(right.as_tuple().exponent))
    # Exact: both as so many units of the smaller last digit. At most some twelve thousand digits.
    rest = int(left.scaleb(-exponent, _WIDE)) % int(right.scaleb(-exponent, _WIDE))
    return to_decimal(Decimal(rest).scaleb(exponent, _WIDE))


def round_to(value: Number, scale: Number, rounding: str) -> Number:
    """Rounded to `scale` digits after the point (before it where negative)."""
    digits = whole(scale)
    if not SCALE_MIN <= digits <= SCALE_MAX:
        raise Invalid(f"The scale must be between {SCALE_MIN} and {SCALE_MAX}, found {digits}")
    number = Decimal(value)
    if -int(number.as_tuple().exponent) <= digits:
        return value
    if number and number.adjusted() < -digits - 1:
        number = Decimal((number.as_tuple().sign, (1,), -digits - 2))  # any such number rounds alike; keeps it small
    quantum = Decimal((0, (1,), -digits))
    wide = Context(prec=max(34, number.adjusted() + digits + 2), rounding=rounding, Emin=-9999, Emax=9999)
    return as_int_if_whole(number.quantize(quantum, context=wide))


def _short(value: Number) -> str:
    return f"{value:.34g}" if isinstance(value, Decimal) else f"{Decimal(value):.34g}"


def _overflow(operator: str) -> Invalid:
    return Invalid(f"The result of {operator} is too large for 34 digits and an exponent of 6144")
