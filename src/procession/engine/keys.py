"""The stocks of unused keys: refilled ahead of need, so that a decision never waits for the database.

Callers that write on their own connection have a stock apart. On SQLite their transaction may hold the one write lock,
and a refill waits for it: were their keys those of the steps, a caller could wait for itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from procession.engine.lane import Patience
from procession.errors import Unavailable
from procession.ids import Keys
from procession.limits import CALLER_KEYS, KEY_BLOCK, STEP_KEYS_MAX
from procession.store.port import Store

LOW = KEY_BLOCK // 2
CALLER_LOW = CALLER_KEYS // 2
CALLER_WAIT_S = 1.0  # for a refill, which takes milliseconds unless the caller itself is in its way


class KeyStock:
    """Keys for decisions and rows. ``ready`` before a decision; where it is not, ``enough`` or ``when_ready``."""

    def __init__(self, store: Store, chance: Callable[[], float]) -> None:
        self.keys = Keys()
        self._store = store
        self._chance = chance
        self._order: asyncio.Task[None] | None = None
        self._waiting: list[Callable[[], None]] = []
        self._caller_keys = Keys()

    def ready(self) -> bool:
        """Whether there are enough keys for any step; orders more ahead of need."""
        keys = self.keys
        here = keys.end - keys.next
        if here >= LOW or (keys.spare and here >= STEP_KEYS_MAX):
            return True
        left = len(keys)
        if left < LOW:
            self._order_more()
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

    async def take_for_caller(self, count: int) -> list[int]:
        """Keys for rows that a caller writes in its own transaction. Raises Unavailable instead of waiting for long."""
        assert count <= CALLER_LOW
        keys = self._caller_keys
        while len(keys) < count:
            order = self._order_more()
            await asyncio.wait([order], timeout=CALLER_WAIT_S)
            if not order.done() or order.cancelled():
                raise Unavailable(
                    f"Expected {count} more keys within {CALLER_WAIT_S:g} s, but the {CALLER_KEYS} (CALLER_KEYS) that "
                    "are kept for starts on callers' connections are used up and the database takes no write: if your "
                    "transaction holds its lock, commit it and go on in another one"
                )
            order.result()  # what went wrong otherwise is a defect: the caller gets it
        taken = [keys.take() for _ in range(count)]
        if len(keys) < CALLER_LOW:
            self._order_more()
        return taken

    @property
    def idle(self) -> bool:
        """Whether nobody waits for keys."""
        return not self._waiting

    async def stop(self) -> None:
        """Give up an order under way."""
        if self._order is not None:
            self._order.cancel()
            await asyncio.gather(self._order, return_exceptions=True)

    def _order_more(self) -> asyncio.Task[None]:
        """See to it that a refill is under way."""
        if self._order is None:
            self._order = asyncio.get_running_loop().create_task(self._refill(), name="procession keys")
        return self._order

    async def _refill(self) -> None:
        """Take a block for each stock that is low; try again while the database does not answer."""
        patience = Patience(self._chance)
        steps = KEY_BLOCK if len(self.keys) < LOW else 0
        callers = CALLER_KEYS if len(self._caller_keys) < CALLER_LOW else 0
        try:
            while True:
                try:
                    block = await self._store.take_keys(steps + callers)
                    break
                except Unavailable:
                    await patience.pause()
        finally:
            self._order = None
        if steps:
            self.keys.refill(block[:steps])
        if callers:
            self._caller_keys.refill(block[steps:])
        waiting, self._waiting = self._waiting, []
        for call in waiting:
            call()
