"""PostgreSQL's store: the port's methods, each sent to the group of connections that serves it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from operator import attrgetter
from typing import Final

import msgspec

from procession.errors import InvalidValue, Misconfigured
from procession.ids import FIRST_PARTITION, Keys, key_of
from procession.store._shared.migrations import check_version
from procession.store._shared.queue.checks import check_plain
from procession.store._shared.refusals import check_jobs, check_start_request, clean_text
from procession.store._shared.requests import requested_jobs
from procession.store.port import Clock, StepTransaction
from procession.store.postgres import _reading as reading
from procession.store.postgres._alike import COPIED, due_columns, enqueue_columns, enqueue_copy, is_due
from procession.store.postgres._columns import encode_json, job_columns, refusal_of_json
from procession.store.postgres._commit import commit
from procession.store.postgres._deploying import deploy
from procession.store.postgres._floors import Floors
from procession.store.postgres._forms import Forms
from procession.store.postgres._hints import Announcer, Listener
from procession.store.postgres._keeping import Keeping
from procession.store.postgres._migrating import MIGRATIONS, applied_versions, migrate
from procession.store.postgres._operating import Operating
from procession.store.postgres._publishing import broadcast, publish
from procession.store.postgres._queue import PostgresQueue
from procession.store.postgres._sessions import FREE, HOT, Options, Sessions, Statements
from procession.store.postgres._transactions import Transactions
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
    Row,
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

DEADLINE_S: Final = 15.0
CONNECT_S: Final = 5.0
COMMIT_LANES: Final = 3  # starts, steps and wide steps may be under way at once; more only makes batches smaller
COPY_MIN: Final = 500  # jobs that are alike: so many and more are copied, for a second round trip
_key_of: Final[Callable[[NewJob], int]] = attrgetter("key")
_FINDABLE: Final = ("job", "user_task", "incident", "subscription")


class HistoryCursor(Row):
    """Where a reader of the whole history is: after this transaction and, within it, this position."""

    txid: int = 0
    position: int = 0


class PostgresStore(Forms, Keeping, Operating, PostgresQueue):
    """A PostgreSQL database, 14 or newer. Any number of processes may work on it.

    ``schema`` holds all tables; several schemas in one database are several stores. ``lanes`` commits may be under way
    at once, ``pool_size`` other calls; claims, finishes, announcing and listening have a connection each. Every call
    ends within ``deadline_s``. ``synchronous_commit=False`` answers before the disk has the commit: the last fraction
    of a second may be lost with the machine. ``pgbouncer``: there is a pooler in transaction mode before the database;
    nothing is prepared, nothing is listened to.
    """

    name = "postgres"
    shared = True

    def __init__(
        self,
        url: str,
        *,
        clock: Clock | None = None,
        schema: str = "procession",
        lanes: int = COMMIT_LANES,
        pool_size: int = 4,
        deadline_s: float = DEADLINE_S,
        synchronous_commit: bool = True,
        pgbouncer: bool = False,
    ) -> None:
        if lanes < 1 or pool_size < 1 or deadline_s <= 0:
            raise Misconfigured(
                f"Expected at least one lane, one connection and a deadline, got {lanes=}, {pool_size=}, {deadline_s=}"
            )
        self.lanes = lanes
        self._clock = clock
        self._statements = Statements(schema)
        self._options = Options(
            url=url,
            deadline_s=deadline_s,
            connect_s=min(CONNECT_S, deadline_s),
            pooled=pgbouncer,
            synchronous_commit=synchronous_commit,
        )
        self._pool_size = pool_size
        self._listeners: set[Listener] = set()
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
        """Send the last announcements, then close every connection."""
        if self._is_closed:
            return
        self._is_closed = True
        await self._announcer.close()
        await asyncio.gather(*(listener.stop() for listener in list(self._listeners)))
        await asyncio.gather(*(group.close() for group in self._groups), self._transactions.close())

    async def migrate(self) -> list[str]:
        """Bring the schema to this program's version."""
        if self._is_closed:
            self._connect()
        async with self._rest.lend() as session:
            return await migrate(session, self._statements)

    async def schema_version(self) -> tuple[int, int]:
        """(version in the database, version of this program)."""
        async with self._rest.lend() as session:
            return max(await applied_versions(session), default=0), len(MIGRATIONS)

    async def now(self) -> int:
        """The clock given, or the database's."""
        if self._clock is not None:
            return self._clock()
        return (await self._rest.fetch("now"))[0][0]

    async def take_keys(self, count: int) -> range:
        """A block of keys from the database's counter."""
        if count < 1:
            raise InvalidValue(f"Expected a count of keys of at least 1, got {count}")
        first = key_of(FIRST_PARTITION, (await self._rest.fetch("take_keys", count))[0][0])
        return range(first, first + count)

    # -- definitions ----------------------------------------------------------------------------------------------
    async def deploy(self, deployment: Deployment) -> Deployed:
        """Store resources, all or nothing."""
        return await deploy(self._rest, deployment, self._bound_now())

    async def definitions(self, keys: Sequence[int]) -> list[StoredDefinition]:
        """The definitions with these keys."""
        return [reading.stored_definition(row) for row in await self._rest.fetch("definitions", list(keys))]

    async def find_definition(
        self, process_id: str, *, version: int = 0, version_tag: str = "", deployment: int = 0, tenant: str = ""
    ) -> StoredDefinition | None:
        """The latest version that fits."""
        rows = await self._rest.fetch("find_definition", tenant, process_id, version, version_tag, deployment)
        return reading.stored_definition(rows[0]) if rows else None

    async def list_definitions(self, *, process_id: str = "", tenant: str = "") -> list[StoredDefinition]:
        """All versions, newest first within each process id."""
        rows = await self._rest.fetch("list_definitions", process_id, tenant)
        return [reading.stored_definition(row) for row in rows]

    async def find_decision(
        self, decision_id: str, *, version: int = 0, version_tag: str = "", deployment: int = 0, tenant: str = ""
    ) -> StoredDecision | None:
        """The newest that fits."""
        rows = await self._rest.fetch("find_decision", tenant, decision_id, version, version_tag, deployment)
        return reading.stored_decision(rows[0]) if rows else None

    async def list_decisions(self, *, decision_id: str = "", tenant: str = "") -> list[StoredDecision]:
        """All versions."""
        rows = await self._rest.fetch("list_decisions", decision_id, tenant)
        return [reading.stored_decision(row) for row in rows]

    async def resource(self, key: int) -> bytes | None:
        """The bytes of a deployed file."""
        rows = await self._rest.fetch("resource", key)
        return rows[0][0] if rows else None

    # -- steps ----------------------------------------------------------------------------------------------------
    async def commit(self, steps: Sequence[Step], keys: Keys) -> list[StepResult]:
        """Apply steps of different instances; see _commit.py."""
        return await commit(self._lanes, steps, keys, self._bound_now())

    async def begin(self) -> StepTransaction:
        """A transaction for a handler."""
        return await self._transactions.begin(self._bound_now())

    async def load(self, instances: Sequence[int]) -> list[StoredInstance]:
        """The instances with these keys."""
        rows = await self._loads.fetch("load", sorted(instances)) if instances else []
        return [reading.stored_instance(row) for row in rows]

    async def list_instances(self, which: InstanceFilter) -> list[StoredInstance]:
        """A page, newest first."""
        of_process = (which.process_id, which.definition, which.status, which.business_id, which.parent)
        page = (which.with_incident, which.tag, which.tenant, which.after, which.limit, which.statuses)
        return [reading.stored_instance(row) for row in await self._rest.fetch("list_instances", *of_process, *page)]

    async def count_instances(self, process_id: str = "", *, tenant: str = "") -> dict[int, int]:
        """How many instances there are per status."""
        return {row[0]: row[1] for row in await self._rest.fetch("count_instances", process_id, tenant)}

    async def history(self, instance: int, *, after: int = 0, limit: int = 1000) -> list[HistoryRow]:
        """The committed steps of an instance in order."""
        return [reading.history_row(row) for row in await self._rest.fetch("history", instance, after, limit)]

    async def history_since(self, cursor: HistoryCursor, limit: int) -> tuple[list[HistoryRow], HistoryCursor]:
        """The next steps of all instances, each exactly once, and the cursor after them: for exporters.

        Positions alone do not do: a transaction may draw a low position and commit after a reader has passed it. Rows
        are therefore read in the order of (transaction, position), up to the oldest transaction that still runs, below
        which nothing can be added any more. A transaction left open anywhere in the database holds the reader up; it
        skips nothing.
        """
        rows = await self._duties.fetch("history_since", cursor.txid, cursor.position, limit)
        if rows:
            cursor = HistoryCursor(txid=rows[-1]["transaction"], position=rows[-1]["position"])
        return [reading.history_row(row) for row in rows], cursor

    # -- jobs -----------------------------------------------------------------------------------------------------
    async def enqueue(self, jobs: Sequence[NewJob]) -> None:
        """Insert jobs that belong to no step."""
        if not jobs:
            return
        rows, now = sorted(jobs, key=_key_of), self._bound_now()
        alike = check_jobs(rows)
        if not alike:
            check_plain(rows)
        if b"\\u" in b"".join([job.args for job in rows]) and (why := refusal_of_json(job.args for job in rows)):
            raise InvalidValue(f"{why}, got it in the arguments of a job")
        try:
            if await self._enqueue_alike(rows, now, alike=alike):
                return
        except InvalidValue:  # a value, or a job that is there already: the other statement tells them apart
            pass
        await self._enqueues.fetch("enqueue", now, *job_columns(rows))

    async def _enqueue_alike(self, rows: list[NewJob], now: int | None, *, alike: bool) -> bool:
        """Insert jobs that are alike, if they are. Raises InvalidValue where one of them is there already."""
        if now is None and is_due(rows[0]):
            if alike and len(rows) >= COPY_MIN:
                await self._enqueues.copy("job", COPIED, enqueue_copy(rows))
                return True
            statement, columns = "enqueue_due", due_columns(rows, alike=alike)
        else:
            statement, columns = "enqueue_alike", enqueue_columns(rows, now, alike=alike)
        if columns is None:
            return False
        await self._enqueues.fetch(statement, *columns)
        return True

    async def adjust_jobs(self, changes: Sequence[JobAdjustment]) -> list[bool]:
        """Change jobs where they are."""
        now = self._bound_now()
        answers: list[bool] = []
        for each in changes:
            values = (each.key, each.lease, each.lease_ms, each.retries, each.priority, now)
            answers.append(bool(await self._finishes.fetch("adjust_job", *values)))
        return answers

    async def promote(self, limit: int) -> tuple[list[str], int]:
        """Make due jobs ready."""
        row = (await self._duties.fetch("promote", limit, self._bound_now()))[0]
        return list(row["queues"]), row["next_due"] or 0

    async def list_jobs(self, which: JobFilter) -> list[StoredJob]:
        """A page, oldest first."""
        values = (which.instance, which.state, which.kind, which.queue, which.type, which.tenant)
        rows = await self._rest.fetch("list_jobs", *values, which.after, which.limit)
        return [reading.stored_job(row) for row in rows]

    async def count_jobs(self, *, tenant: str = "") -> dict[tuple[str, int], int]:
        """How many jobs there are per (queue, state)."""
        return {(row[0], row[1]): row[2] for row in await self._rest.fetch("count_jobs", tenant)}

    # -- what waits -----------------------------------------------------------------------------------------------
    async def publish(self, messages: Sequence[NewMessage], keys: Keys) -> list[PublishResult]:
        """Correlate or buffer messages; see _publishing.py."""
        return await publish(self._duties, messages, keys, self._bound_now())

    async def broadcast(
        self, name: str, variables: bytes, keys: Keys, *, tenant: str = "", closes: JobFence | None = None
    ) -> list[int]:
        """Give a signal to everything that waits for it."""
        return await broadcast(self._duties, name, variables, keys, tenant, self._bound_now(), closes)

    async def expire_messages(self, limit: int) -> int:
        """Delete buffered messages whose time to live is over."""
        return len(await self._duties.fetch("expire_messages", limit, self._bound_now()))

    async def list_messages(self, *, name: str = "", tenant: str = "", limit: int = 100) -> list[StoredMessage]:
        """Buffered messages, oldest first."""
        rows = await self._rest.fetch("list_messages", name, tenant, limit, self._bound_now())
        return [reading.stored_message(row) for row in rows]

    async def list_subscriptions(
        self, *, instance: int = 0, name: str = "", tenant: str = "", after: int = 0, limit: int = 1000
    ) -> list[StoredSubscription]:
        """Open subscriptions, those of start events included."""
        rows = await self._rest.fetch("list_subscriptions", instance, name, tenant, after, limit)
        return [reading.stored_subscription(row) for row in rows]

    async def list_incidents(
        self, *, instance: int = 0, process_id: str = "", tenant: str = "", after: int = 0, limit: int = 100
    ) -> list[StoredIncident]:
        """Open incidents, oldest first."""
        rows = await self._rest.fetch("list_incidents", instance, process_id, tenant, after, limit)
        return [reading.stored_incident(row) for row in rows]

    async def list_user_tasks(self, which: UserTaskFilter) -> list[StoredUserTask]:
        """Open user tasks, oldest first."""
        rows = await self._rest.fetch("list_user_tasks", *msgspec.structs.astuple(which))
        return [reading.stored_user_task(row) for row in rows]

    async def find(self, kind: str, key: int) -> int:
        """The instance that a key belongs to."""
        if kind not in _FINDABLE:
            raise InvalidValue(f"Expected a kind of {', '.join(_FINDABLE)}, got {kind!r}")
        rows = await self._rest.fetch(f"find_{kind}", key)
        return (rows[0][0] or 0) if rows else 0

    def start_request(self, request: StartRequest) -> list[Statement]:
        """The statements by which a caller's own transaction asks for an instance."""
        check_start_request(request)
        if why := refusal_of_json((request.variables, request.command)):
            raise InvalidValue(f"{why}, got it in the variables of a new instance of {request.process_id!r}")
        common: dict[str, object] = {
            "instance": request.instance,
            "definition": request.definition,
            "tenant": request.tenant,
            "now": self._bound_now(),
        }
        instance = {
            **common,
            "process_id": request.process_id,
            "business_id": request.business_id,
            "tags": encode_json(request.tags).decode(),
            "variables": request.variables.decode(),
        }
        job = {**common, "job": request.job, "command": request.command.decode()}
        return [
            Statement(sql=_without_comments(self._statements["start_request_instance"]), values=instance),
            Statement(sql=_without_comments(self._statements["start_request_job"]), values=job),
        ]

    def job_request(self, jobs: Sequence[NewJob]) -> list[Statement]:
        """The statement by which a caller's own transaction enqueues."""
        values: dict[str, object] = {"jobs": requested_jobs(jobs), "now": self._bound_now()}
        if why := refusal_of_json(job.args for job in jobs):
            raise InvalidValue(f"{why}, got it in the arguments of a job")
        return [Statement(sql=_without_comments(self._statements["request_jobs"]), values=values)]

    # -- nodes ----------------------------------------------------------------------------------------------------
    async def register(self, name: str, details: bytes) -> int:
        """Enter a process."""
        return (await self._duties.fetch("register", clean_text(name), details, self._bound_now()))[0][0]

    async def beat(self, node: int) -> bool:
        """Say that a process lives."""
        return bool(await self._duties.fetch("beat", node, self._bound_now()))

    async def lead(self, node: int, term_ms: int) -> int:
        """Become or stay leader."""
        rows = await self._duties.fetch("lead", node, term_ms, self._bound_now())
        return rows[0][0] if rows else 0

    async def list_nodes(self) -> list[StoredNode]:
        """The processes that work on this database."""
        return [reading.stored_node(row) for row in await self._rest.fetch("list_nodes")]

    # -- hints ----------------------------------------------------------------------------------------------------
    async def announce(self, queues: Sequence[str]) -> None:
        """Tell other processes; sent by a task of its own, see _hints.py."""
        self._announcer.announce(queues)

    async def listen(self, heard: Callable[[str], None]) -> Callable[[], Awaitable[None]] | None:
        """Hear announcements, or None behind a pooler."""
        if self._options.pooled:
            return None
        listener = Listener(self._hints, self._channel, heard)
        stop_listener = await listener.start()
        self._listeners.add(listener)

        async def stop() -> None:
            self._listeners.discard(listener)
            await stop_listener()

        return stop

    # -- inside ---------------------------------------------------------------------------------------------------
    def _connect(self) -> None:
        """Make the groups; their connections are made when they are first used."""
        hot, free = HOT, FREE
        self._lanes = self._group(self.lanes, hot)
        self._claims = self._group(1, hot)
        self._finishes = self._group(1, hot)
        self._enqueues = self._group(1, hot)
        self._loads = self._group(1, hot)
        self._duties = self._group(2, hot)
        self._queue = self._group(2, hot)
        self._floors = Floors(may_be_used=self._clock is None)  # a clock turned by hand wants what is ready at once
        self._rest = self._group(self._pool_size, free)
        self._hints = self._group(1, {"synchronous_commit": "off"})  # NOTIFY alone would wait for the disk
        self._groups = (
            *(self._lanes, self._claims, self._finishes, self._enqueues, self._loads),
            *(self._duties, self._queue, self._rest, self._hints),
        )
        self._transactions = Transactions(self._options, self._statements)
        self._channel = f"{self._statements.schema}_ready"
        self._announcer = Announcer(self._hints, self._channel)
        self._is_closed = False

    def _group(self, size: int, settings: dict[str, str]) -> Sessions:
        return Sessions(size, settings, self._options, self._statements)

    def _bound_now(self) -> int | None:
        """The instant to bind: none in production, where the database's own clock counts."""
        return self._clock() if self._clock is not None else None


def _without_comments(sql: str) -> str:
    return "\n".join(line for line in sql.splitlines() if not line.startswith("--"))
