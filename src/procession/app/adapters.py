"""How each database library's connection is recognised, asked and used. Nothing here commits or rolls back.

One class for each library; ``LIBRARIES`` lists them. The libraries themselves are not imported: who passes a connection
of one has it.
"""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from procession.store.rows import Statement

Connection = Any
NAME: Final = re.compile(r":([a-z_]+)")
DATABASE_NAME: Final = {"postgresql": "select current_database()", "mysql": "select database()"}
IDLE: Final = 0  # a transaction status of PostgreSQL's protocol: none is under way
IN_TRANSACTION: Final = 1  # a bit of the server's status in MySQL's protocol


class Library(ABC):
    """One database library. ``package``: its top module; ``mark``: what its connections have, its pools have not."""

    package: str
    mark: str
    begin: str  # how a transaction is begun

    @abstractmethod
    def database(self, connection: Connection) -> str:
        """What kind of database a connection leads to: postgresql, sqlite, ..."""

    @abstractmethod
    def place(self, connection: Connection) -> str:
        """The database's name, or the file; empty where that is not known without asking."""

    @abstractmethod
    def commits_by_itself(self, connection: Connection) -> bool:
        """Whether each of several statements would be a transaction of its own."""

    @abstractmethod
    def end(self, connection: Connection) -> Callable[[], bool]:
        """A function that says, without asking the server and from any thread, whether this transaction is over."""

    @abstractmethod
    def run(self, connection: Connection, statements: Sequence[Statement]) -> Awaitable[None] | None:
        """Execute statements in order; an awaitable where the connection is asynchronous."""

    @abstractmethod
    def ask(self, connection: Connection, sql: str) -> Any:  # noqa: ANN401 - a value, or an awaitable of one
        """One value."""


class Asyncpg(Library):
    """Connections of asyncpg, lent by a pool or not."""

    package = "asyncpg"
    mark = "is_in_transaction"
    begin = "async with connection.transaction()"

    def database(self, connection: Connection) -> str:  # noqa: ARG002 - there is one kind
        """It knows no other."""
        return "postgresql"

    def place(self, connection: Connection) -> str:
        """What it was told to connect to; asyncpg has no public name for it."""
        return str(getattr(getattr(connection, "_params", None), "database", "") or "")

    def commits_by_itself(self, connection: Connection) -> bool:
        """Outside of a transaction."""
        return not connection.is_in_transaction()

    def end(self, connection: Connection) -> Callable[[], bool]:
        """The transaction of now, by its object where asyncpg shows it: its connection may have begun the next one."""
        begun = getattr(connection, "_top_xact", None)
        return lambda: not connection.is_in_transaction() or getattr(connection, "_top_xact", None) is not begun

    async def run(self, connection: Connection, statements: Sequence[Statement]) -> None:
        """With numbered placeholders."""
        for statement in statements:
            names: list[str] = []

            def number(match: re.Match[str], names: list[str] = names) -> str:
                name = match[1]
                if name not in names:
                    names.append(name)
                return f"${names.index(name) + 1}"

            sql = NAME.sub(number, statement.sql)
            await connection.execute(sql, *(statement.values[name] for name in names))

    async def ask(self, connection: Connection, sql: str) -> object:
        """One value."""
        return await connection.fetchval(sql)


class Psycopg(Library):
    """Connections of psycopg 3, synchronous and asynchronous."""

    package = "psycopg"
    mark = "autocommit"
    begin = "with connection.transaction()"

    def database(self, connection: Connection) -> str:  # noqa: ARG002 - there is one kind
        """It knows no other."""
        return "postgresql"

    def place(self, connection: Connection) -> str:
        """What it was told to connect to."""
        return str(connection.info.dbname)

    def commits_by_itself(self, connection: Connection) -> bool:
        """With ``autocommit``, outside of a transaction block."""
        return connection.autocommit and connection.info.transaction_status == IDLE

    def end(self, connection: Connection) -> Callable[[], bool]:
        """A look at what libpq remembers."""
        return lambda: connection.closed or connection.info.transaction_status == IDLE

    def run(self, connection: Connection, statements: Sequence[Statement]) -> Awaitable[None] | None:
        """With named placeholders."""
        if inspect.iscoroutinefunction(connection.execute):
            return self._run_async(connection, statements)
        for statement in statements:
            connection.execute(percent(statement.sql), statement.values)
        return None

    async def _run_async(self, connection: Connection, statements: Sequence[Statement]) -> None:
        for statement in statements:
            await connection.execute(percent(statement.sql), statement.values)

    def ask(self, connection: Connection, sql: str) -> Any:  # noqa: ANN401 - a value, or an awaitable of one
        """One value, whatever the connection makes of rows."""
        from psycopg.rows import scalar_row  # noqa: PLC0415 - optional: only who passes such a connection has it

        if not inspect.iscoroutinefunction(connection.execute):
            with connection.cursor(row_factory=scalar_row) as cursor:
                return cursor.execute(sql).fetchone()

        async def ask() -> object:
            async with connection.cursor(row_factory=scalar_row) as cursor:
                await cursor.execute(sql)
                return await cursor.fetchone()

        return ask()


class SQLAlchemy(Library):
    """Connections and sessions of SQLAlchemy, synchronous and asynchronous."""

    package = "sqlalchemy"
    mark = "execute"
    begin = "with connection.begin(), without the isolation level AUTOCOMMIT"

    def database(self, connection: Connection) -> str:
        """What its dialect is for."""
        name = str(_bound(connection).dialect.name)
        return "mysql" if name == "mariadb" else name

    def place(self, connection: Connection) -> str:
        """What its engine was made for."""
        return str(_bound(connection).engine.url.database or "")

    def commits_by_itself(self, connection: Connection) -> bool:
        """At the isolation level AUTOCOMMIT, of the connection or of its engine."""
        return _bound(connection).get_execution_options().get("isolation_level") == "AUTOCOMMIT"

    def end(self, connection: Connection) -> Callable[[], bool]:
        """The transaction of now is there no more, or another one is in its place."""
        # A transaction begins with the first statement: there is one by now, unless somebody else's session is odd.
        begun = connection.get_transaction()
        return lambda: begun is None or not begun.is_active or connection.get_transaction() is not begun

    def run(self, connection: Connection, statements: Sequence[Statement]) -> Awaitable[None] | None:
        """Its own placeholders are ours."""
        from sqlalchemy import text  # noqa: PLC0415 - optional: only who passes such a connection has it

        if not inspect.iscoroutinefunction(connection.execute):
            for statement in statements:
                connection.execute(text(statement.sql), statement.values)
            return None

        async def run() -> None:
            for statement in statements:
                await connection.execute(text(statement.sql), statement.values)

        return run()

    def ask(self, connection: Connection, sql: str) -> Any:  # noqa: ANN401 - a value, or an awaitable of one
        """One value."""
        from sqlalchemy import text  # noqa: PLC0415 - optional: only who passes such a connection has it

        return connection.scalar(text(sql))


class Django(Library):
    """Django's wrappers of connections, and the proxy ``django.db.connection``."""

    package = "django"
    mark = "in_atomic_block"
    begin = "with transaction.atomic()"

    def database(self, connection: Connection) -> str:
        """What its backend is for."""
        return str(connection.vendor)

    def place(self, connection: Connection) -> str:
        """What its settings name."""
        return str(connection.settings_dict["NAME"] or "")

    def commits_by_itself(self, connection: Connection) -> bool:
        """Outside of ``atomic``, unless its settings switch autocommit off."""
        return not connection.in_atomic_block and connection.get_autocommit()

    def end(self, connection: Connection) -> Callable[[], bool]:
        """Django says when it has committed. A proxy means another connection in each thread: it is looked through."""
        own = getattr(connection, "_connections", None)
        wrapper = connection if own is None else own[connection._alias]  # noqa: SLF001 - the proxy hides what it is for
        if not wrapper.in_atomic_block:
            return lambda: not wrapper.in_atomic_block
        committed: list[bool] = []
        wrapper.on_commit(lambda: committed.append(True))
        return lambda: bool(committed) or not wrapper.in_atomic_block

    def run(self, connection: Connection, statements: Sequence[Statement]) -> None:
        """With named placeholders."""
        with connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(percent(statement.sql), statement.values)

    def ask(self, connection: Connection, sql: str) -> object:
        """One value."""
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchone()[0]


class SQLite(Library):
    """Connections of the standard library's sqlite3."""

    package = "sqlite3"
    mark = "in_transaction"
    begin = "connection.execute('begin immediate')"

    def database(self, connection: Connection) -> str:  # noqa: ARG002 - there is one kind
        """It knows no other."""
        return "sqlite"

    def place(self, connection: Connection) -> str:
        """The file of its main database."""
        for _, name, file in connection.execute("pragma database_list").fetchall():
            if name == "main":
                return file or ":memory:"
        return ""

    def commits_by_itself(self, connection: Connection) -> bool:
        """With isolation level None, outside of a transaction."""
        return connection.isolation_level is None and not connection.in_transaction

    def end(self, connection: Connection) -> Callable[[], bool]:
        """SQLite knows it."""
        return lambda: not connection.in_transaction

    def run(self, connection: Connection, statements: Sequence[Statement]) -> None:
        """Its own placeholders are ours."""
        for statement in statements:
            connection.execute(statement.sql, statement.values)

    def ask(self, connection: Connection, sql: str) -> object:
        """One value."""
        return connection.execute(sql).fetchone()[0]


class PyMySQL(Library):
    """Connections of PyMySQL."""

    package = "pymysql"
    mark = "get_autocommit"
    begin = "connection.begin()"

    def database(self, connection: Connection) -> str:  # noqa: ARG002 - there is one kind
        """MariaDB and MySQL are one kind to us."""
        return "mysql"

    def place(self, connection: Connection) -> str:
        """What it was told to connect to."""
        name = connection.db or ""
        return name.decode() if isinstance(name, bytes) else str(name)

    def commits_by_itself(self, connection: Connection) -> bool:
        """With autocommit, outside of a transaction."""
        return bool(connection.get_autocommit()) and not _is_in_transaction(connection)

    def end(self, connection: Connection) -> Callable[[], bool]:
        """What the server said with its last answer."""
        return lambda: not connection.open or not _is_in_transaction(connection)

    def run(self, connection: Connection, statements: Sequence[Statement]) -> None:
        """With named placeholders."""
        with connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(percent(statement.sql), statement.values)

    def ask(self, connection: Connection, sql: str) -> object:
        """One value, whatever the connection makes of rows."""
        from pymysql.cursors import Cursor  # noqa: PLC0415 - optional: only who passes such a connection has it

        with connection.cursor(Cursor) as cursor:
            cursor.execute(sql)
            row: Any = cursor.fetchone()
            return row[0]


class Asyncmy(Library):
    """Connections of asyncmy, lent by a pool or not."""

    package = "asyncmy"
    mark = "get_autocommit"
    begin = "await connection.begin()"

    def database(self, connection: Connection) -> str:  # noqa: ARG002 - there is one kind
        """MariaDB and MySQL are one kind to us."""
        return "mysql"

    def place(self, connection: Connection) -> str:
        """What it was told to connect to; asyncmy has no public name for it."""
        return str(getattr(connection, "_db", "") or "")

    def commits_by_itself(self, connection: Connection) -> bool:
        """With autocommit, outside of a transaction."""
        return bool(connection.get_autocommit()) and not _is_in_transaction(connection)

    def end(self, connection: Connection) -> Callable[[], bool]:
        """What the server said with its last answer."""
        return lambda: not connection.connected or not _is_in_transaction(connection)

    async def run(self, connection: Connection, statements: Sequence[Statement]) -> None:
        """With named placeholders."""
        async with connection.cursor() as cursor:
            for statement in statements:
                await cursor.execute(percent(statement.sql), statement.values)

    async def ask(self, connection: Connection, sql: str) -> object:
        """One value, whatever the connection makes of rows."""
        from asyncmy.cursors import Cursor  # noqa: PLC0415 - optional: only who passes such a connection has it

        async with connection.cursor(cursor=Cursor) as cursor:
            await cursor.execute(sql)
            return (await cursor.fetchone())[0]


LIBRARIES: Final[tuple[Library, ...]] = (
    *(Asyncpg(), Psycopg(), SQLAlchemy(), Django(), SQLite()),
    *(PyMySQL(), Asyncmy()),
)


def _is_in_transaction(connection: Connection) -> bool:
    """Whether the last answer of a MariaDB or MySQL server said that a transaction is under way."""
    return bool(connection.server_status & IN_TRANSACTION)


def percent(sql: str) -> str:
    """The statement with pyformat placeholders."""
    return NAME.sub(r"%(\1)s", sql.replace("%", "%%"))


def _bound(connection: Connection) -> Any:  # noqa: ANN401 - SQLAlchemy's
    """What knows its dialect and its options: the (synchronous) connection itself, or a session's engine."""
    inner = getattr(connection, "sync_connection", None) or connection
    return inner if hasattr(inner, "dialect") else inner.get_bind()
