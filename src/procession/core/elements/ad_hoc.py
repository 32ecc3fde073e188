"""Ad-hoc sub-processes: activities without flows between them, all startable, until a condition says enough.

Which activities start is named by ``activeElementsCollection``, else all that no flow leads to. With sequential
ordering one is active at a time, in document order. After each activity the completion condition is evaluated; when it
holds, what still runs is removed (``cancelRemainingInstances``) or waited for, and nothing new starts.

With a job type of its own (``zeebe:taskDefinition``) a worker decides instead: its job's result says what starts, and
whether it is enough. There is a new job whenever an activity has completed.
"""

from __future__ import annotations

from typing import Any, cast

from procession.core import events as e
from procession.core.commands import Activate, CompleteJob
from procession.core.elements.tasks import start_job
from procession.core.lifecycle import activate, close_event_sub_processes, complete, raise_incident
from procession.core.problems import Problem
from procession.core.removal import empty
from procession.core.state import ElementInstance, IncidentKind, Phase
from procession.core.step import Step
from procession.core.variables import plain, propagate, write
from procession.core.waits import open_event_sub_processes
from procession.errors import InvalidValue
from procession.model.definition import AdHocSpec, Element, Kind, Work

NOT_STARTED = frozenset({Kind.EVENT_SUB_PROCESS, Kind.BOUNDARY_EVENT})


def start_ad_hoc(step: Step, element: Element, node: ElementInstance) -> None:
    """Open the event sub-processes and start the first activities. Raises Problem."""
    open_event_sub_processes(step, element, node)
    spec = element.ad_hoc or AdHocSpec()
    if spec.output_collection:
        step.emit(e.LoopChanged(node.key, {"outputs": []}))
    if element.work == Work.JOB:
        step.emit(e.DataChanged(node.key, {"ad_hoc": True, "began": True}))
        start_job(step, element, node)
        return
    chosen = _chosen(step, element, spec, node)
    if spec.sequential:
        step.emit(e.DataChanged(node.key, {"ad_hoc": True, "queue": chosen}))
    else:
        step.emit(e.DataChanged(node.key, {"ad_hoc": True, "began": True}))
        for index in chosen:
            step.enter(index, node.key)
    step.ended_in[node.key] = None


def settle_ad_hoc(step: Step, element: Element, node: ElementInstance) -> None:
    """A token ended within: see whether it is enough, whose turn it is, or whether all is done."""
    spec = element.ad_hoc or AdHocSpec()
    data = node.data or {}
    began = bool(data.get("began"))
    if began and spec.completion_condition is not None and not data.get("closing"):
        try:
            if _holds(step, spec, element, node):
                close(step, spec, node)
        except Problem as problem:
            raise_incident(step, node, problem, Phase.ACTIVE)
            return
    if node.key in step.state.ending:
        return
    data = node.data or {}
    if element.work == Work.JOB and not data.get("closing"):
        ask_again(step, element, node)
        return
    if step.state.children.get(node.key) or node.arrived:
        return
    queue = cast("list[int]", data.get("queue") or [])
    if queue and not data.get("closing"):
        step.emit(e.DataChanged(node.key, {"queue": queue[1:] or None, "began": True}))
        step.enter(queue[0], node.key)
    else:
        finish(step, element, spec, node)


def check_job(step: Step, element: Element, command: CompleteJob) -> None:
    """Whether a job's result names activities of its ad-hoc sub-process. Raises InvalidValue."""
    for instruction in command.activate:
        index = step.definition.index_of.get(instruction.element, -1)
        if index not in element.children or step.elements[index].kind in NOT_STARTED:
            known = ", ".join(step.elements[child].id for child in element.children)
            message = f"'{instruction.element}' is not an activity of '{element.id}' (line {element.line}); there are: "
            raise InvalidValue(message + (known or "none"))


def job_done(step: Step, element: Element, node: ElementInstance, command: CompleteJob) -> None:
    """The job of an ad-hoc sub-process is done: start what it names, or end if it says that it is enough."""
    if command.variables:
        propagate(step, node.key, command.variables)
    for instruction in command.activate:
        start_activity(step, node, instruction)
    if command.is_completion_condition_fulfilled:
        step.emit(e.DataChanged(node.key, {"closing": True}))
        if command.is_cancel_remaining_instances:
            empty(step, node.key, "settle")
        step.ended_in[node.key] = None
    elif not _is_busy(step, node):
        message = (
            f"Nothing is active in '{element.id}' (line {element.line}): its job started no activity and did not say "
            "that the completion condition is fulfilled; resolve this incident to ask its worker again"
        )
        raise_incident(step, node, Problem(IncidentKind.AD_HOC_ERROR, message), Phase.ACTIVE)


def start_activity(step: Step, node: ElementInstance, instruction: Activate) -> None:
    """Start an activity that a worker names. Its variables are its own, so that it may be started twice at once."""
    element = step.elements[step.definition.index_of[instruction.element]]
    if not instruction.variables:
        step.enter(element.index, node.key)
    elif element.kind < Kind.EXCLUSIVE_GATEWAY:
        activate(step, element, node.key, body=element.loop is not None, variables=dict(instruction.variables))
    else:  # a gateway or an event has no variables
        write(step, node.key, dict(instruction.variables))
        step.enter(element.index, node.key)


def _is_busy(step: Step, node: ElementInstance) -> bool:
    """Whether something is active, parked or on its way in an ad-hoc sub-process."""
    if step.state.children.get(node.key) or node.arrived or node.key in step.state.moving:
        return True
    return node.key in step.ended_in or any(token[2] == node.key for token in step.todo)


def ask_again(step: Step, element: Element, node: ElementInstance) -> None:
    """An activity has completed: the worker of the ad-hoc sub-process decides anew."""
    if node.job:
        step.emit(e.JobClosed(node.job, "canceled"))
    try:
        start_job(step, element, node)
    except Problem as problem:
        raise_incident(step, node, problem, Phase.ACTIVE)


def collect(step: Step, element: Element, node: ElementInstance) -> None:
    """An activity ends a path: evaluate the output element where it stands, and keep the value. Raises Problem."""
    host = step.state.nodes[node.scope]
    spec = step.elements[element.collected_by].ad_hoc or AdHocSpec()
    value = plain(step.evaluate(spec.output_element, step.context(node.key))) if spec.output_element else None
    step.be_strict(IncidentKind.EXTRACT_VALUE_ERROR, "output element of the ad-hoc sub-process", element)
    why = step.take_warnings()
    if why:
        step.emit(e.Warned(node.key, element.index, why))
    if host.loop is None:
        step.emit(e.LoopChanged(host.key, {"outputs": []}))  # a modification has put the token here
    step.emit(e.LoopResult(host.key, len((host.loop or {})["outputs"]) + 1, value))


def finish(step: Step, element: Element, spec: AdHocSpec, node: ElementInstance) -> None:
    """Everything is done: hand the collected results up and complete."""
    close_event_sub_processes(step, node)
    outputs = cast("list[Any]", (node.loop or {}).get("outputs") or [])
    complete(step, element, node, {spec.output_collection: outputs} if spec.output_collection else None)


def close(step: Step, spec: AdHocSpec, node: ElementInstance) -> None:
    """Enough: start nothing more, and remove what still runs unless it is to be waited for."""
    step.emit(e.DataChanged(node.key, {"closing": True}))
    if spec.cancel_remaining:
        empty(step, node.key, "settle")


def _chosen(step: Step, element: Element, spec: AdHocSpec, node: ElementInstance) -> list[int]:
    """Indexes of the activities to start. Raises Problem when the collection names one that is not there."""
    if spec.active_elements is None:
        return list(element.starts)
    value: object = plain(step.evaluate(spec.active_elements, step.context(node.key)))
    step.be_strict(IncidentKind.AD_HOC_ERROR, "collection of active elements", element)
    why = step.take_warnings()
    where = f"active elements of '{element.id}' (line {element.line})"
    if not isinstance(value, list):
        message = f"Expected a list of element ids as the {where}, found {value!r}"[:1000]
        raise Problem(IncidentKind.AD_HOC_ERROR, message + (f": {why}" if why else ""))
    chosen: list[int] = []
    for name in cast("list[Any]", value):
        index = step.definition.index_of.get(str(name), -1)
        if index < 0 or index not in element.children:
            known = ", ".join(step.elements[child].id for child in element.children)
            message = f"'{name}' among the {where} is not an activity of it; there are: {known}"
            raise Problem(IncidentKind.AD_HOC_ERROR, message)
        chosen.append(index)
    return chosen


def _holds(step: Step, spec: AdHocSpec, element: Element, node: ElementInstance) -> bool:
    """Whether the completion condition is true. Raises Problem when it is neither true nor false."""
    if spec.completion_condition is None:
        return False
    value = step.evaluate(spec.completion_condition, step.context(node.key))
    step.be_strict(IncidentKind.AD_HOC_ERROR, "completion condition", element)
    why = step.take_warnings()
    if not isinstance(value, bool):
        message = f"Expected true or false as the completion condition of '{element.id}' (line {element.line})"
        raise Problem(IncidentKind.AD_HOC_ERROR, f"{message}, found {value!r}" + (f": {why}" if why else ""))
    return value
