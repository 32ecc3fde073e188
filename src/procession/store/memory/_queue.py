"""The queue's half of the memory store: scripts run to their end on the event loop, so each is one transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import msgspec

from procession.jobs.kinds import JobState
from procession.jobs.options import Trait, due_of
from procession.store._shared.queue import settling
from procession.store._shared.queue.calls import QueueCalls
from procession.store._shared.queue.claiming import as_started, claim_limited, rest_of
from procession.store._shared.queue.script import Ask, Rows, Script, run_at_once
from procession.store._shared.queue.settling import with_lost
from procession.store.memory import _jobs, _queue_jobs, _queue_lists, _queue_rules, _queue_watch, _watch
from procession.store.memory._queue_tables import QueueTables
from procession.store.memory._tables import Tables
from procession.store.port import Clock
from procession.store.rows import Claimed, ClaimedJob, JobEnd, JobOutcome, Rescue, StoredJob, Want
from procession.store.rows.queue import PauseKind

T = TypeVar("T")
STATEMENTS: Final = {
    **_queue_jobs.STATEMENTS,
    **_queue_lists.STATEMENTS,
    **_queue_rules.STATEMENTS,
    **_queue_watch.STATEMENTS,
    **_watch.STATEMENTS,
}


class MemoryQueue(QueueCalls):
    """The calls of the queue, on dictionaries."""

    _clock: Clock
    _tables: Tables
    _queue: QueueTables

    async def _run_script(self, make: Callable[[int], Script[T]], *, reads: bool = False) -> T:  # noqa: ARG002
        return self._run_now(make)

    def _run_now(self, make: Callable[[int], Script[T]]) -> T:
        self._queue.begin()
        try:
            return run_at_once(make(self._tables.clock()), self._execute)
        except BaseException:
            self._queue.undo()
            raise

    def _execute(self, question: Ask) -> Rows:
        if question.name == "clock":
            return [(self._tables.clock(),)]
        first, *rest = question.values
        rows: Any = msgspec.json.decode(first) if isinstance(first, bytes) else first
        return STATEMENTS[question.name](self._queue, rows, *rest)

    # -- the hot path -----------------------------------------------------------------------------------------
    async def claim(self, node: int, wants: Sequence[Want]) -> Claimed:
        """Lease limited jobs that may start, and ready ones."""
        pauses = self._queue.pauses
        types = frozenset(name for kind, name in pauses if kind == PauseKind.TYPE)
        if pauses:
            wants = [want for want in wants if (PauseKind.QUEUE, want.queue) not in pauses]
        limited = Claimed()
        if self._queue.extras:
            limited = self._claim_limited(node, wants)
        ready = _jobs.claim_jobs(self._tables, node, rest_of(wants, limited), paused_types=types)
        if self._queue.extras:
            ready = [self._with_extra(job) for job in ready]
        return Claimed([*limited, *ready], limited.held_back, is_partial=limited.is_partial)

    async def finish(self, outcomes: Sequence[JobOutcome]) -> list[bool]:
        """End runs under their leases."""
        tables, now, extras = self._tables, self._clock(), self._queue.extras
        long_way = [
            each for each in outcomes if each.end == JobEnd.CANCELED or each.keep_ms or self._has_traits(each.key)
        ]
        if not long_way and not extras:
            return [self._finish(outcome, now) for outcome in outcomes]
        answers = dict(zip((each.key for each in long_way), await self._settle_rest(long_way), strict=True))
        for outcome in outcomes:
            if outcome.key not in answers:
                answers[outcome.key] = self._finish(outcome, now)
                if outcome.key not in tables.jobs:
                    extras.pop(outcome.key, None)
        return [answers[outcome.key] for outcome in outcomes]

    def _finish(self, outcome: JobOutcome, now: int) -> bool:
        """End one run of a job without traits."""
        applied = _jobs.finish_job(self._tables, outcome, now)
        if applied and outcome.end == JobEnd.FAILED:
            self._queue.set_ended(outcome.key, now)
        return applied

    async def promote(self, limit: int) -> tuple[list[str], int]:
        """Make due jobs ready, and say which queues have limited ones that are due."""
        now = self._clock()
        queues, next_due = _jobs.promote_jobs(self._tables, limit, self._make_ready)
        if not self._queue.extras:
            return queues, next_due
        line = [job for job in self._queue.jobs_in(JobState.THROTTLED) if not self._queue.beyond(job.key).waits_for]
        later = [job.run_at for job in line if job.run_at > now]
        due = {job.queue for job in line if job.run_at <= now}
        return sorted({*queues, *due}), min((at for at in (next_due, *later) if at), default=0)

    async def rescue(self, dead_after_ms: int, limit: int, *, crash_budget: int, backoff_ms: int) -> Rescue:
        """Give back the jobs of the dead."""
        dead = _jobs.remove_dead_nodes(self._tables, dead_after_ms)
        bounds = {"crash_budget": crash_budget, "backoff_ms": backoff_ms}
        rescue = _jobs.rescue_jobs(self._tables, limit, **bounds, passed_over=self._has_traits)
        rescue.nodes = dead
        for key in rescue.failed:
            self._queue.set_ended(key, self._clock())
        lost = self._run_now(lambda now: settling.rescue_runs(limit, now, **bounds))
        return with_lost(rescue, lost)

    def _release_runs(self, node: int) -> None:
        self._run_now(lambda now: settling.release_runs(node, now))

    def _has_traits(self, key: int) -> bool:
        return bool(self._queue.beyond(key).traits)

    def _make_ready(self, job: StoredJob) -> None:
        """What becomes of a job whose time has come."""
        extra = self._queue.beyond(job.key)
        options = self._queue.options(job.key) if extra.traits & Trait.AGEING else None
        if extra.traits & Trait.LIMITED:
            job.state = JobState.THROTTLED
            self._queue.lines.add(job.key)
            return
        if options is not None:
            job.priority, job.run_at = due_of(options, job.run_at)
        self._tables.make_ready(job)

    def _claim_limited(self, node: int, wants: Sequence[Want]) -> Claimed:
        if not self._queue.lines:
            return Claimed()
        started = self._run_now(lambda now: claim_limited(node, wants, now))
        jobs = [as_started(self._with_extra(_jobs.claimed_job(job)), started) for _, job in started.rows]
        return Claimed(jobs, started.held_back, is_partial=started.is_partial)

    def _with_extra(self, job: ClaimedJob) -> ClaimedJob:
        extra = self._queue.beyond(job.key)
        job.options, job.checkpoint = (extra.options or "").encode(), extra.checkpoint
        return job
