"""Random processes on the engine and a store, with commands from two processes, and stops between any two commands.

After every command the books are checked by the world. Some commands are given twice; the second is refused.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from procession.core import encode_state
from procession.core.commands import FireTimer
from procession.errors import Rejected
from procession.testing.store_world import StoreRun, StoreWorld
from tests.core.growing import structured
from tests.core.test_random_processes import ACTIONS, HOURS, RUNNING, drain, given_or_refused, once, possible

KNOWN = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]
NUMBERS = itertools.count(1)


@settings(max_examples=40, suppress_health_check=KNOWN)
@given(st.data())
def test_a_structured_process_ends_whatever_happens_on_the_way_in_memory(data):
    """Scenarios 108 and 117: writers in two processes, and a stop anywhere."""
    tell("memory://", data.draw)


@settings(max_examples=15, suppress_health_check=KNOWN)
@given(st.data())
def test_a_structured_process_ends_whatever_happens_on_the_way_on_sqlite(tmp_path: Path, data):
    """Scenarios 108 and 117."""
    tell(f"sqlite:///{tmp_path}/{next(NUMBERS)}.db", data.draw)


def tell(url: str, draw: Any) -> None:
    """One process from its start to its end."""
    world = StoreWorld(url)
    try:
        world.deploy(*structured(draw))
        run = world.start("p", {"v": draw(st.integers(0, 2))})
        disturb(world, run, draw)
        world.by_another = False
        drain(run)
        assert run.ended, f"stuck: {run.active}, {run.parked()}, {[incident.message for incident in run.incidents]}"
    finally:
        world.close()


def disturb(world: StoreWorld, run: StoreRun, draw: Any) -> None:
    """Let random things happen, now and then twice, now here and now there."""
    for _ in range(draw(st.integers(0, ACTIONS))):
        among = [each for each in world.instances.values() if each.now_state.status in RUNNING]
        if not among:
            return
        each = draw(st.sampled_from(among))
        happens = draw(st.integers(1, 6))
        if happens == 1:
            world.restart()
        world.by_another = happens > 3
        command = draw(st.sampled_from(possible(each, draw)))
        world.now += HOURS if isinstance(command, FireTimer) else 0
        given_or_refused(each, command)
        if happens == 2 and once(command) and each.now_state.status in RUNNING:
            before = encode_state(each.now_state)
            with pytest.raises(Rejected):
                each.send(command)
            assert encode_state(each.now_state) == before
