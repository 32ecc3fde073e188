"""What happens now: rates, what is in flight, what waits, problems that are alike, who works; and hints of change.

Everything is bounded: counts are exact up to ``SHOWN_COUNT_MAX`` and marked beyond; the answer is made once a second at
most, however many look.
"""

from __future__ import annotations

from datetime import datetime

from procession.api.endpoints import Call, Content, Endpoint, Stream
from procession.api.pulse import COUNTED, Sample
from procession.api.roles import Principal, Role, tenant_id_of
from procession.api.search import Record
from procession.api.words import incident_type, key_of, text_or_none, when
from procession.jobs.schedule import to_datetime
from procession.limits import DEAD_AFTER_MS, SHOWN_COUNT_MAX
from procession.store.rows.watching import IncidentGroup, Measure

GROUP = "Overview"
GROUPS_MAX = 50
RATE_S = 10.0  # what "now" is the average of


class OverviewSeries(Record):
    """What happened per second, until each of these instants."""

    at: list[datetime]
    started: list[float]
    completed: list[float]
    terminated: list[float]
    incidents: list[float]
    rejected: list[float]
    jobs_done: list[float]
    jobs_retried: list[float]
    jobs_failed: list[float]


class OverviewRates(Record):
    """Per second, of the last moments."""

    started: float
    completed: float
    terminated: float
    incidents: float
    rejected: float
    jobs_done: float
    jobs_retried: float
    jobs_failed: float


class BoundedCount(Record):
    """A count; ``isBound``: there are at least so many."""

    count: int
    is_bound: bool


class OverviewCommands(Record):
    """OverviewCommands that are accepted and not answered, and how many may be: of all servers together."""

    in_flight: int
    limit: int | None


class OverviewInstances(Record):
    """Process instances, counted by their history: as far as that was kept, and read until ``countedUntil``."""

    active: int
    completed: int
    terminated: int
    is_counted: bool
    counted_until: datetime | None
    is_behind: bool


class OverviewJobs(Record):
    """Jobs in the queue, and since when the oldest one that could run waits."""

    ready: BoundedCount
    running: BoundedCount
    scheduled: BoundedCount
    oldest_ready_date: datetime | None


class AlikeIncidents(Record):
    """Open incidents that are alike; ``sample`` names the newest of them."""

    fingerprint: str
    count: int
    process_definition_id: str
    process_definition_key: str
    element_id: str
    error_type: str
    error_message: str
    first_date: datetime | None
    last_date: datetime | None
    incident_key: str
    process_instance_key: str
    tenant_id: str


class OverviewIncidents(Record):
    """Open incidents."""

    total: BoundedCount
    groups: list[AlikeIncidents]


class ExporterLag(Record):
    """How far behind an exporter is."""

    name: str
    lag: int
    lag_ms: int
    error: str | None


class WorkingProcess(Record):
    """A process that works on the database."""

    node: int
    name: str
    started_date: datetime | None
    seen_date: datetime | None
    is_alive: bool
    is_this: bool
    running: int


class Overview(Record):
    """What happens now. OverviewRates and processes are shown to whoever sees every tenant."""

    date: datetime
    rates: OverviewRates
    series: OverviewSeries
    commands: OverviewCommands
    instances: OverviewInstances
    jobs: OverviewJobs
    user_tasks: BoundedCount
    incidents: OverviewIncidents
    exporters: list[ExporterLag]
    workers: list[WorkingProcess]


def tenants_of(who: Principal) -> list[str]:
    """The tenants that somebody is bound to; none for whoever sees all."""
    return sorted(who.tenants) if who.tenants is not None else []


async def overview(call: Call) -> Overview:
    """What happens now."""
    watch, tenants = call.desk.watch, tenants_of(call.who)
    watch.pulse.looked()
    if call.who.tenants is not None and not tenants:
        tenants = ["\0"]  # bound to none: there is nothing to see
    return await watch.once(("overview", tuple(tenants)), lambda: _overview(call, tenants))


async def _overview(call: Call, tenants: list[str]) -> Overview:
    desk, sees_all = call.desk, not tenants
    rows = desk.rows
    standing = await rows.standing(SHOWN_COUNT_MAX + 1, tenants=tenants)
    groups = await rows.incident_groups(tenants=tenants, limit=GROUPS_MAX)
    samples = list(desk.watch.pulse.samples) if sees_all else []
    return Overview(
        date=to_datetime(desk.app.now),
        rates=_rates(samples),
        series=_series(samples),
        commands=_commands(call) if sees_all else OverviewCommands(in_flight=0, limit=None),
        instances=await _instances(call),
        jobs=OverviewJobs(
            ready=_bounded(standing.ready),
            running=_bounded(standing.running),
            scheduled=_bounded(standing.scheduled),
            oldest_ready_date=when(standing.oldest_at),
        ),
        user_tasks=_bounded(standing.user_tasks),
        incidents=OverviewIncidents(total=_bounded(standing.incidents), groups=[_alike(group) for group in groups]),
        exporters=[],
        workers=await _workers(call) if sees_all else [],
    )


def _bounded(count: int) -> BoundedCount:
    return BoundedCount(count=min(count, SHOWN_COUNT_MAX), is_bound=count > SHOWN_COUNT_MAX)


def _rates(samples: list[Sample]) -> OverviewRates:
    """The average of the last moments."""
    newest = samples[-1].at if samples else 0
    last = [sample for sample in samples if newest - sample.at < RATE_S * 1000]
    seconds = sum(sample.seconds for sample in last) or 1.0
    counts = {name: sum(sample.counts.get(name, 0) for sample in last) / seconds for name in COUNTED}
    return OverviewRates(**{name: round(rate, 2) for name, rate in counts.items()})


def _series(samples: list[Sample]) -> OverviewSeries:
    named = {name: [round(sample.rate(name), 2) for sample in samples] for name in COUNTED}
    return OverviewSeries(at=[to_datetime(sample.at) for sample in samples], **named)


def _commands(call: Call) -> OverviewCommands:
    """Of all servers together; a process without an edge has no limit of its own."""
    vitals = call.desk.watch.pulse.vitals()
    limits = [vital.limit for vital in vitals if vital.limit]
    return OverviewCommands(in_flight=sum(vital.in_flight for vital in vitals), limit=sum(limits) if limits else None)


async def _instances(call: Call) -> OverviewInstances:
    """By the tally, over every version that is there."""
    tally = await call.desk.watch.counted()
    definitions = await call.desk.rows.list_definitions()
    seen = [row.key for row in definitions if call.who.sees(row.tenant)]
    sums = dict.fromkeys(Measure, 0)
    for row in await call.desk.rows.tally(seen, totals=True):
        sums[Measure(row.measure)] += row.times
    completed, terminated = sums[Measure.COMPLETED], sums[Measure.TERMINATED]
    return OverviewInstances(
        active=max(0, sums[Measure.BEGAN] - completed - terminated),
        completed=completed,
        terminated=terminated,
        is_counted=bool(call.desk.app.history_level),
        counted_until=when(tally.counted_at),
        is_behind=tally.is_behind,
    )


def _alike(group: IncidentGroup) -> AlikeIncidents:
    sample = group.sample
    return AlikeIncidents(
        fingerprint=group.fingerprint,
        count=group.count,
        process_definition_id=sample.process_id,
        process_definition_key=str(sample.definition),
        element_id=sample.element,
        error_type=incident_type(sample.kind),
        error_message=sample.message,
        first_date=when(group.first_at),
        last_date=when(group.last_at),
        incident_key=str(sample.key),
        process_instance_key=str(sample.instance),
        tenant_id=tenant_id_of(sample.tenant),
    )


async def _workers(call: Call) -> list[WorkingProcess]:
    """The processes that work on the database, the longest there first."""
    app = call.desk.app
    return [
        WorkingProcess(
            node=row.node,
            name=row.name,
            started_date=when(row.started_at),
            seen_date=when(row.beat_at),
            is_alive=app.now - row.beat_at < DEAD_AFTER_MS,
            is_this=row.node == app.node,
            running=row.running,
        )
        for row in sorted(await call.desk.rows.list_nodes(), key=lambda row: row.started_at)
    ]


async def events(call: Call) -> Stream:
    """Hints that something changed, for as long as the client is there."""
    given = [each for each in call.query.get("instance", "").split(",") if each]
    instances = frozenset(key_of(each, "instance") for each in given)
    for key in instances:
        await call.desk.instance(call.who, key)
    last_id = text_or_none(call.query.get("lastEventId", "")) or call.last_event_id
    pieces = call.desk.watch.hints.listen(is_bound=call.who.tenants is not None, instances=instances, last_id=last_id)
    return Stream(pieces=pieces, media_type="text/event-stream")


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/overview",
        operation_id="getOverview",
        verb=overview,
        role=Role.READER,
        summary="What happens now: rates, what is in flight and waits, incidents that are alike, who works",
        group=GROUP,
        answer=Overview,
    ),
    Endpoint(
        method="GET",
        path="/events",
        operation_id="getEvents",
        verb=events,
        role=Role.READER,
        summary="Hints that something changed, as server-sent events",
        group=GROUP,
        answer=Content,
        media_type="text/event-stream",
        queries=("instance", "lastEventId"),
        problems=(400, 404),
    ),
)
