"""The verbs of workers that are other processes: take jobs under leases of their own, and say how each ended.

What handlers do by returning and raising, these do by calls, so that any protocol can carry them. A call names the job;
with its ``lease`` the answer counts only as long as nobody else was given the job. It decides nothing about a process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from procession.app import arguments
from procession.app.inspection import Inspection
from procession.app.views import View
from procession.core.commands import Activate, CompleteJob, FailJob, SetVariables, ThrowError
from procession.core.listening import RETRIES_MAX
from procession.engine import Delivery
from procession.errors import Conflict, InvalidValue, NotFound
from procession.jobs.kinds import REMOTE, JobKind, JobState, job_queue
from procession.jobs.retry import span_ms
from procession.jobs.schedule import to_datetime
from procession.limits import CLAIM_MAX, REMOTE_LEASE_MS_MAX
from procession.store.rows import JobAdjustment, JobEnd, JobFilter, JobOutcome, StoredJob
from procession.store.rows.queue import FailedAttempt, RunReport
from procession.worker import RemoteWorkers

Span = str | float | timedelta  # seconds, '30s', 'PT1H', a timedelta
PRIORITY_MAX = 2**31 - 1


class ActivatedJob(View, frozen=True, kw_only=True):
    """A job that a remote worker was given."""

    job_key: int
    lease: int
    type: str
    kind: str
    process_instance_key: int
    process_definition_id: str
    process_definition_key: int
    element_id: str
    element_instance_key: int
    custom_headers: dict[str, str]
    retries: int  # attempts left, this one included
    attempt: int
    priority: int
    deadline: datetime
    variables: dict[str, Any]
    business_id: str
    tenant_id: str
    delivery: Delivery

    def to_dict(self) -> dict[str, Any]:
        """The record with its JSON names, without the delivery itself."""
        named = zip(self.__struct_encode_fields__, self.__struct_fields__, strict=True)
        return {name: msgspec.to_builtins(getattr(self, field)) for name, field in named if field != "delivery"}


class Working(Inspection):
    """The remote workers' half of ``Procession``."""

    remote: RemoteWorkers

    async def activate_jobs(
        self,
        type: str,  # noqa: A002 - Camunda's word for it
        *,
        count: int = 1,
        timeout: Span = "1m",  # noqa: ASYNC109 - how long the lease is, not the call
        wait: Span = 0,
        tenants: Sequence[str] | None = None,
    ) -> list[ActivatedJob]:
        """Take up to ``count`` jobs of a type, each leased for ``timeout``; wait at most ``wait`` for the first.

        A job that is not ended until then is given to another worker. Cancelling the call gives back what it was about
        to bring. ``tenants``: whose jobs. Raises InvalidValue, Unavailable.
        """
        lease_ms = _lease_ms(timeout)
        queue = job_queue(arguments.name(type, "the type of a job"))
        most = arguments.whole(count, "count", 1, 2**31 - 1)
        found = await self.remote.activate(
            queue,
            min(most, CLAIM_MAX),
            lease_ms=lease_ms,
            wait_s=span_ms(wait, "wait") / 1000,
            tenants=tenants if tenants is not None or not self._tenant else [self._tenant],
        )
        deadline = to_datetime(self._engine.clock.now() + lease_ms)
        return [_activated(job, deadline) for job in found]

    def return_jobs(self, jobs: Sequence[ActivatedJob]) -> None:
        """Give back jobs that did not reach their worker; no attempt is used."""
        self.remote.give_back([job.delivery for job in jobs])

    async def complete_job(
        self,
        job_key: int,
        variables: dict[str, Any] | None = None,
        *,
        lease: int = 0,
        denied: bool = False,
        corrections: Mapping[str, Any] | None = None,
        activate: Sequence[Activate] = (),
        is_completion_condition_fulfilled: bool = False,
        is_cancel_remaining_instances: bool = False,
    ) -> None:
        """A worker has done a job. Raises NotFound, Conflict (the lease is lost, the instance rests), InvalidValue.

        ``denied`` and ``corrections`` are a task listener's answer, the rest that of an ad-hoc sub-process' worker.
        """
        command = CompleteJob(
            arguments.key(job_key, "job_key"),
            arguments.variables(variables),
            denied=denied,
            corrections=dict(corrections or {}),
            activate=list(activate),
            is_completion_condition_fulfilled=is_completion_condition_fulfilled,
            is_cancel_remaining_instances=is_cancel_remaining_instances,
        )
        await self._command(await self._instance_of(job_key), command, fences=_fence(job_key, lease))

    async def fail_job(
        self,
        job_key: int,
        *,
        retries: int = 0,
        message: str = "",
        backoff: Span = 0,
        variables: dict[str, Any] | None = None,
        lease: int = 0,
    ) -> None:
        """A worker could not do a job: again after ``backoff`` with so many ``retries`` left, or an incident at 0.

        ``variables`` are local to the element. Raises NotFound, Conflict, InvalidValue.
        """
        arguments.whole(retries, "retries", -RETRIES_MAX, RETRIES_MAX)
        text = arguments.reason(message)
        delay_ms = span_ms(backoff, "backoff")
        job = await self.stored_job(job_key)
        values = arguments.variables(variables)
        if lease and job.lease != lease:
            raise Conflict(_lost(job_key, lease, job.lease))
        if job.state == JobState.FAILED:
            raise Conflict(f"Job {job_key} has failed for good already: its incident is to be resolved")
        await self._keep_attempt(job, text)
        if retries <= 0:
            command = FailJob(job_key, text or "its worker reported a failure", values)
            await self._command(job.instance, command, fences=_fence(job_key, lease))
            return
        if values:
            scope = SetVariables(values, element_instance=job.element_instance, local=True)
            await self._command(job.instance, scope)
        again = JobOutcome(
            key=job_key, lease=job.lease, end=JobEnd.RETRY, delay_ms=delay_ms, error=text, retries=retries
        )
        if not (await self._store.finish([again]))[0]:
            await self._adjust(JobAdjustment(key=job_key, retries=retries))
        elif not delay_ms:
            self._engine.announce(job.queue)

    async def throw_error(
        self, job_key: int, code: str, message: str = "", variables: dict[str, Any] | None = None, *, lease: int = 0
    ) -> None:
        """A worker reports a modelled error: it goes the way that the diagram shows. Raises NotFound, Conflict."""
        command = ThrowError(
            arguments.key(job_key, "job_key"),
            arguments.name(code, "the code of an error"),
            arguments.reason(message),
            arguments.variables(variables),
        )
        await self._command(await self._instance_of(job_key), command, fences=_fence(job_key, lease))

    async def update_job(
        self,
        job_key: int,
        *,
        retries: int | None = None,
        timeout: Span | None = None,  # noqa: ASYNC109 - how long the lease is, not the call
        priority: int | None = None,
        lease: int = 0,
    ) -> None:
        """Change a job: attempts left, the time its lease still has, priority. Raises NotFound, Conflict."""
        key = arguments.key(job_key, "job_key")
        change = adjustment(key, lease=lease, retries=retries, timeout=timeout, priority=priority)
        if self._tenant:
            await self.stored_job(job_key)
        await self._adjust(change)

    async def stored_job(self, job_key: int) -> StoredJob:
        """One job as it is stored. Raises NotFound."""
        arguments.key(job_key, "job_key")
        rows = await self._store.list_jobs(JobFilter(after=job_key - 1, limit=1))
        is_theirs = bool(rows) and rows[0].key == job_key and self._tenant in ("", rows[0].tenant)
        if not is_theirs or rows[0].kind in (JobKind.TIMER, JobKind.FOLLOW_UP):
            raise NotFound(_no_job(job_key))
        return rows[0]

    # -- internal -------------------------------------------------------------------------------------------------
    async def _instance_of(self, job_key: int) -> int:
        """The instance that a job belongs to; what was given out here is known without asking. Raises NotFound."""
        instance = self.remote.instance_of(job_key) or await self._store.find("job", job_key)
        if not instance or (self._tenant and await self._engine.load(instance, self._tenant) is None):
            raise NotFound(_no_job(job_key))
        return instance

    async def _keep_attempt(self, job: StoredJob, text: str) -> None:
        """How an attempt failed, for whoever looks at the job; one whose lease is over leaves nothing."""
        failed = FailedAttempt(attempt=job.attempt, worker="remote worker", type="", message=text)
        await self._store.report([RunReport(key=job.key, lease=job.lease, failed=failed)])

    async def _adjust(self, change: JobAdjustment) -> None:
        """Change a job. Raises NotFound, Conflict."""
        if (await self._store.adjust_jobs([change]))[0]:
            return
        job = await self.stored_job(change.key)
        if change.priority is not None and await self._ages(change.key):
            raise Conflict(f"Job {change.key} ages: its priority has become its place in line and stays")
        if change.lease and job.lease != change.lease:
            raise Conflict(_lost(change.key, change.lease, job.lease))
        if job.owner != REMOTE:
            raise Conflict(f"Job {change.key} is not leased to a worker: there is no timeout to change")
        raise Conflict(f"Job {change.key} was changed by somebody else at the same time: try again")

    async def _ages(self, job_key: int) -> bool:
        """Whether a job's priority has been made its place in line."""
        details = await self._store.job(job_key)
        return details is not None and details.options is not None and bool(details.options.ageing_ms)


def adjustment(
    key: int,
    *,
    lease: int = 0,
    retries: int | None = None,
    timeout: Span | None = None,
    priority: int | None = None,
) -> JobAdjustment:
    """What somebody changes about a job. Raises InvalidValue."""
    return JobAdjustment(
        key=key,
        lease=lease,
        lease_ms=-1 if timeout is None else _lease_ms(timeout, least=0),
        retries=-1 if retries is None else arguments.whole(retries, "retries", 1, RETRIES_MAX),
        priority=None if priority is None else arguments.whole(priority, "priority", -PRIORITY_MAX, PRIORITY_MAX),
    )


def _fence(job_key: int, lease: int) -> dict[int, int] | None:
    """The lease that a command is given under, if it says one."""
    return {job_key: lease} if lease else None


def _no_job(job_key: int) -> str:
    return f"Expected a job with key {job_key}, found none: it was completed or canceled"


def _lost(job_key: int, lease: int, now: int) -> str:
    return f"Expected job {job_key} to be held under lease {lease}, but it is under lease {now}: others were given it"


def _lease_ms(timeout: Span, *, least: int = 1) -> int:
    """How long a lease is. Raises InvalidValue."""
    lease_ms = span_ms(timeout, "timeout")
    if least <= lease_ms <= REMOTE_LEASE_MS_MAX:
        return lease_ms
    raise InvalidValue(
        f"Expected timeout from {least} to {REMOTE_LEASE_MS_MAX} ms (REMOTE_LEASE_MS_MAX), found {lease_ms} ms"
    )


def _activated(job: Delivery, deadline: datetime) -> ActivatedJob:
    spec = job.spec
    return ActivatedJob(
        job_key=job.key,
        lease=job.lease,
        type=job.type,
        kind=JobKind(job.kind).name,
        process_instance_key=job.instance,
        process_definition_id=job.process_id,
        process_definition_key=job.definition,
        element_id=job.element,
        element_instance_key=job.element_instance,
        custom_headers=dict(spec.job.headers) if spec is not None and spec.job is not None else {},
        retries=job.retries,
        attempt=job.attempt,
        priority=job.priority,
        deadline=deadline,
        variables=job.variables or {},
        business_id=job.business_id,
        tenant_id=job.tenant,
        delivery=job,
    )
