"""A client that costs little, so that the server is measured: HTTP/1.1 on connections that stay, asked one by one."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple
from urllib.parse import urlsplit

LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Reply(NamedTuple):
    """An answer, not looked at yet."""

    status: int
    head: bytes
    body: bytes

    @property
    def document(self) -> dict:
        """What it says."""
        return json.loads(self.body)


class Connection(asyncio.Protocol):
    """Asks, and hears the answers in the same order."""

    def __init__(self) -> None:
        self._heard = b""
        self._asked: list[asyncio.Future[Reply]] = []

    def connection_made(self, transport: asyncio.Transport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._heard += data
        while (end := self._heard.find(b"\r\n\r\n")) >= 0:
            length = LENGTH.search(self._heard, 0, end)
            whole = end + 4 + (int(length[1]) if length is not None else 0)
            if len(self._heard) < whole:
                return
            head, body = self._heard[:end], self._heard[end + 4 : whole]
            self._heard = self._heard[whole:]
            asked = self._asked.pop(0)
            if not asked.done():
                asked.set_result(Reply(int(head[9:12]), head, body))

    def connection_lost(self, exc: Exception | None) -> None:
        for asked in self._asked:
            if not asked.done():
                asked.set_exception(ConnectionError("the server has closed the connection"))

    def ask(self, request: bytes) -> asyncio.Future[Reply]:
        """Send a request as it is. Raises ConnectionError where the server has closed the connection."""
        if self.transport.is_closing():
            raise ConnectionError("the server has closed the connection")
        asked = asyncio.get_running_loop().create_future()
        self._asked.append(asked)
        self.transport.write(request)
        return asked


def written(path: str, body: object) -> bytes:
    """A request, as bytes that may be sent many times."""
    raw = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(raw)}"
    return head.encode() + b"\r\n\r\n" + raw


@asynccontextmanager
async def connected(url: str, count: int) -> AsyncIterator[list[Connection]]:
    """So many connections."""
    address, loop = urlsplit(url), asyncio.get_running_loop()
    made = [await loop.create_connection(Connection, address.hostname, address.port) for _ in range(count)]
    try:
        yield [connection for _, connection in made]
    finally:
        for transport, _ in made:
            transport.close()
