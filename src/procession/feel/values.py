"""The values of FEEL and what equality and order mean for them.

    FEEL                              Python, inside and as a result
    number                            int where whole and exact, else decimal.Decimal
    string, boolean, null             str, bool, None
    date, time, date and time         temporal.Date, Time, DateTime
    both durations                    temporal.DaysDuration, MonthsDuration
    list, context                     list, dict (or the Mapping that came in)
    range, function                   ranges.Range, run.Function

Lists and mappings that come from outside are not copied: their items stay as they are until something looks at one,
and pass through `feel` then. So an evaluation costs what it touches.
"""

from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final, TypeGuard, cast

from procession.feel.limits import VALUE_DEPTH_MAX
from procession.feel.numbers import number_of_float
from procession.feel.problems import LimitReached
from procession.feel.ranges import Range
from procession.feel.run import Function
from procession.feel.temporal import Date, DateTime, DaysDuration, MonthsDuration, Time
from procession.feel.temporal_python import date_of, date_time_of, duration_of, time_of

_NONE: Final = type(None)

# Types whose values need no conversion.
DIRECT: Final[frozenset[type]] = frozenset(
    {int, str, bool, _NONE, list, dict, Date, Time, DateTime, DaysDuration, MonthsDuration, Range, Function}
)


def _decimal(value: Decimal) -> object:
    return value if value.is_finite() else None


_CONVERTERS: Final[dict[type, Callable[[Any], object]]] = {
    Decimal: _decimal,
    float: number_of_float,
    tuple: list,
    datetime: date_time_of,
    date: date_of,
    time: time_of,
    timedelta: duration_of,
}


def feel(value: object) -> object:
    """A value from outside as a value of FEEL; null for what FEEL has no kind of value for."""
    kind = type(value)
    if kind in DIRECT:
        return value
    converter = _CONVERTERS.get(kind)
    return _feel_of_subclass(value) if converter is None else converter(value)


def _feel_of_subclass(value: object) -> object:
    """Subclasses count as what they extend; their own code is not asked."""
    if isinstance(value, Mapping):
        return cast("Mapping[str, object]", value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    for kind, converter in _CONVERTERS.items():
        if isinstance(value, kind):
            return converter(value)
    return list(cast("list[object]", value)) if isinstance(value, list) else None


def is_context(value: object) -> TypeGuard[Mapping[str, object]]:
    """Whether it has members: a dict or any other Mapping."""
    return type(value) is dict or isinstance(value, Mapping)


def kind_of(value: object) -> str:
    """The name of a value's type, for messages."""
    name = _KINDS.get(type(value))
    if name is not None:
        return name
    return "context" if isinstance(value, Mapping) else "value"


_KINDS: Final[dict[type, str]] = {
    _NONE: "null",
    bool: "boolean",
    int: "number",
    Decimal: "number",
    str: "string",
    list: "list",
    dict: "context",
    Date: "date",
    Time: "time",
    DateTime: "date and time",
    DaysDuration: "days and time duration",
    MonthsDuration: "years and months duration",
    Range: "range",
    Function: "function",
}

_COMPARED_AS_THEY_ARE: Final = frozenset({int, str, bool, Date, Time, DateTime, DaysDuration, MonthsDuration, Decimal})


def equal(left: object, right: object, depth: int = 0) -> bool | None:
    """FEEL's `=`: null (None) for values of different types, false where only one of the two is null."""
    kind, other = type(left), type(right)
    if kind is other and kind in _COMPARED_AS_THEY_ARE:
        return left == right
    if left is None or right is None:
        return left is right
    if kind in _NUMBERS and other in _NUMBERS:
        return left == right
    if kind is list and other is list:
        return _equal_lists(cast("list[object]", left), cast("list[object]", right), depth)
    if kind is Range and other is Range:
        return _equal_ranges(cast("Range", left), cast("Range", right), depth)
    if kind is Function and other is Function:
        return left is right
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return _equal_contexts(cast("Mapping[str, object]", left), cast("Mapping[str, object]", right), depth)
    return None


_NUMBERS: Final = frozenset({int, Decimal})


def _deeper(depth: int) -> int:
    if depth >= VALUE_DEPTH_MAX:
        raise LimitReached("VALUE_DEPTH_MAX", VALUE_DEPTH_MAX)
    return depth + 1


def _equal_lists(left: list[object], right: list[object], depth: int) -> bool:
    depth = _deeper(depth)
    if len(left) != len(right):
        return False
    return all(equal(feel(a), feel(b), depth) is True for a, b in zip(left, right, strict=True))


def _equal_contexts(left: Mapping[str, object], right: Mapping[str, object], depth: int) -> bool:
    depth = _deeper(depth)
    if left.keys() != right.keys():
        return False
    return all(equal(feel(left[key]), feel(right[key]), depth) is True for key in left)


def _equal_ranges(left: Range, right: Range, depth: int) -> bool:
    if (left.operator, left.low_included, left.high_included) != (
        right.operator,
        right.low_included,
        right.high_included,
    ):
        return False
    depth = _deeper(depth)
    return equal(left.low, right.low, depth) is True and equal(left.high, right.high, depth) is True


def identical(left: object, right: object) -> bool:
    """FEEL's `is`: equal, of the same type, and for times and date-times with the same offset or zone."""
    match left, right:
        case Time(), Time():
            return (left.seconds, left.nanosecond, left.offset, left.zone) == (
                right.seconds,
                right.nanosecond,
                right.offset,
                right.zone,
            )
        case DateTime(), DateTime():
            return left.date == right.date and identical(left.time, right.time)
        case _:
            return equal(left, right) is True


def order(left: Any, right: Any) -> int | None:  # noqa: ANN401 - compared as what its type was just found to be
    """-1, 0 or 1 where both values are of one ordered type, else None."""
    kind, other = cast("type[object]", type(left)), cast("type[object]", type(right))
    if kind in _NUMBERS:
        if other not in _NUMBERS:
            return None
        return (left > right) - (left < right)
    if kind is not other:
        return None
    if kind is str:
        return (left > right) - (left < right)
    key = _ORDER_KEYS.get(kind)
    if key is None or (kind in _ZONED and left.is_local is not right.is_local):
        return None
    a, b = key(left), key(right)
    return (a > b) - (a < b)


_ZONED: Final = frozenset({Time, DateTime})
_ORDER_KEYS: Final[dict[type, Callable[[Any], int]]] = {
    Date: lambda value: value.days,
    Time: lambda value: value.value,
    DateTime: lambda value: value.value,
    DaysDuration: lambda value: value.nanoseconds,
    MonthsDuration: lambda value: value.months,
}


def contains(test: Range, value: object) -> bool | None:
    """Whether a value lies in a range; null where the two cannot be compared."""
    if test.operator == "=":
        return equal(value, test.low)
    if test.operator == "!=":
        same = equal(value, test.low)
        return None if same is None else not same
    above = below = True
    if test.operator not in ("<", "<="):
        low = order(value, test.low)
        if low is None:
            return None
        above = low > 0 or (low == 0 and test.low_included)
    if test.operator not in (">", ">="):
        high = order(value, test.high)
        if high is None:
            return None
        below = high < 0 or (high == 0 and test.high_included)
    return above and below


def is_in(value: object, test: object) -> bool | None:
    """FEEL's `in` for one test: equal to it, inside the range, or equal to or inside an item of the list."""
    kind = type(test)
    if kind is Range:
        return contains(cast("Range", test), value)
    if kind is list:
        items = cast("list[object]", test)
        if any(_is_item(value, feel(item)) for item in items):
            return True
        return type(value) is list and equal(cast("object", value), test) is True
    return equal(value, test)


def _is_item(value: object, item: object) -> bool:
    if type(item) is Range and type(value) is not Range:
        return contains(item, value) is True
    return equal(value, item) is True
