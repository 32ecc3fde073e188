"""Rules about what a process or sub-process must hold: where it starts, and what may not stand in it."""

from __future__ import annotations

from typing import Final

from procession.model.definition import Kind
from procession.model.draft import ACTIVITIES, ElementDraft, ProcessDraft
from procession.model.reader.reading import Reading

_EMBEDDED: Final = frozenset({Kind.SUB_PROCESS, Kind.TRANSACTION})


def process_has_a_start(process: ProcessDraft, reading: Reading) -> None:
    """At least one start event, or an element that starts instances."""
    children = process.children(process.root)
    if any(child.kind == Kind.START_EVENT or _instantiates(child) for child in children):
        return
    message = f"The process '{process.root.id}' has no start event"
    if reading.lenient and children:
        process.root.starts = _implicit_starts(process, process.root)
    reading.findings.gap("NO_START_EVENT", message, process.xml, "Add a start event")


def process_has_one_none_start(process: ProcessDraft, reading: Reading) -> None:
    """At most one none start event."""
    starts = process.root.starts
    if len(starts) < 2 or process.elements[starts[0]].kind != Kind.START_EVENT:
        return
    names = ", ".join(process.elements[index].label for index in starts)
    message = f"The process '{process.root.id}' has {len(starts)} none start events ({names})"
    reading.findings.gap("SEVERAL_NONE_STARTS", message, process.elements[starts[1]].xml, "Keep one of them")


def sub_process_has_one_none_start(process: ProcessDraft, reading: Reading) -> None:
    """An embedded sub-process or transaction starts with exactly one none start event and nothing else."""
    for scope in process.elements:
        if scope.kind not in _EMBEDDED:
            continue
        starts = [child for child in process.children(scope) if child.kind == Kind.START_EVENT]
        typed = [start for start in starts if start.events]
        for start in typed:
            message = f"{start.label} of the sub-process {scope.label} has a trigger; only event sub-processes may"
            reading.findings.error("SUB_PROCESS_START", message, start.xml, "Remove the event definition")
        if not starts:
            message = f"{scope.label} has no start event"
            if reading.lenient:
                scope.starts = _implicit_starts(process, scope)
            reading.findings.gap("SUB_PROCESS_START", message, scope.xml, "Add one none start event")
        elif len(starts) > 1:
            message = f"{scope.label} has {len(starts)} start events"
            reading.findings.gap("SUB_PROCESS_START", message, starts[1].xml, "Keep one none start event")


def event_sub_process_has_one_typed_start(process: ProcessDraft, reading: Reading) -> None:
    """An event sub-process starts with exactly one start event, which has a trigger."""
    for scope in process.elements:
        if scope.kind != Kind.EVENT_SUB_PROCESS:
            continue
        starts = [child for child in process.children(scope) if child.kind == Kind.START_EVENT]
        if len(starts) != 1:
            message = f"The event sub-process {scope.label} has {len(starts) or 'no'} start events"
            at = starts[1].xml if starts else scope.xml
            reading.findings.error("EVENT_SUB_PROCESS_START", message, at, "It needs exactly one, with a trigger")
        elif not starts[0].events:
            message = f"{starts[0].label} of the event sub-process {scope.label} has no trigger"
            suggestion = "Give it a message, timer, signal, error, ... event definition"
            reading.findings.error("EVENT_SUB_PROCESS_START", message, starts[0].xml, suggestion)


def event_sub_process_has_no_flows(process: ProcessDraft, reading: Reading) -> None:
    """No flow leads to or from an event sub-process; no activity of its kind has a boundary."""
    for scope in process.elements:
        if scope.kind == Kind.EVENT_SUB_PROCESS and (scope.incoming or scope.outgoing):
            flow = process.flows[(scope.incoming or scope.outgoing)[0]]
            message = f"The event sub-process {scope.label} is connected by a flow; its start event starts it"
            reading.findings.error("EVENT_SUB_PROCESS_FLOW", message, flow.xml, "Remove the flow")


def ad_hoc_holds_activities(process: ProcessDraft, reading: Reading) -> None:
    """An ad-hoc sub-process holds at least one activity, and neither start nor end events."""
    for scope in process.elements:
        if scope.kind != Kind.AD_HOC_SUB_PROCESS:
            continue
        children = process.children(scope)
        if not any(child.kind in ACTIVITIES and child.kind != Kind.EVENT_SUB_PROCESS for child in children):
            message = f"The ad-hoc sub-process {scope.label} has no activity"
            reading.findings.gap("AD_HOC_CONTENT", message, scope.xml, "Add at least one activity")
        for child in children:
            if child.kind in {Kind.START_EVENT, Kind.END_EVENT}:
                message = f"{child.label} stands in the ad-hoc sub-process {scope.label}, which has no start or end"
                reading.findings.error("AD_HOC_CONTENT", message, child.xml, "Remove it")


def start_has_no_incoming(process: ProcessDraft, reading: Reading) -> None:
    """No flow leads to a start event."""
    for draft in process.elements:
        if draft.kind == Kind.START_EVENT and draft.incoming:
            message = f"A flow leads to {draft.label}"
            reading.findings.error("START_EVENT_INCOMING", message, process.flows[draft.incoming[0]].xml)


def end_has_no_outgoing(process: ProcessDraft, reading: Reading) -> None:
    """No flow leaves an end event."""
    for draft in process.elements:
        if draft.kind == Kind.END_EVENT and draft.outgoing:
            message = f"A flow leaves {draft.label}"
            reading.findings.error("END_EVENT_OUTGOING", message, process.flows[draft.outgoing[0]].xml)


def start_leads_somewhere(process: ProcessDraft, reading: Reading) -> None:
    """A start event without a flow does nothing."""
    for draft in process.elements:
        if draft.kind == Kind.START_EVENT and not draft.outgoing:
            message = f"No flow leaves {draft.label}"
            reading.findings.warning("START_EVENT_OUTGOING", message, draft.xml, "Connect it with the first element")


def instantiating_receive_has_no_incoming(process: ProcessDraft, reading: Reading) -> None:
    """A receive task or event-based gateway that starts instances stands at the beginning of a process."""
    for draft in process.elements:
        if not draft.instantiate:
            continue
        if draft.incoming:
            message = f"{draft.label} starts instances, but a flow leads to it"
            reading.findings.error("INSTANTIATE", message, draft.xml, "Remove the flow, or instantiate")
        elif draft.scope != 0:
            message = f"{draft.label} starts instances, but stands in a sub-process"
            reading.findings.error("INSTANTIATE", message, draft.xml, "Move it to the process, or remove instantiate")


def _instantiates(draft: ElementDraft) -> bool:
    return draft.instantiate and not draft.incoming


def _implicit_starts(process: ProcessDraft, scope: ElementDraft) -> list[int]:
    """Where a scope without a start event begins by the standard: at every element that nothing leads to."""
    return [
        child.index
        for child in process.children(scope)
        if not child.incoming
        and not child.is_for_compensation
        and child.link_target < 0
        and child.kind not in {Kind.BOUNDARY_EVENT, Kind.EVENT_SUB_PROCESS}
    ]


RULES = (
    process_has_a_start,
    process_has_one_none_start,
    sub_process_has_one_none_start,
    event_sub_process_has_one_typed_start,
    event_sub_process_has_no_flows,
    ad_hoc_holds_activities,
    start_has_no_incoming,
    end_has_no_outgoing,
    start_leads_somewhere,
    instantiating_receive_has_no_incoming,
)
