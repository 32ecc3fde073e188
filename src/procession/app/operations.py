"""What operators do to instances: change where they stand, let them rest, let them go on under another version.

It translates users' words into commands; what may be done, and what follows, is decided by ``core``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack, cast

from procession.app import arguments
from procession.app.batches import Batch, BatchError, How, Which, command_of, filter_of
from procession.app.inspection import Inspection
from procession.app.views import View
from procession.core import MigrationFinding
from procession.core.commands import Activate, Migrate, Modify, Move, Resume, Suspend
from procession.engine.batches import BatchRequest
from procession.engine.values import plain_variables
from procession.errors import Conflict, InvalidValue, NotFound


class Finding(View, frozen=True, kw_only=True):
    """Something about a migration. An ``error`` prevents it, an ``info`` says what would happen to a wait."""

    severity: str  # error | info
    element_id: str  # in the version that the instance runs
    message: str

    @classmethod
    def of(cls, found: MigrationFinding) -> Finding:
        """As the rules say it."""
        return cls(severity=found.severity, element_id=found.element, message=found.message)


class Operations(Inspection):
    """The operators' half of ``Procession``."""

    async def modify(
        self,
        process_instance_key: int,
        *,
        activate: Sequence[str] | Mapping[str, dict[str, Any]] = (),
        move: Mapping[str, str] | Mapping[int, str] | Mapping[str | int, str] | None = None,
        terminate: Sequence[str | int] = (),
    ) -> None:
        """Change where an instance stands, in one step: all of it or nothing.

        ``activate``: elements to begin at, or a mapping of them to local variables of the scope around. ``move``:
        from an active element (its id: all of it, or one element instance's key) to another element. ``terminate``:
        element ids (all of them) or keys of element instances. An instance that loses its last token is over. Raises
        NotFound for an element that is not there or not active, Conflict.
        """
        arguments.key(process_instance_key, "process_instance_key")
        variables: Mapping[str, dict[str, Any]] = activate if isinstance(activate, Mapping) else {}
        command = Modify(
            activate=[
                Activate(name, variables=plain_variables(variables.get(name, {})).values)
                for name in arguments.names(activate, "activate")
            ],
            move=[_move(source, target) for source, target in arguments.mapping(move, "move").items()],
            terminate=await self._element_instances(process_instance_key, terminate),
        )
        await self._engine.command(process_instance_key, command)

    async def suspend(self, process_instance_key: int) -> None:
        """Let an instance rest: its jobs and timers are hidden until ``resume``. Raises NotFound, Conflict.

        A job that runs meanwhile runs to its end, but its result is not taken: it runs again after ``resume``.
        Instances that it called are not suspended with it.
        """
        arguments.key(process_instance_key, "process_instance_key")
        await self._engine.command(process_instance_key, Suspend())

    async def resume(self, process_instance_key: int) -> None:
        """Let a suspended instance go on; timers that became due meanwhile fire now. Raises NotFound, Conflict."""
        arguments.key(process_instance_key, "process_instance_key")
        await self._engine.command(process_instance_key, Resume())

    async def migrate_instance(
        self,
        process_instance_key: int,
        target_process_definition_key: int,
        mapping: Mapping[str, str] | None = None,
        *,
        dry_run: bool = False,
    ) -> list[Finding]:
        """Let an instance go on under another version, or another process; what was found on the way.

        ``mapping``: ids of elements that are called otherwise there. Jobs, user tasks, variables and waits keep their
        keys. With ``dry_run`` nothing changes, and everything that would prevent it is among the findings (severity
        ``error``). Raises NotFound; Conflict, with every finding that prevents it, having changed nothing.
        """
        arguments.key(process_instance_key, "process_instance_key")
        arguments.key(target_process_definition_key, "target_process_definition_key")
        names = arguments.names_to_names(mapping, "mapping")
        engine = self._engine
        findings = await engine.migration_findings(process_instance_key, target_process_definition_key, names)
        if not dry_run:
            await engine.migrate_instance(process_instance_key, target_process_definition_key, names)
        return [Finding.of(found) for found in findings]

    # -- deletion -------------------------------------------------------------------------------------------------
    async def delete_instance(self, process_instance_key: int) -> None:
        """Delete an ended instance with its history and everything that it called. Raises NotFound, Conflict."""
        arguments.key(process_instance_key, "process_instance_key")
        await self._engine.delete_instance(process_instance_key)

    async def delete_definition(self, process_definition_key: int) -> None:
        """Delete a version with its start events and its ended instances. Raises NotFound, Conflict while one runs.

        Where it was the latest, the version before is; its start events wait for nothing until it is deployed again.
        """
        arguments.key(process_definition_key, "process_definition_key")
        await self._engine.delete_definition(process_definition_key)

    # -- many instances -------------------------------------------------------------------------------------------
    async def batch(self, kind: str, *, per_second: float = 0, which: Which | None = None, **how: Unpack[How]) -> int:
        """Do something with all instances that a filter means; the key of the batch, which goes on by itself.

        ``kind``: ``cancel`` (``reason``), ``modify`` (``activate``, ``move``), ``migrate``
        (``target_process_definition_key``, ``mapping``), ``resolve`` (``retries``; every incident, of
        ``which["process_id"]``), ``delete`` (ended ones). ``which`` names filters of ``instances``; active instances
        are meant where no state is said, completed ones for ``delete``. Called instances are left out. At most
        ``per_second`` are begun. Each is done once, whatever dies meanwhile; what refuses is an error of the batch.
        Raises InvalidValue, NotFound.
        """
        command = command_of(kind, how)
        if isinstance(command, Migrate):
            await self._engine.definitions.obtain(command.definition)
        meant = filter_of(kind, cast("Which", arguments.mapping(which, "which")), self._tenant)
        request = BatchRequest(meant, command, arguments.rate(per_second, "per_second"))
        return await self._engine.begin_batch(kind, request, tenant=self._tenant)

    async def batches(self, *, limit: int = 100) -> list[Batch]:
        """Batches, the newest first."""
        return [Batch.of(row) for row in await self._store.batches(limit=arguments.page(limit))]

    async def batch_progress(self, batch_key: int) -> Batch:
        """How far a batch is. Raises NotFound."""
        arguments.key(batch_key, "batch_key")
        rows = await self._store.batches(keys=[batch_key])
        if not rows:
            message = f"Expected a batch with key {batch_key}, found none"
            raise NotFound(message)
        return Batch.of(rows[0])

    async def batch_errors(self, batch_key: int, *, after: int = 0, limit: int = 100) -> list[BatchError]:
        """What a batch could not do, and why; ``after`` is the last key of the page before. Raises NotFound."""
        await self.batch_progress(batch_key)
        rows = await self._store.batch_errors(
            batch_key, after=arguments.key_or_none(after, "after"), limit=arguments.page(limit)
        )
        return [BatchError(key=row.item, message=row.message) for row in rows]

    async def cancel_batch(self, batch_key: int) -> None:
        """Begin no more of a batch; what has begun is done. Raises NotFound, Conflict when it is over."""
        await self.batch_progress(batch_key)
        if not await self._store.end_batch(batch_key):
            message = f"Batch {batch_key} is over already"
            raise Conflict(message)

    # -- internal -------------------------------------------------------------------------------------------------
    async def _element_instances(self, instance: int, named: Sequence[str | int]) -> list[int]:
        """Keys of element instances; an element id stands for all of them that are active. Raises NotFound."""
        if isinstance(named, str):
            message = f"Expected terminate to be a list of element ids and keys, found {named!r}"
            raise InvalidValue(message)
        if not any(isinstance(each, str) for each in named):
            return [arguments.key(each, "a key in terminate") for each in named]
        active = (await self.instance(instance)).elements
        keys: list[int] = []
        for each in named:
            found = [it.element_instance_key for it in active if each in (it.element_id, it.element_instance_key)]
            if not found:
                message = f"'{each}' is not active in instance {instance}: there is nothing to terminate"
                raise NotFound(message)
            keys += found
        return list(dict.fromkeys(keys))


def _move(source: str | int, target: str) -> Move:
    """A move, from all of an element or from one element instance. Raises InvalidValue."""
    arguments.name(target, "the target of a move")
    if isinstance(source, int):
        return Move(target, element_instance=arguments.key(source, "the source of a move"))
    return Move(target, source=arguments.name(source, "the source of a move"))
