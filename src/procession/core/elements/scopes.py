"""Scopes: the process itself, sub-processes, event sub-processes, and the call of another process.

A scope completes when it holds no token: no active element, no token parked at a join, none on its way.
"""

from __future__ import annotations

from typing import Any

from procession.core import events as e
from procession.core.commands import CallProcess, ChildEnded, Send
from procession.core.elements.ad_hoc import settle_ad_hoc
from procession.core.elements.compensation import scope_left
from procession.core.elements.paths import activate_at, go_on_after
from procession.core.elements.starts import begin_triggered
from procession.core.lifecycle import activate, close_event_sub_processes, complete, raise_incident
from procession.core.listening import listen
from procession.core.problems import Problem
from procession.core.removal import is_going
from procession.core.state import ElementInstance, IncidentKind, Phase, Status
from procession.core.step import Step
from procession.core.variables import mapped_value, visible_variables
from procession.core.waits import close_waits, open_event_sub_processes, text_of
from procession.limits import CALL_DEPTH_MAX
from procession.model.definition import CallSpec, Element, IoMapping, Kind

RETURNED = "returned"  # in the data of a call activity whose mappings failed: the variables of the called instance


def start_scope(step: Step, element: Element, node: ElementInstance) -> None:
    """Open the scope's event sub-processes and let tokens in. Raises Problem."""
    open_event_sub_processes(step, element, node)
    for index in element.starts:
        step.enter(index, node.key)
    step.ended_in[node.key] = None


def start_process(step: Step, element: Element, node: ElementInstance) -> None:
    """Like a sub-process, or at the elements that the start command named. Raises Problem."""
    open_event_sub_processes(step, element, node)
    if node.data:
        begin_elsewhere(step, node)
    else:
        for index in element.starts:
            step.enter(index, node.key)
    step.ended_in[node.key] = None


def begin_elsewhere(step: Step, node: ElementInstance) -> None:
    """Begin an instance at what was triggered, or at the elements that the start command named. Raises Problem."""
    data = node.data or {}
    at: list[int] = data.get("at") or []
    after: list[int] = data.get("after") or []
    start: int = data.get("start", -1)
    step.emit(e.DataChanged(node.key, dict.fromkeys(data)))
    for index in at:
        activate_at(step, step.elements[index])
    for index in after:
        go_on_after(step, step.elements[index])
    if start >= 0:
        for index in step.elements[0].starts:
            if index != start and step.elements[index].kind != Kind.START_EVENT:  # what begins by itself begins too
                step.enter(index, node.key)
        begin_triggered(step, step.elements[start], node.key, data.get("event") or "", data.get("variables") or {})


def enter_event_sub_process(step: Step, element: Element, scope: int, flow: int) -> None:
    """Only its trigger or a modification starts an event sub-process."""
    activate(step, element, scope, flow)


def start_event_sub_process(step: Step, element: Element, node: ElementInstance) -> None:
    """Begin at its start event, which has happened already. Raises Problem."""
    open_event_sub_processes(step, element, node)
    step.enter(element.start_event, node.key)


def settle_scope(step: Step, key: int) -> None:
    """Complete a scope if nothing is left in it."""
    state = step.state
    node = state.nodes.get(key)
    if node is None or node.incident or node.body or key in state.moving:
        return
    if state.ending and (key in state.ending or is_going(state, key)):
        return
    element = step.elements[node.element]
    if element.kind == Kind.AD_HOC_SUB_PROCESS:
        settle_ad_hoc(step, element, node)
        return
    if state.children.get(key) or node.arrived:
        return
    if element.kind in {Kind.PROCESS, Kind.EVENT_SUB_PROCESS} and node.phase == Phase.ACTIVE:
        close_event_sub_processes(step, node)
        try:
            if not (element.listeners and listen(step, element, node, "end")):
                end_scope(step, element, node)
        except Problem as problem:
            raise_incident(step, node, problem, Phase.COMPLETING)
    elif element.kind in {Kind.SUB_PROCESS, Kind.TRANSACTION} and node.phase == Phase.ACTIVE:
        close_event_sub_processes(step, node)
        complete(step, element, node)


def emptied(step: Step, scope: int, about: dict[str, Any]) -> None:
    """What was to go is gone: perhaps its scope is complete."""
    del about
    step.ended_in[scope] = None


def end_scope(step: Step, element: Element, node: ElementInstance) -> None:
    """A process or an event sub-process is over; neither has flows to leave by."""
    if element.kind == Kind.PROCESS:
        end_instance(step, node)
        return
    scope = node.scope
    if scope_left(step, element, node):
        return
    close_waits(step, node)
    step.emit(e.Completed(node.key))
    step.ended_in[scope] = None


def end_instance(step: Step, node: ElementInstance) -> None:
    """The process is over: tell the caller, with its variables."""
    state = step.state
    close_waits(step, node)
    if state.parent:
        command = ChildEnded(state.parent_element_instance, state.key, "completed", dict(state.variables))
        step.follow_ups.append(Send(state.parent, command))
    step.emit(e.Ended(Status.COMPLETED, ""))


def start_call(step: Step, element: Element, node: ElementInstance) -> None:
    """Ask for an instance of the called process. Raises Problem."""
    if node.data and RETURNED in node.data:
        take_results(step, element, node, node.data[RETURNED])
        return
    spec = element.call
    where = f"of '{element.id}' (line {element.line})"
    if spec is None:
        raise Problem(IncidentKind.CALLED_ELEMENT_ERROR, f"The call activity {where} names no process")
    depth = step.state.depth + 1
    if depth > CALL_DEPTH_MAX:
        message = f"The call activity {where} is {depth} calls deep; at most {CALL_DEPTH_MAX} (CALL_DEPTH_MAX)"
        raise Problem(IncidentKind.CALL_DEPTH_EXCEEDED, message)
    process_id = text_of(step, spec.process_id, node.key, f"called process id {where}")
    business_id = ""
    if spec.business_id is not None:
        business_id = text_of(step, spec.business_id, node.key, f"business id {where}")
    child = step.keys.take()
    step.follow_ups.append(
        CallProcess(
            instance=child,
            process_id=process_id,
            binding=spec.binding,
            version=spec.version,
            version_tag=spec.version_tag,
            parent=step.state.key,
            parent_element_instance=node.key,
            parent_definition=step.definition.key,
            depth=depth,
            variables=_passed_down(step, spec, node),
            business_id=business_id,
        )
    )
    step.emit(e.CallStarted(node.key, child))


def call_completed(step: Step, element: Element, node: ElementInstance, variables: dict[str, Any]) -> None:
    """The called instance is over: take its variables as the call activity says."""
    step.emit(e.CallEnded(node.key, "completed"))
    try:
        take_results(step, element, node, variables)
    except Problem as problem:
        step.emit(e.DataChanged(node.key, {RETURNED: variables}))  # the called instance is gone, they are all there is
        raise_incident(step, node, problem, Phase.ACTIVE)


def take_results(step: Step, element: Element, node: ElementInstance, variables: dict[str, Any]) -> None:
    """Complete a call activity with the variables of the called instance. Raises Problem."""
    spec = element.call
    results: dict[str, Any] = {}
    if spec is None or spec.propagate_child or element.outputs:
        results.update(variables)
    if spec is not None:
        results.update(mapped(step, node, spec.outputs, variables))
    complete(step, element, node, results)


def mapped(
    step: Step, node: ElementInstance, mappings: tuple[IoMapping, ...], context: dict[str, Any]
) -> dict[str, Any]:
    """Mappings evaluated on a context (``camunda:in`` and ``camunda:out``). Raises Problem."""
    found = {mapping.target[0]: mapped_value(step, mapping, context) for mapping in mappings}
    step.be_strict(IncidentKind.IO_MAPPING_ERROR, "mapping of the call", step.elements[node.element])
    why = step.take_warnings()
    if why:
        step.emit(e.Warned(node.key, node.element, why))
    return found


def _passed_down(step: Step, spec: CallSpec, node: ElementInstance) -> dict[str, Any]:
    """The variables that the called process starts with."""
    visible = visible_variables(step.state, node.key)
    passed = visible if spec.propagate_parent else dict(node.variables or {})
    return {**passed, **mapped(step, node, spec.inputs, visible)} if spec.inputs else passed
