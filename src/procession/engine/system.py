"""The engine's own work, by long-lived coroutines fed from a local buffer. It runs no handler.

Follow-ups, timers, and jobs that a caller's own transaction has left to be submitted. Each is closed in the very step
that it leads to (its lease is the fence), so that it takes effect exactly once.
What nobody can take any more (the instance ended or moved on) is closed; what fails for a technical reason is tried
again later, never at once; what cannot be stored is kept as failed.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import Protocol

from procession.engine.delivery import Delivery, said
from procession.engine.outcomes import Outcomes
from procession.engine.settings import Settings
from procession.errors import InvalidValue, Rejected, Unavailable
from procession.jobs.kinds import FOLLOW_UP_QUEUE, SUBMIT_QUEUE, TIMER_QUEUE
from procession.store.rows import JobEnd, JobOutcome, Want

logger = logging.getLogger("procession.engine")

RETRY_MS_LEAST = 200
RETRY_MS_MOST = 300_000
SUBMISSIONS = 8  # taken at once: each may be thousands of jobs


class NotYet(Exception):
    """What the job is for cannot be done yet: again later, without using up an attempt."""


class Handler(Protocol):
    """Carries out one system job."""

    async def __call__(self, job: Delivery) -> bool:
        """True: the job was closed together with what it did; False: it is still to be deleted."""
        ...


class Later(NotYet):
    """It goes on after so long: nothing is wrong."""

    def __init__(self, delay_ms: int) -> None:
        super().__init__(f"goes on after {delay_ms} ms")
        self.delay_ms = delay_ms


class System:
    """Slots for follow-ups, timers and submissions."""

    def __init__(
        self,
        outcomes: Outcomes,
        settings: Settings,
        *,
        handler: Handler,
        chance: Callable[[], float],
        room: Callable[[], None],
    ) -> None:
        self._outcomes = outcomes
        self._slots = settings.follow_up_slots
        self._capacity = settings.follow_up_slots + settings.follow_up_buffer
        self._handler = handler
        self._chance = chance
        self._room = room
        self._taken = 0  # slots reserved, buffered or at work
        self._buffer: deque[Delivery] = deque()
        self._resting: deque[asyncio.Future[None]] = deque()
        self._workers: set[asyncio.Task[None]] = set()
        self._working: set[int] = set()  # jobs
        self._stopping = False

    # -- slots ------------------------------------------------------------------------------------------------------
    def reserve(self, queue: str) -> bool:  # noqa: ARG002 - the queues share the slots
        """Take a free slot."""
        if self._stopping or self._taken >= self._capacity:
            return False
        self._taken += 1
        return True

    def release(self, queue: str, count: int = 1) -> None:  # noqa: ARG002 - the queues share the slots
        """Give slots back."""
        self._taken -= count

    def wants(self) -> list[Want]:
        """All free slots: a few for submissions, half of the others for each of follow-ups and timers."""
        free = 0 if self._stopping else self._capacity - self._taken
        if free < 2:
            return []
        few = min(SUBMISSIONS, free // 4)
        half = (free - few) // 2
        self._taken += few + 2 * half
        wants = [Want(queue=FOLLOW_UP_QUEUE, count=half), Want(queue=TIMER_QUEUE, count=half)]
        return [*wants, Want(queue=SUBMIT_QUEUE, count=few)] if few else wants

    def deliver(self, job: Delivery) -> None:
        """Work on this job in a slot that was taken."""
        self._buffer.append(job)
        while self._resting:
            rest = self._resting.popleft()
            if not rest.done():
                rest.set_result(None)
                return
        if len(self._workers) < self._slots and not self._stopping:
            worker = asyncio.get_running_loop().create_task(self._work(), name="procession follow-ups")
            self._workers.add(worker)
            worker.add_done_callback(self._workers.discard)

    def jobs(self) -> set[int]:
        """What is buffered or at work."""
        return self._working | {job.key for job in self._buffer}

    @property
    def idle(self) -> bool:
        """Whether nothing is reserved, buffered or at work."""
        return self._taken == 0

    # -- work -------------------------------------------------------------------------------------------------------
    async def _work(self) -> None:
        """Job after job."""
        loop = asyncio.get_running_loop()
        while True:
            while not self._buffer:
                rest: asyncio.Future[None] = loop.create_future()
                self._resting.append(rest)
                await rest
            job = self._buffer.popleft()
            self._working.add(job.key)
            try:
                await self._one(job)
            finally:
                self._working.discard(job.key)
                self._taken -= 1
            if self._taken == self._capacity // 2:
                self._room()

    async def _one(self, job: Delivery) -> None:
        """One job; whatever happens to it, it is closed, put back or kept as failed."""
        try:
            if await self._handler(job):
                return
        except InvalidValue as error:  # what it leads to cannot be stored: deleted, its instance would wait in silence
            self._fail(job, error)
            return
        except Rejected as error:
            logger.debug("system job %d (%s) has nothing to do any more: %s", job.key, job.type, error, extra=said(job))
        except Exception as error:  # noqa: BLE001 - a defect must not stop the others
            self._again(job, error)
            return
        self._outcomes.put(JobOutcome(key=job.key, lease=job.lease, end=JobEnd.DONE))

    def _fail(self, job: Delivery, error: Exception) -> None:
        """Keep it as failed, for a person."""
        text = f"{type(error).__name__}: {error}"
        trace = None if isinstance(error, InvalidValue) else error
        logger.error("system job %d (%s) failed for good: %s", job.key, job.type, text, exc_info=trace, extra=said(job))
        self._outcomes.put(JobOutcome(key=job.key, lease=job.lease, end=JobEnd.FAILED, error=text))

    def _again(self, job: Delivery, error: Exception) -> None:
        """Try later, or keep it for a person when it has failed too often."""
        text = f"{type(error).__name__}: {error}"
        if job.retries <= 1 and not isinstance(error, Unavailable | NotYet):
            self._fail(job, error)
            return
        delay = (
            error.delay_ms
            if isinstance(error, Later)
            else min(RETRY_MS_MOST, RETRY_MS_LEAST * 2 ** min(job.attempt - 1, 20))
        )
        level = logging.DEBUG if isinstance(error, NotYet) else logging.WARNING
        logger.log(
            level, "system job %d (%s) failed, again in %d ms: %s", job.key, job.type, delay, text, extra=said(job)
        )
        outcome = JobOutcome(
            key=job.key,
            lease=job.lease,
            end=JobEnd.RETRY,
            delay_ms=int(delay * (0.5 + self._chance() / 2)),
            error=text,
            retries=job.retries if isinstance(error, Unavailable | NotYet) else -1,
        )
        self._outcomes.put(outcome)

    async def stop(self) -> None:
        """Return what was not begun and end the rest."""
        self._stopping = True
        self.drop(give_back=True)
        workers = list(self._workers)
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        self._resting.clear()

    def begin(self) -> None:
        """Take jobs (again)."""
        self._stopping = False
        self._taken = 0

    def drain(self) -> None:
        """Take no more jobs; what is at work goes on."""
        self._stopping = True
        self.drop(give_back=True)

    def drop(self, *, give_back: bool) -> None:
        """Forget the buffered jobs."""
        while self._buffer:
            job = self._buffer.popleft()
            self._taken -= 1
            if give_back:
                self._outcomes.release(job.key, job.lease)
