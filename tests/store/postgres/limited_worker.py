"""A process of the test of limits under kills: claims, writes down when each run began and ended, and goes on."""

from __future__ import annotations

import asyncio
import sys

import asyncpg

from procession.store.postgres import PostgresStore
from procession.store.rows import ClaimedJob, JobEnd, JobOutcome, Want

BEGAN = "insert into began (job, node, at) values ($1, $2, clock_timestamp())"
ENDED = "update began set ended_at = clock_timestamp() where job = $1 and node = $2 and ended_at is null"


async def run(store: PostgresStore, log: asyncpg.Connection, lock: asyncio.Lock, node: int, job: ClaimedJob) -> None:
    async with lock:
        await log.execute(BEGAN, job.key, node)
    await asyncio.sleep(0.005)
    async with lock:
        await log.execute(ENDED, job.key, node)
    await store.finish([JobOutcome(key=job.key, lease=job.lease, end=JobEnd.DONE)])


async def main(url: str) -> None:
    store = PostgresStore(url, pool_size=1, lanes=1)
    await store.open()
    log = await asyncpg.connect(url)
    lock = asyncio.Lock()
    node = await store.register("limited", b"{}")
    sys.stdout.write(f"{node}\n")
    sys.stdout.flush()
    while True:
        await store.beat(node)
        jobs = await store.claim(node, [Want(queue="mail", count=8)])
        await asyncio.gather(*(run(store, log, lock, node, job) for job in jobs))
        if not jobs:
            await asyncio.sleep(0.01)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
