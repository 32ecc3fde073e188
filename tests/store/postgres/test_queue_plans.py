"""The queue's statements reach their rows by index on large tables, whatever the tables held when they were planned."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from procession.store.postgres import PostgresStore
from procession.store.postgres._sessions import QUEUE
from tests.store.postgres.test_plans import ROWS, execute, is_whole_index, nodes, plan_of
from tests.support.postgres import PostgresDatabases

pytestmark = pytest.mark.plan

LARGE = frozenset({"job", "job_archive", "unique_key", "slot", "dependency", "limits", "job_log", "fair_place"})
# What is looked through whole: by the sweep, by duties now and then, by people.
WHOLE = {"count_queues", "count_limited", "find_limited", "find_wrong_states"}
WHOLE |= {"watch_queued"}  # the newest so many, from the end of the keys: a plan calls that a scan
WHOLE |= {"watch_marks"}  # the greatest key of each table: the end of its index, which a plan calls a scan
WHOLE |= {"find_stuck_children", "find_idle_limits", "list_limits", "expire_limits", "drop_unique"}
FILL = f"""
insert into procession.job (key, run_at, created_at, priority, lease, attempt, retries, kind, state, queue, type, owner,
                            traits, options, waits_for, deadline_at, batch)
select n, now() + (n - {ROWS} / 2) * interval '1 second', now(), n % 3, 1, 1, 3, 0,
       (array[0, 1, 2, 3, 4, 4])[1 + n % 6],
       'q' || n % 10, 't', case when n % 6 = 1 then n % 7 end, 4, '{{"limits":[{{"key":"k1","most":1}}]}}',
       case when n % 6 = 4 then 'k' || n % 50 end, case when n % 100 = 0 then n end,
       case when n % 50 = 0 then n % 9 end
from generate_series(1, {ROWS}) n;
insert into procession.job_archive (key, created_at, run_at, ended_at, expires_at, priority, attempt, retries, crashes,
                                    lease, kind, state, queue, type)
select {ROWS} + n, now(), now(), n, n, 0, 1, 1, 0, 1, 0, 7, 'q', 't' from generate_series(1, {ROWS}) n;
insert into procession.unique_key (tenant, key, job, until)
select '', 'u' || n, n, case when n % 3 = 0 then n end from generate_series(1, {ROWS}) n;
insert into procession.limits select 'k' || n, 1, 0, 1000, 0, 0, 0, 0, 0 from generate_series(1, 20000) n;
insert into procession.slot select 'k' || n % 5000, n, 1 from generate_series(1, {ROWS}) n;
insert into procession.dependency select n, n + 1, false, n % 2 = 0 from generate_series(1, {ROWS}) n;
insert into procession.job_log select n % 5000, n, 1, 20, 'x' from generate_series(1, {ROWS}) n;
insert into procession.fair_place select 'q' || n % 10, 'f' || n, n from generate_series(1, {ROWS}) n;
"""


@pytest.fixture(scope="module")
def filled_url(postgres_databases: PostgresDatabases, migrated_postgres_url: str) -> Iterator[str]:
    """A database with 100,000 rows in each large table of the queue."""
    url = postgres_databases.create(template=migrated_postgres_url)
    asyncio.run(execute(url, FILL, "analyze"))
    yield url
    postgres_databases.drop(url)


def statements() -> list[str]:
    texts = PostgresStore("postgresql:///none")._statements._texts
    return sorted(name for name in texts if name.startswith(QUEUE))


HOT = [name for name in statements() if name.removeprefix(QUEUE) not in WHOLE and "find_lost" not in name]


@pytest.mark.parametrize("name", HOT)
async def test_a_statement_of_the_queue_scans_no_table(filled_url: str, name: str) -> None:
    assert scans(await generic_plan(filled_url, name)) == []


async def test_claims_are_as_quick_beside_many_limited_jobs(filled_url: str) -> None:
    """The jobs that wait for their limits are in an index of their own, which says at once whether one is due."""
    plan = await plan_of(filled_url, "claim", before="")
    used = {node["Index Name"] for node in nodes(plan) if "Index Name" in node}
    assert {"job_ready", "job_throttled"} <= used, used
    assert [node for node in nodes(plan) if "Sort" in node["Node Type"]] == []
    assert scans(plan) == []


async def generic_plan(url: str, name: str) -> dict[str, Any]:
    """The plan that the sessions of scripts get."""
    store = PostgresStore(url, deadline_s=60)
    async with store._queue.lend() as session:
        prepared = await session.connection.prepare(store._statements[name], name="hot")
        types = await session.connection.fetchval(
            "select parameter_types::text[] from pg_prepared_statements where name = 'hot'"
        )
        assert len(types) == len(prepared.get_parameters())
        nulls = ", ".join(f"null::{each}" for each in types)
        rows = await session.connection.fetch(f"explain (format json, verbose false) execute hot({nulls})")
    await store.close()
    return json.loads(rows[0][0])[0]["Plan"]


def scans(plan: dict[str, Any]) -> list[str]:
    return [
        f"{node['Node Type']} of {node['Relation Name']}"
        for node in nodes(plan)
        if node.get("Relation Name") in LARGE
        and (node["Node Type"] in ("Seq Scan", "Bitmap Heap Scan") or is_whole_index(node))
    ]
