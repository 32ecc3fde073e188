"""What edges keep in this store. Part of the store's face."""

from __future__ import annotations

from collections.abc import Sequence

from procession.store.mysql._sessions import Session, Sessions
from procession.store.mysql._statements import Blob
from procession.store.rows.keeping import Kept


class Keeping:
    """Rows by kind and key."""

    _rest: Sessions

    async def keep(self, rows: Sequence[Kept]) -> None:
        """Insert or replace."""

        async def work(session: Session) -> None:
            for row in sorted(rows, key=lambda row: (row.kind, row.key)):
                values: dict[str, object] = {"kind": row.kind, "key": row.key, "name": row.name, "tenant": row.tenant}
                session.put("keep", **values, body=Blob(row.body))

        if rows:
            await self._rest.transact(work)

    async def kept(
        self, kind: str, *, key: int = 0, name: str = "", after: int = 0, newest: bool = False, limit: int = 100
    ) -> list[Kept]:
        """A page of a kind."""
        statement = "list_kept_newest" if newest else "list_kept"
        rows = await self._rest.fetch(statement, kind=kind, key=key, name=name, after=after, limit=limit)
        return [
            Kept(kind=kind, key=row[0], name=row[1], tenant=row[2], created_at=row[3], body=bytes(row[4]))
            for row in rows
        ]

    async def forget_kept(self, kind: str, *, keys: Sequence[int] = (), before: int = 0) -> int:
        """Delete."""
        return (await self._rest.run("forget_kept", kind=kind, keys=list(keys) or [0], before=before)).count
