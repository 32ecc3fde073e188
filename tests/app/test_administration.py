"""Administering from Python: what workers do, flows as graphs, changes by filter, why a job waits; sync, too."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from procession import Procession
from procession.app.flows import FlowJob
from procession.errors import Conflict, InvalidValue, NotFound
from procession.worker import WorkerSettings


@pytest.fixture
async def app() -> AsyncIterator[Procession]:
    made = await Procession("memory://").open(run_workers=False)
    yield made
    await made.close()


async def test_workers_say_what_their_slots_do_and_what_is_stuck():
    app = Procession("memory://", slots=WorkerSettings(concurrency=2, stuck_ms=10))
    begun, never = asyncio.Event(), asyncio.Event()

    @app.job("stubborn", queue="mail", timeout=0.01)
    async def stubborn() -> None:
        begun.set()
        try:
            await never.wait()
        except asyncio.CancelledError:
            await never.wait()

    async with app:
        key = (await app.enqueue("stubborn", {}, retries=1)).job_key
        await begun.wait()
        duties = app._engine.queue_duties
        await duties.say_standing()
        (worker,) = await app.workers()
        mail = next(each for each in worker.queues if each.queue == "mail")
        assert (mail.types, mail.slots, mail.running) == (["stubborn"], 2, 1)
        assert [job.job_key for job in worker.jobs] == [key]
        while not worker.stuck:
            await duties.say_standing()
            (worker,) = await app.workers()
            await asyncio.sleep(0)
        assert [(each.job_key, each.type) for each in worker.stuck] == [(key, "stubborn")]
        never.set()
        while worker.stuck:
            await duties.say_standing()
            (worker,) = await app.workers()
            await asyncio.sleep(0)


async def test_a_flow_is_found_from_any_of_its_jobs_and_remembers_what_is_gone(app):
    put = await app.enqueue_flow(
        [
            FlowJob("a", "x"),
            FlowJob("b", "x", after=["a"], options={"title": "second"}),
            FlowJob("c", "x", after_finished=["b"]),
        ]
    )
    keys = [put[name].job_key for name in "abc"]
    for key in keys:
        graph = await app.flow(key)
        assert [node.job_key for node in graph.nodes] == keys
        assert [(edge.parent_key, edge.child_key, edge.either) for edge in graph.edges] == [
            (keys[0], keys[1], False),
            (keys[1], keys[2], True),
        ]
    assert not graph.is_cut
    batch = await app.open_batch(title="many")
    follower = (await app.enqueue("x", {}, after=batch)).job_key
    graph = await app.flow(follower)
    assert [(node.job_key, node.state, node.is_batch) for node in graph.nodes] == [
        (batch, "OPEN", True),
        (follower, "AWAITING", False),
    ]
    with pytest.raises(NotFound):
        await app.flow(5)


async def test_a_large_flow_is_cut_and_says_so(app, monkeypatch):
    monkeypatch.setattr("procession.app.job_graphs.FLOW_NODES_MAX", 3)
    put = await app.enqueue_flow([FlowJob("a", "x"), *(FlowJob(f"b{n}", "x", after=["a"]) for n in range(5))])
    graph = await app.flow(put["a"].job_key)
    assert (len(graph.nodes), len(graph.edges), graph.is_cut) == (3, 2, True)


async def test_what_cannot_be_changed_is_refused_by_name(app):
    ageing = (await app.enqueue("x", {}, ageing="1h")).job_key
    with pytest.raises(Conflict, match="age"):
        await app.change_job(ageing, priority=4)
    await app.change_job(ageing, retries=9)
    assert (await app.job_in_full(ageing)).job.retries == 9
    with pytest.raises(InvalidValue, match="none of them"):
        await app.change_job(ageing)
    with pytest.raises(InvalidValue, match="either"):
        await app.change_jobs(delay="1h", at=(await app.job_in_full(ageing)).job.run_at)
    with pytest.raises(InvalidValue, match="'color'"):
        await app.find_jobs(color="red")
    with pytest.raises(NotFound):
        await app.change_job(7, priority=1)


async def test_progress_is_told_page_by_page(app, monkeypatch):
    monkeypatch.setattr("procession.app.administration.BULK_PAGE", 2)
    await app.enqueue_many("x", [{}] * 5)
    told = []
    assert await app.change_jobs(priority=3, type="x", progress=told.append) == 5
    assert told == [2, 4, 5]
    batch = await app.open_batch()
    await app.enqueue_many("x", [{}] * 3, batch=batch)
    told.clear()
    assert await app.cancel_job_batch(batch, reason="enough", progress=told.append) == 3
    assert told == [2, 3]
    assert (await app.job_batch(batch)).state == "FINISHED"


async def test_a_queue_keeps_what_succeeds_in_it_from_now_on():
    app = Procession("memory://")

    @app.job("send", queue="mail")
    async def send() -> None: ...

    @app.job("other", queue="bulk")
    async def other() -> None: ...

    await app.open(run_workers=False)
    before = await app.enqueue("send")
    await app.run_until_idle()
    await app.keep_finished("mail", "7d")
    kept = await app.enqueue("send")
    await app.enqueue("other")
    await app.run_until_idle()
    page = await app.find_jobs(state="succeeded")
    assert [job.job_key for job in page.jobs] == [kept.job_key]
    assert before.job_key < kept.job_key
    await app.enqueue("send", delay="1h")
    assert [(each.queue, each.keep_ms) for each in await app.queue_standings()] == [("mail", 7 * 86_400_000)]
    await app.keep_finished("mail", None)
    await app.enqueue("send")
    await app.run_until_idle()
    assert (await app.find_jobs(state="succeeded")).total == 1
    with pytest.raises(InvalidValue):
        await app.keep_finished("mail", "soon")
    await app.close()


async def test_another_tenant_sees_nothing_of_it(app):
    acme, other = app.for_tenant("acme"), app.for_tenant("other")
    key = (await acme.enqueue("x", {}, tags=["t"])).job_key
    assert (await acme.find_jobs()).total == 1
    assert (await other.find_jobs()).total == 0
    for look in (other.job_in_full, other.flow):
        with pytest.raises(NotFound):
            await look(key)
    with pytest.raises(NotFound):
        await other.change_job(key, priority=1)
    assert await other.change_jobs(priority=1, tag="t") == 0
    assert await acme.change_jobs(priority=1, tag="t") == 1


def test_all_of_it_is_there_without_await(tmp_path):
    with Procession(f"sqlite:///{tmp_path / 'jobs.db'}").sync as app:
        key = app.enqueue("x", {"a": 1}, title="one").job_key
        assert [job.job_key for job in app.find_jobs().jobs] == [key]
        assert app.job_in_full(key).why == "waits for a worker of 'default'"
        app.change_job(key, delay="1h")
        assert app.count_matching_jobs(state="scheduled") == (1, False)
        assert [node.job_key for node in app.flow(key).nodes] == [key]
        assert [each.queue for each in app.queue_standings()] == ["default"]
        assert app.workers() == []
        assert len(app.job_series(minutes=5).minutes) == 5
