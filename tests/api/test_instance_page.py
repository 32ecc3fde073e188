"""What the page of one instance asks: all that is open of it, and a migration tried out before it is carried out."""

from __future__ import annotations

from procession.testing.bpmn import process


def waiting(task: str) -> bytes:
    built = process("payment", name="Payment").start("begin").receive(task, message="paid", key="=order")
    return built.end("done").boundary("late", on=task, timer="PT1H", interrupting=False).end("reminded").xml()


async def test_a_migration_is_tried_out_and_changes_nothing_until_it_is_meant(make_served):
    served = await make_served()
    await served.deploy("payment.bpmn", waiting("wait"))
    key = await served.start(variables={"order": "A-17"})
    newer = (await served.deploy("payment.bpmn", waiting("wait-for-money"))).json()
    target = newer["deployments"][0]["processDefinition"]["processDefinitionKey"]
    path, body = f"/api/process-instances/{key}/migration", {"targetProcessDefinitionKey": target}
    prevents = (await served.client.post(path, json=body)).json()["items"]
    assert "wait" in {each["elementId"] for each in prevents if each["severity"] == "error"}
    body["mapping"] = {"wait": "wait-for-money"}
    tried = (await served.client.post(path, json=body)).json()["items"]
    assert "error" not in {each["severity"] for each in tried}
    before = (await served.get(f"/process-instances/{key}")).json()
    await served.client.post(path, json={**body, "dryRun": False})
    after = (await served.get(f"/process-instances/{key}")).json()
    assert (before["processDefinitionVersion"], after["processDefinitionVersion"]) == (1, 2)


async def test_an_operator_gives_a_failed_job_new_attempts_and_resolves_its_incident_at_once(make_served):
    served = await make_served()
    await served.deploy()
    key = await served.start()
    job = await served.take()
    await served.post(f"/jobs/{job['jobKey']}/failure", {"retries": 0, "errorMessage": "the bank is away"})
    (incident,) = await served.until("/incidents/search", {"filter": {"processInstanceKey": key}})
    answer = await served.client.post(f"/api/incidents/{incident['incidentKey']}/resolution", json={"retries": 2})
    assert answer.status_code == 204
    assert (await served.take())["retries"] == 2
    await served.until("/incidents/search", {}, 0)


async def test_all_incidents_of_an_instance_are_tried_again(make_served):
    served = await make_served()
    await served.deploy()
    key = await served.start()
    job = await served.take()
    await served.post(f"/jobs/{job['jobKey']}/failure", {"retries": 0})
    await served.until("/incidents/search", {"filter": {"processInstanceKey": key}})
    answer = await served.client.post(f"/api/process-instances/{key}/incident-resolution")
    assert answer.status_code == 204
    assert (await served.take())["processInstanceKey"] == key


async def test_the_attempts_of_a_job_that_waits_are_changed(make_served):
    served = await make_served()
    await served.deploy()
    await served.start()
    (job,) = await served.until("/jobs/search", {})
    assert (await served.client.post(f"/api/jobs/{job['jobKey']}/retries", json={"retries": 7})).status_code == 204
    (changed,) = await served.until("/jobs/search", {})
    assert changed["retries"] == 7


async def test_an_incident_that_is_not_there_is_a_problem_with_its_key(make_served):
    served = await make_served()
    missing = await served.client.post("/api/incidents/7/resolution")
    assert missing.status_code == 404
    assert "7" in missing.json()["detail"]
