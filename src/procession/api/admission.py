"""The gate at the edge: the rules of ``backpressure`` with a real clock, a real disk and the engine's own counters."""

from __future__ import annotations

import asyncio
import logging
import math
import shutil
from collections import deque
from pathlib import Path

from procession.api.backpressure import Admission, Aimd, Gradient, Refusal
from procession.api.endpoints import Load
from procession.api.problems import Problem
from procession.api.settings import Settings
from procession.app import Procession
from procession.errors import Unavailable

logger = logging.getLogger("procession.api")

LOOK_S = 5.0  # between two looks at the disk
TOLD_S = 1.0  # between two lines of the log about what is refused
# Commands that begin work and are at work at once: few for those that end work, which would stand behind them, and
# enough for commits of many. With 16 a start cost 400 microseconds of the server's processor, with 128 it costs 340.
TURNS = 128
SQLITE = "sqlite:///"


class Gate:
    """Lets commands in, or says why not."""

    def __init__(self, app: Procession, settings: Settings) -> None:
        limits = {"aimd": Aimd, "gradient": Gradient}
        rule = limits.get(settings.limit)
        self.admission = Admission(
            rule() if rule is not None else None,
            disk_free_min=settings.disk_free_bytes_min,
            database_max=settings.database_bytes_max,
        )
        self._app = app
        self._weighs = settings.database_bytes_max > 0
        self._weighing: asyncio.Task[None] | None = None
        self._place = Path(app.url.removeprefix(SQLITE).partition("?")[0]) if app.url.startswith(SQLITE) else None
        self._looked_at = -LOOK_S
        self._at_work = 0
        self._line: deque[asyncio.Future[None]] = deque()
        self._told_at = -TOLD_S
        self._untold = 0

    def numbers(self) -> dict[str, int]:
        """What others are told of it (``engine/vitals.py``)."""
        limit = self.admission.limit
        return {
            "rejected": sum(self.admission.rejected.values()),
            "in_flight": self.admission.in_flight,
            "limit": int(limit.limit) if limit is not None else 0,
        }

    def refusal(self) -> Refusal | None:
        """Why a command would be refused now, counted as such; None where it may go on to ``enter``."""
        now = asyncio.get_running_loop().time()
        self._look(now)
        found = self.admission.refuse(now)
        if found is not None:
            self._tell(found, now)
        return found

    async def enter(self, load: Load) -> Pass:
        """Before a verb: let in, and wait for its turn. Raises Problem (503).

        The problem says the reason, the limit, what it is now, and when to come again. Of what begins work only so many
        are at work at once (``TURNS``), the others stand in line here and not in the event loop, where what ends work
        would stand behind them.
        """
        if load in (Load.FREE, Load.WAIT):
            return _FREE
        began = asyncio.get_running_loop().time()
        exempt = load is Load.EXEMPT
        if not exempt:
            self._look(began)
        refusal = self.admission.admit(began, exempt=exempt)
        if refusal is not None:
            self._tell(refusal, began)
            raise refused(refusal)
        entered = Pass(self, began, exempt=exempt)
        if not exempt and (self._at_work >= TURNS or self._line):
            await self._turn(entered)
        elif not exempt:
            self._at_work += 1
        return entered

    async def _turn(self, entered: Pass) -> None:
        """Until one that is at work is done."""
        turn = asyncio.get_running_loop().create_future()
        self._line.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._at_work += 1  # its pass counts it off again
            entered.answered()
            raise

    def left(self, began: float, *, exempt: bool, dropped: bool) -> None:
        """A command was answered: the next one's turn."""
        now = asyncio.get_running_loop().time()
        self.admission.done(now - began, exempt=exempt, dropped=dropped)
        if exempt:
            return
        self._at_work -= 1
        while self._line and self._at_work < TURNS:
            turn = self._line.popleft()
            if not turn.done():
                self._at_work += 1
                turn.set_result(None)

    def _tell(self, refusal: Refusal, now: float) -> None:
        """Say in the log what is refused, once a second: a line for each would cost what the refusal saves."""
        self._untold += 1
        if now - self._told_at < TOLD_S:
            return
        fields = {"reason": refusal.reason, "limit": refusal.limit, "current": refusal.current, "count": self._untold}
        logger.info("%d commands were refused (%s)", self._untold, refusal, extra={"fields": fields})
        self._told_at, self._untold = now, 0

    def _look(self, now: float) -> None:
        """How full the disk and how large the database is, now and then."""
        if now - self._looked_at < LOOK_S:
            return
        self._looked_at = now
        if self._weighs and (self._weighing is None or self._weighing.done()):
            self._weighing = asyncio.get_running_loop().create_task(self.weigh(), name="procession size")
        if self._place is None:
            return
        try:
            self.admission.disk(shutil.disk_usage(self._place.absolute().parent).free)
        except OSError:
            self.admission.disk(None)

    async def weigh(self) -> None:
        """Ask how large the database is."""
        try:
            self.admission.database(await self._app.rows.size())
        except Unavailable:
            logger.debug("how large the database is, is not known now")  # what was known last holds on


class Pass:
    """A command that was let in, until it is answered: once, however often it is said."""

    __slots__ = ("_began", "_gate", "_is_exempt")

    def __init__(self, gate: Gate | None, began: float = 0.0, *, exempt: bool = False) -> None:
        self._gate = gate
        self._began = began
        self._is_exempt = exempt

    def answered(self, *, dropped: bool = False) -> None:
        """It is answered (and may wait for something else); ``dropped``: the database did not answer it."""
        gate, self._gate = self._gate, None
        if gate is not None:
            gate.left(self._began, exempt=self._is_exempt, dropped=dropped)


_FREE = Pass(None)


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
