"""What edges keep in the SQLite store. Part of the store's face; one transaction per call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from procession.store.rows.keeping import Kept
from procession.store.sqlite._session import Session, as_json
from procession.store.sqlite._threads import Work


class Keeping:
    """Rows by kind and key."""

    async def _read(self, work: Work) -> Any:  # noqa: ANN401 - what the work gives
        raise NotImplementedError

    async def _write(self, work: Work) -> Any:  # noqa: ANN401 - what the work gives
        raise NotImplementedError

    async def keep(self, rows: Sequence[Kept]) -> None:
        """Insert or replace."""

        def work(session: Session) -> None:
            for row in rows:
                values: dict[str, object] = {"kind": row.kind, "key": row.key, "name": row.name, "tenant": row.tenant}
                session.run("keep", **values, created_at=session.now, body=row.body)

        await self._write(work)

    async def kept(
        self, kind: str, *, key: int = 0, name: str = "", after: int = 0, newest: bool = False, limit: int = 100
    ) -> list[Kept]:
        """A page of a kind."""
        statement = "list_kept_newest" if newest else "list_kept"

        def work(session: Session) -> list[Kept]:
            rows = session.rows(statement, kind=kind, key=key, name=name, after=after, limit=limit)
            return [
                Kept(kind=kind, key=row[0], name=row[1], tenant=row[2], created_at=row[3], body=row[4]) for row in rows
            ]

        return await self._read(work)

    async def forget_kept(self, kind: str, *, keys: Sequence[int] = (), before: int = 0) -> int:
        """Delete."""

        def work(session: Session) -> int:
            return len(session.rows("forget_kept", kind=kind, keys=as_json(list(keys)), before=before))

        return await self._write(work)
