"""Job statistics and usage metrics: asked by Camunda's own client, unmodified."""

from __future__ import annotations

from datetime import timedelta

import pytest
from camunda_orchestration_sdk import models

from procession import Procession
from procession.jobs.schedule import to_datetime
from procession.testing.bpmn import process
from tests.api.camunda import client_of
from tests.api.conftest import Served
from tests.api.gateway.test_pyzeebe import RATE
from tests.api.test_identity import bearer

OTHER = process("other").start().service("mail").user("look", assignee="ada").end().xml()
RULED = process("ruled").start().rule("rate", decision="rate", result="rate").user("look").end().xml()
BOTH = pytest.mark.parametrize("url", ["memory", "sqlite", "postgresql"], indirect=True)


@pytest.fixture
async def client(served: Served):
    await served.deploy()
    async with client_of(served) as client:
        yield client


async def counted(served: Served) -> None:
    """Everything that was committed is counted."""
    assert await served.server.web.stations.desk.watch.tally.catch_up()


def span(served: Served) -> dict:
    at = to_datetime(served.app.now)
    return {"from_": at - timedelta(hours=1), "to": at + timedelta(minutes=1)}


async def worked(served: Served) -> None:
    """Two jobs done by one worker, one failed by another, one waits."""
    for _ in range(4):
        await served.start()
    for worker in ("one", "one"):
        job = await served.take(worker=worker)
        await served.post(f"/jobs/{job['jobKey']}/completion")
    job = await served.take(worker="two")
    await served.post(f"/jobs/{job['jobKey']}/failure", {"retries": 2, "errorMessage": "no money"})
    job = await served.take(worker="two")
    await served.post(f"/jobs/{job['jobKey']}/error", {"errorCode": "card-declined", "errorMessage": "stolen"})


@BOTH
async def test_jobs_are_counted_by_type_worker_time_and_error(served: Served, client):
    await worked(served)
    await counted(served)
    when = span(served)
    whole = await client.get_global_job_statistics(**when)
    assert (whole.created.count, whole.completed.count, whole.failed.count) == (4, 2, 2)
    assert whole.created.last_updated_at is not None
    assert (await client.get_global_job_statistics(**when, job_type="nothing")).created.count == 0
    by_type = models.JobTypeStatisticsQuery(filter_=models.JobTypeStatisticsFilter(**when))
    (found,) = (await client.get_job_type_statistics(data=by_type)).items
    assert (found.job_type, found.created.count, found.completed.count, found.workers) == ("charge-card", 4, 2, 2)
    by_worker = models.JobWorkerStatisticsQuery(
        filter_=models.JobWorkerStatisticsFilter(**when, job_type="charge-card")
    )
    workers = (await client.get_job_worker_statistics(data=by_worker)).items
    counts = [(each.worker, each.created.count, each.completed.count, each.failed.count) for each in workers]
    assert counts == [("one", 2, 2, 0), ("two", 2, 0, 2)]
    by_time = models.JobTimeSeriesStatisticsQuery(
        filter_=models.JobTimeSeriesStatisticsFilter(**when, job_type="charge-card", resolution="PT1H")
    )
    assert sum(each.completed.count for each in (await client.get_job_time_series_statistics(data=by_time)).items) == 2
    by_error = models.JobErrorStatisticsQuery(filter_=models.JobErrorStatisticsFilter(**when, job_type="charge-card"))
    errors = (await client.get_job_error_statistics(data=by_error)).items
    assert [(each.error_code, each.error_message, each.workers) for each in errors] == [
        ("", "no money", 1),
        ("card-declined", "stolen", 1),
    ]


async def test_what_handlers_do_is_counted_as_one_worker_and_pages_follow_their_cursor(make_served):
    app = Procession("memory://", history="full")

    @app.job("mail")
    async def mail() -> None:
        return None

    served = await make_served(app)
    await served.deploy()
    await served.deploy("other.bpmn", OTHER)
    await served.start("other")
    await served.start()
    await app.run_until_idle()
    await counted(served)
    when = {"from": "2000-01-01T00:00:00Z", "to": "2100-01-01T00:00:00Z"}
    path = "/jobs/statistics/by-workers"
    (only,) = (await served.post(path, {"filter": {**when, "jobType": "mail"}})).json()["items"]
    assert (only["worker"], only["completed"]["count"]) == ("procession", 1)
    first = (await served.post("/jobs/statistics/by-types", {"page": {"limit": 1}})).json()
    after = {"page": {"limit": 1, "after": first["page"]["endCursor"]}}
    second = (await served.post("/jobs/statistics/by-types", after)).json()
    assert [page["items"][0]["jobType"] for page in (first, second)] == ["charge-card", "mail"]
    assert first["page"]["totalItems"] == 2
    for bad in ({"page": {"after": "x"}}, {"filter": {"from": "now", "to": "then"}}):
        assert (await served.post("/jobs/statistics/by-types", bad)).status_code == 400
    turned = {"from": when["to"], "to": when["from"], "jobType": "mail"}
    assert (await served.post(path, {"filter": turned})).status_code == 400
    for wrong in ("PT1S", "P1Y", "x"):
        body = {"filter": {**when, "jobType": "mail", "resolution": wrong}}
        assert (await served.post("/jobs/statistics/time-series", body)).status_code == 400, wrong
    assert (await served.get("/jobs/statistics/global?from=x&to=y")).status_code == 400


@BOTH
async def test_usage_is_counted_by_tenant(served: Served, client):
    await served.deploy("other.bpmn", OTHER)
    await served.deploy("rate.dmn", RATE)
    await served.deploy("ruled.bpmn", RULED)
    await served.start("ruled", variables={"member": True})
    await served.start("other")
    job = await served.take("mail")
    await served.post(f"/jobs/{job['jobKey']}/completion")
    acme = served.app.for_tenant("acme")
    await acme.deploy(("other.bpmn", OTHER))
    await acme.start("other")
    await counted(served)
    when = span(served)
    ends = {"start_time": when["from_"], "end_time": when["to"]}
    found = await client.get_usage_metrics(**ends, with_tenants=True)
    assert (found.process_instances, found.decision_instances, found.assignees, found.active_tenants) == (3, 1, 1, 2)
    assert found.tenants.additional_properties["acme"].process_instances == 1
    only = await client.get_usage_metrics(**ends, tenant_id="acme")
    assert (only.process_instances, only.assignees, only.tenants.additional_properties) == (1, 0, {})


async def test_who_is_bound_to_a_tenant_hears_of_its_usage_only(make_served):
    served = await make_served(identity=True)
    await served.app.for_tenant("acme").deploy(("other.bpmn", OTHER))
    await served.app.for_tenant("acme").start("other")
    await counted(served)
    theirs = await bearer(served, "reader", tenants=["beta"])
    query = "startTime=2000-01-01T00:00:00Z&endTime=2100-01-01T00:00:00Z&withTenants=true"
    answer = await served.get(f"/system/usage-metrics?{query}", headers=theirs)
    assert answer.json() == {
        "processInstances": 0,
        "decisionInstances": 0,
        "assignees": 0,
        "activeTenants": 0,
        "tenants": {},
    }
