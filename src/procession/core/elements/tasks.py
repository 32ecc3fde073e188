"""Tasks: what does the work is a method, a job, an expression, a person, a message, or nothing at all."""

from __future__ import annotations

from typing import Any, assert_never, cast

from procession.core import events as e
from procession.core.commands import PublishMessage
from procession.core.elements.decisions import run_decision
from procession.core.elements.multi_instance import enter_loop
from procession.core.lifecycle import activate, complete, pass_through, stay
from procession.core.listening import listen
from procession.core.problems import Problem
from procession.core.state import ElementInstance, IncidentKind
from procession.core.step import Step
from procession.core.surroundings import FormRequest
from procession.core.variables import plain, visible_variables, whole_number
from procession.core.waits import message_channel, open_event, storable, text_of
from procession.errors import InvalidValue
from procession.jobs.kinds import JobKind
from procession.jobs.schedule import date_due, duration_due
from procession.limits import NAME_BYTES_MAX
from procession.model.definition import Definition, Element, Evaluable, EventSpec, Kind, UserTaskSpec, Work
from procession.model.expressions import Static

PRIORITY_MAX = 32_767  # the job table keeps a small integer


def enter_activity(step: Step, element: Element, scope: int, flow: int) -> None:
    """A token arrives at an activity: enough of them start it; one without work or rules passes."""
    if (element.start_quantity != 1 or element.completion_quantity < 1) and not _starts(step, element, scope, flow):
        return
    if element.loop is not None:
        enter_loop(step, element, scope, flow)
    elif element.work == Work.NONE and _is_bare(element):
        pass_through(step, element, scope)
    else:
        activate(step, element, scope, flow)


def start_task(step: Step, element: Element, node: ElementInstance) -> None:
    """Do or order a task's work. Raises Problem."""
    work = element.work
    match work:
        case Work.JOB:
            start_job(step, element, node)
        case Work.METHOD:
            step.emit(
                e.JobCreated(
                    step.keys.take(), node.key, JobKind.METHOD, element.work_name, _retries(step, element, node), 0
                )
            )
        case Work.NONE:
            complete(step, element, node)
        case Work.SCRIPT:
            run_script(step, element, node)
        case Work.USER:
            start_user_task(step, element, node)
        case Work.MESSAGE:
            open_event(step, element, node, node.key)
        case Work.DECISION:
            run_decision(step, element, node)
        case Work.CONNECTOR_MESSAGE:
            for spec in element.events:
                publish(step, element, node, spec)
            complete(step, element, node)
        case _:
            assert_never(work)


def start_job(step: Step, element: Element, node: ElementInstance) -> None:
    """Put a job of the element's type into the queue. Raises Problem."""
    spec = element.job
    if spec is None:
        message = f"'{element.id}' (line {element.line}) has no job type"
        raise Problem(IncidentKind.EXTRACT_VALUE_ERROR, message)
    job_type = text_of(step, spec.type, node.key, f"job type of '{element.id}' (line {element.line})")
    priority = 0
    if spec.priority is not None:
        priority = _whole(step, spec.priority, node, f"job priority of '{element.id}'", -PRIORITY_MAX)
    retries = _retries(step, element, node)
    step.emit(e.JobCreated(step.keys.take(), node.key, JobKind.SERVICE, job_type, retries, priority))


def publish(step: Step, element: Element, node: ElementInstance, spec: EventSpec) -> None:
    """Publish a message with the variables that the element sees. Raises Problem."""
    name, key = message_channel(step, element, spec, node.key)
    step.follow_ups.append(PublishMessage(name, key, visible_variables(step.state, node.key)))


def run_script(step: Step, element: Element, node: ElementInstance) -> None:
    """Evaluate a script task's expression; its value becomes the result variable."""
    spec = element.script
    if spec is None:
        complete(step, element, node)
        return
    value = plain(step.evaluate(spec.expression, step.context(node.key)), f"result of script '{element.id}'")
    step.be_strict(IncidentKind.EXTRACT_VALUE_ERROR, "script", element)
    why = step.take_warnings()
    if why:
        step.emit(e.Warned(node.key, element.index, why))
    complete(step, element, node, {spec.result_variable: value} if spec.result_variable else None)


def start_user_task(step: Step, element: Element, node: ElementInstance) -> None:
    """Ask a person, once the listeners have agreed. Raises Problem."""
    if element.listeners and listen(step, element, node, "creating"):
        return
    open_user_task(step, element, node)


def open_user_task(step: Step, element: Element, node: ElementInstance) -> None:
    """Ask a person. Raises Problem."""
    spec = element.user_task
    key = step.keys.take()
    if spec is None:
        step.emit(e.UserTaskCreated(key, node.key, "", (), (), 0, 0, 50, ""))
        return
    reference = spec.form_key or spec.external_reference
    where = f"of '{element.id}' (line {element.line})"
    step.emit(
        e.UserTaskCreated(
            key,
            node.key,
            _optional_text(step, spec.assignee, node, f"assignee {where}"),
            _texts(step, spec.candidate_users, node, f"candidate users {where}"),
            _texts(step, spec.candidate_groups, node, f"candidate groups {where}"),
            _instant(step, spec.due_date, node, f"due date {where}"),
            _instant(step, spec.follow_up_date, node, f"follow-up date {where}"),
            _whole(step, spec.priority, node, f"priority {where}", 0) if spec.priority is not None else 50,
            _optional_text(step, reference, node, f"form {where}"),
            _form(step, element, node, spec) if spec.form_id is not None and spec.form_key is None else 0,
        )
    )


def _form(step: Step, element: Element, node: ElementInstance, spec: UserTaskSpec) -> int:
    """The deployed form that a user task shows. Raises Problem."""
    assert spec.form_id is not None
    form_id = text_of(step, spec.form_id, node.key, f"form id of '{element.id}' (line {element.line})")
    found = step.surroundings.find_form(form_request(step.definition, spec, form_id))
    if found is None:
        which = {
            "deployment": " in the deployment of the process",
            "version": f" version {spec.form_version}",
            "versionTag": f" with version tag '{spec.form_version_tag}'",
        }.get(spec.form_binding, "")
        message = (
            f"Expected form '{form_id}'{which} to be deployed, found none; '{element.id}' "
            f"(line {element.line}) shows it: deploy it, then resolve this incident"
        )
        raise Problem(IncidentKind.FORM_NOT_FOUND, message)
    return found.key


def form_request(definition: Definition, spec: UserTaskSpec, form_id: str) -> FormRequest:
    """What a user task asks for."""
    version = spec.form_version if spec.form_binding == "version" else 0
    version_tag = spec.form_version_tag if spec.form_binding == "versionTag" else ""
    return FormRequest(form_id, spec.form_binding, version, version_tag, definition.key, definition.tenant)


def _is_bare(element: Element) -> bool:
    """Whether nothing can happen at an activity without work; what holds elements or calls a process has some."""
    if element.kind < Kind.TASK:
        return False
    return not (
        element.inputs or element.outputs or element.boundaries or element.listeners or element.collected_by >= 0
    )


def _starts(step: Step, element: Element, scope: int, flow: int) -> bool:
    """Gather ``startQuantity`` tokens (BPMN 2.0, 10.3.1). True when the activity starts."""
    if element.start_quantity < 1 or element.completion_quantity < 1:
        what = "startQuantity" if element.start_quantity < 1 else "completionQuantity"
        message = f"The {what} of '{element.id}' (line {element.line}) is below 1: it cannot be carried out"
        stay(step, element, scope, Problem(IncidentKind.EXTRACT_VALUE_ERROR, message))
        return False
    if flow < 0 or element.start_quantity == 1:
        return True
    step.emit(e.TokenParked(flow, element.index, scope))
    arrived = (step.state.nodes[scope].arrived or {})[element.index]
    here = [index for index in element.incoming for _ in range(arrived.get(index, 0))]
    if len(here) < element.start_quantity:
        return False
    step.emit(e.TokensJoined(element.index, scope, tuple(here[: element.start_quantity])))
    return True


def _value(step: Step, expression: Evaluable, node: ElementInstance, what: str) -> Any:  # noqa: ANN401
    """The value of an attribute's expression. Raises Problem when it gave a warning instead of a value."""
    value = step.evaluate(expression, step.context(node.key))
    why = step.take_warnings()
    if why and (value is None or step.strict):
        raise Problem(IncidentKind.EXTRACT_VALUE_ERROR, f"The {what} has no value that can be used: {why}")
    return value


def _optional_text(step: Step, expression: Evaluable | None, node: ElementInstance, what: str) -> str:
    """A text, empty when there is none."""
    value = None if expression is None else _value(step, expression, node, what)
    return "" if value is None else storable(str(plain(value, what)), what, NAME_BYTES_MAX, "NAME_BYTES_MAX")


def _texts(step: Step, expression: Evaluable | None, node: ElementInstance, what: str) -> tuple[str, ...]:
    """Several texts: a list, or one text with commas."""
    value = None if expression is None else _value(step, expression, node, what)
    if value is None:
        return ()
    value = plain(value, what)
    items = cast("list[object]", value) if isinstance(value, list) else str(value).split(",")
    texts = tuple(text for item in items if (text := str(item).strip()))
    return tuple(storable(text, what, NAME_BYTES_MAX, "NAME_BYTES_MAX") for text in texts)


def _instant(step: Step, expression: Evaluable | None, node: ElementInstance, what: str) -> int:
    """A date as an instant, or how long it is until then; 0 when there is none. Raises Problem."""
    value = None if expression is None else _value(step, expression, node, what)
    if value is None or value == "":
        return 0
    try:
        given = plain(value, what)
        return duration_due(given, step.now).at if str(given).startswith("P") else date_due(given).at
    except InvalidValue as error:
        raise Problem(IncidentKind.EXTRACT_VALUE_ERROR, f"The {what} is not valid: {error}") from None


def _whole(step: Step, expression: Evaluable, node: ElementInstance, what: str, least: int) -> int:
    """A whole number from ``least`` to PRIORITY_MAX. Raises Problem."""
    value = _value(step, expression, node, what)
    number = whole_number(value, least, PRIORITY_MAX)
    if number is None:
        message = f"Expected a whole number from {least} to {PRIORITY_MAX} as the {what}, found {value!r}"
        raise Problem(IncidentKind.EXTRACT_VALUE_ERROR, message)
    return number


def _retries(step: Step, element: Element, node: ElementInstance) -> int:
    """The attempts of an element's job. Raises Problem."""
    if element.job is None:
        return 3
    given = element.job.retries
    if type(given) is Static and type(given.value) is int and 1 <= given.value <= PRIORITY_MAX:
        return given.value  # what almost every model says
    return _whole(step, element.job.retries, node, f"retries of '{element.id}' (line {element.line})", 1)
