"""Recurring jobs as users have them: declared by name and group, fired at their times, paused, triggered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from procession import Limit, Procession, Unique
from procession.app.recurring import Recurring, declarations
from procession.errors import InvalidValue, NotFound

REPORT = Recurring(name="report", cycle="R/PT1H", type="report", args={"kind": "daily"})


@pytest.fixture
async def app(make: Callable[..., Procession], clock) -> Procession:
    app = make()
    app.ran = []

    @app.job("report", queue="reports")
    async def report(kind: str = "") -> None:
        app.ran.append((clock.now, kind))

    return await app.open(run_workers=False, migrate=True)


async def _to(app: Procession, clock, **span: float) -> None:
    clock.turn(int(timedelta(**span).total_seconds() * 1000))
    await app.run_until_idle()


async def test_it_runs_at_each_of_its_times(app, clock):
    begun = clock.now
    assert await app.put_recurring(REPORT) == ["report"]
    assert [row.next_at for row in await app.recurring_jobs()] == [
        datetime.fromtimestamp(begun / 1000, UTC) + timedelta(hours=1)
    ]
    await _to(app, clock, minutes=59)
    assert app.ran == []
    await _to(app, clock, minutes=1)
    await _to(app, clock, hours=1)
    hour = 3_600_000
    assert app.ran == [(begun + hour, "daily"), (begun + 2 * hour, "daily")]
    info = await app.recurring_job("report")
    assert (info.fired, info.queue, info.is_paused) == (2, "reports", False)


@pytest.mark.parametrize(("missed", "runs"), [("once", 1), ("all", 5), ("skip", 0)])
async def test_what_nobody_made_in_time_is_made_up_for_as_it_says(app, clock, missed, runs):
    await app.put_recurring(Recurring(name="r", cycle="0 * * * *", type="report", missed=missed))
    hour = 3_600_000
    clock.turn(5 * hour - clock.now % hour + 120_000)  # two minutes after the fifth hour
    await app.run_until_idle()
    assert len(app.ran) == runs


async def test_paused_it_does_not_run_and_resumed_it_makes_up_for_nothing(app, clock):
    await app.put_recurring(REPORT)
    await app.pause_recurring("report")
    await _to(app, clock, hours=5)
    assert app.ran == []
    await app.resume_recurring("report")
    await app.run_until_idle()
    assert app.ran == []
    await _to(app, clock, hours=1)
    assert len(app.ran) == 1


async def test_triggered_by_many_at_once_it_runs_for_each(app):
    await app.put_recurring(Recurring(name="report", cycle="0 9 * * *", type="report"))
    keys = await asyncio.gather(*(app.trigger_recurring("report") for _ in range(20)))
    assert len(set(keys)) == 20
    assert (await app.recurring_job("report")).fired == 20


async def test_triggered_it_runs_now_also_while_paused_and_keeps_its_times(app, clock):
    await app.put_recurring(REPORT)
    before = (await app.recurring_job("report")).next_at
    await app.pause_recurring("report")
    key = await app.trigger_recurring("report")
    assert [job.job_key for job in await app.jobs(queue="reports")] == [key]
    await app.run_until_idle()
    assert len(app.ran) == 1
    assert (await app.recurring_job("report")).next_at == before


async def test_a_declared_group_is_what_it_says_and_what_is_the_same_stays(app, clock):
    other = Recurring(name="other", cycle="@daily", type="report")
    await app.put_recurring(REPORT, other, group="g")
    await _to(app, clock, minutes=30)
    before = (await app.recurring_job("report")).next_at
    assert await app.put_recurring(REPORT, group="g") == []
    assert [row.name for row in await app.recurring_jobs(group="g")] == ["report"]
    assert (await app.recurring_job("report")).next_at == before
    with pytest.raises(NotFound, match="recurring job named 'other'"):
        await app.recurring_job("other")


async def test_each_tenant_has_its_own(app):
    await app.for_tenant("ours").put_recurring(REPORT)
    assert await app.for_tenant("theirs").recurring_jobs() == []
    with pytest.raises(NotFound):
        await app.for_tenant("theirs").trigger_recurring("report")
    await app.for_tenant("ours").remove_recurring("report")
    with pytest.raises(NotFound):
        await app.for_tenant("ours").remove_recurring("report")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"cycle": "every day"}, "recurring job 'report': "),
        ({"cycle": "0 0 30 2 *"}, "recurring job 'report': "),
        ({"cycle": "R1/2001-01-01T00:00:00Z/PT1H"}, "never is"),
        ({"missed": "perhaps"}, "'once', 'all' or 'skip'"),
        ({"name": ""}, "name of a recurring job"),
        ({"type": "x" * 250}, "KEY_TEXT_BYTES_MAX"),
        ({"retries": -1}, "retries"),
        ({"options": {"delay": "1h"}}, "recurring job 'report': .* found 'delay'"),
        ({"options": {"batch": 7}}, "found 'batch'"),
        ({"options": {"deadline": datetime(2026, 1, 1, tzinfo=UTC)}}, "found an instant, which passes once"),
        ({"options": {"titel": "x"}}, "found titel"),
        ({"options": {"limits": Limit("k")}}, "maximum or a rate"),
        ({"queue": "$timer"}, "the engine's own"),
    ],
)
async def test_what_cannot_be_meant_is_refused(app, wrong, message):
    fields = {"name": "report", "cycle": "@daily", "type": "report", **wrong}
    with pytest.raises(InvalidValue, match=message):
        await app.put_recurring(Recurring(**fields))
    assert await app.recurring_jobs() == []


def test_declarations_come_from_files_too():
    (one,) = declarations([{"name": "a", "cycle": "@daily", "type": "t", "missed": "skip"}])
    assert (one.name, one.missed, one.overlap) == ("a", "skip", True)
    with pytest.raises(InvalidValue, match=r"Expected recurring jobs: .*\$\[0\]"):
        declarations([{"name": "a", "cycle": "@daily", "type": 3}])


async def test_the_synchronous_face_has_them(app):
    assert app.sync is not None
    assert callable(app.sync.put_recurring)


EVERYTHING = {
    "metadata": {"by": "clock"},
    "unique": Unique("one report", for_="30m"),
    "limits": [Limit("reports", most=2, rate=10)],
    "timeout": "3s",
    "backoff": ["1s", "5s"],
    "deadline": "20m",
    "keep": "1d",
    "output": True,
    "fair_key": "reports",
}


async def test_each_run_has_the_options_that_were_declared(app, clock):
    declared = Recurring(
        name="told", cycle="R/PT1H", type="report", priority=4, retries=5, title="t", tags=["x"], options=EVERYTHING
    )
    assert await app.put_recurring(declared) == ["told"]
    assert await app.put_recurring(declared) == []
    key = await app.trigger_recurring("told")
    record = await app.job_record(key)
    assert (record.title, record.tags, record.metadata) == ("t", ["x"], {"by": "clock"})
    assert (record.priority, record.retries) == (4, 5)
    assert [(limit.key, limit.most, limit.rate) for limit in await app.limits()] == [("reports", 2, 10)]
    again = await app.trigger_recurring("told")
    assert again == key
    await _to(app, clock, minutes=1)
    assert (await app.job_record(key)).state == "SUCCEEDED"
    info = await app.recurring_job("told")
    assert (info.options["timeout_ms"], info.options["unique"]["key"]) == (3_000, "one report")


async def test_a_run_that_nobody_begins_in_time_fails_by_its_deadline(app, clock):
    await app.put_recurring(Recurring(name="late", cycle="R/PT1H", type="report", queue="no", options=EVERYTHING))
    await _to(app, clock, hours=1)
    key = (await app.recurring_job("late")).last_job_key
    await _to(app, clock, minutes=20)
    assert (await app.job_record(key)).state == "FAILED"


async def test_options_come_from_files_too(app):
    options = {"unique": {"key": "k", "for": "1h"}, "limits": [{"key": "mails", "most": 2}], "timeout": "30s"}
    (one,) = declarations([{"name": "a", "cycle": "@daily", "type": "report", "options": options}])
    assert (one.options["unique"], one.options["limits"]) == (Unique("k", for_="1h"), [Limit("mails", most=2)])
    assert await app.put_recurring(one) == ["a"]
    with pytest.raises(InvalidValue, match=r"options of 'a': .*'mosst'"):
        declarations([{"name": "a", "cycle": "@daily", "type": "t", "options": {"limits": [{"mosst": 2}]}}])


async def test_the_next_time_of_what_has_just_fired_is_waited_for_and_not_polled_for(app, clock):
    await app.put_recurring(Recurring(name="often", cycle="R/PT1S", type="report"))
    clock.turn(1_000)
    fired, next_at = await app._engine.queue_duties.fire_due()
    assert (fired, next_at) == (1, clock.now + 1_000)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"missed": None}, "Expected missed to be 'once', 'all' or 'skip'"),
        ({"overlap": "no"}, "Expected overlap of recurring job 'report' to be True or False"),
    ],
)
async def test_what_stands_for_nothing_is_refused(app, wrong, said):
    with pytest.raises(InvalidValue, match=said):
        await app.put_recurring(Recurring(name="report", cycle="R/PT1H", type="report", **wrong))
    assert await app.recurring_jobs() == []
