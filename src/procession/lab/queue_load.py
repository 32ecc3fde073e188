"""One process of a run of the queue, as a program: our own driver, through `Procession` alone like any user.

It reads what to do from standard input, says when it is ready, begins at the word to go, and reports what it did. It
never decides when a drain is over: that is seen in the database, by its owner.
"""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Any, Final

import msgspec

from procession.lab.loop import run
from procession.lab.queue_ceiling import ceiling_for
from procession.lab.queue_orders import Failed, Order, Progress, Ready, Said
from procession.lab.queue_product import Subject, subject_for

PROGRESS_S: Final = 0.01  # between two words about how far it is: when the last handler has run decides when to count
LINE_BYTES_MAX: Final = 64 * 1024
CEILING: Final = "--ceiling"


async def main() -> None:
    """Obey the owner until it is content or gone."""
    orders = asyncio.StreamReader(limit=LINE_BYTES_MAX)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    order = msgspec.json.decode(await orders.readline(), type=Order)
    make = ceiling_for if CEILING in sys.argv else subject_for
    try:
        await obey(make(order), orders)
    except Exception as error:  # noqa: BLE001 - whatever it was, the owner has to know
        say(Failed(error=f"{type(error).__name__}: {error}"))


async def obey(subject: Subject, orders: asyncio.StreamReader) -> None:
    """Prepare, go, report, and stay until told to stop."""
    try:
        say(Ready(starts_per_s=await subject.prepare()))
        if await orders.readline():
            await _go(subject, orders)
    finally:
        await subject.close()


async def _go(subject: Subject, orders: asyncio.StreamReader) -> None:
    """Begin; whoever ends by itself is asked what it did at once, a worker when it is told to stop."""
    cpu_before = time.process_time()
    stopped = asyncio.ensure_future(orders.readline())
    going = asyncio.get_running_loop().create_task(subject.go())
    waited: set[asyncio.Future[Any]] = {stopped, going}
    try:
        while not stopped.done() and not (going.done() and subject.ends_by_itself):
            await asyncio.wait(waited, timeout=PROGRESS_S, return_when=asyncio.FIRST_COMPLETED)
            if going.done():
                going.result()
                waited.discard(going)
            say(Progress(done=subject.done))
        cpu_s = time.process_time() - cpu_before
    finally:
        going.cancel()
        await asyncio.gather(going, return_exceptions=True)
    say(subject.report(round(cpu_s, 3)))
    await stopped


def say(message: Said) -> None:
    """Tell the owner."""
    sys.stdout.buffer.write(msgspec.json.encode(message) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    run(main())
