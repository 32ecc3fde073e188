"""What one job may have beyond its arguments: unique keys, limits, order, deadlines, in and out of a transaction."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from procession import Limit, Procession, Settings, Unique
from procession.errors import InvalidValue, NotFound


@pytest.fixture
async def app(make: Callable[..., Procession]) -> Procession:
    app = make()
    app.ran = []

    @app.job("note", queue="notes")
    async def note(text: str = "") -> None:
        app.ran.append(text)

    @app.job("break", queue="notes", retries=1)
    async def broken() -> None:
        raise ConnectionError("broken")

    return await app.open(run_workers=False, migrate=True)


async def _later(app: Procession, clock, **span: float) -> None:
    clock.turn(int(timedelta(**span).total_seconds() * 1000))
    await app.run_until_idle()


async def test_a_job_with_words_keeps_them_and_runs(app):
    job = await app.enqueue("note", {"text": "a"}, title="A note", tags=["x", "y"], metadata={"by": "Ada"}, keep="1h")
    record = await app.job_record(job.job_key)
    assert (record.title, record.tags, record.metadata) == ("A note", ["x", "y"], {"by": "Ada"})
    await app.run_until_idle()
    assert app.ran == ["a"]
    assert (await app.job_record(job.job_key)).state == "SUCCEEDED"


async def test_a_duplicate_is_an_answer_with_the_holders_key(app):
    first = await app.enqueue("note", {"text": "first"}, unique="only-one")
    second = await app.enqueue("note", {"text": "second"}, unique="only-one")
    assert (first.outcome, first.is_duplicate) == ("INSERTED", False)
    assert (second.outcome, second.job_key, second.is_duplicate) == ("DUPLICATE", first.job_key, True)
    await app.run_until_idle()
    third = await app.enqueue("note", {"text": "third"}, unique="only-one")
    await app.run_until_idle()
    assert (app.ran, third.outcome) == (["first", "third"], "INSERTED")


async def test_a_unique_key_may_be_held_for_a_time(app, clock):
    once = Unique("hourly", for_="1h")
    await app.enqueue("note", {"text": "a"}, unique=once)
    await app.run_until_idle()
    assert (await app.enqueue("note", {"text": "b"}, unique=once)).outcome == "DUPLICATE"
    await _later(app, clock, hours=1)
    assert (await app.enqueue("note", {"text": "c"}, unique=once)).outcome == "INSERTED"
    await app.run_until_idle()
    assert app.ran == ["a", "c"]


async def test_a_later_job_replaces_one_that_has_not_begun(app):
    first = await app.enqueue("note", {"text": "old"}, unique=Unique("k", replace=True))
    second = await app.enqueue("note", {"text": "new"}, unique=Unique("k", replace=True))
    assert (second.outcome, second.job_key) == ("REFRESHED", first.job_key)
    await app.run_until_idle()
    assert app.ran == ["new"]


@pytest.mark.parametrize(("keep_first", "text"), [(False, "two"), (True, "one")])
async def test_a_debounced_job_waits_until_nobody_asks_any_more(app, clock, keep_first, text):
    key = Unique("k", debounce=True, longest="1m", keep_first=keep_first)
    await app.enqueue("note", {"text": "one"}, unique=key, delay="30s")
    await _later(app, clock, seconds=20)
    assert (await app.enqueue("note", {"text": "two"}, unique=key, delay="30s")).outcome == "PUSHED_BACK"
    await _later(app, clock, seconds=20)
    assert app.ran == []
    await _later(app, clock, seconds=10)
    assert app.ran == [text]


async def test_many_jobs_with_one_key_are_one_and_answered_in_order(app):
    answers = await app.enqueue_many("note", [{"text": "a"}, {"text": "b"}], unique="k")
    assert [answer.outcome for answer in answers] == ["INSERTED", "DUPLICATE"]
    assert answers[0].job_key == answers[1].job_key


async def test_a_rate_releases_a_backlog_at_its_pace(app, clock):
    pace = Limit("mail-server", rate=1, per="10s", burst=1)
    await app.enqueue_many("note", [{"text": str(number)} for number in range(3)], limits=pace)
    await app.run_until_idle()
    assert app.ran == ["0"]
    await _later(app, clock, seconds=10)
    await _later(app, clock, seconds=10)
    assert app.ran == ["0", "1", "2"]


async def test_a_job_comes_after_another_one_and_after_one_that_failed(app):
    failing = await app.enqueue("break")
    well = await app.enqueue("note", {"text": "only if it is well"}, after=failing.job_key)
    anyway = await app.enqueue("note", {"text": "anyway"}, after_finished=[failing.job_key])
    await app.run_until_idle()
    assert app.ran == ["anyway"]
    assert (await app.job_record(well.job_key)).state == "AWAITING"
    await app.delete_job(failing.job_key, reason="hopeless")
    assert (await app.job_record(well.job_key)).state == "DELETED"
    doomed = await app.enqueue("note", after=[failing.job_key])
    assert (doomed.outcome, anyway.outcome) == ("DOOMED", "INSERTED")


async def test_what_has_not_begun_by_its_deadline_fails(app, clock):
    span = await app.enqueue("note", {"text": "a"}, queue="nobodys", deadline="1m")
    instant = datetime.fromtimestamp(clock.now / 1000, UTC) + timedelta(minutes=2)
    dated = await app.enqueue("note", {"text": "b"}, queue="nobodys", deadline=instant)
    await _later(app, clock, minutes=1)
    states = [(await app.job_record(job.job_key)).state for job in (span, dated)]
    assert states == ["FAILED", "READY"]
    await _later(app, clock, minutes=1, seconds=1)
    assert (await app.job_record(dated.job_key)).state == "FAILED"


async def test_a_scheduled_job_with_options_runs_when_it_is_due(app, clock):
    await app.enqueue("note", {"text": "later"}, title="t", delay="1h")
    await app.run_until_idle()
    assert app.ran == []
    await _later(app, clock, hours=1)
    assert app.ran == ["later"]


async def test_a_tenant_names_only_jobs_of_its_own(app):
    theirs = await app.for_tenant("theirs").enqueue("note", title="t")
    ours = app.for_tenant("ours")
    with pytest.raises(NotFound, match=f"key {theirs.job_key}, found none"):
        await ours.enqueue("note", after=theirs.job_key)
    own = await ours.enqueue("note", {"text": "first"}, title="t")
    assert (await ours.enqueue("note", {"text": "then"}, after=own.job_key)).outcome == "INSERTED"
    taken = [await each.enqueue("note", unique="same") for each in (ours, app.for_tenant("theirs"))]
    assert [answer.outcome for answer in taken] == ["INSERTED", "INSERTED"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"titel": "A note"}, "found titel: there is none of that name"),
        ({"tags": "ab"}, "tags to be a list of texts"),
        ({"tags": [str(number) for number in range(33)]}, "TAGS_MAX"),
        ({"metadata": {"a": 1}}, "metadata 'a'"),
        ({"timeout": "soon"}, "timeout"),
        ({"deadline": datetime(2026, 1, 1)}, "aware datetime"),  # noqa: DTZ001 - what is refused
        ({"backoff": lambda attempt: attempt}, "a function belongs to the handler"),
        ({"output": 1}, "output to be True or False"),
        ({"unique": ""}, "a unique key"),
        ({"unique": 7}, r"unique to be a text or Unique\(...\)"),
        ({"unique": Unique("k", replace=True, debounce=True)}, "replace or with debounce, found both"),
        ({"unique": Unique("k", longest="1m")}, "with debounce=True only"),
        ({"unique": "k" * 201}, "KEY_TEXT_BYTES_MAX"),
        ({"limits": "mail"}, r"Limit\(...\) or a list"),
        ({"limits": [Limit("")]}, "the key of a limit"),
        ({"limits": Limit("k")}, "maximum or a rate, found neither"),
        ({"after": "first"}, "after"),
        ({"batch": 0}, "batch"),
    ],
)
async def test_words_that_cannot_be_meant_are_refused_by_name(options: dict, message: str):
    async with Procession("memory://") as app:
        with pytest.raises(InvalidValue, match=message):
            await app.enqueue("note", **options)
        assert await app.jobs() == []


async def test_jobs_with_options_follow_the_callers_transaction(tmp_path: Path):
    app = Procession(f"sqlite:///{tmp_path / 'jobs.db'}")
    ran: list[str] = []

    @app.job("note")
    async def note(text: str) -> None:
        ran.append(text)

    await app.open(run_workers=False, migrate=True)
    with closing(sqlite3.connect(tmp_path / "jobs.db")) as connection:
        await app.enqueue("note", {"text": "undone"}, unique="k", connection=connection)
        connection.rollback()
        await app.enqueue("note", {"text": "first"}, unique="k", connection=connection)
        many = await app.enqueue_many("note", [{"text": "a"}, {"text": "b"}], tags=["t"], connection=connection)
        await app.enqueue("note", {"text": "twice"}, unique="k", connection=connection)
        connection.commit()
    await app.run_until_idle()
    assert sorted(ran) == ["a", "b", "first"]
    assert len({job.job_key for job in many}) == 2
    assert await app.jobs() == []
    await app.close()


async def test_what_cannot_be_submitted_after_the_commit_is_kept_as_failed(tmp_path: Path):
    app = Procession(f"sqlite:///{tmp_path / 'jobs.db'}")
    await app.open(run_workers=False, migrate=True)
    with closing(sqlite3.connect(tmp_path / "jobs.db")) as connection:
        await app.enqueue("note", batch=77, connection=connection)
        connection.commit()
    await app.run_until_idle()
    (kept,) = await app.jobs()
    assert (kept.state, kept.queue) == ("FAILED", "$submit")
    await app.close()


async def test_the_commit_wakes_a_running_worker_that_submits_and_runs_the_jobs(tmp_path: Path):
    rarely = 600_000
    settings = Settings(claim_poll_ms_min=rarely, claim_poll_ms_max=rarely, check_ms=rarely)
    app = Procession(f"sqlite:///{tmp_path / 'jobs.db'}", settings=settings)
    arrived = asyncio.Event()

    @app.job("ring")
    async def ring() -> None:
        arrived.set()

    async with app:
        with closing(sqlite3.connect(tmp_path / "jobs.db")) as connection:
            await app.enqueue("ring", title="t", connection=connection)
            connection.commit()
            await asyncio.wait_for(arrived.wait(), 30)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"timeout": 0}, "timeout to be from 1 to"),
        ({"timeout": 0.0001}, "timeout to be from 1 to"),
        ({"deadline": "0s"}, "deadline to be from 1 to"),
        ({"ageing": 0}, "ageing to be from 1 to"),
        ({"unique": Unique("u", for_=0)}, "for_ of a unique key to be from 1 to"),
        ({"unique": Unique("u", debounce=True, longest=0)}, "longest of a unique key to be from 1 to"),
        ({"limits": Limit("mail", rate=5, per=0)}, "per of limit 'mail' to be from 1 to"),
        ({"limits": Limit("mail", rate=5, per="-1s")}, "per of limit 'mail'"),
        ({"limits": Limit("mail", most=-1)}, "most of limit 'mail' to be a whole number from 0 to"),
        ({"limits": Limit("mail", rate=10**9)}, "rate of limit 'mail' to be a whole number from 0 to"),
        ({"limits": Limit("mail", rate=1, burst=-1)}, "burst of limit 'mail' to be a whole number from 0 to"),
        ({"limits": Limit("mail", most=1, burst=5)}, "burst of limit 'mail' to be a whole number from 0 to 0"),
        ({"limits": Limit("mail")}, "'mail' to have a maximum or a rate"),
    ],
)
async def test_a_number_that_means_nothing_is_refused_by_its_name(app, words: dict, message: str):
    with pytest.raises(InvalidValue, match=message):
        await app.enqueue("note", **words)
    assert await app.jobs() == []
