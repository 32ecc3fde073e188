"""Our own additions, under ``/api``: many ends of jobs in one request, why an instance waits, its history, counts.

Keys are texts here as under ``/v2``; the other names are those of the Python API.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Annotated, Any, cast

import msgspec
from msgspec import Meta, UnsetType

from procession.api.endpoints import Call, Endpoint, Load
from procession.api.problems import Problem, problem_of
from procession.api.roles import Role
from procession.api.search import Record, Request
from procession.api.verbs.jobs import Retries, Variables, lease_of
from procession.api.verbs.page_overview import tenants_of
from procession.api.words import instance_state, key_of
from procession.app.views import View
from procession.errors import ProcessionError
from procession.jobs.kinds import JobState
from procession.limits import COUNTED_MAX, INSTANCES_LOOK_MAX, PAGE_MAX, REMOTE_LEASE_MS_MAX

GROUP = "Procession"
ENDINGS_MAX = 1_000

Milliseconds = Annotated[int, Meta(ge=0, le=REMOTE_LEASE_MS_MAX)]


class Completion(Request):
    """A job that is done."""

    job_key: str
    variables: Variables | None = None
    job_lease_token: str | None = None


class Failure(Request):
    """A job that could not be done."""

    job_key: str
    retries: Retries = 0
    error_message: str = ""
    retry_back_off: Milliseconds = 0
    variables: Variables | None = None
    job_lease_token: str | None = None


class Thrown(Request):
    """A job that ends with a modelled error."""

    job_key: str
    error_code: str
    error_message: str = ""
    variables: Variables | None = None
    job_lease_token: str | None = None


class Endings(Request):
    """How many jobs ended; each is taken or refused for itself."""

    completions: Annotated[list[Completion], Meta(max_length=ENDINGS_MAX)] = []
    failures: Annotated[list[Failure], Meta(max_length=ENDINGS_MAX)] = []
    errors: Annotated[list[Thrown], Meta(max_length=ENDINGS_MAX)] = []


class Ended(Record):
    """What became of one."""

    job_key: str
    status: int
    detail: str | None = None


class EndedJobs(Record):
    """What became of each, in the order given: completions, failures, errors."""

    results: list[Ended]


class Items(Record):
    """A list."""

    items: list[dict[str, Any]]


class RestartInstance(Request):
    """Begin anew from what an ended instance left; at least one element."""

    before: list[str] = []
    after: list[str] = []
    variables: str = "last"
    changes: Variables | UnsetType = msgspec.UNSET
    process_definition_key: str | UnsetType = msgspec.UNSET
    business_id: bool = True
    dry_run: bool = False


Object = dict[str, Any]


def shown(view: View) -> Object:
    """A view as clients see it: its keys are texts."""
    return _with_text_keys(view.to_dict())


def _with_text_keys(value: Any, name: str = "") -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {each: _with_text_keys(inner, each) for each, inner in fields.items()}
    if isinstance(value, list):
        return [_with_text_keys(each, name) for each in cast("list[Any]", value)]
    if name.endswith(("Key", "Keys")) and isinstance(value, int):
        return str(value) if value else None
    return value


async def end_jobs(call: Call) -> EndedJobs:
    """Complete, fail and throw many at once: they are committed together, and each is answered for itself."""
    body: Endings = call.body
    ends = [*body.completions, *body.failures, *body.errors]
    begun: list[asyncio.Future[Any]] = [_put(call, each) or asyncio.ensure_future(_end(call, each)) for each in ends]
    answers = await asyncio.gather(*begun, return_exceptions=True)
    return EndedJobs(results=[_ended(call, *pair) for pair in zip(ends, answers, strict=True)])


def _put(call: Call, ending: Completion | Failure | Thrown) -> asyncio.Future[int] | None:
    """Complete a job, as nearly all end, with no task of its own. None where that cannot be; ``_end`` says why."""
    if not isinstance(ending, Completion) or call.who.tenants is not None:
        return None
    try:
        key, app = key_of(ending.job_key, "jobKey"), call.desk.app
        instance = app.remote.instance_of(key)
        lease = lease_of(ending.job_lease_token)
        return app.put_completion(instance, key, ending.variables, lease=lease) if instance else None
    except (Problem, ProcessionError):
        return None


async def _end(call: Call, ending: Completion | Failure | Thrown) -> None:
    key = key_of(ending.job_key, "jobKey")
    await call.desk.check_owner(call.who, "job", key)
    if isinstance(ending, Completion):
        await call.desk.app.complete_job(key, ending.variables, lease=lease_of(ending.job_lease_token))
    else:
        await _end_badly(call, key, ending)


def _ended(call: Call, ending: Completion | Failure | Thrown, answer: object) -> Ended:
    """What became of one."""
    if isinstance(answer, BaseException):
        problem = problem_of(answer)
        if problem is None:
            raise answer
        return Ended(job_key=ending.job_key, status=problem.status, detail=problem.detail)
    if isinstance(ending, Completion):
        call.desk.workers.completed(int(ending.job_key), call.desk.app.now)
    return Ended(job_key=ending.job_key, status=204)


async def _end_badly(call: Call, key: int, ending: Failure | Thrown) -> None:
    app, lease, workers = call.desk.app, lease_of(ending.job_lease_token), call.desk.workers
    match ending:
        case Failure():
            await app.fail_job(
                key,
                retries=ending.retries,
                message=ending.error_message,
                backoff=timedelta(milliseconds=ending.retry_back_off),
                variables=ending.variables,
                lease=lease,
            )
            workers.failed(key, app.now, retries=ending.retries, message=ending.error_message)
        case Thrown():
            await app.throw_error(key, ending.error_code, ending.error_message, ending.variables, lease=lease)
            workers.failed(key, app.now, code=ending.error_code, message=ending.error_message)


async def instance_details(call: Call) -> Object:
    """An instance with its variables, its open incidents, and what each active element waits for."""
    row = await call.desk.instance(call.who, call.path["processInstanceKey"])
    return shown(await call.desk.app.instance(row.key))


async def instance_history(call: Call) -> Items:
    """Everything that happened to an instance, as far as its history level kept it (the first PAGE_MAX events)."""
    row = await call.desk.instance(call.who, call.path["processInstanceKey"])
    return Items(items=[shown(event) for event in (await call.desk.app.history(row.key))[:PAGE_MAX]])


async def restart_instance(call: Call) -> Object:
    """Start a new instance from what an ended one left, or say what that would be."""
    body: RestartInstance = call.body
    row = await call.desk.instance(call.who, call.path["processInstanceKey"])
    how: Any = {
        "before": body.before,
        "after": body.after,
        "variables": body.variables,
        "business_id": body.business_id,
    }
    if not isinstance(body.changes, UnsetType):
        how["changes"] = body.changes
    if isinstance(body.process_definition_key, str):
        target = key_of(body.process_definition_key, "processDefinitionKey")
        how["process_definition_key"] = (await call.desk.definition(call.who, target)).key
    return shown(await call.desk.app.restart(row.key, dry_run=body.dry_run, **how))


async def retry_job(call: Call) -> None:
    """Try a follow-up or timer again that has failed for good."""
    key = key_of(call.path["jobKey"], "jobKey")
    await call.desk.check_owner(call.who, "job", key)
    await call.desk.app.retry_job(key)


async def counts(call: Call) -> Object:
    """How many instances and jobs there are, by state, of the tenants that somebody sees.

    Instances, and jobs of somebody bound to tenants, are counted among the newest: ``isMore`` says that there are older
    ones, so that the counts are a lower bound.
    """
    tenants = tenants_of(call.who)
    if call.who.tenants is not None and not tenants:
        return {"instances": {}, "isMore": False, "jobs": []}
    instances = await call.desk.rows.statuses(INSTANCES_LOOK_MAX, tenants=tenants)
    return {
        "instances": {instance_state(status): count for status, count in sorted(instances.counts.items())},
        "isMore": instances.is_part,
        "jobs": await (_jobs_of(call, tenants) if tenants else _jobs(call)),
    }


async def _jobs(call: Call) -> list[Object]:
    """Every queue, each state of it up to a bound."""
    return [
        {"queue": queue.queue, "state": state, "count": count, "isMore": state in queue.beyond}
        for queue in await call.desk.app.queue_standings()
        for state, count in queue.counts.items()
    ]


async def _jobs_of(call: Call, tenants: list[str]) -> list[Object]:
    """The newest jobs of some tenants."""
    queued = await call.desk.rows.queued(COUNTED_MAX, tenants=tenants)
    return [
        {"queue": queue, "state": JobState(state).name, "count": count, "isMore": queued.is_part}
        for (queue, state), count in sorted(queued.counts.items())
    ]


def _own(method: str, path: str, operation: str, verb: Any, summary: str, **more: Any) -> Endpoint:  # noqa: ANN401
    options: dict[str, Any] = {"role": Role.READER, "group": GROUP, "answer": Object, **more}
    return Endpoint(method=method, path=path, operation_id=operation, verb=verb, summary=summary, **options)


ENDPOINTS = (
    _own(
        "POST",
        "/jobs/endings",
        "endJobs",
        end_jobs,
        "Complete, fail and throw many jobs in one request",
        role=Role.WORKER,
        body=Endings,
        answer=EndedJobs,
        load=Load.EXEMPT,
        entity="JOB",
    ),
    _own(
        "POST",
        "/jobs/{jobKey}/retry",
        "retryJob",
        retry_job,
        "Try a follow-up or timer again that failed for good",
        role=Role.OPERATOR,
        answer=type(None),
        status=204,
        problems=(409,),
        entity="JOB",
    ),
    _own("GET", "/counts", "getCounts", counts, "How many instances and jobs there are"),
    _own(
        "GET",
        "/process-instances/{processInstanceKey}",
        "getInstanceDetails",
        instance_details,
        "An instance, and what it waits for",
    ),
    _own(
        "GET",
        "/process-instances/{processInstanceKey}/history",
        "getInstanceHistory",
        instance_history,
        "What happened to an instance",
        answer=Items,
    ),
    _own(
        "POST",
        "/process-instances/{processInstanceKey}/restart",
        "restartInstance",
        restart_instance,
        "Start a new instance from what an ended one left",
        role=Role.OPERATOR,
        body=RestartInstance,
        problems=(409,),
        load=Load.COMMAND,
        entity="PROCESS_INSTANCE",
    ),
)
