"""Limits over processes that are killed: slots are never given twice, paces hold, and everything runs in the end."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest

from procession.ids import Keys
from procession.jobs.options import Limit
from procession.store.postgres import PostgresStore
from procession.store.rows import NewJob, Want
from procession.testing.conformance.limiting import most_in
from procession.testing.conformance.queue_stage import end, is_clean, job_with, paced
from tests.store.postgres.conftest import MakeStore

PROCESSES, KEYS, JOBS = 4, 10, 240
DEAD_AFTER_MS = 1_500


@asynccontextmanager
async def worker(url: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, int]]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.store.postgres.limited_worker", url, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    node = int(await asyncio.wait_for(process.stdout.readline(), 30))
    try:
        yield process, node
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.mark.kill
async def test_slots_are_never_given_twice_while_processes_are_killed(make_store: MakeStore, url: str) -> None:
    """Four processes, ten limits of one or two slots, a kill every now and then."""
    store = await make_store()
    log = await asyncpg.connect(url)
    await log.execute("create table began (job bigint, node int, at timestamptz, ended_at timestamptz)")
    keys = Keys(await store.take_keys(10_000))
    jobs = [job_with(keys, limits=[Limit(f"k{n % KEYS}", most=1 + n % 2)]) for n in range(JOBS)]
    await store.submit(jobs)
    for _ in range(3):
        await herd(store, log, url)
    async with worker(url):
        await until_done(store)
    await check(log, jobs)
    await log.close()
    assert await is_clean(store)


async def herd(store: PostgresStore, log: asyncpg.Connection, url: str) -> None:
    """Let some processes work for a moment, then kill them all; the moment of death is written down."""
    async with worker(url) as one, worker(url) as two, worker(url) as three, worker(url) as four:
        await asyncio.sleep(0.2)
        for process, node in (one, two, three, four):
            process.kill()
            await process.wait()
            await log.execute(
                "update began set ended_at = clock_timestamp() where node = $1 and ended_at is null", node
            )
    await store.rescue(1, 1_000, crash_budget=99, backoff_ms=0)


async def until_done(store: PostgresStore) -> None:
    for _ in range(3_000):
        await store.rescue(DEAD_AFTER_MS, 1_000, crash_budget=99, backoff_ms=0)
        if not await store.count_jobs():
            return
        await asyncio.sleep(0.01)
    raise AssertionError(await store.count_jobs())


async def check(log: asyncpg.Connection, jobs: list[NewJob]) -> None:
    """How many ran at once, by the database's own clock."""
    limit_of = {job.key: job.options.limits[0] for job in jobs if job.options is not None}
    rows = await log.fetch("select job, at, ended_at from began")
    events = [(row["at"], 1, limit_of[row["job"]]) for row in rows]
    events += [(row["ended_at"], -1, limit_of[row["job"]]) for row in rows]
    events.sort(key=lambda event: event[:2])
    running: Counter[str] = Counter()
    for _, change, limit in events:
        running[limit.key] += change
        assert running[limit.key] <= limit.most
    assert {row["job"] for row in rows} == limit_of.keys()


async def test_a_pace_holds_after_its_row_was_locked_for_a_second(make_store: MakeStore, url: str) -> None:
    """Claims wait for the row; what came due meanwhile starts at the pace, not at once."""
    store = await make_store()
    keys = Keys(await store.take_keys(1_000))
    await store.submit([job_with(keys, limits=paced(20, per_ms=200, burst=2)) for _ in range(60)])
    starts: list[int] = []
    blocked = asyncio.create_task(lock_limit(url, 1.0))
    await asyncio.sleep(0.05)
    while len(starts) < 60:
        runs = await store.claim(1, [Want(queue="mail", count=50)])
        now = await store.now()
        starts += [now] * len(runs)
        for run in runs:
            await end(store, run)
        if not runs:
            await asyncio.sleep(0.003)
    await blocked
    assert most_in(starts, 195) <= 22  # the clock is read a little after the claim
    assert await is_clean(store)


async def lock_limit(url: str, seconds: float) -> None:
    connection = await asyncpg.connect(url)
    async with connection.transaction():
        await connection.fetch("select * from procession.limits for update")
        await asyncio.sleep(seconds)
    await connection.close()
