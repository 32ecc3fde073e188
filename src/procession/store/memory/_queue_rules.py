"""The statements of the queue's scripts about keys, limits, flows, batches and counts, on dictionaries."""
# ruff: noqa: ANN401, ARG001 - rows are whatever a script sends; the names say what the statements do

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from procession.jobs.kinds import JobState
from procession.jobs.limits import LimitState
from procession.store._shared.queue.rows import BatchRow
from procession.store.memory._queue_jobs import Rows, Statement
from procession.store.memory._queue_tables import Dependency, QueueTables
from procession.store.rows import StoredJob
from procession.store.rows.queue import JobBatchState

# -- unique keys -------------------------------------------------------------------------------------------------------


def hold_unique(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        if (row["tenant"], row["key"]) not in q.unique:
            q.put(q.unique, (row["tenant"], row["key"]), (row["job"], row["until"] or 0))
    return []


def lock_unique(q: QueueTables, rows: Rows) -> Rows:
    names = [(row["tenant"], row["key"]) for row in rows]
    return [(*name, *q.unique[name]) for name in names if name in q.unique]


def take_unique(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        q.put(q.unique, (row["tenant"], row["key"]), (row["job"], row["until"] or 0))
    return []


def free_unique(q: QueueTables, jobs: Rows, now: int) -> Rows:
    gone = set(jobs)
    for name in [name for name, (job, until) in q.unique.items() if job in gone and until <= now]:
        q.drop(q.unique, name)
    return []


def expire_unique(q: QueueTables, limit: Rows, now: int) -> Rows:
    over = sorted((until, name) for name, (_, until) in q.unique.items() if 0 < until <= now)
    for _, name in over[: limit[0]]:
        q.drop(q.unique, name)
    return []


def drop_unique(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        q.drop(q.unique, (row["tenant"], row["key"]))
    return []


def nothing(q: QueueTables, *_: Any) -> Rows:
    """Locks: there is nobody else."""
    return []


# -- limits ------------------------------------------------------------------------------------------------------------


def lock_limits(q: QueueTables, keys: Rows) -> Rows:
    return [msgspec.structs.astuple(q.limits[key])[:9] for key in keys if key in q.limits]


def count_slots(q: QueueTables, keys: Rows) -> Rows:
    used = dict.fromkeys(keys, 0)
    for key, _ in q.slots:
        if key in used:
            used[key] += 1
    return [(key, used[key], bool(q.lines.first_for(key, 1))) for key in keys]


def update_limits(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        q.put(q.limits, row["key"], LimitState(**row))
    return []


def add_limits(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        if row["key"] not in q.limits:
            q.put(q.limits, row["key"], LimitState(**row))
    return []


def take_slots(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        q.put(q.slots, (row["limit_key"], row["job"]), row["node"])
    return []


def slots_of(q: QueueTables, jobs: Rows) -> Rows:
    wanted = set(jobs)
    return sorted(slot for slot in q.slots if slot[1] in wanted)


def free_slots(q: QueueTables, jobs: Rows) -> Rows:
    for slot in slots_of(q, jobs):
        q.drop(q.slots, slot)
    return []


def drop_slots(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        q.drop(q.slots, (row["limit_key"], row["job"]))
    return []


def expire_limits(q: QueueTables, limit: Rows, before_us: int) -> Rows:
    used = {key for key, _ in q.slots} | {q.beyond(job.key).waits_for for job in q.jobs_in(JobState.THROTTLED)}
    over = [
        key
        for key, state in sorted(q.limits.items())
        if max(state.reserved_us, state.started_us, state.moved_us) < before_us and key not in used
    ]
    for key in over[: limit[0]]:
        q.drop(q.limits, key)
    return []


def drop_limits(q: QueueTables, keys: Rows) -> Rows:
    for key in keys:
        q.drop(q.limits, key)
    return []


def list_limits(q: QueueTables, rows: Rows) -> Rows:
    which = rows[0]
    keys = [
        key
        for key in sorted(q.limits, key=_bytes)
        if which["key"] in ("", key) and _bytes(key) > _bytes(which["after"])
    ]
    return [(key,) for key in keys[: which["limit"]]]


def count_limited(q: QueueTables, keys: Rows, most: int) -> Rows:
    counts = dict.fromkeys(keys, 0)
    in_line: list[StoredJob] = []
    for job in q.jobs_in(JobState.THROTTLED):
        parked_for = q.beyond(job.key).waits_for
        if not parked_for:
            in_line.append(job)
        elif parked_for in counts:
            counts[parked_for] = min(most, counts[parked_for] + 1)
    for job in in_line[:most]:
        options = q.options(job.key)
        for limit in options.limits if options is not None else []:
            if limit.key in counts:
                counts[limit.key] += 1
    return [(key, count) for key, count in counts.items() if count]


# -- flows -------------------------------------------------------------------------------------------------------------


def add_dependencies(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        link = Dependency(row["child"], row["parent"], bool(row["either"]), bool(row["resolved"]))
        q.put(q.links, (link.child, link.parent), link)
    return []


def dependents(q: QueueTables, parents: Rows) -> Rows:
    wanted = set(parents)
    links = [link for _, link in sorted(q.links.items()) if link.parent in wanted and not link.resolved]
    return [(link.child, link.parent, link.either) for link in links]


def resolve(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        name = (row["child"], row["parent"])
        q.put(q.links, name, msgspec.structs.replace(q.links[name], resolved=True))
    return []


def unresolved(q: QueueTables, children: Rows) -> Rows:
    wanted = set(children)
    return [(key,) for key in sorted({link.child for link in q.links.values() if not link.resolved} & wanted)]


def drop_dependencies(q: QueueTables, children: Rows) -> Rows:
    gone = set(children)
    for name in [name for name in q.links if name[0] in gone]:
        q.drop(q.links, name)
    return []


def parents_of(q: QueueTables, child: Rows) -> Rows:
    return [(link.parent,) for _, link in sorted(q.links.items()) if link.child == child[0]]


# -- batches -----------------------------------------------------------------------------------------------------------


def lock_batches(q: QueueTables, keys: Rows) -> Rows:
    return [msgspec.structs.astuple(q.batches[key]) for key in keys if key in q.batches]


def find_over_batches(q: QueueTables, limit: Rows, before: int) -> Rows:
    old = [row for row in q.batches.values() if row.state == JobBatchState.FINISHED and row.finished_at <= before]
    if not old:
        return []
    used = {q.beyond(key).batch for key in q.tables.jobs} | {row.extra.batch for row in q.archive.values()}
    used |= {link.parent for link in q.links.values()}
    over = [row for row in old if row.key not in used and row.parent not in q.batches]
    over.sort(key=lambda row: (row.finished_at, row.key))
    return [(row.key,) for row in over[: limit[0]]]


def delete_batches(q: QueueTables, keys: Rows) -> Rows:
    for key in keys:
        q.drop(q.batches, key)
    return []


def update_batches(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        q.put(q.batches, row["key"], BatchRow(**row))
    return []


def add_batches(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        zeros = ("state", "total", "succeeded", "failed", "deleted", "finished_at")
        fields: dict[str, Any] = {**dict.fromkeys(zeros, 0), **row}
        q.put(q.batches, row["key"], BatchRow(**fields))
    return []


def batch_parent(q: QueueTables, key: Rows) -> Rows:
    return [(q.batches[key[0]].parent,)] if key[0] in q.batches else []


def list_job_batches(q: QueueTables, rows: Rows) -> Rows:
    keys = rows[0]["keys"]
    return _page(q, rows[0], lambda row: row.key in keys if keys else not row.is_flow)


def list_flows(q: QueueTables, rows: Rows) -> Rows:
    return _page(q, rows[0], lambda row: bool(row.is_flow))


def _page(q: QueueTables, which: dict[str, Any], is_meant: Callable[[BatchRow], bool]) -> Rows:
    found = [
        row
        for key, row in sorted(q.batches.items(), reverse=True)
        if is_meant(row) and which["tenant"] in ("", row.tenant) and (not which["after"] or key < which["after"])
    ]
    return [msgspec.structs.astuple(row) for row in found[: which["limit"]]]


# -- turns, logs, pauses, counts ---------------------------------------------------------------------------------------


def add_fair(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        if (row["queue"], row["key"]) not in q.places:
            q.put(q.places, (row["queue"], row["key"]), 0)
    return []


def lock_fair(q: QueueTables, rows: Rows) -> Rows:
    return [(row["queue"], row["key"], q.places[row["queue"], row["key"]]) for row in rows]


def set_fair(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        q.put(q.places, (row["queue"], row["key"]), row["place"])
    return []


def count_log(q: QueueTables, jobs: Rows) -> Rows:
    counts = dict.fromkeys(jobs, 0)
    for job, _ in q.logs:
        if job in counts:
            counts[job] += 1
    return [(job, count) for job, count in counts.items() if count]


def add_log(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        q.put(q.logs, (row["job"], row["number"]), (row["at"], row["level"], row["text"]))
    return []


def delete_logs(q: QueueTables, jobs: Rows) -> Rows:
    gone = set(jobs)
    for name in [name for name in q.logs if name[0] in gone]:
        q.drop(q.logs, name)
    return []


def list_log(q: QueueTables, job: Rows, after: int, limit: int) -> Rows:
    lines = [(*name, *line) for name, line in sorted(q.logs.items()) if name[0] == job[0] and name[1] > after]
    return lines[:limit]


def add_attempts(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        name = row["job"], row["lease"]
        if name not in q.attempts:
            q.put(
                q.attempts,
                name,
                (row["attempt"], row["at"], row["worker"], row["type"], row["message"], row["instance"]),
            )
    return []


def trim_attempts(q: QueueTables, jobs: Rows, kept: int) -> Rows:
    for job in jobs:
        for name in sorted(name for name in q.attempts if name[0] == job)[:-kept]:
            q.drop(q.attempts, name)
    return []


def delete_attempts(q: QueueTables, jobs: Rows) -> Rows:
    gone = set(jobs)
    for name in [name for name in q.attempts if name[0] in gone]:
        q.drop(q.attempts, name)
    return []


def find_lost_attempts(q: QueueTables, limit: Rows) -> Rows:
    orphans = {job for (job, _), row in q.attempts.items() if row[5] not in q.tables.instances}
    lost = orphans - q.tables.jobs.keys() - q.archive.keys()
    return [(key,) for key in sorted(lost)][: limit[0]]


def list_attempts(q: QueueTables, job: Rows) -> Rows:
    return [(*name, *row[:5]) for name, row in sorted(q.attempts.items()) if name[0] == job[0]]


def attempts_of_instance(q: QueueTables, rows: Rows) -> Rows:
    which = rows[0]
    found = [(*name, *row[:5]) for name, row in q.attempts.items() if row[5] == which["instance"] != 0]
    return sorted(found, key=lambda row: (row[3], row[0], row[1]), reverse=True)[: which["limit"]]


def next_key(q: QueueTables, _: Rows) -> Rows:
    return [(q.tables.counter,)]


def list_pauses(q: QueueTables, _: Rows) -> Rows:
    return [(*name, *row) for name, row in sorted(q.pauses.items(), key=lambda item: (item[0][0], _bytes(item[0][1])))]


def add_pauses(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        q.put(q.pauses, (row["kind"], row["name"]), (row["since"], row["reason"]))
    return []


def remove_pauses(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        q.drop(q.pauses, (row["kind"], row["name"]))
    return []


def lock_pauses(q: QueueTables, rows: Rows) -> Rows:
    return [(row["kind"], row["name"]) for row in rows if (row["kind"], row["name"]) in q.pauses]


def add_stats(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        name = (row["minute"], row["queue"], row["type"])
        before = q.stats.get(name, [0] * 5)
        new = [row["enqueued"], row["succeeded"], row["failed"], row["retried"], row["run_ms"]]
        q.put(q.stats, name, [old + more for old, more in zip(before, new, strict=True)])
    return []


def list_stats(q: QueueTables, rows: Rows) -> Rows:
    which = rows[0]
    names = sorted(q.stats, key=lambda name: (name[0], _bytes(name[1]), _bytes(name[2])))
    return [
        (*name, *q.stats[name])
        for name in names
        if which["since"] <= name[0] < which["until"] and which["queue"] in ("", name[1])
    ]


def expire_stats(q: QueueTables, limit: Rows, before: int) -> Rows:
    for name in [name for name in sorted(q.stats) if name[0] < before][: limit[0]]:
        q.drop(q.stats, name)
    return []


def _bytes(text: str) -> bytes:
    """Texts are in the order of their bytes, as in every store."""
    return text.encode()


STATEMENTS: Final[dict[str, Statement]] = {
    "lock_unique_of": nothing,
    "read_batches": lock_batches,
    "read_limits": lock_limits,
    **{
        each.__name__: each
        for each in (
            *(hold_unique, lock_unique, take_unique, free_unique, expire_unique, drop_unique, lock_limits, count_slots),
            *(update_limits, add_limits, take_slots, slots_of, free_slots, drop_slots, expire_limits, list_limits),
            drop_limits,
            *(count_limited, add_dependencies, dependents, resolve, unresolved, drop_dependencies, parents_of),
            *(
                find_over_batches,
                delete_batches,
                lock_batches,
                update_batches,
                add_batches,
                batch_parent,
                list_job_batches,
                add_fair,
                lock_fair,
            ),
            *(set_fair, count_log, add_log, delete_logs, list_log, list_pauses, add_pauses, remove_pauses),
            *(lock_pauses, add_stats, list_stats, expire_stats, next_key, list_flows),
            *(add_attempts, trim_attempts, delete_attempts, find_lost_attempts, list_attempts, attempts_of_instance),
        )
    },
}
