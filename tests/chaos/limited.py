"""A worker of limited jobs, to be killed: ``python -m tests.chaos.limited URL LEDGER``. It notes its runs.

Its handlers take longer than a claim, so that what is claimed ahead waits in the process; some hold the loop up, and
some ignore that their time is over.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time

from procession import Job, Procession
from procession.engine import Settings
from procession.worker import WorkerSettings
from tests.chaos.ledger import Ledger

PATIENT = Settings(  # a starved process of a loaded machine is not taken for a dead one
    heartbeat_ms=200,
    heartbeat_missed_max=10,
    dead_after_ms=3_000,
    lead_term_ms=600,
    promote_poll_ms_max=200,
    claim_poll_ms_max=200,
    crash_budget=1_000,
    crash_backoff_ms=1,
    stop_wait_ms=3_000,
)
SLOTS = WorkerSettings(concurrency=4, stuck_ms=100)
LONGEST_S = 0.2  # of a limited job and of one that fills slots
STALL_S = 0.4  # the longest time for which a job keeps the loop from everything else
STUBBORN_S = 0.8  # a thread that should have ended after a tenth of a second


def application(url: str, ledger: Ledger) -> Procession:
    """The clock of the ledger is the same in all processes of a machine."""
    app = Procession(url, settings=PATIENT, slots=SLOTS)
    chance = random.Random(os.getpid())

    @app.job("limited", retries=1)
    async def limited(job: Job, key: str) -> None:
        ledger.write("began", job.key, key, os.getpid(), time.monotonic_ns())
        await asyncio.sleep(chance.random() * LONGEST_S)
        ledger.write("ended", job.key, key, os.getpid(), time.monotonic_ns())

    @app.job("stubborn", retries=1, timeout="100ms")
    def stubborn(job: Job, key: str) -> None:
        ledger.write("began", job.key, key, os.getpid(), time.monotonic_ns())
        time.sleep(STUBBORN_S)
        ledger.write("ended", job.key, key, os.getpid(), time.monotonic_ns())

    @app.job("filling")
    async def filling() -> None:
        await asyncio.sleep(chance.random() * LONGEST_S)

    @app.job("stalling")
    async def stalling() -> None:
        time.sleep(chance.random() * STALL_S)  # noqa: ASYNC251 - that is what it is for

    return app


if __name__ == "__main__":
    asyncio.run(application(sys.argv[1], Ledger(sys.argv[2])).run())
