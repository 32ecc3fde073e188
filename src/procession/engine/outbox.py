"""What a step leaves for others: jobs claimed on insert and handed over in memory, the rest announced after the commit.

Before a step is written each of its new jobs is offered to this process; a job that finds a free slot is inserted
already leased to it. It runs nothing and decides nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Protocol

from procession.core import State, visible_variables
from procession.engine.delivery import Delivery, Dispatcher, from_new
from procession.engine.settings import Counters
from procession.errors import Unavailable
from procession.jobs.kinds import FOLLOW_UP_QUEUE, SUBMIT_QUEUE, TIMER_QUEUE
from procession.model.definition import Definition
from procession.store.port import Store
from procession.store.rows import NewJob, Step

logger = logging.getLogger("procession.engine")

STOP_S = 1.0  # for the last announcements; polling finds what they would have said
SYSTEM_QUEUES = frozenset({FOLLOW_UP_QUEUE, TIMER_QUEUE, SUBMIT_QUEUE})


class Slots(Protocol):
    """Whoever has slots for queues: the worker's dispatcher, or the engine's own for follow-ups and timers."""

    def reserve(self, queue: str) -> bool:
        """Take one free slot."""
        ...

    def release(self, queue: str, count: int = 1) -> None:
        """Give it back."""
        ...

    def deliver(self, job: Delivery) -> None:
        """Use it."""
        ...


class Outbox:
    """Claim on insert, hand over, announce. ``node`` 0 claims nothing."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        system: Slots,
        announcer: Announcer,
        counters: Counters,
        *,
        timer_set: Callable[[int], None],
        now: Callable[[], int],
        give_back: Callable[[NewJob], None],
    ) -> None:
        self._dispatcher = dispatcher
        self._system = system
        self._announcer = announcer
        self._counters = counters
        self._timer_set = timer_set
        self._now = now
        self._give_back = give_back
        self.node = 0
        self.paused_queues: frozenset[str] = frozenset()  # what nobody may claim, on insert neither
        self.paused_types: frozenset[str] = frozenset()

    def claim(self, step: Step) -> None:
        """Lease the step's new jobs to this process where it has room."""
        node = self.node
        if not node:
            return
        for job in step.new_jobs:
            if job.run_at or job.delay_ms:
                continue
            queue = job.queue
            if (self.paused_queues or self.paused_types) and self._is_paused(job):
                continue
            if (self._system if queue in SYSTEM_QUEUES else self._dispatcher).reserve(queue):
                job.owner = node

    def claim_jobs(self, jobs: Iterable[NewJob]) -> set[int]:
        """The same for jobs of no step; the keys of those that are leased."""
        node = self.node
        leased: set[int] = set()
        if node:
            pauses = bool(self.paused_queues or self.paused_types)
            full: set[str] = set()
            for job in jobs:
                queue = job.queue
                if queue in full or job.run_at or job.delay_ms or (pauses and self._is_paused(job)):
                    continue
                if queue not in SYSTEM_QUEUES and not self._dispatcher.runs_type(job.type):
                    continue  # others on this queue may
                if self._slots(queue).reserve(queue):
                    job.owner = node
                    leased.add(job.key)
                else:
                    full.add(queue)
        return leased

    def unclaim_jobs(self, jobs: Iterable[NewJob], *, doubtful: bool) -> None:
        """They were not written, or nobody knows (then they are returned): their slots are free again."""
        for job in jobs:
            if job.owner:
                job.owner = 0
                if doubtful:
                    self._give_back(job)
                self._slots(job.queue).release(job.queue)

    def hand_over_jobs(self, jobs: Iterable[NewJob]) -> None:
        """They are durable: run what is leased to this process, announce the rest."""
        queues: set[str] = set()
        for job in jobs:
            if job.owner:
                self._counters.handed_over += 1
                self._slots(job.queue).deliver(from_new(job))
            elif job.run_at or job.delay_ms:
                self._timer_set(job.run_at or self._now() + job.delay_ms)
            else:
                queues.add(job.queue)
        if queues:
            self._announcer.announce_all(sorted(queues))

    def unclaim(self, step: Step) -> None:
        """The step was not written, or nobody knows: its slots are free again."""
        for job in step.new_jobs:
            if job.owner:
                self._slots(job.queue).release(job.queue)

    def give_back(self, step: Step) -> None:
        """A step in doubt is no more what is stored: if its jobs exist, they are leased to this process and not run."""
        for job in step.new_jobs:
            if job.owner:
                self._give_back(job)

    def withdraw(self, jobs: set[int]) -> None:
        """Jobs were closed by a step that is not theirs (an interruption, a cancellation): they do not begin here."""
        self._dispatcher.withdraw(jobs)

    def claim_again(self, step: Step, state: State) -> None:
        """A step in doubt was written: take the slots of its jobs again; return those that find none, or are over."""
        for job in step.new_jobs:
            if not job.owner:
                continue
            over = job.queue not in SYSTEM_QUEUES and job.key not in state.jobs
            if over or not self._slots(job.queue).reserve(job.queue):
                self._give_back(job)
                job.owner = 0

    def hand_over(self, step: Step, state: State, definition: Definition | None) -> None:
        """The step is durable: run what is leased to this process, announce the rest."""
        for job in step.new_jobs:
            if job.owner:
                self._counters.handed_over += 1
                system = job.queue in SYSTEM_QUEUES
                delivery = from_new(job)
                if not system and job.element_instance and definition is not None:
                    fill_delivery(delivery, state, definition)
                delivery.process_id = step.process_id
                (self._system if system else self._dispatcher).deliver(delivery)
            elif job.run_at:
                self._timer_set(job.run_at)
            else:
                self._announcer.announce(job.queue)
        for change in step.changed_jobs:
            if change.retries > 0 or change.state == 0:
                self._announcer.hint()
                break

    def _is_paused(self, job: NewJob) -> bool:
        """Whether an operator lets nobody claim it."""
        return job.queue in self.paused_queues or (job.type in self.paused_types and job.queue not in SYSTEM_QUEUES)

    def _slots(self, queue: str) -> Slots:
        """Who runs the jobs of a queue."""
        return self._system if queue in SYSTEM_QUEUES else self._dispatcher


def fill_delivery(delivery: Delivery, state: State, definition: Definition) -> None:
    """Give a process job its variables and its compiled element. Raises KeyError if the element instance is gone."""
    node = state.nodes[delivery.element_instance]
    delivery.variables = visible_variables(state, delivery.element_instance)
    delivery.spec = definition.elements[node.element]
    delivery.process_id = definition.process_id
    delivery.business_id = state.business_id


class Announcer:
    """Tells this process and the others that queues got ready jobs: coalesced, after the commit, never in its way."""

    def __init__(self, store: Store, *, pause_ms: int, heard: Callable[[str], None]) -> None:
        self._store = store
        self._pause_s = pause_ms / 1000
        self._heard = heard
        self._names: set[str] = set()
        self._task: asyncio.Task[None] | None = None

    def announce(self, queue: str) -> None:
        """This queue got a ready job."""
        self._heard(queue)
        if queue not in self._names:
            self._names.add(queue)
            if self._task is None or self._task.done():
                self._task = asyncio.get_running_loop().create_task(self._send(), name="procession announcements")

    def announce_all(self, queues: Iterable[str]) -> None:
        """These queues got ready jobs."""
        for queue in queues:
            self.announce(queue)

    def hint(self) -> None:
        """Some queue got a ready job; which one is not known here."""
        self._heard("")

    async def _send(self) -> None:
        """Announce until nothing has gathered: the last name always goes out."""
        while self._names:
            names, self._names = sorted(self._names), set()
            try:
                await self._store.announce(names)
            except Unavailable:
                logger.debug("announcement of %s was lost: polling will find the jobs", names)
            await asyncio.sleep(self._pause_s)

    async def stop(self) -> None:
        """Announce what has gathered, since others wait for it, and stop."""
        if self._task is None:
            return
        _, late = await asyncio.wait([self._task], timeout=STOP_S)
        if late:
            self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
