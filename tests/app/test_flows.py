"""Jobs that belong together: flows inserted all or none, and batches that others come after."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest

from procession import FlowJob, Job, Procession
from procession.errors import Conflict, InvalidValue, NotFound


@pytest.fixture
async def app(make: Callable[..., Procession]) -> Procession:
    app = make()
    app.ran = []

    @app.job("note", concurrency=1)
    async def note(text: str = "") -> str:
        app.ran.append(text)
        return text.upper()

    @app.job("gather")
    async def gather(job: Job) -> None:
        app.ran.append(sorted(parent.output for parent in await job.parents()))

    @app.job("break", retries=1)
    async def broken() -> None:
        raise ConnectionError("broken")

    return await app.open(run_workers=False, migrate=True)


async def test_a_flow_runs_in_its_order_and_the_last_one_reads_what_the_others_gave(app):
    flow = await app.enqueue_flow(
        [
            FlowJob("report", "gather", after=["left", "right"]),
            FlowJob("left", "note", {"text": "l"}, after=["first"]),
            FlowJob("right", "note", {"text": "r"}, after=["first"], options={"title": "the right one"}),
            FlowJob("first", "note", {"text": "f"}),
        ]
    )
    assert list(flow) == ["report", "left", "right", "first"]
    assert (await app.job_record(flow["right"].job_key)).title == "the right one"
    assert {(await app.job_record(flow[name].job_key)).state for name in ("report", "left")} == {"AWAITING"}
    await app.run_until_idle()
    assert app.ran[0] == "f"
    assert sorted(app.ran[1:3]) == ["l", "r"]
    assert app.ran[3] == ["L", "R"]


async def test_what_comes_after_a_failure_waits_and_what_comes_after_its_end_runs(app):
    flow = await app.enqueue_flow(
        [
            FlowJob("bad", "break"),
            FlowJob("then", "note", {"text": "then"}, after=["bad"]),
            FlowJob("anyway", "note", {"text": "anyway"}, after_finished=["bad"]),
        ]
    )
    await app.run_until_idle()
    assert app.ran == ["anyway"]
    assert (await app.job_record(flow["then"].job_key)).state == "AWAITING"


@pytest.mark.parametrize(
    ("flow", "message"),
    [
        ([FlowJob("a", "note", after=["b"]), FlowJob("b", "note", after=["a"])], "without a circle"),
        ([FlowJob("a", "note", after=["z"])], "found 'z', which is none"),
        ([FlowJob("a", "note"), FlowJob("a", "note")], "different names"),
        ([FlowJob("a", "note"), FlowJob("b", "note", after="a a")], "to be a list of names"),
        ([FlowJob("a", "note"), FlowJob("b", "note", options={"tags": "x"})], "tags to be a list"),
    ],
)
async def test_a_flow_that_cannot_be_is_refused_whole(app, flow, message):
    with pytest.raises(InvalidValue, match=message):
        await app.enqueue_flow(flow)
    assert await app.jobs() == []


async def test_a_batch_is_over_when_all_its_jobs_are_and_what_follows_runs_then(app):
    batch = await app.open_batch(title="letters")
    await app.enqueue_many("note", [{"text": "a"}, {"text": "b"}], batch=batch)
    await app.enqueue("note", {"text": "all written"}, after=batch)
    await app.run_until_idle()
    assert sorted(app.ran) == ["a", "b"]
    found = await app.job_batch(batch)
    assert (found.state, found.total, found.succeeded, found.pending) == ("OPEN", 2, 2, 0)
    await app.seal_batch(batch)
    await app.seal_batch(batch)
    await app.run_until_idle()
    assert app.ran[2:] == ["all written"]
    found = await app.job_batch(batch)
    assert (found.state, found.title, found.finished_at is None) == ("FINISHED", "letters", False)
    with pytest.raises(Conflict):
        await app.enqueue("note", batch=batch)


async def test_a_batch_within_a_batch_counts_as_one_member(app):
    outer = await app.open_batch()
    inner = await app.open_batch(parent=outer)
    await app.enqueue("break", batch=inner)
    await app.enqueue("note", {"text": "well"}, after=outer)
    await app.enqueue("note", {"text": "anyway"}, after_finished=outer)
    await app.seal_batch(inner)
    await app.seal_batch(outer)
    await app.run_until_idle()
    assert app.ran == ["anyway"]
    newest, oldest = await app.job_batches()
    assert (newest.batch_key, newest.parent_key, newest.failed) == (inner, outer, 1)
    assert (oldest.batch_key, oldest.state, oldest.failed) == (outer, "FINISHED", 1)
    assert await app.job_batches(after=inner, limit=1) == [oldest]


async def test_batches_of_others_are_not_there(app):
    batch = await app.for_tenant("theirs").open_batch()
    ours = app.for_tenant("ours")
    for refused in (
        ours.seal_batch(batch),
        ours.job_batch(batch),
        ours.open_batch(parent=batch),
        ours.enqueue("note", batch=batch),
    ):
        with pytest.raises(NotFound):
            await refused
    assert await ours.job_batches() == []
    assert [found.tenant_id for found in await app.job_batches()] == ["theirs"]


def test_the_synchronous_face_has_flows_and_batches(tmp_path):
    app = Procession(f"sqlite:///{tmp_path / 'jobs.db'}")
    with app.sync as procession:
        batch = procession.open_batch(title="b")
        flow = procession.enqueue_flow([FlowJob("a", "note", options={"batch": batch}), FlowJob("b", "note")])
        procession.seal_batch(batch)
        assert procession.job_batch(batch).total == 1
        assert [found.batch_key for found in procession.job_batches()] == [batch]
        twice = [procession.enqueue("note", unique="k") for _ in range(2)]
        assert [answer.outcome for answer in twice] == ["INSERTED", "DUPLICATE"]
        assert len(flow) == 2


@pytest.mark.parametrize("way", ["asynchronous", "synchronous"])
async def test_a_flow_belongs_to_the_callers_transaction(way, tmp_path):
    app = Procession(f"sqlite:///{tmp_path / 'jobs.db'}")
    ran: list[str] = []

    @app.job("note", concurrency=1)
    async def note(text: str) -> None:
        ran.append(text)

    flow = [
        FlowJob("last", "note", {"text": "last"}, after=["first"]),
        FlowJob("first", "note", {"text": "first"}, options={"priority": 2}),
    ]
    circle = [FlowJob("a", "note", after=["b"]), FlowJob("b", "note", after=["a"])]
    await app.open(run_workers=False, migrate=True)

    async def put(jobs: list[FlowJob], connection: sqlite3.Connection):
        if way == "asynchronous":
            return await app.enqueue_flow(jobs, connection=connection)
        prepared = await app.prepare_flow(jobs)
        for statement in prepared.statements:
            connection.execute(statement.sql, statement.values)
        return {job.name: answer for job, answer in zip(jobs, prepared.jobs, strict=True)}

    with closing(sqlite3.connect(tmp_path / "jobs.db")) as connection:
        await put(flow, connection)
        connection.rollback()
        await app.run_until_idle()
        assert ran == []
        there = await put(flow, connection)
        with pytest.raises(InvalidValue, match="without a circle"):
            await put(circle, connection)
        connection.commit()
    await app.run_until_idle()
    assert ran == ["first", "last"]
    assert list(there) == ["last", "first"]
    await app.close()


# -- flows with a title -----------------------------------------------------------------------------------------------


async def test_a_flow_with_a_title_is_listed_with_how_many_of_its_jobs_are_over(app):
    parts = [FlowJob("first", "note"), FlowJob("bad", "break", after=["first"]), FlowJob("last", "note", after=["bad"])]
    enqueued = await app.enqueue_flow(parts, title="Order A-17")
    other = await app.enqueue_flow([FlowJob("first", "note")])
    assert (enqueued.flow_key > 0, other.flow_key, list(enqueued)) == (True, 0, ["first", "bad", "last"])
    await app.run_until_idle()
    (flow,) = await app.flows()
    assert (flow.flow_key, flow.title, flow.state) == (enqueued.flow_key, "Order A-17", "RUNNING")
    assert (flow.total, flow.succeeded, flow.failed, flow.pending) == (3, 1, 1, 1)
    assert await app.job_batches() == []
    await app.delete_job(enqueued["bad"].job_key)
    (flow,) = await app.flows()
    assert (flow.state, flow.failed, flow.deleted, flow.finished_at is None) == ("FINISHED", 0, 2, False)


async def test_a_flow_with_a_title_is_shown_by_its_own_key_and_by_that_of_any_job(app):
    parts = [FlowJob("first", "note"), FlowJob("alone", "note"), FlowJob("last", "note", after=["first"])]
    enqueued = await app.enqueue_flow(parts, title="Order A-17")
    whole = await app.flow(enqueued.flow_key)
    assert (whole.flow_key, whole.title, len(whole.nodes), len(whole.edges)) == (enqueued.flow_key, "Order A-17", 3, 1)
    part = await app.flow(enqueued["last"].job_key)
    assert (part.flow_key, part.title, len(part.nodes)) == (enqueued.flow_key, "Order A-17", 2)
    assert (await app.find_jobs(flow=enqueued.flow_key)).total == 3
    await app.run_until_idle()
    assert (await app.flow(enqueued.flow_key)).title == "Order A-17"


async def test_what_comes_after_a_flow_with_a_title_waits_for_all_of_it(app):
    enqueued = await app.enqueue_flow([FlowJob("a", "note", {"text": "a"})], title="before")
    await app.enqueue("note", {"text": "then"}, after=enqueued.flow_key)
    await app.run_until_idle()
    assert app.ran == ["a", "then"]


async def test_jobs_of_a_flow_with_a_title_are_of_no_batch(app):
    batch = await app.open_batch()
    with pytest.raises(InvalidValue, match=f"found 'a' in batch {batch}"):
        await app.enqueue_flow([FlowJob("a", "note", options={"batch": batch})], title="both")
    with pytest.raises(InvalidValue, match="title"):
        await app.enqueue_flow([FlowJob("a", "note")], title="\0")
    assert await app.flows() == []


async def test_a_flow_with_a_title_belongs_to_the_callers_transaction(tmp_path):
    app = await Procession(f"sqlite:///{tmp_path / 'jobs.db'}").open(run_workers=False, migrate=True)
    with closing(sqlite3.connect(tmp_path / "jobs.db")) as connection, connection:
        enqueued = await app.enqueue_flow([FlowJob("a", "note")], title="together", connection=connection)
        assert await app.flows() == []
    await app.run_until_idle()
    (flow,) = await app.flows()
    assert (flow.flow_key, flow.title, flow.total) == (enqueued.flow_key, "together", 1)
    await app.close()


async def test_a_job_cannot_come_after_a_key_that_nobody_had(app):
    with pytest.raises(NotFound, match="to come after, found 999"):
        await app.enqueue("note", after=999)
    done = await app.enqueue("note")
    await app.run_until_idle()
    await app.enqueue("note", {"text": "after one that is gone"}, after=done.job_key)
    await app.run_until_idle()
    assert app.ran == ["", "after one that is gone"]


async def test_a_tenant_sees_its_own_flows_alone(app):
    ours, theirs = (app.for_tenant(name) for name in ("ours", "theirs"))
    enqueued = await theirs.enqueue_flow([FlowJob("a", "note")], title="theirs")
    await ours.enqueue_flow([FlowJob("a", "note")], title="ours")
    assert [flow.title for flow in await ours.flows()] == ["ours"]
    assert len(await app.flows()) == 2
    for key in (enqueued.flow_key, enqueued["a"].job_key):
        with pytest.raises(NotFound):
            await ours.flow(key)


async def test_what_is_no_job_of_a_flow_is_refused_and_so_is_a_title_of_nothing(app):
    with pytest.raises(InvalidValue, match="Expected the jobs of a flow to be FlowJob, found int 1"):
        await app.enqueue_flow([1, "x"])
    with pytest.raises(InvalidValue, match="Expected a flow with a title to have jobs"):
        await app.enqueue_flow([], title="nothing")
    assert await app.enqueue_flow([]) == {}
    assert await app.jobs() == []


async def test_a_failed_job_whose_unique_key_went_to_another_says_so_when_it_is_requeued(app):
    failed = await app.enqueue("break", unique="invoice 17")
    await app.run_until_idle()
    await app.enqueue("note", unique="invoice 17", delay="1h")
    with pytest.raises(Conflict, match=f"Expected the unique key of job {failed.job_key} to be free"):
        await app.requeue(failed.job_key)
