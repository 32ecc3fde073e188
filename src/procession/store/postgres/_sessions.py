"""Connections, and who may use them: a session speaks named statements within a deadline, a group lends its sessions.

Groups are lanes: commits, claims, finishes and the rest never wait for each other's connections. A session whose
outcome is unknown (no answer, a broken connection, a cancelled caller) is closed, never reused; the next call connects
anew, so a group heals by itself after a restart of the server.

Round trips: ``fetch`` is one, the first use of a statement in a session one more (prepare), a transaction two more.
With ``pooled`` (a pooler in transaction mode between us and the server) nothing is prepared and nothing is set on the
session, and each lone statement is wrapped in a transaction, so that its two messages reach the same server.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, Self

import asyncpg
from asyncpg.prepared_stmt import PreparedStatement

from procession.errors import Misconfigured, ProcessionError
from procession.store._shared.lending import Lending
from procession.store._shared.statements import load_statements
from procession.store.postgres._failures import leaves_connection_usable, meaning_of, meaning_of_connecting
from procession.store.rows import Row

# The rows that asyncpg gives; their columns are read by position or name where they are turned into rows of ours.
Record = Any
Connection = Any  # asyncpg.Connection, whose stubs are generic in the record class

PACKAGE: Final = "procession.store.postgres"
QUEUE: Final = "queue_"  # in front of the names of the statements that scripts of _shared/queue ask for
SERVER_SHARE: Final = 0.9  # of the deadline: the server gives up before we do, so that most timeouts have an outcome
_SCHEMA_NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,47}")
_OUR_SCHEMA: Final = re.compile(r"\bprocession\.(?=[a-z_])")
_EPOCH_2000_US: Final = 946_684_800_000_000  # PostgreSQL counts from 2000-01-01

# Every hot statement reaches its tables by arrays of keys (`key = any(...)`) and joins what it was given by hashing.
# These settings make that the only plan, whatever the statistics said when the plan was made: a plan made on an empty
# table would otherwise scan it whole, and go on doing so when it holds a million rows. They also make rows come in key
# order, which is the order of locks.
HOT: Final = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_bitmapscan": "off",
    "enable_nestloop": "off",
    "enable_mergejoin": "off",
}
# Listings take any combination of conditions: planned with their values each time.
FREE: Final = {"plan_cache_mode": "force_custom_plan"}


class Options(Row, kw_only=True):
    """How sessions of a store are made."""

    url: str
    deadline_s: float
    connect_s: float
    pooled: bool
    synchronous_commit: bool


class Statements:
    """The texts of a store's statements, for its schema."""

    def __init__(self, schema: str) -> None:
        if not _SCHEMA_NAME.fullmatch(schema):
            raise Misconfigured(
                f"Expected a schema name of at most 48 lower-case letters, digits and underscores, got {schema!r}"
            )
        self.schema = schema
        texts = load_statements(PACKAGE) | {
            f"{QUEUE}{name}": sql for name, sql in load_statements(PACKAGE, "queue").items()
        }
        self._texts = {name: self.of_schema(sql) for name, sql in texts.items()}

    def __getitem__(self, name: str) -> str:
        return self._texts[name]

    def of_schema(self, sql: str) -> str:
        """SQL written for the schema ``procession``, for this schema."""
        return _OUR_SCHEMA.sub(f"{self.schema}.", sql)


class Session:
    """One connection: named statements, each prepared once, and transactions."""

    def __init__(self, connection: Connection, statements: Statements, options: Options) -> None:
        self.connection = connection
        self._statements = statements
        self._deadline_s = options.deadline_s
        self._pooled = options.pooled
        self._prepared: dict[str, PreparedStatement[Any]] = {}
        self._in_transaction = False
        self._joined = False

    def join(self) -> Self:
        """The connection is within a transaction that somebody else ends: ``transaction`` takes part in it."""
        self._in_transaction = self._joined = True
        return self

    @property
    def usable(self) -> bool:
        """Whether the next call may use it."""
        return not self.connection.is_closed()

    async def fetch(self, name: str, *values: object) -> list[Record]:
        """Execute a named statement; all of its rows."""
        try:
            if self._pooled:
                return await self._fetch_unprepared(name, values)
            prepared = self._prepared.get(name)
            if prepared is None:
                prepared = await self.connection.prepare(
                    self._statements[name],
                    name=f"procession_{name}",  # a nameless one would be parsed and planned each time
                    timeout=self._deadline_s,
                )
                self._prepared[name] = prepared
            return await prepared.fetch(*values, timeout=self._deadline_s)
        except BaseException as failure:
            raise self._after(failure, name) from failure

    async def copy(self, table: str, columns: Sequence[str], rows: bytes) -> None:
        """Insert rows, written as COPY's text, as a transaction of their own: two round trips."""

        async def source() -> AsyncGenerator[bytes, None]:
            yield rows

        to = {"schema_name": self._statements.schema, "columns": columns}
        try:
            await self.connection.copy_to_table(table, source=source(), timeout=self._deadline_s, **to)
        except BaseException as failure:
            raise self._after(failure, f"copy to {table}") from failure

    async def execute(self, sql: str, where: str, deadline_s: float = 0) -> None:
        """Execute SQL without values, if need be several statements at once."""
        try:
            await self.connection.execute(sql, timeout=deadline_s or self._deadline_s)
        except BaseException as failure:
            raise self._after(failure, where) from failure

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[Session, None]:
        """Everything within is committed at the end, or nothing."""
        if self._joined:
            yield self
            return
        await self.execute("begin", "begin")
        self._in_transaction = True
        try:
            yield self
        except BaseException:
            await self._roll_back()
            raise
        else:
            await self.execute("commit", "commit")
        finally:
            self._in_transaction = False

    def drop(self) -> None:
        """Close at once, without waiting for the server."""
        self.connection.terminate()

    async def close(self) -> None:
        """Close in order, or at once if the server does not answer."""
        try:
            await self.connection.close(timeout=self._deadline_s)
        except (TimeoutError, OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
            self.drop()

    async def _roll_back(self) -> None:
        if self.usable:
            with suppress(ProcessionError):  # the session is closed then, which rolls back as well
                await self.execute("rollback", "rollback")

    async def _fetch_unprepared(self, name: str, values: Sequence[object]) -> list[Record]:
        if self._in_transaction:
            return await self.connection.fetch(self._statements[name], *values, timeout=self._deadline_s)
        async with self.transaction():
            return await self.connection.fetch(self._statements[name], *values, timeout=self._deadline_s)

    def _after(self, failure: BaseException, where: str) -> BaseException:
        if isinstance(failure, ProcessionError):
            return failure
        if not leaves_connection_usable(failure) and not isinstance(failure, ValueError | TypeError):
            self.drop()
        if isinstance(failure, Exception):
            return meaning_of(failure, where, self._deadline_s)
        return failure


class Sessions(Lending[Session]):
    """A group of up to ``size`` sessions, connected when needed, lent to one caller at a time."""

    def __init__(self, size: int, settings: dict[str, str], options: Options, statements: Statements) -> None:
        super().__init__(size, options.deadline_s)
        self.options = options
        self.statements = statements
        self._settings = settings

    async def connect(self) -> Session:
        """A session outside of the group's count, for whoever keeps it."""
        return Session(await connect(self.options, self._settings), self.statements, self.options)

    async def fetch(self, name: str, *values: object) -> list[Record]:
        """Execute one statement as its own transaction."""
        session = await self.take()
        try:
            return await session.fetch(name, *values)
        finally:
            self.give_back(session)

    async def copy(self, table: str, columns: Sequence[str], rows: bytes) -> None:
        """Insert rows, written as COPY's text, as a transaction of their own."""
        session = await self.take()
        try:
            await session.copy(table, columns, rows)
        finally:
            self.give_back(session)


async def connect(options: Options, settings: dict[str, str]) -> Connection:
    """A connection with our types: instants as milliseconds, JSON as bytes."""
    if options.pooled:
        settings = {}
    else:
        settings = {
            "application_name": "procession",
            "jit": "off",
            "synchronous_commit": "on" if options.synchronous_commit else "off",
            "statement_timeout": str(int(options.deadline_s * SERVER_SHARE * 1000)),
            "idle_in_transaction_session_timeout": str(int(options.deadline_s * 1000)),
            # A peer that vanished is noticed by the server too, so that its locks do not stay.
            "tcp_keepalives_idle": "10",
            "tcp_keepalives_interval": "5",
            "tcp_keepalives_count": "3",
            **settings,
        }
    try:
        connection = await asyncpg.connect(
            options.url,
            timeout=options.connect_s,
            statement_cache_size=0,  # sessions keep their own, by name
            server_settings=settings,
        )
    except Exception as failure:
        raise meaning_of_connecting(failure, options.url, options.connect_s) from failure
    await use_our_types(connection)
    return connection


async def use_our_types(connection: Connection) -> None:
    """Instants as milliseconds, JSON as bytes."""
    for name, form, encoder, decoder in _CODECS:
        await connection.set_type_codec(name, schema="pg_catalog", format=form, encoder=encoder, decoder=decoder)


async def use_its_own_types(connection: Connection) -> None:
    """As asyncpg has them, for whoever else uses the connection."""
    for name, *_ in _CODECS:
        await connection.reset_type_codec(name, schema="pg_catalog")


def _instant_out(milliseconds: int) -> tuple[int]:
    return (milliseconds * 1000 - _EPOCH_2000_US,)


def _instant_in(value: tuple[int]) -> int:
    return (value[0] + _EPOCH_2000_US) // 1000


def _jsonb_out(value: bytes) -> bytes:
    return b"\x01" + value  # the version of the format


def _jsonb_in(value: bytes) -> bytes:
    return value[1:]


_CODECS: Final[tuple[tuple[str, str, Callable[[Any], Any], Callable[[Any], Any]], ...]] = (
    ("timestamptz", "tuple", _instant_out, _instant_in),
    ("jsonb", "binary", _jsonb_out, _jsonb_in),
    ("json", "binary", bytes, bytes),
)
