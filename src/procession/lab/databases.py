"""The databases that the simple process is measured on, seen from outside: made, settled, counted, dropped.

It counts with connections of its own and never asks the product. On a server that its user gave, it makes databases of
its own and drops them again; it reads and writes nothing else there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from procession.lab.results import Books, DatabaseEnvironment, DatabaseWork

STATUS_NAMES = {0: "active", 1: "completed", 2: "terminated", 3: "suspended"}


class BenchDatabase(Protocol):
    """A database for one run."""

    url: str  # for the product
    notes: list[str]  # what could not be done as the method says

    async def settle(self) -> None:
        """After the schema is there: statistics up to date, everything that was written so far on disk."""
        ...

    async def completed(self) -> int:
        """How many instances have completed."""
        ...

    async def ends(self, counts: Sequence[int]) -> dict[int, float]:
        """For each of these counts the instant (seconds since the epoch, this machine's clock) it was reached at."""
        ...

    async def number(self, query: str) -> int:
        """The one number that a query gives, read by a connection of its own."""
        ...

    async def books(self) -> Books:
        """Everything that is there."""
        ...

    async def begin_work(self) -> None:
        """Count what the database does from now on."""
        ...

    async def end_work(self) -> None:
        """Count no longer: what follows is not the run's."""
        ...

    async def work(self) -> DatabaseWork:
        """What it did in between; the product's connections must be closed by now, since each reports when it ends."""
        ...

    async def flushes_per_s(self, seconds: float) -> float | None:
        """Single rows committed one after the other, each on disk before the next; None where there is no disk."""
        ...

    async def drop(self) -> None:
        """Remove it and everything in it. Safe to call twice."""
        ...


class BenchDatabases(Protocol):
    """Where such databases come from: one server, or a folder."""

    async def create(self, commit: str) -> BenchDatabase:
        """An empty database; `commit` is on | async on PostgreSQL, NORMAL | FULL on SQLite."""
        ...

    async def environment(self) -> DatabaseEnvironment:
        """What it is."""
        ...

    async def close(self) -> None:
        """Stop what was started."""
        ...


def books_of(statuses: dict[int, int], jobs: int, incidents: int, history_rows: int) -> Books:
    """The counts by name."""
    return Books(
        instances={STATUS_NAMES.get(status, str(status)): count for status, count in sorted(statuses.items())},
        jobs=jobs,
        incidents=incidents,
        history_rows=history_rows,
    )
