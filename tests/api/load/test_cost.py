"""What HTTP costs: the same jobs, 50 at a time, taken and completed in a program and through a server.

Measured is processor time, which does not depend on who else uses the machine: of the process that does it and of the
database, for each job. The client of the server is left out: with the Python API, too, whoever works does so elsewhere.
Program and server are processes of their own, alike in their event loop and in what they have seen before. What a
server does besides while it is asked, such as to count for its pages what the history says, is part of what it costs.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

import aiohttp
import pytest

from procession import Procession
from procession.api.tally import Tally
from procession.lab._processor import processor_seconds
from procession.testing.bpmn import process
from tests.api.load.child import served
from tests.api.load.figures import keep
from tests.api.load.offer import JOB_TYPE, PROCESS_ID, VARIABLES
from tests.api.load.program import RESULT, Work, drain

JOBS = int(os.environ.get("COST_JOBS", "400"))  # of each way and round
IS_MEASURED = "COST_JOBS" in os.environ
ROUNDS = int(os.environ.get("COST_ROUNDS", "3"))
SHARE_MAX = 0.25  # of the throughput, that HTTP may cost
PROGRAM, TOGETHER, EACH = "in the program", "endings together", "each completion"

PARCEL = process(PROCESS_ID).start("begin").service("print", type=JOB_TYPE).end("done").xml()


class Cost(NamedTuple):
    """Microseconds of a processor for each job."""

    process: float
    database: float

    @property
    def both(self) -> float:
        return self.process + self.database


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
    assert await Tally(app.rows).catch_up(10 + JOBS)  # a server counts for its pages: these starts are none of its work


async def by_a_program(database: str, database_pid: int) -> Cost:
    """What it costs a program."""
    process_ = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.api.load.program", database, str(JOBS)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert await asyncio.wait_for(process_.stdout.readline(), 30) == b"ready\n"
        before = processor_seconds(database_pid)
        process_.stdin.write(b"go\n")
        told = json.loads(await asyncio.wait_for(process_.stdout.readline(), 90))
        spent = processor_seconds(database_pid) - before
        await asyncio.wait_for(process_.wait(), 30)
    finally:
        if process_.returncode is None:
            process_.kill()
            await process_.wait()
    return cost_of(told["cpu_s"], spent)


async def by_a_server(database: str, database_pid: int, *, together: bool) -> Cost:
    """What it costs a server that is asked over HTTP."""
    async with served(database) as child, aiohttp.ClientSession(child.url) as session:
        before = child.cpu_s, processor_seconds(database_pid)
        await drain(over_http(session, together=together), JOBS)
        return cost_of(child.cpu_s - before[0], processor_seconds(database_pid) - before[1])


def cost_of(process_s: float, database_s: float) -> Cost:
    return Cost(process_s * 1e6 / JOBS, database_s * 1e6 / JOBS)


def words_of(middle: dict[str, Cost]) -> str:
    """What was found, for people."""
    lines = [
        f"  {name:<18} {cost.process:6.0f} + {cost.database:4.0f} µs = {cost.both:6.0f} µs of a processor for a job"
        for name, cost in middle.items()
    ]
    lines += [f"  {way} cost {share(middle, way):.0%} of the throughput {PROGRAM}" for way in (TOGETHER, EACH)]
    return "\n".join(lines)


def share(middle: dict[str, Cost], way: str) -> float:
    """How much of the throughput a way costs."""
    return 1 - middle[PROGRAM].both / middle[way].both


@pytest.mark.overload
@pytest.mark.skipif(not IS_MEASURED, reason="it measures for minutes: `make overload`")
@pytest.mark.timeout(600)
async def test_http_costs_little_where_jobs_go_fifty_at_a_time(postgres_url, postgres_databases, capsys):
    pid = postgres_databases.server.pid
    ways: list[tuple[str, Callable]] = [
        (PROGRAM, lambda: by_a_program(postgres_url, pid)),
        (TOGETHER, lambda: by_a_server(postgres_url, pid, together=True)),
        (EACH, lambda: by_a_server(postgres_url, pid, together=False)),
    ]
    costs: dict[str, list[Cost]] = {name: [] for name, _ in ways}
    for number in range(ROUNDS):
        for name, way in ways[number:] + ways[:number]:  # none is always the first on a fresh table
            async with opened(postgres_url) as app:
                await app.deploy(("parcel.bpmn", PARCEL))
                await fill(app)
            costs[name].append(await way())
    middle = {name: sorted(found, key=lambda cost: cost.both)[len(found) // 2] for name, found in costs.items()}
    with capsys.disabled():
        print("\n" + words_of(middle))  # noqa: T201 - `make overload` says it
    keep("server-http-cost", {name: [cost._asdict() for cost in found] for name, found in costs.items()})
    assert share(middle, TOGETHER) <= SHARE_MAX
