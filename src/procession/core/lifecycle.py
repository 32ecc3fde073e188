"""The life of an element, stated once: activate, begin, complete, finish, leave; terminate. It knows no element family.

    activate --> begin -------> (work) --> complete --> finish ----------> leave --> gone, tokens on the flows
                 inputs, waits   start()    results      output mappings     choose flows, close waits
    terminate: children first, then jobs, tasks, waits, calls, incidents, then the element itself (see removal.py)

Where a problem stops it, the element instance stays in the phase of that step (ACTIVATING: begin, ACTIVE: work,
COMPLETING: finish, LEAVING: leave) with an incident, and resolving the incident does exactly that step again.
A family (``core/elements``) says what happens when a token enters, what the work is, and what its triggers do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from procession.core import events as e
from procession.core.listening import listen
from procession.core.problems import Problem
from procession.core.state import ElementInstance, IncidentKind, Phase
from procession.core.step import Step
from procession.core.variables import map_inputs, map_outputs, propagate, write
from procession.core.waits import close_waits, close_waits_of, open_boundaries
from procession.model.definition import Element, Kind

Enter = Callable[[Step, Element, int, int], None]
Start = Callable[[Step, Element, ElementInstance], None]
Left = Callable[[Step, Element, ElementInstance], bool]
HandlerDone = Callable[[Step, Element, int], None]


IN_DOUBT = "inDoubt"  # in the data of what only holds an incident about a condition
CAME = "came"  # in the data of an event that has happened already: what it brought


class Family(NamedTuple):
    """How one kind of element behaves."""

    enter: Enter  # a token arrives in a scope by a flow
    start: Start  # the element instance is active: do or order the work


class Loop(NamedTuple):
    """How a body of inner instances behaves."""

    start: Start  # the body is active
    left: Left  # the work of the body or of an inner instance is done: True when it takes no flow itself


FAMILIES: dict[int, Family] = {}  # by Kind; filled by core.elements
CHOOSERS: dict[int, Callable[[Step, Element, int], tuple[int, ...]]] = {}  # gateways' own rules; likewise
LOOPS: dict[bool, Loop] = {}  # by LoopSpec.multi_instance; likewise
COLLECTORS: list[Start] = []  # keep a result of an activity that ends a path in an ad-hoc sub-process; likewise
TAKERS: list[Callable[[Step, Element, int, int], bool]] = []  # hold a token before a flow for its listeners; likewise
JUDGES: list[Start] = []  # evaluate a condition in doubt again; likewise
HANDLER_DONE: list[HandlerDone] = []  # told when a compensation handler has completed; likewise


def activate(
    step: Step,
    element: Element,
    scope: int,
    flow: int = -1,
    *,
    loop_index: int = 0,
    body: bool = False,
    variables: dict[str, Any] | None = None,
) -> ElementInstance:
    """Make an element instance in a scope and begin it; ``variables`` become local."""
    key = step.keys.take()
    step.emit(e.Activated(key, element.index, scope, flow, body, loop_index))
    if variables:
        write(step, key, variables)
    node = step.state.nodes[key]
    begin(step, element, node)
    return node


def begin(step: Step, element: Element, node: ElementInstance) -> None:
    """Input mappings, start listeners, boundary events, then the family's work."""
    try:
        if element.inputs and not node.body:
            map_inputs(step, node, element.inputs)
        if element.listeners and not node.body and listen(step, element, node, "start"):
            return
        if element.boundaries or node.body:
            open_and_start(step, element, node)
        else:
            FAMILIES[element.kind].start(step, element, node)
    except Problem as problem:
        raise_incident(step, node, problem, Phase.ACTIVATING)


def begin_after_event(step: Step, element: Element, node: ElementInstance) -> None:
    """An event that has happened already: start listeners, then it completes with what it brought."""
    try:
        if listen(step, element, node, "start"):
            return
    except Problem as problem:
        raise_incident(step, node, problem, Phase.ACTIVATING)
        return
    complete_after_event(step, element, node)


def complete_after_event(step: Step, element: Element, node: ElementInstance) -> None:
    """What an event brought goes up, or through its output mappings."""
    results: dict[str, Any] = (node.data or {})[CAME]
    step.emit(e.DataChanged(node.key, {CAME: None}))
    complete(step, element, node, results)


def open_and_start(step: Step, element: Element, node: ElementInstance) -> None:
    """Boundary events, then the family's work. Raises Problem."""
    if element.boundaries and not node.loop_index:
        open_boundaries(step, element, node)
    start(step, element, node)


def start(step: Step, element: Element, node: ElementInstance) -> None:
    """Do or order the work: the loop's for a body, else the family's. Raises Problem."""
    if node.body and element.loop is not None:
        LOOPS[element.loop.multi_instance].start(step, element, node)
    else:
        FAMILIES[element.kind].start(step, element, node)


def complete(step: Step, element: Element, node: ElementInstance, results: dict[str, Any] | None = None) -> None:
    """The work is done: keep its results, then finish."""
    if results:
        if element.outputs and not node.body:
            write(step, node.key, results)
        else:
            propagate(step, node.key, results)
    if element.outputs or element.listeners:
        finish(step, element, node)
    else:
        leave(step, element, node)


def finish(step: Step, element: Element, node: ElementInstance) -> None:
    """Output mappings, end listeners, then leave."""
    if node.body:
        leave(step, element, node)
        return
    try:
        if element.outputs:
            map_outputs(step, node, element.outputs)
        if element.listeners and listen(step, element, node, "end"):
            return
    except Problem as problem:
        raise_incident(step, node, problem, Phase.COMPLETING)
        return
    leave(step, element, node)


def leave(step: Step, element: Element, node: ElementInstance) -> None:
    """Choose the flows, close the waits, be gone, and put tokens on the flows."""
    if element.loop is not None and LOOPS[element.loop.multi_instance].left(step, element, node):
        return
    try:
        flows = choose(step, element, node.scope)
        if element.collected_by >= 0:
            COLLECTORS[0](step, element, node)
    except Problem as problem:
        raise_incident(step, node, problem, Phase.LEAVING)
        return
    if element.compensation_handler >= 0 or node.compensations or element.is_compensable:
        record(step, element, node)
    if node.waits:
        close_waits(step, node)
    scope = node.scope
    step.emit(e.Completed(node.key))
    take(step, element, scope, flows)


def close_event_sub_processes(step: Step, node: ElementInstance) -> None:
    """A scope starts no event sub-process any more."""
    if node.waits:
        starts = {step.elements[index].start_event for index in step.elements[node.element].event_sub_processes}
        close_waits_of(step, node, starts)


def pass_through(step: Step, element: Element, scope: int) -> None:
    """Let a token through an element that does not wait, by all of its flows."""
    if element.listeners:
        activate(step, element, scope)
        return
    try:
        flows = choose(step, element, scope)
    except Problem as problem:
        stay(step, element, scope, problem)
        return
    step.events.append(e.Passed(step.keys.take(), element.index, scope))  # changes no state: not applied
    take(step, element, scope, flows)


def stay(step: Step, element: Element, scope: int, problem: Problem) -> None:
    """Keep a token at an element that usually does not wait, with an incident; resolving it leaves again."""
    key = step.keys.take()
    step.emit(e.Activated(key, element.index, scope, -1, False, 0))  # noqa: FBT003 - a positional record
    raise_incident(step, step.state.nodes[key], problem, Phase.LEAVING)


def choose(step: Step, element: Element, scope: int) -> tuple[int, ...]:
    """The flows that a token leaves by (BPMN 2.0, 13.2).

    All without a condition and those whose condition holds; the default where no condition holds. Gateways have rules
    of their own. Raises Problem when there is nothing to leave by.
    """
    outgoing = element.outgoing
    flows = step.flows
    if element.kind in CHOOSERS:
        return CHOOSERS[element.kind](step, element, scope)
    if len(outgoing) == 1:
        flow = flows[outgoing[0]]
        if flow.condition is None or flow.index == element.default_flow:
            return outgoing
    elif not outgoing or not any(flows[index].condition is not None for index in outgoing):
        return outgoing
    return choose_by_conditions(step, element, scope)


def choose_by_conditions(step: Step, element: Element, scope: int) -> tuple[int, ...]:
    """An activity's or event's flows, some of which have conditions. Raises Problem."""
    context = step.context(scope)
    held = False
    chosen: list[int] = []
    for index in element.outgoing:
        condition = step.flows[index].condition
        if index == element.default_flow:
            continue
        if condition is None:
            chosen.append(index)
        elif step.evaluate(condition, context) is True:
            held = True
            chosen.append(index)
    step.be_strict(IncidentKind.CONDITION_ERROR, "condition of a flow", element)
    if not held and element.default_flow >= 0:
        chosen.append(element.default_flow)
    if not chosen:
        return default_of(step, element)
    step.warnings.clear()
    return tuple(chosen)


def default_of(step: Step, element: Element) -> tuple[int, ...]:
    """The default flow, when no condition holds. Raises Problem when there is none."""
    why = step.take_warnings()
    if element.default_flow >= 0:
        return (element.default_flow,)
    message = (
        f"No condition of the flows leaving '{element.id}' (line {element.line}) is true and it has no default flow"
    )
    raise Problem(IncidentKind.CONDITION_ERROR, message + (f": {why}" if why else ""))


def take(step: Step, element: Element, scope: int, flows: tuple[int, ...]) -> None:
    """Put a token on each of the flows; none: the path ends here."""
    if not flows and element.link_target >= 0:
        step.enter(element.link_target, scope)
        return
    if not flows:
        step.ended_in[scope] = None
        if element.is_for_compensation:
            HANDLER_DONE[0](step, element, scope)
        return
    for _ in range(element.completion_quantity):
        for flow in flows:
            chosen = step.flows[flow]
            if chosen.listeners and TAKERS[0](step, element, scope, flow):
                continue
            step.events.append(e.FlowTaken(flow, scope))  # changes no state: not applied
            if element.async_after:
                step.defer(flow, chosen.target, scope)
            else:
                step.todo.append((flow, chosen.target, scope))


def record(step: Step, element: Element, node: ElementInstance) -> None:
    """Remember a completed activity whose compensation may become due, with what completed within it.

    Each inner instance of a repeated activity has its own handler run (BPMN 2.0, 10.7.1); its body's only gathers them.
    """
    variables = dict(node.variables) if node.variables else None
    nested = node.key if node.compensations else 0
    if nested or not node.body:
        step.emit(e.CompensationRecorded(node.scope, element.index, variables, nested, node.body))


def raise_incident(step: Step, node: ElementInstance, problem: Problem, phase: Phase, job: int = 0) -> None:
    """Stop the element instance in a phase and ask a person."""
    step.warnings.clear()
    step.emit(e.IncidentRaised(step.keys.take(), node.key, problem.kind, problem.message, job, phase))


def resolve(step: Step, element: Element, node: ElementInstance, retries: int) -> None:
    """Do the step again at which an incident stopped the element instance; its incident is closed already."""
    phase = node.phase
    if node.data and IN_DOUBT in node.data:
        JUDGES[0](step, element, node)
    elif node.job:
        step.emit(e.JobRevived(node.job, retries))
    elif phase == Phase.COMPLETING and element.kind in {Kind.PROCESS, Kind.EVENT_SUB_PROCESS}:
        step.emit(e.PhaseChanged(node.key, Phase.ACTIVE))
        step.ended_in[node.key] = None
    elif phase == Phase.COMPLETING:
        finish(step, element, node)
    elif phase == Phase.LEAVING:
        leave(step, element, node)
    elif phase == Phase.ACTIVATING:
        step.emit(e.PhaseChanged(node.key, Phase.ACTIVE))
        close_waits(step, node)
        again = begin_after_event if node.data and CAME in node.data else begin
        again(step, element, node)
    elif element.kind == Kind.AD_HOC_SUB_PROCESS:
        step.ended_in[node.key] = None  # what stopped it was its completion condition
    elif not node.user_task:
        try:
            start(step, element, node)
        except Problem as problem:
            raise_incident(step, node, problem, Phase.ACTIVE)
