"""What users see: instances, jobs, incidents, user tasks, definitions, nodes. Read-only records, no behaviour.

Names follow Camunda 8's REST API; ``to_dict`` gives its JSON names (``processInstanceKey``). Instants are aware
datetimes in UTC.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

import msgspec

from procession.app.arguments import names, text
from procession.core.state import Status
from procession.errors import InvalidValue, Unreadable
from procession.jobs.codec import Codec, unseal
from procession.jobs.kinds import JobKind, JobState
from procession.jobs.schedule import to_datetime
from procession.model.definition import Trigger
from procession.store.rows import (
    Deployed,
    PublishResult,
    StoredDecision,
    StoredDefinition,
    StoredIncident,
    StoredInstance,
    StoredJob,
    StoredMessage,
    StoredNode,
    StoredSubscription,
    StoredUserTask,
)

if TYPE_CHECKING:
    from procession.app.forms import Form

EMBEDDED = "camunda-forms:bpmn:"  # what stands before the id of a form that the process carries with it


class View(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of all views."""

    def to_dict(self) -> dict[str, Any]:
        """The record with its JSON names, dates as ISO 8601 text."""
        return msgspec.to_builtins(self)


def readable(codec: Codec | None, stored: bytes) -> Any:  # noqa: ANN401 - any JSON value
    """A stored value for people; one that cannot be read here, for want of its key or as JSON, as it is stored."""
    try:
        return msgspec.json.decode(unseal(codec, stored, "a value"))
    except (Unreadable, msgspec.DecodeError):
        pass
    try:
        return msgspec.json.decode(stored)
    except msgspec.DecodeError:
        return stored.decode("utf-8", "replace")


def status_of(state: str) -> Status:
    """The status that a state's name stands for. Raises InvalidValue."""
    try:
        return Status[text(state, "state").upper()]
    except KeyError:
        message = f"Expected a state ({', '.join(status.name for status in Status)}), found '{state}'"
        raise InvalidValue(message) from None


def statuses_of(states: str | Sequence[str]) -> list[int]:
    """The statuses that one or several names stand for; none for an empty text. Raises InvalidValue."""
    named = [states] if isinstance(states, str) else names(states, "state")
    return sorted({int(status_of(state)) for state in named if state})


def _when(instant: int) -> datetime | None:
    """An instant as a datetime; None for 0."""
    return to_datetime(instant) if instant else None


class ProcessDefinition(View, frozen=True, kw_only=True):
    """A deployed version of a process."""

    process_definition_key: int
    process_definition_id: str
    version: int
    name: str
    version_tag: str
    resource_name: str
    deployed_at: datetime | None
    tenant_id: str
    created: bool = False  # in the answer to a deployment: whether this is a new version
    methods: list[str] = []

    @classmethod
    def of(cls, row: StoredDefinition) -> Self:
        """The view of a row."""
        return cls(
            process_definition_key=row.key,
            process_definition_id=row.process_id,
            version=row.version,
            name=row.name,
            version_tag=row.version_tag,
            resource_name=row.resource_name,
            deployed_at=_when(row.deployed_at),
            tenant_id=row.tenant,
            created=row.created,
            methods=row.methods,
        )


class DecisionDefinition(View, frozen=True, kw_only=True):
    """A deployed version of a decision."""

    decision_definition_key: int
    decision_definition_id: str
    version: int
    name: str
    version_tag: str
    decision_requirements_id: str
    resource_name: str
    deployed_at: datetime | None
    tenant_id: str
    created: bool = False  # in the answer to a deployment: whether this is a new version

    @classmethod
    def of(cls, row: StoredDecision) -> Self:
        """The view of a row."""
        return cls(
            decision_definition_key=row.key,
            decision_definition_id=row.decision_id,
            version=row.version,
            name=row.name,
            version_tag=row.version_tag,
            decision_requirements_id=row.requirements_id,
            resource_name=row.resource_name,
            deployed_at=_when(row.deployed_at),
            tenant_id=row.tenant,
            created=row.created,
        )


class Deployment(list[ProcessDefinition]):
    """The answer to a deployment: the processes of its files, and beside them the decisions and the forms."""

    def __init__(
        self, processes: Iterable[ProcessDefinition], decisions: Iterable[DecisionDefinition], forms: Iterable[Form]
    ) -> None:
        super().__init__(processes)
        self.decisions = list(decisions)
        self.forms = list(forms)

    @classmethod
    def of(cls, deployed: Deployed, forms: Iterable[Form]) -> Self:
        """The view of the rows."""
        processes = map(ProcessDefinition.of, deployed.definitions)
        return cls(processes, map(DecisionDefinition.of, deployed.decisions), forms)


class ProcessInstance(View, frozen=True, kw_only=True):
    """An instance, running or ended."""

    process_instance_key: int
    process_definition_id: str
    process_definition_key: int
    state: str  # ACTIVE | COMPLETED | TERMINATED | SUSPENDED
    business_id: str
    start_date: datetime | None
    end_date: datetime | None
    has_incident: bool
    parent_process_instance_key: int
    tags: list[str]
    tenant_id: str

    @classmethod
    def of(cls, row: StoredInstance) -> Self:
        """The view of a row."""
        return cls(
            process_instance_key=row.key,
            process_definition_id=row.process_id,
            process_definition_key=row.definition,
            state=cls.state_name(row.status),
            business_id=row.business_id,
            start_date=_when(row.started_at),
            end_date=_when(row.ended_at),
            has_incident=row.incidents > 0,
            parent_process_instance_key=row.parent,
            tags=row.tags,
            tenant_id=row.tenant,
        )

    @staticmethod
    def state_name(status: int) -> str:
        """The state's name, as in ``state``."""
        return Status(status).name


class ElementInstance(View, frozen=True, kw_only=True):
    """An active element of an instance, and why it waits."""

    element_instance_key: int
    element_id: str
    element_name: str
    type: str
    waits_for: str  # one sentence
    incident_key: int = 0


class InstanceDetails(View, frozen=True, kw_only=True):
    """One instance with what is to be known about it now."""

    instance: ProcessInstance
    variables: dict[str, Any]
    elements: list[ElementInstance]
    incidents: list[Incident]


class Incident(View, frozen=True, kw_only=True):
    """A problem that waits for a person."""

    incident_key: int
    process_instance_key: int
    process_definition_id: str
    element_id: str
    element_instance_key: int
    error_type: str
    error_message: str
    job_key: int
    creation_time: datetime | None
    tenant_id: str

    @classmethod
    def of(cls, row: StoredIncident) -> Self:
        """The view of a row."""
        return cls(
            incident_key=row.key,
            process_instance_key=row.instance,
            process_definition_id=row.process_id,
            element_id=row.element,
            element_instance_key=row.element_instance,
            error_type=row.kind,
            error_message=row.message,
            job_key=row.job,
            creation_time=_when(row.created_at),
            tenant_id=row.tenant,
        )


class JobInfo(View, frozen=True, kw_only=True):
    """A row of the queue: a service job, a plain job, a timer, a step, a follow-up."""

    job_key: int
    kind: str
    state: str
    queue: str
    type: str
    process_instance_key: int
    element_id: str
    element_instance_key: int
    priority: int
    run_at: datetime | None
    attempt: int
    retries: int
    node: int
    error_message: str
    creation_time: datetime | None
    tenant_id: str

    @classmethod
    def of(cls, row: StoredJob) -> Self:
        """The view of a row."""
        return cls(
            job_key=row.key,
            kind=JobKind(row.kind).name,
            state=JobState(row.state).name,
            queue=row.queue,
            type=row.type,
            process_instance_key=row.instance,
            element_id=row.element,
            element_instance_key=row.element_instance,
            priority=row.priority,
            run_at=_when(row.run_at),
            attempt=row.attempt,
            retries=row.retries,
            node=row.owner,
            error_message=row.error,
            creation_time=_when(row.created_at),
            tenant_id=row.tenant,
        )


class UserTask(View, frozen=True, kw_only=True):
    """An open user task."""

    user_task_key: int
    process_instance_key: int
    process_definition_id: str
    element_id: str
    name: str
    assignee: str
    candidate_users: list[str]
    candidate_groups: list[str]
    due_date: datetime | None
    follow_up_date: datetime | None
    priority: int
    form_key: str  # of a deployed form its key; else as the model says it
    external_form_reference: str  # where the form is one that only others know
    creation_date: datetime | None
    tenant_id: str

    @classmethod
    def of(cls, row: StoredUserTask) -> Self:
        """The view of a row."""
        return cls(
            user_task_key=row.key,
            process_instance_key=row.instance,
            process_definition_id=row.process_id,
            element_id=row.element,
            name=row.name,
            assignee=row.assignee,
            candidate_users=row.candidate_users,
            candidate_groups=row.candidate_groups,
            due_date=_when(row.due_at),
            follow_up_date=_when(row.follow_up_at),
            priority=row.priority,
            form_key=str(row.form) if row.form else row.form_key,
            external_form_reference="" if row.form_key.startswith(EMBEDDED) else row.form_key,
            creation_date=_when(row.created_at),
            tenant_id=row.tenant,
        )


class Message(View, frozen=True, kw_only=True):
    """A buffered message."""

    message_key: int
    name: str
    correlation_key: str
    message_id: str
    published_at: datetime | None
    expires_at: datetime | None

    @classmethod
    def of(cls, row: StoredMessage) -> Self:
        """The view of a row."""
        return cls(
            message_key=row.key,
            name=row.name,
            correlation_key=row.correlation_key,
            message_id=row.message_id,
            published_at=_when(row.published_at),
            expires_at=_when(row.expires_at),
        )


class Published(View, frozen=True, kw_only=True):
    """What became of a published message."""

    message_key: int
    process_instance_keys: list[int]  # whom it went to, or whom it starts
    buffered: bool
    duplicate: bool

    @classmethod
    def of(cls, key: int, result: PublishResult) -> Self:
        """The view of a result."""
        return cls(
            message_key=key,
            process_instance_keys=result.instances,
            buffered=result.buffered,
            duplicate=result.duplicate,
        )


class Subscription(View, frozen=True, kw_only=True):
    """An open subscription of an instance, or of a start event (process_instance_key 0)."""

    subscription_key: int
    process_instance_key: int
    process_definition_id: str
    element_id: str
    trigger: str
    name: str
    correlation_key: str

    @classmethod
    def of(cls, row: StoredSubscription) -> Self:
        """The view of a row."""
        return cls(
            subscription_key=row.key,
            process_instance_key=row.instance,
            process_definition_id=row.process_id,
            element_id=row.element,
            trigger=Trigger(row.trigger).name,
            name=row.name,
            correlation_key=row.correlation_key,
        )


class Node(View, frozen=True, kw_only=True):
    """A process that works on the database."""

    node: int
    name: str
    started_at: datetime | None
    beat_at: datetime | None
    running: int

    @classmethod
    def of(cls, row: StoredNode) -> Self:
        """The view of a row."""
        return cls(
            node=row.node,
            name=row.name,
            started_at=_when(row.started_at),
            beat_at=_when(row.beat_at),
            running=row.running,
        )


class HistoryEvent(View, frozen=True, kw_only=True):
    """Something that happened to an instance."""

    position: int
    at: datetime
    event: str  # the event's tag
    element_id: str
    details: dict[str, Any]
