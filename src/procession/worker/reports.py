"""What runs say while they run: progress, log lines, checkpoints. Many share one call; each counts under its lease.

It writes through the engine's store, and ends no run: whoever is told that a run is to end does that.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Self, TypeVar

import msgspec

from procession.engine import Delivery, Engine
from procession.engine.lane import Lane, Patience
from procession.engine.values import decode_json
from procession.errors import Conflict, InvalidValue, Unavailable
from procession.jobs.codec import Codec, unseal
from procession.jobs.kinds import JobState
from procession.limits import COMMIT_STEPS_MAX
from procession.store.rows.queue import Answer, ReportAnswer, RunReport
from procession.store.rows.queue_reading import ParentResult
from procession.worker.context import Job

T = TypeVar("T")


class ParentJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job, or batch of jobs, that the job at hand came after."""

    key: int
    state: str
    type: str
    output: Any = None  # what its handler gave back
    error: str = ""

    @classmethod
    def of(cls, row: ParentResult, codec: Codec | None) -> Self:
        """From its row. Raises Unreadable."""
        output = decode_json(unseal(codec, row.output, f"the result of job {row.key}")) if row.output else None
        return cls(key=row.key, state=JobState(row.state).name, type=row.type, output=output, error=row.error)


class Entry(msgspec.Struct):
    """One report, and the handler that waits for it."""

    report: RunReport
    future: asyncio.Future[None]


class Reports:
    """The lane to ``Store.report``. ``cancel``: a run is to end (key, lease, reason)."""

    def __init__(
        self,
        engine: Engine,
        cancel: Callable[[int, int, str], None],
        *,
        codec: Codec | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._engine = engine
        self.codec = codec
        self._cancel = cancel
        self._chance = chance
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lane: Lane[Entry] = Lane("reports", self._send, count_max=COMMIT_STEPS_MAX)

    def here(self) -> Self:
        """For a handler that begins on this loop."""
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
        return self

    def job_of(
        self,
        delivery: Delivery,
        variables: Mapping[str, Any],
        type: str = "",  # noqa: A002 - Camunda's word
        element: str = "",
        connection: object = None,
    ) -> Job:
        """What a handler, and what is around it, sees of the run that begins. Raises Unreadable."""
        job = Job(delivery, variables, type=type, element=element)
        job.connection = connection
        job.reports = self.here()
        job.unseal(self.codec)
        return job

    async def stop(self) -> None:
        """Stop; whoever waits is told."""
        for entry in await self._lane.stop():
            _fail(entry, Unavailable("The engine stopped before this was written"))

    # -- what handlers ask --------------------------------------------------------------------------------------------
    def report(self, report: RunReport) -> Any:  # noqa: ANN401 - awaitable on the loop, None elsewhere
        """Write this. Raises Conflict when another run of the job counts, InvalidValue, Unavailable."""
        return self.put(report) if self._is_here() else self._ask(self._written(report))

    def parents(self, job: int) -> Any:  # noqa: ANN401 - awaitable on the loop, a list elsewhere
        """What a job came after, with what that left."""
        return self._ask(self._parents(job))

    def put(self, report: RunReport) -> asyncio.Future[None]:
        """On the loop: write this after what was said before, whether or not anybody waits for it."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        future.add_done_callback(_seen)
        self._lane.put(Entry(report, future))
        self._lane.start()
        return future

    def _is_here(self) -> bool:
        """Whether this is the worker's loop."""
        try:
            return asyncio.get_running_loop() is self._loop
        except RuntimeError:
            return False

    def _ask(self, answer: Coroutine[Any, Any, T]) -> Any:  # noqa: ANN401 - see above
        """On the loop: under way at once, to be awaited. In a handler's thread: wait for it."""
        assert self._loop is not None
        if self._is_here():
            return self._loop.create_task(answer)
        return asyncio.run_coroutine_threadsafe(answer, self._loop).result()

    async def _parents(self, job: int) -> list[ParentJob]:
        return [ParentJob.of(row, self.codec) for row in await self._engine.store.parent_results(job)]

    async def _written(self, report: RunReport) -> None:
        await self.put(report)

    # -- the lane -----------------------------------------------------------------------------------------------------
    async def _send(self, batch: list[Entry]) -> None:
        """Call by call, each job once in each: what one run says in a row is one report."""
        try:
            while batch:
                runs: dict[int, list[Entry]] = {}
                later: list[Entry] = []
                for entry in batch:
                    run = runs.setdefault(entry.report.key, [])
                    (later if run and run[0].report.lease != entry.report.lease else run).append(entry)
                await self._send_runs(list(runs.values()))
                batch = later
        except asyncio.CancelledError:
            for entry in batch:
                _fail(entry, Unavailable("The engine stopped before this was written"))
            raise

    async def _send_runs(self, runs: list[list[Entry]]) -> None:
        """Write until each is answered: what is busy is sent again, as is all while the database does not answer."""
        patience = Patience(self._chance)
        while runs:
            if self._engine.outcomes.fenced:
                _fail_all(runs, Conflict("This process has lost its leases: other runs of its jobs count"))
                return
            try:
                answers = await self._engine.store.report([_merged(run) for run in runs])
            except Unavailable:
                await patience.pause()
                continue
            except Exception as error:  # noqa: BLE001 - whoever asked gets it
                _fail_all(runs, error)
                return
            busy: list[list[Entry]] = []
            for run, answer in zip(runs, answers, strict=True):
                if answer.answer == Answer.BUSY:
                    busy.append(run)
                else:
                    self._answer(run, answer)
            runs = busy
            if runs:
                await patience.pause()

    def _answer(self, run: list[Entry], answer: ReportAnswer) -> None:
        """Tell the handlers; end the run if somebody wants that."""
        report = run[0].report
        if answer.answer == Answer.APPLIED:
            for entry in run:
                if not entry.future.done():
                    entry.future.set_result(None)
        elif answer.answer == Answer.REJECTED:
            _fail_all([run], InvalidValue(f"What job {report.key} reports cannot be stored"))
        else:
            message = f"Job {report.key} is not held by lease {report.lease} any more: another run of it counts"
            _fail_all([run], Conflict(message))
        if answer.cancel_reason is not None:
            self._cancel(report.key, report.lease, answer.cancel_reason)


def _merged(run: list[Entry]) -> RunReport:
    """What a run says in a row, as one: the last word counts, and every line of the log."""
    merged = RunReport(key=run[0].report.key, lease=run[0].report.lease, log=[])
    for entry in run:
        report = entry.report
        if report.progress >= 0:
            merged.progress = report.progress
        if report.progress_text is not None:
            merged.progress_text = report.progress_text
        if report.checkpoint is not None:
            merged.checkpoint = report.checkpoint
        merged.log += report.log
        merged.failed = report.failed or merged.failed
    return merged


def _seen(future: asyncio.Future[None]) -> None:
    """A handler that does not wait for what it says does not hear either that it was not written."""
    if not future.cancelled():
        future.exception()


def _fail_all(runs: list[list[Entry]], error: Exception) -> None:
    for run in runs:
        for entry in run:
            _fail(entry, error)


def _fail(entry: Entry, error: Exception) -> None:
    """Tell whoever waits."""
    if not entry.future.done():
        entry.future.set_exception(error)
