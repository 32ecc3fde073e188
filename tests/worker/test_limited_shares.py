"""Limits where slots are shared by weight, and where the first line of a handler is far away: in another process."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from procession import Limit, Procession, WorkerSettings
from procession.testing.conformance.limiting import most_in
from tests.worker import handlers

PATIENCE_S = 60.0
WEIGHTS = {"mail": 3, "reports": 1}


@asynccontextmanager
async def opened(app: Procession, **options: bool) -> AsyncIterator[Procession]:
    await app.open(migrate=True, **options)
    try:
        yield app
    finally:
        await app.close()


async def until_empty(app: Procession) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while await app.count_jobs():  # noqa: ASYNC110 - other processes give no signal that could be awaited
            await asyncio.sleep(0.02)


@pytest.fixture(params=["memory", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return "memory://" if request.param == "memory" else f"sqlite:///{tmp_path}/jobs.db"


async def test_paced_handlers_in_processes_keep_their_pace_though_the_first_start_takes_long(tmp_path: Path):
    """A process that is still being made lets its job come too late: it goes back, with no attempt used, and runs."""
    log = tmp_path / "began"
    app = Procession("memory://", slots=WorkerSettings(processes=2))
    app.job("begin", process=True, retries=1)(handlers.begin)
    pace, door = Limit("pace", rate=10, per="500ms", burst=2), Limit("door", most=2)
    async with opened(app):
        await app.enqueue_many("begin", [{"number": n, "log": str(log)} for n in range(12)], limits=[pace, door])
        await until_empty(app)
        assert all(limit.used == 0 for limit in await app.limits())
    lines = [line.split() for line in log.read_text().splitlines()]
    assert sorted(int(number) for number, _, _ in lines) == list(range(12))
    assert {attempt for _, attempt, _ in lines} == {"1"}
    assert most_in(sorted(round(int(at) / 1_000) for _, _, at in lines), 495) <= pace.rate + pace.burst


@pytest.mark.parametrize("concurrency", [1, 4])
async def test_limited_jobs_of_weighted_queues_get_their_shares_too(url: str, concurrency: int):
    ran: list[str] = []
    app = Procession(url)
    for queue in WEIGHTS:

        async def note(of: str) -> None:
            ran.append(of)

        app.job(queue, queue=queue)(note)
    app.work_on(WEIGHTS, concurrency=concurrency)
    async with opened(app, run_workers=False):
        for queue in ("reports", "mail"):
            limits = [Limit(f"all {queue}", most=50)]
            await app.enqueue_many(queue, [{"of": queue}] * 80, queue=queue, limits=limits)
        await app.run_until_idle()
    assert Counter(ran) == {"mail": 80, "reports": 80}
    assert Counter(ran[:60])["reports"] >= 6, "neither queue starves"
    assert Counter(ran[:60])["mail"] >= 6, "neither queue starves"


async def test_a_queue_whose_limit_is_full_leaves_its_slots_to_the_other(url: str):
    ran: list[str] = []
    free = asyncio.Event()
    app = Procession(url)

    @app.job("reports", queue="reports")
    async def report() -> None:
        ran.append("reports")
        await free.wait()

    @app.job("mail", queue="mail")
    async def mail() -> None:
        ran.append("mail")
        if ran.count("mail") == 50:
            free.set()

    app.work_on(WEIGHTS, concurrency=4)
    async with opened(app):
        await app.enqueue_many("reports", [{}] * 5, queue="reports", limits=[Limit("printer", most=1)])
        await app.enqueue_many("mail", [{}] * 50, queue="mail")
        await until_empty(app)
    assert Counter(ran) == {"mail": 50, "reports": 5}
    assert ran.index("reports") < 51
    assert ran[:51].count("reports") == 1, "one at once, and mail did not wait for the other four"


async def test_starts_that_busy_slots_make_late_go_back_and_come_to_their_turn(url: str):
    began: list[tuple[int, float]] = []
    app = Procession(url)

    @app.job("mail", queue="mail")
    async def mail() -> None:
        await asyncio.sleep(0.01)

    @app.job("reports", queue="reports", retries=1)
    async def report(number: int) -> None:
        began.append((number, asyncio.get_running_loop().time() * 1_000))

    app.work_on(WEIGHTS, concurrency=1)
    pace = Limit("pace", rate=20, per="200ms", burst=2)
    async with opened(app):
        await app.enqueue_many("mail", [{}] * 40, queue="mail")
        await app.enqueue_many("reports", [{"number": n} for n in range(40)], queue="reports", limits=[pace])
        await until_empty(app)
    assert sorted(number for number, _ in began) == list(range(40))
    assert most_in([round(at) for _, at in began], 195) <= pace.rate + pace.burst


async def test_a_tenant_with_many_jobs_makes_another_wait_for_one(url: str):
    ran: list[str] = []
    app = Procession(url)

    @app.job("work", concurrency=1)
    async def work(of: str) -> None:
        ran.append(of)

    async with opened(app, run_workers=False):
        await app.enqueue_many("work", [{"of": "large"}] * 100, fair_key="large")
        for _ in range(3):
            await app.enqueue("work", {"of": "small"}, fair_key="small")
        await app.enqueue("work", {"of": "tiny"}, fair_key="tiny")
        await app.run_until_idle()
    assert len(ran) == 104
    assert ran.index("tiny") <= 3
    assert [place for place, of in enumerate(ran) if of == "small"][-1] <= 9
