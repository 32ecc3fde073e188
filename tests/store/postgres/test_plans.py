"""The hot statements reach their rows by index, on large tables, whatever the tables held when they were planned."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from procession.ids import Keys
from procession.store.postgres import PostgresStore
from procession.store.postgres import _alike as alike
from procession.store.postgres import _commit as committing
from procession.store.postgres._columns import job_columns, packed_jobs
from procession.store.rows import JobChange, JobFence
from procession.testing.conformance.stage import new_job, next_step, service_job, start_step, waiting_for
from tests.support.postgres import PostgresDatabases

pytestmark = pytest.mark.plan

ROWS = 100_000
LARGE = frozenset({"instance", "job", "history", "subscription", "message", "incident", "user_task", "message_id"})
FILL = f"""
insert into procession.instance (key, definition, started_at, rev, status, process_id, state, variables)
select n, n % 20, now(), 1, 0, 'p' || n % 20, 'state', '{{}}' from generate_series(1, {ROWS}) n;
insert into procession.job (key, run_at, created_at, priority, lease, attempt, retries, kind, state, queue, type,
                            instance, owner)
select n, now() + (n - {ROWS} / 2) * interval '1 second', now(), n % 3, 1, 1, 3, 1, n % 3, 'q' || n % 10, 't', n,
       case when n % 3 = 1 then n % 7 end
from generate_series(1, {ROWS}) n;
insert into procession.history (instance, definition, at, events)
select n % 5000, 1, now(), '[]' from generate_series(1, {ROWS}) n;
insert into procession.subscription (key, instance, definition, trigger, once, tenant, name, correlation_key,
                                     process_id, element)
select n, n, 1, 1, true, '', 'm' || n % 10, 'k' || n, 'p' || n % 20, 'e' from generate_series(1, {ROWS}) n;
insert into procession.message (key, published_at, expires_at, tenant, name, correlation_key, message_id, process_id,
                                process_ids, variables)
select n, now(), now() + interval '1 hour', '', 'm' || n % 10, 'x' || n, '', '', '{{}}', '{{}}'
from generate_series(1, {ROWS}) n;
"""
EMPTY = "truncate procession.instance, procession.job, procession.history, procession.subscription, procession.message;"


@pytest.fixture(scope="module")
def filled_url(postgres_databases: PostgresDatabases, migrated_postgres_url: str) -> Iterator[str]:
    """A database with 100,000 rows in each large table."""
    url = postgres_databases.create(template=migrated_postgres_url)
    asyncio.run(execute(url, FILL, "analyze"))
    yield url
    postgres_databases.drop(url)


async def execute(url: str, *statements: str) -> None:
    store = PostgresStore(url, deadline_s=60)
    async with store._rest.lend() as session:
        for statement in statements:
            await session.execute(statement, "test")
    await store.close()


def columns_of(found: list[Any] | None) -> tuple[Any, ...]:
    assert found is not None
    return tuple(found)


def arguments() -> dict[str, tuple[Any, ...]]:
    """Values for every hot statement, 500 rows where it takes many."""
    keys = Keys(range(10_000_000, 20_000_000))
    starts = [start_step(keys) for _ in range(500)]
    for step in starts:
        step.new_jobs = [service_job(keys, step)]
    steps = [next_step(start_step(keys, instance=n)) for n in range(1, 501)]
    for step in steps:
        step.closed_jobs = [JobFence(key=step.instance, lease=1)]
        step.new_jobs = [service_job(keys, step)]
    wide = [next_step(start_step(keys, instance=n)) for n in range(1, 501)]
    for step in wide:
        step.new_subscriptions = [waiting_for(keys, step)]
        step.closed_subscriptions = [step.instance]
        step.changed_jobs = [JobChange(key=step.instance, state=0)]
    closing = [msgspec.structs.replace(step, new_jobs=[]) for step in steps]
    numbers, names = list(range(1, 501)), [f"m{n % 10}" for n in range(1, 501)]
    channels = ([""] * 500, names, [f"x{n}" for n in range(1, 501)])
    jobs = [new_job(keys) for _ in range(500)]
    return {
        "commit_start": (*committing._packed_start(starts), None, *packed_jobs(committing._jobs_of(starts))),
        "commit_step": (
            *committing._packed_step(steps),
            None,
            *committing._packed_fences(steps),
            *packed_jobs(committing._jobs_of(steps)),
        ),
        "commit_start_alike": columns_of(alike.start_columns(starts, None)),
        "commit_step_alike": columns_of(alike.step_columns(steps, None)),
        "commit_step_close": columns_of(alike.step_columns(closing, None)),
        "commit_wide": tuple(committing._wide_columns(wide, None)),
        "claim": ([f"q{n}" for n in range(10)], [50] * 10, 1, None, [False] * 10, [None] * 10),
        "claim_above": (
            [f"q{n}" for n in range(10)],
            [50] * 10,
            1,
            None,
            [False] * 10,
            [0] * 10,
            [0] * 10,
            [0] * 10,
            [None] * 10,
        ),
        "finish_done": (numbers, [1] * 500),
        "finish_alike": ("{" + ",".join(map(str, numbers)) + "}", 1),
        "finish": (numbers, [1] * 500, [n % 5 for n in numbers], [0] * 500, [-1] * 500, [], None),
        "promote": (500, None),
        "load": (numbers,),
        "enqueue": (None, *job_columns(jobs)),
        "enqueue_alike": columns_of(alike.enqueue_columns(jobs, None)),
        "enqueue_due": columns_of(alike.due_columns(jobs)),
        "rescue": (10_000, 500, 3, 1_000, None),
        "match_subscriptions": (*channels, ["p1"] * 500, [1] * 500, None),
        "publish_waiting": (*channels, [1] * 500),
        "broadcast_waiting": ("", "m1"),
        "expire_messages": (500, None),
        "history_since": (0, 0, 100),
    }


HOT_STATEMENTS = sorted(arguments())


@pytest.mark.parametrize("name", HOT_STATEMENTS)
async def test_a_hot_statement_scans_no_table(filled_url, name):
    plan = await plan_of(filled_url, name, before="")
    assert scans(plan) == []
    assert reached(plan), "the plan names no index, so this test looks at the wrong thing"


@pytest.mark.parametrize("name", HOT_STATEMENTS)
async def test_a_plan_made_on_empty_tables_is_as_good(url, name):
    # The trap: planned once for an empty table, where scanning is cheapest, and kept while the table fills.
    plan = await plan_of(url, name, before=EMPTY + "vacuum analyze")
    assert scans(plan) == []


@pytest.mark.parametrize("name", ["commit_step", "commit_step_alike", "commit_step_close", "commit_wide"])
async def test_instances_are_locked_in_key_order(filled_url, name):
    # Index scans over a sorted array give rows in key order, bitmap and sequential scans in the order of the heap.
    plan = await plan_of(filled_url, name, before="")
    (update,) = [each for each in nodes(plan) if each["Node Type"] == "ModifyTable" and each["Operation"] == "Update"
                 and each["Relation Name"] == "instance"]  # fmt: skip
    (source,) = [
        each for each in nodes(update) if each.get("Relation Name") == "instance" and "Scan" in each["Node Type"]
    ]
    assert source["Node Type"] == "Index Scan"
    assert source["Index Name"] == "instance_pkey"
    assert source["Scan Direction"] == "Forward"


async def test_readers_of_the_whole_history_get_it_in_order_from_the_index(filled_url):
    plan = await plan_of(filled_url, "history_since", before="")
    assert reached(plan) == {"history_horizon"}
    assert [each["Node Type"] for each in nodes(plan) if "Sort" in each["Node Type"]] == []


async def test_claims_read_ready_jobs_in_claim_order_from_the_index(filled_url):
    plan = await plan_of(filled_url, "claim", before="")
    assert "job_ready" in reached(plan)
    assert [each["Node Type"] for each in nodes(plan) if "Sort" in each["Node Type"]] == []


LISTINGS = {
    "history": (77, 0, 100),
    "load": ([77, 78],),
    "find_subscription": (77,),
    "list_jobs": (77, -1, -1, "", "", "", 0, 100),
    "list_instances": ("p3", 0, -1, "", 0, False, "", "", 0, 100, []),
    "list_subscriptions": (77, "", "", 0, 100),
    "list_incidents": (77, "", "", 0, 100),
    "list_user_tasks": (0, 77, "", "", "", False, "", "", 0, 0, -1, "", 0, 100),
}


@pytest.mark.parametrize("name", sorted(LISTINGS))
async def test_a_listing_that_names_what_it_wants_scans_no_table(filled_url, name):
    store = PostgresStore(filled_url)
    async with store._rest.lend() as session:
        rows = await session.connection.fetch("explain (format json) " + store._statements[name], *LISTINGS[name])
    await store.close()
    plan = json.loads(rows[0][0])[0]["Plan"]
    filled = {"instance", "job", "history", "subscription", "message"}  # the planner rightly scans tables without rows
    sequential = [each for each in nodes(plan) if each["Node Type"] == "Seq Scan" and each["Relation Name"] in filled]
    assert sequential == []


async def plan_of(url: str, name: str, *, before: str) -> dict[str, Any]:
    """The generic plan of a statement, as the sessions that execute it get it."""
    store = PostgresStore(url, deadline_s=60)
    values = arguments()[name]
    async with store._lanes.lend() as session:
        for statement in filter(None, before.split(";")):
            await session.execute(statement, "test")
        prepared = await session.connection.prepare(store._statements[name], name="hot")
        types = await session.connection.fetchval(
            "select parameter_types::text[] from pg_prepared_statements where name = 'hot'"
        )
        assert len(types) == len(prepared.get_parameters())
        nulls = ", ".join(f"null::{each}" for each in types)
        rows = await session.connection.fetch(f"explain (format json, verbose false) execute hot({nulls})")
        # It has to execute as well, or the plan above is one of a statement that does not work.
        await session.execute("begin", "test")
        await session.fetch(name, *values)
        await session.execute("rollback", "test")
    await store.close()
    return json.loads(rows[0][0])[0]["Plan"]


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for inner in plan.get("Plans", ()):
        yield from nodes(inner)


def scans(plan: dict[str, Any]) -> list[str]:
    """The large tables that a plan reads without an index."""
    return [
        f"{each['Node Type']} of {each['Relation Name']}"
        for each in nodes(plan)
        if each.get("Relation Name") in LARGE
        and (each["Node Type"] in ("Seq Scan", "Bitmap Heap Scan") or is_whole_index(each))
    ]


def is_whole_index(node: dict[str, Any]) -> bool:
    """Whether a node walks through a whole index of all rows: partial indexes are small by their nature."""
    return "Index" in node["Node Type"] and node["Index Name"].endswith("_pkey") and "Index Cond" not in node


def reached(plan: dict[str, Any]) -> set[str]:
    """The indexes that a plan uses, and the tables that it inserts into."""
    return {
        each.get("Index Name") or f"into {each['Relation Name']}"
        for each in nodes(plan)
        if "Index Name" in each or each.get("Operation") == "Insert"
    }
