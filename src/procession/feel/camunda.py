"""Camunda's extensions of the built-in functions, as its documentation describes them; not part of the DMN standard.

`uuid` and `random number` need chance, which this room does not have: whoever evaluates may hand them in as
`functions`.
"""

import base64
import json
import re
from collections.abc import Hashable, Mapping
from decimal import Decimal
from typing import cast

from procession.feel.calendar import days_in_month
from procession.feel.convert import json_within
from procession.feel.functions.context import Context, context_merge, context_put, get_value
from procession.feel.functions.conversion import number_with_separators
from procession.feel.functions.list import Items
from procession.feel.functions.registry import BUILTINS, builtin
from procession.feel.functions.string import bounded
from procession.feel.functions.temporal import day_of
from procession.feel.numbers import Number, as_int_if_whole, normal, to_decimal, whole
from procession.feel.problems import Invalid
from procession.feel.regex import compile_pattern
from procession.feel.run import Run
from procession.feel.temporal import Date, DateTime, Time, at_instant, zone_of
from procession.feel.temporal_text import parse_time
from procession.feel.values import feel, identity, is_context


@builtin("is defined(value: any)")
def is_defined(value: object) -> bool:
    """Whether it is not null."""
    return value is not None


@builtin("get or else(value: any, default: any)")
def get_or_else(value: object, default: object) -> object:
    """The value, or the default where it is null."""
    return default if value is None else value


# What they are asked about may be missing: that is no reason for a warning.
BUILTINS["is defined"].forgives = True
BUILTINS["get or else"].forgives = True


@builtin("assert(value: any, condition: any, cause?: string?)")
def assert_condition(value: object, condition: object, cause: str | None = None) -> object:
    """The value where the condition is true, else null and a warning with the cause."""
    if condition is not True:
        raise Invalid(cause or "the condition is not fulfilled", "assertion")
    return value


@builtin("get value(context: context, key: string)")
def get_value_of_context(context: Context, key: str) -> object:
    """The standard function under the parameter names that Camunda documents."""
    return get_value(context, key)


@builtin("get value(context: context, keys: list)")
def get_value_deep(context: Context, keys: Items) -> object:
    """The value at the end of a path of keys."""
    value: object = context
    if not keys:
        raise Invalid("the list of keys is empty")
    for key in keys:
        members: Context = value if is_context(value) else _NO_MEMBERS
        if not isinstance(key, str) or key not in members:
            raise Invalid(f"there is no member {key!r}", "no-member")
        value = feel(members[key])
    return value


@builtin("put(context: context, key: string, value: any)")
def put(context: Context, key: str, value: object) -> object:
    """An older name of context put."""
    return context_put(context, key, value)


@builtin("put all(...contexts: any)")
def put_all(*contexts: object) -> object:
    """An older name of context merge."""
    return context_merge(list(contexts))


@builtin("number(from: string, grouping separator: string)")
def number_with_grouping(text: str, grouping: str) -> Number:
    """The number of a text whose digits are grouped."""
    return number_with_separators(text, grouping, None)


@builtin("is blank(string: string)")
def is_blank(text: str) -> bool:
    """Whether there is nothing but white space."""
    return not text.strip()


@builtin("trim(string: string)")
def trim(text: str) -> str:
    """Without the white space at both ends."""
    return text.strip()


@builtin("extract(string: string, pattern: string)")
def extract(run: Run, text: str, pattern: str) -> list[str]:
    """All texts that match the pattern."""
    return compile_pattern(pattern, "").find_all(text, run)


@builtin("to base64(value: string)")
def to_base64(text: str) -> str:
    """The bytes of the UTF-8 text in base 64."""
    return bounded(base64.b64encode(text.encode("utf-8", "replace")).decode("ascii"))


@builtin("to json(value: any)")
def value_to_json(run: Run, value: object) -> str:
    """The value as a JSON text."""
    try:
        return bounded(json.dumps(json_within(value, run), ensure_ascii=False, separators=(",", ":"), allow_nan=False))
    except ValueError as problem:
        raise Invalid(str(problem)) from None


@builtin("from json(value: string)")
def value_from_json(text: str) -> object:
    """The value of a JSON text; numbers keep their digits."""
    try:
        value = cast(
            "object",
            json.loads(text, parse_float=_json_number, parse_int=_json_number, parse_constant=_refuse_constant),
        )
        return _without_surrogates(value) if _SURROGATE_ESCAPE.search(text) else value
    except ValueError as problem:
        raise Invalid(f"not a JSON text: {problem}") from None
    except RecursionError:
        raise Invalid("the JSON text is nested too deeply") from None


_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def _without_surrogates(value: object) -> object:
    """Half a character is none: what cannot be written in UTF-8 becomes U+FFFD, as in a string literal."""
    match value:
        case str():
            return _LONE_SURROGATE.sub("\ufffd", value)
        case list():
            return [_without_surrogates(item) for item in cast("list[object]", value)]
        case dict():
            members = cast("Mapping[str, object]", value)
            return {_LONE_SURROGATE.sub("\ufffd", key): _without_surrogates(item) for key, item in members.items()}
        case _:
            return value


def _json_number(text: str) -> Number:
    if text.removeprefix("-").isdigit() and len(text) < 40:
        return normal(int(text))
    if len(text) > _JSON_NUMBER_LENGTH_MAX:
        raise ValueError(f"a number of {len(text)} characters")
    return as_int_if_whole(to_decimal(Decimal(text)))


# Far more digits than the 34 that a number keeps.
_JSON_NUMBER_LENGTH_MAX = 400


def _refuse_constant(text: str) -> object:
    raise ValueError(f"{text} is not a number of JSON")


@builtin("is empty(list: list)")
def is_empty(items: Items) -> bool:
    """Whether the list has no items."""
    return not items


@builtin("duplicate values(list: list)")
def duplicate_values(run: Run, items: Items) -> Items:
    """Those that stand in the list more than once, each once."""
    first: dict[Hashable, object] = {}
    several: set[Hashable] = set()
    for item in map(feel, items):
        key = identity(item, run)
        if key in first:
            several.add(key)
        first.setdefault(key, item)
    return [item for key, item in first.items() if key in several]


@builtin("partition(list: list, size: number)")
def partition(items: Items, size: Number) -> list[Items]:
    """Parts of the given size; the last one may be shorter."""
    length = whole(size)
    if length < 1:
        raise Invalid(f"the size must be at least 1, found {length}")
    return [items[start : start + length] for start in range(0, len(items), length)]


@builtin("last day of month(date: date or date and time)")
def last_day_of_month(value: Date | DateTime) -> Date:
    """The last day of the month that the date lies in."""
    day = day_of(value)
    return Date(day.year, day.month, days_in_month(day.year, day.month))


@builtin("date and time(date: date and time, timezone: string)")
def date_time_in_zone(value: DateTime, timezone: str) -> DateTime:
    """The same instant in another zone."""
    if value.is_local:
        raise Invalid("a local date and time is no instant; give it an offset or a zone first")
    return at_instant(value.nanoseconds, _wall(timezone))


_NO_MEMBERS: Context = {}


def _wall(timezone: str) -> Time:
    if timezone[:1] in ("+", "-", "Z"):
        return parse_time("00:00:00" + timezone)
    zone_of(timezone)
    return Time(0, 0, 0, 0, None, timezone)


@builtin("fromAi(value: any, description?: string?, type?: string?, schema?: context?, options?: context?)")
def from_ai(value: object, *_described: object) -> object:
    """The value itself: the function marks it for integrations that read the expression."""
    return value
