"""Ends of jobs that change only the job's own row, written in batches. Safe to send again after an unclear answer."""

from __future__ import annotations

import logging
from collections.abc import Callable

import msgspec

from procession.engine.delivery import Delivery, said_of
from procession.engine.lane import Lane, Patience
from procession.engine.settings import Counters
from procession.engine.tally import Tally
from procession.errors import InvalidValue, Unavailable
from procession.limits import COMMIT_STEPS_MAX
from procession.store.port import Store
from procession.store.rows import JobEnd, JobOutcome
from procession.store.rows.queue import Answer

logger = logging.getLogger("procession.engine")


class Ended(msgspec.Struct):
    """One outcome, and who wants to know whether it was applied (False: the lease was lost, or it was sent before)."""

    outcome: JobOutcome
    tell: Callable[[bool], None] | None = None
    rewritten: bool = False
    of: Delivery | None = None  # the plain job that has ended, to be counted


class Outcomes:
    """The lane to ``Store.finish``."""

    def __init__(
        self,
        store: Store,
        counters: Counters,
        *,
        tally: Tally,
        chance: Callable[[], float],
        freed: Callable[[JobOutcome], None],
    ) -> None:
        self._tally = tally
        self._store = store
        self._counters = counters
        self._chance = chance
        self._freed = freed
        self.fenced = False
        self.kept_ms: dict[str, int] = {}  # by queue: how long what has succeeded there is kept
        self._lane: Lane[Ended] = Lane("outcomes", self._send, count_max=COMMIT_STEPS_MAX)

    def put(
        self, outcome: JobOutcome, tell: Callable[[bool], None] | None = None, *, of: Delivery | None = None
    ) -> None:
        """End a run; ``of``: a plain job, which is counted, and kept where its queue asks for that."""
        if self.kept_ms and of is not None and outcome.end is JobEnd.DONE:
            outcome.keep_ms = self.kept_ms.get(of.queue, 0)
        self._lane.put(Ended(outcome, tell, of=of))

    def release(self, key: int, lease: int) -> None:
        """Return a job that was never started."""
        self.put(JobOutcome(key=key, lease=lease, end=JobEnd.RELEASE))

    def start(self) -> None:
        """Begin to write."""
        self._lane.start()

    async def stop(self) -> int:
        """Stop; how many outcomes were not written (their jobs are given back when the process leaves)."""
        return len(await self._lane.stop())

    @property
    def idle(self) -> bool:
        """Whether everything is written."""
        return self._lane.idle

    async def _send(self, batch: list[Ended]) -> None:
        """Write, again and again while the database does not answer; a lost lease ends it."""
        patience = Patience(self._chance)
        outcomes = [ended.outcome for ended in batch]
        while not self.fenced:
            try:
                applied = await self._store.finish(outcomes)
            except Unavailable as error:
                self._counters.unavailable += 1
                if patience.tries == 0:
                    logger.warning("the database does not answer, %d outcomes of jobs wait: %s", len(batch), error)
                await patience.pause()
            except InvalidValue as error:
                await self._settle(batch, str(error))
                return
            else:
                self._tell(batch, applied)
                return
        self._tell(batch, [False] * len(batch))

    async def _settle(self, batch: list[Ended], why: str) -> None:
        """Some end cannot be stored: it is written once as a failure that says why; the others as they are."""
        patience = Patience(self._chance)
        while batch and not self.fenced:
            try:
                answers = await self._store.settle([ended.outcome for ended in batch])
            except Unavailable:
                self._counters.unavailable += 1
                await patience.pause()
                continue
            again: list[Ended] = []
            for ended, answer in zip(batch, answers, strict=True):
                if answer == Answer.BUSY:
                    again.append(ended)
                elif answer == Answer.REJECTED and not ended.rewritten:
                    text = "the end of job %d cannot be stored: it is kept as failed: %s"
                    logger.error(text, ended.outcome.key, why, extra=said_of(job=ended.outcome.key))
                    again.append(_as_failure(ended, why))
                else:
                    self._tell([ended], [answer == Answer.APPLIED])
            if len(again) == len(batch):
                await patience.pause()
            batch = again
        self._tell(batch, [False] * len(batch))

    def _tell(self, batch: list[Ended], applied: list[bool]) -> None:
        """Count, and tell who wants to know."""
        counters = self._counters
        for ended, written in zip(batch, applied, strict=True):
            if written:
                match ended.outcome.end:
                    case JobEnd.DONE:
                        counters.jobs_done += 1
                    case JobEnd.RETRY | JobEnd.SNOOZE:
                        counters.jobs_retried += 1
                        self._freed(ended.outcome)
                    case JobEnd.FAILED | JobEnd.CANCELED:
                        counters.jobs_failed += 1
                    case JobEnd.RELEASE:
                        counters.jobs_returned += 1
                if ended.of is not None:
                    self._tally.ended(ended.of, ended.outcome.end)
            if ended.tell is not None:
                ended.tell(written)


def _as_failure(ended: Ended, why: str) -> Ended:
    """The same run as one that failed for good."""
    outcome = ended.outcome
    error = f"What its run left cannot be stored: {why}"
    failure = JobOutcome(key=outcome.key, lease=outcome.lease, end=JobEnd.FAILED, error=error)
    return Ended(failure, ended.tell, rewritten=True, of=ended.of)
