"""PostgreSQL to measure on: a server of our own or one that was given, with a database per run.

Everything is asked for on connections of its own. The product's own connections are never used or looked at.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import msgspec

from procession.lab._processor import processor_seconds
from procession.lab.databases import books_of
from procession.lab.postgres_server import PostgresServer
from procession.lab.results import Books, DatabaseEnvironment, DatabaseWork, RowsWritten

Connection = Any  # asyncpg.Connection, whose stubs are generic in the record class

STATISTICS_S_MAX: Final = 3.0  # sessions report what they wrote when they end
CLOCK_PROBES: Final = 5
# What says where something lies, not how it behaves.
SETTINGS_NOT_SHOWN: Final = ("%directory%", "%file%", "%path%", "port", "listen_addresses", "%socket%", "ssl%", "%name")

_COMPLETED: Final = "select count(*) from procession.instance where status = 1"
_ENDS: Final = """
select place, extract(epoch from ended_at)::float8
from (select ended_at, row_number() over (order by ended_at) as place from procession.instance where status = 1) ends
where place = any($1::bigint[])"""
_ROWS: Final = """
select relname, n_tup_ins, n_tup_upd, n_tup_del from pg_stat_user_tables
where schemaname = 'procession' and n_tup_ins + n_tup_upd + n_tup_del > 0"""
_WAL: Final = """
select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint, wal_records, wal_fpi from pg_stat_wal"""
# Only since PostgreSQL 18.
_FLUSHES: Final = "select sum(fsyncs)::bigint from pg_stat_io where object = 'wal'"
_SETTINGS: Final = """
select name, current_setting(name) from pg_settings
where source not in ('default', 'override', 'client', 'session') and not name like any($1::text[]) order by name"""


class PostgresDatabases:
    """One server. `own` is the one that we started, whose processor time we can see; it must be running."""

    def __init__(self, *, own: PostgresServer | None, url: str = "") -> None:
        self._own = own
        self._url = own.url() if own is not None else url
        self._names: list[str] = []

    async def create(self, commit: str) -> PostgresDatabase:
        """An empty database; asynchronous commit is a setting of the database, and of the product's URL."""
        name = f"procession_bench_{secrets.token_hex(6)}"
        self._names.append(name)  # before it is made: whatever interrupts us, it is known
        connection: Connection = await asyncpg.connect(self._url)
        try:
            await connection.execute(f"create database {name} template template0 encoding 'UTF8'")
            if commit == "async":
                await connection.execute(f"alter database {name} set synchronous_commit = off")
        finally:
            await connection.close()
        database = PostgresDatabase(self._url, name, self._own, asynchronous=commit == "async")
        await database.open()
        return database

    async def environment(self) -> DatabaseEnvironment:
        """Version, and the settings that are not the defaults."""
        connection: Connection = await asyncpg.connect(self._url)
        try:
            rows = await connection.fetch(_SETTINGS, list(SETTINGS_NOT_SHOWN))
            version = await connection.fetchval("show server_version")
        finally:
            await connection.close()
        return DatabaseEnvironment(
            name="postgres",
            version=f"PostgreSQL {version}",
            server="own" if self._own is not None else "given",
            settings={row[0]: row[1] for row in rows},
        )

    async def close(self) -> None:
        """Stop our own server; on another, drop what is left of what we made."""
        if self._own is not None:
            await asyncio.to_thread(self._own.close)
            return
        connection: Connection = await asyncpg.connect(self._url)
        try:
            for name in self._names:
                await connection.execute(f"drop database if exists {name} with (force)")
        finally:
            await connection.close()


class PostgresDatabase:
    """A database of one run, seen through a connection of its own."""

    def __init__(self, server_url: str, name: str, own: PostgresServer | None, *, asynchronous: bool) -> None:
        parts = urlsplit(server_url)
        self._server_url = server_url
        self._name = name
        self._own = own
        self._lab_url = urlunsplit(parts._replace(path=f"/{name}"))
        options = "&".join(filter(None, [parts.query, "synchronous_commit=off" if asynchronous else ""]))
        self.url = urlunsplit(parts._replace(path=f"/{name}", query=options))
        self.notes: list[str] = []
        self._connection: Connection | None = None
        self._clock_ahead_s = 0.0
        self._begun: _Counts | None = None
        self._ended: _Counts | None = None
        self._own_commits = 0

    async def open(self) -> None:
        """Connect, and compare the server's clock with ours."""
        self._connection = await asyncpg.connect(self._lab_url)
        probes: list[tuple[float, float]] = []
        for _ in range(CLOCK_PROBES):
            before = time.time()
            there = await self._lab.fetchval("select extract(epoch from clock_timestamp())::float8")
            after = time.time()
            probes.append((after - before, there - (before + after) / 2))
        round_trip, ahead = min(probes)
        # A clock that agrees within the time of the question is the same clock.
        self._clock_ahead_s = ahead if abs(ahead) > round_trip else 0.0

    @property
    def _lab(self) -> Connection:
        assert self._connection is not None, "open it first"
        return self._connection

    async def settle(self) -> None:
        """VACUUM ANALYZE and CHECKPOINT."""
        await self._lab.execute("vacuum analyze")
        try:
            await self._lab.execute("checkpoint")
        except asyncpg.InsufficientPrivilegeError:
            self.notes.append("no CHECKPOINT before the run: the server does not allow it to this user")

    async def completed(self) -> int:
        """A count of rows, as anybody would count them."""
        return await self.number(_COMPLETED)

    async def number(self, query: str) -> int:
        """The one number of a query."""
        self._own_commits += 1
        return await self._lab.fetchval(query)

    async def hold(self) -> Connection:
        """Begin a transaction that sees everything as it is now, with a number of its own; close it to end it."""
        connection: Connection = await asyncpg.connect(self._lab_url)
        await connection.execute("begin isolation level repeatable read; select pg_current_xact_id()")
        return connection

    async def ends(self, counts: Sequence[int]) -> dict[int, float]:
        """By the times that the server wrote into the rows."""
        rows = await self._lab.fetch(_ENDS, list(counts))
        return {row[0]: row[1] - self._clock_ahead_s for row in rows}

    async def books(self) -> Books:
        """Rows of each kind."""
        statuses = await self._lab.fetch("select status, count(*) from procession.instance group by status")
        jobs, incidents, history = await self._lab.fetchrow(
            "select (select count(*) from procession.job), (select count(*) from procession.incident), "
            "(select count(*) from procession.history)"
        )
        return books_of({row[0]: row[1] for row in statuses}, jobs, incidents, history)

    async def begin_work(self) -> None:
        """Remember the counters, once they have stopped moving."""
        await self._lab.execute("select pg_stat_force_next_flush()")
        self._begun = await self._counts()
        self._own_commits = 1

    async def end_work(self) -> None:
        """Remember the log's end and the processor time: they go on with whatever follows."""
        self._ended = await self._counts()

    async def work(self) -> DatabaseWork:
        """The differences. What sessions report themselves is taken when every other session has ended."""
        begun, ended = self._begun, self._ended
        if begun is None or ended is None:
            return DatabaseWork()
        own_commits = self._own_commits
        await self._await_silence()
        final = await self._counts()
        rows = {
            table: RowsWritten(inserted=now[0] - old[0], updated=now[1] - old[1], deleted=now[2] - old[2])
            for table, now in final.rows.items()
            for old in [begun.rows.get(table, (0, 0, 0))]
        }
        return DatabaseWork(
            cpu_s=None if ended.cpu_s is None or begun.cpu_s is None else round(ended.cpu_s - begun.cpu_s, 3),
            wal_bytes=ended.wal_bytes - begun.wal_bytes,
            wal_records=final.wal_records - begun.wal_records,
            wal_full_pages=final.wal_full_pages - begun.wal_full_pages,
            wal_flushes=None if final.flushes is None else final.flushes - (begun.flushes or 0),
            commits=max(0, final.commits - begun.commits - own_commits),
            rows={table: written for table, written in sorted(rows.items()) if any(_values(written))},
        )

    async def _await_silence(self) -> None:
        """Return when we are the only session left on this database, or after a while."""
        deadline = time.monotonic() + STATISTICS_S_MAX
        others = "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
        while await self._lab.fetchval(others) and time.monotonic() < deadline:  # noqa: ASYNC110 - sessions send no word
            await asyncio.sleep(0.01)
        await self._lab.execute("select pg_stat_clear_snapshot()")

    async def _counts(self) -> _Counts:
        commits = await self._lab.fetchval(
            "select xact_commit from pg_stat_database where datname = current_database()"
        )
        wal = await self._lab.fetchrow(_WAL)
        rows = await self._lab.fetch(_ROWS)
        return _Counts(
            cpu_s=None if self._own is None else processor_seconds(self._own.pid),
            commits=commits,
            wal_bytes=wal[0],
            wal_records=wal[1],
            wal_full_pages=wal[2],
            flushes=await self._lab.fetchval(_FLUSHES) if self._lab.get_server_version() >= (18,) else None,
            rows={row[0]: (row[1], row[2], row[3]) for row in rows},
        )

    async def flushes_per_s(self, seconds: float) -> float:
        """One row per transaction, `synchronous_commit` on, in a table beside the product's schema."""
        connection: Connection = await asyncpg.connect(self._lab_url, server_settings={"synchronous_commit": "on"})
        try:
            await connection.execute("create table if not exists public.flush_probe (value int)")
            insert = await connection.prepare("insert into public.flush_probe values (1)")
            count, begun = 0, time.monotonic()
            while time.monotonic() - begun < seconds:
                await insert.fetch()
                count += 1
            took = time.monotonic() - begun
            await connection.execute("drop table public.flush_probe")
        finally:
            await connection.close()
        return round(count / took, 1)

    async def drop(self) -> None:
        """Drop the database, ending whatever still uses it."""
        if self._connection is None:
            return
        connection, self._connection = self._connection, None
        await connection.close()
        server: Connection = await asyncpg.connect(self._server_url)
        try:
            await server.execute(f"drop database if exists {self._name} with (force)")
        finally:
            await server.close()


class _Counts(msgspec.Struct, kw_only=True, frozen=True):
    """The server's counters at one moment."""

    cpu_s: float | None
    commits: int
    wal_bytes: int
    wal_records: int
    wal_full_pages: int
    flushes: int | None  # null before PostgreSQL 18
    rows: dict[str, tuple[int, int, int]]  # inserted, updated, deleted


def _values(written: RowsWritten) -> tuple[int, int, int]:
    return written.inserted, written.updated, written.deleted
