"""Procession in FastAPI: the application's life is the server's, and starts belong to the request's own transaction.

    processes = Procession(URL)
    api = FastAPI(lifespan=lifespan(processes, deploy=["fulfilment.bpmn"]))
    Processes = Annotated[Transaction, Depends(in_transaction(processes, session, scope="function"))]

    @api.post("/orders")
    async def place_order(new: NewOrder, session: Session, processes: Processes) -> dict:
        session.add(order)
        key = await processes.start("fulfilment", {"orderId": order.id})   # there when the session commits, or never

``session`` is any dependency that gives a connection that ``Procession.start(connection=...)`` takes: an SQLAlchemy
session, an asyncpg connection within a transaction. It commits and rolls back by itself; nothing here does.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any, Literal, Unpack

from fastapi import Depends, FastAPI

from procession.app import Procession
from procession.app.adapters import Connection
from procession.app.deployments import File
from procession.app.flows import EnqueuedFlow, FlowJob
from procession.app.job_rows import EnqueueOptions
from procession.app.queueing import EnqueuedJob
from procession.app.sync import StartOptions

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[Any]]
Scope = Literal["function", "request"]


def lifespan(
    app: Procession,
    *,
    run_workers: bool = True,
    migrate: bool | None = None,
    deploy: Sequence[File] = (),
    within: Lifespan | None = None,
) -> Lifespan:
    """A lifespan for ``FastAPI(lifespan=...)``: the application is open while the server serves.

    ``run_workers``: its handlers run here too, beside the requests; without, another process works (``procession
    work``). ``migrate``: as in ``Procession.open``. ``deploy``: files to be deployed when it is open. ``within``: a
    lifespan of your own, which begins before and ends after. What ``open`` and ``deploy`` raise keeps the server from
    starting.
    """

    @asynccontextmanager
    async def life(api: FastAPI) -> AsyncGenerator[Any]:
        async with AsyncExitStack() as stack:
            state = await stack.enter_async_context(within(api)) if within is not None else None
            stack.push_async_callback(app.close)
            await app.open(run_workers=run_workers, migrate=migrate)
            if deploy:
                await app.deploy(*deploy)
            yield state

    return life


def provide(app: Procession) -> Callable[[], Awaitable[Procession]]:
    """A dependency that gives the application, so that tests can give another one (``dependency_overrides``)."""

    async def provided() -> Procession:
        return app

    return provided


class Transaction:
    """The verbs that take part in the request's transaction."""

    def __init__(self, app: Procession, connection: Connection) -> None:
        self.app = app
        self.connection = connection

    async def start(
        self, process_id: str, variables: dict[str, Any] | None = None, **options: Unpack[StartOptions]
    ) -> int:
        """See ``Procession.start``: the instance exists when the request's transaction commits."""
        return await self.app.start(process_id, variables, connection=self.connection, **options)

    async def enqueue(
        self,
        type: str,  # noqa: A002 - Camunda's word
        args: Any = None,  # noqa: ANN401 - a mapping, or an object with fields
        **options: Unpack[EnqueueOptions],
    ) -> EnqueuedJob:
        """See ``Procession.enqueue``: the job is there when the request's transaction commits."""
        return await self.app.enqueue(type, args, connection=self.connection, **options)

    async def enqueue_flow(self, jobs: Iterable[FlowJob], *, title: str = "") -> EnqueuedFlow:
        """See ``Procession.enqueue_flow``: the jobs are there when the request's transaction commits."""
        return await self.app.enqueue_flow(jobs, title=title, connection=self.connection)


class SyncTransaction:
    """The same for routes that are plain functions, which FastAPI runs in threads."""

    def __init__(self, app: Procession, connection: Connection) -> None:
        self.app = app
        self.connection = connection

    def start(self, process_id: str, variables: dict[str, Any] | None = None, **options: Unpack[StartOptions]) -> int:
        """See ``Procession.start``: the instance exists when the request's transaction commits."""
        return self.app.sync.open().start(process_id, variables, connection=self.connection, **options)

    def enqueue(
        self,
        type: str,  # noqa: A002 - Camunda's word
        args: Any = None,  # noqa: ANN401 - a mapping, or an object with fields
        **options: Unpack[EnqueueOptions],
    ) -> EnqueuedJob:
        """See ``Procession.enqueue``: the job is there when the request's transaction commits."""
        return self.app.sync.open().enqueue(type, args, connection=self.connection, **options)

    def enqueue_flow(self, jobs: Iterable[FlowJob], *, title: str = "") -> EnqueuedFlow:
        """See ``Procession.enqueue_flow``: the jobs are there when the request's transaction commits."""
        return self.app.sync.open().enqueue_flow(jobs, title=title, connection=self.connection)


def in_transaction(
    app: Procession, connection: Callable[..., Any], *, scope: Scope | None = None
) -> Callable[..., Awaitable[Transaction]]:
    """A dependency that gives a ``Transaction`` on what the dependency ``connection`` gives to the same request.

    Give both the same ``scope`` wherever they are named, or they are two. With ``scope="function"`` the transaction
    ends before the answer is sent, so that nobody is told of what is not there.
    """

    async def bound(connection: Any = Depends(connection, scope=scope)) -> Transaction:  # noqa: ANN401, B008 - FastAPI's way
        return Transaction(app, connection)

    return bound


def in_sync_transaction(
    app: Procession, connection: Callable[..., Any], *, scope: Scope | None = None
) -> Callable[..., SyncTransaction]:
    """``in_transaction`` for routes that are plain functions, on a synchronous connection."""

    def bound(connection: Any = Depends(connection, scope=scope)) -> SyncTransaction:  # noqa: ANN401, B008 - FastAPI's way
        return SyncTransaction(app, connection)

    return bound
