"""What operators ask of an engine: migration, deletion, operations over many instances. It decides nothing."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from procession.core import Decision, MigrationFinding, migrate, migration_findings
from procession.core.commands import Migrate
from procession.core.state import Status
from procession.engine.batches import Batches, BatchRequest
from procession.engine.cache import OVER
from procession.engine.cells import Asked, Cell, no_instance
from procession.engine.requests import DEPLOYED, Requests
from procession.errors import Conflict, NotFound
from procession.ids import Keys
from procession.limits import PAGE_MAX
from procession.model.definition import Definition
from procession.store.rows import InstanceFilter


class Migrating(Asked):
    """A migration: alone in its step, for what came before was decided under the old definition."""

    __slots__ = ("target",)

    alone = True

    def __init__(self, target: Definition, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)  # pyright: ignore[reportArgumentType] - as in Asked
        self.target = target

    def decide(self, cell: Cell, now: int, keys: Keys) -> list[Decision]:
        """Migrate; from here on the cell has the target as its definition."""
        command, state, source = self.command, cell.state, cell.definition
        assert isinstance(command, Migrate)
        if state is None or source is None:
            message = f"Instance {cell.key} is asked for but not started yet"
            raise Conflict(message)
        _check(source, self.target, state.start_channel, cell)
        decision = migrate(source, self.target, state, command.mapping, now=now, keys=keys)
        cell.state, cell.definition = decision.state, self.target
        return [decision]


def _check(source: Definition, target: Definition, start_channel: str, cell: Cell) -> None:
    """What the rules of a process do not know. Raises Conflict."""
    if source.key == target.key:
        message = f"Instance {cell.key} runs version {target.version} of '{target.process_id}' already"
        raise Conflict(message)
    if start_channel and source.process_id != target.process_id:
        message = (
            f"Instance {cell.key} holds the message start key '{start_channel}' of '{source.process_id}', and cannot "
            f"go on as '{target.process_id}': migrate it to another version of '{source.process_id}'"
        )
        raise Conflict(message)


class Operations(Requests):
    """The part of an engine that operators see."""

    _batches: Batches

    async def migrate_instance(
        self, instance: int, definition: int, mapping: Mapping[str, str], *, tenant: str = ""
    ) -> int:
        """Let an instance go on under another definition; its status once that is durable.

        Raises NotFound, Conflict with every finding that prevents it, Unavailable.
        """
        target = await self.obtain_definition(definition, tenant)
        command = Migrate(definition=definition, mapping=dict(mapping))
        ask = Migrating(target, command, self._answer(), deadline=self._deadline())
        ask.tenant = tenant
        return await self._ask(instance, ask)

    async def obtain_definition(self, definition: int, tenant: str = "") -> Definition:
        """A deployed process version. Raises NotFound; another tenant's is not there either."""
        found = await self.definitions.obtain(definition)
        if tenant not in ("", found.tenant):
            message = f"Expected process definition {definition} to be deployed, found none with this key"
            raise NotFound(message)
        return found

    async def migration_findings(
        self, instance: int, definition: int, mapping: Mapping[str, str], *, tenant: str = ""
    ) -> list[MigrationFinding]:
        """What would prevent a migration, and what it would do to waits. Changes nothing. Raises NotFound."""
        target = await self.obtain_definition(definition, tenant)
        if tenant and await self.load(instance, tenant) is None:
            raise NotFound(no_instance(instance))
        source, state = await self.instances.copy(instance)
        return migration_findings(source, target, state, dict(mapping))

    async def delete_instance(self, instance: int, *, tenant: str = "") -> None:
        """Delete an ended instance with its history and what it called. Raises NotFound, Conflict, Unavailable."""
        row = await self.load(instance, tenant)
        if row is None:
            raise NotFound(no_instance(instance))
        if await self.store.delete_instances([instance]):
            return
        if row.status not in OVER:
            message = f"Instance {instance} still runs: cancel it first"
        elif row.parent:
            message = f"Instance {instance} was called by instance {row.parent} and is deleted with it"
        else:
            message = f"Something that instance {instance} called still runs: wait for its end"
        raise Conflict(message)

    async def delete_definition(self, definition: int, *, tenant: str = "") -> None:
        """Delete a version with its ended instances. Raises NotFound, Conflict while one runs, Unavailable."""
        rows = await self.store.definitions([definition])
        if not rows or tenant not in ("", rows[0].tenant):
            message = f"Expected a process definition with key {definition}, found none"
            raise NotFound(message)
        which = InstanceFilter(process_id=rows[0].process_id, definition=definition, limit=PAGE_MAX)
        for status in Status:
            if status not in OVER and (running := await self.store.list_instances(_with_status(which, status))):
                message = f"Instance {running[0].key} of it still runs: cancel it, wait for its end, or migrate it"
                raise Conflict(message)
        for status in sorted(OVER):
            await self._delete_ended(_with_status(which, status))
        if not await self.store.delete_definition(definition):
            message = f"An instance of version {rows[0].version} of '{rows[0].process_id}' has just been started"
            raise Conflict(message)
        self.definitions.forget_latest()
        self._announcer.announce(DEPLOYED)

    async def _delete_ended(self, which: InstanceFilter) -> None:
        """Delete ended instances, page by page. Raises Conflict for one whose caller is still there."""
        while page := await self.store.list_instances(which):
            if not await self.store.delete_instances([row.key for row in page]):
                message = (
                    f"Instance {page[0].key} of it was called by instance {page[0].parent}, which is still there: "
                    "delete that one first"
                )
                raise Conflict(message)

    async def begin_batch(self, kind: str, request: BatchRequest, *, tenant: str = "") -> int:
        """Begin an operation over many instances; its key. Raises Unavailable."""
        return await self._batches.begin(kind, request, tenant)


def _with_status(which: InstanceFilter, status: int) -> InstanceFilter:
    return msgspec.structs.replace(which, status=int(status))
