"""How many jobs were created, completed and failed: in all, by type, by worker, by time, by error; and what was used.

Everything comes from the meter (``api/meter.py``): whole minutes for jobs, whole hours for usage.
"""

from __future__ import annotations

import base64
from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Annotated, Final, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from procession.api.endpoints import Call, Endpoint
from procession.api.problems import Problem
from procession.api.roles import Role, tenant_id_of, tenant_of
from procession.api.search import Found, Instant, PageInfo, Record, Request, Text, acceptor
from procession.errors import InvalidValue
from procession.jobs.retry import span_ms
from procession.jobs.schedule import to_datetime
from procession.limits import SEARCH_LIMIT_MAX
from procession.store.rows.metering import HOUR_MS, MINUTE_MS, USAGE, Measure, MeterRow

GROUP: Final = "Job"
ROWS_MAX: Final = 50_000  # of the meter that one answer is made of
BUCKETS_MAX: Final = 10_000
OWN: Final = "procession"  # the handlers within processes of Procession, as one worker
JOBS: Final = frozenset(Measure) - USAGE
CREATED: Final = frozenset({Measure.JOBS_CREATED})
COMPLETED: Final = frozenset({Measure.JOBS_COMPLETED})
FAILED: Final = frozenset({Measure.JOBS_FAILED, Measure.WORKER_RETRIED})
OF_WORKERS: Final = frozenset({Measure.GIVEN, Measure.WORKER_COMPLETED, Measure.WORKER_FAILED, Measure.WORKER_RETRIED})
ERRORS: Final = frozenset({Measure.JOBS_FAILED, Measure.WORKER_FAILED, Measure.WORKER_RETRIED})
BY_WORKER: Final = (
    frozenset({Measure.GIVEN}),
    frozenset({Measure.WORKER_COMPLETED}),
    frozenset({Measure.WORKER_FAILED, Measure.WORKER_RETRIED}),
)
IN_ALL: Final = (CREATED, COMPLETED, FAILED)
NAMES: Final = {"from_": "from", "job_type": "jobType", "error_code": "errorCode", "error_message": "errorMessage"}


class StatusMetric(Record):
    """How many, and when the last one was."""

    count: int
    last_updated_at: datetime | None


class GlobalStatistics(Record):
    """All jobs of a span of time."""

    created: StatusMetric
    completed: StatusMetric
    failed: StatusMetric
    is_incomplete: bool


class StatisticsPage(Request):
    """Which part."""

    after: str | UnsetType = UNSET
    limit: Annotated[int, Meta(ge=1, le=SEARCH_LIMIT_MAX)] = 100


class TypeFilter(Request, rename=NAMES):
    """Which span of time, which types."""

    from_: Instant
    to: Instant
    job_type: Text = UNSET


class TypeQuery(Request):
    """By type."""

    filter: TypeFilter | UnsetType = UNSET
    page: StatisticsPage | UnsetType = UNSET


class TypeStatistics(Record):
    """Jobs of one type. ``workers``: how many different ones took them or ended them."""

    job_type: str
    created: StatusMetric
    completed: StatusMetric
    failed: StatusMetric
    workers: int


class WorkerFilter(Request, rename=NAMES):
    """Which span of time, which type."""

    from_: Instant
    to: Instant
    job_type: str


class WorkerQuery(Request):
    """By worker."""

    filter: WorkerFilter
    page: StatisticsPage | UnsetType = UNSET


class WorkerStatistics(Record):
    """Jobs of one worker; ``created`` are those that it was given."""

    worker: str
    created: StatusMetric
    completed: StatusMetric
    failed: StatusMetric


class SeriesFilter(WorkerFilter, rename=NAMES):
    """Which span of time, which type, how fine."""

    resolution: str | UnsetType = UNSET


class SeriesQuery(Request):
    """By time."""

    filter: SeriesFilter
    page: StatisticsPage | UnsetType = UNSET


class SeriesStatistics(Record):
    """Jobs from an instant until the next one."""

    time: datetime
    created: StatusMetric
    completed: StatusMetric
    failed: StatusMetric


class ErrorFilter(WorkerFilter, rename=NAMES):
    """Which span of time, which type, which errors."""

    error_code: Text = UNSET
    error_message: Text = UNSET


class ErrorQuery(Request):
    """By error."""

    filter: ErrorFilter
    page: StatisticsPage | UnsetType = UNSET


class ErrorStatistics(Record):
    """An error, and how many different workers met it."""

    error_code: str
    error_message: str
    workers: int


class _OnErrors(Request):
    """The conditions on an error alone."""

    error_code: Text = UNSET
    error_message: Text = UNSET


class _OnType(Request):
    """The condition on a type alone."""

    job_type: Text = UNSET


class Usage(Record):
    """What was used."""

    process_instances: int
    decision_instances: int
    assignees: int


class UsageMetrics(Usage):
    """The same in all, and by tenant where that is asked for."""

    active_tenants: int
    tenants: dict[str, Usage]


R = TypeVar("R", bound=Record)
Counted = tuple[StatusMetric, StatusMetric, StatusMetric]


# -- what is read -----------------------------------------------------------------------------------------------------
async def _rows(call: Call, since: datetime, until: datetime, measures: Iterable[Measure]) -> list[MeterRow]:
    """What somebody sees of a span of time, whose ends are in it. Raises Problem for one that ends before it begins."""
    began, ended = int(since.timestamp() * 1000), int(until.timestamp() * 1000)
    if ended < began:
        raise Problem(400, "Expected a span of time that ends after it begins, found one that ends before")
    wanted = sorted(measures)
    width = HOUR_MS if wanted[0] in USAGE else MINUTE_MS
    await call.desk.watch.counted()
    found = await call.desk.rows.meter(began // width * width, ended + 1, wanted, limit=ROWS_MAX)
    return [row for row in found if call.who.sees(row.tenant)]


def _metric(rows: Iterable[MeterRow], measures: frozenset[Measure]) -> StatusMetric:
    times = last_at = 0
    for row in rows:
        if row.measure in measures:
            times, last_at = times + row.times, max(last_at, row.last_at)
    return StatusMetric(count=times, last_updated_at=to_datetime(last_at) if last_at else None)


def _counted(rows: list[MeterRow], measures: tuple[frozenset[Measure], ...] = IN_ALL) -> Counted:
    created, completed, failed = (_metric(rows, each) for each in measures)
    return created, completed, failed


def _grouped(rows: Iterable[MeterRow], name: Callable[[MeterRow], str]) -> dict[str, list[MeterRow]]:
    found: dict[str, list[MeterRow]] = defaultdict(list)
    for row in rows:
        found[name(row)].append(row)
    return dict(sorted(found.items()))


def _page(items: list[R], page: StatisticsPage | UnsetType) -> Found[R]:
    """A part of them; its cursor is a position. Raises Problem for another one."""
    chosen = page if isinstance(page, StatisticsPage) else StatisticsPage()
    start = _position(chosen.after) if isinstance(chosen.after, str) else 0
    shown = items[start : start + chosen.limit]
    end = start + len(shown)
    return Found(
        items=shown,
        page=PageInfo(
            total_items=len(items),
            has_more_total_items=False,
            start_cursor=_cursor(start) if shown else None,
            end_cursor=_cursor(end) if shown else None,
        ),
    )


def _cursor(position: int) -> str:
    return base64.b64encode(f"p{position}".encode()).decode()


def _position(cursor: str) -> int:
    try:
        text = base64.b64decode(cursor.encode(), validate=True).decode()
    except (ValueError, UnicodeError):
        text = ""
    if text[:1] == "p" and text[1:].isascii() and text[1:].isdigit() and len(text) < 10:
        return int(text[1:])
    raise Problem(400, "Expected a cursor as an answer has given it, found something else")


# -- jobs -------------------------------------------------------------------------------------------------------------
async def global_statistics(call: Call) -> GlobalStatistics:
    """All jobs of a span of time."""
    rows = await _rows(call, _instant(call, "from"), _instant(call, "to"), JOBS)
    type_ = call.query.get("jobType")
    created, completed, failed = _counted([row for row in rows if type_ in (None, row.name)])
    return GlobalStatistics(created=created, completed=completed, failed=failed, is_incomplete=len(rows) == ROWS_MAX)


def _instant(call: Call, name: str) -> datetime:
    """An instant of the query. Raises Problem."""
    given = call.query.get(name, "").replace(" ", "+")  # a plus sign that nobody encoded
    try:
        return msgspec.convert(given, Instant)
    except msgspec.ValidationError:
        raise Problem(
            400, f"Expected '{name}' to be an instant with its offset, such as 2026-01-31T12:00:00Z"
        ) from None


async def statistics_by_type(call: Call) -> Found[TypeStatistics]:
    """Jobs by type."""
    query: TypeQuery = call.body or TypeQuery()
    now = to_datetime(call.desk.app.now)
    chosen = query.filter if isinstance(query.filter, TypeFilter) else TypeFilter(from_=to_datetime(0), to=now)
    accepts = acceptor(_OnType(job_type=chosen.job_type), {})
    items: list[TypeStatistics] = []
    for name, rows in _grouped(await _rows(call, chosen.from_, chosen.to, JOBS), lambda row: row.name).items():
        created, completed, failed = _counted(rows)
        workers = len(_by_worker(rows))
        item = TypeStatistics(job_type=name, created=created, completed=completed, failed=failed, workers=workers)
        items += [item] if accepts(item) else []
    return _page(items, query.page)


def _by_worker(rows: list[MeterRow]) -> list[WorkerStatistics]:
    """Jobs of one type by worker: what no remote worker did, the handlers within our own processes did."""
    theirs = [row for row in rows if row.measure in OF_WORKERS]
    items = [
        WorkerStatistics(worker=worker, created=created, completed=completed, failed=failed)
        for worker, of_worker in _grouped(theirs, lambda row: row.worker).items()
        for created, completed, failed in (_counted(of_worker, BY_WORKER),)
    ]
    left = [
        StatusMetric(count=max(0, every.count - remote.count), last_updated_at=every.last_updated_at)
        for every, remote in zip(_counted(rows), _counted(theirs, BY_WORKER), strict=True)
    ]
    if left[1].count or left[2].count:
        items.append(WorkerStatistics(worker=OWN, created=left[0], completed=left[1], failed=left[2]))
    return items


async def statistics_by_worker(call: Call) -> Found[WorkerStatistics]:
    """Jobs of a type by worker."""
    query: WorkerQuery = call.body
    return _page(_by_worker(await _of_type(call, query.filter)), query.page)


async def _of_type(call: Call, chosen: WorkerFilter) -> list[MeterRow]:
    rows = await _rows(call, chosen.from_, chosen.to, JOBS)
    return [row for row in rows if row.name == chosen.job_type]


async def statistics_by_time(call: Call) -> Found[SeriesStatistics]:
    """Jobs of a type by time: every bucket of the span that something happened in. Raises Problem."""
    query: SeriesQuery = call.body
    width = _width(query.filter)
    rows = await _of_type(call, query.filter)
    buckets: dict[int, list[MeterRow]] = defaultdict(list)
    for row in rows:
        buckets[row.at // width * width].append(row)
    items: list[SeriesStatistics] = []
    for at, of_bucket in sorted(buckets.items()):
        created, completed, failed = _counted(of_bucket)
        items.append(SeriesStatistics(time=to_datetime(at), created=created, completed=completed, failed=failed))
    return _page(items, query.page)


def _width(chosen: SeriesFilter) -> int:
    """How long a bucket is: whole minutes. Raises Problem."""
    if not isinstance(chosen.resolution, str):
        hours = (chosen.to - chosen.from_).total_seconds() / 3600
        return MINUTE_MS if hours <= 24 else HOUR_MS
    try:
        width = span_ms(chosen.resolution, "resolution")
    except InvalidValue as error:
        raise Problem(400, str(error)) from None
    if width < MINUTE_MS or width % MINUTE_MS:
        raise Problem(400, f"Expected a resolution of whole minutes (PT1M), found '{chosen.resolution[:60]}'")
    return width


async def statistics_by_error(call: Call) -> Found[ErrorStatistics]:
    """Errors of jobs of a type, with how many workers met each."""
    query: ErrorQuery = call.body
    chosen = query.filter
    accepts = acceptor(_OnErrors(error_code=chosen.error_code, error_message=chosen.error_message), {})
    rows = [row for row in await _of_type(call, chosen) if row.measure in ERRORS and row.detail]
    items: list[ErrorStatistics] = []
    for detail, met in _grouped(rows, lambda row: row.detail).items():
        code, _, message = detail.partition("\n")
        workers = {row.worker for row in met if row.measure in OF_WORKERS}
        item = ErrorStatistics(error_code=code, error_message=message, workers=len(workers) or 1)
        items += [item] if accepts(item) else []
    return _page(items, query.page)


# -- usage ------------------------------------------------------------------------------------------------------------
async def usage_metrics(call: Call) -> UsageMetrics:
    """Instances that began, decisions that were evaluated, people who were given tasks, in a span of time."""
    rows = await _rows(call, _instant(call, "startTime"), _instant(call, "endTime"), USAGE)
    only = call.query.get("tenantId")
    if only is not None:
        rows = [row for row in rows if row.tenant == tenant_of(only)]
    tenants = _grouped(rows, lambda row: tenant_id_of(row.tenant))
    with_tenants = call.query.get("withTenants", "false")
    if with_tenants.lower() not in {"true", "false"}:
        raise Problem(400, f"Expected withTenants to be true or false, found '{with_tenants[:60]}'")
    named = tenants if with_tenants.lower() == "true" else {}
    whole = _used(rows)
    return UsageMetrics(
        process_instances=whole.process_instances,
        decision_instances=whole.decision_instances,
        assignees=whole.assignees,
        active_tenants=len(tenants),
        tenants={name: _used(each) for name, each in named.items()},
    )


def _used(rows: list[MeterRow]) -> Usage:
    return Usage(
        process_instances=_metric(rows, frozenset({Measure.INSTANCES})).count,
        decision_instances=_metric(rows, frozenset({Measure.DECISIONS})).count,
        assignees=len({row.name for row in rows if row.measure == Measure.ASSIGNEE}),
    )


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/jobs/statistics/global",
        operation_id="getGlobalJobStatistics",
        verb=global_statistics,
        role=Role.READER,
        summary="Jobs of a span of time",
        group=GROUP,
        answer=GlobalStatistics,
        problems=(400,),
        queries=("from", "to", "jobType"),
    ),
    Endpoint(
        method="POST",
        path="/jobs/statistics/by-types",
        operation_id="getJobTypeStatistics",
        verb=statistics_by_type,
        role=Role.READER,
        summary="Jobs of a span of time by type",
        group=GROUP,
        body=TypeQuery,
        optional=True,
        answer=Found[TypeStatistics],
    ),
    Endpoint(
        method="POST",
        path="/jobs/statistics/by-workers",
        operation_id="getJobWorkerStatistics",
        verb=statistics_by_worker,
        role=Role.READER,
        summary="Jobs of a type by worker",
        group=GROUP,
        body=WorkerQuery,
        answer=Found[WorkerStatistics],
    ),
    Endpoint(
        method="POST",
        path="/jobs/statistics/time-series",
        operation_id="getJobTimeSeriesStatistics",
        verb=statistics_by_time,
        role=Role.READER,
        summary="Jobs of a type by time",
        group=GROUP,
        body=SeriesQuery,
        answer=Found[SeriesStatistics],
    ),
    Endpoint(
        method="POST",
        path="/jobs/statistics/errors",
        operation_id="getJobErrorStatistics",
        verb=statistics_by_error,
        role=Role.READER,
        summary="Errors of jobs of a type",
        group=GROUP,
        body=ErrorQuery,
        answer=Found[ErrorStatistics],
    ),
    Endpoint(
        method="GET",
        path="/system/usage-metrics",
        operation_id="getUsageMetrics",
        verb=usage_metrics,
        role=Role.READER,
        summary="What was used in a span of time",
        group="Cluster",
        answer=UsageMetrics,
        problems=(400,),
        queries=("startTime", "endTime", "tenantId", "withTenants"),
    ),
)
