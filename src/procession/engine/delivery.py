"""What the engine hands to those who do the work, and what it asks of them. No handler is known here."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from procession.engine.standing import Standing
from procession.model.definition import Element
from procession.store.rows import ClaimedJob, NewJob, Want


class Delivery(msgspec.Struct, kw_only=True, gc=False):
    """A job leased to this process, ready to run. Part of no cycle."""

    key: int
    lease: int
    kind: int  # jobs.JobKind
    queue: str
    type: str
    instance: int = 0
    element_instance: int = 0
    element: str = ""  # element id
    definition: int = 0
    attempt: int = 1
    crashes: int = 0  # runs in a row that ended with their process
    retries: int = 3  # attempts left, this one included
    priority: int = 0
    args: bytes = b""  # JSON
    options: bytes = b""  # JSON of jobs.options.JobOptions; none of a plain job
    checkpoint: bytes = b""  # JSON: what an earlier run left
    tenant: str = ""
    is_limited: bool = False
    start_within_ms: int = 0  # limited by a rate: how soon after ``claimed_at`` it has to start
    claimed_at: float = 0.0  # when its claim was asked for, in seconds of ``StoreClock.moment``
    variables: dict[str, Any] | None = None  # process jobs: what their element sees. Shared: never change it
    process_id: str = ""
    business_id: str = ""
    spec: Element | None = None  # process jobs: the element, compiled


def said(job: Delivery) -> dict[str, Any]:
    """What a line of the log about a job carries beside its text: its key, its type, its instance and element."""
    fields = {"jobKey": str(job.key), "jobType": job.type}
    if job.instance:
        fields["processInstanceKey"] = str(job.instance)
    if job.element:
        fields["elementId"] = job.element
    return {"fields": fields}


def said_of(instance: int = 0, *, job: int = 0) -> dict[str, Any]:
    """The same where no more than a key is known."""
    named = {"processInstanceKey": instance, "jobKey": job}
    return {"fields": {name: str(key) for name, key in named.items() if key}}


def from_new(job: NewJob) -> Delivery:
    """A job that was claimed on insert."""
    return Delivery(
        key=job.key,
        lease=1,
        kind=job.kind,
        queue=job.queue,
        type=job.type,
        instance=job.instance,
        element_instance=job.element_instance,
        element=job.element,
        definition=job.definition,
        retries=job.retries,
        priority=job.priority,
        args=job.args,
        tenant=job.tenant,
    )


def from_claimed(job: ClaimedJob, claimed_at: float = 0.0) -> Delivery:
    """A job that was claimed from the database."""
    return Delivery(
        key=job.key,
        lease=job.lease,
        kind=job.kind,
        queue=job.queue,
        type=job.type,
        instance=job.instance,
        element_instance=job.element_instance,
        element=job.element,
        definition=job.definition,
        attempt=job.attempt,
        crashes=job.crashes,
        retries=job.retries,
        priority=job.priority,
        args=job.args,
        options=job.options,
        checkpoint=job.checkpoint,
        tenant=job.tenant,
        is_limited=job.is_limited,
        start_within_ms=job.start_within_ms,
        claimed_at=claimed_at,
    )


class Dispatcher(Protocol):
    """Whoever runs jobs in this process. Every slot given away by ``reserve`` or ``wants`` is used or given back."""

    def reserve(self, queue: str) -> bool:
        """Take one free slot of a queue, if there is one."""
        ...

    def release(self, queue: str, count: int = 1) -> None:
        """Give back slots that no job came for."""
        ...

    def wants(self) -> list[Want]:
        """All free slots, taken at once, for a claim."""
        ...

    def deliver(self, job: Delivery) -> None:
        """Run this job in a slot taken before, or return it. Never fails and never waits."""
        ...

    def hold_back(self, queue: str) -> None:
        """Limited jobs of a queue are due and found no slot that was free at once: see that one is, soon."""
        ...

    def share(self, *, alone: bool) -> None:
        """Whether there are other processes, from which jobs that wait here are kept."""
        ...

    def withdraw(self, jobs: set[int]) -> None:
        """These jobs are closed: what of them waits here does not begin."""
        ...

    def runs_method(self, name: str) -> bool:
        """Whether this process has the code of a method."""
        ...

    def runs_type(self, name: str) -> bool:
        """Whether this process has a handler for jobs of a type."""
        ...

    def idle(self) -> bool:
        """Whether nothing is buffered or running."""
        ...

    def running(self) -> list[str]:
        """What runs now, by name, for a person."""
        ...

    def standing(self) -> Standing:
        """What the slots do, for people elsewhere."""
        ...

    def jobs(self) -> set[int]:
        """What is buffered or runs, by key; after ``stop`` what keeps limits taken since it does not end."""
        ...

    async def stop(self, wait_ms: int, cancel_ms: int) -> None:
        """The ladder: return what has not started, wait, cancel, wait, give up."""
        ...

    def cancel_job(self, key: int, lease: int, reason: str) -> None:
        """Somebody wants this run to end: cancel it and return the job, which is deleted by that."""
        ...

    def cancel_all(self, reason: str) -> None:
        """Cancel what runs and drop what is buffered: this process has lost its leases."""
        ...


class Nobody:
    """The dispatcher of a process that runs no jobs."""

    def reserve(self, queue: str) -> bool:  # noqa: ARG002 - the protocol's signature
        """There is no slot."""
        return False

    def release(self, queue: str, count: int = 1) -> None:
        """There is nothing to give back."""

    def wants(self) -> list[Want]:
        """Nothing."""
        return []

    def deliver(self, job: Delivery) -> None:
        """Cannot happen: no slot was given away."""
        raise AssertionError(job)

    def hold_back(self, queue: str) -> None:
        """Cannot happen: it claims nothing."""

    def share(self, *, alone: bool) -> None:
        """Nothing waits here."""

    def withdraw(self, jobs: set[int]) -> None:
        """Nothing waits here."""

    def runs_method(self, name: str) -> bool:  # noqa: ARG002 - the protocol's signature
        """It has no code."""
        return False

    def runs_type(self, name: str) -> bool:  # noqa: ARG002 - the protocol's signature
        """It has no handler."""
        return False

    def idle(self) -> bool:
        """Always."""
        return True

    def running(self) -> list[str]:
        """Nothing."""
        return []

    def standing(self) -> Standing:
        """It has no slots."""
        return Standing()

    def jobs(self) -> set[int]:
        """None."""
        return set()

    async def stop(self, wait_ms: int, cancel_ms: int) -> None:
        """Nothing to stop."""

    def cancel_job(self, key: int, lease: int, reason: str) -> None:
        """Nothing to cancel."""

    def cancel_all(self, reason: str) -> None:
        """Nothing to cancel."""
