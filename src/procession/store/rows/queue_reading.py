"""What the queue shows: jobs with everything, archives, logs, counts, limits, batches of jobs, recurring jobs."""

from __future__ import annotations

from procession.jobs.options import JobOptions
from procession.store.rows.row import Row
from procession.store.rows.steps import NewJob


class JobDetails(Row, kw_only=True):
    """A job, in the queue or in the archive, with everything that is kept of it."""

    key: int
    kind: int
    state: int
    queue: str
    type: str
    instance: int
    priority: int  # as it was asked for, also where the job ages
    run_at: int  # when it was or will be due; of a READY job that ages or takes turns: its place in line
    attempt: int
    retries: int
    crashes: int
    lease: int
    owner: int
    error: str
    created_at: int
    ended_at: int = 0  # SUCCEEDED, FAILED, DELETED
    args: bytes = b""
    output: bytes = b""  # of an archived job
    options: JobOptions | None = None
    traits: int = 0
    progress: float = 0.0
    progress_text: str = ""
    checkpoint: bytes = b""
    cancel_reason: str | None = None
    waits_for: str = ""  # the key of the limit whose slot it waits for
    tenant: str = ""


class QueueFilter(Row, kw_only=True):
    """Which jobs a listing or bulk operation means. Zeros and empty values do not restrict.

    ``state`` SUCCEEDED or DELETED looks into the archive, every other into the queue; -1 means the whole queue.
    ``text`` is looked for, without regard to ASCII case, in title, type, error and arguments.
    """

    state: int = -1
    queue: str = ""
    type: str = ""
    tag: str = ""
    batch: int = 0
    owner: int = 0
    text: str = ""
    tenant: str = ""
    kinds: list[int] = []
    keys: list[int] = []  # only these
    newest: bool = False  # the newest first
    after: int = 0  # cursor: only keys above this one, or with ``newest`` below it
    limit: int = 100


class JobsFound(Row, kw_only=True):
    """A page of jobs. It may be shorter than asked for, since only so many rows are looked at for one."""

    jobs: list[JobDetails]
    after: int = 0  # where to go on; 0: that was all


class JobLink(Row, kw_only=True):
    """A job that comes after another one: when that succeeded, or (``either``) ended in any way."""

    child: int
    parent: int
    either: bool = False


class StoredLogLine(Row, kw_only=True):
    """A line of a job's log."""

    job: int
    number: int  # from 1
    at: int
    level: int
    text: str


class QueueStats(Row, kw_only=True):
    """How a queue stands."""

    queue: str
    counts: dict[int, int]  # by state, each up to COUNTED_MAX (but READY ones: of all queues together)
    beyond: list[int] = []  # states of which there may be more than counted
    oldest_at: int = 0  # since when the oldest READY (or due THROTTLED) job waits; 0: none does
    paused: bool = False
    pause_reason: str = ""
    paused_at: int = 0


class StatRow(Row, kw_only=True):
    """What happened in a queue within a minute. Each process counts for itself, and adds what it has every so often."""

    minute: int  # instant of its beginning
    queue: str
    type: str = ""
    enqueued: int = 0  # put into the queue; of jobs that a caller's own transaction inserts, nothing is counted
    succeeded: int = 0
    failed: int = 0
    retried: int = 0
    run_ms: int = 0  # time that handlers took, all together


class StoredLimit(Row, kw_only=True):
    """A limit as it stands."""

    key: str
    most: int
    rate: int
    per_ms: int
    burst: int
    used: int  # slots taken
    waiting: int  # jobs that wait for a slot or a start
    reserved_at: int  # the next start that a new job would get


class StoredAttempt(Row, kw_only=True):
    """An attempt of a job that failed."""

    job: int
    lease: int
    attempt: int
    at: int
    worker: str
    type: str
    message: str


class StoredJobBatch(Row, kw_only=True):
    """A batch of jobs. Members are jobs and batches; ``total - succeeded - failed - deleted`` are not final."""

    key: int
    title: str
    state: int
    parent: int
    total: int
    succeeded: int
    failed: int
    deleted: int
    created_at: int
    finished_at: int
    tenant: str = ""
    is_flow: bool = False  # the jobs of a flow that has a title


class PastFiring(Row, kw_only=True):
    """A firing of a recurring job."""

    at: int
    due_at: int = 0  # the time that it stood for; 0: somebody triggered it
    jobs: list[int] = []  # what it inserted; none where the run was passed over


class StoredRecurring(Row, kw_only=True):
    """A recurring job as it stands."""

    name: str
    cycle: str
    job: NewJob
    group: str
    missed: int
    overlap: bool
    paused: bool
    next_at: int
    last_at: int
    last_job: int
    fired: int
    version: int
    created_at: int
    tenant: str = ""
    error: str = ""  # why its job cannot be read; ``job`` says nothing then
    firings: list[PastFiring] = []  # the last FIRINGS_KEPT_MAX, oldest first


class ParentResult(Row, kw_only=True):
    """What a job that comes after another one may read of that."""

    key: int
    state: int
    type: str
    output: bytes = b""
    error: str = ""
