"""How many commands may be accepted and not yet answered: a limit that finds itself. Pure: time is an argument.

``Aimd`` is Zeebe's rule: one more after a fast answer, a tenth less after a slow one. It is only cut when what is in
flight is at or under the limit (more is the echo of a limit that was cut already), and only raised when at least half
of it is used (an idle server learns nothing). It is cut once for what was in flight together: all of it was let in
under the limit before the cut, and each slow answer of it would say the same again. Without that a limit of 640 fell
to 5 within one round of answers, ten times a minute. ``Gradient`` compares the time of now with the best that was seen
lately. ``WriteLimit`` slows new work down to the rate at which exporters drain their backlog. ``Watermarks`` refuse
new work where a disk is about to be full. Completions, failures and cancels are never refused: they end work.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec

LIMIT_START = 100.0
LIMIT_MIN = 1.0
LIMIT_MAX = 1_000.0
TARGET_S = 0.2  # slower than this is slow
CUT = 0.9
RETRY_AFTER_S = 1.0
FULL_RETRY_AFTER_S = 30.0  # where somebody has to make room


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """Why a command is not taken now."""

    reason: str  # commands-in-flight | export-backlog | disk | database
    limit: float
    current: float
    retry_after_s: float = RETRY_AFTER_S

    def __str__(self) -> str:
        return f"{WORDS[self.reason]}: the limit is {self.limit:g}, it is {self.current:g} now; try again later"


WORDS: Mapping[str, str] = {
    "commands-in-flight": "Too many commands are accepted and not yet answered",
    "export-backlog": "Exporters are behind, and new work has to wait for them (commands a second)",
    "disk": "The disk is nearly full (bytes that have to be free)",
    "database": "The database is nearly as large as it may be (bytes)",
}


class Limit(Protocol):
    """A limit on commands in flight."""

    @property
    def limit(self) -> float:
        """How many may be in flight."""
        ...

    def learn(self, took_s: float, in_flight: int, *, dropped: bool = False) -> None:
        """A command was answered after so long, while so many were in flight."""
        ...


class Aimd:
    """Additive increase, multiplicative decrease."""

    def __init__(
        self,
        *,
        start: float = LIMIT_START,
        least: float = LIMIT_MIN,
        most: float = LIMIT_MAX,
        target_s: float = TARGET_S,
        cut: float = CUT,
    ) -> None:
        assert 0 < least <= start <= most
        assert 0 < cut < 1
        self.limit = start
        self._least = least
        self._most = most
        self._target_s = target_s
        self._cut = cut
        self._echoes = 0  # answers to come of what was let in before the last cut

    def learn(self, took_s: float, in_flight: int, *, dropped: bool = False) -> None:
        """One more after a fast answer, a tenth less after a slow one or one that was lost."""
        is_echo = self._echoes > 0
        self._echoes -= is_echo
        if took_s > self._target_s or dropped:
            if in_flight <= self.limit and not is_echo:
                self.limit = max(self._least, self.limit * self._cut)
                self._echoes = in_flight - 1
        elif in_flight * 2 >= self.limit:
            self.limit = min(self._most, self.limit + 1)


class Gradient:
    """The limit follows how much slower answers are than they were at their best, with room for a short queue."""

    def __init__(
        self,
        *,
        start: float = LIMIT_START,
        least: float = LIMIT_MIN,
        most: float = LIMIT_MAX,
        smoothing: float = 0.2,
        tolerance: float = 2.0,
        forgets: float = 0.001,
    ) -> None:
        assert 0 < least <= start <= most
        self.limit = start
        self._least = least
        self._most = most
        self._smoothing = smoothing
        self._tolerance = tolerance
        self._forgets = forgets  # how fast the best is let go, so that a slower time of day becomes the new measure
        self._best_s = 0.0

    def learn(self, took_s: float, in_flight: int, *, dropped: bool = False) -> None:
        """Towards limit times gradient plus a queue of its square root; nothing is learnt while half of it is idle."""
        took_s = max(took_s, 1e-6)
        if dropped:
            self.limit = max(self._least, self.limit * CUT)
            return
        self._best_s = took_s if not self._best_s else min(took_s, self._best_s * (1 + self._forgets))
        if in_flight * 2 < self.limit:
            return
        gradient = max(0.5, min(1.0, self._tolerance * self._best_s / took_s))
        wanted = self.limit * gradient + self.limit**0.5
        self.limit += (wanted - self.limit) * self._smoothing
        self.limit = min(self._most, max(self._least, self.limit))


class WriteLimit:
    """How many new commands a second exporters can follow."""

    def __init__(self, *, acceptable: int, least: float = 1.0) -> None:
        assert acceptable > 0
        self._acceptable = acceptable
        self._least = least
        self._rate: float | None = None  # None: full rate
        self._tokens = 0.0
        self._at = 0.0

    def measured(self, backlog: int, exported_per_s: float) -> None:
        """What exporters still have to do, and how fast they do it."""
        if backlog * 2 < self._acceptable:
            self._rate = None
            return
        over = min(1.0, max(0.0, (self._acceptable - backlog) / self._acceptable * 2))
        self._rate = max(self._least, exported_per_s * over)

    @property
    def rate(self) -> float | None:
        """Commands a second; None for as many as come."""
        return self._rate

    def admit(self, now: float) -> Refusal | None:
        """Take one of the commands of this second, or say why not."""
        found = self.full(now)
        if found is None and self._rate is not None:
            self._tokens -= 1.0
        return found

    def full(self, now: float) -> Refusal | None:
        """Why none would be taken now."""
        rate = self._rate
        if rate is None:
            self._at, self._tokens = now, 1.0
            return None
        burst = max(1.0, rate)
        self._tokens = min(burst, self._tokens + (now - self._at) * rate)
        self._at = now
        if self._tokens >= 1.0:
            return None
        wait_s = (1.0 - self._tokens) / rate
        return Refusal(reason="export-backlog", limit=rate, current=0.0, retry_after_s=wait_s)


class Admission:
    """The rules together, and what became of everything that was offered."""

    def __init__(
        self,
        limit: Limit | None = None,
        write_limit: WriteLimit | None = None,
        *,
        disk_free_min: int = 0,
        database_max: int = 0,
    ) -> None:
        self.limit = limit
        self.write_limit = write_limit
        self.in_flight = 0  # that count
        self.offered = 0
        self.accepted = 0
        self.completed = 0
        self.rejected: dict[str, int] = {}
        self._disk_free_min = disk_free_min
        self._disk_free: int | None = None
        self._database_max = database_max
        self._database = 0

    def disk(self, free_bytes: int | None) -> None:
        """What is free where the database stands; None: that is not known here."""
        self._disk_free = free_bytes

    def database(self, size_bytes: int) -> None:
        """How large the database is."""
        self._database = size_bytes

    def refuse(self, now: float) -> Refusal | None:
        """Say why a command would not be taken in, and count it as refused; None, and nothing counted, if it would."""
        refusal = self._full() or (self.write_limit.full(now) if self.write_limit is not None else None)
        if refusal is not None:
            self.offered += 1
            self._count(refusal)
        return refusal

    def admit(self, now: float, *, exempt: bool = False) -> Refusal | None:
        """Take a command in, or say why not. Each that is taken is answered by ``done`` once."""
        self.offered += 1
        refusal = None if exempt else self._refusal(now)
        if refusal is not None:
            self._count(refusal)
            return refusal
        self.accepted += 1
        self.in_flight += 0 if exempt else 1
        return None

    def _count(self, refusal: Refusal) -> None:
        self.rejected[refusal.reason] = self.rejected.get(refusal.reason, 0) + 1

    def _refusal(self, now: float) -> Refusal | None:
        found = self._full()
        if found is not None or self.write_limit is None:
            return found
        return self.write_limit.admit(now)

    def _full(self) -> Refusal | None:
        free = self._disk_free
        if free is not None and free < self._disk_free_min:
            return Refusal(reason="disk", limit=self._disk_free_min, current=free, retry_after_s=FULL_RETRY_AFTER_S)
        if 0 < self._database_max <= self._database:
            return Refusal(
                reason="database", limit=self._database_max, current=self._database, retry_after_s=FULL_RETRY_AFTER_S
            )
        if self.limit is not None and self.in_flight >= self.limit.limit:
            return Refusal(reason="commands-in-flight", limit=float(int(self.limit.limit)), current=self.in_flight)
        return None

    def done(self, took_s: float, *, exempt: bool = False, dropped: bool = False) -> None:
        """A command was answered, after so long; ``dropped``: the database did not answer in time."""
        self.completed += 1
        if exempt:
            return
        in_flight = self.in_flight
        self.in_flight -= 1
        if self.limit is not None:
            self.limit.learn(took_s, in_flight, dropped=dropped)
