"""When callers' own transactions are over: then, and not before, what they enqueued is announced. It executes nothing.

A driver tells nobody that a transaction has ended; whether one is under way it knows without asking the server. That
is looked at, first after milliseconds, then less often. A transaction that begins on the same connection at once can
hide the end of the one before: polling finds the jobs all the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

FIRST_S = 0.002
LONGEST_S = 0.05  # between two looks
PATIENCE_S = 60.0  # a transaction that lasts longer is announced by nobody; polling finds what it wrote
ONCE_MORE_S = 0.02  # some drivers know of the end a moment before the server has made it visible


class _Waiting:
    """One transaction that is under way."""

    __slots__ = ("is_over", "queues", "until")

    def __init__(self, is_over: Callable[[], bool], until: float) -> None:
        self.is_over = is_over
        self.until = until
        self.queues: set[str] = set()


class Commits:
    """Looks after the transactions of one application; all of it on the application's loop."""

    def __init__(self, announce: Callable[[str], None]) -> None:
        self._announce = announce
        self._waiting: dict[int, _Waiting] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._pause_s = FIRST_S

    def expect(self, connection: object, is_over: Callable[[], bool], queue: str) -> None:
        """Announce a queue when the transaction of this connection is over."""
        loop = asyncio.get_running_loop()
        waiting = self._waiting.get(id(connection))
        if waiting is None:
            waiting = self._waiting[id(connection)] = _Waiting(is_over, loop.time() + PATIENCE_S)
        waiting.queues.add(queue)
        self._pause_s = FIRST_S
        if self._timer is not None:
            self._timer.cancel()
        self._timer = loop.call_later(FIRST_S, self._look)

    def stop(self) -> None:
        """Forget them."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._waiting.clear()

    def _look(self) -> None:
        """Announce for those that are over."""
        loop = asyncio.get_running_loop()
        now, self._timer = loop.time(), None
        for key, waiting in list(self._waiting.items()):
            if _is_over(waiting):
                del self._waiting[key]
                for queue in waiting.queues:
                    self._announce(queue)
                    loop.call_later(ONCE_MORE_S, self._announce, queue)
            elif now > waiting.until:
                del self._waiting[key]
        if self._waiting:
            self._pause_s = min(LONGEST_S, 2 * self._pause_s)
            self._timer = loop.call_later(self._pause_s, self._look)


def _is_over(waiting: _Waiting) -> bool:
    """Whether it is over; a connection that was given back or closed is."""
    try:
        return waiting.is_over()
    except Exception:  # noqa: BLE001 - whatever a driver says of a connection that is none any more
        return True
