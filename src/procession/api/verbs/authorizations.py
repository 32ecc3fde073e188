"""What one may do, in Camunda 8's words: roles are set on the command line, and mean the same for every resource."""

from __future__ import annotations

from msgspec import UNSET

from procession.api.endpoints import Call, Endpoint
from procession.api.roles import INCLUDES, Role
from procession.api.search import Found, PageInfo, Record, Request, Search, Text, by_position

LOOK = {
    "PROCESS_DEFINITION": ("READ_PROCESS_DEFINITION", "READ_PROCESS_INSTANCE", "READ_USER_TASK"),
    "DECISION_DEFINITION": ("READ_DECISION_DEFINITION", "READ_DECISION_INSTANCE"),
    "DECISION_REQUIREMENTS_DEFINITION": ("READ",),
    "RESOURCE": ("READ",),
    "BATCH": ("READ",),
    "DOCUMENT": ("READ",),
}
PERMISSIONS: dict[Role, dict[str, tuple[str, ...]]] = {
    Role.READER: LOOK,
    Role.WORKER: {"PROCESS_DEFINITION": ("UPDATE_PROCESS_INSTANCE",)},
    Role.OPERATOR: {
        "PROCESS_DEFINITION": (
            "CANCEL_PROCESS_INSTANCE",
            "COMPLETE_USER_TASK",
            "CREATE_PROCESS_INSTANCE",
            "DELETE_PROCESS_INSTANCE",
            "MODIFY_PROCESS_INSTANCE",
            "SUSPEND_PROCESS_INSTANCE",
            "UPDATE_PROCESS_INSTANCE",
            "UPDATE_USER_TASK",
        ),
        "BATCH": ("CREATE", "UPDATE"),
        "DOCUMENT": ("CREATE", "DELETE"),
        "MESSAGE": ("CREATE",),
    },
    Role.DEPLOYER: {"RESOURCE": ("CREATE", "DELETE_FORM", "DELETE_PROCESS", "DELETE_RESOURCE")},
    Role.ADMIN: {"AUDIT_LOG": ("READ",)},
}


class Authorization(Record):
    """What one may do with a kind of resource."""

    owner_id: str
    owner_type: str
    resource_type: str
    resource_id: str | None
    resource_property_name: str | None
    permission_types: list[str]
    authorization_key: str


class AuthorizationFilter(Request):
    """Which of them."""

    owner_id: Text = UNSET
    owner_type: Text = UNSET
    resource_ids: list[str] | None = None
    resource_type: Text = UNSET


class OwnAuthorizations(Record):
    """All of them; without identity everybody may everything, and nothing is checked."""

    authorizations_enabled: bool
    items: list[Authorization]
    page: PageInfo


async def search_own(call: Call) -> OwnAuthorizations:
    """What the roles of whoever asks allow."""
    query: Search[AuthorizationFilter] = call.body
    allowed: dict[str, set[str]] = {}
    for role in {included for own in call.who.roles for included in INCLUDES[own]}:
        for resource, permissions in PERMISSIONS[role].items():
            allowed.setdefault(resource, set()).update(permissions)
    items = [
        Authorization(
            owner_id=call.who.name,
            owner_type="CLIENT" if call.who.how == "token" else "USER",
            resource_type=resource,
            resource_id="*",
            resource_property_name=None,
            permission_types=sorted(permissions),
            authorization_key=str(number),
        )
        for number, (resource, permissions) in enumerate(sorted(allowed.items()), 1)
    ]
    if query.filter is not None and query.filter.resource_ids is not None:
        items = items if "*" in query.filter.resource_ids else []
        query.filter.resource_ids = None
    found: Found[Authorization] = by_position(query, items, Authorization)
    return OwnAuthorizations(authorizations_enabled=call.who.how != "none", items=found.items, page=found.page)


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/authentication/me/authorizations/search",
        operation_id="searchOwnAuthorizations",
        verb=search_own,
        role=Role.READER,
        any_role=True,
        summary="What one may do",
        group="Authentication",
        body=Search[AuthorizationFilter],
        optional=True,
        answer=OwnAuthorizations,
    ),
)
