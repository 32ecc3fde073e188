"""What happened to one instance, in the past tense. Events are the only thing that changes a state (``apply``).

One list has three readers: the fold, the row writer of the engine and the history. In the history an event is a JSON
array: its tag, then its fields in order. Elements and flows are indexes of the instance's definition. Instants are
milliseconds since the epoch on the store's clock.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

SIGNAL: Final = 3  # model.Trigger.SIGNAL, and
CONDITIONAL: Final = 7  # model.Trigger.CONDITIONAL, as it stands in Subscribed.trigger


class Event(msgspec.Struct, array_like=True, tag_field="event", gc=False):
    """Base of all events. They hold plain values, never each other: nothing for the collector of cycles to find."""


class Started(Event, tag="started"):
    """The instance exists; its root element instance has the instance's key."""

    instance: int
    definition: int
    business_id: str
    parent: int
    parent_element_instance: int
    depth: int
    start_channel: str


class Ended(Event, tag="ended"):
    """The instance is over; ``status`` is COMPLETED or TERMINATED."""

    status: int
    reason: str


class Activated(Event, tag="activated"):
    """An element instance began."""

    key: int
    element: int
    scope: int
    via: int
    body: bool
    loop_index: int


class Completed(Event, tag="completed"):
    """An element instance ended as modelled and is gone."""

    key: int


class Terminated(Event, tag="terminated"):
    """An element instance was removed (interruption, cancel, terminate end event) and is gone."""

    key: int


class Passed(Event, tag="passed"):
    """A token went through an element that does not wait: activated and completed at once."""

    key: int
    element: int
    scope: int


class PhaseChanged(Event, tag="phase"):
    """An element instance stays somewhere other than ACTIVE (an incident, a listener, a chunk)."""

    key: int
    phase: int


class FlowTaken(Event, tag="flow"):
    """A token left by a sequence flow."""

    flow: int
    scope: int


class TokenParked(Event, tag="parked"):
    """A token waits before a join (or an activity that wants several)."""

    flow: int
    element: int
    scope: int


class TokensJoined(Event, tag="joined"):
    """A join fired and consumed one parked token of each of these flows."""

    element: int
    scope: int
    flows: tuple[int, ...]


class TokensRemoved(Event, tag="removed"):
    """Parked tokens were taken away (interruption, modification)."""

    element: int
    scope: int
    flows: tuple[int, ...]


class TokenDeferred(Event, tag="deferred"):
    """A bounded step stopped before this token could enter its element."""

    flow: int
    element: int
    scope: int


class TokensResumed(Event, tag="resumed"):
    """The first ``count`` deferred tokens go on."""

    count: int


class TokensDropped(Event, tag="dropped"):
    """Deferred tokens directly within a scope were taken away with it."""

    scope: int


class VariablesSet(Event, tag="variables"):
    """Variables of a scope were written (created or replaced)."""

    scope: int
    values: dict[str, Any]


class JobCreated(Event, tag="job"):
    """Work for a worker. ``kind`` is a ``jobs.JobKind``."""

    key: int
    element_instance: int
    kind: int
    type: str
    retries: int
    priority: int


class JobClosed(Event, tag="job-closed"):
    """A job is gone; ``outcome`` is completed | failed | error | canceled."""

    key: int
    outcome: str


class JobRevived(Event, tag="job-revived"):
    """A job without retries is available again."""

    key: int
    retries: int


class UserTaskCreated(Event, tag="user-task"):
    """Work for a person."""

    key: int
    element_instance: int
    assignee: str
    candidate_users: tuple[str, ...]
    candidate_groups: tuple[str, ...]
    due: int
    follow_up: int
    priority: int
    form_key: str
    form: int = 0  # the deployed form that it shows


class UserTaskUpdated(Event, tag="user-task-updated"):
    """Attributes of an open user task changed; only the given ones."""

    key: int
    changes: dict[str, Any]
    action: str


class UserTaskClosed(Event, tag="user-task-closed"):
    """A user task is gone; ``outcome`` is completed | canceled."""

    key: int
    outcome: str


class TimerArmed(Event, tag="timer"):
    """An element instance waits for an instant."""

    key: int
    element_instance: int
    element: int
    spec: int
    due: int
    left: int
    cycle: str
    anchor: int


class Subscribed(Event, tag="subscribed"):
    """An element instance waits for a message, a signal or a condition (``trigger`` is a ``model.Trigger``)."""

    key: int
    element_instance: int
    element: int
    spec: int
    trigger: int
    name: str
    correlation_key: str
    once: bool  # closed by its first match; False: a non-interrupting event stays open


class WaitSeen(Event, tag="seen"):
    """One of several things a parallel multiple event waits for has come, or a condition changed its truth."""

    key: int
    seen: bool


class WaitSkips(Event, tag="skips"):
    """A signal thrown within the instance was served: so many broadcasts of it, still to come, are passed over."""

    key: int
    skip: int


class WaitClosed(Event, tag="wait-closed"):
    """A timer or subscription is gone; ``reason`` is fired | canceled."""

    key: int
    reason: str


class Triggered(Event, tag="triggered"):
    """An event happened at this element: boundary, event sub-process, catch. For the history and the page."""

    element: int
    scope: int
    trigger: int
    detail: str


class ErrorThrown(Event, tag="error"):
    """A BPMN error or escalation was thrown at an element instance."""

    key: int
    trigger: int
    code: str
    message: str


class CallStarted(Event, tag="call"):
    """A call activity asks for its instance, whose key is known already."""

    element_instance: int
    instance: int


class CallEnded(Event, tag="call-ended"):
    """The called instance is over, or was told to end; ``outcome`` is completed | terminated | error | missing."""

    element_instance: int
    outcome: str


class IncidentRaised(Event, tag="incident"):
    """A person is asked; ``phase`` says which step of the element's life is done again on resolving."""

    key: int
    element_instance: int
    kind: int
    message: str
    job: int
    phase: int


class IncidentResolved(Event, tag="incident-resolved"):
    """An incident is over; ``reason`` is resolved | canceled."""

    key: int
    reason: str


class LoopChanged(Event, tag="loop"):
    """Counters or results of a multi-instance body or loop changed; only the given ones."""

    key: int
    changes: dict[str, Any]


class LoopResult(Event, tag="loop-result"):
    """One inner instance of a multi-instance gave its output."""

    key: int
    index: int
    value: Any


class DataChanged(Event, tag="data"):
    """What one element family alone keeps on its element instance changed; None deletes a name."""

    key: int
    changes: dict[str, Any]


class CompensationRecorded(Event, tag="compensable"):
    """An activity completed whose handler, or whose inner handlers, may become due."""

    scope: int
    element: int
    variables: dict[str, Any] | None
    nested_from: int  # key of the completed sub-process whose records move here, or 0
    gathers: bool  # a repeated activity: its inner instances' records are nested


class CompensationChanged(Event, tag="compensation"):
    """A recorded handler starts, ends or is dropped; ``path`` is its position within nested records."""

    scope: int
    path: tuple[int, ...]
    state: int
    handler: int


class CompensationHandedOver(Event, tag="compensation-handed-over"):
    """A compensation event sub-process takes over the records of the sub-process that it compensates."""

    scope: int
    path: tuple[int, ...]
    to: int


class Migrated(Event, tag="migrated"):
    """The instance goes on under another definition: from here on indexes are the target's. Source index to target."""

    definition: int
    elements: dict[int, int]
    flows: dict[int, int]


class Suspended(Event, tag="suspended"):
    """The instance stops taking steps on its own."""


class Resumed(Event, tag="resumed-instance"):
    """The instance goes on."""


class BusinessIdAssigned(Event, tag="business-id"):
    """An instance that had none got a business id."""

    business_id: str


class Correlated(Event, tag="correlated"):
    """A message was given to a subscription, or started the instance: kept for the reader, changes nothing."""

    message: int
    name: str
    correlation_key: str
    subscription: int
    element: int
    element_instance: int  # 0: the instance was started by it


class Warned(Event, tag="warning"):
    """An expression gave null with a warning: kept for the reader, changes nothing."""

    key: int
    element: int
    message: str


class DecisionEvaluated(Event, tag="decision"):
    """A business rule task evaluated a decision: kept for the reader, changes nothing.

    ``trace`` is in Camunda 8's words: every decision with its inputs, its tables' matched rules, and its output.
    """

    key: int
    element: int
    decision: int
    decision_id: str
    version: int
    result: Any
    trace: list[Any]
    warnings: str


class Modified(Event, tag="modified"):
    """Somebody puts tokens and takes them away by hand: kept for the reader, what changes are the events after it.

    Elements by their index, each as often as it is meant.
    """

    ended: list[int]
    begun: list[int]


AnyEvent = (
    Started
    | Ended
    | Activated
    | Completed
    | Terminated
    | Passed
    | PhaseChanged
    | FlowTaken
    | TokenParked
    | TokensJoined
    | TokensRemoved
    | TokenDeferred
    | TokensResumed
    | TokensDropped
    | VariablesSet
    | JobCreated
    | JobClosed
    | JobRevived
    | UserTaskCreated
    | UserTaskUpdated
    | UserTaskClosed
    | TimerArmed
    | Subscribed
    | WaitSeen
    | WaitSkips
    | WaitClosed
    | Triggered
    | ErrorThrown
    | CallStarted
    | CallEnded
    | IncidentRaised
    | IncidentResolved
    | LoopChanged
    | LoopResult
    | DataChanged
    | CompensationRecorded
    | CompensationChanged
    | CompensationHandedOver
    | Migrated
    | Suspended
    | Resumed
    | BusinessIdAssigned
    | Correlated
    | Warned
    | DecisionEvaluated
    | Modified
)
