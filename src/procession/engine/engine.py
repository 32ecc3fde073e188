"""The engine of one process: its parts wired together, its life, and what others ask of it.

    engine = Engine(store, dispatcher=dispatcher)
    await engine.open()             # keys, a node number: commands work from here on
    await engine.start()            # claims, timers, heartbeat, leadership: jobs run
    key = await engine.start_instance("order", {"orderId": 17})
    await engine.stop()

The store is opened and closed by whoever made it. Tests leave ``start`` out and turn the crank: ``run_until_idle``.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable
from types import FrameType
from typing import Any

import msgspec

from procession.engine.batches import Batches
from procession.engine.cells import Ask
from procession.engine.claims import Claims
from procession.engine.clock import StoreClock
from procession.engine.commit import GroupCommit
from procession.engine.decisions import Decisions
from procession.engine.definitions import Definitions
from procession.engine.delivery import Delivery, Dispatcher, Nobody
from procession.engine.duties import Duties
from procession.engine.follow_ups import FollowUps
from procession.engine.heartbeat import Heartbeat
from procession.engine.instances import Instances
from procession.engine.intake import Intake
from procession.engine.keys import KeyStock
from procession.engine.lane import Patience
from procession.engine.messages import Messages
from procession.engine.operations import Operations
from procession.engine.outbox import Announcer, Outbox
from procession.engine.outcomes import Outcomes
from procession.engine.queue_duties import QueueDuties
from procession.engine.requests import DEPLOYED
from procession.engine.settings import Counters, Settings
from procession.engine.steps import StepRun
from procession.engine.submissions import Submissions
from procession.engine.system import System
from procession.engine.tally import Tally
from procession.engine.vitals import Vitals
from procession.engine.within import TransactionalRun
from procession.errors import Bug, Unavailable
from procession.jobs.kinds import SUBMIT_QUEUE, TIMER_QUEUE
from procession.model.definition import Definition
from procession.store.port import Clock, StepTransaction, Store
from procession.store.rows import JobOutcome

logger = logging.getLogger("procession.engine")

LATEST_S = 1.0  # how long a latest version is remembered without word of a deployment
ROUNDS_MAX = 100_000  # turns of the crank before a test is told that it never comes to rest
REST_S_MAX = 60.0  # for what has threads or processes of its own: starting one took 10 s on a loaded machine


class Engine(Operations):
    """One process' engine on a store."""

    def __init__(
        self,
        store: Store,
        *,
        dispatcher: Dispatcher | None = None,
        settings: Settings | None = None,
        clock: Clock | None = None,
        name: str = "",
        details: dict[str, Any] | None = None,
        open_store: Callable[[], Awaitable[Store]] | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.store = store
        self.settings = settings or Settings()
        self.counters = Counters()
        self.tally = Tally()
        self.clock = StoreClock(clock)
        self.dispatcher: Dispatcher = dispatcher or Nobody()
        self.node = 0
        self.name = name
        self._details = details or {}
        self._chance = chance
        self._running = False
        self._open = False
        self._stopped = False
        self._stop_listening: Callable[[], Awaitable[None]] | None = None
        self._returning: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wire(open_store)

    def _wire(self, open_store: Callable[[], Awaitable[Store]] | None) -> None:
        """Make the parts, each knowing only what it needs."""
        store, settings, counters, chance = self.store, self.settings, self.counters, self._chance
        self._know()
        self._announcer = Announcer(store, pause_ms=settings.announce_pause_ms, heard=self._heard)
        self.outcomes = Outcomes(store, counters, tally=self.tally, chance=chance, freed=self._scheduled)
        self._system = System(self.outcomes, settings, handler=self._carry_out, chance=chance, room=self.room)
        self._outbox = Outbox(
            self.dispatcher,
            self._system,
            self._announcer,
            counters,
            timer_set=self._timer_set,
            now=self.clock.now,
            give_back=lambda job: self.outcomes.release(job.key, 1),
        )
        self._commit = GroupCommit(store, self._keys, counters, chance=chance, woken=self._announcer.announce_all)
        self.instances = Instances(
            store,
            clock=self.clock,
            keys=self._keys,
            commit=self._commit,
            definitions=self.definitions,
            decisions=self.decisions,
            outbox=self._outbox,
            settings=settings,
            counters=counters,
            chance=chance,
        )
        self._messages = Messages(store, self._keys, self._announcer)
        self._intake = Intake(store, self._outbox, self.tally, chance=chance)
        self._submissions = Submissions(
            store, self._announcer, self.clock, self.tally, chance=chance, timer_set=self._timer_set
        )
        self._wire_follow_ups()
        self._claims = Claims(
            store,
            dispatcher=self.dispatcher,
            system=self._system,
            instances=self.instances,
            definitions=self.definitions,
            outcomes=self.outcomes,
            settings=settings,
            counters=counters,
            chance=chance,
            clock=self.clock,
            held=self._held,
        )
        self._wire_duties(open_store)

    def _wire_duties(self, open_store: Callable[[], Awaitable[Store]] | None) -> None:
        """Make the parts that run by themselves."""
        store, settings, chance = self.store, self.settings, self._chance
        self._duties = Duties(
            store,
            clock=self.clock,
            announcer=self._announcer,
            instances=self.instances,
            claims=self._claims,
            settings=settings,
            chance=chance,
            lost=self._lost_from_thread,
        )
        self._duties.beats = open_store is None
        self.vitals = Vitals(store, self.counters, clock=self.clock, keys=self._keys, name=self.name, chance=chance)
        self.queue_duties = QueueDuties(
            store,
            clock=self.clock,
            keys=self._keys,
            announcer=self._announcer,
            outbox=self._outbox,
            dispatcher=self.dispatcher,
            tally=self.tally,
            outcomes=self.outcomes,
            chance=chance,
            leads=lambda: bool(self._duties.term),
        )
        self._duties.count_failed = self.queue_duties.count_failed
        lost = self._lost_from_thread
        self._heartbeat = Heartbeat(settings, self.clock, open_store=open_store, lost=lost, blocking=self._blocking)

    def _wire_follow_ups(self) -> None:
        """What carries out follow-ups, and batches, whose items are such."""
        follow_ups = FollowUps(self.store, self.instances, self.definitions, self._messages, self.clock)
        follow_ups.announce = self._announcer.announce_all
        self._batches = Batches(self.store, self._keys, self.definitions, self._announcer, follow_ups)
        follow_ups.batches = self._batches
        self._follow_ups = follow_ups

    def _know(self) -> None:
        """Keys, and the caches of what is deployed."""
        self._keys = KeyStock(self.store, self._chance)
        count_max, latest_s = self.settings.definitions_cached, 0.0 if self.clock.virtual else LATEST_S
        self.definitions = Definitions(self.store, count_max, latest_s=latest_s)
        self.decisions = Decisions(self.store, self.definitions, count_max, latest_s=latest_s)

    # -- life -------------------------------------------------------------------------------------------------------
    async def open(self, *, works: bool = True) -> None:
        """Register this process and take keys. Commands work from here on; no job runs yet.

        ``works`` False: it only gives commands. It is no node then and claims nothing, not even what its own commands
        leave to be done: without a heartbeat it could not hold a lease.
        """
        if self._open:
            return
        if self._stopped:
            raise Unavailable("This engine was stopped: make a new one")
        self._loop = asyncio.get_running_loop()
        before = time.monotonic()
        self.clock.measured(await self.store.now(), before, time.monotonic())
        await self._keys.enough()
        if works:
            await self._enter()
        self._commit.start()
        self.outcomes.start()
        self.instances.start_work()
        self._messages.start()
        self._intake.start()
        self.vitals.start()
        self._open = True
        if not self.clock.virtual:
            self.queue_duties.start_counting()

    async def _enter(self) -> None:
        """Become a node."""
        node = await self.store.register(self.name, msgspec.json.encode(self._details))
        self.node = self._outbox.node = self._claims.node = self._duties.node = self._commit.node = node
        self.queue_duties.node = self.vitals.node = node

    async def start(self) -> None:
        """Begin to run jobs and to do duties."""
        await self.open()
        if self._running:
            return
        if not self.node:
            await self._enter()
        await self._duties.look_around()
        await self.queue_duties.see_pauses()
        await self.queue_duties.see_retention()
        self._running = True
        self._heartbeat.start(self.node)
        self._stop_listening = await self.store.listen(self._heard_from_afar)
        self._claims.duty.start()
        self._duties.start()
        self.queue_duties.start()

    async def stop(self) -> None:
        """The ladder: claim no more, return what has not started, wait, cancel, wait, give up; flush; leave."""
        if not self._open:
            return
        settings = self.settings
        self._running = False
        await self._cancel_return()
        await self._claims.duty.stop()
        await self._duties.stop()
        await self.queue_duties.stop()
        self._outbox.node = 0
        await self.dispatcher.stop(settings.stop_wait_ms, settings.stop_cancel_ms)
        self._system.drain()
        await self._settled(settings.stop_cancel_ms / 1000)
        await self._system.stop()
        await self._settled(settings.stop_cancel_ms / 1000)
        await self._close_parts()
        self._open, self._stopped = False, True

    async def _close_parts(self) -> None:
        """Stop every part and leave the cluster."""
        if self._stop_listening is not None:
            await self._stop_listening()
            self._stop_listening = None
        await self.vitals.stop()
        await self._announcer.stop()
        await self._commit.stop()
        await self.instances.stop()
        await self._messages.stop()
        await self._intake.stop()
        lost = await self.outcomes.stop()
        if lost:
            logger.warning("%d outcomes of jobs could not be written: those jobs will run again", lost)
        await self.queue_duties.flush_stats()
        await self.queue_duties.forget_standing()
        await self._keys.stop()
        await self._heartbeat.stop()
        if stuck := self.dispatcher.jobs():
            logger.warning(
                "limited jobs still run though they were cancelled (%s): this process does not leave, so that their"
                " limits stay taken until others notice that it is gone",
                ", ".join(map(str, sorted(stuck))),
            )
            return
        try:
            if self.node:
                await self.store.leave(self.node)
        except Unavailable as error:
            logger.warning("this process could not leave; others will notice that it is gone: %s", error)

    async def _settled(self, longest_s: float) -> None:
        """Wait until nothing is under way, at most so long."""
        loop = asyncio.get_running_loop()
        until = loop.time() + longest_s
        spins = 0
        while not self.quiet and loop.time() < until:
            spins += 1
            await asyncio.sleep(0 if spins < 100 else 0.005)

    @property
    def quiet(self) -> bool:
        """Whether nothing is under way in this process."""
        return (
            self.instances.idle
            and self._commit.idle
            and self.outcomes.idle
            and self._system.idle
            and self._messages.idle
            and self._intake.idle
            and self._keys.idle
            and self.dispatcher.idle()
        )

    async def run_until_idle(self) -> None:
        """Do everything that is due now, claims and timers included, without sleeping: the crank of the tests.

        Raises Bug when it never comes to rest.
        """
        await self.open()
        if not self.node:
            await self._enter()
        for _ in range(ROUNDS_MAX):
            await self._come_to_rest()
            fired = await self.queue_duties.once()
            await self._duties.promote_once()  # limited jobs of queues that nobody serves here are named each time
            await self._duties.expire_once()
            claimed = await self._claims.once()
            if not fired and not claimed and self.quiet and not self._duties.more_is_due:
                await self._duties.retention.sweep()
                return
        raise Bug(f"Expected the engine to come to rest, found work after {ROUNDS_MAX} rounds")

    async def _come_to_rest(self) -> None:
        """Let everything that is under way end; threads get real time."""
        spins = 0
        loop = asyncio.get_running_loop()
        patience_ends = loop.time() + REST_S_MAX
        while not self.quiet:
            spins += 1
            if spins > ROUNDS_MAX and loop.time() > patience_ends:
                raise Bug(f"Expected running work to end, still running: {self.dispatcher.running()}")
            await asyncio.sleep(0 if spins % 200 else 0.001)

    # -- losing and regaining the node --------------------------------------------------------------------------------
    def _lost_from_thread(self, reason: str) -> None:
        """The heartbeat failed: nothing may be written any more, at once; the rest is done on the loop."""
        self._commit.fenced = self.outcomes.fenced = True
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._lost, reason)

    def _lost(self, reason: str) -> None:
        """This process has lost its leases: stop its work, then come back as a new node."""
        if not self._running or self._returning is not None:
            return
        logger.error("this process stops its work, for others may take it over: %s", reason)
        self._returning = asyncio.get_running_loop().create_task(self._come_back(), name="procession return")

    async def _come_back(self) -> None:
        """Cancel everything, wait for the database, leave as the old node and enter as a new one."""
        await self._claims.duty.stop()
        await self._duties.stop()
        await self.queue_duties.stop()
        self._outbox.node = 0
        self.dispatcher.cancel_all("this process could not show that it lives")
        self._system.drop(give_back=False)
        self.instances.forget_all()
        patience = Patience(self._chance)
        while True:
            try:
                await self.store.leave(self.node)
                await self._enter()
                break
            except Unavailable:
                await patience.pause()
        self._commit.fenced = self.outcomes.fenced = False
        self._heartbeat.start(self.node)
        self._claims.duty.start()
        self._duties.start()
        self.queue_duties.start()
        self._returning = None
        logger.warning("this process works again, as node %d", self.node)

    async def _cancel_return(self) -> None:
        """Stop coming back."""
        if self._returning is not None:
            self._returning.cancel()
            await asyncio.gather(self._returning, return_exceptions=True)
            self._returning = None

    # -- wiring -----------------------------------------------------------------------------------------------------
    async def _carry_out(self, job: Delivery) -> bool:
        """A system job."""
        if job.queue == SUBMIT_QUEUE:
            return await self._submissions.carry_out(job)
        return await self._follow_ups(job)

    def _heard(self, queue: str) -> None:
        """This process knows that a queue got ready jobs."""
        self._tell_dispatcher(queue)
        self.queue_duties.heard(queue)
        self._claims.heard(queue)

    def _heard_from_afar(self, queue: str) -> None:
        """Another process says so (called on the loop)."""
        if queue == DEPLOYED:
            self.definitions.forget_latest()
            self.decisions.forget_latest()
            return
        if queue == TIMER_QUEUE:
            self._duties.heard_timer()
        self._tell_dispatcher(queue)
        self.queue_duties.heard(queue)
        self._claims.heard(queue)

    def _tell_dispatcher(self, queue: str) -> None:
        """Those who wait elsewhere keep count of the queues that are empty."""
        hear: Callable[[str], None] | None = getattr(self.dispatcher, "heard", None)
        if hear is not None:
            hear(queue)

    def _timer_set(self, due_at: int) -> None:
        """A job is scheduled."""
        self._duties.timer_set(due_at)

    def _scheduled(self, outcome: JobOutcome) -> None:
        """A job will run again later."""
        self._duties.timer_set(self.clock.now() + outcome.delay_ms)

    def room(self) -> None:
        """The dispatcher has free slots again."""
        self._claims.room()

    def _held(self) -> set[int]:
        """Every job that this process knows to be leased to it."""
        return self.dispatcher.jobs() | self._system.jobs() | self.instances.jobs() | self._intake.jobs()

    def announce(self, queue: str) -> None:
        """A queue got ready jobs by a transaction that is not the engine's: look now, and tell the others."""
        self._announcer.announce(queue)

    def hint(self, queue: str) -> None:
        """Look now, here: a queue may have ready jobs, or somebody has come who wants some."""
        self._claims.heard(queue)

    def _blocking(self, frame: FrameType) -> str:
        """The handler that a frame of the main thread belongs to."""
        find = getattr(self.dispatcher, "handler_at", None)
        return find(frame) if find is not None else ""

    # -- what the worker asks of it -----------------------------------------------------------------------------------
    def submit(self, instance: int, ask: Ask) -> None:
        """Give a command to an instance; its answer comes through the ask."""
        self.instances.submit(instance, ask)

    async def begin(self) -> StepTransaction:
        """A transaction for a handler. Raises Unavailable, Misconfigured where the store has none to lend."""
        return await self.store.begin()

    def begin_step(self, job: Delivery, *, transactional: bool = False) -> StepRun:
        """Run methods from this job on; ``transactional``: some of them may write in the step's transaction."""
        if transactional:
            return TransactionalRun(self.instances, job, now=self.clock.now, runs_method=self.dispatcher.runs_method)
        return StepRun(self.instances, job, now=self.clock.now, runs_method=self.dispatcher.runs_method)

    def definition(self, key: int) -> Definition | None:
        """A compiled definition, if it is at hand."""
        return self.definitions.peek(key)
