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


class Flows(Queueing):
    """The half of ``Procession`` for jobs that belong together."""

    async def enqueue_flow(
        self, jobs: Iterable[FlowJob], *, connection: Connection | None = None
    ) -> dict[str, EnqueuedJob]:
        """Put jobs that come after each other into the queue, all or none; what became of each, by its name.

        They may stand in any order. With ``connection`` (see ``start``) they are there when, and only when, the
        transaction of that connection commits. Raises InvalidValue for a name that is there twice or not at all, and
        for a circle; Misconfigured for a connection that cannot be used.
        """
        flow = list(jobs)
        come = [JobsToCome(job.type, [job.args], dict(job.options)) for job in flow]
        if connection is None or self.ignores_connections:
            answers = await self._through(come, lambda: self._put_flow(flow, come))
        else:
            prepared = await self.prepare_flow(flow)
            answers = await self._carry_out(prepared, connection)
        return dict(zip((job.name for job in flow), answers, strict=True))

    async def prepare_flow(self, jobs: Iterable[FlowJob]) -> PreparedJobs:
        """Jobs to come that belong together, and the statements that enqueue them (see ``prepare_jobs``)."""
        flow = list(jobs)
        come = [JobsToCome(job.type, [job.args], dict(job.options)) for job in flow]
        prepared = PreparedJobs([], [], "")

        async def prepare() -> list[EnqueuedJob]:
            nonlocal prepared
            prepared = self._prepared(await self._flow_rows(flow, come, for_caller=True))
            return prepared.jobs

        answers = await self._through(come, prepare)
        return prepared._replace(jobs=answers)

    async def _put_flow(self, flow: Sequence[FlowJob], come: Sequence[JobsToCome]) -> list[EnqueuedJob]:
        """Put them into the queue, now."""
        rows = await self._flow_rows(flow, come, for_caller=False)
        return answered(rows, await self._engine.submit_jobs(rows)) if rows else []

    async def _flow_rows(
        self, flow: Sequence[FlowJob], come: Sequence[JobsToCome], *, for_caller: bool
    ) -> list[NewJob]:
        """The rows of a flow, each with what it comes after. Raises InvalidValue."""
        names = [arguments.name(job.name, "the name of a job in a flow") for job in flow]
        if len(set(names)) < len(names):
            message = f"Expected jobs of a flow with different names, found {sorted(names)}"
            raise InvalidValue(message)
        if len(flow) > ENQUEUE_MAX:
            message = f"Expected at most {ENQUEUE_MAX} jobs in a flow (ENQUEUE_MAX), found {len(flow)}"
            raise InvalidValue(message)
        rows: dict[str, NewJob] = {}
        for job, jobs in zip(flow, come, strict=True):
            (rows[job.name],) = await self._new_jobs(jobs, for_caller=for_caller)
        keys = {name: row.key for name, row in rows.items()}
        return [_placed(job, rows[job.name], keys) for job in flow]

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
