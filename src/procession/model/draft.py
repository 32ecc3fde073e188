"""A process while it is read: mutable records that become the structs of `definition` once everything is linked.

They carry the XML that they came from, so that every rule can say where. They hold no rule themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from procession.model.definition import (
    AdHocSpec,
    CallSpec,
    DataObject,
    DecisionSpec,
    Definition,
    Element,
    Evaluable,
    EventSpec,
    Flow,
    IoMapping,
    JobSpec,
    Kind,
    Lane,
    Listener,
    LoopSpec,
    ScriptSpec,
    Trigger,
    UserTaskSpec,
    Work,
)
from procession.model.expressions import Static
from procession.model.xml import Xml

SCOPES = frozenset({Kind.PROCESS, Kind.SUB_PROCESS, Kind.EVENT_SUB_PROCESS, Kind.TRANSACTION, Kind.AD_HOC_SUB_PROCESS})
SUB_PROCESSES = SCOPES - {Kind.PROCESS}
TASKS = frozenset(
    {
        Kind.TASK,
        Kind.SERVICE_TASK,
        Kind.SEND_TASK,
        Kind.RECEIVE_TASK,
        Kind.USER_TASK,
        Kind.MANUAL_TASK,
        Kind.SCRIPT_TASK,
        Kind.BUSINESS_RULE_TASK,
    }
)
ACTIVITIES = TASKS | SUB_PROCESSES | {Kind.CALL_ACTIVITY}
GATEWAYS = frozenset(
    {
        Kind.EXCLUSIVE_GATEWAY,
        Kind.PARALLEL_GATEWAY,
        Kind.INCLUSIVE_GATEWAY,
        Kind.EVENT_BASED_GATEWAY,
        Kind.COMPLEX_GATEWAY,
    }
)


@dataclass(slots=True)
class FlowDraft:
    """A sequence flow whose both ends exist."""

    index: int
    id: str
    source: int
    target: int
    xml: Xml
    condition: Evaluable | None = None
    listeners: list[Listener] = field(default_factory=list[Listener])

    def build(self) -> Flow:
        """The struct."""
        return Flow(
            index=self.index,
            id=self.id,
            source=self.source,
            target=self.target,
            condition=self.condition,
            listeners=tuple(self.listeners),
            name=self.xml.get("name"),
            line=self.xml.line,
        )


@dataclass(slots=True)
class ElementDraft:
    """A flow node, a scope or the process. Fields are those of `definition.Element`."""

    index: int
    id: str
    kind: Kind
    xml: Xml
    scope: int = -1
    incoming: list[int] = field(default_factory=list[int])
    outgoing: list[int] = field(default_factory=list[int])
    default_flow: int = -1
    work: Work = Work.NONE
    work_name: str = ""
    job: JobSpec | None = None
    user_task: UserTaskSpec | None = None
    script: ScriptSpec | None = None
    decision: DecisionSpec | None = None
    call: CallSpec | None = None
    loop: LoopSpec | None = None
    ad_hoc: AdHocSpec | None = None
    listeners: list[Listener] = field(default_factory=list[Listener])
    inputs: list[IoMapping] = field(default_factory=list[IoMapping])
    outputs: list[IoMapping] = field(default_factory=list[IoMapping])
    result_variable: str = ""
    events: list[EventSpec] = field(default_factory=list[EventSpec])
    parallel_multiple: bool = False
    interrupting: bool = True
    instantiate: bool = False
    event_gateway_type: str = "Exclusive"
    attached_to: int = -1
    boundaries: list[int] = field(default_factory=list[int])
    starts: list[int] = field(default_factory=list[int])
    event_sub_processes: list[int] = field(default_factory=list[int])
    start_event: int = -1
    children: list[int] = field(default_factory=list[int])
    compensation_handler: int = -1
    is_for_compensation: bool = False
    activation_condition: Evaluable | None = None
    start_quantity: int = 1
    completion_quantity: int = 1
    link_target: int = -1
    upstream: tuple[int, ...] = ()
    async_before: bool = False
    async_after: bool = False
    properties: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    @property
    def trigger(self) -> Trigger:
        """The trigger of the first event definition."""
        return self.events[0].trigger if self.events else Trigger.NONE

    @property
    def asks(self) -> bool:
        """Whether its work needs a deployed decision or form."""
        has_form = self.kind == Kind.USER_TASK and self.user_task is not None and self.user_task.form_id is not None
        return has_form or self.decision is not None

    def has(self, trigger: Trigger) -> bool:
        """Whether one of the event definitions has this trigger."""
        return any(event.trigger == trigger for event in self.events)

    @property
    def label(self) -> str:
        """How messages call it: its BPMN name and its id."""
        return f"{self.xml.name} '{self.id}'"

    def build(self, *, is_compensable: bool = False, collected_by: int = -1) -> Element:
        """The struct."""
        return Element(
            index=self.index,
            id=self.id,
            kind=self.kind,
            name=self.xml.get("name"),
            line=self.xml.line,
            scope=self.scope,
            incoming=tuple(self.incoming),
            outgoing=tuple(self.outgoing),
            default_flow=self.default_flow,
            work=self.work,
            work_name=self.work_name,
            job=self.job,
            user_task=self.user_task,
            script=self.script,
            decision=self.decision,
            call=self.call,
            loop=self.loop,
            ad_hoc=self.ad_hoc,
            listeners=tuple(self.listeners),
            inputs=tuple(self.inputs),
            outputs=tuple(self.outputs),
            result_variable=self.result_variable,
            events=tuple(self.events),
            parallel_multiple=self.parallel_multiple,
            interrupting=self.interrupting,
            instantiate=self.instantiate,
            event_gateway_type=self.event_gateway_type,
            attached_to=self.attached_to,
            boundaries=tuple(self.boundaries),
            starts=tuple(self.starts),
            event_sub_processes=tuple(self.event_sub_processes),
            start_event=self.start_event,
            children=tuple(self.children),
            compensation_handler=self.compensation_handler,
            is_for_compensation=self.is_for_compensation,
            is_compensable=is_compensable,
            activation_condition=self.activation_condition,
            start_quantity=self.start_quantity,
            completion_quantity=self.completion_quantity,
            collected_by=collected_by,
            link_target=self.link_target,
            upstream=self.upstream,
            async_before=self.async_before,
            async_after=self.async_after,
            properties=tuple(self.properties),
        )


@dataclass(slots=True)
class ProcessDraft:
    """A process: its elements by index (0 is itself), its flows, what it keeps."""

    xml: Xml
    elements: list[ElementDraft] = field(default_factory=list[ElementDraft])
    flows: list[FlowDraft] = field(default_factory=list[FlowDraft])
    flow_ids: set[str] = field(default_factory=set[str])
    index_of: dict[str, int] = field(default_factory=dict[str, int])
    associations: list[Xml] = field(default_factory=list[Xml])
    lanes: list[Lane] = field(default_factory=list[Lane])
    data_objects: list[DataObject] = field(default_factory=list[DataObject])
    forms: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    version_tag: str = ""
    is_executable: bool = True

    @property
    def root(self) -> ElementDraft:
        """The process itself."""
        return self.elements[0]

    def children(self, scope: ElementDraft) -> list[ElementDraft]:
        """The elements directly within a scope."""
        return [self.elements[index] for index in scope.children]

    def sources(self, element: ElementDraft) -> list[ElementDraft]:
        """Where an element's incoming flows come from."""
        return [self.elements[self.flows[flow].source] for flow in element.incoming]

    def targets(self, element: ElementDraft) -> list[ElementDraft]:
        """Where an element's outgoing flows lead to."""
        return [self.elements[self.flows[flow].target] for flow in element.outgoing]

    def build(self) -> Definition:
        """The struct."""
        compensating = {draft.scope for draft in self.elements if self._compensates(draft)}
        elements = tuple(
            draft.build(is_compensable=draft.index in compensating, collected_by=self._collected_by(draft))
            for draft in self.elements
        )
        root = self.root
        typed = [start for draft in self.children(root) for start in self._triggered_starts(draft)]
        return Definition(
            process_id=root.id,
            name=self.xml.get("name"),
            version_tag=self.version_tag,
            elements=elements,
            flows=tuple(flow.build() for flow in self.flows),
            index_of=dict(self.index_of),
            none_start=root.starts[0] if root.starts else -1,
            start_events=tuple(draft.index for draft in typed),
            messages_caught=frozenset(self._messages_caught()),
            asks=any(draft.asks for draft in self.elements),
            has_conditions=any(draft.has(Trigger.CONDITIONAL) for draft in self.elements),
            condition_names=frozenset(self._condition_names()),
            has_inclusive_joins=any(draft.upstream for draft in self.elements),
            is_executable=self.is_executable,
            lanes=tuple(self.lanes),
            data_objects=tuple(self.data_objects),
            forms=tuple(self.forms),
            line=self.xml.line,
        )

    def _compensates(self, draft: ElementDraft) -> bool:
        """Whether this is an event sub-process that is a compensation handler."""
        if draft.kind != Kind.EVENT_SUB_PROCESS or draft.start_event < 0:
            return False
        return self.elements[draft.start_event].has(Trigger.COMPENSATION)

    def _collected_by(self, draft: ElementDraft) -> int:
        """The ad-hoc sub-process around an activity at the end of a path, if it collects results."""
        if draft.scope < 0 or draft.outgoing or draft.kind not in ACTIVITIES - {Kind.EVENT_SUB_PROCESS}:
            return -1
        spec = self.elements[draft.scope].ad_hoc
        return draft.scope if spec is not None and spec.output_collection else -1

    def _triggered_starts(self, draft: ElementDraft) -> list[ElementDraft]:
        """What starts an instance by an event: typed start events, receive tasks, what follows an event gateway."""
        if draft.kind == Kind.START_EVENT and draft.events:
            return [draft]
        if not draft.instantiate or draft.incoming:
            return []
        return self.targets(draft) if draft.kind == Kind.EVENT_BASED_GATEWAY else [draft]

    def _condition_names(self) -> list[str]:
        return [
            name
            for draft in self.elements
            for event in draft.events
            if event.trigger == Trigger.CONDITIONAL
            for name in event.variable_names or (event.condition.names if event.condition is not None else ())
        ]

    def _messages_caught(self) -> list[str]:
        throwing = {Kind.END_EVENT, Kind.INTERMEDIATE_THROW_EVENT, Kind.SEND_TASK, Kind.SERVICE_TASK}
        return [
            event.name.text
            for draft in self.elements
            if draft.kind not in throwing
            for event in draft.events
            if event.trigger == Trigger.MESSAGE and isinstance(event.name, Static)
        ]
