"""One element's details: dispatches to the reader of its family and reads what all of them share."""

from __future__ import annotations

import msgspec

from procession.model.definition import AdHocSpec, Kind, Work
from procession.model.draft import ACTIVITIES, GATEWAYS, TASKS, ElementDraft, ProcessDraft
from procession.model.reader import camunda, zeebe
from procession.model.reader.events import EVENTS, THROWING, event_definitions, read_event
from procession.model.reader.loops import read_loop
from procession.model.reader.reading import Reading, boolean, choice, integer
from procession.model.reader.tasks import read_job, read_task, throws_message
from procession.model.xml import ZEEBE, Xml


def read_elements(process: ProcessDraft, reading: Reading) -> None:
    """The details of every element and flow of a process."""
    for draft in process.elements:
        _read(process, draft, reading)
    for flow in process.flows:
        condition = flow.xml.first("conditionExpression")
        if condition is not None:
            flow.condition = reading.expressions.expression(condition, "condition")
        camunda.read_flow(flow, reading)
    _read_process(process, reading)


def _read(process: ProcessDraft, draft: ElementDraft, reading: Reading) -> None:
    zeebe.read_common(draft, reading)
    camunda.read_common(draft, reading)
    if draft.kind in EVENTS:
        read_event(process, draft, reading)
        _read_event_extensions(draft, reading)
    elif draft.kind in TASKS or draft.kind == Kind.CALL_ACTIVITY:
        read_task(draft, reading)
    elif draft.kind in GATEWAYS:
        _read_gateway(draft, reading)
    elif draft.kind == Kind.AD_HOC_SUB_PROCESS:
        _read_ad_hoc(draft, reading)
    if draft.kind in ACTIVITIES:
        _read_activity(process, draft, reading)


def _read_activity(process: ProcessDraft, draft: ElementDraft, reading: Reading) -> None:
    findings = reading.findings
    draft.is_for_compensation = boolean(draft.xml, "isForCompensation", findings, default=False)
    draft.start_quantity = _quantity(draft.xml, "startQuantity", reading)
    draft.completion_quantity = _quantity(draft.xml, "completionQuantity", reading)
    read_loop(process, draft, reading)


def _quantity(xml: Xml, name: str, reading: Reading) -> int:
    quantity = integer(xml, name, reading.findings, default=1)
    if quantity < 1:
        message = f"The {name} is {quantity}: the activity could never be carried out"
        reading.findings.gap("INVALID_QUANTITY", message, xml, "Use a number of 1 or more")
    return max(quantity, 0)


def _read_event_extensions(draft: ElementDraft, reading: Reading) -> None:
    if draft.kind in THROWING and throws_message(draft):
        read_job(draft, event_definitions(draft.xml, reading)[0], reading)
    if draft.kind in THROWING:
        for definition in event_definitions(draft.xml, reading):
            payload, _, _ = camunda.variables_in_and_out(definition, "in", reading)
            draft.inputs.extend(payload)
    if draft.kind == Kind.START_EVENT:
        has_form = draft.xml.extension("formDefinition", ZEEBE) is not None
        if has_form or draft.xml.get("camunda:formKey") or draft.xml.get("camunda:formRef"):
            source = zeebe if has_form else camunda
            draft.user_task = source.user_task(draft.xml, reading)


def _read_gateway(draft: ElementDraft, reading: Reading) -> None:
    xml, findings = draft.xml, reading.findings
    if draft.kind == Kind.EVENT_BASED_GATEWAY:
        draft.instantiate = boolean(xml, "instantiate", findings, default=False)
        draft.event_gateway_type = choice(xml, "eventGatewayType", findings, ("Exclusive", "Parallel"))
    if draft.kind == Kind.COMPLEX_GATEWAY:
        condition = xml.first("activationCondition")
        if condition is not None:
            draft.activation_condition = reading.expressions.expression(condition, "activation condition")


def _read_ad_hoc(draft: ElementDraft, reading: Reading) -> None:
    xml = draft.xml
    expressions = reading.expressions
    extension = xml.extension("adHoc", ZEEBE)
    completion = xml.first("completionCondition")
    active = extension.get("activeElementsCollection").strip() if extension is not None else ""
    element = extension.get("outputElement").strip() if extension is not None else ""
    draft.ad_hoc = AdHocSpec(
        sequential=choice(xml, "ordering", reading.findings, ("Parallel", "Sequential")) == "Sequential",
        completion_condition=expressions.expression(completion, "completion condition")
        if completion is not None
        else None,
        cancel_remaining=boolean(xml, "cancelRemainingInstances", reading.findings, default=True),
        active_elements=expressions.zeebe(active, extension, "active elements")
        if extension is not None and active
        else None,
        output_collection=extension.get("outputCollection").strip() if extension is not None else "",
        output_element=expressions.zeebe(element, extension, "output element")
        if extension is not None and element
        else None,
    )
    draft.job = zeebe.job_spec(xml, reading)
    if draft.job is not None:
        draft.work = Work.JOB


def _read_process(process: ProcessDraft, reading: Reading) -> None:
    xml, root = process.xml, process.root
    tag = xml.extension("versionTag", ZEEBE)
    process.version_tag = tag.get("value") if tag is not None else xml.get("camunda:versionTag")
    process.forms = zeebe.embedded_forms(xml)
    for name, value in xml.attributes.items():
        if name.startswith("camunda:") and name != "camunda:versionTag":
            root.properties.append((name, value))
    _read_priorities(process, reading)


def _read_priorities(process: ProcessDraft, reading: Reading) -> None:
    """The priority of jobs whose element names none: the process may name one."""
    xml = process.xml
    definition = xml.extension("jobPriorityDefinition", ZEEBE)
    given = definition.get("priority").strip() if definition is not None else ""
    for_all = reading.expressions.zeebe(given, xml, "job priority") if given else None
    seven = [xml.get(f"camunda:{name}").strip() for name in ("taskPriority", "jobPriority")]
    external, internal = (reading.expressions.camunda(text, xml, "priority") if text else None for text in seven)
    for draft in process.elements:
        if draft.job is None or draft.job.priority is not None:
            continue
        default = for_all or (external if draft.xml.get("camunda:topic") else internal)
        if default is not None:
            draft.job = msgspec.structs.replace(draft.job, priority=default)
