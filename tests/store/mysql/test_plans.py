"""The hot statements reach their rows by an index, at the size where a scan would be noticed."""

from __future__ import annotations

import msgspec
import pytest

from procession.ids import Keys
from procession.store.mysql import MysqlStore
from procession.store.mysql._statements import QUEUE, STATEMENTS
from procession.testing.conformance.queue_stage import job_with, mutex
from procession.testing.conformance.stage import apply, new_job, service_job, start_step

pytestmark = pytest.mark.plan

KEYS = list(range(2**51 + 1, 2**51 + 200, 2))
PAIRS = [(b"%d" % key, b"1") for key in KEYS]
PLANS = {
    "find_places": ({"keys": KEYS}, (), "procession_instance", "PRIMARY"),
    "find_leases": ({"keys": KEYS}, (), "procession_job", "PRIMARY"),
    "delete_held_jobs": ({"keys": KEYS}, PAIRS, "procession_job", "PRIMARY"),
    "delete_jobs": ({"keys": KEYS}, (), "procession_job", "PRIMARY"),
    "lease_jobs": ({"keys": KEYS, "node": 1}, (), "procession_job", "PRIMARY"),
    "find_ready_jobs": ({"queue": "mail", "count": 500, "strangers": ["unknown"]}, (), "procession_job", "ready"),
    "find_due_jobs": ({"limit": 100}, (), "procession_job", "due"),
    "find_next_due": ({}, (), "procession_job", "due"),
    "find_lost_jobs": ({"dead_after_ms": 5, "limit": 10}, (), "procession_job", "ready"),
    "find_waiting": ({"channels": [1, 2, 3], "count": 1}, (), "subscription", "channel"),
    "find_buffered_channels": ({"channels": [1, 2, 3]}, (), "procession_message", "channel"),
    "list_history": ({"instance": KEYS[0], "after": 0, "limit": 10}, (), "procession_history", "instance"),
    "lock_channels": ({"buckets": [1, 500]}, (), "procession_channel_lock", "PRIMARY"),
}


@pytest.mark.parametrize("name", PLANS)
async def test_a_hot_statement_uses_its_index(store: MysqlStore, keys: Keys, name: str) -> None:
    values, rows, table, index = PLANS[name]
    await store.enqueue([new_job(keys) for _ in range(3_000)])
    steps = [start_step(keys) for _ in range(1_000)]
    for step in steps:
        step.new_jobs = [service_job(keys, step, owner=1)]
    await apply(store, keys, *steps)
    plan = await explain(store, STATEMENTS[name].write(values, rows))
    found = next(each for each in tables(plan) if each["table_name"] == table)
    assert found["access_type"] in ("range", "ref", "index"), plan
    assert found["key"] == index, plan


@pytest.mark.parametrize("name", ["find_throttled_queues", "throttled_levels"])
async def test_a_line_of_limited_jobs_is_asked_for_its_first_ones_only(
    store: MysqlStore, keys: Keys, name: str
) -> None:
    """One look into the index per priority, however many wait: what it read, the server has counted."""
    jobs = [job_with(keys, limits=mutex(f"tenant {n % 20}", most=9_000), priority=n % 3) for n in range(3_000)]
    await store.submit(jobs)
    values = {"lines": ["queue mail"], "a": ["mail"], "b": 2_000_000_000_000}
    sql = (QUEUE[name][0] if name in QUEUE else STATEMENTS[name]).write(values, ())
    async with store._rest.lend() as session:
        session.put_text("now", b"SET @now = 2000000000000")
        session.put_text("analyze", b"ANALYZE TABLE procession_job")
        session.put_text("flush", b"FLUSH STATUS")
        session.put_text("asked", sql)
        answer = session.put_text("read", b"SHOW SESSION STATUS LIKE 'Handler_read%'")
        await session.send()
    read = sum(int(value) for _, value in answer.rows)
    assert read < 100, answer.rows


async def explain(store: MysqlStore, sql: bytes) -> dict:
    async with store._rest.lend() as session:
        session.put_text("now", b"SET @now = 1700000000000")
        answer = session.put_text("explain", b"EXPLAIN FORMAT=JSON " + sql)
        await session.send()
    return msgspec.json.decode(answer.rows[0][0])


def tables(plan: object):
    """Every table of a plan, wherever it stands."""
    if isinstance(plan, dict):
        if "table_name" in plan:
            yield plan
        for part in plan.values():
            yield from tables(part)
    elif isinstance(plan, list):
        for part in plan:
            yield from tables(part)
