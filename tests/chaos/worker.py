"""A worker to be killed: ``python -m tests.chaos.worker URL LEDGER [SETTINGS]``. Runs of handlers are written down."""

from __future__ import annotations

import asyncio
import os
import random
import sys

import msgspec

from procession import Job, Procession
from procession.engine import Settings
from procession.worker import WorkerSettings
from tests.chaos.ledger import Ledger

QUICK = Settings(
    heartbeat_ms=200,
    heartbeat_missed_max=4,
    dead_after_ms=1_200,
    lead_term_ms=600,
    promote_poll_ms_max=200,
    claim_poll_ms_max=200,
    crash_budget=1_000,  # every kill cuts short what lay in the local buffer too
    crash_backoff_ms=200,
    stop_wait_ms=3_000,
)
LONGEST_S = 0.01


def application(url: str, ledger: Ledger, settings: Settings = QUICK) -> Procession:
    """The handlers of the models."""
    app = Procession(url, history="full", settings=settings, slots=WorkerSettings(concurrency=12))
    chance = random.Random(os.getpid())

    async def run(job: Job) -> None:
        """Take a moment in which one may be killed."""
        ledger.write("ran", job.key, job.element_id, job.process_instance_key, job.attempt, job.lease, os.getpid())
        await asyncio.sleep(chance.random() * LONGEST_S)

    @app.method("price")
    def price(job: Job, amount: int) -> dict[str, int]:
        ledger.write("priced", job.key, job.element_id, job.process_instance_key, job.attempt, job.lease, os.getpid())
        return {"total": amount * 2}

    @app.job("reserve", backoff="50ms")
    async def reserve(job: Job, amount: int) -> dict[str, int]:
        await run(job)
        if amount % 3 == 0 and job.attempt == 1:
            raise ConnectionError("the warehouse did not answer")
        return {"reserved": amount}

    @app.job("pay")
    async def pay(job: Job, total: int) -> dict[str, int]:
        await run(job)
        return {"paid": total}

    @app.job("pack")
    async def pack(job: Job, amount: int) -> dict[str, int]:
        await run(job)
        return {"packed": amount}

    @app.job("work")
    async def work(job: Job, seed: int) -> dict[str, int]:
        await run(job)
        return {"made": seed + 1}

    @app.job("each")
    async def each(job: Job, item: int) -> dict[str, int]:
        await run(job)
        return {"result": item * 2}

    @app.job("note")
    async def note(job: Job, number: str) -> dict[str, int]:
        await run(job)
        return {"noted": int(number)}

    @app.job("listen")
    async def listen(job: Job, number: str) -> dict[str, int]:
        await run(job)
        return {"listened": int(number)}

    return app


if __name__ == "__main__":
    url, path, *more = sys.argv[1:]
    chosen = msgspec.json.decode(more[0], type=Settings) if more else QUICK
    asyncio.run(application(url, Ledger(path), chosen).run())
