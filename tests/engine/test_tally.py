"""What happened to plain jobs is counted in memory and added up per minute, whoever counts."""

from __future__ import annotations

import pytest

from procession import Fail, Procession, Retry
from procession.app.recurring import Recurring
from procession.engine.tally import PLACES_MAX, Tally
from procession.errors import Unavailable
from procession.jobs.kinds import JobKind
from procession.store.rows import JobEnd, NewJob, Want
from procession.testing.conformance.stage import ManualClock

MINUTE = 60_000


@pytest.fixture
async def app():
    clock = ManualClock(1_700_000_000_000 // MINUTE * MINUTE)
    made = Procession("memory://", clock=clock)
    made.turned = clock

    @made.job("send", queue="mail", retries=2, backoff="1s")
    async def send(to: str) -> None:
        if to == "nobody":
            raise Fail("there is nobody")
        if to == "later":
            raise Retry("1h")

    await made.open(run_workers=False)
    yield made
    await made.close()


def _sums(series) -> dict[str, tuple[int, ...]]:
    return {
        each.queue: (sum(each.enqueued), sum(each.succeeded), sum(each.failed), sum(each.retried))
        for each in series.series
    }


async def test_what_happened_is_there_per_minute_after_a_flush(app):
    await app.enqueue_many("send", [{"to": "Ada"}] * 3)
    await app.enqueue("send", {"to": "nobody"}, tags=["one with options"])
    await app.enqueue("send", {"to": "later"}, unique="u")
    await app.enqueue("send", {"to": "later"}, unique="u")  # a duplicate is not enqueued
    await app.run_until_idle()
    assert _sums(await app.job_series()) == {}
    await app._engine.queue_duties.flush_stats()
    assert _sums(await app.job_series()) == {"mail": (5, 3, 1, 1)}
    app.turned.advance(MINUTE)
    await app.enqueue("send", {"to": "Ada"})
    await app._engine.queue_duties.flush_stats()
    series = await app.job_series("mail", minutes=2)
    assert [each.enqueued for each in series.series] == [[5, 1]]
    assert len(series.minutes) == 2
    (mail,) = [each for each in await app.queue_standings() if each.queue == "mail"]
    assert (mail.enqueued_per_minute, mail.succeeded_per_minute, mail.failed_per_minute) == (5, 3, 1)


async def test_recurring_jobs_are_counted_and_the_rest_when_the_process_stops(tmp_path):
    url = f"sqlite:///{tmp_path / 'counted.db'}"
    app = await Procession(url).open(run_workers=False)
    await app.put_recurring(Recurring(name="r", cycle="@daily", type="report", queue="night"))
    await app.trigger_recurring("r")
    await app.close()
    again = await Procession(url).open(run_workers=False)
    assert _sums(await again.job_series()) == {"night": (1, 0, 0, 0)}
    await again.close()


async def test_counts_wait_while_the_database_does_not_answer(app, monkeypatch):
    await app.enqueue("send", {"to": "Ada"})
    duties = app._engine.queue_duties

    async def refuse(rows):
        raise Unavailable("gone")

    with monkeypatch.context() as patch:
        patch.setattr(app._engine.store, "add_stats", refuse)
        await duties.flush_stats()
    await duties.flush_stats()
    assert _sums(await app.job_series()) == {"mail": (1, 0, 0, 0)}


async def test_jobs_that_fail_without_a_run_that_ends_are_counted_too(app):
    await app.enqueue("print", queue="late", deadline="1s")
    lost = await app.enqueue("print", queue="lost")
    store, engine = app._engine.store, app._engine
    for _ in range(engine.settings.crash_budget + 1):
        dead = await store.register("dead", b"{}")
        app.turned.advance(engine.settings.crash_backoff_ms)
        await store.promote(100)
        assert [job.key for job in await store.claim(dead, [Want(queue="lost", count=1)])] == [lost.job_key]
        app.turned.advance(engine.settings.dead_after_ms + 1)
        await store.beat(engine.node)
        await engine._duties.rescue_once()
    await engine.queue_duties.upkeep()
    await engine.queue_duties.flush_stats()
    assert _sums(await app.job_series()) == {"late": (1, 0, 1, 0), "lost": (1, 0, 1, 0)}


def test_types_beyond_a_bound_are_counted_together():
    tally = Tally()
    jobs = [NewJob(key=1 + n, kind=JobKind.TASK, queue="q", type=f"t{n}", retries=1) for n in range(PLACES_MAX + 5)]
    tally.enqueued(jobs)
    rows = tally.take(5 * MINUTE + 7)
    assert len(rows) == PLACES_MAX + 1
    assert {row.minute for row in rows} == {5 * MINUTE}
    assert sum(row.enqueued for row in rows) == PLACES_MAX + 5
    assert next(row.enqueued for row in rows if not row.type) == 5
    assert tally.take(0) == []


def test_jobs_of_processes_are_not_counted():
    tally = Tally()
    tally.enqueued([NewJob(key=1, kind=JobKind.SERVICE, queue="q", type="t", retries=1)])
    assert tally.take(0) == []
    assert JobEnd.RELEASE not in (JobEnd.DONE, JobEnd.FAILED, JobEnd.RETRY)
