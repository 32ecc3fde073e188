"""A process of the tests of paces under kills: an application that writes down when each of its runs began."""

from __future__ import annotations

import asyncio
import os
import sys
import time

from procession import Procession, Settings


async def main(url: str, log: str) -> None:
    app = Procession(url, settings=Settings(heartbeat_ms=200, dead_after_ms=1_500))
    file = os.open(log, os.O_WRONLY | os.O_APPEND)

    @app.job("call", queue="paced", concurrency=8)
    async def call(number: int) -> None:
        os.write(file, b"%d %d\n" % (number, time.time_ns() // 1_000))

    async with app:
        os.write(file, b"ready\n")
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
