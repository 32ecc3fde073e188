"""A lane: one call under way at a time, and whatever gathers meanwhile goes with the next. It knows no store.

Natural batching: at rest an item goes at once, under load many share one call. No task per item. Items that can wait
for others do so for a moment (``put_patiently``), with one timer for all of them.
"""

from __future__ import annotations

import asyncio
import logging
from bisect import bisect_right
from collections.abc import Awaitable, Callable
from itertools import accumulate
from typing import Generic, TypeVar

logger = logging.getLogger("procession.engine")

T = TypeVar("T")

PATIENCE_S = 0.004  # how long items that can wait do so at most,
PATIENT_MAX = 64  # and how many of them


class Lane(Generic[T]):
    """Gathers items and hands them to ``send`` in batches of at most ``count_max`` and about ``bytes_max``."""

    __slots__ = (
        "_bytes_max",
        "_count_max",
        "_due",
        "_items",
        "_send",
        "_sizes",
        "_task",
        "_timer",
        "_wake",
        "busy",
        "name",
    )

    def __init__(
        self,
        name: str,
        send: Callable[[list[T]], Awaitable[None]],
        *,
        count_max: int,
        bytes_max: int = 0,
        sizes: Callable[[list[T]], list[int]] | None = None,
    ) -> None:
        self.name = name
        self.busy = False
        self._send = send
        self._count_max = count_max
        self._bytes_max = bytes_max
        self._sizes = sizes
        self._items: list[T] = []
        self._due = False  # whether what has gathered goes as soon as nothing is under way
        self._timer: asyncio.TimerHandle | None = None
        self._wake: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None

    def put(self, item: T) -> None:
        """Send this with the next batch."""
        self._items.append(item)
        self._due = True
        self._go_on()

    def put_patiently(self, item: T) -> None:
        """Send this with the next batch, which may take a moment: so that it is shared by more."""
        self._items.append(item)
        if self._due:
            return
        if len(self._items) >= PATIENT_MAX:
            self._due = True
            self._go_on()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PATIENCE_S, self._waited)

    def _waited(self) -> None:
        """The moment is over."""
        self._timer = None
        if self._items:
            self._due = True
            self._go_on()

    def _go_on(self) -> None:
        """Wake the sender where it waits."""
        wake = self._wake
        if wake is not None:
            self._wake = None
            if not wake.done():
                wake.set_result(None)

    @property
    def idle(self) -> bool:
        """Whether nothing waits and nothing is under way."""
        return not self.busy and not self._items

    def __len__(self) -> int:
        """How many items wait."""
        return len(self._items)

    def start(self) -> None:
        """Begin to send."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run(), name=f"procession lane {self.name}")

    async def stop(self) -> list[T]:
        """Stop sending; the items that never went."""
        task, self._task = self._task, None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        left, self._items = self._items, []
        return left

    async def _run(self) -> None:
        """Send batch after batch."""
        loop = asyncio.get_running_loop()
        while True:
            while not self._due:
                self._wake = loop.create_future()
                await self._wake
            batch = self._take()
            self.busy = True
            try:
                await self._send(batch)
            except Exception:
                logger.exception("lane %s: a batch of %d could not be sent", self.name, len(batch))
            finally:
                self.busy = False
            if self._due:
                await asyncio.sleep(0)  # a store that never waits must not keep the loop from everybody else

    def _take(self) -> list[T]:
        """The next batch."""
        items = self._items
        count = min(len(items), self._count_max)
        if self._sizes is not None and count > 1:
            totals = list(accumulate(self._sizes(items[:count])))
            if totals[-1] > self._bytes_max:
                count = max(1, bisect_right(totals, self._bytes_max))
        if count == len(items):
            self._items = []
            self._due = False
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            return items
        self._items = items[count:]
        return items[:count]


class Patience:
    """Pauses between tries, from ``least_s`` to ``most_s``, with chance so that processes do not march in step."""

    __slots__ = ("_chance", "_least_s", "_most_s", "tries")

    def __init__(self, chance: Callable[[], float], least_s: float = 0.05, most_s: float = 2.0) -> None:
        self._chance = chance
        self._least_s = least_s
        self._most_s = most_s
        self.tries = 0

    def next_s(self) -> float:
        """The next pause in seconds."""
        self.tries += 1
        return min(self._most_s, self._least_s * 2.0 ** min(self.tries - 1, 16)) * (0.5 + self._chance() / 2)

    async def pause(self) -> None:
        """Wait that long."""
        await asyncio.sleep(self.next_s())

    def reset(self) -> None:
        """It worked: begin anew."""
        self.tries = 0
