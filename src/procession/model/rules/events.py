"""Rules about events: which trigger may stand where, boundaries, timers, links, and catchers that collide."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from procession.model.definition import EventSpec, Kind, TimerKind, Trigger
from procession.model.draft import ElementDraft, ProcessDraft
from procession.model.expressions import Static
from procession.model.reader.events import EVENTS, FOREIGN_TRIGGERS
from procession.model.reader.reading import Reading

_OCCURRING: Final = frozenset({Trigger.MESSAGE, Trigger.TIMER, Trigger.SIGNAL, Trigger.CONDITIONAL})
_THROWN_WITHIN: Final = frozenset({Trigger.ERROR, Trigger.ESCALATION, Trigger.COMPENSATION})
ALLOWED: Final = {
    "the start of a process": _OCCURRING,
    "the start of a sub-process": frozenset[Trigger](),
    "the start of an event sub-process": _OCCURRING | _THROWN_WITHIN,
    "an intermediate catch event": _OCCURRING | {Trigger.LINK},
    "a boundary event": _OCCURRING | _THROWN_WITHIN | {Trigger.CANCEL},
    "an intermediate throw event": frozenset(
        {Trigger.MESSAGE, Trigger.SIGNAL, Trigger.ESCALATION, Trigger.COMPENSATION, Trigger.LINK}
    ),
    "an end event": frozenset({Trigger.MESSAGE, Trigger.SIGNAL, Trigger.TERMINATE, Trigger.CANCEL}) | _THROWN_WITHIN,
}
_POSITIONS: Final = {
    Kind.INTERMEDIATE_CATCH_EVENT: "an intermediate catch event",
    Kind.BOUNDARY_EVENT: "a boundary event",
    Kind.INTERMEDIATE_THROW_EVENT: "an intermediate throw event",
    Kind.END_EVENT: "an end event",
}
_ALWAYS_INTERRUPTING: Final = frozenset({Trigger.ERROR, Trigger.COMPENSATION, Trigger.CANCEL})
_ALONE: Final = frozenset({Trigger.LINK, Trigger.TERMINATE, Trigger.CANCEL})


def trigger_fits_position(process: ProcessDraft, reading: Reading) -> None:
    """Each position allows certain triggers only (BPMN 2.0, table 10.93)."""
    for draft in process.elements:
        if draft.kind not in EVENTS:
            continue
        position = _position(process, draft)
        for event in draft.events:
            if event.trigger not in ALLOWED[position] and position != "the start of a sub-process":
                name = event.trigger.name.lower()
                message = f"{draft.label} has the trigger '{name}', which {position} cannot have"
                reading.findings.error("TRIGGER_NOT_ALLOWED", message, draft.xml)


def catching_event_has_a_trigger(process: ProcessDraft, reading: Reading) -> None:
    """An intermediate catch event or boundary event waits for something."""
    for draft in process.elements:
        if draft.kind in {Kind.INTERMEDIATE_CATCH_EVENT, Kind.BOUNDARY_EVENT} and not draft.events:
            named = [*draft.xml.children, *draft.xml.extensions()]
            if any(child.name == "eventDefinitionRef" or child.name in FOREIGN_TRIGGERS for child in named):
                continue  # it leads nowhere, or to something of a vendor, which is reported already
            message = f"{draft.label} has no trigger: it would never go on"
            reading.findings.error("MISSING_TRIGGER", message, draft.xml, "Add an event definition")


def some_triggers_stand_alone(process: ProcessDraft, reading: Reading) -> None:
    """Links, terminate and cancel are no part of a multiple event; compensation is only thrown as one of several."""
    throwing = {Kind.END_EVENT, Kind.INTERMEDIATE_THROW_EVENT}
    for draft in process.elements:
        not_here = _ALONE if draft.kind in throwing else _ALONE | {Trigger.COMPENSATION}
        alone = next((event.trigger for event in draft.events if event.trigger in not_here), None)
        if draft.kind in EVENTS and len(draft.events) > 1 and alone is not None:
            message = f"{draft.label} has several triggers; '{alone.name.lower()}' cannot be one of several"
            reading.findings.error("TRIGGER_NOT_ALONE", message, draft.xml, "Keep one event definition")


def interrupting_triggers_interrupt(process: ProcessDraft, reading: Reading) -> None:
    """Errors, cancellation and compensation cannot be caught without interrupting."""
    for draft in process.elements:
        if draft.kind not in {Kind.BOUNDARY_EVENT, Kind.START_EVENT} or draft.interrupting:
            continue
        trigger = next((event.trigger for event in draft.events if event.trigger in _ALWAYS_INTERRUPTING), None)
        if trigger is not None:
            message = f"{draft.label} catches '{trigger.name.lower()}' and cannot be non-interrupting"
            reading.findings.error("MUST_INTERRUPT", message, draft.xml, "Make it interrupting")


def boundary_has_outgoing_only(process: ProcessDraft, reading: Reading) -> None:
    """No flow leads to a boundary event; at least one leaves it, unless it is for compensation."""
    for draft in process.elements:
        if draft.kind != Kind.BOUNDARY_EVENT:
            continue
        if draft.incoming:
            message = f"A flow leads to the boundary event {draft.label}"
            reading.findings.error("BOUNDARY_INCOMING", message, process.flows[draft.incoming[0]].xml)
        if not draft.outgoing and not draft.has(Trigger.COMPENSATION):
            message = f"No flow leaves the boundary event {draft.label}"
            reading.findings.gap("BOUNDARY_OUTGOING", message, draft.xml, "Lead a flow to what follows the event")


def cancel_belongs_to_a_transaction(process: ProcessDraft, reading: Reading) -> None:
    """Cancel ends stand in a transaction, cancel boundaries on one."""
    for draft in process.elements:
        if not draft.has(Trigger.CANCEL):
            continue
        if draft.kind == Kind.END_EVENT and not _is_within_transaction(process, draft):
            message = f"The cancel end {draft.label} does not stand in a transaction"
            reading.findings.error("CANCEL_OUTSIDE_TRANSACTION", message, draft.xml, "Use a transaction sub-process")
        if draft.kind == Kind.BOUNDARY_EVENT and draft.attached_to >= 0:
            host = process.elements[draft.attached_to]
            if host.kind != Kind.TRANSACTION:
                message = f"The cancel event {draft.label} is attached to {host.label}, which is no transaction"
                reading.findings.error("CANCEL_OUTSIDE_TRANSACTION", message, draft.xml)


def one_cancel_boundary(process: ProcessDraft, reading: Reading) -> None:
    """A transaction has at most one cancel boundary event."""
    for host in process.elements:
        cancels = [index for index in host.boundaries if process.elements[index].has(Trigger.CANCEL)]
        if len(cancels) > 1:
            message = f"{host.label} has {len(cancels)} cancel boundary events"
            reading.findings.error("DUPLICATE_CATCH", message, process.elements[cancels[1]].xml, "Keep one of them")


def cycle_repeats_somewhere(process: ProcessDraft, reading: Reading) -> None:
    """A timer cycle needs a place that can fire again: not an interrupting event, not an intermediate catch event.

    The standard lets an intermediate catch event wait for a cycle (it then fires once per repetition); the vendors'
    engines refuse that, and so do we in their models.
    """
    for draft in process.elements:
        if not any(_is_cycle(event) for event in draft.events):
            continue
        if draft.kind == Kind.INTERMEDIATE_CATCH_EVENT:
            message = f"{draft.label} waits for a cycle; it can go on only once per token"
            report = reading.findings.error if reading.zeebe or reading.camunda else reading.findings.warning
            report("CYCLE_NOT_ALLOWED", message, draft.xml, "Use a duration or a date")
        elif draft.kind == Kind.BOUNDARY_EVENT and draft.interrupting:
            message = f"The interrupting boundary event {draft.label} has a cycle, but fires only once"
            suggestion = "Use a duration or a date, or make it non-interrupting"
            reading.findings.error("CYCLE_NOT_ALLOWED", message, draft.xml, suggestion)
        elif draft.kind == Kind.START_EVENT and draft.scope != 0 and draft.interrupting:
            message = f"The interrupting start {draft.label} has a cycle, but fires only once"
            suggestion = "Use a duration or a date, or make it non-interrupting"
            reading.findings.error("CYCLE_NOT_ALLOWED", message, draft.xml, suggestion)


def link_pairs_up(process: ProcessDraft, reading: Reading) -> None:
    """Within a scope a link name has exactly one catch; a catch nobody jumps to is never reached."""
    catches: dict[tuple[int, str], list[ElementDraft]] = defaultdict(list)
    thrown: set[tuple[int, str]] = set()
    for draft, event in _event_definitions(process, Trigger.LINK):
        if draft.kind == Kind.INTERMEDIATE_CATCH_EVENT:
            catches[draft.scope, event.link].append(draft)
        else:
            thrown.add((draft.scope, event.link))
    for (scope, name), drafts in catches.items():
        if len(drafts) > 1:
            message = f"The link '{name}' has {len(drafts)} catch events: where it leads is not defined"
            reading.findings.error("DUPLICATE_LINK", message, drafts[1].xml, "Keep one of them")
        if (scope, name) not in thrown:
            message = f"No throw event jumps to the link '{name}' of {drafts[0].label}"
            reading.findings.warning("UNUSED_LINK", message, drafts[0].xml)


def link_has_one_side(process: ProcessDraft, reading: Reading) -> None:
    """No flow leads to a link catch or leaves a link throw."""
    for draft in process.elements:
        if not draft.has(Trigger.LINK):
            continue
        if draft.kind == Kind.INTERMEDIATE_CATCH_EVENT and draft.incoming:
            message = f"A flow leads to the link catch {draft.label}; only link throws do"
            reading.findings.error("LINK_FLOW", message, process.flows[draft.incoming[0]].xml)
        if draft.kind == Kind.INTERMEDIATE_THROW_EVENT and draft.outgoing:
            message = f"A flow leaves the link throw {draft.label}; it goes on at its catch event"
            reading.findings.error("LINK_FLOW", message, process.flows[draft.outgoing[0]].xml)


def catchers_of_codes_are_distinct(process: ProcessDraft, reading: Reading) -> None:
    """On one activity, and among the event sub-processes of one scope, a code is caught once, all codes once."""
    for draft in process.elements:
        _check_codes([process.elements[index] for index in draft.boundaries], draft, reading)
        starts = [process.elements[index].start_event for index in draft.event_sub_processes]
        _check_codes([process.elements[index] for index in starts if index >= 0], draft, reading)


def start_messages_are_distinct(process: ProcessDraft, reading: Reading) -> None:
    """Two start events of a process for the same message would start two instances, or one by chance."""
    seen: dict[str, ElementDraft] = {}
    for draft, event in _event_definitions(process, Trigger.MESSAGE):
        if not _starts_process(draft) or not isinstance(event.name, Static):
            continue
        other = seen.setdefault(event.name.text, draft)
        if other is not draft:
            message = f"{draft.label} and {other.label} start on the same message '{event.name.text}'"
            reading.findings.error("DUPLICATE_CATCH", message, draft.xml, "Use different messages")


def start_message_name_is_known(process: ProcessDraft, reading: Reading) -> None:
    """What starts instances is known when the process is deployed: no variables in names and times there."""
    for draft, event in _event_definitions(process):
        if not _starts_process(draft):
            continue
        known = [evaluable.names for evaluable in (event.name, event.timer) if evaluable is not None]
        names = ", ".join(sorted(frozenset[str]().union(*known)))
        if names:
            message = f"{draft.label} depends on variables ({names}), but there is no instance yet"
            reading.findings.error("START_EVENT_VARIABLES", message, draft.xml, "Write a literal value")


def message_catch_has_a_key(process: ProcessDraft, reading: Reading) -> None:
    """Camunda 8 wants a correlation key wherever an instance waits for a message."""
    if not reading.zeebe:
        return
    for draft in process.elements:
        waits = draft.kind in {Kind.INTERMEDIATE_CATCH_EVENT, Kind.BOUNDARY_EVENT, Kind.RECEIVE_TASK} or (
            draft.kind == Kind.START_EVENT and draft.scope != 0
        )
        if not waits or draft.instantiate:
            continue
        if any(event.trigger == Trigger.MESSAGE and event.correlation_key is None for event in draft.events):
            message = f"The message of {draft.label} has no correlation key; any message of that name fits"
            suggestion = "Add a zeebe:subscription with a correlationKey to the message"
            reading.findings.warning("MISSING_CORRELATION_KEY", message, draft.xml, suggestion)


def _event_definitions(
    process: ProcessDraft, trigger: Trigger | None = None
) -> Iterator[tuple[ElementDraft, EventSpec]]:
    for draft in process.elements:
        for event in draft.events:
            if trigger is None or event.trigger == trigger:
                yield draft, event


def _starts_process(draft: ElementDraft) -> bool:
    return draft.kind == Kind.START_EVENT and draft.scope == 0


def _position(process: ProcessDraft, draft: ElementDraft) -> str:
    if draft.kind != Kind.START_EVENT:
        return _POSITIONS[draft.kind]
    scope = process.elements[draft.scope]
    if scope.kind == Kind.PROCESS:
        return "the start of a process"
    return "the start of an event sub-process" if scope.kind == Kind.EVENT_SUB_PROCESS else "the start of a sub-process"


def _is_within_transaction(process: ProcessDraft, draft: ElementDraft) -> bool:
    scope = process.elements[draft.scope]
    while scope.kind == Kind.EVENT_SUB_PROCESS:
        scope = process.elements[scope.scope]
    return scope.kind == Kind.TRANSACTION


def _is_cycle(event: EventSpec) -> bool:
    return event.trigger == Trigger.TIMER and event.timer_kind == TimerKind.CYCLE


def _check_codes(catchers: list[ElementDraft], owner: ElementDraft, reading: Reading) -> None:
    seen: dict[tuple[Trigger, str | None], ElementDraft] = {}
    for catcher in catchers:
        for event in catcher.events:
            if event.trigger not in {Trigger.ERROR, Trigger.ESCALATION}:
                continue
            code = event.code.text if event.code is not None else None
            other = seen.setdefault((event.trigger, code), catcher)
            if other is not catcher:
                what = f"every {event.trigger.name.lower()}" if code is None else f"'{code}'"
                message = f"{catcher.label} and {other.label} of {owner.label} both catch {what}"
                reading.findings.error("DUPLICATE_CATCH", message, catcher.xml, "Keep one of them")


RULES = (
    trigger_fits_position,
    catching_event_has_a_trigger,
    some_triggers_stand_alone,
    interrupting_triggers_interrupt,
    boundary_has_outgoing_only,
    cancel_belongs_to_a_transaction,
    one_cancel_boundary,
    cycle_repeats_somewhere,
    link_pairs_up,
    link_has_one_side,
    catchers_of_codes_are_distinct,
    start_messages_are_distinct,
    start_message_name_is_known,
    message_catch_has_a_key,
)
