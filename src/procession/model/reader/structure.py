"""The skeleton of a process: which elements stand in which scope, their flows, lanes and data. No element's details."""

from __future__ import annotations

from typing import Final

from procession.limits import ELEMENTS_MAX
from procession.model.definition import DataObject, Kind, Lane
from procession.model.draft import SUB_PROCESSES, ElementDraft, FlowDraft, ProcessDraft
from procession.model.reader.reading import Reading, boolean
from procession.model.xml import MODEL, Xml

KINDS: Final = {
    "subProcess": Kind.SUB_PROCESS,
    "transaction": Kind.TRANSACTION,
    "adHocSubProcess": Kind.AD_HOC_SUB_PROCESS,
    "callActivity": Kind.CALL_ACTIVITY,
    "task": Kind.TASK,
    "serviceTask": Kind.SERVICE_TASK,
    "sendTask": Kind.SEND_TASK,
    "receiveTask": Kind.RECEIVE_TASK,
    "userTask": Kind.USER_TASK,
    "manualTask": Kind.MANUAL_TASK,
    "scriptTask": Kind.SCRIPT_TASK,
    "businessRuleTask": Kind.BUSINESS_RULE_TASK,
    "exclusiveGateway": Kind.EXCLUSIVE_GATEWAY,
    "parallelGateway": Kind.PARALLEL_GATEWAY,
    "inclusiveGateway": Kind.INCLUSIVE_GATEWAY,
    "eventBasedGateway": Kind.EVENT_BASED_GATEWAY,
    "complexGateway": Kind.COMPLEX_GATEWAY,
    "startEvent": Kind.START_EVENT,
    "endEvent": Kind.END_EVENT,
    "intermediateCatchEvent": Kind.INTERMEDIATE_CATCH_EVENT,
    "intermediateThrowEvent": Kind.INTERMEDIATE_THROW_EVENT,
    "boundaryEvent": Kind.BOUNDARY_EVENT,
}
EVENT_DEFINITIONS: Final = frozenset(
    {
        "messageEventDefinition",
        "timerEventDefinition",
        "signalEventDefinition",
        "errorEventDefinition",
        "escalationEventDefinition",
        "compensateEventDefinition",
        "conditionalEventDefinition",
        "linkEventDefinition",
        "terminateEventDefinition",
        "cancelEventDefinition",
    }
)
# Elements that say something about a process without changing its flow.
PASSIVE: Final = frozenset(
    {
        "documentation",
        "extensionElements",
        "auditing",
        "monitoring",
        "ioSpecification",
        "ioBinding",
        "property",
        "dataObject",
        "dataObjectReference",
        "dataStoreReference",
        "dataInput",
        "dataOutput",
        "inputSet",
        "outputSet",
        "dataInputAssociation",
        "dataOutputAssociation",
        "laneSet",
        "association",
        "group",
        "textAnnotation",
        "artifact",
        "supports",
        "resourceRole",
        "performer",
        "humanPerformer",
        "potentialOwner",
        "correlationSubscription",
        "correlationKey",
        "categoryValueRef",
        "incoming",
        "outgoing",
        "rendering",
        "eventDefinitionRef",
        "multiInstanceLoopCharacteristics",
        "standardLoopCharacteristics",
        "loopCharacteristics",
        "script",
        "completionCondition",
        "activationCondition",
        "supportedInterfaceRef",
    }
)
# Elements of BPMN that no process engine executes; each is refused by its name.
NOT_EXECUTABLE: Final = frozenset(
    {
        "choreographyTask",
        "subChoreography",
        "callChoreography",
        "choreography",
        "globalChoreographyTask",
        "conversation",
        "subConversation",
        "callConversation",
        "globalConversation",
        "globalTask",
        "globalUserTask",
        "globalScriptTask",
        "globalManualTask",
        "globalBusinessRuleTask",
    }
)
_DATA: Final = frozenset({"dataObject", "dataObjectReference", "dataStoreReference", "property"})


def read_structure(xml: Xml, reading: Reading) -> ProcessDraft:
    """A process with all its elements and flows, linked to each other."""
    process = ProcessDraft(xml)
    root = ElementDraft(0, xml.id, Kind.PROCESS, xml)
    process.elements.append(root)
    process.index_of[xml.id] = 0
    pending: list[tuple[int, Xml]] = []
    _read_scope(process, root, pending, reading)
    if len(process.elements) + len(pending) > ELEMENTS_MAX:
        message = f"The process has more than ELEMENTS_MAX = {ELEMENTS_MAX} elements and flows"
        reading.findings.error("TOO_MANY_ELEMENTS", message, xml, "Move parts of it into called processes")
        return process
    for scope, flow in pending:
        _link_flow(process, scope, flow, reading)
    for lane_set in (child for child in xml.walk() if child.name == "laneSet" and child.space == MODEL):
        _read_lanes(process, lane_set, -1)
    return process


def _read_scope(process: ProcessDraft, scope: ElementDraft, pending: list[tuple[int, Xml]], reading: Reading) -> None:
    for child in scope.xml.children:
        if child.space != MODEL:
            _refuse_foreign(child, reading)
        elif child.name in KINDS:
            _read_element(process, scope, child, pending, reading)
        elif child.name == "sequenceFlow":
            pending.append((scope.index, child))
        elif child.name == "association":
            process.associations.append(child)
        elif child.name in _DATA:
            process.data_objects.append(_data_object(child, scope.index))
        elif child.name not in PASSIVE:
            _refuse(child, reading)


def _read_element(
    process: ProcessDraft, scope: ElementDraft, xml: Xml, pending: list[tuple[int, Xml]], reading: Reading
) -> None:
    kind = KINDS[xml.name]
    if kind == Kind.SUB_PROCESS and boolean(xml, "triggeredByEvent", reading.findings, default=False):
        kind = Kind.EVENT_SUB_PROCESS
    if not xml.id:
        message = f"A {xml.name} has no id"
        reading.findings.error("MISSING_ID", message, xml, "Give it an id that is unique within the file")
    draft = ElementDraft(len(process.elements), xml.id, kind, xml, scope=scope.index)
    process.elements.append(draft)
    scope.children.append(draft.index)
    if xml.id in process.index_of:
        other = process.elements[process.index_of[xml.id]]
        message = f"The id '{xml.id}' is used twice, here and in line {other.xml.line}"
        reading.findings.error("DUPLICATE_ID", message, xml, "Give every element its own id")
    elif xml.id:
        process.index_of[xml.id] = draft.index
    if kind == Kind.EVENT_SUB_PROCESS:
        scope.event_sub_processes.append(draft.index)
    if kind in SUB_PROCESSES:
        _read_scope(process, draft, pending, reading)
        return
    for child in xml.children:
        if child.space != MODEL:
            _refuse_foreign(child, reading)
        elif child.name not in PASSIVE and child.name not in EVENT_DEFINITIONS:
            _refuse(child, reading)


def _refuse(xml: Xml, reading: Reading) -> None:
    element = xml.id or xml.owner_id()
    if xml.name in NOT_EXECUTABLE:
        message = f"'{xml.name}' is not executable"
        reading.findings.error("UNSUPPORTED_ELEMENT", message, xml, "Remove it from the process", element=element)
        return
    message = f"'{xml.name}' is not an element that BPMN has here"
    reading.findings.error("UNKNOWN_ELEMENT", message, xml, "Remove it, or correct its name", element=element)


def _refuse_foreign(xml: Xml, reading: Reading) -> None:
    """A vendor's own event definition outside `extensionElements` decides what an event does."""
    if xml.name.endswith("EventDefinition"):
        message = f"The event definition '{xml.name}' of '{xml.space}' is not supported"
        reading.findings.error("UNSUPPORTED_ELEMENT", message, xml, "Use one of BPMN's event definitions")


def _data_object(xml: Xml, scope: int) -> DataObject:
    return DataObject(
        id=xml.id,
        name=xml.get("name"),
        kind=xml.name,
        scope=scope,
        is_collection=xml.get("isCollection") == "true",
        ref=xml.get("dataObjectRef") or xml.get("dataStoreRef"),
        line=xml.line,
    )


def _link_flow(process: ProcessDraft, scope: int, xml: Xml, reading: Reading) -> None:
    ends: list[ElementDraft] = []
    for attribute in ("sourceRef", "targetRef"):
        end = _end_of_flow(process, xml, attribute, reading)
        if end is not None:
            ends.append(end)
    if len(ends) != 2:
        return
    source, target = ends
    if source.scope != target.scope:
        message = f"The flow leads from {source.label} to {target.label}, across the border of a sub-process"
        suggestion = "Lead flows to and from the sub-process itself"
        reading.findings.error("FLOW_CROSSES_SCOPE", message, xml, suggestion)
        return
    if source.scope != scope:
        message = f"The flow stands in another scope than the elements that it links ({source.label}, {target.label})"
        reading.findings.warning("FLOW_IN_OTHER_SCOPE", message, xml)
    index = len(process.flows)
    flow_id = xml.id or f"{source.id}-{target.id}"
    if not xml.id and flow_id in process.flow_ids:
        flow_id = f"{flow_id}-{index}"
    if flow_id in process.index_of or flow_id in process.flow_ids:
        message = f"The id '{flow_id}' is used twice"
        reading.findings.error("DUPLICATE_ID", message, xml, "Give every element its own id")
    process.flow_ids.add(flow_id)
    process.flows.append(FlowDraft(index, flow_id, source.index, target.index, xml))
    source.outgoing.append(index)
    target.incoming.append(index)


def _end_of_flow(process: ProcessDraft, xml: Xml, attribute: str, reading: Reading) -> ElementDraft | None:
    ref = xml.get(attribute).strip()
    if not ref:
        reading.findings.error("MISSING_REFERENCE", f"The sequence flow has no {attribute}", xml)
        return None
    index = process.index_of.get(ref, process.index_of.get(ref.rpartition(":")[2], -1))
    if index <= 0:
        message = f"The {attribute} of the sequence flow names '{ref}', which is no element of this process"
        suggestion = "Correct the reference; flows cannot leave a process (use a message)"
        reading.findings.error("UNKNOWN_REFERENCE", message, xml, suggestion)
        return None
    return process.elements[index]


def _read_lanes(process: ProcessDraft, lane_set: Xml, parent: int) -> None:
    for xml in lane_set.every("lane"):
        names = [child.text.rpartition(":")[2] for child in xml.every("flowNodeRef")]
        members = tuple(process.index_of[name] for name in names if process.index_of.get(name, 0) > 0)
        index = len(process.lanes)
        process.lanes.append(Lane(id=xml.id, name=xml.get("name"), elements=members, parent=parent))
        for nested in xml.every("childLaneSet"):
            _read_lanes(process, nested, index)
