"""What operators see and do about the queue: queues, pauses, limits, one job with its log, many jobs by a filter.

It decides nothing: states and their changes are the queue's rules, which the store keeps.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, Self, TypedDict, Unpack

import msgspec

from procession.app import arguments
from procession.app.inspection import Inspection
from procession.app.views import View, readable
from procession.core.listening import RETRIES_MAX
from procession.engine.queue_duties import PAUSES
from procession.errors import InvalidValue, Misconfigured, NotFound
from procession.jobs.codec import Codec
from procession.jobs.kinds import JobKind, JobState
from procession.jobs.options import JobOptions
from procession.jobs.retry import Span, span_ms
from procession.jobs.schedule import to_datetime
from procession.limits import LIMIT_PER_MS_MAX, LIMIT_RATE_MAX, PAGE_MAX, SEARCH_MATCHES_MAX
from procession.store.rows.queue import BulkResult, PauseKind, SweepReport
from procession.store.rows.queue_reading import JobDetails, QueueFilter, QueueStats, StoredLimit, StoredLogLine

BULK_PAGE = 500  # jobs in one transaction of an operation over a filter
MOST_MAX = 2**31 - 1

Progress = Callable[[int], None]  # told how many were reached so far


class JobChoice(TypedDict, total=False):
    """Which jobs are meant; what is left out does not restrict. ``text``: in title, type, error or arguments."""

    state: str
    queue: str
    type: str
    tag: str
    text: str


class JobRecord(View, frozen=True, kw_only=True):
    """A job with everything that is kept of it, in the queue or in the archive."""

    job_key: int
    kind: str
    state: str
    queue: str
    type: str
    title: str
    process_instance_key: int
    priority: int
    run_at: datetime
    created_at: datetime
    ended_at: datetime | None
    attempt: int
    retries: int
    crashes: int
    error_message: str
    args: Any
    output: Any
    progress: float
    progress_text: str
    waits_for: str  # the limit whose slot it waits for
    cancel_reason: str | None
    tags: list[str]
    metadata: dict[str, str]
    tenant_id: str = ""

    @classmethod
    def of(cls, row: JobDetails, codec: Codec | None = None) -> Self:
        """From its rows. What cannot be read without its key is shown as it is stored."""
        options = row.options or JobOptions()
        return cls(
            job_key=row.key,
            kind=JobKind(row.kind).name,
            state=JobState(row.state).name,
            queue=row.queue,
            type=row.type,
            title=options.title,
            process_instance_key=row.instance,
            priority=row.priority,
            run_at=to_datetime(row.run_at),
            created_at=to_datetime(row.created_at),
            ended_at=to_datetime(row.ended_at) if row.ended_at else None,
            attempt=row.attempt,
            retries=row.retries,
            crashes=row.crashes,
            error_message=row.error,
            args=readable(codec, row.args or b"{}"),
            output=readable(codec, row.output) if row.output else None,
            progress=row.progress,
            progress_text=row.progress_text,
            waits_for=row.waits_for,
            cancel_reason=row.cancel_reason,
            tags=list(options.tags),
            metadata=dict(options.metadata),
            tenant_id=row.tenant,
        )


class LogEntry(View, frozen=True, kw_only=True):
    """A line that a job's handler wrote about its run."""

    number: int
    at: datetime
    level: int
    text: str

    @classmethod
    def of(cls, row: StoredLogLine) -> Self:
        """From its row."""
        return cls(number=row.number, at=to_datetime(row.at), level=row.level, text=row.text)


class QueueInfo(View, frozen=True, kw_only=True):
    """A queue: how many jobs are in which state, and since when the oldest ready one waits."""

    queue: str
    counts: dict[str, int]
    oldest_at: datetime | None
    is_paused: bool

    @classmethod
    def of(cls, row: QueueStats) -> Self:
        """From its counts."""
        return cls(
            queue=row.queue,
            counts={JobState(state).name: count for state, count in sorted(row.counts.items())},
            oldest_at=to_datetime(row.oldest_at) if row.oldest_at else None,
            is_paused=row.paused,
        )


class LimitInfo(View, frozen=True, kw_only=True):
    """A limit: ``most`` at once (0: any number), ``rate`` starts per ``per_ms``, of them ``burst`` at once."""

    key: str
    most: int
    rate: int
    per_ms: int
    burst: int
    used: int
    waiting: int
    reserved_at: datetime | None  # the start that the next job by its rate would get; None where it has no rate

    @classmethod
    def of(cls, row: StoredLimit) -> Self:
        """From its row."""
        return cls(
            key=row.key,
            most=row.most,
            rate=row.rate,
            per_ms=row.per_ms,
            burst=row.burst,
            used=row.used,
            waiting=row.waiting,
            reserved_at=to_datetime(row.reserved_at) if row.reserved_at else None,
        )


class Queues(Inspection):
    """The administering half of the queue on ``Procession``."""

    codec: Codec | None

    # -- queues ---------------------------------------------------------------------------------------------------
    async def queues(self) -> list[QueueInfo]:
        """Every queue that has jobs or is paused, by name; the engine's own begin with '$'."""
        return [QueueInfo.of(row) for row in await self._store.queue_stats()]

    async def pause_queue(self, queue: str, *, reason: str = "") -> bool:
        """Let nobody claim from a queue; what runs goes on. False where it was paused already."""
        return await self._pause(PauseKind.QUEUE, queue, "queue", reason)

    async def resume_queue(self, queue: str) -> bool:
        """Take the pause back; False where there was none."""
        return await self._resume(PauseKind.QUEUE, queue, "queue", queue)

    async def pause_type(self, type: str, *, reason: str = "") -> bool:  # noqa: A002 - Camunda's word
        """Let nobody claim jobs of a type, whatever queue they are in. False where it was paused already."""
        return await self._pause(PauseKind.TYPE, type, "type", reason)

    async def resume_type(self, type: str) -> bool:  # noqa: A002 - Camunda's word
        """Take the pause back; False where there was none."""
        return await self._resume(PauseKind.TYPE, type, "type", "")

    async def _pause(self, kind: PauseKind, name: str, what: str, reason: str) -> bool:
        arguments.key_text(arguments.name(name, what), what)
        paused = await self._store.pause(kind, name, reason=arguments.reason(reason))
        await self._look_again()
        return paused

    async def _resume(self, kind: PauseKind, name: str, what: str, queue: str) -> bool:
        arguments.key_text(arguments.name(name, what), what)
        resumed = await self._store.resume(kind, name)
        await self._look_again()
        if queue:
            self._engine.announce(queue)
        else:
            self._engine.hint("")
        return resumed

    async def _look_again(self) -> None:
        """Here at once, elsewhere as soon as it is heard of."""
        await self._engine.queue_duties.see_pauses()
        self._engine.announce(PAUSES)

    # -- limits ---------------------------------------------------------------------------------------------------
    async def limits(self, *, after: str = "", limit: int = 100) -> list[LimitInfo]:
        """A page of limits by key, with what is taken of them now; ``after``: the last key of the page before."""
        rows = await self._store.limits(after=arguments.text(after, "after"), limit=arguments.page(limit))
        return [LimitInfo.of(row) for row in rows]

    async def count_limits(self) -> tuple[int, bool]:
        """How many limits there are, up to SEARCH_MATCHES_MAX, and whether there are more."""
        found = await self._store.count_limits(SEARCH_MATCHES_MAX + 1)
        return min(found, SEARCH_MATCHES_MAX), found > SEARCH_MATCHES_MAX

    async def set_limit(self, key: str, *, most: int = 0, rate: int = 0, per: Span = "1s", burst: int = 0) -> bool:
        """Change the rule of a limit now, also for jobs that wait already; a later job's own rule changes it again.

        False where it was the rule already. Raises NotFound where no job has named the limit yet, InvalidValue.
        """
        arguments.key_text(arguments.name(key, "key"), "key")
        try:
            per_ms = span_ms(per, "per")
        except Misconfigured as error:
            raise InvalidValue(str(error)) from error
        if not most and not rate:
            message = f"Expected limit '{key}' to have a maximum (most) or a rate, found neither"
            raise InvalidValue(message)
        changed = await self._store.set_limit(
            key,
            most=arguments.whole(most, "most", 0, MOST_MAX),
            rate=arguments.whole(rate, "rate", 0, LIMIT_RATE_MAX),
            per_ms=arguments.whole(per_ms, "per, in ms,", 1, LIMIT_PER_MS_MAX),
            burst=arguments.whole(burst, "burst", 0, LIMIT_RATE_MAX),
        )
        self._engine.hint("")
        return changed

    # -- jobs -----------------------------------------------------------------------------------------------------
    async def job_record(self, job_key: int) -> JobRecord:
        """One job, in the queue or in the archive. Raises NotFound: it may have been done without being kept."""
        return JobRecord.of(await self._job_details(job_key), self.codec)

    async def job_records(self, *, after: int = 0, limit: int = 100, **choice: Unpack[JobChoice]) -> list[JobRecord]:
        """A page of jobs, the oldest first; ``state`` succeeded or deleted looks into the archive."""
        which = self._which(choice, after=arguments.key_or_none(after, "after"), limit=arguments.page(limit))
        return [JobRecord.of(row, self.codec) for row in await self._store.jobs(which)]

    async def job_log(self, job_key: int, *, after: int = 0, limit: int = PAGE_MAX) -> list[LogEntry]:
        """The log lines of a job, in order; ``after``: the last number of the page before. Raises NotFound."""
        await self._job_details(job_key)
        rows = await self._store.job_log(job_key, after=after, limit=arguments.page(limit))
        return [LogEntry.of(row) for row in rows]

    async def delete_jobs(
        self, *, reason: str = "", progress: Progress | None = None, **choice: Unpack[JobChoice]
    ) -> int:
        """Delete all jobs of no process that fit, page by page; those that run are canceled. How many. InvalidValue."""
        text = arguments.reason(reason)
        return await self._all_pages(choice, progress, lambda which: self._store.delete_where(which, text))

    async def requeue_jobs(
        self, *, retries: int = 0, progress: Progress | None = None, **choice: Unpack[JobChoice]
    ) -> int:
        """Let all failed jobs of no process that fit start over, and those that are scheduled be due now. How many."""
        attempts = arguments.whole(retries, "retries", 0, RETRIES_MAX)
        done = await self._all_pages(choice, progress, lambda which: self._store.requeue_where(which, retries=attempts))
        if done:
            self._engine.hint("")
        return done

    async def sweep(self) -> dict[str, int]:
        """Repair what no transaction leaves behind; what was found, by kind: all 0 is as it should be."""
        report: SweepReport = await self._store.sweep()
        return msgspec.structs.asdict(report)

    # -- internal -------------------------------------------------------------------------------------------------
    async def _job_details(self, job_key: int) -> JobDetails:
        row = await self._store.job(arguments.key(job_key, "job_key"))
        if row is None or self._tenant not in ("", row.tenant):
            message = f"Expected a job with key {job_key}, found none: it may have been done, and was not to be kept"
            raise NotFound(message)
        return row

    async def _all_pages(
        self, choice: JobChoice, progress: Progress | None, act: Callable[[QueueFilter], Awaitable[BulkResult]]
    ) -> int:
        done = after = 0
        while True:
            page = await act(self._which(choice, after=after, limit=BULK_PAGE))
            done += page.done
            if progress is not None:
                progress(done)
            if not page.after:
                return done
            after = page.after

    def _which(self, choice: JobChoice, *, after: int, limit: int) -> QueueFilter:
        """Users' words as a filter. Raises InvalidValue."""
        state = -1
        if named := arguments.text(choice.get("state", ""), "state").upper():
            if named not in JobState.__members__:
                names = ", ".join(one.name.lower() for one in JobState)
                message = f"Expected state to be one of {names}, found {arguments.shown(choice.get('state'))}"
                raise InvalidValue(message)
            state = JobState[named]
        return QueueFilter(
            state=state,
            queue=arguments.text(choice.get("queue", ""), "queue"),
            type=arguments.text(choice.get("type", ""), "type"),
            tag=arguments.text(choice.get("tag", ""), "tag"),
            text=arguments.text(choice.get("text", ""), "text"),
            tenant=self._tenant,
            after=after,
            limit=limit,
        )
