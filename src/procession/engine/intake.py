"""Plain queue jobs on their way in: concurrent enqueues share one insert.

A job that finds a free slot here is claimed on insert and handed over when it is durable. It runs nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

import msgspec

from procession.engine.lane import Lane, Patience
from procession.engine.outbox import Outbox
from procession.engine.tally import Tally
from procession.errors import ProcessionError, Unavailable
from procession.limits import ENQUEUE_MAX
from procession.store.port import Store
from procession.store.rows import NewJob

logger = logging.getLogger("procession.engine")


class Entry(msgspec.Struct):
    """One call's jobs, and its caller."""

    jobs: Sequence[NewJob]
    future: asyncio.Future[None]
    deadline: float
    tried: bool = False


class Intake:
    """The lane to ``Store.enqueue``."""

    def __init__(self, store: Store, outbox: Outbox, tally: Tally, *, chance: Callable[[], float]) -> None:
        self._store = store
        self._tally = tally
        self._outbox = outbox
        self._chance = chance
        self._inserting: set[int] = set()
        self._lane: Lane[Entry] = Lane(
            "enqueue",
            self._send,
            count_max=ENQUEUE_MAX,
            bytes_max=ENQUEUE_MAX,
            sizes=lambda entries: [len(entry.jobs) for entry in entries],
        )

    def put(self, jobs: Sequence[NewJob], deadline: float) -> asyncio.Future[None]:
        """Insert jobs; done when they are durable. What is awaited raises InvalidValue, Unavailable."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._lane.put(Entry(jobs, future, deadline))
        return future

    def start(self) -> None:
        """Begin to insert."""
        self._lane.start()

    async def stop(self) -> None:
        """Stop; whoever waits is told."""
        for entry in await self._lane.stop():
            fail(entry, Unavailable("The engine stopped before the jobs were enqueued"))

    def jobs(self) -> set[int]:
        """Jobs that are being inserted."""
        return self._inserting

    @property
    def idle(self) -> bool:
        """Whether nothing is on its way."""
        return self._lane.idle

    async def _send(self, batch: list[Entry]) -> None:
        """One insert; one that is refused is repeated call by call, so that only the culprit fails."""
        jobs = batch[0].jobs if len(batch) == 1 else [job for entry in batch for job in entry.jobs]
        self._inserting = self._outbox.claim_jobs(jobs)
        try:
            await self._insert(batch, jobs)
        except BaseException as error:
            self._outbox.unclaim_jobs(jobs, doubtful=isinstance(error, Unavailable))
            if isinstance(error, asyncio.CancelledError):
                for entry in batch:
                    fail(entry, Unavailable("The engine stopped while the jobs were enqueued"))
                raise
            if not isinstance(error, Exception):
                raise
            if len(batch) == 1:
                fail(batch[0], error)
                return
            for entry in batch:
                await self._send([entry])
            return
        self._inserting = set()
        self._tally.enqueued(jobs)
        self._outbox.hand_over_jobs(jobs)
        for entry in batch:
            if not entry.future.done():
                entry.future.set_result(None)

    async def _insert(self, batch: list[Entry], jobs: Sequence[NewJob]) -> None:
        """Insert; while the database does not answer try again until the first caller loses patience.

        The keys are in the rows: a second try of an insert that was applied after all is refused as a duplicate, which
        the store answers by doing nothing.
        """
        patience = Patience(self._chance)
        while True:
            try:
                await self._store.enqueue(jobs)
            except Unavailable:
                if asyncio.get_running_loop().time() >= min(entry.deadline for entry in batch):
                    raise
                await patience.pause()
            except ProcessionError:
                raise
            else:
                return


def fail(entry: Entry, error: Exception) -> None:
    """Tell the caller."""
    if not entry.future.done():
        entry.future.set_exception(error)
