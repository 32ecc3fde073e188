"""MariaDB to measure on: a server of our own with a database per run, seen through connections of the lab's own."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any, Final, cast
from urllib.parse import urlsplit

import asyncmy
import msgspec

from procession.lab._processor import processor_seconds
from procession.lab.databases import books_of
from procession.lab.mariadb_server import MariadbServer
from procession.lab.results import Books, DatabaseEnvironment, DatabaseWork

Connection = Any  # asyncmy.Connection, whose stubs leave out what we read
_dial: Any = cast("Any", asyncmy).connect

CLOCK_PROBES: Final = 5
_COMPLETED: Final = "select count(*) from procession_instance where status = 1"
_ENDS: Final = """
select place, ended_at / 1000.0
from (select ended_at, row_number() over (order by ended_at) as place from procession_instance where status = 1) ends
where place in ({places})"""
_STATUS: Final = """
show global status where variable_name in
('innodb_os_log_written', 'innodb_os_log_fsyncs', 'innodb_data_fsyncs', 'com_commit', 'handler_commit')"""


class MariadbDatabases:
    """One running server, which its owner stops."""

    def __init__(self, server: MariadbServer) -> None:
        self._server = server

    async def create(self, commit: str) -> MariadbDatabase:
        """An empty database; every commit waits for the disk."""
        del commit
        name = f"procession_bench_{secrets.token_hex(6)}"
        connection = await connect(self._server.url())
        try:
            await execute(connection, f"create database {name}")
        finally:
            connection.close()
        database = MariadbDatabase(self._server, name)
        await database.open()
        return database

    async def environment(self) -> DatabaseEnvironment:
        """Version, and what we set."""
        connection = await connect(self._server.url())
        try:
            ((version,),) = await fetch(connection, "select version()")
        finally:
            connection.close()
        return DatabaseEnvironment(
            name="mariadb", version=str(version), server="own", settings=dict(self._server.settings)
        )

    async def close(self) -> None:
        """Databases go with their server."""


class MariadbDatabase:
    """A database of one run, seen through a connection of its own."""

    def __init__(self, server: MariadbServer, name: str) -> None:
        self._server = server
        self._name = name
        self.url = server.url(name)
        self.notes: list[str] = []
        self._connection: Connection | None = None
        self._clock_ahead_s = 0.0
        self._begun: _Counts | None = None
        self._ended: _Counts | None = None

    async def open(self) -> None:
        """Connect, and compare the server's clock with ours."""
        self._connection = await connect(self.url)
        probes: list[tuple[float, float]] = []
        for _ in range(CLOCK_PROBES):
            before = time.time()
            ((there,),) = await fetch(self._lab, "select unix_timestamp(now(6))")
            after = time.time()
            probes.append((after - before, float(there) - (before + after) / 2))
        round_trip, ahead = min(probes)
        self._clock_ahead_s = ahead if abs(ahead) > round_trip else 0.0

    @property
    def _lab(self) -> Connection:
        assert self._connection is not None, "open it first"
        return self._connection

    async def settle(self) -> None:
        """Fresh statistics, and the server's own pages on disk."""
        tables = [row[0] for row in await fetch(self._lab, "show tables")]
        if tables:
            await fetch(self._lab, f"analyze table {', '.join(tables)}")
        await fetch(self._lab, "flush tables")

    async def completed(self) -> int:
        """A count of rows, as anybody would count them."""
        return await self.number(_COMPLETED)

    async def number(self, query: str) -> int:
        """The one number of a query."""
        ((found,),) = await fetch(self._lab, query)
        return int(found)

    async def ends(self, counts: Sequence[int]) -> dict[int, float]:
        """By the times that the server wrote into the rows."""
        places = ",".join(str(int(count)) for count in counts)
        rows = await fetch(self._lab, _ENDS.format(places=places))
        return {int(place): float(at) - self._clock_ahead_s for place, at in rows}

    async def books(self) -> Books:
        """Rows of each kind."""
        statuses = await fetch(self._lab, "select status, count(*) from procession_instance group by status")
        ((jobs, incidents, history),) = await fetch(
            self._lab,
            "select (select count(*) from procession_job), (select count(*) from procession_incident), "
            "(select count(*) from procession_history)",
        )
        return books_of(dict(statuses), int(jobs), int(incidents), int(history))

    async def begin_work(self) -> None:
        """Remember the counters."""
        self._begun = await self._counts()

    async def end_work(self) -> None:
        """Remember them again: they go on with whatever follows."""
        self._ended = await self._counts()

    async def work(self) -> DatabaseWork:
        """The differences, of the whole server."""
        begun, ended = self._begun, self._ended
        if begun is None or ended is None:
            return DatabaseWork()
        return DatabaseWork(
            cpu_s=round(ended.cpu_s - begun.cpu_s, 3),
            wal_bytes=ended.log_bytes - begun.log_bytes,
            wal_flushes=None if ended.flushes is None else ended.flushes - (begun.flushes or 0),
            commits=ended.commits - begun.commits,
        )

    async def _counts(self) -> _Counts:
        status = {str(name).lower(): int(value) for name, value in await fetch(self._lab, _STATUS)}
        return _Counts(
            cpu_s=processor_seconds(self._server.pid),
            log_bytes=status["innodb_os_log_written"],
            commits=status["com_commit"],
            flushes=status.get("innodb_os_log_fsyncs"),
        )

    async def flushes_per_s(self, seconds: float) -> float:
        """One row per transaction, in a table beside the product's."""
        connection = await connect(self.url)
        try:
            await execute(connection, "create table if not exists flush_probe (value int)")
            count, begun = 0, time.monotonic()
            while time.monotonic() - begun < seconds:
                await execute(connection, "insert into flush_probe values (1)")
                count += 1
            took = time.monotonic() - begun
            await execute(connection, "drop table flush_probe")
        finally:
            connection.close()
        return round(count / took, 1)

    async def drop(self) -> None:
        """Drop the database, ending whatever still uses it."""
        if self._connection is None:
            return
        connection, self._connection = self._connection, None
        async with AsyncExitStack() as stack:
            stack.callback(connection.close)
            query = "select id from information_schema.processlist where db = %s and id <> connection_id()"
            for (number,) in await fetch(connection, query, self._name):
                await _kill(connection, number)
            await execute(connection, f"drop database if exists {self._name}")


class _Counts(msgspec.Struct, kw_only=True, frozen=True):
    """The server's counters at one moment."""

    cpu_s: float
    log_bytes: int
    commits: int
    flushes: int | None


async def connect(url: str) -> Connection:
    """A connection on which each statement is a transaction."""
    parts = urlsplit(url)
    return await _dial(
        host=parts.hostname,
        port=parts.port,
        user=parts.username,
        password=(parts.password or "").encode(),
        database=parts.path[1:],
        autocommit=True,
    )


async def execute(connection: Connection, statement: str) -> None:
    """A statement without rows."""
    await fetch(connection, statement)


async def fetch(connection: Connection, query: str, *values: object) -> list[tuple[Any, ...]]:
    """All rows of a query."""
    cursor = connection.cursor()
    async with cursor:
        await cursor.execute(query, values or None)
        return list(await cursor.fetchall() or [])


async def _kill(connection: Connection, number: int) -> None:
    """End a session, if it has not ended meanwhile."""
    try:
        await execute(connection, f"kill connection {int(number)}")
    except cast("Any", asyncmy).errors.OperationalError:
        await asyncio.sleep(0)
