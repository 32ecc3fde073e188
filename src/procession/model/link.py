"""Connects what stands apart in the XML: defaults, boundaries, starts, compensation handlers, link pairs.

References that lead nowhere are findings. Whether what is connected makes sense is for `rules`.
"""

from __future__ import annotations

from collections import defaultdict

from procession.model.definition import Kind, Trigger
from procession.model.draft import ACTIVITIES, SCOPES, ElementDraft, ProcessDraft
from procession.model.problems import Findings
from procession.model.xml import Xml


def link(process: ProcessDraft, associations: list[Xml], findings: Findings) -> None:
    """Fill in every field of the drafts that refers to another element."""
    flow_index = {flow.id: flow.index for flow in process.flows}
    associated = _associated([*process.associations, *associations])
    links = _link_catches(process)
    for draft in process.elements:
        _link_default(draft, flow_index, findings)
        if draft.kind == Kind.BOUNDARY_EVENT:
            _link_boundary(process, draft, findings)
        if draft.kind in SCOPES:
            _link_starts(process, draft, implicit=findings.lenient)
    for draft in process.elements:
        if draft.kind == Kind.BOUNDARY_EVENT and draft.has(Trigger.COMPENSATION):
            _link_handler(process, draft, associated.get(draft.id, []), findings)
        if draft.kind == Kind.INTERMEDIATE_THROW_EVENT and draft.has(Trigger.LINK):
            _link_target(draft, links, findings)


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


def _link_starts(process: ProcessDraft, scope: ElementDraft, *, implicit: bool) -> None:
    children = process.children(scope)
    if scope.kind == Kind.AD_HOC_SUB_PROCESS:
        scope.starts = [child.index for child in children if _starts_by_itself(child)]
        return
    starts = [child for child in children if child.kind == Kind.START_EVENT]
    if scope.kind == Kind.EVENT_SUB_PROCESS:
        scope.start_event = starts[0].index if starts else -1
        return
    scope.starts = [child.index for child in starts if not child.events]
    if implicit:  # what no flow leads to begins together with the start event; strictly it is not reached
        scope.starts += [
            child.index for child in children if child.kind != Kind.START_EVENT and _starts_by_itself(child)
        ]


def _starts_by_itself(child: ElementDraft) -> bool:
    return (
        not child.incoming
        and not child.is_for_compensation
        and not child.has(Trigger.LINK)
        and not child.instantiate
        and child.kind not in {Kind.BOUNDARY_EVENT, Kind.EVENT_SUB_PROCESS}
    )


def _associated(associations: list[Xml]) -> dict[str, list[str]]:
    """What each id is associated with, whichever way the association points."""
    found: dict[str, list[str]] = defaultdict(list)
    for association in associations:
        source, target = (association.get(name).rpartition(":")[2] for name in ("sourceRef", "targetRef"))
        found[source].append(target)
        found[target].append(source)
    return found


def _link_handler(process: ProcessDraft, draft: ElementDraft, associated: list[str], findings: Findings) -> None:
    others = [process.elements[process.index_of[name]] for name in associated if process.index_of.get(name, 0) > 0]
    handlers = [other for other in others if other.kind in ACTIVITIES]
    if len(handlers) != 1:
        found = "none" if not handlers else ", ".join(handler.label for handler in handlers)
        message = f"{draft.label} needs exactly one association to a compensation handler; found {found}"
        report = findings.error if handlers else findings.gap  # with gaps tolerated there is nothing to compensate
        report("COMPENSATION_ASSOCIATION", message, draft.xml, "Draw one association to the handler")
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


def _link_catches(process: ProcessDraft) -> dict[tuple[int, str], int]:
    """The first catch event of each link name, by scope."""
    found: dict[tuple[int, str], int] = {}
    for draft in process.elements:
        for event in draft.events:
            if event.trigger == Trigger.LINK and draft.kind == Kind.INTERMEDIATE_CATCH_EVENT:
                found.setdefault((draft.scope, event.link), draft.index)
    return found


def _link_target(draft: ElementDraft, catches: dict[tuple[int, str], int], findings: Findings) -> None:
    name = next(event.link for event in draft.events if event.trigger == Trigger.LINK)
    target = catches.get((draft.scope, name), -1)
    if target < 0:
        message = f"{draft.label} jumps to the link '{name}', but no catch event of its scope has that name"
        findings.error("LINK_TARGET", message, draft.xml, "Add a link catch event with that name")
    draft.link_target = target
