"""Slots that several plain queues of a worker share by weight, and lend each other while one has nothing to do.

Each queue has its own buffer, and is claimed for like any other, in the one query for all queues. Whenever a slot is
free, the queue goes on that has used the least working time for its weight (stride scheduling: a start moves the queue
by what one of its jobs takes on average, over its weight, and the end puts that right). So under load working time is
divided by weight, and a queue of quick jobs is not held up behind one of slow ones; a queue that had nothing to do
begins where the others are, with no credit from before. No queue starves: each start brings the next one of every other
queue nearer.

While other queues have work, no more is claimed for a queue than its share of the slots, and what is quickly done.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from procession.engine import Delivery
from procession.jobs.kinds import job_queue, method_queue
from procession.limits import CLAIM_MAX
from procession.worker.at_work import AT_WORK
from procession.worker.line import END_S, TURNS, Line, Slot
from procession.worker.registry import Registry
from procession.worker.settings import WorkerSettings

LEAST_S = 0.001  # that a run counts for: to claim a job and to write its end takes about so long, too

Run = Callable[[Slot, Delivery], Awaitable[None]]


def lines_of(
    registry: Registry, settings: WorkerSettings, *, run: Run, freed: Callable[[Line], None]
) -> dict[str, Line]:
    """The lines of a worker, by queue: of methods, of jobs of processes, of plain queues, shared or each for itself."""
    lines: dict[str, Line] = {}
    plain: dict[str, int] = {}
    for handler in registry.methods.values():
        lines[method_queue(handler.name)] = Line(
            method_queue(handler.name), handler.concurrency or settings.concurrency, run=run, freed=freed
        )
    for handler in registry.jobs.values():
        asked = handler.concurrency or settings.concurrency
        lines[job_queue(handler.name)] = Line(job_queue(handler.name), asked, run=run, freed=freed)
        plain[handler.queue] = max(plain.get(handler.queue, 0), asked)
    if settings.weights:
        pool = Pool(settings.concurrency, run=run, freed=freed)
        return lines | {queue: pool.add_line(queue, weight) for queue, weight in settings.weights.items()}
    for queue, asked in plain.items():
        lines[queue] = Line(queue, settings.queues.get(queue, asked), run=run, freed=freed)
    return lines


class Pool:
    """The shared slots, and the queues that share them."""

    def __init__(self, count: int, *, run: Run, freed: Callable[[Line], None]) -> None:
        self.count = count
        self.lines: list[SharedLine] = []
        self.used = 0.0  # where the queue stood that went on last
        self._run = run
        self._freed = freed
        self._slots: set[Slot] = set()
        self._resting: deque[asyncio.Future[None]] = deque()
        self._stopped = False

    def add_line(self, queue: str, weight: int) -> SharedLine:
        """One more queue."""
        line = SharedLine(self, queue, weight, run=self._run, freed=self._freed)
        self.lines.append(line)
        return line

    def offer(self) -> None:
        """A job waits: let a slot look for it, if one is free."""
        while self._resting:
            rest = self._resting.popleft()
            if not rest.done():
                rest.set_result(None)
                return
        if len(self._slots) < self.count and not self._stopped:
            slot = Slot()
            self._slots.add(slot)
            slot.task = asyncio.get_running_loop().create_task(self._work(slot), name="procession shared slots")

    def forget(self, slot: Slot) -> None:
        """The slot's handler ignores its cancellation: another one takes its place."""
        self._slots.discard(slot)
        if any(line.buffer for line in self.lines):
            self.offer()

    @property
    def waiting(self) -> int:
        """Jobs that run or wait."""
        return sum(len(line.slots) + len(line.buffer) for line in self.lines)

    def share_of(self, line: SharedLine) -> int:
        """The slots that are a queue's while those go on that have work: at least one."""
        others: int = sum(other.weight for other in self.lines if other is not line and other.taken)
        return -(-self.count * line.weight // (line.weight + others))

    def next_line(self) -> SharedLine | None:
        """Whose turn it is, of the queues that have something to do."""
        found: SharedLine | None = None
        for line in self.lines:
            if line.buffer and line.buffer[0].is_limited:
                return line  # it was claimed for a slot that is free at once
            if line.buffer and (found is None or line.used < found.used):
                found = line
        return found

    async def _work(self, slot: Slot) -> None:
        """Job after job, whichever queue's."""
        loop = asyncio.get_running_loop()
        turns = 0
        try:
            while True:
                line = self.next_line()
                if line is None:
                    turns = 0
                    rest: asyncio.Future[None] = loop.create_future()
                    self._resting.append(rest)
                    await rest
                    continue
                turns += 1
                if turns > TURNS:
                    turns = 0
                    await asyncio.sleep(0)
                    continue
                await line.run_next(slot)
                if slot.abandoned or self._stopped:
                    return
        finally:
            self._slots.discard(slot)

    async def stop(self) -> None:
        """End the coroutines; one that ignores it is left behind."""
        self._stopped = True
        tasks = [slot.task for slot in self._slots if slot.task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=END_S)
        self._slots.clear()
        self._resting.clear()


class SharedLine(Line):
    """One queue of a pool. ``slots`` are those that run its jobs now; ``used``: working time by weight."""

    __slots__ = ("_pool", "weight")

    taken: int

    def __init__(self, pool: Pool, queue: str, weight: int, *, run: Run, freed: Callable[[Line], None]) -> None:
        super().__init__(queue, pool.count, run=run, freed=freed)
        self.weight = weight
        self._pool = pool

    def deliver(self, delivery: Delivery) -> None:
        """Run a job in a slot that was taken."""
        if not self.buffer and not self.slots:
            self.used = max(self.used, self._pool.used)
        self._put(delivery)
        self._pool.offer()

    async def run_next(self, slot: Slot) -> None:
        """Run the first job that waits."""
        self._pool.used = self.used
        loop = asyncio.get_running_loop()
        expected_s = max(LEAST_S, self._average_s)
        self.used += expected_s / self.weight
        delivery = self.buffer.popleft()
        slot.started_at = loop.time()
        self.slots.add(slot)
        AT_WORK.set(delivery)
        try:
            await self._run(slot, delivery)
        finally:
            AT_WORK.set(None)
            self.slots.discard(slot)
            took_s = loop.time() - slot.started_at
            self.used += (max(LEAST_S, took_s) - expected_s) / self.weight
        if not slot.abandoned and not self._stopped:
            self._ended(took_s)

    @property
    def wanted(self) -> int:
        """How many jobs a claim may bring: its share of the slots, and what may wait."""
        share: int = self._pool.share_of(self)
        if self._careful_until and asyncio.get_running_loop().time() < self._careful_until:
            return max(0, share - self.taken)
        ahead = self.capacity - self.concurrency if self._paced_s else share
        most = share + ahead
        return min(CLAIM_MAX, most - self.taken) if self.taken < most - ahead // 2 else 0

    @property
    def free_at_once(self) -> int:
        """How many limited jobs can start as soon as they come: before all that waits for the shared slots."""
        pool = self._pool
        limited: int = sum(line.limited_waiting for line in pool.lines)
        free: int = pool.count - sum(line.taken - line.unlimited_waiting for line in pool.lines)
        return max(0, free, self._soon(pool.count) - limited)

    def hold(self) -> None:
        """The same for all that share the slots: what waits for them would keep limited jobs from theirs."""
        for line in self._pool.lines:
            super(SharedLine, line).hold()

    def begins_at_once(self) -> bool:
        """Whether a job whose process died while it was leased to it can begin now; see ``Line``."""
        super().begins_at_once()
        return self._pool.waiting < self._pool.count

    def abandon(self, slot: Slot) -> None:
        """The slot's handler ignores its cancellation: free the place."""
        slot.abandoned = True
        self.slots.discard(slot)
        self.taken -= 1
        self._pool.forget(slot)

    async def stop(self) -> None:
        """End the slots, which are all queues'."""
        self._stopped = True
        await self._pool.stop()
        self.slots.clear()
