"""What active element instances wait for: jobs, messages, signals, timers, people. Read from the rows that wait.

Conditions on variables have no row, and are not told of here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TypeVar

from msgspec import UNSET

from procession.api.endpoints import Call, Endpoint
from procession.api.roles import Role, tenant_id_of
from procession.api.search import Found, Record, Request, Search, Specials, Text, by_position, holds
from procession.api.words import ELEMENT_WAITS, element_type, job_kind, key_of, text_or_none, when
from procession.jobs.kinds import JobKind
from procession.limits import PAGE_MAX, SEARCH_MATCHES_MAX
from procession.model.definition import Trigger
from procession.store.rows import JobFilter, StoredJob, StoredSubscription, StoredUserTask, UserTaskFilter

GROUP = "Element instance"
KINDS = (JobKind.SERVICE, JobKind.LISTENER, JobKind.METHOD)
TRIGGERS = (Trigger.MESSAGE, Trigger.SIGNAL)

Waiting = StoredJob | StoredSubscription | StoredUserTask
W = TypeVar("W", StoredJob, StoredSubscription, StoredUserTask)


class JobWait(Record, tag="JOB", tag_field="waitStateType"):
    """For a worker."""

    job_key: str
    job_type: str
    job_kind: str
    listener_event_type: str | None
    retries: int | None


class TimerWait(Record, tag="TIMER", tag_field="waitStateType"):
    """For an instant, in milliseconds since the epoch."""

    due_date: int | None
    repetitions: int | None


class MessageWait(Record, tag="MESSAGE", tag_field="waitStateType"):
    """For a message."""

    message_name: str
    correlation_key: str | None


class SignalWait(Record, tag="SIGNAL", tag_field="waitStateType"):
    """For a signal."""

    signal_name: str


class UserTaskWait(Record, tag="USER_TASK", tag_field="waitStateType"):
    """For a person."""

    task_key: str
    due_date: datetime | None


class WaitState(Record):
    """One thing that one element instance waits for."""

    root_process_instance_key: str | None
    process_instance_key: str
    element_instance_key: str
    element_id: str
    element_type: str
    tenant_id: str
    bpmn_process_id: str
    details: JobWait | TimerWait | MessageWait | SignalWait | UserTaskWait


class WaitFilter(Request):
    """Which of them."""

    WORDS = {"wait_state_type": ELEMENT_WAITS}

    element_instance_key: Text = UNSET
    process_instance_key: Text = UNSET
    root_process_instance_key: Text = UNSET
    element_id: Text = UNSET
    element_type: Text = UNSET
    wait_state_type: Text = UNSET


class ElementWaits(Record):
    """How many element instances wait at an element."""

    element_id: str
    waiting_count: int


class WaitStatistics(Record):
    """Of every element at which something waits."""

    items: list[ElementWaits]


async def search_waits(call: Call) -> Found[WaitState]:
    """What waits for what, by element instance unless sorted."""
    query: Search[WaitFilter] = call.body
    wanted = query.filter.process_instance_key if query.filter is not None else UNSET
    instance = key_of(wanted, "processInstanceKey") if isinstance(wanted, str) else 0
    records = await _records(call, await _rows(call, instance))
    return by_position(query, records, WaitState, _SPECIALS)


def _kind(record: WaitState) -> str:
    return str(record.details.__struct_config__.tag)


_SPECIALS: Specials = {"wait_state_type": lambda wanted, record: holds(wanted, _kind(record))}


async def count_waits(call: Call) -> WaitStatistics:
    """How many element instances wait at each element of an instance."""
    row = await call.desk.instance(call.who, call.path["processInstanceKey"])
    waiting = {(each.element, each.element_instance) for each in await _rows(call, row.key)}
    counts = Counter(element for element, _ in waiting)
    return WaitStatistics(items=[ElementWaits(element_id=name, waiting_count=n) for name, n in sorted(counts.items())])


async def _rows(call: Call, instance: int) -> list[Waiting]:
    """Whatever waits in an instance, or in all of them, and is seen; up to SEARCH_MATCHES_MAX of each kind."""
    store = call.desk.rows

    def jobs(after: int) -> Awaitable[list[StoredJob]]:
        return store.list_jobs(JobFilter(instance=instance, after=after, limit=PAGE_MAX))

    def subscriptions(after: int) -> Awaitable[list[StoredSubscription]]:
        return store.list_subscriptions(instance=instance, after=after, limit=PAGE_MAX)

    def tasks(after: int) -> Awaitable[list[StoredUserTask]]:
        return store.list_user_tasks(UserTaskFilter(instance=instance, after=after, limit=PAGE_MAX))

    found: list[Waiting] = [*await _all(jobs), *await _all(subscriptions), *await _all(tasks)]
    seen = [row for row in found if row.instance and row.element_instance and call.who.sees(row.tenant)]
    return sorted((row for row in seen if _is_told(row)), key=lambda row: (row.element_instance, row.key))


async def _all(listing: Callable[[int], Awaitable[list[W]]]) -> list[W]:
    """Pages from a key on, as long as there are any."""
    rows: list[W] = []
    after = 0
    for _ in range(SEARCH_MATCHES_MAX // PAGE_MAX):
        page = await listing(after)
        rows += page
        if len(page) < PAGE_MAX:
            break
        after = page[-1].key
    return rows


def _is_told(row: Waiting) -> bool:
    match row:
        case StoredJob():
            return row.kind in KINDS or row.kind == JobKind.TIMER
        case StoredSubscription():
            return row.trigger in TRIGGERS
        case StoredUserTask():
            return True


async def _records(call: Call, rows: list[Waiting]) -> list[WaitState]:
    instances = await call.desk.instances(row.instance for row in rows)
    roots = await call.desk.roots(instances.values())
    records: list[WaitState] = []
    for row in rows:
        instance = instances.get(row.instance)
        if instance is None:
            continue  # it has ended meanwhile
        definition = await call.desk.app.compiled(instance.definition)
        index = definition.index_of.get(row.element)
        records.append(
            WaitState(
                root_process_instance_key=str(roots.get(instance.key, instance.key)),
                process_instance_key=str(instance.key),
                element_instance_key=str(row.element_instance),
                element_id=row.element,
                element_type=element_type(definition.elements[index].kind) if index is not None else "UNKNOWN",
                tenant_id=tenant_id_of(row.tenant),
                bpmn_process_id=definition.process_id,
                details=_details(row),
            )
        )
    return records


def _details(row: Waiting) -> JobWait | TimerWait | MessageWait | SignalWait | UserTaskWait:
    match row:
        case StoredJob() if row.kind == JobKind.TIMER:
            return TimerWait(due_date=row.run_at, repetitions=None)
        case StoredJob():
            return JobWait(
                job_key=str(row.key),
                job_type=row.type,
                job_kind=job_kind(row.kind),
                listener_event_type=None,
                retries=row.retries,
            )
        case StoredSubscription() if row.trigger == Trigger.SIGNAL:
            return SignalWait(signal_name=row.name)
        case StoredSubscription():
            return MessageWait(message_name=row.name, correlation_key=text_or_none(row.correlation_key))
        case StoredUserTask():
            return UserTaskWait(task_key=str(row.key), due_date=when(row.due_at))


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/element-instances/wait-states/search",
        operation_id="searchElementInstanceWaitStates",
        verb=search_waits,
        role=Role.READER,
        summary="Search what element instances wait for",
        group=GROUP,
        body=Search[WaitFilter],
        optional=True,
        answer=Found[WaitState],
    ),
    Endpoint(
        method="GET",
        path="/process-instances/{processInstanceKey}/statistics/wait-states",
        operation_id="getProcessInstanceWaitStateStatistics",
        verb=count_waits,
        role=Role.READER,
        summary="How many element instances wait at each element",
        group="Process instance",
        answer=WaitStatistics,
    ),
)
