"""Incidents: search, one, resolve. Those that are resolved are gone; the history of their instance tells of them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import UNSET, UnsetType

from procession.api.endpoints import Call, Endpoint, Load
from procession.api.roles import Role, tenant_id_of
from procession.api.search import Date, Found, Record, Request, Rows, Search, Source, Text, search
from procession.api.verbs.running import resolve
from procession.api.words import INCIDENT_STATES, incident_type, key_of, key_or_none, when
from procession.errors import NotFound
from procession.store.rows import StoredIncident

GROUP = "Incident"


class Incident(Record):
    """A problem that waits for a person."""

    incident_key: str
    process_definition_id: str
    process_definition_key: str
    process_instance_key: str
    root_process_instance_key: str | None
    element_id: str
    element_instance_key: str
    error_type: str
    error_message: str
    creation_time: datetime | None
    state: str
    job_key: str | None
    tenant_id: str


class IncidentFilter(Request):
    """Which incidents."""

    WORDS = {"state": INCIDENT_STATES}

    incident_key: Text = UNSET
    process_definition_id: Text = UNSET
    process_definition_key: Text = UNSET
    process_instance_key: Text = UNSET
    element_id: Text = UNSET
    element_instance_key: Text = UNSET
    error_type: Text = UNSET
    error_message: Text = UNSET
    creation_time: Date = UNSET
    state: Text = UNSET
    job_key: Text = UNSET
    tenant_id: Text = UNSET


class ResolveIncident(Request):
    """Resolve it."""

    operation_reference: int | UnsetType = UNSET


def record_of(row: StoredIncident) -> Incident:
    """As clients see it."""
    return Incident(
        incident_key=str(row.key),
        process_definition_id=row.process_id,
        process_definition_key=str(row.definition),
        process_instance_key=str(row.instance),
        root_process_instance_key=None,
        element_id=row.element,
        element_instance_key=str(row.element_instance),
        error_type=incident_type(row.kind),
        error_message=row.message,
        creation_time=when(row.created_at),
        state="ACTIVE",
        job_key=key_or_none(row.job),
        tenant_id=tenant_id_of(row.tenant),
    )


def _source(call: Call, chosen: IncidentFilter | None, instance: int = 0) -> Source:
    wanted = chosen.process_instance_key if chosen is not None else UNSET
    process_id = chosen.process_definition_id if chosen is not None else UNSET
    if not instance and isinstance(wanted, str):
        instance = key_of(wanted, "processInstanceKey")

    async def fetch(after: int, limit: int) -> Rows:
        rows = await call.desk.rows.list_incidents(
            instance=instance, process_id=process_id if isinstance(process_id, str) else "", after=after, limit=limit
        )
        seen = [record_of(row) for row in rows if call.who.sees(row.tenant)]
        return Rows(seen, rows[-1].key if len(rows) == limit else 0)

    return Source(fetch, "incident_key")


async def search_incidents(call: Call) -> Found[Incident]:
    """Open incidents, the oldest first unless sorted."""
    query: Search[IncidentFilter] = call.body
    return await search(query, _source(call, query.filter), Incident)


async def instance_incidents(call: Call) -> Found[Incident]:
    """Open incidents of one instance."""
    row = await call.desk.instance(call.who, call.path["processInstanceKey"])
    return await search(call.body, _source(call, None, row.key), Incident)


async def element_incidents(call: Call) -> Found[Incident]:
    """Open incidents of one element instance."""
    key = call.path["elementInstanceKey"]
    key_of(key, "elementInstanceKey")
    query: Search[IncidentFilter] = call.body
    query.filter = query.filter or IncidentFilter()
    query.filter.element_instance_key = key
    return await search(query, _source(call, query.filter), Incident)


async def the_incident(call: Call) -> StoredIncident:
    """The incident that a request names. Raises NotFound."""
    key = key_of(call.path["incidentKey"], "incidentKey")
    rows = await call.desk.rows.list_incidents(after=key - 1, limit=1)
    if not rows or rows[0].key != key or not call.who.sees(rows[0].tenant):
        raise NotFound(f"Expected an open incident with key {key}, found none")
    return rows[0]


async def get_incident(call: Call) -> Incident:
    """One open incident."""
    return record_of(await the_incident(call))


async def resolve_incident(call: Call) -> None:
    """Try again what raised it; a job needs attempts left, which an update of the job gives it."""
    row = await the_incident(call)
    await resolve(call.desk.app, row.instance, row.key, row.job)


_SEARCH: dict[str, Any] = {
    "method": "POST",
    "role": Role.READER,
    "group": GROUP,
    "body": Search[IncidentFilter],
    "optional": True,
    "answer": Found[Incident],
}

ENDPOINTS = (
    Endpoint(
        path="/incidents/search",
        operation_id="searchIncidents",
        verb=search_incidents,
        summary="Search open incidents",
        **_SEARCH,
    ),
    Endpoint(
        path="/process-instances/{processInstanceKey}/incidents/search",
        operation_id="searchProcessInstanceIncidents",
        verb=instance_incidents,
        summary="Search open incidents of an instance",
        **_SEARCH,
    ),
    Endpoint(
        path="/element-instances/{elementInstanceKey}/incidents/search",
        operation_id="searchElementInstanceIncidents",
        verb=element_incidents,
        summary="Search open incidents of an element instance",
        **_SEARCH,
    ),
    Endpoint(
        method="GET",
        path="/incidents/{incidentKey}",
        operation_id="getIncident",
        verb=get_incident,
        role=Role.READER,
        summary="One open incident",
        group=GROUP,
        answer=Incident,
    ),
    Endpoint(
        method="POST",
        path="/incidents/{incidentKey}/resolution",
        operation_id="resolveIncident",
        verb=resolve_incident,
        role=Role.OPERATOR,
        summary="Try again what raised an incident",
        group=GROUP,
        body=ResolveIncident,
        optional=True,
        status=204,
        problems=(409,),
        load=Load.COMMAND,
        entity="INCIDENT",
    ),
)
