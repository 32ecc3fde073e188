"""Types of jobs that were met here, and that no handler of this process is for: claims leave them out for a while.

A plain queue may be that of several programs. A job of another's goes back at once, as it was, and this process does
not claim its type again until it has forgotten it: so it costs the program that it is for one claim at most, and what
nobody handles costs each process a claim now and then. A type for which a handler is registered is no stranger any
more. Process jobs have queues of their own by type, and are not met.
"""

from __future__ import annotations

import logging
from collections.abc import Container
from typing import Final

from procession.engine import Delivery, said

logger = logging.getLogger("procession.worker")

MEMORY_S: Final = 60.0  # how long a type is remembered, and how often a line of the log says that it is there
TYPES_MAX: Final = 100  # of one queue: each is looked at for each job that a claim passes over
PAUSE_MS: Final = 10_000  # jobs of types beyond: they would be claimed again and again if they went back at once


class Strangers:
    """What is known of each queue. Instants are seconds of any clock that does not go back."""

    def __init__(self, handled: Container[str]) -> None:
        self._handled = handled
        self._met: dict[str, dict[str, float]] = {}  # queue -> type -> until when it is remembered
        self._told_at: dict[str, float] = {}  # queues that have more types than are remembered

    def of(self, queue: str, now: float) -> tuple[str, ...]:
        """Types that a claim leaves out."""
        met = self._met.get(queue)
        if not met:
            return ()
        self._forget(met, now)
        return tuple(met)

    def meet(self, job: Delivery, now: float) -> int:
        """A job came for which there is no handler: for how many milliseconds it goes back."""
        met = self._met.setdefault(job.queue, {})
        if met.get(job.type, 0.0) > now:  # the next one of the same claim
            return 0
        self._forget(met, now)
        if len(met) < TYPES_MAX:
            met[job.type] = now + MEMORY_S
            logger.warning("no handler for job type '%s' from queue '%s'", job.type, job.queue, extra=said(job))
            return 0
        if now >= self._told_at.get(job.queue, -MEMORY_S) + MEMORY_S:
            self._told_at[job.queue] = now
            text = "no handler for more than %d job types from queue '%s', of which one is '%s': they go back for %d s"
            logger.warning(text, TYPES_MAX, job.queue, job.type, PAUSE_MS // 1000, extra=said(job))
        return PAUSE_MS

    def _forget(self, met: dict[str, float], now: float) -> None:
        for name in [name for name, until in met.items() if until <= now or name in self._handled]:
            del met[name]
