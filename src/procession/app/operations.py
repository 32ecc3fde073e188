"""What operators do to instances: change where they stand, let them rest, let them go on under another version.

It translates users' words into commands; what may be done, and what follows, is decided by ``core``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self, Unpack, cast

from procession.app import arguments
from procession.app.batches import (
    Batch,
    BatchError,
    BatchTrial,
    How,
    RestartOptions,
    Which,
    command_of,
    filter_of,
    restart_of,
)
from procession.app.inspection import Inspection
from procession.app.views import View
from procession.app.working import Span, adjustment
from procession.core import MigrationFinding
from procession.core.commands import Activate, AssignBusinessId, Migrate, Modify, Move, Suspend
from procession.engine.batches import BatchRequest
from procession.engine.job_updates import JobUpdate
from procession.engine.restarts import Plan, Restart
from procession.engine.values import plain_variables
from procession.errors import Conflict, InvalidValue, NotFound
from procession.jobs.kinds import JobKind
from procession.limits import BATCH_JOBS_MAX, PAGE_MAX
from procession.store.rows import InstanceFilter, JobFilter, StoredJob

UPDATE = "update-jobs"  # the kind of batch that changes jobs
OF_PROCESSES = (JobKind.SERVICE, JobKind.LISTENER)


class Finding(View, frozen=True, kw_only=True):
    """Something about a migration. An ``error`` prevents it, an ``info`` says what would happen to a wait."""

    severity: str  # error | info
    element_id: str  # in the version that the instance runs
    message: str

    @classmethod
    def of(cls, found: MigrationFinding) -> Finding:
        """As the rules say it."""
        return cls(severity=found.severity, element_id=found.element, message=found.message)


class Restarted(View, frozen=True, kw_only=True):
    """What a restart began, or would begin (``process_instance_key`` 0)."""

    process_instance_key: int
    from_process_instance_key: int
    process_definition_id: str
    process_definition_key: int
    version: int
    before: list[str]
    after: list[str]
    variables: dict[str, Any]
    business_id: str
    tags: list[str]

    @classmethod
    def of(cls, plan: Plan) -> Self:
        """As it was planned."""
        command, definition = plan.command, plan.definition
        return cls(
            process_instance_key=command.instance,
            from_process_instance_key=plan.source.key,
            process_definition_id=definition.process_id,
            process_definition_key=definition.key,
            version=definition.version,
            before=command.at,
            after=command.after,
            variables=command.variables,
            business_id=command.business_id,
            tags=plan.source.tags,
        )


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
        await self._command(process_instance_key, command)

    async def assign_business_id(self, process_instance_key: int, business_id: str) -> None:
        """Give a business id to an instance that has none, once and for good; the same again changes nothing.

        Raises NotFound, InvalidValue, Conflict when it has another one, or was called by an instance.
        """
        arguments.key(process_instance_key, "process_instance_key")
        name = arguments.name(business_id, "business_id")
        await self._command(process_instance_key, AssignBusinessId(name))

    async def suspend(self, process_instance_key: int) -> None:
        """Let an instance rest: its jobs and timers are hidden until ``resume``. Raises NotFound, Conflict.

        A job that runs meanwhile runs to its end, but its result is not taken: it runs again after ``resume``.
        Instances that it called are not suspended with it.
        """
        arguments.key(process_instance_key, "process_instance_key")
        await self._command(process_instance_key, Suspend())

    async def resume(self, process_instance_key: int) -> None:
        """Let a suspended instance go on; what became due or came meanwhile happens now. Raises NotFound, Conflict."""
        arguments.key(process_instance_key, "process_instance_key")
        await self._engine.resume_instance(process_instance_key, tenant=self._tenant)

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
        engine, target = self._engine, target_process_definition_key
        findings = await engine.migration_findings(process_instance_key, target, names, tenant=self._tenant)
        if not dry_run:
            await engine.migrate_instance(process_instance_key, target, names, tenant=self._tenant)
        return [Finding.of(found) for found in findings]

    async def retry_job(self, job_key: int) -> None:
        """Try a follow-up or timer again that has failed for good; ``jobs`` lists them (state FAILED).

        A job of an element is tried again by ``resolve``. Raises NotFound, Conflict.
        """
        await self._engine.retry_job(arguments.key(job_key, "job_key"), tenant=self._tenant)

    async def restart(
        self, process_instance_key: int, *, dry_run: bool = False, **how: Unpack[RestartOptions]
    ) -> Restarted:
        """Start a new instance from what an ended one left; with ``dry_run`` only say what that would be.

        ``before``, ``after``: the elements that it begins before or behind, at least one. ``variables``: ``last``
        (those that the ended one had at its end), ``initial`` (those that it began with; the history has to be kept at
        level ``full``) or ``none``; ``changes`` are written over them. It is of the same version unless
        ``process_definition_key`` says another, and has the same tags and, unless ``business_id`` is False, business
        id. Raises NotFound, Conflict for one that runs or a history that does not say, InvalidValue.
        """
        arguments.key(process_instance_key, "process_instance_key")
        restart = restart_of(how)
        plan = await self._engine.restart_instance(
            process_instance_key, restart, tenant=self._tenant, dry_run=bool(dry_run)
        )
        return Restarted.of(plan)

    # -- deletion -------------------------------------------------------------------------------------------------
    async def delete_instance(self, process_instance_key: int) -> None:
        """Delete an ended instance with its history and everything that it called. Raises NotFound, Conflict."""
        arguments.key(process_instance_key, "process_instance_key")
        await self._engine.delete_instance(process_instance_key, tenant=self._tenant)

    async def delete_definition(self, process_definition_key: int) -> None:
        """Delete a version with its start events and its ended instances. Raises NotFound, Conflict while one runs.

        Where it was the latest, the version before is; its start events wait for nothing until it is deployed again.
        """
        arguments.key(process_definition_key, "process_definition_key")
        await self._engine.delete_definition(process_definition_key, tenant=self._tenant)

    # -- many instances -------------------------------------------------------------------------------------------
    async def batch(self, kind: str, *, per_second: float = 0, which: Which | None = None, **how: Unpack[How]) -> int:
        """Do something with all instances that a filter means; the key of the batch, which goes on by itself.

        ``kind``: ``cancel`` (``reason``), ``modify`` (``activate``, ``move``), ``migrate``
        (``target_process_definition_key``, ``mapping``), ``resolve`` (``retries``; every incident, of
        ``which["process_id"]``), ``suspend``, ``resume``, ``restart`` (as ``restart``), ``delete`` (these two of ended
        ones). ``which`` names filters of ``instances``; its ``state`` may be several. Where it says none, active
        instances are meant (``resume``: suspended ones), or, of ended ones, completed ones (``delete``) or both
        (``restart``). Called instances are left out. At most
        ``per_second`` are begun. Each is done once, whatever dies meanwhile; what refuses is an error of the batch.
        Raises InvalidValue, NotFound.
        """
        request = await self._batch_request(kind, which, how, per_second)
        return await self._engine.begin_batch(kind, request, tenant=self._tenant)

    async def try_batch(self, kind: str, *, which: Which | None = None, **how: Unpack[How]) -> BatchTrial:
        """What ``batch`` would do, changing nothing: how many items, and why some of the first 1,000 would fail.

        Raises InvalidValue, NotFound.
        """
        request = await self._batch_request(kind, which, how, 0)
        total, errors = await self._engine.try_batch(request, PAGE_MAX)
        return BatchTrial(
            kind=kind,
            total=total,
            tried=min(total, PAGE_MAX),
            errors=[BatchError(key=item, message=message) for item, message in errors],
        )

    async def retry_batch(self, batch_key: int) -> int:
        """Do the failed items of a batch that is over again, as another batch; its key. Raises NotFound, Conflict."""
        return await self._engine.retry_batch(arguments.key(batch_key, "batch_key"), tenant=self._tenant)

    async def batches(self, *, after: int = 0, limit: int = 100) -> list[Batch]:
        """A page of batches, the newest first; ``after`` is the last key of the page before."""
        rows = await self._store.batches(
            tenant=self._tenant, after=arguments.key_or_none(after, "after"), limit=arguments.page(limit)
        )
        return [Batch.of(row) for row in rows]

    async def batch_progress(self, batch_key: int) -> Batch:
        """How far a batch is. Raises NotFound."""
        arguments.key(batch_key, "batch_key")
        rows = await self._store.batches(keys=[batch_key], tenant=self._tenant)
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

    async def suspend_batch(self, batch_key: int) -> None:
        """Let a batch rest: nothing more of it begins, whatever process works, until it is resumed.

        What somebody carries out just now is done. Raises NotFound, Conflict when it is not under way.
        """
        await self.batch_progress(batch_key)
        if not await self._store.suspend_batch(batch_key):
            message = f"Expected batch {batch_key} to be under way, found it {await self._batch_state(batch_key)}"
            raise Conflict(message)

    async def resume_batch(self, batch_key: int) -> None:
        """Let a suspended batch go on. Raises NotFound, Conflict when it is not suspended."""
        found = await self.batch_progress(batch_key)
        if not await self._engine.resume_batch(batch_key, tenant=found.tenant_id):
            message = f"Expected batch {batch_key} to be suspended, found it {await self._batch_state(batch_key)}"
            raise Conflict(message)

    async def update_jobs(
        self,
        job_keys: Sequence[int],
        *,
        retries: int | None = None,
        timeout: Span | None = None,  # noqa: ASYNC109 - how long the leases are, not the call
        priority: int | None = None,
        per_second: float = 0,
    ) -> int:
        """Change many jobs of processes as ``update_job`` does one; the key of the batch, which goes on by itself.

        What cannot be changed is an error of the batch. At most 10,000 jobs. Raises InvalidValue, NotFound.
        """
        keys = sorted({arguments.key(key, "job_keys") for key in job_keys})
        if not 0 < len(keys) <= BATCH_JOBS_MAX:
            message = f"Expected 1 to {BATCH_JOBS_MAX} jobs (BATCH_JOBS_MAX), found {len(keys)}"
            raise InvalidValue(message)
        if retries is None and timeout is None and priority is None:
            message = "Expected retries, timeout or priority to change, found none of them"
            raise InvalidValue(message)
        change = adjustment(0, retries=retries, timeout=timeout, priority=priority)
        await self._check_jobs(keys)
        update = JobUpdate(keys, change.lease_ms, change.retries, change.priority)
        request = BatchRequest(
            InstanceFilter(tenant=self._tenant), per_second=arguments.rate(per_second, "per_second"), update=update
        )
        return await self._engine.begin_batch(UPDATE, request, tenant=self._tenant)

    # -- internal -------------------------------------------------------------------------------------------------
    async def _batch_request(self, kind: str, which: Which | None, how: How, per_second: float) -> BatchRequest:
        """What a batch is to do. Raises InvalidValue, NotFound."""
        command = command_of(kind, how)
        if isinstance(command, Migrate | Restart) and command.definition:
            await self._engine.obtain_definition(command.definition, self._tenant)
        meant = filter_of(kind, cast("Which", arguments.mapping(which, "which")), self._tenant)
        return BatchRequest(meant, command, arguments.rate(per_second, "per_second"))

    async def _batch_state(self, batch_key: int) -> str:
        return (await self.batch_progress(batch_key)).state.lower()

    async def _check_jobs(self, keys: Sequence[int]) -> None:
        """Are these jobs of processes, and of this tenant? Raises NotFound."""
        for key in keys:
            rows = await self._store.list_jobs(JobFilter(after=key - 1, limit=1))
            if not rows or rows[0].key != key or rows[0].kind not in OF_PROCESSES or not self._is_theirs(rows[0]):
                message = f"Expected a job of a process with key {key}, found none: it was completed or canceled"
                raise NotFound(message)

    def _is_theirs(self, job: StoredJob) -> bool:
        return self._tenant in ("", job.tenant)

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
