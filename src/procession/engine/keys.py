"""The stock of unused keys: refilled ahead of need, so that a decision never waits for the database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from procession.engine.lane import Patience
from procession.errors import Unavailable
from procession.ids import Keys
from procession.limits import KEY_BLOCK, STEP_KEYS_MAX
from procession.store.port import Store

LOW = KEY_BLOCK // 2


class KeyStock:
    """Keys for decisions and rows. ``ready`` before a decision; where it is not, ``enough`` or ``when_ready``."""

    def __init__(self, store: Store, chance: Callable[[], float]) -> None:
        self.keys = Keys()
        self._store = store
        self._chance = chance
        self._order: asyncio.Task[None] | None = None
        self._waiting: list[Callable[[], None]] = []
        self._credit = 0  # so many steps may go ahead before the stock is counted again

    def ready(self) -> bool:
        """Whether there are enough keys for any step; orders more ahead of need."""
        if self._credit > 0:
            self._credit -= 1
            return True
        left = len(self.keys)
        self._credit = left // (2 * STEP_KEYS_MAX) - 1
        if left < LOW and self._order is None:
            self._order = asyncio.get_running_loop().create_task(self._refill(), name="procession keys")
        return left >= STEP_KEYS_MAX

    def when_ready(self, call: Callable[[], None]) -> None:
        """Call back once there are enough keys."""
        self._waiting.append(call)
        self.ready()

    async def enough(self) -> None:
        """Wait until there are enough keys."""
        while not self.ready():
            ready = asyncio.Event()
            self.when_ready(ready.set)
            await ready.wait()

    @property
    def idle(self) -> bool:
        """Whether nobody waits for keys."""
        return not self._waiting

    async def stop(self) -> None:
        """Give up an order under way."""
        if self._order is not None:
            self._order.cancel()
            await asyncio.gather(self._order, return_exceptions=True)

    async def _refill(self) -> None:
        """Take a block; try again while the database does not answer."""
        patience = Patience(self._chance)
        try:
            while True:
                try:
                    self.keys.refill(await self._store.take_keys(KEY_BLOCK))
                    break
                except Unavailable:
                    await patience.pause()
        finally:
            self._order = None
        waiting, self._waiting = self._waiting, []
        for call in waiting:
            call()
