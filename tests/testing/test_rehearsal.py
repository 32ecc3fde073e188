"""A rehearsal runs the user's own application in memory, under a clock turned by hand, and says what it saw."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from procession import Job
from procession.app.recurring import Recurring
from procession.errors import Conflict, InvalidValue
from procession.jobs.kinds import JobKind
from procession.jobs.options import JobOptions, Unique
from procession.store.memory import MemoryStore
from procession.store.rows import NewJob
from procession.testing import Rehearsal, VirtualClock
from procession.testing.bpmn import process
from procession.testing.watching import Records, watched
from tests.testing.conftest import ORDER


async def deployed(shop) -> None:
    await shop.app.deploy(("order.bpmn", ORDER.xml()))


async def test_handlers_run_in_drain_and_not_before(shop):
    async with Rehearsal(shop.app) as rehearsal:
        await deployed(shop)
        key = await shop.app.start("order", {"amount": 12})
        assert shop.done == []
        await rehearsal.assert_at(key, "charge")
        await rehearsal.drain()
        assert shop.done == [12]
        await rehearsal.assert_at(key, "pack")
        await rehearsal.assert_variables(key, {"amount": 12, "paid": True})


async def test_inline_they_have_run_when_the_call_returns(shop):
    async with Rehearsal(shop.app, inline=True) as rehearsal:
        await deployed(shop)
        key = await shop.app.start("order", {"amount": 12})
        assert shop.done == [12]
        (task,) = await shop.app.user_tasks(process_instance_key=key)
        await shop.app.complete_user_task(task.user_task_key)
        await rehearsal.assert_completed(key, end="shipped")
        await rehearsal.assert_passed(key, "charge", "pack", "shipped")


async def test_inline_a_handler_may_start_more_without_waiting_for_itself(shop):
    @shop.app.job("begin")
    async def begin(amount: int) -> None:
        shop.done.append("begin")
        await shop.app.start("order", {"amount": amount})

    chain = process("chain")
    async with Rehearsal(shop.app, inline=True):
        await deployed(shop)
        await shop.app.deploy(("chain.bpmn", chain.start().service("begin", type="begin").end().xml()))
        await shop.app.start("chain", {"amount": 3})
        assert shop.done == ["begin", 3]


async def test_a_handler_that_drains_is_told_that_it_would_wait_for_itself(shop):
    told = []
    rehearsal = Rehearsal(shop.app)

    @shop.app.job("greedy")
    async def greedy() -> None:
        with pytest.raises(Conflict, match="wait for itself") as refused:
            await rehearsal.drain()
        told.append(refused)

    async with rehearsal:
        chain = process("chain")
        await shop.app.deploy(("chain.bpmn", chain.start().service("one", type="greedy").end().xml()))
        await shop.app.start("chain")
        await rehearsal.drain()
    assert len(told) == 1


async def test_timers_fire_at_their_instants_when_the_clock_is_turned(shop):
    async with Rehearsal(shop.app, at="2026-03-01T09:00:00Z") as rehearsal:
        await deployed(shop)
        key = await shop.app.start("order", {"amount": 1})
        await rehearsal.advance("13d")
        await rehearsal.assert_at(key, "pack")
        await rehearsal.advance(timedelta(days=3))
        ended = await rehearsal.assert_completed(key, end="expired")
        assert ended.end_date == datetime(2026, 3, 15, 9, tzinfo=UTC)
        assert rehearsal.now == datetime(2026, 3, 17, 9, tzinfo=UTC)
        with pytest.raises(Conflict, match="goes back"):
            await rehearsal.advance_to("2026-03-01T00:00:00Z")


async def test_a_failed_run_is_remembered_and_tried_again_when_the_clock_is_turned(shop):
    shop.fails = 1
    async with Rehearsal(shop.app) as rehearsal:
        await deployed(shop)
        key = await shop.app.start("order", {"amount": 5})
        await rehearsal.drain()
        (failure,) = rehearsal.failures
        assert (failure.type, failure.final) == ("charge-card", False)
        assert str(failure) == "charge-card: ValueError: the bank is closed"
        with pytest.raises(AssertionError, match="found 1\n  failed: charge-card: ValueError: the bank is closed"):
            rehearsal.assert_no_failures()
        await rehearsal.advance("1m")
        assert shop.done == [5]
        await rehearsal.assert_no_incident(key)


async def test_the_last_failure_is_an_incident_that_can_be_asserted(shop):
    shop.fails = 2
    async with Rehearsal(shop.app) as rehearsal:
        await deployed(shop)
        key = await shop.app.start("order", {"amount": 5})
        await rehearsal.advance("1h")
        incident = await rehearsal.assert_incident(key, element_id="charge", message="the bank is closed")
        assert [failure.final for failure in rehearsal.failures] == [False, True]
        with pytest.raises(AssertionError, match="found 1\n  incidents: JOB_NO_RETRIES at charge: Job of"):
            await rehearsal.assert_incident(key, error_type="EXTRACT_VALUE_ERROR")
        with pytest.raises(AssertionError, match="to have no incident, found 1"):
            await rehearsal.assert_no_incident(key)
        await shop.app.resolve(incident.incident_key)
        await rehearsal.drain()
        await rehearsal.assert_at(key, "pack")


async def test_jobs_of_processes_count_as_enqueued_also_when_they_have_run(shop):
    async with Rehearsal(shop.app, inline=True) as rehearsal:
        await deployed(shop)
        rehearsal.assert_not_enqueued()
        key = await shop.app.start("order", {"amount": 5})
        await shop.app.start("order", {"amount": 6})
        first, _ = rehearsal.assert_enqueued("charge-card", count=2)
        assert (first.process_instance_key, first.element_id) == (key, "charge")
        with pytest.raises(
            AssertionError, match=r"Expected 3 jobs with type 'charge-card', found 2\n  enqueued: charge"
        ):
            rehearsal.assert_enqueued("charge-card", count=3)
        with pytest.raises(AssertionError, match="Expected at least one job with type 'send-mail', found 0"):
            rehearsal.assert_enqueued("send-mail")
        with pytest.raises(AssertionError, match="Expected no job with type 'charge-card', found 2"):
            rehearsal.assert_not_enqueued("charge-card")


async def test_what_follows_from_a_transactional_handler_counts_too(shop):
    @shop.app.job("reserve", transactional=True)
    async def reserve(job: Job) -> None:
        shop.done.append(job.connection)

    two = process("two").start().service("a", type="reserve").service("b", type="charge-card").end()
    async with Rehearsal(shop.app) as rehearsal:
        await shop.app.deploy(("two.bpmn", two.xml()))
        key = await shop.app.start("two", {"amount": 2})
        await rehearsal.drain()
        await rehearsal.assert_completed(key)
        assert [job.type for job in rehearsal.enqueued()] == ["reserve", "charge-card"]
        assert shop.done == [None, 2]


async def test_jobs_with_options_count_once_and_a_duplicate_not_at_all():
    records, store = Records(), MemoryStore(clock=VirtualClock())
    looked_at = watched(store, records)
    keys = await looked_at.take_keys(3)
    options = JobOptions(unique=Unique("only-one"))
    for key in keys[:2]:
        job = NewJob(key=key, kind=JobKind.TASK, queue="q", type="send", args=b'{"n": 1}', options=options)
        await looked_at.submit([job])
    assert [(job.key, job.args) for job in records.enqueued] == [(keys[0], {"n": 1})]


async def test_recurring_jobs_come_when_the_clock_is_turned(shop):
    @shop.app.job("report")
    async def report() -> None:
        shop.done.append("reported")

    async with Rehearsal(shop.app, at="2026-01-01T00:30:00Z") as rehearsal:
        await shop.app.put_recurring(Recurring(name="hourly", type="report", cycle="0 * * * *"))
        await rehearsal.advance("3h")
        assert shop.done == ["reported"] * 3
        due = [job.due.hour for job in rehearsal.assert_enqueued("report", count=3)]
        assert due == [1, 2, 3]


async def test_an_assertion_about_an_instance_says_where_it_is_and_why(shop):
    async with Rehearsal(shop.app) as rehearsal:
        await deployed(shop)
        key = await shop.app.start("order", {"amount": 5})
        await rehearsal.drain()
        with pytest.raises(
            AssertionError, match="at charge, found it ACTIVE at pack\n  active: pack: waits for a person"
        ):
            await rehearsal.assert_at(key, "charge")
        with pytest.raises(AssertionError, match="to be COMPLETED, found it ACTIVE\n  active: pack"):
            await rehearsal.assert_completed(key)
        with pytest.raises(AssertionError, match="variables: paid: expected False, found True"):
            await rehearsal.assert_variables(key, {"paid": False, "amount": 5})
        with pytest.raises(AssertionError, match="did not pass 'shipped' so"):
            await rehearsal.assert_passed(key, "charge", "shipped")
        with pytest.raises(AssertionError, match="did not pass 'charge' so"):
            await rehearsal.assert_passed(key, "pack", "charge")


async def test_a_connection_of_the_code_under_test_is_left_aside(shop):
    with closing(sqlite3.connect(":memory:")) as connection:
        async with Rehearsal(shop.app, inline=True) as rehearsal:
            await deployed(shop)
            key = await shop.app.start("order", {"amount": 5}, connection=connection)
            await rehearsal.assert_at(key, "pack")


async def test_afterwards_the_application_is_what_it_was_and_its_database_untouched(shop, tmp_path: Path):
    url = shop.app.url
    async with Rehearsal(shop.app, inline=True):
        await deployed(shop)
        assert shop.app.url == "memory://"
    assert shop.app.url == url
    assert not (tmp_path / "production.db").exists()
    assert "start" not in vars(shop.app)
    async with shop.app:
        assert await shop.app.definitions() == []
        assert (await shop.app.deploy(("order.bpmn", ORDER.xml())))[0].deployed_at.year > 2025


async def test_an_open_application_is_not_rehearsed(shop):
    async with shop.app:
        with pytest.raises(Conflict, match="closed to change its database"):
            async with Rehearsal(shop.app):
                pass
        assert shop.app.url.startswith("sqlite:")
        await deployed(shop)


def test_code_that_uses_the_synchronous_face_is_rehearsed_without_await(shop):
    with Rehearsal(shop.app) as rehearsal:
        shop.app.sync.deploy(("order.bpmn", ORDER.xml()))
        key = shop.app.sync.start("order", {"amount": 7})
        rehearsal.drain()
        rehearsal.assert_enqueued("charge-card", count=1)
        rehearsal.assert_not_enqueued("send-mail")
        rehearsal.assert_at(key, "pack")
        rehearsal.assert_variables(key, {"paid": True})
        rehearsal.assert_no_incident(key)
        rehearsal.assert_no_failures()
        rehearsal.advance("15d")
        rehearsal.assert_completed(key, end="expired")
        rehearsal.assert_passed(key, "charge", "expired")
    assert not (Path(shop.app.url.removeprefix("sqlite:///"))).exists()


def test_inline_the_synchronous_face_runs_blocking_handlers_before_it_returns(shop):
    @shop.app.job("count")
    def count() -> None:
        shop.done.append("counted")

    chain = process("chain")
    with Rehearsal(shop.app, inline=True) as rehearsal:
        shop.app.sync.deploy(("chain.bpmn", chain.start().service("one", type="count").end().xml()))
        key = shop.app.sync.start("chain")
        assert shop.done == ["counted"]
        rehearsal.assert_completed(key)


def test_inline_every_synchronous_verb_runs_what_it_causes(shop):
    with Rehearsal(shop.app, inline=True) as rehearsal:
        shop.app.sync.deploy(("order.bpmn", ORDER.xml()))
        key = shop.app.sync.start("order", {"amount": 1})
        (task,) = shop.app.sync.user_tasks()
        shop.app.sync.complete_user_task(task.user_task_key)
        rehearsal.assert_completed(key, end="shipped")
    assert "call" not in vars(shop.app.sync)


def test_a_clock_is_turned_to_moments_and_by_spans():
    clock = VirtualClock("2026-01-01T00:00:00+01:00")
    assert clock.now == datetime(2025, 12, 31, 23, tzinfo=UTC)
    clock.advance("90s")
    assert clock.now == datetime(2025, 12, 31, 23, 1, 30, tzinfo=UTC)
    clock.set(datetime(2026, 5, 1, tzinfo=UTC))
    assert clock() == 1_777_593_600_000
    for wrong in ("tomorrow", datetime(2026, 5, 1), True):  # noqa: DTZ001 - what is refused
        with pytest.raises(InvalidValue, match="aware datetime"):
            clock.set(wrong)
