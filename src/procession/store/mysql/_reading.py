"""Rows of the driver turned into rows of the port. It executes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from procession.store.rows import (
    HistoryRow,
    StoredDecision,
    StoredDefinition,
    StoredForm,
    StoredIncident,
    StoredInstance,
    StoredJob,
    StoredMessage,
    StoredNode,
    StoredUserTask,
)

Columns = Sequence[Any]

_decode_texts: Final = msgspec.json.Decoder(list[str]).decode
_decode_keys: Final = msgspec.json.Decoder(list[int]).decode


def loaded_instance(row: Columns) -> StoredInstance:
    """A row of load_instances.sql."""
    return StoredInstance(
        key=row[0],
        rev=row[1],
        definition=row[2],
        process_id=row[3],
        status=row[4],
        state=row[5],
        variables=row[6].encode(),
        business_id=row[7],
        parent=row[8],
        parent_element_instance=row[9],
        tags=_decode_texts(row[10]),
        tenant=row[11],
        started_at=row[12],
        ended_at=row[13],
    )


def listed_instance(row: Columns) -> StoredInstance:
    """A row of list_instances.sql."""
    return StoredInstance(
        key=row[0],
        rev=row[1],
        definition=row[2],
        process_id=row[3],
        status=row[4],
        state=b"",
        variables=b"",
        business_id=row[5],
        parent=row[6],
        parent_element_instance=row[7],
        tags=_decode_texts(row[8]),
        tenant=row[9],
        started_at=row[10],
        ended_at=row[11],
        incidents=row[12],
    )


def history_row(row: Columns) -> HistoryRow:
    """A row of list_history.sql."""
    return HistoryRow(position=row[0], instance=row[1], definition=row[2], at=row[3], events=row[4].encode())


def stored_job(row: Columns) -> StoredJob:
    """A row of list_jobs.sql."""
    return StoredJob(
        key=row[0],
        kind=row[1],
        state=row[2],
        queue=row[3],
        type=row[4],
        instance=row[5],
        element_instance=row[6],
        element=row[7],
        definition=row[8],
        priority=row[9],
        run_at=row[10],
        attempt=row[11],
        retries=row[12],
        lease=row[13],
        owner=row[14],
        error=row[15] or "",
        created_at=row[16],
        args=row[17].encode(),
        crashes=row[18],
        tenant=row[19],
    )


def stored_message(row: Columns) -> StoredMessage:
    """A row of list_messages.sql."""
    return StoredMessage(
        key=row[0],
        name=row[1],
        correlation_key=row[2],
        variables=row[3].encode(),
        message_id=row[4],
        published_at=row[5],
        expires_at=row[6],
        tenant=row[7],
    )


def stored_incident(row: Columns) -> StoredIncident:
    """A row of list_incidents.sql."""
    return StoredIncident(
        key=row[0],
        instance=row[1],
        element_instance=row[2],
        element=row[3],
        definition=row[4],
        process_id=row[5],
        kind=row[6],
        message=row[7],
        job=row[8],
        created_at=row[9],
        fingerprint=row[10],
        tenant=row[11],
    )


def stored_user_task(row: Columns) -> StoredUserTask:
    """A row of list_user_tasks.sql."""
    return StoredUserTask(
        key=row[0],
        instance=row[1],
        element_instance=row[2],
        element=row[3],
        name=row[4],
        definition=row[5],
        process_id=row[6],
        assignee=row[7],
        candidate_users=_decode_texts(row[8]),
        candidate_groups=_decode_texts(row[9]),
        due_at=row[10],
        follow_up_at=row[11],
        priority=row[12],
        form_key=row[13],
        created_at=row[14],
        tenant=row[15],
        form=row[16],
    )


def stored_definition(row: Columns) -> StoredDefinition:
    """A row of the queries for definitions."""
    return StoredDefinition(
        key=row[0],
        process_id=row[1],
        version=row[2],
        name=row[3],
        version_tag=row[4],
        resource=row[5],
        resource_name=row[6],
        checksum=row[7],
        deployment=row[8],
        deployed_at=row[9],
        elements=_decode_texts(row[10]),
        methods=_decode_texts(row[11]),
        tenant=row[12],
        deleted=len(row) > 13 and bool(row[13]),
    )


def stored_decision(row: Columns) -> StoredDecision:
    """A row of the queries for decisions."""
    return StoredDecision(
        key=row[0],
        decision_id=row[1],
        version=row[2],
        name=row[3],
        version_tag=row[4],
        requirements_id=row[5],
        resource=row[6],
        resource_name=row[7],
        imports=_decode_keys(row[8]),
        checksum=row[9],
        deployment=row[10],
        deployed_at=row[11],
        tenant=row[12],
    )


def stored_form(row: Columns) -> StoredForm:
    """A row of the queries for forms."""
    return StoredForm(
        key=row[0],
        form_id=row[1],
        version=row[2],
        version_tag=row[3],
        resource=row[4],
        resource_name=row[5],
        checksum=row[6],
        deployment=row[7],
        deployed_at=row[8],
        tenant=row[9],
    )


def stored_node(row: Columns) -> StoredNode:
    """A row of list_nodes.sql."""
    return StoredNode(
        node=row[0], name=row[1], started_at=row[2], beat_at=row[3], running=row[4], details=row[5].encode()
    )
