"""Drives Chancy: its asyncio executor, eager polling, pushes in large batches; two steps as one of its workflows."""
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import asyncio
import logging
from typing import Any

import chancy
from chancy.plugins.leadership import Leadership
from chancy.plugins.workflow import Sequence, WorkflowPlugin
from speaking import Queue, speak

OPEN_MAX = 64  # workflows at once: with thousands none of them ends within a run

_queue: ChancyQueue


@chancy.job(queue="bench")
async def bench(*, payload: dict[str, Any]) -> None:
    """A job; of a workflow the last one counts."""
    if payload.get("number", 1):
        await _queue.handle(payload)


class ChancyQueue(Queue):
    """Its own words: declare, push, Worker."""

    async def open(self) -> None:
        """Connect, make the schema, declare the queue."""
        global _queue  # noqa: PLW0603 - jobs are found by the name of a function of a module
        _queue = self
        self._started = 0
        log = logging.getLogger("chancy")
        log.setLevel(logging.ERROR)
        pool = int(self.settings["pool"])
        self._chancy = chancy.Chancy(
            self.url,
            min_connection_pool_size=pool,
            max_connection_pool_size=pool,
            # Usually 60 s until the first one leads and 30 s between two looks: longer than a run.
            plugins=[Leadership(poll_interval=1, timeout=5), WorkflowPlugin(polling_interval=1)],
            log=log,
        )
        await self._chancy.__aenter__()
        if self.order["fills"]:
            await self._chancy.migrate()
        self._job = bench.job.with_queue("bench")
        await self._chancy.declare(
            chancy.Queue(
                "bench",
                concurrency=self.order["concurrency"],
                executor=chancy.Chancy.Executor.Async,
                polling_interval=1,
                eager_polling=True,
            ),
            upsert=True,
        )

    async def insert_many(self, count: int) -> None:
        """As many as are asked for in one transaction."""
        job = self._job.with_kwargs(payload={"number": 1})
        async for _ in self._chancy.push_many([job] * count, batch_size=count):
            pass

    async def insert_one(self, payload: dict[str, Any]) -> None:
        """One job."""
        await self._chancy.push(self._job.with_kwargs(payload=payload))

    async def start(self) -> None:
        """A workflow of two jobs in a row; all of those that are open are looked at whenever a job ends."""
        while self._started - self.done >= OPEN_MAX:  # noqa: ASYNC110 - handlers send no word
            await asyncio.sleep(0.01)
        self._started += 1
        steps = [self._job.with_kwargs(payload={"number": number}) for number in (0, 1)]
        await Sequence("bench", steps).push(self._chancy)

    async def work(self) -> None:
        """One worker; a new job wakes it."""
        async with chancy.Worker(self._chancy, register_signal_handlers=False, shutdown_timeout=1):
            await asyncio.Event().wait()


if __name__ == "__main__":
    speak(ChancyQueue)
