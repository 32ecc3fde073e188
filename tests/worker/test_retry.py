"""When a failed attempt is tried again."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from procession.errors import Misconfigured
from procession.jobs.retry import DELAY_MS_MAX, Custom, Delays, Exponential, span_ms


@given(attempt=st.integers(1, 10_000), chance=st.floats(0, 1, exclude_max=True))
def test_an_exponential_pause_grows_and_keeps_its_bounds(attempt, chance):
    backoff = Exponential(first_ms=1_000, factor=2.0, longest_ms=60_000, jitter=0.25)
    full = min(60_000, 1_000 * 2 ** min(attempt - 1, 20))
    assert full * 0.75 <= backoff.delay_ms(attempt, chance) + 1
    assert backoff.delay_ms(attempt, chance) <= full


def test_the_last_pause_of_a_list_is_used_for_all_that_follow():
    backoff = Delays((1, 2, 3))
    assert [backoff.delay_ms(attempt, 0) for attempt in (1, 2, 3, 4, 99)] == [1, 2, 3, 3, 3]


@pytest.mark.parametrize(
    ("span", "ms"),
    [
        (1.5, 1_500),
        (0, 0),
        ("500ms", 500),
        ("30s", 30_000),
        ("10m", 600_000),
        ("1h30m", 5_400_000),
        ("1d", 86_400_000),
        ("PT1M", 60_000),
        (timedelta(seconds=2), 2_000),
    ],
)
def test_a_span_is_told_in_many_ways(span, ms):
    assert span_ms(span) == ms


@pytest.mark.parametrize(
    "span", ["soon", "", "10", "10x", "s", -1, True, None, float("nan"), float("inf"), "P1M", 1e12, [1]]
)
def test_what_is_no_span_is_refused(span):
    with pytest.raises(Misconfigured, match="Expected"):
        span_ms(span)


def test_an_own_function_that_gives_no_span_is_named():
    with pytest.raises(Misconfigured, match="result of a backoff function"):
        Custom(lambda attempt: "later").delay_ms(1, 0)


def test_nothing_waits_longer_than_a_year():
    assert span_ms(DELAY_MS_MAX / 1000) == DELAY_MS_MAX
