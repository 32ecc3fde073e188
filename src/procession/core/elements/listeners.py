"""What happens when a listener's job is done: the next listener, or the point of the life cycle that it held up."""

from __future__ import annotations

from typing import Any

from procession.core import events as e
from procession.core.commands import CompleteJob, UpdateUserTask
from procession.core.elements.scopes import end_scope
from procession.core.elements.tasks import open_user_task
from procession.core.lifecycle import CAME, complete, complete_after_event, leave, open_and_start, raise_incident
from procession.core.listening import LISTENER, listen, order, waiting_for
from procession.core.problems import Problem
from procession.core.removal import CANCELING, was_told
from procession.core.state import ElementInstance, Phase
from procession.core.step import Step
from procession.core.variables import propagate, write
from procession.errors import Conflict
from procession.model.definition import Element, Kind

DENIABLE = frozenset({"completing", "assigning", "updating"})
UPDATES = {"assign": "assigning", "unassign": "assigning"}  # which listeners an action concerns; others: updating


def hold_before_flow(step: Step, element: Element, scope: int, flow: int) -> bool:
    """Keep a token at an element until the listeners of the flow that it takes are done. False: there are none."""
    key = step.keys.take()
    step.emit(e.Activated(key, element.index, scope, -1, False, 0))  # noqa: FBT003 - a positional record
    node = step.state.nodes[key]
    try:
        if listen(step, element, node, "take", flow=flow):
            return True
    except Problem as problem:
        raise_incident(step, node, problem, Phase.LEAVING)
        return True
    step.emit(e.Completed(key))
    return False


def complete_after_listeners(step: Step, element: Element, node: ElementInstance, variables: dict[str, Any]) -> None:
    """A person is done: the completing listeners have to agree."""
    _must_not_wait(element, node)
    try:
        if listen(step, element, node, "completing", variables=variables):
            return
    except Problem as problem:
        raise_incident(step, node, problem, Phase.ACTIVE)
        return
    _complete(step, element, node, variables)


def update_after_listeners(step: Step, element: Element, node: ElementInstance, command: UpdateUserTask) -> None:
    """Attributes of a user task change: the listeners have to agree."""
    _must_not_wait(element, node)
    event = UPDATES.get(command.action, "updating")
    try:
        if listen(step, element, node, event, changes=command.changes, action=command.action):
            return
    except Problem as problem:
        raise_incident(step, node, problem, Phase.ACTIVE)
        return
    step.emit(e.UserTaskUpdated(command.user_task, command.changes, command.action))


def listener_done(step: Step, element: Element, node: ElementInstance, command: CompleteJob) -> None:
    """A listener's job is done: its variables, its corrections, then the next listener or what it held up."""
    event, position, about = waiting_for(node)
    if command.denied and event in DENIABLE:
        step.emit(e.DataChanged(node.key, {LISTENER: None}))
        return
    if command.variables and event != CANCELING:
        _keep(step, node, event, command.variables)
    if command.corrections:
        changes: dict[str, Any] = about.get("changes", {})
        about = {**about, "changes": {**changes, **command.corrections}}
    step.emit(e.DataChanged(node.key, {LISTENER: None}))
    try:
        if order(step, element, node, event, position + 1, about):
            return
        if node.phase != Phase.ACTIVE and event != CANCELING:
            step.emit(e.PhaseChanged(node.key, Phase.ACTIVE))
        _go_on(step, element, node, event, about)
    except Problem as problem:
        raise_incident(step, node, problem, Phase.ACTIVATING if event in {"start", "creating"} else Phase(node.phase))


def _go_on(step: Step, element: Element, node: ElementInstance, event: str, about: dict[str, Any]) -> None:
    """Every listener of the event is done. Raises Problem."""
    changes: dict[str, Any] = about.get("changes", {})
    match event:
        case "start":
            resume = complete_after_event if node.data and CAME in node.data else open_and_start
            resume(step, element, node)
        case "end":
            if element.kind in {Kind.PROCESS, Kind.EVENT_SUB_PROCESS}:
                end_scope(step, element, node)
            else:
                leave(step, element, node)
        case "take":
            flow: int = about["flow"]
            scope = node.scope
            step.emit(e.Completed(node.key))
            step.emit(e.FlowTaken(flow, scope))
            step.enter(step.flows[flow].target, scope, flow)
        case "creating":
            open_user_task(step, element, node)
            if changes:
                step.emit(e.UserTaskUpdated(node.user_task, changes, "update"))
        case "completing":
            if changes:
                step.emit(e.UserTaskUpdated(node.user_task, changes, "update"))
            _complete(step, element, node, about.get("variables", {}))
        case "canceling":
            if changes:
                step.emit(e.UserTaskUpdated(node.user_task, changes, "update"))
            was_told(step, node)
        case _:
            step.emit(e.UserTaskUpdated(node.user_task, changes, about.get("action", "update")))


def _complete(step: Step, element: Element, node: ElementInstance, variables: dict[str, Any]) -> None:
    step.emit(e.UserTaskClosed(node.user_task, "completed"))
    complete(step, element, node, variables)


def _keep(step: Step, node: ElementInstance, event: str, variables: dict[str, Any]) -> None:
    """What a listener reports: local, but from an end listener up to where the name is known."""
    if event == "end":
        propagate(step, node.key, variables)
    else:
        write(step, node.key, variables)


def _must_not_wait(element: Element, node: ElementInstance) -> None:
    """One change at a time. Raises Conflict."""
    if node.job:
        message = f"The user task {node.user_task} of '{element.id}' waits for its listener's job {node.job}"
        raise Conflict(message)
