"""Works until told to stop: one application in this process, its signals, what it says about itself.

SIGTERM or SIGINT: stop gracefully. A second one: end at once, as if killed; other processes then take over what ran.
A supervised process also stops when its stdin ends, so that it never outlives whoever started it.
"""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import logging
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from procession.cli import screen
from procession.cli.options import options
from procession.worker.collector import calm_collector

if TYPE_CHECKING:
    from procession.app import Procession

T = TypeVar("T")
SIGNALS = (signal.SIGINT, signal.SIGTERM)
KILLED = 128  # plus the signal's number: the exit code of a process that a signal ended


def run_loop(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on uvloop where it is installed, with a collector of cycles that looks less often."""
    calm_collector()
    factory = None
    if importlib.util.find_spec("uvloop") is not None:
        import uvloop  # noqa: PLC0415 - not installed everywhere

        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(coroutine)


def settle() -> None:
    """What is there when a process is ready stays for good: the collector of cycles looks through it no more.

    Before that and ``calm_collector`` a server under load looked through its whole memory several times a second, for
    60 to 130 ms in which nobody got an answer; pauses of 40 to 60 ms remain, and are rare.
    """
    gc.collect()
    gc.freeze()


def show_logs(*, tracebacks: bool = False) -> None:
    """Log to stderr, unless the application has set up its own logging.

    ``tracebacks``: those of failed attempts too, each once; otherwise only their first lines (incidents keep all).
    """
    debug = options().debug
    times = "%H:%M:%S" if tracebacks else None
    logging.basicConfig(
        level=logging.DEBUG if debug else logging.WARNING,
        format="%(asctime)s %(levelname)s %(message)s",
        datefmt=times,
    )
    logging.getLogger("procession").setLevel(logging.DEBUG if debug else logging.INFO)
    logging.getLogger("asyncio").setLevel(logging.WARNING)
    if not debug:
        logging.getLogger("procession.worker").addFilter(_ShortFailures(tracebacks=tracebacks))


class _ShortFailures(logging.Filter):
    """Cuts tracebacks out of the worker's messages, or those that were shown before."""

    def __init__(self, *, tracebacks: bool) -> None:
        super().__init__()
        self._tracebacks = tracebacks
        self._last = ""

    def filter(self, record: logging.LogRecord) -> bool:
        """Shorten; everything passes."""
        head, _, rest = record.getMessage().partition("\n")
        if rest and (not self._tracebacks or rest == self._last):
            record.msg, record.args = head, ()
        self._last = rest or self._last
        return True


def tell(event: str, text: str = "", **details: object) -> None:
    """Say something about this process, at once: a line for people, or a JSON object a line."""
    if options().json:
        screen.json_line({"event": event, **details})
    elif text:
        screen.line(text)
        sys.stdout.flush()


class Stop:
    """The wish to stop: set by the first signal. The second ends the process. To be made on a running loop."""

    def __init__(self, *, at_once: Callable[[], None] = lambda: None, silent: bool = False) -> None:
        self._wished = asyncio.Event()
        self._silent = silent
        self._at_once = at_once
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, self._signal, number)

    @property
    def wished(self) -> bool:
        """Whether somebody wants it."""
        return self._wished.is_set()

    async def wait(self) -> None:
        """Until somebody wants it."""
        await self._wished.wait()

    def wish(self) -> None:
        """Stop gracefully."""
        if not self.wished:
            self._wished.set()
            tell("stopping", "" if self._silent else "Stopping: running jobs may end (once more: at once)")

    def end_with_stdin(self) -> None:
        """Wish to stop when stdin, the pipe that the parent holds, ends."""
        loop = asyncio.get_running_loop()

        def read() -> None:
            if not os.read(0, 1024):
                loop.remove_reader(0)
                self.wish()

        loop.add_reader(0, read)

    def _signal(self, number: int) -> None:
        if not self.wished:
            self.wish()
            return
        self._at_once()
        sys.stdout.flush()
        os._exit(KILLED + number)  # nothing may keep it: a handler may block the loop's threads


async def serve(
    app: Procession,
    opened: Callable[[Procession], Awaitable[None]],
    *,
    supervised: bool,
    beside: Callable[[Procession], AbstractAsyncContextManager[None]] = lambda _: nullcontext(),
) -> None:
    """Open the application with its workers, work until told to stop, close gracefully. Raises what opening raises.

    ``beside`` is what stands open while it works; it ends before the application does.
    """
    stop = Stop(silent=supervised)  # its parent says so
    if supervised:
        stop.end_with_stdin()
    opening = asyncio.ensure_future(app.open())
    wish = asyncio.ensure_future(stop.wait())
    await asyncio.wait([opening, wish], return_when=asyncio.FIRST_COMPLETED)
    if not opening.done():
        opening.cancel()
        await asyncio.gather(opening, return_exceptions=True)
        return
    await opening
    try:
        async with beside(app):
            await opened(app)
            await wish
    finally:
        wish.cancel()
        await app.close()
    tell("stopped", "" if supervised else "Stopped")


def describe(app: Procession) -> None:
    """What this process works on, for whoever started it."""
    from procession import __version__  # noqa: PLC0415 - beside its only use

    handlers = app.handlers
    if options().json:
        tell(
            "working",
            url=app.url,
            node=app.node,
            pid=os.getpid(),
            methods=sorted(handlers.methods),
            jobs=sorted(handlers.jobs),
        )
        return
    screen.line(
        ("Procession ", "bold"),
        __version__,
        " works on ",
        (app.url, "bold"),
        f" as node {app.node} (pid {os.getpid()})",
    )
    rows = [("methods", ", ".join(sorted(handlers.methods))), ("jobs", ", ".join(sorted(handlers.jobs)))]
    screen.pairs(row for row in rows if row[1])
    if not handlers.methods and not handlers.jobs:
        screen.line(("  No handlers: timers, messages and people's tasks go on; service tasks wait.", "yellow"))
    sys.stdout.flush()


def exit_with(code: int) -> None:
    """End with this code, if it is one."""
    if code:
        raise typer.Exit(code)
