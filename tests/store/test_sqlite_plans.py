"""SQLite's hot statements and listings search an index; on many rows none of them reads a whole table."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from procession.store._shared.statements import repeat_rows
from procession.store.sqlite import SqliteStore
from procession.store.sqlite._session import STATEMENTS, as_json

pytestmark = pytest.mark.plan

ROWS = 100_000
QUEUE = {"kind": -1, "queue": "", "type": "", "tenant": "", "state": -1, "after": 0, "limit": 100}
INSTANCES = {
    "process_id": "",
    "definition": 0,
    "status": -1,
    "statuses": "[]",
    "business_id": "",
    "parent": 0,
    "tag": "",
    "tenant": "",
    "with_incident": 0,
    "before": 2**63 - 1,
    "limit": 100,
}
CHANNEL = {"name": "paid", "correlation_key": "A-17", "tenant": ""}
KEYS = {"keys": as_json([1, 2, 3])}
SEARCHED: dict[str, tuple[dict[str, object], str]] = {
    "find_ready_jobs": ({"queue": "mail-1", "count": 100, "strangers": "[]"}, "procession_job_ready"),
    "find_due_jobs": ({"now": 5, "limit": 100}, "procession_job_scheduled"),
    "find_next_due": ({"now": 5}, "procession_job_scheduled"),
    "find_lost_jobs": ({"limit": 100}, "procession_job_running"),
    "give_back_jobs": ({"node": 1}, "procession_job_running"),
    "find_leases": (KEYS, "PRIMARY KEY"),
    "lease_jobs": ({**KEYS, "node": 1}, "PRIMARY KEY"),
    "delete_jobs": (KEYS, "PRIMARY KEY"),
    "make_jobs_ready": (KEYS, "PRIMARY KEY"),
    "find_places": (KEYS, "PRIMARY KEY"),
    "load_instances": (KEYS, "PRIMARY KEY"),
    "list_history": ({"instance": 77, "after": 0, "limit": 100}, "procession_history_instance"),
    "list_jobs": (QUEUE, "PRIMARY KEY"),
    "list_failed_jobs": (QUEUE, "procession_job_failed"),
    "list_jobs_of_instance": ({**QUEUE, "instance": 77}, "procession_job_instance"),
    "list_instances": (INSTANCES, "PRIMARY KEY"),
    "list_instances_of_process": ({**INSTANCES, "process_id": "p-1"}, "procession_instance_process"),
    "list_instances_of_business_id": ({**INSTANCES, "business_id": "b-1"}, "procession_instance_business_id"),
    "list_instances_of_parent": ({**INSTANCES, "parent": 7}, "procession_instance_parent"),
    "find_message_subscriptions": (CHANNEL, "procession_subscription_channel"),
    "find_signal_subscriptions": ({"name": "paid", "tenant": ""}, "procession_subscription_channel"),
    "find_messages": ({**CHANNEL, "now": 5}, "procession_message_channel"),
    "find_same_message": ({**CHANNEL, "message_id": "m"}, "procession_message_once"),
    "expire_messages": ({"now": 5, "limit": 100}, "procession_message_expiry"),
    "list_subscriptions_of_instance": (
        {"instance": 7, "name": "", "tenant": "", "after": 0, "limit": 9},
        "procession_subscription_instance",
    ),
    "delete_start_timers_of_process": ({"process_id": "p-1", "tenant": ""}, "procession_job_start_timer"),
    "find_definition": (
        {"process_id": "p-1", "version": 0, "version_tag": "", "deployment": 0, "tenant": ""},
        "procession_definition_version",
    ),
}
BIG = ("job", "instance", "history", "subscription", "message", "incident", "user_task")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    """A file with many rows of every big table, most of them history as in a database that has worked for long."""
    path: Path = tmp_path_factory.mktemp("plans") / "procession.db"
    asyncio.run(SqliteStore(path).migrate())
    with closing(sqlite3.connect(path)) as connection:
        for statement in FILL:
            connection.execute(statement, {"rows": ROWS})
        connection.commit()
        yield connection


NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :rows)"
FILL = (
    f"""INSERT INTO procession_job (key, kind, state, priority, run_at, attempt, retries, lease, owner, crashes,
        instance, element_instance, definition, created_at, queue, type, element, tenant, error, args) {NUMBERS}
        SELECT i, i % 4, CASE i % 10 WHEN 0 THEN 1 WHEN 1 THEN 2 WHEN 2 THEN 5 ELSE 0 END,
        i % 3, i, 0, 3, 1, i % 20, 0, i % 1000, 0, 1, i, 'mail-' || (i % 20), 'send', '', '', '', '{{}}' FROM n""",
    f"""INSERT INTO procession_instance {NUMBERS}
        SELECT i, 1, 1, i % 2, i % 50, 0, i, 0, 'p-' || (i % 20), 'b-' || i, '',
        '[]', '{{}}', zeroblob(50) FROM n""",
    f"INSERT INTO procession_history (instance, definition, at, events) {NUMBERS} SELECT i % 20000, 1, i, '[]' FROM n",
    f"""INSERT INTO procession_subscription {NUMBERS}
        SELECT i, i, 0, 1, 1, 1, 0, i, 'p-1', '', 'paid', 'A-' || i, '' FROM n""",
    f"""INSERT INTO procession_message {NUMBERS}
        SELECT i, i, i, 0, 'paid', 'A-' || i, '', 'm-' || i, '', '[]', '{{}}' FROM n""",
)


@pytest.mark.parametrize("analyzed", [False, True], ids=["without statistics", "with statistics"])
@pytest.mark.parametrize("name", SEARCHED)
def test_a_statement_searches_its_index(filled: sqlite3.Connection, name: str, analyzed: bool) -> None:
    values, index = SEARCHED[name]
    filled.execute("BEGIN")
    try:
        if analyzed:
            filled.execute("ANALYZE")
        plan = [row[3] for row in filled.execute(f"EXPLAIN QUERY PLAN {STATEMENTS[name]}", values)]
    finally:
        filled.execute("ROLLBACK")
    assert any(index in line for line in plan), plan
    scanned = [line for line in plan if line.startswith("SCAN") and index not in line]
    assert not [line for line in scanned if line.split()[1].removeprefix("procession_") in BIG], scanned


@pytest.mark.parametrize("name", ["find_ready_jobs", "find_due_jobs", "list_history", "list_instances_of_process"])
def test_the_order_comes_from_the_index(filled: sqlite3.Connection, name: str) -> None:
    values, _ = SEARCHED[name]
    plan = [row[3] for row in filled.execute(f"EXPLAIN QUERY PLAN {STATEMENTS[name]}", values)]
    assert not [line for line in plan if "TEMP B-TREE" in line], plan


@pytest.mark.parametrize("name", ["update_instances", "move_instances"])
def test_a_group_of_steps_is_updated_by_key(filled: sqlite3.Connection, name: str) -> None:
    sql = repeat_rows(STATEMENTS[name], 64)
    plan = [row[3] for row in filled.execute(f"EXPLAIN QUERY PLAN {sql}", (0,) * sql.count("?"))]
    assert any("SEARCH instance USING INTEGER PRIMARY KEY" in line for line in plan), plan


def test_an_ordinary_step_writes_no_index_of_instances(filled: sqlite3.Connection) -> None:
    (root,) = filled.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'procession_instance'").fetchone()
    indexes = filled.execute(
        "SELECT rootpage FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'procession_instance'"
    ).fetchall()
    for name, written in (("update_instances", {root}), ("move_instances", {root, *_pages_of("process", filled)})):
        sql = repeat_rows(STATEMENTS[name], 1)
        steps = filled.execute(f"EXPLAIN {sql}", (0,) * sql.count("?")).fetchall()
        opened = {step[3] for step in steps if step[1] == "OpenWrite"}
        assert opened & {root, *(page for (page,) in indexes)} == written, name


@pytest.mark.parametrize("values", [{}, {"process_id": "p-1"}])
def test_instances_are_counted_without_reading_them(filled: sqlite3.Connection, values: dict[str, object]) -> None:
    sql = STATEMENTS["count_instances_of_process" if values else "count_instances"]
    plan = [row[3] for row in filled.execute(f"EXPLAIN QUERY PLAN {sql}", values)]
    assert "USING COVERING INDEX procession_instance_process" in plan[0]


def _pages_of(index: str, connection: sqlite3.Connection) -> tuple[int]:
    name = f"procession_instance_{index}"
    return connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,)).fetchone()


def test_every_statement_is_valid_against_the_schema(filled: sqlite3.Connection) -> None:
    for name, sql in STATEMENTS.items():
        one = repeat_rows(sql, 1) if "/* rows */" in sql else sql
        values = (0,) * one.count("?") if "?" in one else _Anything()
        filled.execute(f"EXPLAIN {one}", values), name


class _Anything(dict):
    def __missing__(self, key: str) -> int:
        return 0
