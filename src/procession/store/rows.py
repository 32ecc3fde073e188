"""The rows that cross the port of the stores: what a step writes, what a claim reads. Plain data, no behaviour.

Instants are integer milliseconds since the epoch, UTC, on the store's own clock. ``bytes`` fields hold JSON where the
name says variables, args or events, and MessagePack where it says state. Empty strings and zeros mean "none".
"""

from __future__ import annotations

from enum import IntEnum

import msgspec


class Row(msgspec.Struct, omit_defaults=True):
    """Base of all rows."""


# --- what a step writes ---------------------------------------------------------------------------------------------


class NewJob(Row, kw_only=True):
    """A job to insert. With ``owner`` it is running from the start, leased (lease 1) to that node: claim on insert."""

    key: int
    kind: int  # jobs.JobKind
    queue: str
    type: str
    instance: int = 0
    element_instance: int = 0
    element: str = ""  # element id, for people and filters
    definition: int = 0
    priority: int = 0  # higher first
    run_at: int = 0  # 0: now
    delay_ms: int = 0  # added to the store's now (run_at must be 0)
    retries: int = 3  # attempts that it has
    args: bytes = b""  # JSON
    owner: int = 0
    tenant: str = ""


class JobFence(Row, kw_only=True):
    """A job that a step closes. ``lease`` 0: whoever has it (the instance's revision is the guard then)."""

    key: int
    lease: int = 0


class JobChange(Row, kw_only=True):
    """A process job whose row a step changes and keeps (no attempts left, revived by a resolved incident)."""

    key: int
    state: int  # jobs.JobState
    lease: int = 0
    retries: int = -1  # -1: as it is
    error: str = ""


class NewSubscription(Row, kw_only=True):
    """A waiting message, signal or condition of an instance."""

    key: int
    instance: int
    element_instance: int
    element: str
    process_id: str
    trigger: int  # model.Trigger: MESSAGE, SIGNAL or CONDITIONAL
    name: str
    correlation_key: str = ""
    once: bool = True
    tenant: str = ""


class NewIncident(Row, kw_only=True):
    """A problem that waits for a person."""

    key: int
    instance: int
    element_instance: int
    element: str
    definition: int
    process_id: str
    kind: str  # Camunda 8's error type, e.g. JOB_NO_RETRIES
    message: str
    job: int = 0
    fingerprint: str = ""
    tenant: str = ""


class NewUserTask(Row, kw_only=True):
    """An open user task."""

    key: int
    instance: int
    element_instance: int
    element: str
    name: str = ""
    definition: int
    process_id: str
    assignee: str = ""
    candidate_users: list[str] = []
    candidate_groups: list[str] = []
    due_at: int = 0
    follow_up_at: int = 0
    priority: int = 50
    form_key: str = ""
    tenant: str = ""


class UserTaskChange(Row, kw_only=True):
    """New values of an open user task: column name -> value, names as in NewUserTask."""

    key: int
    changes: dict[str, object]


class Shape(IntEnum):
    """Which statements a step needs; a lane of the group commit writes steps of one shape."""

    START = 0  # a new instance, its jobs, its history
    STEP = 1  # an existing instance, jobs closed and opened, its history
    WIDE = 2  # anything else: subscriptions, incidents, user tasks, changed jobs


class Step(Row, kw_only=True):
    """Everything that one step of one instance writes, atomically, if the instance is still at ``rev``."""

    instance: int
    rev: int  # revision it was decided on; -1: insert the instance; 0: requested by a caller's transaction, not started
    definition: int
    process_id: str
    status: int  # core.Status
    state: bytes
    variables: bytes | None = None  # None: unchanged
    events: bytes | None = None  # JSON array; None: no history row
    business_id: str = ""  # this and the next four: only with rev -1 or 0
    parent: int = 0
    parent_element_instance: int = 0
    tags: list[str] = []
    tenant: str = ""
    start_channel: str = ""  # rev -1/0: holds (process_id, this) until it ends: one instance per message start key
    release_channel: str = ""  # the instance ends: free (process_id, this) and offer it to a buffered message
    new_jobs: list[NewJob] = []
    closed_jobs: list[JobFence] = []
    changed_jobs: list[JobChange] = []
    new_subscriptions: list[NewSubscription] = []
    closed_subscriptions: list[int] = []
    new_incidents: list[NewIncident] = []
    closed_incidents: list[int] = []
    new_user_tasks: list[NewUserTask] = []
    changed_user_tasks: list[UserTaskChange] = []
    closed_user_tasks: list[int] = []

    def shape(self) -> Shape:
        """The narrowest shape that can write this step."""
        if (
            self.changed_jobs
            or self.new_subscriptions
            or self.closed_subscriptions
            or self.new_incidents
            or self.closed_incidents
            or self.new_user_tasks
            or self.changed_user_tasks
            or self.closed_user_tasks
            or self.start_channel
            or self.release_channel
            or self.rev == 0
        ):
            return Shape.WIDE
        if self.rev < 0:
            return Shape.START if not self.closed_jobs else Shape.WIDE
        return Shape.STEP


class StepOutcome(IntEnum):
    """What became of a step. Only APPLIED has written anything."""

    APPLIED = 0
    STALE = 1  # the instance is at another revision: load it and decide again
    FENCED = 2  # a job that it closes under a lease is not held by that lease (any more)
    REFUSED = 3  # the database refuses a value of this step; ``StepResult.error`` says which


class StepResult(Row, kw_only=True):
    """The answer to one step."""

    outcome: StepOutcome
    error: str = ""
    woken: list[str] = []  # queues that got ready jobs beyond those of the step (a buffered message matched)


# --- jobs -----------------------------------------------------------------------------------------------------------


class Want(Row, kw_only=True):
    """How many jobs of a queue a process has room for."""

    queue: str
    count: int


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


class JobEnd(IntEnum):
    """How a run ended, for jobs whose end writes only the job's own row."""

    DONE = 0  # delete it
    RETRY = 1  # again after ``delay_ms``; one attempt used
    SNOOZE = 2  # again after ``delay_ms``; no attempt used
    RELEASE = 3  # was never started: ready at once, as before the claim
    FAILED = 4  # final: kept in state FAILED


class JobOutcome(Row, kw_only=True):
    """How one leased job ended."""

    key: int
    lease: int
    end: JobEnd
    delay_ms: int = 0
    error: str = ""
    retries: int = -1  # RETRY: set the attempts left to this instead of one less


class StoredJob(Row, kw_only=True):
    """A job as listings show it."""

    key: int
    kind: int
    state: int
    queue: str
    type: str
    instance: int
    element_instance: int
    element: str
    definition: int
    priority: int
    run_at: int
    attempt: int
    retries: int
    lease: int
    owner: int
    error: str
    created_at: int
    args: bytes = b""
    crashes: int = 0  # runs that a crash cut short
    tenant: str = ""


# --- definitions ----------------------------------------------------------------------------------------------------


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


class NewResource(Row, kw_only=True):
    """A file to deploy, with what it defines."""

    key: int
    name: str
    kind: str  # bpmn | dmn | form
    content: bytes
    checksum: str  # sha-256 of the content, hex
    definitions: list[NewDefinition]


class Deployment(Row, kw_only=True):
    """The request to deploy resources together: all or nothing."""

    key: int
    resources: list[NewResource]
    tenant: str = ""


class StoredDefinition(Row, kw_only=True):
    """A deployed process version."""

    key: int
    process_id: str
    version: int
    name: str
    version_tag: str
    resource: int
    resource_name: str
    checksum: str
    deployment: int
    deployed_at: int
    elements: list[str]
    methods: list[str]
    tenant: str = ""
    created: bool = False  # in the answer to a deployment: True where it made a new version


# --- instances and what hangs on them -------------------------------------------------------------------------------


class StoredInstance(Row, kw_only=True):
    """An instance, running or ended within retention."""

    key: int
    rev: int
    definition: int
    process_id: str
    status: int
    state: bytes
    variables: bytes
    business_id: str = ""
    parent: int = 0
    parent_element_instance: int = 0
    tags: list[str] = []
    tenant: str = ""
    started_at: int = 0
    ended_at: int = 0
    incidents: int = 0  # open incidents (listings)


class InstanceFilter(Row, kw_only=True):
    """Which instances a listing shows; zeros and empty strings do not restrict."""

    process_id: str = ""
    definition: int = 0
    status: int = -1
    business_id: str = ""
    parent: int = 0
    with_incident: bool = False
    tag: str = ""
    tenant: str = ""
    after: int = 0  # cursor: only keys below this one (newest first)
    limit: int = 100


class JobFilter(Row, kw_only=True):
    """Which jobs a listing shows."""

    instance: int = 0
    state: int = -1
    kind: int = -1
    queue: str = ""
    type: str = ""
    tenant: str = ""
    after: int = 0  # cursor: only keys above this one (oldest first)
    limit: int = 100


class StoredIncident(Row, kw_only=True):
    """An incident as listings show it."""

    key: int
    instance: int
    element_instance: int
    element: str
    definition: int
    process_id: str
    kind: str
    message: str
    job: int
    created_at: int
    fingerprint: str = ""
    tenant: str = ""


class StoredUserTask(Row, kw_only=True):
    """A user task as listings show it."""

    key: int
    instance: int
    element_instance: int
    element: str
    name: str
    definition: int
    process_id: str
    assignee: str
    candidate_users: list[str]
    candidate_groups: list[str]
    due_at: int
    follow_up_at: int
    priority: int
    form_key: str
    created_at: int
    tenant: str = ""


class StoredSubscription(Row, kw_only=True):
    """An open subscription, of an instance or (instance 0) of a start event."""

    key: int
    instance: int
    element_instance: int
    element: str
    definition: int
    process_id: str
    trigger: int
    name: str
    correlation_key: str
    once: bool
    tenant: str = ""


class HistoryRow(Row, kw_only=True):
    """One committed step."""

    position: int
    instance: int
    definition: int
    at: int
    events: bytes  # JSON array of events


# --- messages -------------------------------------------------------------------------------------------------------


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


class StoredMessage(Row, kw_only=True):
    """A buffered message."""

    key: int
    name: str
    correlation_key: str
    variables: bytes
    message_id: str
    published_at: int
    expires_at: int
    tenant: str = ""


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


# --- nodes ----------------------------------------------------------------------------------------------------------


class StoredNode(Row, kw_only=True):
    """A process that works on this database."""

    node: int
    name: str
    started_at: int
    beat_at: int
    running: int = 0  # jobs leased to it
    details: bytes = b"{}"


class Rescue(Row, kw_only=True):
    """What a rescue did."""

    nodes: list[int] = []  # dead owners
    jobs: int = 0
    woken: list[str] = []
    failed: list[int] = []  # jobs whose crash budget is spent
