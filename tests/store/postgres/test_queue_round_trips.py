"""Round trips of the queue's calls: jobs without traits take what they always did, others a bounded number."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from typing import Any

import pytest

from procession.ids import Keys
from procession.jobs.options import Unique
from procession.store.postgres import PostgresStore
from procession.store.rows import ClaimedJob, JobEnd, JobOutcome, Want
from procession.testing.conformance.queue_stage import after, job_with, mutex, paced
from procession.testing.conformance.stage import new_job
from tests.store.postgres.wire import Wire

TRANSACTION = 3  # begin, the clock, commit


class Counted:
    """A store whose round trips are counted, once its statements are prepared."""

    def __init__(self, wire: Wire, store: PostgresStore, keys: Keys) -> None:
        self.wire, self.store, self.keys = wire, store, keys

    async def trips(self, call: Awaitable[Any]) -> int:
        """How many the call takes. Announcements go on their own, whenever: earlier ones are waited for."""
        await self.store._announcer.close()
        before = self.wire.round_trips
        await call
        return self.wire.round_trips - before

    async def claim(self, count: int = 100) -> list[ClaimedJob]:
        await self.store._announcer.close()
        return await self.store.claim(1, [Want(queue="mail", count=count)])


@pytest.fixture
async def counted(url: str) -> AsyncIterator[Counted]:
    async with Wire(url) as wire:
        store = PostgresStore(wire.url, lanes=1, pool_size=1)
        await store.open()
        found = Counted(wire, store, Keys(await store.take_keys(20_000)))
        found.store._queue.size = 1  # one connection has prepared everything
        for _ in range(2):
            await run_everything(found)
        yield found
        await store.close()


async def run_everything(counted: Counted) -> None:
    """Use every statement that is counted below."""
    keys = counted.keys
    parent = job_with(keys, unique=Unique(f"w{keys.take()}"), keep_ms=1)
    jobs = [parent, job_with(keys, after=after(parent)), *(job_with(keys, limits=mutex()) for _ in range(3))]
    await counted.store.submit([*jobs, job_with(keys, limits=paced(1_000_000, burst=1_000))])
    await counted.store.enqueue([new_job(keys)])
    while runs := await counted.claim():
        await counted.store.finish([JobOutcome(key=run.key, lease=run.lease, end=JobEnd.DONE) for run in runs])


def done(runs: list[ClaimedJob]) -> list[JobOutcome]:
    return [JobOutcome(key=run.key, lease=run.lease, end=JobEnd.DONE) for run in runs]


async def test_jobs_without_options_take_one_each_way(counted: Counted) -> None:
    jobs = [new_job(counted.keys) for _ in range(100)]
    assert await counted.trips(counted.store.enqueue(jobs)) == 1
    await counted.store._announcer.close()
    before = counted.wire.round_trips
    runs = await counted.claim()
    assert counted.wire.round_trips - before == 1
    assert len(runs) == 100
    assert await counted.trips(counted.store.finish(done(runs))) == 1


async def test_options_that_nothing_follows_from_end_as_quickly(counted: Counted) -> None:
    jobs = [job_with(counted.keys, title="x", tags=["a"], timeout_ms=5) for _ in range(100)]
    assert await counted.trips(counted.store.submit(jobs)) == TRANSACTION + 3
    runs = await counted.claim()
    assert len(runs) == 100
    assert await counted.trips(counted.store.finish(done(runs))) == 1


@pytest.mark.parametrize("count", [1, 100])
async def test_the_long_way_takes_as_many_for_many_as_for_one(counted: Counted, count: int) -> None:
    """All sets of rows go in one statement each."""
    keys = counted.keys
    jobs = [job_with(keys, unique=Unique(f"u{n}")) for n in range(count)]
    assert await counted.trips(counted.store.submit(jobs)) <= TRANSACTION + 6
    runs = await counted.claim()
    assert await counted.trips(counted.store.finish(done(runs))) <= 1 + TRANSACTION + 6
    limited = [job_with(keys, limits=paced(1_000_000, burst=1_000)) for _ in range(count)]
    assert await counted.trips(counted.store.submit(limited)) <= TRANSACTION + 7
    await counted.store._announcer.close()
    before = counted.wire.round_trips
    runs = await counted.claim(count)
    assert len(runs) == count
    assert counted.wire.round_trips - before <= 1 + TRANSACTION + 11
    assert await counted.trips(counted.store.finish(done(runs))) <= 1 + TRANSACTION + 7
