"""Whether limited jobs start soon enough after they were admitted, and what to say of that to the next claim.

A rate holds in any window only for starts that are not later than their limit allows. One that would be is given back
before its handler is called, and gets a new admission. A process that is late again and again says so when it claims:
its jobs may then be later, and the pace gives up what that needs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Any, Final

from procession.engine import Delivery
from procession.jobs.limits import LATE_US, LATE_US_MAX

USUAL_MS: Final = LATE_US // 1_000
TRUSTED_AFTER: Final = 50  # starts in time until half of the lateness is forgotten


class TooLate(Exception):
    """The start of a limited job would come later than its admission allows."""


class Punctuality:
    """What a process knows of its own starts."""

    __slots__ = ("_in_time", "_missed", "late_ms")

    def __init__(self) -> None:
        self.late_ms = 0  # how late its starts may be, where that is more than usual
        self._in_time = 0
        self._missed: set[float] = set()  # the claims, one after the other, whose jobs came too late

    def in_time(self, job: Delivery, now: float) -> bool:
        """Whether a limited job may still start. A claim that is late once has met a stall; twice in a row is usual."""
        if now <= start_by(job):
            self._in_time += 1
            self._missed.clear()
            if self._in_time >= TRUSTED_AFTER:
                self._in_time = 0
                self.late_ms = self.late_ms // 2 if self.late_ms > USUAL_MS else 0
            return True
        self.missed(job)
        return False

    def missed(self, job: Delivery) -> None:
        """A limited job came too late."""
        self._in_time = 0
        self._missed.add(job.claimed_at)
        if len(self._missed) > 1:
            self._missed.clear()
            self.late_ms = min(max(self.late_ms, 2 * job.start_within_ms), LATE_US_MAX // 1_000)


def punctual(job: Delivery, function: Callable[..., Any], *, is_virtual: bool) -> Callable[..., Any]:
    """A function that raises TooLate, where it would begin too late for the limits of its job."""
    return partial(call_in_time, start_by(job), function) if job.start_within_ms and not is_virtual else function


def start_by(job: Delivery) -> float:
    """The instant (of a clock that does not go back) after which a limited job must not start."""
    return job.claimed_at + job.start_within_ms / 1_000


def call_in_time(by: float, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
    """Call a handler in the thread or process where it runs, which may have kept it waiting. Raises TooLate."""
    if monotonic() > by:
        raise TooLate
    return function(*args, **kwargs)
