"""The statements of the looks and the tally, on dictionaries: the oracle of the other stores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

import msgspec

from procession.jobs.kinds import JobState
from procession.model.definition import Trigger
from procession.store._shared.watching.looks import LETTERS
from procession.store.memory._queue_jobs import Rows, Statement
from procession.store.memory._queue_tables import QueueTables
from procession.store.memory._queue_watch import VERSION
from procession.store.rows import StoredIncident, StoredInstance

_values: Final = msgspec.json.Decoder(dict[str, Any]).decode


def find_instances(q: QueueTables, rows: Rows) -> Rows:
    which = rows[0]
    return [
        (
            *(row.key, row.rev, row.definition, row.process_id, row.status, row.business_id, row.parent),
            *(row.parent_element_instance, row.tags, row.tenant, row.started_at, row.ended_at),
            row.state if which["with_state"] else b"",
            q.tables.incident_counts.get(row.key, 0),
        )
        for row in islice(_found(q, which), which["limit"])
    ]


def find_window(q: QueueTables, rows: Rows) -> Rows:
    keys = [row.key for row in _window(q, rows[0])]
    return [(len(keys), min(keys, default=0))]


def count_found(q: QueueTables, rows: Rows) -> Rows:
    return [(len(list(islice(_found(q, rows[0]), rows[0]["limit"]))),)]


def _found(q: QueueTables, which: dict[str, Any]) -> Iterator[StoredInstance]:
    """What is meant of the window, newest first."""
    return (row for row in _window(q, which) if _is_meant(row, which))


def _window(q: QueueTables, which: dict[str, Any]) -> Iterator[StoredInstance]:
    """The instances that are looked at."""
    troubled = {
        incident.instance
        for incident in q.tables.incidents.values()
        if which["incident_element"] in ("", incident.element) and which["fingerprint"] in ("", incident.fingerprint)
    }
    chosen = (
        row
        for key in sorted(q.tables.instances, reverse=True)
        if key < which["before"]
        and (row := q.tables.instances[key])
        and which["process_id"] in ("", row.process_id)
        and which["business_id"] in ("", row.business_id)
        and which["parent"] in (0, row.parent)
        and (not which["by_incident"] or key in troubled)
    )
    return islice(chosen, which["look"])


def _is_meant(row: StoredInstance, which: dict[str, Any]) -> bool:
    """The conditions that no index knows."""
    return (
        which["definition"] in (0, row.definition)
        and (which["any_status"] or row.status in which["statuses"])
        and (which["any_tenant"] or row.tenant in which["tenants"])
        and (not which["tag"] or which["tag"] in row.tags)
        and _is_within(row.started_at, which["started_from"], which["started_until"])
        and _is_within(row.ended_at, which["ended_from"], which["ended_until"])
        and _has_values(row, which)
        and _has_text(row, which["text"].lower())
    )


def _is_within(at: int, since: int, until: int) -> bool:
    return (not since or at >= since) and (not until or 0 < at < until)


def _has_values(row: StoredInstance, which: dict[str, Any]) -> bool:
    names = [letter for letter in LETTERS if which[f"name_{letter}"]]
    values = _values(row.variables or b"{}") if names else {}
    return all(
        which[f"name_{letter}"] in values
        and _is_same(values[which[f"name_{letter}"]], msgspec.json.decode(which[f"value_{letter}"]))
        for letter in names
    )


def _is_same(value: Any, wanted: Any) -> bool:  # noqa: ANN401 - any JSON
    """Equal as JSON: true is not 1."""
    return value == wanted and isinstance(value, bool) == isinstance(wanted, bool)


def _has_text(row: StoredInstance, text: str) -> bool:
    if not text:
        return True
    return any(text in each.lower() for each in (row.business_id, row.variables.decode(), " ".join(row.tags)))


# -- marks and counts -------------------------------------------------------------------------------------------------
def watch_size(q: QueueTables, rows: Rows) -> Rows:  # noqa: ARG001 - the shape of every statement
    return [(0,)]


def watch_marks(q: QueueTables, rows: Rows) -> Rows:  # noqa: ARG001 - the shape of every statement
    tables = q.tables
    batches = [each.emitted + int(each.state) + 1 for each in tables.batches.values()]
    newest = [max(each, default=0) for each in (tables.instances, tables.jobs, tables.incidents, tables.user_tasks)]
    definitions = max(tables.deployments, default=0) + len(tables.definitions)
    recurring = sum(row[VERSION] for row in q.recurring.values()) + len(q.recurring)
    nodes = max(tables.nodes, default=0) + len(tables.nodes)
    return [(tables.position, *newest, sum(batches), definitions, recurring, nodes)]


def watch_revisions(q: QueueTables, keys: Rows) -> Rows:
    sums = dict.fromkeys(keys, 0)
    for job in q.tables.jobs.values():
        if job.instance in sums:
            sums[job.instance] += job.lease + job.attempt + 1000 * int(job.state) + 100_000
    instances = q.tables.instances
    return [(key, instances[key].rev, sums[key]) for key in keys if key in instances]


def watch_standing(q: QueueTables, rows: Rows) -> Rows:
    most = rows[0]["most"]

    def meant(table: Iterable[Any]) -> Iterator[Any]:
        return (row for row in table if rows[0]["any_tenant"] or row.tenant in rows[0]["tenants"])

    jobs = list(meant(q.tables.jobs.values()))
    states = (JobState.READY, JobState.RUNNING, JobState.SCHEDULED)
    counts = [sum(job.state == state for job in jobs) for state in states]
    counts += [sum(1 for _ in meant(table.values())) for table in (q.tables.incidents, q.tables.user_tasks)]
    oldest = min((job.run_at for job in jobs if job.state == JobState.READY), default=0)
    return [(*(min(count, most) for count in counts), oldest)]


def watch_statuses(q: QueueTables, rows: Rows) -> Rows:
    which = rows[0]
    newest = [q.tables.instances[key] for key in sorted(q.tables.instances, reverse=True)[: which["look"]]]
    seen = Counter(row.status for row in newest)
    meant = Counter(row.status for row in newest if which["any_tenant"] or row.tenant in which["tenants"])
    return [(status, meant[status], count) for status, count in seen.items()]


def watch_queued(q: QueueTables, rows: Rows) -> Rows:
    which = rows[0]
    newest = [q.tables.jobs[key] for key in sorted(q.tables.jobs, reverse=True)[: which["look"]]]
    seen = Counter((job.queue, int(job.state)) for job in newest)
    meant = Counter(
        (job.queue, int(job.state)) for job in newest if which["any_tenant"] or job.tenant in which["tenants"]
    )
    return [(*place, meant[place], count) for place, count in seen.items()]


def watch_incident_groups(q: QueueTables, rows: Rows) -> Rows:
    which = rows[0]
    newest = sorted(q.tables.incidents.values(), key=lambda each: -each.key)
    groups: dict[str, list[StoredIncident]] = {}
    meant = (each for each in newest if which["any_tenant"] or each.tenant in which["tenants"])
    for each in islice(meant, which["look"]):
        groups.setdefault(each.fingerprint, []).append(each)
    found = [
        (name, len(all_), min(each.created_at for each in all_), max(each.created_at for each in all_), all_[0].key)
        for name, all_ in groups.items()
    ]
    found.sort(key=lambda group: (-group[1], -group[4]))
    return found[: which["limit"]]


def watch_incidents(q: QueueTables, keys: Rows) -> Rows:
    found = [q.tables.incidents[key] for key in keys if key in q.tables.incidents]
    return [
        (
            *(each.key, each.instance, each.element_instance, each.element, each.definition, each.process_id),
            *(each.kind, each.message, each.job, each.created_at, each.fingerprint, each.tenant),
        )
        for each in found
    ]


def watch_incident_places(q: QueueTables, rows: Rows) -> Rows:
    which = rows[0]
    newest = sorted(q.tables.incidents.values(), key=lambda each: -each.key)
    counts: dict[tuple[int, str], int] = {}
    meant = (each for each in newest if which["definition"] in (0, each.definition))
    for each in islice(meant, which["look"]):
        counts[each.definition, each.element] = counts.get((each.definition, each.element), 0) + 1
    return [(*place, count) for place, count in counts.items()]


def watch_waiting(q: QueueTables, rows: Rows) -> Rows:
    which = rows[0]
    found = [
        each.row
        for each in q.tables.subscriptions.values()
        if not each.taken
        and each.row.trigger == Trigger.MESSAGE
        and (each.row.tenant, each.row.name, each.row.correlation_key)
        == (which["tenant"], which["name"], which["correlation_key"])
    ]
    found.sort(key=lambda row: row.key)
    return [
        (
            *(row.key, row.instance, row.element_instance, row.element, row.definition, row.process_id, row.trigger),
            *(row.name, row.correlation_key, row.once, row.tenant),
        )
        for row in found[: which["limit"]]
    ]


def watch_histories(q: QueueTables, keys: Rows, pattern: str, before: int, limit: int) -> Rows:
    text = pattern[1:-1].replace("\\%", "%").replace("\\_", "_").replace("\\\\", "\\").encode()
    found = [
        (row.position, row.instance, row.definition, row.at, row.events)
        for key in keys
        for row in q.tables.history.get(key, ())
        if text in row.events and row.position < before
    ]
    return found[:limit]


# -- the tally --------------------------------------------------------------------------------------------------------
def tally_history(q: QueueTables, txid: Any, position: int, limit: int, now: int) -> Rows:  # noqa: ANN401, ARG001
    rows = [
        (0, row.position, row.instance, row.definition, row.at, row.events)
        for steps in q.tables.history.values()
        if steps and steps[-1].position > position
        for row in steps
        if row.position > position
    ]
    rows.sort(key=lambda row: row[1])
    return rows[:limit]


def read_tally_cursor(q: QueueTables, rows: Rows) -> Rows:  # noqa: ARG001 - the shape of every statement
    return list(q.tally_cursor.values())


def move_tally_cursor(q: QueueTables, rows: Rows) -> Rows:
    q.put(q.tally_cursor, 0, (rows[0]["txid"], rows[0]["position"], rows[0]["moved_at"]))
    return []


def add_tally(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        name = (row["definition"], row["place"], row["measure"])
        q.put(q.tally, name, q.tally.get(name, 0) + row["times"])
    return []


def read_tally(q: QueueTables, keys: Rows) -> Rows:
    return [(*name, times) for name, times in sorted(q.tally.items()) if name[0] in keys]


def read_tally_totals(q: QueueTables, keys: Rows) -> Rows:
    return [row for row in read_tally(q, keys) if row[1] == 0 and row[2] < 1000]


def add_meter(q: QueueTables, rows: Rows) -> Rows:
    for row in rows:
        before = q.meter.get((row["at"], row["id"]), {"times": 0, "last_at": 0})
        times, last_at = before["times"] + row["times"], max(before["last_at"], row["last_at"])
        q.put(q.meter, (row["at"], row["id"]), {**row, "times": times, "last_at": last_at})
    return []


def read_meter(q: QueueTables, measures: Rows, since: int, until: int, limit: int) -> Rows:
    names = ("at", "measure", "times", "last_at", "tenant", "name", "worker", "detail")
    found = [
        tuple(row[name] for name in names)
        for (at, _), row in sorted(q.meter.items())
        if since <= at < until and row["measure"] in measures
    ]
    return found[:limit]


def forget_meter(q: QueueTables, measures: Rows, before: int, limit: int) -> Rows:
    old = [place for place, row in sorted(q.meter.items()) if place[0] < before and row["measure"] in measures]
    for place in old[:limit]:
        q.drop(q.meter, place)
    return []


STATEMENTS: Final[dict[str, Statement]] = {
    "lock_tally_cursor": read_tally_cursor,
    **{
        each.__name__: each
        for each in (
            *(find_instances, find_window, count_found, watch_size, watch_marks, watch_revisions, watch_standing),
            *(watch_incident_groups, watch_incidents, watch_incident_places, watch_waiting, watch_histories),
            *(tally_history, watch_statuses, watch_queued),
            *(add_meter, read_meter, forget_meter),
            *(read_tally_cursor, move_tally_cursor, add_tally, read_tally, read_tally_totals),
        )
    },
}
