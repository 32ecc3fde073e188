"""Limits as arithmetic: slots, start times reserved ahead (GCRA), and the guard of actual starts. Pure.

A rate of ``rate`` per ``per_ms`` with ``burst`` is a theoretical arrival time that moves by one interval per start and
may be ahead of the clock by ``burst - 1`` intervals. Intervals are rounded up to whole microseconds, so never faster
than asked. Each limit has three such states:

``reserved``  starts promised on insert: a backlog gets start times one interval apart, and is then released with one
              write each
``started``   the guard: starts that happened. When promised ones come due together after a pause, only ``burst`` of
              them pass, which holds the bound (``rate + burst`` in any window) whatever happened in between. A start
              that comes late by less than an interval does not push those after it back: the line goes on from when
              it could have been, which is what the bound leaves room for
``moved``     new start times for those that the guard refused, behind each other
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from procession.jobs.options import Limit

BURST_SHARE: Final = 10  # where no burst is given: a tenth of the rate, so that claims 100 ms apart keep the pace


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
    used: int = 0
    parked: bool = False  # whether jobs wait for a slot of it

    @property
    def interval_us(self) -> int:
        """Between two starts at the pace of the rate."""
        return -(-self.per_ms * 1_000 // self.rate)

    @property
    def ahead_us(self) -> int:
        """How far a line may be ahead of the clock."""
        burst = self.burst or max(1, self.rate // BURST_SHARE)
        return (burst - 1) * self.interval_us

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


class Admission(msgspec.Struct):
    """What a look at limited jobs has decided."""

    start: list[int] = []
    park: dict[int, str] = {}  # job -> limit whose slot it waits for
    move: dict[int, int] = {}  # job -> new start time in milliseconds
    tries: dict[
        str, int
    ] = {}  # limit with free slots -> how many parked jobs try in the place of those that wait again


def reserve(state: LimitState, now: int) -> int:
    """Promise the next start of a rate; its time in milliseconds, rounded up so that it is never early."""
    now_us = now * 1_000
    start_us = max(now_us, state.reserved_us - state.ahead_us)
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


def admit(jobs: Iterable[tuple[int, Sequence[str]]], limits: dict[str, LimitState], now: int) -> Admission:
    """Which of these due jobs (key, keys of their limits) start now, in their order. Changes the states."""
    admission = Admission([], {}, {}, {})
    now_us = now * 1_000
    lost: list[str] = []  # slots that somebody was in line for, who is so no more
    for job, keys in jobs:
        rules = [limits[key] for key in keys if key in limits]
        full = next((rule for rule in rules if rule.most and rule.free <= 0), None)
        late = [rule for rule in rules if rule.rate and rule.started_us - rule.ahead_us > now_us]
        if full is not None:
            admission.park[job] = full.key
        elif late:
            admission.move[job] = max(_next_try(rule, now_us) for rule in late)
        else:
            admission.start.append(job)
            _take(rules, now_us)
            continue
        lost += [rule.key for rule in rules if rule.most]
    for key in lost:
        if limits[key].parked and admission.tries.get(key, 0) < limits[key].free:
            admission.tries[key] = admission.tries.get(key, 0) + 1
    return admission


def _take(rules: Iterable[LimitState], now_us: int) -> None:
    """A job starts under these limits."""
    for rule in rules:
        rule.used += 1
        if rule.rate:
            rule.started_us = max(now_us - rule.interval_us + 1, rule.started_us) + rule.interval_us


def _next_try(rule: LimitState, now_us: int) -> int:
    """A new start time behind those already given to others that the guard refused, while one of them is to come."""
    last_us = rule.moved_us - rule.interval_us - rule.ahead_us
    line_us = max(rule.started_us, now_us, rule.moved_us if last_us > now_us else 0)
    rule.moved_us = line_us + rule.interval_us
    return -(-(line_us - rule.ahead_us) // 1_000)
