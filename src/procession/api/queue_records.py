"""What the administration of the queue gives over HTTP: records, and the cursors between their pages. Plain data.

The names are those of the Python API; keys are texts, durations whole milliseconds, instants ISO 8601.
"""

from __future__ import annotations

import base64
from datetime import datetime
from typing import Any, Literal, TypeVar, cast

import msgspec

from procession.api.endpoints import Call
from procession.api.problems import Problem
from procession.api.search import Record
from procession.api.words import key_of
from procession.app.views import View
from procession.limits import PAGE_MAX

R = TypeVar("R", bound=Record)

Object = dict[str, Any]

# -- records ----------------------------------------------------------------------------------------------------------


class ListInfo(Record):
    """Where a page stands. ``total_items`` is exact unless there are more than were counted."""

    total_items: int
    has_more_total_items: bool
    end_cursor: str | None  # where the next page begins; null: this is the last


class JobRecord(Record):
    """A job of the queue."""

    job_key: str
    kind: str
    state: str
    queue: str
    type: str
    title: str
    process_instance_key: str | None
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
    waits_for: str
    cancel_reason: str | None
    tags: list[str]
    metadata: dict[str, str]
    tenant_id: str
    node: int
    batch_key: str | None
    unique_key: str
    limits: list[str]
    fair_key: str
    timeout_ms: int
    deadline_at: datetime | None
    parent_keys: list[str]


class JobList(Record):
    """A page of jobs."""

    items: list[JobRecord]
    page: ListInfo


class RelatedJob(Record):
    """A job that another one comes after, or that comes after it."""

    job_key: str
    type: str
    title: str
    state: str
    either: bool


class LogLine(Record):
    """A line that a job's handler wrote."""

    number: int
    at: datetime
    level: int
    text: str


class LogList(Record):
    """Log lines in order; ``end_number`` is what the next page comes after."""

    items: list[LogLine]
    end_number: int | None


class JobAttempt(Record):
    """An attempt of a job that failed."""

    attempt: int
    at: datetime
    worker: str
    error_type: str
    message: str


class JobDetails(Record):
    """A job with what it belongs to, why it waits, the beginning of its log, and its last attempts that failed."""

    job: JobRecord
    why: str
    checkpoint: Any
    parents: list[RelatedJob]
    children: list[RelatedJob]
    log: list[LogLine]
    attempts: list[JobAttempt]


class Enqueued(Record):
    """What became of a job that was put into the queue."""

    job_key: str
    type: str
    queue: str
    outcome: str


class EnqueuedList(Record):
    """In the order given."""

    items: list[Enqueued]


class EnqueuedFlow(Record):
    """By the names of the jobs."""

    jobs: dict[str, Enqueued]
    flow_key: str | None  # of a flow that has a title


class Removed(Record):
    """What became of a job that was to be deleted."""

    outcome: Literal["DELETED", "CANCELING"]


class BulkDone(Record):
    """How many jobs this page reached, and where to go on; null: it was the last."""

    done: int
    end_cursor: str | None


class FlowNode(Record):
    """A job or batch of a flow."""

    job_key: str
    type: str
    title: str
    queue: str
    state: str
    is_batch: bool
    progress: float


class FlowEdge(Record):
    """``child_key`` comes after ``parent_key``."""

    parent_key: str
    child_key: str
    either: bool


class FlowGraph(Record):
    """Parents stand before their children."""

    nodes: list[FlowNode]
    edges: list[FlowEdge]
    is_cut: bool
    flow_key: str | None
    title: str


class FlowRecord(Record):
    """A flow that has a title, as it stands."""

    flow_key: str
    title: str
    state: str
    total: int
    succeeded: int
    failed: int
    deleted: int
    pending: int
    created_at: datetime
    finished_at: datetime | None
    tenant_id: str


class FlowList(Record):
    """A page of flows that have a title, the newest first."""

    items: list[FlowRecord]
    page: ListInfo


class QueueRecord(Record):
    """How a queue stands."""

    queue: str
    counts: dict[str, int]
    beyond: list[str]
    oldest_at: datetime | None
    latency_ms: int
    is_paused: bool
    pause_reason: str
    paused_at: datetime | None
    enqueued_per_minute: int
    succeeded_per_minute: int
    failed_per_minute: int
    keep_ms: int


class PausedType(Record):
    """A job type that nobody claims."""

    type: str
    reason: str
    paused_at: datetime | None


class QueueList(Record):
    """A page of queues by name, and what job types are paused."""

    items: list[QueueRecord]
    paused_types: list[PausedType]
    page: ListInfo


class SeriesRecord(Record):
    """What happened to the jobs of a queue: a number for each minute."""

    queue: str
    enqueued: list[int]
    succeeded: list[int]
    failed: list[int]
    retried: list[int]
    run_ms: list[int]


class SeriesList(Record):
    """Series over the same minutes."""

    minutes: list[datetime]
    series: list[SeriesRecord]


class LimitRecord(Record):
    """A limit as it stands; ``reserved_at`` is the start that the next job by its rate would get."""

    key: str
    most: int
    rate: int
    per_ms: int
    burst: int
    used: int
    waiting: int
    reserved_at: datetime | None


class LimitList(Record):
    """A page of limits by key."""

    items: list[LimitRecord]
    page: ListInfo


class Changed(Record):
    """Whether it was otherwise before."""

    changed: bool


class RecurringRecord(Record):
    """A recurring job as it stands."""

    name: str
    cycle: str
    group: str
    type: str
    queue: str
    priority: int
    retries: int
    options: Object
    args: Any
    missed: str
    overlap: bool
    is_paused: bool
    next_at: datetime | None
    last_at: datetime | None
    last_job_key: str | None
    fired: int
    tenant_id: str


class RecurringList(Record):
    """A page of recurring jobs by name."""

    items: list[RecurringRecord]
    page: ListInfo


class FiredJob(Record):
    """A job that a firing has put into the queue."""

    job_key: str
    state: str


class PastRun(Record):
    """A firing."""

    at: datetime
    due_at: datetime | None
    jobs: list[FiredJob]


class RecurringDetails(Record):
    """A recurring job with its next runs and its last ones, the newest first."""

    recurring: RecurringRecord
    next_runs: list[datetime]
    history: list[PastRun]


class BatchRecord(Record):
    """A batch of jobs as it stands."""

    batch_key: str
    title: str
    state: str
    parent_key: str | None
    total: int
    succeeded: int
    failed: int
    deleted: int
    pending: int
    created_at: datetime
    finished_at: datetime | None
    tenant_id: str


class BatchList(Record):
    """A page of batches of jobs, the newest first."""

    items: list[BatchRecord]
    page: ListInfo


class RunningJob(Record):
    """A job that a process has been given."""

    job_key: str
    type: str
    queue: str
    title: str
    attempt: int
    progress: float
    progress_text: str
    process_instance_key: str | None


class WorkerQueue(Record):
    """What a process does for one queue."""

    queue: str
    types: list[str]
    slots: int
    running: int
    buffered: int


class StuckSlot(Record):
    """A slot whose handler ignores its cancellation."""

    job_key: str
    type: str


class WorkerRecord(Record):
    """A process that works on the database."""

    node: int
    name: str
    started_at: datetime | None
    beat_at: datetime | None
    running: int
    jobs: list[RunningJob]
    queues: list[WorkerQueue]
    stuck: list[StuckSlot]


class WorkerList(Record):
    """All of them, and how many workers of other protocols wait for jobs at this server."""

    items: list[WorkerRecord]
    remote_waiting: int


# -- how one becomes the other ----------------------------------------------------------------------------------------


def record_of(view: View, kind: type[R], **more: Any) -> R:  # noqa: ANN401 - further fields of the record
    """A view as clients see it: its keys are texts, what its jobs carry stays as it is."""
    fields = {name: value for name, value in _fields(view).items() if name in kind.__struct_encode_fields__}
    return msgspec.convert({**fields, **more}, kind)


def _fields(view: View) -> Object:
    named = zip(view.__struct_fields__, view.__struct_encode_fields__, strict=True)
    return {shown: _shown(name, getattr(view, name)) for name, shown in named}


def _shown(name: str, value: Any) -> Any:  # noqa: ANN401 - any field of a view
    if name.endswith("_key") and isinstance(value, int):
        return str(value) if value else None
    if name.endswith("_keys") and isinstance(value, list):
        return [str(key) for key in cast("list[int]", value)]
    if isinstance(value, View):
        return _fields(value)
    if isinstance(value, list):
        return [_fields(each) if isinstance(each, View) else each for each in cast("list[Any]", value)]
    return value


def cursor_of(place: int | str) -> str | None:
    """A place as a cursor; None for none."""
    return base64.urlsafe_b64encode(f"p{place}".encode()).decode() if place else None


def place_of(cursor: str | None) -> str:
    """The place that a cursor stands at; an empty text for none. Raises Problem."""
    if not cursor:
        return ""
    try:
        text = base64.urlsafe_b64decode(cursor.encode()).decode()
    except (ValueError, UnicodeError):
        text = ""
    if not text.startswith("p") or "\0" in text:
        raise Problem(400, "Expected a cursor as a list has given it, found something else")
    return text[1:]


def key_place_of(cursor: str | None) -> int:
    """The key that a cursor stands at; 0 for none. Raises Problem."""
    place = place_of(cursor)
    return key_of(place, "a cursor") if place else 0


def limit_of(call: Call, usual: int = 100) -> int:
    """How many items a page is to have. Raises Problem."""
    return number_of(call, "limit", usual, 1, PAGE_MAX)


def number_of(call: Call, name: str, usual: int, least: int, most: int) -> int:
    """A whole number of the query. Raises Problem."""
    text = call.query.get(name)
    if text is None:
        return usual
    if not (text.isascii() and text.isdigit() and len(text) < 10 and least <= int(text) <= most):
        raise Problem(400, f"Expected {name} to be a whole number from {least} to {most}, found '{text[:20]}'")
    return int(text)
