"""Rules about constants: what can never work is refused at deployment, not found out by an instance that stops there.

A constant is a text that the model gives as it is, or an expression that reads no variable. What its value must be is
what the core asks of it when it is reached: each check here has its counterpart there. Timers that are written as plain
text are looked at by the reader, which knows their line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, cast

from procession.feel import to_json
from procession.limits import KEY_TEXT_BYTES_MAX
from procession.model.definition import Evaluable, EventSpec, Kind, Listener, Trigger
from procession.model.draft import ElementDraft, ProcessDraft
from procession.model.expressions import Static, Unreadable
from procession.model.reader.durations import date_problem, duration_problem
from procession.model.reader.events import THROWING, TIMER_FORMS
from procession.model.reader.reading import Reading
from procession.model.xml import Xml

WHOLE_MAX: Final = 32_767  # retries and priorities: the job table keeps small integers
CARDINALITY_MAX: Final = 1_000_000
ZEEBE_PRIORITY_MAX: Final = 100  # of a user task of Camunda 8
NOWS: Final = tuple(datetime(year, 6, 15, 12, tzinfo=UTC) for year in (1990, 2030, 2900))
SHOWN_MAX: Final = 60
Wanted = Callable[[object], str]  # what would do instead; empty if the value does


class Use(NamedTuple):
    """One place where a value is used."""

    xml: Xml
    value: Evaluable | None
    what: str
    code: str
    wanted: Wanted
    may_be_open: bool = False  # a model that is only read may have it


def constants_can_be_used(process: ProcessDraft, reading: Reading) -> None:
    """Every constant of the process does what it stands for."""
    for use in _uses(process, reading):
        if use.value is None or use.value.names or isinstance(use.value, Unreadable):
            continue
        if isinstance(use.value, Static) and use.value.value == "":
            continue  # where something has to be given, the reader says so
        values = _values(use.value)
        wanted = use.wanted(values[0])
        if wanted and all(use.wanted(value) for value in values):
            shown = _short(use.value.text or str(values[0]))
            result = "" if isinstance(use.value, Static) else f", which gives {_short(repr(values[0]))},"
            message = f"The {use.what} is '{shown}'{result} and can never be used"
            report = reading.findings.gap if use.may_be_open else reading.findings.error
            report(use.code, message, use.xml, f"Write {wanted}")


def _values(value: Evaluable) -> list[object]:
    """What a constant evaluates to; what depends on the instant is looked at at several."""
    if isinstance(value, Static):
        return [value.value]
    return [_plain(value.evaluate({}, now=now)) for now in NOWS]


def _plain(value: object) -> object:
    try:
        return to_json(value)
    except ValueError:
        return value  # it has no plain form: a function, say


def _uses(process: ProcessDraft, reading: Reading) -> Iterator[Use]:
    for draft in process.elements:
        yield from _of_work(draft)
        yield from _of_listeners(draft.listeners, draft.xml, draft.label)
        yield from _of_loop(draft)
        yield from _of_ad_hoc(process, draft)
        yield from _of_user_task(draft, reading)
        for event in draft.events:
            yield from _of_event(draft, event)
        condition = draft.activation_condition
        yield Use(draft.xml, condition, f"activation condition of {draft.label}", "INVALID_CONDITION", truth)
    for flow in process.flows:
        yield from _of_listeners(flow.listeners, flow.xml, f"the flow '{flow.id}'")
        source = process.elements[flow.source]
        if source.kind not in {Kind.PARALLEL_GATEWAY, Kind.EVENT_BASED_GATEWAY} and source.default_flow != flow.index:
            yield Use(flow.xml, flow.condition, f"condition of '{flow.id}'", "INVALID_CONDITION", truth, True)  # noqa: FBT003


def _of_work(draft: ElementDraft) -> Iterator[Use]:
    of = f"of {draft.label}"
    if draft.job is not None:
        yield Use(draft.xml, draft.job.type, f"job type {of}", "INVALID_NAME", name)
        yield Use(draft.xml, draft.job.retries, f"number of retries {of}", "INVALID_RETRIES", _whole(1, WHOLE_MAX, "3"))
        wanted = _whole(-WHOLE_MAX, WHOLE_MAX, "50")
        yield Use(draft.xml, draft.job.priority, f"job priority {of}", "INVALID_PRIORITY", wanted)
    if draft.call is not None:
        yield Use(draft.xml, draft.call.process_id, f"called process {of}", "INVALID_NAME", name)
        yield Use(draft.xml, draft.call.business_id, f"business id {of}", "INVALID_NAME", text)
    if draft.decision is not None:
        yield Use(draft.xml, draft.decision.decision_id, f"decision {of}", "INVALID_NAME", name)


def _of_listeners(listeners: list[Listener], xml: Xml, where: str) -> Iterator[Use]:
    for listener in listeners:
        what = f"of the {listener.event} listener of {where}"
        yield Use(xml, listener.type, f"job type {what}", "INVALID_NAME", name)
        yield Use(xml, listener.retries, f"number of retries {what}", "INVALID_RETRIES", _whole(1, WHOLE_MAX, "3"))


def _of_loop(draft: ElementDraft) -> Iterator[Use]:
    loop, of = draft.loop, f"of {draft.label}"
    if loop is None:
        return
    yield Use(draft.xml, loop.collection, f"collection {of}", "INVALID_COLLECTION", listed)
    wanted = _whole(0, CARDINALITY_MAX, "3")
    yield Use(draft.xml, loop.cardinality, f"cardinality {of}", "INVALID_CARDINALITY", wanted)
    yield Use(draft.xml, loop.completion_condition, f"completion condition {of}", "INVALID_CONDITION", truth)
    yield Use(draft.xml, loop.loop_condition, f"loop condition {of}", "INVALID_CONDITION", truth)
    for condition, _ in loop.behavior_events:
        yield Use(draft.xml, condition, f"behavior condition {of}", "INVALID_CONDITION", truth)


def _of_ad_hoc(process: ProcessDraft, draft: ElementDraft) -> Iterator[Use]:
    spec = draft.ad_hoc
    if spec is None:
        return
    within = sorted(process.elements[index].id for index in draft.children)

    def activities(value: object) -> str:
        names = cast("list[object]", value) if isinstance(value, list) else None
        return "" if names is not None and set(map(str, names)) <= set(within) else f"a list of {', '.join(within)}"

    of = f"of {draft.label}"
    yield Use(draft.xml, spec.active_elements, f"list of active elements {of}", "INVALID_COLLECTION", activities)
    yield Use(draft.xml, spec.completion_condition, f"completion condition {of}", "INVALID_CONDITION", truth)


def _of_user_task(draft: ElementDraft, reading: Reading) -> Iterator[Use]:
    task = draft.user_task
    if task is None or draft.kind != Kind.USER_TASK:
        return
    most = ZEEBE_PRIORITY_MAX if reading.zeebe else WHOLE_MAX
    yield Use(draft.xml, task.priority, f"priority of {draft.label}", "INVALID_PRIORITY", _whole(0, most, "50"))
    yield Use(draft.xml, task.due_date, f"due date of {draft.label}", "INVALID_DATE", date)
    yield Use(draft.xml, task.follow_up_date, f"follow-up date of {draft.label}", "INVALID_DATE", date)


def _of_event(draft: ElementDraft, event: EventSpec) -> Iterator[Use]:
    trigger = event.trigger.name.lower()
    of = f"of {draft.label}"
    yield Use(draft.xml, event.name, f"name of the {trigger} {of}", "INVALID_NAME", text)
    yield Use(draft.xml, event.correlation_key, f"correlation key {of}", "INVALID_NAME", text)
    if draft.kind in THROWING:
        yield Use(draft.xml, event.code, f"code of the {trigger} {of}", "INVALID_NAME", text)
    if event.trigger == Trigger.TIMER and not isinstance(event.timer, Static):
        yield Use(draft.xml, event.timer, f"timer {of}", "INVALID_TIMER", _timer(event))
    yield Use(draft.xml, event.condition, f"condition {of}", "INVALID_CONDITION", truth)


# --- what a value must be ---------------------------------------------------------------------------------------------


def text(value: object) -> str:
    """A text or a number that can be indexed."""
    kind = type(value)  # a subclass of none of these is ever made by an expression
    usable = value is not None and kind not in {bool, list, dict}
    fits = usable and len(str(value).encode("utf-8", "replace")) <= KEY_TEXT_BYTES_MAX
    return "" if fits else f"a text of at most {KEY_TEXT_BYTES_MAX} bytes (KEY_TEXT_BYTES_MAX)"


def name(value: object) -> str:
    """The same, and not empty: something is looked up by it."""
    return text(value) if value != "" else "a name"


def truth(value: object) -> str:
    """True or false."""
    return "" if isinstance(value, bool) else "an expression that is true or false"


def listed(value: object) -> str:
    """A list."""
    return "" if isinstance(value, list) else "a list, or an expression that gives one"


def date(value: object) -> str:
    """A date, or how long it is until then; none at all means none."""
    given = "" if value is None else str(value)
    usable = not given or not date_problem(given) or not duration_problem(given)
    return "" if usable else "a date of ISO 8601 such as 2030-01-31T09:00:00Z, or a duration such as P3D"


def _timer(event: EventSpec) -> Wanted:
    problem_of, form = TIMER_FORMS[event.timer_kind]
    return lambda value: form if not isinstance(value, str) or problem_of(value.strip()) else ""


def _whole(least: int, most: int, example: str) -> Wanted:
    def wanted(value: object) -> str:
        number = _number(value)
        fits = number is not None and least <= number <= most
        return "" if fits else f"a whole number from {least} to {most}, such as {example}"

    return wanted


def _number(value: object) -> int | None:
    """A whole number, or a text of one; None for all else."""
    given: Any = value
    try:
        number = int(given)
        return number if number == float(given) and not isinstance(value, bool) else None
    except (TypeError, ValueError, OverflowError):
        return None


def _short(shown: str) -> str:
    flat = " ".join(shown.split())
    return flat if len(flat) <= SHOWN_MAX else flat[: SHOWN_MAX - 3] + "..."


RULES = (constants_can_be_used,)
