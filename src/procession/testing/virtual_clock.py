"""A clock that only moves when a test says so. It knows nothing of engines."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import TypeAlias

from procession.errors import InvalidValue
from procession.jobs.retry import Span, span_ms
from procession.jobs.schedule import to_datetime, to_instant

START = 1_767_225_600_000  # 2026-01-01T00:00:00Z
Moment: TypeAlias = datetime | str | int  # an aware datetime, ISO 8601 with its offset, or milliseconds since 1970


class VirtualClock:
    """Gives milliseconds since 1970, as ``Procession(clock=...)`` wants them."""

    def __init__(self, at: Moment = START) -> None:
        self._now = instant_of(at)

    def __call__(self) -> int:
        """The instant."""
        return self._now

    @property
    def now(self) -> datetime:
        """The instant, in UTC."""
        return to_datetime(self._now)

    def set(self, at: Moment) -> None:
        """Go to an instant; back in time too, which shows what a clock that was set right does to your code."""
        self._now = instant_of(at)

    def advance(self, span: Span) -> None:
        """Go forward: seconds, '30s', '2h', 'P1D' or a timedelta."""
        self._now += span_ms(span, "how far the clock is turned")


def instant_of(at: Moment) -> int:
    """A moment in milliseconds since 1970. Raises InvalidValue."""
    if isinstance(at, int) and not isinstance(at, bool):
        return at
    moment: object = at
    if isinstance(at, str):
        with suppress(ValueError):
            moment = datetime.fromisoformat(at)
    if isinstance(moment, datetime) and moment.tzinfo is not None:
        return to_instant(moment)
    message = (
        "Expected a moment as an aware datetime, as ISO 8601 text with its offset ('2026-01-01T09:00:00Z'), or as "
        f"milliseconds since 1970, found {at!r}"
    )
    raise InvalidValue(message)
