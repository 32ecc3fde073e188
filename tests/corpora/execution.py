"""Accepted models of foreign collections, executed on the rules with workers that complete every job.

A run goes on until the instance is over or everything that is left waits for somebody: a person asked by an incident, a
message, a signal, a condition. Then each of these is triggered a few times, timers fire, and at the end everything is
cancelled. Every step is checked (invariants, the fold of the events, the state's bytes); what must not happen is an
internal error, an endless loop within a step, or a token that waits for nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from procession.core.commands import CompleteJob, CompleteUserTask
from procession.core.state import Status
from procession.errors import Conflict, InvalidValue, NotFound
from procession.limits import STEP_EVENTS_MAX
from procession.model import InvalidModel, Resource, compile_resource
from procession.model.definition import Definition
from procession.testing.world import CoreWorld, Endless, WorldRun
from tests.corpora.parse import models
from tests.corpora.runner import Case, Failed, Judge

ACTIONS_MAX = 150  # of one start: jobs completed, events triggered, timers fired
TRIGGERS_MAX = 2  # per event and instance
INSTANCES_MAX = 20
FOLLOW_UPS_MAX = 100  # without a pause: then it is a loop
OVERSHOOT = 500  # events of the last element of a bounded step

EXECUTED = ("zeebe-models", "camunda-8-examples", "go-bpmn", "camunda-7-models", "flowable-models", "miwg")


def cases(folder: Path) -> Iterable[Case]:
    """A case per accepted file."""
    for path in models(folder):
        try:
            resource = compile_resource(path.read_bytes(), executable_only=False, lenient=True)
        except InvalidModel:
            continue  # judged by the deploy verdicts
        yield Case(str(path.relative_to(folder)), partial(check, path, resource))


def check(path: Path, resource: Resource) -> None:
    """Start every process at each of its starts, and drive it."""
    loops = any("ENDLESS_LOOP" in problem.code for problem in resource.problems)  # said at deployment: only tolerated
    for definition in resource.definitions:
        starts = [definition.elements[index].id for index in definition.start_events]
        if definition.none_start >= 0 or definition.elements[0].starts:
            starts.append("")
        for start in starts:
            bounded(path.read_bytes(), definition, start, loops=loops)


def bounded(content: bytes, definition: Definition, start: str, *, loops: bool) -> None:
    """One start; what never ends does so in bounded steps, and was said at deployment. Raises Failed."""
    world = CoreWorld(follow_ups_max=FOLLOW_UPS_MAX)
    try:
        drive(world, content, definition, start)
    except Endless as endless:
        if not loops and len(world.instances) < INSTANCES_MAX:  # else a process that starts itself
            raise Failed(str(endless)) from None
    longest = max((run.longest for run in world.instances.values()), default=0)
    if longest > STEP_EVENTS_MAX + OVERSHOOT:
        raise Failed(f"a step had {longest} events")


def drive(world: CoreWorld, content: bytes, definition: Definition, start: str) -> None:
    """One start, until nothing is left to do. Raises Failed."""
    try:
        world.deploy(content, lenient=True, executable_only=False)
    except InvalidValue:
        return  # a timer start that needs variables
    world.start_timers.clear()
    world.start(definition.process_id, {}, **({"start": start} if start else {}))
    triggered: Counter[tuple[int, int]] = Counter()
    for _ in range(ACTIONS_MAX):
        if len(world.instances) > INSTANCES_MAX or not act(world, triggered):
            break
    for run in list(world.instances.values()):
        everything_waits(run)
    for run in list(world.instances.values()):
        if run.now_state.status == Status.ACTIVE and not run.now_state.parent:
            run.cancel()
    left = [run.active for run in world.instances.values() if not (run.ended or run.terminated)]
    if left:
        raise Failed(f"still there after cancelling: {left}")


def act(world: CoreWorld, triggered: Counter[tuple[int, int]]) -> bool:
    """Complete the oldest job, else let something happen that is waited for. False when there is nothing."""
    for run in list(world.instances.values()):
        state = run.now_state
        stuck = {incident.job for incident in state.incidents.values()}
        for key, owner in sorted(state.jobs.items()):
            node = state.nodes[owner]
            if key == node.job and key not in stuck:
                run.send(CompleteJob(key))
                return True
            if key == node.user_task and not node.job:
                run.send(CompleteUserTask(key))
                return True
    return any(happen(run, triggered) for run in list(world.instances.values()))


def happen(run: WorldRun, triggered: Counter[tuple[int, int]]) -> bool:
    """Trigger the oldest thing that an instance waits for, a few times each."""
    for _, wait in run.waits():
        name = (run.instance, wait.element)
        if triggered[name] >= TRIGGERS_MAX:
            continue
        triggered[name] += 1
        element = run.definition.elements[wait.element].id
        try:
            if wait.due:
                run.fire(element)
            else:
                run.trigger(element)
        except (NotFound, Conflict) as refusal:
            raise Failed(f"'{element}' is waited for, but {refusal}") from None
        return True
    return False


def everything_waits(run: WorldRun) -> None:
    """Every token of an instance that is not over waits for something. Raises Failed."""
    state = run.now_state
    if state.status != Status.ACTIVE:
        return
    if state.pending:
        raise Failed(f"tokens were left on their way: {state.pending}")
    if not state.nodes[state.root].incident and len(state.nodes) == 1 and not state.parked:
        raise Failed("the instance is active, but holds no token")


JUDGES = tuple(Judge(f"{name}:run", name, cases) for name in EXECUTED)
