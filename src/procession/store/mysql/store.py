"""The face of MariaDB's and MySQL's store: the port's methods, each sent to the group of connections that serves it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

import msgspec

from procession.errors import InvalidValue, Misconfigured
from procession.ids import FIRST_PARTITION, Keys, key_of
from procession.jobs.kinds import FOLLOW_UP_QUEUE, JobKind
from procession.store._shared.migrations import check_version
from procession.store._shared.queue.checks import check_plain
from procession.store._shared.refusals import check_jobs, check_start_request, clean_text
from procession.store._shared.requests import requested_jobs
from procession.store.mysql import _deploying as deploying
from procession.store.mysql import _jobs as jobs_of
from procession.store.mysql import _publishing as publishing
from procession.store.mysql import _reading as reading
from procession.store.mysql import _steps as steps_of
from procession.store.mysql._address import Address
from procession.store.mysql._keeping import Keeping
from procession.store.mysql._migrating import MIGRATIONS, applied_versions, migrate
from procession.store.mysql._operating import Operating
from procession.store.mysql._queue import MysqlQueue
from procession.store.mysql._sessions import Options, Sessions
from procession.store.mysql._statements import SOURCES, without_comments
from procession.store.mysql._transactions import Transactions
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
    StoredForm,
    StoredIncident,
    StoredInstance,
    StoredJob,
    StoredMessage,
    StoredNode,
    StoredSubscription,
    StoredUserTask,
    UserTaskFilter,
)

DEADLINE_S: Final = 15.0
CONNECT_S: Final = 5.0
COMMIT_LANES: Final = 3  # starts, steps and wide steps may be under way at once; more only makes batches smaller
_KEY_MAX: Final = 2**63 - 1
_FINDABLE: Final = ("job", "user_task", "incident", "subscription")


class MysqlStore(MysqlQueue, Keeping, Operating):
    """A database of MariaDB 10.6 or MySQL 8.0, or newer. Any number of processes may work on it.

    All tables are in the URL's database, their names begin with ``procession_``. ``lanes`` commits may be under way at
    once, ``pool_size`` other calls; claims, finishes and enqueues have a connection each. Every call ends within
    ``deadline_s``. There are no notifications: what other processes enqueue is found by polling.
    """

    name = "mysql"
    shared = True

    def __init__(
        self,
        url: str,
        *,
        clock: Clock | None = None,
        lanes: int = COMMIT_LANES,
        pool_size: int = 4,
        deadline_s: float = DEADLINE_S,
    ) -> None:
        if lanes < 1 or pool_size < 1 or deadline_s <= 0:
            raise Misconfigured(
                f"Expected at least one lane, one connection and a deadline, got {lanes=}, {pool_size=}, {deadline_s=}"
            )
        self.lanes = lanes
        self._clock = clock
        self._pool_size = pool_size
        self._options = Options(Address(url), deadline_s=deadline_s, connect_s=min(CONNECT_S, deadline_s), clock=clock)
        self._connect()

    # -- life -----------------------------------------------------------------------------------------------------
    async def open(self) -> None:
        """Connect and compare the schema's version with this program's."""
        if self._is_closed:
            self._connect()
        try:
            check_version(*await self.schema_version())
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Close every connection."""
        if not self._is_closed:
            self._is_closed = True
            await asyncio.gather(self._transactions.close(), *(group.close() for group in self._groups))

    async def migrate(self) -> list[str]:
        """Bring the schema to this program's version."""
        if self._is_closed:
            self._connect()
        session = await self._rest.connect()
        try:
            return await migrate(session)
        finally:
            await session.close()

    async def schema_version(self) -> tuple[int, int]:
        """(version in the database, version of this program)."""
        async with self._rest.lend() as session:
            return max(await applied_versions(session), default=0), len(MIGRATIONS)

    async def now(self) -> int:
        """The clock given, or the database's."""
        if self._clock is not None:
            return self._clock()
        return (await self._rest.run("now_of_transaction")).value()

    async def take_keys(self, count: int) -> range:
        """A block of keys from the database's counter."""
        if count < 1:
            raise InvalidValue(f"Expected a count of keys of at least 1, got {count}")
        first = key_of(FIRST_PARTITION, (await self._rest.run("take_keys", count=count)).inserted)
        return range(first, first + count)

    # -- definitions ----------------------------------------------------------------------------------------------
    async def deploy(self, deployment: Deployment) -> Deployed:
        """Store resources, all or nothing."""
        return await deploying.deploy(self._rest, deployment)

    async def definitions(self, keys: Sequence[int]) -> list[StoredDefinition]:
        """The definitions with these keys."""
        rows = await self._rest.fetch("load_definitions", keys=list(keys)) if keys else ()
        return [reading.stored_definition(row) for row in rows]

    async def find_definition(
        self, process_id: str, *, version: int = 0, version_tag: str = "", deployment: int = 0, tenant: str = ""
    ) -> StoredDefinition | None:
        """The latest version that fits."""
        which = {"version": version, "version_tag": version_tag, "deployment": deployment, "tenant": tenant}
        rows = await self._rest.fetch("find_definition", process_id=process_id, **which)
        return reading.stored_definition(rows[0]) if rows else None

    async def list_definitions(self, *, process_id: str = "", tenant: str = "") -> list[StoredDefinition]:
        """All versions, newest first within each process id."""
        rows = await self._rest.fetch("list_definitions", process_id=process_id, tenant=tenant)
        return [reading.stored_definition(row) for row in rows]

    async def find_decision(
        self, decision_id: str, *, version: int = 0, version_tag: str = "", deployment: int = 0, tenant: str = ""
    ) -> StoredDecision | None:
        """The newest that fits."""
        which = {"version": version, "version_tag": version_tag, "deployment": deployment, "tenant": tenant}
        rows = await self._rest.fetch("find_decision", decision_id=decision_id, **which)
        return reading.stored_decision(rows[0]) if rows else None

    async def list_decisions(self, *, decision_id: str = "", tenant: str = "") -> list[StoredDecision]:
        """All versions."""
        rows = await self._rest.fetch("list_decisions", decision_id=decision_id, tenant=tenant)
        return [reading.stored_decision(row) for row in rows]

    async def find_form(
        self, form_id: str, *, version: int = 0, version_tag: str = "", deployment: int = 0, tenant: str = ""
    ) -> StoredForm | None:
        """The newest that fits."""
        which = {"version": version, "version_tag": version_tag, "deployment": deployment, "tenant": tenant}
        rows = await self._rest.fetch("find_form", form_id=form_id, **which)
        return reading.stored_form(rows[0]) if rows else None

    async def list_forms(self, *, key: int = 0, form_id: str = "", tenant: str = "") -> list[StoredForm]:
        """All versions, the newest first within each form id."""
        rows = await self._rest.fetch("list_forms", key=key, form_id=form_id, tenant=tenant)
        return [reading.stored_form(row) for row in rows]

    async def resource(self, key: int) -> bytes | None:
        """The bytes of a deployed file."""
        return (await self._rest.run("find_resource", key=key)).value()

    # -- steps ----------------------------------------------------------------------------------------------------
    async def commit(self, steps: Sequence[Step], keys: Keys) -> list[StepResult]:
        """Apply steps of different instances; see _steps.py."""
        return await steps_of.commit(self._lanes, steps, keys)

    async def begin(self) -> StepTransaction:
        """A transaction for a handler and the end of its job."""
        return await self._transactions.begin()

    async def load(self, instances: Sequence[int]) -> list[StoredInstance]:
        """The instances with these keys."""
        rows = await self._loads.fetch("load_instances", keys=sorted(instances)) if instances else ()
        return [reading.loaded_instance(row) for row in rows]

    async def list_instances(self, which: InstanceFilter) -> list[StoredInstance]:
        """A page, newest first."""
        values = msgspec.structs.asdict(which)
        values["before"] = values.pop("after") or _KEY_MAX
        values["any_status"] = not which.statuses
        values["tag_json"] = msgspec.json.encode(which.tag)
        return [reading.listed_instance(row) for row in await self._rest.fetch("list_instances", **values)]

    async def count_instances(self, process_id: str = "", *, tenant: str = "") -> dict[int, int]:
        """How many instances there are per status."""
        rows = await self._rest.fetch("count_instances", process_id=process_id, tenant=tenant)
        return {row[0]: row[1] for row in rows}

    async def history(self, instance: int, *, after: int = 0, limit: int = 1000) -> list[HistoryRow]:
        """The committed steps of an instance in order."""
        rows = await self._rest.fetch("list_history", instance=instance, after=after, limit=limit)
        return [reading.history_row(row) for row in rows]

    # -- jobs -----------------------------------------------------------------------------------------------------
    async def enqueue(self, jobs: Sequence[NewJob]) -> None:
        """Insert jobs that belong to no step."""
        alike = check_jobs(jobs)
        check_plain(jobs)
        await jobs_of.enqueue(self._enqueues, jobs, alike=alike)

    async def adjust_jobs(self, changes: Sequence[JobAdjustment]) -> list[bool]:
        """Change jobs where they are."""
        return await jobs_of.adjust(self._rest, changes)

    async def promote(self, limit: int) -> tuple[list[str], int]:
        """Make due jobs ready."""
        return await jobs_of.promote(self._duties, limit)

    async def list_jobs(self, which: JobFilter) -> list[StoredJob]:
        """A page, oldest first."""
        rows = await self._rest.fetch("list_jobs", **msgspec.structs.asdict(which))
        return [reading.stored_job(row) for row in rows]

    async def count_jobs(self, *, tenant: str = "") -> dict[tuple[str, int], int]:
        """How many jobs there are per (queue, state)."""
        return {(row[0], row[1]): row[2] for row in await self._rest.fetch("count_jobs", tenant=tenant)}

    # -- what waits -----------------------------------------------------------------------------------------------
    async def publish(self, messages: Sequence[NewMessage], keys: Keys) -> list[PublishResult]:
        """Correlate or buffer messages; see _publishing.py."""
        return await publishing.publish(self._duties, messages, keys)

    async def broadcast(
        self, name: str, variables: bytes, keys: Keys, *, tenant: str = "", closes: JobFence | None = None
    ) -> list[int]:
        """Give a signal to everything that waits for it."""
        return await publishing.broadcast(self._duties, name, variables, keys, tenant, closes)

    async def expire_messages(self, limit: int) -> int:
        """Delete buffered messages whose time to live is over."""
        return await publishing.expire(self._duties, limit)

    async def list_messages(self, *, name: str = "", tenant: str = "", limit: int = 100) -> list[StoredMessage]:
        """Buffered messages, oldest first."""
        rows = await self._rest.fetch("list_messages", name=name, tenant=tenant, limit=limit)
        return [reading.stored_message(row) for row in rows]

    async def list_subscriptions(
        self, *, instance: int = 0, name: str = "", tenant: str = "", after: int = 0, limit: int = 1000
    ) -> list[StoredSubscription]:
        """Open subscriptions, those of start events included."""
        which: dict[str, Any] = {"instance": instance, "name": name, "tenant": tenant, "after": after, "limit": limit}
        rows = await self._rest.fetch("list_subscriptions", **which)
        return [publishing.stored_subscription(row) for row in rows]

    async def list_incidents(
        self, *, instance: int = 0, process_id: str = "", tenant: str = "", after: int = 0, limit: int = 100
    ) -> list[StoredIncident]:
        """Open incidents, oldest first."""
        which: dict[str, Any] = {"process_id": process_id, "tenant": tenant, "after": after, "limit": limit}
        rows = await self._rest.fetch("list_incidents", instance=instance, **which)
        return [reading.stored_incident(row) for row in rows]

    async def list_user_tasks(self, which: UserTaskFilter) -> list[StoredUserTask]:
        """A page of open user tasks, oldest first."""
        values = msgspec.structs.asdict(which)
        for name in ("candidate_user", "candidate_group"):
            values[f"{name}_json"] = msgspec.json.encode(values[name])
        return [reading.stored_user_task(row) for row in await self._rest.fetch("list_user_tasks", **values)]

    async def find(self, kind: str, key: int) -> int:
        """The instance that a key belongs to."""
        if kind not in _FINDABLE:
            raise InvalidValue(f"Expected a kind of {', '.join(_FINDABLE)}, got {kind!r}")
        return (await self._rest.run(f"find_instance_of_{kind}", key=key)).value() or 0

    def start_request(self, request: StartRequest) -> list[Statement]:
        """The statements by which a caller's own transaction asks for an instance."""
        check_start_request(request)
        common: dict[str, object] = {
            "instance": request.instance,
            "definition": request.definition,
            "tenant": request.tenant,
            "now": self._clock() if self._clock is not None else None,
        }
        instance = {
            **common,
            "process_id": request.process_id,
            "business_id": request.business_id,
            "tags": msgspec.json.encode(request.tags).decode(),
            "variables": request.variables.decode(),
        }
        job = {
            **common,
            "job": request.job,
            "kind": int(JobKind.FOLLOW_UP),
            "queue": FOLLOW_UP_QUEUE,
            "command": request.command.decode(),
        }
        return [
            Statement(sql=without_comments(SOURCES["request_instance"]), values=instance),
            Statement(sql=without_comments(SOURCES["request_start"]), values=job),
        ]

    def job_request(self, jobs: Sequence[NewJob]) -> list[Statement]:
        """The statement by which a caller's own transaction enqueues."""
        now = self._clock() if self._clock is not None else None
        values: dict[str, object] = {"jobs": requested_jobs(jobs), "now": now}
        return [Statement(sql=without_comments(SOURCES["request_jobs"]), values=values)]

    # -- nodes ----------------------------------------------------------------------------------------------------
    async def register(self, name: str, details: bytes) -> int:
        """Enter a process."""
        return (await self._duties.run("register_node", name=clean_text(name), details=details)).inserted

    async def beat(self, node: int) -> bool:
        """Say that a process lives."""
        return (await self._duties.run("beat", node=node)).count > 0

    async def lead(self, node: int, term_ms: int) -> int:
        """Become or stay leader."""
        answer = await self._duties.run("lead", node=node, term_ms=term_ms)
        return answer.inserted if answer.count else 0

    async def list_nodes(self) -> list[StoredNode]:
        """The processes that work on this database."""
        return [reading.stored_node(row) for row in await self._rest.fetch("list_nodes")]

    # -- hints ----------------------------------------------------------------------------------------------------
    async def announce(self, queues: Sequence[str]) -> None:
        """Nobody can be told: other processes poll."""

    async def listen(self, heard: Callable[[str], None]) -> Callable[[], Awaitable[None]] | None:
        """There are no notifications: other processes' jobs are found by polling."""
        del heard
        return None

    # -- inside ---------------------------------------------------------------------------------------------------
    def _connect(self) -> None:
        """Make the groups; their connections are made when they are first used."""
        self._lanes = Sessions(self.lanes, self._options)
        self._claims = Sessions(1, self._options)
        self._finishes = Sessions(1, self._options)
        self._enqueues = Sessions(1, self._options)
        self._loads = Sessions(1, self._options)
        self._duties = Sessions(2, self._options)
        self._queue = Sessions(2, self._options)
        self._transactions = Transactions(self._options)
        self._rest = Sessions(self._pool_size, self._options)
        self._groups = (
            *(self._lanes, self._claims, self._finishes, self._enqueues, self._loads),
            *(self._duties, self._queue, self._rest),
        )
        self._is_closed = False
