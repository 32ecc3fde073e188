"""The statements of the queue's scripts about jobs and their archive, on dictionaries: each is what its SQL is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from procession.jobs.kinds import JobState
from procession.jobs.options import Trait
from procession.store.memory._lines import Entry, first_of
from procession.store.memory._queue_tables import Archived, Extra, QueueTables
from procession.store.rows import StoredJob

Rows = list[Any]
Statement = Callable[..., Rows]

WAITING: Final = (JobState.READY, JobState.SCHEDULED, JobState.AWAITING, JobState.THROTTLED)


def read_jobs(q: QueueTables, keys: Rows) -> Rows:
    return [q.row(key) for key in keys if key in q.tables.jobs]


def insert_jobs(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        if row["key"] in q.tables.jobs:
            continue
        running = row["owner"] is not None
        job = StoredJob(
            key=row["key"],
            kind=row["kind"],
            state=row["state"],
            queue=row["queue"],
            type=row["type"],
            instance=0,
            element_instance=0,
            element="",
            definition=0,
            priority=row["priority"],
            run_at=row["run_at"],
            attempt=int(running),
            retries=row["retries"],
            lease=int(running),
            owner=row["owner"] or 0,
            error="",
            created_at=row["created_at"],
            args=row["args"].encode(),
            tenant=row["tenant"] or "",
        )
        extra = Extra(
            traits=row["traits"] or 0,
            options=row["options"],
            batch=row["batch"] or 0,
            deadline_at=row["deadline_at"] or 0,
            waits_for=row["waits_for"] or "",
        )
        q.put(q.tables.jobs, job.key, job)
        q.put(q.extras, job.key, extra)
        q.change_job(job.key)
    return []


def update_jobs(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        q.change_job(
            row["key"],
            state=JobState(row["state"]),
            run_at=row["run_at"],
            priority=row["priority"],
            attempt=row["attempt"],
            retries=row["retries"],
            crashes=row["crashes"],
            error=row["error"] or "",
            owner=0,
        )
        q.change_extra(row["key"], waits_for=row["waits_for"] or "", ended_at=row["ended_at"] or 0)
    return []


def refresh_jobs(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        q.change_job(row["key"], args=row["args"].encode(), type=row["type"], queue=row["queue"])
        q.change_extra(row["key"], options=row["options"], traits=row["traits"], deadline_at=row["deadline_at"] or 0)
    return []


def refresh_args(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        q.change_job(row["key"], args=row["args"].encode())
    return []


def archive_jobs(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        job = msgspec.structs.replace(q.tables.jobs[row["key"]], state=JobState(row["state"]), error=row["error"] or "")
        job.owner = 0
        extra = q.beyond(job.key)
        left = Extra(
            options=extra.options, batch=extra.batch, progress=extra.progress, progress_text=extra.progress_text
        )
        kept = Archived(job, left, row["ended_at"], row["expires_at"], (row["output"] or "").encode())
        q.put(q.archive, job.key, kept)
    return []


def delete_jobs(q: QueueTables, keys: Rows) -> Rows:
    for key in keys:
        q.remove_job(key)
    return []


def find_archived(q: QueueTables, keys: Rows) -> Rows:
    rows = [q.archive[key] for key in keys if key in q.archive]
    return [(row.job.key, int(row.job.state), row.job.type, row.job.error, row.output) for row in rows]


def mark_parents(q: QueueTables, keys: Rows) -> Rows:
    for key in keys:
        if key in q.tables.jobs:
            q.change_extra(key, traits=q.beyond(key).traits | Trait.PARENT)
    return []


def close_run(q: QueueTables, keys: Rows, lease: int) -> Rows:
    closed: Rows = []
    for key in keys:
        job = q.tables.jobs.get(key)
        if job is not None and job.state == JobState.RUNNING and job.lease == lease:
            q.remove_job(key)
            closed.append((key,))
    return closed


def set_deadlines(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        q.change_extra(row["key"], deadline_at=row["deadline_at"] or 0)
    return []


def cancel_runs(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        q.change_extra(row["key"], cancel_reason=row["reason"], traits=row["traits"])
    return []


def report_runs(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        changes: dict[str, Any] = {name: row[name] for name in ("progress", "progress_text") if row[name] is not None}
        if row["checkpoint"] is not None:
            changes["checkpoint"] = row["checkpoint"].encode()
        if row["traits"] is not None:
            changes["traits"] = row["traits"]
        q.change_extra(row["key"], **changes)
    return []


# -- runs and claims ---------------------------------------------------------------------------------------------------


def find_lost_runs(q: QueueTables, limit: Rows) -> Rows:
    lost = [job for job in q.jobs_in(JobState.RUNNING) if q.beyond(job.key).traits]
    return [q.row(job.key) for job in lost if job.owner not in q.tables.nodes][: limit[0]]


def find_runs_of(q: QueueTables, node: Rows) -> Rows:
    runs = [job for job in q.jobs_in(JobState.RUNNING) if q.beyond(job.key).traits]
    return [q.row(job.key) for job in runs if job.owner == node[0]]


def find_expired(q: QueueTables, limit: Rows, now: int) -> Rows:
    over = [job.key for job in q.jobs_in(*WAITING) if 0 < q.beyond(job.key).deadline_at <= now]
    over.sort(key=lambda key: (q.beyond(key).deadline_at, key))
    return [q.row(key) for key in over[: limit[0]]]


def start_jobs(q: QueueTables, keys: Rows, node: int) -> Rows:
    for key in keys:
        job = q.tables.jobs[key]
        q.change_job(key, state=JobState.RUNNING, owner=node, lease=job.lease + 1, attempt=job.attempt + 1)
    return []


def read_claimed(q: QueueTables, keys: Rows) -> Rows:
    return [(key, q.tables.jobs[key]) for key in keys]


def throttled_levels(q: QueueTables, queues: Rows, now: int) -> Rows:
    return [
        (queue, priority)
        for queue in queues
        if (0, queue) not in q.pauses
        for priority in q.lines.priorities_of(queue)
        if q.lines.first_due(queue, priority, 1, now, q.is_paused)
    ]


def find_throttled(q: QueueTables, claims: Rows, priority: int, count: int, now: int) -> Rows:
    passed = _passed_over(q, claims[0]["strangers"])
    return [q.row(job.key) for job in q.lines.first_due(claims[0]["queue"], priority, count, now, passed)]


def find_next(q: QueueTables, claims: Rows, count: int) -> Rows:
    queue, passed = claims[0]["queue"], _passed_over(q, claims[0]["strangers"])
    heap = q.tables.ready.get(queue, [])
    ready = first_of(heap, count, lambda entry: _ready_at(q, queue, entry), lambda _: True, passed)
    return [(job.priority, job.run_at, job.key) for job in ready]


def find_limited(q: QueueTables, limit: Rows) -> Rows:
    waiting = sorted(q.jobs_in(JobState.THROTTLED), key=_claim_order)
    return [q.row(job.key) for job in waiting[: limit[0]]]


def find_parked(q: QueueTables, key: Rows, count: int) -> Rows:
    return [(job.key, job.queue) for job in q.lines.first_for(key[0], count)]


def unpark(q: QueueTables, keys: Rows) -> Rows:
    for key in keys:
        q.change_extra(key, waits_for="")
    return []


def first_in_line(q: QueueTables, queue: Rows, priority: int) -> Rows:
    line = [job for job in q.jobs_in(JobState.READY) if job.queue == queue[0] and job.priority == priority]
    return [(min(job.run_at for job in line),)] if line else []


# -- what is shown -----------------------------------------------------------------------------------------------------


def job_details(q: QueueTables, keys: Rows) -> Rows:
    return [_details(q.tables.jobs[key], q.beyond(key)) for key in keys if key in q.tables.jobs]


def archived_details(q: QueueTables, keys: Rows) -> Rows:
    rows = [q.archive[key] for key in keys if key in q.archive]
    return [_details(row.job, row.extra, row.ended_at, row.output) for row in rows]


def canceled_runs(q: QueueTables, node: Rows) -> Rows:
    return [
        (job.key, job.lease, q.beyond(job.key).cancel_reason)
        for job in q.jobs_in(JobState.RUNNING)
        if job.owner == node[0] and q.beyond(job.key).cancel_reason is not None
    ]


def count_queues(q: QueueTables, _: Rows) -> Rows:
    counts: dict[tuple[str, int], int] = {}
    for job in q.tables.jobs.values():
        counts[job.queue, int(job.state)] = counts.get((job.queue, int(job.state)), 0) + 1
    return [(queue, state, count) for (queue, state), count in counts.items()]


def oldest_ready(q: QueueTables, queues: Rows, now: int) -> Rows:
    oldest: dict[str, int] = {}
    for job in q.tables.jobs.values():
        in_line = job.state == JobState.THROTTLED and not q.beyond(job.key).waits_for and job.run_at <= now
        if job.state == JobState.READY or in_line:
            oldest[job.queue] = min(oldest.get(job.queue, job.run_at), job.run_at)
    return [(queue, oldest.get(queue)) for queue in queues]


def find_expired_archive(q: QueueTables, limit: Rows, now: int) -> Rows:
    needed = {link.parent for link in q.links.values()}
    over = [row for row in q.archive.values() if row.expires_at <= now and row.job.key not in needed]
    over.sort(key=lambda row: (row.expires_at, row.job.key))
    return [(row.job.key,) for row in over[: limit[0]]]


def delete_archived(q: QueueTables, keys: Rows) -> Rows:
    for key in keys:
        q.drop(q.archive, key)
    return []


def _ready_at(q: QueueTables, queue: str, entry: Entry) -> StoredJob | None:
    job = q.tables.jobs.get(entry[2])
    if job is None or job.state != JobState.READY or job.queue != queue:
        return None
    return job if _claim_order(job) == entry else None


def _passed_over(q: QueueTables, strangers: Sequence[str]) -> Callable[[StoredJob], bool]:
    """What a claim leaves out: paused types, and those that have no handler where it is for."""
    return (lambda job: q.is_paused(job) or job.type in strangers) if strangers else q.is_paused


def _claim_order(job: StoredJob) -> tuple[int, int, int]:
    return -job.priority, job.run_at, job.key


def _details(job: StoredJob, extra: Extra, ended_at: int = 0, output: bytes = b"") -> tuple[Any, ...]:
    return (
        job.key,
        int(job.kind),
        int(job.state),
        job.queue,
        job.type,
        job.instance,
        job.priority,
        job.run_at,
        job.attempt,
        job.retries,
        job.crashes,
        job.lease,
        job.owner,
        job.error,
        job.created_at,
        ended_at or extra.ended_at,
        job.args,
        output,
        extra.options,
        extra.traits,
        extra.progress,
        extra.progress_text,
        extra.checkpoint,
        extra.cancel_reason,
        extra.waits_for,
        job.tenant,
    )


STATEMENTS: Final[dict[str, Statement]] = {
    "read_jobs": read_jobs,
    "lock_jobs": read_jobs,
    "lock_runs": read_jobs,
    **{
        each.__name__: each
        for each in (
            *(insert_jobs, update_jobs, refresh_jobs, refresh_args, archive_jobs, delete_jobs, find_archived),
            *(mark_parents, close_run, set_deadlines, cancel_runs, report_runs, find_lost_runs, find_runs_of),
            *(find_expired, start_jobs, read_claimed, throttled_levels, find_throttled, find_next, find_limited),
            *(find_parked, unpark, first_in_line, job_details, archived_details, canceled_runs),
            *(count_queues, oldest_ready, find_expired_archive, delete_archived),
        )
    },
}
