"""Drives PgQueuer over asyncpg: a large batch per claim, which is also what finishes are gathered by."""
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import asyncpg
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgPoolDriver
from pgqueuer.models import Job
from pgqueuer.queries import Queries
from speaking import Queue, speak


class PgQueuerQueue(Queue):
    """Its own words: enqueue, entrypoint, run."""

    async def open(self) -> None:
        """Connect, and make the schema."""
        size = int(self.settings["pool"])
        self._pool = await asyncpg.create_pool(self.url, min_size=size, max_size=size)
        self._queries = Queries(AsyncpgPoolDriver(self._pool))
        if self.order["fills"]:
            await self._queries.install()

    async def insert_many(self, count: int) -> None:
        """One statement for all."""
        await self._queries.enqueue(["bench"] * count, [b'{"number":1}'] * count, [0] * count)

    async def insert_one(self, payload: dict[str, Any]) -> None:
        """One job."""
        await self._queries.enqueue("bench", json.dumps(payload).encode())

    async def work(self) -> None:
        """One worker; a new job wakes it."""
        pgq = PgQueuer(AsyncpgPoolDriver(self._pool))

        @pgq.entrypoint("bench")
        async def bench(job: Job) -> None:
            await self.handle(json.loads(job.payload or b"{}"))

        await pgq.qm.run(batch_size=int(self.settings["batch_size"]), dequeue_timeout=timedelta(seconds=5))

    async def close(self) -> None:
        """Close the pool."""
        self._pool.terminate()


if __name__ == "__main__":
    speak(PgQueuerQueue)
