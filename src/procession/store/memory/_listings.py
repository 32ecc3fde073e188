"""Pages of rows as people see them: copies, so that nothing outside changes a table."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TypeVar

import msgspec

from procession.jobs.kinds import JobState
from procession.store.memory._tables import Tables
from procession.store.rows import (
    InstanceFilter,
    JobFilter,
    Row,
    StoredDefinition,
    StoredIncident,
    StoredInstance,
    StoredJob,
    StoredMessage,
    StoredNode,
    StoredSubscription,
    StoredUserTask,
    UserTaskFilter,
)

AnyRow = TypeVar("AnyRow", bound=Row)


def page_of(rows: Iterable[AnyRow], limit: int) -> list[AnyRow]:
    """Copies of the first rows."""
    return [msgspec.structs.replace(row) for row in islice(rows, max(0, limit))]


def page_of_definitions(tables: Tables, process_id: str, tenant: str) -> list[StoredDefinition]:
    """All versions, newest first within each process id."""
    found = [
        each
        for each in tables.definitions.values()
        if not each.deleted and process_id in ("", each.process_id) and tenant in ("", each.tenant)
    ]
    found.sort(key=lambda each: (each.process_id, -each.version, each.tenant))
    return page_of(found, len(found))


def page_of_instances(tables: Tables, which: InstanceFilter) -> list[StoredInstance]:
    """Newest first, without what a listing does not show."""
    page: list[StoredInstance] = []
    for key in sorted(tables.instances, reverse=True):
        each = tables.instances[key]
        incidents = tables.incident_counts.get(key, 0)
        if (not which.after or key < which.after) and _is_listed(each, which, incidents):
            page.append(msgspec.structs.replace(each, state=b"", variables=b"", incidents=incidents))
        if len(page) >= which.limit:
            break
    return page[: max(0, which.limit)]


def _is_listed(each: StoredInstance, which: InstanceFilter, incidents: int) -> bool:
    return (
        which.process_id in ("", each.process_id)
        and which.definition in (0, each.definition)
        and which.status in (-1, each.status)
        and (not which.statuses or each.status in which.statuses)
        and which.business_id in ("", each.business_id)
        and which.parent in (0, each.parent)
        and (not which.with_incident or incidents > 0)
        and (not which.tag or which.tag in each.tags)
        and which.tenant in ("", each.tenant)
    )


def page_of_jobs(tables: Tables, which: JobFilter) -> list[StoredJob]:
    """Oldest first."""
    fitting = (
        job
        for job in tables.jobs.values()
        if job.key > which.after
        and which.instance in (0, job.instance)
        and which.state in (-1, job.state)
        and which.kind in (-1, job.kind)
        and which.queue in ("", job.queue)
        and which.type in ("", job.type)
        and which.tenant in ("", job.tenant)
    )
    return page_of(sorted(fitting, key=lambda job: job.key), which.limit)


def page_of_messages(tables: Tables, name: str, tenant: str, limit: int) -> list[StoredMessage]:
    """Messages that something can still take, oldest first."""
    now = tables.clock()
    found = [
        each
        for each in tables.messages.values()
        if not each.spent
        and each.row.expires_at > now
        and name in ("", each.row.name)
        and tenant in ("", each.row.tenant)
    ]
    found.sort(key=lambda each: each.age())
    return page_of((each.row for each in found), limit)


def page_of_subscriptions(
    tables: Tables, instance: int, name: str, tenant: str, after: int, limit: int
) -> list[StoredSubscription]:
    """What waits and is not taken, by key."""
    found = [each.row for each in tables.subscriptions.values() if not each.taken]
    found += [start for starts in tables.starts.values() for start in starts]
    found.sort(key=lambda each: each.key)
    meant = (
        each
        for each in found
        if each.key > after
        and instance in (0, each.instance)
        and name in ("", each.name)
        and tenant in ("", each.tenant)
    )
    return page_of(meant, limit)


def page_of_incidents(
    tables: Tables, instance: int, process_id: str, tenant: str, after: int, limit: int
) -> list[StoredIncident]:
    """Oldest first."""
    found = (
        each
        for each in sorted(tables.incidents.values(), key=lambda each: each.key)
        if each.key > after
        and instance in (0, each.instance)
        and process_id in ("", each.process_id)
        and tenant in ("", each.tenant)
    )
    return page_of(found, limit)


def page_of_user_tasks(tables: Tables, which: UserTaskFilter) -> list[StoredUserTask]:
    """Oldest first."""
    found = (
        each
        for each in sorted(tables.user_tasks.values(), key=lambda each: each.key)
        if each.key > which.after and _is_asked_for(each, which)
    )
    return page_of(found, which.limit)


def _is_asked_for(each: StoredUserTask, which: UserTaskFilter) -> bool:
    return (
        which.key in (0, each.key)
        and which.instance in (0, each.instance)
        and which.process_id in ("", each.process_id)
        and which.element in ("", each.element)
        and which.assignee in ("", each.assignee)
        and not (which.unassigned and each.assignee)
        and (not which.candidate_user or which.candidate_user in each.candidate_users)
        and (not which.candidate_group or which.candidate_group in each.candidate_groups)
        and (not which.due_before or 0 < each.due_at < which.due_before)
        and (not which.follow_up_before or 0 < each.follow_up_at < which.follow_up_before)
        and each.priority >= which.priority
        and which.tenant in ("", each.tenant)
    )


def page_of_nodes(tables: Tables) -> list[StoredNode]:
    """Every process with the number of jobs that it runs."""
    running = dict.fromkeys(tables.nodes, 0)
    for job in tables.jobs.values():
        if job.state == JobState.RUNNING and job.owner in running:
            running[job.owner] += 1
    return [msgspec.structs.replace(each, running=running[each.node]) for each in tables.nodes.values()]


def instance_of(tables: Tables, kind: str, key: int) -> int:
    """The instance that a key of this kind belongs to, or 0."""
    if kind == "job":
        found = tables.jobs.get(key)
    elif kind == "user_task":
        found = tables.user_tasks.get(key)
    elif kind == "incident":
        found = tables.incidents.get(key)
    else:
        waiting = tables.subscriptions.get(key)
        found = waiting.row if waiting else None
    return found.instance if found else 0
