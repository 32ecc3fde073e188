"""One thing done again and again in the background: it survives the database's restart and a defect of one round."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from procession.engine.lane import Patience
from procession.errors import Unavailable

logger = logging.getLogger("procession.engine")


class Duty:
    """Calls ``once``, which says for how many seconds to pause, until stopped. ``wake`` ends a pause early."""

    __slots__ = ("_chance", "_once", "_pause", "_task", "_woken", "name", "rounds")

    def __init__(self, name: str, once: Callable[[], Awaitable[float]], chance: Callable[[], float]) -> None:
        self.name = name
        self.rounds = 0  # finished without an error: grows while the duty lives
        self._once = once
        self._chance = chance
        self._task: asyncio.Task[None] | None = None
        self._pause: asyncio.Future[None] | None = None
        self._woken = False

    def start(self) -> None:
        """Begin."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run(), name=f"procession {self.name}")

    async def stop(self) -> None:
        """End, wherever it is."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def restart(self) -> None:
        """Begin anew: the old round hangs."""
        if self._task is not None:
            self._task.cancel()
        self._task = None
        self.start()

    def wake(self) -> None:
        """End the pause, or skip the next one."""
        pause = self._pause
        if pause is None:
            self._woken = True
        elif not pause.done():
            pause.set_result(None)

    async def _run(self) -> None:
        """Round after round."""
        patience = Patience(self._chance)
        while True:
            self._woken = False
            try:
                pause_s = await self._once()
                self.rounds += 1
                patience.reset()
            except Unavailable as error:
                if patience.tries == 0:
                    logger.warning("%s: the database does not answer: %s", self.name, error)
                pause_s = patience.next_s()
                self._woken = False
            except Exception:
                logger.exception("%s: a round failed", self.name)
                pause_s = patience.next_s()
                self._woken = False
            await self._rest(pause_s)

    async def _rest(self, pause_s: float) -> None:
        """Pause, at least long enough for everybody else to have a turn."""
        if self._woken or pause_s <= 0:
            await asyncio.sleep(0)
            return
        loop = asyncio.get_running_loop()
        pause = self._pause = loop.create_future()
        timer = loop.call_later(pause_s, wake_up, pause)
        try:
            await pause
        finally:
            timer.cancel()
            self._pause = None


def wake_up(pause: asyncio.Future[None]) -> None:
    """End a pause."""
    if not pause.done():
        pause.set_result(None)
