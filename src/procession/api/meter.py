"""Counts by time: what the history says of instances, decisions, assignees and jobs; what remote workers did here.

The first is counted with the tally, once whatever dies. The second is counted in memory, where workers come in, and
added every second: what a server that is killed had not added is not known. Neither costs the engine anything.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from procession.app.working import ActivatedJob
from procession.core import events as e
from procession.jobs.kinds import JobKind
from procession.store.port import Store
from procession.store.rows.metering import USAGE, Measure, MeterRow, bucket, cut

JOBS_MAX: Final = 50_000  # given to workers, whose type and worker are remembered
NAMES_MAX: Final = 5_000  # counted apart between two flushes
KINDS: Final = (JobKind.SERVICE, JobKind.LISTENER)
DAY_MS: Final = 86_400_000
KEEP_MS: Final = {True: 750 * DAY_MS, False: 31 * DAY_MS}  # usage, and everything else
FORGET_ROWS: Final = 1_000
FORGET_EVERY_MS: Final = 3_600_000

Name = tuple[int, Measure, str, str, str, str]  # bucket, measure, tenant, name, worker, detail


class Counter:
    """Rows that are being counted."""

    def __init__(self) -> None:
        self._rows: dict[Name, MeterRow] = {}

    def add(self, measure: Measure, at: int, tenant: str, name: str = "", worker: str = "", detail: str = "") -> None:
        """One more."""
        if len(self._rows) >= NAMES_MAX:
            worker = detail = ""
        place = (bucket(measure, at), measure, tenant, cut(name), cut(worker), cut(detail))
        row = self._rows.get(place)
        if row is None:
            row = self._rows[place] = MeterRow(
                at=place[0], measure=measure, times=0, last_at=0, tenant=tenant, name=place[3]
            )
            row.worker, row.detail = place[4], place[5]
        row.times += 1
        row.last_at = max(row.last_at, at)

    def take(self) -> list[MeterRow]:
        """The rows, which begin anew."""
        rows, self._rows = self._rows, {}
        return list(rows.values())


def count_event(counter: Counter | None, tenant: str, jobs: dict[int, str], event: e.AnyEvent, at: int) -> None:
    """What one event adds. ``jobs``: the types of the instance's open jobs; None: only they are brought up to date."""
    add = counter.add if counter is not None else _nothing
    match event:
        case e.JobCreated() if event.kind in KINDS:
            jobs[event.key] = event.type
            add(Measure.JOBS_CREATED, at, tenant, event.type)
        case e.JobClosed():
            type_ = jobs.pop(event.key, None)
            if type_ is not None and event.outcome == "completed":
                add(Measure.JOBS_COMPLETED, at, tenant, type_)
            elif type_ is not None and event.outcome == "error":
                add(Measure.JOBS_FAILED, at, tenant, type_)
        case e.IncidentRaised() if event.job in jobs:
            add(Measure.JOBS_FAILED, at, tenant, jobs[event.job], "", error_detail("", event.message))
        case e.Started() if not event.parent:
            add(Measure.INSTANCES, at, tenant)
        case e.DecisionEvaluated():
            add(Measure.DECISIONS, at, tenant)
        case e.UserTaskCreated() if event.assignee:
            add(Measure.ASSIGNEE, at, tenant, event.assignee)
        case e.UserTaskUpdated() if isinstance(event.changes.get("assignee"), str) and event.changes["assignee"]:
            add(Measure.ASSIGNEE, at, tenant, event.changes["assignee"])
        case _:
            pass


def _nothing(*_: object) -> None:
    """Count nothing."""


def error_detail(code: str, message: str) -> str:
    """An error as it is counted."""
    return f"{cut(code)}\n{message}"


class Workers:
    """What remote workers did on this server. One for each server."""

    def __init__(self) -> None:
        self._counter = Counter()
        self._given: OrderedDict[int, tuple[str, str, str]] = OrderedDict()  # job: type, worker, tenant
        self._forgot_at = 0

    def gave(self, jobs: Sequence[ActivatedJob], worker: str, now: int) -> None:
        """Jobs were leased to a worker."""
        for job in jobs:
            self._given[job.job_key] = (job.type, worker, job.tenant_id)
            self._counter.add(Measure.GIVEN, now, job.tenant_id, job.type, worker)
        while len(self._given) > JOBS_MAX:
            self._given.popitem(last=False)

    def completed(self, job: int, now: int) -> None:
        """A worker has done a job."""
        self._ended(Measure.WORKER_COMPLETED, job, now)

    def failed(self, job: int, now: int, *, retries: int = 0, code: str = "", message: str = "") -> None:
        """A worker could not do a job, or threw an error."""
        measure = Measure.WORKER_RETRIED if retries > 0 else Measure.WORKER_FAILED
        self._ended(measure, job, now, error_detail(code, message))

    def _ended(self, measure: Measure, job: int, now: int, detail: str = "") -> None:
        found = self._given.pop(job, None)
        if found is not None:  # others gave it out, or it is long ago: the history counts it all the same
            type_, worker, tenant = found
            self._counter.add(measure, now, tenant, type_, worker, detail)

    async def flush(self, store: Store) -> None:
        """Add what was counted, and forget what is old. What cannot be added now is lost."""
        rows = self._counter.take()
        if rows:
            await store.add_meter(rows)
        newest = max((row.last_at for row in rows), default=0)
        if newest - self._forgot_at > FORGET_EVERY_MS:
            self._forgot_at = newest
            for is_usage, keep_ms in KEEP_MS.items():
                measures = [measure for measure in Measure if (measure in USAGE) == is_usage]
                await store.forget_meter(newest - keep_ms, measures, limit=FORGET_ROWS)
