"""Workers elsewhere: they wait here for jobs, and what comes is leased to them with a time of its own.

One line of waiting workers per queue; the engine's claims fill all lines with one query, woken by its announcements. It
knows no protocol: an edge (HTTP, gRPC) calls ``activate`` and cancels it when its client goes away. Every job that was
claimed reaches a worker or is given back at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from types import FrameType
from typing import NamedTuple

import msgspec

from procession.engine import Delivery, Dispatcher, Engine
from procession.engine.standing import Standing
from procession.errors import Unavailable
from procession.limits import CLAIM_MAX, REMOTE_WORKERS_MAX
from procession.store.rows import JobEnd, JobOutcome, Want

DRY_S = 1.0  # a queue that was found empty is looked at again by the claims' own poll, not for each worker that comes
REMEMBERED_MAX = 50_000  # jobs handed out whose instance is remembered: their ends need no look-up then
LOOK_S = 0.01  # a worker that would not wait stays until one claim has looked for it, looking so often ...
LOOKS_MAX = 500  # ... and for so long at most


class Terms(NamedTuple):
    """What waiting workers must have in common to be served by one claim."""

    lease_ms: int
    tenants: tuple[str, ...] | None  # None: of any tenant


class Waiting(msgspec.Struct, eq=False):
    """One worker that waits."""

    count: int
    answer: asyncio.Future[list[Delivery]]
    looks: int  # how often its line had been looked after when it came
    jobs: list[Delivery] = []

    @property
    def room(self) -> int:
        """How many more it would take."""
        return self.count - len(self.jobs)


class Line:
    """The workers that wait for one queue on the same terms, the longest waiting first."""

    __slots__ = ("asked", "looks", "queue", "room", "terms", "waiting")

    def __init__(self, queue: str, terms: Terms) -> None:
        self.queue = queue
        self.terms = terms
        self.waiting: dict[Waiting, None] = {}
        self.room = 0  # of all that wait
        self.asked = 0  # what a claim under way may bring
        self.looks = 0  # claims that are through

    def join(self, worker: Waiting) -> None:
        """Stand at the end."""
        self.waiting[worker] = None
        self.room += worker.room

    def leave(self, worker: Waiting) -> None:
        """Wait no longer."""
        if worker in self.waiting:
            del self.waiting[worker]
            self.room -= worker.room

    def first(self) -> Waiting | None:
        """Who has waited longest."""
        return next(iter(self.waiting), None)


class RemoteWorkers:
    """The waiting workers of one process. ``attach`` it to the engine before that starts."""

    def __init__(self) -> None:
        self._lines: dict[str, dict[Terms, Line]] = {}
        self._asking: dict[str, Line] = {}  # by queue: whom the claim under way is for
        # queue -> tenants -> when a claim for these last found less than it asked for
        self._dry: dict[str, dict[tuple[str, ...] | None, float]] = {}
        self._touched: set[Line] = set()
        self._engine: Engine | None = None
        self._is_local: Callable[[str], bool] = lambda _: False
        self._stopping = False
        self._instances: dict[int, int] = {}  # of jobs handed out, the oldest first
        self.waiting = 0  # workers
        self.delivered = 0  # jobs

    def attach(self, engine: Engine, is_local: Callable[[str], bool]) -> None:
        """Work for this engine. ``is_local``: whether this process handles a queue itself, which is not given away."""
        self._engine = engine
        self._is_local = is_local
        self._stopping = False

    async def activate(
        self, queue: str, count: int, *, lease_ms: int, wait_s: float, tenants: Sequence[str] | None = None
    ) -> list[Delivery]:
        """Up to ``count`` jobs of a queue, leased for ``lease_ms``; waits at most ``wait_s`` for the first one.

        When it is cancelled, what was claimed for it is given back. Raises Unavailable when too many wait.
        """
        engine = self._engine
        if engine is None or self._stopping:
            raise Unavailable("This process does not take remote workers (any more)")
        if self.waiting >= REMOTE_WORKERS_MAX:
            raise Unavailable(
                f"Expected fewer than {REMOTE_WORKERS_MAX} waiting workers (REMOTE_WORKERS_MAX): try again later"
            )
        loop = asyncio.get_running_loop()
        line = self._line(queue, Terms(lease_ms, None if tenants is None else tuple(tenants)))
        is_dry = loop.time() - self._dry.get(queue, {}).get(line.terms.tenants, -DRY_S) < DRY_S
        worker = Waiting(min(count, CLAIM_MAX), loop.create_future(), -1 if is_dry else line.looks + bool(line.asked))
        line.join(worker)
        self.waiting += 1
        timer = loop.call_later(max(0.0, wait_s), self._time_over, line, worker, 0)
        if not is_dry:
            engine.hint("")
        try:
            return await worker.answer
        except asyncio.CancelledError:
            self.give_back(worker.jobs)
            raise
        finally:
            timer.cancel()
            self.waiting -= 1
            line.leave(worker)
            self._close(line)

    def instance_of(self, job: int) -> int:
        """The instance of a job that was handed out here lately; 0 if that is not known."""
        return self._instances.get(job, 0)

    def give_back(self, jobs: Sequence[Delivery]) -> None:
        """Jobs that did not reach their worker are ready again, as before the claim, and others hear of it."""
        engine = self._engine
        if engine is None:
            return
        for job in jobs:
            queue = job.queue
            engine.outcomes.put(
                JobOutcome(key=job.key, lease=job.lease, end=JobEnd.RELEASE),
                lambda applied, queue=queue: engine.announce(queue) if applied else None,
            )

    # -- slots (the engine's protocol, by ``Both``) -----------------------------------------------------------------
    def wants(self) -> list[Want]:
        """What the waiting workers would take, those of one line per queue."""
        wants: list[Want] = []
        for queue, lines in self._lines.items():
            if queue in self._asking or self._is_local(queue):
                continue
            line = next(iter(lines.values()))
            if len(lines) > 1:  # another line is first the next time
                lines[line.terms] = lines.pop(line.terms)
            room = min(line.room, CLAIM_MAX)
            if room <= 0:
                continue
            line.asked = room
            self._asking[queue] = line
            tenants = None if line.terms.tenants is None else list(line.terms.tenants)
            wants.append(Want(queue=queue, count=room, lease_ms=line.terms.lease_ms, tenants=tenants))
        return wants

    def asks(self, queue: str) -> bool:
        """Whether the claim under way is for remote workers, for this queue."""
        return queue in self._asking

    def release(self, queue: str, count: int) -> None:
        """The claim brought so many fewer than it was asked for, or a job of it was nothing to deliver."""
        line = self._asking.get(queue)
        if line is not None:
            self._dry.setdefault(queue, {})[line.terms.tenants] = asyncio.get_running_loop().time()
            self._settle(line, count)

    def deliver(self, job: Delivery) -> None:
        """Hand a job to the first worker in its line; the workers hear of it when the claim is through."""
        line = self._asking[job.queue]
        worker = line.first()
        if worker is None:
            self.give_back([job])
        else:
            self._hand_over(job, line, worker)
        self._settle(line, 1)

    def heard(self, queue: str) -> None:
        """A queue got ready jobs: whoever comes next claims at once."""
        if queue:
            self._dry.pop(queue, None)
        else:
            self._dry.clear()

    def stop(self) -> None:
        """Nobody waits any longer: all get what they have."""
        self._stopping = True
        for lines in self._lines.values():
            for line in lines.values():
                for worker in line.waiting:
                    _answer(worker)

    @property
    def idle(self) -> bool:
        """Whether no claim is under way for them."""
        return not self._asking

    # -- internal ---------------------------------------------------------------------------------------------------
    def _line(self, queue: str, terms: Terms) -> Line:
        """Where a worker stands."""
        lines = self._lines.setdefault(queue, {})
        line = lines.get(terms)
        if line is None:
            line = lines[terms] = Line(queue, terms)
        return line

    def _close(self, line: Line) -> None:
        """A line that nobody stands in is gone."""
        lines = self._lines.get(line.queue)
        if lines is None or line.waiting or lines.get(line.terms) is not line:
            return
        del lines[line.terms]
        if not lines:
            del self._lines[line.queue]
            self._dry = {queue: at for queue, at in self._dry.items() if queue in self._lines} if self._dry else {}

    def _hand_over(self, job: Delivery, line: Line, worker: Waiting) -> None:
        """Give it to this worker, who goes when it has all that it wanted, or when the claim is through."""
        self.delivered += 1
        worker.jobs.append(job)
        self._instances[job.key] = job.instance
        if len(self._instances) > REMEMBERED_MAX:
            del self._instances[next(iter(self._instances))]
        line.room -= 1
        if not worker.room:
            line.leave(worker)
            _answer(worker)
        else:
            if not self._touched:
                asyncio.get_running_loop().call_soon(self._flush)
            self._touched.add(line)

    def _flush(self) -> None:
        """The claim is through: a worker with some jobs does not wait for more."""
        touched, self._touched = self._touched, set()
        for line in touched:
            worker = line.first()
            if worker is not None and worker.jobs:
                line.leave(worker)
                _answer(worker)

    def _settle(self, line: Line, count: int) -> None:
        """So much of what was asked for has come, or will not."""
        line.asked -= count
        if line.asked <= 0:
            line.asked = 0
            line.looks += 1
            self._asking.pop(line.queue, None)

    def _time_over(self, line: Line, worker: Waiting, tries: int) -> None:
        """The worker goes with what it has, once a claim has looked for it and none is under way."""
        if (line.asked or line.looks <= worker.looks) and tries < LOOKS_MAX and not worker.answer.done():
            asyncio.get_running_loop().call_later(LOOK_S, self._time_over, line, worker, tries + 1)
        else:
            _answer(worker)


def _answer(worker: Waiting) -> None:
    """Let the worker go with what it has."""
    if not worker.answer.done():
        worker.answer.set_result(worker.jobs)


class Both:
    """The engine's dispatcher where handlers run in this process and other workers wait here too."""

    def __init__(self, local: Dispatcher, remote: RemoteWorkers) -> None:
        self._local = local
        self._remote = remote
        # Asked for each job: the dispatcher of this process answers, without a call more. Remote workers are served by
        # claims, and have no methods.
        self.reserve = local.reserve
        self.runs_method = local.runs_method
        self.runs_type = local.runs_type

    def release(self, queue: str, count: int = 1) -> None:
        """Give back slots that no job came for."""
        if self._remote.asks(queue):
            self._remote.release(queue, count)
        else:
            self._local.release(queue, count)

    def wants(self) -> list[Want]:
        """All free slots here, and what remote workers would take."""
        return [*self._local.wants(), *self._remote.wants()]

    def deliver(self, job: Delivery) -> None:
        """Run it here, or hand it to a remote worker."""
        if self._remote.asks(job.queue):
            self._remote.deliver(job)
        else:
            self._local.deliver(job)

    def hold_back(self, queue: str) -> None:
        """Limited jobs found no slot here; remote workers get none of them."""
        self._local.hold_back(queue)

    def share(self, *, alone: bool) -> None:
        """Whether there are other processes."""
        self._local.share(alone=alone)

    def withdraw(self, jobs: set[int]) -> None:
        """Jobs are closed; remote workers are told when they complete one."""
        self._local.withdraw(jobs)

    def heard(self, queue: str) -> None:
        """A queue got ready jobs."""
        self._remote.heard(queue)

    def idle(self) -> bool:
        """Whether nothing is buffered, running or being claimed."""
        return self._local.idle() and self._remote.idle

    def running(self) -> list[str]:
        """What runs here."""
        return self._local.running()

    def standing(self) -> Standing:
        """What the slots of this process do."""
        return self._local.standing()

    def jobs(self) -> set[int]:
        """What is leased to this process; the leases of remote workers are their own."""
        return self._local.jobs()

    async def stop(self, wait_ms: int, cancel_ms: int) -> None:
        """Let the remote workers go, then the ladder of this process' own."""
        self._remote.stop()
        await self._local.stop(wait_ms, cancel_ms)

    def handler_at(self, frame: FrameType) -> str:
        """The handler that a frame belongs to, or its callers; empty if none."""
        find: Callable[[FrameType], str] | None = getattr(self._local, "handler_at", None)
        return find(frame) if find is not None else ""

    def cancel_job(self, key: int, lease: int, reason: str) -> None:
        """Somebody deleted a job that runs in this process."""
        self._local.cancel_job(key, lease, reason)

    def cancel_all(self, reason: str) -> None:
        """This process has lost its leases; those of remote workers are not among them."""
        self._local.cancel_all(reason)
