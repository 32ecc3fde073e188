"""A job becomes final, and all that follows: its archive row, its keys and slots, its children, its batches.

What follows may end other jobs (a deleted parent dooms its children) and finish batches, which again are what others
come after. That is done level by level, in one transaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from procession import limits
from procession.jobs.flows import Effect, effect_of
from procession.jobs.kinds import JobState
from procession.jobs.options import Trait, due_of, keep_ms_of
from procession.jobs.transitions import waiting_state
from procession.store._shared.queue.rows import (
    BatchRow,
    JobRow,
    key_of,
    lock_batches,
    lock_jobs,
    write_batches,
    write_jobs,
)
from procession.store._shared.queue.script import Script, ask_for
from procession.store._shared.refusals import clean_text
from procession.store.rows.queue import JobBatchState

Counts = dict[int, Counter[str]]  # batch -> what its counts change by
_WAS_DELETED: Final = ", which it comes after, was deleted"
_COUNTED: Final = {JobState.SUCCEEDED: "succeeded", JobState.FAILED: "failed", JobState.DELETED: "deleted"}


class End(msgspec.Struct):
    """A job that is held, and the final state that it gets. ``job.state`` is the state before."""

    job: JobRow
    state: JobState
    error: str = ""
    output: bytes = b""
    keep_ms: int = 0  # its row is kept at least so long


class Ended(msgspec.Struct):
    """What others come after and has ended: a job or a batch of jobs."""

    state: JobState
    reason: str = ""
    is_batch: bool = False


def end_jobs(ends: Sequence[End], now: int, counts: Counts | None = None) -> Script[set[str]]:
    """Write the ends and what follows; the queues that got jobs to claim. ``counts``: other changes to batches."""
    woken: set[str] = set()
    counts = counts if counts is not None else {}
    parents: dict[int, Ended] = {}
    for _ in range(limits.DOOM_DEPTH_MAX):
        if ends:
            woken |= yield from _write_ends(ends, now)
            parents |= {end.job.key: Ended(end.state, end.error) for end in ends if end.job.has(Trait.PARENT)}
            for end in ends:
                count_end(counts, end)
        parents |= yield from count_members(counts, now)
        counts = {}
        if not parents:
            break
        released, ends = yield from _resolve(parents, now)
        woken |= released
        parents = {}
        if not ends:
            break
    return woken


def count_end(counts: Counts, end: End) -> None:
    """Count a member's end; one that was FAILED is final in another way now."""
    if end.job.batch:
        change = counts.setdefault(end.job.batch, Counter())
        change[_COUNTED[end.state]] += 1
        if end.job.state == JobState.FAILED:
            change["failed"] -= 1


def count_members(counts: Mapping[int, Counter[str]], now: int) -> Script[dict[int, Ended]]:
    """Change the counts of batches, and finish those whose members are all final, up to the outermost."""
    finished: dict[int, Ended] = {}
    for _ in range(limits.BATCH_DEPTH_MAX):
        if not counts:
            break
        above: Counts = {}
        batches = yield from lock_batches(counts)
        for batch in batches.values():
            before = outcome_of(batch) if batch.state == JobBatchState.FINISHED else None
            _add(batch, counts[batch.key])
            outcome = outcome_of(batch) if batch.state != JobBatchState.OPEN and batch.is_final else None
            if outcome == before:
                continue
            above.setdefault(batch.parent, Counter()).update(_change_of(before, outcome))
            if outcome is None:  # a failed member starts over
                batch.state, batch.finished_at = JobBatchState.SEALED, 0
                continue
            batch.state, batch.finished_at = JobBatchState.FINISHED, batch.finished_at or now
            finished[batch.key] = Ended(outcome, is_batch=True)
        yield from write_batches(batches.values())
        above.pop(0, None)
        counts = above
    return finished


def _add(batch: BatchRow, change: Mapping[str, int]) -> None:
    for name, more in change.items():
        setattr(batch, name, getattr(batch, name) + more)


def _change_of(before: JobState | None, after: JobState | None) -> dict[str, int]:
    """What the counts of a batch change by when a member's outcome does, which is None while it is not over."""
    changes = ((before, -1), (after, 1))
    return {_COUNTED[state]: change for state, change in changes if state is not None}


def outcome_of(batch: BatchRow) -> JobState:
    """A finished batch as something that others come after. What was deleted is never made good, what failed may be."""
    if batch.deleted:
        return JobState.DELETED
    return JobState.FAILED if batch.failed else JobState.SUCCEEDED


def free_slots(jobs: Iterable[JobRow]) -> Script[set[str]]:
    """Free what the runs of limited jobs held, and let as many try next; their queues."""
    limited = [job for job in jobs if job.has(Trait.LIMITED)]
    keys = sorted(job.key for job in limited)
    tries = Counter[str](row[0] for row in (yield from ask_for("slots_of", keys)))
    if tries:
        yield from ask_for("free_slots", keys)
    for job in limited:  # one that was in line for a slot leaves the line: the next one tries
        if job.state == JobState.THROTTLED and not job.waits_for:
            tries.update(limit.key for limit in job.options.limits)
    return (yield from unpark(tries))


def unpark(tries: Mapping[str, int]) -> Script[set[str]]:
    """Let so many of those that wait for a slot of a limit try next; their queues."""
    keys: list[int] = []
    queues: set[str] = set()
    for key, count in sorted(tries.items()):
        for job, queue in (yield from ask_for("find_parked", [key], count)):
            keys.append(job)
            queues.add(queue)
    yield from ask_for("unpark", sorted(keys))
    return queues


def put_back(jobs: Sequence[JobRow], now: int) -> Script[set[str]]:
    """Let held jobs wait for their ``run_at``, their limits and a worker; the queues that got jobs to claim."""
    woken = yield from free_slots(jobs)
    for job in jobs:
        place_in_line(job, now)
        if job.state != JobState.SCHEDULED:
            woken.add(job.queue)
    yield from write_jobs(jobs)
    return woken


def place_in_line(job: JobRow, now: int) -> None:
    """The state of a job that waits for nothing but its time, its limits and a worker."""
    job.state = waiting_state(job.traits, due=job.run_at <= now)
    job.waits_for = ""
    if job.state == JobState.READY and job.has(Trait.AGEING):
        job.priority, job.run_at = due_of(job.options, job.run_at)


def _write_ends(ends: Sequence[End], now: int) -> Script[set[str]]:
    woken = yield from free_slots(end.job for end in ends)
    failed: list[JobRow] = []
    gone: list[End] = []
    for end in ends:
        if end.state == JobState.FAILED:
            job = msgspec.structs.replace(end.job, state=JobState.FAILED, ended_at=now, waits_for="")
            job.error = clean_text(end.error) or job.error
            failed.append(job)
        else:
            gone.append(end)
    yield from write_jobs(failed)
    yield from _archive(gone, now)
    unique = [end.job.key for end in ends if end.job.has(Trait.UNIQUE) and end.job.state != JobState.FAILED]
    yield from ask_for("free_unique", sorted(unique), now)
    yield from ask_for("drop_dependencies", sorted(end.job.key for end in gone if end.job.has(Trait.CHILD)))
    return woken


def _archive(gone: Sequence[End], now: int) -> Script[None]:
    kept: list[dict[str, object]] = []
    lost: list[int] = []
    for end in sorted(gone, key=_job_key):
        job, options = end.job, end.job.options
        keep_ms = max(keep_ms_of(options, job.traits), end.keep_ms)
        if end.state == JobState.DELETED:
            keep_ms = max(keep_ms, limits.DELETED_KEPT_MS)
        if not keep_ms:
            lost.append(job.key)
            continue
        with_output = end.output and (options.output or job.has(Trait.PARENT))
        kept.append(
            {
                "key": job.key,
                "state": int(end.state),
                "ended_at": now,
                "expires_at": now + keep_ms,
                "error": clean_text(end.error) or job.error or None,
                "output": end.output.decode() if with_output else None,
            }
        )
    yield from ask_for("archive_jobs", kept)
    yield from ask_for("delete_jobs", sorted(key_of(end.job) for end in gone))
    yield from ask_for("delete_logs", lost)
    tried = [end.job.key for end in gone if end.job.has(Trait.TRIED)]
    yield from ask_for("delete_attempts", sorted(set(tried).intersection(lost)))


def _job_key(end: End) -> int:
    return end.job.key


def _resolve(parents: Mapping[int, Ended], now: int) -> Script[tuple[set[str], list[End]]]:
    """What the ends of parents do to their children: the queues of those released, and those that are doomed."""
    links = yield from ask_for("dependents", sorted(parents))
    children = yield from lock_jobs(child for child, _, _ in links)
    resolved: list[dict[str, int]] = []
    doomed: dict[int, End] = {}
    for child, parent, either in links:
        ended, job = parents[parent], children.get(child)
        match effect_of(ended.state, either=bool(either)):
            case Effect.RESOLVED:
                resolved.append({"child": child, "parent": parent})
            case Effect.DOOMED if job is not None and job.state == JobState.AWAITING:
                doomed[child] = End(job, JobState.DELETED, doom_reason(parent, ended.reason, is_batch=ended.is_batch))
            case _:
                pass
    yield from ask_for("resolve", resolved)
    touched = {row["child"] for row in resolved} - doomed.keys()
    woken = yield from release_children([children[key] for key in sorted(touched) if key in children], now)
    return woken, [doomed[key] for key in sorted(doomed)]


def release_children(children: Sequence[JobRow], now: int) -> Script[set[str]]:
    """Let held jobs go that wait for no parent any more; the queues that got jobs to claim."""
    waiting = {row[0] for row in (yield from ask_for("unresolved", sorted(job.key for job in children)))}
    released = [job for job in children if job.state == JobState.AWAITING and job.key not in waiting]
    for job in released:
        job.run_at = max(job.run_at, now)
    return (yield from put_back(released, now)) if released else set()


def doom_reason(parent: int, reason: str, *, is_batch: bool = False) -> str:
    """Why a child is deleted: who it comes after, and what was the matter with the first of those in a row."""
    if is_batch:
        return f"Batch {parent}, which it comes after, has jobs that were deleted"
    head, found, first = reason.partition(_WAS_DELETED)
    if found and head.removeprefix("Job ").isdigit():
        reason = first.removeprefix(": ")
    return f"Job {parent}{_WAS_DELETED}" + (f": {reason}" if reason else "")
