"""One run: a variant on a fresh database, from the first start until its completions are counted in the database.

Processes of their own run starters and workers; this side only makes the database, watches it through a connection of
its own, and adds up. The end of a run is when a count of rows says so, never what a process says about itself.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from procession.errors import Unavailable
from procession.lab.children import Children
from procession.lab.databases import BenchDatabase
from procession.lab.models import CALLS_PER_INSTANCE
from procession.lab.options import Load, ProcessOptions, Ready, Report
from procession.lab.results import Checkpoint, ClientWork, Headroom, Latency, Run
from procession.lab.variants import Variant

LOOK_S: Final = 1.0  # between two counts while it runs: each reads the whole table
LOOK_S_LAST: Final = 0.005  # once all handlers have run
LAST_LOOKS: Final = 200
STOP_S_MAX: Final = 60.0

Told = Callable[[int], None]


class ProcessRun:
    """What is known about one run while it goes on. `run` is filled step by step, so that an interruption keeps it."""

    def __init__(
        self, options: ProcessOptions, variant: Variant, round_number: int, database: BenchDatabase, stub_url: str
    ) -> None:
        self._options = options
        self._variant = variant
        self._database = database
        self._stub_url = stub_url
        self._children = Children()
        self._gone_at = 0.0  # when the word to go was given; the first start follows at once
        self._seen_at = 0.0
        self.run = Run(
            variant=variant.name,
            round=round_number,
            started_at=datetime.now(UTC).isoformat(timespec="seconds"),
            instances=options.instances,
            completed=0,
            seconds=0.0,
            rate=0.0,
        )

    async def measure(self, told: Told) -> None:
        """Run to the end. Whatever ends it, what was measured is in `run`."""
        run, database = self.run, self._database
        run.flushes_before_per_s = await database.flushes_per_s(self._options.probe_s)
        try:
            ready = await self._children.start(self._loads())
            run.headroom = _headroom(ready)
            await database.settle()
            await database.begin_work()
            await self._watch(told)
        except (TimeoutError, Unavailable) as error:
            run.problem = str(error) or "a process of the run did not answer in time"
        except asyncio.CancelledError:
            run.interrupted = True
            await asyncio.shield(self._conclude())
            raise
        await self._conclude()

    def _loads(self) -> list[Load]:
        """What each process does: an equal share."""
        options, variant = self._options, self._variant
        count = 1 if variant.ceiling else options.processes
        return [
            Load(
                url=self._database.url,
                way=variant.way,
                history=variant.history,
                ceiling=variant.ceiling,
                instances=options.instances // count + (number < options.instances % count),
                starters=options.starters // count,
                batch_starts=options.batch_starts,
                step_workers=options.step_workers,
                job_workers=options.job_workers,
                client="none" if variant.ceiling else options.client,
                stub_url=self._stub_url,
            )
            for number in range(count)
        ]

    async def _watch(self, told: Told) -> None:
        """Let them run, and count until everything has completed or nothing moves any more."""
        run = self.run
        self._gone_at = self._seen_at = moved_at = looked_at = time.monotonic()
        self._children.go()
        hinted = 0
        while run.completed < run.instances:
            self._children.check()
            hint = self._children.handled >= CALLS_PER_INSTANCE * run.instances and hinted < LAST_LOOKS
            if hint or time.monotonic() - looked_at >= LOOK_S:
                hinted += hint
                before = run.completed
                await self._look()
                looked_at = self._seen_at
                moved_at = self._seen_at if run.completed > before else moved_at
                told(run.completed)
            if time.monotonic() - moved_at > self._options.stuck_s:
                run.problem = f"nothing completed for {self._options.stuck_s:g} s: {run.completed} of {run.instances}"
                return
            await asyncio.sleep(LOOK_S_LAST)

    async def _look(self) -> None:
        """Count in the database."""
        self.run.completed = await self._database.completed()
        self._seen_at = time.monotonic()
        self.run.observed.append((round(self._seen_at - self._gone_at, 3), self.run.completed))

    async def _conclude(self) -> None:
        """Stop the processes, close the books, probe the disk again."""
        run, database = self.run, self._database
        run.notes += database.notes
        begun = self._gone_at > 0
        reports: list[Report] = []
        try:
            if begun and not run.is_whole:
                await self._look()
            await database.end_work()
            reports = await self._stop() if begun else []
            self._place(reports)
            run.checkpoints = await self._checkpoints(reports)
        finally:
            await self._children.end()
        if begun:
            run.books = await database.books()
            run.database = await database.work()
        run.flushes_after_per_s = await database.flushes_per_s(self._options.probe_s)

    async def _stop(self) -> list[Report]:
        """What the processes report; nothing from processes that are gone."""
        try:
            return await self._children.stop()
        except (TimeoutError, Unavailable) as error:
            self.run.problem = self.run.problem or str(error)
            return []

    def _place(self, reports: list[Report]) -> None:
        """Time and rate since the first start, and what the processes report."""
        run = self.run
        first = min((report.first_start_monotonic for report in reports), default=self._gone_at)
        if not first:
            return
        run.seconds = round(self._seen_at - first, 4)
        run.rate = round(run.completed / run.seconds, 1) if run.seconds > 0 else 0.0
        if reports:
            run.start_latency = latency_of([ms for report in reports for ms in report.latencies_ms])
            run.client = ClientWork(
                cpu_s=round(sum(report.cpu_s for report in reports), 3),
                calls=sum(report.calls for report in reports),
                starts=sum(report.starts for report in reports),
                rejected=sum(report.rejected for report in reports),
                counters=_added(reports),
            )

    async def _checkpoints(self, reports: list[Report]) -> list[Checkpoint]:
        """When the first 1,000, 10,000, 20,000 ... had completed; the last one as it was seen from here."""
        run = self.run
        first_start_at = min((report.first_start_at for report in reports), default=0.0)
        counts = [count for count in checkpoint_counts(run.instances) if count <= run.completed]
        if not counts or not first_start_at:
            return []
        ends = await self._database.ends(counts)
        found: list[Checkpoint] = []
        for count in counts:
            seconds = run.seconds if count == run.instances else ends[count] - first_start_at
            found.append(Checkpoint(completed=count, seconds=round(seconds, 4), rate=round(count / seconds, 1)))
        return found


def checkpoint_counts(instances: int) -> list[int]:
    """1,000, then every tenth of 100,000 (of a smaller run: of itself), then all."""
    step = 10_000 if instances >= 20_000 else max(1, instances // 10)
    first = [1_000] if instances > 1_000 else []
    return sorted({*first, *range(step, instances + 1, step), instances})


def _headroom(ready: list[Ready]) -> Headroom:
    """The processes' own, added up: each measured itself while the others waited."""
    calls = [one.calls_per_s for one in ready if one.calls_per_s is not None]
    return Headroom(
        starts_per_s=round(sum(one.starts_per_s for one in ready), 1),
        calls_per_s=round(sum(calls), 1) if calls else None,
    )


def latency_of(milliseconds: list[float]) -> Latency | None:
    """Percentiles by rank."""
    if not milliseconds:
        return None
    milliseconds.sort()
    count = len(milliseconds)
    return Latency(
        count=count,
        p50_ms=round(milliseconds[(count - 1) // 2], 3),
        p99_ms=round(milliseconds[min(count - 1, count * 99 // 100)], 3),
        max_ms=round(milliseconds[-1], 3),
    )


def _added(reports: list[Report]) -> dict[str, int]:
    """The product's counters of all processes."""
    names = {name for report in reports for name in report.counters}
    return {name: sum(report.counters.get(name, 0) for report in reports) for name in sorted(names)}
