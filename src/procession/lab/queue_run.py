"""One run of the queue: a workload on a fresh database, until a connection of its own sees that every job is final.

Processes of their own enqueue and work; this side makes the database, watches it, and adds up. Where callers wait for
each answer themselves (inserts, taking and completing), their own clock gives the time, and the rows are counted.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from procession.errors import Unavailable
from procession.lab.databases import BenchDatabase
from procession.lab.drivers import Drivers
from procession.lab.process_run import latency_of
from procession.lab.queue_orders import LATENCY_DROPPED, Done, Order, QueueOptions, Ready
from procession.lab.queue_results import QueueRun
from procession.lab.queue_variants import QueueVariant, Workload
from procession.lab.results import ClientWork

LOOK_S: Final = 0.5  # between two counts while nothing says that all is done
LOOK_S_LAST: Final = 0.003
LAST_LOOKS: Final = 300
FILLED_FIRST: Final = 50_000  # drained before latencies beside a long transaction: their dead rows stay
OVERTIME_S: Final = 30.0  # beyond its own time, for a driver that ends by itself

Told = Callable[[int], None]


class Means(msgspec.Struct, kw_only=True, frozen=True):
    """How a subject is run and watched."""

    command: Sequence[str]
    environment: Mapping[str, str] | None = None
    open_query: str  # how many jobs are not final
    done_query: str  # how many instances are
    settings: dict[str, str] = {}
    settings_with_sleep: dict[str, str] = {}
    seen_in_database: bool = True  # whether there is anything to look at from outside


class Watched(msgspec.Struct, kw_only=True):
    """What a run was seen to do."""

    gone_at: float = 0.0
    seen_at: float = 0.0
    reports: list[Done] = []


class QueueMeasurement:
    """What is known about one run while it goes on. `run` is filled step by step, so that an interruption keeps it."""

    def __init__(
        self, options: QueueOptions, variant: QueueVariant, round_number: int, database: BenchDatabase, means: Means
    ) -> None:
        self._options = options
        self._workload: Workload = variant.workload
        self._database = database
        self._means = means
        self._drivers = Drivers(means.command, means.environment)
        self._seen = Watched()
        self._looks = 0
        self.run = QueueRun(
            variant=variant.name,
            round=round_number,
            started_at=datetime.now(UTC).isoformat(timespec="seconds"),
            jobs=jobs_of(variant.workload, options),
        )

    async def measure(self, told: Told) -> None:
        """Run to the end. Whatever ends it, what was measured is in `run`."""
        run, database = self.run, self._database
        run.flushes_before_per_s = await database.flushes_per_s(self._options.probe_s)
        try:
            fills = self._workload.kind != "drain" or not self._means.seen_in_database
            if not fills:
                await self._fill()
            ready = await self._drivers.start(self._orders(fills=fills))
            run.starts_per_s = _rate_alone(ready)
            await database.settle()
            await database.begin_work()
            async with AsyncExitStack() as stack:
                if self._workload.held:
                    stack.push_async_callback((await _hold(database)).close)
                await self._watch(told)
        except (TimeoutError, Unavailable) as error:
            run.problem = str(error) or "a process of the run did not answer in time"
        except asyncio.CancelledError:
            run.interrupted = True
            await asyncio.shield(self._conclude())
            raise
        await self._conclude()

    async def _fill(self) -> None:
        """Let a process of its own make the schema and fill the queue: with its end its sessions' work is counted."""
        filler = Drivers(self._means.command, self._means.environment)
        try:
            await filler.start(self._orders(fills=True)[:1])
        finally:
            await filler.end()

    def _orders(self, *, fills: bool) -> list[Order]:
        """What each process does; the first one makes the schema, and fills the queue unless that was done."""
        workload, options = self._workload, self._options
        return [
            Order(
                workload=workload.kind,
                url=self._database.url,
                jobs=self.run.jobs,
                fills=fills and number == 0,
                callers=workload.callers,
                concurrency=options.concurrency,
                sleep_ms=workload.sleep_ms,
                limited=workload.limited,
                fetch=workload.fetch,
                fills_first=int(FILLED_FIRST * options.scale) if workload.kind == "latency" and workload.held else 0,
                seconds_max=options.seconds_max,
                settings=self._means.settings_with_sleep if workload.sleep_ms else self._means.settings,
            )
            for number in range(workload.processes)
        ]

    async def _watch(self, told: Told) -> None:
        """Let them go until all is done, nothing moves, or the time is over."""
        self._seen.gone_at = self._seen.seen_at = time.monotonic()
        self._drivers.go()
        if self._workload.kind in ("drain", "steps"):
            await self._watch_database(told)
        else:
            await self._wait_for_driver(told)

    async def _wait_for_driver(self, told: Told) -> None:
        """Callers measure their own calls; they end by themselves."""
        end = self._seen.gone_at + self._options.seconds_max + OVERTIME_S
        while not self._drivers.are_done:
            self._drivers.check()
            told(self._drivers.done_hint)
            if time.monotonic() > end:
                self.run.problem = f"not over after {self._options.seconds_max + OVERTIME_S:g} s"
                return
            await asyncio.sleep(LOOK_S_LAST * 10)
        self._seen.seen_at = time.monotonic()

    async def _watch_database(self, told: Told) -> None:
        """Count in the database until every job is final; it is cut when its time is over."""
        run, seen, options = self.run, self._seen, self._options
        looked_at = seen.gone_at
        last_looks = 0
        while run.done < run.jobs:
            self._drivers.check()
            hint = self._drivers.done_hint >= run.jobs and last_looks < LAST_LOOKS
            if hint or time.monotonic() - looked_at >= LOOK_S:
                last_looks += hint
                await self._look()
                looked_at = seen.seen_at
                told(run.done)
            if time.monotonic() - seen.gone_at > options.seconds_max and run.done < run.jobs:
                await self._look()
                run.cut = run.done < run.jobs
                if not run.done:
                    run.problem = f"nothing was done in {options.seconds_max:g} s"
                return
            await asyncio.sleep(LOOK_S_LAST)

    async def _look(self) -> None:
        """Count what is final."""
        run, means = self.run, self._means
        if not means.seen_in_database:
            run.done = self._drivers.done_hint
        elif self._workload.kind == "steps":
            run.done = await self._database.number(means.done_query)
        else:
            run.done = max(0, run.jobs - await self._database.number(means.open_query))
        self._seen.seen_at = time.monotonic()

    async def _conclude(self) -> None:
        """Stop the processes, close the books, probe the disk again."""
        run, database = self.run, self._database
        run.notes += database.notes
        begun = self._seen.gone_at > 0
        try:
            await database.end_work()
            self._seen.reports = await self._stop() if begun else []
            await self._place()
        finally:
            await self._drivers.end()
        if begun:
            run.database = await database.work()
        run.flushes_after_per_s = await database.flushes_per_s(self._options.probe_s)

    async def _stop(self) -> list[Done]:
        """What the processes report; nothing from processes that are gone."""
        try:
            return await self._drivers.stop()
        except (TimeoutError, Unavailable) as error:
            self.run.problem = self.run.problem or str(error) or "a process of the run did not report in time"
            return []

    async def _place(self) -> None:
        """Time and rate, and what the processes report."""
        run, seen, reports = self.run, self._seen, self._seen.reports
        run.seconds = round(seen.seen_at - seen.gone_at, 4)
        latencies = [ms for report in reports for ms in report.latencies_ms]
        run.latency = latency_of(latencies)
        run.notes += [note for report in reports for note in report.notes]
        if self._workload.kind not in ("drain", "steps") and reports:
            run.done = sum(report.done for report in reports)
            run.seconds = max(report.seconds for report in reports)
            run.cut = 0 < run.done < run.jobs
            run.problem = run.problem or ("" if run.done else f"nothing was done in {run.seconds:g} s")
            await self._check_rows()
        run.rate = round(run.done / run.seconds, 1) if run.seconds > 0 else 0.0
        run.client = ClientWork(
            cpu_s=round(sum(report.cpu_s for report in reports), 3),
            calls=0,
            starts=0,
            rejected=0,
            counters=_added([report.counters for report in reports]),
        )

    async def _check_rows(self) -> None:
        """What callers say they inserted has to be there."""
        if self._workload.kind not in ("bulk", "single") or not self._means.seen_in_database:
            return
        found = await self._database.number(self._means.open_query)
        if found != self.run.done:
            self.run.problem = f"callers inserted {self.run.done}, in the database are {found}"


def jobs_of(workload: Workload, options: QueueOptions) -> int:
    """How many jobs a run has: of latencies some are left when the first ones are dropped."""
    least = 2 * LATENCY_DROPPED if workload.kind == "latency" else workload.callers
    return max(least, int(workload.jobs * options.scale))


def _rate_alone(ready: Sequence[Ready]) -> float | None:
    rates = [one.starts_per_s for one in ready if one.starts_per_s is not None]
    return round(sum(rates), 1) if rates else None


def _added(counters: Sequence[Mapping[str, int]]) -> dict[str, int]:
    names = sorted({name for one in counters for name in one})
    return {name: sum(one.get(name, 0) for one in counters) for name in names}


async def _hold(database: BenchDatabase) -> Any:  # noqa: ANN401 - a connection of the database's driver
    """Begin a transaction that stays open."""
    hold = getattr(database, "hold", None)
    assert hold is not None, "only PostgreSQL is measured beside a long transaction"
    return await hold()
