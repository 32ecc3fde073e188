"""Reads instances, many in one query. What is read goes to whoever asked; nothing is kept here."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

from procession.engine.cells import Cell
from procession.engine.definitions import Definitions
from procession.engine.delivery import said_of
from procession.engine.lane import Lane, Patience
from procession.engine.settings import Counters
from procession.errors import Unavailable
from procession.limits import CLAIM_MAX
from procession.store.port import Store
from procession.store.rows import StoredInstance

logger = logging.getLogger("procession.engine")


class Reader(Protocol):
    """Whoever is told what was read."""

    def loaded(self, cell: Cell, row: StoredInstance | None) -> None:
        """The instance was read, or is not there."""
        ...

    def unreadable(self, cell: Cell, error: Exception) -> None:
        """A defect kept it from being read."""
        ...

    def expire(self, cells: list[Cell], error: Exception) -> None:
        """The database does not answer yet: tell impatient callers."""
        ...


class Loader:
    """The lane to ``Store.load``."""

    def __init__(
        self, store: Store, definitions: Definitions, reader: Reader, counters: Counters, chance: Callable[[], float]
    ) -> None:
        self._store = store
        self._definitions = definitions
        self._reader = reader
        self._counters = counters
        self._chance = chance
        self.lane: Lane[Cell] = Lane("load", self._load, count_max=CLAIM_MAX)

    async def _load(self, cells: list[Cell]) -> None:
        """One query, with the definitions; repeated while the database does not answer."""
        patience = Patience(self._chance)
        while True:
            try:
                self._counters.loads += len(cells)
                rows = {row.key: row for row in await self._store.load([cell.key for cell in cells])}
                await self._definitions.ensure({row.definition for row in rows.values()})
            except Unavailable as error:
                self._reader.expire(cells, error)
                await patience.pause()
            except Exception as error:
                logger.exception("loading %d instances", len(cells))
                for cell in cells:
                    self._reader.unreadable(cell, error)
                return
            else:
                break
        for cell in cells:
            try:
                self._reader.loaded(cell, rows.get(cell.key))
            except Exception as error:  # a defect in one must not keep the others waiting
                logger.exception("instance %d", cell.key, extra=said_of(cell.key))
                self._reader.unreadable(cell, error)
