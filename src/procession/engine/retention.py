"""Deletes what ended long ago, a chunk at a time, in the order of keys; then it begins anew. Never what still runs.

Instances go with their history; batches go with the errors of their items. The row of a deleted version goes when no
process can remember the version any more.
"""

from __future__ import annotations

import logging

from procession.engine.clock import StoreClock
from procession.engine.settings import Settings
from procession.store.port import Store

logger = logging.getLogger("procession.engine")

REMEMBERED_MS = 10 * 60_000  # longer than any process remembers a deleted version as the latest


class Retention:
    """The duty of the leader, and what operators call."""

    def __init__(self, store: Store, clock: StoreClock, settings: Settings) -> None:
        self._store = store
        self._clock = clock
        self._settings = settings
        self._after = 0
        self.deleted = 0  # instances, since the engine opened; what they called is not counted

    async def round(self) -> float:
        """One chunk; how many seconds until the next."""
        settings = self._settings
        if settings.retention_ms is None:
            return settings.retention_poll_ms / 1000
        until = self._clock.now() - settings.retention_ms
        found, self._after = await self._store.ended_instances(
            ended_before=until, after=self._after, limit=settings.retention_chunk
        )
        if found:
            gone = len(await self._store.delete_instances(found))
            self.deleted += gone
            logger.debug("retention: %d instances deleted", gone)
        return (settings.retention_pause_ms if self._after else settings.retention_poll_ms) / 1000

    async def forget_batches(self) -> float:
        """One chunk of the batches that are over, and deleted versions; how many seconds until the next."""
        settings = self._settings
        await self._store.purge_definitions(deleted_before=self._clock.now() - REMEMBERED_MS)
        if settings.batch_retention_ms is None:
            return settings.retention_poll_ms / 1000
        until = self._clock.now() - settings.batch_retention_ms
        gone = await self._store.delete_batches(ended_before=until, limit=settings.retention_chunk)
        return (settings.retention_pause_ms if gone else settings.retention_poll_ms) / 1000

    async def sweep(self) -> int:
        """All chunks once; how many instances were deleted."""
        before, self._after = self.deleted, 0
        await self.round()
        while self._after:
            await self.round()
        return self.deleted - before
