"""Opening and closing what an element instance waits for: timers, messages, signals, conditions. Emits, never reacts.

Scopes own waits: a boundary event's wait belongs to its activity's instance, that of an event sub-process' start event
to the instance of the scope around it. Everything that a wait needs is evaluated here, once, when it opens: due dates,
names and correlation keys do not change afterwards.
"""

from __future__ import annotations

from typing import Any

from procession.core import events as e
from procession.core.problems import Problem
from procession.core.state import ElementInstance, IncidentKind, Wait
from procession.core.step import Step
from procession.core.variables import plain
from procession.errors import InvalidValue
from procession.feel import Function
from procession.jobs.schedule import cycle_due, date_due, duration_due, next_due
from procession.limits import KEY_TEXT_BYTES_MAX
from procession.model.definition import Element, EventSpec, Kind, TimerKind, Trigger
from procession.model.expressions import Static

SHORT = KEY_TEXT_BYTES_MAX // 4  # characters: whatever they are, they are not too many bytes
WAITING = frozenset({Trigger.MESSAGE, Trigger.TIMER, Trigger.SIGNAL, Trigger.CONDITIONAL})


def open_boundaries(step: Step, element: Element, node: ElementInstance) -> None:
    """Wait for the boundary events of an activity; their expressions see its local variables. Raises Problem."""
    for index in element.boundaries:
        open_event(step, step.elements[index], node, node.key)


def open_event_sub_processes(step: Step, element: Element, node: ElementInstance) -> None:
    """Wait for the start events of a scope's event sub-processes. Raises Problem."""
    for index in element.event_sub_processes:
        start = step.elements[index].start_event
        if start >= 0:
            open_event(step, step.elements[start], node, node.key)


def open_event(step: Step, event: Element, owner: ElementInstance, scope: int) -> None:
    """Wait for each event definition of a catching element; expressions see ``scope``. Raises Problem."""
    for position, spec in enumerate(event.events):
        if spec.trigger in WAITING:
            open_wait(step, event, position, spec, owner, scope)
    if event.kind == Kind.RECEIVE_TASK and not event.events:
        message = f"The receive task '{event.id}' (line {event.line}) names no message"
        raise Problem(IncidentKind.EXTRACT_VALUE_ERROR, message)


def open_wait(step: Step, event: Element, position: int, spec: EventSpec, owner: ElementInstance, scope: int) -> None:
    """Wait for one event definition. Raises Problem."""
    if spec.trigger == Trigger.TIMER:
        open_timer(step, event, position, spec, owner, scope)
        return
    name, key = "", ""
    if spec.trigger == Trigger.MESSAGE:
        name, key = message_channel(step, event, spec, scope)
    elif spec.trigger == Trigger.SIGNAL:
        name = text_of(step, spec.name, scope, f"name of the signal of '{event.id}' (line {event.line})")
    once = event.interrupting or event.kind not in {Kind.BOUNDARY_EVENT, Kind.START_EVENT}
    subscription = step.keys.take()
    step.emit(
        e.Subscribed(subscription, owner.key, event.index, position, spec.trigger, name, key, once),
    )
    if spec.trigger == Trigger.CONDITIONAL:
        step.new_conditions.append(subscription)
    elif step.signals and spec.trigger == Trigger.SIGNAL:
        thrown = sum(signal[0] == name for signal in step.signals)
        step.emit(e.WaitSkips(subscription, thrown))  # their broadcasts come after it has opened


def open_timer(step: Step, event: Element, position: int, spec: EventSpec, owner: ElementInstance, scope: int) -> None:
    """Arm a timer. Raises Problem."""
    value = plain(step.evaluate(spec.timer, step.context(scope))) if spec.timer is not None else None
    step.be_strict(IncidentKind.EXTRACT_VALUE_ERROR, "timer", event)
    why = step.take_warnings()
    try:
        if spec.timer_kind == TimerKind.DATE:
            due = date_due(value)
        elif spec.timer_kind == TimerKind.DURATION:
            due = duration_due(value, step.now)
        else:
            due = cycle_due(value, step.now)
    except InvalidValue as error:
        message = f"The timer of '{event.id}' (line {event.line}) is not valid: {error}" + (f" ({why})" if why else "")
        raise Problem(IncidentKind.EXTRACT_VALUE_ERROR, message) from None
    step.emit(
        e.TimerArmed(
            step.keys.take(),
            owner.key,
            event.index,
            position,
            due.at,
            due.left,
            due.cycle,
            due.anchor,
        ),
    )


def rearm(step: Step, wait: Wait, owner: ElementInstance) -> None:
    """Arm the next repetition of a timer cycle that fired, if there is one."""
    try:
        due = next_due(wait.cycle, wait.left, wait.anchor, wait.due, step.now) if wait.cycle else None
    except InvalidValue as error:  # beyond the last instant that can be stored: the cycle is over
        step.emit(e.Warned(owner.key, wait.element, str(error)))
        return
    if due is not None:
        key = step.keys.take()
        step.emit(
            e.TimerArmed(key, owner.key, wait.element, wait.spec, due.at, due.left, due.cycle, due.anchor),
        )


def close_waits(step: Step, node: ElementInstance) -> None:
    """Stop waiting for anything."""
    if node.waits:
        for wait in list(node.waits):
            step.emit(e.WaitClosed(wait.key, "canceled"))


def close_waits_of(step: Step, node: ElementInstance, elements: frozenset[int] | set[int]) -> None:
    """Stop waiting for these catching elements."""
    for wait in list(node.waits or ()):
        if wait.element in elements:
            step.emit(e.WaitClosed(wait.key, "canceled"))


def message_channel(step: Step, event: Element, spec: EventSpec, scope: int) -> tuple[str, str]:
    """Name and correlation key of a message to wait for. Raises Problem when either has no value."""
    where = f"of '{event.id}' (line {event.line})"
    name = text_of(step, spec.name, scope, f"name of the message {where}")
    if spec.correlation_key is None:
        return name, ""
    return name, text_of(step, spec.correlation_key, scope, f"correlation key of the message '{name}' {where}")


def text_of(step: Step, expression: Any, scope: int, what: str) -> str:  # noqa: ANN401 - Evaluable or None
    """The value of an expression that must give a text or a whole number. Raises Problem."""
    if type(expression) is Static and type(expression.value) is str and len(expression.value) <= SHORT:
        return expression.value
    value = step.evaluate(expression, step.context(scope)) if expression is not None else None
    why = step.take_warnings()
    if why and step.strict:
        message = f"The {what} gave a warning, and expressions are strict here: {why}"
        raise Problem(IncidentKind.EXTRACT_VALUE_ERROR, message)
    if isinstance(value, str):
        text = value
    elif value is None or isinstance(value, bool) or type(value) in {list, dict}:
        found = "nothing" if value is None else type(value).__name__
        message = f"Expected a text or a number as the {what}, found {found}" + (f": {why}" if why else "")
        raise Problem(IncidentKind.EXTRACT_VALUE_ERROR, message)
    else:
        text = str(plain(value, what)) if isinstance(value, Function) else str(value)
    return storable(text, what, KEY_TEXT_BYTES_MAX, "KEY_TEXT_BYTES_MAX")


def storable(text: str, what: str, bytes_max: int, limit: str) -> str:
    """A text that a column of every store can hold. Raises Problem here, so that no store refuses the whole step."""
    if len(text) * 4 > bytes_max and len(text.encode("utf-8", "replace")) > bytes_max:
        message = f"The {what} is longer than {bytes_max} bytes ({limit})"
        raise Problem(IncidentKind.EXTRACT_VALUE_ERROR, message)
    if "\0" in text:
        message = f"The {what} holds the NUL character (U+0000), which cannot be stored: {text[:60]!r}"
        raise Problem(IncidentKind.EXTRACT_VALUE_ERROR, message)
    return text
