"""Queues, limits, recurring jobs, series and workers over HTTP.

Queues, limits and what happened in them belong to nobody in particular: whoever is bound to tenants does not see them.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

from procession.api import queue_records as records
from procession.api import queue_requests as requests
from procession.api.endpoints import Call
from procession.api.problems import Problem
from procession.api.verbs.queue_jobs import app_for, row
from procession.app.queue_watch import SERIES_MINUTES_MAX
from procession.app.recurring import Recurring, RecurringJobInfo
from procession.limits import PAGE_MAX, RUNS_AHEAD_MAX


def _expect_all(call: Call) -> None:
    """Whoever asks sees all tenants. Raises Problem."""
    if call.who.tenants is not None:
        raise Problem(403, f"'{call.who.name}' is bound to tenants: queues and limits are shared by all of them")


# -- queues -----------------------------------------------------------------------------------------------------------
async def list_queues(call: Call) -> records.QueueList:
    """A page of queues by name."""
    _expect_all(call)
    after, limit = records.place_of(call.query.get("after")), records.limit_of(call, PAGE_MAX)
    standings = await call.desk.app.queue_standings()
    beyond = [each for each in standings if each.queue.encode() > after.encode()]
    return records.QueueList(
        items=[records.record_of(each, records.QueueRecord) for each in beyond[:limit]],
        paused_types=[records.record_of(each, records.PausedType) for each in await call.desk.app.paused_types()],
        page=records.ListInfo(
            total_items=len(standings),
            has_more_total_items=False,
            end_cursor=records.cursor_of(beyond[limit - 1].queue) if len(beyond) > limit else None,
        ),
    )


async def pause_queue(call: Call) -> records.Changed:
    """Let nobody claim from a queue."""
    _expect_all(call)
    body: requests.Reason = call.body
    return records.Changed(changed=await call.desk.app.pause_queue(call.path["queue"], reason=body.reason))


async def resume_queue(call: Call) -> records.Changed:
    """Take the pause back."""
    _expect_all(call)
    return records.Changed(changed=await call.desk.app.resume_queue(call.path["queue"]))


async def keep_finished(call: Call) -> None:
    """Keep what succeeds in a queue."""
    _expect_all(call)
    body: requests.QueueRetention = call.body
    keep = None if not body.keep else timedelta(milliseconds=body.keep)
    await call.desk.app.keep_finished(call.path["queue"], keep)


async def pause_type(call: Call) -> records.Changed:
    """Let nobody claim jobs of a type."""
    _expect_all(call)
    body: requests.PauseType = call.body
    return records.Changed(changed=await call.desk.app.pause_type(body.type, reason=body.reason))


async def resume_type(call: Call) -> records.Changed:
    """Take the pause back."""
    _expect_all(call)
    body: requests.PauseType = call.body
    return records.Changed(changed=await call.desk.app.resume_type(body.type))


async def job_series(call: Call) -> records.SeriesList:
    """What happened per minute."""
    _expect_all(call)
    minutes = records.number_of(call, "minutes", 60, 1, SERIES_MINUTES_MAX)
    return records.record_of(
        await call.desk.app.job_series(call.query.get("queue", ""), minutes=minutes), records.SeriesList
    )


# -- limits -----------------------------------------------------------------------------------------------------------
async def list_limits(call: Call) -> records.LimitList:
    """A page of limits by key."""
    _expect_all(call)
    limit = records.limit_of(call)
    found = await call.desk.app.limits(after=records.place_of(call.query.get("after")), limit=limit)
    total, is_more = await call.desk.app.count_limits()
    return records.LimitList(
        items=[records.record_of(each, records.LimitRecord) for each in found],
        page=records.ListInfo(
            total_items=total,
            has_more_total_items=is_more,
            end_cursor=records.cursor_of(found[-1].key) if len(found) == limit else None,
        ),
    )


async def set_limit(call: Call) -> records.Changed:
    """Change the rule of a limit."""
    _expect_all(call)
    body: requests.SetLimit = call.body
    per = timedelta(milliseconds=body.per)
    changed = await call.desk.app.set_limit(
        call.path["limit"], most=body.most, rate=body.rate, per=per, burst=body.burst
    )
    return records.Changed(changed=changed)


async def delete_limit(call: Call) -> None:
    """Delete a limit that holds nobody."""
    _expect_all(call)
    await call.desk.app.delete_limit(call.path["limit"])


# -- recurring jobs ---------------------------------------------------------------------------------------------------
async def list_recurring(call: Call) -> records.RecurringList:
    """A page of recurring jobs by name."""
    app, limit = app_for(call), records.limit_of(call)
    group = call.query.get("group")
    found = await app.recurring_jobs(group=group, after=records.place_of(call.query.get("after")), limit=limit)
    counted = await app.recurring_jobs(group=group, limit=PAGE_MAX)
    return records.RecurringList(
        items=[_recurring_record(each) for each in found if call.who.sees(each.tenant_id)],
        page=records.ListInfo(
            total_items=sum(call.who.sees(each.tenant_id) for each in counted),
            has_more_total_items=len(counted) == PAGE_MAX,
            end_cursor=records.cursor_of(found[-1].name) if len(found) == limit else None,
        ),
    )


def _recurring_record(each: RecurringJobInfo) -> records.RecurringRecord:
    return records.record_of(each, records.RecurringRecord)


async def get_recurring(call: Call) -> records.RecurringDetails:
    """One recurring job, with its next runs and its last ones."""
    app, name = app_for(call), call.path["name"]
    count = records.number_of(call, "runs", 5, 1, RUNS_AHEAD_MAX)
    found = await app.recurring_job(name)
    history = await app.recurring_history(name)
    return records.RecurringDetails(
        recurring=_recurring_record(found),
        next_runs=await app.next_runs(name, count=count),
        history=[records.record_of(each, records.PastRun) for each in history],
    )


async def put_recurring(call: Call) -> records.Changed:
    """Declare a recurring job."""
    body: requests.PutRecurring = call.body
    app = call.desk.app_of(call.desk.tenant(call.who, body.tenant_id))
    recurring = Recurring(
        name=call.path["name"],
        cycle=body.cycle,
        type=body.type,
        args=body.args,
        missed=body.missed,
        overlap=body.overlap,
        options=cast("Any", requests.words_of(body)),
    )
    return records.Changed(changed=bool(await app.put_recurring(recurring)))


async def pause_recurring(call: Call) -> None:
    """Fire it no more."""
    await app_for(call).pause_recurring(call.path["name"])


async def resume_recurring(call: Call) -> None:
    """Fire it again."""
    await app_for(call).resume_recurring(call.path["name"])


async def trigger_recurring(call: Call) -> records.FiredJob:
    """Run it now."""
    app = app_for(call)
    key = await app.trigger_recurring(call.path["name"])
    found = await app.rows.jobs_of([key])
    state = (await app.job_record(key)).state if found else "GONE"
    return records.FiredJob(job_key=str(key), state=state)


async def remove_recurring(call: Call) -> None:
    """Remove it."""
    await app_for(call).remove_recurring(call.path["name"])


# -- workers ----------------------------------------------------------------------------------------------------------
async def list_workers(call: Call) -> records.WorkerList:
    """The processes that work on the database."""
    app = call.desk.app
    items: list[records.WorkerRecord] = []
    for each in await app.workers():
        jobs = [job for job in each.jobs if call.who.sees(job.tenant_id)]
        items.append(
            records.record_of(
                each, records.WorkerRecord, jobs=[records.record_of(job, records.RunningJob) for job in jobs]
            )
        )
        if call.who.tenants is not None:
            items[-1].stuck = []  # whose they are is not known
    return records.WorkerList(items=items, remote_waiting=app.remote.waiting)


RECURRING = "RECURRING_JOB"

ENDPOINTS = (
    row(
        "GET",
        "/queues",
        "listQueues",
        list_queues,
        "How the queues stand",
        answer=records.QueueList,
        queries=("limit", "after"),
    ),
    row(
        "GET",
        "/queues/series",
        "getJobSeries",
        job_series,
        "What happened per minute",
        answer=records.SeriesList,
        queries=("queue", "minutes"),
    ),
    row(
        "POST",
        "/queues/{queue}/pause",
        "pauseQueue",
        pause_queue,
        "Let nobody claim from a queue",
        body=requests.Reason,
        optional=True,
        answer=records.Changed,
        entity="QUEUE",
    ),
    row(
        "POST",
        "/queues/{queue}/resume",
        "resumeQueue",
        resume_queue,
        "Let a queue be claimed from again",
        answer=records.Changed,
        entity="QUEUE",
    ),
    row(
        "PUT",
        "/queues/{queue}/retention",
        "setQueueRetention",
        keep_finished,
        "Keep what succeeds in a queue for a time",
        body=requests.QueueRetention,
        status=204,
        entity="QUEUE",
    ),
    row(
        "POST",
        "/job-types/pause",
        "pauseJobType",
        pause_type,
        "Let nobody claim jobs of a type",
        body=requests.PauseType,
        answer=records.Changed,
        entity="QUEUE",
    ),
    row(
        "POST",
        "/job-types/resume",
        "resumeJobType",
        resume_type,
        "Let jobs of a type be claimed again",
        body=requests.PauseType,
        answer=records.Changed,
        entity="QUEUE",
    ),
    row(
        "GET",
        "/limits",
        "listLimits",
        list_limits,
        "Limits with what is taken of them",
        answer=records.LimitList,
        queries=("limit", "after"),
    ),
    row(
        "PUT",
        "/limits/{limit}",
        "setLimit",
        set_limit,
        "Change the rule of a limit",
        body=requests.SetLimit,
        answer=records.Changed,
        entity="LIMIT",
    ),
    row(
        "DELETE",
        "/limits/{limit}",
        "deleteLimit",
        delete_limit,
        "Delete a limit that holds nobody",
        status=204,
        entity="LIMIT",
    ),
    row(
        "GET",
        "/recurring",
        "listRecurringJobs",
        list_recurring,
        "Recurring jobs",
        answer=records.RecurringList,
        queries=("group", "limit", "after", "tenantId"),
    ),
    row(
        "GET",
        "/recurring/{name}",
        "getRecurringJob",
        get_recurring,
        "A recurring job with its next runs and its last ones",
        answer=records.RecurringDetails,
        queries=("runs", "tenantId"),
    ),
    row(
        "PUT",
        "/recurring/{name}",
        "putRecurringJob",
        put_recurring,
        "Declare a recurring job",
        body=requests.PutRecurring,
        answer=records.Changed,
        entity=RECURRING,
    ),
    row(
        "POST",
        "/recurring/{name}/pause",
        "pauseRecurringJob",
        pause_recurring,
        "Fire a recurring job no more",
        queries=("tenantId",),
        status=204,
        entity=RECURRING,
    ),
    row(
        "POST",
        "/recurring/{name}/resume",
        "resumeRecurringJob",
        resume_recurring,
        "Fire a recurring job again",
        queries=("tenantId",),
        status=204,
        entity=RECURRING,
    ),
    row(
        "POST",
        "/recurring/{name}/trigger",
        "triggerRecurringJob",
        trigger_recurring,
        "Run a recurring job now",
        queries=("tenantId",),
        answer=records.FiredJob,
        entity=RECURRING,
    ),
    row(
        "DELETE",
        "/recurring/{name}",
        "removeRecurringJob",
        remove_recurring,
        "Remove a recurring job",
        queries=("tenantId",),
        status=204,
        entity=RECURRING,
    ),
    row("GET", "/workers", "getWorkers", list_workers, "Who works on the database", answer=records.WorkerList),
)
