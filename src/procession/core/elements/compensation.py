"""Compensation and transactions: handlers run in reverse order of completion, and the throwing event waits for them.

A scope's element instance keeps a record per completed activity that has a handler, or that contains such activities.
``throw_compensation`` marks the records that are due and runs one handler at a time; when none is left, whoever threw
goes on. Records are made when an activity completes and never recomputed (design rule 9).
"""

from __future__ import annotations

from typing import Any

from procession.core import events as e
from procession.core.elements.triggers import trigger_boundary
from procession.core.lifecycle import HANDLER_DONE, activate, begin, close_event_sub_processes
from procession.core.problems import Problem
from procession.core.removal import empty, is_gone, take_away
from procession.core.state import Compensation, ElementInstance, IncidentKind
from procession.core.step import Step
from procession.core.variables import write
from procession.core.waits import close_waits
from procession.errors import Bug
from procession.model.definition import Element, EventSpec, Kind, Trigger

DUE, RUNNING, DONE = 0, 1, 2
Found = tuple[tuple[int, ...], Compensation, dict[str, Any]]  # a due record, where it is, the variables around it


def throw_compensation(step: Step, node: ElementInstance, spec: EventSpec) -> bool:
    """Compensate the thrower's scope, or one activity of it. True: the thrower waits for the handlers."""
    scope = compensated_scope(step, node, spec.activity)
    step.emit(e.ErrorThrown(node.key, Trigger.COMPENSATION, "", ""))
    if not spec.wait_for_completion:
        while not is_gone(step.state, scope):
            found = _next(step, step.state.nodes[scope].compensations, spec.activity, ())
            if found is None:
                break
            run_handler(step, scope, found, thrower=0)
        return False
    step.emit(e.DataChanged(node.key, {"compensates": scope, "activity": spec.activity}))
    return go_on(step, step.state.nodes[node.key])


def compensated_scope(step: Step, node: ElementInstance, activity: int) -> int:
    """The scope whose records are meant: the thrower's own, or that around its event sub-process.

    A compensation event sub-process has taken over the records of the sub-process that it compensates.
    """
    nodes = step.state.nodes
    key = node.scope
    while True:
        here = nodes[key]
        element = step.elements[here.element]
        handles = element.kind == Kind.EVENT_SUB_PROCESS and starts_by_compensation(step, element)
        if not here.scope or handles:
            return key
        if activity >= 0:
            if step.elements[activity].scope == here.element and not here.body:
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
    run_handler(step, scope, found, thrower.key)
    return True


def run_handler(step: Step, scope: int, found: Found, thrower: int) -> None:
    """Start the handler of a record, with the variables as they were when its activity completed."""
    path, record, variables = found
    handler = _handler(step, record)
    if handler is None:
        message = f"Element {record.element} was recorded for compensation, but it has no handler"
        raise Bug(message)
    step.emit(e.CompensationChanged(scope, path, RUNNING, thrower))
    if handler.kind != Kind.EVENT_SUB_PROCESS:
        activate(step, handler, scope, body=handler.loop is not None, variables=variables or None)
        return
    key = step.keys.take()
    step.emit(e.Activated(key, handler.index, scope, -1, False, 0))  # noqa: FBT003 - a positional record
    write(step, key, variables)
    step.emit(e.CompensationHandedOver(scope, path, key))
    begin(step, handler, step.state.nodes[key])


def handler_done(step: Step, element: Element, scope: int) -> ElementInstance | None:
    """A handler completed: its record is done. Returns the thrower if it may go on now."""
    state = step.state
    step.ended_in[scope] = None
    found = _running(step, state.nodes[scope].compensations, element, ())
    if found is None:
        return None
    path, key = found
    step.emit(e.CompensationChanged(scope, path, DONE, 0))
    thrower = state.nodes.get(key)
    return thrower if thrower is not None and not go_on(step, thrower) else None


def cancel_transaction(step: Step, node: ElementInstance) -> None:
    """End everything active in the transaction, compensate what completed, then take the cancel boundary event."""
    scope = transaction_of(step, node)
    keep = [node.key]
    while (around := step.state.nodes[keep[0]].scope) != scope:
        keep.insert(0, around)
    close_event_sub_processes(step, step.state.nodes[scope])
    empty(step, scope, "cancel", keep=keep, event=node.key)


def transaction_emptied(step: Step, scope: int, about: dict[str, Any]) -> None:
    """Nothing of a cancelled transaction is active but its cancel end event: compensate."""
    node = step.state.nodes[about["event"]]
    step.emit(e.DataChanged(node.key, {"compensates": scope, "activity": -1}))
    if not go_on(step, step.state.nodes[node.key]):
        leave_transaction(step, node)


def transaction_of(step: Step, node: ElementInstance) -> int:
    """The key of the transaction around an element instance. Raises Problem."""
    key = node.scope
    while key:
        here = step.state.nodes[key]
        if step.elements[here.element].kind == Kind.TRANSACTION and not here.body:
            return key
        key = here.scope
    message = f"'{step.elements[node.element].id}' is a cancel end event outside a transaction"
    raise Problem(IncidentKind.UNHANDLED_ERROR_EVENT, message)


def leave_transaction(step: Step, node: ElementInstance) -> None:
    """The transaction is cancelled: go on from its cancel boundary event, if it has one."""
    transaction = step.state.nodes[transaction_of(step, node)]
    host = transaction if not transaction.loop_index else step.state.nodes[transaction.scope]
    for index in step.elements[host.element].boundaries:
        boundary = step.elements[index]
        for spec in boundary.events:
            if spec.trigger == Trigger.CANCEL:
                trigger_boundary(step, boundary, host, spec, {})
                return
    take_away(step, host.key, "settle")


def scope_left(step: Step, element: Element, node: ElementInstance) -> bool:
    """A compensation event sub-process that ends is a handler that is done. True when it was one."""
    if not starts_by_compensation(step, element):
        return False
    scope = node.scope
    close_waits(step, node)
    step.emit(e.Completed(node.key))
    HANDLER_DONE[0](step, element, scope)
    return True


def starts_by_compensation(step: Step, event_sub_process: Element) -> bool:
    """Whether an event sub-process is a compensation handler."""
    start = event_sub_process.start_event
    return start >= 0 and any(spec.trigger == Trigger.COMPENSATION for spec in step.elements[start].events)


def _handler(step: Step, record: Compensation) -> Element | None:
    """The handler of a record: of the activity, or the compensation event sub-process within it."""
    element = step.elements[record.element]
    if element.compensation_handler >= 0:
        return step.elements[element.compensation_handler]
    return compensation_event_sub_process(step, element)


def compensation_event_sub_process(step: Step, element: Element) -> Element | None:
    """The event sub-process of a sub-process that compensates it."""
    for index in element.event_sub_processes:
        if starts_by_compensation(step, step.elements[index]):
            return step.elements[index]
    return None


def _next(step: Step, records: list[Compensation] | None, activity: int, path: tuple[int, ...]) -> Found | None:
    """The last due record, looking into completed sub-processes that have no handler of their own."""
    for position in range(len(records or ()) - 1, -1, -1):
        record = (records or [])[position]
        if record.state != DUE or (activity >= 0 and record.element != activity):
            continue
        here = (*path, position)
        if not record.gathers and _handler(step, record) is not None:
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
    for position in range(len(records or ()) - 1, -1, -1):  # the last that completed is the first that is undone
        record = (records or [])[position]
        here = (*path, position)
        if record.state == RUNNING and not record.gathers:
            handler = _handler(step, record)
            if handler is not None and handler.index == element.index:
                return here, record.handler
        inner = _running(step, record.nested, element, here)
        if inner is not None:
            return inner
    return None
