"""What the queue needs done besides being claimed from: recurring jobs, deadlines, the archive, cancellations, a sweep.

The leader fires recurring jobs, makes FAILED what waits beyond its deadline, deletes what the archive keeps no longer,
and looks for what no transaction leaves behind. Every process asks which of its own runs somebody wants to end. What is
due and what becomes of it is decided by ``jobs``; a firing is guarded by its version, so that two leaders fire once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

import msgspec

from procession.engine import standing as standings
from procession.engine.clock import StoreClock
from procession.engine.delivery import Dispatcher
from procession.engine.duty import Duty
from procession.engine.keys import KeyStock
from procession.engine.outbox import Announcer, Outbox
from procession.engine.outcomes import Outcomes
from procession.engine.queue_retention import kept_by_queue
from procession.engine.submissions import inserted
from procession.engine.tally import Tally
from procession.errors import InvalidValue, Unavailable
from procession.jobs.kinds import JobKind, JobState
from procession.jobs.recurring import plan_firing
from procession.limits import PAGE_MAX, PROMOTE_MAX
from procession.store.port import Store
from procession.store.rows import NewJob
from procession.store.rows.keeping import Kept
from procession.store.rows.queue import Fired, Firing, PauseKind
from procession.store.rows.queue_reading import StoredRecurring

logger = logging.getLogger("procession.engine")

PAUSES = "$pauses"  # announced when something was paused or resumed: every process looks again
RECURRING = "$recurring"  # announced when recurring jobs were changed: the leader looks again
FIRE_MAX = 100
FIRE_POLL_S = 5.0  # between two looks, should an announcement be lost
FOLLOW_POLL_S = 1.0  # while another process leads: how soon this one notices that it does
UPKEEP_S = 1.0
CANCEL_POLL_S = 1.0
PAUSE_POLL_S = 1.0  # between two looks at what is paused, should an announcement be lost
STATS_FLUSH_S = 5.0  # between two additions to the counts per minute
STATS_TIMEOUT_S = 5.0
SWEEP_S = 600.0
SWEEP_FIRST_S = 60.0  # the first sweep, so that processes that live shortly do not begin with one


class QueueDuties:
    """The background of the queue's second half."""

    def __init__(  # noqa: PLR0913 - the parts that it works with
        self,
        store: Store,
        *,
        clock: StoreClock,
        keys: KeyStock,
        announcer: Announcer,
        outbox: Outbox,
        dispatcher: Dispatcher,
        tally: Tally,
        outcomes: Outcomes,
        chance: Callable[[], float],
        leads: Callable[[], bool],
    ) -> None:
        self._tally = tally
        self._outcomes = outcomes
        self._store = store
        self._clock = clock
        self._keys = keys
        self._announcer = announcer
        self._outbox = outbox
        self._dispatcher = dispatcher
        self._leads = leads
        self.node = 0
        self._has_swept = False
        self._said: tuple[int, standings.Standing] | None = None
        self._recurring = Duty("recurring jobs", self._recurring_round, chance)
        self._upkeep = Duty("upkeep of the queue", self._upkeep_round, chance)
        self._cancel = Duty("cancellations", self._cancel_round, chance)
        self._sweep = Duty("sweep", self._sweep_round, chance)
        self._pauses = Duty("pauses", self._pause_round, chance)
        self._stats = Duty("statistics", self._stats_round, chance)

    def start(self) -> None:
        """Begin."""
        for duty in self._all():
            duty.start()

    def start_counting(self) -> None:
        """Begin to add up what is counted here, also in a process that only puts jobs into the queue."""
        self._stats.start()

    async def stop(self) -> None:
        """End."""
        for duty in self._all():
            await duty.stop()

    def _all(self) -> tuple[Duty, ...]:
        """Every duty."""
        return (self._recurring, self._upkeep, self._cancel, self._sweep, self._pauses, self._stats)

    def heard(self, queue: str) -> None:
        """Something was announced: perhaps that recurring jobs or pauses changed."""
        if queue == RECURRING:
            self._recurring.wake()
        elif queue == PAUSES:
            self._pauses.wake()
            self._stats.wake()

    async def once(self) -> int:
        """Do what is due now, whoever leads: the crank of the tests. How much was done."""
        fired, _ = await self.fire_due()
        return fired + await self.upkeep()

    # -- recurring jobs ---------------------------------------------------------------------------------------------
    async def fire_due(self) -> tuple[int, int]:
        """Fire what is due: (how many firings were written, the instant of the next one, 0 if there is none)."""
        due, next_at = await self._store.due_recurring(FIRE_MAX)
        if not due:
            return 0, next_at
        await self._keys.enough()
        firings = [self._firing(each) for each in due]
        fired = self._fired(firings, await self._store.fire(firings))
        coming = [next_at, *(firing.next_at for firing in firings)]
        return fired, min((at for at in coming if at), default=0)

    async def trigger(self, recurring: StoredRecurring) -> int | None:
        """Insert one run now, beside its times; the job's key, None where it is there no more."""
        await self._keys.enough()
        firing = Firing(
            name=recurring.name,
            version=recurring.version,
            next_at=recurring.next_at,
            last_at=0,
            jobs=[self._job(recurring)],
            manual=True,
            tenant=recurring.tenant,
        )
        fired = await self._store.fire([firing])
        self._fired([firing], fired)
        return fired[0].submitted[-1].key if fired[0].applied else None

    def _firing(self, recurring: StoredRecurring) -> Firing:
        """What is due of one, by its rule about missed runs. A cycle that ended or cannot be read fires no more."""
        now = self._clock.now()
        try:
            _expect_readable(recurring)
            plan = plan_firing(recurring.cycle, recurring.next_at, recurring.missed, now)
            due, next_at, last_at = plan.due, plan.next_at, plan.last_at
        except InvalidValue:
            logger.exception("recurring job '%s' fires no more: its cycle or its job cannot be read", recurring.name)
            due, next_at, last_at = (), 0, recurring.last_at
        return Firing(
            name=recurring.name,
            version=recurring.version,
            next_at=next_at,
            last_at=last_at,
            jobs=[self._job(recurring) for _ in due],
            tenant=recurring.tenant,
        )

    def _job(self, recurring: StoredRecurring) -> NewJob:
        """A run, with a key of its own."""
        return msgspec.structs.replace(recurring.job, key=self._keys.keys.take(), tenant=recurring.tenant)

    def _fired(self, firings: list[Firing], fired: list[Fired]) -> int:
        """Announce what got ready, and count it; how many firings counted."""
        for firing, answer in zip(firings, fired, strict=True):
            self._tally.enqueued(inserted(firing.jobs, answer.submitted))
        for firing, answer in zip(firings, fired, strict=True):
            for job, submitted in zip(firing.jobs, answer.submitted, strict=False):
                if submitted.state in (JobState.READY, JobState.THROTTLED):
                    self._announcer.announce(job.queue)
        return sum(answer.applied for answer in fired)

    async def _recurring_round(self) -> float:
        """Fire if this process leads; sleep until the next is due, never longer than the poll."""
        if not self._leads():
            return FOLLOW_POLL_S
        fired, next_at = await self.fire_due()
        if fired == FIRE_MAX:
            return 0
        until_s = (next_at - self._clock.now()) / 1000 if next_at else FIRE_POLL_S
        return min(FIRE_POLL_S, max(0.0, until_s))

    # -- upkeep -----------------------------------------------------------------------------------------------------
    async def upkeep(self) -> int:
        """A chunk of deadlines that have passed, and of what the archive keeps no longer."""
        late, woken = await self._store.expire_jobs(PROMOTE_MAX)
        if late:
            logger.warning("%d jobs failed, for they had not begun by their deadline", len(late))
            await self.count_failed(late)
        self._announcer.announce_all(woken)
        return len(late) + await self._store.expire_archive(PROMOTE_MAX)

    async def count_failed(self, keys: list[int]) -> None:
        """Plain jobs that failed for good without a run that has ended are in the counts per minute, too."""
        for row in await self._store.jobs_of(keys):
            if row.kind == JobKind.TASK:
                self._tally.failed(row.queue, row.type)

    async def _upkeep_round(self) -> float:
        """Do so if this process leads."""
        if not self._leads():
            return FOLLOW_POLL_S
        return 0.1 if await self.upkeep() >= PROMOTE_MAX else UPKEEP_S

    # -- cancellations ----------------------------------------------------------------------------------------------
    async def _cancel_round(self) -> float:
        """End the runs of this process that somebody deleted."""
        if self.node and self._dispatcher.jobs():
            await self.cancel_once()
        return CANCEL_POLL_S

    async def cancel_once(self) -> int:
        """Tell the dispatcher; how many runs are to end."""
        runs = await self._store.canceled_runs(self.node)
        for run in runs:
            self._dispatcher.cancel_job(run.key, run.lease, run.reason)
        return len(runs)

    # -- pauses -----------------------------------------------------------------------------------------------------
    async def see_pauses(self) -> None:
        """Look at what is paused: a claim leaves that out by itself, what is claimed on insert must know."""
        pauses = await self._store.pauses()
        self._outbox.paused_queues = frozenset(one.name for one in pauses if one.kind == PauseKind.QUEUE)
        self._outbox.paused_types = frozenset(one.name for one in pauses if one.kind == PauseKind.TYPE)

    async def _pause_round(self) -> float:
        """Look again and again."""
        await self.see_pauses()
        return PAUSE_POLL_S

    # -- statistics -------------------------------------------------------------------------------------------------
    async def flush_stats(self) -> None:
        """Add what was counted here to the counts per minute; what cannot be added now waits for the next time."""
        rows = self._tally.take(self._clock.now())
        if not rows:
            return
        try:
            async with asyncio.timeout(STATS_TIMEOUT_S):
                await self._store.add_stats(rows)
        except (Unavailable, TimeoutError) as error:
            self._tally.put_back(rows)
            logger.info("counts of jobs could not be written yet: %s", error)

    async def see_retention(self) -> None:
        """Look at how long the finished jobs of queues are kept."""
        self._outcomes.kept_ms = await kept_by_queue(self._store)

    async def _stats_round(self) -> float:
        """Every few seconds."""
        await self.flush_stats()
        if self.node:
            await self.see_retention()
            await self.say_standing()
        return STATS_FLUSH_S

    async def say_standing(self) -> None:
        """Keep what the slots of this process do, where that has changed."""
        standing = (self.node, self._dispatcher.standing())
        if standing != self._said:
            row = Kept(kind=standings.KIND, key=self.node, name=str(self.node), body=standings.encode(standing[1]))
            await self._store.keep([row])
            self._said = standing

    async def forget_standing(self) -> None:
        """This process ends."""
        if self._said is not None:
            with suppress(Unavailable, TimeoutError):  # the leader's sweep forgets those that are gone
                async with asyncio.timeout(STATS_TIMEOUT_S):
                    await self._store.forget_kept(standings.KIND, keys=[self._said[0]])

    async def _forget_gone(self) -> None:
        """What processes said that are not there any more."""
        nodes = {node.node for node in await self._store.list_nodes()}
        gone = [row.key for row in await self._store.kept(standings.KIND, limit=PAGE_MAX) if row.key not in nodes]
        if gone:
            await self._store.forget_kept(standings.KIND, keys=gone)

    # -- sweep ------------------------------------------------------------------------------------------------------
    async def _sweep_round(self) -> float:
        """Repair what no transaction of ours leaves behind, if this process leads; say so if there was anything."""
        if not self._has_swept:
            self._has_swept = True
            return SWEEP_FIRST_S
        if self._leads():
            await self._forget_gone()
            report = await self._store.sweep()
            if not report.is_clean:
                logger.error("the sweep repaired what should not be: %s", msgspec.structs.asdict(report))
        return SWEEP_S


def _expect_readable(recurring: StoredRecurring) -> None:
    """Raises InvalidValue where others have written a job that nobody can read."""
    if recurring.error:
        raise InvalidValue(recurring.error)
