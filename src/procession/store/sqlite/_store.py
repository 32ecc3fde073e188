"""The SQLite store's face: each call goes to the thread that does it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from procession.errors import Misconfigured, Unavailable
from procession.ids import Keys
from procession.jobs.kinds import FOLLOW_UP_QUEUE, JobKind
from procession.store._shared.migrations import check_version
from procession.store._shared.queue.checks import check_plain
from procession.store._shared.refusals import (
    check_jobs,
    check_messages,
    check_start_request,
    check_text,
    check_variables,
)
from procession.store._shared.requests import requested_jobs
from procession.store.port import Clock, StepTransaction
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
from procession.store.sqlite import _connection, _decisions, _definitions, _jobs, _listings, _messages, _nodes, _schema
from procession.store.sqlite._forms import Forms
from procession.store.sqlite._keeping import Keeping
from procession.store.sqlite._operating import Operating
from procession.store.sqlite._queue import SqliteQueue
from procession.store.sqlite._session import STATEMENTS, as_json
from procession.store.sqlite._steps import commit_steps
from procession.store.sqlite._threads import EachWork, Reader, Work, Writer
from procession.store.sqlite._transactions import SqliteTransaction

_DEADLINE_MS = 15_000


def _wall_clock() -> int:
    return time.time_ns() // 1_000_000


class SqliteStore(Forms, Keeping, Operating, SqliteQueue):
    """A database file.

    ``synchronous`` says what a commit promises. NORMAL: it survives the end of every process, however sudden; if the
    machine itself stops (power, kernel) the last commits may be gone, but the file is never damaged and never holds a
    part of a commit. FULL: it survives that too, at the price of a flush to the disk for every group of commits.
    """

    name = "sqlite"
    lanes = 1
    shared = True

    def __init__(
        self,
        path: str | Path,
        *,
        clock: Clock | None = None,
        synchronous: _connection.Synchronous = "NORMAL",
        deadline_ms: int = _DEADLINE_MS,
    ) -> None:
        if not str(path).strip() or ":memory:" in str(path):
            raise Misconfigured(
                f"Expected the path of a file for SQLite, got {str(path)!r}: for a store in memory use memory://"
            )
        if synchronous not in ("NORMAL", "FULL"):
            raise Misconfigured(f"Expected synchronous NORMAL or FULL, got {synchronous!r}")
        if deadline_ms <= 0:
            raise Misconfigured(f"Expected a deadline above 0 ms, got {deadline_ms}")
        _connection.check_version()
        self._path = Path(path)
        self._clock = clock or _wall_clock
        self._synchronous: _connection.Synchronous = synchronous
        self._deadline_ms = deadline_ms
        self._writer: Writer | None = None
        self._reader: Reader | None = None
        self._turn = asyncio.Lock()  # of handlers' transactions

    # -- life -----------------------------------------------------------------------------------------------------
    async def open(self) -> None:
        """Check the schema and start the threads."""
        if self._writer is not None:
            return
        check_version(*await self.schema_version())
        options = (self._path, self._synchronous, self._clock, self._deadline_ms)
        self._writer = Writer(*options, "procession-sqlite-writer")
        self._reader = Reader(*options, "procession-sqlite-reader")

    async def close(self) -> None:
        """Commit what has gathered and end the threads."""
        writer, reader = self._writer, self._reader
        self._writer = self._reader = None
        if writer is not None and reader is not None:
            await asyncio.to_thread(reader.close)
            await asyncio.to_thread(writer.close)

    async def migrate(self) -> list[str]:
        """Bring the file to this program's version; the file is made if it is not there."""
        return await asyncio.to_thread(_schema.migrate, self._path, self._synchronous, self._clock())

    async def schema_version(self) -> tuple[int, int]:
        """(in the file, in this program)."""
        return await asyncio.to_thread(_schema.read_version, self._path), len(_schema.MIGRATIONS)

    async def now(self) -> int:
        """The clock given, or the machine's: all processes on a file are on one machine."""
        return self._clock()

    async def take_keys(self, count: int) -> range:
        """A block of keys."""
        return await self._write(lambda session: session.take_keys(count))

    async def _write(self, work: Work) -> Any:  # noqa: ANN401 - whatever the work answers
        if self._writer is None:
            raise self._closed()
        return await self._writer.do(work)

    async def _write_each(self, each: EachWork, items: Sequence[Any]) -> list[Any]:
        if self._writer is None:
            raise self._closed()
        return await self._writer.do_each(each, items) if items else []

    async def _read(self, work: Work) -> Any:  # noqa: ANN401 - whatever the work answers
        if self._reader is None:
            raise self._closed()
        return await self._reader.do(work)

    def _closed(self) -> Unavailable:
        return Unavailable(f"The store on {self._path} is not open")

    # -- definitions ----------------------------------------------------------------------------------------------
    async def deploy(self, deployment: Deployment) -> Deployed:
        """Store what is new."""
        return await self._write(partial(_definitions.deploy_resources, deployment=deployment))

    async def definitions(self, keys: Sequence[int]) -> list[StoredDefinition]:
        """By key."""
        return await self._read(partial(_definitions.load_definitions, keys=list(keys)))

    async def find_definition(
        self, process_id: str, *, version: int = 0, version_tag: str = "", deployment: int = 0, tenant: str = ""
    ) -> StoredDefinition | None:
        """The newest that fits."""
        which = {
            "process_id": process_id,
            "version": version,
            "version_tag": version_tag,
            "deployment": deployment,
            "tenant": tenant,
        }
        rows = await self._read(lambda session: session.rows("find_definition", **which))
        return _definitions.read_definition(rows[0]) if rows else None

    async def list_definitions(self, *, process_id: str = "", tenant: str = "") -> list[StoredDefinition]:
        """All versions."""
        rows = await self._read(lambda session: session.rows("list_definitions", process_id=process_id, tenant=tenant))
        return [_definitions.read_definition(row) for row in rows]

    async def find_decision(
        self, decision_id: str, *, version: int = 0, version_tag: str = "", deployment: int = 0, tenant: str = ""
    ) -> StoredDecision | None:
        """The newest that fits."""
        which = {
            "decision_id": decision_id,
            "version": version,
            "version_tag": version_tag,
            "deployment": deployment,
            "tenant": tenant,
        }
        rows = await self._read(lambda session: session.rows("find_decision", **which))
        return _decisions.read_decision(rows[0]) if rows else None

    async def list_decisions(self, *, decision_id: str = "", tenant: str = "") -> list[StoredDecision]:
        """All versions."""
        which = {"decision_id": decision_id, "tenant": tenant}
        rows = await self._read(lambda session: session.rows("list_decisions", **which))
        return [_decisions.read_decision(row) for row in rows]

    async def resource(self, key: int) -> bytes | None:
        """The bytes of a deployed file."""
        return await self._read(lambda session: session.value("find_resource", key=key))

    # -- steps ----------------------------------------------------------------------------------------------------
    async def commit(self, steps: Sequence[Step], keys: Keys) -> list[StepResult]:
        """Apply steps, together with those of other callers. Follow-up keys are the store's own."""
        del keys
        return await self._write_each(commit_steps, steps)

    async def begin(self) -> StepTransaction:
        """A transaction for a handler; nothing else is written until it ends."""
        options = (self._path, self._synchronous, self._clock, self._deadline_ms / 1_000)
        begun = SqliteTransaction(*options, self._turn)
        await begun.begin()
        return begun

    async def load(self, instances: Sequence[int]) -> list[StoredInstance]:
        """By key."""
        return await self._read(partial(_listings.load_instances, keys=list(instances))) if instances else []

    async def list_instances(self, which: InstanceFilter) -> list[StoredInstance]:
        """A page, newest first."""
        return await self._read(partial(_listings.list_instances, which=which))

    async def count_instances(self, process_id: str = "", *, tenant: str = "") -> dict[int, int]:
        """Per status."""
        return await self._read(partial(_listings.count_instances, process_id=process_id, tenant=tenant))

    async def history(self, instance: int, *, after: int = 0, limit: int = 1000) -> list[HistoryRow]:
        """The committed steps of an instance."""
        return await self._read(partial(_listings.list_history, instance=instance, after=after, limit=limit))

    # -- jobs -----------------------------------------------------------------------------------------------------
    async def enqueue(self, jobs: Sequence[NewJob]) -> None:
        """Insert those that are not there yet."""
        if check_jobs(jobs) and _jobs.is_plain(jobs[0]):
            await self._write_each(_jobs.enqueue_bulks, [jobs])
            return
        check_plain(jobs)
        await self._write_each(_jobs.enqueue_jobs, jobs)

    async def claim(self, node: int, wants: Sequence[Want]) -> Claimed:
        """Lease ready jobs."""
        return await self._write(partial(_jobs.claim_jobs, node=node, wants=wants))

    async def finish(self, outcomes: Sequence[JobOutcome]) -> list[bool]:
        """End runs under their leases."""
        return await self._write_each(_jobs.finish_jobs, outcomes)

    async def adjust_jobs(self, changes: Sequence[JobAdjustment]) -> list[bool]:
        """Change jobs where they are."""
        return await self._write_each(_jobs.adjust_jobs, changes)

    async def promote(self, limit: int) -> tuple[list[str], int]:
        """Make due jobs ready."""
        return await self._write(partial(_jobs.promote_jobs, limit=limit))

    async def list_jobs(self, which: JobFilter) -> list[StoredJob]:
        """A page, oldest first."""
        return await self._read(partial(_listings.list_jobs, which=which))

    async def count_jobs(self, *, tenant: str = "") -> dict[tuple[str, int], int]:
        """Per queue and state."""
        return await self._read(partial(_listings.count_jobs, tenant=tenant))

    # -- what waits -----------------------------------------------------------------------------------------------
    async def publish(self, messages: Sequence[NewMessage], keys: Keys) -> list[PublishResult]:
        """Correlate or buffer."""
        del keys
        check_messages(messages)
        return await self._write_each(_messages.publish_messages, messages)

    async def broadcast(
        self, name: str, variables: bytes, keys: Keys, *, tenant: str = "", closes: JobFence | None = None
    ) -> list[int]:
        """To everyone who waits."""
        del keys
        check_text(name, "name")
        check_variables(variables)
        return await self._write(
            partial(_messages.broadcast_signal, name=name, variables=variables, tenant=tenant, closes=closes)
        )

    async def expire_messages(self, limit: int) -> int:
        """Delete what is over."""
        return await self._write(lambda session: session.run("expire_messages", now=session.now, limit=limit).rowcount)

    async def list_messages(self, *, name: str = "", tenant: str = "", limit: int = 100) -> list[StoredMessage]:
        """Buffered messages, oldest first."""
        which: dict[str, object] = {"name": name, "tenant": tenant, "limit": limit}
        rows = await self._read(lambda session: session.rows("list_messages", **which, now=session.now))
        return [_messages.read_message(row) for row in rows]

    async def list_subscriptions(
        self, *, instance: int = 0, name: str = "", tenant: str = "", after: int = 0, limit: int = 1000
    ) -> list[StoredSubscription]:
        """What waits, by key."""
        statement = "list_subscriptions_of_instance" if instance else "list_subscriptions"
        which: dict[str, object] = {"name": name, "tenant": tenant, "after": after, "limit": limit}
        if instance:
            which["instance"] = instance
        rows = await self._read(lambda session: session.rows(statement, **which))
        return [_messages.read_subscription(row) for row in rows]

    async def list_incidents(
        self, *, instance: int = 0, process_id: str = "", tenant: str = "", after: int = 0, limit: int = 100
    ) -> list[StoredIncident]:
        """Open incidents, oldest first."""
        which: dict[str, object] = {"instance": instance, "process_id": process_id, "tenant": tenant}
        return await self._read(partial(_listings.list_incidents, which={**which, "after": after, "limit": limit}))

    async def list_user_tasks(self, which: UserTaskFilter) -> list[StoredUserTask]:
        """Open user tasks, oldest first."""
        return await self._read(partial(_listings.list_user_tasks, which=which))

    async def find(self, kind: str, key: int) -> int:
        """The instance that a key belongs to."""
        return await self._read(partial(_listings.find_instance, kind=kind, key=key))

    def start_request(self, request: StartRequest) -> list[Statement]:
        """For a ``sqlite3`` connection to the same file."""
        check_start_request(request)
        now = self._clock()
        instance: dict[str, object] = {
            "instance": request.instance,
            "definition": request.definition,
            "now": now,
            "process_id": request.process_id,
            "business_id": request.business_id,
            "tenant": request.tenant,
            "tags": as_json(request.tags),
            "variables": request.variables.decode(),
        }
        job: dict[str, object] = {
            "job": request.job,
            "kind": int(JobKind.FOLLOW_UP),
            "now": now,
            "instance": request.instance,
            "definition": request.definition,
            "queue": FOLLOW_UP_QUEUE,
            "tenant": request.tenant,
            "command": request.command.decode(),
        }
        return [
            Statement(sql=STATEMENTS["request_instance"], values=instance),
            Statement(sql=STATEMENTS["request_start"], values=job),
        ]

    def job_request(self, jobs: Sequence[NewJob]) -> list[Statement]:
        """For a ``sqlite3`` connection to the same file."""
        values: dict[str, object] = {"jobs": requested_jobs(jobs), "now": self._clock()}
        return [Statement(sql=STATEMENTS["request_jobs"], values=values)]

    # -- nodes ----------------------------------------------------------------------------------------------------
    async def register(self, name: str, details: bytes) -> int:
        """Enter a process."""
        return await self._write(partial(_nodes.register, name=name, details=details))

    async def beat(self, node: int) -> bool:
        """Say that a process lives."""
        return await self._write(partial(_nodes.beat, node=node))

    async def leave(self, node: int) -> None:
        """A process stops."""
        await self._write(partial(_nodes.leave, node=node))

    async def lead(self, node: int, term_ms: int) -> int:
        """Become or stay leader."""
        return await self._write(partial(_nodes.lead, node=node, term_ms=term_ms))

    async def rescue(self, dead_after_ms: int, limit: int, *, crash_budget: int, backoff_ms: int) -> Rescue:
        """Give back the jobs of the dead."""
        return await self._write(
            partial(
                _jobs.rescue_jobs,
                dead_after_ms=dead_after_ms,
                limit=limit,
                crash_budget=crash_budget,
                backoff_ms=backoff_ms,
            )
        )

    async def list_nodes(self) -> list[StoredNode]:
        """The processes that work on this file."""
        return await self._read(_listings.list_nodes)

    # -- hints ----------------------------------------------------------------------------------------------------
    async def announce(self, queues: Sequence[str]) -> None:
        """Nobody can be told: other processes poll."""

    async def listen(self, heard: Callable[[str], None]) -> Callable[[], Awaitable[None]] | None:
        """SQLite has no notifications: other processes' jobs are found by polling."""
        del heard
        return None
