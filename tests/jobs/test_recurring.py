"""Recurring jobs: clocks that jump, runs that were missed, weekdays near a day."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from procession.errors import InvalidValue
from procession.jobs.recurring import ALL, ONCE, SKIP, first_firing, plan_firing
from procession.jobs.schedule import following, to_datetime, to_instant
from procession.jobs.weekdays import is_nearest_weekday, split_weekdays
from procession.limits import FIRINGS_MAX

BERLIN = ZoneInfo("Europe/Berlin")
HOUR = 3_600_000
MOMENTS = st.integers(1_700_000_000_000, 1_900_000_000_000).map(to_datetime)


def instant(text: str) -> int:
    return to_instant(datetime.fromisoformat(text))


def firings(cycle: str, start: str, count: int, zone: ZoneInfo = BERLIN) -> list[str]:
    at, found = instant(start), []
    for _ in range(count):
        at = following(cycle, at)
        found.append(to_datetime(at).astimezone(zone).isoformat())
    return found


def test_a_fixed_time_within_the_gap_fires_once_after_it():
    found = firings("CRON_TZ=Europe/Berlin 30 2 * * *", "2026-03-28T12:00+01:00", 3)
    assert found == ["2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00", "2026-03-31T02:30:00+02:00"]


def test_a_fixed_time_within_the_repeated_hour_fires_once():
    found = firings("CRON_TZ=Europe/Berlin 30 2 * * *", "2026-10-24T12:00+02:00", 2)
    assert found == ["2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"]


def test_what_fires_every_half_hour_does_so_in_both_turns_of_the_repeated_hour():
    found = firings("CRON_TZ=Europe/Berlin */30 * * * *", "2026-10-25T01:40+02:00", 5)
    assert [each[11:16] + each[19:] for each in found] == [
        *("02:00+02:00", "02:30+02:00", "02:00+01:00", "02:30+01:00"),
        "03:00+01:00",
    ]


@settings(deadline=None)
@given(
    st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Asia/Kolkata"]),
    st.integers(0, 59),
    st.integers(0, 23),
    MOMENTS,
)
def test_a_daily_time_fires_once_a_day_in_every_zone(zone, minute, hour, start):
    """Never twice on a date, never a date left out, whatever the clocks do."""
    tz = ZoneInfo(zone)
    at, days = to_instant(start), []
    for _ in range(20):
        at = following(f"CRON_TZ={zone} {minute} {hour} * * *", at)
        days.append(to_datetime(at).astimezone(tz).date())
    assert days == [days[0] + timedelta(days=n) for n in range(20)]


@settings(deadline=None)
@given(
    st.sampled_from(["0 * * * *", "*/7 3-5 * * MON-FRI", "0 0 L * *", "0 12 * * 5#3", "15 30 2 * * *", "0 9 15W * *"]),
    st.sampled_from(["", "CRON_TZ=Europe/Berlin ", "CRON_TZ=America/Santiago "]),
    MOMENTS,
    st.integers(-5 * HOUR, 400 * HOUR),
)
def test_a_clock_that_steps_back_repeats_nothing(cycle, zone, start, jump):
    """The next firing comes from the last due time: it is later than that, and the same whatever the clock says."""
    now = to_instant(start)
    next_at = first_firing(zone + cycle, now)
    assert next_at > now
    plan = plan_firing(zone + cycle, next_at, ALL, next_at + max(jump, -HOUR))
    if jump < 0:
        assert plan.due == ()
        assert plan.next_at == next_at
    else:
        assert plan.due[-1] < plan.next_at
        assert list(plan.due) == sorted(set(plan.due))
        assert plan_firing(zone + cycle, plan.next_at, ALL, next_at - HOUR).due == ()


def test_missed_runs_are_made_up_for_as_asked():
    at = instant("2026-01-01T00:00Z")
    late = at + 4 * HOUR + 30 * 60_000
    assert plan_firing("0 * * * *", at, ONCE, late).due == (at + 4 * HOUR,)
    assert plan_firing("0 * * * *", at, SKIP, late).due == ()
    assert plan_firing("0 * * * *", at, SKIP, at + 59_000).due == (at,)
    assert plan_firing("0 * * * *", at, ALL, late).due == tuple(at + n * HOUR for n in range(5))
    plans = [plan_firing("0 * * * *", at, missed, late) for missed in (ONCE, ALL, SKIP)]
    assert {(plan.next_at, plan.last_at) for plan in plans} == {(at + 5 * HOUR, at + 4 * HOUR)}


def test_of_very_many_missed_runs_the_latest_are_made_up_for():
    at = instant("2026-01-01T00:00Z")
    plan = plan_firing("R/PT1S", at, ALL, at + 5_000_000)
    assert len(plan.due) == FIRINGS_MAX
    assert (plan.due[-1], plan.next_at) == (at + 5_000_000, at + 5_001_000)


def test_an_interval_does_not_drift_and_ends_where_it_was_to_end():
    start = instant("2026-01-31T00:00Z")
    assert following("R/2026-01-31T00:00:00Z/P1M", start) == instant("2026-02-28T00:00Z")
    assert following("R2/2026-01-31T00:00:00Z/P1D", start) == instant("2026-02-01T00:00Z")
    assert following("R2/2026-01-31T00:00:00Z/P1D", start + 24 * HOUR) == 0
    assert plan_firing("R2/2026-01-31T00:00:00Z/P1D", start + 24 * HOUR, ONCE, start + 30 * HOUR).next_at == 0
    with pytest.raises(InvalidValue, match="start"):
        following("R3/PT1S", start)


@given(st.dates(date(2020, 1, 1), date(2035, 12, 31)), st.integers(1, 31))
def test_the_weekday_nearest_to_a_day_is_one_weekday_of_its_month(any_day, wanted):
    month = [date(any_day.year, any_day.month, 1) + timedelta(days=n) for n in range(31)]
    days = [day for day in month if day.month == any_day.month]
    near = [day for day in days if is_nearest_weekday(day, (wanted,))]
    if wanted > len(days):
        assert near == []
        return
    assert len(near) == 1
    assert near[0].weekday() < 5
    closest = min(abs(day.day - wanted) for day in days if day.weekday() < 5)
    assert abs(near[0].day - wanted) == closest


def test_weekdays_near_a_day_are_found_by_cron():
    # 15 March 2026 is a Sunday, 15 August 2026 a Saturday, 1 August 2026 a Saturday.
    found = firings("0 9 15W 3,8 *", "2026-01-01T00:00+00:00", 2, ZoneInfo("UTC"))
    assert [each[:10] for each in found] == ["2026-03-16", "2026-08-14"]
    assert firings("0 9 1W 8 ?", "2026-01-01T00:00+00:00", 1, ZoneInfo("UTC")) == ["2026-08-03T09:00:00+00:00"]
    assert split_weekdays("0 9 L * *") == ("0 9 L * *", ())


@pytest.mark.parametrize("cycle", ["0 9 0W * *", "0 9 32W * *", "0 9 15W * MON", "0 9 1,15W * *"])
def test_a_weekday_that_cannot_be_is_refused(cycle):
    with pytest.raises(InvalidValue, match="1W,15W"):
        following(cycle, 0)


@given(st.text(alphabet="0123456789*/,-LW#?@MONdaily RPT.:Z", max_size=25))
@settings(deadline=None, max_examples=300)
def test_any_text_is_a_cycle_or_is_refused(text):
    try:
        at = following(text, instant("2026-01-01T00:00Z"))
    except InvalidValue:
        return
    assert at == 0 or at > instant("2026-01-01T00:00Z")
