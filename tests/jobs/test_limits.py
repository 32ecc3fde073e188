"""Limits as arithmetic: whatever arrives whenever, no window sees too many starts, and nobody waits for ever."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from procession.jobs.limits import LATE_US, Candidate, LimitState, admit, place, reserve, start_within_us
from procession.jobs.options import Limit

EPOCH = 1_700_000_000_000
RATES = st.tuples(st.integers(1, 50), st.sampled_from([1, 7, 100, 1_000, 60_000]), st.integers(1, 10))


def starts_in_any_window(starts: list[int], window_ms: int) -> int:
    return max((sum(first <= other <= first + window_ms for other in starts) for first in starts), default=0)


@given(RATES, st.integers(1, 100))
def test_reserved_times_keep_the_pace(rule, count):
    rate, per_ms, burst = rule
    state = LimitState("k", rate=rate, per_ms=per_ms, burst=burst)
    times = [reserve(state, EPOCH) for _ in range(count)]
    assert times == sorted(times)
    assert times[: min(burst, count)] == [EPOCH] * min(burst, count)
    assert starts_in_any_window(times, per_ms - 1) <= rate + burst  # instants are whole milliseconds
    late_ms = 2 * LATE_US / 1_000  # what the pace gives up so that late starts have room
    assert times[-1] - EPOCH <= (count - 1) * (per_ms + late_ms) / rate + count + late_ms


@given(RATES, st.lists(st.tuples(st.integers(0, 5_000), st.integers(0, 30)), max_size=40))
def test_whatever_comes_due_together_the_guard_holds_the_bound(rule, looks):
    rate, per_ms, burst = rule
    states = {"k": LimitState("k", rate=rate, per_ms=per_ms, burst=burst)}
    now, starts, key = EPOCH, [], 0
    for pause, count in looks:
        now += pause
        jobs = [Candidate(key + n, ["k"]) for n in range(count)]
        key += count
        admission = admit(jobs, states, now)
        assert len(admission.start) + len(admission.move) == count
        assert all(at > now - 1 for at in admission.move.values())
        starts += [now] * len(admission.start)
    assert starts_in_any_window(starts, per_ms) <= rate + burst


@settings(deadline=None)
@given(RATES, st.integers(1, 40), st.sampled_from([0.25, 0.5, 1, 2, 7]))
def test_a_backlog_is_released_whatever_the_polling(rule, count, share):
    """Every job starts; in order, where the polling keeps up with the pace."""
    rate, per_ms, burst = rule
    poll_ms = max(1, int(share * per_ms / rate))
    states = {"k": LimitState("k", rate=rate, per_ms=per_ms, burst=burst)}
    line = {n: reserve(states["k"], EPOCH) for n in range(count)}
    order: list[int] = []
    now = EPOCH
    last = max(line.values())
    while line:
        due = sorted(key for key, at in line.items() if at <= now)
        admission = admit([Candidate(key, ["k"]) for key in due], states, now)
        order += admission.start
        for key in admission.start:
            del line[key]
        line |= admission.move
        now += poll_ms
        assert now < last + 10 * count * (per_ms + poll_ms), "somebody waits for ever"
    assert sorted(order) == list(range(count))
    if 2 * poll_ms * rate <= per_ms:
        assert order == sorted(order)


def test_slots_are_given_in_order_and_the_rest_is_parked():
    states = {"door": LimitState("door", most=2, used=1, parked=True)}
    admission = admit([Candidate(1, ["door"]), Candidate(2, ["door"]), Candidate(3, [])], states, EPOCH)
    assert (admission.start, admission.park, admission.tries) == ([1, 3], {2: "door"}, {})


def test_who_waits_for_another_limit_lets_the_next_one_try():
    states = {"a": LimitState("a", most=1, used=1), "b": LimitState("b", most=1, parked=True)}
    admission = admit([Candidate(1, ["a", "b"])], states, EPOCH)
    assert (admission.start, admission.park, admission.tries) == ([], {1: "a"}, {"b": 1})


def test_a_new_job_is_parked_behind_others():
    state = LimitState("door", most=2)
    assert [place([state], EPOCH) for _ in range(4)] == [(EPOCH, ""), (EPOCH, ""), (EPOCH, "door"), (EPOCH, "door")]


@settings(max_examples=60)
@given(st.randoms(use_true_random=False), RATES, st.booleans())
def test_starts_late_within_the_tolerance_keep_the_bound(chance, rule, varies):
    """Whatever comes when, and however late workers say that they are: no window has more than rate + burst starts."""
    rate, per_ms, burst = rule
    states = {"k": LimitState("k", rate=rate, per_ms=per_ms, burst=burst)}
    now, starts = EPOCH, []
    for _ in range(chance.randint(20, 80)):
        now += chance.choice([0, 1, 3, 10, 40, chance.randint(0, per_ms)])
        states["k"].expect_late(chance.choice([0, 0, 40, 200]) * 1_000 if varies else 0)
        admission = admit([Candidate(number, ["k"]) for number in range(chance.randint(0, 60))], states, now)
        within = start_within_us(["k"], states)
        starts += [now * 1_000 + chance.choice([0, within, chance.randint(0, within)]) for _ in admission.start]
    starts.sort()
    most = rate + burst
    assert all(later - earlier > per_ms * 1_000 for earlier, later in zip(starts, starts[most:], strict=False))


def test_a_newer_rule_forgets_what_was_promised_but_not_what_started():
    state = LimitState("k", rate=1, per_ms=60_000, burst=1)
    for _ in range(5):
        reserve(state, EPOCH)
    admit([Candidate(1, ["k"])], {"k": state}, EPOCH)
    assert not state.takes_rule(Limit("k", rate=1, per_ms=60_000, burst=1))
    assert state.takes_rule(Limit("k", rate=1, per_ms=1_000, burst=1))
    assert state.reserved_us == state.started_us
    assert [reserve(state, EPOCH) for _ in range(3)] == [EPOCH + 1_001, EPOCH + 2_001, EPOCH + 3_001]
