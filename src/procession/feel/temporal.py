"""Dates, times, date-times and the two kinds of durations as values of FEEL.

Years go from -999,999,999 to 999,999,999, seconds to nanoseconds; a time or date-time is local, has an offset, or has a
zone whose rules come from the time zone database (zoneinfo). Values are immutable and compare by FEEL's rules:
`==` is FEEL's `=`, which looks at whole seconds and at instants, so that noon in Paris equals eleven in London.
No clock is read here: now is always an argument.
"""

from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from procession.feel.calendar import (
    DAY_NANOSECONDS,
    DAY_SECONDS,
    NANOSECONDS,
    add_months,
    date_of_day_number,
    day_number,
    days_in_month,
)
from procession.feel.limits import DURATION_MAX, PATTERNS_KEPT, YEAR_MAX
from procession.feel.problems import Invalid

# Offsets up to 18 hours, as ISO implementations elsewhere allow (XSD stops at 14).
OFFSET_SECONDS_MAX: Final = 18 * 3600


class Date(msgspec.Struct, frozen=True):
    """A day of the proleptic Gregorian calendar; the year 0 is the one before 1."""

    year: int
    month: int
    day: int

    @property
    def days(self) -> int:
        """Days since 1970-01-01."""
        return day_number(self.year, self.month, self.day)


class Time(msgspec.Struct, frozen=True, eq=False):
    """`offset` in seconds, or `zone` as in the time zone database, or neither for a local time."""

    hour: int
    minute: int
    second: int
    nanosecond: int = 0
    offset: int | None = None
    zone: str | None = None

    def __eq__(self, other: object) -> bool:
        return type(other) is Time and self.is_local == other.is_local and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)

    @property
    def is_local(self) -> bool:
        """Whether it has neither an offset nor a zone."""
        return self.offset is None and self.zone is None

    @property
    def seconds(self) -> int:
        """Seconds since midnight on the wall."""
        return self.hour * 3600 + self.minute * 60 + self.second

    @property
    def offset_seconds(self) -> int | None:
        """A zone's offset depends on the day, which a time does not have: its standard offset of 2000-01-01 counts."""
        if self.zone is None:
            return self.offset
        return zone_offset(self.zone, _REFERENCE_DAY.days * DAY_SECONDS)

    @property
    def value(self) -> int:
        """What is compared: whole seconds since midnight, in UTC where there is an offset."""
        return self.seconds - (self.offset_seconds or 0)


_REFERENCE_DAY: Final = Date(2000, 1, 1)


class DateTime(msgspec.Struct, frozen=True, eq=False):
    """A date and a time; the time holds the offset or zone of both."""

    date: Date
    time: Time

    def __eq__(self, other: object) -> bool:
        return type(other) is DateTime and self.is_local == other.is_local and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)

    @property
    def is_local(self) -> bool:
        """Whether it has neither an offset nor a zone."""
        return self.time.is_local

    @property
    def local_seconds(self) -> int:
        """Seconds since 1970-01-01 on the wall."""
        return self.date.days * DAY_SECONDS + self.time.seconds

    @property
    def offset_seconds(self) -> int | None:
        """The offset, or the one that the zone has at this date and time."""
        zone = self.time.zone
        return self.time.offset if zone is None else zone_offset(zone, self.local_seconds)

    @property
    def value(self) -> int:
        """What is compared: whole seconds, in UTC where there is an offset."""
        return self.local_seconds - (self.offset_seconds or 0)

    @property
    def nanoseconds(self) -> int:
        """Since 1970-01-01, in UTC where there is an offset."""
        return self.value * NANOSECONDS + self.time.nanosecond


class DaysDuration(msgspec.Struct, frozen=True):
    """A days and time duration; negative ones have a negative number of nanoseconds."""

    nanoseconds: int

    def __post_init__(self) -> None:
        """Raises Invalid."""
        if not -DURATION_MAX <= self.nanoseconds <= DURATION_MAX:
            raise _too_long("nanoseconds")


class MonthsDuration(msgspec.Struct, frozen=True):
    """A years and months duration."""

    months: int

    def __post_init__(self) -> None:
        """Raises Invalid."""
        if not -DURATION_MAX <= self.months <= DURATION_MAX:
            raise _too_long("months")


def _too_long(unit: str) -> Invalid:
    return Invalid(f"The duration is longer than DURATION_MAX = {DURATION_MAX} {unit}", "limit")


Temporal = Date | Time | DateTime | DaysDuration | MonthsDuration


def date(year: int, month: int, day: int) -> Date:
    """A date that exists. Raises Invalid."""
    if not -YEAR_MAX <= year <= YEAR_MAX:
        raise Invalid(f"The year must lie between -{YEAR_MAX} and {YEAR_MAX}, found {year}")
    if not 1 <= month <= 12:
        raise Invalid(f"The month must lie between 1 and 12, found {month}")
    if not 1 <= day <= days_in_month(year, month):
        raise Invalid(f"The day must lie between 1 and {days_in_month(year, month)}, found {day}")
    return Date(year, month, day)


def time(hour: int, minute: int, second: int, nanosecond: int = 0, offset: int | None = None) -> Time:
    """A time that exists. Raises Invalid."""
    for value, maximum, what in ((hour, 23, "hour"), (minute, 59, "minute"), (second, 59, "second")):
        if not 0 <= value <= maximum:
            raise Invalid(f"The {what} must lie between 0 and {maximum}, found {value}")
    if offset is not None and abs(offset) > OFFSET_SECONDS_MAX:
        raise Invalid("The offset must lie between -18:00 and +18:00")
    return Time(hour, minute, second, nanosecond, offset)


@lru_cache(maxsize=PATTERNS_KEPT)
def zone_of(name: str) -> ZoneInfo:
    """The rules of a zone. Raises Invalid for a name that the time zone database does not have."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Invalid(f"There is no time zone {name!r}") from None


def zone_offset(name: str, local_seconds: int) -> int:
    """The offset in seconds that a zone has at a wall clock time."""
    wall = _EPOCH + timedelta(seconds=_within_python(local_seconds))
    return _seconds_of(wall.replace(tzinfo=zone_of(name)).utcoffset())


def zone_offset_at_instant(name: str, utc_seconds: int) -> int:
    """The offset in seconds that a zone has at an instant."""
    zone = zone_of(name)
    instant = (_EPOCH + timedelta(seconds=_within_python(utc_seconds))).replace(tzinfo=zone)
    return _seconds_of(zone.fromutc(instant).utcoffset())


_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - a wall clock time; zones are applied to it
# Days repeat every 400 years, weekdays included: a late year is asked for as the last one like it that Python's
# datetime has, an early one as the first, when every place had its own solar time.
_CYCLE_SECONDS: Final = 146_097 * DAY_SECONDS
_FIRST: Final = day_number(1601, 1, 1) * DAY_SECONDS
_LAST: Final = day_number(9900, 1, 1) * DAY_SECONDS


def _within_python(seconds: int) -> int:
    if seconds > _LAST:
        return (seconds - _LAST) % _CYCLE_SECONDS + _LAST - _CYCLE_SECONDS
    return max(seconds, _FIRST)


def _seconds_of(offset: timedelta | None) -> int:
    return 0 if offset is None else offset.days * DAY_SECONDS + offset.seconds


def at_local(nanoseconds: int, like: Time) -> DateTime:
    """The date-time of wall clock nanoseconds since 1970-01-01, with the offset or zone of `like`."""
    seconds, nanosecond = divmod(nanoseconds, NANOSECONDS)
    days, second_of_day = divmod(seconds, DAY_SECONDS)
    day = date(*date_of_day_number(days))
    minutes, second = divmod(second_of_day, 60)
    return DateTime(day, Time(minutes // 60, minutes % 60, second, nanosecond, like.offset, like.zone))


def at_instant(nanoseconds: int, like: Time) -> DateTime:
    """The date-time of an instant, shown in the offset or zone of `like`."""
    if like.zone is not None:
        offset = zone_offset_at_instant(like.zone, nanoseconds // NANOSECONDS)
    else:
        offset = like.offset or 0
    return at_local(nanoseconds + offset * NANOSECONDS, like)


def at_start_of_day(day: Date) -> DateTime:
    """Where a date meets a date-time, it counts as midnight in UTC."""
    return DateTime(day, Time(0, 0, 0, 0, 0))


def plus_days_duration(value: Date | Time | DateTime, nanoseconds: int) -> Date | Time | DateTime:
    """Dates take whole days (rounded down), times wrap around midnight, date-times move along the line of instants."""
    match value:
        case Date():
            return date(*date_of_day_number(value.days + nanoseconds // DAY_NANOSECONDS))
        case Time():
            total = value.seconds * NANOSECONDS + value.nanosecond + nanoseconds
            return at_local(total % DAY_NANOSECONDS, value).time
        case DateTime():
            return at_instant(value.nanoseconds + nanoseconds, value.time)


def plus_months(value: Date | DateTime, months: int) -> Date | DateTime:
    """The same day of another month, or that month's last day."""
    day = value if isinstance(value, Date) else value.date
    moved = date(*add_months(day.year, day.month, day.day, months))
    return moved if isinstance(value, Date) else DateTime(moved, value.time)


def months_between(start: Date, end: Date) -> int:
    """Whole months from one date to another, as `years and months duration` counts them."""
    months = (end.year - start.year) * 12 + end.month - start.month
    days = end.day - start.day
    if months > 0 and days < 0:
        return months - 1
    if months < 0 and days > 0:
        return months + 1
    return months
