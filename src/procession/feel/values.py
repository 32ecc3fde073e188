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

from collections.abc import Callable, Hashable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final, TypeGuard, cast

from procession.feel.limits import ITEMS_PER_TURN, VALUE_DEPTH_MAX
from procession.feel.numbers import number_of_decimal, number_of_float
from procession.feel.problems import LimitReached
from procession.feel.ranges import Range
from procession.feel.run import Budget, Function
from procession.feel.temporal import Date, DateTime, DaysDuration, MonthsDuration, Time
from procession.feel.temporal_python import date_of, date_time_of, duration_of, time_of

_NONE: Final = type(None)

# Types whose values need no conversion.
DIRECT: Final[frozenset[type]] = frozenset(
    {int, str, bool, _NONE, list, dict, Date, Time, DateTime, DaysDuration, MonthsDuration, Function}
)


def _range(value: Range) -> Range:
    """Its ends may have come from outside as well."""
    low, high = feel(value.low), feel(value.high)
    if low is value.low and high is value.high:
        return value
    return Range(low, high, value.low_included, value.high_included, value.operator)


_CONVERTERS: Final[dict[type, Callable[[Any], object]]] = {
    Decimal: number_of_decimal,
    float: number_of_float,
    tuple: list,
    datetime: date_time_of,
    date: date_of,
    time: time_of,
    timedelta: duration_of,
    Range: _range,
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


def equal(left: object, right: object, budget: Budget, depth: int = 0) -> bool | None:
    """FEEL's `=`: null (None) for values of different types, false where only one of the two is null."""
    kind, other = type(left), type(right)
    if kind is other and kind in _COMPARED_AS_THEY_ARE:
        return left == right
    if left is None or right is None:
        return left is right
    if kind in _NUMBERS and other in _NUMBERS:
        return left == right
    if kind is list and other is list:
        return _equal_lists(cast("list[object]", left), cast("list[object]", right), budget, depth)
    if kind is Range and other is Range:
        return _equal_ranges(cast("Range", left), cast("Range", right), budget, depth)
    if kind is Function and other is Function:
        return left is right
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        contexts = cast("Mapping[str, object]", left), cast("Mapping[str, object]", right)
        return _equal_contexts(*contexts, budget, depth)
    return None


_NUMBERS: Final = frozenset({int, Decimal})


def deeper(depth: int) -> int:
    """One level further into a value. Raises LimitReached."""
    if depth >= VALUE_DEPTH_MAX:
        raise LimitReached("VALUE_DEPTH_MAX", VALUE_DEPTH_MAX)
    return depth + 1


def _equal_lists(left: list[object], right: list[object], budget: Budget, depth: int) -> bool:
    depth = deeper(depth)
    if len(left) != len(right):
        return False
    budget.spend(1 + len(left) // ITEMS_PER_TURN)
    return all(equal(feel(a), feel(b), budget, depth) is True for a, b in zip(left, right, strict=True))


def _equal_contexts(left: Mapping[str, object], right: Mapping[str, object], budget: Budget, depth: int) -> bool:
    depth = deeper(depth)
    if left.keys() != right.keys():
        return False
    budget.spend(1 + len(left) // ITEMS_PER_TURN)
    return all(equal(feel(left[key]), feel(right[key]), budget, depth) is True for key in left)


def _equal_ranges(left: Range, right: Range, budget: Budget, depth: int) -> bool:
    if (left.operator, left.low_included, left.high_included) != (
        right.operator,
        right.low_included,
        right.high_included,
    ):
        return False
    depth = deeper(depth)
    return equal(left.low, right.low, budget, depth) is True and equal(left.high, right.high, budget, depth) is True


def identity(value: object, budget: Budget, depth: int = 0) -> Hashable:
    """A key that two values share exactly where FEEL's `=` is true for them, so that they can be looked up."""
    kind = type(value)
    if kind in _NUMBERS:
        return ("number", value)
    if kind in _COMPARED_AS_THEY_ARE:
        local = kind in _ZONED and cast("Time", value).is_local
        return (kind, local, value)
    if value is None or kind is Function:
        return (kind, id(value))
    depth = deeper(depth)
    if isinstance(value, Range):
        ends = identity(value.low, budget, depth), identity(value.high, budget, depth)
        return (kind, value.operator, value.low_included, value.high_included, *ends)
    members = cast("list[object] | Mapping[str, object]", value)
    budget.spend(1 + len(members) // ITEMS_PER_TURN)
    if isinstance(members, list):
        return (kind, tuple([identity(feel(item), budget, depth) for item in members]))
    return ("context", frozenset([(key, identity(feel(item), budget, depth)) for key, item in members.items()]))


def identical(left: object, right: object, budget: Budget) -> bool:
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
            return left.date == right.date and identical(left.time, right.time, budget)
        case _:
            return equal(left, right, budget) is True


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


def contains(test: Range, value: object, budget: Budget) -> bool | None:
    """Whether a value lies in a range; null where the two cannot be compared."""
    if test.operator == "=":
        return equal(value, test.low, budget)
    if test.operator == "!=":
        same = equal(value, test.low, budget)
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


def is_in(value: object, test: object, budget: Budget) -> bool | None:
    """FEEL's `in` for one test: equal to it, inside the range, or equal to or inside an item of the list."""
    kind = type(test)
    if kind is Range:
        return contains(cast("Range", test), value, budget)
    if kind is list:
        items = cast("list[object]", test)
        budget.spend(len(items) // ITEMS_PER_TURN)
        if any(_is_item(value, feel(item), budget) for item in items):
            return True
        return type(value) is list and equal(cast("object", value), test, budget) is True
    return equal(value, test, budget)


def _is_item(value: object, item: object, budget: Budget) -> bool:
    if type(item) is Range and type(value) is not Range:
        return contains(item, value, budget) is True
    return equal(value, item, budget) is True
