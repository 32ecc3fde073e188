"""What happens when something that was waited for has come: catch, boundary, event-based gateway, event sub-process.

One event wins: an interruption removes everything within its scope, children first, before the event's own flow is
taken. It opens no wait itself, except the next repetition of a timer cycle.
"""

from __future__ import annotations

from typing import Any

from procession.core import events as e
from procession.core.lifecycle import CAME, activate, begin_after_event, complete, pass_through
from procession.core.removal import empty, take_away
from procession.core.state import ElementInstance, Wait
from procession.core.step import Step
from procession.core.variables import propagate, write
from procession.core.waits import close_waits, close_waits_of, rearm
from procession.model.definition import Element, EventSpec, Kind, Trigger


def fire(step: Step, owner: ElementInstance, wait: Wait, variables: dict[str, Any]) -> None:
    """A timer is due, or a message, signal or condition has come, for a wait that is still open."""
    element = step.elements[wait.element]
    spec = element.events[wait.spec]
    repeats = _stays_open(element, spec, wait)
    if not repeats:
        step.emit(e.WaitClosed(wait.key, "fired"))
    if spec.trigger == Trigger.TIMER and (wait.cycle and element.kind == Kind.INTERMEDIATE_CATCH_EVENT):
        repeat(step, element, owner, wait)
        return
    if spec.trigger == Trigger.TIMER and not element.interrupting:
        rearm(step, wait, owner)
    if element.parallel_multiple and not _all_came(step, owner, wait, open_still=repeats):
        if variables:
            propagate(step, owner.key, variables)
        return
    happen(step, element, owner, spec, variables)


def repeat(step: Step, element: Element, owner: ElementInstance, wait: Wait) -> None:
    """A catch event that waits for a cycle: a token per repetition; it ends with the last one."""
    rearm(step, wait, owner)
    if not owner.waits:
        complete(step, element, owner)
        return
    step.emit(e.Triggered(element.index, owner.scope, Trigger.TIMER, ""))
    go_on(step, element, owner.scope, {})


def happen(step: Step, element: Element, owner: ElementInstance, spec: EventSpec, variables: dict[str, Any]) -> None:
    """A catching element is triggered."""
    kind = element.kind
    if kind == Kind.BOUNDARY_EVENT:
        trigger_boundary(step, element, owner, spec, variables)
    elif kind == Kind.START_EVENT and owner.element != element.index:
        trigger_event_sub_process(step, element, owner, spec, variables)
    elif owner.element != element.index:
        trigger_gateway(step, element, owner, spec, variables)
    else:
        complete(step, element, owner, variables)


def trigger_boundary(
    step: Step, element: Element, host: ElementInstance, spec: EventSpec, variables: dict[str, Any]
) -> None:
    """Interrupt the host, or not, and go on from the boundary event."""
    scope = host.scope
    step.emit(e.Triggered(element.index, scope, spec.trigger, spec.ref))
    if element.interrupting:
        take_away(step, host.key, "boundary", element=element.index, variables=variables)
    else:
        go_on(step, element, scope, variables)


def host_removed(step: Step, scope: int, about: dict[str, Any]) -> None:
    """The activity is gone: go on from the boundary event that interrupted it."""
    index: int = about["element"]
    go_on(step, step.elements[index], scope, about["variables"])


def trigger_event_sub_process(
    step: Step, start: Element, scope: ElementInstance, spec: EventSpec, variables: dict[str, Any]
) -> None:
    """Start an event sub-process with the event's variables in its own scope; an interrupting one clears the scope."""
    step.emit(e.Triggered(start.index, scope.key, spec.trigger, spec.ref))
    around = step.elements[scope.element]
    if start.interrupting:
        close_waits_of(step, scope, {step.elements[index].start_event for index in around.event_sub_processes})
        empty(step, scope.key, "event-sub-process", element=start.scope, variables=variables)
    else:
        scope_emptied(step, scope.key, {"element": start.scope, "variables": variables})


def scope_emptied(step: Step, scope: int, about: dict[str, Any]) -> None:
    """Nothing is left of what an event sub-process interrupts: it starts."""
    index: int = about["element"]
    activate(step, step.elements[index], scope, variables=about["variables"])
    step.ended_in[scope] = None


def trigger_gateway(
    step: Step, element: Element, gateway: ElementInstance, spec: EventSpec, variables: dict[str, Any]
) -> None:
    """The first event behind an event-based gateway wins; the others are closed. A parallel one needs them all."""
    scope = gateway.scope
    if step.elements[gateway.element].event_gateway_type != "Parallel":
        close_waits(step, gateway)
    else:
        close_waits_of(step, gateway, {element.index})
    if not gateway.waits:
        step.emit(e.Completed(gateway.key))
    step.emit(e.FlowTaken(element.incoming[0], scope))
    step.emit(e.Triggered(element.index, scope, spec.trigger, spec.ref))
    go_on(step, element, scope, variables)


def go_on(step: Step, element: Element, scope: int, variables: dict[str, Any]) -> None:
    """Leave a triggered event; its variables go up, or through its output mappings."""
    if element.outputs or element.listeners:
        node = activate_silently(step, element, scope, variables if element.outputs else {})
        step.emit(e.DataChanged(node.key, {CAME: {} if element.outputs else variables}))
        begin_after_event(step, element, node)
        return
    if variables:
        propagate(step, scope, variables)
    pass_through(step, element, scope)


def activate_silently(step: Step, element: Element, scope: int, variables: dict[str, Any]) -> ElementInstance:
    """An element instance for an event that has happened already: local variables, no work."""
    key = step.keys.take()
    step.emit(e.Activated(key, element.index, scope, -1, False, 0))  # noqa: FBT003 - a positional record
    if variables:
        write(step, key, variables)
    return step.state.nodes[key]


def _stays_open(element: Element, spec: EventSpec, wait: Wait) -> bool:
    """Whether a wait outlives its match: messages, signals and conditions of non-interrupting events."""
    del wait
    return not element.interrupting and spec.trigger != Trigger.TIMER


def _all_came(step: Step, owner: ElementInstance, wait: Wait, *, open_still: bool) -> bool:
    """Of a parallel multiple event: whether this was the last of the things it waits for."""
    if open_still:
        step.emit(e.WaitSeen(wait.key, True))  # noqa: FBT003 - a positional record
        waits = [other for other in owner.waits or () if other.element == wait.element]
        if not all(other.seen for other in waits):
            return False
        for other in waits:
            step.emit(e.WaitSeen(other.key, False))  # noqa: FBT003
        return True
    return not any(other.element == wait.element for other in owner.waits or ())
