"""Limits as arithmetic: slots, start times reserved ahead (GCRA), and the guard of actual starts. Pure.

A rate of ``rate`` per ``per_ms`` with ``burst`` is a theoretical arrival time that moves by one interval per start and
may be ahead of the clock by ``burst - 1`` intervals. Intervals are rounded up to whole microseconds, so never faster
than asked. Each limit has three such states:

``reserved``  starts promised on insert: a backlog gets start times one interval apart, and is then released with one
              write each
``started``   the guard: starts that were admitted. When promised ones come due together after a pause, only ``burst``
              of them pass, which holds the bound (``rate + burst`` in any window) whatever happened in between
``moved``     new start times for those that the guard refused, behind each other

Between the admission and the first line of the handler lie a commit and the loop of a process. A start counts when it
happens, so the bound has to hold for starts that are late by anything up to ``tolerance_us``: whoever is later than
that does not start, and goes back for a new admission. Admissions that are ``burst`` at once and an interval apart are
at most ``burst + (window + grace) / interval`` in a window. A window of ``per`` and the tolerance must have room for
no more than ``rate + burst``; that decides both the grace (a claim that comes late by less does not push those after it
back) and, for rates above one in twice LATE_US, an interval a little longer than asked (2.5 % for 1,000 a second).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from procession.jobs.options import Limit

BURST_SHARE: Final = 10  # where no burst is given: a tenth of the rate, so that claims 100 ms apart keep the pace
LATE_US: Final = 25_000  # a start may always be so late: a commit and a turn of a busy loop take about half of it
LATE_SHARE_US_MAX: Final = 1_000_000  # and by half an interval up to this
LATE_US_MAX: Final = 10_000_000  # and never later than that
FORGOTTEN: Final = 64  # an admission forgets so small a part of a lateness that nobody asks for any more

Rank = tuple[int, int, int]  # of a job in the order of claims: the lower goes first


class LimitState(msgspec.Struct):
    """A limit's row. Instants of its three lines are in microseconds; ``used`` is counted, not stored."""

    key: str
    most: int = 0
    rate: int = 0
    per_ms: int = 1_000
    burst: int = 0
    reserved_us: int = 0
    started_us: int = 0
    moved_us: int = 0
    late_us: int = 0  # how late a worker has said that its starts may be, where that is more than usual
    used: int = 0
    parked: bool = False  # whether jobs wait for a slot of it

    @property
    def pace_us(self) -> int:
        """Between two starts at the pace that was asked for."""
        return -(-self.per_ms * 1_000 // self.rate)

    @property
    def tolerance_us(self) -> int:
        """How long after its admission a job may start."""
        return max(LATE_US, self.late_us, min(self.pace_us // 2, LATE_SHARE_US_MAX))

    @property
    def grace_us(self) -> int:
        """An admission that is late by so much does not push those after it back."""
        return max(0, self.pace_us - self.tolerance_us - 1, LATE_US - self.ahead_pace_us)

    @property
    def interval_us(self) -> int:
        """Between two admissions: as asked, or a little more where that leaves no room for late starts."""
        window_us = self.per_ms * 1_000 + self.tolerance_us + self.grace_us
        return max(self.pace_us, window_us // (self.rate + 1) + 1)

    @property
    def bucket(self) -> int:
        """How many may start at once."""
        return self.burst or max(1, self.rate // BURST_SHARE)

    @property
    def ahead_pace_us(self) -> int:
        """How far a line would be ahead of the clock at the pace that was asked for."""
        return (self.bucket - 1) * self.pace_us

    @property
    def ahead_us(self) -> int:
        """How far a line may be ahead of the clock."""
        return (self.bucket - 1) * self.interval_us

    @property
    def free(self) -> int:
        """Slots that are free; many where there is no maximum."""
        return self.most - self.used if self.most else 1 << 30

    def takes_rule(self, rule: Limit) -> bool:
        """Take over a newer rule; whether anything is different. Promises of the old pace are forgotten."""
        if (self.most, self.rate, self.per_ms, self.burst) == (rule.most, rule.rate, rule.per_ms, rule.burst):
            return False
        self.most, self.rate, self.per_ms, self.burst = rule.most, rule.rate, rule.per_ms, rule.burst
        self.reserved_us = self.moved_us = self.started_us
        return True

    def expect_late(self, late_us: int) -> None:
        """A worker that claims may start so late. What is forgotten is waited for, as earlier ones may be as late."""
        before_us, interval_us = self.tolerance_us, self.interval_us
        late_us = min(late_us, LATE_US_MAX)
        if late_us >= self.late_us:
            self.late_us = late_us
        else:
            over_us = self.late_us - late_us
            self.late_us -= max(over_us // FORGOTTEN, min(over_us, 1_000))
        self.started_us += max(0, before_us - self.tolerance_us)
        # what was admitted at the shorter interval leaves no more room ahead than it did
        self.started_us += self.bucket * max(0, self.interval_us - interval_us)


class Room(msgspec.Struct):
    """What a claim has room for in one queue: ``count`` jobs, ``at_once`` limited ones, which must not wait.

    ``rivals``: the ranks, in order, of the unlimited jobs that are next in that queue. Limited ones get the places that
    are theirs among those, by priority and age.
    """

    count: int
    at_once: int
    rivals: list[Rank] = []
    given: int = 0

    def takes(self, rank: Rank) -> bool:
        """Whether a limited job of this rank gets a place, if its limits let it."""
        return self.given < self.at_once and bisect_left(self.rivals, rank) + self.given < self.count


class Candidate(msgspec.Struct):
    """A limited job that is due."""

    key: int
    limits: Sequence[str]  # keys
    rank: Rank = (0, 0, 0)
    room: Room | None = None  # None: for any number


class Admission(msgspec.Struct):
    """What a look at limited jobs has decided."""

    start: list[int] = []
    park: dict[int, str] = {}  # job -> limit whose slot it waits for
    move: dict[int, int] = {}  # job -> new start time in milliseconds
    tries: dict[
        str, int
    ] = {}  # limit with free slots -> how many parked jobs try in the place of those that wait again
    left: list[int] = []  # those that there is no room for


def reserve(state: LimitState, now: int) -> int:
    """Promise the next start of a rate; its time in milliseconds, rounded up so that it is never early.

    Where the guard has little grace, those that have to wait do so a little longer: it may have begun to count later.
    """
    now_us = now * 1_000
    start_us = max(now_us, state.reserved_us - state.ahead_us)
    if start_us > now_us:
        start_us += max(0, LATE_US - state.grace_us)
    state.reserved_us = max(now_us, state.reserved_us) + state.interval_us
    return -(-start_us // 1_000)


def place(limits: Sequence[LimitState], now: int) -> tuple[int, str]:
    """Where a new job that is due goes: (its start time, the limit that it is parked for or '')."""
    start = max([now, *(reserve(state, now) for state in limits if state.rate)])
    for state in limits:
        if state.most and (state.parked or state.free <= 0):
            state.parked = True
            return start, state.key
    for state in limits:
        state.used += 1  # it will try: those inserted with it see one slot less
    return start, ""


def admit(jobs: Iterable[Candidate], limits: dict[str, LimitState], now: int) -> Admission:
    """Which of these due jobs start now, in their order. Changes the states."""
    admission = Admission([], {}, {}, {}, [])
    now_us = now * 1_000
    lost: list[str] = []  # slots that somebody was in line for, who is so no more
    for job in jobs:
        if job.room is not None and not job.room.takes(job.rank):
            admission.left.append(job.key)
            continue
        rules = [limits[key] for key in job.limits if key in limits]
        full = next((rule for rule in rules if rule.most and rule.free <= 0), None)
        late = [rule for rule in rules if rule.rate and rule.started_us - rule.ahead_us > now_us]
        if full is not None:
            admission.park[job.key] = full.key
        elif late:
            admission.move[job.key] = max(_next_try(rule, now_us) for rule in late)
        else:
            admission.start.append(job.key)
            _take(rules, now_us)
            if job.room is not None:
                job.room.given += 1
            continue
        lost += [rule.key for rule in rules if rule.most]
    for key in lost:
        if limits[key].parked and admission.tries.get(key, 0) < limits[key].free:
            admission.tries[key] = admission.tries.get(key, 0) + 1
    return admission


def start_within_us(keys: Iterable[str], limits: dict[str, LimitState]) -> int:
    """How long after its admission a job of these limits may start; 0 where no rate is among them."""
    return min((limits[key].tolerance_us for key in keys if key in limits and limits[key].rate), default=0)


def _take(rules: Iterable[LimitState], now_us: int) -> None:
    """A job starts under these limits."""
    for rule in rules:
        rule.used += 1
        if rule.rate:
            rule.started_us = max(now_us - rule.grace_us, rule.started_us) + rule.interval_us


def _next_try(rule: LimitState, now_us: int) -> int:
    """A new start time behind those already given to others that the guard refused, while one of them is to come."""
    last_us = rule.moved_us - rule.interval_us - rule.ahead_us
    line_us = max(rule.started_us, now_us, rule.moved_us if last_us > now_us else 0)
    rule.moved_us = line_us + rule.interval_us
    return -(-(line_us - rule.ahead_us) // 1_000)
