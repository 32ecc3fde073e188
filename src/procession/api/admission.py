"""The gate at the edge: the rules of ``backpressure`` with a real clock, a real disk and the engine's own counters."""

from __future__ import annotations

import asyncio
import math
import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from procession.api.backpressure import Admission, Aimd, Gradient, Refusal
from procession.api.endpoints import Load
from procession.api.problems import Problem
from procession.api.settings import Settings
from procession.app import Procession
from procession.errors import Unavailable

LOOK_S = 5.0  # between two looks at the disk
SQLITE = "sqlite:///"


class Gate:
    """Lets commands in, or says why not."""

    def __init__(self, app: Procession, settings: Settings) -> None:
        limits = {"aimd": Aimd, "gradient": Gradient}
        rule = limits.get(settings.limit)
        self.admission = Admission(rule() if rule is not None else None, disk_free_min=settings.disk_free_bytes_min)
        self._place = Path(app.url.removeprefix(SQLITE).partition("?")[0]) if app.url.startswith(SQLITE) else None
        self._looked_at = -LOOK_S

    def numbers(self) -> dict[str, int]:
        """What others are told of it (``engine/vitals.py``)."""
        limit = self.admission.limit
        return {
            "rejected": sum(self.admission.rejected.values()),
            "in_flight": self.admission.in_flight,
            "limit": int(limit.limit) if limit is not None else 0,
        }

    @contextmanager
    def pass_through(self, load: Load) -> Generator[Callable[[], None]]:
        """Around a verb, which may say before its end that its command is answered (it then waits for something else).

        Raises Problem (503) with the reason, the limit, what it is now, and when to come again.
        """
        if load in (Load.FREE, Load.WAIT):
            yield _nothing
            return
        loop = asyncio.get_running_loop()
        began = loop.time()
        exempt = load is Load.EXEMPT
        if not exempt:
            self._look(began)
        refusal = self.admission.admit(began, exempt=exempt)
        if refusal is not None:
            raise refused(refusal)
        is_open = [True]

        def answered(*, dropped: bool = False) -> None:
            if is_open:
                is_open.clear()
                self.admission.done(loop.time() - began, exempt=exempt, dropped=dropped)

        try:
            yield answered
        except Unavailable:
            answered(dropped=True)
            raise
        finally:
            answered()

    def _look(self, now: float) -> None:
        """How full the disk is, now and then."""
        if self._place is None or now - self._looked_at < LOOK_S:
            return
        self._looked_at = now
        try:
            self.admission.disk(shutil.disk_usage(self._place.absolute().parent).free)
        except OSError:
            self.admission.disk(None)


def _nothing() -> None:
    """Nothing was counted."""


def refused(refusal: Refusal) -> Problem:
    """A refusal as clients get it."""
    return Problem(
        503,
        str(refusal),
        title="RESOURCE_EXHAUSTED",
        headers={"Retry-After": str(max(1, math.ceil(refusal.retry_after_s)))},
        reason=refusal.reason,
        limit=refusal.limit,
        current=refusal.current,
    )
