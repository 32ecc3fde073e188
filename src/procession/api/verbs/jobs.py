"""Jobs for workers elsewhere: activate (and wait), complete, fail, throw an error, update, search."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from procession.api.endpoints import Call, Endpoint, Load
from procession.api.problems import Problem, check_job_type
from procession.api.roles import Role, tenant_id_of, tenant_of
from procession.api.search import Date, Flag, Found, Number, Record, Request, Rows, Search, Source, Text, search
from procession.api.words import JOB_KINDS, JOB_STATES, job_kind, job_state, key_of, key_or_none, text_or_none, when
from procession.app.working import ActivatedJob
from procession.core.commands import Activate
from procession.core.listening import RETRIES_MAX
from procession.jobs.kinds import REMOTE, JobKind
from procession.limits import AWAIT_MS_MAX, REMOTE_LEASE_MS_MAX
from procession.store.rows import JobFilter as RowFilter
from procession.store.rows import StoredJob

GROUP = "Job"
WAIT_MS = 10_000  # how long a poll waits where the request does not say
KINDS = (JobKind.SERVICE, JobKind.LISTENER)

Variables = dict[str, Any]
Retries = Annotated[int, Meta(ge=-RETRIES_MAX, le=RETRIES_MAX)]


class ActivateJobs(Request):
    """What a worker takes. ``requestTimeout`` 0: the server's; negative: no waiting."""

    type: Annotated[str, Meta(min_length=1)]
    timeout: Annotated[int, Meta(ge=1, le=REMOTE_LEASE_MS_MAX)]
    max_jobs_to_activate: Annotated[int, Meta(ge=1, le=2**31 - 1)]
    worker: str | None = ""
    fetch_variable: list[str] | None = None
    request_timeout: Annotated[int, Meta(le=AWAIT_MS_MAX)] | None = 0
    tenant_ids: list[str] | None = None
    tenant_filter: Literal["PROVIDED", "ASSIGNED"] = "PROVIDED"
    with_lease: bool | None = False


class Job(Record):
    """A job that the worker holds until its deadline."""

    job_key: str
    type: str
    kind: str
    listener_event_type: str
    process_definition_id: str
    process_definition_version: int
    process_definition_key: str
    process_instance_key: str
    root_process_instance_key: str | None
    element_id: str
    element_instance_key: str
    custom_headers: dict[str, str]
    worker: str
    retries: int
    priority: int
    deadline: int
    variables: Variables
    tenant_id: str
    physical_tenant_id: str
    user_task: None
    tags: list[str]
    business_id: str | None
    job_lease_token: str | UnsetType = UNSET


class ActivatedJobs(Record):
    """What the worker got."""

    jobs: list[Job]


class Corrections(Request):
    """What a task listener corrects."""

    assignee: str | UnsetType | None = UNSET
    due_date: str | UnsetType | None = UNSET
    follow_up_date: str | UnsetType | None = UNSET
    candidate_users: list[str] | UnsetType | None = UNSET
    candidate_groups: list[str] | UnsetType | None = UNSET
    priority: int | UnsetType | None = UNSET


class UserTaskResult(Request, tag="userTask", tag_field="type"):
    """The answer of a task listener."""

    denied: bool | None = False
    denied_reason: str | None = None
    corrections: Corrections | None = None


class ActivatedElement(Request):
    """An activity of an ad-hoc sub-process that starts now."""

    element_id: str
    variables: Variables | None = None


class AdHocResult(Request, tag="adHocSubProcess", tag_field="type"):
    """The answer of the worker of an ad-hoc sub-process."""

    activate_elements: list[ActivatedElement] = []
    is_completion_condition_fulfilled: bool = False
    is_cancel_remaining_instances: bool = False


class CompleteJob(Request):
    """A job is done."""

    variables: Variables | None = None
    result: UserTaskResult | AdHocResult | None = None
    job_lease_token: str | None = None
    business_id: str | None = None


class FailJob(Request):
    """A job could not be done. ``retries`` 0: an incident."""

    retries: Retries = 0
    error_message: str | None = ""
    retry_back_off: Annotated[int, Meta(ge=0, le=REMOTE_LEASE_MS_MAX)] = 0
    variables: Variables | None = None
    job_lease_token: str | None = None


class ThrowJobError(Request):
    """A job ends with a modelled error."""

    error_code: str
    error_message: str | None = ""
    variables: Variables | None = None
    job_lease_token: str | None = None


class Changeset(Request):
    """What changes about a job."""

    retries: Retries | None = None
    timeout: Annotated[int, Meta(ge=0, le=REMOTE_LEASE_MS_MAX)] | None = None
    priority: Annotated[int, Meta(ge=-(2**31) + 1, le=2**31 - 1)] | None = None


class UpdateJob(Request):
    """Change a job that is there."""

    changeset: Changeset
    operation_reference: int | UnsetType = UNSET
    job_lease_token: str | None = None


class JobSearchResult(Record):
    """A job that is there; one that is done is not."""

    job_key: str
    type: str
    kind: str
    state: str
    worker: str
    retries: int
    priority: int
    deadline: datetime | None
    process_definition_id: str | None
    process_definition_key: str | None
    process_instance_key: str
    root_process_instance_key: str | None
    element_id: str | None
    element_instance_key: str
    listener_event_type: str
    custom_headers: dict[str, str]
    error_message: str | None
    error_code: str | None
    has_failed_with_retries_left: bool
    is_denied: bool | None
    denied_reason: str | None
    business_id: str | None
    tenant_id: str
    creation_time: datetime | None
    last_update_time: datetime | None
    end_time: datetime | None


class JobFilter(Request):
    """Which jobs."""

    WORDS = {"state": JOB_STATES, "kind": JOB_KINDS}

    deadline: Date = UNSET
    denied_reason: Text = UNSET
    element_id: Text = UNSET
    element_instance_key: Text = UNSET
    end_time: Date = UNSET
    error_code: Text = UNSET
    error_message: Text = UNSET
    has_failed_with_retries_left: Flag = UNSET
    is_denied: bool | UnsetType | None = UNSET
    job_key: Text = UNSET
    kind: Text = UNSET
    listener_event_type: Text = UNSET
    priority: Number = UNSET
    process_definition_id: Text = UNSET
    process_definition_key: Text = UNSET
    process_instance_key: Text = UNSET
    retries: Number = UNSET
    state: Text = UNSET
    tenant_id: Text = UNSET
    type: Text = UNSET
    worker: Text = UNSET
    creation_time: Date = UNSET
    last_update_time: Date = UNSET


async def activate_jobs(call: Call) -> ActivatedJobs:
    """Jobs of a type, leased to the worker; waits for the first one. What cannot be sent is to be given back."""
    found = await take(call, call.body)
    try:
        return ActivatedJobs(jobs=await records_of(call, call.body, found))
    except BaseException:
        call.desk.app.return_jobs(found)
        raise


async def take(call: Call, body: ActivateJobs) -> list[ActivatedJob]:
    """The jobs as the application gives them; ``call.undo`` gives them back."""
    check_job_type(body.type)
    wait_ms = body.request_timeout or WAIT_MS
    found = await call.desk.app.activate_jobs(
        body.type,
        count=body.max_jobs_to_activate,
        timeout=f"{body.timeout}ms",
        wait=f"{max(0, wait_ms)}ms",
        tenants=_tenants(call, body),
    )
    if found:
        call.undo.append(lambda: call.desk.app.return_jobs(found))
    return found


def _tenants(call: Call, body: ActivateJobs) -> list[str] | None:
    """Whose jobs. Raises Problem."""
    who = call.who
    if body.tenant_filter == "ASSIGNED":
        return None if who.tenants is None else sorted(who.tenants)
    tenants = [tenant_of(each) for each in body.tenant_ids or []] or [""]
    if not all(who.sees(tenant) for tenant in tenants):
        raise Problem(
            403, f"'{who.name}' has no access to all of these tenants: {', '.join(body.tenant_ids or ['<default>'])}"
        )
    return sorted(set(tenants))


async def records_of(call: Call, body: ActivateJobs, found: list[ActivatedJob]) -> list[Job]:
    """As workers see them."""
    definitions = await call.desk.definitions(job.process_definition_key for job in found)
    call.desk.workers.gave(found, body.worker or "", call.desk.app.now)
    wanted = None if not body.fetch_variable else frozenset(body.fetch_variable)
    records: list[Job] = []
    for job in found:
        definition = definitions.get(job.process_definition_key)
        every = job.variables
        shown = every if wanted is None else {name: value for name, value in every.items() if name in wanted}
        records.append(
            Job(
                job_key=str(job.job_key),
                type=job.type,
                kind=job_kind(job.delivery.kind),
                listener_event_type="UNSPECIFIED",
                process_definition_id=job.process_definition_id,
                process_definition_version=definition.version if definition is not None else 0,
                process_definition_key=str(job.process_definition_key),
                process_instance_key=str(job.process_instance_key),
                root_process_instance_key=None,
                element_id=job.element_id,
                element_instance_key=str(job.element_instance_key),
                custom_headers=job.custom_headers,
                worker=body.worker or "",
                retries=job.retries,
                priority=job.priority,
                deadline=int(job.deadline.timestamp() * 1000),
                variables=shown,
                tenant_id=tenant_id_of(job.tenant_id),
                physical_tenant_id="default",
                user_task=None,
                tags=[],
                business_id=text_or_none(job.business_id),
                job_lease_token=str(job.lease) if body.with_lease else UNSET,
            )
        )
    return records


async def _job(call: Call) -> int:
    """The job that a request names. Raises NotFound."""
    key = key_of(call.path["jobKey"], "jobKey")
    await call.desk.check_owner(call.who, "job", key)
    return key


def lease_of(token: str | None) -> int:
    """The lease that a worker was given. Raises Problem."""
    if token is None:
        return 0
    if token.isascii() and token.isdigit() and len(token) < 10:
        return int(token)
    raise Problem(400, "Expected a jobLeaseToken as the activation has given it, found something else")


async def complete_job(call: Call) -> None:
    """A job is done."""
    body: CompleteJob = call.body or CompleteJob()
    options: dict[str, Any] = {"lease": lease_of(body.job_lease_token)}
    match body.result:
        case UserTaskResult() as result:
            options["denied"] = bool(result.denied)
            if result.corrections is not None:
                options["corrections"] = corrections_of(result.corrections)
        case AdHocResult() as result:
            options["activate"] = [
                Activate(each.element_id, variables=each.variables or {}) for each in result.activate_elements
            ]
            options["is_completion_condition_fulfilled"] = result.is_completion_condition_fulfilled
            options["is_cancel_remaining_instances"] = result.is_cancel_remaining_instances
        case None:
            pass
    key = await _job(call)
    await call.desk.app.complete_job(key, body.variables, **options)
    call.desk.workers.completed(key, call.desk.app.now)


def corrections_of(corrections: Corrections) -> Variables:
    """Our names of what a listener corrects."""
    given = msgspec.structs.asdict(corrections)
    return {name: value for name, value in given.items() if value is not UNSET and value is not None}


async def fail_job(call: Call) -> None:
    """A job could not be done."""
    body: FailJob = call.body or FailJob()
    key, text = await _job(call), body.error_message or ""
    backoff, lease = f"{body.retry_back_off}ms", lease_of(body.job_lease_token)
    await call.desk.app.fail_job(
        key, retries=body.retries, message=text, backoff=backoff, variables=body.variables, lease=lease
    )
    call.desk.workers.failed(key, call.desk.app.now, retries=body.retries, message=text)


async def throw_job_error(call: Call) -> None:
    """A job ends with a modelled error."""
    body: ThrowJobError = call.body
    lease = lease_of(body.job_lease_token)
    key = await _job(call)
    text = body.error_message or ""
    await call.desk.app.throw_error(key, body.error_code, text, body.variables, lease=lease)
    call.desk.workers.failed(key, call.desk.app.now, code=body.error_code, message=text)


async def update_job(call: Call) -> None:
    """Change a job."""
    body: UpdateJob = call.body
    changes = checked_changes(body.changeset)
    await call.desk.app.update_job(await _job(call), lease=lease_of(body.job_lease_token), **changes)


def checked_changes(changes: Changeset) -> dict[str, Any]:
    """What changes about a job, as the application takes it. Raises Problem where nothing does."""
    if changes.retries is None and changes.timeout is None and changes.priority is None:
        raise Problem(400, "Expected retries, timeout or priority in the changeset, found none of them")
    timeout = None if changes.timeout is None else f"{changes.timeout}ms"
    return {"retries": changes.retries, "timeout": timeout, "priority": changes.priority}


async def search_jobs(call: Call) -> Found[JobSearchResult]:
    """Jobs that are there, the oldest first unless sorted."""
    query: Search[JobFilter] = call.body
    return await search(query, job_source(call, query.filter), JobSearchResult)


def job_source(call: Call, chosen: JobFilter | None) -> Source:
    """Jobs of processes that are there and that somebody sees, the oldest first."""
    which = _pushed_down(chosen)

    async def fetch(after: int, limit: int) -> Rows:
        rows = await call.desk.rows.list_jobs(msgspec.structs.replace(which, after=after, limit=limit))
        seen = [row for row in rows if row.kind in KINDS and call.who.sees(row.tenant)]
        return Rows(await _found(call, seen), rows[-1].key if len(rows) == limit else 0)

    return Source(fetch, "job_key")


def _pushed_down(chosen: JobFilter | None) -> RowFilter:
    """What the store looks for."""
    which = RowFilter()
    if chosen is not None and isinstance(chosen.process_instance_key, str):
        which.instance = key_of(chosen.process_instance_key, "processInstanceKey")
    if chosen is not None and isinstance(chosen.type, str):
        which.type = chosen.type
    return which


async def _found(call: Call, rows: list[StoredJob]) -> list[JobSearchResult]:
    definitions = await call.desk.definitions(row.definition for row in rows if row.definition)
    records: list[JobSearchResult] = []
    for row in rows:
        definition = definitions.get(row.definition)
        state = job_state(row)
        records.append(
            JobSearchResult(
                job_key=str(row.key),
                type=row.type,
                kind=job_kind(row.kind),
                state=state,
                worker="",
                retries=row.retries if state != "FAILED" or row.retries else 0,
                priority=row.priority,
                deadline=when(row.run_at) if row.owner == REMOTE else None,
                process_definition_id=definition.process_id if definition is not None else None,
                process_definition_key=key_or_none(row.definition),
                process_instance_key=str(row.instance),
                root_process_instance_key=None,
                element_id=text_or_none(row.element),
                element_instance_key=str(row.element_instance),
                listener_event_type="UNSPECIFIED",
                custom_headers={},
                error_message=text_or_none(row.error),
                error_code=None,
                has_failed_with_retries_left=state == "FAILED" and row.retries > 0,
                is_denied=None,
                denied_reason=None,
                business_id=None,
                tenant_id=tenant_id_of(row.tenant),
                creation_time=when(row.created_at),
                last_update_time=None,
                end_time=None,
            )
        )
    return records


def _end(path: str, operation: str, verb: Any, summary: str, **more: Any) -> Endpoint:  # noqa: ANN401
    """An endpoint that says how one job ended."""
    options: dict[str, Any] = {
        "method": "POST",
        "role": Role.WORKER,
        "group": GROUP,
        "status": 204,
        "problems": (409,),
        "load": Load.EXEMPT,
        "entity": "JOB",
        "optional": True,
        **more,
    }
    return Endpoint(path=f"/jobs/{{jobKey}}{path}", operation_id=operation, verb=verb, summary=summary, **options)


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/jobs/activation",
        operation_id="activateJobs",
        verb=activate_jobs,
        role=Role.WORKER,
        summary="Take jobs of a type, each leased for a time; waits for the first one",
        group=GROUP,
        body=ActivateJobs,
        answer=ActivatedJobs,
        load=Load.WAIT,
    ),
    Endpoint(
        method="POST",
        path="/jobs/search",
        operation_id="searchJobs",
        verb=search_jobs,
        role=Role.READER,
        summary="Search jobs that are there",
        group=GROUP,
        body=Search[JobFilter],
        optional=True,
        answer=Found[JobSearchResult],
    ),
    _end("/completion", "completeJob", complete_job, "A job is done", body=CompleteJob),
    _end("/failure", "failJob", fail_job, "A job could not be done", body=FailJob),
    _end(
        *("/error", "throwJobError", throw_job_error, "A job ends with a modelled error"),
        body=ThrowJobError,
        optional=False,
    ),
    _end(
        *("", "updateJob", update_job, "Change retries, timeout or priority of a job"),
        method="PATCH",
        body=UpdateJob,
        optional=False,
    ),
)
