"""Dates, times and durations to and from their ISO 8601 texts. Strict: one form, all digits, no surrounding space."""

import re
from decimal import Decimal
from typing import Final

import msgspec

from procession.feel.calendar import DAY_NANOSECONDS, NANOSECONDS
from procession.feel.limits import TEMPORAL_TEXT_LENGTH_MAX
from procession.feel.numbers import INT_MAX, whole
from procession.feel.problems import Invalid
from procession.feel.temporal import (
    Date,
    DateTime,
    DaysDuration,
    MonthsDuration,
    Temporal,
    Time,
    date,
    plus_days_duration,
    time,
    zone_of,
)

_DATE: Final = r"(-?(?:[1-9][0-9]{4,8}|[0-9]{4}))-([0-9]{2})-([0-9]{2})"
_TIME: Final = (
    r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,30}))?"
    r"(?:(?:(Z|z)|([+-])([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?)(?:\[([A-Za-z][A-Za-z0-9_+/-]*)\])?"
    r"|@([A-Za-z][A-Za-z0-9_+/-]*))?"
)
_DATE_PATTERN: Final = re.compile(_DATE, re.ASCII)
_TIME_PATTERN: Final = re.compile("T?" + _TIME, re.ASCII)
_DATE_TIME_PATTERN: Final = re.compile(rf"{_DATE}T{_TIME}", re.ASCII)
_MONTHS_PATTERN: Final = re.compile(r"(-?)P(?:([0-9]+)Y)?(?:([0-9]+)M)?", re.ASCII)
_DAYS_PATTERN: Final = re.compile(
    r"(-?)P(?:([0-9]+)D)?(T(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+(?:\.[0-9]*)?|\.[0-9]+)S)?)?", re.ASCII
)


def _match(pattern: "re.Pattern[str]", text: str, what: str, example: str) -> "re.Match[str]":
    match = pattern.fullmatch(text) if len(text) <= TEMPORAL_TEXT_LENGTH_MAX else None
    if match is None:
        raise Invalid(f"Expected a {what} such as {example!r}, found {text[:40]!r}")
    return match


def parse_date(text: str) -> Date:
    """Raises Invalid."""
    match = _match(_DATE_PATTERN, text, "date", "2024-01-31")
    return date(int(match[1]), int(match[2]), int(match[3]))


def parse_time(text: str) -> Time:
    """Raises Invalid. 24:00:00 is 00:00:00."""
    match = _match(_TIME_PATTERN, text, "time", "13:45:00+01:00")
    found, _ = _time_of(match, 1)
    return found


def parse_date_time(text: str) -> DateTime:
    """A date alone is its midnight."""
    if "T" not in text:
        return DateTime(parse_date(text), Time(0, 0, 0))
    match = _match(_DATE_TIME_PATTERN, text, "date and time", "2024-01-31T13:45:00Z")
    day = date(int(match[1]), int(match[2]), int(match[3]))
    found, next_day = _time_of(match, 4)
    if next_day:
        moved = plus_days_duration(day, DAY_NANOSECONDS)
        return DateTime(moved, found) if isinstance(moved, Date) else DateTime(day, found)
    return DateTime(day, found)


def _time_of(match: "re.Match[str]", first: int) -> tuple[Time, bool]:
    """The time and whether it was written 24:00:00, the end of its day."""
    hour, minute, second = int(match[first]), int(match[first + 1]), int(match[first + 2])
    nanosecond = int((match[first + 3] or "0")[:9].ljust(9, "0"))
    end_of_day = (hour, minute, second, nanosecond) == (24, 0, 0, 0)
    offset = _offset_of(match, first + 4)
    found = time(0 if end_of_day else hour, minute, second, nanosecond, offset)
    zone = match[first + 9] or match[first + 10]  # 10:00:00+01:00[Europe/Berlin] means @Europe/Berlin
    if zone is not None:
        zone_of(zone)
        found = msgspec.structs.replace(found, zone=zone, offset=None)
    return found, end_of_day


def _offset_of(match: "re.Match[str]", first: int) -> int | None:
    if match[first]:
        return 0
    if match[first + 1] is None:
        return None
    minutes, seconds = int(match[first + 3]), int(match[first + 4] or 0)
    if minutes > 59 or seconds > 59:
        raise Invalid("The minutes and seconds of an offset must lie below 60")
    total = int(match[first + 2]) * 3600 + minutes * 60 + seconds
    return -total if match[first + 1] == "-" else total


def parse_duration(text: str) -> DaysDuration | MonthsDuration:
    """A duration of years and months, or one of days, hours, minutes and seconds; the two do not mix."""
    if len(text) <= TEMPORAL_TEXT_LENGTH_MAX:
        match = _MONTHS_PATTERN.fullmatch(text)
        if match is not None and (match[2] or match[3]):
            months = int(match[2] or 0) * 12 + int(match[3] or 0)
            return MonthsDuration(-months if match[1] else months)
        match = _DAYS_PATTERN.fullmatch(text)
        if match is not None and match[3] != "T" and (match[2] or match[3]):
            return _days_duration(match)
    raise Invalid(f"Expected a duration such as 'P1Y2M' or 'P1DT2H', found {text[:40]!r}")


def _days_duration(match: "re.Match[str]") -> DaysDuration:
    seconds = int(match[2] or 0) * 86_400 + int(match[4] or 0) * 3600 + int(match[5] or 0) * 60
    whole, _, fraction = (match[6] or "0").partition(".")
    total = (seconds + int(whole or 0)) * NANOSECONDS + int(fraction[:9].ljust(9, "0"))
    return DaysDuration(-total if match[1] else total)


def parse_temporal(text: str) -> Temporal:
    """What stands after @: a duration, date and time, time or date, told by its form."""
    if text.lstrip("-").startswith("P"):
        return parse_duration(text)
    if "T" in text[1:].partition("@")[0]:
        return parse_date_time(text)
    return parse_time(text) if ":" in text else parse_date(text)


def text_of(value: Temporal) -> str:
    """The canonical text: what FEEL's string() gives and what goes into JSON."""
    match value:
        case Date():
            return _date_text(value)
        case Time():
            return _time_text(value)
        case DateTime():
            return f"{_date_text(value.date)}T{_time_text(value.time)}"
        case MonthsDuration():
            return _months_text(value.months)
        case DaysDuration():
            return _days_text(value.nanoseconds)


def text_with_offset(value: DateTime) -> str:
    """Like text_of, but a zone is written after the offset that holds: 2024-01-31T10:00:00+01:00[Europe/Berlin]."""
    if value.time.zone is None:
        return text_of(value)
    time = msgspec.structs.replace(value.time, zone=None, offset=value.offset_seconds)
    return f"{_date_text(value.date)}T{_time_text(time)}[{value.time.zone}]"


def _date_text(value: Date) -> str:
    sign = "-" if value.year < 0 else ""
    return f"{sign}{abs(value.year):04d}-{value.month:02d}-{value.day:02d}"


def _time_text(value: Time) -> str:
    text = f"{value.hour:02d}:{value.minute:02d}:{value.second:02d}"
    if value.nanosecond:
        text += f".{value.nanosecond:09d}".rstrip("0")
    if value.zone is not None:
        return f"{text}@{value.zone}"
    if value.offset is None:
        return text
    if value.offset == 0:
        return text + "Z"
    minutes, seconds = divmod(abs(value.offset), 60)
    sign = "-" if value.offset < 0 else "+"
    tail = f":{seconds:02d}" if seconds else ""
    return f"{text}{sign}{minutes // 60:02d}:{minutes % 60:02d}{tail}"


def _months_text(months: int) -> str:
    years, rest = divmod(abs(months), 12)
    text = (f"{years}Y" if years else "") + (f"{rest}M" if rest else "")
    return ("-P" if months < 0 else "P") + (text or "0M")


def _days_text(nanoseconds: int) -> str:
    days, rest = divmod(abs(nanoseconds), DAY_NANOSECONDS)
    seconds, fraction = divmod(rest, NANOSECONDS)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    text = (f"{hour}H" if hour else "") + (f"{minute}M" if minute else "")
    if fraction:
        text += f"{second}.{fraction:09d}".rstrip("0") + "S"
    elif second:
        text += f"{second}S"
    if not days and not text:
        return "PT0S"
    sign = "-P" if nanoseconds < 0 else "P"
    return sign + (f"{days}D" if days else "") + (f"T{text}" if text else "")


def seconds_and_nanoseconds(value: int | Decimal) -> tuple[int, int]:
    """A number of seconds with a fraction, split."""
    seconds = whole(value)
    return seconds, 0 if abs(seconds) == INT_MAX else int((Decimal(value) - seconds) * NANOSECONDS)
