"""Repair what no transaction of ours leaves behind: hands in the tables, a restored backup, a defect; and report it.

Each look is one statement that finds what cannot be; on a consistent store all of them come back empty.
"""

from __future__ import annotations

from collections import Counter

from procession import limits
from procession.jobs.flows import Effect, effect_of
from procession.jobs.kinds import JobState
from procession.store._shared.queue.ending import (
    Counts,
    End,
    doom_reason,
    end_jobs,
    place_in_line,
    release_children,
    unpark,
)
from procession.store._shared.queue.rows import job_rows, lock_batches, lock_jobs, write_batches, write_jobs
from procession.store._shared.queue.script import Script, ask_for
from procession.store.rows.queue import JobBatchState, SweepReport

_FORGET_ROUNDS = 20  # of a page of jobs, in one sweep


def sweep(now: int) -> Script[SweepReport]:
    """Look at everything, a page of each kind, and repair it."""
    report = SweepReport()
    page = [limits.PAGE_MAX]
    slots = yield from ask_for("find_lost_slots", page)
    yield from ask_for("drop_slots", [{"limit_key": row[0], "job": row[1]} for row in slots])
    report.lost_slots = len(slots)
    keys = yield from ask_for("find_lost_keys", page)
    yield from ask_for("drop_unique", [{"tenant": row[0], "key": row[1]} for row in keys])
    report.lost_keys = len(keys)
    children = yield from ask_for("find_lost_dependencies", page)
    yield from ask_for("drop_dependencies", sorted({row[0] for row in children}))
    report.lost_dependencies = len(children)
    report.wrong_states = yield from _put_states_right(now)
    report.stuck_children = yield from _release_stuck(now)
    report.miscounted_batches = yield from _count_members_again()
    report.stuck_batches = yield from _count_batches_again(now)
    report.stuck_throttled = yield from _let_try()
    logs = yield from ask_for("find_lost_logs", page)
    yield from ask_for("delete_logs", sorted({row[0] for row in logs}))
    report.lost_rows = len(logs)
    yield from _forget_attempts()
    return report


def _forget_attempts() -> Script[None]:
    """Attempts of jobs that are gone: a step that ends a job of a process leaves them, so that it costs nothing."""
    for _ in range(_FORGET_ROUNDS):
        rows = yield from ask_for("find_lost_attempts", [limits.PAGE_MAX])
        yield from ask_for("delete_attempts", [row[0] for row in rows])
        if len(rows) < limits.PAGE_MAX:
            break


def _put_states_right(now: int) -> Script[int]:
    wrong = job_rows((yield from ask_for("find_wrong_states", [limits.PAGE_MAX])))
    held = yield from lock_jobs(job.key for job in wrong)
    for job in held.values():
        place_in_line(job, now)
    yield from write_jobs(list(held.values()))
    return len(held)


def _release_stuck(now: int) -> Script[int]:
    """AWAITING jobs whose parents have ended without telling them."""
    links = yield from ask_for("find_stuck_children", [limits.PAGE_MAX])
    children = yield from lock_jobs(row[0] for row in links)
    doomed: dict[int, End] = {}
    resolved: list[dict[str, int]] = []
    for child, parent, either, state in links:
        if child not in children or not parent:
            continue
        match effect_of(state, either=bool(either)):
            case Effect.DOOMED:
                doomed[child] = End(children[child], JobState.DELETED, doom_reason(parent, ""))
            case Effect.RESOLVED:
                resolved.append({"child": child, "parent": parent})
            case Effect.WAITS:
                pass
    yield from ask_for("resolve", resolved)
    free = [job for key, job in sorted(children.items()) if key not in doomed]
    yield from release_children(free, now)
    yield from end_jobs([doomed[key] for key in sorted(doomed)], now)
    return len({row[0] for row in links})


def _count_members_again() -> Script[int]:
    """Batches whose counts are not those of their members. Those that succeeded are what the others leave."""
    found = yield from ask_for("find_miscounted_batches", [limits.PAGE_MAX])
    batches = yield from lock_batches(row[0] for row in found)
    for key, alive, failed in (yield from ask_for("count_members", sorted(batches))):
        batch = batches[key]
        batch.failed = failed
        batch.total = max(batch.total, alive + failed + batch.deleted)
        batch.succeeded = batch.total - alive - failed - batch.deleted
    yield from write_batches(batches.values())
    return len(batches)


def _count_batches_again(now: int) -> Script[int]:
    """Batches that ought to be finished."""
    found = yield from ask_for("find_stuck_batches", [limits.PAGE_MAX])
    batches = yield from lock_batches(row[0] for row in found)
    counts: Counts = {}
    for batch in batches.values():
        if batch.state == JobBatchState.SEALED and batch.is_final:
            counts[batch.key] = Counter()
    yield from write_batches(batches.values())
    yield from end_jobs([], now, counts)
    return len(batches)


def _let_try() -> Script[int]:
    """Limits that have slots free and a line, but nobody who tries."""
    rows = yield from ask_for("find_idle_limits", [limits.PAGE_MAX])
    yield from unpark({row[0]: row[1] for row in rows})
    return len(rows)
