"""SQLite's statements of the queue search an index on many rows, with and without statistics."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from procession.store.sqlite import SqliteStore
from procession.store.sqlite._session import QUEUE

pytestmark = pytest.mark.plan

ROWS = 100_000
BIG = frozenset({"job", "job_archive", "unique_key", "slot", "dependency", "limit", "job_log", "fair_place"})
# What is looked through whole: by the sweep, by duties now and then, by people.
WHOLE = {"watch_queued"}  # the newest so many, from the end of the keys: a plan calls that a scan
WHOLE |= {"count_queues", "count_limited", "list_limits", "expire_limits", "drop_unique"}
NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :rows)"
FILL = (
    f"""INSERT INTO procession_job (key, kind, state, priority, run_at, attempt, retries, lease, owner, crashes,
        instance, element_instance, definition, created_at, queue, type, element, tenant, error, args, traits, options,
        waits_for, deadline_at) {NUMBERS}
        SELECT i, 0, CASE i % 6 WHEN 4 THEN 4 WHEN 5 THEN 4 ELSE i % 6 END, i % 3, i, 0, 3, 1, i % 7, 0, 0, 0, 0, i,
        'q' || (i % 10), 't', '', '', '', '{{}}', 4, '{{"limits":[{{"key":"k1","most":1}}]}}',
        CASE WHEN i % 6 = 4 THEN 'k' || (i % 50) END, CASE WHEN i % 100 = 0 THEN i END FROM n""",
    f"""INSERT INTO procession_job_archive (key, kind, state, priority, run_at, attempt, retries, crashes, lease,
        created_at, ended_at, expires_at, queue, type, tenant, error, args) {NUMBERS}
        SELECT i + :rows, 0, 7, 0, i, 1, 1, 0, 1, i, i, i, 'q', 't', '', '', '' FROM n""",
    f"INSERT INTO procession_unique_key {NUMBERS} SELECT '', 'u' || i, i, CASE WHEN i % 3 = 0 THEN i END FROM n",
    f"INSERT INTO procession_limit {NUMBERS} SELECT 'k' || i, 1, 0, 1000, 0, 0, 0, 0, 0 FROM n",
    f"INSERT INTO procession_slot {NUMBERS} SELECT 'k' || (i % 5000), i, 1 FROM n",
    f"INSERT INTO procession_dependency {NUMBERS} SELECT i, i + 1, 0, i % 2 FROM n",
    f"INSERT INTO procession_job_log {NUMBERS} SELECT i % 5000, i, 1, 20, 'x' FROM n",
    f"INSERT INTO procession_fair_place {NUMBERS} SELECT 'q' || (i % 10), 'f' || i, i FROM n",
)
HOT = sorted(name for name in QUEUE if (name not in WHOLE and not name.startswith("find_")) or name in (
    "find_archived", "find_throttled", "find_parked", "find_expired", "find_expired_archive", "find_lost_runs",
    "find_runs_of",
))  # fmt: skip


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    """A file with 100,000 rows in every large table of the queue."""
    path: Path = tmp_path_factory.mktemp("plans") / "procession.db"
    asyncio.run(SqliteStore(path).migrate())
    with closing(sqlite3.connect(path)) as connection:
        for statement in FILL:
            connection.execute(statement, {"rows": ROWS})
        connection.commit()
        yield connection


@pytest.mark.parametrize("analyzed", [False, True], ids=["without statistics", "with statistics"])
@pytest.mark.parametrize("name", HOT)
def test_a_statement_of_the_queue_reads_no_table_whole(filled: sqlite3.Connection, name: str, analyzed: bool) -> None:
    values = ('[{"key":1}]', 1, 1, 1)[: max(1, *(n * (f"?{n}" in QUEUE[name]) for n in (1, 2, 3, 4)))]
    filled.execute("BEGIN")
    try:
        if analyzed:
            filled.execute("ANALYZE")
        plan = [row[3] for row in filled.execute(f"EXPLAIN QUERY PLAN {QUEUE[name]}", values)]
    finally:
        filled.execute("ROLLBACK")
    scanned = [
        line
        for line in plan
        if line.startswith("SCAN") and "USING INDEX" not in line and _table_of(line, QUEUE[name]) in BIG
    ]
    assert not scanned, plan


def _table_of(line: str, sql: str) -> str:
    """The table that a line of a plan is about; it may name an alias."""
    name = line.split()[1]
    for word in sql.replace("\n", " ").split("procession_")[1:]:
        table, *rest = word.replace(",", " ").split()
        if name in (f"procession_{table}", *(rest[1:2] if rest[:1] == ["AS"] else ())):
            return table.strip("()")
    return name
