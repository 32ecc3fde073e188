"""Whose a change is: the tenants that an entry of the audit log tells of.

Whoever is bound to tenants reads the entries that tell of these and of no others.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from procession.api.endpoints import Call, Endpoint
from procession.api.problems import Problem
from procession.api.roles import tenant_of
from procession.api.words import key_of
from procession.errors import Rejected

Tenants = list[str] | None  # None: not known, or of all
OF_DEFAULT: Final = frozenset({"PROCESS_INSTANCE", "MESSAGE", "SIGNAL"})  # without a name they are for the default one


async def tenants_of(call: Call, endpoint: Endpoint) -> Tenants:
    """Whose what is about to be changed is, before it is."""
    bound = call.who.tenants
    if bound is not None and len(bound) == 1:
        return sorted(bound)
    try:
        found = _named(call, endpoint)
        if found is None:
            found = await _looked_up(call)
    except (Rejected, Problem):
        found = None
    if found is None and bound is not None:
        return sorted(bound)
    return found


def may_read(bound: frozenset[str] | None, tenants: Tenants) -> bool:
    """Whether somebody who is bound to these tenants reads an entry."""
    return bound is None or (tenants is not None and bound.issuperset(tenants))


def _named(call: Call, endpoint: Endpoint) -> Tenants:
    """The tenant that a request names."""
    for part in call.uploads:
        if part.name == "tenantId":
            return [tenant_of(part.data.decode(errors="replace"))]
    if endpoint.operation_id == "createDeployment":
        return [""]
    if not hasattr(call.body, "tenant_id"):
        return None
    given = call.body.tenant_id
    if isinstance(given, str):
        return [tenant_of(given)]
    return [""] if endpoint.entity in OF_DEFAULT else None


async def _of_instance(call: Call, key: int) -> Tenants:
    rows = await call.desk.rows.load([key]) if key else []
    return [rows[0].tenant] if rows else None


def _of_row(kind: str) -> Callable[[Call, int], Awaitable[Tenants]]:
    async def look(call: Call, key: int) -> Tenants:
        return await _of_instance(call, await call.desk.rows.find(kind, key))

    return look


async def _of_element(call: Call, key: int) -> Tenants:
    return await _of_instance(call, call.desk.owner(key) or key)


async def _of_batch(call: Call, key: int) -> Tenants:
    rows = await call.desk.rows.batches(keys=[key])
    return [rows[0].tenant] if rows else None


async def _of_resource(call: Call, key: int) -> Tenants:
    row = (await call.desk.definitions([key])).get(key)
    return [row.tenant] if row is not None else None


LOOKS: Final[dict[str, Callable[[Call, int], Awaitable[Tenants]]]] = {
    "processInstanceKey": _of_instance,
    "jobKey": _of_row("job"),
    "userTaskKey": _of_row("user_task"),
    "incidentKey": _of_row("incident"),
    "elementInstanceKey": _of_element,
    "adHocSubProcessInstanceKey": _of_element,
    "batchOperationKey": _of_batch,
    "resourceKey": _of_resource,
}


async def _looked_up(call: Call) -> Tenants:
    """Whose the thing is that the path names."""
    for name, text in call.path.items():
        if name in LOOKS:
            return await LOOKS[name](call, key_of(text, name))
    return None
