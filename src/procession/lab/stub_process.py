"""The stub as a program: prints its URL, answers until standard input ends. It measures nothing."""

from __future__ import annotations

import asyncio
import sys

from procession.lab.loop import run
from procession.lab.stub import StubServer


async def serve() -> None:
    """Answer until the owner closes our standard input."""
    stub = StubServer()
    await stub.open()
    print(stub.url, flush=True)  # noqa: T201 - the answer to the owner
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    await reader.read()
    stub.close()


if __name__ == "__main__":
    run(serve())
