"""Three times as many starts as the server can take: what ends work keeps its pace, and every refusal says why.

The server is a process of its own. First starters that wait for their answers find out what it sustains beside its
workers; then so many starts are sent a second, and then three times as many, whether or not those before were answered.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter

import aiohttp
import pytest

from tests.api.load.child import Child, served
from tests.api.load.test_cost import PARCEL, VARIABLES, opened

SECONDS = float(os.environ.get("OVERLOAD_SECONDS", "1"))  # of each phase
IS_MEASURED = "OVERLOAD_SECONDS" in os.environ
TIMES = 3
STARTERS = 8
WORKERS = 4
BATCH = 25
UNANSWERED_MAX = 2_000  # starts on their way; beyond that none is sent, and the offer counts as short
KEPT_MIN = 0.9  # of the rate of completions
FLOWING_MIN = 0.5  # of the rate of starts
GROWTH_BYTES_MAX = 96 * 1024 * 1024  # of the server's memory from one second of overload to its end
REASONS = {"commands-in-flight", "busy"}


class Phase:
    """What happened in some seconds."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session
        self._sending: set[asyncio.Task[None]] = set()
        self.statuses: Counter[int] = Counter()  # of starts
        self.reasons: Counter[str] = Counter()
        self.silent = 0  # refusals that lack a reason, a limit, or when to come again
        self.unsent = 0
        self.completed = 0

    def __str__(self) -> str:
        rates = f"{self.statuses[200] / SECONDS:6.0f} started/s, {self.completed / SECONDS:6.0f} completed/s"
        return f"{rates}, {self.statuses[503] / SECONDS:6.0f} refused/s {dict(self.reasons)}, {self.unsent} unsent"

    async def run(self, rate: float = 0.0) -> Phase:
        """So many starts a second, 0: as fast as those who wait for the answer can; with workers beside."""
        until = asyncio.get_running_loop().time() + SECONDS
        starting = [self._offer(rate, until)] if rate else [self._start_on(until) for _ in range(STARTERS)]
        async with asyncio.timeout(SECONDS * 3 + 20):
            await asyncio.gather(*starting, *(self._work(until) for _ in range(WORKERS)))
            await asyncio.gather(*self._sending)
        return self

    async def _offer(self, rate: float, until: float) -> None:
        loop = asyncio.get_running_loop()
        began, sent = loop.time(), 0
        while (now := loop.time()) < until:
            due = int((now - began) * rate)
            for _ in range(due - sent):
                if len(self._sending) >= UNANSWERED_MAX:
                    self.unsent += 1
                    continue
                task = asyncio.create_task(self._start())
                self._sending.add(task)
                task.add_done_callback(self._sending.discard)
            sent = due
            await asyncio.sleep(0.005)

    async def _start_on(self, until: float) -> None:
        while asyncio.get_running_loop().time() < until:
            await self._start()

    async def _start(self) -> None:
        body = {"processDefinitionId": "parcel", "variables": VARIABLES}
        async with self._session.post("/v2/process-instances", json=body) as answer:
            self.statuses[answer.status] += 1
            if answer.status != 503:
                return
            document = await answer.json(content_type=None)
            self.reasons[document.get("reason", "")] += 1
            is_told = {"reason", "limit", "current"} <= document.keys() and int(answer.headers["retry-after"]) >= 1
            self.silent += not is_told

    async def _work(self, until: float) -> None:
        loop = asyncio.get_running_loop()
        poll = {"type": "print-label", "timeout": 60_000, "maxJobsToActivate": BATCH, "requestTimeout": 200}
        while loop.time() < until:
            async with self._session.post("/v2/jobs/activation", json=poll) as answer:
                assert answer.status == 200, await answer.text()
                jobs = (await answer.json())["jobs"]
            ends = {"completions": [{"jobKey": job["jobKey"], "variables": {"label": "L-1"}} for job in jobs]}
            async with self._session.post("/api/jobs/endings", json=ends) as answer:
                assert answer.status == 200, await answer.text()
                results = (await answer.json())["results"]
            assert {each["status"] for each in results} <= {204}, results
            self.completed += len(jobs) if loop.time() < until else 0


async def highest_memory(child: Child, seconds: float) -> tuple[int, int]:
    """What the server takes after a moment of it, and at most."""
    await asyncio.sleep(min(1.0, seconds / 2))
    first = most = child.memory_bytes
    for _ in range(int(seconds * 5)):
        await asyncio.sleep(0.2)
        most = max(most, child.memory_bytes)
    return first, most


@pytest.mark.overload
@pytest.mark.skipif(not IS_MEASURED, reason="it loads for many seconds: `make overload`")
@pytest.mark.timeout(180)
@pytest.mark.parametrize("store", ["sqlite", "postgres"])
async def test_under_three_times_too_many_starts_work_is_ended_as_before_and_refusals_say_why(
    store, request, tmp_path, capsys
):
    url = f"sqlite:///{tmp_path / 'shop.db'}" if store == "sqlite" else request.getfixturevalue("postgres_url")
    async with opened(url):
        pass  # its schema is there then
    async with served(url) as child:
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(child.url, connector=connector) as session:
            form = aiohttp.FormData()
            form.add_field("resources", PARCEL, filename="parcel.bpmn")
            async with session.post("/v2/deployments", data=form) as answer:
                assert answer.status == 200, await answer.text()
            found = await Phase(session).run()
            sustained = min(found.statuses[200], found.completed) / SECONDS
            alone = await Phase(session).run(sustained)
            crowded, (first, most) = await asyncio.gather(
                Phase(session).run(sustained * TIMES), highest_memory(child, SECONDS)
            )
    with capsys.disabled():
        for name, phase in (("found", found), ("sustained", alone), (f"{TIMES} times", crowded)):
            print(f"\n  {store:<9} {name:<9} {phase}", end="")  # noqa: T201 - `make overload` says it
        print(f"\n  {store:<9} memory    {first / 2**20:.0f} MiB, at most {most / 2**20:.0f} MiB")  # noqa: T201 - as above
    assert set(crowded.statuses) <= {200, 503}
    assert set(crowded.reasons) <= REASONS
    assert crowded.silent == 0
    assert most - first < GROWTH_BYTES_MAX
    assert crowded.statuses[200] > 0
    assert crowded.statuses[503] > 0
    assert crowded.completed >= KEPT_MIN * alone.completed
    assert crowded.statuses[200] >= FLOWING_MIN * alone.statuses[200]
