"""Hints that something changed, as server-sent events: never what changed, so that a hint that is lost does no harm.

All who listen share one look at the database, at most twice a second, and none while nobody listens. What this process
does itself is seen at once by its counters; what others do by marks that are cheap to read (``Store.marks``). A mark
may be seen a moment before what it stands for can be read, so each hint is given once more, a second later.

Who is bound to tenants is told in fixed steps that something may have changed: when the work of others does is not
theirs to know.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator
from typing import Final

import msgspec

from procession.api.problems import Problem
from procession.app import Procession
from procession.errors import Unavailable
from procession.store.rows.watching import Marks

logger = logging.getLogger("procession.api")

LISTENERS_MAX: Final = 1_000
INSTANCES_MAX: Final = 20  # of one listener
GATHER_S: Final = 0.5  # between two hints
LOOK_S: Final = 0.1  # between two looks at the counters of this process
SETTLED_S: Final = 1.0  # after which a hint is given once more
HEARTBEAT_S: Final = 15.0  # proxies close what is silent
BLIND_S: Final = 5.0  # between the hints of those who are bound to tenants
REMEMBERED_MAX: Final = 500  # hints, for those who come back
DIGITS_MAX: Final = 18  # of the number of a hint; what is longer was not given by us

TOPICS: Final = (
    "counts",
    "instances",
    "jobs",
    "incidents",
    "tasks",
    "definitions",
    "decisions",
    "batches",
    "nodes",
    "recurring",
    "limits",
)
ALL: Final = "all"

# What a mark that differs hints at.
_OF_MARK: Final = {
    "history": ("counts", "instances", "jobs", "incidents", "tasks"),
    "instances": ("counts", "instances"),
    "jobs": ("counts", "jobs", "limits"),
    "incidents": ("counts", "incidents"),
    "user_tasks": ("tasks",),
    "batches": ("batches",),
    "definitions": ("definitions", "decisions"),
    "recurring": ("recurring",),
    "nodes": ("nodes",),
}
_OF_COUNTERS: Final = ("counts", "jobs", "limits", "batches")


class Listener:
    """Whoever listens: what is to be told, and that there is something."""

    def __init__(self, *, is_bound: bool, instances: frozenset[int]) -> None:
        self.is_bound = is_bound
        self.instances = instances
        self.pending: dict[str, None] = {}  # topics in the order in which they came
        self.event = asyncio.Event()

    def tell(self, *topics: str) -> None:
        """There is something under these topics."""
        if topics:
            self.pending.update(dict.fromkeys(topics))
            self.event.set()


async def _next(listener: Listener) -> list[str]:
    """What there is to tell, once there is something; nothing where that takes too long."""
    try:
        async with asyncio.timeout(HEARTBEAT_S):
            await listener.event.wait()
    except TimeoutError:
        return []
    listener.event.clear()
    topics, listener.pending = list(listener.pending), {}
    return topics


class Hints:
    """One for each server."""

    def __init__(self, app: Procession) -> None:
        self._app = app
        self._listeners: set[Listener] = set()
        self._task: asyncio.Task[None] | None = None
        self._is_over = False
        self._marks: Marks | None = None
        self._counters: tuple[int, ...] = ()
        self._revisions: dict[int, tuple[int, int]] = {}
        self._again: list[tuple[float, tuple[str, ...]]] = []
        self._next_look = 0.0
        self._told_at = 0.0
        self._next_blind = 0.0
        self._epoch = f"{app.now:x}"
        self._number = 0
        self._past: deque[tuple[int, str]] = deque(maxlen=REMEMBERED_MAX)
        self.looks = 0  # at the database

    @property
    def listening(self) -> int:
        """How many listen."""
        return len(self._listeners)

    async def stop(self) -> None:
        """End every stream."""
        self._is_over = True
        for listener in self._listeners:
            listener.event.set()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    def listen(self, *, is_bound: bool, instances: frozenset[int], last_id: str = "") -> AsyncGenerator[bytes, None]:
        """The stream of one who listens, from what came after ``last_id`` on. Raises Problem where there is no room."""
        if self._is_over or len(self._listeners) >= LISTENERS_MAX:
            raise Problem(503, f"Expected at most {LISTENERS_MAX} to listen at once; ask again now and then instead")
        if len(instances) > INSTANCES_MAX:
            raise Problem(400, f"Expected at most {INSTANCES_MAX} instances to listen to, found {len(instances)}")
        listener = Listener(is_bound=is_bound, instances=instances)
        listener.tell(*self._missed(last_id, is_bound=is_bound))
        return self._stream(listener)

    def _missed(self, last_id: str, *, is_bound: bool) -> tuple[str, ...]:
        """What was told since; everything where that is not known any more."""
        if not last_id:
            return ()
        epoch, _, number = last_id.partition("-")
        is_number = number.isascii() and number.isdigit() and len(number) <= DIGITS_MAX
        known = epoch == self._epoch and is_number and not is_bound
        if not known or (self._past and int(number) + 1 < self._past[0][0]):
            return (ALL,)
        return tuple(topic for at, topic in self._past if at > int(number))

    async def _stream(self, listener: Listener) -> AsyncGenerator[bytes, None]:
        self._listeners.add(listener)
        self._begin()
        try:
            yield b": listening\n\n"
            while not self._is_over:
                topics = await _next(listener)
                yield self._written(topics) if topics else b": \n\n"
        finally:
            self._listeners.discard(listener)

    def _written(self, topics: list[str]) -> bytes:
        """The events; their id says how far one has heard."""
        name = f"id: {self._epoch}-{self._number}\n"
        return "".join(f"{name}data: {msgspec.json.encode({'topic': topic}).decode()}\n\n" for topic in topics).encode()

    # -- the common look ----------------------------------------------------------------------------------------------
    def _begin(self) -> None:
        """Look, while somebody listens."""
        if self._task is None or self._task.done():
            self._marks, self._counters, self._revisions = None, self._own(), {}
            # What changed between the first question of who listens and the first look is not known.
            self._again = [(asyncio.get_running_loop().time() + SETTLED_S, (ALL,))]
            self._task = asyncio.create_task(self._run(), name="procession hints")

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while self._listeners:
            try:
                await self.look(loop.time())
            except Unavailable:
                self._marks = None
            except Exception:
                logger.exception("a look for changes failed")
                await asyncio.sleep(BLIND_S)
            await asyncio.sleep(LOOK_S)

    async def look(self, now: float) -> None:
        """Tell what changed since the last look, if that is long enough ago."""
        own = self._own()
        has_worked = own != self._counters
        if now >= self._next_look or (has_worked and now >= self._told_at + GATHER_S):
            self._next_look, self._counters = now + GATHER_S, own
            topics = await self._changed()
            if has_worked:
                topics.update(dict.fromkeys(_OF_COUNTERS))
            self._tell(tuple(topics))
            if topics:
                self._told_at = now
                self._again.append((now + SETTLED_S, tuple(topics)))
        due = {topic: None for at, topics in self._again if at <= now for topic in topics}
        self._again = [(at, topics) for at, topics in self._again if at > now]
        self._tell(tuple(due))
        if now >= self._next_blind:
            self._next_blind = now + BLIND_S
            for listener in self._listeners:
                if listener.is_bound:
                    listener.tell(ALL)

    async def _changed(self) -> dict[str, None]:
        """The topics of the marks that differ, and the instances that do."""
        rows = self._app.rows
        before, self._marks = self._marks, await rows.marks()
        topics: dict[str, None] = {}
        if before is not None:
            for name, of_it in _OF_MARK.items():
                if getattr(before, name) != getattr(self._marks, name):
                    topics.update(dict.fromkeys(of_it))
        watched = sorted({key for listener in self._listeners for key in listener.instances})
        found = await rows.revisions(watched) if watched else {}
        for key in watched:
            if self._revisions.get(key) != found.get(key):  # also one that is looked at for the first time
                topics[f"instance:{key}"] = None
        self._revisions = found
        self.looks += 1
        return topics

    def _tell(self, topics: tuple[str, ...]) -> None:
        """Everybody, each what concerns them."""
        if not topics:
            return
        self._number += 1
        self._past.extend((self._number, topic) for topic in topics)
        common = tuple(topic for topic in topics if ":" not in topic)
        for listener in self._listeners:
            if not listener.is_bound:
                listener.tell(*common)
            listener.tell(*(f"instance:{key}" for key in listener.instances if f"instance:{key}" in topics))

    def _own(self) -> tuple[int, ...]:
        """What this process has done, as numbers to compare."""
        counters = self._app.counters
        return (
            counters.accepted,
            counters.steps,
            counters.jobs_done,
            counters.jobs_completed,
            counters.jobs_retried,
            counters.jobs_failed,
            counters.claimed,
            counters.handed_over,
        )
