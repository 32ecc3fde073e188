"""Every kind of connection that a caller may have, with one way to begin, keep and drop transactions and savepoints."""

from __future__ import annotations

import inspect
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from typing import Any
from urllib.parse import urlsplit

import asyncmy
import asyncpg
import django
import psycopg
import psycopg.rows
import pymysql
import pymysql.cursors
import pytest
import sqlalchemy
import sqlalchemy.ext.asyncio
import sqlalchemy.orm
from django.conf import settings
from django.db import connections
from django.db.transaction import atomic
from django.db.utils import ConnectionHandler

from tests.support import mariadb


class Undo(Exception):
    """Leaves a block so that its savepoint is rolled back."""


class Caller:
    """A connection within a transaction. ``savepoint`` is a context manager of the library's own, sync or async."""

    def __init__(
        self, connection: Any, commit: Callable[[], Any], rollback: Callable[[], Any], savepoint: Callable[[], Any]
    ) -> None:
        self.connection = connection
        self._commit = commit
        self._rollback = rollback
        self._savepoint = savepoint

    async def commit(self) -> None:
        await settled(self._commit())

    async def rollback(self) -> None:
        await settled(self._rollback())

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        """Kept at its end; rolled back when ``Undo`` leaves it."""
        context = self._savepoint()
        if hasattr(context, "__aenter__"):
            async with context:
                yield
        else:
            with context:
                yield


Open = Callable[[str], AbstractAsyncContextManager[Caller]]


async def settled(answer: Awaitable[None] | object) -> None:
    """What a synchronous connection has done, an asynchronous one is waited for."""
    if inspect.isawaitable(answer):
        await answer


@asynccontextmanager
async def asyncpg_connection(url: str) -> AsyncIterator[Caller]:
    connection = await asyncpg.connect(url)
    transaction = connection.transaction()
    await transaction.start()
    yield Caller(connection, transaction.commit, transaction.rollback, connection.transaction)
    await connection.close()


@asynccontextmanager
async def asyncpg_lent_by_a_pool(url: str) -> AsyncIterator[Caller]:
    async with asyncpg.create_pool(url, min_size=1, max_size=1) as pool, pool.acquire() as connection:
        transaction = connection.transaction()
        await transaction.start()
        yield Caller(connection, transaction.commit, transaction.rollback, connection.transaction)


@asynccontextmanager
async def psycopg_connection(url: str) -> AsyncIterator[Caller]:
    with closing(psycopg.connect(url)) as connection:
        yield Caller(connection, connection.commit, connection.rollback, connection.transaction)


@asynccontextmanager
async def psycopg_with_rows_as_objects(url: str) -> AsyncIterator[Caller]:
    with closing(psycopg.connect(url, row_factory=psycopg.rows.dict_row)) as connection:
        yield Caller(connection, connection.commit, connection.rollback, connection.transaction)


@asynccontextmanager
async def psycopg_async_connection(url: str) -> AsyncIterator[Caller]:
    connection = await psycopg.AsyncConnection.connect(url)
    yield Caller(connection, connection.commit, connection.rollback, connection.transaction)
    await connection.close()


def engine_url(url: str, driver: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"{scheme}+{driver}://{rest}"


def sync_engine(url: str) -> sqlalchemy.Engine:
    driver = {"postgresql": "psycopg", "mysql": "pymysql"}.get(urlsplit(url).scheme)
    return sqlalchemy.create_engine(engine_url(url, driver) if driver else url)


def async_engine(url: str) -> sqlalchemy.ext.asyncio.AsyncEngine:
    driver = {"postgresql": "asyncpg", "mysql": "asyncmy"}.get(urlsplit(url).scheme, "aiosqlite")
    return sqlalchemy.ext.asyncio.create_async_engine(engine_url(url, driver))


@asynccontextmanager
async def sqlalchemy_connection(url: str) -> AsyncIterator[Caller]:
    engine = sync_engine(url)
    with engine.connect() as connection:
        yield Caller(connection, connection.commit, connection.rollback, connection.begin_nested)
    engine.dispose()


@asynccontextmanager
async def sqlalchemy_session(url: str) -> AsyncIterator[Caller]:
    engine = sync_engine(url)
    with sqlalchemy.orm.Session(engine) as session:
        yield Caller(session, session.commit, session.rollback, session.begin_nested)
    engine.dispose()


@asynccontextmanager
async def sqlalchemy_async_connection(url: str) -> AsyncIterator[Caller]:
    engine = async_engine(url)
    async with engine.connect() as connection:
        yield Caller(connection, connection.commit, connection.rollback, connection.begin_nested)
    await engine.dispose()


@asynccontextmanager
async def sqlalchemy_async_session(url: str) -> AsyncIterator[Caller]:
    engine = async_engine(url)
    async with sqlalchemy.ext.asyncio.AsyncSession(engine) as session:
        yield Caller(session, session.commit, session.rollback, session.begin_nested)
    await engine.dispose()


def django_alias(url: str) -> str:
    """A database of Django's for this URL, under an alias of its own."""
    if not settings.configured:
        settings.configure(USE_TZ=True)
        django.setup()
    parts = urlsplit(url)
    named = {"ENGINE": "django.db.backends.sqlite3", "NAME": parts.path[1:]}
    if parts.scheme == "postgresql":
        named = {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": parts.path[1:],
            "USER": parts.username or "",
            "PASSWORD": parts.password or "",
            "HOST": parts.hostname or "",
            "PORT": str(parts.port or ""),
        }
    alias = f"caller {len(connections.settings)}"
    connections.settings[alias] = ConnectionHandler({"default": {}, alias: named}).settings[alias]
    return alias


@asynccontextmanager
async def django_connection(url: str) -> AsyncIterator[Caller]:
    alias = django_alias(url)
    # Django refuses to work on a thread that runs an event loop, as all tests here do.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        outermost = atomic(using=alias)
        outermost.__enter__()
        yield Caller(
            connections[alias],
            lambda: outermost.__exit__(None, None, None),
            lambda: outermost.__exit__(Undo, Undo(), None),
            lambda: atomic(using=alias),
        )
        connections[alias].close()


@asynccontextmanager
async def sqlite_connection(url: str) -> AsyncIterator[Caller]:
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        depth = 0

        class Savepoint:
            def __enter__(self) -> None:
                nonlocal depth
                depth += 1
                self.name = f"s{depth}"
                connection.execute(f"savepoint {self.name}")

            def __exit__(self, kind: object, error: object, at: object) -> None:
                if kind:
                    connection.execute(f"rollback to {self.name}")
                connection.execute(f"release {self.name}")

        yield Caller(connection, connection.commit, connection.rollback, Savepoint)


class SavepointOfSql:
    """A savepoint of a library that has none of its own, by its execute; the execute may be asynchronous."""

    def __init__(self, execute: Callable[[str], Any]) -> None:
        self._execute = execute
        self._depth = 0

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[None]:
        self._depth += 1
        name = f"s{self._depth}"
        await settled(self._execute(f"savepoint {name}"))
        try:
            yield
        except Undo:
            await settled(self._execute(f"rollback to savepoint {name}"))
            raise
        finally:
            self._depth -= 1
        await settled(self._execute(f"release savepoint {name}"))


@asynccontextmanager
async def pymysql_connection(url: str) -> AsyncIterator[Caller]:
    with closing(mariadb.connect(url)) as connection:
        savepoint = SavepointOfSql(lambda sql: connection.query(sql) and None)
        yield Caller(connection, connection.commit, connection.rollback, savepoint)


@asynccontextmanager
async def pymysql_with_rows_as_objects_and_autocommit(url: str) -> AsyncIterator[Caller]:
    with closing(mariadb.connect(url, cursorclass=pymysql.cursors.DictCursor, autocommit=True)) as connection:
        connection.begin()
        savepoint = SavepointOfSql(lambda sql: connection.query(sql) and None)
        yield Caller(connection, connection.commit, connection.rollback, savepoint)


def asyncmy_options(url: str) -> dict[str, Any]:
    parts = urlsplit(url)
    return {
        "host": parts.hostname,
        "port": parts.port,
        "user": parts.username,
        "password": parts.password,
        "database": parts.path[1:],
    }


@asynccontextmanager
async def asyncmy_connection(url: str) -> AsyncIterator[Caller]:
    connection = await asyncmy.connect(**asyncmy_options(url))
    yield Caller(connection, connection.commit, connection.rollback, SavepointOfSql(connection.query))
    await connection.ensure_closed()


@asynccontextmanager
async def asyncmy_lent_by_a_pool(url: str) -> AsyncIterator[Caller]:
    async with (
        asyncmy.create_pool(**asyncmy_options(url), minsize=1, maxsize=1, autocommit=True) as pool,
        pool.acquire() as connection,
    ):
        await connection.begin()
        yield Caller(connection, connection.commit, connection.rollback, SavepointOfSql(connection.query))


ON_MARIADB: list[Open] = [
    pymysql_connection,
    pymysql_with_rows_as_objects_and_autocommit,
    asyncmy_connection,
    asyncmy_lent_by_a_pool,
    sqlalchemy_connection,
    sqlalchemy_session,
    sqlalchemy_async_connection,
    sqlalchemy_async_session,
]
ON_POSTGRES: list[Open] = [
    asyncpg_connection,
    asyncpg_lent_by_a_pool,
    psycopg_connection,
    psycopg_with_rows_as_objects,
    psycopg_async_connection,
    sqlalchemy_connection,
    sqlalchemy_session,
    sqlalchemy_async_connection,
    sqlalchemy_async_session,
    django_connection,
]
ON_SQLITE: list[Open] = [
    sqlite_connection,
    sqlalchemy_connection,
    sqlalchemy_session,
    sqlalchemy_async_connection,
    sqlalchemy_async_session,
    django_connection,
]
