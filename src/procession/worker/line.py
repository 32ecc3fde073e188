"""One queue's slots in this process: a local buffer and long-lived coroutines that take from it. No outcomes here."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from procession.engine import Delivery
from procession.limits import CLAIM_MAX, LEASED_AHEAD_MAX
from procession.store.rows import Want
from procession.worker.at_work import AT_WORK
from procession.worker.context import Job

AHEAD_S = 0.5  # the buffer holds about so much work, so that slow jobs are not kept from other processes,
ALONE_S = 5.0  # and so much where there is no other process that could run them: one that comes waits for no longer
UNKNOWN_ROUNDS = 3  # jobs for each slot that may wait there while nobody knows how long they take
CAREFUL_S = 30.0  # how long nothing is claimed ahead after a job came whose process had died
TURNS = 16  # jobs that end without waiting before a slot lets everybody else have a turn
SMOOTHING = 0.05  # of the average duration
SOON_S = 0.01  # a slot that is free so soon is free at once for a limited job, which goes before what waits here
HELD_S = 1.0  # how long no more work than that waits here after the queue had a limited job
END_S = 1.0  # for cancelled coroutines to end; one that does not is left behind


class Slot:
    """One coroutine that runs jobs one after the other."""

    __slots__ = ("abandoned", "cancel_at", "deadline", "delivery", "job", "name", "reason", "started_at", "task")

    def __init__(self) -> None:
        self.task: asyncio.Task[None] | None = None
        self.delivery: Delivery | None = None
        self.job: Job | None = None
        self.name = ""  # of the handler that runs
        self.started_at = 0.0
        self.deadline = 0.0  # on the loop's clock; 0: none
        self.reason = ""  # why the run was cancelled
        self.cancel_at = 0.0  # when
        self.abandoned = False  # its handler ignored that: another slot has taken its place

    @property
    def cancelled(self) -> bool:
        """Whether somebody has cancelled the run at hand or the slot itself."""
        return bool(self.reason) or self.task is None or self.task.cancelling() > 0

    def cancel(self, reason: str, now: float) -> None:
        """Cancel the run at hand."""
        if self.delivery is None or self.reason or self.task is None:
            return
        self.reason = reason
        self.cancel_at = now
        if self.job is not None:
            self.job.cancel()
        self.task.cancel()


class Line:
    """The slots of one queue. ``taken``: reserved, buffered or running."""

    __slots__ = (
        "_alone",
        "_average_s",
        "_careful_until",
        "_freed",
        "_held_until",
        "_paced_s",
        "_resting",
        "_run",
        "_stopped",
        "_waking",
        "buffer",
        "capacity",
        "concurrency",
        "held_back",
        "low",
        "queue",
        "slots",
        "taken",
        "used",
    )

    def __init__(
        self,
        queue: str,
        concurrency: int,
        *,
        run: Callable[[Slot, Delivery], Awaitable[None]],
        freed: Callable[[Line], None],
    ) -> None:
        self.queue = queue
        self.concurrency = concurrency
        self.capacity = concurrency  # until the pace is known
        self.low = concurrency - 1  # with so many taken or fewer, more may be claimed: half of what may wait does
        self.taken = 0
        self.buffer: deque[Delivery] = deque()
        self.slots: set[Slot] = set()
        self._run = run
        self._freed = freed
        self._alone = False
        self._average_s = self._paced_s = 0.0
        self._careful_until = 0.0
        self._held_until = 0.0
        self.held_back = False  # limited jobs are due that had no slot: a new job is not leased before them
        self.used = 0.0  # of slots that are shared: working time by weight
        self._stopped = False
        self._resting: deque[asyncio.Future[None]] = deque()
        self._waking = False

    def deliver(self, delivery: Delivery) -> None:
        """Run a job in a slot that was taken.

        Not before the loop's next turn: jobs come in batches with their commit, and whoever has waited for that commit
        goes first. What they send is on its way to the database while the jobs run here.
        """
        self._put(delivery)
        if not self._waking:
            self._waking = True
            asyncio.get_running_loop().call_soon(self._wake)

    def _put(self, delivery: Delivery) -> None:
        """Into the buffer: a limited job before those that may wait."""
        if not delivery.is_limited:
            self.buffer.append(delivery)
            return
        self.buffer.insert(self.limited_waiting, delivery)
        self.hold()

    def _wake(self) -> None:
        """One slot begins; the others follow in the next turn if it has to wait for something."""
        if self.buffer and not self._stopped:
            left = len(self.buffer)
            self._wake_slots(1)
            asyncio.get_running_loop().call_soon(self._wake_others, left, 1)
        else:
            self._waking = False

    def _wake_others(self, before: int, woken: int) -> None:
        """A slot whose jobs do not wait ends many by itself: waking one for each job would cost more."""
        left = len(self.buffer)
        if not left or self._stopped:
            self._waking = False
            return
        wanted = left if before - left <= woken else -(-left // TURNS)
        woken = self._wake_slots(wanted)
        if woken:
            asyncio.get_running_loop().call_soon(self._wake_others, left, woken)
        else:  # all of them are at work: the first that is done goes on with the next job
            self._waking = False

    def _wake_slots(self, wanted: int) -> int:
        """Let so many slots begin; how many did."""
        woken = 0
        resting = self._resting
        while woken < wanted:
            if resting:
                rest = resting.popleft()
                if rest.done():
                    continue
                rest.set_result(None)
            elif len(self.slots) < self.concurrency:
                self.add_slot()
            else:
                break
            woken += 1
        return woken

    def jobs(self) -> set[int]:
        """What waits or runs."""
        return {job.key for job in self.buffer} | {slot.delivery.key for slot in self.slots if slot.delivery}

    def take_back(self) -> list[Delivery]:
        """All that waits: it does not begin here."""
        waiting = list(self.buffer)
        self.taken -= len(waiting)
        self.buffer.clear()
        return waiting

    def take_out(self, key: int, lease: int) -> Delivery | None:
        """One that waits, if it is here: it does not begin."""
        for waiting in self.buffer:
            if waiting.key == key and waiting.lease == lease:
                self.buffer.remove(waiting)
                self.taken -= 1
                return waiting
        return None

    def withdraw(self, jobs: set[int]) -> None:
        """Do not begin these jobs, as far as they wait here."""
        left = [delivery for delivery in self.buffer if delivery.key not in jobs]
        self.taken -= len(self.buffer) - len(left)
        self.buffer.clear()
        self.buffer.extend(left)

    @property
    def limited_waiting(self) -> int:
        """How many limited jobs wait: they stand at the front."""
        count = 0
        for delivery in self.buffer:
            if not delivery.is_limited:
                break
            count += 1
        return count

    @property
    def unlimited_waiting(self) -> int:
        """How many others wait."""
        return len(self.buffer) - self.limited_waiting

    @property
    def free_at_once(self) -> int:
        """How many limited jobs can start as soon as they come: before those that wait here."""
        free = self.concurrency - self.taken + self.unlimited_waiting
        return max(0, free, self._soon(self.concurrency) - self.limited_waiting)

    def _soon(self, slots: int) -> int:
        """How many of so many slots are free within SOON_S as jobs go."""
        return min(slots, int(slots * SOON_S / max(self._average_s, 1e-6))) if self._average_s else 0

    def hold(self) -> None:
        """The queue has limited jobs: they have to start at once, so nothing much is claimed ahead for a while."""
        was_held = bool(self._held_until)
        self._held_until = asyncio.get_running_loop().time() + HELD_S
        if not was_held:
            self._find_pace()

    def _end_hold(self) -> None:
        """Claim ahead again, once no limited job has come for a while."""
        self.held_back = False
        if self._held_until and asyncio.get_running_loop().time() >= self._held_until:
            self._held_until = 0.0
            self._find_pace()

    @property
    def wanted(self) -> int:
        """How many jobs a claim may bring; none while at least half of what may wait here does so already."""
        if self._careful_until and asyncio.get_running_loop().time() < self._careful_until:
            return max(0, self.concurrency - self.taken)
        return min(CLAIM_MAX, self.capacity - self.taken) if self.taken <= self.low else 0

    def begins_at_once(self) -> bool:
        """A job comes whose process died while it was leased to it; whether it can begin now.

        Its run may be why, and may do the same again. What waits here then would be counted as if it had begun: so such
        a job does not wait here, and for a while nothing is claimed ahead.
        """
        self._careful_until = asyncio.get_running_loop().time() + CAREFUL_S
        running = sum(slot.delivery is not None for slot in self.slots)
        return running + len(self.buffer) < self.concurrency

    def turn(self) -> tuple[bool, float]:
        """When it asks among all lines. Of shared slots, limited jobs get what nobody has asked for before them.

        So first come those that found none the last time, and of those the one that is behind with its share.
        """
        return not self.held_back, self.used if self.held_back else 0.0

    def ask(self) -> Want | None:
        """What a claim may bring, taken at once."""
        if self._held_until:
            self._end_hold()
        count = self.wanted
        if count <= 0:
            return None
        at_once = min(count, self.free_at_once)
        self.taken += count
        return Want(queue=self.queue, count=count, at_once=at_once)

    def share(self, *, alone: bool) -> None:
        """Whether no other process works on this database."""
        self._alone = alone
        self._find_pace()

    def _find_pace(self) -> None:
        """The buffer holds so many seconds of work, and at most so many jobs."""
        self._paced_s = average = self._average_s
        seconds, most = (ALONE_S, LEASED_AHEAD_MAX) if self._alone else (AHEAD_S, CLAIM_MAX)
        if average:
            ahead = min(most, int(self.concurrency * seconds / max(average, 1e-6)))
        else:
            ahead = self.concurrency * UNKNOWN_ROUNDS if self._alone else 0
        if self._held_until:
            ahead = min(ahead, self._soon(self.concurrency))
        self.capacity = self.concurrency + ahead
        self.low = self.concurrency + ahead // 2 - (0 if ahead else 1)

    def add_slot(self) -> None:
        """Begin one more coroutine."""
        slot = Slot()
        self.slots.add(slot)
        slot.task = asyncio.get_running_loop().create_task(self._work(slot), name=f"procession {self.queue}")

    def abandon(self, slot: Slot) -> None:
        """The slot's handler ignores its cancellation: free the place."""
        slot.abandoned = True
        self.slots.discard(slot)
        self.taken -= 1
        if self.buffer:
            self.add_slot()

    async def _work(self, slot: Slot) -> None:
        """Job after job."""
        loop = asyncio.get_running_loop()
        turns = 0
        try:
            while True:
                while not self.buffer:
                    turns = 0
                    rest: asyncio.Future[None] = loop.create_future()
                    self._resting.append(rest)
                    await rest
                turns += 1
                if turns > TURNS:
                    turns = 0
                    await asyncio.sleep(0)
                    continue
                delivery = self.buffer.popleft()
                slot.started_at = loop.time()
                AT_WORK.set(delivery)
                await self._run(slot, delivery)
                AT_WORK.set(None)
                if slot.abandoned or self._stopped:
                    return
                self._ended(loop.time() - slot.started_at)
        finally:
            self.slots.discard(slot)

    def _ended(self, took_s: float) -> None:
        """A run is over: its slot is free, and the buffer follows the pace."""
        self.taken -= 1
        average = self._average_s
        self._average_s = average + (took_s - average) * SMOOTHING if average else took_s
        if not self._paced_s * 0.9 < self._average_s < self._paced_s * 1.1:
            self._find_pace()
        if self.taken <= self.low:
            self._freed(self)

    async def stop(self) -> None:
        """End the coroutines; one that ignores it is left behind."""
        self._stopped = True
        tasks = [slot.task for slot in self.slots if slot.task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=END_S)
        self.slots.clear()
        self._resting.clear()
