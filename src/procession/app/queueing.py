"""Putting jobs into the queue that belong to no process: alone, many at once, or in the caller's own transaction.

What a job is, and when it runs, the queue's rules say; here users' words are made its rows.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Unpack

from procession.app import arguments
from procession.app.adapters import Connection
from procession.app.connections import end_of
from procession.app.inspection import Inspection
from procession.app.job_options import WORDS, JobWords, job_options, named_keys
from procession.app.views import View
from procession.core.listening import RETRIES_MAX
from procession.engine import Engine
from procession.engine.values import plain_variables
from procession.errors import Conflict, InvalidValue, Misconfigured, NotFound
from procession.jobs.kinds import SUBMIT_QUEUE, JobKind, JobState
from procession.jobs.retry import Span, span_ms
from procession.jobs.schedule import to_instant
from procession.limits import ENQUEUE_MAX
from procession.store.rows import NewJob, Statement
from procession.store.rows.queue import Deletion, Submission, Submitted
from procession.store.rows.queue_reading import JobDetails
from procession.worker import Registry
from procession.worker.registry import DEFAULT_QUEUE

RETRIES = 3  # attempts of a job whose handler says nothing and is perhaps not known here
PRIORITY_MAX = 2**31 - 1
KEYS_AT_ONCE = 1_000


Became = Literal["INSERTED", "DUPLICATE", "REFRESHED", "PUSHED_BACK", "DOOMED"]


class EnqueueOptions(JobWords, total=False):
    """Options of ``Procession.enqueue``."""

    queue: str
    priority: int
    delay: Span
    at: datetime
    retries: int


class EnqueuedJob(View, frozen=True, kw_only=True):
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


class Queueing(Inspection):
    """The enqueuing half of ``Procession``."""

    handlers: Registry

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
        (enqueued,) = await self.enqueue_many(type, [args], connection=connection, **options)
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
        if connection is None or self.ignores_connections:
            jobs = await self._new_jobs(type, args, for_caller=False, **options)
            if not jobs or jobs[0].options is None:
                await self._engine.enqueue(jobs)
                return [EnqueuedJob(job_key=job.key, type=job.type, queue=job.queue) for job in jobs]
            return answered(jobs, await self._engine.submit_jobs(jobs))
        enqueued, statements = await self.prepare_enqueue(type, args, **options)
        if enqueued:
            waiting = self.execute_on(connection, statements)
            if waiting is not None:
                await waiting
            self.expect_commit(connection, end_of(connection), queue_to_wake(enqueued[0], options))
        return enqueued

    async def prepare_enqueue(
        self,
        type: str,  # noqa: A002 - Camunda's word
        args: Iterable[Any],
        **options: Unpack[EnqueueOptions],
    ) -> tuple[list[EnqueuedJob], list[Statement]]:
        """Jobs to come, and the statements that enqueue them; execute them in your own transaction.

        Raises InvalidValue, Misconfigured for the memory store, Unavailable as ``prepare_start`` does.
        """
        jobs = await self._new_jobs(type, args, for_caller=True, **options)
        if not jobs:
            return [], []
        enqueued = [EnqueuedJob(job_key=job.key, type=job.type, queue=job.queue) for job in jobs]
        return enqueued, self._store.job_request(jobs)

    async def requeue(self, job_key: int, *, retries: int = 0) -> None:
        """Let a failed job start over, now; a scheduled one is due now. ``retries`` 0: as many attempts as at first.

        Raises NotFound; Conflict for one that waits or runs already, and for jobs of processes (``resolve`` their
        incident).
        """
        key = arguments.key(job_key, "job_key")
        attempts = arguments.whole(retries, "retries", 0, RETRIES_MAX)
        found = await self._found(key)
        if found is None or not await self._store.requeue_jobs([key], retries=attempts):
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
    async def _found(self, key: int) -> JobDetails | None:
        """A job that this tenant may see."""
        found = await self._store.job(key)
        return found if found is not None and self._tenant in ("", found.tenant) else None

    async def _new_jobs(
        self,
        type: str,  # noqa: A002 - Camunda's word
        args: Iterable[Any],
        *,
        for_caller: bool,
        **options: Unpack[EnqueueOptions],
    ) -> list[NewJob]:
        """Jobs of one type, alike but for key and arguments. Raises InvalidValue."""
        arguments.key_text(arguments.name(type, "the type of a job"), "the type of a job")
        unknown = options.keys() - EnqueueOptions.__optional_keys__
        if unknown:
            message = f"Expected options of a job, found {', '.join(sorted(unknown))}: there is none of that name"
            raise InvalidValue(message)
        raw = [plain_variables(each, "the arguments of a job").raw for each in args]
        if len(raw) > ENQUEUE_MAX:
            message = f"Expected at most {ENQUEUE_MAX} jobs in a call (ENQUEUE_MAX), found {len(raw)}"
            raise InvalidValue(message)
        handler = self.handlers.jobs.get(type)
        queue = options.get("queue") or (handler.queue if handler is not None else DEFAULT_QUEUE)
        retries = options.get("retries") or (handler.retries if handler is not None else None) or RETRIES
        run_at, delay_ms = _when(options.get("at"), options.get("delay"))
        more = job_options(options)
        await self._expect_own(named_keys(more))
        pattern = NewJob(
            key=0,
            kind=JobKind.TASK,
            queue=_queue(queue),
            type=type,
            priority=arguments.whole(options.get("priority", 0), "priority", -PRIORITY_MAX, PRIORITY_MAX),
            run_at=run_at,
            delay_ms=delay_ms,
            retries=arguments.whole(retries, "retries", 1, RETRIES_MAX),
            tenant=self._tenant,
            options=more,
        )
        engine = self._engine
        keys = await (_for_caller(engine, len(raw)) if for_caller else engine.take_keys(len(raw)))
        return [_like(pattern, key, each) for key, each in zip(keys, raw, strict=True)]

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


def queue_to_wake(job: EnqueuedJob, options: Mapping[str, object]) -> str:
    """The queue that has something when the caller's transaction commits: jobs with options are submitted first."""
    return SUBMIT_QUEUE if WORDS & options.keys() else job.queue


def answered(jobs: Sequence[NewJob], submitted: Sequence[Submitted]) -> list[EnqueuedJob]:
    """What became of each job, in users' words."""
    return [
        EnqueuedJob(job_key=answer.key, type=job.type, queue=job.queue, outcome=Submission(answer.outcome).name)
        for job, answer in zip(jobs, submitted, strict=True)
    ]


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


def _queue(name: object) -> str:
    """A queue of users'. Raises InvalidValue."""
    queue = arguments.key_text(arguments.name(name, "queue"), "queue")
    if queue.startswith("$"):
        message = f"Expected a queue of yours: those that begin with '$' are the engine's own, found '{queue}'"
        raise InvalidValue(message)
    return queue


def _when(at: object, delay: object) -> tuple[int, int]:
    """(instant in milliseconds or 0, delay in milliseconds). Raises InvalidValue."""
    if at is not None and delay is not None:
        message = "Expected either at= or delay=, found both"
        raise InvalidValue(message)
    if at is not None:
        if not isinstance(at, datetime) or at.tzinfo is None:
            message = f"Expected at= to be an aware datetime, found {arguments.shown(at)}"
            raise InvalidValue(message)
        return max(1, to_instant(at)), 0
    if delay is None:
        return 0, 0
    try:
        return 0, span_ms(delay, "delay")
    except Misconfigured as error:
        raise InvalidValue(str(error)) from error


def _like(pattern: NewJob, key: int, args: bytes) -> NewJob:
    """A job as this one, with its own key and arguments."""
    return NewJob(
        key=key,
        kind=pattern.kind,
        queue=pattern.queue,
        type=pattern.type,
        priority=pattern.priority,
        run_at=pattern.run_at,
        delay_ms=pattern.delay_ms,
        retries=pattern.retries,
        args=args,
        tenant=pattern.tenant,
        options=pattern.options,
    )
