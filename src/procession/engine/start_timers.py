"""Timer start events: what their jobs carry, and the firing after one. Pure."""

from __future__ import annotations

import msgspec

from procession.engine.values import encode_json
from procession.engine.writer import FOLLOW_UP_RETRIES
from procession.errors import InvalidValue
from procession.jobs.kinds import TIMER_QUEUE, JobKind
from procession.jobs.schedule import Due, cycle_due, date_due, duration_due, next_due
from procession.model.definition import Definition, EventSpec, TimerKind, Trigger
from procession.store.rows import NewJob, NewStartTimer


class StartTimer(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The arguments of a start timer's job. ``due`` is the instant it stands for, not the one it ran at."""

    definition: int
    element: str
    due: int
    cycle: str = ""
    left: int = 0
    anchor: int = 0


def start_timers(definition: Definition, key: int, now: int) -> list[NewStartTimer]:
    """The first firing of each timer start event of a definition that is stored under ``key``. Raises InvalidValue."""
    made: list[NewStartTimer] = []
    for index in definition.start_events:
        element = definition.elements[index]
        for event in element.events:
            if event.trigger != Trigger.TIMER:
                continue
            due = first_due(event, now, f"timer of start event '{element.id}' (line {element.line})")
            args = StartTimer(
                definition=key, element=element.id, due=due.at, cycle=due.cycle, left=due.left, anchor=due.anchor
            )
            made.append(NewStartTimer(element=element.id, due_at=due.at, args=encode_json(args)))
    return made


def first_due(event: EventSpec, now: int, what: str) -> Due:
    """When a timer without an instance is due first: its expression sees no variables. Raises InvalidValue."""
    if event.timer is None:
        raise InvalidValue(f"The {what} has no date, duration or cycle")
    warnings: list[object] = []
    value = event.timer.evaluate({}, warnings=warnings)
    try:
        match event.timer_kind:
            case TimerKind.DATE:
                return date_due(value)
            case TimerKind.DURATION:
                return duration_due(value, now)
            case TimerKind.CYCLE:
                return cycle_due(value, now)
    except InvalidValue as error:
        why = "; ".join(str(warning) for warning in warnings)
        raise InvalidValue(f"The {what} is not valid: {error}" + (f" ({why})" if why else "")) from error


def following(timer: StartTimer, key: int, now: int, tenant: str) -> NewJob | None:
    """The job of the firing after this one; None when it was the last."""
    due = next_due(timer.cycle, timer.left, timer.anchor, timer.due, now) if timer.cycle else None
    if due is None:
        return None
    args = StartTimer(
        definition=timer.definition,
        element=timer.element,
        due=due.at,
        cycle=due.cycle,
        left=due.left,
        anchor=due.anchor,
    )
    return NewJob(
        key=key,
        kind=JobKind.TIMER,
        queue=TIMER_QUEUE,
        type="",
        element=timer.element,
        definition=timer.definition,
        run_at=due.at if due.at > now else 0,
        retries=FOLLOW_UP_RETRIES,
        args=encode_json(args),
        tenant=tenant,
    )
