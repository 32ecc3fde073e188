"""What the other calls carry in and give back: claims and ends of runs, deployments, messages, a rescue."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from procession.store.rows.row import Row
from procession.store.rows.steps import JobFence

# --- jobs ------------------------------------------------------------------------------------------------------------


class Want(Row, kw_only=True):
    """How many jobs of a queue a process has room for.

    ``at_once`` of them may be limited ones, which must not wait for a slot once they are leased; each says how soon
    after the claim it has to start. ``late_ms``: how late the starts of this process are, where that is more than
    usual. ``strangers``: types that the claim leaves out of this queue, since nobody in this process handles them.

    ``lease_ms`` 0: the lease lives with the node that claims. Otherwise the jobs are for workers that are no nodes: the
    lease is nobody's (``jobs.REMOTE``) and ends by itself after that time; ``tenants`` says whose jobs they may be.
    """

    queue: str
    count: int
    at_once: int | None = None  # None: as many as ``count``
    late_ms: int = 0
    strangers: tuple[str, ...] = ()
    lease_ms: int = 0
    tenants: list[str] | None = None  # None: of any tenant; only with ``lease_ms``


class ClaimedJob(Row, kw_only=True):
    """A job leased to the node that claimed it."""

    key: int
    lease: int
    kind: int
    queue: str
    type: str
    instance: int
    element_instance: int
    element: str
    definition: int
    priority: int
    attempt: int  # 1 in the first run
    retries: int  # attempts left, this one included
    args: bytes
    tenant: str = ""
    options: bytes = b""  # JSON of jobs.options.JobOptions; none of a plain job
    checkpoint: bytes = b""  # what an earlier run left
    crashes: int = 0  # runs in a row that ended with their process
    is_limited: bool = False
    start_within_ms: int = 0  # a job whose limits have a rate: not later than this after the claim was asked for


class Claimed(list[ClaimedJob]):
    """What a claim gave.

    ``held_back``: queues whose limited jobs are due, but for which it had no room at once. ``is_partial``: it has not
    looked at all limited jobs that are due, though there was room: ask again.
    """

    def __init__(
        self, jobs: Iterable[ClaimedJob] = (), held_back: Iterable[str] = (), *, is_partial: bool = False
    ) -> None:
        super().__init__(jobs)
        self.held_back = frozenset(held_back)
        self.is_partial = is_partial


class JobEnd(IntEnum):
    """How a run ended, for jobs whose end writes only the job's own row."""

    DONE = 0  # delete it
    RETRY = 1  # again after ``delay_ms``; one attempt used
    SNOOZE = 2  # again after ``delay_ms``; no attempt used
    RELEASE = 3  # was never started: ready at once, as before the claim
    FAILED = 4  # final: kept in state FAILED
    CANCELED = 5  # final: deleted, with ``error`` as the reason


class JobOutcome(Row, kw_only=True):
    """How one leased job ended."""

    key: int
    lease: int
    end: JobEnd
    delay_ms: int = 0
    error: str = ""
    retries: int = -1  # RETRY: set the attempts left to this instead of one less
    output: bytes = b""  # DONE: what the handler gave back, as JSON; kept where the job's options ask for it
    keep_ms: int = 0  # DONE: its row is kept at least so long, whatever the job's options say


class JobAdjustment(Row, kw_only=True):
    """What somebody changes about a job that is there. Only with ``lease``, if that is not 0."""

    key: int
    lease: int = 0
    lease_ms: int = -1  # a REMOTE lease ends so long after now; -1: as it was
    retries: int = -1  # -1: as they were
    priority: int | None = None


# --- deployments -----------------------------------------------------------------------------------------------------


class NewStartSubscription(Row, kw_only=True):
    """A message or signal start event of a definition."""

    element: str
    trigger: int
    name: str


class NewStartTimer(Row, kw_only=True):
    """A timer start event of a definition: its first due job."""

    element: str
    due_at: int
    args: bytes


class NewDefinition(Row, kw_only=True):
    """A process of a deployed resource. ``key`` is used if it becomes a new version."""

    key: int
    process_id: str
    name: str = ""
    version_tag: str = ""
    elements: list[str] = []  # element ids by index, for readers of the history
    methods: list[str] = []  # bare tasks bound to a method at deployment
    start_subscriptions: list[NewStartSubscription] = []
    start_timers: list[NewStartTimer] = []


class NewDecision(Row, kw_only=True):
    """A decision of a deployed resource. ``key`` is used if it becomes a new version."""

    key: int
    decision_id: str
    checksum: str  # sha-256 of the content and of what it imports, hex
    name: str = ""
    version_tag: str = ""
    requirements_id: str = ""  # of the decision requirements, which is the whole file
    imports: list[int] = []  # resources that the file imports, theirs included: of this or an earlier deployment


class NewForm(Row, kw_only=True):
    """A form of a deployed resource, which is the whole file. ``key`` is used if it becomes a new version."""

    key: int
    form_id: str
    checksum: str  # sha-256 of the file, hex
    version_tag: str = ""


class NewResource(Row, kw_only=True):
    """A file to deploy, with what it defines."""

    key: int
    name: str
    kind: str  # bpmn | dmn | form
    content: bytes
    checksum: str  # sha-256 of the content, hex
    definitions: list[NewDefinition] = []
    decisions: list[NewDecision] = []
    forms: list[NewForm] = []


class Deployment(Row, kw_only=True):
    """The request to deploy resources together: all or nothing."""

    key: int
    resources: list[NewResource]
    tenant: str = ""


# --- messages, and a caller's own transaction ------------------------------------------------------------------------


class NewMessage(Row, kw_only=True):
    """A message to publish. ``key`` is the message's key."""

    key: int
    name: str
    correlation_key: str = ""
    variables: bytes = b"{}"
    ttl_ms: int = 0
    message_id: str = ""
    buffer: bool = True  # False: correlate now or not at all
    expires_at: int = 0  # a message offered again keeps the end of its first time to live
    process_id: str = ""  # offered again (same key): only the process whose instance could not take it may have it
    closes: JobFence | None = None  # the follow-up that publishes it: gone in the same transaction, so that it is once
    tenant: str = ""


class PublishResult(Row, kw_only=True):
    """What became of a message: the instances it went to, or that it is buffered, a duplicate, or dropped."""

    instances: list[int] = []
    buffered: bool = False
    duplicate: bool = False
    fenced: bool = False  # the job that it closes is not held by that lease (any more): nothing was done
    woken: list[str] = []


class StartRequest(Row, kw_only=True):
    """An instance that a caller's own transaction asks for: it exists, not yet started, when that commits."""

    instance: int
    job: int
    definition: int
    process_id: str
    business_id: str = ""
    tags: list[str] = []
    variables: bytes = b"{}"
    command: bytes = b""  # the follow-up (JSON) that starts it
    tenant: str = ""


class Statement(Row, kw_only=True):
    """SQL for a connection that is not ours: placeholders are ``:name``, and no other colon stands in the text."""

    sql: str
    values: dict[str, object]


# --- nodes -----------------------------------------------------------------------------------------------------------


class Rescue(Row, kw_only=True):
    """What a rescue did."""

    nodes: list[int] = []  # dead owners
    jobs: int = 0
    woken: list[str] = []
    failed: list[int] = []  # jobs whose crash budget is spent
