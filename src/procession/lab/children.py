"""The processes of a run, from their owner's side: start them, tell them to go and to stop, hear what they say."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from typing import Final

import msgspec

from procession.errors import Unavailable
from procession.lab.options import Failed, Load, Message, Progress, Ready, Report

PROGRAM: Final = "procession.lab.process_load"
READY_S_MAX: Final = 120.0
REPORT_S_MAX: Final = 60.0
END_S_MAX: Final = 30.0
LINE_BYTES_MAX: Final = 256 * 1024 * 1024  # a report holds the latency of every start

_decode = msgspec.json.Decoder(Message).decode


class Child:
    """One process of a run."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.handled = 0
        self.starts = 0
        self.ready: asyncio.Future[Ready] = asyncio.get_running_loop().create_future()
        self.report: asyncio.Future[Report] = asyncio.get_running_loop().create_future()
        self._hearing = asyncio.get_running_loop().create_task(self._hear())

    @classmethod
    async def start(cls, load: Load) -> Child:
        """Start a process, in a session that no Ctrl-C reaches, and say what it is to do."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", PROGRAM, stdin=PIPE, stdout=PIPE, limit=LINE_BYTES_MAX, start_new_session=True
        )
        child = cls(process)
        child.say(msgspec.json.encode(load))
        return child

    def say(self, line: bytes) -> None:
        """Give an order; a process that has ended hears nothing."""
        stdin = self._process.stdin
        assert stdin is not None
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            stdin.write(line + b"\n")

    def check(self) -> None:
        """Raise Unavailable when it has failed or ended."""
        if self.report.done() and self.report.exception() is not None:
            self.report.result()

    async def end(self) -> None:
        """Close its standard input, and kill it if it does not end by itself."""
        stdin = self._process.stdin
        assert stdin is not None
        stdin.close()
        try:
            async with asyncio.timeout(END_S_MAX):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
        await asyncio.gather(self._hearing, return_exceptions=True)
        for future in (self.ready, self.report):
            if future.done():
                future.exception()  # heard, if anybody asked
            else:
                future.cancel()

    async def _hear(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        error = ""
        while line := await stdout.readline():
            message = _decode(line)
            if isinstance(message, Failed):
                error = message.error
            else:
                self._take(message)
        code = await self._process.wait()
        failure = f"A process of the run ended with {code}: {error or 'see its messages above'}"
        for future in (self.ready, self.report):
            if not future.done():
                future.set_exception(Unavailable(failure))

    def _take(self, message: Ready | Progress | Report) -> None:
        if isinstance(message, Progress):
            self.handled, self.starts = message.handled, message.starts
        elif isinstance(message, Ready):
            self.ready.set_result(message)
        else:
            self.report.set_result(message)


class Children:
    """All processes of a run."""

    def __init__(self) -> None:
        self._children: list[Child] = []

    async def start(self, loads: Sequence[Load]) -> list[Ready]:
        """Start them one after the other (the first makes the schema); what they said when they were ready."""
        found: list[Ready] = []
        for load in loads:
            child = await Child.start(load)
            self._children.append(child)
            async with asyncio.timeout(READY_S_MAX):
                found.append(await child.ready)
        return found

    def go(self) -> None:
        """Let them run."""
        for child in self._children:
            child.say(b"go")

    @property
    def handled(self) -> int:
        """How many calls they have made; a hint."""
        return sum(child.handled for child in self._children)

    def check(self) -> None:
        """Raise Unavailable when one of them has failed or ended."""
        for child in self._children:
            child.check()

    async def stop(self) -> list[Report]:
        """Tell them that all is done; what they report. Raises Unavailable."""
        for child in self._children:
            child.say(b"stop")
        async with asyncio.timeout(REPORT_S_MAX):
            return [await child.report for child in self._children]

    async def end(self) -> None:
        """Return when none runs any more."""
        await asyncio.gather(*(child.end() for child in self._children))
