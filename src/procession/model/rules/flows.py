"""Rules about the graph: loops that never wait, and elements that nothing leads to."""

from __future__ import annotations

from typing import Final

from procession.model.definition import Kind, Trigger, Work
from procession.model.draft import GATEWAYS, SCOPES, ElementDraft, ProcessDraft
from procession.model.reach import components, predecessors
from procession.model.reader.reading import Reading

_JOINING: Final = frozenset({Kind.PARALLEL_GATEWAY, Kind.INCLUSIVE_GATEWAY, Kind.COMPLEX_GATEWAY})
_DECIDING: Final = frozenset({Kind.EXCLUSIVE_GATEWAY, Kind.INCLUSIVE_GATEWAY, Kind.COMPLEX_GATEWAY})
_PASSING_WORK: Final = frozenset({Work.NONE, Work.SCRIPT, Work.DECISION, Work.CONNECTOR_MESSAGE})
_PASSING_TASKS: Final = frozenset(
    {Kind.TASK, Kind.MANUAL_TASK, Kind.SCRIPT_TASK, Kind.BUSINESS_RULE_TASK, Kind.SEND_TASK}
)


def loop_waits_somewhere(process: ProcessDraft, reading: Reading) -> None:
    """A cycle of elements that all pass at once would turn for ever without a pause.

    Certain if every flow of the cycle is always taken; and if nothing in the cycle changes a variable, because then a
    decision that led into another turn leads into every further one. A cycle of nothing but gateways is only a warning
    where a decision may leave it, as in Camunda 8.
    """
    for scope in process.elements:
        if scope.kind not in SCOPES:
            continue
        before = predecessors(process, scope)
        passing = {index for index in before if _passes(process.elements[index])}
        unchanged = {index for index in passing if not _changes_variables(process.elements[index])}
        always = {node: [b for b in before[node] if b in passing and _always(process, b, node)] for node in passing}
        either = {node: [b for b in before[node] if b in unchanged] for node in unchanged}
        certain = _cycles(always)
        for members in certain:
            _report(process, members, reading, certain=True)
        for members in _cycles(either):
            if not any(set(members) & set(known) for known in certain):
                only_gateways = all(process.elements[index].kind in GATEWAYS for index in members)
                _report(process, members, reading, certain=not only_gateways)


def element_is_reachable(process: ProcessDraft, reading: Reading) -> None:
    """What no start event leads to never runs."""
    for scope in process.elements:
        if scope.kind not in SCOPES or scope.kind == Kind.AD_HOC_SUB_PROCESS:
            continue
        for child in _unreached(process, scope):
            if not child.incoming or child.kind == Kind.BOUNDARY_EVENT:
                message = f"Nothing leads to {child.label}: it is never reached"
                reading.findings.warning("UNREACHABLE", message, child.xml, "Connect it, or remove it")


def listed_flows_are_the_flows(process: ProcessDraft, reading: Reading) -> None:
    """The `incoming` and `outgoing` that an element lists should be the flows that lead to and from it."""
    for draft in process.elements:
        for name, flows in (("incoming", draft.incoming), ("outgoing", draft.outgoing)):
            listed = {child.text.rpartition(":")[2] for child in draft.xml.every(name)}
            actual = {process.flows[index].id for index in flows}
            strange = sorted(listed - actual)
            if strange:
                message = f"{draft.label} lists {', '.join(strange)} as {name}, but the flows say otherwise"
                suggestion = "The sourceRef and targetRef of the flows count; correct the list"
                reading.findings.warning("LISTED_FLOWS", message, draft.xml, suggestion)


def _passes(draft: ElementDraft) -> bool:
    if draft.async_before or draft.async_after or draft.listeners or draft.loop is not None:
        return False
    if draft.kind in _JOINING and len(draft.incoming) > 1:
        return False  # it waits for tokens that come from elsewhere
    if draft.kind == Kind.EVENT_BASED_GATEWAY:
        return False
    if draft.kind in GATEWAYS:
        return True
    if draft.kind == Kind.INTERMEDIATE_CATCH_EVENT:
        return draft.has(Trigger.LINK)
    if draft.kind == Kind.INTERMEDIATE_THROW_EVENT:
        return draft.work in _PASSING_WORK and not draft.has(Trigger.COMPENSATION)
    return draft.kind in _PASSING_TASKS and draft.work in _PASSING_WORK


def _changes_variables(draft: ElementDraft) -> bool:
    return draft.work in {Work.SCRIPT, Work.DECISION} or bool(draft.outputs)


def _always(process: ProcessDraft, source: int, target: int) -> bool:
    """Whether a token at `source` always goes on to `target` too."""
    draft = process.elements[source]
    if draft.link_target == target:
        return True
    if draft.kind in _DECIDING and len(draft.outgoing) > 1:
        return False
    for index in draft.outgoing:
        flow = process.flows[index]
        decided = flow.condition is not None or index == draft.default_flow
        if flow.target == target and (not decided or draft.kind == Kind.PARALLEL_GATEWAY):
            return True
    return False


def _cycles(before: dict[int, list[int]]) -> list[list[int]]:
    return [members for members in components(before) if len(members) > 1 or members[0] in before[members[0]]]


def _report(process: ProcessDraft, members: list[int], reading: Reading, *, certain: bool) -> None:
    first, *others = sorted(members)
    path = ", ".join(process.elements[index].label for index in (first, *others[:4]))
    more = f" and {len(others) - 4} more" if len(others) > 4 else ""
    xml = process.elements[first].xml
    suggestion = "Put something that waits into the loop: a job, a user task, a timer"
    if certain:
        message = f"The loop of {path}{more} never waits: it would turn without end"
        reading.findings.gap("ENDLESS_LOOP", message, xml, suggestion)
    else:
        message = f"The loop of {path}{more} never waits: if it is entered twice, it may turn without end"
        reading.findings.warning("POSSIBLE_ENDLESS_LOOP", message, xml, suggestion)


def _unreached(process: ProcessDraft, scope: ElementDraft) -> list[ElementDraft]:
    children = process.children(scope)
    reached = {child.index for child in children if _begins(child)} | set(scope.starts)
    stack = list(reached)
    while stack:
        draft = process.elements[stack.pop()]
        following = [process.flows[flow].target for flow in draft.outgoing]
        following += [*draft.boundaries, *([draft.link_target] if draft.link_target >= 0 else [])]
        for index in following:
            if index not in reached:
                reached.add(index)
                stack.append(index)
    return [child for child in children if child.index not in reached]


def _begins(draft: ElementDraft) -> bool:
    return (
        draft.kind in {Kind.START_EVENT, Kind.EVENT_SUB_PROCESS}
        or draft.is_for_compensation
        or (draft.instantiate and not draft.incoming)
        or (draft.kind == Kind.INTERMEDIATE_CATCH_EVENT and draft.has(Trigger.LINK))
    )


RULES = (loop_waits_somewhere, element_is_reachable, listed_flows_are_the_flows)
