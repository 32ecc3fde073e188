"""A queue in a file of SQLite, driven as other queues are: what `speaking.py` does is tried with it."""

import asyncio
import json
import sqlite3
from typing import Any

from speaking import Queue, speak


class Toy(Queue):
    """A table of jobs."""

    async def open(self) -> None:
        """Make the table."""
        file = self.url.removeprefix("sqlite:///").partition("?")[0]
        self._connection = sqlite3.connect(file, isolation_level=None)
        self._connection.execute("pragma journal_mode = wal")
        self._connection.execute("pragma synchronous = off")
        self._connection.execute("create table if not exists job (payload text)")
        self._connection.execute("create table if not exists instance (status integer)")

    async def insert_many(self, count: int) -> None:
        """Rows."""
        self._connection.executemany("insert into job values (?)", [('{"number":1}',)] * count)

    async def insert_one(self, payload: dict[str, Any]) -> None:
        """A row."""
        self._connection.execute("insert into job values (?)", (json.dumps(payload),))

    async def work(self) -> None:
        """One row after the other."""
        while True:
            for number, payload in self._connection.execute("select rowid, payload from job").fetchall():
                await self.handle(json.loads(payload))
                self._connection.execute("delete from job where rowid = ?", (number,))
            await asyncio.sleep(0.001)

    async def start(self) -> None:
        """An instance that ends at once."""
        self._connection.execute("insert into instance values (1)")
        self.done += 1


if __name__ == "__main__":
    speak(Toy)
