"""The extension elements of Camunda 8 that any element may carry. What no struct has a place for is ignored."""

from __future__ import annotations

import re
from typing import Final

from procession.model.definition import Evaluable, IoMapping, JobSpec, Kind, Listener, UserTaskSpec
from procession.model.draft import ElementDraft
from procession.model.expressions import Static
from procession.model.reader.reading import Reading
from procession.model.xml import ZEEBE, Xml

RETRIES: Final = 3  # what Camunda 8 and 7 take when a model says nothing

_PATH: Final = re.compile(r"[^\W\d][\w$-]*(?: [\w$-]+)*")
_EXECUTION_EVENTS: Final = {"start": "start", "end": "end"}
_TASK_EVENTS: Final = {
    "create": "creating",
    "creating": "creating",
    "assignment": "assigning",
    "assigning": "assigning",
    "update": "updating",
    "updating": "updating",
    "complete": "completing",
    "completing": "completing",
    "cancel": "canceling",
    "canceling": "canceling",
    "cancelling": "canceling",
}


def read_common(draft: ElementDraft, reading: Reading) -> None:
    """Mappings, listeners and properties."""
    for extension in draft.xml.extensions():
        if extension.space != ZEEBE:
            continue
        if extension.name == "ioMapping":
            draft.inputs.extend(mappings(extension, "input", reading))
            draft.outputs.extend(mappings(extension, "output", reading))
        elif extension.name in {"executionListeners", "taskListeners"}:
            draft.listeners.extend(_listeners(draft, extension, reading))
        elif extension.name == "properties":
            draft.properties.extend(
                (child.get("name"), child.get("value")) for child in extension.every("property", ZEEBE)
            )


def mappings(xml: Xml, name: str, reading: Reading) -> list[IoMapping]:
    """The inputs or outputs of an ``ioMapping``, in order."""
    found: list[IoMapping] = []
    for child in xml.every(name, ZEEBE):
        target = path(child.get("target"), child, reading)
        source = child.get("source").strip()
        if source:
            found.append(IoMapping(source=reading.expressions.zeebe(source, child, f"{name} mapping"), target=target))
        else:  # the modeler writes this for a field that is left empty
            found.append(IoMapping(source=Static("", None), target=target))
    return found


def path(text: str, at: Xml, reading: Reading) -> tuple[str, ...]:
    """A dotted path of a mapping's target."""
    parts = tuple(part.strip() for part in text.strip().split("."))
    if not all(_PATH.fullmatch(part) for part in parts):
        message = f"The target '{text}' of a mapping is not a variable's name or a dotted path"
        reading.findings.error("INVALID_MAPPING_TARGET", message, at, "Write a name such as order or order.total")
        return ("invalid",)
    return parts


def _listeners(draft: ElementDraft, xml: Xml, reading: Reading) -> list[Listener]:
    """The listeners of one of the two kinds."""
    of_task = xml.name == "taskListeners"
    if of_task and draft.kind != Kind.USER_TASK:
        message = f"{draft.label} has task listeners and is no user task: they would never be told"
        reading.findings.error("INVALID_LISTENER", message, xml, "Use execution listeners")
    known = _TASK_EVENTS if of_task else _EXECUTION_EVENTS
    return [_listener(child, known, reading) for child in xml.children]


def _listener(xml: Xml, known: dict[str, str], reading: Reading) -> Listener:
    event = known.get(xml.get("eventType"), "")
    if not event:
        message = f"The listener's event type '{xml.get('eventType')}' is not among those of a {xml.name}"
        words = ", ".join(sorted(set(known.values())))
        reading.findings.error("INVALID_LISTENER", message, xml, f"Use one of {words}")
    if not xml.get("type").strip():
        reading.findings.error("INVALID_LISTENER", "The listener has no type", xml, "Name the job type of its worker")
    return Listener(
        event=event or "start",
        type=reading.expressions.zeebe(xml.get("type"), xml, "listener's type"),
        retries=retries(xml, reading),
    )


def retries(xml: Xml, reading: Reading) -> Evaluable:
    """The ``retries`` of a task definition or listener; a whole number or FEEL."""
    text = xml.get("retries").strip()
    if not text:
        return Static("", RETRIES)
    if text.startswith("="):
        return reading.expressions.zeebe(text, xml, "retries")
    number = text.removeprefix("-")
    return Static(text, int(text) if number.isascii() and number.isdecimal() else text)


def job_spec(xml: Xml, reading: Reading) -> JobSpec | None:
    """The job that ``zeebe:taskDefinition`` defines, or None."""
    definition = xml.extension("taskDefinition", ZEEBE)
    if definition is None:
        return None
    kind = definition.get("type").strip()
    if not kind:
        reading.findings.error("MISSING_JOB_TYPE", "The task definition has no type", definition, "Name the job type")
    headers = xml.extension("taskHeaders", ZEEBE)
    priority = xml.extension("jobPriorityDefinition", ZEEBE)
    return JobSpec(
        type=reading.expressions.zeebe(kind, definition, "job type") if kind else Static(xml.id),
        retries=retries(definition, reading),
        priority=_attribute(priority, "priority", reading),
        headers=tuple((header.get("key"), header.get("value")) for header in headers.every("header", ZEEBE))
        if headers is not None
        else (),
    )


def user_task(xml: Xml, reading: Reading) -> UserTaskSpec:
    """Assignment, schedule, priority and form of a user task, as far as the model gives them."""
    assignment = xml.extension("assignmentDefinition", ZEEBE)
    schedule = xml.extension("taskSchedule", ZEEBE)
    form = xml.extension("formDefinition", ZEEBE)
    priority = xml.extension("priorityDefinition", ZEEBE)
    return UserTaskSpec(
        assignee=_attribute(assignment, "assignee", reading),
        candidate_users=_attribute(assignment, "candidateUsers", reading),
        candidate_groups=_attribute(assignment, "candidateGroups", reading),
        due_date=_attribute(schedule, "dueDate", reading),
        follow_up_date=_attribute(schedule, "followUpDate", reading),
        priority=_attribute(priority, "priority", reading),
        form_key=_attribute(form, "formKey", reading),
        form_id=_attribute(form, "formId", reading),
        external_reference=_attribute(form, "externalReference", reading),
        form_binding=binding(form, reading),
        form_version_tag=form.get("versionTag") if form is not None else "",
    )


def binding(xml: Xml | None, reading: Reading) -> str:
    """The ``bindingType``, latest if none is given."""
    text = xml.get("bindingType", "latest") if xml is not None else "latest"
    if text not in {"latest", "deployment", "versionTag"}:
        message = f"The binding must be latest, deployment or versionTag, not '{text}'"
        reading.findings.error("INVALID_BINDING", message, xml)
        return "latest"
    if xml is not None and text == "versionTag" and not xml.get("versionTag").strip():
        reading.findings.error("INVALID_BINDING", "The binding is versionTag, but no versionTag is given", xml)
    return text


def embedded_forms(xml: Xml) -> list[tuple[str, str]]:
    """The forms that a process carries with it: id and JSON."""
    return [
        (extension.id, extension.text)
        for extension in xml.extensions()
        if extension.space == ZEEBE and extension.name == "userTaskForm" and extension.id
    ]


def _attribute(xml: Xml | None, name: str, reading: Reading) -> Evaluable | None:
    text = xml.get(name).strip() if xml is not None else ""
    return reading.expressions.zeebe(text, xml, name) if xml is not None and text else None
