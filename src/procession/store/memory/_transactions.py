"""What stands for a handler's transaction in memory: there is no connection, and nothing of the handler's to undo."""

from __future__ import annotations

from typing import TYPE_CHECKING

from procession.ids import Keys
from procession.store.rows import JobOutcome, Step, StepResult

if TYPE_CHECKING:
    from procession.store.memory._store import MemoryStore


class MemoryTransaction:
    """The end of one job, as any other."""

    connection = None

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    async def commit(self, step: Step, keys: Keys) -> StepResult:
        """Apply a step."""
        (result,) = await self._store.commit([step], keys)
        return result

    async def finish(self, outcome: JobOutcome) -> tuple[bool, list[str]]:
        """End the run of a plain job."""
        (applied,) = await self._store.finish([outcome])
        return applied, []

    async def roll_back(self) -> None:
        """Nothing was done."""
