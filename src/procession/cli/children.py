"""Processes that this one starts and ends: the same command line again, with ``--supervised``. It knows no database.

A child has a session of its own, so that Ctrl-C on the terminal reaches the parent alone, which passes it on once; and
its stdin is a pipe that the parent holds, so that it stops when the parent is gone, however that went.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence

from procession.cli.options import URL_VARIABLE, options
from procession.cli.serving import Stop, tell
from procession.cli.session import said_url

FINAL = frozenset({0, 1, 2, 3})  # a child that ends so has said why; starting it again would give the same
PAUSE_S, PAUSE_S_MAX = 1.0, 30.0  # before a child that was killed starts again; doubled each time
STEADY_S = 60.0  # a child that lived so long is well: the next pause is short again


class Child:
    """One process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.ended = asyncio.ensure_future(process.wait())

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    @property
    def code(self) -> int:
        """The exit code, once it has ended; minus the signal's number if a signal ended it."""
        return self._process.returncode or 0

    def send(self, number: int) -> None:
        """Send a signal, if it runs."""
        if self._process.returncode is None:
            self._process.send_signal(number)


async def start(arguments: Sequence[str]) -> Child:
    """Start the command line with these arguments and the options of this one. The URL goes by the environment.

    An argument could be read by every user of the machine, and the URL may hold a password.
    """
    said = options()
    flags = [flag for flag, on in (("--json", said.json), ("--debug", said.debug)) if on]
    environment = dict(os.environ)
    if said_url():
        environment[URL_VARIABLE] = said_url()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",  # a file called procession.py in the working directory is the user's, not this program
        "-m",
        "procession",
        *flags,
        *arguments,
        "--supervised",
        stdin=asyncio.subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )
    return Child(process)


async def supervise(arguments: Sequence[str], count: int) -> int:
    """Keep so many children running until told to stop; the exit code. A killed one starts again after a pause."""
    crew = _Crew(arguments)
    stop = Stop(at_once=lambda: crew.signal(signal.SIGKILL))
    keeping = [asyncio.ensure_future(crew.keep(number + 1)) for number in range(count)]
    all_ended = asyncio.gather(*keeping)
    wish = asyncio.ensure_future(stop.wait())
    await asyncio.wait([all_ended, wish], return_when=asyncio.FIRST_COMPLETED)
    wish.cancel()
    crew.stop()
    await all_ended
    tell("stopped", "Stopped")
    return crew.code


class _Crew:
    """The children of one command."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self.code = 0
        self._arguments = arguments
        self._children: dict[int, Child] = {}
        self._stopped = asyncio.Event()

    async def keep(self, number: int) -> None:
        """Start a child, and again whenever it was killed."""
        loop = asyncio.get_running_loop()
        pause_s = PAUSE_S
        while not self._stopped.is_set():
            began = loop.time()
            child = self._children[number] = await start(self._arguments)
            if self._stopped.is_set():
                child.send(signal.SIGTERM)
            await child.ended
            if self._stopped.is_set():
                return
            if child.code in FINAL:
                self.code = self.code or child.code
                self.stop()
                return
            pause_s = PAUSE_S if loop.time() - began > STEADY_S else pause_s
            tell(
                "restarting",
                f"Process {number} (pid {child.pid}) {how_it_ended(child.code)}: it starts again in {pause_s:.0f} s",
                process=number,
                pid=child.pid,
                code=child.code,
            )
            await self._pause(pause_s)
            pause_s = min(2 * pause_s, PAUSE_S_MAX)

    def stop(self) -> None:
        """Let all of them end gracefully."""
        if not self._stopped.is_set():
            self._stopped.set()
            self.signal(signal.SIGTERM)

    def signal(self, number: int) -> None:
        """Send all of them a signal."""
        for child in self._children.values():
            child.send(number)

    async def _pause(self, seconds: float) -> None:
        """Wait, or less if there is nothing to wait for any more."""
        try:
            await asyncio.wait_for(self._stopped.wait(), seconds)
        except TimeoutError:
            return


def how_it_ended(code: int) -> str:
    """A child's end in words."""
    return f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
