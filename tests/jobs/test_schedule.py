"""Stories of schedules: durations, intervals, cron, across months and changes of the clock."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from procession.errors import InvalidValue
from procession.jobs.schedule import (
    Due,
    add_duration,
    cycle_due,
    date_due,
    duration_due,
    duration_ms,
    following,
    next_due,
    to_datetime,
    to_instant,
)

HOUR = 3_600_000


def at(text: str) -> int:
    return to_instant(datetime.fromisoformat(text))


def firings(cycle: str, now: str, count: int) -> list[str]:
    """The first instants at which a cycle fires."""
    due: Due | None = cycle_due(cycle, at(now))
    found: list[str] = []
    while due is not None and len(found) < count:
        found.append(to_datetime(due.at).strftime("%Y-%m-%dT%H:%M:%S"))
        due = next_due(due.cycle, due.left, due.anchor, due.at, due.at)
    return found


def test_a_duration_counts_from_now_and_never_backwards():
    now = at("2026-01-01T00:00:00+00:00")
    assert duration_due("PT15M", now).at == now + 900_000
    assert duration_due(timedelta(seconds=2), now).at == now + 2_000
    assert duration_due("PT0S", now).at == now
    assert duration_due("-PT1H", now).at == now


def test_a_date_may_have_an_offset_or_a_zone_and_is_utc_without():
    assert date_due("2026-03-01T09:00:00+01:00").at == at("2026-03-01T08:00:00+00:00")
    assert date_due("2026-07-01T09:00:00[Europe/Berlin]").at == at("2026-07-01T07:00:00+00:00")
    assert date_due("2026-03-01T09:00:00").at == at("2026-03-01T09:00:00+00:00")
    assert date_due("2026-03-01").at == at("2026-03-01T00:00:00+00:00")


@pytest.mark.parametrize("text", ["tomorrow", "2026-13-01", "", None, 7])
def test_what_is_no_date_is_refused(text):
    with pytest.raises(InvalidValue):
        date_due(text)


def test_an_interval_fires_as_often_as_it_says():
    """Scenario 88."""
    assert firings("R3/PT10S", "2026-01-01T00:00:00+00:00", 9) == [
        "2026-01-01T00:00:10",
        "2026-01-01T00:00:20",
        "2026-01-01T00:00:30",
    ]
    assert len(firings("R/PT10S", "2026-01-01T00:00:00+00:00", 9)) == 9
    assert firings("R2/2026-01-05T06:00:00Z/P1D", "2026-01-01T00:00:00+00:00", 9) == [
        "2026-01-05T06:00:00",
        "2026-01-06T06:00:00",
    ]


def test_an_interval_may_be_given_by_two_dates():
    assert firings("R2/2026-01-05T06:00:00Z/2026-01-05T07:30:00Z", "2026-01-01T00:00:00+00:00", 9) == [
        "2026-01-05T06:00:00",
        "2026-01-05T07:30:00",
    ]


@pytest.mark.parametrize(
    "cycle", ["R3", "R0/PT10S", "R3/PT0S", "R3/-PT1S", "Rx/PT10S", "R3/PT1S/PT2S/PT3S", "every day", ""]
)
def test_what_is_no_cycle_is_refused(cycle):
    with pytest.raises(InvalidValue):
        cycle_due(cycle, 0)


def test_cron_knows_seconds_names_and_macros():
    """Scenario 89."""
    monday_to_friday = firings("0 0 9 * * MON-FRI", "2026-01-02T12:00:00+00:00", 2)  # a Friday
    assert monday_to_friday == ["2026-01-05T09:00:00", "2026-01-06T09:00:00"]
    assert firings("30 6 1 * ?", "2026-01-02T00:00:00+00:00", 1) == ["2026-02-01T06:30:00"]
    assert firings("@daily", "2026-01-02T12:00:00+00:00", 1) == ["2026-01-03T00:00:00"]


def test_cron_follows_its_time_zone():
    """Scenario 89."""
    cycle = "CRON_TZ=Europe/Berlin 0 0 9 * * *"
    assert firings(cycle, "2026-01-01T00:00:00+00:00", 1) == ["2026-01-01T08:00:00"]
    assert firings(cycle, "2026-07-01T00:00:00+00:00", 1) == ["2026-07-01T07:00:00"]
    with pytest.raises(InvalidValue, match="Mars"):
        cycle_due("CRON_TZ=Mars/Base 0 9 * * *", 0)


def test_cron_fires_once_where_the_clock_is_put_forward():
    """Scenario 89: 29 March 2026, 02:30 does not exist in Berlin."""
    found = firings("CRON_TZ=Europe/Berlin 30 2 * * *", "2026-03-28T12:00:00+00:00", 2)
    assert len([instant for instant in found if instant.startswith("2026-03-29")]) == 1
    assert found[1] == "2026-03-30T00:30:00"


def test_cron_fires_once_where_the_clock_is_put_back():
    """Scenario 89: 25 October 2026, 02:30 comes twice in Berlin."""
    found = firings("CRON_TZ=Europe/Berlin 30 2 * * *", "2026-10-24T12:00:00+00:00", 2)
    assert found == ["2026-10-25T00:30:00", "2026-10-26T01:30:00"]


def test_months_keep_the_day_of_the_anchor():
    """Scenario 93."""
    assert firings("R4/2026-01-31T00:00:00Z/P1M", "2026-01-01T00:00:00+00:00", 9) == [
        "2026-01-31T00:00:00",
        "2026-02-28T00:00:00",
        "2026-03-31T00:00:00",
        "2026-04-30T00:00:00",
    ]
    assert to_datetime(add_duration(at("2024-02-29T00:00:00+00:00"), "P1Y")).isoformat()[:10] == "2025-02-28"


def test_after_an_outage_an_endless_interval_goes_on_in_step_and_makes_up_nothing():
    """Scenario 90: no herd of firings; the rhythm of the anchor is kept."""
    start = at("2026-01-01T00:00:00+00:00")
    due = cycle_due("R/PT10S", start)
    late = due.at + HOUR + 3_000
    following = next_due(due.cycle, due.left, due.anchor, due.at, late)
    assert following is not None
    assert following.at > late
    assert (following.at - start) % 10_000 == 0


def test_after_an_outage_a_bounded_interval_makes_up_each_of_its_repetitions():
    """Scenario 90: each of them was promised."""
    start = at("2026-01-01T00:00:00+00:00")
    due = cycle_due("R3/PT10S", start)
    late = start + HOUR
    instants = [due.at]
    while (following := next_due(due.cycle, due.left, due.anchor, due.at, late)) is not None:
        due = following
        instants.append(due.at)
    assert [instant - start for instant in instants] == [10_000, 20_000, 30_000]


def test_a_duration_that_leads_beyond_what_can_be_stored_is_refused():
    with pytest.raises(InvalidValue, match="9999"):
        duration_due("P9000Y", at("2026-01-01T00:00:00+00:00"))


@pytest.mark.parametrize(
    "cycle",
    [
        "R/-P1M",
        "R/P0M",
        "R3/-PT1S",
        "R/PT0.0001S",
        "R/PT",
        "R2147483648/PT1S",
        "R" + "9" * 5_000 + "/PT1S",
        "R/P99999999Y",
    ],
)
def test_a_cycle_that_would_not_advance_or_cannot_be_counted_is_refused_in_a_few_words(cycle):
    with pytest.raises(InvalidValue) as refused:
        cycle_due(cycle, at("2026-01-01T00:00:00+00:00"))
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize(
    "text", ["", "P", "PT", "P99999999Y", "P" + "9" * 400 + "M", "-P99999999Y", "abc", None, "x" * 9_000]
)
def test_what_is_no_duration_is_refused_in_a_few_words(text):
    for use in (duration_ms, lambda text: add_duration(at("2026-01-01T00:00:00+00:00"), text)):
        with pytest.raises(InvalidValue) as refused:
            use(text)
        assert len(str(refused.value)) < 400


def test_an_interval_may_have_an_end():
    """ISO 8601's third form: no repetition is later than it."""
    cycle = "R/P1D/2026-01-03T12:00:00Z"
    assert firings(cycle, "2026-01-01T00:00:00+00:00", 5) == ["2026-01-02T00:00:00", "2026-01-03T00:00:00"]
    assert following(cycle, at("2026-01-01T00:00:00+00:00")) == at("2026-01-02T00:00:00+00:00")
    assert following(cycle, at("2026-01-03T00:00:00+00:00")) == 0
    with pytest.raises(InvalidValue, match="before the end"):
        cycle_due(cycle, at("2026-01-03T00:00:00+00:00"))
