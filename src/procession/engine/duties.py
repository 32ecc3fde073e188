"""What a cluster needs done once: due jobs made ready, dead processes' work given back, old messages expired.

Every process keeps a lease on leadership and only the leader does them; each is safe to run twice all the same. The
self-check looks after this process itself. Nothing here decides anything about a process.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from procession.core.commands import FailJob
from procession.engine.cells import Told
from procession.engine.claims import Claims
from procession.engine.clock import StoreClock
from procession.engine.delivery import said_of
from procession.engine.duty import Duty
from procession.engine.instances import Instances
from procession.engine.outbox import Announcer
from procession.engine.retention import Retention
from procession.engine.settings import Settings
from procession.jobs.kinds import TIMER_QUEUE, JobState
from procession.limits import PROMOTE_MAX, RESCUE_MAX
from procession.store.port import Store

logger = logging.getLogger("procession.engine")

EXPIRE_MAX = 1_000


class Duties:
    """The background of one engine."""

    def __init__(
        self,
        store: Store,
        *,
        clock: StoreClock,
        announcer: Announcer,
        instances: Instances,
        claims: Claims,
        settings: Settings,
        chance: Callable[[], float],
        lost: Callable[[str], None],
    ) -> None:
        self._store = store
        self._clock = clock
        self._announcer = announcer
        self._instances = instances
        self._claims = claims
        self._settings = settings
        self._lost = lost
        self.count_failed: Callable[[list[int]], Awaitable[None]] | None = None  # told of jobs that failed for good
        self.node = 0
        self.term = 0  # of this process' leadership; 0: another leads
        self._led_since = 0.0
        self._next_due = 0
        self._claimed = -1
        self._rounds = -1
        self._lead = Duty("leadership", self._lead_once, chance)
        self._promote = Duty("timers", self._promote_round, chance)
        self._rescue = Duty("rescue", self._rescue_round, chance)
        self._expire = Duty("messages", self._expire_round, chance)
        self.retention = Retention(store, clock, settings)
        self._retain = Duty("retention", self._retain_round, chance)
        self._forget = Duty("batches", self._forget_round, chance)
        self._check = Duty("self-check", self._check_round, chance)
        self.beats = False  # whether this process beats on its main loop, having no second connection for a thread
        self._beat = Duty("heartbeat", self._beat_round, chance)

    # -- life -------------------------------------------------------------------------------------------------------
    def start(self) -> None:
        """Begin."""
        for duty in self._all():
            if duty is not self._beat or self.beats:
                duty.start()

    async def stop(self) -> None:
        """End; leadership runs out by itself."""
        for duty in self._all():
            await duty.stop()
        self.term = 0

    def _all(self) -> tuple[Duty, ...]:
        """Every duty."""
        return (
            self._beat,
            self._lead,
            self._promote,
            self._rescue,
            self._expire,
            self._retain,
            self._forget,
            self._check,
        )

    async def _beat_round(self) -> float:
        """Say that this process lives."""
        if not await self._store.beat(self.node):
            self._lost("others have declared this process dead")
        return self._settings.heartbeat_ms / 1000

    # -- leadership -------------------------------------------------------------------------------------------------
    async def _lead_once(self) -> float:
        """Become or stay leader."""
        term = await self._store.lead(self.node, self._settings.lead_term_ms)
        if term and term != self.term:
            self._led_since = asyncio.get_running_loop().time()
            logger.info("this process leads (term %d)", term)
            self._promote.wake()
        self.term = term
        return self._settings.lead_term_ms / 3000

    # -- due jobs ---------------------------------------------------------------------------------------------------
    def timer_set(self, due_at: int) -> None:
        """A job will be due then: the leader must not sleep past it."""
        if self.term:
            if not self._next_due or due_at < self._next_due:
                self._next_due = due_at
                self._promote.wake()
        elif due_at - self._clock.now() < 2 * self._settings.promote_poll_ms_max:
            self._announcer.announce(TIMER_QUEUE)

    def heard_timer(self) -> None:
        """Another process has a timer that is due soon."""
        if self.term:
            self._promote.wake()

    async def promote_once(self) -> int:
        """Make due jobs ready: how many queues got some, with the next due instant kept for the pause."""
        woken, self._next_due = await self._store.promote(PROMOTE_MAX)
        self._announcer.announce_all(woken)
        return len(woken)

    @property
    def more_is_due(self) -> bool:
        """Whether the last promotion left due jobs to the next one."""
        return 0 < self._next_due <= self._clock.now()

    async def _promote_round(self) -> float:
        """Promote if this process leads; sleep until the next due instant, never longer than the poll."""
        longest = self._settings.promote_poll_ms_max
        if not self.term:
            return longest / 1000
        await self.promote_once()
        if not self._next_due:
            return longest / 1000
        return min(longest, max(0, self._next_due - self._clock.now())) / 1000

    # -- dead processes ---------------------------------------------------------------------------------------------
    async def _rescue_round(self) -> float:
        """Rescue if this process has led long enough to know who is silent."""
        settings = self._settings
        pause_s = settings.heartbeat_ms / 1000
        led_s = asyncio.get_running_loop().time() - self._led_since
        if self.term and led_s * 1000 >= settings.dead_after_ms:
            await self.rescue_once()
        return pause_s

    async def rescue_once(self) -> int:
        """Give back the work of dead processes; how many jobs."""
        settings = self._settings
        rescue = await self._store.rescue(
            settings.dead_after_ms,
            RESCUE_MAX,
            crash_budget=settings.crash_budget,
            backoff_ms=settings.crash_backoff_ms,
        )
        if rescue.nodes:
            logger.warning("processes %s are dead: %d of their jobs were given back", rescue.nodes, rescue.jobs)
        self._announcer.announce_all(rescue.woken)
        if rescue.failed and self.count_failed is not None:
            await self.count_failed(rescue.failed)
        for job in rescue.failed:
            await self._crashed_too_often(job)
        return rescue.jobs

    async def _crashed_too_often(self, job: int) -> None:
        """A process job whose crash budget is spent becomes an incident."""
        text = f"its process died {self._settings.crash_budget} times while it ran (crash budget)"
        logger.error("job %d failed: %s", job, text, extra=said_of(job=job))
        instance = await self._store.find("job", job)
        if instance:
            self._instances.submit(instance, Told(FailJob(job, text), lambda error: log_failure(job, error)))

    # -- messages ---------------------------------------------------------------------------------------------------
    async def _expire_round(self) -> float:
        """Expire if this process leads."""
        if self.term and await self.expire_once() >= EXPIRE_MAX:
            return 0.0
        return self._settings.expire_poll_ms / 1000

    async def expire_once(self) -> int:
        """Delete messages whose time to live is over; how many."""
        return await self._store.expire_messages(EXPIRE_MAX)

    # -- what ended long ago ----------------------------------------------------------------------------------------
    async def _retain_round(self) -> float:
        """Delete a chunk of what is not kept any longer if this process leads."""
        if not self.term or self._settings.retention_ms is None:
            return self._settings.retention_poll_ms / 1000
        return await self.retention.round()

    async def _forget_round(self) -> float:
        """Delete a chunk of the batches that are not kept any longer if this process leads."""
        if not self.term:
            return self._settings.retention_poll_ms / 1000
        return await self.retention.forget_batches()

    # -- self-check -------------------------------------------------------------------------------------------------
    async def _check_round(self) -> float:
        """A claim loop that makes no round hangs: begin anew. One that finds nothing of what is ready: say so."""
        claims = self._claims
        claimed, rounds = claims.claimed, claims.duty.rounds
        if rounds == self._rounds:
            logger.error("the claim loop has made no round for %d ms; claiming anew", self._settings.check_ms)
            claims.duty.restart()
        elif claimed == self._claimed:
            await self._say_what_waits()
        self._claimed, self._rounds = claims.claimed, claims.duty.rounds
        await self.look_around()
        return self._settings.check_ms / 1000

    async def look_around(self) -> None:
        """Whether others work on the database, from whom jobs that wait in this process are kept."""
        nodes = await self._store.list_nodes() if self._store.shared else []
        self._claims.share(alone=all(node.node == self.node for node in nodes))

    async def _say_what_waits(self) -> None:
        """Nothing was claimed since the last look: warn if slots are free and jobs are ready for them."""
        free = {want.queue for want in self._claims.free()}
        counts = await self._store.count_jobs()
        waiting = {
            queue: count for (queue, state), count in counts.items() if state == JobState.READY and queue in free
        }
        if waiting:
            logger.warning("jobs are ready and slots are free, but nothing is claimed: %s", waiting)
            self._claims.heard("")


def log_failure(job: int, error: Exception | None) -> None:
    """An incident that could not be raised is at least said."""
    if error is not None:
        logger.error("no incident could be raised for job %d: %s", job, error, extra=said_of(job=job))
