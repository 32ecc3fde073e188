"""What can be asked of one instance, in the imperative, and what a step asks of others (follow-ups). Plain data.

A command touches one instance. What must reach another leaves the step as a ``FollowUp`` and becomes a system job in
the same transaction. Both are msgspec structs, tagged, so that they can be stored in a job and sent over a wire.
"""

from __future__ import annotations

from typing import Any

import msgspec


class Command(msgspec.Struct, tag=True, omit_defaults=True, gc=False):
    """Base of all commands."""


class Activate(msgspec.Struct, omit_defaults=True):
    """Put a token before an element. ``ancestor``: the scope's element instance, where several are active.

    ``variables`` are written to the innermost scope around the element; what the worker of an ad-hoc sub-process
    gives to an activity is that activity's own.
    """

    element: str
    ancestor: int = 0
    variables: dict[str, Any] = {}


class StartInstance(Command):
    """Create an instance. ``start`` is the element to begin at (a message start event); empty: the none start event."""

    instance: int
    variables: dict[str, Any] = {}
    start: str = ""
    at: list[str] = []  # start instructions: begin at these elements instead
    business_id: str = ""
    parent: int = 0
    parent_element_instance: int = 0
    depth: int = 0
    start_channel: str = ""
    event: str = ""  # name of the message or signal that triggered ``start``, where it waits for several
    after: list[str] = []  # start instructions: behind these elements, which are not carried out
    message: int = 0  # the message that triggered ``start``
    subscription: int = 0  # that it was given to


class CompleteJob(Command):
    """A worker finished a job; ``variables`` are its result.

    A task listener's job may deny what it was told of, or correct attributes of the user task. The job of an ad-hoc
    sub-process says which of its activities start now, and when it is enough.
    """

    job: int
    variables: dict[str, Any] = {}
    denied: bool = False
    corrections: dict[str, Any] = {}
    activate: list[Activate] = []
    is_completion_condition_fulfilled: bool = False
    is_cancel_remaining_instances: bool = False


class FailJob(Command):
    """A job has no attempts left: raise an incident."""

    job: int
    message: str
    variables: dict[str, Any] = {}


class ThrowError(Command):
    """A worker throws a BPMN error from its job."""

    job: int
    code: str
    message: str = ""
    variables: dict[str, Any] = {}


class FireTimer(Command):
    """A timer is due."""

    timer: int


class Correlate(Command):
    """A message, signal or condition matched this subscription. ``message`` is the message's key (0: a signal)."""

    subscription: int
    name: str
    variables: dict[str, Any] = {}
    message: int = 0
    correlation_key: str = ""
    expires: int = 0  # when the message's time to live ends, to offer it again if this instance cannot take it


class CompleteUserTask(Command):
    """A person finished a user task."""

    user_task: int
    variables: dict[str, Any] = {}


class UpdateUserTask(Command):
    """Change attributes of an open user task; ``action`` is assign | unassign | update."""

    user_task: int
    changes: dict[str, Any]
    action: str = "update"


class Cancel(Command):
    """End the instance and everything it called. ``by_parent``: the caller was interrupted."""

    by_parent: bool = False
    reason: str = ""


class ResolveIncident(Command):
    """Try again what raised the incident. ``retries``: new attempts of its job (0 leaves them)."""

    incident: int
    retries: int = 0


class SetVariables(Command):
    """Write variables into a scope (0: the instance). ``local``: not to a parent scope that holds the name."""

    variables: dict[str, Any]
    element_instance: int = 0
    local: bool = False


class ChildEnded(Command):
    """A called instance is over; ``outcome`` is completed | terminated | error | escalation | missing."""

    element_instance: int
    child: int
    outcome: str
    variables: dict[str, Any] = {}
    code: str = ""
    message: str = ""


class ErrorUncaught(Command):
    """Nobody above caught the error that this called instance reported: raise the incident where it was thrown."""

    code: str
    message: str = ""


class Continue(Command):
    """Go on with a step that was bounded."""


class Suspend(Command):
    """Stop taking steps until resumed."""


class Resume(Command):
    """Go on after Suspend."""


class AssignBusinessId(Command):
    """Give a business id to an instance that has none."""

    business_id: str


class Move(msgspec.Struct, omit_defaults=True):
    """Move tokens to another element: one by its element instance, or all of the element ``source``."""

    target: str
    source: str = ""
    element_instance: int = 0


class Modify(Command):
    """Change where an instance stands. ``terminate``: keys of element instances."""

    activate: list[Activate] = []
    move: list[Move] = []
    terminate: list[int] = []


class Migrate(Command):
    """Go on under another definition; ``mapping``: element ids that changed, source to target.

    The engine brings the target and calls ``core.migrate``: ``decide`` knows the instance's own definition only.
    """

    definition: int
    mapping: dict[str, str] = {}


AnyCommand = (
    StartInstance
    | CompleteJob
    | FailJob
    | ThrowError
    | FireTimer
    | Correlate
    | CompleteUserTask
    | UpdateUserTask
    | Cancel
    | ResolveIncident
    | SetVariables
    | ChildEnded
    | ErrorUncaught
    | Continue
    | Suspend
    | Resume
    | Modify
    | Migrate
    | AssignBusinessId
)


class FollowUp(msgspec.Struct, tag=True, omit_defaults=True):
    """Base of what a step asks of something other than its own instance."""


class Send(FollowUp):
    """Give a command to an instance (this one or another)."""

    instance: int
    command: AnyCommand


class CallProcess(FollowUp):
    """Start the process that a call activity names; its instance key is known. Answered by ChildEnded."""

    instance: int
    process_id: str
    binding: str
    version: int
    version_tag: str
    parent: int
    parent_element_instance: int
    parent_definition: int
    depth: int
    variables: dict[str, Any]
    business_id: str = ""


class PublishMessage(FollowUp):
    """A throw event or send task publishes a message."""

    name: str
    correlation_key: str
    variables: dict[str, Any]
    ttl_ms: int = 0
    message_id: str = ""


class BroadcastSignal(FollowUp):
    """A throw event broadcasts a signal."""

    name: str
    variables: dict[str, Any]


class StartByEvent(FollowUp):
    """Start an instance at a start event that was triggered (message, signal, timer); its key is known."""

    instance: int
    definition: int
    start: str
    variables: dict[str, Any]
    start_channel: str = ""
    message: int = 0
    event: str = ""  # name of the message or signal
    subscription: int = 0


AnyFollowUp = Send | CallProcess | PublishMessage | BroadcastSignal | StartByEvent
