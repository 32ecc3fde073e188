"""The queue at a glance: queues with their latency, what happened per minute, who works, when recurring jobs ran.

It changes nothing, and asks only what stays quick however many jobs there are.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from procession.app import arguments
from procession.app.inspection import Inspection
from procession.app.views import View
from procession.engine import standing as standings
from procession.engine.queue_retention import kept_by_queue
from procession.errors import InvalidValue, NotFound
from procession.jobs.kinds import JobState
from procession.jobs.recurring import first_firing
from procession.jobs.schedule import to_datetime
from procession.limits import PAGE_MAX, RUNS_AHEAD_MAX, STAT_KEPT_MS
from procession.store.rows.queue import PauseKind
from procession.store.rows.queue_reading import JobDetails, QueueFilter, StatRow, StoredRecurring

MINUTE_MS = 60_000
SERIES_MINUTES_MAX = STAT_KEPT_MS // MINUTE_MS
RUNNING_SHOWN_MAX = 100  # jobs of one process


class QueueStanding(View, frozen=True, kw_only=True):
    """How a queue stands. ``latency_ms`` is the age of the oldest job that could be claimed now."""

    queue: str
    counts: dict[str, int]  # by state
    beyond: list[str]  # states of which there may be more than counted
    oldest_at: datetime | None
    latency_ms: int
    is_paused: bool
    pause_reason: str
    paused_at: datetime | None
    enqueued_per_minute: int  # within the last whole minute
    succeeded_per_minute: int
    failed_per_minute: int
    keep_ms: int  # so long what succeeds in it is kept at least; 0: as its jobs say


class PausedType(View, frozen=True, kw_only=True):
    """A job type that nobody claims, whatever queue its jobs are in."""

    type: str
    reason: str
    paused_at: datetime | None


class Series(View, frozen=True, kw_only=True):
    """What happened to the jobs of a queue, per minute: each list has a number for each of the minutes asked for."""

    queue: str
    enqueued: list[int]
    succeeded: list[int]
    failed: list[int]
    retried: list[int]
    run_ms: list[int]  # time that handlers took, all together


class JobSeries(View, frozen=True, kw_only=True):
    """Series over the same minutes."""

    minutes: list[datetime]
    series: list[Series]


class RunningJob(View, frozen=True, kw_only=True):
    """A job that a process has been given: it runs, or is about to."""

    job_key: int
    type: str
    queue: str
    title: str
    attempt: int
    progress: float
    progress_text: str
    process_instance_key: int
    tenant_id: str = ""


class WorkerQueue(View, frozen=True, kw_only=True):
    """What a process does for one queue."""

    queue: str
    types: list[str]
    slots: int
    running: int
    buffered: int


class StuckSlot(View, frozen=True, kw_only=True):
    """A slot whose handler ignores its cancellation."""

    job_key: int
    type: str


class Worker(View, frozen=True, kw_only=True):
    """A process that works on the database."""

    node: int
    name: str
    started_at: datetime | None
    beat_at: datetime | None
    running: int
    jobs: list[RunningJob]  # the first RUNNING_SHOWN_MAX
    queues: list[WorkerQueue]
    stuck: list[StuckSlot]


class FiredJob(View, frozen=True, kw_only=True):
    """A job that a firing has put into the queue. GONE: it ended without being kept, usually well."""

    job_key: int
    state: str


class PastRun(View, frozen=True, kw_only=True):
    """A firing of a recurring job. ``due_at`` None: somebody triggered it. No jobs: the run was passed over."""

    at: datetime
    due_at: datetime | None
    jobs: list[FiredJob]


class QueueWatch(Inspection):
    """The watching half of ``Procession``."""

    async def queue_standings(self) -> list[QueueStanding]:
        """Every queue that has jobs or is paused, by name; the engine's own begin with '$'."""
        rows = await self._store.queue_stats()
        kept = await kept_by_queue(self._store)
        now = await self._store.now()
        last = now // MINUTE_MS * MINUTE_MS
        happened = _by_queue(await self._store.stats(since=last - MINUTE_MS, until=last))
        return [
            QueueStanding(
                queue=row.queue,
                counts={JobState(state).name: count for state, count in sorted(row.counts.items())},
                beyond=[JobState(state).name for state in sorted(row.beyond)],
                oldest_at=to_datetime(row.oldest_at) if row.oldest_at else None,
                latency_ms=max(0, now - row.oldest_at) if row.oldest_at else 0,
                is_paused=row.paused,
                pause_reason=row.pause_reason,
                paused_at=to_datetime(row.paused_at) if row.paused_at else None,
                enqueued_per_minute=sum(each.enqueued for each in happened.get(row.queue, [])),
                succeeded_per_minute=sum(each.succeeded for each in happened.get(row.queue, [])),
                failed_per_minute=sum(each.failed for each in happened.get(row.queue, [])),
                keep_ms=kept.get(row.queue, 0),
            )
            for row in rows
        ]

    async def paused_types(self) -> list[PausedType]:
        """Job types that are paused, by name."""
        return [
            PausedType(type=pause.name, reason=pause.reason, paused_at=to_datetime(pause.since))
            for pause in await self._store.pauses()
            if pause.kind == PauseKind.TYPE
        ]

    async def job_series(self, queue: str = "", *, minutes: int = 60) -> JobSeries:
        """What happened per minute, up to the one that is not over, for each queue that anything happened in.

        The counts come every few seconds from each process. Raises InvalidValue.
        """
        arguments.text(queue, "queue")
        count = arguments.whole(minutes, "minutes", 1, SERIES_MINUTES_MAX)
        until = await self._store.now() // MINUTE_MS * MINUTE_MS + MINUTE_MS
        since = until - count * MINUTE_MS
        rows = _by_queue(await self._store.stats(since=since, until=until, queue=queue))
        return JobSeries(
            minutes=[to_datetime(since + number * MINUTE_MS) for number in range(count)],
            series=[_series(name, rows[name], since, count) for name in sorted(rows)],
        )

    async def workers(self) -> list[Worker]:
        """The processes that work on the database, each with what it runs now, and how its slots stood seconds ago."""
        nodes = await self._store.list_nodes()
        rows = await self._store.kept(standings.KIND, limit=PAGE_MAX)
        said = {row.key: standings.decode(row.body) for row in rows}
        found: list[Worker] = []
        for node in nodes:
            which = QueueFilter(state=JobState.RUNNING, owner=node.node, tenant=self._tenant, limit=RUNNING_SHOWN_MAX)
            jobs = (await self._store.find_jobs(which)).jobs if node.running else []
            standing = said.get(node.node, standings.Standing())
            found.append(
                Worker(
                    node=node.node,
                    name=node.name,
                    started_at=to_datetime(node.started_at) if node.started_at else None,
                    beat_at=to_datetime(node.beat_at) if node.beat_at else None,
                    running=node.running,
                    jobs=[_running(job) for job in jobs],
                    queues=[
                        WorkerQueue(
                            queue=each.queue,
                            types=each.types,
                            slots=each.slots,
                            running=each.running,
                            buffered=each.buffered,
                        )
                        for each in standing.queues
                    ],
                    stuck=[StuckSlot(job_key=each.job, type=each.type) for each in standing.stuck],
                )
            )
        return found

    async def recurring_history(self, name: str) -> list[PastRun]:
        """The last firings of a recurring job, the newest first, with what became of their jobs. Raises NotFound."""
        row = await self._one_recurring(name)
        keys = sorted({key for firing in row.firings for key in firing.jobs})
        states = {job.key: JobState(job.state).name for job in await self._store.jobs_of(keys)} if keys else {}
        return [
            PastRun(
                at=to_datetime(firing.at),
                due_at=to_datetime(firing.due_at) if firing.due_at else None,
                jobs=[FiredJob(job_key=key, state=states.get(key, "GONE")) for key in firing.jobs],
            )
            for firing in reversed(row.firings)
        ]

    async def next_runs(self, name: str, *, count: int = 5) -> list[datetime]:
        """When a recurring job is due next, if it is not paused until then. Raises NotFound, InvalidValue."""
        row = await self._one_recurring(name)
        return due_times(row.cycle, row.next_at, arguments.whole(count, "count", 1, RUNS_AHEAD_MAX))

    async def _one_recurring(self, name: str) -> StoredRecurring:
        rows = await self._store.recurring_jobs(name=arguments.name(name, "name"), tenant=self._tenant, limit=PAGE_MAX)
        found = next((row for row in rows if row.tenant == self._tenant), None)
        if found is None:
            raise NotFound(f"Expected a recurring job named {arguments.shown(name)}, found none")
        return found


def due_times(cycle: str, next_at: int, count: int) -> list[datetime]:
    """The next due times of a cycle, from one on; none for a cycle that is over."""
    found: list[datetime] = []
    at = next_at
    while at and len(found) < count:
        found.append(to_datetime(at))
        try:
            at = first_firing(cycle, at)
        except InvalidValue:
            break
    return found


def _by_queue(rows: Iterable[StatRow]) -> dict[str, list[StatRow]]:
    found: dict[str, list[StatRow]] = {}
    for row in rows:
        found.setdefault(row.queue, []).append(row)
    return found


def _series(queue: str, rows: Iterable[StatRow], since: int, count: int) -> Series:
    """The rows of all types of a queue, added up per minute."""
    names = ("enqueued", "succeeded", "failed", "retried", "run_ms")
    lists: dict[str, list[int]] = {name: [0] * count for name in names}
    for row in rows:
        place = (row.minute - since) // MINUTE_MS
        for name in names:
            lists[name][place] += getattr(row, name)
    return Series(queue=queue, **lists)


def _running(row: JobDetails) -> RunningJob:
    return RunningJob(
        job_key=row.key,
        type=row.type,
        queue=row.queue,
        title=row.options.title if row.options is not None else "",
        attempt=row.attempt,
        progress=row.progress,
        progress_text=row.progress_text,
        process_instance_key=row.instance,
        tenant_id=row.tenant,
    )
