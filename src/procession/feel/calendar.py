"""The proleptic Gregorian calendar for any year, by arithmetic alone. Python's own has the years 1 to 9999 only."""

from typing import Final

NANOSECONDS: Final = 1_000_000_000
DAY_SECONDS: Final = 86_400
DAY_NANOSECONDS: Final = DAY_SECONDS * NANOSECONDS

_MONTH_DAYS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def is_leap_year(year: int) -> bool:
    """Whether February has 29 days."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def days_in_month(year: int, month: int) -> int:
    """28 to 31."""
    return 29 if month == 2 and is_leap_year(year) else _MONTH_DAYS[month - 1]


def day_number(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01. The year is taken to begin in March, so that the leap day is its last."""
    shifted = year - (month <= 2)
    era, year_of_era = divmod(shifted, 400)
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    day_of_era = year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year
    return era * 146_097 + day_of_era - 719_468


def date_of_day_number(days: int) -> tuple[int, int, int]:
    """Year, month and day of a number of days since 1970-01-01."""
    era, day_of_era = divmod(days + 719_468, 146_097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month_shifted = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month_shifted + 2) // 5 + 1
    month = month_shifted + 3 if month_shifted < 10 else month_shifted - 9
    return year_of_era + era * 400 + (month <= 2), month, day


def add_months(year: int, month: int, day: int, months: int) -> tuple[int, int, int]:
    """The same day that many months later, or the last day of a month that is shorter."""
    years, month0 = divmod(year * 12 + month - 1 + months, 12)
    return years, month0 + 1, min(day, days_in_month(years, month0 + 1))


def iso_week(year: int, month: int, day: int) -> int:
    """The week of the year after ISO 8601: weeks begin on Monday, the first holds January 4."""
    days = day_number(year, month, day)
    thursday = days - weekday(days) + 4
    thursday_year, _, _ = date_of_day_number(thursday)
    return (thursday - day_number(thursday_year, 1, 1)) // 7 + 1


def weekday(days: int) -> int:
    """1 for Monday to 7 for Sunday, of a number of days since 1970-01-01 (a Thursday)."""
    return (days + 3) % 7 + 1
