"""Limited jobs start: out of THROTTLED, with the rows of their limits locked, so that no two claims see a free slot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from procession import limits
from procession.jobs.kinds import JobState
from procession.jobs.limits import Admission, admit
from procession.store._shared.queue.ending import unpark
from procession.store._shared.queue.limiting import held_limits
from procession.store._shared.queue.rows import JobRow, job_rows, lock_runs, write_jobs, write_limits
from procession.store._shared.queue.script import Script, ask_for
from procession.store.rows import ClaimedJob, Want


def claim_limited(node: int, wants: Sequence[Want], now: int) -> Script[list[Any]]:
    """Lease limited jobs that may start now: rows with the columns of ``read_claimed``, in claim order per queue."""
    wanted = {want.queue: want.count for want in wants if want.count > 0 and not want.lease_ms}
    rows = yield from ask_for("throttled_queues", sorted(wanted), now)
    seen: list[JobRow] = []
    for (queue,) in rows:
        look = min(limits.THROTTLED_LOOK_MAX, 4 * wanted[queue] + 16)
        seen += job_rows((yield from ask_for("find_throttled", [queue], look, now)))
    if not seen:
        return []
    states = yield from held_limits(limit for job in seen for limit in job.options.limits)
    held = yield from lock_runs(job.key for job in seen)
    due = _due(held.values(), wanted, now)
    admission = admit([(job.key, [limit.key for limit in job.options.limits]) for job in due], states, now)
    slots = [
        {"limit_key": limit.key, "job": key, "node": node}
        for key in sorted(admission.start)
        for limit in held[key].options.limits
        if states[limit.key].most
    ]
    yield from ask_for("take_slots", slots)
    yield from ask_for("start_jobs", sorted(admission.start), node)
    yield from write_limits(states.values())
    yield from _hold_back(held, admission)
    yield from unpark(admission.tries)
    claimed = {row[0]: row for row in (yield from ask_for("read_claimed", sorted(admission.start)))}
    return [claimed[key] for key in admission.start]


def room_left(wants: Sequence[Want], claimed: Sequence[ClaimedJob]) -> list[Want]:
    """What a claim still has room for."""
    taken = Counter(job.queue for job in claimed)
    return [
        Want(queue=want.queue, count=want.count - taken[want.queue])
        for want in wants
        if want.count > taken[want.queue] and not want.lease_ms
    ]


def _due(held: Iterable[JobRow], wanted: dict[str, int], now: int) -> list[JobRow]:
    """What may start as far as its own row says, by priority, age and key, as many of a queue as there is room for."""
    due = [job for job in held if job.state == JobState.THROTTLED and not job.waits_for and job.run_at <= now]
    due.sort(key=_claim_order)
    taken: Counter[str] = Counter()
    found: list[JobRow] = []
    for job in due:
        if taken[job.queue] < wanted[job.queue]:
            taken[job.queue] += 1
            found.append(job)
    return found


def _hold_back(held: dict[int, JobRow], admission: Admission) -> Script[None]:
    changed: list[JobRow] = []
    for key, limit in admission.park.items():
        held[key].waits_for = limit
        changed.append(held[key])
    for key, run_at in admission.move.items():
        held[key].run_at = run_at
        changed.append(held[key])
    yield from write_jobs(changed)


def _claim_order(job: JobRow) -> tuple[int, int, int]:
    return -job.priority, job.created_at, job.key  # not by start time: one that got a new one keeps its place
