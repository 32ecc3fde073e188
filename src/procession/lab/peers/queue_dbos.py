"""Drives DBOS Transact: workflows on a queue with a short polling interval; two steps are two steps of a workflow."""
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import asyncio
import logging
import os
from typing import Any

from dbos import DBOS
from speaking import Queue, speak

_queue: DbosQueue
CALLS_AT_ONCE = 100


@DBOS.workflow()
async def bench(payload: dict[str, Any]) -> None:
    """A job is a workflow without steps."""
    await _queue.handle(payload)


@DBOS.step()
async def step() -> int:
    """One of two."""
    return 1


@DBOS.workflow()
async def two_steps() -> None:
    """Each step is recorded."""
    await step()
    await step()
    _queue.done += 1


class DbosQueue(Queue):
    """Its own words: enqueue_workflow, register_queue, start_workflow."""

    async def open(self) -> None:
        """Connect, make the schema; its workers begin with it, so the queue is registered when work begins."""
        global _queue  # noqa: PLW0603 - workflows are functions of a module
        _queue = self
        logging.getLogger("dbos").setLevel(logging.ERROR)
        pool = int(self.settings["pool"])
        DBOS(
            config={
                "name": "bench",
                "system_database_url": self.url.replace("postgresql://", "postgresql+psycopg://"),
                "sys_db_pool_size": pool,
                "log_level": "ERROR",
                "executor_id": str(os.getpid()),
                "application_version": "1",
            }
        )
        await asyncio.to_thread(DBOS.launch)
        self._calls = asyncio.Semaphore(CALLS_AT_ONCE)

    async def insert_many(self, count: int) -> None:
        """There is no call for many: they are enqueued side by side."""
        await asyncio.gather(*(self._enqueue({"number": 1}) for _ in range(count)))

    async def insert_one(self, payload: dict[str, Any]) -> None:
        """One workflow."""
        await DBOS.enqueue_workflow_async("bench", bench, payload)

    async def _enqueue(self, payload: dict[str, Any]) -> None:
        async with self._calls:
            await self.insert_one(payload)

    async def start(self) -> None:
        """One workflow of two steps."""
        await DBOS.start_workflow_async(two_steps)

    async def work(self) -> None:
        """Begin to poll the queue."""
        await DBOS.register_queue_async(
            "bench",
            worker_concurrency=self.order["concurrency"],
            polling_interval_sec=float(self.settings["polling_interval"]),
        )

    async def close(self) -> None:
        """Stop without waiting for what runs."""
        await asyncio.to_thread(DBOS.destroy, workflow_completion_timeout_sec=0)


if __name__ == "__main__":
    speak(DbosQueue)
