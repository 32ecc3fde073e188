"""Claims beside a transaction that holds up vacuum: they do not walk over what is done, and miss nothing for long."""

from __future__ import annotations

import json
from time import monotonic
from typing import Any

import asyncpg
import pytest

from procession.ids import Keys
from procession.store.postgres import PostgresStore
from procession.store.postgres._floors import HELD_S, IDLE_S, SHARE, SLOW_S, SWEEP_S, Floors
from procession.store.rows import JobEnd, JobOutcome, Want
from procession.testing.conformance.stage import new_job
from tests.store.postgres.conftest import MakeStore

DONE = 6_000


async def test_a_claim_with_a_floor_does_not_walk_over_what_is_done(make_store: MakeStore, url: str) -> None:
    store = await make_store()
    keys = Keys(await store.take_keys(20_000))
    pin = await asyncpg.connect(url)
    async with pin.transaction(isolation="repeatable_read"):
        await pin.fetchval("select txid_current()")  # nothing that ends from now on can be cleared away
        await store.enqueue([new_job(keys) for _ in range(DONE + 50)])
        store._floors.until = store._floors.swept_at = monotonic() + 1_000  # as if a claim had been slow
        for _ in range(DONE // 500):
            runs = await store.claim(1, [Want(queue="mail", count=500)])
            floor = store._floors.places["mail"]
            await store.finish([JobOutcome(key=run.key, lease=run.lease, end=JobEnd.DONE) for run in runs])
        claim = (["mail"], [1], 1, None, [False])
        whole = await blocks_of(store, "claim", *claim, [None])
        above = await blocks_of(store, "claim_above", *claim, *([part] for part in floor), [None])
    await pin.close()
    assert above * 4 < whole, (above, whole)


@pytest.mark.parametrize("count", [100_000])  # 200_000 and more give the same
async def test_many_jobs_beside_an_open_transaction_cost_a_claim_no_more(
    make_store: MakeStore, url: str, count: int
) -> None:
    store = await make_store()
    keys = Keys(await store.take_keys(2 * count))
    pin = await asyncpg.connect(url)
    async with pin.transaction(isolation="repeatable_read"):
        await pin.fetchval("select txid_current()")
        few = await pages_of_a_claim_after(store, keys, count // 20)
        many = await pages_of_a_claim_after(store, keys, count - count // 20)
        pinned = await pin.fetchval("select pg_relation_size('procession.job')")
    assert many <= 2 * few, (few, many)
    await pin.execute("vacuum procession.job")
    await pages_of_a_claim_after(store, keys, count // 4)
    assert await pin.fetchval("select pg_relation_size('procession.job')") <= pinned, "what is done is used again"
    await pin.close()


async def pages_of_a_claim_after(store: PostgresStore, keys: Keys, count: int) -> int:
    """How many pages a claim of 500 looks at, after so many jobs have come, run and gone."""
    for _ in range(count // 5_000):
        await store.enqueue([new_job(keys) for _ in range(5_000)])
        store._floors.until, store._floors.swept_at = monotonic() + 1_000, monotonic() + 1_000
        for _ in range(10):
            runs = await store.claim(1, [Want(queue="mail", count=500)])
            assert len(runs) == 500
            await store.finish([JobOutcome(key=run.key, lease=run.lease, end=JobEnd.DONE) for run in runs])
    await store.enqueue([new_job(keys) for _ in range(500)])
    floor = [[part] for part in store._floors.places["mail"]]
    pages = await blocks_of(store, "claim_above", ["mail"], [500], 1, None, [False], *floor, [None])
    runs = await store.claim(1, [Want(queue="mail", count=500)])
    await store.finish([JobOutcome(key=run.key, lease=run.lease, end=JobEnd.DONE) for run in runs])
    return pages


async def blocks_of(store: PostgresStore, name: str, *values: Any) -> int:
    """How many pages a statement looks at."""
    async with store._claims.lend() as session:
        await session.execute("begin", "test")
        sql = "explain (analyze, buffers, format json) " + store._statements[name]
        await session.connection.fetch(sql, *values)  # the first time it also looks into the catalog
        await session.execute("rollback", "test")
        await session.execute("begin", "test")
        rows = await session.connection.fetch(sql, *values)
        await session.execute("rollback", "test")
    plan = json.loads(rows[0][0])[0]["Plan"]
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]


async def test_with_floors_higher_priorities_come_first_and_the_rest_soon(make_store: MakeStore) -> None:
    store = await make_store()
    keys = Keys(await store.take_keys(1_000))
    jobs = [new_job(keys, priority=5) for _ in range(6)]
    await store.enqueue(jobs)
    store._floors.until = store._floors.swept_at = monotonic() + 1_000  # as if a claim had been slow
    assert [run.key for run in await claim(store, 2)] == [job.key for job in jobs[:2]]
    higher, lower = new_job(keys, priority=6), new_job(keys, priority=4)
    await store.enqueue([lower, higher])
    assert [run.key for run in await claim(store, 3)] == [higher.key, jobs[2].key, jobs[3].key]
    assert [run.key for run in await claim(store, 9)] == [job.key for job in jobs[4:]]
    assert await claim(store, 9) == []  # the lower one is below the floor
    store._floors.swept_at = 0
    assert [run.key for run in await claim(store, 9)] == [lower.key]


async def claim(store: PostgresStore, count: int) -> list[Any]:
    return await store.claim(1, [Want(queue="mail", count=count)])


def test_floors_are_used_only_while_claims_are_slow() -> None:
    floors, wants = Floors(), [Want(queue="a", count=1), Want(queue="b", count=1)]
    row = {"queue": "a", "priority": 3, "place": 77_000, "key": 9}
    floors.learn([row], 10.0, 10.0 + SLOW_S / 2, with_floors=False)
    assert floors.columns(wants, 10.1) is None
    floors.learn([row], 11.0, 11.0 + 2 * SLOW_S, with_floors=False)
    assert floors.columns(wants, 11.1) == ([-(2**31)] * 2, [0, 0], [0, 0])
    floors.learn([row], 11.1, 11.1, with_floors=True)
    assert floors.columns(wants, 11.2) == ([3, -(2**31)], [77_000, 0], [9, 0])
    after, pause = 11.0 + 2 * SLOW_S, SHARE * 2 * SLOW_S  # so much for a claim without floors that took so long
    assert floors.columns(wants, after + pause - 0.01) is not None
    assert floors.columns(wants, after + pause) is None
    floors.sweep_took = 0.0
    assert floors.columns(wants, after + SWEEP_S) is None
    floors.learn([], 11.2, 11.2, with_floors=True)
    assert floors.columns(wants, after + IDLE_S) is None
    floors.learn([row], 12.0, 12.0, with_floors=False)
    assert floors.columns(wants, 12.1) is not None
    assert floors.columns(wants, 12.0 + HELD_S) is None
