"""Random processes under random orders: no rule is ever broken, whatever happens in whatever order.

Every step is checked by the run itself: the invariants, the fold of the events, the state through its bytes (a crash
between any two commits). Commands are delivered twice now and then; a command that is refused changes nothing. Now and
then a step may only be a few events long, so that everything is done in many steps, with commands in between.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from procession.core import encode_state, fold, moving, removal
from procession.core.commands import (
    Activate,
    AnyCommand,
    Cancel,
    CompleteJob,
    CompleteUserTask,
    Continue,
    Correlate,
    FailJob,
    FireTimer,
    Modify,
    ResolveIncident,
    Resume,
    SetVariables,
    Suspend,
    ThrowError,
    UpdateUserTask,
)
from procession.core.elements import conditions
from procession.core.events import AnyEvent
from procession.core.state import Status
from procession.errors import Rejected
from procession.testing.world import CoreWorld, WorldRun
from tests.core.growing import structured, tangled

ENCODER = msgspec.json.Encoder()
DECODER = msgspec.json.Decoder(list[AnyEvent])
ACTIONS = 12
CANCEL_STEPS_MAX = 2_000  # a tangle may have grown to thousands of tokens, and a step be short
DRAIN_MAX = 600
HOURS = 10_800_000  # longer than any timer
RUNNING = {Status.ACTIVE, Status.SUSPENDED}
QUICK = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@QUICK
@given(st.data())
def test_a_structured_process_ends_whatever_happens_on_the_way(data):
    world = CoreWorld()
    with short_steps(data.draw):
        world.deploy(*structured(data.draw))
        run = world.start("p", {"v": data.draw(st.integers(0, 2))})
        disturb(run, data.draw)
        drain(run)
    for each in world.instances.values():
        history_is_the_truth(each)
        assert each.now_state.status not in RUNNING, "a called instance outlives its caller"
    assert run.ended, f"stuck: {run.active}, {run.parked()}, {[incident.message for incident in run.incidents]}"


@QUICK
@given(st.data())
def test_a_tangled_process_never_breaks_a_rule_and_can_be_cancelled(data):
    world = CoreWorld(follow_ups_max=20)
    world.deploy(tangled(data.draw), lenient=True)
    with short_steps(data.draw):
        try:
            run = world.start("p", {"v": data.draw(st.integers(0, 2))})
            disturb(run, data.draw, by_hand=True)
        except AssertionError as endless:
            if "without a pause" not in str(endless):
                raise
            run = next(iter(world.instances.values()))
            world.queue.clear()
        if run.now_state.status in RUNNING:
            given_or_refused(run, Cancel(), whole=False)
        for _ in range(CANCEL_STEPS_MAX):
            if run.now_state.status not in RUNNING:
                break
            agree_to_the_end(run)
    assert run.ended or run.terminated
    history_is_the_truth(run)


def agree_to_the_end(run: WorldRun) -> None:
    """One step of a cancellation; whoever has to be told is told."""
    for key in list(run.now_state.incidents):
        given_or_refused(run, ResolveIncident(key, 1), whole=False)
    for key in [key for key, made in run.jobs.items() if made.type == "told"]:
        given_or_refused(run, CompleteJob(key), whole=False)
    given_or_refused(run, Continue(), whole=False)
    run.world.queue.clear()


@contextmanager
def short_steps(draw: Any) -> Iterator[None]:
    """Steps of a few events now and then, and removals in even smaller parts."""
    short, shorter = draw(st.sampled_from([(30, 4), (2_000, 4), (2_000, 2_000)]))
    with pytest.MonkeyPatch.context() as patch:
        for module in (moving, conditions):
            patch.setattr(module, "STEP_EVENTS_MAX", short)
        patch.setattr(removal, "STEP_EVENTS_MAX", shorter)
        yield


def history_is_the_truth(run: WorldRun) -> None:
    """The stored history, read back, folds to the state."""
    stored = DECODER.decode(ENCODER.encode(run.events))
    folded = fold(stored)
    for field in ("status", "nodes", "incidents", "pending", "variables"):
        assert getattr(folded, field) == getattr(run.now_state, field)


def disturb(run: WorldRun, draw: Any, *, by_hand: bool = False) -> None:
    """Let random things happen, now and then twice; ``by_hand``: tokens are moved too."""
    for _ in range(draw(st.integers(0, ACTIONS))):
        among = [each for each in run.world.instances.values() if each.now_state.status in RUNNING]
        if not among:
            return
        each = draw(st.sampled_from(among))
        commands = possible(each, draw) + (moves(each, draw) if by_hand else [])
        command = draw(st.sampled_from(commands))
        each.world.now += HOURS if isinstance(command, FireTimer) else 0
        given_or_refused(each, command)
        if draw(st.integers(1, 4)) == 1 and once(command) and each.now_state.status in RUNNING:
            refused_without_change(each, command)


def given_or_refused(run: WorldRun, command: AnyCommand, *, whole: bool = True) -> None:
    """Give a command; if it is refused, nothing changes. ``whole``: with all that follows from it."""
    before = encode_state(run.now_state)
    try:
        if whole:
            run.send(command)
        else:
            run.decide(command)
    except Rejected:
        assert encode_state(run.now_state) == before


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
    return isinstance(command, CompleteJob | FireTimer | ThrowError | FailJob | ResolveIncident)


def possible(run: WorldRun, draw: Any) -> list[AnyCommand]:
    """The commands that fit the state now."""
    state = run.now_state
    value = {"v": draw(st.integers(0, 2))}
    if state.status == Status.SUSPENDED:
        return [Resume(), Resume(), *(CompleteJob(key, value) for key in run.jobs)]
    if state.status != Status.ACTIVE:
        return []
    found: list[AnyCommand] = [SetVariables(value), Suspend()]
    stuck = {incident.job for incident in state.incidents.values()}
    for key, made in run.jobs.items():
        found.append(CompleteJob(key, value))
        if key not in stuck and made.type != "undo":
            found += [FailJob(key, "broken"), ThrowError(key, draw(st.sampled_from(["X", "Z"])))]
    for node in state.nodes.values():
        if node.user_task:
            found += [
                CompleteUserTask(node.user_task, value),
                UpdateUserTask(node.user_task, {"assignee": "a"}, "assign"),
            ]
    found += [FireTimer(wait.key) if wait.due else Correlate(wait.key, "", value) for _, wait in run.waits()]
    found += [ResolveIncident(key, 1) for key in state.incidents]
    return found


def moves(run: WorldRun, draw: Any) -> list[AnyCommand]:
    """Tokens put somewhere, and taken away."""
    names = [element.id for element in run.definition.elements[1:]]
    keys = [node.key for node in run.now_state.nodes.values() if node.scope]
    found: list[AnyCommand] = [Modify(activate=[Activate(draw(st.sampled_from(names)), variables={"v": 1})])]
    if keys:
        found.append(Modify(terminate=[draw(st.sampled_from(keys))]))
        found.append(Modify(activate=[Activate(draw(st.sampled_from(names)))], terminate=[draw(st.sampled_from(keys))]))
    return found


def drain(run: WorldRun) -> None:
    """Complete and trigger everything until the instance and what it called are over; boundary events stay quiet."""
    for each in list(run.world.instances.values()):
        if each.now_state.status == Status.SUSPENDED:
            each.resume()
        if each.now_state.status == Status.ACTIVE:
            each.set(v=0)
    for _ in range(DRAIN_MAX):
        run.world.now += HOURS
        among = [each for each in run.world.instances.values() if each.now_state.status == Status.ACTIVE]
        if not any(push(each) for each in reversed(among)):
            return


def push(run: WorldRun) -> bool:
    """Let one instance go on by one command. False when there is none."""
    state = run.now_state
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
        return False
    return True


def is_awaited(run: WorldRun, owner: int, element: int) -> bool:
    """Whether a token waits for this event, so that the instance depends on it."""
    elements = run.definition.elements
    return elements[element].attached_to < 0 and elements[owner].event_sub_processes == ()
