"""When a recurring job fires, and what becomes of runs that nobody fired in time. Pure: instants come in and go out.

Each firing is computed from the due time of the one before, never from the clock: a clock that steps back repeats
nothing and skips nothing, an interval does not drift, and what was missed is known.
"""

from __future__ import annotations

from typing import Final

import msgspec

from procession.jobs.schedule import following
from procession.limits import FIRINGS_MAX

LATE_MS: Final = 60_000  # a run that is fired within a minute of its time was not missed
STEPS_MAX: Final = 100_000  # due times looked at for one firing; after that it goes on from now

ONCE, ALL, SKIP = 0, 1, 2  # store.rows.queue.Missed


class Plan(msgspec.Struct, frozen=True):
    """Which due times are fired now, in order, and the next one after them (0: never again)."""

    due: tuple[int, ...]
    next_at: int
    last_at: int  # the latest due time that was passed, fired or not; 0: none was


def first_firing(cycle: str, now: int) -> int:
    """The first due time later than now, 0 if there is none. Raises InvalidValue for what is no cycle."""
    return following(cycle, now)


def plan_firing(cycle: str, next_at: int, missed: int, now: int) -> Plan:
    """What is due by now of a recurring job whose next due time is ``next_at``."""
    if not next_at or next_at > now:
        return Plan((), next_at, 0)
    due: list[int] = []
    at = next_at
    steps = 0
    while at and at <= now and steps < STEPS_MAX:
        due.append(at)
        del due[:-FIRINGS_MAX]
        at = following(cycle, at)
        steps += 1
    if at and at <= now:
        at = following(cycle, now)
    last = due[-1]
    if missed == ONCE:
        due = [last]
    elif missed == SKIP:
        due = [last] if now - last <= LATE_MS else []
    return Plan(tuple(due), at, last)
