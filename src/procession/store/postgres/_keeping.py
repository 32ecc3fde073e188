"""What edges keep in the PostgreSQL store. Part of the store's face."""

from __future__ import annotations

from collections.abc import Sequence

from procession.store.postgres._sessions import Sessions
from procession.store.rows.keeping import Kept


class Keeping:
    """Rows by kind and key."""

    _rest: Sessions

    def _bound_now(self) -> int | None:
        raise NotImplementedError

    async def keep(self, rows: Sequence[Kept]) -> None:
        """Insert or replace, all in one statement."""
        ordered = sorted({(row.kind, row.key): row for row in rows}.values(), key=lambda row: (row.kind, row.key))
        columns = (
            [row.kind for row in ordered],
            [row.key for row in ordered],
            [row.name for row in ordered],
            [row.tenant for row in ordered],
            [row.body for row in ordered],
        )
        if ordered:
            await self._rest.fetch("keep", *columns, self._bound_now())

    async def kept(
        self, kind: str, *, key: int = 0, name: str = "", after: int = 0, newest: bool = False, limit: int = 100
    ) -> list[Kept]:
        """A page of a kind."""
        statement = "list_kept_newest" if newest else "list_kept"
        rows = await self._rest.fetch(statement, kind, key, name, after, limit)
        return [Kept(kind=kind, key=row[0], name=row[1], tenant=row[2], created_at=row[3], body=row[4]) for row in rows]

    async def forget_kept(self, kind: str, *, keys: Sequence[int] = (), before: int = 0) -> int:
        """Delete."""
        return len(await self._rest.fetch("forget_kept", kind, list(keys), before))
