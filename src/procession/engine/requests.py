"""What others ask of an engine: deploy, start, command, publish, enqueue, wait. It wires and runs nothing itself."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any, TypeVar

import msgspec

from procession.core import starts_that_hold
from procession.core.commands import AnyCommand, StartInstance
from procession.engine.cache import OVER
from procession.engine.cells import Asked, Begin, no_instance
from procession.engine.clock import StoreClock
from procession.engine.decisions import Decisions
from procession.engine.definitions import Definitions
from procession.engine.deploy import build_deployment
from procession.engine.deploy_decisions import imported_files
from procession.engine.instances import Instances
from procession.engine.intake import Intake
from procession.engine.keys import KeyStock
from procession.engine.lane import Patience
from procession.engine.messages import Messages
from procession.engine.outbox import Announcer
from procession.engine.settings import Counters, Settings
from procession.engine.submissions import Submissions
from procession.engine.values import plain_variables
from procession.errors import NotFound, Unavailable
from procession.jobs.schedule import to_datetime
from procession.limits import STEP_KEYS_MAX
from procession.store.port import Store
from procession.store.rows import Deployed, NewJob, NewMessage, PublishResult, StoredInstance
from procession.store.rows.queue import Submitted

DEPLOYED = "$deployed"  # announced after a deployment: whoever remembers latest versions forgets them
T = TypeVar("T")

WAIT_POLL_S = 1.0


class Requests:
    """The part of an engine that callers see. ``Engine`` gives it its parts."""

    store: Store
    settings: Settings
    counters: Counters
    clock: StoreClock
    definitions: Definitions
    decisions: Decisions
    instances: Instances
    _keys: KeyStock
    _announcer: Announcer
    _messages: Messages
    _intake: Intake
    _submissions: Submissions
    _timer_set: Callable[[int], None]
    _open: bool
    _chance: Callable[[], float]
    _loop: asyncio.AbstractEventLoop | None

    async def deploy(
        self, resources: Sequence[tuple[str, bytes]], *, tenant: str = "", methods: Collection[str] = ()
    ) -> Deployed:
        """Store files (name, content) together; ``methods``: ids of bare tasks that are bound to functions.

        Raises InvalidModel with every problem, Unavailable.
        """
        keys = await self.instances.keys()
        imported = await imported_files(self.store, resources, tenant)
        rows = build_deployment(resources, keys, self.clock.now(), tenant=tenant, methods=methods, imported=imported)
        stored = await self.store.deploy(rows)
        self.definitions.forget_latest()
        self.decisions.forget_latest()
        self._announcer.announce(DEPLOYED)
        for resource in rows.resources:
            for definition in resource.definitions:
                for timer in definition.start_timers:
                    self._timer_set(timer.due_at)
        return stored

    async def start_instance(  # noqa: PLR0913 - the options of a start
        self,
        process_id: str = "",
        variables: object = None,
        *,
        definition: int = 0,
        version: int = 0,
        version_tag: str = "",
        business_id: str = "",
        tags: Sequence[str] = (),
        tenant: str = "",
        at: Sequence[str] = (),
        after: Sequence[str] = (),
        start: str = "",
        key: int = 0,
    ) -> int:
        """Start an instance of the latest version (or an exact one); its key once the start is durable.

        ``key``: one that was taken for it.

        Raises NotFound, InvalidValue, Unavailable.
        """
        values, raw = plain_variables(variables)
        usual = not (definition or version or version_tag)
        found = self.definitions.latest(process_id, tenant) if usual else None
        if found is None:
            found = await self._patiently(
                lambda: (
                    self.definitions.obtain_undeleted(definition)
                    if definition
                    else self.definitions.find(process_id, version=version, version_tag=version_tag, tenant=tenant)
                )
            )
        instances = self.instances
        keys = instances.keys_at_hand()
        instance = key or (await instances.keys() if keys is None else keys).take()
        command = StartInstance(instance, values, start, business_id=business_id)
        if at or after:
            command.at, command.after = list(at), list(after)
        begin = Begin(definition=found, raw=raw, tags=list(tags) if tags else [], tenant=tenant)
        future = self._answer()
        self._let_in()
        instances.start(instance, Asked(command, future, None, self._deadline(), begin))
        await future
        return instance

    async def start_by_conditions(
        self, process_id: str, variables: object = None, *, business_id: str = "", tenant: str = ""
    ) -> list[int]:
        """Start an instance at each conditional start event that holds; their keys. Raises as ``start_instance``."""
        found = await self.definitions.find(process_id, tenant=tenant)
        now = to_datetime(self.clock.now())
        starts = starts_that_hold(found, plain_variables(variables).values, now)
        options: dict[str, Any] = {"definition": found.key, "business_id": business_id, "tenant": tenant}
        return [await self.start_instance(process_id, variables, start=start, **options) for start in starts]

    async def command(
        self, instance: int, command: AnyCommand, *, fences: dict[int, int] | None = None, tenant: str = ""
    ) -> int:
        """Give a command to an instance; its status once the step is durable. ``tenant``: whose it must be.

        Raises NotFound, Conflict, InvalidValue, Unavailable.
        """
        return await self.put_command(instance, command, fences=fences, tenant=tenant)

    def put_command(
        self, instance: int, command: AnyCommand, *, fences: dict[int, int] | None = None, tenant: str = ""
    ) -> asyncio.Future[int]:
        """``command`` without a coroutine of its own."""
        variables = getattr(command, "variables", None)
        if variables:
            command = msgspec.structs.replace(command, variables=plain_variables(variables).values)
        ask = Asked(command, self._answer(), fences=fences, deadline=self._deadline())
        ask.tenant = tenant
        self._let_in()
        self.instances.submit(instance, ask)
        return ask.future

    async def command_for(self, kind: str, key: int, command: AnyCommand, *, tenant: str = "") -> int:
        """Give a command to the instance that a job, user_task, incident or subscription belongs to. Raises alike."""
        instance = await self.store.find(kind, key)
        if not instance or (tenant and not await self.load(instance, tenant)):
            raise NotFound(f"Expected {kind.replace('_', ' ')} {key} to exist, found none with this key")
        return await self.command(instance, command, tenant=tenant)

    async def load(self, instance: int, tenant: str = "") -> StoredInstance | None:
        """An instance as it is stored; None where there is none, or where it is another tenant's."""
        rows = await self.store.load([instance])
        return rows[0] if rows and tenant in ("", rows[0].tenant) else None

    async def publish(
        self,
        name: str,
        correlation_key: str = "",
        variables: object = None,
        *,
        ttl_ms: int = 0,
        message_id: str = "",
        buffer: bool = True,
        tenant: str = "",
        key: int = 0,
    ) -> PublishResult:
        """Publish a message; ``key`` (0: a new one) is what it will be known by. Raises InvalidValue, Unavailable."""
        message = NewMessage(
            key=key or (await self.instances.keys()).take(),
            name=name,
            correlation_key=correlation_key,
            variables=plain_variables(variables).raw,
            ttl_ms=ttl_ms,
            message_id=message_id,
            buffer=buffer,
            tenant=tenant,
        )
        return await self._messages.publish(message)

    async def broadcast(self, name: str, variables: object = None, *, tenant: str = "") -> list[int]:
        """Broadcast a signal; the instances reached. Raises InvalidValue, Unavailable."""
        return await self._messages.broadcast(name, plain_variables(variables).raw, tenant)

    async def enqueue(self, jobs: Sequence[NewJob]) -> None:
        """Insert plain jobs; they are durable when this returns. Raises InvalidValue, Unavailable."""
        if jobs:
            await self._intake.put(jobs, self._deadline())

    def put_jobs(self, jobs: Sequence[NewJob]) -> asyncio.Future[None]:
        """``enqueue`` without a coroutine of its own; at least one job."""
        return self._intake.put(jobs, self._deadline())

    async def submit_jobs(self, jobs: Sequence[NewJob]) -> list[Submitted]:
        """Insert plain jobs with any options, all or none; what became of each, in order.

        Raises InvalidValue, Conflict for a batch of jobs that is not open, Unavailable.
        """
        return await self._submissions.submit(jobs, self._deadline())

    def key_at_hand(self) -> int:
        """A key for a row that a caller makes; 0 if there is none at this moment."""
        keys = self.instances.keys_at_hand()
        return 0 if keys is None else keys.take()

    async def take_keys(self, count: int) -> list[int]:
        """Keys for rows that a caller makes."""
        at_hand = self.instances.keys_at_hand() if count <= STEP_KEYS_MAX else None
        if at_hand is not None:
            return at_hand.take_many(count)
        taken: list[int] = []
        while len(taken) < count:
            keys = await self.instances.keys()
            taken += keys.take_many(min(count - len(taken), STEP_KEYS_MAX))
        return taken

    async def take_keys_for_caller(self, count: int) -> list[int]:
        """Keys for rows that a caller writes in its own transaction, whatever lock that holds. Raises Unavailable."""
        return await self._keys.take_for_caller(count)

    async def wait_ended(self, instance: int, *, tenant: str = "") -> int:
        """Wait until an instance is over, wherever it ends; its status. Raises NotFound, Unavailable."""
        future = self.instances.ends.wait(instance)
        try:
            while not future.done():
                row = await self.load(instance, tenant)
                if row is None:
                    raise NotFound(no_instance(instance))
                if row.rev > 0 and row.status in OVER:
                    return row.status
                await asyncio.wait([future], timeout=WAIT_POLL_S)
            return future.result()
        finally:
            self.instances.ends.forget(instance, future)

    # -- internal ---------------------------------------------------------------------------------------------------
    async def _patiently(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask the database, again while it does not answer, for as long as a caller waits for a commit."""
        deadline, patience = self._deadline(), Patience(self._chance)
        while True:
            try:
                return await ask()
            except Unavailable:
                if not self._open or asyncio.get_running_loop().time() >= deadline:
                    raise
                await patience.pause()

    def _answer(self) -> asyncio.Future[int]:
        """A future for one answer. Raises Unavailable when the engine is not open."""
        loop = self._loop
        if loop is None or not self._open:
            raise Unavailable("The engine is not open (any more)")
        return loop.create_future()

    def _deadline(self) -> float:
        """When a caller of now loses patience, on the loop's clock."""
        loop = self._loop
        return 0.0 if loop is None else loop.time() + self.settings.command_deadline_ms / 1000

    async def _ask(self, instance: int, ask: Asked) -> int:
        """Submit and wait."""
        self._let_in()
        self.instances.submit(instance, ask)
        return await ask.future

    def _let_in(self) -> None:
        """Refuse one more command when too much is under way already. Raises Unavailable."""
        if self.counters.in_flight >= self.settings.commands_waiting_max:
            self.counters.rejected["Busy"] = self.counters.rejected.get("Busy", 0) + 1
            raise Unavailable(
                f"Expected fewer than {self.settings.commands_waiting_max} commands under way "
                f"(commands_waiting_max), found {self.counters.in_flight}: try again later"
            )
