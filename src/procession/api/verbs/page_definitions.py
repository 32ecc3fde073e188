"""Processes as a page shows them: versions with counts, and what happened at each element, for the heat map.

Counts of the past and of what runs come from the tally of the history (``api/tally.py``), open incidents from their
rows: neither is a question of how many instances there are.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from procession.api.endpoints import Call, Endpoint
from procession.api.roles import Role, tenant_id_of
from procession.api.search import Record
from procession.api.words import element_type, key_of, text_or_none, when
from procession.engine.settings import History
from procession.limits import INSTANCES_DECODED_MAX
from procession.model.definition import Definition
from procession.store.rows import StoredDefinition
from procession.store.rows.watching import TIME, InstanceSearch, Measure, duration_of, flow_place

GROUP = "Process definition"
RUNNING = [0, 3]  # statuses of instances that have a state: active, suspended


class DefinitionCounts(Record):
    """A deployed version, with how many instances of it there are."""

    process_definition_key: str
    process_definition_id: str
    name: str | None
    version: int
    version_tag: str | None
    resource_name: str
    deployed_date: datetime | None
    tenant_id: str
    is_latest: bool
    active: int
    completed: int
    terminated: int
    incidents: int


class CountedDefinitions(Record):
    """Versions, by process id, the newest first; ``isCounted`` False: no history is kept, so nothing is counted."""

    items: list[DefinitionCounts]
    is_counted: bool
    is_behind: bool
    counted_until: datetime | None


class ElementHeat(Record):
    """What happened at one element. Durations are those of element instances that are over, in milliseconds."""

    element_id: str
    element_name: str | None
    type: str
    active: int
    incidents: int
    completed: int
    canceled: int
    average_ms: float | None
    p50_ms: float | None
    p95_ms: float | None
    total_ms: int


class FlowHeat(Record):
    """How often a sequence flow was taken."""

    sequence_flow_id: str
    taken: int


class Heat(Record):
    """What happened at the elements and flows of a version; those at which nothing did are left out."""

    process_definition_key: str
    items: list[ElementHeat]
    flows: list[FlowHeat]
    is_counted: bool  # False: no history is kept; what is active was counted among the newest instances only
    is_behind: bool  # part of the history is still to be counted
    counted_until: datetime | None


async def list_counts(call: Call) -> CountedDefinitions:
    """Every version that somebody sees, or those of one process id (``processDefinitionId``), with counts."""
    wanted = call.query.get("processDefinitionId", "")
    desk = call.desk
    rows = [row for row in await desk.rows.list_definitions(process_id=wanted) if call.who.sees(row.tenant)]
    if call.query.get("isLatestVersion") == "true":
        rows = [row for row in rows if _is_latest(row, rows)]
    tally = await desk.watch.counted()
    counts: Counter[tuple[int, int]] = Counter()
    for row in await desk.rows.tally([row.key for row in rows], totals=True):
        counts[row.definition, row.measure] += row.times
    incidents: Counter[int] = Counter()
    for (definition, _), count in (await desk.watch.once("incident places", desk.rows.incident_places)).items():
        incidents[definition] += count
    return CountedDefinitions(
        items=[_counted(row, counts, incidents[row.key], is_latest=_is_latest(row, rows)) for row in rows],
        is_counted=desk.app.history_level != History.OFF,
        is_behind=tally.is_behind,
        counted_until=when(tally.counted_at),
    )


def _is_latest(row: StoredDefinition, rows: list[StoredDefinition]) -> bool:
    """Whether no later version of the process is among these, which are the newest first."""
    first = next(each for each in rows if (each.tenant, each.process_id) == (row.tenant, row.process_id))
    return first.key == row.key


def _counted(
    row: StoredDefinition, counts: Counter[tuple[int, int]], incidents: int, *, is_latest: bool
) -> DefinitionCounts:
    completed, terminated = counts[row.key, Measure.COMPLETED], counts[row.key, Measure.TERMINATED]
    return DefinitionCounts(
        process_definition_key=str(row.key),
        process_definition_id=row.process_id,
        name=text_or_none(row.name),
        version=row.version,
        version_tag=text_or_none(row.version_tag),
        resource_name=row.resource_name,
        deployed_date=when(row.deployed_at),
        tenant_id=tenant_id_of(row.tenant),
        is_latest=is_latest,
        active=max(0, counts[row.key, Measure.BEGAN] - completed - terminated),
        completed=completed,
        terminated=terminated,
        incidents=incidents,
    )


async def element_heat(call: Call) -> Heat:
    """What happened at each element of a version."""
    desk = call.desk
    row = await desk.definition(call.who, key_of(call.path["processDefinitionKey"], "processDefinitionKey"))
    definition = await desk.app.compiled(row.key)
    tally = await desk.watch.counted()
    measures: dict[int, Counter[int]] = {}
    for each in await desk.rows.tally([row.key]):
        measures.setdefault(each.place, Counter())[each.measure] += each.times
    is_counted = desk.app.history_level != History.OFF
    if not is_counted:
        await _count_states(call, row, measures)
    incidents = await desk.rows.incident_places(definition=row.key)
    at = {element: count for (_, element), count in incidents.items()}
    return Heat(
        process_definition_key=str(row.key),
        items=_elements(definition, measures, at),
        flows=_flows(definition, measures),
        is_counted=is_counted,
        is_behind=tally.is_behind,
        counted_until=when(tally.counted_at),
    )


def _elements(
    definition: Definition, measures: dict[int, Counter[int]], incidents: dict[str, int]
) -> list[ElementHeat]:
    found: list[ElementHeat] = []
    for element in definition.elements[1:]:
        counts = measures.get(element.index, Counter[int]())
        if counts or element.id in incidents:
            completed, canceled = counts[Measure.COMPLETED], counts[Measure.TERMINATED]
            over = completed + canceled
            found.append(
                ElementHeat(
                    element_id=element.id,
                    element_name=text_or_none(element.name),
                    type=element_type(element.kind),
                    active=max(0, counts[Measure.BEGAN] - over),
                    incidents=incidents.get(element.id, 0),
                    completed=completed,
                    canceled=canceled,
                    average_ms=round(counts[Measure.TOOK_MS] / over, 1) if over else None,
                    p50_ms=_percentile(counts, over, 0.5),
                    p95_ms=_percentile(counts, over, 0.95),
                    total_ms=counts[Measure.TOOK_MS],
                )
            )
    return found


def _percentile(counts: Counter[int], over: int, share: float) -> float | None:
    """The duration that so many stayed below, to a fifth of itself; what does not wait took no time."""
    if not over:
        return None
    buckets = sorted((measure - TIME, times) for measure, times in counts.items() if measure >= TIME)
    left = share * over - (over - sum(times for _, times in buckets))
    for bucket, times in buckets:
        if left <= 0:
            break
        left -= times
        if left <= 0:
            return round(duration_of(bucket), 1)
    return 0.0


def _flows(definition: Definition, measures: dict[int, Counter[int]]) -> list[FlowHeat]:
    taken = [
        (flow.id, measures.get(flow_place(index), Counter[int]())[Measure.COMPLETED])
        for index, flow in enumerate(definition.flows)
    ]
    return [FlowHeat(sequence_flow_id=name, taken=times) for name, times in taken if times]


async def _count_states(call: Call, row: StoredDefinition, measures: dict[int, Counter[int]]) -> None:
    """Without a history: what is active in the newest instances."""
    which = InstanceSearch(
        process_id=row.process_id,
        definition=row.key,
        statuses=RUNNING,
        with_state=True,
        limit=INSTANCES_DECODED_MAX,
        look=INSTANCES_DECODED_MAX,
    )
    for instance in (await call.desk.rows.find_instances(which)).instances:
        state = await call.desk.app.state_of(instance)
        for node in state.nodes.values() if state is not None else ():
            measures.setdefault(node.element, Counter())[Measure.BEGAN] += 1


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/process-definitions",
        operation_id="getDefinitionCounts",
        verb=list_counts,
        role=Role.READER,
        summary="Deployed versions, with how many instances of each are active, completed, terminated",
        group=GROUP,
        answer=CountedDefinitions,
        queries=("processDefinitionId", "isLatestVersion"),
    ),
    Endpoint(
        method="GET",
        path="/process-definitions/{processDefinitionKey}/elements",
        operation_id="getElementHeat",
        verb=element_heat,
        role=Role.READER,
        summary="How often each element is active, was left, was interrupted, and how long it took",
        group=GROUP,
        answer=Heat,
    ),
)
