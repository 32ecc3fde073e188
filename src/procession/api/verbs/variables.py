"""Variables: search, one. A variable has no row: its key is made of its scope and name, and lives as long as they."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from procession.api.endpoints import Call, Endpoint
from procession.api.roles import Role, tenant_id_of
from procession.api.search import Flag, Found, Record, Request, Search, Text, listed, search
from procession.api.verbs.elements import owner_of
from procession.api.words import key_of
from procession.errors import NotFound
from procession.limits import PAGE_MAX
from procession.store.rows import InstanceFilter, StoredInstance

GROUP = "Variable"
SHOWN_CHARS = 8_191  # of a value in a listing, where it is not asked for whole
INSTANCES_MAX = PAGE_MAX  # instances whose variables a search reads that names none


class VariableSearchResult(Record):
    """A variable with its value as JSON, cut where that is long."""

    variable_key: str
    name: str
    value: str
    is_truncated: bool
    scope_key: str
    process_instance_key: str
    root_process_instance_key: str | None
    tenant_id: str


class Variable(Record):
    """A variable with its whole value as JSON."""

    variable_key: str
    name: str
    value: str
    scope_key: str
    process_instance_key: str
    root_process_instance_key: str | None
    tenant_id: str


class VariableFilter(Request):
    """Which variables."""

    name: Text = UNSET
    value: Text = UNSET
    tenant_id: str | UnsetType = UNSET
    is_truncated: Flag = UNSET
    variable_key: Text = UNSET
    scope_key: Text = UNSET
    process_instance_key: Text = UNSET


class Place(NamedTuple):
    """Where a variable is."""

    instance: int
    scope: int
    name: str


def key_of_variable(scope: int, name: str) -> int:
    """A key that is the same wherever and whenever it is made."""
    digest = hashlib.blake2b(f"{scope}:{name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 2 | 1 << 61


async def variables_of(call: Call, row: StoredInstance) -> list[Variable]:
    """Every variable of an instance, those of its inner scopes included."""
    scopes: dict[int, dict[str, Any]] = {row.key: msgspec.json.decode(row.variables or b"{}")}
    state = await call.desk.app.state_of(row)
    for node in state.nodes.values() if state is not None else ():
        if node.variables and node.key != row.key:
            scopes[node.key] = node.variables
    root = str(await call.desk.root_of(row.key))
    records: list[Variable] = []
    for scope, variables in scopes.items():
        for name, value in variables.items():
            key = key_of_variable(scope, name)
            call.desk.remember_variable(key, Place(row.key, scope, name))
            records.append(
                Variable(
                    variable_key=str(key),
                    name=name,
                    value=msgspec.json.encode(value).decode(),
                    scope_key=str(scope),
                    process_instance_key=str(row.key),
                    root_process_instance_key=root,
                    tenant_id=tenant_id_of(row.tenant),
                )
            )
    return records


def shortened(variable: Variable, *, whole: bool) -> VariableSearchResult:
    """As listings show it."""
    is_long = not whole and len(variable.value) > SHOWN_CHARS
    values = msgspec.structs.asdict(variable)
    if is_long:
        values["value"] = variable.value[:SHOWN_CHARS]
    return VariableSearchResult(**values, is_truncated=is_long)


async def search_variables(call: Call) -> Found[VariableSearchResult]:
    """Variables as they are now, of one instance or of the newest INSTANCES_MAX."""
    query: Search[VariableFilter] = call.body
    chosen = query.filter or VariableFilter()
    whole = call.query.get("truncateValues", "true") == "false"
    rows: list[StoredInstance] = []
    if isinstance(chosen.process_instance_key, str):
        rows = await call.desk.rows.load([key_of(chosen.process_instance_key, "processInstanceKey")])
    elif isinstance(chosen.scope_key, str):
        try:
            rows = [await owner_of(call, key_of(chosen.scope_key, "scopeKey"))]
        except NotFound:
            rows = []
    else:
        page = await call.desk.rows.list_instances(InstanceFilter(limit=INSTANCES_MAX))
        rows = await call.desk.rows.load([row.key for row in page])
    records = [
        shortened(variable, whole=whole)
        for row in rows
        if call.who.sees(row.tenant)
        for variable in await variables_of(call, row)
    ]
    return await search(query, listed(records, "variable_key"), VariableSearchResult)


async def get_variable(call: Call) -> Variable:
    """One variable that this server has listed before. Raises NotFound."""
    key = key_of(call.path["variableKey"], "variableKey")
    place = call.desk.variable(key)
    if place is not None:
        row = await call.desk.instance(call.who, place.instance)
        for variable in await variables_of(call, row):
            if variable.variable_key == str(key):
                return variable
    raise NotFound(f"Expected a variable with key {key}, found none: its key comes from a search on this server")


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/variables/search",
        operation_id="searchVariables",
        verb=search_variables,
        role=Role.READER,
        summary="Search variables as they are now",
        group=GROUP,
        body=Search[VariableFilter],
        optional=True,
        answer=Found[VariableSearchResult],
        queries=("truncateValues",),
    ),
    Endpoint(
        method="GET",
        path="/variables/{variableKey}",
        operation_id="getVariable",
        verb=get_variable,
        role=Role.READER,
        summary="One variable with its whole value",
        group=GROUP,
        answer=Variable,
    ),
)
