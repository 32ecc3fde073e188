"""Three times as many starts as the server can take: what ends work keeps its pace, and every refusal says why.

The server is a process of its own. First starters that wait for their answers find out how many it takes beside its
workers; a part of that is what it sustains. Then so many starts are sent a second, and three times as many, in turns,
whether or not those before were answered: what else the machine does meanwhile falls on both alike.

Where fewer were sent than meant the result means nothing, and the test fails for that.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import aiohttp
import pytest

from procession.lab._processor import processor_seconds
from tests.api.load.child import Child, served
from tests.api.load.client import Connection, Reply, connected, written
from tests.api.load.test_cost import PARCEL, VARIABLES, opened

SECONDS = float(os.environ.get("OVERLOAD_SECONDS", "1"))  # of each phase
IS_MEASURED = "OVERLOAD_SECONDS" in os.environ
TURNS = 5  # of each of the two rates
TIMES = 3
SUSTAINED = 0.8  # of what starters that wait for their answers get: more than that, and a queue only grows
STARTERS = 48
WORKERS = 4
BATCH = 25
CONNECTIONS = 1_200  # for starts; where all wait for an answer none is sent: 300 left out half of the offer
SENT_MIN = 0.9  # of the starts that are meant to be sent
KEPT_MIN = 0.9  # of the rate of completions
FLOWING_MIN = 0.5  # of the rate of starts
GROWTH_BYTES_MAX = 96 * 1024 * 1024  # of the server's memory from one second of overload to its end
REASONS = {"commands-in-flight"}

START = written("/v2/process-instances", {"processDefinitionId": "parcel", "variables": VARIABLES})
POLL = written(
    "/v2/jobs/activation",
    {"type": "print-label", "timeout": 60_000, "maxJobsToActivate": BATCH, "requestTimeout": 200},
)


class Counts:
    """What happened in some seconds."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.statuses: Counter[int] = Counter()  # of starts
        self.reasons: Counter[str] = Counter()
        self.silent = 0  # refusals that lack a reason, a limit, or when to come again
        self.unsent = 0
        self.completed = 0
        self.cpu_s = {"server": 0.0, "database": 0.0, "clients": 0.0}
        self.slowest_s = 0.0  # of what ends work

    @property
    def sent_rate(self) -> float:
        return self.statuses.total() / self.seconds

    @property
    def started_rate(self) -> float:
        return self.statuses[200] / self.seconds

    @property
    def completed_rate(self) -> float:
        return self.completed / self.seconds

    def __str__(self) -> str:
        shares = ", ".join(f"{name} {spent / self.seconds:.0%}" for name, spent in self.cpu_s.items())
        return (
            f"{self.started_rate:5.0f} started, {self.completed_rate:5.0f} completed, "
            f"{self.statuses[503] / self.seconds:5.0f} refused, {self.unsent / self.seconds:3.0f} unsent a second; "
            f"endings within {self.slowest_s * 1000:3.0f} ms; of a processor: {shares}"
        )


class Load:
    """Starters and workers of one server."""

    def __init__(self, child: Child, connections: list[Connection], database_pid: int) -> None:
        self._child = child
        self._starting, self._working = connections[:CONNECTIONS], connections[CONNECTIONS:]
        self._database_pid = database_pid

    async def run(self, counts: Counts, rate: float = 0.0) -> None:
        """So many starts a second, 0: as fast as those who wait for the answer can; with workers beside."""
        loop = asyncio.get_running_loop()
        before, began = self._spent(), loop.time()
        until = began + SECONDS
        starting = [self._offer(counts, rate, until)] if rate else self._start_on(counts, until)
        async with asyncio.timeout(SECONDS * 3 + 30):
            await asyncio.gather(*starting, *(self._work(each, counts, until) for each in self._working))
        counts.seconds += SECONDS
        for name, spent in self._spent().items():
            counts.cpu_s[name] += spent - before[name]
        await self._drain()

    async def _drain(self) -> None:
        """End what is left, uncounted: each phase begins with nothing that another one has left to it."""
        async with asyncio.timeout(60):
            while await self._work_once(self._working[0], Counts()):
                pass

    def _spent(self) -> dict[str, float]:
        database = processor_seconds(self._database_pid) if self._database_pid else 0.0
        return {"server": self._child.cpu_s, "database": database, "clients": time.process_time()}

    async def _offer(self, counts: Counts, rate: float, until: float) -> None:
        loop = asyncio.get_running_loop()
        began, sent, free = loop.time(), 0, list(self._starting)
        open_: set[asyncio.Future[Reply]] = set()

        def answered(connection: Connection, reply: asyncio.Future[Reply]) -> None:
            free.append(connection)
            open_.discard(reply)
            _count(counts, reply.result())

        while (now := loop.time()) < until:
            due = int((now - began) * rate)
            for _ in range(due - sent):
                if not free:
                    counts.unsent += 1
                    continue
                connection = free.pop()
                reply = connection.ask(START)
                open_.add(reply)
                reply.add_done_callback(lambda done, used=connection: answered(used, done))
            sent = due
            await asyncio.sleep(0.004)
        while open_:
            await asyncio.wait(open_)

    def _start_on(self, counts: Counts, until: float) -> list:
        async def run(connection: Connection) -> None:
            while asyncio.get_running_loop().time() < until:
                _count(counts, await connection.ask(START))

        return [run(connection) for connection in self._starting[:STARTERS]]

    async def _work(self, connection: Connection, counts: Counts, until: float) -> None:
        loop = asyncio.get_running_loop()
        while loop.time() < until:
            ended = await self._work_once(connection, counts)
            counts.completed += ended if loop.time() < until else 0

    async def _work_once(self, connection: Connection, counts: Counts) -> int:
        """Take some jobs and end them: how many."""
        loop = asyncio.get_running_loop()
        reply = await connection.ask(POLL)
        assert reply.status == 200, reply.body
        jobs = reply.document["jobs"]
        if not jobs:
            return 0
        ends = {"completions": [{"jobKey": job["jobKey"], "variables": {"label": "L-1"}} for job in jobs]}
        began = loop.time()
        reply = await connection.ask(written("/api/jobs/endings", ends))
        counts.slowest_s = max(counts.slowest_s, loop.time() - began)
        assert reply.status == 200, reply.body
        results = reply.document["results"]
        assert {each["status"] for each in results} <= {204}, results
        return len(jobs)


def _count(counts: Counts, reply: Reply) -> None:
    """What became of a start."""
    counts.statuses[reply.status] += 1
    if reply.status != 503:
        return
    document = reply.document
    counts.reasons[document.get("reason", "")] += 1
    counts.silent += not ({"reason", "limit", "current"} <= document.keys() and b"retry-after: " in reply.head.lower())


@asynccontextmanager
async def loaded(url: str, database_pid: int) -> AsyncIterator[tuple[Child, Load]]:
    """A server in a process of its own that knows the process, and those who will load it."""
    async with opened(url):
        pass  # its schema is there then
    async with served(url) as child, connected(child.url, CONNECTIONS + WORKERS) as connections:
        async with aiohttp.ClientSession(child.url) as session:
            form = aiohttp.FormData()
            form.add_field("resources", PARCEL, filename="parcel.bpmn")
            async with session.post("/v2/deployments", data=form) as answer:
                assert answer.status == 200, await answer.text()
        yield child, Load(child, connections, database_pid)


class Database(NamedTuple):
    """Where a server keeps what it has."""

    store: str
    url: str
    pid: int  # of its server; 0: there is none


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    """Made before the test's event loop runs: to make one of PostgreSQL's runs a loop of its own."""
    if request.param == "sqlite":
        return Database("sqlite", f"sqlite:///{tmp_path / 'shop.db'}", 0)
    url: str = request.getfixturevalue("postgres_url")
    return Database("postgres", url, request.getfixturevalue("postgres_databases").server.pid)


@pytest.mark.overload
@pytest.mark.skipif(not IS_MEASURED, reason="it loads for many seconds: `make overload`")
@pytest.mark.timeout(300)
async def test_under_three_times_too_many_starts_work_is_ended_as_before_and_refusals_say_why(database, capsys):
    """It fails today: on SQLite completions kept 68 to 79 % of their rate, not 90 %, as ``docs/server.md`` says."""
    store = database.store
    found, alone, crowded = Counts(), Counts(), Counts()
    memory: list[int] = []
    async with loaded(database.url, database.pid) as (child, load):
        await load.run(Counts())  # warm
        await load.run(found)
        sustained = SUSTAINED * min(found.started_rate, found.completed_rate)
        for _ in range(TURNS):
            await load.run(alone, sustained)
            await load.run(crowded, sustained * TIMES)
            memory.append(child.memory_bytes)
    with capsys.disabled():
        for name, phase in (("waited for", found), ("sustained", alone), (f"{TIMES} times", crowded)):
            print(f"\n  {store:<8} {name:<10} {phase}", end="")  # noqa: T201 - `make overload` says it
        kept = crowded.completed_rate / alone.completed_rate
        flowing = crowded.started_rate / alone.started_rate
        mib = [size / 2**20 for size in memory]
        print(  # noqa: T201 - as above
            f"\n  {store:<8} kept: {kept:.0%} of completions, {flowing:.0%} of starts; "
            f"memory {mib[0]:.0f} MiB, at most {max(mib):.0f} MiB; reasons {dict(crowded.reasons)}"
        )
    assert alone.sent_rate >= SENT_MIN * sustained
    assert crowded.sent_rate >= SENT_MIN * TIMES * sustained
    assert set(crowded.statuses) <= {200, 503}
    assert set(crowded.reasons) <= REASONS
    assert crowded.silent == 0
    assert max(memory) - memory[0] < GROWTH_BYTES_MAX
    assert crowded.statuses[503] > 0
    assert crowded.statuses[200] >= FLOWING_MIN * alone.statuses[200] > 0
    assert crowded.completed >= KEPT_MIN * alone.completed
