"""The written forms of timers and retry cycles, as far as a deployment has to know them. No calendar arithmetic.

What is accepted here, `jobs/schedule.py` computes; what is not, would be an incident whenever it is reached.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from procession.model.reader.cron import cron_problem, is_zone

RETRIES_MAX: Final = 1_000  # of a retry cycle; more would be a loop by another name
REPETITIONS_MAX: Final = 2**31 - 1  # every database holds it
YEARS_MAX: Final = 7_900  # a longer duration leads beyond the year 9999

_NUMBER: Final = r"(\d+(?:[.,]\d+)?)"
_DURATION: Final = re.compile(
    rf"([+-]?)P(?!$)(?:(\d+)Y)?(?:(\d+)M)?(?:{_NUMBER}W)?(?:{_NUMBER}D)?"
    rf"(?:T(?=\d)(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:{_NUMBER}S)?)?",
    re.ASCII,
)
_DATE: Final = re.compile(
    r"(\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?)(?:\[([\w/+-]+)\])?",
    re.ASCII,
)
_REPEAT: Final = re.compile(r"R(-1|\d*)", re.ASCII)
_UNITS_MS: Final = (7 * 86_400_000, 86_400_000, 3_600_000, 60_000, 1_000)  # weeks, days, hours, minutes, seconds
_YEAR_MS: Final = 365 * 86_400_000


def duration_problem(text: str) -> str:
    """Why a text is no duration of ISO 8601; empty if it is one."""
    parts = _parts(text)
    if parts is None:
        return "it is not of the form P1DT2H"
    return "it leads beyond the year 9999" if abs(_length(parts)) > YEARS_MAX * _YEAR_MS else ""


def date_problem(text: str) -> str:
    """Why a text is no date, or date and time, of ISO 8601; empty if it is one."""
    match = _DATE.fullmatch(text)
    if match is None:
        return "it is not of the form 2030-01-31T09:00:00Z"
    if match.group(2) and not is_zone(match.group(2)):
        return f"there is no time zone '{match.group(2)}'"
    try:
        datetime.fromisoformat(match.group(1))
    except ValueError as problem:
        return str(problem)
    return ""


def cycle_problem(text: str) -> str:
    """Why a text is neither a repeating interval nor a cron expression that fires; empty if it is one."""
    head, slash, rest = text.partition("/")
    repeat = _REPEAT.fullmatch(head)
    if not slash or repeat is None:
        return cron_problem(text)
    if repeat.group(1).isdecimal() and not 0 < int(repeat.group(1)) <= REPETITIONS_MAX:
        return f"it repeats {repeat.group(1)} times; the least is 1, the most {REPETITIONS_MAX}"
    return _interval_problem(rest.split("/"))


def is_duration(text: str) -> bool:
    """Whether a text is a duration of ISO 8601."""
    return not duration_problem(text)


def is_date(text: str) -> bool:
    """Whether a text is a date or a date and time of ISO 8601."""
    return not date_problem(text)


def is_cycle(text: str) -> bool:
    """Whether a text is a repeating interval (``R3/PT10S``, ``R/<date>/P1D``) or a cron expression that fires."""
    return not cycle_problem(text)


def _interval_problem(parts: list[str]) -> str:
    """What is wrong with what follows the ``R``: a duration, or a date with a duration or another date."""
    if len(parts) > 2:
        return "it is not of the form R3/PT10M or R3/2030-01-31T09:00:00Z/P1D"
    if len(parts) == 2 and is_date(parts[1]) and is_duration(parts[0]):
        parts = parts[:1]  # with an end
    if len(parts) == 2 and (problem := date_problem(parts[0])):
        return f"'{parts[0]}' is no start: {problem}"
    period = parts[-1]
    if len(parts) == 2 and is_date(period):
        return "" if _is_before(parts[0], period) else f"'{period}' does not come after '{parts[0]}'"
    if problem := duration_problem(period):
        return f"'{period}' is no duration: {problem}"
    found = _parts(period)
    return "" if found is not None and _length(found) >= 1 else f"'{period}' is not longer than nothing"


def _is_before(first: str, second: str) -> bool:
    """Whether a date is at least a millisecond before another."""
    return _moment(second) - _moment(first) >= timedelta(milliseconds=1)


def _moment(text: str) -> datetime:
    """A date that is one; without a zone it is UTC."""
    stamp, bracket, zone = text.partition("[")
    moment = datetime.fromisoformat(stamp)
    if bracket:
        return moment.replace(tzinfo=ZoneInfo(zone.rstrip("]")))
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _parts(text: str) -> tuple[int, int, int, float] | None:
    """Sign, years, months, and the milliseconds of the rest; None for what is no duration."""
    match = _DURATION.fullmatch(text)
    if match is None:
        return None
    rest = (float((match.group(i) or "0").replace(",", ".")) for i in range(4, 9))
    length = sum(number * unit for number, unit in zip(rest, _UNITS_MS, strict=True))
    return (-1 if match.group(1) == "-" else 1), int(match.group(2) or 0), int(match.group(3) or 0), length


def _length(parts: tuple[int, int, int, float]) -> float:
    """Milliseconds, with years of 365 and months of 30 days."""
    sign, years, months, rest = parts
    return sign * (years * _YEAR_MS + months * 30 * 86_400_000 + rest)


def milliseconds(text: str) -> int | None:
    """A duration of weeks, days and time in milliseconds; None for months, years and what is no duration."""
    parts = _parts(text)
    if parts is None:
        return None
    sign, years, months, rest = parts
    return None if sign < 0 or years or months or duration_problem(text) else round(rest)


def retry_cycle(text: str) -> tuple[int, tuple[int, ...]] | None:
    """Attempts and waits of ``R5/PT5M`` (five attempts) or ``PT1M,PT10M`` (a first one and two more)."""
    head, slash, rest = text.partition("/")
    repeat = _REPEAT.fullmatch(head)
    if slash and repeat:
        wait = milliseconds(rest)
        attempts = int(repeat.group(1)) if repeat.group(1).isdecimal() else 0
        return (attempts, (wait,)) if wait is not None and 0 < attempts <= RETRIES_MAX else None
    waits = [milliseconds(part.strip()) for part in text.split(",")]
    known = tuple(wait for wait in waits if wait is not None)
    return (len(known) + 1, known) if len(known) == len(waits) <= RETRIES_MAX else None
