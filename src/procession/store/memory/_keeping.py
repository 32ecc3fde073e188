"""What edges keep in the memory store. Part of the store's face."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from procession.store.memory._tables import Tables
from procession.store.rows.keeping import Kept


class Keeping:
    """Rows by kind and key."""

    _tables: Tables

    async def keep(self, rows: Sequence[Kept]) -> None:
        """Insert or replace."""
        now = self._tables.clock()
        for row in rows:
            before = self._tables.kept.get((row.kind, row.key))
            at = before.created_at if before is not None else now
            self._tables.kept[row.kind, row.key] = msgspec.structs.replace(row, created_at=at)

    async def kept(
        self, kind: str, *, key: int = 0, name: str = "", after: int = 0, newest: bool = False, limit: int = 100
    ) -> list[Kept]:
        """A page of a kind."""
        found = [
            row
            for row in self._tables.kept.values()
            if row.kind == kind and key in (0, row.key) and name in ("", row.name) and _is_after(row.key, after, newest)
        ]
        return sorted(found, key=lambda row: -row.key if newest else row.key)[:limit]

    async def forget_kept(self, kind: str, *, keys: Sequence[int] = (), before: int = 0) -> int:
        """Delete."""
        gone = [at for at in self._tables.kept if at[0] == kind and (at[1] in keys or at[1] < before)]
        for at in gone:
            del self._tables.kept[at]
        return len(gone)


def _is_after(key: int, after: int, newest: bool) -> bool:  # noqa: FBT001 - which way the page goes
    return after == 0 or (key < after if newest else key > after)
