"""Drives Procrastinate: one worker with many tasks at once, a pool of connections, jobs deleted by nobody."""
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from typing import Any

import procrastinate
from speaking import Queue, speak


class Procrastinate(Queue):
    """Its own words: defer, batch_defer, run_worker."""

    async def open(self) -> None:
        """Connect, and make the schema."""
        pool = int(self.settings["pool"])
        connector = procrastinate.PsycopgConnector(conninfo=self.url, min_size=pool, max_size=pool)
        self._app = procrastinate.App(connector=connector)
        queue = self

        @self._app.task(name="bench", queue="bench")
        async def bench(**payload: Any) -> None:  # noqa: ANN401 - what a task is given
            await queue.handle(payload)

        self._task = bench
        await self._app.open_async()
        if self.order["fills"]:
            await self._app.schema_manager.apply_schema_async()

    async def insert_many(self, count: int) -> None:
        """One statement for all."""
        await self._task.batch_defer_async(*({"number": 1} for _ in range(count)))

    async def insert_one(self, payload: dict[str, Any]) -> None:
        """One job."""
        await self._task.defer_async(**payload)

    async def work(self) -> None:
        """One worker; a new job wakes it."""
        await self._app.run_worker_async(
            queues=["bench"],
            concurrency=self.order["concurrency"],
            install_signal_handlers=False,
            fetch_job_polling_interval=1.0,
            shutdown_graceful_timeout=1.0,
        )

    async def close(self) -> None:
        """Close the pool."""
        await self._app.close_async()


if __name__ == "__main__":
    speak(Procrastinate)
