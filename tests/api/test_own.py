"""What we serve beyond Camunda 8: many ends of jobs in one request, plain jobs, why an instance waits."""

from __future__ import annotations

import asyncio

import pytest

from procession import Procession
from tests.api.conftest import Served


@pytest.mark.parametrize("url", ["memory", "sqlite", "postgresql"], indirect=True)
async def test_many_jobs_end_in_one_request_and_each_is_answered_for_itself(served: Served):
    await served.deploy()
    keys = [await served.start() for _ in range(5)]
    body = {
        "type": "charge-card",
        "timeout": 60_000,
        "maxJobsToActivate": 5,
        "requestTimeout": 5_000,
        "withLease": True,
    }
    jobs = []
    while len(jobs) < 5:
        jobs += (await served.post("/jobs/activation", body)).json()["jobs"]
    answer = await served.client.post(
        "/api/jobs/endings",
        json={
            "completions": [
                {"jobKey": jobs[0]["jobKey"], "variables": {"receipt": 1}},
                {"jobKey": jobs[1]["jobKey"], "jobLeaseToken": jobs[1]["jobLeaseToken"]},
                {"jobKey": jobs[2]["jobKey"], "jobLeaseToken": "77"},
                {"jobKey": "12345"},
                {"jobKey": "nonsense"},
            ],
            "failures": [{"jobKey": jobs[3]["jobKey"], "errorMessage": "no money"}],
            "errors": [{"jobKey": jobs[4]["jobKey"], "errorCode": "card-declined"}],
        },
    )
    assert [each["status"] for each in answer.json()["results"]] == [204, 204, 409, 404, 400, 204, 204]
    tasks = (await served.post("/user-tasks/search")).json()["items"]
    assert len(tasks) == 2
    (incident,) = (await served.post("/incidents/search")).json()["items"]
    assert incident["jobKey"] == jobs[3]["jobKey"]
    ended = {"filter": {"state": "COMPLETED"}}
    assert len((await served.post("/process-instances/search", ended)).json()["items"]) == 1
    assert len(keys) == 5


async def test_plain_jobs_are_enqueued_and_run(make_served, url):
    app = Procession(url)
    done = asyncio.Queue()

    @app.job("send-mail")
    async def send_mail(to: str) -> None:
        await done.put(to)

    served = await make_served(app)
    answer = await served.client.post("/api/jobs", json={"type": "send-mail", "args": [{"to": "a"}, {"to": "b"}]})
    assert [each["type"] for each in answer.json()["items"]] == ["send-mail"] * 2
    assert {await asyncio.wait_for(done.get(), 10) for _ in range(2)} == {"a", "b"}


async def test_an_instance_says_what_it_waits_for_and_what_happened(served):
    await served.deploy()
    key = await served.start(variables={"amount": 1})
    details = (await served.client.get(f"/api/process-instances/{key}")).json()
    assert details["instance"]["processInstanceKey"] == key
    (element,) = details["elements"]
    assert "worker" in element["waitsFor"]
    events = (await served.client.get(f"/api/process-instances/{key}/history")).json()["items"]
    assert events[0]["event"] == "started"
    counts = (await served.client.get("/api/counts")).json()
    assert (counts["instances"], counts["isMore"]) == ({"ACTIVE": 1}, False)
    assert (await served.client.get("/api/workers")).json()["remoteWaiting"] == 0


async def test_an_ended_instance_is_started_anew(served):
    await served.deploy()
    key = await served.start(variables={"amount": 1})
    await served.post(f"/process-instances/{key}/cancellation")
    again = await served.client.post(f"/api/process-instances/{key}/restart", json={"before": ["approve"]})
    assert again.status_code == 200, again.text
    assert len((await served.post("/user-tasks/search")).json()["items"]) == 1


async def test_batch_operations_are_found_by_what_they_do(served: Served):
    await served.deploy()
    await served.start()
    await served.app.batch("cancel", which={"process_id": "payment"})
    for kind, count in (("CANCEL_PROCESS_INSTANCE", 1), ("MIGRATE_PROCESS_INSTANCE", 0)):
        answer = await served.post("/batch-operations/search", {"filter": {"operationType": kind}})
        assert answer.status_code == 200, answer.text
        assert [row["batchOperationType"] for row in answer.json()["items"]] == [kind] * count


async def test_a_search_counts_no_further_than_its_page_says(served: Served) -> None:
    await served.deploy()
    keys = [await served.start() for _ in range(5)]
    whole = (await served.post("/process-instances/search", {"page": {"limit": 2}})).json()
    assert (whole["page"]["totalItems"], whole["page"]["hasMoreTotalItems"]) == (5, False)
    part = (await served.post("/process-instances/search", {"page": {"limit": 2, "count": 3}})).json()
    assert (part["page"]["totalItems"], part["page"]["hasMoreTotalItems"], part["items"]) == (3, True, whole["items"])
    cursor = part["page"]["endCursor"]
    rest = (await served.post("/process-instances/search", {"page": {"after": cursor, "count": 0}})).json()
    assert [each["processInstanceKey"] for each in rest["items"]] == keys[2::-1]
    order = [{"field": "processInstanceKey", "order": "ASC"}]
    sorted_ = (await served.post("/process-instances/search", {"sort": order, "page": {"count": 1}})).json()
    assert [each["processInstanceKey"] for each in sorted_["items"]] == keys
