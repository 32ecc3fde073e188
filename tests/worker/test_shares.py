"""Queues that share a worker's slots by weight: what each gets under load, and what it lends when it has nothing."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from procession import Procession, WorkerSettings
from procession.engine import Delivery
from procession.errors import Conflict, Misconfigured
from procession.worker.line import Slot
from procession.worker.shares import LEAST_S, Pool

WEIGHTS = {"mail": 3, "reports": 1}
EACH = 200


@asynccontextmanager
async def closing(app: Procession) -> AsyncIterator[None]:
    try:
        yield
    finally:
        await app.close()


class Bench:
    """An application with two queues that notes what ran in which order."""

    def __init__(self, url: str, **slots: int) -> None:
        self.ran: list[str] = []
        self.app = Procession(url, slots=WorkerSettings(stuck_ms=50, **slots))
        for queue in ("mail", "reports", "others"):
            self.app.job(queue, queue=queue)(self._noting(queue))

    def _noting(self, queue: str):
        async def handler() -> None:
            self.ran.append(queue)

        return handler

    def share_of_mail(self, first: int) -> float:
        return Counter(self.ran[:first])["mail"] / first


@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres"])
async def test_under_load_each_queue_gets_its_share(kind, concurrency, request, tmp_path):
    urls = {"memory": "memory://", "sqlite": f"sqlite:///{tmp_path / 'jobs.db'}"}
    bench = Bench(urls.get(kind) or request.getfixturevalue("postgres_url"))
    app = bench.app.work_on(WEIGHTS, concurrency=concurrency)
    await app.open(run_workers=False, migrate=True)
    async with closing(app):
        await app.enqueue_many("others", [{}] * EACH)
        for _ in range(5):  # shares are of time: where the machine stalls in a run of a queue, the other catches up
            bench.ran.clear()
            for queue in ("reports", "mail"):
                await app.enqueue_many(queue, [{}] * EACH)
            await app.run_until_idle()
            assert Counter(bench.ran) == {"mail": EACH, "reports": EACH}
            if 0.55 < bench.share_of_mail(EACH) < 0.95:
                break
        assert 0.55 < bench.share_of_mail(EACH) < 0.95  # three quarters
        assert await app.count_jobs() == {("others", "READY"): EACH}


async def test_one_claim_asks_for_all_queues():
    bench = Bench("memory://")
    app = bench.app.work_on(WEIGHTS, concurrency=4)
    await app.open(run_workers=False)
    async with closing(app):
        await app.enqueue_many("mail", [{}] * EACH)
        await app.enqueue_many("reports", [{}] * EACH)
        asked: list[set[str]] = []
        store = app._engine.store
        claim = store.claim

        async def noted(node, wants):
            asked.append({want.queue for want in wants} & set(WEIGHTS))
            return await claim(node, wants)

        store.claim = noted
        await app.run_until_idle()
    assert {"mail", "reports"} in asked
    assert Counter(bench.ran) == {"mail": EACH, "reports": EACH}


async def test_a_queue_lends_its_slots_while_it_has_nothing_to_do():
    app = Procession("memory://").work_on(WEIGHTS, concurrency=4)
    running: list[int] = []
    all_there, go = asyncio.Event(), asyncio.Event()

    @app.job("report", queue="reports")
    async def report(n: int) -> None:
        running.append(n)
        if len(running) == 4:
            all_there.set()
        await go.wait()

    async with app:
        await app.enqueue_many("report", [{"n": n} for n in range(6)])
        await asyncio.wait_for(all_there.wait(), 10)
        assert len(running) == 4
        go.set()


async def test_quick_jobs_go_on_while_slow_ones_have_their_share():
    app = Procession("memory://").work_on(WEIGHTS, concurrency=4)
    go, all_sent = asyncio.Event(), asyncio.Event()
    sent: list[int] = []

    @app.job("report", queue="reports")
    async def report() -> None:
        await go.wait()

    @app.job("mail", queue="mail")
    async def mail(n: int) -> None:
        sent.append(n)
        if len(sent) == EACH:
            all_sent.set()

    await app.open(run_workers=False)
    await app.enqueue_many("mail", [{"n": n} for n in range(EACH)])
    await app.enqueue_many("report", [{}] * EACH)
    await app._engine.start()
    await asyncio.wait_for(all_sent.wait(), 20)
    go.set()
    await app.close()


async def test_a_stuck_handler_is_replaced_by_another_slot():
    app = Procession("memory://", slots=WorkerSettings(stuck_ms=20)).work_on(WEIGHTS, concurrency=1)
    free, sent = asyncio.Event(), asyncio.Event()

    @app.job("report", queue="reports", timeout="10ms", retries=1)
    async def report() -> None:
        while not free.is_set():
            try:
                await free.wait()
            except asyncio.CancelledError:
                continue

    @app.job("mail", queue="mail")
    async def mail() -> None:
        sent.set()

    async with app:
        stuck = await app.enqueue("report")
        await app.enqueue("mail", delay="1ms")
        await asyncio.wait_for(sent.wait(), 20)
        assert (await app.job_record(stuck.job_key)).state in ("FAILED", "RUNNING")
        free.set()


async def test_who_had_nothing_to_do_has_no_credit_for_it():
    async def run(slot: Slot, delivery: object) -> None:
        pass

    pool = Pool(1, run=run, freed=lambda line: None)
    busy, idle = pool.add_line("busy", 1), pool.add_line("idle", 1)
    busy.used = 90.0
    pool.used = 80.0
    idle._pool._stopped = True  # nothing begins: only the order is looked at
    idle.deliver(Delivery(key=1, lease=1, kind=0, queue="idle", type="t"))
    assert idle.used == 80.0
    assert pool.next_line() is idle
    assert LEAST_S > 0


@pytest.mark.parametrize(
    ("weights", "concurrency", "message"),
    [
        ({"mail": 0}, None, "weight of queue 'mail' .*QUEUE_WEIGHT_MAX"),
        ({"mail": 1.5}, None, "weight of queue 'mail'"),
        ({"$timer": 1}, None, "queues of yours"),
        ({"": 1}, None, "queues of yours"),
        ({"mail": 1}, -1, "a concurrency of 1 to"),
    ],
)
def test_what_cannot_be_a_share_is_refused(weights, concurrency, message):
    with pytest.raises(Misconfigured, match=message):
        Procession("memory://").work_on(weights, concurrency=concurrency)


async def test_what_is_open_keeps_its_queues():
    async with Procession("memory://") as app:
        with pytest.raises(Conflict, match="found it open"):
            app.work_on(WEIGHTS)
