"""FastAPI: the engine lives as long as the server, and a start is there when the request's transaction commits."""

# No `from __future__ import annotations`: FastAPI reads those of routes, and of local names only as they are.
import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Annotated, Any

import asyncpg
import httpx
import pytest
import pytest_asyncio
import sqlalchemy
import uvicorn
from fastapi import Depends, FastAPI, HTTPException
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from procession import FlowJob, Procession
from procession.contrib.fastapi import (
    SyncTransaction,
    Transaction,
    in_sync_transaction,
    in_transaction,
    lifespan,
    provide,
)
from procession.errors import InvalidModel
from procession.testing.bpmn import process
from tests.app.callers import async_engine, sync_engine

ORDER = ("order.bpmn", process("order").start().service("pack", type="pack").end().xml())


class Place:
    """A database of the test's own, and an application that packs."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.packed: list[int] = []
        self.app = Procession(url)

        @self.app.job("pack")
        async def pack(number: int) -> None:
            self.packed.append(number)


@pytest.fixture(params=["sqlite", "postgres"])
def place(request, tmp_path: Path) -> Place:
    if request.param == "sqlite":
        return Place(f"sqlite:///{tmp_path / 'shop.db'}")
    return Place(request.getfixturevalue("postgres_url"))


@asynccontextmanager
async def served(api: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """A server on a port of its own, and a client of it."""
    server = uvicorn.Server(uvicorn.Config(api, port=0, log_level="warning", lifespan="on"))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        assert not serving.done(), "the server did not start"
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            yield client
    finally:
        server.should_exit = True
        await serving


def routes(api: FastAPI, begun: Any, kind: Any) -> None:
    """A route that starts, and one that starts and fails."""

    @api.post("/orders/{number}")
    async def place_order(number: int, processes: Annotated[kind, Depends(begun)]) -> int:
        key = await processes.start("order", {"number": number}, business_id=f"order-{number}")
        if number < 0:
            raise HTTPException(422, "no such number")
        return key


async def check_both_ends(place: Place, api: FastAPI) -> None:
    async with served(api) as client:
        answer = await client.post("/orders/7")
        assert answer.status_code == 200, answer.text
        assert (await place.app.wait(answer.json(), timeout=30)).business_id == "order-7"
        assert (await client.post("/orders/-1")).status_code == 422
        assert [each.business_id for each in await place.app.instances()] == ["order-7"]
        assert place.packed == [7]
    assert place.app.loop is None, "it is closed when the server is"


async def test_a_start_follows_the_session_of_the_request(place: Place):
    engine = async_engine(place.url)

    async def session() -> AsyncIterator[AsyncSession]:
        async with AsyncSession(engine) as opened, opened.begin():
            yield opened

    api = FastAPI(lifespan=lifespan(place.app, migrate=True, deploy=[ORDER]))
    routes(api, in_transaction(place.app, session, scope="function"), Transaction)
    await check_both_ends(place, api)
    await engine.dispose()


async def test_a_start_follows_a_transaction_of_asyncpg(postgres_url: str):
    place = Place(postgres_url)

    @asynccontextmanager
    async def pool(api: FastAPI) -> AsyncIterator[None]:
        async with asyncpg.create_pool(postgres_url, min_size=1, max_size=2) as api.state.pool:
            yield

    async def transaction() -> AsyncIterator[asyncpg.Connection]:
        async with api.state.pool.acquire() as connection, connection.transaction():
            yield connection

    api = FastAPI(lifespan=lifespan(place.app, migrate=True, deploy=[ORDER], within=pool))
    routes(api, in_transaction(place.app, transaction, scope="function"), Transaction)
    await check_both_ends(place, api)


async def test_a_plain_function_starts_on_a_synchronous_session(place: Place):
    engine = sync_engine(place.url)
    if place.url.startswith("sqlite"):  # FastAPI runs a dependency and its route on different threads
        engine = sqlalchemy.create_engine(place.url, connect_args={"check_same_thread": False})

    def session() -> Iterator[Session]:
        with Session(engine) as opened, opened.begin():
            yield opened

    api = FastAPI(lifespan=lifespan(place.app, migrate=True, deploy=[ORDER]))

    @api.post("/orders/{number}")
    def place_order(
        number: int,
        own: Annotated[Session, Depends(session, scope="function")],
        processes: Annotated[SyncTransaction, Depends(in_sync_transaction(place.app, session, scope="function"))],
    ) -> int:
        assert processes.connection is own, "the route and the start are in one transaction"
        key = processes.start("order", {"number": number}, business_id=f"order-{number}")
        if number < 0:
            raise HTTPException(422, "no such number")
        return key

    await check_both_ends(place, api)
    engine.dispose()


async def test_jobs_follow_the_request_too(place: Place):
    engine, threaded = async_engine(place.url), sync_engine(place.url)
    if place.url.startswith("sqlite"):
        threaded = sqlalchemy.create_engine(place.url, connect_args={"check_same_thread": False})

    async def session() -> AsyncIterator[AsyncSession]:
        async with AsyncSession(engine) as opened, opened.begin():
            yield opened

    def sync_session() -> Iterator[Session]:
        with Session(threaded) as opened, opened.begin():
            yield opened

    api = FastAPI(lifespan=lifespan(place.app, migrate=True))

    @api.post("/async/{number}")
    async def by_async(
        number: int, processes: Annotated[Transaction, Depends(in_transaction(place.app, session, scope="function"))]
    ) -> int:
        job = await processes.enqueue("pack", {"number": number}, delay="1h")
        if number < 0:
            raise HTTPException(422, "no such number")
        return job.job_key

    @api.post("/sync/{number}")
    def by_thread(
        number: int,
        processes: Annotated[SyncTransaction, Depends(in_sync_transaction(place.app, sync_session, scope="function"))],
    ) -> int:
        job = processes.enqueue("pack", {"number": number}, delay="1h")
        if number < 0:
            raise HTTPException(422, "no such number")
        return job.job_key

    async with served(api) as client:
        keys = {(await client.post(f"/{way}/{number}")).json() for way in ("async", "sync") for number in (1, 2)}
        for way in ("async", "sync"):
            assert (await client.post(f"/{way}/-1")).status_code == 422
        assert {job.job_key for job in await place.app.jobs(type="pack")} == keys
    await engine.dispose()
    threaded.dispose()


async def test_without_workers_here_the_handlers_run_elsewhere(place: Place):
    elsewhere = Place(place.url)
    api = FastAPI(lifespan=lifespan(place.app, run_workers=False, migrate=True, deploy=[ORDER]))

    @api.post("/orders/{number}")
    async def place_order(number: int, processes: Annotated[Procession, Depends(provide(place.app))]) -> int:
        return await processes.start("order", {"number": number})

    async with served(api) as client:
        key = (await client.post("/orders/3")).json()
        assert place.app.node == 0
        async with elsewhere.app:
            assert (await elsewhere.app.wait(key, timeout=30)).state == "COMPLETED"
    assert (place.packed, elsewhere.packed) == ([], [3])


async def test_a_test_gives_another_application():
    place, other = Place("memory://"), Place("memory://")
    api, application = FastAPI(), provide(place.app)

    @api.get("/processes")
    async def count(processes: Annotated[Procession, Depends(application)]) -> int:
        return len(await processes.definitions())

    api.dependency_overrides[application] = provide(other.app)
    async with other.app:
        await other.app.deploy(ORDER)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=api), base_url="http://shop") as client:
            assert (await client.get("/processes")).json() == 1


async def test_a_file_that_cannot_be_deployed_keeps_the_server_from_starting_and_is_told():
    place = Place("memory://")
    life = lifespan(place.app, deploy=[("broken.bpmn", b"<nothing/>")])
    with pytest.raises(InvalidModel, match=r"broken\.bpmn"):
        async with life(FastAPI()):
            pass
    assert place.app.loop is None, "it is closed again"


@pytest_asyncio.fixture(autouse=True)
async def no_application_stays_open() -> AsyncIterator[None]:
    yield
    left = [task for task in asyncio.all_tasks() if task.get_name().startswith("procession")]
    assert left == []


async def test_a_flow_belongs_to_the_requests_transaction(tmp_path):
    app = Procession(f"sqlite:///{tmp_path / 'jobs.db'}")
    flow = [FlowJob("pack", "pack"), FlowJob("send", "send", after=["pack"])]
    await app.open(run_workers=False)
    with closing(sqlite3.connect(tmp_path / "jobs.db")) as connection:
        await Transaction(app, connection).enqueue_flow(flow)
        connection.rollback()
        there = await Transaction(app, connection).enqueue_flow(flow)
        connection.commit()
    await app.run_until_idle()
    assert {job.job_key: job.state for job in await app.jobs()} == {
        there["pack"].job_key: "READY",
        there["send"].job_key: "AWAITING",
    }
    await app.close()
