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


def execute(connection: Connection, statements: Sequence[Statement], *, database: str) -> Awaitable[None] | None:
    """Execute statements in order on a connection; an awaitable where the connection is asynchronous.

    ``database`` is what it must lead to, ``postgresql`` or ``sqlite``. Raises Misconfigured for a connection of an
    unknown kind, to another kind of database, or that commits each statement by itself; errors of its driver are passed
    on as they are.
    """
    kind = _kind(connection)
    found = _database(kind, connection)
    if found != database:
        message = f"Expected connection= to lead to the {database} database of this Procession, found one to {found}"
        raise Misconfigured(message)
    if _commits_by_itself(kind, connection):
        message = (
            "Expected connection= to be within a transaction, found one that commits each statement by itself: begin "
            f"one first ({_BEGIN[kind]})"
        )
        raise Misconfigured(message)
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


_BEGIN = {
    "asyncpg": "async with connection.transaction()",
    "psycopg": "with connection.transaction()",
    "sqlalchemy": "with connection.begin(), without the isolation level AUTOCOMMIT",
    "django": "with transaction.atomic()",
    "sqlite3": "connection.execute('begin immediate')",
}
# What a connection of each library has and what its pools, engines and cursors have not.
_MARKS = {
    "asyncpg": "is_in_transaction",
    "psycopg": "autocommit",
    "sqlalchemy": "execute",
    "django": "in_atomic_block",
    "sqlite3": "in_transaction",
}


def _kind(connection: Connection) -> str:
    """Which library a connection belongs to, by the module of its class and of its bases. Raises Misconfigured."""
    for base in type(connection).__mro__:
        package = base.__module__.partition(".")[0]
        if base.__module__ == "django.utils.connection":  # `django.db.connection` is a proxy
            package = "django"
        if package in _MARKS and hasattr(connection, _MARKS[package]):
            return package
    name = f"{type(connection).__module__}.{type(connection).__qualname__}"
    message = (
        "Expected connection= to be a connection of asyncpg, psycopg 3, SQLAlchemy, Django or sqlite3 (the one that "
        f"your transaction runs on; no pool, engine or cursor), found {name}"
    )
    raise Misconfigured(message)


def _database(kind: str, connection: Connection) -> str:
    """What kind of database a connection leads to."""
    if kind == "sqlalchemy":
        bound = connection if hasattr(connection, "dialect") else connection.get_bind()
        return str(bound.dialect.name)
    if kind == "django":
        return str(connection.vendor)
    return "sqlite" if kind == "sqlite3" else "postgresql"


def _commits_by_itself(kind: str, connection: Connection) -> bool:
    """Whether each of several statements would be a transaction of its own."""
    match kind:
        case "asyncpg":
            return not connection.is_in_transaction()
        case "psycopg":
            return connection.autocommit and connection.info.transaction_status == 0  # IDLE of the protocol
        case "sqlalchemy":
            options = getattr(connection, "get_execution_options", dict[str, Any])()
            return options.get("isolation_level") == "AUTOCOMMIT"
        case "django":
            return not connection.in_atomic_block and connection.get_autocommit()
        case _:
            return connection.isolation_level is None and not connection.in_transaction


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
