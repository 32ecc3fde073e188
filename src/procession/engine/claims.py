"""Claims: one query for all queues fills the free slots; every leased job is delivered or returned.

Polling is the guarantee and adapts itself: at once while there is more and room for it, otherwise with pauses that
grow; hints end a pause. When the answer of a claim got lost, what it leased is found and returned before the next one.
A process job is delivered with what its element sees; one whose element is gone is deleted.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable

from procession.core import State
from procession.engine.clock import StoreClock
from procession.engine.definitions import Definitions
from procession.engine.delivery import Delivery, Dispatcher, from_claimed, said, said_of
from procession.engine.duty import Duty
from procession.engine.instances import Instances
from procession.engine.outbox import SYSTEM_QUEUES, Slots, fill_delivery
from procession.engine.outcomes import Outcomes
from procession.engine.settings import Counters, Settings
from procession.engine.system import System
from procession.errors import Bug
from procession.jobs.kinds import JobKind, JobState
from procession.limits import PAGE_MAX
from procession.store.port import Store
from procession.store.rows import Claimed, JobEnd, JobFilter, JobOutcome, StoredInstance, Want

logger = logging.getLogger("procession.engine")

UNREADABLE_MS = 60_000  # a job whose instance cannot be read goes back for this long; no attempt is used
PROCESS_KINDS = frozenset({JobKind.SERVICE, JobKind.METHOD, JobKind.LISTENER})


class Claims:
    """Fills the slots of the dispatcher and of the engine's own work."""

    def __init__(  # noqa: PLR0913 - the parts of one engine, wired in one place
        self,
        store: Store,
        *,
        dispatcher: Dispatcher,
        system: System,
        instances: Instances,
        definitions: Definitions,
        outcomes: Outcomes,
        settings: Settings,
        counters: Counters,
        chance: Callable[[], float],
        clock: StoreClock,
        held: Callable[[], set[int]],
    ) -> None:
        self._store = store
        self._clock = clock
        self._held = held
        self._doubtful = False  # the answer of a claim got lost: jobs may be leased to this process without its knowing
        self._dispatcher = dispatcher
        self._system = system
        self._instances = instances
        self._definitions = definitions
        self._outcomes = outcomes
        self._settings = settings
        self._counters = counters
        self._chance = chance
        self._queues: set[str] = set()  # queues that this process has ever wanted jobs of
        self._full: set[str] = set()  # queues whose last claim got all that it asked for: they have probably more
        self._more = False  # there is probably more: some queue is such, or somebody said so
        self._hints = 0
        self.is_partial = False  # the last claim has not looked at all limited jobs that are due, though it had room
        self._pause_ms = settings.claim_poll_ms_min
        self.node = 0
        self.duty = Duty("claims", self._round, chance)

    @property
    def claimed(self) -> int:
        """Jobs claimed since the engine opened."""
        return self._counters.claimed

    # -- hints ------------------------------------------------------------------------------------------------------
    def heard(self, queue: str) -> None:
        """A queue got ready jobs (empty: some queue)."""
        if not queue or queue in self._queues:
            self._more = True
            self._hints += 1
            self._pause_ms = self._settings.claim_poll_ms_min
            self.duty.wake()

    def room(self) -> None:
        """Slots became free."""
        if self._more:
            self.duty.wake()

    def share(self, *, alone: bool) -> None:
        """Whether other processes work on the database too."""
        self._dispatcher.share(alone=alone)

    # -- rounds -----------------------------------------------------------------------------------------------------
    async def _round(self) -> float:
        """One claim; the pause until the next in seconds."""
        claimed = await self.once()
        if claimed:
            self._pause_ms = self._settings.claim_poll_ms_min
            return 0.0 if self._more else self._pause_ms / 1000
        if self.is_partial:
            return 0.0
        pause_ms = self._pause_ms
        self._pause_ms = min(self._settings.claim_poll_ms_max, pause_ms * 2)
        return pause_ms * (0.75 + self._chance() / 2) / 1000

    def free(self) -> list[Want]:
        """Whether there is room, without taking it (for the self-check)."""
        wants = [*self._dispatcher.wants(), *self._system.wants()]
        for want in wants:
            self._slots(want.queue).release(want.queue, want.count)
        return wants

    async def once(self) -> int:
        """Claim what there is room for and deliver it; how many. Raises Unavailable, having returned every slot."""
        if self._doubtful:
            await self._return_strays()
        wants = [*self._dispatcher.wants(), *self._system.wants()]
        if not wants:
            return 0
        self._queues.update(want.queue for want in wants)
        hints = self._hints
        jobs = Claimed()
        asked_at = self._clock.moment()
        try:
            jobs = await self._store.claim(self.node, wants)
        except BaseException:
            self._doubtful = True
            raise
        finally:
            got = Counter(job.queue for job in jobs)
            for want in wants:  # a queue without room is not asked for now: what is known of it stays
                if got[want.queue] < want.count:
                    self._full.discard(want.queue)
                    self._slots(want.queue).release(want.queue, want.count - got[want.queue])
                else:
                    self._full.add(want.queue)
            self._more = hints != self._hints or bool(self._full) or bool(jobs.held_back)
        self.is_partial = jobs.is_partial
        self._counters.claimed += len(jobs)
        for queue in jobs.held_back:
            self._dispatcher.hold_back(queue)
        await self._deliver([from_claimed(job, asked_at) for job in jobs])
        return len(jobs)

    async def _return_strays(self) -> None:
        """Give back what is leased to this process and not in its hands. No claim is under way meanwhile."""
        after = 0
        while page := await self._store.list_jobs(JobFilter(state=JobState.RUNNING, after=after, limit=PAGE_MAX)):
            after = page[-1].key
            held = self._held()  # after the page was read: what has ended since is not given back, its lease is over
            for job in page:
                if job.owner == self.node and job.key not in held:
                    text = "job %d (%s) was leased in a claim whose answer got lost: returned"
                    logger.warning(text, job.key, job.type, extra=said_of(job.instance, job=job.key))
                    self._outcomes.release(job.key, job.lease)
        self._doubtful = False

    async def _deliver(self, jobs: list[Delivery]) -> None:
        """Deliver plain and system jobs at once, process jobs when their instances are read."""
        waiting: list[Delivery] = []
        for job in jobs:
            if job.kind in PROCESS_KINDS:
                waiting.append(job)
            else:
                self._slots(job.queue).deliver(job)
        if not waiting:
            return
        done = 0
        try:
            rows = await self._read({job.instance for job in waiting})
            states: dict[int, State] = {}  # read once: of a wide multi-instance, hundreds of jobs come at a time
            for job in waiting:
                self._deliver_process_job(job, rows.get(job.instance), states)
                done += 1
        finally:
            for job in waiting[done:]:
                self._return(job)

    async def _read(self, keys: set[int]) -> dict[int, StoredInstance]:
        """The instances of these jobs, with their definitions at hand."""
        rows = {row.key: row for row in await self._store.load(sorted(keys))}
        self._counters.loads += len(keys)
        await self._definitions.ensure({row.definition for row in rows.values()})
        return rows

    def _deliver_process_job(self, job: Delivery, row: StoredInstance | None, states: dict[int, State]) -> None:
        """Deliver a job with its variables; delete it if nothing waits for it any more."""
        try:
            if row is None or row.rev < 1:
                raise KeyError(job.instance)  # noqa: TRY301 - one way out for everything that is gone
            state = states.get(row.key)
            if state is None:
                state = states[row.key] = self._instances.adopt(row)
            if state.jobs.get(job.key) != job.element_instance:
                raise KeyError(job.key)  # noqa: TRY301 - the same
            fill_delivery(job, state, self._definitions.get(row.definition))
        except KeyError:
            logger.debug(
                "job %d is deleted: element instance %d is gone", job.key, job.element_instance, extra=said(job)
            )
            self._slots(job.queue).release(job.queue)
            self._outcomes.put(JobOutcome(key=job.key, lease=job.lease, end=JobEnd.DONE))
        except Exception as error:
            logger.exception("job %d cannot run: instance %d cannot be read", job.key, job.instance, extra=said(job))
            self._slots(job.queue).release(job.queue)
            text = str(error) if isinstance(error, Bug) else f"{type(error).__name__}: {error}"
            outcome = JobOutcome(
                key=job.key,
                lease=job.lease,
                end=JobEnd.RETRY,
                delay_ms=UNREADABLE_MS,
                error=text,
                retries=job.retries,
            )
            self._outcomes.put(outcome)
        else:
            self._slots(job.queue).deliver(job)

    def _return(self, job: Delivery) -> None:
        """Give a leased job back."""
        self._slots(job.queue).release(job.queue)
        self._outcomes.release(job.key, job.lease)

    def _slots(self, queue: str) -> Slots:
        """Who runs the jobs of a queue."""
        return self._system if queue in SYSTEM_QUEUES else self._dispatcher
