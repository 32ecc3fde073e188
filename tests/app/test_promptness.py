"""In an otherwise idle process a job begins when its own insert is durable: within one commit, without a poll.

Polls are a minute apart here, so whatever needed one would not begin. What is asked of the database between the call of
``enqueue`` and the handler's first line is counted, not timed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, closing
from pathlib import Path

import pytest

from procession import Procession, Settings
from procession.store.sqlite import SqliteStore
from tests.store.postgres.wire import Wire
from tests.support import mariadb
from tests.support.counting import statements_of

QUIET = Settings(claim_poll_ms_min=60_000, claim_poll_ms_max=60_000, heartbeat_ms=60_000, dead_after_ms=600_000)
WARM, JOBS = 3, 15
LONGEST_S = 60.0
TURNS_MAX = 1_000_000  # of the loop
# A duty of the process, a commit every few seconds, may fall between a call and its handler: not into most of them.
OFTEN = JOBS * 2 // 3

Count = Callable[[], int]


@pytest.fixture
async def counted(url: str, tmp_path: Path) -> AsyncIterator[tuple[Procession, Count]]:
    """An application with one handler, at work, and how many commits there were until now."""
    (tmp_path / "a b").mkdir(exist_ok=True)
    async with AsyncExitStack() as stack:
        count: Count = int
        if url.startswith("postgresql"):
            wire = await stack.enter_async_context(Wire(url))
            url, count = (
                wire.url,
                lambda: wire.round_trips,
            )  # an insert of jobs is one statement, and so one transaction
        if url.startswith("mysql"):
            cursor = stack.enter_context(closing(mariadb.connect(url, autocommit=True))).cursor()

            def commits() -> int:
                cursor.execute("show global status like 'Com_commit'")
                return int(cursor.fetchone()[1])

            count = commits
        app = Procession(url, settings=QUIET)
        stack.push_async_callback(app.close)
        yield app, count


async def ended(app: Procession, count: int) -> None:
    """So many ends of runs are durable."""
    for _ in range(TURNS_MAX):
        if app.counters.jobs_done >= count:
            return
        await asyncio.sleep(0)
    pytest.fail(f"{count - app.counters.jobs_done} runs did not end")


async def test_a_job_begins_within_the_commit_of_its_own_insert(counted: tuple[Procession, Count]) -> None:
    app, count = counted
    begun: asyncio.Queue[int] = asyncio.Queue()

    @app.job("send")
    async def send() -> None:
        begun.put_nowait(count())

    await app.open(migrate=True)
    if isinstance(app._store, SqliteStore):
        executed = statements_of(app._store, "COMMIT")
        count = executed  # what the handler reads, too
    for _ in range(WARM):  # they also make connections and take keys
        await app.enqueue("send")
        await begun.get()
    handed_over, claimed = app.counters.handed_over, app.counters.claimed
    took: list[int] = []
    async with asyncio.timeout(LONGEST_S):
        for number in range(JOBS):
            await ended(app, WARM + number)
            before = count()
            await app.enqueue("send")
            took.append(await begun.get() - before)
    asked = 0 if app.url.startswith("memory") else 1
    assert (app.counters.handed_over - handed_over, app.counters.claimed - claimed) == (JOBS, 0)
    assert min(took) >= asked
    assert took.count(asked) >= OFTEN, took
