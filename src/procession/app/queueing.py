"""Putting jobs into the queue that belong to no process: alone, many at once, or in the caller's own transaction.

What a job is, and when it runs, the queue's rules say; here users' words are made its rows.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple, Unpack

from procession.app import arguments
from procession.app.adapters import Connection
from procession.app.connections import end_of
from procession.app.inspection import Inspection
from procession.app.job_options import named_keys
from procession.app.job_rows import EnqueueOptions, new_rows, usual_row
from procession.app.middleware import JobsToCome, through
from procession.app.views import View
from procession.core.listening import RETRIES_MAX
from procession.engine import Engine
from procession.errors import Conflict, NotFound
from procession.jobs.codec import Codec
from procession.jobs.kinds import SUBMIT_QUEUE, JobState
from procession.store.rows import NewJob, Statement
from procession.store.rows.queue import Deletion, Submission, Submitted
from procession.store.rows.queue_reading import JobDetails
from procession.worker import Registry

KEYS_AT_ONCE = 1_000

Became = Literal["INSERTED", "DUPLICATE", "REFRESHED", "PUSHED_BACK", "DOOMED"]


class EnqueuedJob(View, frozen=True, kw_only=True, gc=False):
    """What became of a job that was put into the queue.

    ``outcome``: ``INSERTED``; where somebody has its unique key, ``DUPLICATE``, ``REFRESHED`` or ``PUSHED_BACK``, with
    the holder's key; ``DOOMED``, deleted at once, since a job that it comes after was deleted. Within a transaction of
    yours it is ``INSERTED``: what becomes of it is decided when that commits.
    """

    job_key: int
    type: str
    queue: str
    outcome: Became = "INSERTED"

    @property
    def is_duplicate(self) -> bool:
        """Whether another job has its unique key, so that it was not inserted."""
        return self.outcome in ("DUPLICATE", "REFRESHED", "PUSHED_BACK")


class PreparedJobs(NamedTuple):
    """Jobs to come in a caller's transaction."""

    jobs: list[EnqueuedJob]
    statements: list[Statement]
    queue: str  # that has something to claim after the commit
    flow_key: int = 0  # of a flow that has a title


class Queueing(Inspection):
    """The enqueuing half of ``Procession``."""

    handlers: Registry
    codec: Codec | None

    ignores_connections: bool

    def execute_on(self, connection: Connection, statements: Sequence[Statement]) -> Awaitable[None] | None:
        """Execute statements on a caller's connection."""
        raise NotImplementedError

    def expect_commit(self, connection: Connection, is_over: Callable[[], bool], queue: str = "") -> None:
        """See that what the caller's transaction has written is found when it is over."""
        raise NotImplementedError

    async def enqueue(
        self,
        type: str,  # noqa: A002 - Camunda's word
        args: Any = None,  # noqa: ANN401 - a mapping, or an object with fields
        *,
        connection: Connection | None = None,
        **options: Unpack[EnqueueOptions],
    ) -> EnqueuedJob:
        """Put a job into the queue; durable when this returns.

        ``args`` become the handler's arguments by name. ``queue``: the handler's if not said. ``priority``: higher
        first, then age. ``delay`` (seconds, '10m', 'PT1H', a timedelta) or ``at`` (an aware datetime): not before.
        ``retries``: attempts, the first included. The other options (``JobWords``) are for one job what it needs more:
        a unique key, limits, jobs that come first, a deadline; a duplicate is an answer, not an error. With
        ``connection`` (see ``start``) it is there when,
        and only when, the transaction of that connection commits. Raises InvalidValue, Misconfigured; Conflict for a
        batch of jobs that is not open; NotFound for a job or batch of another tenant.
        """
        if connection is not None or self.handlers.enqueue_middleware:
            (enqueued,) = await self.enqueue_many(type, [args], connection=connection, **options)
            return enqueued
        engine, row = self._engine, None
        if self.codec is None:
            row = usual_row(type, args, options, self.handlers.jobs.get(type), self._tenant)
        if row is not None and (key := engine.key_at_hand()):
            row.key = key
            await engine.put_jobs([row])
            return _enqueued(row)
        (enqueued,) = await self._put(JobsToCome(type, [args], dict(options)))
        return enqueued

    async def enqueue_many(
        self,
        type: str,  # noqa: A002 - Camunda's word
        args: Iterable[Any],
        *,
        connection: Connection | None = None,
        **options: Unpack[EnqueueOptions],
    ) -> list[EnqueuedJob]:
        """Put many jobs of one type into the queue, at most ENQUEUE_MAX, all or none; one answer for each, in order."""
        jobs = JobsToCome(type, list(args), dict(options))
        if connection is None or self.ignores_connections:
            return await self._through([jobs], lambda: self._put(jobs))
        prepared = await self.prepare_jobs(type, jobs.args, **options)
        return await self._carry_out(prepared, connection)

    async def prepare_enqueue(
        self,
        type: str,  # noqa: A002 - Camunda's word
        args: Iterable[Any],
        **options: Unpack[EnqueueOptions],
    ) -> tuple[list[EnqueuedJob], list[Statement]]:
        """Jobs to come, and the statements that enqueue them; execute them in your own transaction.

        Raises InvalidValue, Misconfigured for the memory store, Unavailable as ``prepare_start`` does.
        """
        prepared = await self.prepare_jobs(type, args, **options)
        return prepared.jobs, prepared.statements

    async def prepare_jobs(
        self,
        type: str,  # noqa: A002 - Camunda's word
        args: Iterable[Any],
        **options: Unpack[EnqueueOptions],
    ) -> PreparedJobs:
        """As ``prepare_enqueue``, with the queue that has something to claim when your transaction is over."""
        jobs = JobsToCome(type, list(args), dict(options))
        prepared = PreparedJobs([], [], "")

        async def prepare() -> list[EnqueuedJob]:
            nonlocal prepared
            prepared = self._prepared(await self._new_jobs(jobs, for_caller=True))
            return prepared.jobs

        answers = await self._through([jobs], prepare)
        return prepared._replace(jobs=answers)

    async def requeue(self, job_key: int, *, retries: int = 0) -> None:
        """Let a failed job start over, now; a scheduled one is due now. ``retries`` 0: as many attempts as at first.

        Raises NotFound; Conflict for one that waits or runs already, and for jobs of processes (``resolve`` their
        incident).
        """
        key = arguments.key(job_key, "job_key")
        attempts = arguments.whole(retries, "retries", 0, RETRIES_MAX)
        found = await self._found(key)
        if found is None or not await self._store.requeue_jobs([key], retries=attempts):
            if found is not None and found.state == JobState.FAILED and not found.instance:
                message = f"Expected the unique key of job {key} to be free, found it with another job since it failed"
                raise Conflict(message)
            raise _not_done(key, found, "failed or scheduled, and of no process,")
        self._engine.announce(found.queue)

    async def delete_job(self, job_key: int, *, reason: str = "") -> None:
        """Delete a job that does not run; one that runs ends first. Raises NotFound, Conflict for jobs of processes."""
        key = arguments.key(job_key, "job_key")
        why = arguments.reason(reason)
        found = await self._found(key)
        if found is None or await self._store.delete_jobs([key], why) == [Deletion.NOT_FOUND]:
            raise _not_done(key, found, "of no process, and not over,")

    # -- internal -------------------------------------------------------------------------------------------------
    async def _put(self, jobs: JobsToCome) -> list[EnqueuedJob]:
        """Put jobs into the queue, now."""
        rows = await self._new_jobs(jobs, for_caller=False)
        if any([row.options is not None for row in rows]):  # noqa: C419 - a generator costs a call for each of thousands
            return answered(rows, await self._engine.submit_jobs(rows))
        await self._engine.enqueue(rows)
        return [EnqueuedJob(job_key=row.key, type=row.type, queue=row.queue) for row in rows]

    def _prepared(self, rows: Sequence[NewJob]) -> PreparedJobs:
        """The statements for rows that have their keys. Raises Misconfigured for the memory store."""
        if not rows:
            return PreparedJobs([], [], "")
        waits = any(row.options is not None for row in rows)  # to be submitted first
        statements = self._store.job_request(rows)
        return PreparedJobs([_enqueued(row) for row in rows], statements, SUBMIT_QUEUE if waits else rows[0].queue)

    async def _carry_out(self, prepared: PreparedJobs, connection: Connection) -> list[EnqueuedJob]:
        """Execute what was prepared on a caller's connection, and expect its commit."""
        if prepared.statements:
            waiting = self.execute_on(connection, prepared.statements)
            if waiting is not None:
                await waiting
            self.expect_commit(connection, end_of(connection), prepared.queue)
        return prepared.jobs

    async def _through(
        self, jobs: list[JobsToCome], put: Callable[[], Awaitable[list[EnqueuedJob]]]
    ) -> list[EnqueuedJob]:
        """Put jobs into the queue with the application's middleware around it. Raises what that raises."""
        functions = self.handlers.enqueue_middleware
        return await (through(functions, jobs, put) if functions else put())

    async def _found(self, key: int) -> JobDetails | None:
        """A job that this tenant may see."""
        found = await self._store.job(key)
        return found if found is not None and self._tenant in ("", found.tenant) else None

    async def _new_jobs(self, jobs: JobsToCome, *, for_caller: bool) -> list[NewJob]:
        """The rows of jobs of one type, with their keys. Raises InvalidValue, NotFound."""
        rows = new_rows(
            jobs.type,
            jobs.args,
            jobs.options,
            handler=self.handlers.jobs.get(jobs.type),
            tenant=self._tenant,
            codec=self.codec,
        )
        if self._tenant:
            await self._expect_own(key for row in rows for key in named_keys(row.options))
        engine = self._engine
        keys = await (_for_caller(engine, len(rows)) if for_caller else engine.take_keys(len(rows)))
        for row, key in zip(rows, keys, strict=True):
            row.key = key
        return rows

    async def _expect_own(self, keys: Iterable[int]) -> None:
        """Jobs and batches that a tenant names are its own. Raises NotFound."""
        if not self._tenant:
            return
        named = set(keys)
        batches = await self._store.job_batches(keys=sorted(named), limit=len(named)) if named else []
        others = {batch.key for batch in batches if batch.tenant != self._tenant}
        for key in sorted(named - {batch.key for batch in batches}):
            found = await self._store.job(key)
            if found is not None and found.tenant != self._tenant:
                others.add(key)
        if others:
            raise NotFound(f"Expected a job or batch of jobs with key {min(others)}, found none")


def answered(jobs: Sequence[NewJob], submitted: Sequence[Submitted]) -> list[EnqueuedJob]:
    """What became of each job, in users' words."""
    return [
        EnqueuedJob(job_key=answer.key, type=job.type, queue=job.queue, outcome=Submission(answer.outcome).name)
        for job, answer in zip(jobs, submitted, strict=True)
    ]


def _enqueued(row: NewJob) -> EnqueuedJob:
    return EnqueuedJob(job_key=row.key, type=row.type, queue=row.queue)


def _not_done(key: int, found: JobDetails | None, expected: str) -> NotFound | Conflict:
    """Why nothing was done to a job."""
    if found is None:
        return NotFound(f"Expected a job with key {key}, found none: it may have been done")
    of = f" of instance {found.instance}" if found.instance else ""
    return Conflict(f"Expected job {key} to be {expected} found it {JobState(found.state).name}{of}")


async def _for_caller(engine: Engine, count: int) -> list[int]:
    """Keys for rows in a caller's transaction, some at a time. Raises Unavailable."""
    keys: list[int] = []
    while len(keys) < count:
        keys += await engine.take_keys_for_caller(min(KEYS_AT_ONCE, count - len(keys)))
    return keys
