"""Rows of the driver turned into rows of the port: nulls become what "none" is there. It executes nothing."""

from __future__ import annotations

from typing import Any, Final, TypeVar

from procession.store.rows import (
    ClaimedJob,
    HistoryRow,
    StoredDecision,
    StoredDefinition,
    StoredForm,
    StoredIncident,
    StoredInstance,
    StoredJob,
    StoredMessage,
    StoredNode,
    StoredSubscription,
    StoredUserTask,
)

# ruff: noqa: ANN401 - rows of the driver have no type of their own

_Shape = TypeVar("_Shape")
_NONE_OF_A_JOB: Final[dict[str, Any]] = {
    "instance": 0,
    "element_instance": 0,
    "element": "",
    "definition": 0,
    "owner": 0,
    "error": "",
    "args": b"",
    "tenant": "",
}
_NONE_OF_AN_INSTANCE: Final[dict[str, Any]] = {
    "business_id": "",
    "parent": 0,
    "parent_element_instance": 0,
    "tenant": "",
    "ended_at": 0,
}


def claimed_job(row: Any) -> ClaimedJob:
    """A row of claim.sql."""
    key, lease, kind, queue, type_, instance, element_instance, element, definition, priority, *rest = row
    attempt, retries, args, tenant, _, options, checkpoint, crashes, *_ = rest
    return ClaimedJob(
        key=key,
        lease=lease,
        kind=kind,
        queue=queue,
        type=type_,
        instance=instance or 0,
        element_instance=element_instance or 0,
        element=element or "",
        definition=definition or 0,
        priority=priority,
        attempt=attempt,
        retries=retries,
        args=args or b"",
        tenant=tenant or "",
        options=options or b"",
        checkpoint=checkpoint or b"",
        crashes=crashes,
    )


def stored_job(row: Any) -> StoredJob:
    """A row of list_jobs.sql."""
    return _filled(StoredJob, row, **_NONE_OF_A_JOB)


def stored_instance(row: Any) -> StoredInstance:
    """A row of load.sql or list_instances.sql."""
    return _filled(StoredInstance, row, tags=[], **_NONE_OF_AN_INSTANCE)


def stored_subscription(row: Any) -> StoredSubscription:
    """A row with the columns of list_subscriptions.sql."""
    return _filled(StoredSubscription, row, instance=0, element_instance=0)


def stored_message(row: Any) -> StoredMessage:
    """A row of list_messages.sql."""
    return _filled(StoredMessage, row)


def stored_incident(row: Any) -> StoredIncident:
    """A row of list_incidents.sql."""
    return _filled(StoredIncident, row, job=0, tenant="")


def stored_user_task(row: Any) -> StoredUserTask:
    """A row of list_user_tasks.sql."""
    return _filled(StoredUserTask, row, due_at=0, follow_up_at=0, tenant="")


def stored_definition(row: Any, *, created: bool = False) -> StoredDefinition:
    """A row with the columns of definitions.sql."""
    return _filled(StoredDefinition, row, created=created)


def stored_decision(row: Any, *, created: bool = False) -> StoredDecision:
    """A row with the columns of find_decision.sql."""
    return _filled(StoredDecision, row, created=created)


def stored_form(row: Any) -> StoredForm:
    """A row with the columns of find_form.sql."""
    return _filled(StoredForm, row)


def stored_node(row: Any) -> StoredNode:
    """A row of list_nodes.sql."""
    return _filled(StoredNode, row)


def history_row(row: Any) -> HistoryRow:
    """A row of history.sql or history_since.sql."""
    return HistoryRow(position=row[0], instance=row[1], definition=row[2], at=row[3], events=row[4])


def _filled(shape: type[_Shape], row: Any, **nones: Any) -> _Shape:
    values = dict(row.items())
    for name, none in nones.items():
        if values.get(name) is None:
            values[name] = none
    return shape(**values)
