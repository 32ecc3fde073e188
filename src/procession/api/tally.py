"""Counts what the history says of each element: how often it began, was left, was interrupted, and how long it took.

While a server runs it reads the history of all instances in the order in which it was committed, adds to the tally in
the store, and goes on from where it, or another server, stood (``store/watch_port.py``). Two servers do no harm:
whoever finds the cursor moved on has counted in vain, and pauses longer. It takes a part of one processor at most, for
what is counted is for people to look at. What is not counted yet is counted later; nothing waits for it.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from typing import Final

import msgspec

from procession.api.meter import Counter as MeterCounter
from procession.api.meter import Workers, count_event
from procession.core import events as e
from procession.core.state import Status
from procession.errors import Unavailable
from procession.store.port import Store
from procession.store.rows import HistoryRow
from procession.store.rows.watching import (
    TIME,
    HistoryAt,
    Measure,
    TallyCount,
    TallyCursor,
    bucket_of,
    flow_place,
)

logger = logging.getLogger("procession.api")

STEPS_MAX: Final = 1_000  # of one turn
INSTANCES_MAX: Final = 20_000  # instances whose active elements are remembered
LOOK_BACK_MAX: Final = 20_000  # steps that are read again for instances that are not remembered
SHARE: Final = 0.25  # of one processor
IDLE_S: Final = 1.0
LOST_S: Final = 3.0  # after another server has counted

_events: Final = msgspec.json.Decoder(list[e.AnyEvent]).decode

Place = tuple[int, int]  # element, since when
Name = tuple[int, int, int]  # definition, place, measure


class _Running(msgspec.Struct):
    """An instance that is not over: the version it is of, and its active element instances."""

    definition: int
    active: dict[int, Place]
    jobs: dict[int, str] = {}  # types of open jobs


class Tally:
    """One for each server."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._open: dict[int, _Running] = {}  # by instance
        self._counts: Counter[Name] = Counter()
        self._meter = MeterCounter()
        self._tenants: dict[int, str] = {}  # by definition
        self.workers = Workers()
        self._cursor: TallyCursor | None = None
        self._turning = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self.is_behind = False  # the last turn did not reach the end
        self.counted_at = 0  # of the last step that was counted here

    # -- life -------------------------------------------------------------------------------------------------------
    def start(self) -> None:
        """Count in the background."""
        self._task = asyncio.create_task(self._run(), name="procession tally")

    async def stop(self) -> None:
        """End."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            pause = IDLE_S
            try:
                counted = await self.turn()
                took = loop.time() - began
                pause = LOST_S if counted < 0 else took / SHARE if self.is_behind else IDLE_S
            except Unavailable:
                pause = LOST_S
            except Exception:
                logger.exception("what the history says could not be counted; it is tried again")
                self._forget()
                pause = 10 * LOST_S
            await asyncio.sleep(pause)

    async def catch_up(self, turns: int = 100) -> bool:
        """Count what there is; whether the end was reached."""
        for _ in range(turns):
            await self.turn()
            if not self.is_behind:
                return True
        return False

    async def turn(self) -> int:
        """Count the next steps: how many, -1 where another server was faster."""
        async with self._turning:
            return await self._turn()

    async def _turn(self) -> int:
        await self.workers.flush(self._store)
        since = self._cursor or await self._store.tally_cursor()
        rows = await self._store.history_after(since, limit=STEPS_MAX)
        self.is_behind = len(rows) == STEPS_MAX
        if not rows:
            self._cursor = since
            return 0
        await self._look_back(rows)
        await self._know_tenants(rows)
        self._counts.clear()
        self._meter.take()
        for row in rows:
            self._take(row)
        until = TallyCursor(txid=rows[-1].txid, position=rows[-1].position)
        counts = [
            TallyCount(definition=name[0], place=name[1], measure=name[2], times=times)
            for name, times in self._counts.items()
        ]
        if not await self._store.add_tally(since, until, counts, self._meter.take()):
            self._forget()
            return -1
        self._cursor, self.counted_at = until, rows[-1].at
        while len(self._open) > INSTANCES_MAX:
            del self._open[next(iter(self._open))]
        return len(rows)

    def _forget(self) -> None:
        """What was remembered is of another line of events."""
        self._cursor = None
        self._open.clear()

    async def _know_tenants(self, rows: list[HistoryAt]) -> None:
        """Whose the versions are that these steps are of."""
        unknown = sorted({row.definition for row in rows} - self._tenants.keys())
        if unknown:
            self._tenants.update({row.key: row.tenant for row in await self._store.definitions(unknown)})
        while len(self._tenants) > INSTANCES_MAX:
            del self._tenants[next(iter(self._tenants))]

    # -- what came before ---------------------------------------------------------------------------------------------
    async def _look_back(self, rows: list[HistoryAt]) -> None:
        """Read again the steps before these of instances that are not remembered."""
        first: dict[int, HistoryAt] = {}
        for row in rows:
            first.setdefault(row.instance, row)
        unknown = [key for key, row in first.items() if key not in self._open and not _begins(row)]
        if not unknown:
            return
        past = await self._store.histories(unknown, limit=LOOK_BACK_MAX)
        for row in past:
            if row.position >= first[row.instance].position:
                continue
            self._take(_as_counted(row), counts=False)

    # -- counting -----------------------------------------------------------------------------------------------------
    def _take(self, row: HistoryAt, *, counts: bool = True) -> None:
        """One step."""
        running = self._open.pop(row.instance, None) or _Running(row.definition, {})
        self._open[row.instance] = running  # the ones used last stay longest
        count = self._counts if counts else Counter[Name]()
        definition, active = row.definition, running.active
        meter, tenant = self._meter if counts else None, self._tenants.get(definition, "")
        for event in _events(row.events):
            count_event(meter, tenant, running.jobs, event, row.at)
            match event:
                case e.Activated() if not event.body:  # the body of a repeated activity is none of its repetitions
                    self._begin(count, active, definition, event.key, event.element, row.at)
                case e.Completed():
                    _end(count, active, definition, event.key, Measure.COMPLETED, row.at)
                case e.Passed():
                    count[definition, event.element, Measure.BEGAN] += 1
                    count[definition, event.element, Measure.COMPLETED] += 1
                case e.FlowTaken():
                    count[definition, flow_place(event.flow), Measure.COMPLETED] += 1
                case e.Terminated():
                    _end(count, active, definition, event.key, Measure.TERMINATED, row.at)
                case e.Started():
                    self._begin(count, active, definition, event.instance, 0, row.at)
                case e.Ended():
                    _end_all(count, active, definition, event.status, row.at)
                    self._open.pop(row.instance, None)
                case e.Migrated():
                    active = _migrate(count, running, event)
                    definition = event.definition
                case _:
                    pass

    @staticmethod
    def _begin(
        count: Counter[Name], active: dict[int, Place], definition: int, key: int, element: int, at: int
    ) -> None:
        if key not in active:
            count[definition, element, Measure.BEGAN] += 1
            active[key] = (element, at)


def _as_counted(row: HistoryRow) -> HistoryAt:
    """A step that was counted before."""
    return HistoryAt(
        txid=0,
        position=row.position,
        instance=row.instance,
        definition=row.definition,
        at=row.at,
        events=row.events,
    )


def _begins(row: HistoryAt) -> bool:
    """Whether a step is the first of its instance."""
    return row.events.lstrip()[1:].lstrip().startswith(b'["started"')


def _end(count: Counter[Name], active: dict[int, Place], definition: int, key: int, how: Measure, at: int) -> None:
    """An element instance is over; one that is not known, since its beginning was not kept, is passed over."""
    place = active.pop(key, None)
    if place is None:
        return
    element, since = place
    took = max(0, at - since)
    count[definition, element, how] += 1
    count[definition, element, Measure.TOOK_MS] += took
    count[definition, element, TIME + bucket_of(took)] += 1


def _end_all(count: Counter[Name], active: dict[int, Place], definition: int, status: int, at: int) -> None:
    """The instance is over, and with it what is still active."""
    how = Measure.COMPLETED if status == Status.COMPLETED else Measure.TERMINATED
    for key in list(active):
        _end(count, active, definition, key, how, at)


def _migrate(count: Counter[Name], running: _Running, event: e.Migrated) -> dict[int, Place]:
    """What is active began, from here on, at the other version: it is taken back from the one before."""
    moved: dict[int, Place] = {}
    for key, (element, since) in running.active.items():
        target = event.elements.get(element, element)
        count[running.definition, element, Measure.BEGAN] -= 1
        count[event.definition, target, Measure.BEGAN] += 1
        moved[key] = (target, since)
    running.definition, running.active = event.definition, moved
    return moved
