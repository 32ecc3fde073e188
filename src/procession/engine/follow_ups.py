"""What each follow-up and each timer leads to. Called by ``System``; it changes instances only through commands.

Send             the command goes to its instance, closing the job in the same step
CallProcess      the called process is found and started; a missing one is reported to the caller
PublishMessage   to the store, which correlates or buffers, and closes the job in the same transaction
BroadcastSignal  to the store, which leaves one follow-up per subscription, the same way
StartByEvent     an instance is started at the start event that was triggered
timers           of an instance: FireTimer; of a start event: an instance, and the next firing in the same step
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import assert_never

import msgspec

from procession.core import Decision, decide, migration_findings
from procession.core.commands import (
    AnyCommand,
    AnyFollowUp,
    BroadcastSignal,
    CallProcess,
    Cancel,
    ChildEnded,
    Correlate,
    FireTimer,
    Migrate,
    PublishMessage,
    Send,
    StartByEvent,
    StartInstance,
)
from procession.core.state import Status
from procession.core.surroundings import NotAtHand
from procession.engine.batches import ITEM, TURN
from procession.engine.cells import Asked, Begin, Cell
from procession.engine.clock import StoreClock
from procession.engine.definitions import Definitions
from procession.engine.delivery import Delivery
from procession.engine.instances import Instances
from procession.engine.messages import Messages
from procession.engine.operations import Migrating
from procession.engine.restarts import Plan
from procession.engine.start_timers import StartTimer, following
from procession.engine.system import RETRY_MS_MOST, NotYet
from procession.engine.values import encode_json
from procession.errors import Conflict, NotFound, Rejected
from procession.ids import Keys
from procession.jobs.kinds import JobKind
from procession.model.definition import Definition
from procession.store.port import Store
from procession.store.rows import JobEnd, JobFence, JobOutcome, NewMessage

_decode_follow_up = msgspec.json.Decoder(AnyFollowUp).decode
_decode_timer = msgspec.json.Decoder(StartTimer).decode

CANCEL_TRIES = 5  # a called instance may still be on its way when its caller is interrupted


class FiredTimer(Asked):
    """A timer that the store says is due: this process' idea of the time may be a moment behind the store's."""

    __slots__ = ()

    def decide(self, cell: Cell, now: int, keys: Keys) -> list[Decision]:
        """Fire at the due instant or later."""
        command = self.command
        if isinstance(command, FireTimer) and cell.state is not None:
            owner = cell.state.nodes.get(cell.state.waits.get(command.timer, 0))
            dues = [wait.due for wait in (owner.waits if owner else None) or () if wait.key == command.timer]
            now = max(now, *dues) if dues else now
        return super().decide(cell, now, keys)


class FollowUps:
    """Carries out system jobs; True: closed with what it did, False: to be deleted."""

    def __init__(
        self, store: Store, instances: Instances, definitions: Definitions, messages: Messages, clock: StoreClock
    ) -> None:
        self._store = store
        self._instances = instances
        self._definitions = definitions
        self._messages = messages
        self._clock = clock
        self.batches: Callable[[Delivery], Awaitable[bool]]  # set by the engine
        self.announce: Callable[[list[str]], None]  # set by the engine

    async def give(self, instance: int, command: AnyCommand, job: Delivery) -> None:
        """Give a command to an instance and close the job in the same step."""
        await self._submit(instance, command, job)

    async def refusal(self, instance: int, command: AnyCommand) -> str:
        """Why an instance would refuse a command now; empty if it would not. Changes nothing."""
        try:
            definition, state = await self._instances.copy(instance)
            if isinstance(command, Migrate):
                target = await self._definitions.obtain_undeleted(command.definition)
                findings = migration_findings(definition, target, state, command.mapping)
                return "; ".join(found.message for found in findings if found.severity == "error")
            keys, surroundings = await self._instances.keys(), self._instances.surroundings
            decide(definition, state, command, now=self._clock.now(), keys=keys, surroundings=surroundings)
        except NotAtHand:
            return ""  # it went as far as a question: the instance takes the command
        except Rejected as error:
            return str(error)
        return ""

    async def __call__(self, job: Delivery) -> bool:
        """One job."""
        if job.kind == JobKind.TIMER:
            return await (self._timer(job) if job.instance else self._start_timer(job))
        if job.type in {TURN, ITEM}:
            return await self.batches(job)
        follow_up = _decode_follow_up(job.args)
        match follow_up:
            case Send():
                return await self._send(job, follow_up.instance, follow_up.command)
            case CallProcess():
                return await self._call(job, follow_up)
            case PublishMessage():
                return await self._publish(job, follow_up)
            case BroadcastSignal():
                raw = encode_json(follow_up.variables)
                await self._messages.broadcast(follow_up.name, raw, job.tenant, fence_of(job))
                return True
            case StartByEvent():
                return await self._start_by_event(job, follow_up)
            case _:
                assert_never(follow_up)

    # -- commands ---------------------------------------------------------------------------------------------------
    async def _send(self, job: Delivery, instance: int, command: AnyCommand) -> bool:
        """Give a command to an instance and close the job in the same step."""
        try:
            await self._submit(instance, command, job)
        except NotFound:
            if isinstance(command, Correlate):
                return await self._offer_again(job, command)
            if isinstance(command, Cancel) and command.by_parent and job.attempt < CANCEL_TRIES:
                raise NotYet(f"called instance {instance} is not there yet, perhaps on its way") from None
            raise
        except Conflict as error:
            if not isinstance(command, Correlate):
                raise
            await self._put_aside(job, instance, str(error))
        return True

    async def _put_aside(self, job: Delivery, instance: int, why: str) -> None:
        """A message waits for a suspended instance to be resumed. Raises NotYet for one that is not suspended.

        Whoever resumes it makes the job ready (``hasten``) after the instance; it may have done so a moment ago, while
        this process was being refused and the job was not there to be found. So look once more when it is there.
        """
        if await self._status(instance) != Status.SUSPENDED:
            raise NotYet(why)
        again = JobOutcome(
            key=job.key, lease=job.lease, end=JobEnd.RETRY, delay_ms=RETRY_MS_MOST, error=why, retries=job.retries
        )
        await self._store.finish([again])
        if await self._status(instance) != Status.SUSPENDED:
            self.announce(await self._store.hasten(instance))

    async def _status(self, instance: int) -> int:
        """The stored status of an instance, -1 if it is gone."""
        rows = await self._store.load([instance])
        return rows[0].status if rows else -1

    async def begin(self, plan: Plan, job: Delivery) -> None:
        """Start an instance anew and close the job in the same step: twice is once."""
        command = plan.command
        command.instance = (await self._instances.keys()).take()
        begin = Begin(definition=plan.definition, tags=plan.source.tags, tenant=plan.source.tenant)
        await self._start(job, command, begin)

    async def _submit(self, instance: int, command: AnyCommand, job: Delivery, *, kind: type[Asked] = Asked) -> None:
        """Submit and wait."""
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        fences = {job.key: job.lease}
        if isinstance(command, Migrate):
            target = await self._definitions.obtain_undeleted(command.definition)
            self._instances.submit(instance, Migrating(target, command, future, fences=fences))
        else:
            self._instances.submit(instance, kind(command, future, fences=fences))
        await future

    async def _offer_again(self, job: Delivery, command: Correlate) -> bool:
        """The instance has moved on: the message goes to whoever waits for it next, within its time to live."""
        left = command.expires - self._clock.now()
        if command.message and left > 0:
            message = NewMessage(
                key=command.message,
                name=command.name,
                correlation_key=command.correlation_key,
                variables=encode_json(command.variables),
                ttl_ms=left,
                expires_at=command.expires,
                closes=fence_of(job),
                tenant=job.tenant,
            )
            await self._messages.publish(message)
            return True
        return False

    # -- starts -----------------------------------------------------------------------------------------------------
    async def _start(self, job: Delivery, command: StartInstance, begin: Begin) -> None:
        """Start an instance and close the job in the same step."""
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._instances.start(command.instance, Asked(command, future, fences={job.key: job.lease}, begin=begin))
        await future

    async def _start_by_event(self, job: Delivery, follow_up: StartByEvent) -> bool:
        """Start an instance at a start event."""
        definition = await self._definitions.obtain_undeleted(follow_up.definition)
        command = StartInstance(
            instance=follow_up.instance,
            variables=follow_up.variables,
            start=follow_up.start,
            start_channel=follow_up.start_channel,
            event=follow_up.event,
            message=follow_up.message,
            subscription=follow_up.subscription,
        )
        await self._start(job, command, Begin(definition=definition, tenant=job.tenant))
        return True

    async def _call(self, job: Delivery, call: CallProcess) -> bool:
        """Start the called process, unless the call activity is gone meanwhile."""
        parent = await self._instances.view(call.parent)
        node = parent.nodes.get(call.parent_element_instance) if parent is not None else None
        if node is None or node.called != call.instance:
            return False
        try:
            definition = await self._find_called(job, call)
            command = StartInstance(
                instance=call.instance,
                variables=call.variables,
                business_id=call.business_id,
                parent=call.parent,
                parent_element_instance=call.parent_element_instance,
                depth=call.depth,
            )
            await self._start(job, command, Begin(definition=definition, tenant=job.tenant))
        except Conflict:
            raise
        except Rejected as error:
            missing = ChildEnded(
                element_instance=call.parent_element_instance,
                child=call.instance,
                outcome="missing",
                message=str(error),
            )
            await self._submit(call.parent, missing, job)
        return True

    async def _find_called(self, job: Delivery, call: CallProcess) -> Definition:
        """The definition that a call activity's binding means now. Raises NotFound."""
        find = self._definitions.find
        match call.binding:
            case "deployment":
                deployment = await self._definitions.deployment_of(call.parent_definition)
                return await find(call.process_id, deployment=deployment, tenant=job.tenant)
            case "version":
                return await find(call.process_id, version=call.version, tenant=job.tenant)
            case "versionTag":
                return await find(call.process_id, version_tag=call.version_tag, tenant=job.tenant)
            case _:
                return await find(call.process_id, tenant=job.tenant)

    # -- messages ---------------------------------------------------------------------------------------------------
    async def _publish(self, job: Delivery, follow_up: PublishMessage) -> bool:
        """Publish and close the job in the same transaction; a lost lease means that another has done so."""
        message = NewMessage(
            key=job.key,
            name=follow_up.name,
            correlation_key=follow_up.correlation_key,
            variables=encode_json(follow_up.variables),
            ttl_ms=follow_up.ttl_ms,
            message_id=follow_up.message_id,
            closes=fence_of(job),
            tenant=job.tenant,
        )
        await self._messages.publish(message)
        return True

    # -- timers -----------------------------------------------------------------------------------------------------
    async def _timer(self, job: Delivery) -> bool:
        """A timer of an instance is due."""
        try:
            await self._submit(job.instance, FireTimer(job.key), job, kind=FiredTimer)
        except Conflict as error:
            raise NotYet(str(error)) from None
        return True

    async def _start_timer(self, job: Delivery) -> bool:
        """A timer start event is due: start an instance and put the next firing in the same step."""
        timer = _decode_timer(job.args)
        definition = await self._definitions.obtain_undeleted(timer.definition)
        keys = await self._instances.keys()
        upcoming = following(timer, keys.take(), self._clock.now(), job.tenant)
        command = StartInstance(instance=keys.take(), start=timer.element)
        begin = Begin(definition=definition, tenant=job.tenant, extra_jobs=[upcoming] if upcoming else [])
        await self._start(job, command, begin)
        return True


def fence_of(job: Delivery) -> JobFence:
    """The job under the lease that this process holds."""
    return JobFence(key=job.key, lease=job.lease)
