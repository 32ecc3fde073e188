"""The one table of states: complete, without dead ends, and the same as the picture in the documentation."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from procession.errors import InvalidValue
from procession.jobs.flows import Effect, effect_of, order_of
from procession.jobs.kinds import JobState
from procession.jobs.options import Trait, Unique, UniqueMode
from procession.jobs.transitions import ARCHIVED, TRANSITIONS, diagram, may_change, waiting_state
from procession.jobs.unique import Meeting, meet
from tests.support.sources import ROOT


def test_every_state_is_reached_and_left():
    after = {each.after for each in TRANSITIONS}
    before = {each.before for each in TRANSITIONS}
    assert after == set(JobState)
    assert set(JobState) - before == ARCHIVED


def test_from_every_state_the_end_can_be_reached():
    done = set(ARCHIVED)
    while more := {each.before for each in TRANSITIONS if each.after in done and each.before not in done}:
        done |= more
    assert set(JobState) <= done


def test_a_running_job_is_never_claimed_and_a_final_one_never_runs():
    assert not may_change(JobState.RUNNING, JobState.RUNNING)
    for state in (JobState.SUCCEEDED, JobState.DELETED):
        assert not any(may_change(state, other) for other in JobState)
    assert not may_change(JobState.FAILED, JobState.RUNNING)


def test_a_limited_job_is_throttled_where_others_are_ready():
    assert waiting_state(0, due=True) == JobState.READY
    assert waiting_state(Trait.LIMITED | Trait.KEPT, due=True) == JobState.THROTTLED
    assert waiting_state(Trait.LIMITED, due=False) == JobState.SCHEDULED


def test_the_diagram_in_the_documentation_is_the_table():
    page = (ROOT / "docs" / "job-states.md").read_text(encoding="utf-8")
    assert diagram() in page, "run: python -c 'from procession.jobs.transitions import diagram; print(diagram())'"


@given(st.dictionaries(st.integers(1, 8), st.lists(st.integers(1, 8), max_size=3), max_size=8))
def test_a_flow_is_put_in_order_or_has_a_circle(parents):
    try:
        order = order_of(parents)
    except InvalidValue:
        assert has_circle(parents)
        return
    assert sorted(order) == sorted(parents)
    assert all(order.index(p) < order.index(key) for key in parents for p in parents[key] if p in parents)


def has_circle(parents: dict[int, list[int]]) -> bool:
    """By taking away, again and again, whoever waits for nobody."""
    left = {key: {p for p in of if p in parents} for key, of in parents.items()}
    while free := {key for key, of in left.items() if not of & left.keys()}:
        left = {key: of for key, of in left.items() if key not in free}
    return bool(left)


def test_only_a_deleted_parent_dooms_and_only_who_does_not_say_either():
    dooms = [state for state in JobState if effect_of(state, either=False) is Effect.DOOMED]
    assert dooms == [JobState.DELETED]
    assert not any(effect_of(state, either=True) is Effect.DOOMED for state in JobState)
    assert effect_of(JobState.FAILED, either=False) is Effect.WAITS


def test_a_key_is_never_held_by_what_is_over():
    for mode in UniqueMode:
        for state in (JobState.FAILED, JobState.SUCCEEDED, JobState.DELETED, None):
            assert meet(Unique("u", mode), state, 0, 5) is Meeting.TAKES_OVER
        assert meet(Unique("u", mode), None, 6, 5) is Meeting.IS_DUPLICATE
        assert meet(Unique("u", mode), JobState.READY, 5, 5) is Meeting.TAKES_OVER
