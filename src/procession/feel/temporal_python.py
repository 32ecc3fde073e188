"""Python's dates, times and timedeltas to and from FEEL's. What Python cannot hold is refused, never bent."""

from datetime import date as PythonDate
from datetime import datetime, timedelta, timezone
from datetime import time as PythonTime
from zoneinfo import ZoneInfo

from procession.feel.calendar import DAY_SECONDS, NANOSECONDS
from procession.feel.problems import Invalid
from procession.feel.temporal import Date, DateTime, DaysDuration, Time, zone_of


def date_of(value: PythonDate) -> Date:
    return Date(value.year, value.month, value.day)


def time_of(value: PythonTime) -> Time:
    return _wall_time(value, value.utcoffset(), value.tzinfo)


def date_time_of(value: datetime) -> DateTime:
    return DateTime(Date(value.year, value.month, value.day), _wall_time(value, value.utcoffset(), value.tzinfo))


def duration_of(value: timedelta) -> DaysDuration:
    return DaysDuration((value.days * DAY_SECONDS + value.seconds) * NANOSECONDS + value.microseconds * 1000)


def _wall_time(value: datetime | PythonTime, offset: timedelta | None, zone: object) -> Time:
    seconds = None if offset is None else offset.days * DAY_SECONDS + offset.seconds
    # The zone UTC counts as the offset Z, as it is written everywhere.
    name = zone.key if isinstance(zone, ZoneInfo) and zone.key and zone.key != "UTC" else None
    if name is not None:
        seconds = None
    return Time(value.hour, value.minute, value.second, value.microsecond * 1000, seconds, name)


def python_date(value: Date) -> PythonDate:
    """Raises Invalid for years that Python's date does not have."""
    try:
        return PythonDate(value.year, value.month, value.day)
    except ValueError:
        raise Invalid(f"Python's date has the years 1 to 9999, found {value.year}") from None


def python_time(value: Time) -> PythonTime:
    """Rounded down to microseconds."""
    return PythonTime(value.hour, value.minute, value.second, value.nanosecond // 1000, _zone(value))


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
