"""What a conformance test is given: a clock turned by hand, keys, and short ways to write rows. No assertions here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from procession.ids import Keys
from procession.jobs.kinds import JobKind
from procession.model.definition import Trigger
from procession.store.port import Store
from procession.store.rows import (
    ClaimedJob,
    Deployment,
    InstanceFilter,
    JobFence,
    JobFilter,
    NewDefinition,
    NewJob,
    NewMessage,
    NewResource,
    NewStartSubscription,
    NewStartTimer,
    NewSubscription,
    Step,
    StepOutcome,
    StoredDefinition,
    StoredInstance,
    StoredJob,
    Want,
)

EPOCH_MS = 1_700_000_000_000  # where every test's clock begins
MESSAGE, SIGNAL = Trigger.MESSAGE, Trigger.SIGNAL


class ManualClock:
    """A store's clock that moves only when a test says so."""

    def __init__(self, now: int = EPOCH_MS) -> None:
        self.now = now

    def __call__(self) -> int:
        """The instant, in milliseconds since the epoch."""
        return self.now

    def advance(self, milliseconds: int) -> int:
        """Let time pass; the new instant."""
        self.now += milliseconds
        return self.now


class Reopen(Protocol):
    """Opens another store object on the same database, closed by the fixture; None where a store is one object."""

    async def __call__(self) -> Store | None:
        """Open it."""
        ...


def new_job(keys: Keys, *, queue: str = "mail", **more: Any) -> NewJob:  # noqa: ANN401 - any field of the row
    """A plain queue job."""
    fields: dict[str, Any] = {"key": keys.take(), "kind": JobKind.TASK, "queue": queue, "type": "send", **more}
    return NewJob(**fields)


def start_step(keys: Keys, *, process_id: str = "order", **more: Any) -> Step:  # noqa: ANN401 - any field of the row
    """The first step of a new instance."""
    fields: dict[str, Any] = {
        "instance": keys.take(),
        "rev": -1,
        "definition": 7,
        "process_id": process_id,
        "status": 0,
        "state": b"\x81\xa1k\x01",
        "variables": b'{"orderId":"A-17"}',
        "events": b'[["started",1]]',
        **more,
    }
    return Step(**fields)


def next_step(before: Step, **more: Any) -> Step:  # noqa: ANN401 - any field of the row
    """A step of the instance of ``before``, decided on what that step wrote."""
    fields: dict[str, Any] = {
        "instance": before.instance,
        "rev": max(before.rev, 0) + 1,
        "definition": before.definition,
        "process_id": before.process_id,
        "status": before.status,
        "state": before.state,
        **more,
    }
    return Step(**fields)


def service_job(keys: Keys, step: Step, **more: Any) -> NewJob:  # noqa: ANN401 - any field of the row
    """A job of a service task of the step's instance."""
    fields: dict[str, Any] = {
        "key": keys.take(),
        "kind": JobKind.SERVICE,
        "queue": "$job:charge",
        "type": "charge",
        "instance": step.instance,
        "element_instance": keys.take(),
        "element": "charge-card",
        "definition": step.definition,
        **more,
    }
    return NewJob(**fields)


def waiting_for(keys: Keys, step: Step, name: str = "paid", **more: Any) -> NewSubscription:  # noqa: ANN401 - any field
    """A message subscription of the step's instance."""
    fields: dict[str, Any] = {
        "key": keys.take(),
        "instance": step.instance,
        "element_instance": keys.take(),
        "element": "wait-for-payment",
        "process_id": step.process_id,
        "trigger": MESSAGE,
        "name": name,
        "correlation_key": "A-17",
        "tenant": step.tenant,
        **more,
    }
    return NewSubscription(**fields)


def message(keys: Keys, name: str = "paid", **more: Any) -> NewMessage:  # noqa: ANN401 - any field of the row
    """A message that is buffered for a minute when nothing waits for it."""
    fields: dict[str, Any] = {
        "key": keys.take(),
        "name": name,
        "correlation_key": "A-17",
        "variables": b'{"amount":12.50}',
        "ttl_ms": 60_000,
        **more,
    }
    return NewMessage(**fields)


def definition(
    keys: Keys,
    process_id: str = "order",
    *,
    messages: Sequence[str] = (),
    signals: Sequence[str] = (),
    timers: Sequence[int] = (),
    **more: Any,  # noqa: ANN401 - any field of the row
) -> NewDefinition:
    """A process with start events for these messages, signals and due times."""
    starts = [NewStartSubscription(element=f"on-{name}", trigger=MESSAGE, name=name) for name in messages]
    starts += [NewStartSubscription(element=f"on-{name}", trigger=SIGNAL, name=name) for name in signals]
    fields: dict[str, Any] = {
        "key": keys.take(),
        "process_id": process_id,
        "name": process_id.title(),
        "elements": ["start", "charge-card", "end"],
        "start_subscriptions": starts,
        "start_timers": [NewStartTimer(element=f"at-{due}", due_at=due, args=b"{}") for due in timers],
        **more,
    }
    return NewDefinition(**fields)


async def deploy(
    store: Store, keys: Keys, *definitions: NewDefinition, checksum: str = "", tenant: str = ""
) -> list[StoredDefinition]:
    """Deploy one resource with these definitions; a new checksum each time unless given."""
    key = keys.take()
    resource = NewResource(
        key=keys.take(),
        name="order.bpmn",
        kind="bpmn",
        content=b"<definitions/>",
        checksum=checksum or f"{key:064x}",
        definitions=list(definitions),
    )
    return (await store.deploy(Deployment(key=key, resources=[resource], tenant=tenant))).definitions


async def apply(store: Store, keys: Keys, *steps: Step) -> None:
    """Commit steps that must all be applied."""
    results = await store.commit(steps, keys)
    assert [result.outcome for result in results] == [StepOutcome.APPLIED] * len(steps), results


async def claim(store: Store, node: int, queue: str = "mail", count: int = 10) -> list[ClaimedJob]:
    """Claim from one queue."""
    return await store.claim(node, [Want(queue=queue, count=count)])


def fence(job: ClaimedJob | NewJob) -> JobFence:
    """The fence of a claimed job, or of one inserted already leased."""
    return JobFence(key=job.key, lease=job.lease if isinstance(job, ClaimedJob) else 1)


async def the_job(store: Store, key: int) -> StoredJob | None:
    """One job as listings show it."""
    found = await store.list_jobs(JobFilter(after=key - 1, limit=1))
    return found[0] if found and found[0].key == key else None


async def the_instance(store: Store, key: int) -> StoredInstance:
    """One instance, which must exist."""
    (found,) = await store.load([key])
    return found


async def jobs_of(store: Store, **which: Any) -> list[StoredJob]:  # noqa: ANN401 - any field of the filter
    """The first thousand jobs that a filter lets through."""
    fields: dict[str, Any] = {"limit": 1_000, **which}
    return await store.list_jobs(JobFilter(**fields))


async def instances_of(store: Store, **which: Any) -> list[StoredInstance]:  # noqa: ANN401 - any field of the filter
    """The first thousand instances that a filter lets through."""
    fields: dict[str, Any] = {"limit": 1_000, **which}
    return await store.list_instances(InstanceFilter(**fields))


def read(value: bytes) -> Any:  # noqa: ANN401 - any JSON
    """JSON as Python values: stores may keep it with other white space."""
    return msgspec.json.decode(value)
