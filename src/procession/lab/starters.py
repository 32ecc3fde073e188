"""The load generator: starters that call start as fast as they can, and how fast they are when nothing holds them.

It knows no database and no engine, only a function that starts one instance.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

from procession.errors import Unavailable
from procession.lab.stub import Call

Start = Callable[[], Awaitable[object]]

HEADROOM_STARTS: Final = 20_000
HEADROOM_CALLS: Final = 2_000
REFUSED_PAUSE_S: Final = 0.005  # before a start that was refused for the moment is tried again


class Starters:
    """Some starters with equal shares of the instances; each has `batch` starts under way at once."""

    def __init__(self, start: Start, *, starters: int, instances: int, batch: int) -> None:
        self._start = start
        self._shares = [instances // starters + (number < instances % starters) for number in range(starters)]
        self._batch = batch
        self.latencies_ms: list[float] = []
        self.rejected = 0
        self.first_start_at = 0.0
        self.first_start_monotonic = 0.0

    @property
    def started(self) -> int:
        """How many starts were answered."""
        return len(self.latencies_ms)

    async def run(self) -> None:
        """Start all instances. Raises what start raises, except for a refusal for the moment."""
        self.first_start_at = time.time()
        self.first_start_monotonic = time.monotonic()
        async with asyncio.TaskGroup() as group:
            for share in self._shares:
                for lane in range(min(self._batch, share)):
                    count = share // self._batch + (lane < share % self._batch)
                    group.create_task(self._start_many(count))

    async def _start_many(self, count: int) -> None:
        clock, latencies = time.perf_counter, self.latencies_ms
        for _ in range(count):
            begun = clock()
            while True:
                try:
                    await self._start()
                    break
                except Unavailable:
                    self.rejected += 1
                    await asyncio.sleep(REFUSED_PAUSE_S)
            latencies.append((clock() - begun) * 1000)


async def starts_per_s(starters: int, batch: int, instances: int) -> float:
    """How fast the same starters are with a start that only gives way once."""
    count = max(starters * batch, min(HEADROOM_STARTS, instances))

    async def give_way() -> None:
        await asyncio.sleep(0)

    idle = Starters(give_way, starters=starters, instances=count, batch=batch)
    begun = time.perf_counter()
    await idle.run()
    return count / (time.perf_counter() - begun)


async def calls_per_s(call: Call | None, workers: int, instances: int) -> float | None:
    """How fast the client is with as many calls under way as there are workers; None without calls."""
    if call is None:
        return None
    left = min(HEADROOM_CALLS, 2 * instances)
    total = left

    async def work() -> None:
        nonlocal left
        while left > 0:
            left -= 1
            await call()

    begun = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(workers)))
    return total / (time.perf_counter() - begun)
