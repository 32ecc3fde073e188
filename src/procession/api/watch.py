"""What a server does so that pages can look: it counts, samples and hints in the background, remembers for a moment."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from procession.api.events import Hints
from procession.api.pulse import Pulse
from procession.api.tally import Tally
from procession.app import Procession

T = TypeVar("T")
REMEMBERED_S: Final = 1.0
REMEMBERED_MAX: Final = 200
COUNT_S: Final = 0.5  # between two turns of the tally that somebody who looks asks for
TURNS_MAX: Final = 3  # of the tally for one who looks


class Watch:
    """One for each server."""

    def __init__(self, app: Procession) -> None:
        self.tally = Tally(app.rows)
        self.pulse = Pulse(app)
        self.hints = Hints(app)
        self._remembered: dict[object, tuple[float, asyncio.Task[Any]]] = {}
        self._counted_at = -COUNT_S

    def start(self) -> None:
        """Begin."""
        self.tally.start()
        self.pulse.start()

    async def stop(self) -> None:
        """End."""
        await self.hints.stop()
        await self.pulse.stop()
        await self.tally.stop()
        for _, task in self._remembered.values():
            task.cancel()

    async def once(self, key: object, ask: Callable[[], Awaitable[T]]) -> T:
        """The answer to a question, asked once a second at most, however many ask."""
        now = asyncio.get_running_loop().time()
        known = self._remembered.get(key)
        if known is not None and now - known[0] < REMEMBERED_S and not _has_failed(known[1]):
            return await asyncio.shield(known[1])
        task: asyncio.Task[T] = asyncio.ensure_future(ask())  # type: ignore[arg-type] - a coroutine
        self._remembered.pop(key, None)
        self._remembered[key] = (now, task)
        while len(self._remembered) > REMEMBERED_MAX:
            del self._remembered[next(iter(self._remembered))]
        return await asyncio.shield(task)

    async def counted(self) -> Tally:
        """The tally, with what happened a moment ago, as far as that is little."""
        now = asyncio.get_running_loop().time()
        if now - self._counted_at >= COUNT_S and not self.tally.is_behind:
            self._counted_at = now
            await self.tally.catch_up(TURNS_MAX)
        return self.tally


def _has_failed(task: asyncio.Task[Any]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)
