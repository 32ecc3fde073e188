"""The dictionaries that stand for tables, with the indexes over them. It decides nothing about a step or a match."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappush

import msgspec

from procession.ids import FIRST_PARTITION, key_of
from procession.jobs.kinds import JobState
from procession.store.rows import (
    HistoryRow,
    NewJob,
    Row,
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
)
from procession.store.rows.keeping import Kept
from procession.store.rows.operating import StoredBatch

Channel = tuple[str, int, str, str]  # tenant, trigger, name, correlation key


class Waiting(Row):
    """A subscription of an instance."""

    row: StoredSubscription
    created_at: int
    taken: bool = False

    def age(self) -> tuple[int, int]:
        """What "oldest" is measured by."""
        return self.created_at, self.row.key


class Buffered(Row):
    """A message that is kept: offered to what comes, or (``spent``) only remembered by its id."""

    row: StoredMessage
    process_id: str = ""  # only this process may have it
    had_by: set[str] = msgspec.field(default_factory=set)  # pyright: ignore[reportUnknownVariableType]
    spent: bool = False

    def age(self) -> tuple[int, int]:
        """What "oldest" is measured by."""
        return self.row.published_at, self.row.key

    def may_go_to(self, process_id: str) -> bool:
        """Whether this process has not had it and is not shut out."""
        return process_id not in self.had_by and self.process_id in ("", process_id)


class Leadership(Row):
    """Who leads, and until when."""

    node: int = 0
    term: int = 0
    until: int = 0


class Tables:
    """All rows, and the ways to find them."""

    def __init__(self, clock: Callable[[], int]) -> None:
        self.clock = clock
        self.counter = 1
        self.definitions: dict[int, StoredDefinition] = {}
        self.versions: dict[tuple[str, str], list[int]] = {}
        self.deleted: dict[int, int] = {}  # definitions, and when
        self.deployments: dict[int, list[int]] = {}
        self.decisions: dict[int, StoredDecision] = {}
        self.decision_versions: dict[tuple[str, str], list[int]] = {}  # by tenant and decision id
        self.deployed_decisions: dict[int, list[int]] = {}
        self.forms: dict[int, StoredForm] = {}
        self.deployed_forms: dict[int, list[int]] = {}
        self.resources: dict[int, bytes] = {}
        self.files: set[tuple[str, str, str]] = set()  # tenant, name, checksum of files without definitions
        self.instances: dict[int, StoredInstance] = {}
        self.start_channels: dict[tuple[str, str, str], int] = {}  # tenant, process id, correlation key -> instance
        self.jobs: dict[int, StoredJob] = {}
        self.ready: dict[str, list[tuple[int, int, int]]] = {}  # heaps by queue; entries may be out of date
        self.scheduled: list[tuple[int, int]] = []  # heap of (run_at, key); entries may be out of date
        self.subscriptions: dict[int, Waiting] = {}
        self.waiting: dict[Channel, dict[int, Waiting]] = {}
        self.starts: dict[tuple[str, str], list[StoredSubscription]] = {}  # by tenant and process id
        self.messages: dict[int, Buffered] = {}
        self.buffered: dict[Channel, dict[int, Buffered]] = {}
        self.incidents: dict[int, StoredIncident] = {}
        self.incident_counts: dict[int, int] = {}
        self.user_tasks: dict[int, StoredUserTask] = {}
        self.history: dict[int, list[HistoryRow]] = {}
        self.position = 0
        self.kept: dict[tuple[str, int], Kept] = {}
        self.batches: dict[int, StoredBatch] = {}
        self.batch_errors: dict[tuple[int, int], str] = {}  # by batch and item
        self.nodes: dict[int, StoredNode] = {}
        self.last_node = 0
        self.leadership = Leadership()

    def take_key(self) -> int:
        """A key of the store's own."""
        key = key_of(FIRST_PARTITION, self.counter)
        self.counter += 1
        return key

    # -- jobs -----------------------------------------------------------------------------------------------------
    def insert_job(self, new: NewJob, now: int) -> None:
        """Insert a job, running if it has an owner, waiting if it is due later."""
        run_at = new.run_at or now + new.delay_ms
        job = StoredJob(
            key=new.key,
            kind=new.kind,
            state=JobState.READY,
            queue=new.queue,
            type=new.type,
            instance=new.instance,
            element_instance=new.element_instance,
            element=new.element,
            definition=new.definition,
            priority=new.priority,
            run_at=run_at,
            attempt=0,
            retries=new.retries,
            lease=0,
            owner=0,
            error="",
            created_at=now,
            args=new.args,
            tenant=new.tenant,
        )
        self.jobs[new.key] = job
        if new.owner:
            job.state, job.owner, job.lease, job.attempt = JobState.RUNNING, new.owner, 1, 1
        else:
            self.put_back(job, now)

    def put_back(self, job: StoredJob, now: int) -> None:
        """Make a job ready, or scheduled if it is due later."""
        job.owner = 0
        if job.run_at > now:
            self.schedule(job)
        else:
            self.make_ready(job)

    def schedule(self, job: StoredJob) -> None:
        """Let a job wait for its time."""
        job.state = JobState.SCHEDULED
        heappush(self.scheduled, (job.run_at, job.key))

    def make_ready(self, job: StoredJob) -> None:
        """Make a job ready whatever its time."""
        job.state = JobState.READY
        heap = self.ready.get(job.queue)
        if heap is None:
            heap = self.ready[job.queue] = []
        heappush(heap, (-job.priority, job.run_at, job.key))

    # -- what waits -----------------------------------------------------------------------------------------------
    def add_subscription(self, waiting: Waiting) -> None:
        """Open a subscription."""
        row = waiting.row
        self.subscriptions[row.key] = waiting
        channel = (row.tenant, row.trigger, row.name, row.correlation_key)
        self.waiting.setdefault(channel, {})[row.key] = waiting

    def remove_subscription(self, key: int) -> None:
        """Close a subscription if it is open."""
        waiting = self.subscriptions.pop(key, None)
        if waiting is not None:
            row = waiting.row
            _drop(self.waiting, (row.tenant, row.trigger, row.name, row.correlation_key), key)

    def keep_message(self, message: Buffered, trigger: int) -> None:
        """Buffer a message."""
        row = message.row
        self.messages[row.key] = message
        self.buffered.setdefault((row.tenant, trigger, row.name, row.correlation_key), {})[row.key] = message

    def remove_message(self, key: int, trigger: int) -> None:
        """Forget a message if it is buffered."""
        message = self.messages.pop(key, None)
        if message is not None:
            row = message.row
            _drop(self.buffered, (row.tenant, trigger, row.name, row.correlation_key), key)


def _drop(
    index: dict[Channel, dict[int, Waiting]] | dict[Channel, dict[int, Buffered]], channel: Channel, key: int
) -> None:
    rows = index[channel]
    del rows[key]
    if not rows:
        del index[channel]
