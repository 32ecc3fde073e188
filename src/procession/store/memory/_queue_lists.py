"""The statements of listings of jobs, on dictionaries: each is what its SQL is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from procession.jobs.options import JobOptions
from procession.store.memory._queue_jobs import Rows, Statement
from procession.store.memory._queue_tables import Extra, QueueTables
from procession.store.rows import StoredJob

Place = tuple[StoredJob, Extra]


def scan_queue(q: QueueTables, rows: Rows) -> Rows:
    return _scan(_queue(q, sorted(q.tables.jobs)), rows[0])


def scan_queue_newest(q: QueueTables, rows: Rows) -> Rows:
    return _scan(_queue(q, sorted(q.tables.jobs, reverse=True)), rows[0])


def scan_archive(q: QueueTables, rows: Rows) -> Rows:
    return _scan(_archive(q, sorted(q.archive)), rows[0])


def scan_archive_newest(q: QueueTables, rows: Rows) -> Rows:
    return _scan(_archive(q, sorted(q.archive, reverse=True)), rows[0])


def filter_queue(q: QueueTables, rows: Rows) -> Rows:
    keys = [key for key in rows[0]["keys"] if key in q.tables.jobs]
    return [(job.key,) for job, extra in _queue(q, keys) if _is_meant(job, extra, rows[0])]


def filter_archive(q: QueueTables, rows: Rows) -> Rows:
    keys = [key for key in rows[0]["keys"] if key in q.archive]
    return [(job.key,) for job, extra in _archive(q, keys) if _is_meant(job, extra, rows[0])]


def find_in_states(q: QueueTables, rows: Rows) -> Rows:
    which = rows[0]
    found = [
        (job.key,)
        for job in q.tables.jobs.values()
        if job.state in which["states"]
        and (job.state != 0 or which["queue"] in ("", job.queue))
        and (job.state != 1 or which["owner"] in (0, job.owner))
    ]
    return found[: which["most"]]


def find_in_batch(q: QueueTables, rows: Rows) -> Rows:
    found = [(key,) for key in sorted(q.tables.jobs) if q.beyond(key).batch == rows[0]["batch"]]
    return found[: rows[0]["most"]]


def links_of(q: QueueTables, children: Rows) -> Rows:
    wanted = set(children)
    return [msgspec.structs.astuple(link) for _, link in sorted(q.links.items()) if link.child in wanted]


def children_of(q: QueueTables, parents: Rows, most: int) -> Rows:
    wanted = set(parents)
    links = [link for link in q.links.values() if link.parent in wanted]
    links.sort(key=lambda link: (link.parent, link.child))
    return [msgspec.structs.astuple(link) for link in links[:most]]


def _queue(q: QueueTables, keys: Iterable[int]) -> Iterable[Place]:
    return ((q.tables.jobs[key], q.beyond(key)) for key in keys)


def _archive(q: QueueTables, keys: Iterable[int]) -> Iterable[Place]:
    return ((q.archive[key].job, q.archive[key].extra) for key in keys)


def _scan(places: Iterable[Place], which: dict[str, Any]) -> Rows:
    found: Rows = []
    looked_at = 0
    for job, extra in places:
        if which["after"] and (job.key >= which["after"] if which["newest"] else job.key <= which["after"]):
            continue
        looked_at += 1
        if len(found) < which["limit"] and _is_meant(job, extra, which):
            found.append((job.key,))
        if looked_at == which["rows"]:
            return [*found, (-job.key,)]
    return found


def _is_meant(job: StoredJob, extra: Extra, which: dict[str, Any]) -> bool:
    plain = {"queue": job.queue, "type": job.type, "batch": extra.batch, "owner": job.owner, "tenant": job.tenant}
    if any(which[name] and which[name] != value for name, value in plain.items()):
        return False
    if which["state"] >= 0 and which["state"] != job.state:
        return False
    if which["kinds"] and job.kind not in which["kinds"]:
        return False
    options = msgspec.json.decode(extra.options, type=JobOptions) if extra.options else JobOptions()
    if which["tag"] and which["tag"] not in options.tags:
        return False
    text = which["text"][1:-1]
    for special in "%_!":
        text = text.replace("!" + special, special)
    texts = (options.title, job.type, job.error, job.args.decode())
    return any(text in _lower(each) for each in texts)


def _lower(text: str) -> str:
    """Lower case of the letters of ASCII only, as SQL's LIKE has it."""
    return "".join(char.lower() if char.isascii() else char for char in text)


STATEMENTS: Final[dict[str, Statement]] = {
    each.__name__: each
    for each in (
        *(scan_queue, scan_queue_newest, scan_archive, scan_archive_newest, filter_queue, filter_archive),
        *(find_in_states, find_in_batch, links_of, children_of),
    )
}
