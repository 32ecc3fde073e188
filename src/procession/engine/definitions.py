"""Compiled definitions by key, bounded, and which version a name means now. It compiles nothing twice."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable

import msgspec

from procession.errors import Bug, InvalidModel, NotFound
from procession.model import compile_resource
from procession.model.definition import Definition
from procession.store.port import Store
from procession.store.rows import StoredDefinition

logger = logging.getLogger("procession.engine")


class Definitions:
    """The cache. ``get`` never waits; ``ensure`` reads what is missing."""

    def __init__(self, store: Store, count_max: int, *, latest_s: float) -> None:
        self._store = store
        self._count_max = count_max
        self._latest_s = latest_s
        self._known: dict[int, Definition | Bug] = {}
        self._deleted: set[int] = set()  # of those: no new instance may be of them
        self._latest: dict[tuple[str, str], tuple[int, float]] = {}  # (tenant, process id) -> (key, good until)
        self._asking: dict[tuple[str, str], asyncio.Task[Definition]] = {}  # for the latest, shared by all who wait

    def get(self, key: int) -> Definition:
        """A definition that ``ensure`` was asked for. Raises Bug if it cannot be compiled or is not there."""
        found = self._known.get(key)
        if found is None:
            raise Bug(f"Definition {key} is not in the database, but an instance refers to it")
        if isinstance(found, Bug):
            raise found
        return found

    def peek(self, key: int) -> Definition | None:
        """A definition, if it is at hand."""
        found = self._known.get(key)
        return found if isinstance(found, Definition) else None

    async def ensure(self, keys: Iterable[int]) -> None:
        """Read and compile those that are not at hand. Raises Unavailable."""
        missing = [key for key in keys if key and key not in self._known]
        if missing:
            for stored in await self._store.definitions(missing):
                await self._add(stored)

    async def obtain(self, key: int) -> Definition:
        """The definition with this key. Raises NotFound."""
        await self.ensure([key])
        if key not in self._known:
            raise NotFound(f"Expected process definition {key} to be deployed, found none with this key")
        return self.get(key)

    async def obtain_undeleted(self, key: int) -> Definition:
        """As ``obtain``, but of a deleted version too it raises NotFound."""
        found = await self.obtain(key)
        if key in self._deleted:
            raise NotFound(f"Expected process definition {key} to be deployed, found none with this key")
        return found

    def was_deleted(self, key: int) -> None:
        """A version was deleted: instances of it may be there, new ones are not started."""
        self._deleted.add(key)
        self.forget_latest()

    async def find(
        self, process_id: str, *, version: int = 0, version_tag: str = "", deployment: int = 0, tenant: str = ""
    ) -> Definition:
        """The definition that a name means now. Raises NotFound.

        Which version is the latest is remembered for at most ``latest_s``; a deployment anywhere ends that at once
        where the store can tell (``forget_latest``).
        """
        if version or version_tag or deployment:
            return await self._find(process_id, tenant, version, version_tag, deployment)
        known = self.latest(process_id, tenant)
        if known is not None:
            return known
        if not self._latest_s:
            return await self._find(process_id, tenant)
        name = (tenant, process_id)
        asking = self._asking.get(name)
        if asking is None:
            asking = self._asking[name] = asyncio.get_running_loop().create_task(self._find_latest(name))
        return await asyncio.shield(asking)

    async def _find_latest(self, name: tuple[str, str]) -> Definition:
        """Ask once for all who want to know it now, and remember it unless something was deployed meanwhile."""
        task = asyncio.current_task()
        try:
            found = await self._find(name[1], name[0])
            if self._asking.get(name) is task:
                self._latest[name] = (found.key, time.monotonic() + self._latest_s)
        finally:
            if self._asking.get(name) is task:
                del self._asking[name]
        return found

    async def _find(
        self, process_id: str, tenant: str, version: int = 0, version_tag: str = "", deployment: int = 0
    ) -> Definition:
        stored = await self._store.find_definition(
            process_id, version=version, version_tag=version_tag, deployment=deployment, tenant=tenant
        )
        if stored is None:
            exact = f" version {version}" if version else ""
            tag = f" with version tag '{version_tag}'" if version_tag else ""
            where = f" in deployment {deployment}" if deployment else ""
            raise NotFound(f"Expected process '{process_id}'{exact}{tag} to be deployed{where}, found none")
        if stored.key not in self._known:
            await self._add(stored)
        return self.get(stored.key)

    def latest(self, process_id: str, tenant: str) -> Definition | None:
        """The latest version, if it is remembered and at hand."""
        key, until = self._latest.get((tenant, process_id), (0, 0.0))
        if until < time.monotonic():
            return None
        known = self._known.get(key)
        return None if known is None or isinstance(known, Bug) else known

    def forget_latest(self) -> None:
        """Something was deployed: what was asked before that is no answer for those who ask after it."""
        self._latest.clear()
        self._asking.clear()

    async def deployment_of(self, key: int) -> int:
        """The deployment that a definition came with, 0 if it is unknown."""
        found = await self._store.definitions([key])
        return found[0].deployment if found else 0

    async def _add(self, stored: StoredDefinition) -> None:
        """Compile a stored definition; one that cannot be compiled is remembered as such."""
        content = await self._store.resource(stored.resource)
        try:
            compiled: Definition | Bug = compile_stored(stored, content)
        except Bug as error:
            compiled = error
        except InvalidModel as error:
            logger.error("process '%s' version %d does not compile: %s", stored.process_id, stored.version, error)  # noqa: TRY400 - the message says it all
            compiled = Bug(f"Process '{stored.process_id}' version {stored.version} does not compile any more: {error}")
        self._known.pop(stored.key, None)
        self._known[stored.key] = compiled
        if stored.deleted:
            self._deleted.add(stored.key)
        while len(self._known) > self._count_max:
            oldest = next(iter(self._known))
            del self._known[oldest]
            self._deleted.discard(oldest)


def compile_stored(stored: StoredDefinition, content: bytes | None) -> Definition:
    """The compiled process of a stored version. Raises InvalidModel, or Bug when the resource does not hold it."""
    if content is None:
        raise Bug(f"Resource {stored.resource} of process '{stored.process_id}' is not in the database")
    resource = compile_resource(content, methods=stored.methods)
    for definition in resource.definitions:
        if definition.process_id == stored.process_id:
            return msgspec.structs.replace(definition, key=stored.key, version=stored.version, tenant=stored.tenant)
    raise Bug(f"Resource '{stored.resource_name}' does not hold process '{stored.process_id}' any more")
