"""Rules about gateways: what follows an event-based gateway, and which flows can be decided."""

from __future__ import annotations

from typing import Final

from procession.model.definition import Kind, Trigger
from procession.model.draft import GATEWAYS, ElementDraft, ProcessDraft
from procession.model.expressions import Static
from procession.model.reader.events import EVENTS
from procession.model.reader.reading import Reading

_DECIDING: Final = frozenset({Kind.EXCLUSIVE_GATEWAY, Kind.INCLUSIVE_GATEWAY, Kind.COMPLEX_GATEWAY})
_EVENTS_AFTER_GATEWAY: Final = frozenset({Trigger.MESSAGE, Trigger.TIMER, Trigger.SIGNAL, Trigger.CONDITIONAL})


def event_gateway_has_two_ways(process: ProcessDraft, reading: Reading) -> None:
    """An event-based gateway has at least two outgoing flows."""
    for gateway in _event_gateways(process):
        if len(gateway.outgoing) < 2:
            count = len(gateway.outgoing)
            message = f"The event-based gateway {gateway.label} has {count} outgoing flows; it needs at least two"
            report = reading.findings.gap if count else reading.findings.error
            report("EVENT_GATEWAY_FLOWS", message, gateway.xml)


def event_gateway_leads_to_catch_events(process: ProcessDraft, reading: Reading) -> None:
    """What follows an event-based gateway waits: message, timer, signal or condition, or a receive task."""
    for gateway in _event_gateways(process):
        for target in process.targets(gateway):
            triggers = {event.trigger for event in target.events}
            is_catch = (
                target.kind == Kind.INTERMEDIATE_CATCH_EVENT and bool(triggers) and triggers <= _EVENTS_AFTER_GATEWAY
            )
            if is_catch or target.kind == Kind.RECEIVE_TASK:
                continue
            message = (
                f"The event-based gateway {gateway.label} leads to {target.label}, which does not wait for an event"
            )
            suggestion = "Lead it to message, timer, signal or conditional catch events or receive tasks"
            reading.findings.error("EVENT_GATEWAY_TARGET", message, target.xml, suggestion)


def event_gateway_targets_have_one_way_in(process: ProcessDraft, reading: Reading) -> None:
    """No other flow leads to what follows an event-based gateway; receive tasks there have no boundary events."""
    for gateway in _event_gateways(process):
        for target in process.targets(gateway):
            if len(target.incoming) > 1:
                message = f"{target.label} follows the event-based gateway {gateway.label}, but other flows lead to it"
                reading.findings.error("EVENT_GATEWAY_TARGET", message, target.xml, "Give it one incoming flow")
            if target.boundaries:
                message = f"{target.label} follows the event-based gateway {gateway.label} and has boundary events"
                reading.findings.error("EVENT_GATEWAY_TARGET", message, target.xml, "Remove the boundary events")


def event_gateway_events_are_distinct(process: ProcessDraft, reading: Reading) -> None:
    """No message or signal is waited for twice behind one gateway."""
    seen: dict[tuple[int, Trigger, str], ElementDraft] = {}
    for gateway, target in _ways(process):
        for event in target.events:
            if event.trigger not in {Trigger.MESSAGE, Trigger.SIGNAL} or not isinstance(event.name, Static):
                continue
            other = seen.setdefault((gateway.index, event.trigger, event.name.text), target)
            if other is not target:
                what = f"{event.trigger.name.lower()} '{event.name.text}'"
                message = f"{target.label} and {other.label} behind {gateway.label} wait for the same {what}"
                reading.findings.gap("EVENT_GATEWAY_DUPLICATE", message, target.xml)


def event_gateway_does_not_mix(process: ProcessDraft, reading: Reading) -> None:
    """The standard wants either message catch events or receive tasks behind one gateway."""
    for gateway in _event_gateways(process):
        kinds = {target.kind for target in process.targets(gateway) if target.has(Trigger.MESSAGE)}
        if len(kinds) > 1:
            message = f"Message events and receive tasks are mixed behind {gateway.label}"
            reading.findings.warning("EVENT_GATEWAY_MIXED", message, gateway.xml, "Use one of the two kinds")


def instantiating_gateway_waits_for_messages(process: ProcessDraft, reading: Reading) -> None:
    """A gateway that starts instances waits for messages, signals or conditions; only such a one may be parallel."""
    for gateway in _event_gateways(process):
        if gateway.event_gateway_type == "Parallel" and not gateway.instantiate:
            message = f"The event-based gateway {gateway.label} is parallel, which only an instantiating one can be"
            reading.findings.error("EVENT_GATEWAY_PARALLEL", message, gateway.xml, "Make it exclusive, or instantiate")


def condition_is_looked_at(process: ProcessDraft, reading: Reading) -> None:
    """Conditions behind event-based gateways are wrong; behind parallel gateways and events they stand out."""
    for flow in process.flows:
        source = process.elements[flow.source]
        if flow.condition is None:
            continue
        if source.kind == Kind.EVENT_BASED_GATEWAY:
            message = f"The flow from {source.label} has a condition; the event decides which way is taken"
            reading.findings.error("CONDITION_NOT_ALLOWED", message, flow.xml, "Remove the condition")
        elif source.kind == Kind.PARALLEL_GATEWAY:
            message = f"The condition of the flow from {source.label} is ignored: a parallel gateway takes every flow"
            reading.findings.warning("CONDITION_IGNORED", message, flow.xml, "Use an inclusive gateway, or remove it")
        elif source.kind in EVENTS:
            message = f"The flow from the event {source.label} has a condition, which the standard does not know"
            reading.findings.warning("CONDITION_ON_EVENT", message, flow.xml, "Put a gateway behind the event")


def default_flow_has_no_condition(process: ProcessDraft, reading: Reading) -> None:
    """The condition of a default flow is ignored."""
    for draft in process.elements:
        if draft.default_flow >= 0 and process.flows[draft.default_flow].condition is not None:
            message = f"The default flow of {draft.label} has a condition, which is ignored"
            reading.findings.warning("DEFAULT_FLOW_CONDITION", message, process.flows[draft.default_flow].xml)


def default_flow_belongs_to_a_decision(process: ProcessDraft, reading: Reading) -> None:
    """A default flow means something only where conditions are looked at."""
    for draft in process.elements:
        if draft.default_flow >= 0 and draft.kind in GATEWAYS - _DECIDING:
            message = f"{draft.label} decides nothing; its default flow is taken like every other"
            reading.findings.warning("DEFAULT_FLOW_IGNORED", message, draft.xml)


def decision_has_conditions(process: ProcessDraft, reading: Reading) -> None:
    """Behind an exclusive gateway the first flow without a condition is always taken: what follows it never is."""
    for draft in process.elements:
        if draft.kind not in _DECIDING or len(draft.outgoing) < 2:
            continue
        bare = [i for i in draft.outgoing if process.flows[i].condition is None and i != draft.default_flow]
        if bare:
            message = f"The flow from {draft.label} has no condition: it counts as true"
            suggestion = "Write a condition, or make it the default flow"
            reading.findings.warning("CONDITION_MISSING", message, process.flows[bare[0]].xml, suggestion)


def gateway_is_connected(process: ProcessDraft, reading: Reading) -> None:
    """A gateway without any flow is a leftover."""
    for draft in process.elements:
        if draft.kind in GATEWAYS and not draft.incoming and not draft.outgoing:
            message = f"No flow leads to or from {draft.label}"
            reading.findings.error("GATEWAY_FLOWS", message, draft.xml, "Connect it, or remove it")


def direction_is_as_declared(process: ProcessDraft, reading: Reading) -> None:
    """`gatewayDirection` restricts flows; the drawing then says something else than the attribute."""
    for draft in process.elements:
        direction = draft.xml.get("gatewayDirection")
        if draft.kind not in GATEWAYS or direction not in {"Converging", "Diverging"}:
            continue
        many = draft.outgoing if direction == "Converging" else draft.incoming
        if len(many) > 1:
            side = "leave" if direction == "Converging" else "lead to"
            message = f"{draft.label} is declared as {direction.lower()}, but {len(many)} flows {side} it"
            reading.findings.warning("GATEWAY_DIRECTION", message, draft.xml, "Correct gatewayDirection")


def _event_gateways(process: ProcessDraft) -> list[ElementDraft]:
    return [draft for draft in process.elements if draft.kind == Kind.EVENT_BASED_GATEWAY]


def _ways(process: ProcessDraft) -> list[tuple[ElementDraft, ElementDraft]]:
    """Every event-based gateway with each of its targets."""
    return [(gateway, target) for gateway in _event_gateways(process) for target in process.targets(gateway)]


RULES = (
    event_gateway_has_two_ways,
    event_gateway_leads_to_catch_events,
    event_gateway_targets_have_one_way_in,
    event_gateway_events_are_distinct,
    event_gateway_does_not_mix,
    instantiating_gateway_waits_for_messages,
    condition_is_looked_at,
    default_flow_has_no_condition,
    default_flow_belongs_to_a_decision,
    decision_has_conditions,
    gateway_is_connected,
    direction_is_as_declared,
)
