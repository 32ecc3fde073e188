"""The protocol that every store keeps: rows in, rows out, in few set-based statements. It holds no implementation.

Rules for every store
- Each method is one transaction, or one statement where it can be. Nothing is reported before its commit.
- Instants are the store's clock. A store made with ``clock`` (a callable giving milliseconds) uses that instead
  everywhere: tests turn it by hand.
- Rows are written in key order. Lock order: message channels (sorted), instances (by key), jobs (by key), the rest.
- ``Unavailable`` is raised when the database does not answer; every call has a deadline.
- A value that the database refuses fails its own step (REFUSED) or call (InvalidValue), never a neighbour's.
- Notifications are hints; polling is the guarantee.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

from procession.ids import Keys
from procession.store.queue_port import Queue
from procession.store.rows import (
    Claimed,
    Deployed,
    Deployment,
    HistoryRow,
    InstanceFilter,
    JobAdjustment,
    JobFence,
    JobFilter,
    JobOutcome,
    NewJob,
    NewMessage,
    PublishResult,
    Rescue,
    StartRequest,
    Statement,
    Step,
    StepResult,
    StoredDecision,
    StoredDefinition,
    StoredForm,
    StoredIncident,
    StoredInstance,
    StoredJob,
    StoredMessage,
    StoredNode,
    StoredSubscription,
    StoredUserTask,
    UserTaskFilter,
    Want,
)
from procession.store.rows.keeping import Kept
from procession.store.rows.operating import BatchAdvance, NewBatch, StoredBatch, StoredBatchError
from procession.store.watch_port import Watching

Clock = Callable[[], int]


class StepTransaction(Protocol):
    """A transaction that a handler and the end of its job share: both are committed, or neither.

    Whoever began it ends it: by the first ``commit`` that is answered APPLIED, by the first ``finish`` that is true, or
    by ``roll_back``, which may follow either. Raises Unavailable where the database does not answer; then it is over.
    """

    @property
    def connection(self) -> Any:  # noqa: ANN401 - the driver's own
        """The driver's connection, within the transaction, for the handler's statements; None where there is none."""
        ...

    async def commit(self, step: Step, keys: Keys) -> StepResult:
        """Apply a step and commit. Where the answer is not APPLIED nothing is written of it, and all stays open."""
        ...

    async def finish(self, outcome: JobOutcome) -> tuple[bool, list[str]]:
        """End the run of a plain job and commit: (whether its lease was held, queues that got ready jobs)."""
        ...

    async def roll_back(self) -> None:
        """End it; what was not committed is undone. Safe to call twice."""
        ...


class Store(Queue, Watching, Protocol):
    """A database, as the engine sees it. Its other parts: ``queue_port.py``, ``watch_port.py``."""

    name: str  # memory | sqlite | postgres | mysql
    lanes: int  # how many commits may usefully be under way at once (1: a single writer)
    shared: bool  # whether several processes can work on it

    # -- life -----------------------------------------------------------------------------------------------------
    async def open(self) -> None:
        """Connect. Raises Unavailable, or SchemaMismatch when the schema is not this program's (``migrate`` first)."""
        ...

    async def close(self) -> None:
        """Finish what is under way and disconnect. Safe to call twice."""
        ...

    async def migrate(self) -> list[str]:
        """Bring the schema to this program's version; the names of the migrations applied. Works before ``open``.

        Safe when several processes call it at once. Raises SchemaMismatch when the schema is newer than the program.
        """
        ...

    async def schema_version(self) -> tuple[int, int]:
        """(version in the database, version of this program). Works before ``open``."""
        ...

    async def now(self) -> int:
        """The store's clock."""
        ...

    async def take_keys(self, count: int) -> range:
        """A block of ``count`` keys that nobody else gets."""
        ...

    # -- definitions ----------------------------------------------------------------------------------------------
    async def deploy(self, deployment: Deployment) -> Deployed:
        """Store resources, all or nothing; definitions and decisions in the order given.

        A definition whose latest version has the same checksum and methods is not stored again (``created`` False),
        but is found by this deployment too; a decision or form likewise by its checksum. A file is written where
        something of it is new, or where a new decision imports it. If nothing is new (nor a file that defines nothing),
        nothing is written. Keys of start subscriptions and of start timers' jobs are the store's own.
        A new version takes over the start subscriptions and start timers of its process id (the old ones go), in the
        same transaction. Versions count from 1 per tenant and process id, and
        per tenant and decision id or form id.
        """
        ...

    async def definitions(self, keys: Sequence[int]) -> list[StoredDefinition]:
        """The definitions with these keys, deleted ones too; unknown keys are left out."""
        ...

    async def find_definition(
        self, process_id: str, *, version: int = 0, version_tag: str = "", deployment: int = 0, tenant: str = ""
    ) -> StoredDefinition | None:
        """The latest version of a process id (0), an exact one, the latest with a tag, or the one of a deployment."""
        ...

    async def list_definitions(self, *, process_id: str = "", tenant: str = "") -> list[StoredDefinition]:
        """All versions, by process id, newest first. An empty tenant does not restrict."""
        ...

    async def find_decision(
        self, decision_id: str, *, version: int = 0, version_tag: str = "", deployment: int = 0, tenant: str = ""
    ) -> StoredDecision | None:
        """The latest version of a decision id (0), an exact one, the latest with a tag, or the one of a deployment."""
        ...

    async def list_decisions(self, *, decision_id: str = "", tenant: str = "") -> list[StoredDecision]:
        """All versions, by decision id, newest first. An empty tenant does not restrict."""
        ...

    async def find_form(
        self, form_id: str, *, version: int = 0, version_tag: str = "", deployment: int = 0, tenant: str = ""
    ) -> StoredForm | None:
        """The latest version of a form id (0), an exact one, the latest with a tag, or the one of a deployment."""
        ...

    async def list_forms(self, *, key: int = 0, form_id: str = "", tenant: str = "") -> list[StoredForm]:
        """All versions, by form id, newest first. A zero or empty argument does not restrict."""
        ...

    async def delete_form(self, form: int) -> bool:
        """Delete a version, with its file; False where it is not there. What shows it then shows none."""
        ...

    async def resource(self, key: int) -> bytes | None:
        """The bytes of a deployed file."""
        ...

    # -- steps ----------------------------------------------------------------------------------------------------
    async def commit(self, steps: Sequence[Step], keys: Keys) -> list[StepResult]:
        """Apply steps of different instances in one transaction; one answer per step, in order.

        A step is applied wholly or not at all, independently of its neighbours: if its instance is at another
        revision (STALE), if a fenced job is not held by that lease (FENCED), or if the database refuses a value
        (REFUSED). Applying sets the revision to ``rev + 1`` (a new instance: 1). Jobs of ``closed_jobs`` that are
        gone already do not matter when their lease is 0.

        A new message subscription is matched with the oldest buffered message of its channel within the same
        transaction, holding the channel's lock: the match inserts a follow-up job (``jobs.FOLLOW_UP_QUEUE``, args: a
        ``Send`` of a ``Correlate``, as JSON), removes the message unless another process id may still want it, and
        is reported in ``woken``. A message goes to at most one instance per process id. The follow-up's key comes
        from ``keys``. ``release_channel`` likewise lets the oldest buffered message of a message start event through.

        Details that all stores share:
        - STALE is looked for first, then FENCED, then REFUSED. A key stands in at most one list of a step.
        - With rev 0, texts, tags and parents that the step leaves empty stay as the request wrote them.
        - A subscription with ``once`` False takes all buffered messages of its channel, oldest first.
        - A message may still be wanted if a start subscription of another process id, which has not had it, has its
          name. One with a ``message_id`` is kept, taken and unlisted, until its time ends: its id still counts.
        - "Oldest" is by instant, then key. ``error`` and an incident's ``message`` are cleaned and cut, not refused.
        - A status of COMPLETED or TERMINATED sets ``ended_at``. ``start_channel`` held by another instance: REFUSED.
        - A ``JobChange`` to another state than RUNNING frees the owner, leaves ``run_at``; given retries clear
          ``crashes``; an empty ``error`` leaves the last one.
        - A store whose transactions run on a thread takes follow-up keys from its own counter instead of ``keys``.
        """
        ...

    async def begin(self) -> StepTransaction:
        """Begin a transaction for a handler. Raises Misconfigured where the store has none to lend."""
        ...

    async def load(self, instances: Sequence[int]) -> list[StoredInstance]:
        """The instances with these keys, in any order; unknown keys are left out."""
        ...

    async def list_instances(self, which: InstanceFilter) -> list[StoredInstance]:
        """A page, newest first. ``state`` and ``variables`` are empty in listings; ``incidents`` is counted."""
        ...

    async def count_instances(self, process_id: str = "", *, tenant: str = "") -> dict[int, int]:
        """How many instances there are per status."""
        ...

    async def history(self, instance: int, *, after: int = 0, limit: int = 1000) -> list[HistoryRow]:
        """The committed steps of an instance in order."""
        ...

    # -- jobs -----------------------------------------------------------------------------------------------------
    async def enqueue(self, jobs: Sequence[NewJob]) -> None:
        """Insert jobs that belong to no step (plain queue jobs, batch operations).

        A job whose key is there already stays as it is, so that a call can be repeated after an unclear answer.
        """
        ...

    async def claim(self, node: int, wants: Sequence[Want]) -> Claimed:
        """Lease ready jobs to a node, in one statement over all queues: by priority (higher first), then age.

        Every claim raises ``lease`` and ``attempt`` by one. Jobs locked by others are skipped. Within a queue the
        answer is in claim order: priority, ``run_at``, key. A queue stands in ``wants`` once.

        Limited jobs stand before the others of their queue. Which of both are claimed is decided by one order:
        priority, then age. Limited ones are admitted by the clock as it stands when their limits are held.

        With ``lease_ms`` a job is leased to no node: its owner is REMOTE, its state SCHEDULED, its ``run_at`` the end
        of the lease, when ``promote`` makes it READY. It is held under its lease like one that runs; RELEASE and
        FAILED then set ``run_at`` to now.
        """
        ...

    async def adjust_jobs(self, changes: Sequence[JobAdjustment]) -> list[bool]:
        """Change jobs where they are; False for one that is not there, or not (any more) under that lease.

        Also False where ``lease_ms`` is given and the job is not leased to a remote worker, and where ``priority`` is
        given and the job ages: its priority is its place in line.
        """
        ...

    async def finish(self, outcomes: Sequence[JobOutcome]) -> list[bool]:
        """End runs under their lease, in one transaction; False where the lease is not (or no longer) held.

        Idempotent: sending an applied outcome again gives False and changes nothing. A job stands in a call once.
        RETRY and FAILED use one of the retries (or set them), SNOOZE and RELEASE take the attempt back; RELEASE keeps
        ``run_at``; RETRY, SNOOZE and FAILED clear ``crashes``. Without a delay a job is READY at once.
        """
        ...

    async def promote(self, limit: int) -> tuple[list[str], int]:
        """Make due SCHEDULED jobs READY: (queues that got some, instant of the next due job or 0)."""
        ...

    async def list_jobs(self, which: JobFilter) -> list[StoredJob]:
        """A page, oldest first."""
        ...

    async def count_jobs(self, *, tenant: str = "") -> dict[tuple[str, int], int]:
        """How many jobs there are per (queue, state)."""
        ...

    # -- what waits -----------------------------------------------------------------------------------------------
    async def publish(self, messages: Sequence[NewMessage], keys: Keys) -> list[PublishResult]:
        """Correlate or buffer messages, holding their channels' locks; one answer per message, in order.

        To each process id at most one: the oldest open subscription with this name and correlation key gets a
        follow-up job (as in ``commit``) and, if ``once``, is marked taken so that no other message gets it. A start
        subscription of the process id (if no subscription of a running instance took it) gets a follow-up
        ``StartByEvent`` with a new instance key from ``keys``, unless the correlation key is not empty and an
        instance started by it is still running (then it is buffered). Without any match it is buffered until its
        time to live ends. ``message_id`` makes (name, correlation key, id) unique until the message's time ends,
        matched or not; one that was dropped does not count. Subscriptions are served oldest first, start events by
        process id. ``closes``: a job that is deleted in the same transaction, duplicate or not; if it is not held by
        that lease the message is ``fenced`` and nothing is done: a follow-up that is carried out twice publishes once.
        """
        ...

    async def broadcast(
        self, name: str, variables: bytes, keys: Keys, *, tenant: str = "", closes: JobFence | None = None
    ) -> list[int]:
        """One follow-up per open subscription to a signal, and one start per start event; the instances reached.

        A subscription stays open until its instance closes it, even one that is taken once: an instance passes over the
        signals that it has thrown itself and served already, and then waits for the next one.

        ``closes`` as in ``publish``; nothing is reached if it is not held.
        """
        ...

    async def expire_messages(self, limit: int) -> int:
        """Delete messages whose time to live is over; how many."""
        ...

    async def list_messages(self, *, name: str = "", tenant: str = "", limit: int = 100) -> list[StoredMessage]:
        """Buffered messages, oldest first."""
        ...

    async def list_subscriptions(
        self, *, instance: int = 0, name: str = "", tenant: str = "", after: int = 0, limit: int = 1000
    ) -> list[StoredSubscription]:
        """Subscriptions that nothing has taken yet, those of start events included, by key, those above ``after``."""
        ...

    async def list_incidents(
        self, *, instance: int = 0, process_id: str = "", tenant: str = "", after: int = 0, limit: int = 100
    ) -> list[StoredIncident]:
        """Open incidents, oldest first."""
        ...

    async def list_user_tasks(self, which: UserTaskFilter) -> list[StoredUserTask]:
        """A page of open user tasks, oldest first."""
        ...

    async def find(self, kind: str, key: int) -> int:
        """The instance that a key belongs to, 0 if none; ``kind`` is job | user_task | incident | subscription."""
        ...

    def start_request(self, request: StartRequest) -> list[Statement]:
        """The statements that a caller's own connection executes to ask for an instance in its transaction."""
        ...

    def job_request(self, jobs: Sequence[NewJob]) -> list[Statement]:
        """The same for plain queue jobs, any number. Raises InvalidValue.

        Those with options are inserted as one job of ``jobs.SUBMIT_QUEUE`` under the key of the first; whoever claims
        it submits what it holds (``rows.queue.decode_submission``) with itself as ``closes``.
        """
        ...

    # -- operators ------------------------------------------------------------------------------------------------
    async def retry_jobs(self, jobs: Sequence[int], retries: int) -> list[int]:
        """Make those of these jobs that are FAILED and without traits ready now; which they were.

        They have so many attempts then. Jobs with traits are started over by ``requeue_jobs``, which knows their keys,
        limits and batches.
        """
        ...

    async def hasten(self, instance: int) -> list[str]:
        """Make the SCHEDULED follow-ups and timers of an instance that are tried again later ready now; their queues.

        A timer that is not due yet, which has never run, stays.
        """
        ...

    async def ended_instances(self, *, ended_before: int, after: int = 0, limit: int = 1000) -> tuple[list[int], int]:
        """Of the next ``limit`` instances by key, those that ended until then and that no other one there has called.

        With the last key looked at (0: that was all), to go on ``after`` it. Reads no more than ``limit`` rows.
        """
        ...

    async def delete_instances(self, instances: Sequence[int]) -> list[int]:
        """Delete ended instances, with their history and everything that they called; those that were deleted.

        One that runs, of which something called still runs, or whose caller is still there, stays. Follow-ups on their
        way to others stay too.
        """
        ...

    async def delete_definition(self, definition: int) -> bool:
        """Delete a version with its start subscriptions and start timers; only ``definitions`` knows it afterwards.

        False, and nothing happens, where an instance of it is there (running or ended), or the version is not. A
        process that still remembers it may have started an instance a moment ago, which goes on: the row and its file
        stay until ``purge_definitions``.
        """
        ...

    async def purge_definitions(self, *, deleted_before: int) -> int:
        """Remove versions deleted until then that no instance is of, with files that nothing else is of; how many."""
        ...

    async def create_batch(self, batch: NewBatch, job: NewJob) -> bool:
        """Begin a batch, with the job that emits its items. One whose key is there already stays as it is.

        False, and nothing happens, where another one does the failed items of the same batch again.
        """
        ...

    async def batches(
        self, *, keys: Sequence[int] = (), tenant: str = "", after: int = 0, limit: int = 100
    ) -> list[StoredBatch]:
        """Batches, the newest first; ``keys`` restricts, ``after`` is the last key of the page before (0: none)."""
        ...

    async def advance_batch(self, advance: BatchAdvance) -> bool:
        """Emit the next items and say where the batch stands, in one transaction; False if it stands elsewhere.

        Jobs of earlier items that are FAILED become errors and are deleted. Of ``deletes`` what cannot be deleted is an
        error, and so are ``errors``. An ended, canceled or suspended batch is not advanced.
        """
        ...

    async def fail_batch_item(self, batch: int, item: int, message: str, closes: JobFence) -> bool:
        """Keep why an item was not done and delete its job; False, and nothing, if it is not held by that lease."""
        ...

    async def end_batch(self, batch: int) -> bool:
        """Cancel a batch: no more items are emitted. False if it is over or not there.

        Of a suspended one the items that were emitted and have not begun are taken back.
        """
        ...

    async def suspend_batch(self, batch: int) -> bool:
        """Let a batch rest: no more items are emitted, and those that nobody holds are SUSPENDED.

        False if it is not under way.
        """
        ...

    async def resume_batch(self, batch: int, turn: NewJob) -> bool:
        """Let a suspended batch go on, with the job that emits its items; False if it is not suspended."""
        ...

    async def delete_batches(self, *, ended_before: int, limit: int) -> int:
        """Delete batches that ended until then, with their errors, at most ``limit`` rows of each; rows deleted.

        A batch whose failed items another one, which is under way, does again stays. 0: none is left to delete.
        """
        ...

    async def batch_errors(self, batch: int, *, after: int = 0, limit: int = 1000) -> list[StoredBatchError]:
        """Why items were not done, by item."""
        ...

    # -- what edges keep ------------------------------------------------------------------------------------------
    async def keep(self, rows: Sequence[Kept]) -> None:
        """Insert or replace, in one transaction; ``created_at`` is when a row was first kept."""
        ...

    async def kept(
        self, kind: str, *, key: int = 0, name: str = "", after: int = 0, newest: bool = False, limit: int = 100
    ) -> list[Kept]:
        """A page of a kind by key, the other way round with ``newest``; ``after`` is the last key of the page before.

        ``key`` and ``name`` restrict.
        """
        ...

    async def forget_kept(self, kind: str, *, keys: Sequence[int] = (), before: int = 0) -> int:
        """Delete those of a kind with these keys, and those whose keys are below ``before``; how many."""
        ...

    # -- nodes ----------------------------------------------------------------------------------------------------
    async def register(self, name: str, details: bytes) -> int:
        """Enter a process; the node number that leases carry (never used before)."""
        ...

    async def beat(self, node: int) -> bool:
        """Say that a process lives; False when others have declared it dead."""
        ...

    async def leave(self, node: int) -> None:
        """The process stops: jobs still leased to it become ready (their attempt is not used)."""
        ...

    async def lead(self, node: int, term_ms: int) -> int:
        """Become or stay leader for ``term_ms``; the term (grows with every change of leader), 0 if another leads.

        Also 0 for a node that is not registered (any more).
        """
        ...

    async def rescue(self, dead_after_ms: int, limit: int, *, crash_budget: int, backoff_ms: int) -> Rescue:
        """Give back the jobs of nodes that have not beaten for ``dead_after_ms``, and of unknown nodes.

        A rescued job is READY at once the first time, and SCHEDULED ``backoff_ms`` later when its previous run was
        cut short too (``crashes``); past ``crash_budget`` it is reported in ``failed`` and FAILED. Retries and
        attempts stay. At most ``limit`` jobs; dead nodes are removed at once.
        """
        ...

    async def list_nodes(self) -> list[StoredNode]:
        """The processes that work on this database."""
        ...

    # -- hints ----------------------------------------------------------------------------------------------------
    async def announce(self, queues: Sequence[str]) -> None:
        """Tell other processes that these queues got ready jobs. Never within a writing transaction."""
        ...

    async def listen(self, heard: Callable[[str], None]) -> Callable[[], Awaitable[None]] | None:
        """Call ``heard(queue)`` for announcements; returns how to stop, or None where the store cannot."""
        ...
