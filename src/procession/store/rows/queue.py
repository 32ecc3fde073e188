"""What the calls of the queue carry in and give back: submitting, running, limits, batches of jobs, recurring jobs.

``NewJob.options`` (``jobs.options.JobOptions``) is how a job gets them. Views of listings are in ``queue_reading``.
"""

from __future__ import annotations

from enum import IntEnum

import msgspec

from procession.store.rows.row import Row
from procession.store.rows.steps import NewJob

# --- submitting -------------------------------------------------------------------------------------------------------


class Submission(IntEnum):
    """What became of a submitted job."""

    INSERTED = 0
    DUPLICATE = 1  # ``key`` is the holder of its unique key; nothing was written
    REFRESHED = 2  # ``key`` is the holder, which got the new job's arguments, options, priority and due time
    PUSHED_BACK = 3  # ``key`` is the holder, which now waits longer
    DOOMED = 4  # a job that it comes after was deleted: it is in the archive as DELETED


class Submitted(Row, kw_only=True):
    """The answer to one submitted job, in the order of the call."""

    key: int
    outcome: Submission = Submission.INSERTED
    state: int = 0  # jobs.JobState after the call


def encode_submission(jobs: list[NewJob]) -> bytes:
    """The arguments of a job of ``jobs.SUBMIT_QUEUE``: what it submits when it is carried out."""
    return msgspec.json.encode(jobs)


def decode_submission(args: bytes) -> list[NewJob]:
    """The jobs that a job of ``jobs.SUBMIT_QUEUE`` submits, with itself as ``closes``."""
    return msgspec.json.decode(args, type=list[NewJob])


# --- running ----------------------------------------------------------------------------------------------------------


class Answer(IntEnum):
    """What became of an outcome or report. Only APPLIED has written anything."""

    STALE = 0  # the lease is not held (any more): another run counts, or it was applied before
    APPLIED = 1
    BUSY = 2  # somebody holds the row: send it again
    REJECTED = 3  # a value cannot be stored: send another outcome


class LogLine(Row, kw_only=True):
    """A line of a job's log. Its instant is the store's, when it is written."""

    text: str
    level: int = 20  # as in the standard library's logging


class FailedAttempt(Row, kw_only=True):
    """How an attempt failed. Its instant is the store's, when it is written."""

    attempt: int  # the first is 1
    worker: str  # the process or remote worker that had it
    type: str  # of the error
    message: str


class RunReport(Row, kw_only=True):
    """What a run says while it runs, under its lease. ``None``, negative and empty values change nothing."""

    key: int
    lease: int
    progress: float = -1.0  # 0 to 1
    progress_text: str | None = None
    checkpoint: bytes | None = None  # JSON; the next run gets it
    log: list[LogLine] = []
    failed: FailedAttempt | None = None  # its last word; of each job JOB_ATTEMPTS_KEPT_MAX are kept, the last ones


class ReportAnswer(Row, kw_only=True):
    """Whether the report counts, and whether somebody wants the run to end."""

    answer: Answer
    cancel_reason: str | None = None


class CanceledRun(Row, kw_only=True):
    """A running job that somebody wants to end."""

    key: int
    lease: int
    reason: str


# --- operators --------------------------------------------------------------------------------------------------------


class Deletion(IntEnum):
    """What became of a job that was to be deleted."""

    NOT_FOUND = 0
    DELETED = 1
    CANCELING = 2  # it runs: its run is told, and it is DELETED when that has ended


class BulkResult(Row, kw_only=True):
    """One page of an operation over a filter: how many it reached, and where to go on (0: it was the last page)."""

    done: int
    after: int
    doomed: int = 0  # jobs that were deleted because they came after one that was


class JobChange(Row, kw_only=True):
    """What changes of jobs that wait; None leaves a thing as it is."""

    priority: int | None = None
    retries: int | None = None  # attempts left
    run_at: int = 0  # due then; 0: as it was
    delay_ms: int | None = None  # due so long from now


class PauseKind(IntEnum):
    """What is paused."""

    QUEUE = 0
    TYPE = 1


class Pause(Row, kw_only=True):
    """A queue or job type whose jobs are not claimed."""

    kind: int  # PauseKind
    name: str
    since: int
    reason: str = ""


class SweepReport(Row, kw_only=True):
    """What a sweep found and repaired, by kind; all zeros on a consistent store."""

    lost_slots: int = 0  # slots of jobs that do not run
    lost_keys: int = 0  # unique keys of jobs that are not there or final
    lost_dependencies: int = 0  # of children that are not there
    stuck_children: int = 0  # AWAITING, but all that they come after has ended
    stuck_batches: int = 0  # sealed, all members final, but not finished
    stuck_throttled: int = 0  # wait for a slot of a limit that has free ones and nobody else in line
    wrong_states: int = 0  # READY with limits, THROTTLED without, RUNNING without an owner
    lost_rows: int = 0  # jobs that are gone and have left a log: a step that ends a job of a process does
    miscounted_batches: int = 0  # counts of a batch that is not over are not those of its members

    @property
    def is_clean(self) -> bool:
        """Whether there was nothing to repair; what a job of a process has left is no damage."""
        return not any(getattr(self, name) for name in self.__struct_fields__ if name != "lost_rows")


# --- batches of jobs --------------------------------------------------------------------------------------------------


class JobBatchState(IntEnum):
    """Where a batch of jobs is in its life."""

    OPEN = 0  # members may be added
    SEALED = 1  # no more members; some are not final
    FINISHED = 2  # every member is final


class NewJobBatch(Row, kw_only=True):
    """A batch of jobs to open. Its key is of the same kind as those of jobs: ``After(key)`` may name it."""

    key: int
    title: str = ""
    parent: int = 0  # another batch that is open, of which this one is a member
    tenant: str = ""


# --- recurring jobs ---------------------------------------------------------------------------------------------------


class Missed(IntEnum):
    """What becomes of runs that were due while nobody looked."""

    ONCE = 0  # one run makes up for all
    ALL = 1  # each is made up for, at most FIRINGS_MAX
    SKIP = 2  # none; the next one is the next one due


class RecurringJob(Row, kw_only=True):
    """A job that is inserted again and again. What is enqueued is a copy of ``job`` with a new key.

    ``cycle`` is what ``jobs.schedule`` understands: cron (with ``CRON_TZ=<zone>``) or ``R/<start>/<duration>``.
    The template's ``delay_ms`` and ``run_at`` are ignored: it is due when the recurring job is.
    """

    name: str  # unique per tenant
    cycle: str
    job: NewJob  # its key is ignored
    group: str = ""  # what a declarative sync replaces
    missed: int = Missed.ONCE
    overlap: bool = True  # False: a firing is passed over while the last one's job is not final
    tenant: str = ""
    next_at: int = 0  # the first firing, computed by the caller; 0: never (an exhausted cycle)


class Firing(Row, kw_only=True):
    """One advance of a recurring job, decided by ``jobs.recurring`` on the version that it has."""

    name: str
    version: int  # it is done only if the row still has this version
    next_at: int  # 0: never again
    last_at: int  # the due time that this firing stands for; 0: as it was
    jobs: list[NewJob] = []  # what is due, each with its own key; none where a run is skipped
    manual: bool = False  # triggered by a person: pause and overlap do not matter
    tenant: str = ""


class Fired(Row, kw_only=True):
    """What became of a firing."""

    applied: bool  # False: somebody else fired it
    submitted: list[Submitted] = []  # empty where the last run is not over and ``overlap`` is not allowed
