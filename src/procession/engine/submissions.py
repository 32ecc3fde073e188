"""Jobs with options on their way in: submitted by this process, or left by a caller's own transaction for any process.

What becomes of each (inserted, a duplicate, doomed) the store answers by the queue's rules; whoever can run what got
ready is told of it. It decides nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from procession.engine.clock import StoreClock
from procession.engine.delivery import Delivery
from procession.engine.lane import Patience
from procession.engine.outbox import Announcer
from procession.engine.tally import Tally
from procession.errors import Conflict, InvalidValue, NotFound, Unavailable
from procession.jobs.kinds import JobState
from procession.store.port import Store
from procession.store.rows import JobFence, NewJob
from procession.store.rows.queue import Submission, Submitted, decode_submission

WAITING = frozenset({JobState.READY, JobState.THROTTLED})


class Submissions:
    """The way to ``Store.submit``."""

    def __init__(
        self,
        store: Store,
        announcer: Announcer,
        clock: StoreClock,
        tally: Tally,
        *,
        chance: Callable[[], float],
        timer_set: Callable[[int], None],
    ) -> None:
        self._store = store
        self._announcer = announcer
        self._clock = clock
        self._tally = tally
        self._chance = chance
        self._timer_set = timer_set

    async def submit(self, jobs: Sequence[NewJob], deadline: float) -> list[Submitted]:
        """Insert jobs with options; durable when this returns. Raises InvalidValue, Conflict, Unavailable.

        While the database does not answer it tries again until ``deadline``: a job whose key is there already stays.
        """
        patience = Patience(self._chance)
        while True:
            try:
                submitted = await self._store.submit(jobs)
                break
            except Unavailable:
                if asyncio.get_running_loop().time() >= deadline:
                    raise
                await patience.pause()
        self._tell(jobs, submitted)
        return submitted

    async def carry_out(self, job: Delivery) -> bool:
        """Submit what a caller's own transaction has left, in place of the job that holds it.

        True: it was closed with that. Raises InvalidValue for what cannot be inserted, which is kept as failed then.
        """
        jobs = decode_submission(job.args)
        try:
            submitted = await self._store.submit(jobs, closes=JobFence(key=job.key, lease=job.lease))
        except (Conflict, NotFound) as error:  # not "nothing to do any more": the caller was promised these jobs
            raise InvalidValue(str(error)) from error
        self._tell(jobs, submitted)
        return True

    def _tell(self, jobs: Sequence[NewJob], submitted: Sequence[Submitted]) -> None:
        """Announce the queues that got ready jobs, and remember when the next scheduled one is due."""
        self._tally.enqueued(inserted(jobs, submitted))
        for job, answer in zip(jobs, submitted, strict=False):  # no answers: the job that held them was another's
            if answer.state in WAITING:
                self._announcer.announce(job.queue)
            if job.run_at or job.delay_ms or answer.state == JobState.SCHEDULED:
                self._timer_set(job.run_at or self._clock.now() + job.delay_ms)


def inserted(jobs: Sequence[NewJob], submitted: Sequence[Submitted]) -> list[NewJob]:
    """Those that are in the queue now and were not before."""
    pairs = zip(jobs, submitted, strict=False)
    return [job for job, answer in pairs if answer.outcome == Submission.INSERTED]
