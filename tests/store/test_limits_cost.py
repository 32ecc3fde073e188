"""Turning limits on costs jobs without limits little: what their claims and ends ask of the database is counted.

Beside them stand limits with their rules, holders that run, and a backlog that has no room, in another queue and in
their own.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import pytest

import procession
from procession.ids import Keys
from procession.jobs.options import JobOptions, Limit
from procession.store.port import Store
from procession.store.rows import JobEnd, JobOutcome, Want
from procession.testing.conformance import ManualClock
from procession.testing.conformance.stage import new_job
from tests.support.counting import Count, counted_store
from tests.support.servers import SERVERS

HOME = procession.__path__[0]
JOBS, AT_ONCE = 400, 50
LIMITED = 60
ASKED_MAX = 1.5  # times; round trips and statements of claims and ends, with limits against without
# Times; this program's own calls on the loop. Memory does in them what the others ask of their databases.
CALLS_MAX = {"memory": 2.0, "sqlite": 1.5, "postgres": 1.5, "mariadb": 1.5}


class Cost(NamedTuple):
    """Of all jobs together."""

    asked: int
    calls: int


@pytest.fixture(params=["memory", "sqlite", *SERVERS])
def place(request: pytest.FixtureRequest) -> tuple[str, str]:
    """The kind of store, and the URL of its database."""
    kind = request.param
    return kind, request.getfixturevalue(f"{kind}_url") if kind in ("postgres", "mariadb") else ""


@pytest.fixture
async def counted(place: tuple[str, str], tmp_path: Path, clock: ManualClock) -> AsyncIterator[tuple[Store, Count]]:
    async with counted_store(*place, tmp_path, clock) as (store, count):
        yield store, count


async def drain(store: Store, count: Count, keys: Keys, node: int, queue: str) -> Cost:
    """Insert plain jobs, claim and end them all; what claims and ends cost."""
    await store.enqueue([new_job(keys, queue=queue) for _ in range(JOBS)])
    done, before = 0, count()
    with calls_counted() as calls:
        while done < JOBS:
            claimed = await store.claim(node, [Want(queue=queue, count=AT_ONCE)])
            assert claimed, f"{JOBS - done} plain jobs are not given"
            assert all(job.type == "send" for job in claimed)
            await store.finish([JobOutcome(key=job.key, lease=job.lease, end=JobEnd.DONE) for job in claimed])
            done += len(claimed)
    return Cost(count() - before, calls[0])


async def test_limits_elsewhere_cost_jobs_without_limits_little(
    counted: tuple[Store, Count], clock: ManualClock, place: tuple[str, str]
) -> None:
    store, count = counted
    keys = Keys(await store.take_keys(20_000))
    node = await store.register("worker", b"{}")
    await drain(store, count, keys, node, "plain")
    without = await drain(store, count, keys, node, "plain")
    door, pace = Limit("door", most=1), Limit("pace", rate=1, per_ms=60_000, burst=1)
    for queue in ("plain", "other"):
        for limit in (door, pace):
            options = JobOptions(limits=[limit])
            jobs = [new_job(keys, queue=queue, type="limited", options=options) for _ in range(LIMITED)]
            await store.submit(jobs)
    clock.advance(1)
    for queue in ("plain", "other"):  # those that may start run, so that the others have no room
        await store.claim(node, [Want(queue=queue, count=AT_ONCE)])
    beside = await drain(store, count, keys, node, "plain")
    assert beside.asked <= without.asked * ASKED_MAX, f"without limits {without}, beside them {beside}"
    assert beside.calls <= without.calls * CALLS_MAX[place[0]], f"without limits {without}, beside them {beside}"


async def test_a_claim_of_limited_jobs_costs_the_same_however_many_are_in_line(
    counted: tuple[Store, Count], place: tuple[str, str]
) -> None:
    """Round trips and statements are counted, and this program's own calls, which grow with the rows that are read."""
    store, count = counted
    keys = Keys(await store.take_keys(20_000))
    node = await store.register("worker", b"{}")
    costs: list[Cost] = []
    for jobs in (100, 3_000):
        queue = f"queue of {jobs}"
        options = [JobOptions(limits=[Limit(f"tenant {n}", most=jobs)]) for n in range(20)]
        await store.submit([new_job(keys, queue=queue, options=options[n % 20]) for n in range(jobs)])
        await store.claim(node, [Want(queue=queue, count=5)])
        before = count()
        with calls_counted() as calls:
            claimed = await store.claim(node, [Want(queue=queue, count=5)])
        assert len(claimed) == 5
        costs.append(Cost(count() - before, calls[0]))
    few, many = costs
    assert many.asked == few.asked
    assert many.calls <= few.calls * 1.25, f"of 100 {few}, of 3,000 {many}, on {place[0]}"


@contextmanager
def calls_counted() -> Iterator[list[int]]:
    """How often this program's own functions are called within the block."""
    calls, profile = [0], sys.getprofile()

    def see(frame: FrameType, event: str, _argument: object) -> None:
        calls[0] += event == "call" and frame.f_code.co_filename.startswith(HOME)

    sys.setprofile(see)
    try:
        yield calls
    finally:
        sys.setprofile(profile)
