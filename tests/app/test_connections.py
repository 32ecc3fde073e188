"""A start on the caller's connection lives and dies with the caller's transaction; without one it is refused."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from pathlib import Path
from typing import Any

import asyncpg
import psycopg
import pytest
import sqlalchemy
import sqlalchemy.ext.asyncio
import sqlalchemy.orm

from procession import Procession
from procession.errors import Misconfigured
from procession.testing.bpmn import process

MODEL = process("order").start().user("approve").end()
End = Callable[[], Any]


@asynccontextmanager
async def asyncpg_connection(url: str) -> AsyncIterator[tuple[Any, End, End]]:
    connection = await asyncpg.connect(url)
    transaction = connection.transaction()
    await transaction.start()
    yield connection, transaction.commit, transaction.rollback
    await connection.close()


@asynccontextmanager
async def psycopg_connection(url: str) -> AsyncIterator[tuple[Any, End, End]]:
    with closing(psycopg.connect(url)) as connection:
        yield connection, connection.commit, connection.rollback


@asynccontextmanager
async def psycopg_async_connection(url: str) -> AsyncIterator[tuple[Any, End, End]]:
    connection = await psycopg.AsyncConnection.connect(url)
    yield connection, connection.commit, connection.rollback
    await connection.close()


def engine_url(url: str, driver: str) -> str:
    return url.replace("postgresql://", f"postgresql+{driver}://")


@asynccontextmanager
async def sqlalchemy_session(url: str) -> AsyncIterator[tuple[Any, End, End]]:
    engine = sqlalchemy.create_engine(engine_url(url, "psycopg"))
    with sqlalchemy.orm.Session(engine) as session:
        yield session, session.commit, session.rollback
    engine.dispose()


@asynccontextmanager
async def sqlalchemy_async_connection(url: str) -> AsyncIterator[tuple[Any, End, End]]:
    engine = sqlalchemy.ext.asyncio.create_async_engine(engine_url(url, "asyncpg"))
    async with engine.connect() as connection:
        yield connection, connection.commit, connection.rollback
    await engine.dispose()


@asynccontextmanager
async def sqlite_connection(url: str) -> AsyncIterator[tuple[Any, End, End]]:
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        yield connection, connection.commit, connection.rollback


@asynccontextmanager
async def sqlalchemy_sqlite(url: str) -> AsyncIterator[tuple[Any, End, End]]:
    engine = sqlalchemy.create_engine(url)
    with engine.connect() as connection:
        yield connection, connection.commit, connection.rollback
    engine.dispose()


OF_POSTGRES = [
    asyncpg_connection,
    psycopg_connection,
    psycopg_async_connection,
    sqlalchemy_session,
    sqlalchemy_async_connection,
]
OF_SQLITE = [sqlite_connection, sqlalchemy_sqlite]
Open = Callable[[str], AbstractAsyncContextManager[tuple[Any, End, End]]]


async def opened(url: str) -> Procession:
    app = await Procession(url).open(run_workers=False, migrate=True)
    await app.deploy(("order.bpmn", MODEL.xml()))
    return app


@pytest.fixture
async def on_postgres(postgres_url: str) -> AsyncIterator[Procession]:
    app = await opened(postgres_url)
    yield app
    await app.close()


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'shop.db'}"


@pytest.fixture
async def on_sqlite(sqlite_url: str) -> AsyncIterator[Procession]:
    app = await opened(sqlite_url)
    yield app
    await app.close()


async def settled(answer: Awaitable[None] | None) -> None:
    """What a synchronous connection has done, an asynchronous one is waited for."""
    if answer is not None:
        await answer


async def both_ends(app: Procession, url: str, connect: Open) -> None:
    async with connect(url) as (connection, commit, _):
        key = await app.start("order", {"n": 1}, business_id="A-1", tags=["red"], connection=connection)
        assert not await app.instances()
        await settled(commit())
        assert [it.process_instance_key for it in await app.instances()] == [key]
    async with connect(url) as (connection, _, rollback):
        lost = await app.start("order", {"n": 2}, connection=connection)
        await settled(rollback())
    assert lost != key
    assert [it.business_id for it in await app.instances()] == ["A-1"]
    await app.run_until_idle()
    assert [task.process_instance_key for task in await app.user_tasks()] == [key]


@pytest.mark.parametrize("connect", OF_POSTGRES)
async def test_on_postgresql_a_start_comes_with_the_commit_and_goes_with_the_rollback(
    on_postgres: Procession, postgres_url: str, connect: Open
) -> None:
    await both_ends(on_postgres, postgres_url, connect)


@pytest.mark.parametrize("connect", OF_SQLITE)
async def test_on_sqlite_a_start_comes_with_the_commit_and_goes_with_the_rollback(
    on_sqlite: Procession, sqlite_url: str, connect: Open
) -> None:
    await both_ends(on_sqlite, sqlite_url, connect)


async def test_a_connection_that_commits_each_statement_is_refused(on_postgres: Procession, postgres_url: str) -> None:
    lone = await asyncpg.connect(postgres_url)
    engine = sqlalchemy.create_engine(engine_url(postgres_url, "psycopg"))
    with psycopg.connect(postgres_url, autocommit=True) as autocommit, engine.connect() as made:
        connections = [lone, autocommit, made.execution_options(isolation_level="AUTOCOMMIT")]
        for connection in connections:
            with pytest.raises(Misconfigured, match="within a transaction, found one that commits each statement"):
                await on_postgres.start("order", connection=connection)
        with autocommit.transaction():
            await on_postgres.start("order", connection=autocommit)
    await lone.close()
    engine.dispose()
    assert len(await on_postgres.instances()) == 1


async def test_on_sqlite_without_a_transaction_it_is_refused_too(on_sqlite: Procession, sqlite_url: str) -> None:
    path = sqlite_url.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        with pytest.raises(Misconfigured, match="begin immediate"):
            await on_sqlite.start("order", connection=connection)
        connection.execute("begin immediate")
        await on_sqlite.start("order", connection=connection)
        connection.execute("commit")
    assert len(await on_sqlite.instances()) == 1


async def test_pools_engines_and_cursors_are_no_connections(on_postgres: Procession, postgres_url: str) -> None:
    pool = await asyncpg.create_pool(postgres_url, min_size=1, max_size=1)
    engine = sqlalchemy.create_engine(engine_url(postgres_url, "psycopg"))
    with psycopg.connect(postgres_url) as connection:
        for wrong in (pool, engine, connection.cursor(), object(), "postgresql://host/shop"):
            with pytest.raises(Misconfigured, match="no pool, engine or cursor"):
                await on_postgres.start("order", connection=wrong)
    async with pool.acquire() as lent, lent.transaction():
        await on_postgres.start("order", connection=lent)
    await pool.close()
    engine.dispose()
    assert len(await on_postgres.instances()) == 1


async def test_a_connection_to_another_kind_of_database_is_refused(
    on_postgres: Procession, on_sqlite: Procession, postgres_url: str
) -> None:
    with (
        closing(sqlite3.connect(":memory:")) as wrong,
        pytest.raises(Misconfigured, match="the postgresql database of this Procession, found one to sqlite"),
    ):
        await on_postgres.start("order", connection=wrong)
    with (
        psycopg.connect(postgres_url) as wrong,
        pytest.raises(Misconfigured, match="the sqlite database of this Procession, found one to postgresql"),
    ):
        await on_sqlite.start("order", connection=wrong)


async def test_the_memory_store_has_no_transactions_of_callers() -> None:
    app = await opened("memory://")
    with closing(sqlite3.connect(":memory:")) as connection, pytest.raises(Misconfigured, match="memory"):
        await app.start("order", connection=connection)
    await app.close()
