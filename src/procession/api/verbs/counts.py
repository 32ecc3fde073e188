"""Counts over all processes: instances by version and by process, open incidents by version and by error.

They are counted when somebody asks, from the rows that are there, up to SEARCH_MATCHES_MAX of each kind.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from procession.api.endpoints import Call, Endpoint
from procession.api.problems import Problem
from procession.api.roles import Role, tenant_id_of, tenant_of
from procession.api.search import Flag, Found, Record, Request, Search, Text, by_position
from procession.api.words import key_of, text_or_none
from procession.core.state import Status
from procession.limits import PAGE_MAX, SEARCH_MATCHES_MAX
from procession.model.definition import Trigger
from procession.store.rows import StoredDefinition, StoredIncident, StoredSubscription
from procession.store.rows.watching import InstanceSearch

Version = tuple[str, str]  # tenant and process id


class IncidentsOfDefinition(Record):
    """Instances of a version that have an open incident with this error."""

    process_definition_id: str
    process_definition_key: str
    process_definition_name: str
    process_definition_version: int
    tenant_id: str
    active_instances_with_error_count: int


class ErrorFilter(Request):
    """Which error, by the number that the counts by error give it."""

    error_hash_code: int | UnsetType = UNSET


class IncidentsOfError(Record):
    """Instances that have an open incident with this error."""

    error_hash_code: int
    error_message: str
    active_instances_with_error_count: int


class NoFilter(Request):
    """All of them."""


class InstancesOfProcess(Record):
    """Active instances of all versions of a process."""

    process_definition_id: str
    tenant_id: str
    latest_process_definition_name: str | None
    has_multiple_versions: bool
    active_instances_without_incident_count: int
    active_instances_with_incident_count: int


class VersionFilter(Request):
    """Whose versions."""

    process_definition_id: str
    tenant_id: str | UnsetType = UNSET


class InstancesOfVersion(Record):
    """Active instances of a version."""

    process_definition_id: str
    process_definition_key: str
    process_definition_name: str | None
    tenant_id: str
    process_definition_version: int
    active_instances_with_incident_count: int
    active_instances_without_incident_count: int


class SubscribedFilter(Request):
    """Which subscriptions."""

    process_definition_key: Text = UNSET
    process_definition_id: Text = UNSET
    tenant_id: Text = UNSET
    has_active_subscriptions: Flag = UNSET


class SubscriptionsOfDefinition(Record):
    """Instances of a version that wait for messages."""

    process_definition_id: str
    tenant_id: str
    process_definition_key: str
    process_instances_with_active_subscriptions: int
    active_subscriptions: int


class NameFilter(Request):
    """Which names."""

    name: Text = UNSET


class VariableName(Record):
    """A variable that instances of a version have."""

    name: str


# -- incidents --------------------------------------------------------------------------------------------------------
async def _incidents(call: Call) -> list[StoredIncident]:
    """Open incidents that somebody sees."""
    found: list[StoredIncident] = []
    after = 0
    for _ in range(SEARCH_MATCHES_MAX // PAGE_MAX):
        page = await call.desk.rows.list_incidents(after=after, limit=PAGE_MAX)
        found += [row for row in page if call.who.sees(row.tenant)]
        if len(page) < PAGE_MAX:
            break
        after = page[-1].key
    return found


def hash_of(message: str) -> int:
    """The number of an error: the same for the same words, on every server."""
    return zlib.crc32(message.encode()) & 0x7FFFFFFF


async def incidents_by_definition(call: Call) -> Found[IncidentsOfDefinition]:
    """Versions with open incidents of one error, the most first unless sorted."""
    query: Search[ErrorFilter] = call.body
    wanted = query.filter.error_hash_code if query.filter is not None else UNSET
    instances: dict[int, set[int]] = defaultdict(set)
    for row in await _incidents(call):
        if wanted is UNSET or hash_of(row.message) == wanted:
            instances[row.definition].add(row.instance)
    items: list[IncidentsOfDefinition] = []
    for key, row in (await call.desk.definitions(instances)).items():
        items.append(
            IncidentsOfDefinition(
                process_definition_id=row.process_id,
                process_definition_key=str(key),
                process_definition_name=row.name or row.process_id,
                process_definition_version=row.version,
                tenant_id=tenant_id_of(row.tenant),
                active_instances_with_error_count=len(instances[key]),
            )
        )
    items.sort(key=lambda item: -item.active_instances_with_error_count)
    return by_position(Search(sort=query.sort, page=query.page), items, IncidentsOfDefinition)


async def incidents_by_error(call: Call) -> Found[IncidentsOfError]:
    """Errors of open incidents, the most frequent first unless sorted."""
    query: Search[NoFilter] = call.body
    instances: dict[str, set[int]] = defaultdict(set)
    for row in await _incidents(call):
        instances[row.message].add(row.instance)
    items = [
        IncidentsOfError(
            error_hash_code=hash_of(message), error_message=message, active_instances_with_error_count=len(keys)
        )
        for message, keys in instances.items()
    ]
    items.sort(key=lambda item: (-item.active_instances_with_error_count, item.error_hash_code))
    return by_position(query, items, IncidentsOfError)


# -- instances --------------------------------------------------------------------------------------------------------
async def _active(call: Call, row: StoredDefinition) -> tuple[int, int]:
    """Active instances of a version without an incident, and with one."""
    which = InstanceSearch(process_id=row.process_id, definition=row.key, statuses=[Status.ACTIVE])
    which.tenants = [row.tenant]
    total = await call.desk.rows.count_found(which, SEARCH_MATCHES_MAX)
    which.with_incident = True
    troubled = await call.desk.rows.count_found(which, SEARCH_MATCHES_MAX) if total else 0
    return total - troubled, troubled


async def _versions(call: Call, process_id: str = "") -> dict[Version, list[StoredDefinition]]:
    """The versions of each process that somebody sees, the newest first."""
    found: dict[Version, list[StoredDefinition]] = defaultdict(list)
    for row in await call.desk.rows.list_definitions(process_id=process_id):
        if call.who.sees(row.tenant):
            found[row.tenant, row.process_id].append(row)
    return found


async def instances_by_process(call: Call) -> Found[InstancesOfProcess]:
    """Active instances of each process, by name unless sorted."""
    items: list[InstancesOfProcess] = []
    for (tenant, process_id), rows in sorted((await _versions(call)).items()):
        counts = [await _active(call, row) for row in rows]
        items.append(
            InstancesOfProcess(
                process_definition_id=process_id,
                tenant_id=tenant_id_of(tenant),
                latest_process_definition_name=text_or_none(rows[0].name),
                has_multiple_versions=len(rows) > 1,
                active_instances_without_incident_count=sum(well for well, _ in counts),
                active_instances_with_incident_count=sum(troubled for _, troubled in counts),
            )
        )
    return by_position(call.body, items, InstancesOfProcess)


async def instances_by_version(call: Call) -> Found[InstancesOfVersion]:
    """Active instances of each version of one process, the newest first unless sorted. Raises Problem without one."""
    query: Search[VersionFilter] = call.body
    chosen = query.filter
    if chosen is None:
        raise Problem(400, "Expected processDefinitionId in the filter: versions are counted for one process")
    tenant = tenant_of(chosen.tenant_id) if isinstance(chosen.tenant_id, str) else None
    items: list[InstancesOfVersion] = []
    for (owner, _), rows in (await _versions(call, chosen.process_definition_id)).items():
        for row in rows if tenant in (None, owner) else []:
            well, troubled = await _active(call, row)
            items.append(
                InstancesOfVersion(
                    process_definition_id=row.process_id,
                    process_definition_key=str(row.key),
                    process_definition_name=text_or_none(row.name),
                    tenant_id=tenant_id_of(row.tenant),
                    process_definition_version=row.version,
                    active_instances_with_incident_count=troubled,
                    active_instances_without_incident_count=well,
                )
            )
    return by_position(Search(sort=query.sort, page=query.page), items, InstancesOfVersion)


async def subscriptions_by_definition(call: Call) -> Found[SubscriptionsOfDefinition]:
    """Instances of each version that wait for messages."""
    query: Search[SubscribedFilter] = call.body
    waiting: dict[int, list[StoredSubscription]] = defaultdict(list)
    after = 0
    for _ in range(SEARCH_MATCHES_MAX // PAGE_MAX):
        page = await call.desk.rows.list_subscriptions(after=after, limit=PAGE_MAX)
        for row in page:
            if row.trigger == Trigger.MESSAGE and row.instance and call.who.sees(row.tenant):
                waiting[row.definition].append(row)
        if len(page) < PAGE_MAX:
            break
        after = page[-1].key
    items = [
        SubscriptionsOfDefinition(
            process_definition_id=rows[0].process_id,
            tenant_id=tenant_id_of(rows[0].tenant),
            process_definition_key=str(key),
            process_instances_with_active_subscriptions=len({row.instance for row in rows}),
            active_subscriptions=len(rows),
        )
        for key, rows in sorted(waiting.items())
    ]
    if query.filter is not None:
        items = [] if query.filter.has_active_subscriptions is False else items
        query.filter.has_active_subscriptions = UNSET
    return by_position(query, items, SubscriptionsOfDefinition)


async def variable_names(call: Call) -> Found[VariableName]:
    """Names of variables that the newest instances of a version have, by name."""
    key = key_of(call.path["processDefinitionKey"], "processDefinitionKey")
    row = await call.desk.definition(call.who, key)
    which = InstanceSearch(process_id=row.process_id, definition=key, tenants=[row.tenant], limit=PAGE_MAX)
    names: set[str] = set()
    keys = [instance.key for instance in (await call.desk.rows.find_instances(which)).instances]
    for instance in await call.desk.rows.load(keys):
        names.update(msgspec.json.decode(instance.variables or b"{}", type=dict[str, msgspec.Raw]))
    return by_position(call.body, [VariableName(name=name) for name in sorted(names)], VariableName)


def _count(path: str, operation: str, verb: Any, summary: str, chosen: Any, answer: Any, group: str) -> Endpoint:  # noqa: ANN401
    """An endpoint that counts."""
    return Endpoint(
        method="POST",
        path=path,
        operation_id=operation,
        verb=verb,
        role=Role.READER,
        summary=summary,
        group=group,
        body=Search[chosen],
        optional=True,
        answer=Found[answer],
    )


INCIDENTS, DEFINITIONS = "/incidents/statistics", "/process-definitions/statistics"

ENDPOINTS = (
    _count(
        f"{INCIDENTS}/process-instances-by-definition",
        "getProcessInstanceStatisticsByDefinition",
        incidents_by_definition,
        "Instances with open incidents, by version",
        ErrorFilter,
        IncidentsOfDefinition,
        "Incident",
    ),
    _count(
        f"{INCIDENTS}/process-instances-by-error",
        "getProcessInstanceStatisticsByError",
        incidents_by_error,
        "Instances with open incidents, by error",
        NoFilter,
        IncidentsOfError,
        "Incident",
    ),
    _count(
        f"{DEFINITIONS}/process-instances",
        "getProcessDefinitionInstanceStatistics",
        instances_by_process,
        "Active instances, by process",
        NoFilter,
        InstancesOfProcess,
        "Process definition",
    ),
    _count(
        f"{DEFINITIONS}/process-instances-by-version",
        "getProcessDefinitionInstanceVersionStatistics",
        instances_by_version,
        "Active instances of one process, by version",
        VersionFilter,
        InstancesOfVersion,
        "Process definition",
    ),
    _count(
        f"{DEFINITIONS}/message-subscriptions",
        "getProcessDefinitionMessageSubscriptionStatistics",
        subscriptions_by_definition,
        "Instances that wait for messages, by version",
        SubscribedFilter,
        SubscriptionsOfDefinition,
        "Process definition",
    ),
    _count(
        "/process-definitions/{processDefinitionKey}/variable-names/search",
        "searchProcessDefinitionVariableNames",
        variable_names,
        "Names of variables that the newest instances of a version have",
        NameFilter,
        VariableName,
        "Process definition",
    ),
)
