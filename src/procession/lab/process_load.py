"""One process of a run, as a program: starters and workers together, as the benchmark is defined.

It reads what to do from standard input, says when it is ready, runs at the word to go, and reports at the word to
stop. The end of standard input means that its owner is gone: it stops at once. It counts no completions: that is done
in the database, by its owner.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Final

import msgspec

from procession.lab.ceiling import Ceiling
from procession.lab.loop import run
from procession.lab.options import Failed, Load, Message, Progress, Ready, Report
from procession.lab.product import Product
from procession.lab.starters import Starters, calls_per_s, starts_per_s
from procession.lab.stub import Call, StubServer, calls

PROGRESS_S: Final = 0.1  # between two words about how far it is
PROGRESS_S_LAST: Final = 0.01  # once all starts are made: when the last handler has run decides when to count
LINE_BYTES_MAX: Final = 64 * 1024

Subject = Product | Ceiling


async def main() -> None:
    """Obey the owner until it is content or gone."""
    orders = asyncio.StreamReader(limit=LINE_BYTES_MAX)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    load = msgspec.json.decode(await orders.readline(), type=Load)
    try:
        await _obey(load, orders)
    except Exception as error:  # noqa: BLE001 - whatever it was, the owner has to know
        say(Failed(error=f"{type(error).__name__}: {error}"))


async def _obey(load: Load, orders: asyncio.StreamReader) -> None:
    """Prepare, go, report."""
    stub = StubServer()
    await stub.open()
    workers = load.step_workers if load.way == "methods" else load.job_workers
    async with calls(load.client, load.stub_url or stub.url, workers) as call, _subject(load, call) as subject:
        ready = Ready(
            starts_per_s=await starts_per_s(load.starters, load.batch_starts, load.instances),
            calls_per_s=None if load.ceiling else await calls_per_s(call, workers, load.instances),
        )
        answered_before = stub.answered
        say(ready)
        if not await orders.readline():
            return
        report = await _go(load, subject, orders)
        report.calls = stub.answered - answered_before if not load.stub_url else report.calls
        say(report)
    stub.close()


async def _go(load: Load, subject: Subject, orders: asyncio.StreamReader) -> Report:
    """Start everything, tell how far it is, until the owner has seen all completions or is gone."""
    starters = Starters(subject.start, starters=load.starters, instances=load.instances, batch=load.batch_starts)
    cpu_before = time.process_time()
    stopped = asyncio.ensure_future(orders.readline())
    starting = asyncio.get_running_loop().create_task(starters.run())
    try:
        while not stopped.done():
            await asyncio.wait([stopped], timeout=PROGRESS_S_LAST if starting.done() else PROGRESS_S)
            if starting.done() and not starting.cancelled():
                starting.result()
            say(Progress(handled=subject.handled, starts=starters.started))
        cpu_s = time.process_time() - cpu_before
    finally:
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)
    return Report(
        first_start_at=starters.first_start_at,
        first_start_monotonic=starters.first_start_monotonic,
        cpu_s=round(cpu_s, 3),
        latencies_ms=[round(latency, 4) for latency in starters.latencies_ms],
        starts=starters.started,
        rejected=starters.rejected,
        calls=subject.handled if load.client != "none" and not load.ceiling else 0,
        counters=subject.counters(),
    )


@asynccontextmanager
async def _subject(load: Load, call: Call | None) -> AsyncGenerator[Subject, None]:
    """The product, or the statements that stand for it."""
    subject: Any = Ceiling(load) if load.ceiling else Product(load, call)
    async with subject:
        yield subject


def say(message: Message) -> None:
    """Tell the owner."""
    sys.stdout.buffer.write(msgspec.json.encode(message) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    run(main())
