"""Events: what each event definition waits for or throws, and what it refers to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from procession.model.definition import Evaluable, EventSpec, Kind, TimerKind, Trigger, Work
from procession.model.draft import ElementDraft, ProcessDraft
from procession.model.expressions import Static
from procession.model.juel import has_expression
from procession.model.reader.durations import cycle_problem, date_problem, duration_problem
from procession.model.reader.reading import Reading, boolean, lookup
from procession.model.reader.structure import EVENT_DEFINITIONS
from procession.model.xml import CAMUNDA, ZEEBE, Xml

EVENTS: Final = frozenset(
    {
        Kind.START_EVENT,
        Kind.END_EVENT,
        Kind.INTERMEDIATE_CATCH_EVENT,
        Kind.INTERMEDIATE_THROW_EVENT,
        Kind.BOUNDARY_EVENT,
    }
)
THROWING: Final = frozenset({Kind.END_EVENT, Kind.INTERMEDIATE_THROW_EVENT})
FOREIGN_TRIGGERS: Final = frozenset({"variableListenerEventDefinition", "eventType"})  # what Flowable adds
_UNNAMED: Final = "(unnamed)"  # links without any name belong together where gaps are tolerated
_TIMERS: Final = {"timeDate": TimerKind.DATE, "timeDuration": TimerKind.DURATION, "timeCycle": TimerKind.CYCLE}
TIMER_FORMS: Final = {
    TimerKind.DATE: (date_problem, "a date of ISO 8601 such as 2030-01-31T09:00:00Z"),
    TimerKind.DURATION: (duration_problem, "a duration of ISO 8601 such as PT15M"),
    TimerKind.CYCLE: (cycle_problem, "a cycle such as R3/PT10M or a cron expression such as 0 0 9 * * MON-FRI"),
}


def read_event(process: ProcessDraft, draft: ElementDraft, reading: Reading) -> None:
    """Everything that is particular to an event."""
    xml, findings = draft.xml, reading.findings
    for definition in event_definitions(xml, reading):
        draft.events.append(read_definition(process, draft, definition, reading))
    draft.parallel_multiple = boolean(xml, "parallelMultiple", findings, default=False)
    if draft.kind == Kind.BOUNDARY_EVENT:
        draft.interrupting = boolean(xml, "cancelActivity", findings, default=True)
    elif draft.kind == Kind.START_EVENT:
        draft.interrupting = boolean(xml, "isInterrupting", findings, default=True)
    for extension in xml.extensions():
        if extension.space == CAMUNDA and extension.name in FOREIGN_TRIGGERS:
            message = f"The extension '{extension.name}' decides what the event does and is not supported"
            findings.error("UNSUPPORTED_EXTENSION", message, extension, "Use a conditional, message or signal event")
    if draft.kind in THROWING and len(draft.events) == 1 and draft.trigger == Trigger.MESSAGE:
        draft.work = Work.CONNECTOR_MESSAGE


def event_definitions(xml: Xml, reading: Reading) -> list[Xml]:
    """The event definitions of an event, in order, those by reference included."""
    found: list[Xml] = []
    for child in xml.children:
        if child.space == "" and child.name in EVENT_DEFINITIONS:
            found.append(child)
        elif child.name == "eventDefinitionRef":
            referred = lookup(reading.declared.event_definitions, child.text)
            if referred is None:
                message = f"No event definition has the id '{child.text}'"
                reading.findings.error("UNKNOWN_REFERENCE", message, child)
            else:
                found.append(referred)
    return found


def read_definition(process: ProcessDraft, draft: ElementDraft, xml: Xml, reading: Reading) -> EventSpec:
    """One event definition."""
    return _READERS[xml.name](_Site(process, draft, xml, reading))


class _Site(NamedTuple):
    """Where an event definition stands."""

    process: ProcessDraft
    draft: ElementDraft
    xml: Xml
    reading: Reading


def read_message(draft: ElementDraft, xml: Xml, reading: Reading) -> EventSpec:
    """The message that ``messageRef`` of a receive task, send task or message event definition names."""
    findings = reading.findings
    ref = xml.get("messageRef").strip()
    message = lookup(reading.declared.messages, ref) if ref else None
    if message is None:
        if ref:
            findings.gap("UNKNOWN_REFERENCE", f"No message has the id '{ref}'", xml, "Declare the message")
        else:
            findings.gap("MISSING_MESSAGE", f"{draft.label} names no message", xml, "Set its messageRef")
        return EventSpec(trigger=Trigger.MESSAGE, name=Static(draft.id), ref=ref)
    name = message.get("name").strip()
    if not name:
        text = f"The message '{message.id}' of {draft.label} has no name"
        findings.gap("MISSING_MESSAGE_NAME", text, message, "Set the message's name; it is what publishers use")
    key: Evaluable | None = None
    subscription = message.extension("subscription", ZEEBE)
    if subscription is not None and subscription.get("correlationKey").strip():
        key = reading.expressions.zeebe(subscription.get("correlationKey"), subscription, "correlation key")
    return EventSpec(
        trigger=Trigger.MESSAGE,
        name=reading.expressions.value(name, message, "message name") if name else Static(message.id),
        correlation_key=key,
        ref=message.id,
    )


def _message(site: _Site) -> EventSpec:
    _, draft, xml, reading = site
    if draft.kind in THROWING and not xml.get("messageRef").strip() and _has_job(draft.xml, xml):
        return EventSpec(trigger=Trigger.MESSAGE)  # the job's worker knows which message it sends
    return read_message(draft, xml, reading)


def _has_job(event: Xml, definition: Xml) -> bool:
    if event.extension("taskDefinition", ZEEBE) is not None:
        return True
    return any(
        definition.get(f"camunda:{name}") for name in ("type", "topic", "class", "delegateExpression", "expression")
    )


def _signal(site: _Site) -> EventSpec:
    _, draft, xml, reading = site
    findings = reading.findings
    ref = xml.get("signalRef").strip()
    signal = lookup(reading.declared.signals, ref) if ref else None
    if signal is None:
        if ref:
            findings.gap("UNKNOWN_REFERENCE", f"No signal has the id '{ref}'", xml, "Declare the signal")
        else:
            findings.gap("MISSING_SIGNAL", f"{draft.label} names no signal", xml, "Set its signalRef")
        return EventSpec(trigger=Trigger.SIGNAL, name=Static(ref), ref=ref)
    name = signal.get("name").strip()
    if not name:
        message = f"The signal '{signal.id}' of {draft.label} has no name"
        findings.gap("MISSING_SIGNAL_NAME", message, signal, "Set the signal's name")
    return EventSpec(
        trigger=Trigger.SIGNAL,
        name=reading.expressions.value(name, signal, "signal name") if name else Static(signal.id),
        ref=signal.id,
    )


def _timer(site: _Site) -> EventSpec:
    _, draft, xml, reading = site
    findings = reading.findings
    given = [child for child in xml.children if child.name in _TIMERS]
    if len(given) != 1 or not given[0].text:
        found = "none" if not given else "an empty one" if len(given) == 1 else str(len(given))
        message = f"A timer needs exactly one date, duration or cycle; {draft.label} has {found}"
        findings.gap("TIMER_DEFINITION", message, xml, "Set one of timeDate, timeDuration and timeCycle")
        return EventSpec(trigger=Trigger.TIMER, timer=Static("PT1S"))
    kind = _TIMERS[given[0].name]
    timer = reading.expressions.value(given[0].text, given[0], f"timer's {given[0].name}")
    if isinstance(timer, Static):
        problem_of, wanted = TIMER_FORMS[kind]
        if problem := problem_of(timer.text):
            message = f"The {given[0].name} '{timer.text}' of {draft.label} can never be used: {problem}"
            findings.error("INVALID_TIMER", message, given[0], f"Write {wanted}")
    return EventSpec(trigger=Trigger.TIMER, timer_kind=kind, timer=timer)


def _error(site: _Site) -> EventSpec:
    _, draft, xml, reading = site
    code = _code(draft, xml, reading, "error", reading.declared.errors)
    return EventSpec(
        trigger=Trigger.ERROR,
        code=code,
        code_variable=xml.get("camunda:errorCodeVariable"),
        message_variable=xml.get("camunda:errorMessageVariable"),
        ref=xml.get("errorRef"),
    )


def _escalation(site: _Site) -> EventSpec:
    _, draft, xml, reading = site
    code = _code(draft, xml, reading, "escalation", reading.declared.escalations)
    return EventSpec(
        trigger=Trigger.ESCALATION,
        code=code,
        code_variable=xml.get("camunda:escalationCodeVariable"),
        ref=xml.get("escalationRef"),
    )


def _code(draft: ElementDraft, xml: Xml, reading: Reading, what: str, table: dict[str, Xml]) -> Evaluable | None:
    """The code that an error or escalation event throws or catches; None catches every code."""
    findings = reading.findings
    throws = draft.kind in THROWING
    ref = xml.get(f"{what}Ref").strip()
    if not ref:
        if throws:
            message = f"{draft.label} throws an {what}, but names none"
            findings.gap(f"MISSING_{what.upper()}", message, xml, f"Set its {what}Ref")
        return Static("") if throws else None
    declared = lookup(table, ref)
    if declared is None:
        message = f"No {what} has the id '{ref}'"
        findings.gap("UNKNOWN_REFERENCE", message, xml, f"Declare the {what}")
        return Static(ref)
    text = declared.get(f"{what}Code").strip()
    if not text:
        message = f"The {what} '{declared.id}' of {draft.label} has no code"
        if throws:
            findings.gap(f"MISSING_{what.upper()}_CODE", message, declared, f"Set its {what}Code")
            return Static(declared.id)
        findings.warning(f"MISSING_{what.upper()}_CODE", f"{message}; every code is caught", declared)
        return None
    if not throws and (text.startswith("=") or has_expression(text)):
        message = f"{draft.label} catches the {what} code '{text}'; a code that is caught cannot be an expression"
        findings.error("CODE_NOT_LITERAL", message, declared, "Write the code itself")
        return Static(text)
    return reading.expressions.value(text, declared, f"{what} code")


def _compensation(site: _Site) -> EventSpec:
    process, draft, xml, reading = site
    ref = xml.get("activityRef").strip()
    activity = -1
    if ref:
        activity = process.index_of.get(ref, process.index_of.get(ref.rpartition(":")[2], -1))
        if activity <= 0:
            message = f"The activityRef '{ref}' of {draft.label} names no activity of this process"
            reading.findings.error("UNKNOWN_REFERENCE", message, xml)
            activity = -1
    wait = boolean(xml, "waitForCompletion", reading.findings, default=True)
    return EventSpec(trigger=Trigger.COMPENSATION, activity=activity, wait_for_completion=wait, ref=ref)


def _conditional(site: _Site) -> EventSpec:
    _, draft, xml, reading = site
    findings = reading.findings
    condition = xml.first("condition")
    names = xml.get("camunda:variableName")
    events = xml.get("camunda:variableEvents")
    conditional_filter = xml.extension("conditionalFilter", ZEEBE) or draft.xml.extension("conditionalFilter", ZEEBE)
    if conditional_filter is not None:
        names = conditional_filter.get("variableNames")
        events = conditional_filter.get("variableEvents")
    compiled: Evaluable | None = None
    if condition is None or not condition.text:
        message = f"{draft.label} waits for a condition, but has none"
        findings.gap("MISSING_CONDITION", message, xml, "Write its condition")
    else:
        compiled = reading.expressions.expression(condition, "condition")
    return EventSpec(
        trigger=Trigger.CONDITIONAL,
        condition=compiled,
        variable_names=frozenset(name.strip() for name in names.split(",") if name.strip()),
        variable_events=_variable_events(events, xml, reading),
    )


def _variable_events(text: str, xml: Xml, reading: Reading) -> frozenset[str]:
    events = frozenset(event.strip() for event in text.split(",") if event.strip())
    unknown = events - {"create", "update", "delete"}
    if unknown:
        message = f"The variable events {', '.join(sorted(unknown))} are not among create, update and delete"
        reading.findings.error("INVALID_ATTRIBUTE", message, xml)
    return events


def _link(site: _Site) -> EventSpec:
    _, draft, xml, reading = site
    name = xml.get("name").strip()
    if not name:
        reading.findings.gap("MISSING_LINK_NAME", f"{draft.label} is a link without a name", xml, "Name the link")
        name = draft.xml.get("name").strip() or _UNNAMED
    return EventSpec(trigger=Trigger.LINK, link=name)


def _plain(trigger: Trigger) -> Callable[[_Site], EventSpec]:
    return lambda _: EventSpec(trigger=trigger)


_READERS: Final[dict[str, Callable[[_Site], EventSpec]]] = {
    "messageEventDefinition": _message,
    "timerEventDefinition": _timer,
    "signalEventDefinition": _signal,
    "errorEventDefinition": _error,
    "escalationEventDefinition": _escalation,
    "compensateEventDefinition": _compensation,
    "conditionalEventDefinition": _conditional,
    "linkEventDefinition": _link,
    "terminateEventDefinition": _plain(Trigger.TERMINATE),
    "cancelEventDefinition": _plain(Trigger.CANCEL),
}
