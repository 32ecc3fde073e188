"""The memory store to measure on: nothing to make and nothing to see from outside; its process counts for itself."""

from __future__ import annotations

from collections.abc import Sequence

from procession.errors import Bug
from procession.lab.results import Books, DatabaseEnvironment, DatabaseWork

UNSEEN = "counted by its own process through the public interface: nothing else can see the memory of a process"


class MemoryDatabases:
    """As many as are wanted."""

    async def create(self, commit: str) -> MemoryDatabase:
        """Each process has its own."""
        del commit
        return MemoryDatabase()

    async def environment(self) -> DatabaseEnvironment:
        """It is part of the product."""
        return DatabaseEnvironment(name="memory", version="memory", server="in process", settings={})

    async def close(self) -> None:
        """Nothing to stop."""


class MemoryDatabase:
    """The memory of one process."""

    url = "memory://"

    def __init__(self) -> None:
        self.notes = [UNSEEN]

    async def settle(self) -> None:
        """Nothing to write."""

    async def completed(self) -> int:
        """Nothing to see. Raises Bug."""
        raise Bug(UNSEEN)

    async def number(self, query: str) -> int:
        """Nothing to see. Raises Bug."""
        del query
        raise Bug(UNSEEN)

    async def ends(self, counts: Sequence[int]) -> dict[int, float]:
        """Nothing to see. Raises Bug."""
        del counts
        raise Bug(UNSEEN)

    async def books(self) -> Books:
        """Nothing to see. Raises Bug."""
        raise Bug(UNSEEN)

    async def begin_work(self) -> None:
        """It counts nothing."""

    async def end_work(self) -> None:
        """It counts nothing."""

    async def work(self) -> DatabaseWork:
        """Its processor time is the client's."""
        return DatabaseWork()

    async def flushes_per_s(self, seconds: float) -> None:
        """No disk."""
        del seconds

    async def drop(self) -> None:
        """It ends with its process."""
