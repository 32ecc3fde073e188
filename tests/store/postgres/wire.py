"""A proxy between a store and its server that counts round trips and can go silent, as a broken network does.

A round trip is a message that asks for an answer: a Query, a Sync, a Flush or a CopyDone of PostgreSQL's protocol
(version 3).
Nothing is faked: the bytes pass through as they are.
"""

from __future__ import annotations

import asyncio
from typing import Self
from urllib.parse import urlsplit, urlunsplit

ASKS_FOR_AN_ANSWER = frozenset(b"QSHc")
STARTUP_BYTES = 4  # the startup message has a length and no type


class Wire:
    """``async with Wire(url) as wire``: a store made with ``wire.url`` speaks through it."""

    def __init__(self, url: str) -> None:
        self._target = urlsplit(url)
        self._server: asyncio.Server | None = None
        self._writers: list[asyncio.StreamWriter] = []
        self._open = asyncio.Event()
        self._open.set()
        self.round_trips = 0

    @property
    def url(self) -> str:
        """The URL of the database by way of this wire."""
        assert self._server is not None
        port = self._server.sockets[0].getsockname()[1]
        address = f"{self._target.username}:{self._target.password}@127.0.0.1:{port}"
        return urlunsplit(self._target._replace(netloc=address))

    def hold(self) -> None:
        """Go silent: connections stay open, nothing passes."""
        self._open.clear()

    def release(self) -> None:
        """Let everything pass again."""
        self._open.set()

    def forget(self) -> None:
        """Serve new connections again; those that went silent stay so for ever."""
        self._open = asyncio.Event()
        self._open.set()

    def cut(self) -> None:
        """Break every connection at once."""
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._open.set()
        self.cut()
        self._server.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        up_reader, up_writer = await asyncio.open_connection(self._target.hostname, self._target.port)
        self._writers += [writer, up_writer]
        await asyncio.gather(
            self._pass(reader, up_writer, Counter(self)), self._pass(up_reader, writer, None), return_exceptions=True
        )
        for each in (writer, up_writer):
            each.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, counter: Counter | None) -> None:
        is_open = self._open
        while data := await reader.read(65_536):
            await is_open.wait()
            if counter is not None:
                counter.feed(data)
            writer.write(data)
            await writer.drain()
        writer.close()


class Counter:
    """Counts the messages of one client that ask for an answer."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._buffer = b""
        self._is_started = False

    def feed(self, data: bytes) -> None:
        """Take the next bytes from the client."""
        self._buffer += data
        while len(self._buffer) >= self._head():
            start = 1 if self._is_started else 0
            size = start + int.from_bytes(self._buffer[start : start + STARTUP_BYTES])
            if len(self._buffer) < size:
                return
            if self._is_started and self._buffer[0] in ASKS_FOR_AN_ANSWER:
                self._wire.round_trips += 1
            # An SSLRequest is a startup message too, of 8 bytes, and another one follows it.
            self._is_started = self._is_started or size > 8
            self._buffer = self._buffer[size:]

    def _head(self) -> int:
        return STARTUP_BYTES + (1 if self._is_started else 0)
