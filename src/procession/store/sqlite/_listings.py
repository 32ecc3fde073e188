"""Queries: what the reader thread answers. Filters choose the statement whose index fits them best."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from procession.errors import Bug
from procession.jobs.kinds import JobState
from procession.store.rows import (
    HistoryRow,
    InstanceFilter,
    JobFilter,
    StoredIncident,
    StoredInstance,
    StoredJob,
    StoredNode,
    StoredUserTask,
    UserTaskFilter,
)
from procession.store.sqlite._session import Session, as_json

_KEY_MAX: Final = 2**63 - 1
_FINDABLE: Final = frozenset({"job", "user_task", "incident", "subscription"})
_decode_texts = msgspec.json.Decoder(list[str]).decode


def load_instances(session: Session, keys: list[int]) -> list[StoredInstance]:
    """Instances by key, whole."""
    return [
        StoredInstance(
            key=row[0],
            rev=row[1],
            definition=row[2],
            process_id=row[3],
            status=row[4],
            state=row[5],
            variables=row[6],
            business_id=row[7],
            parent=row[8],
            parent_element_instance=row[9],
            tags=_decode_texts(row[10]),
            tenant=row[11],
            started_at=row[12],
            ended_at=row[13],
        )
        for row in session.rows("load_instances", keys=as_json(keys))
    ]


def list_instances(session: Session, which: InstanceFilter) -> list[StoredInstance]:
    """A page of instances, newest first."""
    if which.business_id:
        name = "list_instances_of_business_id"
    elif which.parent:
        name = "list_instances_of_parent"
    elif which.with_incident:
        name = "list_instances_with_incident"
    elif which.process_id:
        name = "list_instances_of_process"
    else:
        name = "list_instances"
    values = msgspec.structs.asdict(which)
    values["before"] = values.pop("after") or _KEY_MAX
    values["statuses"] = as_json(which.statuses)
    return [
        StoredInstance(
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
        for row in session.rows(name, **values)
    ]


def count_instances(session: Session, process_id: str, tenant: str) -> dict[int, int]:
    """How many instances per status."""
    if tenant:
        return dict(session.rows("count_instances_of_tenant", process_id=process_id, tenant=tenant))
    name = "count_instances_of_process" if process_id else "count_instances"
    return dict(session.rows(name, **({"process_id": process_id} if process_id else {})))


def list_history(session: Session, instance: int, after: int, limit: int) -> list[HistoryRow]:
    """The steps of an instance."""
    return [
        HistoryRow(position=row[0], instance=row[1], definition=row[2], at=row[3], events=row[4])
        for row in session.rows("list_history", instance=instance, after=after, limit=limit)
    ]


def list_jobs(session: Session, which: JobFilter) -> list[StoredJob]:
    """A page of jobs, oldest first."""
    if which.instance:
        name = "list_jobs_of_instance"
    elif which.state == JobState.FAILED:
        name = "list_failed_jobs"
    else:
        name = "list_jobs"
    return [_read_job(row) for row in session.rows(name, **msgspec.structs.asdict(which))]


def count_jobs(session: Session, tenant: str) -> dict[tuple[str, int], int]:
    """How many jobs per queue and state."""
    rows = session.rows("count_jobs_of_tenant", tenant=tenant) if tenant else session.rows("count_jobs")
    return {(queue, state): count for queue, state, count in rows}


def list_incidents(session: Session, which: dict[str, object]) -> list[StoredIncident]:
    """A page of incidents, oldest first."""
    rows = session.rows("list_incidents", **which)
    return [
        StoredIncident(
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
        for row in rows
    ]


def list_user_tasks(session: Session, which: UserTaskFilter) -> list[StoredUserTask]:
    """A page of user tasks, oldest first."""
    return [
        StoredUserTask(
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
        for row in session.rows("list_user_tasks", **msgspec.structs.asdict(which))
    ]


def list_nodes(session: Session) -> list[StoredNode]:
    """The processes that work on this file."""
    return [
        StoredNode(node=row[0], name=row[1], started_at=row[2], beat_at=row[3], running=row[4], details=row[5])
        for row in session.rows("list_nodes")
    ]


def find_instance(session: Session, kind: str, key: int) -> int:
    """The instance that a key belongs to, or 0."""
    if kind not in _FINDABLE:
        raise Bug(f"Expected one of {', '.join(sorted(_FINDABLE))} to find an instance by, got {kind!r}")
    return session.value(f"find_instance_of_{kind}", key=key) or 0


def _read_job(row: Any) -> StoredJob:  # noqa: ANN401 - a row of a query
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
        error=row[15],
        created_at=row[16],
        args=row[17],
        crashes=row[18],
        tenant=row[19],
    )
