"""Drives Absurd: one worker that claims as many tasks as it runs at once; callers have connections of their own."""
# ruff: noqa: ANN401, ARG001 - what a task is given
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

from absurd_sdk import AsyncAbsurd
from speaking import Queue, speak


class Absurd(Queue):
    """Its own words: register_task, spawn, start_worker, ctx.step."""

    async def open(self) -> None:
        """Make the schema with its own tool, and connect."""
        if self.order["fills"]:
            tool = str(Path(sys.executable).with_name("absurdctl"))
            await asyncio.to_thread(
                subprocess.run, [tool, "init", "-d", self.url], check=True, stdout=subprocess.DEVNULL
            )
        self._worker = AsyncAbsurd(self.url, queue_name="bench")
        self._callers = [AsyncAbsurd(self.url, queue_name="bench") for _ in range(int(self.settings["connections"]))]
        self._free: asyncio.Queue[AsyncAbsurd] = asyncio.Queue()
        for app in (self._worker, *self._callers):
            self._register(app)
        for app in self._callers:
            self._free.put_nowait(app)
        if self.order["fills"]:
            await self._worker.create_queue("bench")

    def _register(self, app: AsyncAbsurd) -> None:
        @app.register_task(name="bench")
        async def bench(params: dict[str, Any], ctx: Any) -> None:
            await self.handle(params)

        @app.register_task(name="two-steps")
        async def two_steps(params: dict[str, Any], ctx: Any) -> None:
            async def step() -> int:
                return 1

            await ctx.step("one", step)
            await ctx.step("two", step)
            self.done += 1

    async def insert_many(self, count: int) -> None:
        """There is no call for many: its connections share them."""
        await asyncio.gather(*(self.insert_one({"number": 1}) for _ in range(count)))

    async def insert_one(self, payload: dict[str, Any]) -> None:
        """One task."""
        await self._spawn("bench", payload)

    async def start(self) -> None:
        """One task of two steps."""
        await self._spawn("two-steps", {"number": 1})

    async def _spawn(self, name: str, payload: dict[str, Any]) -> None:
        app = await self._free.get()
        try:
            await app.spawn(name, payload)
        finally:
            self._free.put_nowait(app)

    async def work(self) -> None:
        """One worker, which polls."""
        await self._worker.start_worker(
            concurrency=self.order["concurrency"], poll_interval=float(self.settings["poll_interval"])
        )

    async def close(self) -> None:
        """Close all connections."""
        for app in (self._worker, *self._callers):
            await app.close()


if __name__ == "__main__":
    speak(Absurd)
