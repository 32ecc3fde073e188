"""The limits on a clock that is turned by hand: how they find themselves, and what they never refuse."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from procession.api.backpressure import LIMIT_MAX, LIMIT_MIN, Admission, Aimd, Gradient, Refusal, WriteLimit

FAST, SLOW = 0.01, 0.9


def test_the_limit_begins_at_a_hundred():
    assert Aimd().limit == 100


def test_a_fast_answer_raises_the_limit_by_one_when_half_of_it_is_used():
    rule = Aimd(start=10)
    rule.learn(FAST, 5)
    assert rule.limit == 11


def test_an_idle_server_learns_nothing_from_fast_answers():
    rule = Aimd(start=10)
    rule.learn(FAST, 4)
    assert rule.limit == 10


def test_a_slow_answer_cuts_the_limit_by_a_tenth():
    rule = Aimd(start=100)
    rule.learn(SLOW, 100)
    assert rule.limit == 90


def test_what_was_accepted_under_a_higher_limit_does_not_cut_it_again():
    rule = Aimd(start=100)
    for in_flight in range(100, 50, -1):
        rule.learn(SLOW, in_flight)
    cuts_at_once = Aimd(start=100)
    for _ in range(50):
        cuts_at_once.learn(SLOW, 1)
    assert rule.limit > 8 * cuts_at_once.limit


def test_what_was_in_flight_together_cuts_the_limit_once():
    rule = Aimd(start=100)
    for _ in range(90):  # for each that is answered another one was let in
        rule.learn(SLOW, 90)
    assert rule.limit == 90
    rule.learn(SLOW, 90)  # the first of those
    assert rule.limit == pytest.approx(81)


def test_an_answer_that_never_came_is_a_slow_one():
    rule = Aimd(start=100)
    rule.learn(FAST, 100, dropped=True)
    assert rule.limit == 90


@given(st.lists(st.tuples(st.floats(0, 10), st.integers(0, 5_000), st.booleans()), max_size=300))
def test_a_limit_stays_within_its_bounds_whatever_comes(answers):
    for rule in (Aimd(), Gradient()):
        for took_s, in_flight, dropped in answers:
            rule.learn(took_s, in_flight, dropped=dropped)
            assert LIMIT_MIN <= rule.limit <= LIMIT_MAX


def test_the_gradient_falls_when_answers_slow_down_and_comes_back():
    rule = Gradient(start=200)
    for _ in range(200):
        rule.learn(0.01, int(rule.limit))
    before = rule.limit
    for _ in range(50):
        rule.learn(0.2, int(rule.limit))
    assert rule.limit < before / 2
    for _ in range(300):
        rule.learn(0.01, int(rule.limit))
    assert rule.limit > before * 0.9


def simulate(offered_per_s: int, server_per_s: int, seconds: int) -> tuple[Admission, list[float]]:
    """A server that answers so many a second, in order; what the limit does with what it is offered."""
    admission = Admission(Aimd())
    waiting: list[float] = []
    times: list[float] = []
    tick = 0.01
    for step in range(int(seconds / tick)):
        now = step * tick
        waiting += [now for _ in range(int(offered_per_s * tick)) if admission.admit(now) is None]
        for _ in range(int(server_per_s * tick)):
            if waiting:
                took = now - waiting.pop(0)
                times.append(took)
                admission.done(took)
    return admission, times


def test_at_three_times_the_rate_answers_stay_fast_and_flow_at_the_rate_of_the_server():
    admission, times = simulate(offered_per_s=1_500, server_per_s=500, seconds=20)
    assert admission.completed >= 0.95 * 500 * 20
    assert admission.rejected == {"commands-in-flight": admission.offered - admission.accepted}
    assert max(times[len(times) // 2 :]) < 0.5
    assert admission.in_flight <= 200


def test_a_server_that_keeps_up_refuses_nothing():
    admission, _ = simulate(offered_per_s=400, server_per_s=500, seconds=10)
    assert admission.rejected == {}


def test_what_ends_work_is_never_refused():
    admission = Admission(Aimd(start=1))
    assert admission.admit(0.0) is None
    refusal = admission.admit(0.0)
    assert refusal == Refusal(reason="commands-in-flight", limit=1, current=1)
    assert "limit is 1, it is 1 now" in str(refusal)
    for _ in range(50):
        assert admission.admit(0.0, exempt=True) is None
        admission.done(SLOW, exempt=True)
    assert (admission.in_flight, admission.offered, admission.accepted, admission.completed) == (1, 52, 51, 50)


def test_new_work_is_refused_where_the_disk_is_nearly_full():
    admission = Admission(disk_free_min=1_000)
    assert admission.admit(0.0) is None
    admission.disk(999)
    refusal = admission.admit(0.0)
    assert refusal is not None
    assert (refusal.reason, refusal.limit, refusal.current) == ("disk", 1_000, 999)
    assert admission.admit(0.0, exempt=True) is None


def test_exporters_that_keep_up_slow_nothing_down():
    limit = WriteLimit(acceptable=1_000)
    limit.measured(499, 10.0)
    assert limit.rate is None
    assert all(limit.admit(0.0) is None for _ in range(10_000))


def test_a_backlog_scales_new_work_to_the_rate_of_the_exporters():
    limit = WriteLimit(acceptable=1_000)
    limit.measured(500, 100.0)
    assert limit.rate == 100
    limit.measured(750, 100.0)
    assert limit.rate == 50
    admitted = sum(limit.admit(step / 1_000) is None for step in range(10_000))
    assert admitted == pytest.approx(500, abs=55)


def test_a_refusal_for_a_backlog_says_when_to_come_back():
    limit = WriteLimit(acceptable=10)
    limit.admit(0.0)
    limit.measured(10, 100.0)
    assert limit.admit(0.0) is None
    refusal = limit.admit(0.0)
    assert refusal is not None
    assert (refusal.reason, refusal.retry_after_s) == ("export-backlog", 1.0)
