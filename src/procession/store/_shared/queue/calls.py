"""The queue's half of the port, once for all stores: each call checks what it was given and runs a script.

A store brings ``_run_script``: one transaction, in which the script that it makes for the store's ``now`` gets the rows
of the statements that it asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from procession.errors import InvalidValue, Unavailable
from procession.jobs.options import Limit
from procession.store._shared.queue import batching, listing, operating, recurring, settling, views
from procession.store._shared.queue.checks import check_batch, check_firing, check_recurring, check_submission
from procession.store._shared.queue.limiting import set_limit
from procession.store._shared.queue.pausing import add_stats, pause, resume
from procession.store._shared.queue.script import Script
from procession.store._shared.queue.settling import Settled, check_once
from procession.store._shared.queue.submitting import submit
from procession.store._shared.queue.sweeping import sweep
from procession.store._shared.watching.calls import WatchCalls
from procession.store.rows import JobFence, JobOutcome, NewJob
from procession.store.rows.queue import (
    Answer,
    BulkResult,
    CanceledRun,
    Deletion,
    Fired,
    Firing,
    JobChange,
    NewJobBatch,
    Pause,
    PauseKind,
    RecurringJob,
    ReportAnswer,
    RunReport,
    Submitted,
    SweepReport,
)
from procession.store.rows.queue_reading import (
    JobDetails,
    JobLink,
    JobsFound,
    ParentResult,
    QueueFilter,
    QueueStats,
    StatRow,
    StoredAttempt,
    StoredJobBatch,
    StoredLimit,
    StoredLogLine,
    StoredRecurring,
)

T = TypeVar("T")


class QueueCalls(WatchCalls):
    """The calls of ``queue_port.Queue``."""

    async def _run_script(self, make: Callable[[int], Script[T]], *, reads: bool = False) -> T:
        """Run a script in one transaction; ``reads``: it writes nothing."""
        raise NotImplementedError

    async def announce(self, queues: Sequence[str]) -> None:
        """Tell other processes."""
        raise NotImplementedError

    # -- running ----------------------------------------------------------------------------------------------------
    async def submit(self, jobs: Sequence[NewJob], *, closes: JobFence | None = None) -> list[Submitted]:
        """Insert jobs with any options."""
        check_submission(jobs)
        return await self._run_script(lambda now: submit(jobs, now, closes))

    async def settle(self, outcomes: Sequence[JobOutcome]) -> list[Answer]:
        """End runs, with the whole answer."""
        if not outcomes:
            return []
        settled = await self._run_script(lambda now: settling.settle(outcomes, now))
        await self._wake(settled.woken)
        return settled.answers

    async def _settle_rest(self, outcomes: Sequence[JobOutcome]) -> list[bool]:
        """``finish`` for what the hot path left over."""
        settled: Settled = await self._run_script(lambda now: settling.settle(outcomes, now))
        await self._wake(settled.woken)
        for outcome, answer in zip(outcomes, settled.answers, strict=True):
            if answer == Answer.BUSY:
                raise Unavailable(
                    f"Expected the row of job {outcome.key} to be free, but somebody holds it; send it again"
                )
            if answer == Answer.REJECTED:
                raise InvalidValue(settling.refusal_of_outcome(outcome))
        return [answer == Answer.APPLIED for answer in settled.answers]

    async def report(self, reports: Sequence[RunReport]) -> list[ReportAnswer]:
        """What runs say while they run."""
        check_once(each.key for each in reports)
        return await self._run_script(lambda now: settling.report(reports, now)) if reports else []

    async def canceled_runs(self, node: int) -> list[CanceledRun]:
        """Runs that somebody wants to end."""
        return await self._run_script(lambda _: views.canceled_runs(node), reads=True)

    async def parent_results(self, job: int) -> list[ParentResult]:
        """What a job comes after, with what that left."""
        return await self._run_script(lambda _: views.parent_results(job), reads=True)

    async def expire_jobs(self, limit: int) -> tuple[list[int], list[str]]:
        """Fail what waits beyond its deadline."""
        return await self._run_script(lambda now: settling.expire_jobs(limit, now))

    # -- batches ----------------------------------------------------------------------------------------------------
    async def open_job_batch(self, batch: NewJobBatch) -> bool:
        """Open a batch of jobs."""
        check_batch(batch)
        return await self._run_script(lambda now: batching.open_batch(batch, now))

    async def seal_job_batch(self, batch: int) -> list[str]:
        """Let no more members in."""
        return await self._run_script(lambda now: batching.seal_batch(batch, now))

    async def job_batches(
        self, *, keys: Sequence[int] = (), tenant: str = "", after: int = 0, limit: int = 100, flows: bool = False
    ) -> list[StoredJobBatch]:
        """Batches of jobs, newest first."""
        return await self._run_script(lambda _: views.batches(keys, tenant, after, limit, flows=flows), reads=True)

    # -- recurring jobs ---------------------------------------------------------------------------------------------
    async def put_recurring(
        self, jobs: Sequence[RecurringJob], *, group: str | None = None, tenant: str = ""
    ) -> tuple[list[str], list[str]]:
        """Insert or change recurring jobs."""
        check_recurring(jobs)
        return await self._run_script(lambda now: recurring.put(jobs, group, tenant, now))

    async def remove_recurring(self, name: str, *, tenant: str = "") -> bool:
        """Remove one."""
        return await self._run_script(lambda _: recurring.remove(name, tenant))

    async def due_recurring(self, limit: int) -> tuple[list[StoredRecurring], int]:
        """What is due, and the instant of the next one."""
        return await self._run_script(lambda now: recurring.due(limit, now), reads=True)

    async def fire(self, firings: Sequence[Firing]) -> list[Fired]:
        """Advance recurring jobs, each in a transaction of its own."""
        for firing in firings:
            check_firing(firing)
        return [await self._run_script(_firing(firing)) for firing in firings]

    async def pause_recurring(self, name: str, *, paused: bool, next_at: int = 0, tenant: str = "") -> bool:
        """Pause or resume one."""
        return await self._run_script(lambda _: recurring.pause(name, tenant, paused=paused, next_at=next_at))

    async def recurring_jobs(
        self, *, name: str = "", group: str | None = None, tenant: str = "", after: str = "", limit: int = 100
    ) -> list[StoredRecurring]:
        """By name."""
        return await self._run_script(lambda _: recurring.listed(name, group, tenant, after, limit), reads=True)

    # -- operators --------------------------------------------------------------------------------------------------
    async def job(self, key: int) -> JobDetails | None:
        """One job, in the queue or in the archive."""
        return await self._run_script(lambda _: views.job(key), reads=True)

    async def jobs(self, which: QueueFilter) -> list[JobDetails]:
        """A page, oldest first."""
        return await self._run_script(lambda _: listing.whole_page(which), reads=True)

    async def find_jobs(self, which: QueueFilter) -> JobsFound:
        """A page that looks at so many rows at most."""
        return await self._run_script(lambda _: listing.find_jobs(which), reads=True)

    async def count_meant(self, which: QueueFilter, most: int) -> tuple[int, bool]:
        """How many jobs are meant, up to a bound."""
        return await self._run_script(lambda _: listing.count_meant(which, most), reads=True)

    async def jobs_of(self, keys: Sequence[int]) -> list[JobDetails]:
        """Jobs by their keys."""
        found = await self._run_script(lambda _: listing.details(keys), reads=True)
        return [found[key] for key in sorted(found)]

    async def job_links(self, keys: Sequence[int]) -> list[JobLink]:
        """What jobs come after, and who comes after them."""
        return await self._run_script(lambda _: listing.links(keys), reads=True)

    async def job_log(self, job: int, *, after: int = 0, limit: int = 1000) -> list[StoredLogLine]:
        """The lines of a job's log."""
        return await self._run_script(lambda _: views.log(job, after, limit), reads=True)

    async def job_attempts(self, job: int) -> list[StoredAttempt]:
        """The attempts of a job that failed."""
        return await self._run_script(lambda _: views.attempts(job), reads=True)

    async def attempts_of(self, instance: int, *, limit: int) -> list[StoredAttempt]:
        """The last attempts that failed of an instance's jobs."""
        return await self._run_script(lambda _: views.attempts_of(instance, limit), reads=True)

    async def delete_jobs(self, keys: Sequence[int], reason: str = "") -> list[Deletion]:
        """Delete jobs, or have their runs canceled."""
        deleted = await self._run_script(lambda now: operating.delete_jobs(keys, reason, now))
        await self._wake(deleted.woken)
        return [deleted.answers[key] for key in keys]

    async def requeue_jobs(self, keys: Sequence[int], *, retries: int = 0) -> list[int]:
        """Let failed jobs start over and scheduled ones go now."""
        requeued = await self._run_script(lambda now: operating.requeue_jobs(keys, retries, now))
        await self._wake(requeued.woken)
        return requeued.keys

    async def delete_where(self, which: QueueFilter, reason: str = "") -> BulkResult:
        """Delete the next page of what a filter means."""
        keys, after = await self._page(which)
        answers = await self.delete_jobs(keys, reason) if keys else []
        return BulkResult(done=sum(answer != Deletion.NOT_FOUND for answer in answers), after=after)

    async def requeue_where(self, which: QueueFilter, *, retries: int = 0) -> BulkResult:
        """Requeue the next page of what a filter means."""
        keys, after = await self._page(which)
        done = await self.requeue_jobs(keys, retries=retries) if keys else []
        return BulkResult(done=len(done), after=after)

    async def change_jobs(self, keys: Sequence[int], change: JobChange) -> list[int]:
        """Change plain jobs where they wait."""
        changed = await self._run_script(lambda now: operating.change_jobs(keys, change, now))
        await self._wake(changed.woken)
        return changed.keys

    async def change_where(self, which: QueueFilter, change: JobChange) -> BulkResult:
        """Change the next page of what a filter means."""
        keys, after = await self._page(which)
        done = await self.change_jobs(keys, change) if keys else []
        return BulkResult(done=len(done), after=after)

    async def expire_archive(self, limit: int) -> int:
        """Forget what is over."""
        return await self._run_script(lambda now: operating.expire_archive(limit, now))

    async def pause(self, kind: PauseKind, name: str, *, reason: str = "") -> bool:
        """Let nobody claim from a queue, or jobs of a type."""
        return await self._run_script(lambda now: pause(kind, name, reason, now))

    async def resume(self, kind: PauseKind, name: str) -> bool:
        """Take a pause back."""
        found = await self._run_script(lambda _: resume(kind, name))
        if found and kind == PauseKind.QUEUE:
            await self._wake([name])
        return found

    async def pauses(self) -> list[Pause]:
        """What is paused."""
        return await self._run_script(lambda _: views.pauses(), reads=True)

    async def queue_stats(self) -> list[QueueStats]:
        """Every queue that has jobs or is paused."""
        return await self._run_script(views.queue_stats, reads=True)

    async def add_stats(self, rows: Sequence[StatRow]) -> None:
        """Add what a process has counted."""
        await self._run_script(lambda _: add_stats(rows))

    async def stats(self, *, since: int, until: int, queue: str = "") -> list[StatRow]:
        """What happened per minute."""
        return await self._run_script(lambda _: views.stats(since, until, queue), reads=True)

    async def limits(self, *, key: str = "", after: str = "", limit: int = 100) -> list[StoredLimit]:
        """Limits as they stand."""
        return await self._run_script(lambda _: views.limits(key, after, limit), reads=True)

    async def count_limits(self, most: int) -> int:
        """How many limits there are, up to a bound."""
        return await self._run_script(lambda _: views.count_limits(most), reads=True)

    async def set_limit(self, key: str, *, most: int, rate: int, per_ms: int, burst: int) -> bool:
        """Change the rule of a limit."""
        rule = Limit(key, most, rate, per_ms, burst)
        queues = await self._run_script(lambda now: set_limit(rule, now))
        await self._wake(queues or [])
        return queues is not None

    async def drop_limit(self, key: str) -> None:
        """Delete a limit that holds nobody."""
        await self._run_script(lambda now: operating.drop_limit(key, now))

    async def sweep(self) -> SweepReport:
        """Repair, and report."""
        return await self._run_script(sweep)

    # -- inside -----------------------------------------------------------------------------------------------------
    async def _wake(self, queues: Sequence[str] | set[str]) -> None:
        if queues:
            await self.announce(sorted(queues))

    async def _page(self, which: QueueFilter) -> tuple[list[int], int]:
        found = await self.find_jobs(which)
        return [job.key for job in found.jobs], found.after


def _firing(firing: Firing) -> Callable[[int], Script[Fired]]:
    return lambda now: recurring.fire(firing, now)
