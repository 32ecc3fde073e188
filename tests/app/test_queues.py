"""What operators see and do about the queue: queues and pauses, limits, one job whole, many by a filter, the sweep."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from procession import Fail, Procession
from procession.errors import InvalidValue, NotFound
from procession.jobs.kinds import JobKind
from procession.jobs.options import JobOptions, Limit
from procession.store.rows import NewJob


@pytest.fixture
async def app(make: Callable[..., Procession]) -> Procession:
    app = make()
    app.sent = []

    @app.job("send", queue="mail")
    async def send(to: str) -> None:
        app.sent.append(to)
        if to == "nobody":
            raise Fail("there is nobody")

    return await app.open(run_workers=False, migrate=True)


async def _limited(app: Procession, *limits: Limit) -> int:
    """A job with limits, as the queue's options have them."""
    key = await app.new_key()
    job = NewJob(
        key=key,
        kind=JobKind.TASK,
        queue="mail",
        type="send",
        args=b'{"to":"Ada"}',
        options=JobOptions(limits=[*limits]),
    )
    await app._engine.store.submit([job])
    return key


async def test_a_paused_queue_keeps_its_jobs_until_it_is_resumed(app):
    assert await app.pause_queue("mail", reason="the server is full")
    assert not await app.pause_queue("mail")
    await app.enqueue("send", {"to": "Ada"})
    await app.run_until_idle()
    assert app.sent == []
    (queue,) = [queue for queue in await app.queues() if queue.queue == "mail"]
    assert queue.is_paused
    assert queue.counts == {"READY": 1}
    assert queue.oldest_at is not None
    assert await app.resume_queue("mail")
    assert not await app.resume_queue("mail")
    await app.run_until_idle()
    assert app.sent == ["Ada"]


async def test_what_is_paused_is_not_claimed_on_insert_either(app):
    await app.enqueue("send", {"to": "Ada"})
    await app.run_until_idle()  # from here on this process claims what it inserts
    await app.pause_queue("mail")
    await app.enqueue("send", {"to": "Grace"})
    await app.run_until_idle()
    assert app.sent == ["Ada"]
    await app.resume_queue("mail")
    await app.pause_type("send")
    await app.enqueue("send", {"to": "Barbara"})
    await app.run_until_idle()
    assert app.sent == ["Ada"]
    await app.resume_type("send")
    await app.run_until_idle()
    assert app.sent == ["Ada", "Grace", "Barbara"]


async def test_a_paused_type_is_left_in_whatever_queue_it_is(app):
    await app.pause_type("send")
    await app.enqueue("send", {"to": "Ada"})
    await app.enqueue("send", {"to": "Grace"}, queue="mail")
    await app.run_until_idle()
    assert app.sent == []
    await app.resume_type("send")
    await app.run_until_idle()
    assert app.sent == ["Ada", "Grace"]


async def test_failed_jobs_are_found_shown_and_started_over(app):
    await app.enqueue_many("send", [{"to": "nobody"}, {"to": "Ada"}, {"to": "nobody"}])
    await app.run_until_idle()
    failed = await app.job_records(state="failed", queue="mail")
    assert [job.error_message for job in failed] == ["there is nobody"] * 2
    assert [job.job_key for job in await app.job_records(text="NOBODY")] == [job.job_key for job in failed]
    one = await app.job_record(failed[0].job_key)
    assert (one.state, one.args, one.type, one.tags, one.output) == ("FAILED", {"to": "nobody"}, "send", [], None)
    assert await app.job_log(one.job_key) == []
    told: list[int] = []
    assert await app.requeue_jobs(state="failed", progress=told.append) == 2
    assert told[-1] == 2
    await app.run_until_idle()
    assert app.sent == ["nobody", "Ada", "nobody"] + ["nobody"] * 2
    assert await app.delete_jobs(queue="mail", reason="enough") == 2
    assert await app.job_records(queue="mail") == []


async def test_only_what_fits_is_deleted_and_nothing_of_another_tenant(app):
    await app.pause_queue("mail")
    await app.enqueue("send", {"to": "Ada"})
    await app.for_tenant("ours").enqueue("send", {"to": "Grace"})
    ours = app.for_tenant("ours")
    (record,) = await ours.job_records(queue="mail")
    assert record.tenant_id == "ours"
    (theirs,) = [job for job in await app.job_records(queue="mail") if not job.tenant_id]
    with pytest.raises(NotFound, match=f"job with key {theirs.job_key}"):
        await ours.job_record(theirs.job_key)
    for call in (ours.job_log, ours.delete_job, ours.requeue):
        with pytest.raises(NotFound):
            await call(theirs.job_key)
    assert await ours.delete_jobs() == 1
    assert [job.job_key for job in await app.job_records(queue="mail")] == [theirs.job_key]


async def test_a_limit_is_seen_and_changed(app):
    await app.pause_queue("mail")
    await _limited(app, Limit("mails", most=1, rate=10, per_ms=60_000))
    (limit,) = await app.limits()
    assert (limit.key, limit.most, limit.rate, limit.per_ms, limit.used) == ("mails", 1, 10, 60_000, 0)
    assert await app.set_limit("mails", most=2, rate=5, per="1m")
    assert not await app.set_limit("mails", most=2, rate=5, per="1m")
    (limit,) = await app.limits()
    assert (limit.most, limit.rate) == (2, 5)
    with pytest.raises(NotFound):
        await app.set_limit("unknown", most=1)
    await app.resume_queue("mail")
    await app.run_until_idle()
    assert app.sent == ["Ada"]


async def test_a_store_that_is_in_order_gives_the_sweep_nothing_to_do(app):
    await _limited(app, Limit("mails", most=1))
    await app.enqueue("send", {"to": "nobody"})
    await app.run_until_idle()
    report = await app.sweep()
    assert report
    assert not any(report.values())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda app: app.job_records(state="lost"), "state to be one of ready, running"),
        (lambda app: app.set_limit("k"), "a maximum .* or a rate"),
        (lambda app: app.set_limit("k", rate=1, per="soon"), "per to be seconds"),
        (lambda app: app.set_limit("k", most=-1), "most"),
        (lambda app: app.pause_queue(""), "queue"),
        (lambda app: app.delete_jobs(state="perhaps"), "state to be one of"),
        (lambda app: app.requeue_jobs(retries=-1), "retries"),
        (lambda app: app.job_record("A"), "job_key"),
    ],
)
async def test_what_cannot_be_meant_is_refused(app, call, message):
    with pytest.raises(InvalidValue, match=message):
        await call(app)


async def test_a_job_that_runs_is_canceled_when_it_is_deleted(url: str, tmp_path: Path):
    """Without a clock of the story's own: a worker runs in the background, and polls for what is to end."""
    (tmp_path / "a b").mkdir()
    app = Procession(url)
    begun, ended = asyncio.Event(), asyncio.Event()

    @app.job("long", queue="slow", retries=3)
    async def long() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    await app.open(migrate=True)
    try:
        enqueued = await app.enqueue("long")
        async with asyncio.timeout(30):
            await begun.wait()
            await app.delete_job(enqueued.job_key, reason="not needed any more")
            await ended.wait()
            while await app.job_records(queue="slow"):  # noqa: ASYNC110 - nobody tells when the worker has written the end of the run
                await asyncio.sleep(0)
        record = await app.job_record(enqueued.job_key)
        assert record.state == "DELETED"
        assert "not needed any more" in record.error_message or record.cancel_reason == "not needed any more"
    finally:
        await app.close()
