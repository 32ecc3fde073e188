"""Limits that four working processes share while one after the other is killed: through the application, as users do.

At no moment do more jobs of a key run than its maximum, in no window of ``per`` begin more than rate + burst, no job is
lost, and none runs more often than its one attempt plus the runs in processes that were killed. Beside the limited jobs
the same queue has others that fill the slots and hold the loops up, threads ignore their timeouts, and now and then
somebody holds the rows of all limits for a second.
``CHAOS_LIMITED_JOBS``, ``CHAOS_LIMITED_KILLS`` and ``CHAOS_SEED`` choose another run.
"""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
import subprocess
import time
from collections import Counter, defaultdict
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import psycopg
import pymysql
import pytest

from procession import Limit, Procession
from tests.chaos.herd import Herd, Pace
from tests.chaos.ledger import Ledger, read
from tests.chaos.limited import PATIENT, application
from tests.chaos.scene import SEED
from tests.support.servers import SERVERS

WORKERS = 4
JOBS = int(os.environ.get("CHAOS_LIMITED_JOBS", "400"))
KILLS = int(os.environ.get("CHAOS_LIMITED_KILLS", "8"))
LONGEST_S = 90 + JOBS / 10 + KILLS * 5
LOOK_S = 0.05
PACE_S = (0.7, 1.5)
PER_S = 2.0
# Between the look at the clock that lets a handler begin and its first line the machine may run somebody else.
SLACK_S = 0.02
HELD_S = 1.0  # for so long somebody holds the rows of all limits
STUBBORN = Limit("stubborn", most=1)
STUBBORN_JOBS = 12
LIMITS = [
    *(Limit(f"most-{most}-{number}", most=most) for number, most in enumerate((1, 1, 1, 2, 3))),
    *(Limit(f"rate-{rate}", rate=rate, per=PER_S, burst=2) for rate in (6, 10, 16)),
    *(Limit(f"both-{most}", most=most, rate=10, per=PER_S, burst=3) for most in (1, 2)),
]
RULES = [*LIMITS, STUBBORN]

pytestmark = pytest.mark.kill


class Run(NamedTuple):
    """A handler at work; it ended when it said so or when its process was killed."""

    job: int
    key: str
    process: int
    began: int
    ended: int


@pytest.fixture(params=["sqlite", *SERVERS])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database that several processes work on."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'limits.db'}"
    return request.getfixturevalue(f"{request.param}_url")


@pytest.mark.timeout(LONGEST_S + 120)
def test_limits_hold_while_processes_are_killed(url: str, tmp_path: Path):
    asyncio.run(fill(url, tmp_path))
    with Herd(url, tmp_path) as herd:
        killed = drain(herd)
    runs = runs_of(read(tmp_path / "runs"), killed)
    found = [*too_many_at_once(runs), *too_fast(runs), *too_often(runs, set(killed))]
    found += asyncio.run(what_is_left(url, tmp_path))
    assert len({run.job for run in runs}) == JOBS + STUBBORN_JOBS
    assert not found, f"seed {SEED}, {len(killed)} kills, {len(found)} differences:\n" + "\n".join(found[:20])


async def fill(url: str, folder: Path) -> None:
    """The jobs, in equal numbers for each key."""
    app = await application(url, Ledger(folder / "unused")).open(run_workers=False, migrate=True)
    for number, limit in enumerate(LIMITS):
        count = len(range(number, JOBS, len(LIMITS)))
        await app.enqueue_many("limited", [{"key": limit.key}] * count, limits=limit)
        await app.enqueue_many("filling", [{}] * (JOBS // len(LIMITS)))
        await app.enqueue_many("stalling", [{}] * (JOBS // len(LIMITS) // 5))
    await app.enqueue_many("stubborn", [{"key": STUBBORN.key}] * STUBBORN_JOBS, limits=STUBBORN)
    await app.close()


def drain(herd: Herd) -> dict[int, int]:
    """Work with kills, then without, until every job has run to its end; who was killed, and when."""
    chance = random.Random(SEED)
    pace = Pace(chance, *PACE_S)
    killed: dict[int, int] = {}
    workers = [herd.launch("limited", herd.runs) for _ in range(WORKERS)]
    deadline = time.monotonic() + LONGEST_S
    while len(killed) < KILLS or left(herd.url):
        herd.check()
        assert time.monotonic() < deadline, f"{left(herd.url)} jobs are left:\n{herd.log('limited')}"
        if len(killed) < KILLS and pace.is_due and has_begun(herd):
            victim = chance.randrange(WORKERS)
            killed[workers[victim].pid] = time.monotonic_ns()
            herd.kill(workers[victim])
            workers[victim] = herd.launch("limited", herd.runs)
            pace.reset()
            if len(killed) % 3 == 1:
                hold_limits(herd.url)
        time.sleep(LOOK_S)
    stop(herd, workers)
    return killed


def hold_limits(url: str) -> None:
    """Lock the rows of all limits for a while, as a slow transaction of somebody else does."""
    with closing(connect(url)) as connection:
        cursor = connection.cursor()
        if url.startswith("sqlite"):
            cursor.execute("BEGIN IMMEDIATE")
        elif url.startswith("mysql"):
            cursor.execute("SELECT `key` FROM procession_limit ORDER BY `key` FOR UPDATE")
        else:
            cursor.execute("select key from procession.limits order by key for update")
        time.sleep(HELD_S)
        connection.rollback()


def connect(url: str) -> Any:
    """A connection that is not ours."""
    if url.startswith("sqlite"):
        return sqlite3.connect(url.removeprefix("sqlite:///"), timeout=10, isolation_level=None)
    if url.startswith("mysql"):
        parts = urlsplit(url)
        where = {"host": parts.hostname, "port": parts.port or 3306, "database": parts.path.strip("/")}
        return pymysql.connect(**where, user=unquote(parts.username or ""), password=unquote(parts.password or ""))
    return psycopg.connect(url)


def has_begun(herd: Herd) -> bool:
    """Whether somebody works already: a kill before that proves nothing."""
    return herd.runs.exists() and herd.runs.stat().st_size > 0


def stop(herd: Herd, workers: list[subprocess.Popen[bytes]]) -> None:
    for worker in workers:
        herd.stop(worker)


def left(url: str) -> int:
    """How many jobs are not over."""

    async def count() -> int:
        app = await Procession(url, settings=PATIENT).open(run_workers=False)
        try:
            return sum(count for (_, state), count in (await app.count_jobs()).items() if state != "FAILED")
        finally:
            await app.close()

    return asyncio.run(count())


async def what_is_left(url: str, folder: Path) -> list[str]:
    """What the database says is not as it should be: jobs, slots that are taken, what the sweep repairs."""
    app = await application(url, Ledger(folder / "unused")).open(run_workers=False)
    found = [
        f"left: {job.type} {job.state} {job.error_message}"
        for job in await app.jobs()
        if (job.type, job.state) != ("stubborn", "FAILED")
    ]
    found += [f"a slot of {limit.key} is taken by nobody" for limit in await app.limits() if limit.used]
    found += [f"the sweep repaired {what}: {count}" for what, count in (await app.sweep()).items() if count]
    await app.close()
    return found


def runs_of(lines: list[list[str]], killed: dict[int, int]) -> list[Run]:
    """Runs with their ends: a job runs once at a time in one process."""
    ends = {(job, process): int(at) for what, job, _, process, at in lines if what == "ended"}
    never = 1 << 63
    return [
        Run(int(job), key, int(process), int(at), ends.get((job, process), killed.get(int(process), never)))
        for what, job, key, process, at in lines
        if what == "began"
    ]


def too_many_at_once(runs: list[Run]) -> list[str]:
    """Keys by which more ran at once than their maximum."""
    most = {limit.key: limit.most for limit in RULES if limit.most}
    events = sorted(event for run in runs for event in ((run.began, 1, run.key), (run.ended, -1, run.key)))
    running: Counter[str] = Counter()
    found: list[str] = []
    for at, change, key in events:
        running[key] += change
        if running[key] > most.get(key, len(runs)):
            found.append(f"{running[key]} at once by {key} at {at}")
    return found


def too_fast(runs: list[Run]) -> list[str]:
    """Keys by which more began in a window than rate + burst."""
    starts: dict[str, list[int]] = defaultdict(list)
    for run in sorted(runs, key=lambda run: run.began):
        starts[run.key].append(run.began)
    found: list[str] = []
    for limit in LIMITS:
        bound, window = limit.rate + limit.burst, (PER_S - SLACK_S) * 1e9
        for first, last in zip(starts[limit.key], starts[limit.key][bound:], strict=False):
            if limit.rate and last - first < window:
                found.append(f"{bound + 1} began by {limit.key} within {(last - first) / 1e9:.2f} s")
    return found


def too_often(runs: list[Run], killed: set[int]) -> list[str]:
    """Jobs with more than one run in processes that lived."""
    lived = Counter(run.job for run in runs if run.process not in killed)
    return [f"job {job} ran {count} times in processes that lived" for job, count in lived.items() if count > 1]
