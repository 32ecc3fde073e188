"""``procession serve`` as a process of its own: what it costs, how large it is, how it ends."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil


class Child:
    """A server that runs."""

    def __init__(self, url: str, pid: int) -> None:
        self.url = url
        self._process = psutil.Process(pid)

    @property
    def cpu_s(self) -> float:
        """Processor time until now."""
        times = self._process.cpu_times()
        return times.user + times.system

    @property
    def waited_s(self) -> float:
        """How long its main thread, the one of its event loop, was ready to run and had no processor until now."""
        told = Path(f"/proc/{self._process.pid}/schedstat")  # of Linux
        return int(told.read_text().split()[1]) / 1e9 if told.exists() else 0.0

    @property
    def memory_bytes(self) -> int:
        """What of it is in memory now."""
        return self._process.memory_info().rss


@asynccontextmanager
async def served(database: str, *options: str) -> AsyncIterator[Child]:
    """A server on a database, for local use, on any port. It ends with the block, or with this process."""
    command = [sys.executable, "-m", "procession", "serve", "--no-identity", "--no-page", "--port", "0"]
    process = await asyncio.create_subprocess_exec(
        *command,
        "--json",
        "--supervised",
        *options,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PROCESSION_URL": database},
    )
    try:
        line = await asyncio.wait_for(process.stdout.readline(), 30)
        yield Child(json.loads(line)["url"], process.pid)
    finally:
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), 30)
        except TimeoutError:
            process.kill()
            await process.wait()
