"""A worker of limited jobs, to be killed: ``python -m tests.chaos.limited URL LEDGER``. It notes its runs."""

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
LONGEST_S = 0.06


def application(url: str, ledger: Ledger) -> Procession:
    """One handler that takes a moment; the clock of the ledger is the same in all processes of a machine."""
    app = Procession(url, settings=PATIENT, slots=WorkerSettings(concurrency=8))
    chance = random.Random(os.getpid())

    @app.job("limited", retries=1)
    async def limited(job: Job, key: str) -> None:
        ledger.write("began", job.key, key, os.getpid(), time.monotonic_ns())
        await asyncio.sleep(chance.random() * LONGEST_S)
        ledger.write("ended", job.key, key, os.getpid(), time.monotonic_ns())

    return app


if __name__ == "__main__":
    asyncio.run(application(sys.argv[1], Ledger(sys.argv[2])).run())
