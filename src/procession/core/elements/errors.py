"""Errors and escalations on their way up: who catches, and what happens there. It waits for nothing.

The nearest scope with any match wins; in a scope its event sub-processes come before its boundary events, a specific
code before a catch-all (BPMN 2.0, 10.5.6). While an interrupting event sub-process runs, its scope's event
sub-processes are closed, so an error thrown within it is caught further out. Beyond the process, the caller is asked.
"""

from __future__ import annotations

from typing import Any

from procession.core import events as e
from procession.core.commands import ChildEnded, Send
from procession.core.elements.triggers import trigger_boundary, trigger_event_sub_process
from procession.core.problems import Problem
from procession.core.state import ElementInstance, IncidentKind
from procession.core.step import Step
from procession.model.definition import Element, EventSpec, Kind, Trigger

Catcher = tuple[ElementInstance, Element, EventSpec]  # the host or scope instance, the catching element, its definition


def throw_error(step: Step, node: ElementInstance, code: str, text: str, variables: dict[str, Any]) -> None:
    """Throw a BPMN error at an element instance. Raises Problem when nobody can catch it."""
    step.emit(e.ErrorThrown(node.key, Trigger.ERROR, code, text))
    catcher = find_catcher(step, node, Trigger.ERROR, code)
    if catcher is not None:
        catch(step, catcher, code, text, variables)
    elif step.state.parent:
        step.emit(e.DataChanged(node.key, {"error": code, "message": text}))
        ask_caller(step, "error", code, text, variables)
    else:
        raise uncaught(step, node, code, text)


def uncaught(step: Step, node: ElementInstance, code: str, text: str) -> Problem:
    """The problem of an error that nobody catches."""
    where = step.elements[node.element]
    message = f"No event catches the error '{code}' thrown at '{where.id}' (line {where.line})"
    return Problem(IncidentKind.UNHANDLED_ERROR_EVENT, message + (f": {text}" if text else ""))


def throw_escalation(step: Step, node: ElementInstance, code: str, variables: dict[str, Any]) -> None:
    """Throw an escalation at an element instance; without a catcher nothing happens."""
    step.emit(e.ErrorThrown(node.key, Trigger.ESCALATION, code, ""))
    catcher = find_catcher(step, node, Trigger.ESCALATION, code)
    if catcher is not None:
        catch(step, catcher, code, "", variables)
    elif step.state.parent:
        ask_caller(step, "escalation", code, "", variables)


def ask_caller(step: Step, outcome: str, code: str, text: str, variables: dict[str, Any]) -> None:
    """Report an error or escalation to the call activity above."""
    state = step.state
    command = ChildEnded(
        element_instance=state.parent_element_instance,
        child=state.key,
        outcome=outcome,
        variables=variables,
        code=code,
        message=text,
    )
    step.follow_ups.append(Send(state.parent, command))


def find_catcher(step: Step, origin: ElementInstance, trigger: Trigger, code: str) -> Catcher | None:
    """The nearest event that catches this error or escalation thrown at ``origin``."""
    node = origin
    nodes = step.state.nodes
    while True:
        element = step.elements[node.element]
        if node is not origin and not node.body and element.event_sub_processes:
            found = _among_event_sub_processes(step, node, element, trigger, code)
            if found is not None:
                return found
        if element.boundaries and not node.loop_index:
            found = _best(step, node, element.boundaries, trigger, code)
            if found is not None:
                return found
        if not node.scope:
            return None
        node = nodes[node.scope]


def catch(step: Step, catcher: Catcher, code: str, text: str, variables: dict[str, Any]) -> None:
    """Let a catching event happen, with the error's variables and, where it names them, code and message."""
    owner, element, spec = catcher
    values = dict(variables)
    if spec.code_variable:
        values[spec.code_variable] = code
    if spec.message_variable:
        values[spec.message_variable] = text
    if element.kind == Kind.BOUNDARY_EVENT:
        trigger_boundary(step, element, owner, spec, values)
    else:
        trigger_event_sub_process(step, element, owner, spec, values)


def _among_event_sub_processes(
    step: Step, node: ElementInstance, element: Element, trigger: Trigger, code: str
) -> Catcher | None:
    """The scope's own event sub-process that catches, unless an interrupting one runs."""
    oldest = next(iter(step.state.children.get(node.key, ())), 0)  # what interrupts has emptied the scope before
    if oldest:
        running = step.elements[step.state.nodes[oldest].element]
        if running.index in element.event_sub_processes and step.elements[running.start_event].interrupting:
            return None
    starts = tuple(step.elements[index].start_event for index in element.event_sub_processes)
    return _best(step, node, starts, trigger, code)


def _best(
    step: Step, owner: ElementInstance, candidates: tuple[int, ...], trigger: Trigger, code: str
) -> Catcher | None:
    """Of some catching events the one with this code, else the first that catches all."""
    catch_all: Catcher | None = None
    for index in candidates:
        if index < 0:
            continue
        element = step.elements[index]
        for spec in element.events:
            if spec.trigger != trigger:
                continue
            if spec.code is None:
                catch_all = catch_all or (owner, element, spec)
            elif str(step.evaluate(spec.code, step.context(owner.key))) == code:
                return (owner, element, spec)
    return catch_all
