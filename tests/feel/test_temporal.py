"""Dates, times, date-times and durations."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from procession import feel
from tests.feel.evaluation import evaluate, evaluate_with_warnings, refusal, text_of


@pytest.mark.parametrize(
    "text",
    [
        "2024-01-31",
        "-2021-01-01",
        "999999999-12-31",
        "10:30:00",
        "10:30:00.123456789",
        "10:30:00Z",
        "10:30:00-05:30",
        "11:59:45+02:45:55",
        "10:30:00@Europe/Paris",
        "2024-01-31T10:30:00",
        "2024-01-31T10:30:00.5+01:00",
        "-999999999-12-31T23:59:59.999999999+02:00",
        "P1Y2M",
        "-P10M",
        "P0M",
        "PT0S",
        "P1DT2H3M4.5S",
        "-P3D",
    ],
)
def test_a_canonical_text_is_read_and_written_unchanged(text):
    assert evaluate(f'string(@"{text}")') == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("P13M", "P1Y1M"),
        ("PT26H", "P1DT2H"),
        ("-PT0S", "PT0S"),
        ("2024-01-31T24:00:00", "2024-02-01T00:00:00"),
        ("10:30:00+00:00", "10:30:00Z"),
        ("2024-07-01T10:00:00+02:00[Europe/Berlin]", "2024-07-01T10:00:00@Europe/Berlin"),
        ("T23:59:00", "23:59:00"),
    ],
)
def test_another_text_is_written_in_its_canonical_form(text, expected):
    kind = "duration" if "P" in text else "date and time" if text[0] != "T" and "-" in text else "time"
    assert evaluate(f'string({kind}("{text}"))') == expected


@pytest.mark.parametrize(
    "text",
    [
        "2024-02-30",
        "01211-12-31",
        "998-12-31",
        "9999999999-12-31",
        "+99999-12-01",
        "2024-1-1",
        "24:00:01",
        "7:00:00",
        "13:20:00+19:00",
        "13:20:00+5:00",
        "13:20:00@xyz/abc",
        "13:20:00@Europe/../../etc",
        "13:20:00+02:00@Europe/Paris",
        "2024-01-01T10:00",
        "P",
        "PT",
        "P1DT",
        "P1Y2D",
        "P1.5D",
        "",
        "x" * 1000,
    ],
)
def test_a_malformed_text_is_null_with_a_warning(text):
    value, warnings = evaluate_with_warnings(f'@"{text}"')
    assert value is None
    assert warnings[0].code == "invalid-argument"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('@"2024-01-31" + @"P1M"', "2024-02-29"),
        ('@"2024-02-29" - @"P1Y"', "2023-02-28"),
        ('@"2024-01-01" + @"PT36H"', "2024-01-02"),
        ('@"2024-01-02" - @"PT1S"', "2024-01-01"),
        ('@"2024-03-01" - @"2024-02-01"', "P29D"),
        ('@"23:30:00" + @"PT1H"', "00:30:00"),
        ('@"10:10:10+11:00" - @"11:10:10+11:00"', "-PT1H"),
        ('@"2021-01-02T10:10:10@Europe/Paris" - @"2021-01-01T10:10:10@Asia/Dhaka"', "P1DT5H"),
        ('@"2021-01-02T10:10:10+01:00" - @"2021-01-01"', "P1DT9H10M10S"),
        # Clocks go forward on 31 March: a day is 24 hours, a month keeps the wall clock.
        ('@"2024-03-30T12:00:00@Europe/Berlin" + @"P1D"', "2024-03-31T13:00:00+02:00[Europe/Berlin]"),
        ('@"2024-02-29T12:00:00@Europe/Berlin" + @"P1M"', "2024-03-29T12:00:00+01:00[Europe/Berlin]"),
        ('@"-2021-01-01T10:10:10+11:00" - @"P1D"', "-2022-12-31T10:10:10+11:00"),
    ],
)
def test_temporal_arithmetic(text, expected):
    assert text_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('@"2024-01-31".weekday', 3),
        ('@"2024-01-31T10:30:15.5".second', 15),
        ('@"2024-07-01T10:00:00@Europe/Berlin".time offset', feel.DaysDuration(2 * 3600 * 10**9)),
        ('@"10:00:00@Europe/Berlin".timezone', "Europe/Berlin"),
        ('@"10:00:00".time offset', None),
        ('@"-P1Y2M".months', -2),
        ('@"-PT26H".hours', -2),
        ('day of year(@"2024-12-31")', 366),
        ('day of week(@"2019-09-17")', "Tuesday"),
        ('week of year(@"2021-01-03")', 53),
        ('month of year(@"2019-09-17T10:00:00")', "September"),
        ("(< 10).end", 10),
        ("[1..2).end included", False),
    ],
)
def test_properties_and_parts(text, expected):
    assert evaluate(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('date(date and time("2012-12-25T11:00:00Z"))', "2012-12-25"),
        ("date(2024, 2, 29)", "2024-02-29"),
        ('time(12, 0, 1.25, @"-PT2H")', "12:00:01.25-02:00"),
        ("time(12, 0, 0, null)", "12:00:00"),
        ('time(@"2017-08-10")', "00:00:00Z"),
        ('date and time(@"2017-08-10T10:20:00@Europe/Paris", @"23:59:01")', "2017-08-10T23:59:01"),
        ('years and months duration(@"2011-12-22", @"2013-08-24")', "P1Y8M"),
        ('years and months duration(@"2013-08-24", @"2011-12-22")', "-P1Y8M"),
        ("now()", "2024-05-17T12:30:00Z"),
        ('today() + @"P1D"', "2024-05-18"),
    ],
)
def test_constructors(text, expected):
    assert text_of(text) == expected


def test_without_a_current_instant_now_and_today_are_null_and_say_why():
    for text in ("now()", "today()"):
        warnings = []
        assert feel.compile(text).evaluate({}, warnings=warnings) is None
        assert "given no current date and time" in warnings[0].message


def test_a_local_date_and_time_has_no_difference_to_one_with_an_offset():
    assert "no difference" in refusal('@"2021-01-02T10:10:10Z" - @"2021-01-01T10:10:10"')


@pytest.mark.parametrize(
    "value",
    [
        date(2024, 2, 29),
        time(10, 30, 15, 250_000),
        time(10, 30, tzinfo=timezone(timedelta(hours=-5))),
        datetime(2024, 5, 17, 12, 30),  # noqa: DTZ001 - a local date and time is a value of its own
        datetime(2024, 5, 17, 12, 30, tzinfo=UTC),
        datetime(2024, 5, 17, 12, 30, 0, 1, tzinfo=ZoneInfo("Europe/Berlin")),
        timedelta(days=-3, seconds=5, microseconds=7),
    ],
)
def test_a_python_value_goes_in_and_comes_out_again(value):
    found = feel.to_python(feel.compile("x").evaluate({"x": value}))
    assert found == value
    assert type(found) is type(value)
    if isinstance(value, datetime):
        assert found.utcoffset() == value.utcoffset()


def test_what_python_cannot_hold_is_refused():
    for text in ('@"10000-01-01"', '@"P9999999999D"'):
        with pytest.raises(ValueError, match="Python's"):
            feel.to_python(evaluate(text))


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ('@"0500-06-01T12:00:00@Europe/Berlin"', "PT53M28S"),  # before there were zones: the sun's time of the place
        ('@"-0001-06-01T12:00:00@Europe/Berlin"', "PT53M28S"),
        ('@"2024-06-01T12:00:00@Europe/Berlin"', "PT2H"),
        ('@"12000-06-01T12:00:00@Europe/Berlin"', "PT2H"),
        ('@"12000-06-01T12:00:00@Asia/Kolkata"', "PT5H30M"),
        ('@"12000-01-01T12:00:00@Europe/Moscow"', "PT3H"),  # 2000 had other rules than today
        ('@"999999999-07-01T12:00:00@Europe/Moscow"', "PT3H"),
    ],
)
def test_a_zone_has_an_offset_in_any_year(text, offset):
    assert text_of(f"({text}).time offset") == offset
