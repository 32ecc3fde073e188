"""What operators ask of an engine: migration, deletion, operations over many instances. It decides nothing."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from procession.core import Decision, MigrationFinding, migrate, migration_findings
from procession.core.commands import Migrate, Resume, UpdateUserTask
from procession.core.state import Status
from procession.engine.batches import Batches, BatchRequest
from procession.engine.cache import OVER
from procession.engine.cells import Asked, Begin, Cell, no_instance
from procession.engine.requests import DEPLOYED, Requests
from procession.engine.restarts import Plan, Restart, plan_restart
from procession.engine.writer import FOLLOW_UP_RETRIES
from procession.errors import Conflict, NotFound, Unavailable
from procession.ids import Keys
from procession.jobs.kinds import JobKind, JobState
from procession.limits import PAGE_MAX
from procession.model.definition import Definition
from procession.store.rows import InstanceFilter, JobFilter, StoredInstance, StoredUserTask, UserTaskFilter

CLAIM_TRIES = 20  # of a user task whose instance others change meanwhile


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


class MovedOn(Conflict):
    """The instance has taken a step since it was looked at."""


class Claiming(Asked):
    """A claim of a user task, decided on what was seen: alone in its step, at the revision that was seen."""

    __slots__ = ("seen",)

    alone = True

    def __init__(self, seen: int, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)  # pyright: ignore[reportArgumentType] - as in Asked
        self.seen = seen

    def decide(self, cell: Cell, now: int, keys: Keys) -> list[Decision]:
        """As any command, unless the instance has moved on."""
        if cell.ledger.rev != self.seen:
            message = f"Instance {cell.key} is at revision {cell.ledger.rev}, not at {self.seen} any more"
            raise MovedOn(message)
        return super().decide(cell, now, keys)


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
        found = await self.definitions.obtain_undeleted(definition)
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

    async def resume_instance(self, instance: int, *, tenant: str = "") -> None:
        """Let a suspended instance go on; messages that wait for that are delivered. Raises NotFound, Conflict."""
        await self.command(instance, Resume(), tenant=tenant)
        self._announcer.announce_all(await self.store.hasten(instance))

    async def retry_job(self, job: int, *, tenant: str = "") -> None:
        """Try a failed follow-up or timer again. Raises NotFound; Conflict for one that has not failed, or is another.

        A job of an element is tried again by resolving its incident.
        """
        rows = await self.store.list_jobs(JobFilter(after=job - 1, limit=1))
        if not rows or rows[0].key != job or tenant not in ("", rows[0].tenant):
            message = f"Expected a job with key {job}, found none: it was done, or never was"
            raise NotFound(message)
        row = rows[0]
        if row.kind not in (JobKind.FOLLOW_UP, JobKind.TIMER):
            kind = JobKind(row.kind).name.lower()
            how = "resolve its incident" if row.instance else "requeue it"
            message = f"Expected a follow-up or a timer to try again, found job {job}, which is a {kind} job: {how}"
            raise Conflict(message)
        if not await self.store.retry_jobs([job], FOLLOW_UP_RETRIES):
            message = f"Job {job} has not failed for good: it is {JobState(row.state).name.lower()}"
            raise Conflict(message)
        self._announcer.announce(row.queue)

    async def restart_instance(
        self, instance: int, restart: Restart, *, tenant: str = "", dry_run: bool = False
    ) -> Plan:
        """Start a new instance from what an ended one left; the plan with its key. Raises NotFound, Conflict."""
        plan = await plan_restart(self.store, self.definitions, instance, restart, tenant=tenant)
        if not dry_run:
            plan.command.instance = (await self.instances.keys()).take()
            begin = Begin(definition=plan.definition, tags=plan.source.tags, tenant=plan.source.tenant)
            future = self._answer()
            self._let_in()
            self.instances.start(plan.command.instance, Asked(plan.command, future, None, self._deadline(), begin))
            await future
        return plan

    async def claim_user_task(self, user_task: int, assignee: str, *, tenant: str = "") -> None:
        """Give a user task that nobody has to a person. Raises NotFound; Conflict where another has it.

        Who has it stands in its row alone. Every change of the row makes the instance's revision one higher, so that
        a claim counts only at the revision that was read before the row.
        """
        row, task = await self._user_task(user_task, tenant)
        for _ in range(CLAIM_TRIES):
            if task.assignee == assignee:
                return
            if task.assignee:
                message = f"User task {user_task} is assigned to '{task.assignee}': let it be unassigned first"
                raise Conflict(message)
            command = UpdateUserTask(user_task, {"assignee": assignee}, "assign")
            try:
                await self._ask(row.key, Claiming(row.rev, command, self._answer(), deadline=self._deadline()))
            except MovedOn:
                row, task = await self._user_task(user_task, tenant)
            else:
                return
        message = f"Instance {row.key} of user task {user_task} was changed by others {CLAIM_TRIES} times meanwhile"
        raise Unavailable(message)

    async def _user_task(self, user_task: int, tenant: str) -> tuple[StoredInstance, StoredUserTask]:
        """A user task, and its instance as it was before. Raises NotFound."""
        key = await self.store.find("user_task", user_task)
        row = await self.load(key, tenant) if key else None
        tasks = await self.store.list_user_tasks(UserTaskFilter(key=user_task)) if row is not None else []
        if row is None or not tasks:
            message = f"Expected user task {user_task} to exist, found none with this key"
            raise NotFound(message)
        return row, tasks[0]

    async def delete_form(self, form: int, *, tenant: str = "") -> None:
        """Delete a version of a form. Raises NotFound, Unavailable."""
        if not await self.store.list_forms(key=form, tenant=tenant) or not await self.store.delete_form(form):
            message = f"Expected a form with key {form}, found none"
            raise NotFound(message)
        self.decisions.forget_latest()
        self._announcer.announce(DEPLOYED)

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
        if not rows or rows[0].deleted or tenant not in ("", rows[0].tenant):
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
        self.definitions.was_deleted(definition)
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
        """Begin an operation over many instances; its key. Raises Conflict, Unavailable."""
        return await self._batches.begin(kind, request, tenant)

    async def resume_batch(self, batch: int, *, tenant: str = "") -> bool:
        """Let a suspended batch go on; False if it is not suspended."""
        return await self._batches.resume(batch, tenant)

    async def retry_batch(self, batch: int, *, tenant: str = "") -> int:
        """Do the failed items of a batch again, as another batch; its key. Raises NotFound, Conflict, Unavailable."""
        return await self._batches.retry(batch, tenant)

    async def try_batch(self, request: BatchRequest, limit: int) -> tuple[int, list[tuple[int, str]]]:
        """What a batch would do: how many items it has, and why some of the first ``limit`` would fail."""
        return await self._batches.try_out(request, limit)


def _with_status(which: InstanceFilter, status: int) -> InstanceFilter:
    return msgspec.structs.replace(which, status=int(status))
