"""Starters and workers of one server, and what became of what they asked: counts of some seconds."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque

from procession.lab._processor import processor_seconds
from tests.api.load.child import Child
from tests.api.load.client import Connection, Reply, written

WORKERS = 8
BATCH = 25
CONNECTIONS = 1_200  # for starts; where all wait for an answer none is sent: 300 left out half of the offer
STARTERS = 48  # of those who wait for their answers
PROCESS_ID, JOB_TYPE = "parcel", "print-label"
VARIABLES = {"orderId": "A-17", "customer": {"name": "Oslo & Sons", "tier": "gold"}, "amount": 12.5}

START = written("/v2/process-instances", {"processDefinitionId": PROCESS_ID, "variables": VARIABLES})
POLL = written(
    "/v2/jobs/activation",
    {"type": JOB_TYPE, "timeout": 60_000, "maxJobsToActivate": BATCH, "requestTimeout": 200},
)


class Counts:
    """What happened in some seconds."""

    def __init__(self, meant: float = 0.0) -> None:
        self.meant = meant  # starts a second
        self.seconds = 0.0
        self.statuses: Counter[int] = Counter()  # of starts
        self.reasons: Counter[str] = Counter()
        self.silent = 0  # refusals that lack a reason, a limit, or when to come again
        self.unsent = 0
        self.late = 0  # starts that were accepted within the seconds and answered after them
        self.completed = 0
        self.cpu_s = {"server": 0.0, "database": 0.0, "clients": 0.0}
        self.waited_s = 0.0  # of the server's loop, for a processor
        self.slowest_s = 0.0  # of what ends work

    @property
    def sent_rate(self) -> float:
        return self.statuses.total() / self.seconds

    @property
    def started_rate(self) -> float:
        return (self.statuses[200] - self.late) / self.seconds

    @property
    def completed_rate(self) -> float:
        return self.completed / self.seconds

    @property
    def refused_rate(self) -> float:
        return self.statuses[503] / self.seconds

    def figures(self) -> dict[str, object]:
        """As a file says them."""
        return {
            "meant": round(self.meant),
            "started": round(self.started_rate),
            "completed": round(self.completed_rate),
            "refused": round(self.refused_rate),
            "unsent": round(self.unsent / self.seconds),
            "endings within ms": round(self.slowest_s * 1000),
            "of a processor": {name: round(spent / self.seconds, 2) for name, spent in self.cpu_s.items()},
            "waited for a processor": round(self.waited_s / self.seconds, 2),
        }

    def __str__(self) -> str:
        shares = ", ".join(f"{name} {spent / self.seconds:.0%}" for name, spent in self.cpu_s.items() if spent)
        return (
            f"{self.started_rate:5.0f} started, {self.completed_rate:5.0f} completed, "
            f"{self.refused_rate:5.0f} refused, {self.unsent / self.seconds:3.0f} unsent a second; "
            f"endings within {self.slowest_s * 1000:3.0f} ms; of a processor: {shares}; "
            f"the server's loop waited for one {self.waited_s / self.seconds:.0%} of the time"
        )


class Offer:
    """Starts and work for one server, over connections that stay."""

    def __init__(self, child: Child, connections: list[Connection], database_pid: int) -> None:
        self._child = child
        self._starting, self._working = connections[:CONNECTIONS], connections[CONNECTIONS:]
        self._database_pid = database_pid

    async def run(self, seconds: float, rate: float = 0.0) -> Counts:
        """So many starts a second, 0: as fast as those who wait for the answer can; with workers beside."""
        loop = asyncio.get_running_loop()
        counts = Counts(rate)
        before, waited_s, until = self._spent(), self._child.waited_s, loop.time() + seconds
        starting = [self._send(counts, rate, until)] if rate else self._start_on(counts, until)
        async with asyncio.timeout(seconds * 3 + 30):
            await asyncio.gather(*starting, *(self._work(each, counts, until) for each in self._working))
        counts.seconds = seconds
        counts.cpu_s = {name: spent - before[name] for name, spent in self._spent().items()}
        counts.waited_s = self._child.waited_s - waited_s
        await self._drain()
        return counts

    async def _drain(self) -> None:
        """End what is left, uncounted: each phase begins with nothing that another one has left to it."""
        async with asyncio.timeout(60):
            while await self._work_once(self._working[0], Counts()):
                pass

    def _spent(self) -> dict[str, float]:
        database = processor_seconds(self._database_pid) if self._database_pid else 0.0
        return {"server": self._child.cpu_s, "database": database, "clients": time.process_time()}

    async def _send(self, counts: Counts, rate: float, until: float) -> None:
        """Starts at a rate, whether or not those before were answered; each connection has its turn."""
        loop = asyncio.get_running_loop()
        began, sent, free = loop.time(), 0, deque(self._starting)
        open_: set[asyncio.Future[Reply]] = set()

        def answered(connection: Connection, reply: asyncio.Future[Reply]) -> None:
            free.append(connection)
            open_.discard(reply)
            _count(counts, reply.result())
            counts.late += reply.result().status == 200 and loop.time() >= until

        while (now := loop.time()) < until:
            due = int((now - began) * rate)
            for _ in range(due - sent):
                if not free:
                    counts.unsent += 1
                    continue
                connection = free.popleft()
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
