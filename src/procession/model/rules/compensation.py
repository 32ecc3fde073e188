"""Rules about compensation: what a handler is, and what can be compensated."""

from __future__ import annotations

from procession.model.definition import Kind, Trigger
from procession.model.draft import ACTIVITIES, ProcessDraft
from procession.model.reader.reading import Reading


def compensation_boundary_has_no_flow(process: ProcessDraft, reading: Reading) -> None:
    """A compensation boundary event leads to its handler by an association, never by a flow."""
    for draft in process.elements:
        if draft.kind == Kind.BOUNDARY_EVENT and draft.has(Trigger.COMPENSATION) and draft.outgoing:
            message = f"A flow leaves the compensation event {draft.label}"
            suggestion = "Draw an association to the handler instead"
            reading.findings.error("COMPENSATION_FLOW", message, process.flows[draft.outgoing[0]].xml, suggestion)


def one_compensation_boundary(process: ProcessDraft, reading: Reading) -> None:
    """An activity has at most one compensation boundary event."""
    for host in process.elements:
        found = [index for index in host.boundaries if process.elements[index].has(Trigger.COMPENSATION)]
        if len(found) > 1:
            message = f"{host.label} has {len(found)} compensation boundary events"
            reading.findings.error("DUPLICATE_CATCH", message, process.elements[found[1]].xml, "Keep one of them")


def handler_stands_apart(process: ProcessDraft, reading: Reading) -> None:
    """No flow leads to or from a compensation handler, and it has no boundary events."""
    for draft in process.elements:
        if not draft.is_for_compensation:
            continue
        if draft.incoming or draft.outgoing:
            flow = process.flows[(draft.incoming or draft.outgoing)[0]]
            message = f"{draft.label} is a compensation handler, but a flow connects it"
            reading.findings.error("COMPENSATION_HANDLER_FLOW", message, flow.xml, "Remove the flow")
        if draft.boundaries:
            message = f"{draft.label} is a compensation handler and cannot have boundary events"
            boundary = process.elements[draft.boundaries[0]]
            reading.findings.error("COMPENSATION_HANDLER_BOUNDARY", message, boundary.xml, "Remove the boundary event")


def handler_is_used(process: ProcessDraft, reading: Reading) -> None:
    """A handler that no compensation event is associated with never runs."""
    used = {draft.compensation_handler for draft in process.elements}
    for draft in process.elements:
        if draft.is_for_compensation and draft.index not in used:
            message = f"{draft.label} is a compensation handler, but no compensation event leads to it"
            reading.findings.warning("UNUSED_HANDLER", message, draft.xml, "Associate a compensation boundary event")


def compensated_activity_is_an_activity(process: ProcessDraft, reading: Reading) -> None:
    """The activityRef of a compensation throw names something that can be compensated."""
    for draft in process.elements:
        for event in draft.events:
            if event.trigger != Trigger.COMPENSATION or event.activity < 0:
                continue
            activity = process.elements[event.activity]
            if activity.kind not in ACTIVITIES or activity.kind == Kind.EVENT_SUB_PROCESS:
                message = f"{draft.label} compensates {activity.label}, which is no activity"
                reading.findings.error("COMPENSATION_ACTIVITY", message, draft.xml)


def compensation_start_belongs_to_a_sub_process(process: ProcessDraft, reading: Reading) -> None:
    """A compensation event sub-process compensates the sub-process that it stands in, so it stands in one."""
    for draft in process.elements:
        if draft.kind != Kind.START_EVENT or not draft.has(Trigger.COMPENSATION) or draft.scope == 0:
            continue
        owner = process.elements[process.elements[draft.scope].scope]
        if owner.kind == Kind.PROCESS:
            message = f"The compensation event sub-process of {draft.label} stands in the process itself"
            suggestion = "Move it into the sub-process that it compensates"
            reading.findings.warning("COMPENSATION_START", message, draft.xml, suggestion)


RULES = (
    compensation_boundary_has_no_flow,
    one_compensation_boundary,
    handler_stands_apart,
    handler_is_used,
    compensated_activity_is_an_activity,
    compensation_start_belongs_to_a_sub_process,
)
