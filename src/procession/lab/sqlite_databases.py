"""SQLite to measure on: a file per run. It reads with connections of its own and writes nothing while a run goes on."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from procession.lab.databases import books_of
from procession.lab.results import Books, DatabaseEnvironment, DatabaseWork

BUSY_S = 10.0


class SqliteDatabases:
    """Files in a temporary folder, which is there from the beginning and goes with `close`."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="procession-bench-", ignore_cleanup_errors=True)
        self._made = 0

    async def create(self, commit: str) -> SqliteDatabase:
        """A folder with a file that is not there yet; the product makes it."""
        self._made += 1
        folder = Path(self._folder.name, str(self._made))
        folder.mkdir()  # noqa: ASYNC240 - at once, so that no cancellation can come in between
        return SqliteDatabase(folder, commit)

    async def environment(self) -> DatabaseEnvironment:
        """The library's version; how it is used is the product's choice."""
        return DatabaseEnvironment(
            name="sqlite", version=f"SQLite {sqlite3.sqlite_version}", server="in process", settings={}
        )

    async def close(self) -> None:
        """Remove all files."""
        await asyncio.to_thread(self._folder.cleanup)


class SqliteDatabase:
    """One file."""

    def __init__(self, folder: Path, synchronous: str) -> None:
        self._folder = folder
        self._file = folder / "bench.db"
        self.url = f"sqlite:///{self._file}?synchronous={synchronous}"
        self.notes: list[str] = []

    async def settle(self) -> None:
        """ANALYZE, and move the log into the file: the only thing that is written from here."""

        def work() -> None:
            with closing(sqlite3.connect(self._file, timeout=BUSY_S)) as connection:
                connection.execute("analyze")
                connection.execute("pragma wal_checkpoint(truncate)")

        await asyncio.to_thread(work)

    async def completed(self) -> int:
        """A count of rows, as anybody would count them."""
        return await self.number("select count(*) from procession_instance where status = 1")

    async def number(self, query: str) -> int:
        """The one number of a query."""
        return (await self._read(query))[0][0]

    async def ends(self, counts: Sequence[int]) -> dict[int, float]:
        """By the times that the product wrote into the rows."""
        places = ",".join(str(int(count)) for count in counts)
        rows = await self._read(
            "select place, ended_at / 1000.0 from (select ended_at, row_number() over (order by ended_at) as place "  # noqa: S608 - whole numbers only
            f"from procession_instance where status = 1) where place in ({places})"
        )
        return dict(rows)

    async def books(self) -> Books:
        """Rows of each kind."""
        statuses = await self._read("select status, count(*) from procession_instance group by status")
        ((jobs, incidents, history),) = await self._read(
            "select (select count(*) from procession_job), (select count(*) from procession_incident), "
            "(select count(*) from procession_history)"
        )
        return books_of(dict(statuses), jobs, incidents, history)

    async def begin_work(self) -> None:
        """It works within the client's process and keeps no counters."""

    async def end_work(self) -> None:
        """See `begin_work`."""

    async def work(self) -> DatabaseWork:
        """Nothing is known: it counts nothing, and its processor time is the client's."""
        return DatabaseWork()

    async def flushes_per_s(self, seconds: float) -> float:
        """One row per transaction, `synchronous=FULL`, in a file beside the product's."""

        def work() -> float:
            file = self._folder / "probe.db"
            with closing(sqlite3.connect(file, isolation_level=None)) as connection:
                connection.execute("pragma journal_mode = wal")
                connection.execute("pragma synchronous = full")
                connection.execute("create table if not exists probe (value integer)")
                count, begun = 0, time.monotonic()
                while time.monotonic() - begun < seconds:
                    connection.execute("insert into probe values (1)")
                    count += 1
                return count / (time.monotonic() - begun)

        return round(await asyncio.to_thread(work), 1)

    async def drop(self) -> None:
        """Remove the folder."""
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

    async def _read(self, statement: str) -> list[tuple[Any, ...]]:
        """Rows of a query on a connection that cannot write."""

        def work() -> list[tuple[Any, ...]]:
            uri = f"file:{self._file}?mode=ro"
            with closing(sqlite3.connect(uri, uri=True, timeout=BUSY_S)) as connection:
                return connection.execute(statement).fetchall()

        return await asyncio.to_thread(work)
