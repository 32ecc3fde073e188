"""`procession bench queue`: the workloads of the queue on every store, in rotation, beside their raw ceilings.

The result is written after every run, so that whatever ends it leaves what was measured.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Protocol

import msgspec

from procession.lab.databases import BenchDatabases
from procession.lab.environment import environment
from procession.lab.opening import open_databases
from procession.lab.queue_bars import queue_bars
from procession.lab.queue_load import CEILING
from procession.lab.queue_orders import QueueOptions
from procession.lab.queue_report import write_queue_page
from procession.lab.queue_results import Peer, QueueResult, QueueRun, summarise_queue
from procession.lab.queue_run import Means, QueueMeasurement, jobs_of
from procession.lab.queue_variants import QueueVariant, chosen_queue_variants
from procession.lab.results import write_json
from procession.lab.variants import rotation

PROGRAM: Final = (sys.executable, "-m", "procession.lab.queue_load")
_JOBS: Final = ("select count(*) from procession.job", "select count(*) from procession_job")
_ENDED: Final = (
    "select count(*) from procession.instance where status = 1",
    "select count(*) from procession_instance where status = 1",
)


class QueueShow(Protocol):
    """Whoever looks on."""

    def begin(self, runs: int) -> None:
        """So many runs will follow."""
        ...

    def begin_run(self, words: str, round_number: int, total: int) -> None:
        """A run begins: a fresh database is being made."""
        ...

    def completed(self, count: int) -> None:
        """So many jobs of the run are done."""
        ...

    def end_queue_run(self, run: QueueRun, unit: str) -> None:
        """The run is over."""
        ...


class QueueWritten(msgspec.Struct, kw_only=True):
    """The result and the files it was written to."""

    result: QueueResult
    json_file: Path
    html_file: Path


Told = Callable[[QueueWritten], None]


async def bench_queue(
    options: QueueOptions, show: QueueShow | None = None, *, written: Told | None = None
) -> QueueWritten:
    """Measure what the options choose, and write JSON and HTML. Raises Misconfigured.

    When it is cancelled, the files hold what was measured, marked as interrupted, and ``written`` is told of them.
    """
    variants = chosen_queue_variants(options.variants, ceiling=options.ceiling)
    return await QueueBench(options, "queue", variants, show=show, written=written).run()


class QueueBench:
    """The rotation, and what it has given so far. `means` says how subjects that are not ours are run."""

    def __init__(
        self,
        options: QueueOptions,
        benchmark: str,
        variants: Sequence[QueueVariant],
        *,
        show: QueueShow | None = None,
        written: Told | None = None,
        means: Mapping[str, Means] | None = None,
        peers: Sequence[Peer] = (),
    ) -> None:
        self._options = options
        self._variants = variants
        self._show = show
        self._written = written
        self._means = means or {}
        self._units = {variant.name: variant.workload.unit for variant in variants}
        self._result = QueueResult(
            benchmark=benchmark,
            started_at=_now(),
            interrupted=True,  # until all runs are made: a file that a kill leaves says so too
            options=options.public(),
            environment=environment(),
            variants=[_shown(variant) for variant in variants],
            peers=list(peers),
        )
        self._files = _files(options.out, self._result)

    async def run(self) -> QueueWritten:
        """All runs in order; whatever ends them, the files are written."""
        try:
            await self._run_all(rotation(self._variants, self._options.rounds))
            self._result.interrupted = False
        finally:
            self._write()
            if self._written is not None:
                self._written(self._files)
        return self._files

    async def _run_all(self, runs: list[tuple[int, QueueVariant]]) -> None:
        if self._show is not None:
            self._show.begin(len(runs))
        async with AsyncExitStack() as stack:
            databases = await open_databases(
                {variant.database for _, variant in runs},
                stack,
                url=self._options.url,
                server_settings=self._options.server_settings,
                environment=self._result.environment,
            )
            for round_number, variant in runs:
                await self._one(variant, round_number, databases[variant.database])
                self._write()

    async def _one(self, variant: QueueVariant, round_number: int, databases: BenchDatabases) -> None:
        """One run on a database of its own; kept even if it is interrupted."""
        show = self._show
        if show is not None:
            show.begin_run(variant.words, round_number, jobs_of(variant.workload, self._options))
        database = await databases.create(variant.commit)
        means = self._means.get(variant.subject) or own_means(variant)
        measurement = QueueMeasurement(self._options, variant, round_number, database, means)
        self._result.runs.append(measurement.run)
        try:
            await measurement.measure(show.completed if show is not None else _nobody)
        finally:
            await asyncio.shield(database.drop())
        if show is not None:
            show.end_queue_run(measurement.run, variant.workload.unit)

    def _write(self) -> None:
        """Write both files as things stand."""
        result = self._result
        result.ended_at = _now()
        result.summary = summarise_queue(result.runs, self._units)
        result.bars = queue_bars(result, self._options)
        write_json(result, self._files.json_file)
        write_queue_page(result, self._files.html_file)


def own_means(variant: QueueVariant) -> Means:
    """How we run and watch our own."""
    names = 0 if variant.database == "postgres" else 1  # a schema of its own, or a prefix
    return Means(
        command=(*PROGRAM, CEILING) if variant.subject == "ceiling" else PROGRAM,
        open_query=_JOBS[names],
        done_query=_ENDED[names],
        seen_in_database=variant.database != "memory",
    )


def _shown(variant: QueueVariant) -> dict[str, object]:
    """A variant as the result shows it."""
    return {
        **msgspec.to_builtins(variant),
        "words": variant.words,
        "store": variant.store,
        "unit": variant.workload.unit,
    }


def _nobody(count: int) -> None:
    """Nobody looks on."""
    del count


def _files(folder: Path, result: QueueResult) -> QueueWritten:
    """Names that nothing has yet: by the time it began, in UTC."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{result.benchmark}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    name, number = stem, 0
    while (folder / f"{name}.json").exists():
        number += 1
        name = f"{stem}-{number}"
    return QueueWritten(result=result, json_file=folder / f"{name}.json", html_file=folder / f"{name}.html")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
