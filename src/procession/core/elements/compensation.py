"""Compensation and transactions: handlers run in reverse order of completion, and the throwing event waits for them.

A scope's element instance keeps a record per completed activity that has a handler, or that contains such activities.
``throw_compensation`` marks the records that are due and runs one handler at a time; when none is left, whoever threw
goes on. Records are made when an activity completes and never recomputed (design rule 9).
"""

from __future__ import annotations

from typing import Any

from procession.core import events as e
from procession.core.lifecycle import activate, complete, empty, terminate
from procession.core.problems import Problem
from procession.core.state import Compensation, ElementInstance, IncidentKind
from procession.core.step import Step
from procession.errors import Bug
from procession.model.definition import Element, EventSpec, Kind, Trigger

DUE, RUNNING, DONE = 0, 1, 2


def throw_compensation(step: Step, node: ElementInstance, spec: EventSpec) -> bool:
    """Compensate the thrower's scope, or one activity of it. True: the thrower waits for the handlers."""
    scope = compensated_scope(step, node, spec.activity)
    step.emit(e.DataChanged(node.key, {"compensates": scope, "activity": spec.activity}))
    step.emit(e.ErrorThrown(node.key, Trigger.COMPENSATION, "", ""))
    return go_on(step, step.state.nodes[node.key])


def compensated_scope(step: Step, node: ElementInstance, activity: int) -> int:
    """The scope whose records are meant: the thrower's own, or that around its compensation event sub-process."""
    nodes = step.state.nodes
    key = node.scope
    while True:
        here = nodes[key]
        element = step.elements[here.element]
        if activity >= 0:
            if step.elements[activity].scope == here.element or here.scope == 0:
                return key
        elif element.kind != Kind.EVENT_SUB_PROCESS:
            return key
        key = here.scope


def go_on(step: Step, thrower: ElementInstance) -> bool:
    """Run the next handler that is due for a thrower; False when there is none and it may go on."""
    data = thrower.data or {}
    scope = data["compensates"]
    found = _next(step, step.state.nodes[scope].compensations, data["activity"], ())
    if found is None:
        step.emit(e.DataChanged(thrower.key, {"compensates": None, "activity": None}))
        return False
    path, record, variables = found
    handler = _handler(step, record)
    if handler is None:
        message = f"Element {record.element} was recorded for compensation, but it has no handler"
        raise Bug(message)
    step.emit(e.CompensationChanged(scope, path, RUNNING, thrower.key))
    activate(step, handler, scope, body=handler.loop is not None, variables=variables or None)
    return True


def handler_done(step: Step, element: Element, scope: int) -> None:
    """A handler completed: its record is done, and the thrower that waits for it goes on."""
    state = step.state
    found = _running(step, state.nodes[scope].compensations, element, ())
    if found is None:
        step.ended_in[scope] = None
        return
    path, record = found
    step.emit(e.CompensationChanged(scope, path, DONE, 0))
    thrower = state.nodes.get(record)
    if thrower is None:
        return
    if not go_on(step, thrower):
        finish_thrower(step, thrower)


def finish_thrower(step: Step, thrower: ElementInstance) -> None:
    """All handlers have run: the throwing event completes, or the transaction is cancelled."""
    element = step.elements[thrower.element]
    if element.events and any(spec.trigger == Trigger.CANCEL for spec in element.events):
        leave_transaction(step, thrower)
    else:
        complete(step, element, thrower)


def cancel_transaction(step: Step, node: ElementInstance) -> None:
    """End everything active in the transaction, compensate what completed, then take the cancel boundary event."""
    scope = transaction_of(step, node)
    if node.scope != scope:
        message = f"The cancel end event '{step.elements[node.element].id}' must stand directly within its transaction"
        raise Problem(IncidentKind.COMPENSATION_ERROR, message)
    empty(step, scope, but=node.key)
    step.emit(e.DataChanged(node.key, {"compensates": scope, "activity": -1}))
    if not go_on(step, step.state.nodes[node.key]):
        leave_transaction(step, node)


def transaction_of(step: Step, node: ElementInstance) -> int:
    """The key of the transaction around an element instance. Raises Problem."""
    key = node.scope
    while key:
        here = step.state.nodes[key]
        if step.elements[here.element].kind == Kind.TRANSACTION:
            return key
        key = here.scope
    message = f"'{step.elements[node.element].id}' is a cancel end event outside a transaction"
    raise Problem(IncidentKind.UNHANDLED_ERROR_EVENT, message)


def leave_transaction(step: Step, node: ElementInstance) -> None:
    """The transaction is cancelled: go on from its cancel boundary event, if it has one."""
    transaction = step.state.nodes[transaction_of(step, node)]
    host = transaction if not transaction.loop_index else step.state.nodes[transaction.scope]
    element = step.elements[host.element]
    scope = host.scope
    terminate(step, host.key)
    for index in element.boundaries:
        boundary = step.elements[index]
        if any(spec.trigger == Trigger.CANCEL for spec in boundary.events):
            step.emit(e.Triggered(index, scope, Trigger.CANCEL, ""))
            step.emit(e.Passed(step.keys.take(), index, scope))
            for flow in boundary.outgoing:
                step.emit(e.FlowTaken(flow, scope))
                step.enter(step.flows[flow].target, scope, flow)
            return
    step.ended_in[scope] = None


def scope_left(step: Step, element: Element, node: ElementInstance) -> bool:
    """A compensation event sub-process that ends is a handler that is done. True when it was one."""
    start = step.elements[element.start_event]
    if not any(spec.trigger == Trigger.COMPENSATION for spec in start.events):
        return False
    scope = node.scope
    step.emit(e.Completed(node.key))
    handler_done(step, element, scope)
    return True


def _handler(step: Step, record: Compensation) -> Element | None:
    """The handler of a record: of the activity, or the compensation event sub-process within it."""
    element = step.elements[record.element]
    if element.compensation_handler >= 0:
        return step.elements[element.compensation_handler]
    return compensation_event_sub_process(step, element)


def compensation_event_sub_process(step: Step, element: Element) -> Element | None:
    """The event sub-process of a sub-process that compensates it."""
    for index in element.event_sub_processes:
        start = step.elements[index].start_event
        if start >= 0 and any(spec.trigger == Trigger.COMPENSATION for spec in step.elements[start].events):
            return step.elements[index]
    return None


def _next(
    step: Step, records: list[Compensation] | None, activity: int, path: tuple[int, ...]
) -> tuple[tuple[int, ...], Compensation, dict[str, Any]] | None:
    """The last due record, looking into completed sub-processes that have no handler of their own."""
    for position in range(len(records or ()) - 1, -1, -1):
        record = (records or [])[position]
        if record.state != DUE or (activity >= 0 and record.element != activity):
            continue
        here = (*path, position)
        if _handler(step, record) is not None:
            return here, record, record.variables or {}
        inner = _next(step, record.nested, -1, here)
        if inner is not None:
            found_path, found, variables = inner
            return found_path, found, {**(record.variables or {}), **variables}
    return None


def _running(
    step: Step, records: list[Compensation] | None, element: Element, path: tuple[int, ...]
) -> tuple[tuple[int, ...], int] | None:
    """The record whose handler this element is and that runs, with the thrower that waits for it."""
    for position, record in enumerate(records or ()):
        here = (*path, position)
        if record.state == RUNNING:
            handler = _handler(step, record)
            if handler is not None and handler.index == element.index:
                return here, record.handler
        inner = _running(step, record.nested, element, here)
        if inner is not None:
            return inner
    return None
