"""Applications behind PgBouncer: they find work by polling, on callers' transactions too, and outlive the pooler."""

from __future__ import annotations

import asyncio
from collections import Counter

import asyncpg
import pytest

from procession import Limit, Procession
from procession.errors import Unavailable
from procession.testing.bpmn import process
from tests.support.pgbouncer import PgBouncer

INSTANCES = 200
TRIES = 1_000
MODEL = (
    process("order")
    .start()
    .service("pack", type="pack")
    .service("ship", type="ship")
    .catch("a-moment", timer="PT0.1S")
    .end()
)


class Worker:
    """An application with handlers that count."""

    def __init__(self, url: str) -> None:
        self.app = Procession(f"{url}?pgbouncer=1")
        self.done: Counter[str] = Counter()

        @self.app.job("pack")
        async def pack() -> None:
            self.done["pack"] += 1

        @self.app.job("ship")
        async def ship() -> None:
            self.done["ship"] += 1


async def started(app: Procession) -> int:
    """A start by a caller who does what Unavailable tells."""
    for _ in range(TRIES):
        try:
            return await app.start("order")
        except Unavailable:
            await asyncio.sleep(0.05)
    raise TimeoutError("the database did not come back")


async def no_job_is_left(app: Procession) -> None:
    """Whoever works has done all there is."""
    for _ in range(TRIES):
        if not await app.count_jobs():
            return
        await asyncio.sleep(0.05)
    pytest.fail(f"jobs are left: {await app.count_jobs()}")


async def all_ended(app: Procession, keys: list[int]) -> None:
    ended = await asyncio.gather(*(app.wait(key, timeout=90) for key in keys))
    assert {each.state for each in ended} == {"COMPLETED"}


async def test_what_one_process_starts_others_find_by_polling(url: str):
    starter, one, other = Procession(f"{url}?pgbouncer=1"), Worker(url), Worker(url)
    await starter.open(run_workers=False)
    await starter.deploy(("order.bpmn", MODEL.xml()))
    async with one.app, other.app:
        await all_ended(starter, await asyncio.gather(*(starter.start("order") for _ in range(INSTANCES))))
    assert one.done + other.done == {"pack": INSTANCES, "ship": INSTANCES}
    assert await starter.jobs() == []
    await starter.close()


async def test_a_start_on_a_connection_through_the_pooler_follows_its_transaction(url: str):
    worker = Worker(url)
    connection = await asyncpg.connect(url, statement_cache_size=0)
    async with worker.app as app:
        await app.deploy(("order.bpmn", MODEL.xml()))
        transaction = connection.transaction()
        await transaction.start()
        await app.start("order", business_id="undone", connection=connection)
        await transaction.rollback()
        async with connection.transaction():
            key = await app.start("order", business_id="kept", connection=connection)
            assert await app.instances() == []
        assert (await app.wait(key, timeout=60)).business_id == "kept"
        assert len(await app.instances()) == 1
    await connection.close()


async def test_jobs_with_all_that_the_queue_offers_are_found_by_polling(url: str):
    starter, workers = Procession(f"{url}?pgbouncer=1"), [Worker(url), Worker(url)]
    await starter.open(run_workers=False)
    limits = [Limit("door", most=2), Limit("pace", rate=200, per="1s", burst=20)]
    async with workers[0].app, workers[1].app:
        plain = await starter.enqueue_many("pack", [{}] * INSTANCES)
        limited = await starter.enqueue_many("ship", [{}] * 20, limits=limits)
        later = await starter.enqueue("pack", delay="200ms", priority=3, keep="1h")
        child = await starter.enqueue("ship", after=[later.job_key, limited[0].job_key], unique="once")
        again = await starter.enqueue("ship", unique="once", after=[later.job_key])
        assert (again.job_key, again.is_duplicate) == (child.job_key, True)
        await no_job_is_left(starter)
    done = workers[0].done + workers[1].done
    assert done == {"pack": len(plain) + 1, "ship": len(limited) + 1}
    assert (await starter._store.sweep()).is_clean
    await starter.close()


@pytest.mark.kill
@pytest.mark.timeout(240)
async def test_a_pooler_that_dies_and_comes_back_loses_nothing(direct_url: str, postgres_databases):
    with PgBouncer(postgres_databases.server.url()) as pooler:
        worker = Worker(pooler.through(direct_url))
        async with worker.app as app:
            await app.deploy(("order.bpmn", MODEL.xml()))
            keys: list[int] = []
            for _ in range(3):
                starting = asyncio.gather(*(started(app) for _ in range(INSTANCES)))
                await asyncio.to_thread(pooler.kill)
                await asyncio.to_thread(pooler.start)
                keys += await starting
            await all_ended(app, keys)
            assert await app.incidents() == []
    assert worker.done["ship"] >= 3 * INSTANCES
