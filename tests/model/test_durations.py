"""Written forms of timers and retry cycles."""

from __future__ import annotations

import pytest

from procession.model.reader.durations import is_cycle, is_date, is_duration, milliseconds, retry_cycle


@pytest.mark.parametrize("text", ["PT10S", "P1D", "P1Y2M3DT4H5M6S", "PT0.5S", "P2W", "-PT5M", "PT0S", "P1M"])
def test_durations_of_iso_8601(text: str):
    assert is_duration(text)


@pytest.mark.parametrize("text", ["", "P", "PT", "10S", "PT10", "P1S", "PT1H30", "1d", "P1DT"])
def test_texts_that_are_no_durations(text: str):
    assert not is_duration(text)


@pytest.mark.parametrize(
    "text", ["2030-01-31", "2030-01-31T09:00", "2030-01-31T09:00:00Z", "2030-01-31T09:00:00.5+02:00[Europe/Berlin]"]
)
def test_dates_of_iso_8601(text: str):
    assert is_date(text)


@pytest.mark.parametrize("text", ["", "tomorrow", "2030-13-01", "2030-01-32", "31.01.2030", "2030-01-31 09:00"])
def test_texts_that_are_no_dates(text: str):
    assert not is_date(text)


@pytest.mark.parametrize(
    "text",
    [
        "R3/PT10S",
        "R/PT1H",
        "R2/2030-01-01T00:00:00Z/P1D",
        "R5/P1D/2030-01-01",
        "0 0 9 * * MON-FRI",
        "*/5 * * * *",
        "@daily",
    ],
)
def test_cycles_and_cron_expressions(text: str):
    assert is_cycle(text)


@pytest.mark.parametrize(
    "text", ["", "PT10S", "R3", "R3/10S", "Rx/PT1S", "R/2030-01-01/tomorrow", "* * *", "@never", "R-2/PT1S"]
)
def test_texts_that_are_no_cycles(text: str):
    assert not is_cycle(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("PT1.5S", 1_500),
        ("PT2H3M", 7_380_000),
        ("P1DT1S", 86_401_000),
        ("P1W", 604_800_000),
        ("P1M", None),
        ("x", None),
    ],
)
def test_a_duration_without_months_has_a_length(text: str, value: int | None):
    assert milliseconds(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("R5/PT5M", (5, (300_000,))),
        ("PT1M,PT10M", (3, (60_000, 600_000))),
        ("PT1M", (2, (60_000,))),
        ("R0/PT5M", None),
        ("R/PT5M", None),
        ("R5000/PT5M", None),
        ("soon", None),
    ],
)
def test_a_retry_cycle_says_how_often_and_after_which_waits(text: str, value: tuple | None):
    assert retry_cycle(text) == value
