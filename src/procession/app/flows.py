"""Jobs that belong together: flows, which are inserted all or none, and batches, which others come after.

When a job of a flow may run and when a batch is over, the queue's rules say; here users' words are made their rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Self

import msgspec

from procession.app import arguments
from procession.app.adapters import Connection
from procession.app.job_rows import EnqueueOptions
from procession.app.middleware import JobsToCome
from procession.app.queueing import EnqueuedJob, PreparedJobs, Queueing, answered
from procession.app.views import View
from procession.errors import InvalidValue, NotFound
from procession.jobs.options import After, JobOptions, check_options
from procession.jobs.schedule import to_datetime
from procession.limits import ENQUEUE_MAX
from procession.store.rows import NewJob
from procession.store.rows.queue import JobBatchState, NewJobBatch
from procession.store.rows.queue_reading import StoredJobBatch


class FlowJob(msgspec.Struct, frozen=True):
    """A job of a flow. ``after`` and ``after_finished`` name other jobs of the flow; ``options`` as of ``enqueue``.

    It runs when all that it comes ``after`` have succeeded, and all that it comes ``after_finished`` are over.
    """

    name: str
    type: str
    args: Any = None
    after: Sequence[str] = ()
    after_finished: Sequence[str] = ()
    options: EnqueueOptions = {}


class JobBatch(View, frozen=True, kw_only=True):
    """A batch of jobs as it stands: ``OPEN``, ``SEALED`` or ``FINISHED``. Batches within it count as members."""

    batch_key: int
    title: str
    state: str
    parent_key: int
    total: int
    succeeded: int
    failed: int
    deleted: int
    created_at: datetime
    finished_at: datetime | None
    tenant_id: str = ""

    @property
    def pending(self) -> int:
        """How many members are not over."""
        return self.total - self.succeeded - self.failed - self.deleted

    @classmethod
    def of(cls, row: StoredJobBatch) -> Self:
        """From its row."""
        return cls(
            batch_key=row.key,
            title=row.title,
            state=JobBatchState(row.state).name,
            parent_key=row.parent,
            total=row.total,
            succeeded=row.succeeded,
            failed=row.failed,
            deleted=row.deleted,
            created_at=to_datetime(row.created_at),
            finished_at=to_datetime(row.finished_at) if row.finished_at else None,
            tenant_id=row.tenant,
        )


class EnqueuedFlow(dict[str, EnqueuedJob]):
    """What became of the jobs of a flow, by their names. ``flow_key``: that of a flow with a title, 0 without one."""

    flow_key: int = 0


class Flow(View, frozen=True, kw_only=True):
    """A flow that has a title, as it stands: ``RUNNING``, or ``FINISHED`` when all its jobs are over."""

    flow_key: int
    title: str
    state: str
    total: int
    succeeded: int
    failed: int
    deleted: int
    created_at: datetime
    finished_at: datetime | None
    tenant_id: str = ""

    @property
    def pending(self) -> int:
        """How many of its jobs are not over."""
        return self.total - self.succeeded - self.failed - self.deleted

    @classmethod
    def of(cls, row: StoredJobBatch) -> Self:
        """From its row."""
        fields: dict[str, Any] = msgspec.structs.asdict(JobBatch.of(row))
        del fields["batch_key"], fields["parent_key"]
        fields["state"] = "FINISHED" if row.state == JobBatchState.FINISHED else "RUNNING"
        return cls(flow_key=row.key, **fields)


class Flows(Queueing):
    """The half of ``Procession`` for jobs that belong together."""

    async def enqueue_flow(
        self, jobs: Iterable[FlowJob], *, title: str = "", connection: Connection | None = None
    ) -> EnqueuedFlow:
        """Put jobs that come after each other into the queue, all or none; what became of each, by its name.

        They may stand in any order. A flow with a ``title`` is listed by ``flows`` with how many of its jobs are over;
        its jobs are of no batch then. With ``connection`` (see ``start``) they are there when, and only when, the
        transaction of that connection commits. Raises InvalidValue for a name that is there twice or not at all, and
        for a circle; Misconfigured for a connection that cannot be used.
        """
        flow = _flow_of(jobs, title)
        come = flow.to_come()
        if connection is None or self.ignores_connections:
            answers = await self._through(come, lambda: self._put_flow(flow, come))
        else:
            answers = await self._carry_out(await self._prepare_flow(flow), connection)
        enqueued = EnqueuedFlow(zip((job.name for job in flow.jobs), answers, strict=True))
        enqueued.flow_key = flow.key
        return enqueued

    async def flows(self, *, after: int = 0, limit: int = 100) -> list[Flow]:
        """A page of the flows that have a title, newest first; ``after`` is the last key of the page before."""
        below = arguments.key_or_none(after, "after")
        page = arguments.page(limit)
        rows = await self._store.job_batches(tenant=self._tenant, after=below, limit=page, flows=True)
        return [Flow.of(row) for row in rows]

    async def prepare_flow(self, jobs: Iterable[FlowJob], *, title: str = "") -> PreparedJobs:
        """Jobs to come that belong together, and the statements that enqueue them (see ``prepare_jobs``)."""
        return await self._prepare_flow(_flow_of(jobs, title))

    async def _prepare_flow(self, flow: _Flow) -> PreparedJobs:
        """The statements that enqueue a flow."""
        come = flow.to_come()
        prepared = PreparedJobs([], [], "")

        async def prepare() -> list[EnqueuedJob]:
            nonlocal prepared
            prepared = self._prepared(await self._flow_rows(flow, come, for_caller=True))
            return prepared.jobs

        answers = await self._through(come, prepare)
        return prepared._replace(jobs=answers, flow_key=flow.key)

    async def _put_flow(self, flow: _Flow, come: Sequence[JobsToCome]) -> list[EnqueuedJob]:
        """Put them into the queue, now."""
        rows = await self._flow_rows(flow, come, for_caller=False)
        return answered(rows, await self._engine.submit_jobs(rows)) if rows else []

    async def _flow_rows(self, flow: _Flow, come: Sequence[JobsToCome], *, for_caller: bool) -> list[NewJob]:
        """The rows of a flow, each with what it comes after. Raises InvalidValue."""
        jobs = flow.jobs
        names = [arguments.name(job.name, "the name of a job in a flow") for job in jobs]
        if len(set(names)) < len(names):
            message = f"Expected jobs of a flow with different names, found {sorted(names)}"
            raise InvalidValue(message)
        if len(jobs) > ENQUEUE_MAX:
            message = f"Expected at most {ENQUEUE_MAX} jobs in a flow (ENQUEUE_MAX), found {len(jobs)}"
            raise InvalidValue(message)
        rows: dict[str, NewJob] = {}
        for job, each in zip(jobs, come, strict=True):
            (rows[job.name],) = await self._new_jobs(each, for_caller=for_caller)
        keys = {name: row.key for name, row in rows.items()}
        placed = [_placed(job, rows[job.name], keys) for job in jobs]
        if flow.title and placed:
            taken = self._engine.take_keys_for_caller if for_caller else self._engine.take_keys
            (flow.key,) = await taken(1)
            _name(placed, flow)
        return placed

    async def open_batch(self, *, title: str = "", parent: int | None = None) -> int:
        """Open a batch of jobs; its key. Enqueue its members with ``batch=key``, and what follows with ``after=key``.

        ``parent``: an open batch of which this one is a member. Raises NotFound, Conflict when that is open no more.
        """
        within = 0
        if parent is not None:
            within = (await self._stored_job_batch(parent)).key
        (key,) = await self._engine.take_keys(1)
        batch = NewJobBatch(key=key, title=arguments.text(title, "title"), parent=within, tenant=self._tenant)
        await self._store.open_job_batch(batch)
        return key

    async def seal_batch(self, batch_key: int) -> None:
        """Let no more members in: it is finished when all that it has are over. Twice changes nothing.

        Raises NotFound.
        """
        batch = await self._stored_job_batch(batch_key)
        for queue in await self._store.seal_job_batch(batch.key):
            self._engine.announce(queue)

    async def job_batch(self, batch_key: int) -> JobBatch:
        """One batch of jobs, with how many of its members are over. Raises NotFound."""
        return JobBatch.of(await self._stored_job_batch(batch_key))

    async def job_batches(self, *, after: int = 0, limit: int = 100) -> list[JobBatch]:
        """A page of the batches of jobs, newest first; ``after`` is the last key of the page before."""
        below = arguments.key_or_none(after, "after")
        rows = await self._store.job_batches(tenant=self._tenant, after=below, limit=arguments.page(limit))
        return [JobBatch.of(row) for row in rows]

    # -- internal -------------------------------------------------------------------------------------------------
    async def _stored_job_batch(self, batch_key: int) -> StoredJobBatch:
        """A batch that this tenant may see. Raises NotFound."""
        key = arguments.key(batch_key, "batch_key")
        rows = await self._store.job_batches(keys=[key], tenant=self._tenant, limit=1)
        if not rows:
            message = f"Expected a batch of jobs with key {key}, found none"
            raise NotFound(message)
        return rows[0]


class _Flow(msgspec.Struct):
    """A flow on its way in."""

    jobs: list[FlowJob]
    title: str
    key: int = 0  # of one with a title, once it has one

    def to_come(self) -> list[JobsToCome]:
        """Its jobs as middleware sees them."""
        return [JobsToCome(job.type, [job.args], dict(job.options)) for job in self.jobs]


def _flow_of(jobs: Iterable[Any], title: str) -> _Flow:
    """What a caller gives as a flow. Raises InvalidValue."""
    given = list(jobs)
    for job in given:
        if not isinstance(job, FlowJob):
            message = f"Expected the jobs of a flow to be FlowJob, found {arguments.shown(job)}"
            raise InvalidValue(message)
    if title and not given:
        message = "Expected a flow with a title to have jobs, found none"
        raise InvalidValue(message)
    return _Flow(given, arguments.text(title, "title"))


def _name(rows: Sequence[NewJob], flow: _Flow) -> None:
    """Make rows the members of a flow that begins with the first of them. Raises InvalidValue."""
    for number, (job, row) in enumerate(zip(flow.jobs, rows, strict=True)):
        options = row.options or JobOptions()
        if options.batch:
            message = (
                f"Expected the jobs of a flow with a title to be of no batch, found '{job.name}' in batch "
                f"{options.batch}: a flow without a title can be in one"
            )
            raise InvalidValue(message)
        row.options = msgspec.structs.replace(options, batch=flow.key, flow_title="" if number else flow.title)


def _placed(job: FlowJob, row: NewJob, keys: dict[str, int]) -> NewJob:
    """The row of a job with what it comes after. Raises InvalidValue."""
    found: dict[int, After] = {}
    for named, either in ((job.after_finished, True), (job.after, False)):
        for name in arguments.names(named, f"what '{job.name}' comes after"):
            if name not in keys:
                message = f"Expected '{job.name}' to come after jobs of the flow, found '{name}', which is none"
                raise InvalidValue(message)
            found[keys[name]] = After(keys[name], either)
    options = row.options or JobOptions()
    if found:
        after = [*(each for each in options.after if each.key not in found), *found.values()]
        options = msgspec.structs.replace(options, after=after)
        check_options(options)
    return msgspec.structs.replace(row, options=options)
