"""Group commit: many instances' steps in one transaction, a lane per shape of step. It decides nothing about them.

When the database does not answer, the same steps are sent again until it does (or their callers' patience ends). If the
first try was applied after all, the second finds the instance at the next revision: whoever put the step is then told
STALE with ``unclear`` set, and compares what is stored with what it sent.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from procession.engine.delivery import said_of
from procession.engine.keys import KeyStock
from procession.engine.lane import Lane, Patience
from procession.engine.settings import Counters
from procession.errors import ProcessionError, Unavailable
from procession.limits import COMMIT_BYTES_MAX, COMMIT_STEPS_MAX
from procession.store.port import StepTransaction, Store
from procession.store.rows import Shape, Step, StepResult

logger = logging.getLogger("procession.engine")


class TransactionLost(Exception):
    """A step's own transaction is over, and what its handler wrote is undone, or was committed unheard."""


class Flight(Protocol):
    """A step on its way to the database."""

    step: Step
    deadline: float  # on the loop's clock; 0: no caller waits impatiently
    patient: bool  # nobody waits for it at all, and nothing follows from it
    unclear: bool  # an earlier try may have been applied

    def landed(self, result: StepResult) -> None:
        """The store answered."""
        ...

    def lost(self, error: Exception) -> None:
        """It will not be sent again; ``unclear`` says whether it may have been applied."""
        ...

    def still_down(self, error: Exception) -> None:
        """The database does not answer yet; it will be sent again."""
        ...


def sizes_of(flights: list[Flight]) -> list[int]:
    """About how many bytes each step sends."""
    sizes: list[int] = []
    for flight in flights:
        step = flight.step
        size = 200 + len(step.state) + len(step.variables or b"") + len(step.events or b"")
        for job in step.new_jobs:
            size += 100 + len(job.args)
        sizes.append(size)
    return sizes


class GroupCommit:
    """The lanes. While ``fenced`` nothing is written: this process has lost its leases."""

    def __init__(
        self,
        store: Store,
        keys: KeyStock,
        counters: Counters,
        *,
        chance: Callable[[], float],
        woken: Callable[[Sequence[str]], None],
    ) -> None:
        self._store = store
        self._keys = keys
        self._counters = counters
        self._chance = chance
        self._woken = woken
        self.fenced = False
        self.node = 0
        shapes = list(Shape)
        made = (
            [self._lane(shape.name.lower()) for shape in shapes]
            if store.lanes > 1
            else [self._lane("all")] * len(shapes)
        )
        self._own: set[asyncio.Task[None]] = set()  # steps in transactions of their own
        self._lanes: dict[Shape, Lane[Flight]] = dict(zip(shapes, made, strict=True))
        self._starts = self._lanes[Shape.START]

    def _lane(self, name: str) -> Lane[Flight]:
        """One lane."""
        return Lane(name, self._send, count_max=COMMIT_STEPS_MAX, bytes_max=COMMIT_BYTES_MAX, sizes=sizes_of)

    def put(self, flight: Flight) -> None:
        """Write this step with the next transaction of its lane; a patient one waits a moment beside starts."""
        lane, starts = self._lanes[flight.step.shape()], self._starts
        if flight.patient and lane is not starts and not starts.idle:
            lane.put_patiently(flight)  # callers of start wait for the database: a commit less is one that they get
        else:
            lane.put(flight)

    def put_within(self, flight: Flight, transaction: StepTransaction) -> None:
        """Write this step in a transaction of its own, together with what a handler has written there."""
        task = asyncio.get_running_loop().create_task(self._send_within(flight, transaction), name="procession commit")
        self._own.add(task)
        task.add_done_callback(self._own.discard)

    def start(self) -> None:
        """Begin to write."""
        for lane in self._all():
            lane.start()

    async def stop(self) -> None:
        """Stop; whoever still waits is told."""
        for task in self._own:
            task.cancel()
        await asyncio.gather(*self._own, return_exceptions=True)
        for lane in self._all():
            for flight in await lane.stop():
                flight.lost(Unavailable("The engine stopped before this was written"))

    @property
    def idle(self) -> bool:
        """Whether nothing waits and nothing is under way."""
        return not self._own and all(lane.idle for lane in self._all())

    def _all(self) -> set[Lane[Flight]]:
        """Every lane."""
        return set(self._lanes.values())

    async def _send(self, flights: list[Flight]) -> None:
        """One transaction, sent again while the database does not answer."""
        patience = Patience(self._chance)
        while flights:
            try:
                if self.fenced:
                    await self._unfenced(flights)
                if not self._keys.ready():
                    await self._keys.enough()
                results = await self._store.commit([flight.step for flight in flights], self._keys.keys)
            except Unavailable as error:
                flights = await self._again(flights, error, patience)
            except asyncio.CancelledError:
                self._lose(flights, Unavailable("The engine stopped while this was written"), unclear=True)
                raise
            except Exception as error:
                logger.exception("commit of %d steps failed", len(flights))
                self._lose(flights, error, unclear=True)
                return
            else:
                self._land(flights, results)
                return

    async def _send_within(self, flight: Flight, transaction: StepTransaction) -> None:
        """One step in its own transaction. It is sent once: what the handler has written cannot be sent again."""
        try:
            await self._keys.enough()
            if self.fenced:
                raise Unavailable("This process could not show that it lives and gave up its leases")  # noqa: TRY301 - told as the others are
            result = await transaction.commit(flight.step, self._keys.keys)
        except asyncio.CancelledError:
            self._lose([flight], Unavailable("The engine stopped while this was written"), unclear=True)
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, its transaction is over
            flight.unclear = True
            flight.lost(TransactionLost(f"The transaction of the handler was lost: {error}"))
        else:
            self._land([flight], [result])

    def _land(self, flights: list[Flight], results: list[StepResult]) -> None:
        """Tell everybody; a defect in one must not keep the answer from the others."""
        self._counters.commits += 1
        self._counters.steps += len(flights)
        for flight, result in zip(flights, results, strict=True):
            try:
                flight.landed(result)
            except Exception:
                logger.exception(
                    "after the commit of instance %d", flight.step.instance, extra=said_of(flight.step.instance)
                )
            if result.woken:
                self._woken(result.woken)

    async def _again(self, flights: list[Flight], error: Unavailable, patience: Patience) -> list[Flight]:
        """Who still wants to wait for the database, after a pause."""
        self._counters.unavailable += 1
        if patience.tries == 0:
            logger.warning("the database does not answer, %d steps wait: %s", len(flights), error)
        for flight in flights:
            flight.unclear = True
        await patience.pause()
        return self._still_waiting(flights, error)

    async def _unfenced(self, flights: list[Flight]) -> None:
        """Wait until this process may write again; jobs claimed on insert then belong to the node that it is now."""
        patience = Patience(self._chance)
        error = Unavailable("This process could not show that it lives and gave up its leases")
        while self.fenced:
            await patience.pause()
            flights[:] = self._still_waiting(flights, error)
        for flight in flights:
            for job in flight.step.new_jobs:
                if job.owner:
                    job.owner = self.node

    def _still_waiting(self, flights: list[Flight], error: Unavailable) -> list[Flight]:
        """Those whose callers have patience left; the others are told."""
        now = asyncio.get_running_loop().time()
        again: list[Flight] = []
        for flight in flights:
            if flight.deadline and flight.deadline < now:
                self._lose([flight], error, unclear=flight.unclear)
            else:
                flight.still_down(error)
                again.append(flight)
        return again

    def _lose(self, flights: list[Flight], error: Exception, *, unclear: bool) -> None:
        """Tell whoever waits for these that they will not be sent again."""
        shown = error if isinstance(error, ProcessionError) else Unavailable(f"The step was not written: {error!r}")
        for flight in flights:
            flight.unclear = flight.unclear or unclear
            flight.lost(shown)
