"""What operators and duties do to jobs: delete, cancel, requeue, change a limit, forget what is over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from procession import limits
from procession.errors import Conflict, NotFound
from procession.jobs.kinds import JobKind, JobState
from procession.jobs.options import KEEP_OUTPUT_MS, Trait
from procession.store._shared.queue.ending import Counts, End, end_jobs, place_in_line, put_back
from procession.store._shared.queue.rows import (
    JobRow,
    lock_batches,
    lock_jobs,
    lock_limits,
    read_jobs,
    write_jobs,
)
from procession.store._shared.queue.script import Script, ask_for
from procession.store._shared.refusals import clean_text
from procession.store.rows.queue import Deletion, JobChange

WAITING = frozenset((JobState.READY, JobState.SCHEDULED, JobState.THROTTLED, JobState.AWAITING))
_KEPT_WITHOUT_USE_MS = 24 * 3_600_000  # a limit's row that nobody uses: the next job brings its rule again


class Requeued(msgspec.Struct):
    """What a requeue did."""

    keys: list[int]
    woken: list[str]


class Deleted(msgspec.Struct):
    """What a deletion did, per key, and how many jobs went with those that were deleted."""

    answers: dict[int, Deletion]
    woken: list[str]


def delete_jobs(keys: Sequence[int], reason: str, now: int) -> Script[Deleted]:
    """Delete plain jobs, or have their runs canceled."""
    yield from _lock_around(keys)
    jobs = yield from lock_jobs(keys)
    answers = dict.fromkeys(keys, Deletion.NOT_FOUND)
    ends: list[End] = []
    canceled: list[dict[str, object]] = []
    for key, job in sorted(jobs.items()):
        if job.instance or job.kind != JobKind.TASK:
            continue
        if job.state == JobState.RUNNING:
            answers[key] = Deletion.CANCELING
            traits = job.traits | Trait.CANCELING
            canceled.append({"key": key, "reason": clean_text(reason), "traits": int(traits)})
        else:
            answers[key] = Deletion.DELETED
            ends.append(End(job, JobState.DELETED, clean_text(reason)))
    yield from ask_for("cancel_runs", canceled)
    woken = yield from end_jobs(ends, now)
    return Deleted(answers, sorted(woken))


def requeue_jobs(keys: Sequence[int], retries: int, now: int) -> Script[Requeued]:
    """Let failed jobs start over and scheduled ones go now."""
    yield from _lock_around(keys)
    jobs = yield from lock_jobs(keys)
    chosen = [
        job
        for _, job in sorted(jobs.items())
        if job.kind == JobKind.TASK and not job.instance and job.state in (JobState.FAILED, JobState.SCHEDULED)
    ]
    refused = yield from _take_keys_again([job for job in chosen if job.state == JobState.FAILED and _is_unique(job)])
    chosen = [job for job in chosen if job.key not in refused]
    blocked = {row[0] for row in (yield from ask_for("unresolved", sorted(job.key for job in chosen)))}
    counts: Counts = {}
    for job in chosen:
        if job.state == JobState.FAILED:
            _start_over(job, retries)
            if job.batch:
                counts.setdefault(job.batch, Counter())["failed"] -= 1
        job.run_at = now
        if job.key in blocked:
            job.state = JobState.AWAITING
        else:
            place_in_line(job, now)
    yield from write_jobs(chosen)
    renewed = [_renewed(job, now) for job in chosen if job.deadline_at and job.deadline_at <= now]
    yield from ask_for("set_deadlines", renewed)
    yield from end_jobs([], now, counts)
    return Requeued([job.key for job in chosen], sorted({job.queue for job in chosen}))


def change_jobs(keys: Sequence[int], change: JobChange, now: int) -> Script[Requeued]:
    """Change plain jobs where they wait; those that were."""
    yield from _lock_around(keys)
    jobs = yield from lock_jobs(keys)
    chosen = [job for _, job in sorted(jobs.items()) if _may_change(job, change)]
    is_moved = bool(change.run_at) or change.delay_ms is not None
    moved: list[JobRow] = []
    rest: list[JobRow] = []
    for job in chosen:
        if change.priority is not None:
            job.priority = change.priority
        if change.retries is not None:
            job.retries = change.retries
        if is_moved:
            job.run_at = change.run_at or now + (change.delay_ms or 0)
        (moved if is_moved and job.state != JobState.AWAITING else rest).append(job)
    yield from write_jobs(rest)
    woken = yield from put_back(moved, now)
    return Requeued([job.key for job in chosen], sorted(woken | {job.queue for job in rest}))


def _may_change(job: JobRow, change: JobChange) -> bool:
    """Whether a job waits, and has what is to be changed: one that ages has given its priority up for its place."""
    if job.kind != JobKind.TASK or job.instance or job.state not in WAITING:
        return False
    return not (job.has(Trait.AGEING) and change.priority is not None)


def drop_limit(key: str, now: int) -> Script[None]:
    """Delete a limit that nobody is held by. Raises NotFound, Conflict."""
    del now
    found = yield from lock_limits([key])
    if key not in found:
        raise NotFound(f"Expected a limit with the key {key!r}, found none")
    waiting = sum(int(row[1]) for row in (yield from ask_for("count_limited", [key], limits.CANDIDATES_MAX)))
    if found[key].used or waiting:
        raise Conflict(
            f"Expected limit {key!r} to hold nobody, but {found[key].used} jobs run by it and {waiting} wait"
        )
    yield from ask_for("drop_limits", [key])


def expire_archive(limit: int, now: int) -> Script[int]:
    """Forget archived jobs, batches, unique keys, counts and limits that are over; how many jobs and batches."""
    rows = yield from ask_for("find_expired_archive", [limit], now)
    keys = sorted(row[0] for row in rows)
    yield from ask_for("delete_archived", keys)
    yield from ask_for("delete_logs", keys)
    yield from ask_for("delete_attempts", keys)
    yield from ask_for("expire_unique", [limit], now)
    yield from ask_for("expire_stats", [limit], now - limits.STAT_KEPT_MS)
    yield from ask_for("expire_limits", [limit], (now - _KEPT_WITHOUT_USE_MS) * 1_000)
    return len(keys) + (yield from _expire_batches(limit, now - KEEP_OUTPUT_MS))


def _expire_batches(limit: int, before: int) -> Script[int]:
    """Forget batches, and flows with a title, of which nothing is left; looked at again once they are held."""
    found = [row[0] for row in (yield from ask_for("find_over_batches", [limit], before))]
    if not found:
        return 0
    held = yield from lock_batches(found)
    over = {row[0] for row in (yield from ask_for("find_over_batches", [limit], before))}
    keys = sorted(over & held.keys())
    yield from ask_for("delete_batches", keys)
    return len(keys)


def _lock_around(keys: Sequence[int]) -> Script[None]:
    """Lock what comes before jobs in the order of locks: unique keys, limits, batches."""
    seen = yield from read_jobs(keys)
    unique = sorted(key for key, job in seen.items() if _is_unique(job))
    yield from ask_for("lock_unique_of", unique)
    limited = [job for job in seen.values() if job.has(Trait.LIMITED)]
    yield from lock_limits(limit.key for job in limited for limit in job.options.limits)
    yield from lock_batches(job.batch for job in seen.values() if job.batch)


def _is_unique(job: JobRow) -> bool:
    return job.has(Trait.UNIQUE)


def _take_keys_again(jobs: Sequence[JobRow]) -> Script[set[int]]:
    """Those whose unique key somebody else holds by now; the others hold theirs again."""
    rows = [_unique_row(job) for job in sorted(jobs, key=_tenant_and_key)]
    yield from ask_for("hold_unique", rows)
    found = yield from ask_for("lock_unique", rows)
    holders = {(row[0], row[1]): row[2] for row in found}
    return {job.key for job in jobs if holders.get((job.tenant, _unique_key(job))) != job.key}


def _unique_key(job: JobRow) -> str:
    unique = job.options.unique
    return unique.key if unique is not None else ""


def _unique_row(job: JobRow) -> dict[str, object]:
    return {"tenant": job.tenant, "key": _unique_key(job), "job": job.key, "until": None}


def _tenant_and_key(job: JobRow) -> tuple[str, str]:
    return job.tenant, _unique_key(job)


def _start_over(job: JobRow, retries: int) -> None:
    job.retries = retries or max(1, job.attempt + job.retries)
    job.attempt = job.crashes = 0


def _renewed(job: JobRow, now: int) -> dict[str, object]:
    """A deadline that is over begins anew where it was a time from the insertion, and is dropped where it was not."""
    deadline_ms = job.options.deadline_ms
    return {"key": job.key, "deadline_at": now + deadline_ms if deadline_ms else None}
