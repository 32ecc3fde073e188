"""Who may do what: five roles, and the principals that have them. Pure."""

from __future__ import annotations

from enum import Enum

import msgspec

from procession.errors import InvalidValue

DEFAULT_TENANT = "<default>"  # Camunda 8's name for our empty tenant


class Role(Enum):
    """What a principal may do. Everybody but a worker may also look."""

    READER = "reader"  # look at everything but the audit log
    WORKER = "worker"  # take jobs and end them, and nothing else
    OPERATOR = "operator"  # start, correlate, change and cancel instances; user tasks, incidents
    DEPLOYER = "deployer"  # deploy and delete what is deployed
    ADMIN = "admin"  # everything, and the audit log and the clock


INCLUDES: dict[Role, frozenset[Role]] = {
    Role.READER: frozenset({Role.READER}),
    Role.WORKER: frozenset({Role.WORKER}),
    Role.OPERATOR: frozenset({Role.OPERATOR, Role.READER}),
    Role.DEPLOYER: frozenset({Role.DEPLOYER, Role.READER}),
    Role.ADMIN: frozenset(Role),
}


class Principal(msgspec.Struct, frozen=True, kw_only=True):
    """Whoever a request comes from."""

    name: str
    roles: frozenset[Role]
    tenants: frozenset[str] | None = None  # None: all of them; our own names: the default tenant is the empty one
    how: str = "none"  # none | basic | token | oidc

    def may(self, role: Role) -> bool:
        """Whether one of the principal's roles includes this one."""
        return any(role in INCLUDES[own] for own in self.roles)

    def sees(self, tenant: str) -> bool:
        """Whether what belongs to a tenant is there for the principal."""
        return self.tenants is None or tenant in self.tenants


def roles_of(names: list[str]) -> frozenset[Role]:
    """The roles with these names. Raises InvalidValue."""
    try:
        return frozenset(Role(name) for name in names)
    except ValueError:
        known = ", ".join(role.value for role in Role)
        raise InvalidValue(f"Expected roles ({known}), found {', '.join(map(repr, names))}") from None


def tenant_of(tenant_id: str) -> str:
    """Our name of a tenant."""
    return "" if tenant_id == DEFAULT_TENANT else tenant_id


def tenant_id_of(tenant: str) -> str:
    """The name that clients know a tenant by."""
    return tenant or DEFAULT_TENANT
