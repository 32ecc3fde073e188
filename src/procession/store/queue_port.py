"""The second half of the port: the queue's rules as stores keep them. It holds no implementation.

The first half (``port.py``) has the hot path: ``enqueue``, ``claim``, ``finish``, ``promote`` for jobs without options.
This half has everything else. What both share:

**Jobs with options.** ``NewJob.options`` is stored as JSON in the job's row, ``traits`` (``jobs.options.traits_of``) as
a number beside it. The statements of the hot path touch only jobs without traits (``traits is null``): what they leave
over goes the long way, in a transaction of its own, after them. So a job without traits costs what it always did.

**The long way is written once.** ``store/_shared/queue`` holds it as scripts: generators that yield named statements
and get rows (``Ask``). An SQL store runs them in a transaction (``run_script``) and brings the statements, one file per
name, the same names in each dialect. The memory store has its own, on dictionaries, and is the oracle.

**Lock order** within a transaction: unique keys (tenant, key) · limits (key) · batches of jobs (key) · jobs (key) ·
the rest. Statements that lock name their rows in that order.

**States** change as ``jobs.transitions.TRANSITIONS`` says. Every change of a job to a final state, in whatever call,
does in the same transaction what its traits say:
- KEPT, PARENT: SUCCEEDED and DELETED jobs get an archive row, kept for ``keep_ms_of``; a DELETED one in any case, for
  at least ``DELETED_KEPT_MS``. The output is stored if ``options.output`` or PARENT.
- UNIQUE: the key is free, unless ``for_ms`` holds it longer.
- LIMITED: its slots are free, and as many of those parked for the limit are taken out of the parking.
- PARENT: dependencies on it are resolved: by SUCCEEDED always, by FAILED and DELETED where ``either``. A child with no
  unresolved dependency becomes READY, THROTTLED or SCHEDULED. DELETED dooms children that wait without ``either``:
  they are DELETED with the reason, and so on downwards (DOOM_DEPTH_MAX).
- CHILD: its dependencies go when it is SUCCEEDED or DELETED.
- MEMBER: the batch's counts; a sealed batch whose members are all final is FINISHED, resolves dependencies as a parent
  does (DELETED if a member was deleted, which nothing makes good; else FAILED if one failed; else SUCCEEDED), and
  counts as that for its own parent batch. A day later it is forgotten if nothing of it is left (``expire_archive``).

**Limits.** A LIMITED job is THROTTLED where others are READY, and is claimed out of that state by the second part of
``claim`` (``jobs.limits.admit`` decides, with the limits' rows locked in key order):
- on insert its ``run_at`` is the latest of its own and the start times that it reserves from its limits' rates;
- if a limit with ``most`` has no slot free or others parked for it, it is parked: ``waits_for`` is that limit's key;
- a claim looks at due THROTTLED jobs that are not parked, by priority, age and key; what may start gets its
  slots (limit, job) and goes through the guard (the second GCRA state, of actual starts); what finds no slot is parked,
  what the guard refuses gets a new start time;
- a slot is the job's until its run ends in any way; a rescued job frees its own, so that nothing outlives its process;
- a limit with free slots always has a job that tries next: whoever frees slots, parks or moves jobs unparks as many.

**Waits.** RETRY, SNOOZE, RELEASE and rescue of a LIMITED job lead to THROTTLED (at once, or when ``promote`` finds it
due), of others to READY. A job that ages gives up its priority for a place in line (``jobs.options.due_of``) whenever
it becomes READY; one with ``fair_key`` gets as ``run_at``, when it is inserted READY, the larger of the place of the
queue's first READY job of its priority (now, if there is none) and one millisecond more than the last place given to
its key, as long as READY jobs are there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from procession.store.rows.calls import JobOutcome
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
from procession.store.rows.steps import JobFence, NewJob


class Running(Protocol):
    """Jobs with options, from their insertion to their end."""

    async def submit(self, jobs: Sequence[NewJob], *, closes: JobFence | None = None) -> list[Submitted]:
        """Insert jobs with any options, all or nothing; one answer per job, in order.

        Jobs that come after each other within the call may stand in any order; a circle raises InvalidValue
        (``jobs.flows.check_flow``). A parent outside of the call that is neither in the queue nor in the archive has
        ended long ago: it counts as SUCCEEDED. A key that was never given to anybody raises NotFound. Of jobs with the
        same unique key in one call the later ones meet the first. A job whose key is there already (sent again) stays
        as it is and is answered INSERTED. A duplicate takes part in nothing: jobs of the call that come after it come
        after the holder instead.

        A batch that is not open, or not there, raises Conflict; one that a job of the call opens as a flow
        (``JobOptions.flow_title``) is opened, gets all its jobs and is sealed. With ``closes`` that job is deleted in
        the same transaction; if it is not held by that lease nothing is written and the answer is empty.
        """
        ...

    async def settle(self, outcomes: Sequence[JobOutcome]) -> list[Answer]:
        """``finish`` with the whole answer: BUSY where somebody holds the row, REJECTED where a value cannot be stored.

        ``finish`` is true exactly for what ``settle`` answers with APPLIED; it raises Unavailable if one is BUSY, and
        InvalidValue if one is REJECTED, after the others were applied. CANCELED ends a job as DELETED, with ``error``
        as the reason.
        """
        ...

    async def report(self, reports: Sequence[RunReport]) -> list[ReportAnswer]:
        """Progress, checkpoints and log lines, each under its lease, in one transaction. A job stands in a call once.

        Of the log JOB_LOG_LINES_MAX lines are kept, the first ones; a last one says that more were dropped.
        """
        ...

    async def canceled_runs(self, node: int) -> list[CanceledRun]:
        """Jobs leased to a node that somebody wants to end, by key."""
        ...

    async def parent_results(self, job: int) -> list[ParentResult]:
        """What the job comes after, by key: jobs in the archive with their output, FAILED ones with their error.

        One that ended without a trace is SUCCEEDED without output; so is a batch that is FINISHED, or it is FAILED.
        """
        ...

    async def expire_jobs(self, limit: int) -> tuple[list[int], list[str]]:
        """Make jobs that wait beyond their deadline FAILED: (their keys, queues that got ready jobs by that)."""
        ...


class Batching(Protocol):
    """Batches of jobs."""

    async def open_job_batch(self, batch: NewJobBatch) -> bool:
        """Open a batch; False where its key is there already. Raises Conflict when its parent is not open."""
        ...

    async def seal_job_batch(self, batch: int) -> list[str]:
        """No more members; the queues that got ready jobs (an empty batch, or one with only final members, finishes).

        Raises NotFound. Sealing twice changes nothing.
        """
        ...

    async def job_batches(
        self, *, keys: Sequence[int] = (), tenant: str = "", after: int = 0, limit: int = 100, flows: bool = False
    ) -> list[StoredJobBatch]:
        """Batches of jobs, newest first; ``after``: only keys below it.

        ``flows``: those that are flows with a title, which are not among the others, unless named by ``keys``.
        """
        ...


class Recurring(Protocol):
    """Jobs that are inserted again and again."""

    async def put_recurring(
        self, jobs: Sequence[RecurringJob], *, group: str | None = None, tenant: str = ""
    ) -> tuple[list[str], list[str]]:
        """Insert or change recurring jobs by name: (names new or changed, names removed), each sorted.

        One whose fields are all as they were (``next_at`` apart) stays as it is. A changed ``cycle`` takes the new
        ``next_at``, otherwise the old one stays; paused stays paused; the version grows. With ``group`` the recurring
        jobs of that group and tenant that are not among ``jobs`` are removed in the same transaction.
        """
        ...

    async def remove_recurring(self, name: str, *, tenant: str = "") -> bool:
        """Remove one; jobs that it has inserted stay. False where it is not there."""
        ...

    async def due_recurring(self, limit: int) -> tuple[list[StoredRecurring], int]:
        """Those due and not paused, longest due first, and the instant of the next one that is not due (0: none)."""
        ...

    async def fire(self, firings: Sequence[Firing]) -> list[Fired]:
        """Advance recurring jobs and insert what is due, each in a transaction of its own, guarded by its version."""
        ...

    async def pause_recurring(self, name: str, *, paused: bool, next_at: int = 0, tenant: str = "") -> bool:
        """Pause, or resume with the next firing that the caller has computed from now: no burst. False: not there."""
        ...

    async def recurring_jobs(
        self, *, name: str = "", group: str | None = None, tenant: str = "", after: str = "", limit: int = 100
    ) -> list[StoredRecurring]:
        """By name; ``after`` is the last name of the page before."""
        ...


class Administering(Protocol):
    """What operators see and do."""

    async def job(self, key: int) -> JobDetails | None:
        """One job, in the queue or in the archive."""
        ...

    async def jobs(self, which: QueueFilter) -> list[JobDetails]:
        """A page, oldest first (``newest``: newest first), full unless it is the last."""
        ...

    async def find_jobs(self, which: QueueFilter) -> JobsFound:
        """A page for which LOOKED_AT_MAX rows are looked at, at most, and where to go on."""
        ...

    async def count_meant(self, which: QueueFilter, most: int) -> tuple[int, bool]:
        """How many jobs are meant, up to ``most`` and among LOOKED_AT_MAX rows, and whether there may be more."""
        ...

    async def jobs_of(self, keys: Sequence[int]) -> list[JobDetails]:
        """Jobs by their keys, in the queue or in the archive, by key; what is not there is left out."""
        ...

    async def job_links(self, keys: Sequence[int]) -> list[JobLink]:
        """What waiting jobs among these come after, and who comes after them (PAGE_MAX), by child and parent."""
        ...

    async def job_log(self, job: int, *, after: int = 0, limit: int = 1000) -> list[StoredLogLine]:
        """The log lines of a job, in order."""
        ...

    async def job_attempts(self, job: int) -> list[StoredAttempt]:
        """The attempts of a job that failed, in order, as far as they are kept."""
        ...

    async def attempts_of(self, instance: int, *, limit: int) -> list[StoredAttempt]:
        """The last ``limit`` attempts that failed of all jobs of an instance, in order, also of jobs that are over."""
        ...

    async def delete_jobs(self, keys: Sequence[int], reason: str = "") -> list[Deletion]:
        """Delete jobs that do not run, cancel those that do (``canceled_runs``); jobs of instances: NOT_FOUND."""
        ...

    async def requeue_jobs(self, keys: Sequence[int], *, retries: int = 0) -> list[int]:
        """Make FAILED jobs READY (or THROTTLED) and SCHEDULED ones due now: those that were.

        A FAILED one starts over: attempt 0, no crashes, ``retries`` attempts (0: as many as it had at first). One whose
        unique key somebody else holds by now stays FAILED. Jobs of instances are left alone.
        """
        ...

    async def delete_where(self, which: QueueFilter, reason: str = "") -> BulkResult:
        """``delete_jobs`` for the next ``which.limit`` jobs above ``which.after``."""
        ...

    async def requeue_where(self, which: QueueFilter, *, retries: int = 0) -> BulkResult:
        """``requeue_jobs`` for the next ``which.limit`` jobs above ``which.after``."""
        ...

    async def change_jobs(self, keys: Sequence[int], change: JobChange) -> list[int]:
        """Change plain jobs that wait, where they wait: those that were changed.

        One that ages has no priority to change. One that is due later or sooner waits for its limits anew.
        """
        ...

    async def change_where(self, which: QueueFilter, change: JobChange) -> BulkResult:
        """``change_jobs`` for the next ``which.limit`` jobs above ``which.after``."""
        ...

    async def expire_archive(self, limit: int) -> int:
        """Delete archived jobs whose time is over and whose output nobody waits for; unique keys, counts likewise."""
        ...

    async def pause(self, kind: PauseKind, name: str, *, reason: str = "") -> bool:
        """Let nobody claim from a queue, or jobs of a type; False where it was paused already. What runs goes on."""
        ...

    async def resume(self, kind: PauseKind, name: str) -> bool:
        """Take a pause back; False where there was none."""
        ...

    async def pauses(self) -> list[Pause]:
        """What is paused, by kind and name."""
        ...

    async def queue_stats(self) -> list[QueueStats]:
        """Every queue that has jobs or is paused, by name."""
        ...

    async def add_stats(self, rows: Sequence[StatRow]) -> None:
        """Add what a process has counted."""
        ...

    async def stats(self, *, since: int, until: int, queue: str = "") -> list[StatRow]:
        """What happened per minute, queue and type, in that order, from ``since`` up to but without ``until``."""
        ...

    async def limits(self, *, key: str = "", after: str = "", limit: int = 100) -> list[StoredLimit]:
        """Limits as they stand, by key."""
        ...

    async def count_limits(self, most: int) -> int:
        """How many limits there are, up to a bound."""
        ...

    async def set_limit(self, key: str, *, most: int, rate: int, per_ms: int, burst: int) -> bool:
        """Change the rule of a limit now; jobs that wait get new start times and slots by it.

        False where it was the rule already. Raises NotFound where no job has named the limit yet.
        """
        ...

    async def drop_limit(self, key: str) -> None:
        """Delete a limit. Raises NotFound; Conflict while jobs run by it or wait for it."""
        ...

    async def sweep(self) -> SweepReport:
        """Repair what no transaction of ours leaves behind; says what it found."""
        ...


class Queue(Running, Batching, Recurring, Administering, Protocol):
    """The queue's half of a store."""
