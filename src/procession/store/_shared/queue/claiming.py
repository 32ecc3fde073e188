"""Limited jobs start: out of THROTTLED, with the rows of their limits locked, so that no two claims see a free slot.

Limited and unlimited jobs of a queue share one order: priority, then age. So a queue that has limited ones whose start
is due is claimed in two steps: limited jobs get the places that are theirs among the next unlimited ones, and those get
the rest. A limited job is leased only where a slot is free to start it at once, and is admitted by the clock as it
stands once its limits are held, which may be long after the claim began.

A claim looks at the first due ones of each priority. Those whose limits let none start leave the line, with one write
each: they wait for a slot, or get a new start time. So a key with a backlog of its own is in nobody's way for longer
than it takes to look through that backlog once; where nobody of a look may start, the claim looks further, up to
THROTTLED_LOOK_MAX jobs, and says that it has not seen all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from procession import limits
from procession.jobs.kinds import JobState
from procession.jobs.limits import Admission, Candidate, LimitState, Rank, Room, admit, start_within_us
from procession.jobs.options import Trait, due_of
from procession.store._shared.queue.ending import unpark
from procession.store._shared.queue.limiting import held_limits
from procession.store._shared.queue.rows import JobRow, job_rows, lock_runs, read_limits, write_jobs, write_limits
from procession.store._shared.queue.script import Ask, Script, ask_for
from procession.store.rows import ClaimedJob, Want

LOOK_FACTOR: Final = 4  # a further look is so many times as far


class Started(msgspec.Struct):
    """Limited jobs that a claim has leased, and what is left over."""

    rows: list[Any] = []  # with the columns of ``read_claimed``, in claim order per queue
    within_ms: dict[int, int] = {}  # job -> how soon after the claim began it must start; 0: no matter
    held_back: set[str] = set()  # queues with limited jobs that are due and found no room
    is_partial: bool = False  # it has not seen all that are due, and had room for more


def claim_limited(node: int, wants: Sequence[Want], now: int) -> Script[Started]:
    """Lease limited jobs that may start now."""
    wanted = {want.queue: want for want in wants if want.count > 0 and not want.lease_ms}
    levels: dict[str, list[int]] = {}
    for queue, priority in (yield from ask_for("throttled_levels", sorted(wanted), now)):
        levels.setdefault(queue, []).append(priority)
    seen: list[JobRow] = []
    rooms: dict[str, Room] = {}
    is_partial = False
    for queue, priorities in levels.items():
        room = rooms[queue] = _room_of(wanted[queue])
        found = yield from ask_for("find_next", [_named(wanted[queue])], room.count)
        room.rivals = [(-priority, run_at, key) for priority, run_at, key in found]
        look = yield from _look(_Line(_named(wanted[queue]), priorities, room), now)
        seen += look.jobs
        is_partial |= look.is_partial
    if not seen:
        return Started()
    states = yield from held_limits(limit for job in seen for limit in job.options.limits)
    held = yield from lock_runs(job.key for job in seen)
    held_at = max(now, (yield Ask("clock", ()))[0][0])
    late_ms = max((want.late_ms for want in wanted.values()), default=0)
    for state in states.values():
        if state.rate:
            state.expect_late(late_ms * 1_000)
    due = _due(held.values(), rooms, held_at)
    admission = admit(due, states, held_at)
    yield from _start(node, held, admission, states)
    yield from write_limits(states.values())
    yield from _hold_back(held, admission)
    yield from unpark(admission.tries)
    claimed = {row[0]: row for row in (yield from ask_for("read_claimed", sorted(admission.start)))}
    within = {key: start_within_us(_limits_of(held[key]), states) // 1_000 for key in admission.start}
    return Started(
        [claimed[key] for key in admission.start],
        {key: ms + held_at - now if ms else 0 for key, ms in within.items()},
        {held[key].queue for key in admission.left},
        is_partial,
    )


def as_started(job: ClaimedJob, started: Started) -> ClaimedJob:
    """A limited job as its worker gets it."""
    job.is_limited, job.start_within_ms = True, started.within_ms[job.key]
    return job


def rest_of(wants: Iterable[Want], claimed: Sequence[ClaimedJob]) -> list[Want]:
    """What a claim still has room for."""
    taken = Counter(job.queue for job in claimed)
    return [
        msgspec.structs.replace(want, count=want.count - taken[want.queue])
        for want in wants
        if want.count > taken[want.queue]
    ]


class _Line(msgspec.Struct):
    """Limited jobs of a queue that are due: in which priorities there are some, and what there is room for."""

    named: dict[str, object]  # the queue, and the types that are passed over
    priorities: list[int]  # from the highest down
    room: Room


class _Look(msgspec.Struct):
    """The first jobs of a line."""

    jobs: list[JobRow]
    is_partial: bool = False  # there may be more behind them that could start


def _look(line: _Line, now: int) -> Script[_Look]:
    """So many from the front of a line that its room is filled, where there are any that may start."""
    count = min(limits.THROTTLED_LOOK_MAX, 4 * line.room.at_once + 16)
    while True:
        jobs = yield from _first_due(line, count, now)
        if len(jobs) < count or not line.room.at_once:
            return _Look(jobs)
        states = yield from read_limits(limit.key for job in jobs for limit in job.options.limits)
        if _fill(jobs, line.room, states, now):
            return _Look(jobs)
        if count == limits.THROTTLED_LOOK_MAX:
            return _Look(jobs, is_partial=True)
        count = min(limits.THROTTLED_LOOK_MAX, count * LOOK_FACTOR)


def _first_due(line: _Line, count: int, now: int) -> Script[list[JobRow]]:
    """The first of a line by rank. Those that age stand under the priority that they came with, and rank as 0."""
    found: list[JobRow] = []
    for priority in line.priorities:
        if sum(_rank(job)[0] < min(0, -priority) for job in found) >= count:
            break
        found += job_rows((yield from ask_for("find_throttled", [line.named], priority, count, now)))
    found.sort(key=_rank)
    return found[:count]


def _fill(jobs: Iterable[JobRow], room: Room, states: dict[str, LimitState], now: int) -> bool:
    """Whether these would fill the room, as far as their limits can be seen without holding them."""
    trial = Room(room.count, room.at_once, room.rivals)
    admission = admit([Candidate(job.key, _limits_of(job), _rank(job), trial) for job in jobs], states, now)
    return bool(admission.left) or trial.given >= trial.at_once


def _named(want: Want) -> dict[str, object]:
    """A queue as the statements ask for it."""
    return {"queue": want.queue, "strangers": want.strangers}


def _room_of(want: Want) -> Room:
    at_once = want.count if want.at_once is None else min(want.count, want.at_once)
    return Room(want.count, at_once, [])


def _due(held: Iterable[JobRow], rooms: Mapping[str, Room], now: int) -> list[Candidate]:
    """What may start as far as its own row says, by priority, age and key."""
    due = [job for job in held if job.state == JobState.THROTTLED and not job.waits_for and job.run_at <= now]
    found = [Candidate(job.key, _limits_of(job), _rank(job), rooms[job.queue]) for job in due]
    found.sort(key=_rank_of)
    return found


def _limits_of(job: JobRow) -> list[str]:
    return [limit.key for limit in job.options.limits]


def _rank(job: JobRow) -> Rank:
    """Its place among all jobs of its queue; not by start time: one that got a new one keeps its place."""
    if job.has(Trait.AGEING):
        priority, place = due_of(job.options, job.created_at)
        return -priority, place, job.key
    return -job.priority, job.created_at, job.key


def _rank_of(candidate: Candidate) -> Rank:
    return candidate.rank


def _start(
    node: int, held: Mapping[int, JobRow], admission: Admission, states: Mapping[str, LimitState]
) -> Script[None]:
    slots = [
        {"limit_key": limit.key, "job": key, "node": node}
        for key in sorted(admission.start)
        for limit in held[key].options.limits
        if states[limit.key].most
    ]
    yield from ask_for("take_slots", slots)
    yield from ask_for("start_jobs", sorted(admission.start), node)


def _hold_back(held: Mapping[int, JobRow], admission: Admission) -> Script[None]:
    changed: list[JobRow] = []
    for key, limit in admission.park.items():
        held[key].waits_for = limit
        changed.append(held[key])
    for key, run_at in admission.move.items():
        held[key].run_at = run_at
        changed.append(held[key])
    yield from write_jobs(changed)
