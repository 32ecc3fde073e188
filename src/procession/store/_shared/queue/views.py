"""What is only read: one job, logs, counts, limits, batches. Statements and how their rows are turned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from procession import limits as limits_of
from procession.jobs.kinds import JobState
from procession.store._shared.queue.listing import details
from procession.store._shared.queue.rows import read_limits
from procession.store._shared.queue.script import Script, as_bytes, ask_for
from procession.store.rows.queue import CanceledRun, JobBatchState, Pause
from procession.store.rows.queue_reading import (
    JobDetails,
    ParentResult,
    QueueStats,
    StatRow,
    StoredAttempt,
    StoredJobBatch,
    StoredLimit,
    StoredLogLine,
)


def job(key: int) -> Script[JobDetails | None]:
    """One job, in the queue or in the archive."""
    return (yield from details([key])).get(key)


def log(key: int, after: int, limit: int) -> Script[list[StoredLogLine]]:
    """The lines of a job's log."""
    rows = yield from ask_for("list_log", [key], after, limit)
    return [StoredLogLine(job=row[0], number=row[1], at=row[2], level=row[3], text=row[4]) for row in rows]


def attempts(key: int) -> Script[list[StoredAttempt]]:
    """The attempts of a job that failed."""
    rows = yield from ask_for("list_attempts", [key])
    return [StoredAttempt(**dict(zip(StoredAttempt.__struct_fields__, row, strict=True))) for row in rows]


def attempts_of(instance: int, limit: int) -> Script[list[StoredAttempt]]:
    """The last attempts that failed of all jobs of an instance, in order."""
    rows = yield from ask_for("attempts_of_instance", [{"instance": instance, "limit": limit}])
    return [StoredAttempt(**dict(zip(StoredAttempt.__struct_fields__, row, strict=True))) for row in reversed(rows)]


def canceled_runs(node: int) -> Script[list[CanceledRun]]:
    """Jobs leased to a node that somebody wants to end."""
    rows = yield from ask_for("canceled_runs", [node])
    return [CanceledRun(key=row[0], lease=row[1], reason=row[2]) for row in rows]


def parent_results(child: int) -> Script[list[ParentResult]]:
    """What a job comes after, with what that left."""
    keys = sorted(row[0] for row in (yield from ask_for("parents_of", [child])))
    found: dict[int, ParentResult] = {}
    for row in (yield from ask_for("find_archived", keys)):
        found[row[0]] = ParentResult(key=row[0], state=row[1], type=row[2], output=as_bytes(row[4]), error=row[3] or "")
    rest = [key for key in keys if key not in found]
    for row in (yield from ask_for("read_batches", rest)):
        failed = row[1] != JobBatchState.FINISHED or row[5] or row[6]
        state = JobState.FAILED if failed else JobState.SUCCEEDED
        found[row[0]] = ParentResult(key=row[0], state=state, type="")
    for row in (yield from ask_for("read_jobs", [key for key in rest if key not in found])):
        found[row[0]] = ParentResult(key=row[0], state=row[2], type=row[4], error=row[18])
    gone = ParentResult(key=0, state=JobState.SUCCEEDED, type="")
    return [found.get(key) or msgspec.structs.replace(gone, key=key) for key in keys]


def batches(keys: Sequence[int], tenant: str, after: int, limit: int, *, flows: bool) -> Script[list[StoredJobBatch]]:
    """Batches of jobs, newest first."""
    which = {"keys": list(keys), "tenant": tenant, "after": after, "limit": limit}
    return [_batch(row) for row in (yield from ask_for("list_flows" if flows else "list_job_batches", [which]))]


def pauses() -> Script[list[Pause]]:
    """What is paused, by kind and name."""
    rows = yield from ask_for("list_pauses", [0])
    return [Pause(kind=row[0], name=row[1], since=row[2], reason=row[3]) for row in rows]


def queue_stats(now: int) -> Script[list[QueueStats]]:
    """Every queue that has jobs or is paused, by name."""
    found: dict[str, QueueStats] = {}
    most = limits_of.COUNTED_MAX
    for queue, state, count in (yield from ask_for("count_queues", [most + 1])):
        stats = found.setdefault(queue, QueueStats(queue=queue, counts={}))
        stats.counts[state] = min(count, most)
        if count > most:
            stats.beyond.append(state)
    for queue, oldest in (yield from ask_for("oldest_ready", sorted(found), now)):
        found[queue].oldest_at = oldest or 0
    for pause in (yield from pauses()):
        if pause.kind == 0:
            stats = found.setdefault(pause.name, QueueStats(queue=pause.name, counts={}))
            stats.paused, stats.pause_reason, stats.paused_at = True, pause.reason, pause.since
    return [found[queue] for queue in sorted(found)]


def stats(since: int, until: int, queue: str) -> Script[list[StatRow]]:
    """What happened per minute, queue and type."""
    rows = yield from ask_for("list_stats", [{"since": since, "until": until, "queue": queue}])
    return [StatRow(**dict(zip(StatRow.__struct_fields__, row, strict=True))) for row in rows]


def count_limits(most: int) -> Script[int]:
    """How many limits there are, up to a bound."""
    return len((yield from ask_for("list_limits", [{"key": "", "after": "", "limit": most}])))


def limits(key: str, after: str, limit: int) -> Script[list[StoredLimit]]:
    """Limits as they stand, by key."""
    names = [row[0] for row in (yield from ask_for("list_limits", [{"key": key, "after": after, "limit": limit}]))]
    states = yield from read_limits(names)
    waiting = {row[0]: int(row[1]) for row in (yield from ask_for("count_limited", names, limits_of.CANDIDATES_MAX))}
    return [
        StoredLimit(
            key=state.key,
            most=state.most,
            rate=state.rate,
            per_ms=state.per_ms,
            burst=state.burst,
            used=state.used,
            waiting=waiting.get(name, 0),
            reserved_at=-(-max(0, state.reserved_us - state.ahead_us) // 1_000) if state.rate else 0,
        )
        for name in names
        if (state := states.get(name)) is not None
    ]


def _batch(row: Any) -> StoredJobBatch:  # noqa: ANN401 - a row of a statement
    return StoredJobBatch(
        key=row[0],
        state=row[1],
        parent=row[2],
        total=row[3],
        succeeded=row[4],
        failed=row[5],
        deleted=row[6],
        created_at=row[7],
        finished_at=row[8],
        title=row[9],
        tenant=row[10],
        is_flow=bool(row[11]),
    )
