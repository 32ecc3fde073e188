"""Progress on the terminal: all runs and the current one, each with the time left; a line per run that is over.

It writes to standard error, so that results on standard output stay clean; where that is no terminal, only the lines of
finished runs appear.
"""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from procession.lab.queue_results import QueueRun
from procession.lab.results import Run


class ProgressShow:
    """A `Show` with two bars. Use it as a context manager."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._all: TaskID | None = None
        self._run: TaskID | None = None
        self._words = ""

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._progress.stop()

    def begin(self, runs: int) -> None:
        """So many runs will follow."""
        self._all = self._progress.add_task("all runs", total=runs)

    def begin_run(self, words: str, round_number: int, total: int) -> None:
        """A bar for the run."""
        self._words = words
        self._run = self._progress.add_task(f"round {round_number}: {words}", total=total)

    def completed(self, count: int) -> None:
        """Move the run's bar."""
        if self._run is not None:
            self._progress.update(self._run, completed=count)

    def say(self, text: str) -> None:
        """A line above the bars."""
        self._console.print(text, highlight=False, markup=False)

    def end_run(self, run: Run) -> None:
        """A line in place of the run's bar."""
        self._end(run.round, f"{run.rate:,.0f} instances/s", "" if run.is_whole else run.problem or "interrupted")

    def end_queue_run(self, run: QueueRun, unit: str) -> None:
        """The same for a run of the queue."""
        found = f"{run.rate:,.0f} {unit}" + (" (cut)" if run.cut else "")
        if unit == "ms" and run.latency is not None:
            found = f"p50 {run.latency.p50_ms:g} ms, p99 {run.latency.p99_ms:g} ms"
        self._end(run.round, found, "" if run.is_whole else run.problem or "interrupted")

    def _end(self, round_number: int, found: str, problem: str) -> None:
        if self._run is not None:
            self._progress.remove_task(self._run)
            self._run = None
        if self._all is not None:
            self._progress.advance(self._all)
        words = f"not whole: {problem}" if problem else found
        self._console.print(f"round {round_number}  {self._words}: {words}", highlight=False, markup=False)


class CasesShow:
    """One bar over cases, for the core. Use it as a context manager, and call it."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
            transient=True,
        )
        self._task = self._progress.add_task("core", total=None)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._progress.stop()

    def __call__(self, done: int, total: int, name: str) -> None:
        """So many of the cases are timed; `name` follows."""
        self._progress.update(self._task, completed=done, total=total, description=name)
