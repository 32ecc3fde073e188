"""Leases: enqueue, claim, finish, promote, leave, rescue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from procession.jobs.kinds import JobState
from procession.store._shared.bulk import BULK_MIN
from procession.store._shared.queue.claiming import rest_of
from procession.store._shared.queue.settling import with_lost
from procession.store._shared.refusals import clean_text
from procession.store._shared.texts import crash_error
from procession.store.rows import Claimed, ClaimedJob, JobAdjustment, JobEnd, JobFence, JobOutcome, NewJob, Rescue, Want
from procession.store.sqlite._queue import claim_throttled, rescue_runs, settle_runs
from procession.store.sqlite._session import Session, as_json


class _Ready(msgspec.Struct, array_like=True, gc=False):
    """A row of ``find_ready_jobs``."""

    key: int
    lease: int
    kind: int
    queue: str
    type: str
    instance: int
    element_instance: int
    element: str
    definition: int
    priority: int
    attempt: int
    retries: int
    args: str
    tenant: str
    options: str
    checkpoint: str
    crashes: int


_Shared = tuple[int, int, int, int, int, str, str, str]  # what jobs of a bulk have in common

# Plain numbers: for a value of a subclass of int sqlite3 looks for an adapter first, which costs more than the bind.
_READY, _RUNNING, _SCHEDULED, _FAILED = map(
    int, (JobState.READY, JobState.RUNNING, JobState.SCHEDULED, JobState.FAILED)
)

_decode_ready = msgspec.json.Decoder(list[_Ready]).decode
_decode_due = msgspec.json.Decoder(list[tuple[int, str]]).decode


def insert_jobs(session: Session, jobs: Sequence[NewJob]) -> None:
    """Insert jobs whose keys must be new."""
    if jobs:
        now = session.now
        session.insert("insert_jobs", [_row(job, now) for job in jobs])


def enqueue_bulks(session: Session, bulks: Sequence[Sequence[NewJob]]) -> list[None]:
    """Insert jobs that are alike within their bulk, of no process and leased to nobody, unless they are there."""
    for jobs in bulks:
        pairs: list[int | str] = [0] * (2 * len(jobs))
        pairs[::2] = [job.key for job in jobs]
        pairs[1::2] = [job.args.decode() for job in jobs]
        session.insert_pairs("insert_like_jobs", _bound(_shared(jobs[0]), session.now), pairs)
    return [None] * len(bulks)


def enqueue_jobs(session: Session, jobs: Sequence[NewJob]) -> list[None]:
    """Insert jobs that are not there yet, sorted by what they share: several callers' come together."""
    now = session.now
    alike: dict[_Shared, list[int | str]] = {}
    other: list[tuple[object, ...]] = []
    for job in jobs:
        if not is_plain(job):
            other.append(_row(job, now))
            continue
        shared = _shared(job)
        pairs = alike.get(shared)
        if pairs is None:
            pairs = alike[shared] = []
        pairs.append(job.key)
        pairs.append(job.args.decode())
    single: list[tuple[object, ...]] = []
    for shared, pairs in alike.items():
        bound = _bound(shared, now)
        if len(pairs) >= 2 * BULK_MIN:
            session.insert_pairs("insert_like_jobs", bound, pairs)
        else:
            single += [(key, *bound, args) for key, args in zip(pairs[::2], pairs[1::2], strict=True)]
    session.insert("insert_plain_jobs", single)
    session.insert("insert_jobs_once", other)
    return [None] * len(jobs)


def is_plain(job: NewJob) -> bool:
    """Whether it is no process's and leased to nobody: what bulk statements insert."""
    return not (job.owner or job.instance or job.element_instance or job.definition or job.element)


def _shared(job: NewJob) -> _Shared:
    return (job.kind, job.priority, job.run_at, job.delay_ms, job.retries, job.queue, job.type, job.tenant)


def _bound(shared: _Shared, now: int) -> tuple[object, ...]:
    """The values of insert_like_jobs.sql that its rows share."""
    kind, priority, run_at, delay_ms, retries, queue, type_, tenant = shared
    due = run_at or now + delay_ms
    return int(kind), _SCHEDULED if due > now else _READY, priority, due, retries, now, queue, type_, tenant


def claim_jobs(session: Session, node: int, wants: Sequence[Want]) -> Claimed:
    """Lease limited jobs that may start, and ready ones."""
    limited = claim_throttled(session, node, wants)
    ready = _claim_ready(session, node, rest_of(wants, limited))
    return Claimed([*limited, *ready], limited.held_back, is_partial=limited.is_partial)


def _claim_ready(session: Session, node: int, wants: Sequence[Want]) -> list[ClaimedJob]:
    """Lease ready jobs, by priority and age within each queue."""
    found: list[_Ready] = []
    local: list[int] = []
    for want in wants:
        if want.count <= 0:
            continue
        ready = _find_ready(session, want)
        found += ready
        if want.lease_ms:
            session.for_keys("lease_jobs_remotely", [job.key for job in ready], until=session.now + want.lease_ms)
        else:
            local += [job.key for job in ready]
    session.for_keys("lease_jobs", local, node=node)
    return [
        ClaimedJob(
            key=job.key,
            lease=job.lease,
            kind=job.kind,
            queue=job.queue,
            type=job.type,
            instance=job.instance,
            element_instance=job.element_instance,
            element=job.element,
            definition=job.definition,
            priority=job.priority,
            attempt=job.attempt,
            retries=job.retries,
            args=job.args.encode(),
            tenant=job.tenant,
            options=job.options.encode(),
            checkpoint=job.checkpoint.encode(),
            crashes=job.crashes,
        )
        for job in found
    ]


def finish_jobs(session: Session, outcomes: Sequence[JobOutcome]) -> list[bool]:
    """End runs whose leases are held; of several ends of one run the first counts."""
    if not outcomes:
        return []
    held = session.pairs("find_leases", [outcome.key for outcome in outcomes])
    answers: list[bool] = []
    done: list[int] = []
    others: list[dict[str, object]] = []
    rest: list[JobOutcome] = []
    for outcome in outcomes:
        is_held = held.get(outcome.key) == outcome.lease and outcome.end != JobEnd.CANCELED and not outcome.keep_ms
        answers.append(is_held)
        if not is_held:
            rest.append(outcome)
            continue
        del held[outcome.key]
        if outcome.end == JobEnd.DONE:
            done.append(outcome.key)
        else:
            others.append(_end_of_run(outcome, session.now))
    session.for_keys("delete_jobs", done)
    session.for_each("end_runs", others)
    return _with_rest(answers, settle_runs(session, rest)) if rest else answers


def _with_rest(answers: list[bool], rest: list[bool]) -> list[bool]:
    """The answers of the hot path, and in the place of each that it did not give the one of the long way."""
    following = iter(rest)
    return [answer or next(following) for answer in answers]


def adjust_jobs(session: Session, changes: Sequence[JobAdjustment]) -> list[bool]:
    """Change jobs where they are."""
    return [
        session.value(
            "adjust_job",
            now=session.now,
            key=change.key,
            lease=change.lease,
            lease_ms=change.lease_ms,
            retries=change.retries,
            priority=change.priority,
        )
        is not None
        for change in changes
    ]


def close_jobs(session: Session, fences: Sequence[JobFence]) -> set[int]:
    """Delete jobs whose leases are held: which."""
    if not fences:
        return set()
    held = session.pairs("find_leases", [fence.key for fence in fences])
    closed = {fence.key for fence in fences if held.get(fence.key) == fence.lease}
    session.for_keys("delete_jobs", sorted(closed))
    return closed


def promote_jobs(session: Session, limit: int) -> tuple[list[str], int]:
    """Make due jobs ready."""
    due = _decode_due(session.value("find_due_jobs", now=session.now, limit=limit))
    session.for_keys("make_jobs_ready", [key for key, _ in due])
    limited = session.rows("find_throttled_queues", now=session.now)
    queues = {queue for _, queue in due} | {queue for (queue,) in limited}
    return sorted(queues), session.value("find_next_due", now=session.now)


def rescue_jobs(session: Session, dead_after_ms: int, limit: int, crash_budget: int, backoff_ms: int) -> Rescue:
    """Give back the jobs of nodes that are dead or unknown."""
    dead = session.rows("remove_dead_nodes", beat_at=session.now - dead_after_ms)
    rescue = Rescue(nodes=sorted(node for (node,) in dead))
    woken: set[str] = set()
    changes: list[dict[str, object]] = []
    for key, queue, crashes in session.rows("find_lost_jobs", limit=limit):
        state, run_at, error = _READY, None, ""
        if crashes > crash_budget:
            state, error = _FAILED, crash_error(crashes)
            rescue.failed.append(key)
        elif crashes > 1 and backoff_ms > 0:
            state, run_at = _SCHEDULED, session.now + backoff_ms
        else:
            woken.add(queue)
        ended_at = session.now if state == _FAILED else None
        changes.append({"key": key, "state": state, "run_at": run_at, "error": error, "ended_at": ended_at})
    session.for_each("rescue_job", changes)
    rescue.jobs = len(changes)
    rescue.woken = sorted(woken)
    return with_lost(rescue, rescue_runs(session, limit, crash_budget, backoff_ms))


def _find_ready(session: Session, want: Want) -> list[_Ready]:
    if want.tenants is None:
        strangers = as_json(want.strangers)
        found = session.value("find_ready_jobs", queue=want.queue, count=want.count, strangers=strangers)
        return _decode_ready(found)
    tenants = as_json(want.tenants)
    found = session.value("find_ready_jobs_of_tenants", queue=want.queue, count=want.count, tenants=tenants)
    return _decode_ready(found)


def _row(job: NewJob, now: int) -> tuple[object, ...]:
    run_at = job.run_at or now + job.delay_ms
    if job.owner:
        state, ran = _RUNNING, 1
    else:
        state, ran = (_SCHEDULED if run_at > now else _READY), 0
    return (
        job.key,
        int(job.kind),
        state,
        job.priority,
        run_at,
        ran,
        job.retries,
        ran,
        job.owner,
        job.instance,
        job.element_instance,
        job.definition,
        now,
        job.queue,
        job.type,
        job.element,
        job.tenant,
        job.args,
    )


def _end_of_run(outcome: JobOutcome, now: int) -> dict[str, object]:
    end = outcome.end
    uses_attempt = end in (JobEnd.RETRY, JobEnd.FAILED)
    values: dict[str, Any] = {
        "key": outcome.key,
        "state": _READY,
        "run_at": None,
        "now": now,
        "attempt_change": 0 if uses_attempt else -1,
        "retries": -1,
        "clear_crashes": end != JobEnd.RELEASE,
        "error": clean_text(outcome.error),
        "ended_at": now if end == JobEnd.FAILED else None,
    }
    if uses_attempt:
        values["retries"] = outcome.retries if outcome.retries >= 0 else -2
    if end == JobEnd.FAILED:
        values["state"] = _FAILED
    elif end != JobEnd.RELEASE:
        values["run_at"] = now + outcome.delay_ms
        values["state"] = _SCHEDULED if outcome.delay_ms > 0 else _READY
    return values
