"""What the administration of the queue takes over HTTP, and the words of the Python API that it means. Plain data.

Keys are texts, durations whole milliseconds, instants ISO 8601.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from procession.api.problems import Problem
from procession.api.search import Instant, Request
from procession.api.words import key_of
from procession.app.job_options import Limit, Unique
from procession.limits import ENQUEUE_MAX, FLOW_NODES_MAX, TIMER_MS_MAX

Ms = Annotated[int, Meta(ge=0, le=TIMER_MS_MAX)]
Key = Annotated[str, Meta(pattern="^[0-9]{1,19}$")]
Attempts = Annotated[int, Meta(ge=1, le=10_000)]
Priority = Annotated[int, Meta(ge=-(2**31) + 1, le=2**31 - 1)]
Name = Annotated[str, Meta(min_length=1)]
Object = dict[str, Any]


class UniqueKey(Request):
    """A key that one job at a time has; see ``Unique`` of the Python API."""

    key: Name
    for_: Ms | None = msgspec.field(default=None, name="for")
    replace: bool = False
    debounce: bool = False
    longest: Ms | None = None
    keep_first: bool = False


class LimitRule(Request):
    """A rule that jobs share by its key."""

    key: Name
    most: Annotated[int, Meta(ge=0)] = 0
    rate: Annotated[int, Meta(ge=0)] = 0
    per: Annotated[int, Meta(ge=1, le=TIMER_MS_MAX)] = 1_000
    burst: Annotated[int, Meta(ge=0)] = 0


class JobOptionsGiven(Request):
    """What a job may be given beyond its arguments."""

    queue: str | UnsetType = UNSET
    priority: Priority | UnsetType = UNSET
    delay: Ms | UnsetType = UNSET
    at: Instant | UnsetType = UNSET
    retries: Attempts | UnsetType = UNSET
    title: str | UnsetType = UNSET
    tags: list[str] | UnsetType = UNSET
    metadata: dict[str, str] | UnsetType = UNSET
    timeout: Ms | UnsetType = UNSET
    deadline: Ms | UnsetType = UNSET
    deadline_at: Instant | UnsetType = UNSET
    backoff: str | list[str] | UnsetType = UNSET
    keep: Ms | UnsetType = UNSET
    output: bool | UnsetType = UNSET
    ageing: Ms | UnsetType = UNSET
    fair_key: str | UnsetType = UNSET
    unique: UniqueKey | UnsetType = UNSET
    limits: list[LimitRule] | UnsetType = UNSET
    batch_key: Key | UnsetType = UNSET


class EnqueueJobs(JobOptionsGiven, kw_only=True):
    """Plain jobs of one type, alike but for their arguments."""

    type: Name
    args: Annotated[list[Object], Meta(min_length=1, max_length=ENQUEUE_MAX)]
    after: list[Key] = []
    after_finished: list[Key] = []
    tenant_id: str | UnsetType = UNSET


class FlowJobGiven(JobOptionsGiven, kw_only=True):
    """A job of a flow; what it comes after is named by the names of the others."""

    name: Name
    type: Name
    args: Object = {}
    after: list[Name] = []
    after_finished: list[Name] = []


class EnqueueFlow(Request):
    """Jobs that come after each other, inserted all or none."""

    jobs: Annotated[list[FlowJobGiven], Meta(min_length=1, max_length=FLOW_NODES_MAX)]
    title: str = ""
    tenant_id: str | UnsetType = UNSET


class JobChanges(Request):
    """What changes of a job that waits."""

    priority: Priority | None = None
    retries: Attempts | None = None
    delay: Ms | None = None
    at: Instant | None = None


class RequeueJob(Request):
    """Attempts of a job that starts over; 0: as many as at first."""

    retries: Annotated[int, Meta(ge=0, le=10_000)] = 0


class JobFilter(Request):
    """Which jobs a bulk operation means; what is left out does not restrict."""

    state: str = ""
    queue: str = ""
    type: str = ""
    kind: str = ""
    tag: str = ""
    text: str = ""
    batch_key: str = ""
    flow_key: str = ""


class BulkJobs(Request):
    """One page of an operation on all jobs that fit; ask again with ``after`` until that is null."""

    action: Literal["delete", "requeue", "change"]
    filter: JobFilter = msgspec.field(default_factory=JobFilter)
    after: str | None = None
    reason: str = ""
    retries: Annotated[int, Meta(ge=0, le=10_000)] = 0
    changes: JobChanges | None = None
    tenant_id: str | UnsetType = UNSET


class Reason(Request):
    """Why, for whoever wonders."""

    reason: str = ""


class QueueRetention(Request):
    """How long what succeeds in a queue is kept; null: as its jobs say."""

    keep: Ms | None


class PauseType(Request):
    """A job type to pause or resume."""

    type: Name
    reason: str = ""


class SetLimit(Request):
    """The new rule of a limit."""

    most: Annotated[int, Meta(ge=0)] = 0
    rate: Annotated[int, Meta(ge=0)] = 0
    per: Annotated[int, Meta(ge=1, le=TIMER_MS_MAX)] = 1_000
    burst: Annotated[int, Meta(ge=0)] = 0


class PutRecurring(JobOptionsGiven, kw_only=True):
    """What a recurring job is to be."""

    cycle: Name
    type: Name
    args: Object = {}
    missed: Literal["once", "all", "skip"] = "once"
    overlap: bool = True
    tenant_id: str | UnsetType = UNSET


class OpenBatch(Request):
    """A new batch of jobs."""

    title: str = ""
    parent_key: Key | None = None
    tenant_id: str | UnsetType = UNSET


def words_of(given: JobOptionsGiven) -> dict[str, Any]:
    """What a client said about a job, in the words of ``Procession.enqueue``. Raises Problem."""
    spans = ("delay", "timeout", "deadline", "keep", "ageing")
    plain = ("queue", "priority", "at", "retries", "title", "tags", "metadata", "backoff", "output", "fair_key")
    words: dict[str, Any] = {}
    for name in (*spans, *plain):
        value = getattr(given, name)
        if value is not UNSET:
            words[name] = timedelta(milliseconds=value) if name in spans else value
    if not isinstance(given.deadline_at, UnsetType):
        if "deadline" in words:
            raise Problem(400, "Expected either deadline or deadlineAt, found both")
        words["deadline"] = given.deadline_at
    if not isinstance(given.unique, UnsetType):
        words["unique"] = _unique(given.unique)
    if not isinstance(given.limits, UnsetType):
        words["limits"] = [
            Limit(each.key, each.most, each.rate, timedelta(milliseconds=each.per), each.burst) for each in given.limits
        ]
    if isinstance(given, EnqueueJobs):
        for name, keys in (("after", given.after), ("after_finished", given.after_finished)):
            if keys:
                words[name] = [key_of(key, name) for key in keys]
    if not isinstance(given.batch_key, UnsetType):
        words["batch"] = key_of(given.batch_key, "batchKey")
    return words


def _unique(given: UniqueKey) -> Unique:
    return Unique(
        given.key,
        for_=None if given.for_ is None else timedelta(milliseconds=given.for_),
        replace=given.replace,
        debounce=given.debounce,
        longest=None if given.longest is None else timedelta(milliseconds=given.longest),
        keep_first=given.keep_first,
    )
