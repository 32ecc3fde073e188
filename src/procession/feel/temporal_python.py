"""Python's dates, times and timedeltas to and from FEEL's. What Python cannot hold is refused, never bent."""

import datetime as dt
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from procession.feel.calendar import DAY_SECONDS, NANOSECONDS
from procession.feel.problems import Invalid
from procession.feel.temporal import Date, DateTime, DaysDuration, Time, zone_of


def date_of(value: dt.date) -> Date:
    """FEEL's date."""
    return Date(value.year, value.month, value.day)


def time_of(value: dt.time) -> Time:
    """FEEL's time."""
    return _wall_time(value, value.utcoffset(), value.tzinfo)


def date_time_of(value: datetime) -> DateTime:
    """FEEL's date and time."""
    return DateTime(Date(value.year, value.month, value.day), _wall_time(value, value.utcoffset(), value.tzinfo))


def duration_of(value: timedelta) -> DaysDuration:
    """FEEL's days and time duration."""
    return DaysDuration((value.days * DAY_SECONDS + value.seconds) * NANOSECONDS + value.microseconds * 1000)


def _wall_time(value: datetime | dt.time, offset: timedelta | None, zone: object) -> Time:
    seconds = None if offset is None else offset.days * DAY_SECONDS + offset.seconds
    # The zone UTC counts as the offset Z, as it is written everywhere.
    name = zone.key if isinstance(zone, ZoneInfo) and zone.key and zone.key != "UTC" else None
    if name is not None:
        seconds = None
    return Time(value.hour, value.minute, value.second, value.microsecond * 1000, seconds, name)


def python_date(value: Date) -> dt.date:
    """Raises Invalid for years that Python's date does not have."""
    try:
        return dt.date(value.year, value.month, value.day)
    except ValueError:
        raise Invalid(f"Python's date has the years 1 to 9999, found {value.year}") from None


def python_time(value: Time) -> dt.time:
    """Rounded down to microseconds."""
    return dt.time(value.hour, value.minute, value.second, value.nanosecond // 1000, _zone(value))


def python_date_time(value: DateTime) -> datetime:
    """Rounded down to microseconds. Raises Invalid for years that Python's datetime does not have."""
    return datetime.combine(python_date(value.date), python_time(value.time))


def python_timedelta(value: DaysDuration) -> timedelta:
    """Rounded down to microseconds. Raises Invalid past a billion days."""
    try:
        return timedelta(microseconds=value.nanoseconds // 1000)
    except OverflowError:
        raise Invalid("Python's timedelta ends at a billion days") from None


def _zone(value: Time) -> timezone | ZoneInfo | None:
    if value.zone is not None:
        return zone_of(value.zone)
    return None if value.offset is None else timezone(timedelta(seconds=value.offset))
