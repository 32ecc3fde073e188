"""Statements of ours on a connection of the caller's: rows that live and die with the caller's own transaction.

Known are asyncpg, psycopg (sync and async), SQLAlchemy (connections and sessions, sync and async), Django's connection
wrappers, and sqlite3. It never commits, never rolls back, and never opens a connection.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Sequence
from typing import Any

from procession.errors import Misconfigured
from procession.store.rows import Statement

Connection = Any
NAME = re.compile(r":([a-z_]+)")


def execute(connection: Connection, statements: Sequence[Statement]) -> Awaitable[None] | None:
    """Execute statements in order on a connection; an awaitable where the connection is asynchronous.

    Raises Misconfigured for a connection of an unknown kind; errors of its driver are passed on as they are.
    """
    kind = _kind(connection)
    if kind == "asyncpg":
        return _asyncpg(connection, statements)
    if kind == "sqlalchemy":
        return _sqlalchemy(connection, statements)
    if kind == "django":
        return _django(connection, statements)
    if kind == "sqlite3":
        for statement in statements:
            connection.execute(statement.sql, statement.values)
        return None
    if inspect.iscoroutinefunction(connection.execute):
        return _psycopg_async(connection, statements)
    for statement in statements:
        connection.execute(_percent(statement.sql), statement.values)
    return None


def _kind(connection: Connection) -> str:
    """Which library a connection belongs to, by the module of its class and of its bases."""
    for base in type(connection).__mro__:
        module = base.__module__
        if module.startswith("asyncpg"):
            return "asyncpg"
        if module.startswith("psycopg"):
            return "psycopg"
        if module.startswith("sqlalchemy"):
            return "sqlalchemy"
        if module.startswith(("django.db", "django.utils.connection")):  # `django.db.connection` is a proxy
            return "django"
        if module == "sqlite3":
            return "sqlite3"
    name = f"{type(connection).__module__}.{type(connection).__qualname__}"
    message = (
        "Expected connection= to be a connection of asyncpg, psycopg, SQLAlchemy, Django or sqlite3 (the one that your "
        f"transaction runs on), found {name}"
    )
    raise Misconfigured(message)


async def _asyncpg(connection: Connection, statements: Sequence[Statement]) -> None:
    for statement in statements:
        names: list[str] = []

        def number(match: re.Match[str], names: list[str] = names) -> str:
            name = match[1]
            if name not in names:
                names.append(name)
            return f"${names.index(name) + 1}"

        sql = NAME.sub(number, statement.sql)
        await connection.execute(sql, *(statement.values[name] for name in names))


def _sqlalchemy(connection: Connection, statements: Sequence[Statement]) -> Awaitable[None] | None:
    from sqlalchemy import text  # noqa: PLC0415 - optional: only who passes such a connection has it

    if inspect.iscoroutinefunction(connection.execute):

        async def run() -> None:
            for statement in statements:
                await connection.execute(text(statement.sql), statement.values)

        return run()
    for statement in statements:
        connection.execute(text(statement.sql), statement.values)
    return None


def _django(connection: Connection, statements: Sequence[Statement]) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(_percent(statement.sql), statement.values)


async def _psycopg_async(connection: Connection, statements: Sequence[Statement]) -> None:
    for statement in statements:
        await connection.execute(_percent(statement.sql), statement.values)


def _percent(sql: str) -> str:
    """The statement with pyformat placeholders."""
    return NAME.sub(r"%(\1)s", sql.replace("%", "%%"))
