"""One sweeper for the deadlines of all slots: cancels what runs for too long, and names what ignores that."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

from procession.worker.line import Line, Slot

SWEEP_S: Final = 0.05
TIMEOUT: Final = "timeout"


class Deadlines:
    """Looks after the slots of these lines. ``give_up``: a handler ignores its cancellation."""

    def __init__(self, lines: Mapping[str, Line], stuck_s: float, give_up: Callable[[Line, Slot], None]) -> None:
        self._lines = lines
        self._stuck_s = stuck_s
        self._give_up = give_up
        self._sweeper: asyncio.Task[None] | None = None

    def watch(self) -> None:
        """There is something to look after."""
        if self._sweeper is None:
            self._sweeper = asyncio.get_running_loop().create_task(self._sweep(), name="procession deadlines")

    async def stop(self) -> None:
        """End."""
        sweeper, self._sweeper = self._sweeper, None
        if sweeper is not None:
            sweeper.cancel()
            await asyncio.gather(sweeper, return_exceptions=True)

    async def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(SWEEP_S)
            now = loop.time()
            for line in self._lines.values():
                self._look_at(line, now)

    def _look_at(self, line: Line, now: float) -> None:
        for slot in list(line.slots):
            if slot.deadline and now >= slot.deadline:
                slot.cancel(TIMEOUT, now)
            if slot.cancel_at and now - slot.cancel_at > self._stuck_s:
                self._give_up(line, slot)
