"""The statements of the queue's scripts about recurring jobs, and the sweep's looks, on dictionaries."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from procession.jobs.flows import Effect, effect_of
from procession.jobs.kinds import JobState
from procession.jobs.options import Trait
from procession.jobs.transitions import FINAL
from procession.store._shared.queue.ending import outcome_of
from procession.store.memory._queue_jobs import Rows, Statement
from procession.store.memory._queue_tables import QueueTables
from procession.store.rows.queue import JobBatchState

# Places of the columns of a recurring job; its row is a list in the order of lock_recurring.
NEXT_AT, LAST_AT, LAST_JOB, FIRED, VERSION, MISSED, OVERLAP, PAUSED, CYCLE, GROUP, JOB, CREATED_AT, FIRINGS = range(
    2, 15
)


def lock_recurring(q: QueueTables, rows: Rows) -> Rows:
    names = [(row["tenant"], row["name"]) for row in rows]
    return [tuple(q.recurring[name]) for name in names if name in q.recurring]


def add_recurring(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        columns = [row["tenant"], row["name"], row["next_at"], 0, 0, 0, 1, row["missed"], row["overlap"], 0]
        columns += [row["cycle"], row["sync_group"], row["job"], row["created_at"], None]
        q.put(q.recurring, (row["tenant"], row["name"]), columns)
    return []


def change_recurring(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        _change(
            q,
            row,
            {
                NEXT_AT: row["next_at"],
                MISSED: row["missed"],
                OVERLAP: row["overlap"],
                CYCLE: row["cycle"],
                GROUP: row["sync_group"],
                JOB: row["job"],
            },
        )
    return []


def advance_recurring(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        changes = {NEXT_AT: row["next_at"], LAST_AT: row["last_at"], LAST_JOB: row["last_job"], FIRED: row["fired"]}
        _change(q, row, {**changes, FIRINGS: row["firings"]})
    return []


def pause_recurring(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        _change(q, row, {PAUSED: row["paused"], NEXT_AT: row["next_at"]})
    return []


def recurring_group(q: QueueTables, group: Rows, tenant: str) -> Rows:
    found = [row for name, row in q.recurring.items() if name[0] == tenant and row[GROUP] == group[0]]
    return [(row[1],) for row in found]


def remove_recurring(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        q.drop(q.recurring, (row["tenant"], row["name"]))
    return []


def due_recurring(q: QueueTables, limit: Rows, now: int) -> Rows:
    due = [row for row in q.recurring.values() if not row[PAUSED] and 0 < row[NEXT_AT] <= now]
    due.sort(key=lambda row: (row[NEXT_AT], row[0].encode(), row[1].encode()))
    return [tuple(row) for row in due[: limit[0]]]


def next_recurring(q: QueueTables, now: Rows) -> Rows:
    later = [row[NEXT_AT] for row in q.recurring.values() if not row[PAUSED] and row[NEXT_AT] > now[0]]
    return [(min(later, default=0),)]


def list_recurring(q: QueueTables, rows: Rows) -> Rows:
    which = rows[0]
    found = [
        tuple(row)
        for row in q.recurring.values()
        if which["name"] in ("", row[1])
        and which["group"] in (None, row[GROUP])
        and which["tenant"] in ("", row[0])
        and row[1].encode() > which["after"].encode()
    ]
    found.sort(key=lambda row: (row[1].encode(), row[0].encode()))
    return found[: which["limit"]]


def _change(q: QueueTables, row: dict[str, Any], changes: dict[int, Any]) -> None:
    name = (row["tenant"], row["name"])
    columns = list(q.recurring[name])
    for place, value in changes.items():
        columns[place] = value
    columns[VERSION] += 1
    q.put(q.recurring, name, columns)


# -- the sweep ---------------------------------------------------------------------------------------------------------


def find_lost_slots(q: QueueTables, limit: Rows) -> Rows:
    running = {job.key for job in q.jobs_in(JobState.RUNNING)}
    return [slot for slot in sorted(q.slots) if slot[1] not in running][: limit[0]]


def find_lost_keys(q: QueueTables, limit: Rows) -> Rows:
    alive = {key for key, job in q.tables.jobs.items() if job.state not in FINAL}
    return [name for name, (job, until) in sorted(q.unique.items()) if not until and job not in alive][: limit[0]]


def find_lost_dependencies(q: QueueTables, limit: Rows) -> Rows:
    return [(key,) for key in sorted({name[0] for name in q.links} - q.tables.jobs.keys())][: limit[0]]


def find_wrong_states(q: QueueTables, limit: Rows) -> Rows:
    wrong = [
        job.key
        for job in q.jobs_in(JobState.READY, JobState.THROTTLED)
        if bool(q.beyond(job.key).traits & Trait.LIMITED) != (job.state == JobState.THROTTLED)
    ]
    return [q.row(key) for key in wrong[: limit[0]]]


def find_stuck_children(q: QueueTables, limit: Rows) -> Rows:
    stuck: Rows = []
    for job in q.jobs_in(JobState.AWAITING):
        links = [link for name, link in sorted(q.links.items()) if name[0] == job.key and not link.resolved]
        if not links:
            stuck.append((job.key, 0, False, int(JobState.SUCCEEDED)))
        for link in links:
            state = _state_of(q, link.parent)
            if effect_of(state, either=link.either) is not Effect.WAITS:
                stuck.append((job.key, link.parent, link.either, state))
    return stuck[: limit[0]]


def find_stuck_batches(q: QueueTables, limit: Rows) -> Rows:
    stuck = [key for key, row in sorted(q.batches.items()) if row.state == JobBatchState.SEALED and row.is_final]
    return [(key,) for key in stuck[: limit[0]]]


def find_miscounted_batches(q: QueueTables, limit: Rows) -> Rows:
    found: Rows = []
    for key, batch in sorted(q.batches.items()):
        alive, failed = _members(q, key)
        open_ = batch.total - batch.succeeded - batch.failed - batch.deleted
        if batch.state != JobBatchState.FINISHED and (open_, batch.failed) != (alive, failed):
            found.append((key,))
    return found[: limit[0]]


def count_members(q: QueueTables, keys: Rows) -> Rows:
    return [(key, *_members(q, key)) for key in keys]


def _members(q: QueueTables, batch: int) -> tuple[int, int]:
    """How many members of a batch are not over, and how many have failed."""
    states = [job.state for key, job in q.tables.jobs.items() if q.beyond(key).batch == batch]
    parts = [part for part in q.batches.values() if part.parent == batch]
    over = [part for part in parts if part.state == JobBatchState.FINISHED]
    failed = states.count(JobState.FAILED)
    bad = sum(1 for part in over if part.failed and not part.deleted)
    return len(states) - failed + len(parts) - len(over), failed + bad


def find_idle_limits(q: QueueTables, limit: Rows) -> Rows:
    used = Counter(key for key, _ in q.slots)
    parked: Counter[str] = Counter()
    trying: set[str] = set()
    for job in q.jobs_in(JobState.THROTTLED):
        options, waits_for = q.options(job.key), q.beyond(job.key).waits_for
        if waits_for:
            parked[waits_for] += 1
        elif options is not None:
            trying.update(each.key for each in options.limits)
    idle = [
        (key, min(state.most - used[key], parked[key]) if state.most else parked[key])
        for key, state in sorted(q.limits.items())
        if parked[key] and key not in trying and (not state.most or used[key] < state.most)
    ]
    return idle[: limit[0]]


def find_lost_logs(q: QueueTables, limit: Rows) -> Rows:
    return [(key,) for key in sorted({job for job, _ in q.logs} - q.tables.jobs.keys() - q.archive.keys())][: limit[0]]


def _state_of(q: QueueTables, key: int) -> int:
    if key in q.tables.jobs:
        return int(q.tables.jobs[key].state)
    if key in q.archive:
        return int(q.archive[key].job.state)
    if key not in q.batches:
        return JobState.SUCCEEDED
    batch = q.batches[key]
    if batch.state != JobBatchState.FINISHED:
        return JobState.RUNNING
    return outcome_of(batch)


STATEMENTS: Final[dict[str, Statement]] = {
    each.__name__: each
    for each in (
        *(lock_recurring, add_recurring, change_recurring, advance_recurring, pause_recurring, recurring_group),
        *(remove_recurring, due_recurring, next_recurring, list_recurring, find_lost_slots, find_lost_keys),
        *(find_lost_dependencies, find_wrong_states, find_stuck_children, find_stuck_batches, find_idle_limits),
        *(find_lost_logs, find_miscounted_batches, count_members),
    )
}
