"""The memory store's face: each call runs to its end on the event loop, so each is one transaction."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from procession.errors import Misconfigured
from procession.ids import FIRST_PARTITION, Keys, key_of
from procession.jobs.options import Trait
from procession.store._shared.queue.checks import check_plain
from procession.store._shared.refusals import check_jobs, check_messages, check_text, check_variables
from procession.store.memory import _decisions, _definitions, _jobs, _listings, _messages
from procession.store.memory._forms import Forms
from procession.store.memory._keeping import Keeping
from procession.store.memory._operating import Operating
from procession.store.memory._queue import MemoryQueue
from procession.store.memory._queue_tables import QueueTables
from procession.store.memory._steps import apply_step
from procession.store.memory._tables import Tables
from procession.store.memory._transactions import MemoryTransaction
from procession.store.port import Clock, StepTransaction
from procession.store.rows import (
    Deployed,
    Deployment,
    HistoryRow,
    InstanceFilter,
    JobAdjustment,
    JobFence,
    JobFilter,
    NewJob,
    NewMessage,
    PublishResult,
    StartRequest,
    Statement,
    Step,
    StepResult,
    StoredDecision,
    StoredDefinition,
    StoredIncident,
    StoredInstance,
    StoredJob,
    StoredMessage,
    StoredNode,
    StoredSubscription,
    StoredUserTask,
    UserTaskFilter,
)


def _wall_clock() -> int:
    return time.time_ns() // 1_000_000


class MemoryStore(Forms, Keeping, Operating, MemoryQueue):
    """Everything in this object, nothing anywhere else. Several engines may share it within one event loop."""

    name = "memory"
    lanes = 1
    shared = False

    def __init__(self, *, clock: Clock | None = None) -> None:
        self._clock = clock or _wall_clock
        self._tables = Tables(self._clock)
        self._queue = QueueTables(self._tables)
        self._listeners: dict[object, Callable[[str], None]] = {}

    # -- life -----------------------------------------------------------------------------------------------------
    async def open(self) -> None:
        """Nothing to connect to."""

    async def close(self) -> None:
        """Nothing to disconnect from; the rows stay as long as the object."""

    async def migrate(self) -> list[str]:
        """There is one version."""
        return []

    async def schema_version(self) -> tuple[int, int]:
        """There is one version."""
        return 1, 1

    async def now(self) -> int:
        """The clock given, or the machine's."""
        return self._clock()

    async def take_keys(self, count: int) -> range:
        """The next keys."""
        tables = self._tables
        start = key_of(FIRST_PARTITION, tables.counter)
        tables.counter += count
        return range(start, start + count)

    # -- definitions ----------------------------------------------------------------------------------------------
    async def deploy(self, deployment: Deployment) -> Deployed:
        """Store what is new."""
        return _definitions.deploy_resources(self._tables, deployment)

    async def definitions(self, keys: Sequence[int]) -> list[StoredDefinition]:
        """By key."""
        found = self._tables.definitions
        return [msgspec.structs.replace(found[key]) for key in keys if key in found]

    async def find_definition(
        self, process_id: str, *, version: int = 0, version_tag: str = "", deployment: int = 0, tenant: str = ""
    ) -> StoredDefinition | None:
        """The newest that fits."""
        return _definitions.find_definition(
            self._tables,
            process_id,
            version=version,
            version_tag=version_tag,
            deployment=deployment,
            tenant=tenant,
        )

    async def list_definitions(self, *, process_id: str = "", tenant: str = "") -> list[StoredDefinition]:
        """All versions."""
        return _listings.page_of_definitions(self._tables, process_id, tenant)

    async def find_decision(
        self, decision_id: str, *, version: int = 0, version_tag: str = "", deployment: int = 0, tenant: str = ""
    ) -> StoredDecision | None:
        """The newest that fits."""
        return _decisions.find_decision(
            self._tables,
            decision_id,
            version=version,
            version_tag=version_tag,
            deployment=deployment,
            tenant=tenant,
        )

    async def list_decisions(self, *, decision_id: str = "", tenant: str = "") -> list[StoredDecision]:
        """All versions."""
        return _decisions.list_decisions(self._tables, decision_id, tenant)

    async def resource(self, key: int) -> bytes | None:
        """The bytes of a deployed file."""
        return self._tables.resources.get(key)

    # -- steps ----------------------------------------------------------------------------------------------------
    async def commit(self, steps: Sequence[Step], keys: Keys) -> list[StepResult]:
        """Each step wholly or not at all."""
        tables = self._tables
        return [apply_step(tables, step, keys) for step in steps]

    async def begin(self) -> StepTransaction:
        """What stands for one here."""
        return MemoryTransaction(self)

    async def load(self, instances: Sequence[int]) -> list[StoredInstance]:
        """By key."""
        found = self._tables.instances
        return [msgspec.structs.replace(found[key]) for key in instances if key in found]

    async def list_instances(self, which: InstanceFilter) -> list[StoredInstance]:
        """A page, newest first."""
        return _listings.page_of_instances(self._tables, which)

    async def count_instances(self, process_id: str = "", *, tenant: str = "") -> dict[int, int]:
        """Per status."""
        counted = (
            each.status
            for each in self._tables.instances.values()
            if process_id in ("", each.process_id) and tenant in ("", each.tenant)
        )
        return dict(Counter(counted))

    async def history(self, instance: int, *, after: int = 0, limit: int = 1000) -> list[HistoryRow]:
        """The committed steps of an instance."""
        rows = self._tables.history.get(instance, ())
        return _listings.page_of((row for row in rows if row.position > after), limit)

    # -- jobs -----------------------------------------------------------------------------------------------------
    async def enqueue(self, jobs: Sequence[NewJob]) -> None:
        """Insert those that are not there yet."""
        check_jobs(jobs)
        check_plain(jobs)
        tables, now = self._tables, self._clock()
        for job in jobs:
            if job.key not in tables.jobs:
                tables.insert_job(job, now)

    async def adjust_jobs(self, changes: Sequence[JobAdjustment]) -> list[bool]:
        """Change jobs where they are."""
        now = self._clock()
        return [not self._ages(change) and _jobs.adjust_job(self._tables, change, now) for change in changes]

    def _ages(self, change: JobAdjustment) -> bool:
        """Whether the priority of a job, which is to be changed, is its place in line."""
        return change.priority is not None and bool(self._queue.beyond(change.key).traits & Trait.AGEING)

    async def list_jobs(self, which: JobFilter) -> list[StoredJob]:
        """A page, oldest first."""
        return _listings.page_of_jobs(self._tables, which)

    async def count_jobs(self, *, tenant: str = "") -> dict[tuple[str, int], int]:
        """Per queue and state."""
        counted = (job for job in self._tables.jobs.values() if tenant in ("", job.tenant))
        return dict(Counter((job.queue, int(job.state)) for job in counted))

    # -- what waits -----------------------------------------------------------------------------------------------
    async def publish(self, messages: Sequence[NewMessage], keys: Keys) -> list[PublishResult]:
        """Correlate or buffer."""
        check_messages(messages)
        return [_messages.publish_message(self._tables, message, keys) for message in messages]

    async def broadcast(
        self, name: str, variables: bytes, keys: Keys, *, tenant: str = "", closes: JobFence | None = None
    ) -> list[int]:
        """To everyone who waits."""
        check_text(name, "name")
        check_variables(variables)
        if closes is not None and not _jobs.close_job(self._tables, closes):
            return []
        return _messages.broadcast_signal(self._tables, name, variables, keys, tenant)

    async def expire_messages(self, limit: int) -> int:
        """Forget what is over."""
        return _messages.expire_messages(self._tables, limit)

    async def list_messages(self, *, name: str = "", tenant: str = "", limit: int = 100) -> list[StoredMessage]:
        """Buffered messages, oldest first."""
        return _listings.page_of_messages(self._tables, name, tenant, limit)

    async def list_subscriptions(
        self, *, instance: int = 0, name: str = "", tenant: str = "", after: int = 0, limit: int = 1000
    ) -> list[StoredSubscription]:
        """What waits, by key."""
        return _listings.page_of_subscriptions(self._tables, instance, name, tenant, after, limit)

    async def list_incidents(
        self, *, instance: int = 0, process_id: str = "", tenant: str = "", after: int = 0, limit: int = 100
    ) -> list[StoredIncident]:
        """Open incidents, oldest first."""
        return _listings.page_of_incidents(self._tables, instance, process_id, tenant, after, limit)

    async def list_user_tasks(self, which: UserTaskFilter) -> list[StoredUserTask]:
        """Open user tasks, oldest first."""
        return _listings.page_of_user_tasks(self._tables, which)

    async def find(self, kind: str, key: int) -> int:
        """The instance that a key belongs to."""
        return _listings.instance_of(self._tables, kind, key)

    def start_request(self, request: StartRequest) -> list[Statement]:
        """There is no connection that a caller could own."""
        raise Misconfigured(
            f"Expected a database to start instance {request.instance} in a transaction of the caller's own, but the "
            "memory store has none: use sqlite:// or postgresql://, or start it without `connection=`"
        )

    def job_request(self, jobs: Sequence[NewJob]) -> list[Statement]:
        """There is no connection that a caller could own."""
        raise Misconfigured(
            f"Expected a database to enqueue {len(jobs)} jobs in a transaction of the caller's own, but the memory "
            "store has none: use sqlite:// or postgresql://, or enqueue without `connection=`"
        )

    # -- nodes ----------------------------------------------------------------------------------------------------
    async def register(self, name: str, details: bytes) -> int:
        """Enter a process."""
        tables, now = self._tables, self._clock()
        tables.last_node += 1
        node = tables.last_node
        tables.nodes[node] = StoredNode(node=node, name=name, started_at=now, beat_at=now, details=details)
        return node

    async def beat(self, node: int) -> bool:
        """Say that a process lives."""
        found = self._tables.nodes.get(node)
        if found is None:
            return False
        found.beat_at = self._clock()
        return True

    async def leave(self, node: int) -> None:
        """A process stops."""
        tables = self._tables
        tables.nodes.pop(node, None)
        if tables.leadership.node == node:
            tables.leadership.until = 0
        self._release_runs(node)
        _jobs.give_back(tables, node)

    async def lead(self, node: int, term_ms: int) -> int:
        """Become or stay leader."""
        tables, now = self._tables, self._clock()
        leadership = tables.leadership
        if node not in tables.nodes or (leadership.node != node and leadership.until > now):
            return 0
        if leadership.node != node:
            leadership.node = node
            leadership.term += 1
        leadership.until = now + term_ms
        return leadership.term

    async def list_nodes(self) -> list[StoredNode]:
        """The processes that work on this object."""
        return _listings.page_of_nodes(self._tables)

    # -- hints ----------------------------------------------------------------------------------------------------
    async def announce(self, queues: Sequence[str]) -> None:
        """Tell every engine that shares this object."""
        for queue in dict.fromkeys(queues):
            for heard in list(self._listeners.values()):
                heard(queue)

    async def listen(self, heard: Callable[[str], None]) -> Callable[[], Awaitable[None]] | None:
        """Hear announcements until the returned function is called."""
        listener = object()
        self._listeners[listener] = heard

        async def stop() -> None:
            self._listeners.pop(listener, None)

        return stop
