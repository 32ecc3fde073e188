"""Our words and Camunda 8's, where they differ: keys as texts, kinds, states, tenants, instants. Pure."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from procession.api.problems import Problem
from procession.core.state import Status
from procession.jobs.kinds import REMOTE, JobKind, JobState
from procession.jobs.schedule import to_datetime
from procession.model.definition import Kind
from procession.store.rows import StoredJob

KEY_MAX: Final = 2**63 - 1

ELEMENT_TYPES: Final = {
    Kind.TRANSACTION: "SUB_PROCESS",
    Kind.COMPLEX_GATEWAY: "UNKNOWN",
}
# What Camunda 8 calls states and kinds: a filter may name no other.
INSTANCE_STATES: Final = frozenset({"ACTIVE", "COMPLETED", "SUSPENDED", "TERMINATED"})
ELEMENT_STATES: Final = frozenset({"ACTIVE", "COMPLETED", "TERMINATED"})
JOB_STATES: Final = frozenset(
    [
        "CANCELED",
        "COMPLETED",
        "CREATED",
        "ERROR_THROWN",
        "FAILED",
        "MIGRATED",
        "PRIORITY_UPDATED",
        "RETRIES_UPDATED",
        "TIMED_OUT",
        "TIMEOUT_UPDATED",
    ]
)
JOB_KINDS: Final = frozenset({"AD_HOC_SUB_PROCESS", "BPMN_ELEMENT", "EXECUTION_LISTENER", "TASK_LISTENER"})
INCIDENT_STATES: Final = frozenset({"ACTIVE", "MIGRATED", "PENDING", "RESOLVED", "UNKNOWN"})
USER_TASK_STATES: Final = frozenset(
    {"ASSIGNING", "CANCELED", "CANCELING", "COMPLETED", "COMPLETING", "CREATED", "CREATING", "FAILED", "UPDATING"}
)
BATCH_STATES: Final = frozenset(
    {"ACTIVE", "CANCELED", "COMPLETED", "CREATED", "FAILED", "PARTIALLY_COMPLETED", "SUSPENDED"}
)
BATCH_ITEM_STATES: Final = frozenset({"ACTIVE", "CANCELED", "COMPLETED", "FAILED"})
ELEMENT_WAITS: Final = frozenset({"CONDITION", "JOB", "MESSAGE", "SIGNAL", "TIMER", "USER_TASK"})
DECISION_STATES: Final = frozenset({"EVALUATED", "FAILED", "UNKNOWN", "UNSPECIFIED"})
SUBSCRIPTION_STATES: Final = frozenset({"CORRELATED", "CREATED", "DELETED", "MIGRATED"})
SUBSCRIPTION_TYPES: Final = frozenset({"PROCESS_EVENT", "START_EVENT"})

INCIDENT_TYPES: Final = {
    "LISTENER_NO_RETRIES": "EXECUTION_LISTENER_NO_RETRIES",
    "AD_HOC_ERROR": "AD_HOC_SUB_PROCESS_NO_RETRIES",
    "CALL_DEPTH_EXCEEDED": "CALLED_ELEMENT_ERROR",
    "COMPENSATION_ERROR": "UNKNOWN",
}


def key_of(text: str, what: str) -> int:
    """A key as clients write it. Raises Problem."""
    if text.isascii() and text.isdigit() and 0 < len(text) < 20 and 0 < int(text) <= KEY_MAX:
        return int(text)
    raise Problem(400, f"Expected {what} to be a key (digits), found '{text[:60]}'")


def key_or_none(key: int) -> str | None:
    """A key as clients read it, None for none."""
    return str(key) if key else None


def text_or_none(text: str) -> str | None:
    """A text, None for an empty one."""
    return text or None


def when(instant: int) -> datetime | None:
    """An instant, None for none."""
    return to_datetime(instant) if instant else None


def element_type(kind: int, *, is_body: bool = False) -> str:
    """Camunda 8's type of an element."""
    if is_body:
        return "MULTI_INSTANCE_BODY"
    return ELEMENT_TYPES.get(Kind(kind), Kind(kind).name)


def incident_type(kind: str) -> str:
    """Camunda 8's type of an incident."""
    return INCIDENT_TYPES.get(kind, kind)


def instance_state(status: int) -> str:
    """ACTIVE, COMPLETED, TERMINATED or SUSPENDED."""
    return Status(status).name


def job_state(job: StoredJob) -> str:
    """Camunda 8's state of a job: what it did last."""
    if job.state == JobState.FAILED:
        return "FAILED"
    if job.state == JobState.SCHEDULED and job.owner != REMOTE and job.error:
        return "FAILED"
    return "CREATED"


def job_kind(kind: int) -> str:
    """Camunda 8's kind of a job."""
    return "EXECUTION_LISTENER" if kind == JobKind.LISTENER else "BPMN_ELEMENT"
