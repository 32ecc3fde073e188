"""A group of connections, each lent to one caller at a time, made when needed. It knows no database.

A connection whose outcome is unknown is closed by whoever used it; what is given back unusable is forgotten, and the
next caller gets a new one: a group heals by itself after a restart of the server.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Generic, Protocol, TypeVar

from procession.errors import Unavailable


class Lent(Protocol):
    """What can be lent."""

    @property
    def usable(self) -> bool:
        """Whether the next call may use it."""
        ...

    def drop(self) -> None:
        """Close at once, without waiting for the server."""
        ...

    async def close(self) -> None:
        """Close in order."""
        ...


S = TypeVar("S", bound=Lent)


class Lending(Generic[S]):
    """Up to ``size`` connections."""

    def __init__(self, size: int, wait_s: float) -> None:
        self.size = size
        self._wait_s = wait_s
        self._free: list[S] = []
        self._lent: set[S] = set()
        self._making = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._closed = False

    async def connect(self) -> S:
        """A connection outside of the group's count, for whoever keeps it."""
        raise NotImplementedError

    @asynccontextmanager
    async def lend(self) -> AsyncGenerator[S, None]:
        """A connection for the caller alone; the last one given back comes first, since it has prepared most."""
        session = await self.take()
        try:
            yield session
        finally:
            self.give_back(session)

    async def close(self) -> None:
        """Lend no more; close what is free, and what is lent when it comes back."""
        self._closed = True
        while self._waiting:
            self._wake()
        while self._free:
            await self._free.pop().close()

    async def take(self) -> S:
        """A connection for the caller alone, who gives it back."""
        while not self._closed:
            while self._free:
                session = self._free.pop()
                if session.usable:
                    self._lent.add(session)
                    return session
            if len(self._lent) + self._making < self.size:
                return await self._make()
            await self._wait()
        raise Unavailable("The store is closed; open it first")

    def give_back(self, session: S) -> None:
        """The caller is done with it."""
        self._lent.discard(session)
        if self._closed:
            session.drop()
        elif session.usable:
            self._free.append(session)
        self._wake()

    async def _make(self) -> S:
        self._making += 1
        try:
            session = await self.connect()
        finally:
            self._making -= 1
            self._wake()
        self._lent.add(session)
        return session

    async def _wait(self) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            # Not wait_for: before Python 3.12 it loses a cancellation that comes together with our turn.
            async with asyncio.timeout(self._wait_s):
                await turn
        except TimeoutError:
            raise Unavailable(f"No connection of {self.size} became free within {self._wait_s:g} s") from None
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._wake()  # it was our turn: the next one's now
            raise

    def _wake(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
