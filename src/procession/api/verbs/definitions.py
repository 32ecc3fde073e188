"""Process definitions: search, one, its XML, its start form, how many tokens stand where."""

from __future__ import annotations

from collections import Counter

import msgspec
from msgspec import UNSET

from procession.api.endpoints import Call, Content, Endpoint
from procession.api.roles import Role, tenant_id_of
from procession.api.search import (
    Date,
    Flag,
    Found,
    Number,
    Record,
    Request,
    Search,
    Text,
    acceptor,
    listed,
    matching,
    search,
)
from procession.api.verbs.instances import InstanceFilter, instances_source
from procession.api.verbs.statistics import Statistics, count_elements, statistics_of
from procession.api.words import INSTANCE_STATES, key_of, text_or_none
from procession.errors import NotFound
from procession.store.rows import StoredDefinition

GROUP = "Process definition"


class ProcessDefinition(Record):
    """A deployed version of a process."""

    process_definition_key: str
    process_definition_id: str
    name: str | None
    resource_name: str
    version: int
    version_tag: str | None
    tenant_id: str
    has_start_form: bool
    state: str


class DefinitionFilter(Request):
    """Which versions."""

    name: Text = UNSET
    is_latest_version: Flag = UNSET
    resource_name: str | msgspec.UnsetType = UNSET
    version: int | msgspec.UnsetType = UNSET
    version_tag: str | msgspec.UnsetType = UNSET
    process_definition_id: Text = UNSET
    tenant_id: str | msgspec.UnsetType = UNSET
    process_definition_key: str | msgspec.UnsetType = UNSET
    has_start_form: Flag = UNSET
    state: str | msgspec.UnsetType = UNSET


class StatisticsFilter(Request):
    """Which instances are counted."""

    WORDS = {"state": INSTANCE_STATES}

    start_date: Date = UNSET
    end_date: Date = UNSET
    state: Text = UNSET
    has_incident: Flag = UNSET
    tenant_id: Text = UNSET
    process_instance_key: Text = UNSET
    parent_process_instance_key: Text = UNSET
    parent_element_instance_key: Text = UNSET
    tags: list[str] | msgspec.UnsetType = UNSET
    business_id: Text = UNSET
    element_id: Text = UNSET
    process_definition_version: Number = UNSET


class StatisticsQuery(Request):
    """What is counted."""

    filter: StatisticsFilter | None = None


async def has_start_form(call: Call, row: StoredDefinition) -> bool:
    """Whether the version's start event names a form."""
    definition = await call.desk.app.compiled(row.key)
    return any(
        element.user_task is not None and definition.elements[element.index].scope == 0
        for element in (definition.elements[index] for index in definition.elements[0].starts)
    )


async def record_of(call: Call, row: StoredDefinition) -> ProcessDefinition:
    """As clients see it."""
    return ProcessDefinition(
        process_definition_key=str(row.key),
        process_definition_id=row.process_id,
        name=text_or_none(row.name),
        resource_name=row.resource_name,
        version=row.version,
        version_tag=text_or_none(row.version_tag),
        tenant_id=tenant_id_of(row.tenant),
        has_start_form=await has_start_form(call, row),
        state="ACTIVE",
    )


async def search_definitions(call: Call) -> Found[ProcessDefinition]:
    """Deployed versions."""
    query: Search[DefinitionFilter] = call.body
    wanted = query.filter.process_definition_id if query.filter is not None else UNSET
    process_id = wanted if isinstance(wanted, str) else ""
    rows = [row for row in await call.desk.rows.list_definitions(process_id=process_id) if call.who.sees(row.tenant)]
    latest: dict[tuple[str, str], int] = {}
    for row in rows:
        at = (row.tenant, row.process_id)
        latest[at] = max(latest.get(at, 0), row.version)
    newest = {str(row.key) for row in rows if latest[row.tenant, row.process_id] == row.version}
    records = [await record_of(call, row) for row in rows]
    source = listed(
        records,
        "process_definition_key",
        {"is_latest_version": lambda asked, record: (record.process_definition_key in newest) is asked},
    )
    return await search(query, source, ProcessDefinition)


async def get_definition(call: Call) -> ProcessDefinition:
    """One version."""
    key = key_of(call.path["processDefinitionKey"], "processDefinitionKey")
    return await record_of(call, await call.desk.definition(call.who, key))


async def get_definition_xml(call: Call) -> Content:
    """The file that it was deployed from."""
    row = await call.desk.definition(call.who, key_of(call.path["processDefinitionKey"], "processDefinitionKey"))
    content = await call.desk.rows.resource(row.resource)
    if content is None:
        raise NotFound(f"Expected the file of process definition {row.key}, found none")
    return Content(data=content, media_type="text/xml; charset=utf-8")


async def definition_statistics(call: Call) -> Statistics:
    """What happened at each element, over the instances of a version (SEARCH_MATCHES_MAX of them at most)."""
    row = await call.desk.definition(call.who, key_of(call.path["processDefinitionKey"], "processDefinitionKey"))
    query: StatisticsQuery = call.body or StatisticsQuery()
    wanted = msgspec.structs.asdict(query.filter) if query.filter is not None else {}
    element = wanted.pop("element_id", UNSET)
    chosen = InstanceFilter(**wanted, process_definition_key=str(row.key))
    counts: dict[str, Counter[str]] = {}
    for record in await matching(chosen, instances_source(call, chosen)):
        await count_elements(call, int(record.process_instance_key), counts)
    records = statistics_of(counts)
    if element is not UNSET:
        keeps = acceptor(_OfElement(element_id=element), {})
        records = [record for record in records if keeps(record)]
    return Statistics(items=records)


class _OfElement(Request):
    element_id: Text = UNSET


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/process-definitions/search",
        operation_id="searchProcessDefinitions",
        verb=search_definitions,
        role=Role.READER,
        summary="Search deployed versions of processes",
        group=GROUP,
        body=Search[DefinitionFilter],
        optional=True,
        answer=Found[ProcessDefinition],
    ),
    Endpoint(
        method="GET",
        path="/process-definitions/{processDefinitionKey}",
        operation_id="getProcessDefinition",
        verb=get_definition,
        role=Role.READER,
        summary="One deployed version of a process",
        group=GROUP,
        answer=ProcessDefinition,
    ),
    Endpoint(
        method="GET",
        path="/process-definitions/{processDefinitionKey}/xml",
        operation_id="getProcessDefinitionXML",
        verb=get_definition_xml,
        role=Role.READER,
        summary="The BPMN file of a version",
        group=GROUP,
        answer=Content,
        media_type="text/xml",
    ),
    Endpoint(
        method="POST",
        path="/process-definitions/{processDefinitionKey}/statistics/element-instances",
        operation_id="getProcessDefinitionStatistics",
        verb=definition_statistics,
        role=Role.READER,
        summary="What happened at each element of a version",
        group=GROUP,
        body=StatisticsQuery,
        optional=True,
        answer=Statistics,
    ),
)
