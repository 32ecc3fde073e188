"""Start, end, catch and throw events, and the gateway that waits for the first of several events.

What is thrown at others (messages, signals) leaves as a follow-up; errors and escalations go up the scopes
(``errors.py``); what happens when a catching event is triggered stands in ``triggers.py``.
"""

from __future__ import annotations

from typing import Any

from procession.core import events as e
from procession.core.elements.compensation import (
    cancel_transaction,
    handler_done,
    leave_transaction,
    throw_compensation,
)
from procession.core.elements.errors import throw_error, throw_escalation
from procession.core.elements.signals import broadcast
from procession.core.elements.tasks import publish, start_job
from procession.core.lifecycle import activate, complete, pass_through, raise_incident
from procession.core.problems import Problem
from procession.core.removal import empty, is_gone
from procession.core.state import ElementInstance, IncidentKind, Phase
from procession.core.step import Step
from procession.core.variables import visible_variables
from procession.core.waits import open_event, text_of
from procession.jobs.kinds import JobKind
from procession.model.definition import Element, EventSpec, Kind, Trigger, Work


def enter_start(step: Step, element: Element, scope: int, flow: int) -> None:
    """A start event lets its token through; with mappings or listeners it has a life of its own for them."""
    if element.outputs or element.listeners:
        activate(step, element, scope, flow)
    else:
        pass_through(step, element, scope)


def start_start(step: Step, element: Element, node: ElementInstance) -> None:
    """A start event has no work."""
    complete(step, element, node)


def enter_catch(step: Step, element: Element, scope: int, flow: int) -> None:
    """Wait for the event; a link that is jumped to, or an event without definition, passes."""
    if not element.events or element.events[0].trigger == Trigger.LINK:
        pass_through(step, element, scope)
    else:
        activate(step, element, scope, flow)


def start_catch(step: Step, element: Element, node: ElementInstance) -> None:
    """Open the waits. Raises Problem."""
    open_event(step, element, node, node.key)


def enter_gateway(step: Step, element: Element, scope: int, flow: int) -> None:
    """An event-based gateway waits for the first event behind it."""
    activate(step, element, scope, flow)


def start_gateway(step: Step, element: Element, node: ElementInstance) -> None:
    """Open the waits of all events behind the gateway. Raises Problem."""
    for flow in element.outgoing:
        open_event(step, step.elements[step.flows[flow].target], node, node.scope)


def enter_throw(step: Step, element: Element, scope: int, flow: int) -> None:
    """An intermediate throw or end event: none events pass, a link jumps, the rest throw in order."""
    works = element.events or element.inputs or element.outputs or element.listeners or element.job
    if not works or element.link_target >= 0:
        pass_through(step, element, scope)
    elif _terminates(element) and not (element.inputs or element.listeners):
        step.emit(e.Passed(step.keys.take(), element.index, scope))
        empty(step, scope, "settle")
    else:
        activate(step, element, scope, flow)


def start_throw(step: Step, element: Element, node: ElementInstance) -> None:
    """Throw everything that the event throws; what interrupts its scope ends it on the way. Raises Problem."""
    if element.work == Work.JOB:
        start_job(step, element, node)
        return
    if element.work == Work.METHOD:
        step.emit(e.JobCreated(step.keys.take(), node.key, JobKind.METHOD, element.work_name, 3, 0))
        return
    throw_from(step, element, node, 0)


def throw_from(step: Step, element: Element, node: ElementInstance, first: int) -> None:
    """Throw the event definitions in order, from the given one; stop where one waits. Raises Problem."""
    for position in range(first, len(element.events)):
        spec = element.events[position]
        more = spec.trigger == Trigger.COMPENSATION and position + 1 < len(element.events)
        if more:  # its handlers may be done at once, within the throw
            step.emit(e.DataChanged(node.key, {"thrown": position + 1}))
        if throw(step, element, node, spec) or is_gone(step.state, node.key):
            return
        if more:
            step.emit(e.DataChanged(node.key, {"thrown": None}))
    complete(step, element, node)


def throw(step: Step, element: Element, node: ElementInstance, spec: EventSpec) -> bool:
    """Throw one event definition; True when the event waits for what it threw. Raises Problem."""
    trigger = spec.trigger
    where = f"of '{element.id}' (line {element.line})"
    if trigger == Trigger.ERROR:
        code = text_of(step, spec.code, node.key, f"error code {where}") if spec.code is not None else ""
        throw_error(step, node, code, "", dict(node.variables or {}))
        return True
    if trigger == Trigger.ESCALATION:
        code = text_of(step, spec.code, node.key, f"escalation code {where}") if spec.code is not None else ""
        throw_escalation(step, node, code, dict(node.variables or {}))
        return False
    if trigger == Trigger.MESSAGE:
        publish(step, element, node, spec)
        return False
    if trigger == Trigger.SIGNAL:
        name = text_of(step, spec.name, node.key, f"name of the signal {where}")
        broadcast(step, name, visible_variables(step.state, node.key))
        return False
    if trigger == Trigger.COMPENSATION:
        return throw_compensation(step, node, spec)
    if trigger == Trigger.CANCEL:
        cancel_transaction(step, node)
        return True
    if trigger == Trigger.LINK:
        return False  # it is jumped when the event is left
    if trigger == Trigger.TERMINATE:
        empty(step, node.scope, "terminate", keep=(node.key,), event=node.key)
        return True
    message = f"'{element.id}' (line {element.line}) cannot throw a {trigger.name.lower()} event"
    raise Problem(IncidentKind.EXTRACT_VALUE_ERROR, message)


def all_terminated(step: Step, scope: int, about: dict[str, Any]) -> None:
    """A terminate end event has emptied its scope: it completes, and the scope with it."""
    del scope
    node = step.state.nodes[about["event"]]
    complete(step, step.elements[node.element], node)


def handler_completed(step: Step, element: Element, scope: int) -> None:
    """A compensation handler has completed: the event that waited for the last one goes on."""
    thrower = handler_done(step, element, scope)
    if thrower is None:
        return
    event = step.elements[thrower.element]
    thrown = (thrower.data or {}).get("thrown", 0)
    if any(spec.trigger == Trigger.CANCEL for spec in event.events):
        leave_transaction(step, thrower)
    elif thrown:
        step.emit(e.DataChanged(thrower.key, {"thrown": None}))
        try:
            throw_from(step, event, thrower, thrown)
        except Problem as problem:
            raise_incident(step, thrower, problem, Phase.ACTIVE)
    else:
        complete(step, event, thrower)


def _terminates(element: Element) -> bool:
    """Whether this is a plain terminate end event."""
    return (
        element.kind == Kind.END_EVENT and len(element.events) == 1 and element.events[0].trigger == Trigger.TERMINATE
    )
