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
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Literal, Self

import msgspec

from procession.app import arguments
from procession.app.adapters import Connection
from procession.app.administration import Administration
from procession.app.commanding import Commanding
from procession.app.commits import Commits
from procession.app.connections import end_of, execute
from procession.app.forms import Forms
from procession.app.job_defaults import check_defaults
from procession.app.looking import Looking
from procession.app.middleware import Middleware
from procession.app.operations import Operations
from procession.app.queues import Queues
from procession.app.recurring import RecurringJobs
from procession.app.sync import SyncProcession
from procession.app.user_tasks import UserTasks
from procession.app.verbs import Verbs
from procession.app.wiring import StoreFactory, Target, redacted, store_factory, target_of
from procession.app.working import Working
from procession.core.commands import Send, StartInstance
from procession.engine import Counters, Engine, History, Settings
from procession.engine.values import encode_json, plain_variables
from procession.errors import Conflict, Misconfigured
from procession.jobs.codec import Codec
from procession.jobs.kinds import FOLLOW_UP_QUEUE
from procession.store.port import Clock, Store
from procession.store.rows import StartRequest, Statement
from procession.worker import Both, LocalDispatcher, Registry, RemoteWorkers, WorkerSettings

_left_to_the_parent: list[Engine] = []  # not collected either: that would close the parent's connections
MIGRATED_AT_OPEN = frozenset({"memory", "sqlite"})
HistoryLevel = Literal["off", "activity", "full"]


class Procession(
    Looking, Commanding, Working, Operations, UserTasks, Forms, Administration, RecurringJobs, Queues, Middleware, Verbs
):
    """A database, this process' handlers, and the verbs.

    ``url`` is described in ``app/wiring.py``. ``history`` says how much of each step is kept: ``off``, ``activity``
    (variables by name only) or ``full``. ``strict``: a warning of an expression, which otherwise gives null and a line
    in the history, is an incident. ``name`` is what other processes see of this one. ``codec`` (``Encryption``,
    ``Compression``, one of your own) encodes what plain jobs are given, give back and leave. ``method`` and ``job`` are
    the decorators of ``worker.Registry``; what is registered when it opens gets its slots. Raises Misconfigured for a
    URL or option that cannot be used.
    """

    def __init__(  # noqa: PLR0913 - the options of an application, by keyword
        self,
        url: str,
        *,
        history: HistoryLevel | None = None,
        strict: bool | None = None,
        name: str = "",
        tenant_id: str = "",
        settings: Settings | None = None,
        slots: WorkerSettings | None = None,
        codec: Codec | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.url: str = redacted(url)
        self._factory: StoreFactory = store_factory(url, clock=clock)
        self._target: Target = target_of(url)
        self._clock = clock
        self._settings = _with_options(settings or Settings(), history, strict=strict)
        self._name = name or f"{socket.gethostname()}-{os.getpid()}"
        self._tenant = tenant_id
        self._opened: Engine | None = None
        self._opening = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sync: SyncProcession | None = None
        self._commits = Commits(self._announce)
        self._may_migrate: bool = self._target.database in MIGRATED_AT_OPEN
        self.ignores_connections: bool = False
        self._slots = slots or WorkerSettings()
        self.codec = codec
        self.handlers = Registry(check_defaults)
        self.remote = RemoteWorkers()
        self.method = self.handlers.method
        self.job = self.handlers.job

    # -- life -----------------------------------------------------------------------------------------------------
    async def open(self, *, run_workers: bool = True, migrate: bool | None = None) -> Self:
        """Connect, and run handlers, timers and follow-ups in the background (``run_workers``).

        Without ``run_workers`` it gives commands and looks; what these leave to be done is announced to others.
        ``migrate``: bring the schema up to date first. By default that happens for SQLite and memory only; for other
        databases use ``procession db migrate``. Raises SchemaMismatch when the schema is not this program's.
        """
        if self._opened is not None or self._opening:
            message = "This Procession is open already: one object is one engine; close it first"
            raise Conflict(message)
        self._opening = True
        self._loop = asyncio.get_running_loop()
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
        finally:
            self._opening = False
        return self

    def use(self, url: str) -> Self:
        """Work on another database than the one it was made with. Raises Misconfigured, Conflict when it is open."""
        if self._opened is not None:
            message = f"Expected it to be closed to change its database, found it open on {self.url}"
            raise Conflict(message)
        self._factory = store_factory(url, clock=self._clock)
        self._target = target_of(url)
        self.url = redacted(url)
        self._may_migrate = self._target.database in MIGRATED_AT_OPEN
        return self

    @contextmanager
    def using(
        self,
        url: str,
        *,
        clock: Clock | None = None,
        around: Callable[[Store], Store] | None = None,
        ignores_connections: bool = False,
    ) -> Generator[Self]:
        """Within the block, work on another database and with another clock, on stores that ``around`` may wrap.

        For tests: what is registered on this object, and whoever holds it, is tried elsewhere. ``ignores_connections``:
        a ``connection`` that callers give is left aside. Raises Misconfigured, and Conflict when it is open.
        """
        before = (self._factory, self._target, self.url, self._may_migrate, self._clock, self.ignores_connections)
        self._clock, self.ignores_connections = clock, ignores_connections
        try:
            self.use(url)
            if around is not None:
                factory, wrap = self._factory, around
                self._factory = lambda: wrap(factory())
            yield self
        finally:
            self._factory, self._target, self.url, self._may_migrate, self._clock, self.ignores_connections = before

    def forget(self) -> None:
        """Leave what a process before a fork opened to that process: it is neither used nor closed in this one."""
        if self._opened is not None:
            _left_to_the_parent.append(self._opened)
        self._commits = Commits(self._announce)
        self._opened = None
        self._opening = False

    async def close(self) -> None:
        """Stop gracefully: claim no more, let running work end, return what has not started. Safe to call twice."""
        engine, self._opened = self._opened, None
        if engine is None:
            return
        self._commits.stop()
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

    def work_on(self, queues: Mapping[str, int], *, concurrency: int | None = None) -> Self:
        """Take plain jobs from these queues alone, when it is opened: they share ``concurrency`` slots by weight.

        ``{"mail": 3, "reports": 1}``: while both have work, three quarters of the slots are the mails'; while one has
        none, all are the other's. Jobs and methods of processes are taken as always, in slots of their own. Without
        queues only the concurrency changes. Raises Misconfigured, Conflict when it is open.
        """
        if self._opened is not None:
            message = "Expected it to be closed to change what it works on, found it open"
            raise Conflict(message)
        self._slots = msgspec.structs.replace(
            self._slots, weights=dict(queues), concurrency=concurrency or self._slots.concurrency
        )
        return self

    async def run(self, *, queues: Mapping[str, int] | None = None, concurrency: int | None = None) -> None:
        """Open, work until SIGINT or SIGTERM (or cancellation), and stop gracefully.

        ``queues`` and ``concurrency``: see ``work_on``.
        """
        if queues is not None or concurrency is not None:
            self.work_on(queues or {}, concurrency=concurrency)
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
    def loop(self) -> asyncio.AbstractEventLoop | None:
        """The event loop that it is open on; None when it is closed."""
        return self._loop if self._opened is not None else None

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

    # -- tenants --------------------------------------------------------------------------------------------------
    def for_tenant(self, tenant_id: str) -> Procession:
        """The same application as one tenant sees it: what is another's is not there, whatever its key.

        It is open while this one is, and shares everything with it. Raises InvalidValue, and Misconfigured where this
        one is another tenant's.
        """
        arguments.name(tenant_id, "tenant_id")
        if self._tenant not in ("", tenant_id):
            message = f"This application is one of tenant '{self._tenant}': make the view of another from the whole one"
            raise Misconfigured(message)
        return OneTenant(self, tenant_id)

    # -- starts -----------------------------------------------------------------------------------------------------
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
        if connection is not None and not self.ignores_connections:
            key, statements = await self.prepare_start(
                process_id, variables, business_id=business_id, version=version, version_tag=version_tag, tags=tags
            )
            waiting = self.execute_on(connection, statements)
            if waiting is not None:
                await waiting
            self.expect_commit(connection, end_of(connection))
            return key
        if business_id == "" and version_tag == "" and tags == () and type(version) is int and not version:
            return await self._engine.start_instance(
                arguments.name(process_id, "process_id"), variables, tenant=self._tenant
            )
        return await self._engine.start_instance(
            arguments.name(process_id, "process_id"),
            variables,
            version=arguments.whole(version, "version", 0, arguments.VERSION_MAX),
            version_tag=arguments.text(version_tag, "version_tag"),
            business_id=arguments.text(business_id, "business_id"),
            tags=arguments.tags(tags),
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
        business_id, tags = arguments.text(business_id, "business_id"), arguments.tags(tags)
        found = await engine.definitions.find(
            arguments.name(process_id, "process_id"),
            version=arguments.whole(version, "version", 0, arguments.VERSION_MAX),
            version_tag=arguments.text(version_tag, "version_tag"),
            tenant=self._tenant,
        )
        instance, job = await engine.take_keys_for_caller(2)
        command = StartInstance(instance=instance, variables=values, business_id=business_id)
        request = StartRequest(
            instance=instance,
            job=job,
            definition=found.key,
            process_id=found.process_id,
            business_id=business_id,
            tags=tags,
            variables=raw,
            command=encode_json(Send(instance, command)),
            tenant=self._tenant,
        )
        return instance, engine.store.start_request(request)

    def execute_on(self, connection: Connection, statements: Sequence[Statement]) -> Awaitable[None] | None:
        """Execute what ``prepare_start`` gave on a caller's connection; to be awaited if that is asynchronous.

        Raises Misconfigured for a connection that cannot be used, and what its driver raises.
        """
        return execute(connection, statements, target=self._target)

    def expect_commit(self, connection: Connection, is_over: Callable[[], bool], queue: str = FOLLOW_UP_QUEUE) -> None:
        """See that what your transaction has written is found when it is over (``connections.end_of`` says when)."""
        self._commits.expect(connection, is_over, queue)

    # -- internal -------------------------------------------------------------------------------------------------
    @property
    def _engine(self) -> Engine:
        if self._opened is None:
            message = "Open it first: `async with app:`, `await app.open()`, or `with app.sync:`"
            raise Misconfigured(message)
        return self._opened

    def _make_engine(self, store: Store) -> Engine:
        """An engine with this process' handlers as its dispatcher."""
        dispatcher = LocalDispatcher(self.handlers, self._slots, codec=self.codec)
        engine = Engine(
            store,
            dispatcher=Both(dispatcher, self.remote),
            settings=self._settings,
            clock=self._clock,
            name=self._name,
            open_store=self._open_another if store.shared else None,
        )
        dispatcher.attach(engine)
        self.remote.attach(engine, dispatcher.handles)
        return engine

    async def _open_another(self) -> Store:
        """A second connection to the same data, for the heartbeat's thread."""
        store = self._factory()
        await store.open()
        return store

    def _announce(self, queue: str) -> None:
        """A queue got a job by a transaction that is not ours."""
        if self._opened is not None:
            self._opened.announce(queue)


class OneTenant(Procession):
    """The application as one tenant sees it; made by ``Procession.for_tenant``."""

    def __init__(self, whole: Procession, tenant_id: str) -> None:  # everything else is the whole's
        self._whole = whole
        self._tenant = tenant_id
        self._sync: SyncProcession | None = None

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the whole has
        return getattr(self._whole, name)

    async def open(self, *, run_workers: bool = True, migrate: bool | None = None) -> Self:
        """It is open while the whole is. Raises Misconfigured."""
        del run_workers, migrate
        raise Misconfigured(_NOT_THE_WHOLE)

    async def close(self) -> None:
        """Nothing: it is open while the whole is."""

    def use(self, url: str) -> Self:
        """Its database is the whole's. Raises Misconfigured."""
        del url
        raise Misconfigured(_NOT_THE_WHOLE)


_NOT_THE_WHOLE = "This is one tenant's view of an application: open and change that application itself"


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
