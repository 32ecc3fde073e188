"""The books of a run: what was asked for, what handlers did, and what the database says, compared line by line.

Nothing here trusts a count: every instance's whole history is folded and compared with what is stored, and every
table is looked at by its rows, with plain SQL. What does not balance is a line of text.
"""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import msgspec
import psycopg

from procession.app.wiring import store_factory
from procession.core import State, Status, decode_state, fold
from procession.core import events as e
from procession.core.events import AnyEvent
from procession.store.port import Store
from procession.store.rows import InstanceFilter, StoredInstance
from tests.chaos.models import JOBS, outcome_of, process_of, variables_of, words_of
from tests.support import mariadb

PAGE = 500
SHOWN = 30
_KEY = re.compile(r"\bkey\b")  # a reserved word on MariaDB
_decode_events = msgspec.json.Decoder(list[AnyEvent]).decode

Line = list[str]


async def differences(url: str, starts: Sequence[Line], runs: Sequence[Line]) -> list[str]:
    """Everything that does not balance in a database, its tables included; empty if all is well."""
    store = store_factory(url)()
    await store.open()
    try:
        return [*await balance(store, starts, runs), *rows_left(url)]
    finally:
        await store.close()


async def balance(store: Store, starts: Sequence[Line], runs: Sequence[Line]) -> list[str]:
    """What was asked for, what handlers did and what instances are, compared. Lines are those of the ledgers."""
    instances = await _instances(store)
    found = _starts(starts, instances)
    histories = Histories(runs)
    for begin in range(0, len(instances), PAGE):
        page = instances[begin : begin + PAGE]
        rows = await asyncio.gather(*(store.history(row.key) for row in page))
        for row, history in zip(page, rows, strict=True):
            found += histories.compare(row, [_decode_events(step.events) for step in history])
    return found + histories.unlike()


async def _instances(store: Store) -> list[StoredInstance]:
    """Every instance with its state and variables."""
    found: list[StoredInstance] = []
    after = 0
    while page := await store.list_instances(InstanceFilter(after=after, limit=PAGE)):
        after = page[-1].key
        found += await store.load([row.key for row in page])
    return found


def _starts(starts: Sequence[Line], instances: Sequence[StoredInstance]) -> list[str]:
    """Every start that returned is there under its key; what was asked for is there once, and nothing else is."""
    keys = {row.key: row for row in instances}
    by_id = Counter(row.business_id for row in instances if not row.parent)
    found: list[str] = []
    for verb, number, *rest in starts:
        if verb == "started" and int(rest[0]) not in keys:
            found.append(f"the start of {number} returned {rest[0]}, which is not there")
    asked = {int(number) for verb, number, *_ in starts if verb == "asked"}
    expected = Counter(f"{process_of(number)}-{number}" for number in asked)
    found += [f"{name} is there {by_id[name]} times instead of once" for name in expected if by_id[name] != 1]
    found += [f"nobody asked for '{name}'" for name in by_id if name not in expected]
    return found


class Histories:
    """Compares each instance with its history, with what its handlers did, and with others of its process."""

    def __init__(self, runs: Sequence[Line]) -> None:
        self._runs: dict[int, Counter[str]] = defaultdict(Counter)
        self._leases = Counter((key, element, lease) for verb, key, element, _, _, lease, _ in runs if verb == "ran")
        for _, _, element, instance, *_ in runs:
            self._runs[int(instance)][element] += 1
        self._shapes: dict[str, dict[tuple[tuple[str, int], ...], list[int]]] = defaultdict(lambda: defaultdict(list))
        self._numbers: dict[int, int] = {}

    def compare(self, row: StoredInstance, steps: list[list[AnyEvent]]) -> list[str]:
        """One instance."""
        where = f"{row.process_id} {row.key}"
        events = [event for step in steps for event in step]
        if row.status != Status.COMPLETED:
            return [f"{where} has status {Status(row.status).name} at revision {row.rev}"]
        found = [f"{where}: {text}" for text in [*_folded(row, steps, events), *_once(events), *self._ran(row, events)]]
        found += [f"{where}: {text}" for text in self._variables(row)]
        self._shapes[row.process_id][_shape(events)].append(row.key)
        return found

    def unlike(self) -> list[str]:
        """Instances of one process all go the same way: whose events are others than most, and runs under one lease."""
        found: list[str] = []
        for process_id, shapes in self._shapes.items():
            usual, *others = sorted(shapes, key=lambda shape: -len(shapes[shape]))
            for shape in others:
                known, here = dict(usual), dict(shape)
                unlike = {
                    what: (here.get(what, 0), known.get(what, 0))
                    for what in known | here
                    if here.get(what) != known.get(what)
                }
                found.append(f"{process_id} {shapes[shape][:3]} went another way (here, elsewhere): {unlike}")
        found += [f"job {run} ran {n} times under one lease" for run, n in self._leases.items() if n > 1]
        return found

    def _ran(self, row: StoredInstance, events: list[AnyEvent]) -> list[str]:
        """Every job ran at least once."""
        wanted = Counter(JOBS[row.process_id])
        created = sum(type(event) is e.JobCreated and event.kind == 1 for event in events)
        found = [
            f"{element} ran {self._runs[row.key][element]} times"
            for element in wanted
            if self._runs[row.key][element] < wanted[element]
        ]
        return found + (
            [f"{created} jobs instead of {len(JOBS[row.process_id])}"] if created != len(JOBS[row.process_id]) else []
        )

    def _variables(self, row: StoredInstance) -> list[str]:
        """What they must be."""
        variables: dict[str, Any] = msgspec.json.decode(row.variables)
        if row.process_id == "child":
            wanted = outcome_of("child", variables.get("seed", -1))
            return [] if variables.items() >= wanted.items() else [f"variables are {variables}, not {wanted}"]
        number = int(row.business_id.partition("-")[2])
        wanted = variables_of(number) | outcome_of(row.process_id, number)
        if row.process_id == "talk":
            words = sorted([variables.pop("first", ""), variables.pop("second", "")])
            if words != sorted(words_of(number)):
                return [f"heard {words}"]
        return [] if variables == wanted else [f"variables are {variables}, not {wanted}"]


def _folded(row: StoredInstance, steps: list[list[AnyEvent]], events: list[AnyEvent]) -> list[str]:
    """The fold of the history is the stored state; each revision left one row."""
    state = decode_state(row.state, msgspec.json.decode(row.variables))
    folded = fold(events) if events else State(key=0)
    found = [f"{len(steps)} steps in the history at revision {row.rev}"] if len(steps) != row.rev else []
    if (folded.nodes, folded.status, folded.variables) != (state.nodes, state.status, state.variables):
        found.append("the fold of the history is not the stored state")
    if state.nodes or state.incidents or state.pending:
        found.append(f"ended with {len(state.nodes)} element instances, {len(state.incidents)} incidents")
    return found


def _once(events: list[AnyEvent]) -> list[str]:
    """What begins begins once and ends once."""
    found: list[str] = []
    for verb, begins, ends in (
        ("job", (e.JobCreated,), (e.JobClosed,)),
        ("element instance", (e.Activated,), (e.Completed, e.Terminated)),
        ("wait", (e.TimerArmed, e.Subscribed), (e.WaitClosed,)),
    ):
        begun = Counter(event.key for event in events if isinstance(event, begins))
        ended = Counter(event.key for event in events if isinstance(event, ends))
        if begun != ended or any(n > 1 for n in begun.values()):
            found.append(f"{verb}: begun {begun - ended or dict(begun)}, ended {ended - begun or dict(ended)}")
    for kind in (e.Started, e.Ended):
        times = sum(isinstance(event, kind) for event in events)
        if times != 1:
            found.append(f"{kind.__name__} {times} times")
    return found


def _shape(events: list[AnyEvent]) -> tuple[tuple[str, int], ...]:
    """How often what happened where, whatever the order: the same for all instances of a process."""
    counts = Counter(f"{type(event).__name__} {getattr(event, 'element', '')}" for event in events)
    return tuple(sorted(counts.items()))


# -- the tables ------------------------------------------------------------------------------------------------------

_MUST_BE_EMPTY = {
    "jobs": "select key, queue, state, instance from {s}job",
    "subscriptions": "select key, name, instance from {s}subscription where coalesce(instance, 0) <> 0",
    "incidents": "select key, message, instance from {s}incident",
    "user tasks": "select key, name, instance from {s}user_task",
    "start channels": "select process_id, correlation_key, instance from {s}start_channel",
    "history of nobody": "select position from {s}history where instance not in (select key from {s}instance)",
}
_MESSAGES = {
    "sqlite": "select key, name, correlation_key from procession_message where spent = 0",
    "postgresql": "select key, name, correlation_key from procession.message",
    "mysql": "select key, name, correlation_key from procession_message",
}


def rows_left(url: str) -> list[str]:
    """Rows that nothing needs when every instance has ended."""
    scheme = url.partition(":")[0]
    schema = "procession." if scheme == "postgresql" else "procession_"
    queries = {what: sql.format(s=schema) for what, sql in _MUST_BE_EMPTY.items()}
    queries["messages"] = _MESSAGES[scheme]
    found: list[str] = []
    for what, sql in queries.items():
        rows = query(url, sql)
        if rows:
            found.append(f"{len(rows)} {what} are left: {rows[:5]}")
    return found


def query(url: str, sql: str) -> list[tuple[Any, ...]]:
    """Rows, read by whoever looks at the database from outside; ``{s}`` stands before the name of a table."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
            return connection.execute(sql.format(s="procession_")).fetchall()
    if url.startswith("mysql"):
        with closing(mariadb.connect(url, autocommit=True)) as connection, connection.cursor() as cursor:
            cursor.execute(_KEY.sub("`key`", sql.format(s="procession_")))
            return list(cursor.fetchall())
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(sql.format(s="procession.")).fetchall()  # type: ignore[arg-type] - our own text
