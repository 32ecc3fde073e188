"""Cron expressions, as far as a deployment has to know them: is it one, and does it ever fire. No calendar arithmetic.

Five or six fields (seconds first), names of months and days, ``L``, ``LW``, ``5L``, ``5#2``, steps, lists and ranges,
``?`` for ``*``, the ``@daily`` words, and ``CRON_TZ=<zone>`` in front. What it accepts, `jobs/schedule.py` computes.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

WORDS: Final = frozenset({"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"})
_MONTHS: Final = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_DAYS: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_DAYS_IN_MONTH: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_ZONE: Final = re.compile(r"(?:CRON_)?TZ=(.*)")
_LAST: Final = 0  # among the days of a month: its last day, which every month has


class _Field(NamedTuple):
    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()


_FIELDS: Final = (
    _Field("second", 0, 59),
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of month", 1, 31),
    _Field("month", 1, 12, _MONTHS),
    _Field("day of week", 0, 7, _DAYS),
)
_DAY, _MONTH, _WEEKDAY = _FIELDS[3], _FIELDS[4], _FIELDS[5]


def cron_problem(text: str) -> str:
    """Why a text is no cron expression, or never fires; empty if it does."""
    head, _, rest = text.strip().partition(" ")
    zone = _ZONE.fullmatch(head)
    if zone is not None:
        if not is_zone(zone.group(1)):
            return f"there is no time zone '{zone.group(1)}'"
        text = rest
    if text.strip().lower() in WORDS:
        return ""
    fields = text.upper().replace("?", "*").split()
    if len(fields) == 7:
        return "it has seven fields; a year cannot be given"
    if len(fields) not in {5, 6}:
        return f"it has {len(fields)} fields, not five or six"
    seconds = fields if len(fields) == 6 else ["0", *fields]
    try:
        values = [_values(part, field) for part, field in zip(seconds, _FIELDS, strict=True)]
    except ValueError as problem:
        return str(problem)
    both = seconds[3].startswith("*") or seconds[5].startswith("*")  # else one of day and weekday is enough
    if both and min(values[3]) > max(_DAYS_IN_MONTH[month - 1] for month in values[4]):
        return "no month has such a day: it never fires"
    return ""


def is_zone(name: str) -> bool:
    """Whether there is a time zone of this name."""
    try:
        ZoneInfo(name)
    except (KeyError, OSError, ValueError):
        return False
    return True


def _values(text: str, field: _Field) -> set[int]:
    """The values of a field; those of weekdays only as far as they are known. Raises ValueError."""
    if text == "*":
        return set(range(field.low, field.high + 1))
    if "," in text:
        return set[int]().union(*(_values(part, field) for part in text.split(",")))
    if field is _WEEKDAY and text.endswith("L"):
        return {_digits(text[:-1], field)}
    if field is _WEEKDAY and "#" in text:
        day, _, week = text.partition("#")
        if week not in {"1", "2", "3", "4", "5"}:
            raise ValueError(_wrong(text, field))
        return {_value(day, field)}
    if "/" in text:
        return _stepped(text, field)
    if "-" in text:
        first, last = (_value(part, field) for part in text.split("-", maxsplit=1))
        if last < first:
            raise ValueError(_wrong(text, field))
        return set(range(first, last + 1))
    if field is _DAY and text in {"L", "LW"}:
        return {_LAST}
    return {_value(text, field)}


def _stepped(text: str, field: _Field) -> set[int]:
    term, _, step = text.partition("/")
    if not (step.isascii() and step.isdecimal()) or int(step) == 0:
        raise ValueError(_wrong(text, field))
    values = sorted(_values(term, field))
    if len(values) == 1 and values[0] != _LAST:
        values = list(range(values[0], field.high + 1))
    return set(values[:: int(step)])


def _value(text: str, field: _Field) -> int:
    if text in field.names:
        return field.names.index(text) + field.low
    return _digits(text, field)


def _digits(text: str, field: _Field) -> int:
    if not (text.isascii() and text.isdecimal()) or not field.low <= int(text) <= field.high:
        raise ValueError(_wrong(text, field))
    return int(text)


def _wrong(text: str, field: _Field) -> str:
    return f"'{text}' is no {field.name}"
