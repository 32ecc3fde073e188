"""Three times as many starts as the server can take: what ends work keeps its pace, and every refusal says why.

The server is a process of its own, loaded by this one. What it sustains is looked for first: so many starts are sent a
second, whether or not those before were answered, more and more of them, until starts are refused or work gathers. Then
the highest rate that went well, and three times as many, are sent in turns, with the same workers beside, which go as
fast as the server lets them. What counts is the middle of three rounds.

Where fewer were sent than meant the result means nothing, and the test fails for that. How long the server's loop
waited for a processor is said beside: those who load it share the machine with it, and with whatever else runs there.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

import aiohttp
import pytest

from tests.api.load.child import Child, served
from tests.api.load.client import connected
from tests.api.load.figures import keep
from tests.api.load.offer import CONNECTIONS, WORKERS, Counts, Offer
from tests.api.load.test_cost import PARCEL, opened

SECONDS = float(os.environ.get("OVERLOAD_SECONDS", "1"))  # of each phase
IS_MEASURED = "OVERLOAD_SECONDS" in os.environ
ROUNDS = 3
TIMES = 3
FIRST_SHARE = 0.6  # of what starters that wait for their answers get: where the search begins
STEP = 1.12
STEPS_MAX = 12
STEP_SECONDS = 2.0
REFUSED_SHARE_MAX = 0.01  # of the starts, at a rate that is sustained
GATHERED_S_MAX = 0.1  # how much of it may be on its way at the end: starts without an answer, jobs without an end
SENT_MIN = 0.9  # of the starts that are meant to be sent
KEPT_MIN = 0.9  # of the rate of completions
FLOWING_MIN = 0.5  # of the rate of starts
GROWTH_BYTES_MAX = 96 * 1024 * 1024  # of the server's memory from one round of overload to the last
REASONS = {"commands-in-flight"}


class Round(NamedTuple):
    """What the server did at the rate that it sustains, and at a multiple of it."""

    alone: Counts
    crowded: Counts
    memory_bytes: int

    @property
    def kept(self) -> float:
        return self.crowded.completed_rate / self.alone.completed_rate

    @property
    def flowing(self) -> float:
        return self.crowded.started_rate / self.alone.started_rate


@asynccontextmanager
async def loaded(url: str, database_pid: int) -> AsyncIterator[tuple[Child, Offer]]:
    """A server in a process of its own that knows the process, and those who will load it."""
    async with opened(url):
        pass  # its schema is there then
    async with served(url) as child, connected(child.url, CONNECTIONS + WORKERS) as connections:
        async with aiohttp.ClientSession(child.url) as session:
            form = aiohttp.FormData()
            form.add_field("resources", PARCEL, filename="parcel.bpmn")
            async with session.post("/v2/deployments", data=form) as answer:
                assert answer.status == 200, await answer.text()
        yield child, Offer(child, connections, database_pid)


async def sustained_rate(offer: Offer) -> float:
    """The highest of ever higher rates at which nearly nothing was refused and jobs were ended as fast as they came.

    A rate fails where it fails twice: once may be the machine.
    """
    await offer.run(STEP_SECONDS)  # warm
    waited_for = await offer.run(STEP_SECONDS)
    rate = FIRST_SHARE * min(waited_for.started_rate, waited_for.completed_rate)
    best = 0.0
    for _ in range(STEPS_MAX):
        if not await _goes_well(offer, rate) and not await _goes_well(offer, rate):
            if best:
                break
            rate /= STEP
            continue
        best, rate = rate, rate * STEP
    assert best, f"Expected a rate that is sustained, found none down to {rate:.0f} starts a second"
    return best


async def _goes_well(offer: Offer, rate: float) -> bool:
    counts = await offer.run(STEP_SECONDS, rate)
    gathered = max(counts.late, counts.statuses[200] - counts.late - counts.completed)
    is_taken = counts.statuses[503] <= REFUSED_SHARE_MAX * counts.statuses.total() and not counts.unsent
    return is_taken and gathered <= GATHERED_S_MAX * rate


async def rounds_of(child: Child, offer: Offer, rate: float) -> list[Round]:
    """Both rates in turns; neither is always the first."""
    rounds: list[Round] = []
    for number in range(ROUNDS):
        if number % 2:
            crowded = await offer.run(SECONDS, rate * TIMES)
            alone = await offer.run(SECONDS, rate)
        else:
            alone = await offer.run(SECONDS, rate)
            crowded = await offer.run(SECONDS, rate * TIMES)
        rounds.append(Round(alone, crowded, child.memory_bytes))
    return rounds


def words_of(store: str, rate: float, rounds: list[Round]) -> str:
    """What was found, for people."""
    lines = [f"{store}: {rate:.0f} starts a second are sustained"]
    for number, each in enumerate(rounds, 1):
        lines += [
            f"  round {number}, sustained {each.alone}",
            f"           {TIMES} times   {each.crowded}",
            f"           kept {each.kept:.0%} of completions, {each.flowing:.0%} of starts",
            f"           memory {each.memory_bytes / 2**20:.0f} MiB; refused for {', '.join(each.crowded.reasons)}",
        ]
    kept, flowing = median(each.kept for each in rounds), median(each.flowing for each in rounds)
    lines.append(f"  the middle of {len(rounds)} rounds: kept {kept:.0%} of completions, {flowing:.0%} of starts")
    return "\n".join(lines)


class Database(NamedTuple):
    """Where a server keeps what it has."""

    store: str
    url: str
    pid: int  # of its server; 0: there is none


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    """Made before the test's event loop runs: to make one of PostgreSQL's runs a loop of its own."""
    if request.param == "sqlite":
        return Database("SQLite", f"sqlite:///{tmp_path / 'shop.db'}", 0)
    url: str = request.getfixturevalue("postgres_url")
    return Database("PostgreSQL", url, request.getfixturevalue("postgres_databases").server.pid)


@pytest.mark.overload
@pytest.mark.skipif(not IS_MEASURED, reason="it loads for many seconds: `make overload`")
@pytest.mark.timeout(300)
async def test_under_three_times_too_many_starts_work_is_ended_as_before_and_refusals_say_why(database, capsys):
    async with loaded(database.url, database.pid) as (child, offer):
        rate = await sustained_rate(offer)
        rounds = await rounds_of(child, offer, rate)
    with capsys.disabled():
        print("\n" + words_of(database.store, rate, rounds))  # noqa: T201 - `make overload` says it
    kept = [{"sustained": a.figures(), f"{TIMES} times": c.figures(), "memory": size} for a, c, size in rounds]
    keep(f"server-overload-{database.store.lower()}", kept)
    for _, crowded, memory_bytes in rounds:
        assert set(crowded.statuses) == {200, 503}
        assert set(crowded.reasons) == REASONS
        assert crowded.silent == 0
        assert memory_bytes - rounds[0].memory_bytes < GROWTH_BYTES_MAX
    assert all(each.sent_rate >= SENT_MIN * each.meant for found in rounds for each in found[:2])
    assert median(each.flowing for each in rounds) >= FLOWING_MIN
    assert median(each.kept for each in rounds) >= KEPT_MIN
