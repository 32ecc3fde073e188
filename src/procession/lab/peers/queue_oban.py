"""Drives Oban for Python: one queue whose limit is the number of jobs at once, a pool of connections."""
# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import asyncio
from typing import Any

from oban import Oban, worker
from oban.schema import install
from psycopg_pool import AsyncConnectionPool
from speaking import Queue, speak

_queue: ObanQueue


@worker(queue="bench")
class Bench:
    """A job."""

    async def process(self, job: Any) -> None:  # noqa: ANN401 - what a worker is given
        """Do it."""
        await _queue.handle(job.args)


class ObanQueue(Queue):
    """Its own words: new, enqueue_many, an instance with queues."""

    async def open(self) -> None:
        """Connect, and make the schema."""
        global _queue  # noqa: PLW0603 - workers are found by the name of a class of a module
        _queue = self
        size = int(self.settings["pool"])
        self._pool = AsyncConnectionPool(self.url, min_size=size, max_size=size, open=False)
        await self._pool.open(wait=True)
        if self.order["fills"]:
            await install(self._pool)
        self._oban = Oban(pool=self._pool, queues={"bench": self.order["concurrency"]})

    async def insert_many(self, count: int) -> None:
        """One call for all."""
        await self._oban.enqueue_many([Bench.new({"number": 1}) for _ in range(count)])

    async def insert_one(self, payload: dict[str, Any]) -> None:
        """One job."""
        await self._oban.enqueue(Bench.new(payload))

    async def work(self) -> None:
        """Run the queue; a new job wakes it."""
        async with self._oban:
            await asyncio.Event().wait()

    async def close(self) -> None:
        """Close the pool."""
        await self._pool.close()


if __name__ == "__main__":
    speak(ObanQueue)
