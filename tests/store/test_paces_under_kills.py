"""A pace holds over processes that are killed: what came due while nobody lived starts at the pace, not at once.

The starts are written down by the first line of the handlers. While all processes are dead, more starts come due than a
window of the pace has room for: a program that only kept to the times promised on insert would start them together.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from procession import Limit, Procession
from procession.testing.conformance.limiting import most_in

RATE, PER_MS, BURST = 20, 500, 2
STALL_S = 1.2  # about 48 starts come due, and a window has room for 22
CLOCK_MS = 5  # between the moment that is checked and the one that is written down


@asynccontextmanager
async def worker(url: str, log: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    arguments = (sys.executable, "-m", "tests.store.paced_worker", url, str(log))
    process = await asyncio.create_subprocess_exec(*arguments)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def starts_in(log: Path) -> list[tuple[int, float]]:
    """(the job's number, when its run began in milliseconds)."""
    lines = [line.split() for line in log.read_text().splitlines() if line != "ready"]
    return [(int(number), int(at) / 1_000) for number, at in lines]


async def until_started(log: Path, count: int) -> None:
    """Until so many jobs have begun: other processes give no signal that could be awaited."""
    async with asyncio.timeout(60):
        while len({number for number, _ in starts_in(log)}) < count:  # noqa: ASYNC110 - see above
            await asyncio.sleep(0.02)


async def run_under_kills(url: str, log: Path, *, jobs: int, workers: int, kills: int, last: int = 0) -> None:
    """Let all processes live for a part of the jobs, then kill them all, and let starts come due meanwhile.

    ``last``: so many need not have run at its end, for the dead are found to be dead only after a while.
    """
    log.touch()  # noqa: ASYNC240 - nobody else is on this loop
    app = await Procession(url).open(run_workers=False, migrate=True)
    limit = Limit("api", rate=RATE, per=f"{PER_MS}ms", burst=BURST)
    await app.enqueue_many("call", [{"number": n} for n in range(jobs)], queue="paced", limits=[limit])
    await app.close()
    for lives in range(1, kills + 2):
        async with AsyncExitStack() as alive:
            for _ in range(workers):
                await alive.enter_async_context(worker(url, log))
            await until_started(log, jobs * lives // (kills + 1) - last)
        if lives <= kills:
            await asyncio.sleep(STALL_S)
    starts = starts_in(log)
    moments = sorted(at for _, at in starts)
    assert most_in([round(at) for at in moments], PER_MS - CLOCK_MS) <= RATE + BURST
    assert len({number for number, _ in starts}) >= jobs - last


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/paced.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")


async def test_a_pace_holds_after_the_only_process_was_killed(tmp_path: Path) -> None:
    await run_under_kills(f"sqlite:///{tmp_path}/paced.db", tmp_path / "starts", jobs=70, workers=1, kills=1, last=8)


@pytest.mark.kill
@pytest.mark.timeout(300)
async def test_a_pace_holds_while_processes_are_killed_again_and_again(url: str, tmp_path: Path) -> None:
    await run_under_kills(url, tmp_path / "starts", jobs=600, workers=3, kills=4)
