"""What happens per second, as a series: differences of the counters of all processes that work on the database.

The counters of this process are at hand, those of others are read where they say them (``engine/vitals.py``): every
second while somebody looks, every few seconds otherwise. It is kept in memory, for the last minutes.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from contextlib import suppress
from typing import Final

import msgspec

from procession.app import Procession
from procession.engine.vitals import FORGOTTEN_MS, KIND, LAST_WORD_MS, Vital, vitals_of
from procession.errors import Unavailable

logger = logging.getLogger("procession.api")

SAMPLES_MAX: Final = 900
WATCHED_S: Final = 1.0
UNWATCHED_S: Final = 5.0
LOOKED_S: Final = 30.0  # so long after a look somebody is taken to be looking
PROCESSES_MAX: Final = 1_000
TIDY_S: Final = 300.0

COUNTED: Final[tuple[str, ...]] = (
    "started",
    "completed",
    "terminated",
    "incidents",
    "rejected",
    "jobs_done",
    "jobs_retried",
    "jobs_failed",
)


class Sample(msgspec.Struct, kw_only=True):
    """What happened in the ``seconds`` until ``at``."""

    at: int
    seconds: float
    counts: dict[str, int]

    def rate(self, name: str) -> float:
        """Per second."""
        return self.counts.get(name, 0) / self.seconds


class Pulse:
    """One for each server."""

    def __init__(self, app: Procession) -> None:
        self._app = app
        self.samples: deque[Sample] = deque(maxlen=SAMPLES_MAX)
        self.others: dict[int, Vital] = {}  # the last word of each other process, by the key of its row
        self._before: dict[int, Vital] = {}  # by key; 0 is this process
        self._at = 0
        self._looked_at = -LOOKED_S
        self._woken = asyncio.Event()
        self._tidied_at = 0.0
        self._task: asyncio.Task[None] | None = None

    # -- life -------------------------------------------------------------------------------------------------------
    def start(self) -> None:
        """Begin to sample."""
        self._tidied_at = asyncio.get_running_loop().time()
        self._task = asyncio.create_task(self._run(), name="procession pulse")

    async def stop(self) -> None:
        """End."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    def looked(self) -> None:
        """Somebody looks."""
        now = asyncio.get_running_loop().time()
        if now - self._looked_at >= LOOKED_S:
            self._woken.set()  # the pause of one who is not looked at would be a long one
        self._looked_at = now

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                await self.sample()
                await self._tidy(loop.time())
            except Unavailable:
                pass  # the next sample covers the time
            except Exception:
                logger.exception("a sample of what happens per second failed")
            with suppress(TimeoutError):
                async with asyncio.timeout(WATCHED_S if loop.time() - self._looked_at < LOOKED_S else UNWATCHED_S):
                    await self._woken.wait()
            self._woken.clear()

    # -- samples ------------------------------------------------------------------------------------------------------
    async def sample(self) -> None:
        """Compare the counters with those of the sample before."""
        if self._app.rows.shared:
            rows = await self._app.rows.kept(KIND, newest=True, limit=PROCESSES_MAX)
            self.others = {key: vital for key, vital in vitals_of(rows).items() if key != self._app.vital_key}
        own = self._app.vital()
        now = own.at
        seconds = (now - self._at) / 1000
        if seconds <= 0:
            return
        counts: dict[str, int] = dict.fromkeys(COUNTED, 0)
        latest = {0: own, **self.others}
        if not self._before:
            self._before, self._at = latest, now  # what was done until now is not of a sample
            return
        for key, vital in latest.items():
            before = self._before.get(key) or Vital()  # it is new, or had nothing to say until now
            for name in COUNTED:
                counts[name] += max(0, getattr(vital, name) - getattr(before, name))
        self._before, self._at = latest, now
        self.samples.append(Sample(at=now, seconds=seconds, counts=counts))

    def vitals(self) -> list[Vital]:
        """What every process that works has said, this one first."""
        return [self._app.vital(), *(vital for vital in self.others.values() if not vital.over)]

    async def _tidy(self, now: float) -> None:
        """Forget last words that everybody has counted, and the words of processes that ended without one."""
        before = self._app.now - LAST_WORD_MS
        gone = [key for key, vital in self.others.items() if vital.over and vital.at < before]
        if now - self._tidied_at >= TIDY_S:
            self._tidied_at = now
            before = self._app.now - FORGOTTEN_MS
            gone += [key for key, vital in self.others.items() if vital.at < before and not vital.over]
        if gone:
            await self._app.rows.forget_kept(KIND, keys=gone)
