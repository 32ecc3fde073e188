"""Process instances as clients see them: search, one, where its tokens went, who called whom."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from procession.api.desk import CALLERS_MAX
from procession.api.endpoints import Call, Endpoint
from procession.api.roles import Role, tenant_id_of
from procession.api.search import (
    Date,
    Flag,
    Found,
    Number,
    Record,
    Request,
    Rows,
    Search,
    Source,
    Specials,
    Text,
    holds,
    search,
)
from procession.api.verbs.statistics import Statistics, count_elements, statistics_of
from procession.api.words import INSTANCE_STATES, instance_state, key_of, key_or_none, text_or_none, when
from procession.core.state import Status
from procession.store.rows import InstanceFilter as RowFilter
from procession.store.rows import StoredInstance

GROUP = "Process instance"


class ProcessInstance(Record):
    """An instance, running or ended."""

    process_instance_key: str
    process_definition_id: str
    process_definition_key: str
    process_definition_name: str | None
    process_definition_version: int
    process_definition_version_tag: str | None
    start_date: datetime | None
    end_date: datetime | None
    suspended_date: datetime | None
    state: str
    has_incident: bool
    tenant_id: str
    parent_process_instance_key: str | None
    parent_element_instance_key: str | None
    root_process_instance_key: str | None
    tags: list[str]
    business_id: str | None


class VariableCondition(Request):
    """A variable and its value, as JSON."""

    name: str
    value: Text


class InstanceConditions(Request):
    """Which instances, without alternatives."""

    WORDS = {"state": INSTANCE_STATES}

    process_definition_id: Text = UNSET
    process_definition_name: Text = UNSET
    process_definition_version: Number = UNSET
    process_definition_version_tag: Text = UNSET
    process_definition_key: Text = UNSET
    start_date: Date = UNSET
    end_date: Date = UNSET
    suspended_date: Date = UNSET
    state: Text = UNSET
    has_incident: Flag = UNSET
    tenant_id: Text = UNSET
    variables: list[VariableCondition] | UnsetType = UNSET
    process_instance_key: Text = UNSET
    parent_process_instance_key: Text = UNSET
    parent_element_instance_key: Text = UNSET
    tags: list[str] | UnsetType = UNSET
    business_id: Text = UNSET


class InstanceFilter(InstanceConditions, rename={"or_": "$or"}):
    """Which instances."""

    or_: list[InstanceConditions] | UnsetType = UNSET


class Flow(Record):
    """A sequence flow that was taken."""

    sequence_flow_id: str
    process_instance_key: str
    root_process_instance_key: str | None
    process_definition_key: str | None
    process_definition_id: str | None
    element_id: str
    tenant_id: str


class Flows(Record):
    """Every flow that an instance has taken."""

    items: list[Flow]


class Caller(Record):
    """An instance in a chain of calls."""

    process_instance_key: str
    process_definition_key: str
    process_definition_name: str


async def records_of(call: Call, rows: list[StoredInstance]) -> list[ProcessInstance]:
    """As clients see them."""
    desk = call.desk
    definitions = await desk.definitions(row.definition for row in rows)
    roots = await desk.roots(rows)
    records: list[ProcessInstance] = []
    for row in rows:
        definition = definitions.get(row.definition)
        records.append(
            ProcessInstance(
                process_instance_key=str(row.key),
                process_definition_id=row.process_id,
                process_definition_key=str(row.definition),
                process_definition_name=text_or_none(definition.name) if definition else None,
                process_definition_version=definition.version if definition else 0,
                process_definition_version_tag=text_or_none(definition.version_tag) if definition else None,
                start_date=when(row.started_at),
                end_date=when(row.ended_at),
                suspended_date=None,
                state=instance_state(row.status),
                has_incident=row.incidents > 0,
                tenant_id=tenant_id_of(row.tenant),
                parent_process_instance_key=key_or_none(row.parent),
                parent_element_instance_key=key_or_none(row.parent_element_instance),
                root_process_instance_key=str(roots.get(row.key, row.key)),
                tags=row.tags,
                business_id=text_or_none(row.business_id),
            )
        )
    return records


def instances_source(call: Call, chosen: InstanceFilter | None) -> Source:
    """Instances, the newest first; what the store can look for itself it does."""
    which = _pushed_down(chosen)
    exact = chosen.process_instance_key if chosen is not None else UNSET
    variables: dict[str, dict[str, Any]] = {}
    reads_variables = chosen is not None and (chosen.variables is not UNSET or chosen.or_ is not UNSET)

    async def fetch(after: int, limit: int) -> Rows:
        if isinstance(exact, str):
            rows = await call.desk.rows.load([key_of(exact, "processInstanceKey")]) if not after else []
            rows = await _with_incidents(call, rows)
        else:
            rows = await call.desk.rows.list_instances(msgspec.structs.replace(which, after=after, limit=limit))
        seen = [row for row in rows if call.who.sees(row.tenant)]
        if reads_variables and seen:
            variables.clear()
            for row in await call.desk.rows.load([row.key for row in seen]):
                variables[str(row.key)] = msgspec.json.decode(row.variables or b"{}")
        return Rows(await records_of(call, seen), rows[-1].key if len(rows) == limit else 0)

    specials: Specials = {
        "variables": lambda wanted, record: _has_all(wanted, variables.get(record.process_instance_key, {})),
        "tags": lambda wanted, record: set(wanted) <= set(record.tags),
    }
    return Source(fetch, "process_instance_key", specials)


async def _with_incidents(call: Call, rows: list[StoredInstance]) -> list[StoredInstance]:
    """Rows read by key do not count their incidents."""
    for row in rows:
        row.incidents = len(await call.desk.rows.list_incidents(instance=row.key, limit=1))
    return rows


def _pushed_down(chosen: InstanceFilter | None) -> RowFilter:
    """What the store looks for; the rest is looked at record by record."""
    which = RowFilter()
    if chosen is None:
        return which
    if isinstance(chosen.process_definition_id, str):
        which.process_id = chosen.process_definition_id
    if isinstance(chosen.process_definition_key, str):
        which.definition = key_of(chosen.process_definition_key, "processDefinitionKey")
    if isinstance(chosen.business_id, str):
        which.business_id = chosen.business_id
    if isinstance(chosen.parent_process_instance_key, str):
        which.parent = key_of(chosen.parent_process_instance_key, "parentProcessInstanceKey")
    if isinstance(chosen.state, str) and chosen.state in Status.__members__:
        which.status = Status[chosen.state]
    if chosen.has_incident is True:
        which.with_incident = True
    return which


def _has_all(wanted: list[VariableCondition], variables: dict[str, Any]) -> bool:
    """Whether each of these variables is there with such a value, compared as JSON."""
    return all(
        condition.name in variables and holds(condition.value, msgspec.json.encode(variables[condition.name]).decode())
        for condition in wanted
    )


async def search_instances(call: Call) -> Found[ProcessInstance]:
    """Instances, the newest first unless sorted."""
    query: Search[InstanceFilter] = call.body
    return await search(query, instances_source(call, query.filter), ProcessInstance)


async def get_instance(call: Call) -> ProcessInstance:
    """One instance."""
    row = await call.desk.instance(call.who, call.path["processInstanceKey"])
    (record,) = await records_of(call, await _with_incidents(call, [row]))
    return record


async def sequence_flows(call: Call) -> Flows:
    """The flows that an instance has taken, each once."""
    row = await call.desk.instance(call.who, call.path["processInstanceKey"])
    past = await call.desk.app.past(row)
    root = await call.desk.root_of(row.key)
    return Flows(
        items=[
            Flow(
                sequence_flow_id=f"{row.key}_{flow}",
                process_instance_key=str(row.key),
                root_process_instance_key=str(root),
                process_definition_key=str(row.definition),
                process_definition_id=row.process_id,
                element_id=flow,
                tenant_id=tenant_id_of(row.tenant),
            )
            for flow in past.flows
        ]
    )


async def call_hierarchy(call: Call) -> list[Caller]:
    """The instances that called this one, from the top."""
    row = await call.desk.instance(call.who, call.path["processInstanceKey"])
    chain = [row]
    while chain[0].parent and len(chain) < CALLERS_MAX:
        above = await call.desk.rows.load([chain[0].parent])
        if not above:
            break
        chain.insert(0, above[0])
    definitions = await call.desk.definitions(each.definition for each in chain)
    return [
        Caller(
            process_instance_key=str(each.key),
            process_definition_key=str(each.definition),
            process_definition_name=definitions[each.definition].name if each.definition in definitions else "",
        )
        for each in chain
    ]


async def instance_statistics(call: Call) -> Statistics:
    """What happened at each element of one instance."""
    row = await call.desk.instance(call.who, call.path["processInstanceKey"])
    counts: dict[str, Counter[str]] = {}
    await count_elements(call, row.key, counts)
    return Statistics(items=statistics_of(counts))


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/process-instances/search",
        operation_id="searchProcessInstances",
        verb=search_instances,
        role=Role.READER,
        summary="Search process instances",
        group=GROUP,
        body=Search[InstanceFilter],
        optional=True,
        answer=Found[ProcessInstance],
    ),
    Endpoint(
        method="GET",
        path="/process-instances/{processInstanceKey}",
        operation_id="getProcessInstance",
        verb=get_instance,
        role=Role.READER,
        summary="One process instance",
        group=GROUP,
        answer=ProcessInstance,
    ),
    Endpoint(
        method="GET",
        path="/process-instances/{processInstanceKey}/sequence-flows",
        operation_id="getProcessInstanceSequenceFlows",
        verb=sequence_flows,
        role=Role.READER,
        summary="The sequence flows that an instance has taken",
        group=GROUP,
        answer=Flows,
    ),
    Endpoint(
        method="GET",
        path="/process-instances/{processInstanceKey}/call-hierarchy",
        operation_id="getProcessInstanceCallHierarchy",
        verb=call_hierarchy,
        role=Role.READER,
        summary="The instances that called this one, from the top",
        group=GROUP,
        answer=list[Caller],
    ),
    Endpoint(
        method="GET",
        path="/process-instances/{processInstanceKey}/statistics/element-instances",
        operation_id="getProcessInstanceStatistics",
        verb=instance_statistics,
        role=Role.READER,
        summary="What happened at each element of an instance",
        group=GROUP,
        answer=Statistics,
    ),
)
