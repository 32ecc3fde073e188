"""Instances as a page shows them: a list by any condition, what one waits for now, everything that happened to it.

A list looks at so many instances at most (``limits.INSTANCES_…_MAX``) and gives a cursor for where it stands, so that
a condition that nothing meets keeps no database busy.
"""

from __future__ import annotations

import base64
from datetime import datetime
from typing import Any

import msgspec

from procession.api.desk import CALLERS_MAX
from procession.api.endpoints import Call, Endpoint
from procession.api.problems import Problem
from procession.api.roles import Role
from procession.api.search import PageInfo, Record
from procession.api.story import Story, StoryEntry
from procession.api.verbs.instances import ProcessInstance, records_of
from procession.api.verbs.own import Object, shown
from procession.api.verbs.page_overview import tenants_of
from procession.api.words import key_of, when
from procession.app.views import JobInfo, Subscription, UserTask
from procession.core.state import Status
from procession.engine.settings import History
from procession.errors import InvalidModel, NotFound
from procession.jobs.kinds import JobKind
from procession.limits import (
    INSTANCES_DECODED_MAX,
    INSTANCES_LOOK_MAX,
    INSTANCES_READ_MAX,
    PAGE_MAX,
    SHOWN_COUNT_MAX,
)
from procession.store.rows import InstanceFilter, JobFilter, StoredInstance, UserTaskFilter
from procession.store.rows.watching import FoundInstances, InstanceSearch, VariableIs

GROUP = "Process instance"
LIMIT = 50
CHILDREN_MAX = 200
ATTEMPTS_MAX = 500  # failed ones that a timeline tells of, the last of them
STATES_PAGE = 500
ENTRIES_MAX = 5_000
STEPS_MAX = 200_000  # of an instance's history that a page of its timeline reads again

QUERIES = (
    *("processDefinitionId", "processDefinitionKey", "state", "hasIncident", "incidentElementId", "fingerprint"),
    *("elementId", "businessId", "parentProcessInstanceKey", "tag", "variables", "text"),
    *("startedFrom", "startedUntil", "endedFrom", "endedUntil", "after", "limit"),
)


class InstancePage(Record):
    """Instances, the newest first. An empty page with an ``endCursor`` has looked, found nothing, and may go on."""

    items: list[ProcessInstance]
    page: PageInfo


class Timer(Record):
    """A timer that is set."""

    job_key: str
    element_id: str
    element_instance_key: str | None
    due_date: datetime | None
    state: str


class Relative(Record):
    """An instance that called this one, or was called by it."""

    process_instance_key: str
    process_definition_id: str
    process_definition_key: str
    element_instance_key: str | None
    state: str


class InstanceNow(Record):
    """What an instance waits for. ``elements`` say why in a sentence each."""

    process_instance_key: str
    elements: list[Object]
    incidents: list[Object]
    jobs: list[Object]
    timers: list[Timer]
    subscriptions: list[Object]
    user_tasks: list[Object]
    callers: list[Relative]  # from the top
    called: list[Relative]
    has_more_called: bool


class TimelineAttempt(Record):
    """An attempt of a job that failed, whether another one has succeeded or not."""

    job_key: str
    attempt: int
    date: datetime | None
    worker: str
    error_type: str
    message: str


class Timeline(Record):
    """Entries in the order in which they happened; ``endCursor`` is where to go on, null at the end.

    ``attempts``: the last ones that failed, on the first page; the history itself does not tell of them.
    """

    items: list[StoryEntry]
    end_cursor: str | None
    history_level: str
    attempts: list[TimelineAttempt]


# -- the list ---------------------------------------------------------------------------------------------------------
async def list_instances(call: Call) -> InstancePage:
    """Instances by any condition, the newest first."""
    which = await _search(call)
    if call.who.tenants is not None and not call.who.tenants:
        return InstancePage(items=[], page=_page(FoundInstances(instances=[]), 0))
    element = call.query.get("elementId", "")
    rows = call.desk.rows
    if element:
        found = await _at_element(call, which, element)
        total = len(found.instances)
    else:
        found = await rows.find_instances(which)
        total = await _total(call, which, found)
    is_part = bool(element or which.after or _reads(which) or total == len(found.instances))
    is_part = is_part or (total <= SHOWN_COUNT_MAX and not await rows.looks_at_all(which))
    return InstancePage(items=await records_of(call, found.instances), page=_page(found, total, part=is_part))


async def _total(call: Call, which: InstanceSearch, found: FoundInstances) -> int:
    """How many there are, counted for the first page and where no variables have to be read for it."""
    if which.after or _reads(which) or len(found.instances) < which.limit or not found.next_after:
        return len(found.instances)
    return await call.desk.rows.count_found(which, SHOWN_COUNT_MAX + 1)


def _reads(which: InstanceSearch) -> bool:
    """Whether variables are read for it."""
    return bool(which.text or which.variables)


def _page(found: FoundInstances, total: int, *, part: bool = False) -> PageInfo:
    """Where the page stands. ``part``: only what is on the page was counted, and there is more where it goes on."""
    return PageInfo(
        total_items=min(total, SHOWN_COUNT_MAX),
        has_more_total_items=total > SHOWN_COUNT_MAX or (part and bool(found.next_after)),
        start_cursor=_cursor(found.instances[0].key) if found.instances else None,
        end_cursor=_cursor(found.next_after) if found.next_after else None,
    )


async def _search(call: Call) -> InstanceSearch:
    """What a query asks for. Raises Problem."""
    query = call.query
    unknown = sorted(query.keys() - set(QUERIES))
    if unknown:
        raise Problem(400, f"Expected conditions ({', '.join(QUERIES)}), found '{unknown[0][:100]}'")
    which = InstanceSearch(
        process_id=query.get("processDefinitionId", ""),
        statuses=_statuses(query.get("state", "")),
        business_id=query.get("businessId", ""),
        tag=query.get("tag", ""),
        with_incident=query.get("hasIncident") == "true",
        incident_element=query.get("incidentElementId", ""),
        fingerprint=query.get("fingerprint", ""),
        text=query.get("text", ""),
        variables=_variables(query.get("variables", "")),
        started_from=_instant(query, "startedFrom"),
        started_until=_instant(query, "startedUntil"),
        ended_from=_instant(query, "endedFrom"),
        ended_until=_instant(query, "endedUntil"),
        tenants=tenants_of(call.who),
        after=_key_of(query["after"]) if query.get("after") else 0,
        limit=_number(query, "limit", LIMIT, PAGE_MAX),
        look=INSTANCES_LOOK_MAX,
    )
    if _reads(which):
        which.look = INSTANCES_READ_MAX
    if query.get("parentProcessInstanceKey"):
        which.parent = key_of(query["parentProcessInstanceKey"], "parentProcessInstanceKey")
    if query.get("processDefinitionKey"):
        key = key_of(query["processDefinitionKey"], "processDefinitionKey")
        which.definition, which.process_id = key, (await call.desk.definition(call.who, key)).process_id
    return which


def _statuses(text: str) -> list[int]:
    try:
        return sorted({int(Status[name.strip().upper()]) for name in text.split(",") if name.strip()})
    except KeyError:
        raise Problem(400, f"Expected states ({', '.join(Status.__members__)}), found '{text[:100]}'") from None


def _variables(text: str) -> list[VariableIs]:
    """Conditions as a JSON object of names and values that are no lists or objects."""
    if not text:
        return []
    try:
        given = msgspec.json.decode(text, type=dict[str, str | int | float | bool | None])
    except msgspec.MsgspecError:
        raise Problem(400, 'Expected variables as a JSON object of plain values, such as {"orderId":"A-17"}') from None
    for name in given:
        if not name or '"' in name or "\\" in name:
            raise Problem(400, f"Expected the name of a variable without quotes and backslashes, found '{name[:100]}'")
    return [VariableIs(name, msgspec.json.encode(value).decode()) for name, value in given.items()]


def _instant(query: Any, name: str) -> int:  # noqa: ANN401 - a mapping of texts
    text = query.get(name, "")
    if not text:
        return 0
    try:
        return int(msgspec.convert(text, type=datetime).timestamp() * 1000)
    except (msgspec.ValidationError, OverflowError, OSError, ValueError):
        raise Problem(
            400, f"Expected {name} to be an instant such as 2026-01-31T12:00:00Z, found '{text[:60]}'"
        ) from None


def _number(query: Any, name: str, default: int, most: int) -> int:  # noqa: ANN401 - a mapping of texts
    text = query.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 8 and 1 <= int(text) <= most):
        raise Problem(400, f"Expected {name} to be a number from 1 to {most}, found '{text[:60]}'")
    return int(text)


def _cursor(key: int) -> str:
    return base64.b64encode(f"k{key}".encode()).decode()


def _key_of(cursor: str) -> int:
    """The key that a cursor stands at. Raises Problem."""
    try:
        text = base64.b64decode(cursor.encode(), validate=True).decode()
    except (ValueError, UnicodeError):
        text = ""
    if not text.startswith("k") or not (text.isascii() and text[1:].isdigit()) or len(text) > 20:
        raise Problem(400, "Expected a cursor as a list has given it, found something else")
    return int(text[1:])


async def _at_element(call: Call, which: InstanceSearch, element: str) -> FoundInstances:
    """Those that have a token at an element: their states say so."""
    running = [int(Status.ACTIVE), int(Status.SUSPENDED)]
    wanted = [status for status in which.statuses or running if status in running]
    if not wanted:
        return FoundInstances(instances=[])
    found: list[StoredInstance] = []
    asked = msgspec.structs.replace(which, statuses=wanted, with_state=True, limit=STATES_PAGE)
    for _ in range(INSTANCES_DECODED_MAX // STATES_PAGE):
        page = await call.desk.rows.find_instances(asked)
        found += [row for row in page.instances if await _stands_at(call, row, element)]
        if len(found) >= which.limit:
            return FoundInstances(instances=found[: which.limit], next_after=found[which.limit - 1].key)
        asked.after = page.next_after
        if not asked.after:
            break
    return FoundInstances(instances=found, next_after=asked.after)


async def _stands_at(call: Call, row: StoredInstance, element: str) -> bool:
    state = await call.desk.app.state_of(row)
    if state is None:
        return False
    definition = await call.desk.app.compiled(row.definition)
    return any(definition.elements[node.element].id == element for node in state.nodes.values() if node.element)


# -- one, now ---------------------------------------------------------------------------------------------------------
async def instance_now(call: Call) -> InstanceNow:
    """What an instance waits for: elements with why, jobs, timers, subscriptions, tasks, incidents, relatives."""
    desk = call.desk
    row = await desk.instance(call.who, call.path["processInstanceKey"])
    details = shown(await desk.app.instance(row.key))
    jobs = await desk.rows.list_jobs(JobFilter(instance=row.key, limit=PAGE_MAX))
    tasks = await desk.rows.list_user_tasks(UserTaskFilter(instance=row.key, limit=PAGE_MAX))
    subscriptions = await desk.rows.list_subscriptions(instance=row.key, limit=PAGE_MAX)
    called = await desk.rows.list_instances(InstanceFilter(parent=row.key, limit=CHILDREN_MAX + 1))
    return InstanceNow(
        process_instance_key=str(row.key),
        elements=details["elements"],
        incidents=details["incidents"],
        jobs=[shown(JobInfo.of(job)) for job in jobs if job.kind != JobKind.TIMER],
        timers=[
            Timer(
                job_key=str(job.key),
                element_id=job.element,
                element_instance_key=str(job.element_instance) if job.element_instance else None,
                due_date=when(job.run_at),
                state=shown(JobInfo.of(job))["state"],
            )
            for job in sorted(jobs, key=lambda job: job.run_at)
            if job.kind == JobKind.TIMER
        ],
        subscriptions=[shown(Subscription.of(each)) for each in subscriptions],
        user_tasks=[shown(UserTask.of(task)) for task in tasks],
        callers=[_relative(each) for each in await _callers(call, row)],
        called=[_relative(each) for each in called[:CHILDREN_MAX] if call.who.sees(each.tenant)],
        has_more_called=len(called) > CHILDREN_MAX,
    )


async def _callers(call: Call, row: StoredInstance) -> list[StoredInstance]:
    """The instances above this one, from the top."""
    chain: list[StoredInstance] = []
    parent = row.parent
    while parent and len(chain) < CALLERS_MAX:
        above = await call.desk.rows.load([parent])
        if not above or not call.who.sees(above[0].tenant):
            break
        chain.insert(0, above[0])
        parent = above[0].parent
    return chain


def _relative(row: StoredInstance) -> Relative:
    return Relative(
        process_instance_key=str(row.key),
        process_definition_id=row.process_id,
        process_definition_key=str(row.definition),
        element_instance_key=str(row.parent_element_instance) if row.parent_element_instance else None,
        state=Status(row.status).name,
    )


# -- one, from its beginning ------------------------------------------------------------------------------------------
async def timeline(call: Call) -> Timeline:
    """Everything that happened to an instance, in order, a page at a time."""
    desk = call.desk
    row = await desk.instance(call.who, call.path["processInstanceKey"])
    limit = _number(call.query, "limit", 500, ENTRIES_MAX)
    position, index = _place_of(call.query.get("after", ""))
    level = desk.app.history_level
    story = Story(has_values=level == History.FULL)
    entries: list[StoryEntry] = []
    for _ in range(STEPS_MAX // PAGE_MAX):
        steps = await desk.rows.history(row.key, after=story.position, limit=PAGE_MAX)
        for step in steps:
            await _be_of(call, story, step.definition)
            entries += [each for each in story.tell(step) if (each.position, each.index) > (position, index)]
            if len(entries) > limit:
                break
        if len(entries) > limit or len(steps) < PAGE_MAX:
            break
    has_more = len(entries) > limit
    items = entries[:limit]
    cursor = f"{items[-1].position}-{items[-1].index}" if items and has_more else None
    attempts = [] if call.query.get("after") else await desk.rows.attempts_of(row.key, limit=ATTEMPTS_MAX)
    return Timeline(
        items=items,
        end_cursor=cursor,
        history_level=level.name,
        attempts=[
            TimelineAttempt(
                job_key=str(each.job),
                attempt=each.attempt,
                date=when(each.at),
                worker=each.worker,
                error_type=each.type,
                message=each.message,
            )
            for each in attempts
        ],
    )


async def _be_of(call: Call, story: Story, definition: int) -> None:
    """What follows is of this version."""
    if story.definition is None or story.definition.key != definition:
        try:
            story.definition = await call.desk.app.compiled(definition)
        except (NotFound, InvalidModel):
            story.definition = None


def _place_of(cursor: str) -> tuple[int, int]:
    """The entry that a cursor stands at. Raises Problem."""
    if not cursor:
        return 0, -1
    position, _, index = cursor.partition("-")
    if not (cursor.isascii() and position.isdigit() and index.isdigit() and len(cursor) < 40):
        raise Problem(400, "Expected a cursor as a timeline has given it, found something else")
    return int(position), int(index)


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/process-instances",
        operation_id="getInstances",
        verb=list_instances,
        role=Role.READER,
        summary="Process instances by any condition, the newest first",
        group=GROUP,
        answer=InstancePage,
        queries=QUERIES,
        problems=(400, 404),
    ),
    Endpoint(
        method="GET",
        path="/process-instances/{processInstanceKey}/now",
        operation_id="getInstanceNow",
        verb=instance_now,
        role=Role.READER,
        summary="What an instance waits for: jobs, timers, subscriptions, tasks, incidents, callers and called",
        group=GROUP,
        answer=InstanceNow,
    ),
    Endpoint(
        method="GET",
        path="/process-instances/{processInstanceKey}/timeline",
        operation_id="getInstanceTimeline",
        verb=timeline,
        role=Role.READER,
        summary="Everything that happened to an instance, in order",
        group=GROUP,
        answer=Timeline,
        queries=("after", "limit"),
    ),
)
