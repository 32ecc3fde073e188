"""Processes of blocks are sound, whatever they are made of; and the orders that are left out make no difference."""

from __future__ import annotations

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from procession.explorer import Bounds, Report, Verdict, explore
from procession.model import InvalidModel
from tests.explorer.models import compiled, definition, structured, tangled

QUICK = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
BOUNDS = Bounds(states=1_000, moves=4_000)
COMPARED = {Verdict.DEADLOCK, Verdict.DEAD_ELEMENT}


@QUICK
@given(st.data())
def test_a_process_of_blocks_is_sound(data):
    report = explore(definition(structured(data.draw, depth=2)), BOUNDS)
    assert [found for found in report.findings if found.verdict != Verdict.BOUND] == []
    assert report.is_sound
    assert report.is_safe


@QUICK
@given(st.data())
def test_the_reduction_gives_the_verdicts_of_every_order(data):
    try:
        model = compiled(tangled(data.draw)).definitions[0]
    except InvalidModel:
        assume(False)
    reduced, full = explore(model, BOUNDS), explore(model, BOUNDS, reduced=False)
    assume(reduced.is_complete and full.is_complete)
    assert verdicts(reduced) == verdicts(full)
    assert reduced.states <= full.states


def verdicts(report: Report) -> tuple[object, ...]:
    """What must not depend on the orders that are tried."""
    told = sorted((found.verdict, found.element_id) for found in report.findings if found.verdict in COMPARED)
    return (report.is_safe, report.can_end, report.ends_once, told)
