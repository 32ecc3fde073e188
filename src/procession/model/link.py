"""Connects what stands apart in the XML: defaults, boundaries, starts, compensation handlers, link pairs.

References that lead nowhere are findings. Whether what is connected makes sense is for `rules`.
"""

from __future__ import annotations

from procession.model.definition import Kind, Trigger
from procession.model.draft import ACTIVITIES, SCOPES, ElementDraft, ProcessDraft
from procession.model.problems import Findings
from procession.model.xml import Xml


def link(process: ProcessDraft, associations: list[Xml], findings: Findings) -> None:
    """Fill in every field of the drafts that refers to another element."""
    flow_index = {flow.id: flow.index for flow in process.flows}
    for draft in process.elements:
        _link_default(draft, flow_index, findings)
        if draft.kind == Kind.BOUNDARY_EVENT:
            _link_boundary(process, draft, findings)
        if draft.kind in SCOPES:
            _link_starts(process, draft)
    for draft in process.elements:
        if draft.kind == Kind.BOUNDARY_EVENT and draft.has(Trigger.COMPENSATION):
            _link_handler(process, draft, [*process.associations, *associations], findings)
        if draft.kind == Kind.INTERMEDIATE_THROW_EVENT and draft.has(Trigger.LINK):
            _link_target(process, draft, findings)


def _link_default(draft: ElementDraft, flow_index: dict[str, int], findings: Findings) -> None:
    ref = draft.xml.get("default").strip()
    if not ref or draft.kind == Kind.PROCESS:
        return
    index = flow_index.get(ref, flow_index.get(ref.rpartition(":")[2], -1))
    if index not in draft.outgoing:
        message = f"The default flow '{ref}' of {draft.label} is not one of its outgoing flows"
        findings.error("DEFAULT_FLOW", message, draft.xml, "Name one of its own outgoing flows")
        return
    draft.default_flow = index


def _link_boundary(process: ProcessDraft, draft: ElementDraft, findings: Findings) -> None:
    ref = draft.xml.get("attachedToRef").strip()
    index = process.index_of.get(ref, process.index_of.get(ref.rpartition(":")[2], -1))
    if not ref or index <= 0:
        message = f"{draft.label} is attached to '{ref}', which is no element of this process"
        findings.error("BOUNDARY_HOST", message, draft.xml, "Set attachedToRef to a task or sub-process")
        return
    host = process.elements[index]
    if host.kind not in ACTIVITIES or host.kind == Kind.EVENT_SUB_PROCESS:
        message = f"{draft.label} is attached to {host.label}; only tasks, calls and sub-processes have boundary events"
        findings.error("BOUNDARY_HOST", message, draft.xml)
        return
    if host.scope != draft.scope:
        message = f"{draft.label} stands in another scope than {host.label}, which it is attached to"
        findings.error("BOUNDARY_HOST", message, draft.xml, "Move it into the scope of its activity")
        return
    draft.attached_to = index
    host.boundaries.append(draft.index)


def _link_starts(process: ProcessDraft, scope: ElementDraft) -> None:
    children = process.children(scope)
    if scope.kind == Kind.AD_HOC_SUB_PROCESS:
        scope.starts = [child.index for child in children if _starts_by_itself(child)]
        return
    starts = [child for child in children if child.kind == Kind.START_EVENT]
    if scope.kind == Kind.EVENT_SUB_PROCESS:
        scope.start_event = starts[0].index if starts else -1
        return
    scope.starts = [child.index for child in starts if not child.events]


def _starts_by_itself(child: ElementDraft) -> bool:
    return (
        not child.incoming
        and not child.is_for_compensation
        and child.kind not in {Kind.BOUNDARY_EVENT, Kind.EVENT_SUB_PROCESS}
    )


def _link_handler(process: ProcessDraft, draft: ElementDraft, associations: list[Xml], findings: Findings) -> None:
    handlers: list[ElementDraft] = []
    for association in associations:
        ends = [association.get(name).rpartition(":")[2] for name in ("sourceRef", "targetRef")]
        if draft.id not in ends:
            continue
        other = process.index_of.get(ends[1] if ends[0] == draft.id else ends[0], -1)
        if other > 0 and process.elements[other].kind in ACTIVITIES:
            handlers.append(process.elements[other])
    if len(handlers) != 1:
        found = "none" if not handlers else ", ".join(handler.label for handler in handlers)
        message = f"{draft.label} needs exactly one association to a compensation handler; found {found}"
        findings.error("COMPENSATION_ASSOCIATION", message, draft.xml, "Draw one association to the handler")
        return
    handler = handlers[0]
    if handler.scope != draft.scope:
        message = f"The compensation handler {handler.label} stands in another scope than {draft.label}"
        findings.error("COMPENSATION_HANDLER", message, draft.xml)
        return
    if not handler.is_for_compensation:
        message = f"The compensation handler {handler.label} is not marked as one"
        findings.error("COMPENSATION_HANDLER", message, handler.xml, 'Set isForCompensation="true"')
    if draft.attached_to > 0:
        process.elements[draft.attached_to].compensation_handler = handler.index


def _link_target(process: ProcessDraft, draft: ElementDraft, findings: Findings) -> None:
    name = next(event.link for event in draft.events if event.trigger == Trigger.LINK)
    catches = [
        other
        for other in process.children(process.elements[draft.scope])
        if other.kind == Kind.INTERMEDIATE_CATCH_EVENT and any(event.link == name for event in other.events)
    ]
    if not name:
        return
    if not catches:
        message = f"{draft.label} jumps to the link '{name}', but no catch event of its scope has that name"
        findings.error("LINK_TARGET", message, draft.xml, "Add a link catch event with that name")
        return
    draft.link_target = catches[0].index
