"""Messages and signals on their way to the store, many in one call. Correlation itself is the store's."""

from __future__ import annotations

import asyncio
import logging

import msgspec

from procession.engine.keys import KeyStock
from procession.engine.lane import Lane
from procession.engine.outbox import Announcer
from procession.errors import ProcessionError, Unavailable
from procession.jobs.kinds import FOLLOW_UP_QUEUE
from procession.store.port import Store
from procession.store.rows import JobFence, NewMessage, PublishResult

logger = logging.getLogger("procession.engine")

PUBLISH_MAX = 500


class Posted(msgspec.Struct):
    """A message and who waits for what becomes of it."""

    message: NewMessage
    future: asyncio.Future[PublishResult]


class Messages:
    """The lane to ``Store.publish``. A call that fails is the caller's to repeat.

    The message id tells duplicates; a follow-up's message is published once, since the job is closed with it.
    """

    def __init__(self, store: Store, keys: KeyStock, announcer: Announcer) -> None:
        self._store = store
        self._keys = keys
        self._announcer = announcer
        self._lane: Lane[Posted] = Lane("messages", self._send, count_max=PUBLISH_MAX)

    async def publish(self, message: NewMessage) -> PublishResult:
        """Correlate or buffer a message. Raises InvalidValue, Unavailable."""
        future: asyncio.Future[PublishResult] = asyncio.get_running_loop().create_future()
        self._lane.put(Posted(message, future))
        return await future

    async def broadcast(self, name: str, variables: bytes, tenant: str, closes: JobFence | None = None) -> list[int]:
        """Give a signal to everything that waits for it, closing the job that does so; the instances reached."""
        await self._keys.enough()
        reached = await self._store.broadcast(name, variables, self._keys.keys, tenant=tenant, closes=closes)
        self._announcer.announce(FOLLOW_UP_QUEUE)
        return reached

    def start(self) -> None:
        """Begin to send."""
        self._lane.start()

    async def stop(self) -> None:
        """Stop; whoever waits is told."""
        for posted in await self._lane.stop():
            fail(posted, Unavailable("The engine stopped before the message was published"))

    @property
    def idle(self) -> bool:
        """Whether nothing is on its way."""
        return self._lane.idle

    async def _send(self, batch: list[Posted]) -> None:
        """One call; one that is refused is repeated message by message, so that only the culprit fails."""
        try:
            await self._publish(batch)
        except asyncio.CancelledError:
            for posted in batch:
                fail(posted, Unavailable("The engine stopped while the message was published"))
            raise
        except Unavailable as error:
            for posted in batch:
                fail(posted, error)
        except ProcessionError as error:
            if len(batch) == 1:
                fail(batch[0], error)
                return
            for posted in batch:
                await self._send([posted])
        except Exception as error:
            logger.exception("publishing %d messages", len(batch))
            for posted in batch:
                fail(posted, error)

    async def _publish(self, batch: list[Posted]) -> None:
        """One call and its answers."""
        await self._keys.enough()
        results = await self._store.publish([posted.message for posted in batch], self._keys.keys)
        for posted, result in zip(batch, results, strict=True):
            self._announcer.announce_all(result.woken)
            if not posted.future.done():
                posted.future.set_result(result)


def fail(posted: Posted, error: Exception) -> None:
    """Tell whoever waits."""
    if not posted.future.done():
        posted.future.set_exception(error)
