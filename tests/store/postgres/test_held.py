"""A transaction stays open elsewhere for minutes while jobs come and go: `make held` looks at it minute by minute.

One application enqueues, another one claims: a sample every 50 ms whatever became of the one before, beside a steady
flow. The first window is without the transaction, the last one after its end. What a claim looks at is counted, without
a clock, in test_floors.py.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path
from statistics import quantiles
from typing import Any, Final

import asyncpg
import msgspec
import pytest

from procession import Procession
from procession.lab._processor import processor_seconds
from procession.lab.environment import environment
from procession.lab.options import OWN_SERVER_SETTINGS
from procession.lab.postgres_server import PostgresServer

MINUTES: Final = float(os.environ.get("HELD_MINUTES", "0"))
OUT: Final = os.environ.get("HELD_OUT", "")  # a file for the figures
SAMPLE_S: Final = 0.05
FLOW_S, FLOW_JOBS = 0.25, 250  # a thousand a second
LATENCY_FACTOR_MAX: Final = 2.0
WINDOW_S: Final = min(60.0, MINUTES * 60 / 4)
SIZES: Final = "select pg_table_size('procession.job'), pg_indexes_size('procession.job')"


class Load:
    """Two applications on one database: latencies of samples, and how many jobs of the flow have run."""

    def __init__(self, url: str) -> None:
        self.latencies_ms: list[float] = []
        self.run = self.sent = 0
        self.enqueuing, self.working = Procession(url), Procession(url)
        self.working.job("sample", queue="held", concurrency=50)(self._take_sample)
        self.working.job("flow", queue="held", concurrency=50)(self._run_one)

    async def _take_sample(self, sent_at: float) -> None:
        self.latencies_ms.append((time.perf_counter() - sent_at) * 1000)

    async def _run_one(self) -> None:
        self.run += 1

    async def window(self, seconds: float) -> None:
        """Send for so long, at fixed times."""
        begun, ticks = time.perf_counter(), round(seconds / SAMPLE_S)
        async with asyncio.TaskGroup() as group:
            for tick in range(ticks):
                await asyncio.sleep(max(0.0, begun + tick * SAMPLE_S - time.perf_counter()))
                group.create_task(self._sample())
                if tick % round(FLOW_S / SAMPLE_S) == 0:
                    self.sent += FLOW_JOBS
                    group.create_task(self._flow())

    async def _sample(self) -> None:
        await self.enqueuing.enqueue("sample", {"sent_at": time.perf_counter()}, queue="held")

    async def _flow(self) -> None:
        await self.enqueuing.enqueue_many("flow", [None] * FLOW_JOBS, queue="held")


@pytest.mark.skipif(not MINUTES, reason="takes minutes: `make held`")
@pytest.mark.timeout(MINUTES * 60 + 400)
async def test_a_claim_is_as_quick_beside_a_transaction_that_stays_open_and_tables_do_not_grow_for_ever() -> None:
    with PostgresServer(settings=OWN_SERVER_SETTINGS) as server:
        windows = await watched(server)
    show(windows)
    calm, *held, after = windows
    most = max(LATENCY_FACTOR_MAX * calm["p50_ms"], calm["p50_ms"] + 1)
    assert all(window["p50_ms"] <= most for window in held)
    assert all(window["left"] == 0 for window in windows), "nothing waits longer"
    assert after["table_bytes"] <= held[-1]["table_bytes"] * 1.05, "what is done is used again"


async def watched(server: PostgresServer) -> list[dict[str, Any]]:
    """The windows: calm, held, after."""
    load = Load(server.url())
    watch: Any = await asyncpg.connect(server.url())
    pin: Any = await asyncpg.connect(server.url())
    windows: list[dict[str, Any]] = []

    async def measure(what: str) -> None:
        load.latencies_ms.clear()
        done, used = load.run, processor_seconds(server.pid)
        await load.window(WINDOW_S)
        async with asyncio.timeout(60):
            while load.run < load.sent:  # noqa: ASYNC110 - the handlers count
                await asyncio.sleep(0.01)
        used = processor_seconds(server.pid) - used
        cuts = quantiles(load.latencies_ms, n=100)
        table, indexes = await watch.fetchrow(SIZES)
        windows.append({
            "what": what,
            "p50_ms": round(cuts[49], 2),
            "p99_ms": round(cuts[98], 2),
            "database_us_per_job": round(used * 1e6 / (load.run - done + len(load.latencies_ms)), 1),
            "left": load.sent - load.run,
            "table_bytes": table,
            "index_bytes": indexes,
        })  # fmt: skip

    await load.enqueuing.migrate()
    async with load.enqueuing, load.working:
        await load.window(WINDOW_S / 4)  # warm
        await measure("calm")
        await pin.execute("begin isolation level repeatable read; select pg_current_xact_id()")
        begun = time.perf_counter()
        while time.perf_counter() - begun < MINUTES * 60:
            await measure(f"held, {(time.perf_counter() - begun + WINDOW_S) / 60:.1f} min")
        await pin.execute("commit")
        await watch.execute("vacuum procession.job")
        await measure("after")
    await pin.close()
    await watch.close()
    return windows


def show(windows: list[dict[str, Any]]) -> None:
    """A line for each window, and the file that was asked for."""
    for window in windows:
        print(" ".join(f"{name}={value}" for name, value in window.items()))  # noqa: T201 - asked for with -s
    if OUT:
        result = {"benchmark": "held", "minutes": MINUTES, "environment": msgspec.to_builtins(environment())}
        Path(OUT).write_text(json.dumps({**result, "windows": windows}, indent=1) + "\n")
