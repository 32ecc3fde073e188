"""A store that is looked at: what was enqueued, and which runs failed, is kept in order. It changes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, cast

import msgspec

from procession.app.views import readable
from procession.ids import Keys
from procession.jobs.codec import Codec
from procession.jobs.kinds import JobKind
from procession.jobs.schedule import to_datetime
from procession.store.port import StepTransaction, Store
from procession.store.rows import JobEnd, JobFence, JobOutcome, NewJob, Step, StepOutcome, StepResult
from procession.store.rows.queue import Fired, Firing, Submission, Submitted

HANDLED = frozenset({JobKind.TASK, JobKind.SERVICE, JobKind.LISTENER})  # what a handler of yours is called for


class Enqueued(msgspec.Struct, frozen=True, kw_only=True):
    """A job as it was enqueued, by your code or by a process."""

    key: int
    type: str
    queue: str  # of a job of a process: ``$job:`` and its type
    args: dict[str, Any]  # of a job of a process: empty, it gets variables
    priority: int
    due: datetime
    process_instance_key: int = 0
    element_id: str = ""

    def __str__(self) -> str:
        """As a failed assertion shows it."""
        place = f", of '{self.element_id}' in {self.process_instance_key}" if self.process_instance_key else ""
        return f"{self.type} {self.args} in '{self.queue}', due {self.due:%Y-%m-%d %H:%M:%S}{place}"


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """A run that did not succeed: it will be tried again, or is final."""

    key: int
    type: str
    error: str
    final: bool

    def __str__(self) -> str:
        """As a failed assertion shows it: without the traceback."""
        summary, _, _ = self.error.partition("\n")
        return f"{self.type}: {summary}"


class Records:
    """What has been seen, oldest first."""

    def __init__(self, codec: Codec | None = None) -> None:
        self._codec = codec
        self.enqueued: list[Enqueued] = []
        self.failures: list[Failure] = []
        self.types: dict[int, str] = {}

    def enqueue(self, job: NewJob, now: int) -> None:
        """Keep a job that was inserted; one that is sent again is the same."""
        if job.kind not in HANDLED or job.key in self.types:
            return
        self.types[job.key] = job.type
        seen = Enqueued(
            key=job.key,
            type=job.type,
            queue=job.queue,
            args=readable(self._codec, job.args) if job.args else {},
            priority=job.priority,
            due=to_datetime((job.run_at or now) + job.delay_ms),
            process_instance_key=job.instance,
            element_id=job.element,
        )
        self.enqueued.append(seen)

    def step(self, step: Step, now: int) -> None:
        """Keep what a step has brought."""
        for job in step.new_jobs:
            self.enqueue(job, now)
        for incident in step.new_incidents:
            if incident.job:
                self.fail(incident.job, incident.message, final=True)

    def end(self, outcome: JobOutcome) -> None:
        """Keep a run that failed."""
        if outcome.end in {JobEnd.RETRY, JobEnd.FAILED}:
            self.fail(outcome.key, outcome.error, final=outcome.end == JobEnd.FAILED)

    def fail(self, key: int, error: str, *, final: bool) -> None:
        """Keep a failure."""
        self.failures.append(Failure(key=key, type=self.types.get(key, "?"), error=error, final=final))


class WatchedTransaction:
    """Stands before a handler's transaction."""

    def __init__(self, transaction: StepTransaction, store: Store, records: Records) -> None:
        self._transaction = transaction
        self._store = store
        self._records = records

    @property
    def connection(self) -> Any:  # noqa: ANN401 - the driver's
        """The driver's."""
        return self._transaction.connection

    async def commit(self, step: Step, keys: Keys) -> StepResult:
        """The step."""
        result = await self._transaction.commit(step, keys)
        if result.outcome == StepOutcome.APPLIED:
            self._records.step(step, await self._store.now())
        return result

    async def finish(self, outcome: JobOutcome) -> tuple[bool, list[str]]:
        """The end of a plain job, which has succeeded."""
        return await self._transaction.finish(outcome)

    async def roll_back(self) -> None:
        """The end."""
        await self._transaction.roll_back()


class WatchedStore:
    """Stands before a store; everything that it does not look at is the store's own."""

    def __init__(self, store: Store, records: Records) -> None:
        self._store = store
        self._records = records

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the store has
        """What is not looked at."""
        return getattr(self._store, name)

    async def enqueue(self, jobs: Sequence[NewJob]) -> None:
        """Plain jobs."""
        await self._store.enqueue(jobs)
        now = await self._store.now()
        for job in jobs:
            self._records.enqueue(job, now)

    async def submit(self, jobs: Sequence[NewJob], *, closes: JobFence | None = None) -> list[Submitted]:
        """Jobs with options; one whose unique key was held is not enqueued."""
        answers = await self._store.submit(jobs, closes=closes)
        self._submitted(jobs, answers, await self._store.now())
        return answers

    async def fire(self, firings: Sequence[Firing]) -> list[Fired]:
        """Recurring jobs."""
        answers = await self._store.fire(firings)
        now = await self._store.now()
        for firing, answer in zip(firings, answers, strict=True):
            self._submitted(firing.jobs, answer.submitted, now)
        return answers

    def _submitted(self, jobs: Sequence[NewJob], answers: Sequence[Submitted], now: int) -> None:
        """Keep those that were inserted; without answers, none was."""
        for job, answer in zip(jobs, answers, strict=False):
            if answer.outcome == Submission.INSERTED:
                self._records.enqueue(job, now)

    async def commit(self, steps: Sequence[Step], keys: Keys) -> list[StepResult]:
        """Jobs of processes, and incidents of those that have no attempts left."""
        results = await self._store.commit(steps, keys)
        now = await self._store.now()
        for step, result in zip(steps, results, strict=True):
            if result.outcome == StepOutcome.APPLIED:
                self._records.step(step, now)
        return results

    async def begin(self) -> StepTransaction:
        """Steps that are committed with a handler's transaction."""
        return WatchedTransaction(await self._store.begin(), self._store, self._records)

    async def finish(self, outcomes: Sequence[JobOutcome]) -> list[bool]:
        """Ends of runs."""
        results = await self._store.finish(outcomes)
        for outcome, applied in zip(outcomes, results, strict=True):
            if applied:
                self._records.end(outcome)
        return results


def watched(store: Store, records: Records) -> Store:
    """The store, with everything that is written into it noted in ``records``."""
    return cast("Store", WatchedStore(store, records))


def contains(found: Any, asked: Any) -> bool:  # noqa: ANN401 - any JSON values
    """Whether a value is what was asked for; of an object, whether it has at least the members asked for."""
    if isinstance(asked, Mapping) and isinstance(found, Mapping):
        members = cast("Mapping[str, Any]", found)
        wanted = cast("Mapping[str, Any]", asked)
        return all(name in members and contains(members[name], value) for name, value in wanted.items())
    return bool(found == asked)
