"""Jobs of the queue over HTTP: listed, looked at, enqueued, changed one by one and by filter; flows and batches.

Whoever is bound to tenants sees and changes what is theirs.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

from msgspec import UNSET, UnsetType

from procession.api import queue_records as records
from procession.api import queue_requests as requests
from procession.api.endpoints import Call, Endpoint, Load
from procession.api.problems import Problem
from procession.api.roles import Role, tenant_of
from procession.api.words import key_of
from procession.app import Procession
from procession.app.administration import Changes
from procession.app.flows import FlowJob
from procession.app.job_lists import JobFilters, QueueJob
from procession.errors import InvalidValue, NotFound
from procession.limits import PAGE_MAX

GROUP = "Queue"
LOG_LINES_SHOWN = 100
TEXT_FILTERS = ("state", "queue", "type", "kind", "tag", "text")


def app_for(call: Call, tenant_id: str | UnsetType = UNSET) -> Procession:
    """The application for whom a request is meant: the tenant named, the only one there is, or all. Raises Problem."""
    named = tenant_id if isinstance(tenant_id, str) else call.query.get("tenantId")
    if named:
        return call.desk.app_of(call.desk.tenant(call.who, named))
    tenants = call.who.tenants
    if tenants is not None and len(tenants) == 1:
        return call.desk.app_of(next(iter(tenants)))
    return call.desk.app


def expect_one_scope(call: Call, app: Procession, tenant_id: str | UnsetType = UNSET) -> None:
    """What reaches many at once reaches one tenant's, or is asked by somebody who sees all. Raises Problem."""
    named = tenant_id if isinstance(tenant_id, str) else call.query.get("tenantId", "")
    if call.who.tenants is not None and (app is call.desk.app or not tenant_of(named or "-")):
        raise Problem(403, "Name the tenant whose jobs are meant (tenantId): the default one's cannot be told apart")


# -- jobs -------------------------------------------------------------------------------------------------------------
async def list_jobs(call: Call) -> records.JobList:
    """A page of jobs, the newest first unless asked otherwise."""
    order = call.query.get("order", "newest")
    if order not in ("newest", "oldest"):
        raise Problem(400, f"Expected order to be newest or oldest, found '{order[:20]}'")
    page = await app_for(call).find_jobs(
        newest=order == "newest",
        after=records.key_place_of(call.query.get("after")),
        limit=records.limit_of(call),
        **_choice(call),
    )
    seen = [job for job in page.jobs if call.who.sees(job.tenant_id)]
    hides = call.who.tenants is not None and app_for(call) is call.desk.app
    return records.JobList(
        items=[_job_record(job) for job in seen],
        page=records.ListInfo(
            total_items=len(seen) if hides else page.total,
            has_more_total_items=bool(page.after) if hides else page.is_more,
            end_cursor=records.cursor_of(page.after),
        ),
    )


def _choice(call: Call) -> JobFilters:
    """The filters of a query."""
    named: Any = {
        name: call.query[name] for name in ("state", "queue", "type", "kind", "tag", "text") if name in call.query
    }
    for query, name in (("batchKey", "batch"), ("flowKey", "flow")):
        if call.query.get(query):
            named[name] = key_of(call.query[query], query)
    if "node" in call.query:
        named["node"] = records.number_of(call, "node", 0, 0, 2**31 - 1)
    return cast("JobFilters", named)


def _job_record(job: QueueJob) -> records.JobRecord:
    return records.record_of(job, records.JobRecord)


async def get_job(call: Call) -> records.JobDetails:
    """One job."""
    key = await _job(call)
    app = call.desk.app
    found = await app.job_in_full(key)
    log = await app.job_log(key, limit=LOG_LINES_SHOWN)
    return records.JobDetails(
        job=_job_record(found.job),
        why=found.why,
        checkpoint=found.checkpoint,
        parents=[records.record_of(each, records.RelatedJob) for each in found.parents],
        children=[records.record_of(each, records.RelatedJob) for each in found.children],
        log=[records.record_of(line, records.LogLine) for line in log],
        attempts=[records.record_of(each, records.JobAttempt) for each in found.attempts],
    )


async def get_log(call: Call) -> records.LogList:
    """A page of a job's log."""
    after = records.number_of(call, "after", 0, 0, 2**31 - 1)
    limit = records.limit_of(call, PAGE_MAX)
    lines = await call.desk.app.job_log(await _job(call), after=after, limit=limit)
    return records.LogList(
        items=[records.record_of(line, records.LogLine) for line in lines],
        end_number=lines[-1].number if len(lines) == limit else None,
    )


async def _job(call: Call) -> int:
    """The key of a job that the principal sees. Raises NotFound."""
    key = key_of(call.path["jobKey"], "jobKey")
    if call.who.tenants is not None:
        record = await call.desk.app.job_record(key)
        if not call.who.sees(record.tenant_id):
            raise NotFound(f"Expected a job with key {key}, found none")
    return key


async def enqueue_jobs(call: Call) -> records.EnqueuedList:
    """Put plain jobs into a queue, all or none."""
    body: requests.EnqueueJobs = call.body
    tenant = call.desk.tenant(call.who, body.tenant_id)
    enqueued = await call.desk.app_of(tenant).enqueue_many(body.type, body.args, **cast("Any", requests.words_of(body)))
    return records.EnqueuedList(items=[records.record_of(each, records.Enqueued) for each in enqueued])


async def requeue_job(call: Call) -> None:
    """A failed job starts over; a scheduled one is due now."""
    body: requests.RequeueJob = call.body
    await call.desk.app.requeue(await _job(call), retries=body.retries)


async def delete_job(call: Call) -> records.Removed:
    """Delete a job; one that runs is canceled first."""
    key = await _job(call)
    runs = (await call.desk.app.job_record(key)).state == "RUNNING"
    await call.desk.app.delete_job(key, reason=call.query.get("reason", ""))
    return records.Removed(outcome="CANCELING" if runs else "DELETED")


async def change_job(call: Call) -> None:
    """Change a job that waits."""
    await call.desk.app.change_job(await _job(call), **_changes(call.body))


def _changes(body: requests.JobChanges) -> dict[str, Any]:
    return {
        "priority": body.priority,
        "retries": body.retries,
        "delay": None if body.delay is None else timedelta(milliseconds=body.delay),
        "at": body.at,
    }


async def bulk_jobs(call: Call) -> records.BulkDone:
    """One page of an operation on all jobs that fit."""
    body: requests.BulkJobs = call.body
    app = app_for(call, body.tenant_id)
    expect_one_scope(call, app, body.tenant_id)
    which = body.filter
    choice: Any = {name: getattr(which, name) for name in TEXT_FILTERS}
    choice["batch"] = key_of(which.batch_key, "batchKey") if which.batch_key else 0
    choice["flow"] = key_of(which.flow_key, "flowKey") if which.flow_key else 0
    if body.action == "change" and body.changes is None:
        raise InvalidValue("Expected changes for the action 'change', found none")
    page = await app.bulk_page(
        body.action,
        choice,
        after=records.key_place_of(body.after),
        reason=body.reason,
        retries=body.retries,
        changes=None if body.changes is None else Changes(**_changes(body.changes)),
    )
    call.about["done"] = page.done
    return records.BulkDone(done=page.done, end_cursor=records.cursor_of(page.after))


# -- flows ------------------------------------------------------------------------------------------------------------
async def enqueue_flow(call: Call) -> records.EnqueuedFlow:
    """Put jobs that come after each other into the queue, all or none."""
    body: requests.EnqueueFlow = call.body
    tenant = call.desk.tenant(call.who, body.tenant_id)
    jobs = [
        FlowJob(each.name, each.type, each.args, each.after, each.after_finished, cast("Any", requests.words_of(each)))
        for each in body.jobs
    ]
    enqueued = await call.desk.app_of(tenant).enqueue_flow(jobs, title=body.title)
    return records.EnqueuedFlow(
        jobs={name: records.record_of(each, records.Enqueued) for name, each in enqueued.items()},
        flow_key=str(enqueued.flow_key) if enqueued.flow_key else None,
    )


async def list_flows(call: Call) -> records.FlowList:
    """A page of flows that have a title, the newest first."""
    app, limit = app_for(call), records.limit_of(call)
    found = await app.flows(after=records.key_place_of(call.query.get("after")), limit=limit)
    counted = await app.flows(limit=PAGE_MAX)
    return records.FlowList(
        items=[
            records.record_of(each, records.FlowRecord, pending=each.pending)
            for each in found
            if call.who.sees(each.tenant_id)
        ],
        page=records.ListInfo(
            total_items=sum(call.who.sees(each.tenant_id) for each in counted),
            has_more_total_items=len(counted) == PAGE_MAX,
            end_cursor=records.cursor_of(found[-1].flow_key) if len(found) == limit else None,
        ),
    )


async def get_flow(call: Call) -> records.FlowGraph:
    """The jobs that are connected, from the key of any of them or of a flow with a title."""
    key, app = key_of(call.path["flowKey"], "flowKey"), call.desk.app
    if call.who.tenants is not None:
        tenant = await _tenant_of(app, key)
        if not call.who.sees(tenant):
            raise NotFound(f"Expected a job with key {key}, found none")
        app = call.desk.app_of(tenant)
    return records.record_of(await app.flow(key), records.FlowGraph)


async def _tenant_of(app: Procession, key: int) -> str:
    """Whose a flow, or a job, is. Raises NotFound."""
    try:
        return (await app.job_batch(key)).tenant_id
    except NotFound:
        return (await app.job_record(key)).tenant_id


# -- batches ----------------------------------------------------------------------------------------------------------
async def list_batches(call: Call) -> records.BatchList:
    """A page of batches of jobs, the newest first."""
    app, limit = app_for(call), records.limit_of(call)
    found = await app.job_batches(after=records.key_place_of(call.query.get("after")), limit=limit)
    counted = await app.job_batches(limit=PAGE_MAX)
    return records.BatchList(
        items=[_batch_record(each) for each in found if call.who.sees(each.tenant_id)],
        page=records.ListInfo(
            total_items=sum(call.who.sees(each.tenant_id) for each in counted),
            has_more_total_items=len(counted) == PAGE_MAX,
            end_cursor=records.cursor_of(found[-1].batch_key) if len(found) == limit else None,
        ),
    )


def _batch_record(batch: Any) -> records.BatchRecord:  # noqa: ANN401 - app.flows.JobBatch
    return records.record_of(batch, records.BatchRecord, pending=batch.pending)


async def _batch(call: Call) -> Any:  # noqa: ANN401 - app.flows.JobBatch
    """A batch that the principal sees. Raises NotFound."""
    key = key_of(call.path["batchKey"], "batchKey")
    found = await call.desk.app.job_batch(key)
    if not call.who.sees(found.tenant_id):
        raise NotFound(f"Expected a batch of jobs with key {key}, found none")
    return found


async def get_batch(call: Call) -> records.BatchRecord:
    """One batch of jobs."""
    return _batch_record(await _batch(call))


async def open_batch(call: Call) -> records.BatchRecord:
    """Open a batch of jobs."""
    body: requests.OpenBatch = call.body
    app = call.desk.app_of(call.desk.tenant(call.who, body.tenant_id))
    parent = None if body.parent_key is None else key_of(body.parent_key, "parentKey")
    key = await app.open_batch(title=body.title, parent=parent)
    return _batch_record(await app.job_batch(key))


async def seal_batch(call: Call) -> records.BatchRecord:
    """Let no more members in."""
    batch = await _batch(call)
    await call.desk.app.seal_batch(batch.batch_key)
    return _batch_record(await call.desk.app.job_batch(batch.batch_key))


async def cancel_batch(call: Call) -> records.BatchRecord:
    """Seal a batch and delete its members that are not over."""
    body: requests.Reason = call.body
    batch = await _batch(call)
    call.about["done"] = await call.desk.app.cancel_job_batch(batch.batch_key, reason=body.reason)
    return _batch_record(await call.desk.app.job_batch(batch.batch_key))


FILTERS = (*TEXT_FILTERS, "batchKey", "flowKey", "node")


def row(method: str, path: str, operation: str, verb: Any, summary: str, **more: Any) -> Endpoint:  # noqa: ANN401
    """An endpoint of the queue: to look at unless it says otherwise."""
    changes = method != "GET"
    options: dict[str, Any] = {
        "role": Role.OPERATOR if changes else Role.READER,
        "group": GROUP,
        "problems": (400, 409) if changes else (400, 404),
        "entity": "QUEUE_JOB" if changes else "",
        **more,
    }
    return Endpoint(method=method, path=path, operation_id=operation, verb=verb, summary=summary, **options)


ENDPOINTS = (
    row(
        "GET",
        "/jobs",
        "listQueueJobs",
        list_jobs,
        "A page of jobs, with how many there are",
        answer=records.JobList,
        queries=(*FILTERS, "order", "limit", "after", "tenantId"),
    ),
    row(
        "POST",
        "/jobs",
        "enqueueJobs",
        enqueue_jobs,
        "Put plain jobs into a queue",
        body=requests.EnqueueJobs,
        answer=records.EnqueuedList,
        problems=(404, 409),
        load=Load.COMMAND,
        entity="JOB",
    ),
    row(
        "POST",
        "/jobs/bulk",
        "changeJobsInBulk",
        bulk_jobs,
        "Delete, requeue or change the next page of all jobs that fit",
        body=requests.BulkJobs,
        answer=records.BulkDone,
        problems=(404,),
    ),
    row("GET", "/jobs/{jobKey}", "getQueueJob", get_job, "One job in full", answer=records.JobDetails),
    row(
        "GET",
        "/jobs/{jobKey}/log",
        "getQueueJobLog",
        get_log,
        "The log of a job",
        answer=records.LogList,
        queries=("after", "limit"),
    ),
    row(
        "POST",
        "/jobs/{jobKey}/requeue",
        "requeueJob",
        requeue_job,
        "Let a failed job start over, or a scheduled one be due now",
        body=requests.RequeueJob,
        optional=True,
        status=204,
    ),
    row(
        "DELETE",
        "/jobs/{jobKey}",
        "deleteJob",
        delete_job,
        "Delete a job, cancel one that runs",
        answer=records.Removed,
        queries=("reason",),
    ),
    row(
        "PATCH",
        "/jobs/{jobKey}",
        "changeJob",
        change_job,
        "Change priority, attempts or time of a job that waits",
        body=requests.JobChanges,
        status=204,
    ),
    row(
        "POST",
        "/flows",
        "enqueueFlow",
        enqueue_flow,
        "Put jobs that come after each other into the queue",
        body=requests.EnqueueFlow,
        answer=records.EnqueuedFlow,
        problems=(404, 409),
        load=Load.COMMAND,
        entity="JOB",
    ),
    row(
        "GET",
        "/flows",
        "listFlows",
        list_flows,
        "A page of flows that have a title",
        answer=records.FlowList,
        queries=("limit", "after", "tenantId"),
    ),
    row(
        "GET",
        "/flows/{flowKey}",
        "getFlow",
        get_flow,
        "The jobs that are connected, by the key of any of them or of a flow",
        answer=records.FlowGraph,
    ),
    row(
        "GET",
        "/job-batches",
        "listJobBatches",
        list_batches,
        "A page of batches of jobs",
        answer=records.BatchList,
        queries=("limit", "after", "tenantId"),
    ),
    row(
        "POST",
        "/job-batches",
        "openJobBatch",
        open_batch,
        "Open a batch of jobs",
        body=requests.OpenBatch,
        optional=True,
        answer=records.BatchRecord,
        problems=(404, 409),
        entity="JOB_BATCH",
    ),
    row("GET", "/job-batches/{batchKey}", "getJobBatch", get_batch, "One batch of jobs", answer=records.BatchRecord),
    row(
        "POST",
        "/job-batches/{batchKey}/seal",
        "sealJobBatch",
        seal_batch,
        "Let no more members into a batch",
        answer=records.BatchRecord,
        entity="JOB_BATCH",
    ),
    row(
        "POST",
        "/job-batches/{batchKey}/cancellation",
        "cancelJobBatch",
        cancel_batch,
        "Seal a batch and delete its members that are not over",
        body=requests.Reason,
        optional=True,
        answer=records.BatchRecord,
        entity="JOB_BATCH",
    ),
)
