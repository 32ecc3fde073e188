"""Built-in functions on dates, times and durations. now and today are what the caller of the evaluation says."""

from typing import Final

from procession.feel.calendar import day_number, iso_week, weekday
from procession.feel.functions.registry import builtin
from procession.feel.problems import Invalid
from procession.feel.run import Run
from procession.feel.temporal import Date, DateTime, MonthsDuration, months_between
from procession.feel.temporal_python import date_time_of

_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


@builtin("now()")
def now(run: Run) -> DateTime:
    if run.now is None:
        raise Invalid("this evaluation was given no current date and time")
    return date_time_of(run.now)


@builtin("today()")
def today(run: Run) -> Date:
    return now(run).date


def day_of(value: Date | DateTime) -> Date:
    return value if isinstance(value, Date) else value.date


@builtin("day of year(date: date or date and time)")
def day_of_year(value: Date | DateTime) -> int:
    day = day_of(value)
    return day.days - day_number(day.year, 1, 1) + 1


@builtin("day of week(date: date or date and time)")
def day_of_week(value: Date | DateTime) -> str:
    return _DAYS[weekday(day_of(value).days) - 1]


@builtin("month of year(date: date or date and time)")
def month_of_year(value: Date | DateTime) -> str:
    return _MONTHS[day_of(value).month - 1]


@builtin("week of year(date: date or date and time)")
def week_of_year(value: Date | DateTime) -> int:
    day = day_of(value)
    return iso_week(day.year, day.month, day.day)


@builtin("years and months duration(from: date or date and time, to: date or date and time)")
def years_and_months_duration(start: Date | DateTime, end: Date | DateTime) -> MonthsDuration:
    return MonthsDuration(months_between(day_of(start), day_of(end)))
