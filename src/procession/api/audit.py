"""Who changed what, when, and what it was before and after: written with the change, searchable, never changed.

Entries of requests that end together go in one transaction. What an instance tells of itself is not repeated.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple, cast

import msgspec
from msgspec import UNSET

from procession.api.audit_tenants import Tenants, may_read, tenants_of
from procession.api.endpoints import Call, Endpoint
from procession.api.roles import Role, tenant_id_of
from procession.api.search import Date, Found, Record, Request, Rows, Search, Source, Text, search
from procession.api.words import instance_state, key_of
from procession.app import Procession
from procession.errors import InvalidValue, NotFound, ProcessionError
from procession.jobs.schedule import to_datetime
from procession.store.rows.keeping import Kept

logger = logging.getLogger("procession.api")

KIND = "audit"
TASK = "USER_TASK"  # the entity of entries about user tasks
TEXT_CHARS_MAX = 2_000
VALUES = frozenset({"variables", "args"})  # of these only the names are written down


class Entry(msgspec.Struct, kw_only=True, rename="camel"):
    """One change, or the attempt."""

    actor: str
    actor_type: str  # how the principal was recognised
    operation: str
    entity: str
    result: str  # SUCCESS | FAIL
    path: dict[str, str] = {}
    request: Any = None  # without the values of variables
    about: dict[str, Any] = {}
    before: Any = None
    after: Any = None
    error: str = ""
    tenants: list[str] | None = None  # whose what was changed is; None: not known, or of all


class Before(NamedTuple):
    """What was known before a change."""

    state: Any
    tenants: Tenants


class AuditLog(Record):
    """An entry as clients see it."""

    audit_log_key: str
    timestamp: datetime
    actor_id: str
    actor_type: str
    entity_type: str
    entity_key: str
    operation_type: str
    result: str
    process_instance_key: str | None
    details: Any
    before: Any
    after: Any
    error_message: str | None
    tenant_id: str | None


class AuditFilter(Request):
    """Which entries."""

    audit_log_key: Text = UNSET
    timestamp: Date = UNSET
    actor_id: Text = UNSET
    actor_type: Text = UNSET
    entity_type: Text = UNSET
    entity_key: Text = UNSET
    operation_type: Text = UNSET
    result: Text = UNSET
    process_instance_key: Text = UNSET
    tenant_id: Text = UNSET


class TaskAuditFilter(Request):
    """Which entries of a user task."""

    operation_type: Text = UNSET
    result: Text = UNSET
    timestamp: Date = UNSET
    actor_type: Text = UNSET
    actor_id: Text = UNSET


class Auditor:
    """Writes entries."""

    def __init__(self, app: Procession, *, jobs: bool) -> None:
        self._app = app
        self._jobs = jobs
        self._gathered: list[tuple[Entry, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None
        self.lost = 0

    def concerns(self, endpoint: Endpoint) -> bool:
        """Whether a request is a change that is written down."""
        return bool(endpoint.entity) and (self._jobs or endpoint.entity != "JOB")

    async def before(self, call: Call, endpoint: Endpoint) -> Before:
        """What is about to be changed, where that is an instance, and whose it is."""
        state = await self._seen(call) if endpoint.entity == "PROCESS_INSTANCE" else None
        return Before(state, await tenants_of(call, endpoint))

    async def write(self, call: Call, endpoint: Endpoint, found: Before, error: BaseException | None) -> None:
        """Write down a change, or that it was refused; it is durable when this returns."""
        about = dict(call.about)
        after = about.pop("after", None)
        before = about.pop("before", found.state)
        tenant = about.pop("tenant", None)
        if error is None and endpoint.entity == "PROCESS_INSTANCE" and after is None:
            after = await self._seen(call)
        entry = Entry(
            actor=call.who.name,
            actor_type=call.who.how,
            operation=endpoint.operation_id,
            entity=endpoint.entity,
            result="SUCCESS" if error is None else "FAIL",
            path=dict(call.path),
            request=_without_values(call.body),
            about=about,
            before=before,
            after=after,
            error=str(error)[:TEXT_CHARS_MAX] if error is not None else "",
            tenants=found.tenants if tenant is None else [tenant],
        )
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._gathered.append((entry, done))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.get_running_loop().create_task(self._flush(), name="procession audit")
        await done

    async def _seen(self, call: Call) -> Any:  # noqa: ANN401 - whatever describes it
        key = call.path.get("processInstanceKey", "")
        rows = await self._app.rows.load([key_of(key, "processInstanceKey")]) if key else []
        if not rows or not call.who.sees(rows[0].tenant):
            return None
        return {"state": instance_state(rows[0].status), "processDefinitionKey": str(rows[0].definition)}

    async def _flush(self) -> None:
        """Write whatever has gathered, until nothing has."""
        while self._gathered:
            batch, self._gathered = self._gathered, []
            entries = [entry for entry, _ in batch]
            try:
                await self._keep(entries)
            except InvalidValue:  # one that cannot be stored takes no other with it
                for entry in entries:
                    await self._keep_alone(entry)
            except ProcessionError as error:
                self._lose(entries, error)
            for _, done in batch:
                if not done.done():
                    done.set_result(None)

    async def _keep(self, entries: Sequence[Entry]) -> None:
        """Write entries together. Raises InvalidValue, Unavailable."""
        rows = [
            Kept(
                kind=KIND,
                key=await self._app.new_key(),
                name=_storable(entry.actor),
                tenant=_storable(entry.tenants[0]) if entry.tenants is not None and len(entry.tenants) == 1 else "",
                body=msgspec.json.encode(entry),
            )
            for entry in entries
        ]
        await self._app.rows.keep(rows)

    async def _keep_alone(self, entry: Entry) -> None:
        try:
            await self._keep([entry])
        except ProcessionError as error:
            self._lose([entry], error)

    def _lose(self, entries: Sequence[Entry], error: ProcessionError) -> None:
        """Entries that are nowhere but in the log of the program."""
        self.lost += len(entries)
        logger.error("%d entries of the audit log could not be written: %s", len(entries), error)
        for entry in entries:
            logger.error("audit: %s", msgspec.json.encode(entry).decode())


def _storable(name: str) -> str:
    """A name as a column holds it: PostgreSQL's texts have no NUL. The entry itself has it whole."""
    return name[:255].replace("\0", "\N{SYMBOL FOR NULL}")


def _without_values(value: Any) -> Any:  # noqa: ANN401 - a decoded request
    """A request as it is written down: of variables only the names, of texts only the beginning."""
    if isinstance(value, msgspec.Struct):
        value = msgspec.to_builtins(value)
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {name: _names(each) if name in VALUES else _without_values(each) for name, each in fields.items()}
    if isinstance(value, list):
        return [_without_values(each) for each in cast("list[Any]", value)[:100]]
    return value[:TEXT_CHARS_MAX] if isinstance(value, str) else value


def _names(variables: Any) -> Any:  # noqa: ANN401 - what a request calls variables
    if isinstance(variables, list):  # the arguments of many jobs
        return [_names(each) for each in cast("list[Any]", variables)[:100]]
    return sorted(map(str, cast("dict[Any, Any]", variables)))[:1_000] if isinstance(variables, dict) else None


def record_of(row: Kept) -> AuditLog:
    """As clients see it."""
    entry = msgspec.json.decode(row.body, type=Entry)
    instance = entry.path.get("processInstanceKey") or entry.about.get("process_instance_key")
    return AuditLog(
        audit_log_key=str(row.key),
        timestamp=to_datetime(row.created_at),
        actor_id=entry.actor,
        actor_type=entry.actor_type,
        entity_type=entry.entity,
        entity_key=next(iter(entry.path.values()), ""),
        operation_type=entry.operation,
        result=entry.result,
        process_instance_key=str(instance) if instance else None,
        details={"request": entry.request, **entry.about},
        before=entry.before,
        after=entry.after,
        error_message=entry.error or None,
        tenant_id=tenant_id_of(entry.tenants[0]) if entry.tenants is not None and len(entry.tenants) == 1 else None,
    )


def _read(call: Call, rows: list[Kept]) -> list[AuditLog]:
    """The entries that somebody may read."""
    bound = call.who.tenants
    if bound is None:
        return [record_of(row) for row in rows]
    return [record_of(row) for row in rows if may_read(bound, _whose(row.body).tenants)]


class _Whose(msgspec.Struct):
    """Of an entry only whose it is."""

    tenants: list[str] | None = None


_whose = msgspec.json.Decoder(_Whose).decode


async def search_audit(call: Call) -> Found[AuditLog]:
    """Entries, the newest first unless sorted; whoever is bound to tenants reads what was done in them alone."""
    query: Search[AuditFilter] = call.body
    actor = query.filter.actor_id if query.filter is not None else UNSET

    async def fetch(after: int, limit: int) -> Rows:
        name = actor if isinstance(actor, str) else ""
        rows = await call.desk.rows.kept(KIND, name=name, after=after, newest=True, limit=limit)
        return Rows(_read(call, rows), rows[-1].key if len(rows) == limit else 0)

    return await search(query, Source(fetch, "audit_log_key"), AuditLog)


async def search_task_audit(call: Call) -> Found[AuditLog]:
    """What was done to one user task, the newest first unless sorted; tasks that are over have theirs, too."""
    task = str(key_of(call.path["userTaskKey"], "userTaskKey"))

    async def fetch(after: int, limit: int) -> Rows:
        rows = await call.desk.rows.kept(KIND, after=after, newest=True, limit=limit)
        found = [entry for entry in _read(call, rows) if (entry.entity_type, entry.entity_key) == (TASK, task)]
        return Rows(found, rows[-1].key if len(rows) == limit else 0)

    return await search(call.body, Source(fetch, "audit_log_key"), AuditLog)


async def get_audit(call: Call) -> AuditLog:
    """One entry."""
    key = key_of(call.path["auditLogKey"], "auditLogKey")
    found = _read(call, await call.desk.rows.kept(KIND, key=key))
    if not found:
        raise NotFound(f"Expected an entry of the audit log with key {key}, found none")
    return found[0]


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/audit-logs/search",
        operation_id="searchAuditLogs",
        verb=search_audit,
        role=Role.ADMIN,
        summary="Search who changed what",
        group="Audit log",
        body=Search[AuditFilter],
        optional=True,
        answer=Found[AuditLog],
    ),
    Endpoint(
        method="GET",
        path="/audit-logs/{auditLogKey}",
        operation_id="getAuditLog",
        verb=get_audit,
        role=Role.ADMIN,
        summary="One change",
        group="Audit log",
        answer=AuditLog,
    ),
    Endpoint(
        method="POST",
        path="/user-tasks/{userTaskKey}/audit-logs/search",
        operation_id="searchUserTaskAuditLogs",
        verb=search_task_audit,
        role=Role.ADMIN,
        summary="Search who changed a user task",
        group="Audit log",
        body=Search[TaskAuditFilter],
        optional=True,
        answer=Found[AuditLog],
    ),
)
