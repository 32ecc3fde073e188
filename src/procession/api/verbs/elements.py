"""Element instances: search, one, variables of theirs, activities of an ad-hoc sub-process.

An element instance has no row of its own: it is read from the state and the history of its instance. A search that
names no instance looks at the newest ones that its other conditions leave (ELEMENT_INSTANCES_MAX of them at most).
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from procession.api.endpoints import Call, Endpoint, Load
from procession.api.problems import Problem
from procession.api.roles import Role, tenant_id_of
from procession.api.search import Date, Flag, Found, Record, Request, Search, Specials, Text, listed, search
from procession.api.words import ELEMENT_STATES, element_type, key_of, key_or_none, when
from procession.app.looking import PastElement
from procession.core.commands import Activate, Modify
from procession.core.state import Status
from procession.errors import NotFound
from procession.limits import PAGE_MAX, SCOPE_SCAN_MAX
from procession.store.rows import InstanceFilter, StoredInstance

GROUP = "Element instance"
ELEMENT_INSTANCES_MAX = 1_000  # instances whose history one search reads

Variables = dict[str, Any]


class ElementInstance(Record):
    """An element instance, active or over."""

    element_instance_key: str
    process_instance_key: str
    root_process_instance_key: str | None
    process_definition_key: str | None
    process_definition_id: str | None
    element_id: str
    element_name: str
    type: str
    state: str
    start_date: datetime | None
    end_date: datetime | None
    has_incident: bool
    incident_key: str | None
    tenant_id: str


class ElementConditions(Request):
    """Which element instances, without alternatives."""

    WORDS = {"state": ELEMENT_STATES}

    process_definition_id: str | UnsetType = UNSET
    state: Text = UNSET
    type: str | UnsetType = UNSET
    element_id: Text = UNSET
    element_name: Text = UNSET
    has_incident: Flag = UNSET
    tenant_id: str | UnsetType = UNSET
    element_instance_key: str | UnsetType = UNSET
    process_instance_key: str | UnsetType = UNSET
    process_definition_key: str | UnsetType = UNSET
    incident_key: str | UnsetType = UNSET
    start_date: Date = UNSET
    end_date: Date = UNSET


class ElementFilter(ElementConditions, rename={"or_": "$or"}):
    """Which element instances; ``elementInstanceScopeKey`` is the scope directly around."""

    element_instance_scope_key: str | UnsetType = UNSET
    or_: list[ElementConditions] | UnsetType = UNSET


class SetVariables(Request):
    """Variables to write; ``local``: to this scope and no other."""

    variables: Variables
    local: bool = False
    operation_reference: int | UnsetType = UNSET


class ActivityReference(Request):
    """An activity to start."""

    element_id: str
    variables: Variables | None = None


class ActivateActivities(Request):
    """Activities of an ad-hoc sub-process to start."""

    elements: Annotated[list[ActivityReference], Meta(min_length=1)]
    cancel_remaining_instances: bool = False


def record_of(past: PastElement, row: StoredInstance, root: int) -> ElementInstance:
    """As clients see it."""
    return ElementInstance(
        element_instance_key=str(past.key),
        process_instance_key=str(row.key),
        root_process_instance_key=str(root),
        process_definition_key=str(row.definition),
        process_definition_id=row.process_id,
        element_id=past.element_id,
        element_name=past.element_name or past.element_id,
        type=element_type(past.kind, is_body=past.is_body),
        state=past.state,
        start_date=when(past.started_at),
        end_date=when(past.ended_at),
        has_incident=past.incident > 0,
        incident_key=key_or_none(past.incident),
        tenant_id=tenant_id_of(row.tenant),
    )


async def search_elements(call: Call) -> Found[ElementInstance]:
    """Element instances, in the order in which they began unless sorted."""
    query: Search[ElementFilter] = call.body
    chosen = query.filter or ElementFilter()
    rows = await _instances(call, chosen)
    roots = await call.desk.roots(rows)
    scopes: dict[str, str] = {}
    records: list[ElementInstance] = []
    for row in rows:
        for past in (await call.desk.app.past(row)).elements.values():
            records.append(record_of(past, row, roots[row.key]))
            scopes[str(past.key)] = str(past.scope)
    by_scope: Specials = {
        "element_instance_scope_key": lambda wanted, record: scopes[record.element_instance_key] == wanted,
    }
    return await search(query, listed(records, "element_instance_key", by_scope), ElementInstance)


async def _instances(call: Call, chosen: ElementFilter) -> list[StoredInstance]:
    """The instances whose elements may be meant."""
    if isinstance(chosen.process_instance_key, str):
        rows = await call.desk.rows.load([key_of(chosen.process_instance_key, "processInstanceKey")])
    elif isinstance(chosen.element_instance_key, str):
        rows = [await owner_of(call, key_of(chosen.element_instance_key, "elementInstanceKey"))]
    else:
        which = InstanceFilter(limit=ELEMENT_INSTANCES_MAX)
        if isinstance(chosen.process_definition_id, str):
            which.process_id = chosen.process_definition_id
        if isinstance(chosen.process_definition_key, str):
            which.definition = key_of(chosen.process_definition_key, "processDefinitionKey")
        if chosen.has_incident is True:
            which.with_incident = True
        if chosen.state == "ACTIVE":
            which.status = Status.ACTIVE
        keys = [row.key for row in await call.desk.rows.list_instances(which)]
        rows = await call.desk.rows.load(keys)
    return [row for row in rows if call.who.sees(row.tenant)]


async def owner_of(call: Call, key: int) -> StoredInstance:
    """The instance that a scope belongs to: itself, or one of which it is an active element instance. Raises NotFound.

    Which instance an element instance is of stands in no index: what was seen lately is remembered, for the rest the
    newest SCOPE_SCAN_MAX active instances are looked through.
    """
    rows = await call.desk.rows.load([key, call.desk.owner(key)])
    for row in rows:
        if call.who.sees(row.tenant) and (row.key == key or await _holds(call, row, key)):
            return row
    which = InstanceFilter(status=Status.ACTIVE, limit=PAGE_MAX)
    for _ in range(SCOPE_SCAN_MAX // PAGE_MAX):
        page = await call.desk.rows.list_instances(which)
        for row in await call.desk.rows.load([each.key for each in page if each.key < key]):
            if call.who.sees(row.tenant) and await _holds(call, row, key):
                call.desk.remember_owner(key, row.key)
                return row
        if len(page) < PAGE_MAX:
            break
        which.after = page[-1].key
    raise NotFound(f"Expected an active element instance with key {key}, found none")


async def _holds(call: Call, row: StoredInstance, key: int) -> bool:
    state = await call.desk.app.state_of(row)
    return state is not None and key in state.nodes


async def get_element(call: Call) -> ElementInstance:
    """One element instance of an instance that runs."""
    key = key_of(call.path["elementInstanceKey"], "elementInstanceKey")
    row = await owner_of(call, key)
    past = (await call.desk.app.past(row)).elements.get(key)
    if past is None:
        raise NotFound(f"Expected an element instance with key {key}, found none")
    return record_of(past, row, await call.desk.root_of(row.key))


async def set_variables(call: Call) -> None:
    """Write variables of an instance, or of one of its scopes."""
    body: SetVariables = call.body
    key = key_of(call.path["elementInstanceKey"], "elementInstanceKey")
    row = await owner_of(call, key)
    if row.status not in (Status.ACTIVE, Status.SUSPENDED):
        raise NotFound(f"Expected an active element instance with key {key}, found that its instance is over")
    scope = 0 if row.key == key else key
    call.about.update(process_instance_key=row.key, names=sorted(body.variables))
    await call.desk.app.set_variables(row.key, body.variables, element_instance_key=scope, local=body.local)


async def activate_activities(call: Call) -> None:
    """Start activities of an ad-hoc sub-process that is active."""
    body: ActivateActivities = call.body
    key = key_of(call.path["adHocSubProcessInstanceKey"], "adHocSubProcessInstanceKey")
    if body.cancel_remaining_instances:
        raise Problem(400, "cancelRemainingInstances is not served here: terminate them by a modification")
    row = await owner_of(call, key)
    state = await call.desk.app.state_of(row)
    definition = await call.desk.app.compiled(row.definition)
    node = state.nodes.get(key) if state is not None else None
    if node is None or definition.elements[node.element].ad_hoc is None:
        raise NotFound(f"Expected an active ad-hoc sub-process with key {key}, found none")
    within = {definition.elements[index].id for index in definition.elements[node.element].children}
    if unknown := [each.element_id for each in body.elements if each.element_id not in within]:
        raise Problem(400, f"'{unknown[0]}' is no activity of this ad-hoc sub-process")
    activate = [Activate(each.element_id, ancestor=key, variables=each.variables or {}) for each in body.elements]
    await call.desk.app.command(row.key, Modify(activate=activate))


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/element-instances/search",
        operation_id="searchElementInstances",
        verb=search_elements,
        role=Role.READER,
        summary="Search element instances",
        group=GROUP,
        body=Search[ElementFilter],
        optional=True,
        answer=Found[ElementInstance],
        problems=(404,),
    ),
    Endpoint(
        method="GET",
        path="/element-instances/{elementInstanceKey}",
        operation_id="getElementInstance",
        verb=get_element,
        role=Role.READER,
        summary="One element instance of an instance that runs",
        group=GROUP,
        answer=ElementInstance,
    ),
    Endpoint(
        method="PUT",
        path="/element-instances/{elementInstanceKey}/variables",
        operation_id="createElementInstanceVariables",
        verb=set_variables,
        role=Role.OPERATOR,
        summary="Write variables of an instance or of one of its scopes",
        group=GROUP,
        body=SetVariables,
        status=204,
        problems=(409, 504),
        load=Load.COMMAND,
        entity="VARIABLE",
    ),
    Endpoint(
        method="POST",
        path="/element-instances/ad-hoc-activities/{adHocSubProcessInstanceKey}/activation",
        operation_id="activateAdHocSubProcessActivities",
        verb=activate_activities,
        role=Role.OPERATOR,
        summary="Start activities of an ad-hoc sub-process",
        group="Ad-hoc sub-process",
        body=ActivateActivities,
        status=204,
        problems=(409,),
        load=Load.COMMAND,
        entity="PROCESS_INSTANCE",
    ),
)
