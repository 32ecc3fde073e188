"""The worker of one process: gives slots to the engine, runs handlers in them, and sees to their time.

It is the engine's ``Dispatcher``. Long-lived coroutines take jobs from local buffers (``line``); one sweeper looks
after all deadlines. Every job that was delivered ends: with an outcome, or returned.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Mapping
from contextvars import copy_context
from functools import partial
from types import FrameType
from typing import Any

from procession.engine import Delivery, Engine, MethodCall, Result, StepRun, said
from procession.engine.standing import Standing
from procession.errors import Rejected
from procession.jobs.codec import Codec
from procession.jobs.kinds import JobKind
from procession.store.rows import Want
from procession.worker.context import Job
from procession.worker.deadlines import Deadlines
from procession.worker.endings import Endings
from procession.worker.failures import is_not_its_own
from procession.worker.line import Line, Slot
from procession.worker.middleware import HandlerCall, around_runs
from procession.worker.outcomes import BpmnError
from procession.worker.own import arguments_of, own_timeout_s
from procession.worker.processes import Processes
from procession.worker.punctuality import Punctuality, TooLate, punctual
from procession.worker.registry import Handler, Mode, Registry
from procession.worker.reports import Reports
from procession.worker.results import result_of
from procession.worker.settings import WorkerSettings
from procession.worker.shares import lines_of
from procession.worker.standing import handler_at, standing_of
from procession.worker.strangers import Strangers
from procession.worker.threads import Threads
from procession.worker.transactional import NotTaken, join, run_within

logger = logging.getLogger("procession.worker")

LOOP, METHOD = Mode.LOOP, JobKind.METHOD
STOP, LOST, CANCELED = "stop", "lost", "canceled"


class LocalDispatcher:
    """Runs the handlers of a registry for an engine: ``attach`` it before the engine starts."""

    def __init__(
        self,
        registry: Registry,
        settings: WorkerSettings | None = None,
        *,
        codec: Codec | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._registry = registry
        self._codec = codec
        self._call: HandlerCall = self._call_handler
        self._is_direct = True  # no middleware stands around a call
        self._settings = settings or WorkerSettings()
        self._chance = chance
        self._lines: dict[str, Line] = {}
        self._threads = Threads()
        made = self._settings
        self._processes = Processes(made.processes, made.process_calls_max, made.process_memory_mb_max)
        self._deadlines = Deadlines(self._lines, made.stuck_ms / 1000, self._give_up)
        self._stopping = False
        self._strangers = Strangers(registry.jobs)
        self._transactional = False  # whether some method writes in the transaction of its step
        self._engine: Engine | None = None
        self._endings: Endings | None = None
        self._reports: Reports | None = None
        self._punctuality = Punctuality()
        self._stuck: list[Delivery] = []  # runs whose handlers ignore their cancellation

    def attach(self, engine: Engine) -> None:
        """Work for this engine. Handlers registered until now get their slots."""
        self._engine = engine
        self._reports = Reports(engine, self.cancel_job, codec=self._codec, chance=self._chance)
        self._endings = Endings(engine, self._reports, self._chance, self._codec)
        if self._registry.run_middleware:
            self._is_direct = False
            self._call = around_runs(self._call_handler, list(self._registry.run_middleware), self._reports.job_of)
        self._transactional = any(handler.transactional for handler in self._registry.methods.values())
        self._lines.update(lines_of(self._registry, self._settings, run=self._run, freed=self._freed))

    def _freed(self, line: Line) -> None:  # noqa: ARG002 - the engine claims for all queues at once
        """There is room."""
        if self._engine is not None:
            self._engine.room()

    # -- slots (the engine's protocol) --------------------------------------------------------------------------------
    def reserve(self, queue: str) -> bool:
        """Take one free slot."""
        line = self._lines.get(queue)
        if line is None or self._stopping or line.taken >= line.capacity or line.held_back:
            return False
        line.taken += 1
        return True

    def release(self, queue: str, count: int = 1) -> None:
        """Give slots back."""
        self._lines[queue].taken -= count

    def wants(self) -> list[Want]:
        """What each queue would take, taken at once."""
        if self._stopping:
            return []
        wants: list[Want] = []
        for line in sorted(self._lines.values(), key=Line.turn):
            want = line.ask()
            if want is not None:
                want.late_ms = self._punctuality.late_ms
                want.strangers = self._strangers.of(want.queue, self._moment())
                wants.append(want)
        return wants

    def hold_back(self, queue: str) -> None:
        """Limited jobs are due that had no slot: the next one that is free is theirs, if their turn has come."""
        line = self._lines[queue]
        line.hold()
        line.held_back = True

    def deliver(self, job: Delivery) -> None:
        """Run a job; one is returned that comes while the worker stops, or that has crashed and would have to wait."""
        line = self._lines[job.queue]
        if job.kind != METHOD and not self.runs_type(job.type):  # a plain queue may be that of others, too
            line.taken -= 1
            self._ends.handed_on(job, self._strangers.meet(job, self._moment()))
        elif self._stopping or (job.crashes and not line.begins_at_once()):
            line.taken -= 1
            self._ends.released(job)
        else:
            line.deliver(job)

    def share(self, *, alone: bool) -> None:
        """Whether other processes work on the database too: jobs that wait here are kept from them."""
        for line in self._lines.values():
            line.share(alone=alone)

    def withdraw(self, jobs: set[int]) -> None:
        """Jobs that were closed by others than their handlers do not begin any more."""
        for line in self._lines.values():
            line.withdraw(jobs)

    def handles(self, queue: str) -> bool:
        """Whether jobs of a queue are for handlers of this process."""
        return queue in self._lines

    def runs_method(self, name: str) -> bool:
        """Whether the code is here."""
        return name in self._registry.methods

    def runs_type(self, name: str) -> bool:
        """Whether there is a handler for jobs of a type."""
        return name in self._registry.jobs

    def idle(self) -> bool:
        """Whether nothing is reserved, buffered, running or being completed."""
        return (self._endings is None or self._endings.landing == 0) and all(
            line.taken == 0 for line in self._lines.values()
        )

    def running(self) -> list[str]:
        """What runs now."""
        return [
            f"{slot.name} (job {slot.delivery.key})"
            for line in self._lines.values()
            for slot in line.slots
            if slot.delivery is not None
        ]

    def standing(self) -> Standing:
        """What the slots do, and what is stuck."""
        return standing_of(self._lines, self._registry, self._stuck)

    def jobs(self) -> set[int]:
        """What is buffered or runs, and what is stuck and keeps its limits taken."""
        stuck = {job.key for job in self._stuck if job.is_limited}
        return stuck.union(*(line.jobs() for line in self._lines.values()))

    def handler_at(self, frame: FrameType) -> str:
        """The handler that a frame belongs to, or its callers; empty if none."""
        return handler_at(self._registry, frame)

    # -- running ----------------------------------------------------------------------------------------------------
    @property
    def _ends(self) -> Endings:
        """Where outcomes go."""
        assert self._endings is not None, "attach the dispatcher to an engine first"
        return self._endings

    async def _run(self, slot: Slot, delivery: Delivery) -> None:
        """One job in a slot, to its outcome."""
        slot.delivery = delivery
        ends = self._endings
        assert ends is not None
        handler: Handler | None = None
        try:
            if delivery.start_within_ms and not self._punctuality.in_time(delivery, self._moment()):
                self._too_late(delivery)
            elif delivery.kind == METHOD:
                await self._run_step(slot, delivery)
            else:
                handler = self._registry.jobs[delivery.type]
                seen = delivery.variables if delivery.variables is not None else arguments_of(delivery, self._codec)
                if handler.transactional:
                    await self._run_within(slot, handler, delivery, seen)
                    return
                value = await self._call(slot, handler, delivery, seen)
                if not slot.abandoned:
                    ends.succeeded(delivery, handler, value, run=slot.job)
        except asyncio.CancelledError as error:
            if slot.cancelled:
                self._cancelled(slot, delivery)
            elif not slot.abandoned:  # raised by the handler: it waited for something that others cancelled
                ends.failed(delivery, handler or self._handler_in(slot, delivery), error, run=slot.job)
        except TooLate:  # the thread or process kept it waiting
            self._punctuality.missed(delivery)
            self._too_late(delivery)
        except BaseException as error:
            if is_not_its_own(error, slot.task):  # all else that a handler raises is its outcome, SystemExit too
                raise
            if not slot.abandoned and slot.reason != LOST:
                ends.failed(delivery, handler, error, run=slot.job, is_stopped=slot.reason in (STOP, CANCELED))
        finally:
            self._clear(slot)
        if ends.landing > 1_000:
            await ends.brake()

    def _moment(self) -> float:
        assert self._engine is not None
        return self._engine.clock.moment()

    @property
    def _is_virtual(self) -> bool:
        return self._engine is not None and self._engine.clock.virtual

    def _too_late(self, delivery: Delivery) -> None:
        """A limited job did not start in time: it goes back for a new admission."""
        logger.debug("job %d comes too late for its limits: returned", delivery.key, extra=said(delivery))
        self._ends.released(delivery)

    def _clear(self, slot: Slot) -> None:
        """The slot is free; a cancellation that the handler survived is taken back."""
        delivery = slot.delivery
        if slot.abandoned and delivery in self._stuck:
            self._stuck.remove(delivery)
            if delivery.is_limited and not self._stopping:
                self._end_stuck(slot, delivery)
        if delivery is not None and delivery.kind == JobKind.TASK and self._engine is not None:
            self._engine.tally.took(delivery, asyncio.get_running_loop().time() - slot.started_at)
        if slot.reason and slot.task is not None:
            slot.task.uncancel()
        slot.delivery = slot.job = None
        slot.name = slot.reason = ""
        slot.deadline = slot.cancel_at = 0.0

    def _cancelled(self, slot: Slot, delivery: Delivery) -> None:
        """The run was cancelled: by the sweeper, by the stop, for a lost lease; else the slot itself ends."""
        if not slot.reason:
            self._ends.released(delivery)
            raise asyncio.CancelledError
        if slot.abandoned or slot.reason == LOST:
            return
        if slot.reason in (STOP, CANCELED):
            self._ends.released(delivery, run=slot.job)
        else:
            self._ends.failed(delivery, self._handler_in(slot, delivery), self._too_slow(slot), run=slot.job)

    def _handler_in(self, slot: Slot, delivery: Delivery) -> Handler | None:
        """The handler that runs in a slot."""
        registry = self._registry
        return (registry.methods if delivery.kind == JobKind.METHOD else registry.jobs).get(slot.name)

    def _too_slow(self, slot: Slot) -> TimeoutError:
        """The failure of a run whose time was over."""
        return TimeoutError(f"'{slot.name}' did not end within its timeout")

    async def _run_within(self, slot: Slot, handler: Handler, delivery: Delivery, variables: Mapping[str, Any]) -> None:
        """A handler that writes in the transaction of its job's end."""
        assert self._engine is not None

        async def call(connection: object) -> object:
            value = await self._call(slot, handler, delivery, variables, connection=connection)
            if slot.abandoned:
                raise asyncio.CancelledError
            return value

        try:
            await run_within(self._engine, handler, delivery, call, self._codec)
        except NotTaken as refusal:
            self._ends.void(delivery, handler, refusal.error)

    async def _run_step(self, slot: Slot, delivery: Delivery) -> None:
        """Methods in a row, committed together; a failure of any fails the step."""
        assert self._engine is not None
        run = self._engine.begin_step(delivery, transactional=self._transactional)
        methods, is_direct = self._registry.methods, self._is_direct
        call = following = run.first
        handler = methods[call.name]
        try:
            while following is not None:
                call = following
                handler = methods[call.name]
                slot.job, slot.name = None, handler.name
                bare = handler.is_bare and is_direct and not delivery.options
                try:
                    value = await (
                        handler.call_bare(call.variables)
                        if bare
                        else self._call_method(slot, handler, delivery, call, run)
                    )
                except BpmnError as error:
                    value = error
                result = Result(call.name, {}) if value is None else result_of(call, value)
                if slot.abandoned:
                    run.abandon()
                    return
                try:
                    following = run.advance(result) if run.at_hand() else await run.complete(result)
                except Rejected as error:  # the instance does not take the step
                    run.abandon()
                    self._ends.void(delivery, handler, error)
                    return
        except asyncio.CancelledError:
            run.abandon()
            raise
        except BaseException as error:
            run.abandon()
            if is_not_its_own(error, slot.task):
                raise
            if not slot.abandoned and slot.reason != LOST:
                what = f"method '{call.name}' of '{call.element}': "
                self._ends.failed(delivery, handler, error, what=what, is_stopped=slot.reason in (STOP, CANCELED))
            return
        self._ends.commit(delivery, handler, run)

    async def _call_method(
        self, slot: Slot, handler: Handler, delivery: Delivery, call: MethodCall, run: StepRun
    ) -> object:
        """One method, in the transaction of its step if it writes there."""
        connection = None
        if handler.transactional:
            assert self._engine is not None
            connection = await join(self._engine, run, handler)
        return await self._call(slot, handler, delivery, call.variables, call.name, call.element, connection)

    async def _call_handler(
        self,
        slot: Slot,
        handler: Handler,
        delivery: Delivery,
        variables: Mapping[str, Any],
        type: str = "",  # noqa: A002 - Camunda's word
        element: str = "",
        connection: object = None,
        job: Job | None = None,
    ) -> object:
        """Call a handler with decoded arguments, within its time."""
        arguments = handler.arguments
        if job is None and arguments.wants_job:
            assert self._reports is not None
            job = self._reports.job_of(delivery, variables, type, element, connection)
        timeout_s = handler.timeout_s
        if delivery.options:
            timeout_s = own_timeout_s(delivery) or timeout_s
        args, kwargs = arguments.bind(variables, job)
        slot.job = job
        slot.name = handler.name
        if handler.mode == LOOP and not timeout_s:
            return await handler.function(*args, **kwargs)
        if timeout_s:
            slot.deadline = asyncio.get_running_loop().time() + timeout_s
            self._deadlines.watch()
        try:
            match handler.mode:
                case Mode.LOOP:
                    return await handler.function(*args, **kwargs)
                case Mode.THREAD:
                    function = handler.function
                    if self._registry.run_middleware:  # what it has put into context variables goes along
                        function = partial(copy_context().run, function)
                    function = punctual(delivery, function, is_virtual=self._is_virtual)
                    return await self._in_thread(slot, self._threads.run(function, args, kwargs))
                case Mode.PROCESS:
                    function = punctual(delivery, handler.function, is_virtual=self._is_virtual)
                    return await self._processes.run(function, args, kwargs)
        finally:
            slot.deadline = 0.0

    async def _in_thread(self, slot: Slot, future: asyncio.Future[Any]) -> object:
        """Wait for a thread even when the run is cancelled: it sees the flag; its slot is not free before it ends."""
        while True:
            try:
                return await asyncio.shield(future)
            except asyncio.CancelledError:
                if future.done() or not slot.reason:
                    raise
                await asyncio.wait([future])
                if slot.reason == LOST or slot.abandoned:
                    raise

    # -- what ignores its cancellation ---------------------------------------------------------------------------------
    def _give_up(self, line: Line, slot: Slot) -> None:
        """A handler ignores its cancellation: its slot is replaced, its job fails.

        A limited job fails only when its handler has ended after all: until then it has its place under its limits.
        """
        delivery = slot.delivery
        if delivery is None:
            return
        logger.error(
            "'%s' ignores its cancellation (job %d): it is stuck, its slot is replaced%s",
            *(slot.name, delivery.key, ", its limits stay taken until it ends" if delivery.is_limited else ""),
            extra=said(delivery),
        )
        if self._engine is not None:
            self._engine.counters.jobs_stuck += 1
        line.abandon(slot)
        self._stuck.append(delivery)
        if not delivery.is_limited:
            self._end_stuck(slot, delivery)

    def _end_stuck(self, slot: Slot, delivery: Delivery) -> None:
        if slot.reason in (STOP, CANCELED):
            self._ends.released(delivery)
        elif slot.reason != LOST:
            self._ends.failed(delivery, self._handler_in(slot, delivery), self._too_slow(slot))

    # -- the end ----------------------------------------------------------------------------------------------------
    async def stop(self, wait_ms: int, cancel_ms: int) -> None:
        """Return what has not started, wait, cancel (no attempt is used), wait, give up."""
        self._stopping = True
        for line in self._lines.values():
            for waiting in line.take_back():
                self._ends.released(waiting)
        if not await self._ended_within(wait_ms):
            self._cancel_running(STOP)
            if not await self._ended_within(cancel_ms):
                logger.warning("given up, still running: %s", ", ".join(self.running()))
                running = (slot.delivery for line in self._lines.values() for slot in line.slots)
                self._stuck += [job for job in running if job is not None and job.is_limited]
        await self._deadlines.stop()
        for line in self._lines.values():
            await line.stop()
        if self._reports is not None:
            await self._reports.stop()
        self._threads.stop()
        self._processes.stop()

    def cancel_job(self, key: int, lease: int, reason: str) -> None:
        """Somebody deleted a job that runs or waits here: it is returned as soon as it has ended."""
        for line in self._lines.values():
            if (waiting := line.take_out(key, lease)) is not None:
                self._ends.released(waiting)
                return
            for slot in line.slots:
                delivery = slot.delivery
                if delivery is not None and delivery.key == key and delivery.lease == lease and not slot.reason:
                    logger.info("job %d (%s) is canceled: %s", key, delivery.type, reason, extra=said(delivery))
                    self._deadlines.watch()
                    slot.cancel(CANCELED, asyncio.get_running_loop().time())
                    return

    def cancel_all(self, reason: str) -> None:
        """The leases are lost: cancel what runs, forget what is buffered; nothing is written about either."""
        logger.warning("running work is cancelled: %s", reason)
        for line in self._lines.values():
            line.take_back()
        self._cancel_running(LOST)

    def _cancel_running(self, reason: str) -> None:
        """Cancel every run."""
        self._deadlines.watch()
        now = asyncio.get_running_loop().time()
        for line in self._lines.values():
            for slot in list(line.slots):
                slot.cancel(reason, now)

    async def _ended_within(self, ms: int) -> bool:
        """Whether all runs end and are committed in this time."""
        loop = asyncio.get_running_loop()
        until = loop.time() + ms / 1000
        spins = 0
        while self.running() or self._ends.landing:
            if loop.time() >= until:
                return False
            spins += 1
            await asyncio.sleep(0 if spins < 100 else 0.005)
        return True
