"""How a driver of another queue is spoken with, and the workloads in terms of what every queue can do.

Runs beside that queue in an environment of its own, with nothing of ours but this file; the words are those of
`queue_orders.py`. A driver subclasses `Queue` and ends with `speak(TheClass)`.
"""
# ruff: noqa: ANN401, BLE001, T201 - what the others take and raise is their own; standard output is how it speaks
# pyright: basic

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

PROGRESS_S = 0.01
ENDS_BY_ITSELF = frozenset({"bulk", "single", "latency"})
LATE_S_MAX = 10.0  # for the last jobs of the open loop


class Queue:
    """What a driver says about its queue; what it cannot do it leaves."""

    def __init__(self, order: dict[str, Any]) -> None:
        self.order = order
        self.url: str = order["url"]
        self.settings: dict[str, str] = order["settings"]
        self.sleep_s: float = order["sleep_ms"] / 1000
        self.done = 0
        self.seconds = 0.0
        self.latencies_ms: list[float] = []
        self.notes: list[str] = []

    async def open(self) -> None:
        """Connect, and make the schema."""

    async def insert_many(self, count: int) -> None:
        """Insert so many jobs in one call."""
        raise NotImplementedError

    async def insert_one(self, payload: dict[str, Any]) -> None:
        """Insert a job; durable when this returns."""
        raise NotImplementedError

    async def work(self) -> None:
        """Work until cancelled, or begin to."""
        raise NotImplementedError

    async def start(self) -> None:
        """Start an instance of two steps."""
        raise NotImplementedError

    async def close(self) -> None:
        """Let go of everything."""

    async def handle(self, payload: dict[str, Any]) -> None:
        """What every handler does, first of all look at the time."""
        if "sent_at" in payload:
            self.latencies_ms.append((time.perf_counter() - payload["sent_at"]) * 1000)
        if self.sleep_s:
            await asyncio.sleep(self.sleep_s)
        self.done += 1

    # -- workloads ------------------------------------------------------------------------------------------------
    async def fill(self, jobs: int) -> None:
        """Put so many jobs in."""
        for begin in range(0, jobs, self.order["bulk"]):
            await self.insert_many(min(self.order["bulk"], jobs - begin))

    async def prepare(self) -> None:
        """Everything before the word to go."""
        await self.open()
        if self.order["workload"] == "drain" and self.order["fills"]:
            await self.fill(self.order["jobs"])

    async def bulk(self) -> None:
        """Thousands in one call, call after call."""
        order, begun = self.order, time.perf_counter()
        while self.done < order["jobs"] and time.perf_counter() - begun < order["seconds_max"]:
            count = min(order["bulk"], order["jobs"] - self.done)
            await self.insert_many(count)
            self.done += count
        self.seconds = time.perf_counter() - begun

    async def single(self) -> None:
        """Callers that insert one at a time."""
        order, begun = self.order, time.perf_counter()
        end = begun + order["seconds_max"]
        left = order["jobs"]

        async def call() -> None:
            nonlocal left
            while left > 0 and time.perf_counter() < end:
                left -= 1
                at = time.perf_counter()
                await self.insert_one({"number": 1})
                self.latencies_ms.append((time.perf_counter() - at) * 1000)
                self.done += 1

        await asyncio.gather(*(call() for _ in range(order["callers"])))
        self.seconds = time.perf_counter() - begun

    async def drain(self) -> None:
        """A worker with a full queue before it."""
        await self.work()

    async def latency(self) -> None:
        """A job at fixed times, whether or not the one before has begun."""
        order = self.order
        working = asyncio.ensure_future(self.work())
        await asyncio.sleep(1.0)  # until it listens
        begun, late, tasks = time.perf_counter(), 0.0, []
        for number in range(order["jobs"]):
            due = begun + number * order["every_ms"] / 1000
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            late = max(late, time.perf_counter() - due)
            tasks.append(asyncio.ensure_future(self.insert_one({"sent_at": time.perf_counter()})))
        await asyncio.gather(*tasks)
        end = time.perf_counter() + LATE_S_MAX
        while self.done < order["jobs"] and time.perf_counter() < end:  # noqa: ASYNC110 - handlers send no word
            await asyncio.sleep(0.01)
        self.seconds = time.perf_counter() - begun
        self.latencies_ms = self.latencies_ms[order["dropped"] :]
        self.notes.append(f"the open loop was at most {late * 1000:.1f} ms late")
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)

    async def steps(self) -> None:
        """Callers that start instances while workers do them."""
        left = self.order["jobs"]
        working = asyncio.ensure_future(self.work())

        async def call() -> None:
            nonlocal left
            while left > 0:
                left -= 1
                await self.start()

        await asyncio.gather(*(call() for _ in range(self.order["callers"])))
        await working


def speak(make: type[Queue]) -> None:
    """Be the driver."""
    try:
        import uvloop as loops  # noqa: PLC0415 - where its environment has it
    except ModuleNotFoundError:
        loops = asyncio
    loops.run(_obey(make))


def say(kind: str, **words: Any) -> None:
    """Tell the owner."""
    print(json.dumps({"type": kind, **words}), flush=True)


async def _obey(make: type[Queue]) -> None:
    orders = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    queue = make(json.loads(await orders.readline()))
    try:
        await queue.prepare()
        say("ready")
        if await orders.readline():
            await _go(queue, orders)
        await asyncio.wait_for(queue.close(), 5)
    except Exception as error:
        say("failed", error=f"{type(error).__name__}: {error}"[:400])


async def _go(queue: Queue, orders: asyncio.StreamReader) -> None:
    workload = queue.order["workload"]
    cpu_before = time.process_time()
    stopped = asyncio.ensure_future(orders.readline())
    going = asyncio.ensure_future(getattr(queue, workload)())
    waited = {stopped, going}
    while not stopped.done() and not (going.done() and workload in ENDS_BY_ITSELF):
        await asyncio.wait(waited, timeout=PROGRESS_S, return_when=asyncio.FIRST_COMPLETED)
        if going.done():
            going.result()
            waited.discard(going)
        say("progress", done=queue.done)
    cpu_s = time.process_time() - cpu_before
    say(
        "done",
        done=queue.done,
        seconds=round(queue.seconds, 4),
        cpu_s=round(cpu_s, 3),
        latencies_ms=[round(latency, 4) for latency in queue.latencies_ms],
        notes=queue.notes,
    )
    going.cancel()
    await asyncio.wait({going}, timeout=3)
    await stopped
