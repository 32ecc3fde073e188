"""Deletes entries of the audit log that are older than they are to be kept: a page at a time, oldest keys first.

Every server does it; that two do it at once is without harm. It deletes by age and never by key: processes take keys
in blocks, so a higher key may be a little older.
"""

from __future__ import annotations

import asyncio
import logging

from procession.api.audit import KIND
from procession.app import Procession
from procession.errors import ProcessionError

logger = logging.getLogger("procession.api")

CHUNK = 500  # entries looked at, and at most deleted, in one transaction
PAUSE_S = 0.1  # between two of them
POLL_S = 60.0  # and when none was old


class AuditRetention:
    """Of one server. ``keep_ms``: how long an entry is kept."""

    def __init__(self, app: Procession, keep_ms: int) -> None:
        assert keep_ms > 0
        self._app = app
        self._keep_ms = keep_ms
        self._after = 0
        self._task: asyncio.Task[None] | None = None
        self.deleted = 0

    def start(self) -> None:
        """Begin."""
        self._task = asyncio.create_task(self._run(), name="procession audit retention")

    async def stop(self) -> None:
        """End."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def round(self) -> bool:
        """One page; whether the next may have old entries too. Raises Unavailable."""
        rows = await self._app.rows.kept(KIND, after=self._after, limit=CHUNK)
        until = self._app.now - self._keep_ms
        old = [row.key for row in rows if row.created_at < until]
        if old:
            self.deleted += await self._app.rows.forget_kept(KIND, keys=old)
            logger.debug("audit: %d entries deleted that were older than they are kept", len(old))
        is_more = bool(old) and len(rows) == CHUNK
        self._after = rows[-1].key if is_more else 0
        return is_more

    async def _run(self) -> None:
        while True:
            try:
                pause_s = PAUSE_S if await self.round() else POLL_S
            except ProcessionError as error:
                logger.warning("old entries of the audit log were not deleted: %s", error)
                pause_s = POLL_S
            except Exception:
                logger.exception("old entries of the audit log were not deleted")
                pause_s = POLL_S
            await asyncio.sleep(pause_s)
