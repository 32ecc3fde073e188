"""The processes of a run of the queue, from their owner's side: ours and those of other queues speak the same words.

A driver reads an `Order` from the first line of its standard input, says `ready`, begins at a second line, tells how
far it is and what it did, and ends at a third line or with its input. Whatever else it prints goes to standard error.
"""

from __future__ import annotations

import asyncio
import contextlib
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from procession.errors import Unavailable
from procession.lab.queue_orders import Done, Failed, Order, Progress, Ready, Said

READY_S_MAX: Final = 180.0
DONE_S_MAX: Final = 60.0
END_S_MAX: Final = 15.0
LINE_BYTES_MAX: Final = 64 * 1024 * 1024
ERROR_CHARACTERS_MAX: Final = 400  # of what a driver said at its end

_decode = msgspec.json.Decoder(Said).decode


class Driver:
    """One process."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.done_hint = 0
        loop = asyncio.get_running_loop()
        self.ready: asyncio.Future[Ready] = loop.create_future()
        self.done: asyncio.Future[Done] = loop.create_future()
        self._errors = loop.create_task(self._read_errors())
        self._hearing = loop.create_task(self._hear())

    @classmethod
    async def start(cls, command: Sequence[str], order: Order, environment: Mapping[str, str] | None = None) -> Driver:
        """Start a process, in a session that no Ctrl-C reaches, and say what it is to do."""
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            limit=LINE_BYTES_MAX,
            start_new_session=True,
            env=environment,
        )
        driver = cls(process)
        driver.say(msgspec.json.encode(order))
        return driver

    def say(self, line: bytes) -> None:
        """Give an order; a process that has ended hears nothing."""
        stdin = self._process.stdin
        assert stdin is not None
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            stdin.write(line + b"\n")

    def check(self) -> None:
        """Raise Unavailable when it has failed or ended."""
        if self.done.done():
            self.done.result()

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
        await asyncio.gather(self._hearing, self._errors, return_exceptions=True)
        for future in (self.ready, self.done):
            if future.done():
                future.exception()  # heard, if anybody asked
            else:
                future.cancel()

    async def _read_errors(self) -> str:
        """The last words on standard error."""
        stderr = self._process.stderr
        assert stderr is not None
        kept = b""
        while part := await stderr.read(65_536):
            kept = (kept + part)[-4 * ERROR_CHARACTERS_MAX :]
        return kept.decode(errors="replace").strip()[-ERROR_CHARACTERS_MAX:]

    async def _hear(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        error = ""
        while line := await stdout.readline():
            try:
                message = _decode(line)
            except msgspec.DecodeError:
                continue  # a library's own remark
            if isinstance(message, Failed):
                error = message.error
            else:
                self._take(message)
        code = await self._process.wait()
        words = error or await self._errors or "it said nothing"
        failure = f"A process of the run ended with {code}: {words}"
        for future in (self.ready, self.done):
            if not future.done():
                future.set_exception(Unavailable(failure))

    def _take(self, message: Ready | Progress | Done) -> None:
        match message:
            case Progress():
                self.done_hint = message.done
            case Ready():
                self.ready.set_result(message)
            case Done():
                self.done_hint = message.done
                self.done.set_result(message)


class Drivers:
    """All processes of a run."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        self._command = command
        self._environment = environment
        self._drivers: list[Driver] = []

    async def start(self, orders: Sequence[Order]) -> list[Ready]:
        """Start them one after the other (the first makes the schema). Raises Unavailable, TimeoutError."""
        found: list[Ready] = []
        for order in orders:
            driver = await Driver.start(self._command, order, self._environment)
            self._drivers.append(driver)
            async with asyncio.timeout(READY_S_MAX):
                found.append(await driver.ready)
        return found

    def go(self) -> None:
        """Let them begin."""
        for driver in self._drivers:
            driver.say(b"go")

    @property
    def done_hint(self) -> int:
        """How many jobs they have done; a hint."""
        return sum(driver.done_hint for driver in self._drivers)

    @property
    def are_done(self) -> bool:
        """Whether all have said what they did."""
        return all(driver.done.done() for driver in self._drivers)

    def check(self) -> None:
        """Raise Unavailable when one of them has failed or ended."""
        for driver in self._drivers:
            driver.check()

    async def stop(self) -> list[Done]:
        """Tell them that all is done; what they did. Raises Unavailable, TimeoutError."""
        for driver in self._drivers:
            driver.say(b"stop")
        async with asyncio.timeout(DONE_S_MAX):
            return [await driver.done for driver in self._drivers]

    async def end(self) -> None:
        """Return when none runs any more."""
        await asyncio.gather(*(driver.end() for driver in self._drivers))
