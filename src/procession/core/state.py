"""The state of one process instance: a tree of element instances, with its tokens and variables. Plain data.

Only ``apply`` changes it, one event at a time. Root variables are kept apart from the tree (``State.variables``),
because they are stored as JSON and written only when they changed; local variables travel with their scope.
It is a tree of plain values without a cycle, and says so (``gc=False``): thousands are kept, and nothing looks for any.
All instants are milliseconds since the epoch, UTC, on the store's clock.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import msgspec

ENDING = "ending"  # in the data of an element instance that goes, or is emptied, in several steps: see removal.py


class Status(IntEnum):
    """Where an instance is in its life."""

    ACTIVE = 0
    COMPLETED = 1
    TERMINATED = 2
    SUSPENDED = 3


class Phase(IntEnum):
    """Where an element instance is in its life; the usual one passes from ACTIVE to gone within a step.

    ACTIVATING and COMPLETING are only visible while an incident, a listener or a chunk keeps it there.
    """

    ACTIVATING = 0
    ACTIVE = 1
    COMPLETING = 2
    LEAVING = 3  # its work and mappings are kept, no flow could be taken
    TERMINATING = 4


class IncidentKind(IntEnum):
    """Why a person is asked. Camunda 8's error types where they exist."""

    JOB_NO_RETRIES = 1
    UNHANDLED_ERROR_EVENT = 2
    CONDITION_ERROR = 3
    IO_MAPPING_ERROR = 4
    EXTRACT_VALUE_ERROR = 5
    CALLED_ELEMENT_ERROR = 6
    DECISION_EVALUATION_ERROR = 7
    MESSAGE_SIZE_EXCEEDED = 8
    FORM_NOT_FOUND = 9
    CALL_DEPTH_EXCEEDED = 10
    AD_HOC_ERROR = 11
    LISTENER_NO_RETRIES = 12
    COMPENSATION_ERROR = 13
    CALLED_DECISION_ERROR = 14


class Wait(msgspec.Struct, gc=False, omit_defaults=True, rename={"key": "k", "element": "e", "spec": "s"}):
    """One thing that an element instance waits for: a timer job or a subscription row, by its key."""

    key: int
    element: (
        int  # the catching element: itself, a boundary event, an event sub-process' start event, a gateway's target
    )
    spec: int = 0  # which of the element's event definitions
    due: int = 0  # timers: when
    left: int = 0  # timer cycles: repetitions still to come after this one, -1 endless
    cycle: str = ""  # timer cycles: the evaluated text
    anchor: int = 0  # timer cycles: the instant that repetitions are computed from
    name: str = ""  # signals: the name
    skip: int = 0  # signals: broadcasts still to come that have been served already, because they were thrown in here
    seen: bool = False  # parallel multiple events: has arrived; conditions: was true


class Incident(msgspec.Struct, gc=False, omit_defaults=True):
    """An open problem of an element instance."""

    key: int
    kind: IncidentKind
    element_instance: int
    message: str
    job: int = 0


class Compensation(msgspec.Struct, gc=False, omit_defaults=True):
    """A handler that is due if its scope is compensated, recorded when its activity completed."""

    element: int  # the activity
    variables: dict[str, Any] | None = None  # its local variables when it completed
    nested: list[Compensation] | None = None  # sub-processes: what completed within
    state: int = 0  # 0 due, 1 running, 2 done
    handler: int = 0  # key of the throwing element instance that waits for the running handler
    gathers: bool = False  # of a repeated activity: no handler of its own, those of its inner instances are nested


class ElementInstance(
    msgspec.Struct,
    gc=False,
    omit_defaults=True,
    rename={"key": "k", "element": "e", "scope": "s", "phase": "p", "variables": "v", "job": "j", "waits": "w"},
):
    """An active element. Key 0 of ``State.nodes`` is never used; the process itself is the node of ``State.root``."""

    key: int
    element: int
    scope: int = 0  # key of the parent element instance; 0 for the process
    phase: int = Phase.ACTIVE
    variables: dict[str, Any] | None = None  # local variables; the process' own are in State.variables
    job: int = 0
    user_task: int = 0
    incident: int = 0
    called: int = 0  # call activity: key of the called instance
    waits: list[Wait] | None = None
    arrived: dict[int, dict[int, int]] | None = None  # scopes: tokens parked at joins, per element and flow index
    body: bool = False  # multi-instance body or loop
    loop: dict[str, Any] | None = None  # multi-instance/loop counters: see core/elements/multi_instance.py
    loop_index: int = 0  # inner instance of a multi-instance: its position, from 1
    compensations: list[Compensation] | None = None  # scopes: recorded handlers, oldest first
    via: int = -1  # flow by which its token came
    data: dict[str, Any] | None = None  # what one element family alone needs


class State(msgspec.Struct, gc=False, omit_defaults=True):
    """Everything about one instance that the rules need.

    The last fields are derived from ``nodes`` and rebuilt after loading: indexes that keep the cost of a step
    independent of the size of the instance. ``children``: scope key -> keys of the element instances directly within,
    in order of creation. ``jobs``: open job, user task or called instance -> element instance. ``waits``: timer or
    subscription -> element instance that waits. ``parked``: scopes that hold tokens before joins. ``conditions``:
    open conditional waits. ``ending``: element instances that are taken away, or emptied, in several steps.
    ``signals``: waits for a signal, by its name. ``counts`` and ``masks`` are made when an inclusive join asks for
    them first.
    """

    key: int
    root: int = 0  # key of the process' own element instance (equals ``key``)
    status: int = Status.ACTIVE
    nodes: dict[int, ElementInstance] = {}
    incidents: dict[int, Incident] = {}
    pending: list[tuple[int, int, int]] = []  # tokens that a bounded step left on the way: (flow, element, scope)
    parent: int = 0  # instance that called this one
    parent_element_instance: int = 0
    depth: int = 0  # call activities above it
    business_id: str = ""
    start_channel: str = ""  # correlation key of the message that started it, while it holds that key
    variables: dict[str, Any] = {}
    children: dict[int, dict[int, None]] = {}
    jobs: dict[int, int] = {}
    waits: dict[int, int] = {}
    parked: dict[int, None] = {}
    conditions: dict[int, None] = {}
    moving: dict[int, int] = {}  # deferred tokens per scope
    ending: dict[int, None] = {}
    signals: dict[str, dict[int, None]] = {}
    counts: dict[tuple[int, int], int] | None = None  # instances of each element in each scope; None until wanted
    masks: dict[int, int] = {}  # the same as a mask of elements per scope, kept with ``counts``
