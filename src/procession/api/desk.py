"""What every verb works at: the open application, who sees what of it, what is remembered of what never changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import UnsetType

from procession.api.meter import Workers
from procession.api.problems import Problem
from procession.api.roles import Principal, tenant_id_of, tenant_of
from procession.api.settings import LOOPBACK, Settings
from procession.api.watch import Watch
from procession.api.words import key_of
from procession.app import Procession
from procession.errors import NotFound
from procession.store.port import Store
from procession.store.rows import StoredDefinition, StoredInstance

DEFINITIONS_MAX = 2_000
REMEMBERED_MAX = 50_000  # element instances and variables whose place is remembered
CALLERS_MAX = 100  # call activities above one another that are followed to the root


class Desk:
    """One for each server."""

    def __init__(
        self, app: Procession, settings: Settings, turn_clock: Callable[[int | None], None] | None = None
    ) -> None:
        self.app = app
        self.settings = settings
        self.port = 0  # of this server, once it is known
        self.turn_clock = turn_clock  # test mode: sets the clock, None lets it go
        self.watch = Watch(app)
        self._of_tenant: dict[str, Procession] = {}
        self._definitions: dict[int, StoredDefinition] = {}
        self._owners: dict[int, int] = {}
        self._variables: dict[int, Any] = {}

    @property
    def rows(self) -> Store:
        """The store, to read."""
        return self.app.rows

    @property
    def address(self) -> str:
        """How the server is reached from outside. Raises Problem where it is not known."""
        if self.settings.public_url:
            return self.settings.public_url.rstrip("/")
        if self.settings.host in LOOPBACK:
            host = f"[{self.settings.host}]" if ":" in self.settings.host else self.settings.host
            return f"http://{host}:{self.port}"
        raise Problem(400, "How this server is reached from outside is not known to it: start it with --public-url")

    @property
    def workers(self) -> Workers:
        """Where it is counted what remote workers do."""
        return self.watch.tally.workers

    def app_of(self, tenant: str) -> Procession:
        """The application, working for a tenant."""
        if not tenant:
            return self.app
        found = self._of_tenant.get(tenant)
        if found is None:
            found = self.app.for_tenant(tenant)
            if len(self._of_tenant) < DEFINITIONS_MAX:
                self._of_tenant[tenant] = found
        return found

    # -- tenants ----------------------------------------------------------------------------------------------------
    @staticmethod
    def tenant(who: Principal, tenant_id: str | UnsetType | None) -> str:
        """The tenant that a command is for, the default one if it says none. Raises Problem."""
        tenant = tenant_of(tenant_id) if isinstance(tenant_id, str) else ""
        if not who.sees(tenant):
            raise Problem(403, f"'{who.name}' has no access to tenant '{tenant_id_of(tenant)}'")
        return tenant

    # -- what is there ------------------------------------------------------------------------------------------------
    async def instance(self, who: Principal, key: str | int) -> StoredInstance:
        """An instance that the principal sees. Raises NotFound."""
        number = key if isinstance(key, int) else key_of(key, "processInstanceKey")
        row = await self.app.stored_instance(number)
        if not who.sees(row.tenant):
            raise NotFound(f"Expected a process instance with key {number}, found none")
        return row

    async def check_instance(self, who: Principal, key: int) -> None:
        """Before a command to an instance: is it there for the principal? Asks nothing where all tenants are."""
        if who.tenants is not None:
            await self.instance(who, key)

    async def check_owner(self, who: Principal, kind: str, key: int) -> None:
        """Before a command to a job, user task or incident: the same, by its instance."""
        if who.tenants is None:
            return
        instance = await self.rows.find(kind, key)
        if not instance or not who.sees((await self.app.stored_instance(instance)).tenant):
            raise NotFound(f"Expected a {kind.replace('_', ' ')} with key {key}, found none")

    async def definition(self, who: Principal, key: int) -> StoredDefinition:
        """A deployed version that the principal sees. Raises NotFound."""
        found = (await self.definitions([key])).get(key)
        if found is None or not who.sees(found.tenant):
            raise NotFound(f"Expected a process definition with key {key}, found none")
        return found

    async def definitions(self, keys: Iterable[int]) -> dict[int, StoredDefinition]:
        """Deployed versions by key, as far as they are there; they never change, so they are remembered."""
        wanted = set(keys)
        missing = sorted(wanted - self._definitions.keys())
        if missing:
            for row in await self.rows.definitions(missing):
                self._definitions[row.key] = row
            while len(self._definitions) > DEFINITIONS_MAX + len(wanted):
                del self._definitions[next(iter(self._definitions))]
        return {key: self._definitions[key] for key in wanted if key in self._definitions}

    def owner(self, element_instance: int) -> int:
        """The instance that an element instance was last seen in; 0 if that is not known."""
        return self._owners.get(element_instance, 0)

    def remember_owner(self, element_instance: int, instance: int) -> None:
        """An element instance was seen in this instance."""
        _remember(self._owners, element_instance, instance)

    def variable(self, key: int) -> Any:  # noqa: ANN401 - verbs.variables.Place
        """Where a variable was last seen; None if that is not known."""
        return self._variables.get(key)

    def remember_variable(self, key: int, place: Any) -> None:  # noqa: ANN401 - verbs.variables.Place
        """A variable was seen there."""
        _remember(self._variables, key, place)

    async def latest(self, app: Procession, process_id: str, version: int, version_tag: str) -> StoredDefinition:
        """The version of a process that is meant now; of the latest one it is known for a moment. Raises NotFound."""
        key = 0 if version or version_tag else app.latest_key(process_id)
        if key:
            found = (await self.definitions([key])).get(key)
            if found is not None:
                return found
        return await app.stored_definition(process_id, version=version, version_tag=version_tag)

    def forget_definition(self, key: int) -> None:
        """A version was deleted."""
        self._definitions.pop(key, None)

    async def roots(self, rows: Iterable[StoredInstance]) -> dict[int, int]:
        """The instance at the top of the calls above each of these."""
        known = {row.key: row.parent for row in rows}
        wanted = list(known)
        for _ in range(CALLERS_MAX):
            above = sorted({parent for parent in known.values() if parent and parent not in known})
            if not above:
                break
            found = {row.key: row.parent for row in await self.rows.load(above)}
            known.update({key: found.get(key, 0) for key in above})
        return {key: _top(key, known) for key in wanted}

    async def root_of(self, instance: int) -> int:
        """The instance at the top of the calls above this one."""
        rows = await self.rows.load([instance])
        return (await self.roots(rows)).get(instance, instance)

    async def instances(self, keys: Iterable[int]) -> dict[int, StoredInstance]:
        """Instances by key, as far as they are there."""
        wanted = sorted({key for key in keys if key})
        return {row.key: row for row in await self.rows.load(wanted)} if wanted else {}


def _remember(table: dict[int, Any], key: int, value: Any) -> None:  # noqa: ANN401 - what is remembered
    table[key] = value
    if len(table) > REMEMBERED_MAX:
        del table[next(iter(table))]


def _top(key: int, parents: dict[int, int]) -> int:
    for _ in range(CALLERS_MAX):
        parent = parents.get(key, 0)
        if not parent:
            return key
        key = parent
    return key
