"""A program that takes jobs and completes them by the Python API, as a process of its own: see ``test_cost``.

It says that it is ready, waits for a line, does the work, and says what that cost. It runs in the same loop, with the
same collector of cycles, as ``procession serve`` does.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable

from procession import Procession
from procession.cli.serving import run_loop, settle
from tests.api.load.offer import JOB_TYPE

BATCH = 50
WORKERS = 8
RESULT = {"label": "L-1"}

Work = Callable[[int], Awaitable[int]]  # take so many and complete them: how many there were


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
        jobs = await app.activate_jobs(JOB_TYPE, count=count, timeout="60s", wait=0.2)
        await asyncio.gather(*(app.complete_job(job.job_key, RESULT, lease=job.lease) for job in jobs))
        return len(jobs)

    return work


async def main(database: str, jobs: int) -> None:
    """Work once."""
    async with Procession(database) as app:
        settle()
        print("ready", flush=True)  # noqa: T201 - to whoever started it
        await asyncio.to_thread(sys.stdin.readline)
        before = time.process_time()
        await drain(in_program(app), jobs)
        print(json.dumps({"cpu_s": time.process_time() - before}), flush=True)  # noqa: T201 - as above


if __name__ == "__main__":
    run_loop(main(sys.argv[1], int(sys.argv[2])))
