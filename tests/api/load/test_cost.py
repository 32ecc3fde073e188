"""What HTTP costs: the same jobs, 50 at a time, taken and completed in the program and through a server.

Measured is processor time, which does not depend on who else uses the machine: of the process that does it and of the
database, for each job. The client of the server is left out: with the Python API, too, whoever works does so elsewhere.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

import aiohttp
import pytest

from procession import Procession
from procession.lab._processor import processor_seconds
from procession.testing.bpmn import process
from tests.api.load.child import served
from tests.api.load.offer import VARIABLES

JOBS = int(os.environ.get("COST_JOBS", "400"))  # of each way and round
IS_MEASURED = "COST_JOBS" in os.environ
ROUNDS = int(os.environ.get("COST_ROUNDS", "3"))
BATCH = 50
WORKERS = 4
SHARE_MAX = 0.25  # of the throughput, that HTTP may cost

PARCEL = process("parcel").start("begin").service("print", type="print-label").end("done").xml()
RESULT = {"label": "L-1"}

Work = Callable[[int], Awaitable[int]]  # take so many and complete them: how many there were


class Cost(NamedTuple):
    """Microseconds of a processor for each job."""

    process: float
    database: float

    @property
    def both(self) -> float:
        return self.process + self.database


async def drain(work: Work, jobs: int) -> None:
    """Several workers at once until all is done, and no more than that."""
    left = [jobs]

    async def run() -> None:
        while left[0] > 0:
            count = min(BATCH, left[0])
            left[0] -= count
            done = await work(count)
            left[0] += count - done

    async with asyncio.timeout(60):
        await asyncio.gather(*(run() for _ in range(WORKERS)))


def in_program(app: Procession) -> Work:
    async def work(count: int) -> int:
        jobs = await app.activate_jobs("print-label", count=count, timeout="60s", wait=0.2)
        await asyncio.gather(*(app.complete_job(job.job_key, RESULT, lease=job.lease) for job in jobs))
        return len(jobs)

    return work


def over_http(session: aiohttp.ClientSession, *, together: bool) -> Work:
    poll = {"type": "print-label", "timeout": 60_000, "requestTimeout": 200, "withLease": together}

    async def complete(job: dict) -> None:
        async with session.post(f"/v2/jobs/{job['jobKey']}/completion", json={"variables": RESULT}) as answer:
            assert answer.status == 204, await answer.text()

    async def work(count: int) -> int:
        async with session.post("/v2/jobs/activation", json={**poll, "maxJobsToActivate": count}) as answer:
            jobs = (await answer.json())["jobs"]
        if not together:
            await asyncio.gather(*map(complete, jobs))
        elif jobs:
            ends = [
                {"jobKey": job["jobKey"], "variables": RESULT, "jobLeaseToken": job["jobLeaseToken"]} for job in jobs
            ]
            async with session.post("/api/jobs/endings", json={"completions": ends}) as answer:
                results = (await answer.json())["results"]
                assert {each["status"] for each in results} == {204}, results
        return len(jobs)

    return work


@asynccontextmanager
async def opened(database: str) -> AsyncIterator[Procession]:
    app = await Procession(database).open(migrate=True)
    try:
        yield app
    finally:
        await app.close()


async def fill(app: Procession) -> None:
    for _ in range(0, JOBS, 200):
        await asyncio.gather(*(app.start("parcel", VARIABLES) for _ in range(200)))


@pytest.mark.overload
@pytest.mark.skipif(not IS_MEASURED, reason="it measures for minutes: `make overload`")
@pytest.mark.timeout(600)
async def test_http_costs_little_where_jobs_go_fifty_at_a_time(postgres_url, postgres_databases, capsys):
    database_pid = postgres_databases.server.pid
    costs: dict[str, list[Cost]] = {}

    async def measure(name: str, cpu_s: Callable[[], float], work: Work) -> None:
        before = cpu_s(), processor_seconds(database_pid)
        await drain(work, JOBS)
        spent = cpu_s() - before[0], processor_seconds(database_pid) - before[1]
        costs.setdefault(name, []).append(Cost(*(each * 1e6 / JOBS for each in spent)))

    async def in_the_program() -> None:
        async with opened(postgres_url) as app:  # one that has not seen the instances, as a server has not
            await measure("in the program", time.process_time, in_program(app))

    async def over(name: str, *, together: bool) -> None:
        async with served(postgres_url) as child, aiohttp.ClientSession(child.url) as session:
            await measure(name, lambda: child.cpu_s, over_http(session, together=together))

    ways = [
        in_the_program,
        lambda: over("endings together", together=True),
        lambda: over("each completion", together=False),
    ]
    for number in range(ROUNDS):
        for way in ways[number % 3 :] + ways[: number % 3]:  # none is always the first on a fresh table
            async with opened(postgres_url) as app:
                await app.deploy(("parcel.bpmn", PARCEL))
                await fill(app)
            await way()

    with capsys.disabled():
        print()  # noqa: T201 - `make overload` says it
        for name, found in costs.items():
            process_us, database_us, both_us = (
                sorted(values)[len(values) // 2] for values in zip(*((*c, c.both) for c in found), strict=True)
            )
            print(  # noqa: T201 - as above
                f"  {name:<18} {process_us:6.0f} + {database_us:4.0f} µs = {both_us:6.0f} µs of a processor for a job"
            )
    middle = {name: sorted(cost.both for cost in found)[len(found) // 2] for name, found in costs.items()}
    assert 1 - middle["in the program"] / middle["endings together"] <= SHARE_MAX
