"""Announcements between processes over NOTIFY. They are hints: late, doubled or lost, polling makes up for them.

Announcing has a connection of its own and never waits in anybody's way: queues gather in a set, which one task sends,
at once when it is idle, and at most every few milliseconds under load. What arrives while it sends or rests goes out
right after, so the last announcement is never the one that is dropped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any, Final

from procession.errors import ProcessionError
from procession.store.postgres._sessions import Session, Sessions

REST_S: Final = 0.005  # between two sends: at most 200 notifications a second and queue, however busy the process
RECONNECT_S: Final = 0.5  # between two tries to listen again
CHECK_S: Final = 30.0  # a listener only waits, so it has to ask whether there is still somebody to hear
PAYLOAD_BYTES_MAX: Final = 7_900  # NOTIFY takes less than 8,000

Heard = Callable[[str], None]


class Announcer:
    """Sends what was announced, from one task that lives while there is something to send."""

    def __init__(self, sessions: Sessions, channel: str) -> None:
        self._sessions = sessions
        self._channel = channel
        self._pending: set[str] = set()
        self._sending: asyncio.Task[None] | None = None

    def announce(self, queues: Iterable[str]) -> None:
        """Remember these queues and see that they are sent."""
        self._pending.update(queue for queue in queues if len(queue.encode()) <= PAYLOAD_BYTES_MAX)
        if self._pending and self._sending is None:
            self._sending = asyncio.get_running_loop().create_task(self._send(), name="procession-announce")

    async def close(self) -> None:
        """Wait for what is on its way."""
        if self._sending is not None:
            await self._sending

    async def _send(self) -> None:
        try:
            while self._pending:
                queues, self._pending = sorted(self._pending), set()
                with suppress(ProcessionError):  # a lost hint: the listeners poll
                    await self._sessions.fetch("announce", self._channel, queues)
                await asyncio.sleep(REST_S)
        finally:
            self._sending = None


class Listener:
    """Hears announcements on a connection of its own, and connects again when that fails."""

    def __init__(self, sessions: Sessions, channel: str, heard: Heard, *, check_s: float = CHECK_S) -> None:
        self._sessions = sessions
        self._channel = channel
        self._heard = heard
        self._check_s = check_s
        self._session: Session | None = None
        self._lost = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> Callable[[], Awaitable[None]]:
        """Listen; returns how to stop. Raises Unavailable if the first connection cannot be made."""
        await self._listen()
        self._task = asyncio.get_running_loop().create_task(self._keep_listening(), name="procession-listen")
        return self.stop

    async def stop(self) -> None:
        """Hear nothing any more. Safe to call twice."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        session, self._session = self._session, None
        if session is not None:
            session.drop()

    async def _keep_listening(self) -> None:
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._lost.wait(), self._check_s)
            with suppress(ProcessionError):
                await (self._listen() if self._lost.is_set() else self._check())
                continue
            self._lost.set()
            await asyncio.sleep(RECONNECT_S)

    async def _check(self) -> None:
        assert self._session is not None
        await self._session.fetch("now")

    async def _listen(self) -> None:
        session = await self._sessions.connect()
        session.connection.add_termination_listener(self._on_lost)
        try:
            await session.connection.add_listener(self._channel, self._on_notification)
        except BaseException:
            session.drop()
            raise
        self._lost.clear()
        self._session = session

    def _on_lost(self, _connection: Any) -> None:  # noqa: ANN401 - the driver's connection
        self._lost.set()

    def _on_notification(self, _connection: Any, _pid: int, _channel: str, payload: object) -> None:  # noqa: ANN401
        if self._task is not None:
            self._heard(str(payload))
