"""The workloads of the queue as a user would write them: through `Procession` alone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol

import msgspec

from procession.app import Procession
from procession.app.job_options import Limit
from procession.lab import models
from procession.lab.options import VARIABLES
from procession.lab.queue_orders import Done, Order
from procession.lab.starters import Starters, starts_per_s

TYPE: Final = "bench"
QUEUE: Final = "bench"
ARGS: Final = {"number": 1}
LOOK_S: Final = 0.005  # between two looks at the memory store, when all handlers have run
CLAIM_WAIT_S: Final = 5.0
START_AT_ONCE: Final = 500
LATE_S_MAX: Final = 10.0  # for the last jobs of the open loop


class Subject(Protocol):
    """What a driver does for one order."""

    ends_by_itself: bool

    @property
    def done(self) -> int:
        """How many so far."""
        ...

    async def prepare(self) -> float | None:
        """Connect, make the schema, fill the queue; the load generator's own rate, where there is one."""
        ...

    async def go(self) -> None:
        """Do it. A worker returns when it has begun."""
        ...

    def report(self, cpu_s: float) -> Done:
        """What was done."""
        ...

    async def close(self) -> None:
        """Let go of everything."""
        ...


def subject_for(order: Order) -> Subject:
    """The workload that an order names."""
    return {"bulk": Bulk, "single": Single, "drain": Drain, "latency": Latencies, "steps": Steps, "fetch": Fetch}[
        order.workload
    ](order)


class Workload:
    """What all workloads share: the application, and what is reported."""

    ends_by_itself = True

    def __init__(self, order: Order) -> None:
        self.done = 0
        self.seconds = 0.0
        self.notes: list[str] = []
        self.latencies_ms: list[float] = []
        self.order = order
        self.app = Procession(order.url)
        self._counters: dict[str, int] = {}

    async def prepare(self) -> float | None:
        """Open without workers."""
        await self.app.open(run_workers=False, migrate=self.order.fills)
        return None

    async def go(self) -> None:
        """Do it."""
        raise NotImplementedError

    def report(self, cpu_s: float) -> Done:
        """What was done, with what the product counted itself."""
        counted = msgspec.to_builtins(self.app.counters)
        return Done(
            done=self.done,
            seconds=round(self.seconds, 4),
            cpu_s=cpu_s,
            latencies_ms=[round(latency, 4) for latency in self.latencies_ms],
            counters={name: value for name, value in counted.items() if isinstance(value, int)},
            notes=self.notes,
        )

    async def close(self) -> None:
        """Close the application."""
        await self.app.close()

    async def fill(self, jobs: int) -> None:
        """Put so many jobs into the queue, thousands at once."""
        options: dict[str, Any] = {"queue": QUEUE}
        if self.order.limited:
            options["limits"] = Limit("bench", most=self.order.concurrency)
        for begin in range(0, jobs, self.order.bulk):
            await self.app.enqueue_many(TYPE, [ARGS] * min(self.order.bulk, jobs - begin), **options)


class Bulk(Workload):
    """Thousands of jobs in one call, call after call."""

    async def go(self) -> None:
        """Until all are in, or the time is over."""
        order, begun = self.order, time.perf_counter()
        while self.done < order.jobs and time.perf_counter() - begun < order.seconds_max:
            count = min(order.bulk, order.jobs - self.done)
            await self.app.enqueue_many(TYPE, [ARGS] * count, queue=QUEUE)
            self.done += count
        self.seconds = time.perf_counter() - begun


class Single(Workload):
    """Callers that put in one job at a time, each waiting until it is durable."""

    async def prepare(self) -> float | None:
        """Also how fast the same callers are with a call that only gives way once."""
        await super().prepare()
        return await starts_per_s(self.order.callers, 1, self.order.jobs)

    async def go(self) -> None:
        """All callers at once, until all jobs are in or the time is over."""
        begun = time.perf_counter()
        self._end = begun + self.order.seconds_max
        share, more = divmod(self.order.jobs, self.order.callers)
        async with asyncio.TaskGroup() as group:
            for number in range(self.order.callers):
                group.create_task(self._call(share + (number < more)))
        self.seconds = time.perf_counter() - begun

    async def _call(self, count: int) -> None:
        enqueue, clock, latencies = self.app.enqueue, time.perf_counter, self.latencies_ms
        for _ in range(count):
            begun = clock()
            if begun > self._end:
                return
            await enqueue(TYPE, ARGS, queue=QUEUE)
            latencies.append((clock() - begun) * 1000)
            self.done += 1


class Drain(Workload):
    """A worker with a full queue before it."""

    ends_by_itself = False

    def __init__(self, order: Order) -> None:
        super().__init__(order)
        self.handled = 0
        self.app.job(TYPE, queue=QUEUE, concurrency=order.concurrency)(self._handler())

    def _handler(self) -> Callable[[], Awaitable[None]]:
        """A handler that does nothing, or sleeps."""
        sleep_s = self.order.sleep_ms / 1000

        async def do_nothing() -> None:
            self.handled += 1

        async def sleep() -> None:
            await asyncio.sleep(sleep_s)
            self.handled += 1

        return sleep if sleep_s else do_nothing

    @property
    def done(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride] - read only here
        """How many handlers have run; on the memory store not all of them before the store is empty."""
        return self.handled if self._is_over else min(self.handled, self.order.jobs - 1)

    @done.setter
    def done(self, value: int) -> None:
        self.handled = value

    @property
    def _is_over(self) -> bool:
        return self._seen_empty or not self.order.url.startswith("memory:")

    _seen_empty = False

    async def prepare(self) -> float | None:
        """Connect, fill the queue unless that was done, and close again: a worker opens at the word to go."""
        await super().prepare()
        if self.order.fills:
            await self.fill(self.order.jobs)
        await self.app.close()
        return None

    async def go(self) -> None:
        """Open with workers: that belongs to the time."""
        await self.app.open(run_workers=True)
        while not self._is_over:
            await asyncio.sleep(LOOK_S)
            self._seen_empty = self.handled >= self.order.jobs and not await self.app.jobs(queue=QUEUE, limit=1)


class Latencies(Workload):
    """Jobs put in at fixed times, whether or not earlier ones have begun: an open loop."""

    def __init__(self, order: Order) -> None:
        super().__init__(order)
        self._all_run = asyncio.Event()
        self._late_s = 0.0
        self._drained = 0
        self._drained_all = asyncio.Event()
        self.app.job(TYPE, queue=QUEUE, concurrency=order.concurrency)(self._drain_one)
        self.app.job("sample", queue="sample", concurrency=order.concurrency)(self._take_sample)

    async def prepare(self) -> float | None:
        """Open with workers."""
        await self.app.open(run_workers=True, migrate=True)
        return None

    async def go(self) -> None:
        """Enqueue at every tick; return when the last job has begun."""
        order = self.order
        if order.fills_first:
            await self.fill(order.fills_first)
            await self._drained_all.wait()
        begun = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for number in range(order.jobs):
                due = begun + number * order.every_ms / 1000
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                self._late_s = max(self._late_s, time.perf_counter() - due)
                group.create_task(self._enqueue())
        async with asyncio.timeout(LATE_S_MAX):
            await self._all_run.wait()
        self.seconds = time.perf_counter() - begun
        self.latencies_ms = self.latencies_ms[order.dropped :]
        self.notes.append(f"the open loop was at most {self._late_s * 1000:.1f} ms late")

    async def _enqueue(self) -> None:
        await self.app.enqueue("sample", {"sent_at": time.perf_counter()}, queue="sample")

    async def _take_sample(self, sent_at: float) -> None:
        self.latencies_ms.append((time.perf_counter() - sent_at) * 1000)
        self.done += 1
        if self.done == self.order.jobs:
            self._all_run.set()

    async def _drain_one(self) -> None:
        self._drained += 1
        if self._drained == self.order.fills_first:
            self._drained_all.set()


class Steps(Workload):
    """Callers that start instances of a process of two service tasks, while workers do these."""

    ends_by_itself = False

    def __init__(self, order: Order) -> None:
        super().__init__(order)
        self._handled = 0
        self._starters = Starters(self._start, starters=order.callers, instances=order.jobs, batch=1)
        self.app.job(models.JOB_TYPE, concurrency=order.concurrency)(self._work)

    async def prepare(self) -> float | None:
        """Open with workers and deploy."""
        order = self.order
        await self.app.open(run_workers=True, migrate=True)
        await self.app.deploy(("service_tasks.bpmn", models.model("service_tasks")))
        return await starts_per_s(order.callers, 1, order.jobs)

    async def go(self) -> None:
        """Start all instances."""
        await self._starters.run()
        self.latencies_ms = self._starters.latencies_ms

    async def _start(self) -> int:
        return await self.app.start(models.SERVICE_TASKS_PROCESS, VARIABLES)

    async def _work(self) -> None:
        self._handled += 1
        self.done = self._handled // models.CALLS_PER_INSTANCE


class Fetch(Workload):
    """A worker in another process' place: jobs of process instances are taken so many a call, and each is completed."""

    async def prepare(self) -> float | None:
        """Start an instance for each job; what is taken is claimed by the engine's own loops, so they run."""
        await self.app.open(run_workers=True, migrate=True)
        await self.app.deploy(("one_task.bpmn", models.chain_model(1)))
        for begin in range(0, self.order.jobs, START_AT_ONCE):
            count = min(START_AT_ONCE, self.order.jobs - begin)
            await asyncio.gather(*(self.app.start("chain", VARIABLES) for _ in range(count)))
        return None

    async def go(self) -> None:
        """Take, complete all that were taken, take again."""
        app, order, begun = self.app, self.order, time.perf_counter()
        while self.done < order.jobs and time.perf_counter() - begun < order.seconds_max:
            jobs = await app.activate_jobs("work", count=order.fetch, wait=CLAIM_WAIT_S)
            if not jobs:
                break
            await asyncio.gather(*(app.complete_job(job.job_key, lease=job.lease) for job in jobs))
            self.done += len(jobs)
        self.seconds = time.perf_counter() - begun
