"""The written forms of timers and retry cycles, as far as a deployment has to know them. No calendar arithmetic."""

from __future__ import annotations

import re
from typing import Final

RETRIES_MAX: Final = 1_000  # of a retry cycle; more would be a loop by another name

_DURATION: Final = re.compile(
    r"[+-]?P(?!$)(?:\d+Y)?(?:\d+M)?(?:\d+W)?(?:(\d+)D)?"
    r"(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:[.,]\d+)?)S)?)?"
)
_DATE: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?(?:\[[\w/+-]+\])?)?"
)
_REPEAT: Final = re.compile(r"R(\d*)$")
_CRON_FIELD: Final = re.compile(r"[\w*?#,/-]+")
_CRON_ZONE: Final = re.compile(r"(?:CRON_)?TZ=[\w/+-]+")
_CRON_WORDS: Final = frozenset({"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"})
_ONLY_EXACT: Final = re.compile(r"[+-]?P(?:\d+W|(?:\d+D)?(?:T.*)?)$")


def is_duration(text: str) -> bool:
    """Whether a text is a duration of ISO 8601."""
    return _DURATION.fullmatch(text) is not None


def is_date(text: str) -> bool:
    """Whether a text is a date or a date and time of ISO 8601."""
    match = _DATE.fullmatch(text)
    if match is None:
        return False
    month, day = int(text[5:7]), int(text[8:10])
    return 1 <= month <= 12 and 1 <= day <= 31


def is_cycle(text: str) -> bool:
    """Whether a text is a repeating interval (``R3/PT10S``, ``R/<date>/P1D``) or a cron expression."""
    parts = text.split("/")
    if _REPEAT.match(parts[0]):
        return _is_interval(parts[1:])
    fields = text.split()
    if len(fields) > 1 and _CRON_ZONE.fullmatch(fields[0]):
        fields = fields[1:]
        text = " ".join(fields)
    if len(fields) == 1:
        return text in _CRON_WORDS
    return len(fields) in {5, 6, 7} and all(_CRON_FIELD.fullmatch(field) for field in fields)


def _is_interval(parts: list[str]) -> bool:
    if len(parts) == 1:
        return is_duration(parts[0])
    if len(parts) != 2:
        return False
    first, second = parts
    return (is_date(first) and (is_duration(second) or is_date(second))) or (is_duration(first) and is_date(second))


def milliseconds(text: str) -> int | None:
    """A duration of weeks, days and time in milliseconds; None for months, years and what is no duration."""
    match = _DURATION.fullmatch(text)
    if match is None or _ONLY_EXACT.match(text) is None or text.startswith("-"):
        return None
    weeks = re.search(r"(\d+)W", text)
    days, hours, minutes = (int(match.group(i) or 0) for i in (1, 2, 3))
    seconds = float((match.group(4) or "0").replace(",", "."))
    days += 7 * int(weeks.group(1)) if weeks else 0
    return ((days * 24 + hours) * 60 + minutes) * 60_000 + round(seconds * 1_000)


def retry_cycle(text: str) -> tuple[int, tuple[int, ...]] | None:
    """Attempts and waits of ``R5/PT5M`` (five attempts) or ``PT1M,PT10M`` (a first one and two more)."""
    head, slash, rest = text.partition("/")
    repeat = _REPEAT.match(head)
    if slash and repeat:
        wait = milliseconds(rest)
        attempts = int(repeat.group(1) or 0)
        return (attempts, (wait,)) if wait is not None and 0 < attempts <= RETRIES_MAX else None
    waits = [milliseconds(part.strip()) for part in text.split(",")]
    known = tuple(wait for wait in waits if wait is not None)
    return (len(known) + 1, known) if len(known) == len(waits) <= RETRIES_MAX else None
