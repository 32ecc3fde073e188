"""`procession bench process`: the simple process in all its variants, in rotation.

Start, two calls, end: completed instances divided by the time since the first start.
The result is written after every run, so that whatever ends it leaves what was measured.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import msgspec

from procession.lab.bars import process_bars
from procession.lab.databases import BenchDatabases
from procession.lab.environment import environment
from procession.lab.opening import open_databases
from procession.lab.options import ProcessOptions
from procession.lab.process_run import ProcessRun
from procession.lab.report import write_process_page
from procession.lab.results import Result, Run, write_json
from procession.lab.stub import stub_elsewhere
from procession.lab.summary import summarise
from procession.lab.variants import Variant, chosen_variants, rotation


class Show(Protocol):
    """Whoever looks on."""

    def begin(self, runs: int) -> None:
        """So many runs will follow."""
        ...

    def begin_run(self, words: str, round_number: int, total: int) -> None:
        """A run begins: a fresh database is being made."""
        ...

    def completed(self, count: int) -> None:
        """So many instances of the run have completed."""
        ...

    def end_run(self, run: Run) -> None:
        """The run is over."""
        ...


class Silence:
    """Nobody looks on."""

    def begin(self, runs: int) -> None:
        """Say nothing."""

    def begin_run(self, words: str, round_number: int, total: int) -> None:
        """Say nothing."""

    def completed(self, count: int) -> None:
        """Say nothing."""

    def end_run(self, run: Run) -> None:
        """Say nothing."""


class Written(msgspec.Struct, kw_only=True):
    """The result and the files it was written to."""

    result: Result
    json_file: Path
    html_file: Path


async def bench_process(
    options: ProcessOptions, show: Show | None = None, *, written: Callable[[Written], None] | None = None
) -> Written:
    """Measure everything that the options choose, and write JSON and HTML.

    When it is cancelled, the files hold what was measured, marked as interrupted, and ``written`` is told of them
    before the cancellation goes on; a kill leaves what was measured up to the last finished run. Raises Misconfigured
    for variants or programs that do not exist.
    """
    variants = chosen_variants(options.variants, ceiling=options.ceiling)
    result = Result(
        benchmark="process",
        started_at=_now(),
        interrupted=True,  # until all runs are made: a file that a kill leaves says so too
        options=options.public(),
        environment=environment(),
        variants=[{**msgspec.to_builtins(variant), "words": variant.words} for variant in variants],
    )
    files = _files(options.out, result)
    bench = _Bench(options, result, files, show or Silence())
    try:
        await bench.run(rotation(variants, options.rounds))
        result.interrupted = False
    finally:
        bench.write()
        if written is not None:
            written(files)
    return files


class _Bench:
    """The rotation, and what it has given so far."""

    def __init__(self, options: ProcessOptions, result: Result, files: Written, show: Show) -> None:
        self._options = options
        self._result = result
        self._files = files
        self._show = show

    async def run(self, runs: list[tuple[int, Variant]]) -> None:
        """All runs in order."""
        self._show.begin(len(runs))
        async with AsyncExitStack() as stack:
            stub_url = stack.enter_context(stub_elsewhere(self._options.stub))
            databases = await open_databases(
                {variant.database for _, variant in runs},
                stack,
                url=self._options.url,
                server_settings=self._options.server_settings,
                environment=self._result.environment,
            )
            for round_number, variant in runs:
                await self._one(variant, round_number, databases[variant.database], stub_url)
                self.write()

    async def _one(self, variant: Variant, round_number: int, databases: BenchDatabases, stub_url: str) -> None:
        """One run on a database of its own; kept even if it is interrupted."""
        self._show.begin_run(variant.words, round_number, self._options.instances)
        database = await databases.create(variant.commit)
        run = ProcessRun(self._options, variant, round_number, database, stub_url)
        self._result.runs.append(run.run)
        try:
            await run.measure(self._show.completed)
        finally:
            await asyncio.shield(database.drop())
        self._show.end_run(run.run)

    def write(self) -> None:
        """Write both files as things stand."""
        result = self._result
        result.ended_at = _now()
        result.summary = summarise(result.runs)
        result.bars = process_bars(result, self._options)
        write_json(result, self._files.json_file)
        write_process_page(result, self._files.html_file)


def _files(folder: Path, result: Result) -> Written:
    """Names that nothing has yet: by the time it began, in UTC."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = "process-" + datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    number = 0
    while (folder / f"{_numbered(stem, number)}.json").exists():
        number += 1
    name = _numbered(stem, number)
    return Written(result=result, json_file=folder / f"{name}.json", html_file=folder / f"{name}.html")


def _numbered(stem: str, number: int) -> str:
    return stem if not number else f"{stem}-{number}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
