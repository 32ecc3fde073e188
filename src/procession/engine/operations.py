"""What operators ask of an engine about instances that run: to go on under another definition. It decides nothing."""

from __future__ import annotations

from collections.abc import Mapping

from procession.core import Decision, MigrationFinding, migrate, migration_findings
from procession.core.commands import Migrate
from procession.engine.cells import Asked, Cell
from procession.engine.requests import Requests
from procession.errors import Conflict
from procession.ids import Keys
from procession.model.definition import Definition


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

    async def migrate_instance(self, instance: int, definition: int, mapping: Mapping[str, str]) -> int:
        """Let an instance go on under another definition; its status once that is durable.

        Raises NotFound, Conflict with every finding that prevents it, Unavailable.
        """
        target = await self.definitions.obtain(definition)
        command = Migrate(definition=definition, mapping=dict(mapping))
        return await self._ask(instance, Migrating(target, command, self._answer(), deadline=self._deadline()))

    async def migration_findings(
        self, instance: int, definition: int, mapping: Mapping[str, str]
    ) -> list[MigrationFinding]:
        """What would prevent a migration, and what it would do to waits. Changes nothing. Raises NotFound."""
        target = await self.definitions.obtain(definition)
        source, state = await self.instances.copy(instance)
        return migration_findings(source, target, state, dict(mapping))
