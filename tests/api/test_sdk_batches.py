"""Batch operations that rest and go on, and many jobs changed at once: asked by Camunda's own client, unmodified."""

from __future__ import annotations

import camunda_orchestration_sdk as sdk
import pytest
from camunda_orchestration_sdk import models

from tests.api.camunda import client_of
from tests.api.conftest import Served

BOTH = pytest.mark.parametrize("url", ["memory", "sqlite", "postgresql"], indirect=True)


@pytest.fixture
async def client(served: Served):
    await served.deploy()
    async with client_of(served) as client:
        yield client


@BOTH
async def test_a_batch_operation_rests_until_it_is_resumed(served: Served, client):
    for _ in range(3):
        await served.start()
    key = await served.app.batch("cancel", per_second=0.001)  # the first turn takes one, the next is far away
    name = sdk.BatchOperationKey(str(key))
    await client.suspend_batch_operation(name)
    found = await client.get_batch_operation(name)
    assert (str(found.state), found.batch_operation_type) == ("SUSPENDED", "CANCEL_PROCESS_INSTANCE")
    query = models.BatchOperationSearchQuery(
        filter_=models.BatchOperationSearchQueryFilter(state=models.BatchOperationStateExactMatch.SUSPENDED)
    )
    assert [each.batch_operation_key for each in (await client.search_batch_operations(data=query)).items] == [name]
    answer = await served.post(f"/batch-operations/{key}/suspension")
    assert (answer.status_code, answer.json()["title"]) == (409, "INVALID_STATE")
    await client.resume_batch_operation(name)
    assert str((await client.get_batch_operation(name)).state) in {"ACTIVE", "COMPLETED"}
    await client.suspend_batch_operation(name)
    await client.cancel_batch_operation(name)
    assert str((await client.get_batch_operation(name)).state) == "CANCELED"
    with pytest.raises(sdk.errors.NotFoundError):
        await client.suspend_batch_operation(sdk.BatchOperationKey("7"))


@BOTH
async def test_many_jobs_are_changed_by_a_filter(served: Served, client):
    keys = [await served.start() for _ in range(3)]
    jobs = await served.until("/jobs/search", {"filter": {"processInstanceKey": {"$in": keys[:2]}}}, 2)
    request = models.JobBatchUpdateRequest(
        filter_=models.JobBatchUpdateRequestFilter(
            type_="charge-card", process_instance_key=models.AdvancedProcessInstanceKeyFilter(in_=keys[:2])
        ),
        changeset=models.JobBatchUpdateRequestChangeset(priority=9),
    )
    made = await client.update_jobs_batch_operation(data=request)
    assert str(made.batch_operation_type) == "UPDATE_JOB"
    changed = await served.until("/jobs/search", {"filter": {"priority": 9}}, 2)
    assert [row["jobKey"] for row in changed] == [row["jobKey"] for row in jobs]
    for body in (
        {"filter": {}, "changeset": {"priority": 1}},
        {"filter": {"type": "charge-card"}, "changeset": {}},
        {"filter": {"type": "nothing-of-this-name"}, "changeset": {"priority": 1}},
    ):
        assert (await served.post("/jobs/batch-update", body)).status_code == 400, body
