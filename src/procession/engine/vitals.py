"""What a process says of itself, for the pages of others: its counters, every second in which they changed.

Only stores that several processes work on are told; one row for each process, which is gone when the process ends. One
that ends with something that it has not said yet (a command that starts an instance and is over) leaves its row as a
last word, which servers delete when they have counted it. The counters are whole numbers since the process began:
whoever reads them twice knows what happened in between.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import msgspec

from procession.engine.clock import StoreClock
from procession.engine.duty import Duty
from procession.engine.keys import KeyStock
from procession.engine.settings import Counters
from procession.errors import Unavailable
from procession.store.port import Store
from procession.store.rows.keeping import Kept

KIND: Final = "vitals"  # of what is kept
PUBLISH_S: Final = 1.0
FORGET_S: Final = 1.0  # a database that does not answer keeps no process from ending
LAST_WORD_MS: Final = 15_000  # a last word stays so long: servers that nobody looks at read every five seconds
FORGOTTEN_MS: Final = 3_600_000  # rows of processes that ended without a word


class Vital(msgspec.Struct, kw_only=True, rename="camel", omit_defaults=True):
    """What one process has done since ``since``."""

    node: int = 0
    name: str = ""
    since: int = 0
    at: int = 0
    started: int = 0
    completed: int = 0
    terminated: int = 0
    incidents: int = 0
    rejected: int = 0
    accepted: int = 0
    jobs_done: int = 0
    jobs_retried: int = 0
    jobs_failed: int = 0
    in_flight: int = 0
    limit: int = 0  # of commands in flight at its edge; 0: it has none
    over: bool = False  # it has ended


class Vitals:
    """Of one engine."""

    def __init__(
        self,
        store: Store,
        counters: Counters,
        *,
        clock: StoreClock,
        keys: KeyStock,
        name: str,
        chance: Callable[[], float],
    ) -> None:
        self._store = store
        self._counters = counters
        self._clock = clock
        self._keys = keys
        self._name = name
        self._since = 0
        self._key = 0
        self._said: Vital | None = None
        self._tells = False
        self._duty = Duty("vitals", self._round, chance)
        self.node = 0
        self.edge: Callable[[], dict[str, int]] = dict  # what an edge in this process adds: rejected, in_flight, limit

    def start(self) -> None:
        """Begin to tell others, where there may be some."""
        self._since = self._clock.now()
        if self._store.shared and not self._clock.virtual:
            self._tells = True
            self._duty.start()

    async def stop(self) -> None:
        """End; the row goes, or becomes a last word."""
        await self._duty.stop()
        if not self._tells:
            return
        vital = msgspec.structs.replace(self.now(), over=True, in_flight=0, limit=0)
        key, self._key = self._key, 0
        with suppress(Unavailable, TimeoutError):  # it grows stale by itself
            async with asyncio.timeout(FORGET_S):
                if self._is_news(vital) and (key or self._keys.ready()):
                    await self._keep(key or self._keys.keys.take(), vital)
                elif key:
                    await self._store.forget_kept(KIND, keys=[key])

    @property
    def key(self) -> int:
        """Of this process' own row; 0: it has none."""
        return self._key

    def now(self) -> Vital:
        """What there is to say."""
        counters, edge = self._counters, self.edge()
        return Vital(
            node=self.node,
            name=self._name,
            since=self._since,
            at=self._clock.now(),
            started=counters.started,
            completed=counters.completed,
            terminated=counters.terminated,
            incidents=counters.incidents,
            rejected=sum(counters.rejected.values()) + edge.get("rejected", 0),
            accepted=counters.accepted,
            jobs_done=counters.jobs_done + counters.jobs_completed,
            jobs_retried=counters.jobs_retried,
            jobs_failed=counters.jobs_failed,
            in_flight=counters.in_flight + edge.get("in_flight", 0),
            limit=edge.get("limit", 0),
        )

    async def _round(self) -> float:
        """Say it where something changed."""
        vital = self.now()
        is_old = self._said is not None and vital.at - self._said.at > FORGOTTEN_MS // 2
        if is_old or self._is_news(vital):
            if not self._key:
                self._key = self._keys.keys.take() if self._keys.ready() else 0
            if self._key:
                await self._keep(self._key, vital)
                self._said = vital
        return PUBLISH_S

    def _is_news(self, vital: Vital) -> bool:
        """Whether others do not know it yet."""
        return _counted(vital) != _counted(self._said if self._said is not None else Vital(node=self.node))

    async def _keep(self, key: int, vital: Vital) -> None:
        await self._store.keep([Kept(kind=KIND, key=key, name=self._name, body=msgspec.json.encode(vital))])


def vitals_of(rows: list[Kept]) -> dict[int, Vital]:
    """What processes have said, by the key of their rows; rows that cannot be read are left out."""
    found: dict[int, Vital] = {}
    for row in rows:
        try:
            found[row.key] = msgspec.json.decode(row.body, type=Vital)
        except msgspec.MsgspecError:
            continue
    return found


def _counted(vital: Vital) -> dict[str, Any]:
    """What may change while a process lives."""
    return {**msgspec.structs.asdict(vital), "name": "", "since": 0, "at": 0, "over": False}
