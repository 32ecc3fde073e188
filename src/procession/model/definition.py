"""The compiled process: flat tuples with integer indexes, made once and shared by every step. It never changes.

Index 0 of ``Definition.elements`` is the process itself, which is the root scope. Elements and flows refer to each
other by index, -1 meaning none. Sets of elements are bit masks (bit ``i`` stands for element ``i``).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, Protocol

import msgspec


class Kind(IntEnum):
    """What an element is. One number per BPMN element that can hold a token or a scope."""

    PROCESS = 0
    SUB_PROCESS = 1
    EVENT_SUB_PROCESS = 2
    TRANSACTION = 3
    AD_HOC_SUB_PROCESS = 4
    CALL_ACTIVITY = 5
    TASK = 10
    SERVICE_TASK = 11
    SEND_TASK = 12
    RECEIVE_TASK = 13
    USER_TASK = 14
    MANUAL_TASK = 15
    SCRIPT_TASK = 16
    BUSINESS_RULE_TASK = 17
    EXCLUSIVE_GATEWAY = 20
    PARALLEL_GATEWAY = 21
    INCLUSIVE_GATEWAY = 22
    EVENT_BASED_GATEWAY = 23
    COMPLEX_GATEWAY = 24
    START_EVENT = 30
    END_EVENT = 31
    INTERMEDIATE_CATCH_EVENT = 32
    INTERMEDIATE_THROW_EVENT = 33
    BOUNDARY_EVENT = 34


class Trigger(IntEnum):
    """What an event waits for or throws."""

    NONE = 0
    MESSAGE = 1
    TIMER = 2
    SIGNAL = 3
    ERROR = 4
    ESCALATION = 5
    COMPENSATION = 6
    CONDITIONAL = 7
    LINK = 8
    TERMINATE = 9
    CANCEL = 10


class TimerKind(IntEnum):
    """Which of the three timer definitions a timer has."""

    DATE = 0
    DURATION = 1
    CYCLE = 2


class Work(IntEnum):
    """Who does an activity's work."""

    NONE = 0  # passes straight through
    METHOD = 1  # a Python function within the step
    JOB = 2  # a job that a worker takes from the queue
    SCRIPT = 3  # an expression evaluated in the core
    USER = 4  # a person
    DECISION = 5  # a DMN decision evaluated in the core
    CONNECTOR_MESSAGE = 6  # throws a message from within the engine (send task or throw event with a message only)
    MESSAGE = 7  # waits for a message (receive task)


class Evaluable(Protocol):
    """A static value or a compiled expression: the same call for both."""

    @property
    def text(self) -> str:
        """What stands in the model."""
        ...

    @property
    def names(self) -> frozenset[str]:
        """The variables that it reads."""
        ...

    def evaluate(
        self,
        context: Mapping[str, Any],
        *,
        now: Any = None,  # noqa: ANN401 - a datetime
        warnings: list[Any] | None = None,
    ) -> Any:  # noqa: ANN401
        """The value in this context; FEEL's null with a warning where it has none."""
        ...


class Record(msgspec.Struct, frozen=True):
    """Base of all compiled structs."""


class IoMapping(Record, frozen=True, kw_only=True):
    """One input or output mapping (``zeebe:input``/``zeebe:output``, ``camunda:inputParameter``...)."""

    source: Evaluable
    target: tuple[str, ...]  # dotted path, split


class JobSpec(Record, frozen=True, kw_only=True):
    """How an activity's job is made (``zeebe:taskDefinition``, ``camunda:topic``...)."""

    type: Evaluable
    retries: Evaluable
    priority: Evaluable | None = None
    headers: tuple[tuple[str, str], ...] = ()
    retry_delays_ms: tuple[int, ...] = ()  # waits between attempts from the model (R5/PT5M or a comma list), the last
    # one repeats; else empty


class UserTaskSpec(Record, frozen=True, kw_only=True):
    """A native user task's properties, each static or an expression."""

    assignee: Evaluable | None = None
    candidate_users: Evaluable | None = None
    candidate_groups: Evaluable | None = None
    due_date: Evaluable | None = None
    follow_up_date: Evaluable | None = None
    priority: Evaluable | None = None
    form_key: Evaluable | None = None
    form_id: Evaluable | None = None
    external_reference: Evaluable | None = None
    form_binding: str = "latest"  # latest | deployment | version | versionTag
    form_version: int = 0
    form_version_tag: str = ""


class CallSpec(Record, frozen=True, kw_only=True):
    """What a call activity calls (``zeebe:calledElement``, ``calledElement`` + ``camunda:in``/``out``)."""

    process_id: Evaluable
    binding: str = "latest"  # latest | deployment | version | versionTag
    version: int = 0
    version_tag: str = ""
    propagate_parent: bool = True
    propagate_child: bool = True
    business_id: Evaluable | None = None
    inputs: tuple[IoMapping, ...] = ()  # camunda:in; evaluated in the caller
    outputs: tuple[IoMapping, ...] = ()  # camunda:out; evaluated in the callee's root scope


class DecisionSpec(Record, frozen=True, kw_only=True):
    """Which decision a business rule task evaluates."""

    decision_id: Evaluable
    result_variable: str
    binding: str = "latest"
    version: int = 0
    version_tag: str = ""
    map_result: str = ""  # singleEntry | singleResult | collectEntries | resultList


class ScriptSpec(Record, frozen=True, kw_only=True):
    """A script task's expression."""

    expression: Evaluable
    result_variable: str = ""


class LoopSpec(Record, frozen=True, kw_only=True):
    """Multi-instance or standard loop characteristics."""

    sequential: bool = False
    multi_instance: bool = True  # False: standard loop
    collection: Evaluable | None = None
    element_variable: str = ""
    output_collection: str = ""
    output_element: Evaluable | None = None
    cardinality: Evaluable | None = None
    completion_condition: Evaluable | None = None
    counter_from: int = 1  # zeebe counts from 1, camunda from 0
    count_variables: bool = False  # nrOfInstances and its siblings are set
    behavior: str = "All"  # None | One | All | Complex
    behavior_events: tuple[tuple[Evaluable | None, EventSpec], ...] = ()
    test_before: bool = False
    loop_condition: Evaluable | None = None
    loop_maximum: int = -1  # -1: none; below: the model names a negative one, which is an incident when it is reached


class EventSpec(Record, frozen=True, kw_only=True):
    """One event definition of an event element."""

    trigger: Trigger
    name: Evaluable | None = None  # message or signal name
    correlation_key: Evaluable | None = None
    timer_kind: TimerKind = TimerKind.DURATION
    timer: Evaluable | None = None
    code: Evaluable | None = None  # error or escalation code; None catches all
    condition: Evaluable | None = None
    variable_names: frozenset[str] = frozenset()  # conditional filter; empty: every name that the condition reads
    variable_events: frozenset[str] = frozenset()  # create | update | delete; empty: all
    link: str = ""
    activity: int = -1  # compensation: the activity, or -1 for all of the scope
    wait_for_completion: bool = True
    code_variable: str = ""
    message_variable: str = ""
    ref: str = ""  # id of the referenced message/signal/error/escalation element


class AdHocSpec(Record, frozen=True, kw_only=True):
    """Ad-hoc sub-process attributes."""

    sequential: bool = False
    completion_condition: Evaluable | None = None
    cancel_remaining: bool = True
    active_elements: Evaluable | None = None
    output_collection: str = ""
    output_element: Evaluable | None = None


class Listener(Record, frozen=True, kw_only=True):
    """An execution or task listener: a blocking job at a point of the life cycle."""

    event: str  # start | end | take | creating | assigning | updating | completing | canceling
    type: Evaluable
    retries: Evaluable


class Flow(Record, frozen=True, kw_only=True):
    """A sequence flow."""

    index: int
    id: str
    source: int
    target: int
    condition: Evaluable | None = None
    listeners: tuple[Listener, ...] = ()  # camunda:executionListener event="take"
    name: str = ""
    line: int = 0


class Element(Record, frozen=True, kw_only=True):
    """A flow node, a scope, or the process itself (index 0)."""

    index: int
    id: str
    kind: Kind
    name: str = ""
    line: int = 0
    scope: int = -1  # index of the enclosing scope element; -1 for the process
    incoming: tuple[int, ...] = ()  # flow indexes, in document order
    outgoing: tuple[int, ...] = ()
    default_flow: int = -1
    work: Work = Work.NONE
    work_name: str = ""  # name of the method (work METHOD)
    job: JobSpec | None = None  # work JOB; with work METHOD only where the model sets the method's retries
    user_task: UserTaskSpec | None = None  # user tasks; on a start event only its form
    script: ScriptSpec | None = None
    decision: DecisionSpec | None = None
    call: CallSpec | None = None
    loop: LoopSpec | None = None
    ad_hoc: AdHocSpec | None = None
    listeners: tuple[Listener, ...] = ()
    inputs: tuple[IoMapping, ...] = ()
    outputs: tuple[IoMapping, ...] = ()
    result_variable: str = ""  # camunda:resultVariable of a method or job
    events: tuple[EventSpec, ...] = ()  # event definitions; empty for a none event
    parallel_multiple: bool = False
    interrupting: bool = True  # boundary events and start events of event sub-processes
    instantiate: bool = False  # receive task or event-based gateway that starts instances
    event_gateway_type: str = "Exclusive"  # Exclusive | Parallel (only with instantiate)
    attached_to: int = -1  # boundary events
    boundaries: tuple[int, ...] = ()  # boundary events of this activity, in document order
    starts: tuple[int, ...] = ()  # scopes: elements that start when the scope is entered by a token
    event_sub_processes: tuple[int, ...] = ()  # scopes: their event sub-processes
    start_event: int = -1  # event sub-processes: their start event
    children: tuple[int, ...] = ()  # scopes: every element directly within
    compensation_handler: int = -1  # activities with a compensation boundary: the handler's index
    is_for_compensation: bool = False
    is_compensable: bool = False  # a sub-process with a compensation event sub-process
    activation_condition: Evaluable | None = None  # complex gateway
    start_quantity: int = 1  # 0: the model names one below 1, which is an incident when it is reached
    completion_quantity: int = 1  # the same
    collected_by: int = -1  # the ad-hoc sub-process that collects a result when this activity ends a path in it
    link_target: int = -1  # link throw: the catch it goes on at
    upstream: tuple[
        int, ...
    ] = ()  # inclusive/complex joins: per incoming flow, mask of same-scope elements that reach it
    async_before: bool = False
    async_after: bool = False
    properties: tuple[tuple[str, str], ...] = ()


class Lane(Record, frozen=True, kw_only=True):
    """A lane: kept for people and queries, never executed."""

    id: str
    name: str
    elements: tuple[int, ...] = ()
    parent: int = -1  # index of the enclosing lane


class DataObject(Record, frozen=True, kw_only=True):
    """A data object, data store or property: kept, never executed."""

    id: str
    name: str
    kind: str  # dataObject | dataObjectReference | dataStoreReference | property | dataInput | dataOutput
    scope: int = 0  # the element that it stands in
    is_collection: bool = False
    ref: str = ""  # references: what they refer to
    line: int = 0


class Definition(Record, frozen=True, kw_only=True):
    """One executable process, compiled."""

    process_id: str
    name: str
    version_tag: str
    elements: tuple[Element, ...]
    flows: tuple[Flow, ...]
    index_of: dict[str, int]  # element id -> index
    none_start: int = -1  # index of the none start event, or -1
    start_events: tuple[int, ...] = ()  # process level: what starts an instance by an event: typed start events,
    # instantiating receive tasks, what stands behind an instantiating event-based gateway
    messages_caught: frozenset[str] = frozenset()
    has_conditions: bool = False  # some event waits for a condition on variables
    condition_names: frozenset[str] = frozenset()  # the variables that such conditions read
    asks: bool = False  # some business rule task evaluates a decision, or some user task shows a deployed form
    has_inclusive_joins: bool = False  # some inclusive or complex gateway joins
    is_executable: bool = True
    lanes: tuple[Lane, ...] = ()
    data_objects: tuple[DataObject, ...] = ()
    forms: tuple[tuple[str, str], ...] = ()  # forms embedded in the process: id and JSON text
    line: int = 0
    key: int = 0  # set when it is stored
    version: int = 0
    tenant: str = ""

    def element(self, element_id: str) -> Element:
        """The element with this id. Raises KeyError."""
        return self.elements[self.index_of[element_id]]


class Problem(Record, frozen=True, kw_only=True):
    """One finding of the validation. ``severity`` is error, warning or info."""

    severity: str
    code: str
    message: str
    element_id: str = ""
    line: int = 0
    column: int = 0
    suggestion: str = ""

    def __str__(self) -> str:
        """One line: where, what, what to do."""
        where = f"line {self.line}" + (f", element '{self.element_id}'" if self.element_id else "")
        return f"{where}: {self.message} [{self.code}]" + (f" — {self.suggestion}" if self.suggestion else "")
