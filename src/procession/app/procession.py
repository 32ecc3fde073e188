"""The object that users hold: handlers are registered on it, processes deployed, instances started and looked at.

    app = Procession("sqlite:///orders.db")

    @app.job("charge-card", retries=5)
    async def charge_card(order_id: str, amount: float) -> dict: ...

    async with app:
        await app.deploy("order.bpmn")
        key = await app.start("order", {"orderId": "A-17", "amount": 12.5}, business_id="A-17")
        await app.wait(key)

It translates between users' words and the engine's; it decides nothing about a process itself. Every method may raise
``Unavailable`` (try again); the other errors stand in its docstring.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Literal, Self

import msgspec

from procession.app.connections import Connection, execute
from procession.app.deployments import File, read_files
from procession.app.operations import Operations
from procession.app.sync import SyncProcession
from procession.app.views import Deployment, ProcessInstance, Published
from procession.app.wiring import redacted, store_factory
from procession.core.commands import (
    Cancel,
    CompleteUserTask,
    ResolveIncident,
    Send,
    SetVariables,
    StartInstance,
    UpdateUserTask,
)
from procession.engine import Counters, Engine, History, Settings
from procession.engine.values import encode_json, plain_variables
from procession.errors import Conflict, InvalidValue, Misconfigured
from procession.jobs.kinds import FOLLOW_UP_QUEUE
from procession.jobs.schedule import duration_ms
from procession.limits import MESSAGE_TTL_MS_MAX
from procession.store.port import Clock, Store
from procession.store.rows import StartRequest, Statement
from procession.worker import LocalDispatcher, Registry, WorkerSettings

HINTS_S = (0.002, 0.01, 0.05, 0.25)  # after a start in a caller's transaction: when its commit is looked for
HistoryLevel = Literal["off", "activity", "full"]


class Procession(Operations):
    """A database, this process' handlers, and the verbs.

    ``url`` is described in ``app/wiring.py``. ``history`` says how much of each step is kept: ``off``, ``activity``
    (variables by name only) or ``full``. ``strict``: a warning of an expression, which otherwise gives null and a line
    in the history, is an incident. ``name`` is what other processes see of this one. ``method`` and ``job`` are
    the decorators of ``worker.Registry``; what is registered when it opens gets its slots. Raises Misconfigured for a
    URL or option that cannot be used.
    """

    def __init__(
        self,
        url: str,
        *,
        history: HistoryLevel | None = None,
        strict: bool | None = None,
        name: str = "",
        tenant_id: str = "",
        settings: Settings | None = None,
        slots: WorkerSettings | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.url = redacted(url)
        self._factory = store_factory(url, clock=clock)
        self._clock = clock
        self._settings = _with_options(settings or Settings(), history, strict=strict)
        self._name = name or f"{socket.gethostname()}-{os.getpid()}"
        self._tenant = tenant_id
        self._opened: Engine | None = None
        self._sync: SyncProcession | None = None
        self._may_migrate = url.startswith(("memory:", "sqlite:"))
        self._slots = slots or WorkerSettings()
        self.handlers = Registry()
        self.method = self.handlers.method
        self.job = self.handlers.job

    # -- life -----------------------------------------------------------------------------------------------------
    async def open(self, *, run_workers: bool = True, migrate: bool | None = None) -> Self:
        """Connect, and run handlers, timers and follow-ups in the background (``run_workers``).

        Without ``run_workers`` it gives commands and looks; what these leave to be done is announced to others.
        ``migrate``: bring the schema up to date first. By default that happens for SQLite and memory only; for other
        databases use ``procession db migrate``. Raises SchemaMismatch when the schema is not this program's.
        """
        if self._opened is not None:
            message = "This Procession is open already: one object is one engine; close it first"
            raise Conflict(message)
        store = self._factory()
        try:
            if self._may_migrate if migrate is None else migrate:
                await store.migrate()
            await store.open()
            self._opened = self._make_engine(store)
            await (self._opened.start() if run_workers else self._opened.open(works=False))
        except BaseException:
            self._opened = None
            await store.close()
            raise
        return self

    def use(self, url: str) -> Self:
        """Work on another database than the one it was made with. Raises Misconfigured, Conflict when it is open."""
        if self._opened is not None:
            message = f"Expected it to be closed to change its database, found it open on {self.url}"
            raise Conflict(message)
        self._factory = store_factory(url, clock=self._clock)
        self.url = redacted(url)
        self._may_migrate = url.startswith(("memory:", "sqlite:"))
        return self

    async def close(self) -> None:
        """Stop gracefully: claim no more, let running work end, return what has not started. Safe to call twice."""
        engine, self._opened = self._opened, None
        if engine is None:
            return
        try:
            await engine.stop()
        finally:
            await engine.store.close()

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

    async def run(self) -> None:
        """Open, work until SIGINT or SIGTERM (or cancellation), and stop gracefully."""
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
        try:
            async with self:
                await stop.wait()
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)

    async def run_until_idle(self) -> None:
        """Do everything that is due now and return: for tests, with ``open(run_workers=False)`` and their own clock."""
        await self._engine.run_until_idle()

    @property
    def sync(self) -> SyncProcession:
        """The synchronous face, with an event loop in a thread of its own. It runs no handlers; one per application."""
        if self._sync is None:
            self._sync = SyncProcession(self)
        return self._sync

    @property
    def node(self) -> int:
        """The number of this process among ``nodes()``; 0 when it runs no workers."""
        return self._engine.node

    @property
    def counters(self) -> Counters:
        """What this process has accepted, completed and refused since it opened."""
        return self._engine.counters

    async def migrate(self) -> list[str]:
        """Bring the database's schema to this program's version; the migrations applied. Raises SchemaMismatch."""
        store = self._factory()
        try:
            return await store.migrate()
        finally:
            await store.close()

    async def schema_version(self) -> tuple[int, int]:
        """(version in the database, version of this program)."""
        store = self._factory()
        try:
            return await store.schema_version()
        finally:
            await store.close()

    # -- processes ------------------------------------------------------------------------------------------------
    async def deploy(self, *files: File) -> Deployment:
        """Deploy BPMN and DMN files (paths, or (name, bytes) pairs) together, all or nothing.

        The answer is the list of processes; ``decisions`` of it are the decisions. A bare task whose id is the name of
        a registered method is bound to it from this version on. A process whose bytes and bindings are those of its
        latest version makes no new one (``created`` is False), nor does a decision whose file and imports are the same.
        Raises InvalidModel with every problem of every file, NotFound for a missing file.
        """
        deployed = await self._engine.deploy(
            read_files(files), tenant=self._tenant, methods=self.handlers.methods.keys()
        )
        return Deployment.of(deployed)

    async def start(
        self,
        process_id: str,
        variables: dict[str, Any] | None = None,
        *,
        business_id: str = "",
        version: int = 0,
        version_tag: str = "",
        tags: Sequence[str] = (),
        connection: Connection | None = None,
    ) -> int:
        """Start an instance of the latest version, or of an exact one; its key once the start is durable.

        With ``connection`` (asyncpg, psycopg, SQLAlchemy, Django, sqlite3) the instance is asked for within the
        transaction of that connection: it exists when, and only when, that commits, and then starts by itself.
        Raises NotFound when no such process is deployed, InvalidValue for variables that cannot be stored.
        """
        if connection is not None:
            key, statements = await self.prepare_start(
                process_id, variables, business_id=business_id, version=version, version_tag=version_tag, tags=tags
            )
            waiting = execute(connection, statements)
            if waiting is not None:
                await waiting
            self.hint()
            return key
        return await self._engine.start_instance(
            process_id,
            variables,
            version=version,
            version_tag=version_tag,
            business_id=business_id,
            tags=tags,
            tenant=self._tenant,
        )

    async def prepare_start(
        self,
        process_id: str,
        variables: dict[str, Any] | None = None,
        *,
        business_id: str = "",
        version: int = 0,
        version_tag: str = "",
        tags: Sequence[str] = (),
    ) -> tuple[int, list[Statement]]:
        """The key of an instance to come, and the statements that ask for it; execute them in your own transaction.

        Raises NotFound, InvalidValue, Misconfigured for the memory store, and Unavailable where so many starts in one
        transaction have used up the keys that are kept for them (``limits.CALLER_KEYS``).
        """
        engine = self._engine
        values, raw = plain_variables(variables)
        found = await engine.definitions.find(process_id, version=version, version_tag=version_tag, tenant=self._tenant)
        instance, job = await engine.take_keys_for_caller(2)
        command = StartInstance(instance=instance, variables=values, business_id=business_id)
        request = StartRequest(
            instance=instance,
            job=job,
            definition=found.key,
            process_id=found.process_id,
            business_id=business_id,
            tags=list(tags),
            variables=raw,
            command=encode_json(Send(instance, command)),
            tenant=self._tenant,
        )
        return instance, engine.store.start_request(request)

    def hint(self) -> None:
        """Say that a transaction of yours is about to commit a start: it is looked for at once and again soon."""
        loop = asyncio.get_running_loop()
        for delay in HINTS_S:
            loop.call_later(delay, self._look)

    async def wait(self, process_instance_key: int, *, timeout: float | None = None) -> ProcessInstance:  # noqa: ASYNC109 - what users of asyncio.wait_for expect
        """Wait until an instance is over. ``timeout`` in seconds. Raises NotFound, TimeoutError."""
        async with asyncio.timeout(timeout):
            await self._engine.wait_ended(process_instance_key)
        return (await self.instance(process_instance_key)).instance

    async def cancel(self, process_instance_key: int, *, reason: str = "") -> None:
        """End an instance and everything it called. Raises NotFound, Conflict when it is over or was called."""
        await self._engine.command(process_instance_key, Cancel(reason=reason))

    async def set_variables(
        self,
        process_instance_key: int,
        variables: dict[str, Any],
        *,
        element_instance_key: int = 0,
        local: bool = False,
    ) -> None:
        """Write variables of an instance, or of one of its scopes. Raises NotFound, InvalidValue."""
        command = SetVariables(variables, element_instance=element_instance_key, local=local)
        await self._engine.command(process_instance_key, command)

    async def resolve(self, incident_key: int, *, retries: int = 1) -> None:
        """Try again what raised an incident; ``retries`` are the new attempts of its job. Raises NotFound, Conflict."""
        await self._engine.command_for("incident", incident_key, ResolveIncident(incident_key, retries))

    # -- messages and signals -------------------------------------------------------------------------------------
    async def publish(
        self,
        name: str,
        *,
        correlation_key: str = "",
        variables: dict[str, Any] | None = None,
        ttl: str | float = 0,
        message_id: str = "",
    ) -> Published:
        """Publish a message to whoever waits for its name and correlation key, or buffer it for ``ttl``.

        ``ttl`` is an ISO 8601 duration, a text such as ``1h`` or ``30s``, or seconds. With a ``message_id`` the same
        message is buffered once. Raises InvalidValue.
        """
        (key,) = await self._engine.take_keys(1)
        result = await self._engine.publish(
            name,
            correlation_key,
            variables,
            ttl_ms=_milliseconds(ttl),
            message_id=message_id,
            tenant=self._tenant,
            key=key,
        )
        return Published.of(key, result)

    async def broadcast(self, name: str, variables: dict[str, Any] | None = None) -> list[int]:
        """Broadcast a signal; the keys of the instances reached or started. Raises InvalidValue."""
        return await self._engine.broadcast(name, variables, tenant=self._tenant)

    # -- user tasks -----------------------------------------------------------------------------------------------
    async def complete_user_task(self, user_task_key: int, variables: dict[str, Any] | None = None) -> None:
        """Finish a user task with its results. Raises NotFound, InvalidValue."""
        await self._engine.command_for("user_task", user_task_key, CompleteUserTask(user_task_key, variables or {}))

    async def assign_user_task(self, user_task_key: int, assignee: str) -> None:
        """Give a user task to a person; an empty ``assignee`` takes it back. Raises NotFound."""
        action = "assign" if assignee else "unassign"
        command = UpdateUserTask(user_task_key, {"assignee": assignee}, action)
        await self._engine.command_for("user_task", user_task_key, command)

    # -- internal -------------------------------------------------------------------------------------------------
    @property
    def _engine(self) -> Engine:
        if self._opened is None:
            message = "Open it first: `async with app:`, `await app.open()`, or `with app.sync:`"
            raise Misconfigured(message)
        return self._opened

    def _make_engine(self, store: Store) -> Engine:
        """An engine with this process' handlers as its dispatcher."""
        dispatcher = LocalDispatcher(self.handlers, self._slots)
        engine = Engine(
            store,
            dispatcher=dispatcher,
            settings=self._settings,
            clock=self._clock,
            name=self._name,
            open_store=self._open_another if store.shared else None,
        )
        dispatcher.attach(engine)
        return engine

    async def _open_another(self) -> Store:
        """A second connection to the same data, for the heartbeat's thread."""
        store = self._factory()
        await store.open()
        return store

    def _look(self) -> None:
        """Claim now."""
        if self._opened is not None:
            self._opened.hint(FOLLOW_UP_QUEUE)


def _with_options(settings: Settings, level: HistoryLevel | None, *, strict: bool | None) -> Settings:
    """The settings with a history level, and with strict expressions or without. Raises Misconfigured."""
    if strict is not None:
        settings = msgspec.structs.replace(settings, strict_expressions=strict)
    if level is None:
        return settings
    try:
        return msgspec.structs.replace(settings, history=History[level.upper()])
    except KeyError:
        message = f"Expected history to be 'off', 'activity' or 'full', found '{level}'"
        raise Misconfigured(message) from None


_UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def _milliseconds(duration: str | float) -> int:
    """A duration given by a user, in milliseconds. Raises InvalidValue."""
    if isinstance(duration, str):
        text = duration.strip()
        number = text.rstrip("smhd")
        if number and text[len(number) :] in _UNITS and number.replace(".", "", 1).isdecimal():
            milliseconds = int(float(number) * _UNITS[text[len(number) :]])
        else:
            milliseconds = duration_ms(text)
    else:
        milliseconds = int(duration * 1000)
    if not 0 <= milliseconds <= MESSAGE_TTL_MS_MAX:
        message = f"Expected a time to live from 0 to {MESSAGE_TTL_MS_MAX} ms (MESSAGE_TTL_MS_MAX), found {duration!r}"
        raise InvalidValue(message)
    return milliseconds
