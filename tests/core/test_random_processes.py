"""Random processes under random orders: no rule is ever broken, whatever happens in whatever order.

Every step is checked by the run itself: the invariants, the fold of the events, the state through its bytes (a crash
between any two commits). Commands are delivered twice now and then; the second delivery is refused and changes nothing.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from procession.core import encode_state, fold
from procession.core.commands import (
    AnyCommand,
    Cancel,
    CompleteJob,
    CompleteUserTask,
    Continue,
    Correlate,
    FailJob,
    FireTimer,
    ResolveIncident,
    SetVariables,
    ThrowError,
)
from procession.core.events import AnyEvent
from procession.core.state import Status
from procession.errors import Rejected
from procession.testing.world import CoreWorld, WorldRun
from tests.core.growing import structured, tangled

ENCODER = msgspec.json.Encoder()
DECODER = msgspec.json.Decoder(list[AnyEvent])
ACTIONS = 12
CANCEL_STEPS_MAX = 20  # a tangle may have grown to thousands of tokens
DRAIN_MAX = 400
HOURS = 10_800_000  # longer than any timer
QUICK = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@QUICK
@given(st.data())
def test_a_structured_process_ends_whatever_happens_on_the_way(data):
    world = CoreWorld()
    world.deploy(structured(data.draw))
    run = world.start("p", {"v": data.draw(st.integers(0, 2))})
    disturb(run, data.draw)
    drain(run)
    history_is_the_truth(run)
    assert run.ended, f"stuck: {run.active}, {run.parked()}, {[incident.message for incident in run.incidents]}"


@QUICK
@given(st.data())
def test_a_tangled_process_never_breaks_a_rule_and_can_be_cancelled(data):
    world = CoreWorld(follow_ups_max=2)
    world.deploy(tangled(data.draw), lenient=True)
    try:
        run = world.start("p", {"v": data.draw(st.integers(0, 2))})
        disturb(run, data.draw)
    except AssertionError as endless:
        if "without a pause" not in str(endless):
            raise
        run = next(iter(world.instances.values()))
        world.queue.clear()
    if run.now_state.status == Status.ACTIVE:
        run.decide(Cancel())
    for _ in range(CANCEL_STEPS_MAX):
        if run.now_state.status == Status.ACTIVE:
            run.decide(Continue())
    assert run.ended or run.terminated


def history_is_the_truth(run: WorldRun) -> None:
    """The stored history, read back, folds to the state."""
    stored = DECODER.decode(ENCODER.encode(run.events))
    folded = fold(stored)
    assert encode_state(folded) == encode_state(run.now_state)
    assert folded.variables == run.variables


def disturb(run: WorldRun, draw: Any) -> None:
    """Let random things happen, now and then twice."""
    for _ in range(draw(st.integers(0, ACTIONS))):
        commands = possible(run, draw)
        if not commands:
            return
        command = draw(st.sampled_from(commands))
        run.world.now += HOURS if isinstance(command, FireTimer) else 0
        run.send(command)
        if draw(st.integers(1, 4)) == 1 and once(command):
            refused_without_change(run, command)


def refused_without_change(run: WorldRun, command: AnyCommand) -> None:
    """The second delivery of a command finds nothing and leaves the state as it was."""
    before = encode_state(run.now_state)
    variables = dict(run.variables)
    with pytest.raises(Rejected):
        run.decide(command)
    assert encode_state(run.now_state) == before
    assert run.variables == variables


def once(command: AnyCommand) -> bool:
    """Whether a command can only be carried out once."""
    return isinstance(command, CompleteJob | CompleteUserTask | FireTimer | ThrowError | FailJob | ResolveIncident)


def possible(run: WorldRun, draw: Any) -> list[AnyCommand]:
    """The commands that fit the state now."""
    state = run.now_state
    value = {"v": draw(st.integers(0, 2))}
    if state.status != Status.ACTIVE:
        return []
    found: list[AnyCommand] = [SetVariables(value)]
    stuck = {incident.job for incident in state.incidents.values()}
    for key, made in run.jobs.items():
        found.append(CompleteJob(key, value))
        if key not in stuck and made.type != "undo":
            found += [FailJob(key, "broken"), ThrowError(key, draw(st.sampled_from(["X", "Z"])))]
    found += [CompleteUserTask(node.user_task, value) for node in state.nodes.values() if node.user_task]
    found += [FireTimer(wait.key) if wait.due else Correlate(wait.key, "", value) for _, wait in run.waits()]
    found += [ResolveIncident(key, 1) for key in state.incidents]
    return found


def drain(run: WorldRun) -> None:
    """Complete and trigger everything until the instance is over; boundary events stay quiet."""
    if run.now_state.status == Status.ACTIVE:
        run.set(v=0)
    for _ in range(DRAIN_MAX):
        state = run.now_state
        if state.status != Status.ACTIVE:
            return
        run.world.now += HOURS
        if state.incidents:
            run.resolve()
        elif run.jobs:
            run.send(CompleteJob(next(iter(run.jobs)), {"v": 0}))
        elif tasks := [node.user_task for node in state.nodes.values() if node.user_task]:
            run.send(CompleteUserTask(tasks[0], {"v": 0}))
        elif waits := [wait for node, wait in run.waits() if is_awaited(run, node.element, wait.element)]:
            key = waits[0].key
            run.send(FireTimer(key) if waits[0].due else Correlate(key, ""))
        else:
            return


def is_awaited(run: WorldRun, owner: int, element: int) -> bool:
    """Whether a token waits for this event, so that the instance depends on it."""
    elements = run.definition.elements
    return elements[element].attached_to < 0 and elements[owner].event_sub_processes == ()
