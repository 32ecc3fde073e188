"""Administering the queue: pages of jobs, one job in full, changes by filter, flows, batches, series, who works.

The command line and the server call the same methods. What a change does to a job, the queue's rules say.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, Literal, Unpack, cast

import msgspec

from procession.app import arguments
from procession.app.flows import Flows
from procession.app.job_graphs import GONE, FlowGraph, Walk, graph_of, members_of, named_flow, walk_flow
from procession.app.job_lists import (
    JobAttempt,
    JobFilters,
    JobInFull,
    JobPage,
    QueueJob,
    RelatedJob,
    filter_of,
    why_it_waits,
)
from procession.app.queue_watch import QueueWatch
from procession.app.queues import Progress
from procession.app.views import readable
from procession.core.listening import RETRIES_MAX
from procession.engine.queue_duties import PAUSES
from procession.engine.queue_retention import keep_by_queue
from procession.errors import Conflict, InvalidValue, Misconfigured, NotFound
from procession.jobs.codec import Codec
from procession.jobs.flows import Effect, effect_of
from procession.jobs.kinds import JobKind, JobState
from procession.jobs.options import JobOptions
from procession.jobs.retry import Span, span_ms
from procession.jobs.schedule import to_instant
from procession.limits import BULK_PAGE, PAGE_MAX, SEARCH_MATCHES_MAX, TIMER_MS_MAX
from procession.store.rows.queue import BulkResult, JobChange, PauseKind
from procession.store.rows.queue_reading import JobDetails, QueueFilter, StoredJobBatch

PRIORITY_MAX = 2**31 - 1
LOOKS_MAX = 4  # at LOOKED_AT_MAX rows each, for one page: a quarter of a second
Action = Literal["delete", "requeue", "change"]
ACTIONS: tuple[Action, ...] = ("delete", "requeue", "change")


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """What is to become of the jobs that wait: a priority, attempts left, a time before which they do not run."""

    priority: int | None = None
    retries: int | None = None
    delay: Span | None = None
    at: datetime | None = None


class Administration(QueueWatch, Flows):
    """The administering half of ``Procession`` for jobs and what they belong to."""

    codec: Codec | None

    # -- looking --------------------------------------------------------------------------------------------------
    async def find_jobs(
        self, *, newest: bool = True, after: int = 0, limit: int = 100, **choice: Unpack[JobFilters]
    ) -> JobPage:
        """A page of jobs with how many there are; ``state`` succeeded or deleted looks into the archive.

        ``after`` is that of the page before. Raises InvalidValue; NotFound for a flow that is not there.
        """
        which = await self._meant(choice)
        total, is_more = await self._store.count_meant(which, SEARCH_MATCHES_MAX)
        which.newest, which.after, which.limit = newest, arguments.key_or_none(after, "after"), arguments.page(limit)
        jobs: list[QueueJob] = []
        for _ in range(LOOKS_MAX):
            found = await self._store.find_jobs(which)
            jobs += [QueueJob.of(row, self.codec) for row in found.jobs]
            which.after, which.limit = found.after, limit - len(jobs)
            if not which.after or not which.limit:
                break
        return JobPage(jobs=jobs, after=which.after, total=total, is_more=is_more)

    async def count_matching_jobs(self, **choice: Unpack[JobFilters]) -> tuple[int, bool]:
        """How many jobs are meant, up to SEARCH_MATCHES_MAX, and whether there may be more. Raises InvalidValue."""
        return await self._store.count_meant(await self._meant(choice), SEARCH_MATCHES_MAX)

    async def job_in_full(self, job_key: int) -> JobInFull:
        """One job, of the queue or the archive, with its parents, its children, and why it waits. Raises NotFound."""
        row = await self._expect_job(job_key)
        links = await self._store.job_links([row.key])
        either = {link.parent: link.either for link in links if link.child == row.key}
        either |= {after.key: after.either for after in (row.options or JobOptions()).after}
        after_it = {link.child: link.either for link in links if link.parent == row.key}
        parents = await self._related(either)
        waiting = sum(1 for parent in parents if _holds_up(parent))
        paused = await self._what_pauses(row) if row.state == JobState.READY else []
        return JobInFull(
            job=QueueJob.of(row, self.codec),
            why=why_it_waits(row, waiting, paused),
            checkpoint=readable(self.codec, row.checkpoint) if row.checkpoint else None,
            parents=parents,
            children=await self._related(after_it),
            attempts=[JobAttempt.of(each) for each in await self._store.job_attempts(row.key)],
        )

    async def job_attempts(self, job_key: int) -> list[JobAttempt]:
        """The attempts of a job that failed, in order, the last JOB_ATTEMPTS_KEPT_MAX of them. Raises NotFound."""
        row = await self._expect_job(job_key)
        return [JobAttempt.of(each) for each in await self._store.job_attempts(row.key)]

    async def flow(self, key: int) -> FlowGraph:
        """The jobs and batches that are connected by what comes after what. Raises NotFound.

        ``key``: that of any job, or of a flow that has a title.
        """
        walk, flow = await self._walk(arguments.key(key, "key"))
        return graph_of(walk, flow if flow is not None else await named_flow(self._store, walk))

    # -- changing -------------------------------------------------------------------------------------------------
    async def change_job(
        self,
        job_key: int,
        *,
        priority: int | None = None,
        retries: int | None = None,
        delay: Span | None = None,
        at: datetime | None = None,
    ) -> None:
        """Change a job of no process while it waits. Raises NotFound, InvalidValue, Conflict where it cannot be."""
        change = _change_of(Changes(priority=priority, retries=retries, delay=delay, at=at))
        row = await self._expect_job(job_key)
        if not await self._store.change_jobs([row.key], change):
            what = f"job {row.key} to wait, and to be of no process"
            message = f"Expected {what}, found it {JobState(row.state).name}"
            if row.state in (JobState.READY, JobState.SCHEDULED) and row.kind == JobKind.TASK:
                message = f"Expected {what} and not to age: one that ages has no priority to change"
            raise Conflict(message)
        self._engine.hint("")

    async def change_jobs(
        self,
        *,
        priority: int | None = None,
        retries: int | None = None,
        delay: Span | None = None,
        at: datetime | None = None,
        progress: Progress | None = None,
        **choice: Unpack[JobFilters],
    ) -> int:
        """Change all jobs of no process that fit and wait, page by page; how many were changed. InvalidValue."""
        changes = Changes(priority=priority, retries=retries, delay=delay, at=at)
        done = after = 0
        while True:
            page = await self.bulk_page("change", choice, after=after, changes=changes)
            done, after = done + page.done, page.after
            if progress is not None:
                progress(done)
            if not after:
                return done

    async def bulk_page(
        self,
        action: Action,
        choice: JobFilters,
        *,
        after: int = 0,
        reason: str = "",
        retries: int = 0,
        changes: Changes | None = None,
    ) -> BulkResult:
        """Do something with the next BULK_PAGE jobs of no process that fit; where to go on, 0 when that were all.

        Each page is a transaction of its own, so that nothing is locked for long. Raises InvalidValue.
        """
        which = await self._meant(choice)
        which.after, which.limit = arguments.key_or_none(after, "after"), BULK_PAGE
        act = self._act_of(action, arguments.reason(reason), retries, changes)
        page = await act(which)
        if page.done:
            self._engine.hint("")
        return page

    def _act_of(
        self, action: Action, reason: str, retries: int, changes: Changes | None
    ) -> Callable[[QueueFilter], Awaitable[BulkResult]]:
        match action:
            case "delete":
                return lambda which: self._store.delete_where(which, reason)
            case "requeue":
                attempts = arguments.whole(retries, "retries", 0, RETRIES_MAX)
                return lambda which: self._store.requeue_where(which, retries=attempts)
            case "change":
                change = _change_of(changes or Changes())
                return lambda which: self._store.change_where(which, change)

    async def cancel_job_batch(self, batch_key: int, *, reason: str = "", progress: Progress | None = None) -> int:
        """Seal a batch of jobs and delete its members that are not over; those that run are canceled. How many.

        Batches within it are canceled by their own keys. Raises NotFound.
        """
        await self.seal_batch(batch_key)
        done = after = 0
        choice: JobFilters = {"batch": batch_key}
        while True:
            page = await self.bulk_page("delete", choice, after=after, reason=reason or "Its batch was canceled")
            done, after = done + page.done, page.after
            if progress is not None:
                progress(done)
            if not after:
                return done

    async def keep_finished(self, queue: str, keep: Span | None) -> None:
        """Keep what succeeds in a queue so long from now on, where it can be looked at; None: as its jobs say.

        It costs each of them a row in the archive. What is there already stays as long as it was to. InvalidValue.
        """
        name = arguments.key_text(arguments.name(queue, "queue"), "queue")
        try:
            keep_ms = 0 if keep is None else span_ms(keep, "keep")
        except Misconfigured as error:
            raise InvalidValue(str(error)) from error
        arguments.whole(keep_ms, "keep, in ms,", 0, TIMER_MS_MAX)
        (key,) = await self._engine.take_keys(1)
        await keep_by_queue(self._store, name, keep_ms, key)
        await self._engine.queue_duties.see_retention()
        self._engine.announce(PAUSES)

    async def delete_limit(self, key: str) -> None:
        """Delete a limit by which nothing runs and for which nothing waits. Raises NotFound, Conflict.

        The next job that names it brings its own rule.
        """
        await self._store.drop_limit(arguments.key_text(arguments.name(key, "key"), "key"))

    # -- internal -------------------------------------------------------------------------------------------------
    async def _expect_job(self, job_key: int) -> JobDetails:
        """A job that this tenant may see. Raises NotFound."""
        row = await self._found(arguments.key(job_key, "job_key"))
        if row is None:
            message = f"Expected a job with key {job_key}, found none: it may have been done, and was not to be kept"
            raise NotFound(message)
        return row

    async def _walk(self, key: int) -> tuple[Walk, StoredJobBatch | None]:
        """A flow, from any of its jobs or its own key. Raises NotFound."""
        rows = await self._store.job_batches(keys=[key], tenant=self._tenant, limit=1)
        flow = next((row for row in rows if row.is_flow), None)
        start = (await self._expect_job(key)).key if flow is None else await members_of(self._store, flow.key)
        return await walk_flow(self._store, start, self._tenant), flow

    async def _meant(self, choice: JobFilters) -> QueueFilter:
        """A filter for the store; a flow is the keys of its jobs."""
        which = filter_of(choice, self._tenant)
        if flow := arguments.key_or_none(choice.get("flow", 0), "flow"):
            which.keys = sorted((await self._walk(flow))[0].jobs)
        return which

    async def _related(self, either: dict[int, bool]) -> list[RelatedJob]:
        """Jobs and batches by key, each with how it is tied to the job that is looked at."""
        found = {row.key: row for row in await self._store.jobs_of(sorted(either))}
        missing = [key for key in either if key not in found]
        batches = await self._store.job_batches(keys=missing, limit=PAGE_MAX) if missing else []
        titles = {batch.key: batch for batch in batches}
        return [
            RelatedJob(
                job_key=key,
                type=found[key].type if key in found else "",
                title=_title(found.get(key)) or (titles[key].title if key in titles else ""),
                state=_state(found.get(key), titles[key].state if key in titles else -1),
                either=either[key],
            )
            for key in sorted(either)
        ]

    async def _what_pauses(self, row: JobDetails) -> list[str]:
        """What keeps a ready job from being claimed."""
        words = {PauseKind.QUEUE: ("queue", row.queue), PauseKind.TYPE: ("job type", row.type)}
        return [
            f"{words[PauseKind(pause.kind)][0]} '{pause.name}'"
            for pause in await self._store.pauses()
            if words[PauseKind(pause.kind)][1] == pause.name
        ]


def _title(row: JobDetails | None) -> str:
    return row.options.title if row is not None and row.options is not None else ""


def _state(row: JobDetails | None, batch_state: int) -> str:
    if row is not None:
        return JobState(row.state).name
    return ("OPEN", "SEALED", "FINISHED")[batch_state] if batch_state >= 0 else GONE


def _holds_up(parent: RelatedJob) -> bool:
    """Whether what comes after a job waits for it."""
    if parent.state in ("FINISHED", GONE):
        return False
    if parent.state in ("OPEN", "SEALED"):
        return True
    return effect_of(JobState[parent.state], either=parent.either) is Effect.WAITS


def _change_of(changes: Changes) -> JobChange:
    """Users' words as a change. Raises InvalidValue."""
    priority, retries, delay, at = changes.priority, changes.retries, changes.delay, changes.at
    if priority is None and retries is None and delay is None and at is None:
        message = "Expected priority, retries, delay or at to change, found none of them"
        raise InvalidValue(message)
    if delay is not None and at is not None:
        message = "Expected either at= or delay=, found both"
        raise InvalidValue(message)
    if at is not None and (not isinstance(cast("Any", at), datetime) or at.tzinfo is None):
        message = f"Expected at= to be an aware datetime, found {arguments.shown(at)}"
        raise InvalidValue(message)
    try:
        delay_ms = None if delay is None else span_ms(delay, "delay")
    except Misconfigured as error:
        raise InvalidValue(str(error)) from error
    return JobChange(
        priority=None if priority is None else arguments.whole(priority, "priority", -PRIORITY_MAX, PRIORITY_MAX),
        retries=None if retries is None else arguments.whole(retries, "retries", 1, RETRIES_MAX),
        run_at=max(1, to_instant(at)) if at is not None else 0,
        delay_ms=delay_ms,
    )
