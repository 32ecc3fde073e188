"""Who begins when jobs come: callers before jobs, and no more slots than the jobs need."""

from __future__ import annotations

import asyncio

from procession.engine import Delivery
from procession.jobs.kinds import JobKind
from procession.worker.line import Line, Slot

SLOTS, JOBS = 8, 40
TURNS_MAX = 100


def delivery(key: int) -> Delivery:
    return Delivery(key=key, lease=1, kind=JobKind.TASK, queue="q", type="t")


class Runs:
    """Notes which slot ran what; ``opened`` lets runs end."""

    def __init__(self, *, waits: bool) -> None:
        self.opened = asyncio.Event()
        if not waits:
            self.opened.set()
        self.began: list[tuple[int, Slot]] = []

    async def __call__(self, slot: Slot, job: Delivery) -> None:
        self.began.append((job.key, slot))
        await self.opened.wait()


def line_of(runs: Runs) -> Line:
    return Line("q", SLOTS, run=runs, freed=lambda _: None)


def deliver(line: Line, count: int) -> None:
    line.taken += count
    for key in range(count):
        line.deliver(delivery(key))


async def test_jobs_that_do_not_wait_are_run_by_few_slots():
    runs = Runs(waits=False)
    line = line_of(runs)
    for _ in range(3):
        deliver(line, JOBS)
        for _ in range(TURNS_MAX):
            await asyncio.sleep(0)
    assert [key for key, _ in runs.began] == list(range(JOBS)) * 3
    assert len({id(slot) for _, slot in runs.began}) <= 3
    await line.stop()


async def test_jobs_that_wait_get_all_slots_within_three_turns():
    runs = Runs(waits=True)
    line = line_of(runs)
    deliver(line, JOBS)
    for _ in range(4):
        await asyncio.sleep(0)
    assert [key for key, _ in runs.began] == list(range(SLOTS))
    runs.opened.set()
    for _ in range(TURNS_MAX):
        await asyncio.sleep(0)
    assert [key for key, _ in runs.began] == list(range(JOBS))
    assert line.taken == 0
    await line.stop()


async def test_a_job_begins_after_whoever_waited_for_its_commit():
    runs = Runs(waits=False)
    line = line_of(runs)
    committed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    order: list[str] = []

    async def caller() -> None:
        await committed
        order.append(f"caller goes on, {len(runs.began)} jobs began")

    waiting = asyncio.create_task(caller())
    await asyncio.sleep(0)
    committed.set_result(None)
    deliver(line, 1)
    await waiting
    assert order == ["caller goes on, 0 jobs began"]
    await line.stop()
