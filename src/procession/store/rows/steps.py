"""What one step of one instance writes, and the answer. ``shape`` is all they know about themselves."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from procession.jobs.options import JobOptions
from procession.store.rows.row import Row


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
    options: JobOptions | None = None  # only of plain queue jobs, and only for ``submit``


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
    form: int = 0  # the deployed form that it shows


class UserTaskChange(Row, kw_only=True):
    """New values of an open user task: column name -> value, names as in NewUserTask."""

    key: int
    changes: dict[str, object]


class MovedRow(Row, kw_only=True):
    """A row of a migrated instance that stays, at the element that its own became in the step's definition."""

    table: str  # job | subscription | user_task | incident
    key: int
    element: str
    name: str = ""  # user tasks: the element's name


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
    business_id: str = ""  # with a rev above 0: the instance, which had none, gets it
    parent: int = 0  # this and the next three: only with rev -1 or 0
    parent_element_instance: int = 0
    tags: Sequence[str] = ()
    tenant: str = ""
    start_channel: str = ""  # rev -1/0: holds (process_id, this) until it ends: one instance per message start key
    release_channel: str = ""  # the instance ends: free (process_id, this) and offer it to a buffered message
    new_jobs: list[NewJob] = []
    closed_jobs: list[JobFence] = []
    changed_jobs: Sequence[JobChange] = ()
    new_subscriptions: Sequence[NewSubscription] = ()
    closed_subscriptions: Sequence[int] = ()
    new_incidents: Sequence[NewIncident] = ()
    closed_incidents: Sequence[int] = ()
    new_user_tasks: Sequence[NewUserTask] = ()
    changed_user_tasks: Sequence[UserTaskChange] = ()
    closed_user_tasks: Sequence[int] = ()
    migrates: bool = False  # the definition is another one from here on
    moved_rows: Sequence[MovedRow] = ()  # only with a changed definition: rows that go with it (migration)

    @property
    def is_told_more(self) -> bool:
        """Whether the row of an instance that is there gets more than a usual step writes."""
        return self.rev == 0 or (self.rev > 0 and bool(self.business_id))

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
            or self.migrates
            or self.moved_rows
            or self.start_channel
            or self.release_channel
            or self.rev == 0
            or (self.business_id and self.rev > 0)  # ``is_told_more``, asked four times for every instance
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
