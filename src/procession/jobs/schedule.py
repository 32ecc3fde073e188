"""When something is due: dates, durations, repeating intervals and cron, as instants in milliseconds. Pure.

Sources: ISO 8601 (dates, durations, ``R<n>/<start>/<duration>``) as BPMN's timers use it; cron with five or six
fields (seconds first), names, ``L W #`` and the ``@daily`` macros as Spring and Camunda 8 write it. A cron expression
may begin with ``CRON_TZ=<zone>``, else it is UTC. Parsing is done by isodate and cronsim. Repetitions of an interval
are computed from its anchor, so that they do not drift and months keep their day (P1M from 31 January: 28 February,
then 31 March).
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import isodate  # pyright: ignore[reportMissingTypeStubs] - it ships no types
import msgspec
from cronsim import CronSim, CronSimError

from procession.errors import InvalidValue
from procession.jobs.weekdays import is_nearest_weekday, split_weekdays
from procession.limits import TIMER_MS_MAX

ENDLESS = -1
MILLISECOND = timedelta(milliseconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
REPETITIONS_MAX = 2**31 - 1  # every database holds it; once a second it is 68 years
SHOWN_CHARS = 60  # of a value that is repeated in a message
STEPS_MAX = 10_000  # repetitions skipped one by one before the search is refused


class Due(msgspec.Struct, frozen=True):
    """The next firing: when, how many follow it (-1 endless), and what later ones are computed from."""

    at: int
    left: int = 0
    cycle: str = ""
    anchor: int = 0


def to_instant(value: datetime) -> int:
    """Milliseconds since the epoch; a datetime without a zone is UTC."""
    moment = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    return (moment - EPOCH) // MILLISECOND


def to_datetime(instant: int) -> datetime:
    """The instant as an aware datetime in UTC."""
    return EPOCH + timedelta(milliseconds=instant)


def date_due(value: object) -> Due:
    """A timer date: an ISO 8601 text, a datetime or a date (its midnight, UTC). Raises InvalidValue."""
    return Due(_bounded(to_instant(_to_moment(value)), value))


def duration_due(value: object, now: int) -> Due:
    """A timer duration from now: ISO 8601 text or timedelta; zero and negative mean now. Raises InvalidValue."""
    return Due(max(now, add_duration(now, value)))


def cycle_due(value: object, now: int) -> Due:
    """The first firing of a timer cycle: ``R3/PT10S``, ``R/2026-01-01T00:00:00Z/P1D``, or cron. Raises InvalidValue."""
    if not isinstance(value, str) or not value.strip():
        message = f"Expected a timer cycle such as 'R3/PT10S' or '0 0 9 * * MON-FRI', found {_cut(value)}"
        raise InvalidValue(message)
    text = value.strip()
    if not text.startswith("R") or "/" not in text:
        return Due(_cron_next(text, now), ENDLESS, text, now)
    count, start, period, end = _split_cycle(text)
    if count == 0:
        message = f"Expected at least one repetition, found 'R0' in the timer cycle '{text}'"
        raise InvalidValue(message)
    left = ENDLESS if count < 0 else count - 1
    if start:
        at = to_instant(_to_moment(start))
        return Due(max(at, now), left, text, at)
    first = add_duration(now, period)
    if end and first > to_instant(_to_moment(end)):
        message = f"Expected at least one repetition before the end, found none in the timer cycle '{text}'"
        raise InvalidValue(message)
    return Due(max(now, first), left, text, now)


def next_due(cycle: str, left: int, anchor: int, last: int, now: int) -> Due | None:
    """The firing after the one that was due at ``last``; None when it was the last one.

    Missed repetitions of a bounded interval are made up at once, in order, without drift; an endless interval or cron
    goes on from now, so that an hour's downtime is not followed by a herd of firings.
    """
    if left == 0:
        return None
    if not cycle.startswith("R") or "/" not in cycle:
        return Due(_cron_next(cycle, max(last, now)), ENDLESS, cycle, anchor)
    _, start, period, end = _split_cycle(cycle)
    first = anchor if start else add_duration(anchor, period)
    number = _repetition_after(first, period, last)
    at = _nth(first, period, number)
    if left == ENDLESS and at <= now:
        number = _repetition_after(first, period, now)
        at = _nth(first, period, number)
    if end and at > to_instant(_to_moment(end)):
        return None
    return Due(_bounded(at, cycle), left - 1 if left > 0 else left, cycle, anchor)


def following(cycle: str, after: int) -> int:
    """The first due time of a cycle later than ``after``; 0 where there is none. Raises InvalidValue.

    ``R/<duration>`` without a start is counted from ``after`` itself; with a number of repetitions it needs a start.
    """
    text = cycle.strip()
    if not text.startswith("R") or "/" not in text:
        return _cron_next(text, after)
    count, start, period, end = _split_cycle(text)
    if not start:
        if count != ENDLESS:
            raise InvalidValue(f"Expected a start in a cycle with a number of repetitions, found '{text}'")
        at = add_duration(after, period)
        return 0 if end and at > to_instant(_to_moment(end)) else at
    first = to_instant(_to_moment(start))
    number = _repetition_after(first, period, after)
    return _bounded(_nth(first, period, number), cycle) if count == ENDLESS or number < count else 0


def add_duration(instant: int, value: object, times: int = 1) -> int:
    """The instant plus ``times`` a duration, by the calendar in UTC for years and months. Raises InvalidValue."""
    duration = parse_duration(value)
    try:
        if isinstance(duration, timedelta):
            return _bounded((instant * MILLISECOND + duration * times) // MILLISECOND, value)
        return _bounded(to_instant(to_datetime(instant) + duration * times), value)
    except (OverflowError, ValueError) as error:
        message = f"The duration {_cut(value)} leads beyond the year 9999"
        raise InvalidValue(message) from error


def parse_duration(value: object) -> Any:  # noqa: ANN401 - isodate has no types; a timedelta or an isodate.Duration
    """A duration from ISO 8601 text, a timedelta, or anything whose text is ISO 8601. Raises InvalidValue."""
    if isinstance(value, timedelta):
        return value
    text = str(value).strip()
    message = f"Expected an ISO 8601 duration such as 'PT15M' or 'P1D', found {_cut(value)}"
    if not any(map(str.isdecimal, text)):  # isodate reads 'P' and 'PT' as nothing at all
        raise InvalidValue(message)
    try:
        return isodate.parse_duration(text)  # pyright: ignore[reportUnknownMemberType]
    except (isodate.ISO8601Error, ValueError, TypeError, OverflowError, ArithmeticError) as error:
        raise InvalidValue(message) from error


def duration_ms(value: object) -> int:
    """A duration in milliseconds, where it has no years or months (or 365- and 30-day ones). Raises InvalidValue."""
    duration = parse_duration(value)
    if isinstance(duration, timedelta):
        return duration // MILLISECOND
    try:
        days = duration.years * 365 + duration.months * 30
        return int((duration.tdelta + timedelta(days=float(days))) // MILLISECOND)
    except OverflowError as error:
        message = f"The duration {_cut(value)} leads beyond the year 9999"
        raise InvalidValue(message) from error


def _to_moment(value: object) -> datetime:
    """A datetime from what a timer date may be."""
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime.combine(value, time(), tzinfo=UTC)
    text = str(value).strip()
    stamp, bracket, zone = text.partition("[")
    try:
        moment = datetime.fromisoformat(stamp)
        if bracket:
            moment = moment.replace(tzinfo=ZoneInfo(zone.rstrip("]")))
    except (ValueError, KeyError, OSError) as error:
        message = f"Expected an ISO 8601 date and time such as '2026-01-31T09:00:00Z', found {_cut(value)}"
        raise InvalidValue(message) from error
    return moment


class _Interval(NamedTuple):
    """A repeating interval: repetitions or -1, start or '', duration, end or ''."""

    times: int
    start: str
    period: str
    end: str


def _split_cycle(text: str) -> _Interval:
    """The parts of an ISO 8601 repeating interval. Raises InvalidValue."""
    head, *rest = text.split("/")
    number = head[1:]
    if number and not (number.isdecimal() or number == "-1"):
        message = f"Expected a number of repetitions after 'R', found '{number}' in the timer cycle '{text}'"
        raise InvalidValue(message)
    if len(rest) not in {1, 2}:
        message = f"Expected 'R<n>/<duration>' or 'R<n>/<start>/<duration>', found the timer cycle '{text}'"
        raise InvalidValue(message)
    start, period, end = (rest[0], rest[1], "") if len(rest) == 2 else ("", rest[0], "")
    if start.lstrip("+-").startswith("P"):
        start, period, end = "", start, period
    elif start and not period.lstrip("+-").startswith("P"):
        between = to_instant(_to_moment(period)) - to_instant(_to_moment(start))
        period = f"PT{between / 1000}S"
    if duration_ms(period) <= 0:
        message = f"Expected a positive duration, found '{period}' in the timer cycle '{text}'"
        raise InvalidValue(message)
    return _Interval(_count(number, text), start, period, end)


def _count(number: str, text: str) -> int:
    """The number of repetitions, -1 without end. Raises InvalidValue."""
    if number in {"", "-1"}:
        return ENDLESS
    if len(number) <= len(str(REPETITIONS_MAX)) and int(number) <= REPETITIONS_MAX:
        return int(number)
    message = f"Expected at most {REPETITIONS_MAX} repetitions, found {_cut(number)} in the timer cycle {_cut(text)}"
    raise InvalidValue(message)


def _cut(value: object) -> str:
    """A value as a message repeats it."""
    found = repr(value)
    return found if len(found) <= SHOWN_CHARS else f"{found[:SHOWN_CHARS]}..."


def _nth(first: int, period: str, number: int) -> int:
    """The instant of repetition ``number`` (0: the first)."""
    return add_duration(first, period, number) if number else first


def _repetition_after(first: int, period: str, instant: int) -> int:
    """The number of the first repetition later than ``instant``."""
    if instant < first:
        return 0
    guess = max(0, (instant - first) // max(1, duration_ms(period)) - 2)
    for number in range(guess, guess + STEPS_MAX):
        if _nth(first, period, number) > instant:
            return number
    message = f"No repetition of '{period}' found after instant {instant}"
    raise InvalidValue(message)


def _cron_next(expression: str, after: int) -> int:
    """The first firing of a cron expression later than ``after``; ``?`` means ``*``. Raises InvalidValue.

    Where clocks are put forward, what falls into the gap fires right after it; where they are put back, what falls into
    the hour that comes twice fires in its first turn only.
    """
    zone, fields = _zone_and_fields(expression)
    text, weekdays = split_weekdays(MACROS.get(fields.lower(), fields).replace("?", "*"))
    try:
        moments = CronSim(text, to_datetime(after).astimezone(zone))
        moment = next(moment for moment in moments if not weekdays or is_nearest_weekday(moment, weekdays))
    except (CronSimError, StopIteration, ValueError, OverflowError) as error:
        message = (
            f"Expected a cron expression with five or six fields, or 'R<n>/<duration>', found '{expression}': {error}"
        )
        raise InvalidValue(message) from error
    return to_instant(moment)


def _zone_and_fields(expression: str) -> tuple[tzinfo, str]:
    """The time zone in front of a cron expression (``CRON_TZ=Europe/Berlin 0 9 * * *``), else UTC, and the rest."""
    head, _, rest = expression.partition(" ")
    prefix = next((prefix for prefix in ("CRON_TZ=", "TZ=") if head.startswith(prefix)), "")
    if not prefix:
        return UTC, expression
    try:
        return ZoneInfo(head.removeprefix(prefix)), rest.strip()
    except (KeyError, OSError, ValueError) as error:
        message = f"Expected a time zone such as Europe/Berlin, found '{head}' in the timer cycle '{expression}'"
        raise InvalidValue(message) from error


def _bounded(instant: int, value: object) -> int:
    """The instant, if every store can hold it."""
    if not -TIMER_MS_MAX <= instant <= TIMER_MS_MAX:
        message = f"{_cut(value)} leads beyond the year 9999"
        raise InvalidValue(message)
    return instant
