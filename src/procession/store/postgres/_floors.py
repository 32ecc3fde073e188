"""Where claims begin to look, per queue, while they are slow: at the place in line up to which all has been claimed.

A transaction that is open somewhere (a backup, a forgotten session) keeps PostgreSQL from clearing away entries of jobs
that are done, and each claim walks over them: the longer, the slower. The remedy is taken only while it is needed, as
floors hide what comes back with an earlier time or has a lower priority until the next claim without them, which is
made every so often, and at once when one with floors has found nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from procession.store.rows import Row, Want

SLOW_S: Final = 0.05  # a claim that took longer may be walking over what is done: look from a floor for a while
HELD_S: Final = 30.0  # how long floors are used after a claim without them was slow
SWEEP_S: Final = 0.5  # the longest time between two claims without floors
IDLE_S: Final = 0.05  # the same where the last claim has found nothing
SHARE: Final = 10  # they take at most one in so many seconds: ten minutes of a busy queue make one of them take seconds
LOWEST: Final = -(2**31)

Floor = tuple[int, int, int]  # priority, time in microseconds (to the last digit) and key of what was claimed last


class Floors(Row):
    """What claims have learned. Instants are seconds of any clock that does not go back."""

    places: dict[str, Floor] = msgspec.field(default_factory=dict[str, Floor])
    may_be_used: bool = True
    until: float = 0.0
    swept_at: float = 0.0
    sweep_took: float = 0.0
    found_nothing: bool = False

    def columns(self, wants: Sequence[Want], now: float) -> tuple[list[int], ...] | None:
        """The floors of a claim (priorities, times, keys), or None for one without."""
        pause = max(IDLE_S if self.found_nothing else SWEEP_S, SHARE * self.sweep_took)
        if not self.may_be_used or now >= self.until or now - self.swept_at >= pause:
            return None
        places = [self.places.get(want.queue, (LOWEST, 0, 0)) for want in wants]
        return tuple([floor[place] for floor in places] for place in range(3))

    def learn(self, rows: Sequence[Any], began: float, now: float, *, with_floors: bool) -> None:
        """Take in what a claim gave, in claim order, and when it began and ended."""
        self.found_nothing = not rows
        if not with_floors:
            self.swept_at, self.sweep_took = now, now - began
            if now >= self.until:
                self.places.clear()
            if now - began > SLOW_S:
                self.until = now + HELD_S
            return
        for row in rows:
            self.places[row["queue"]] = (row["priority"], row["place"], row["key"])
