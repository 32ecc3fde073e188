"""What the page of one instance asks: all that is open of it, and a migration tried out before it is carried out."""

from __future__ import annotations

from procession.testing.bpmn import process


def waiting(task: str) -> bytes:
    built = process("payment", name="Payment").start("begin").receive(task, message="paid", key="=order")
    return built.end("done").boundary("late", on=task, timer="PT1H", interrupting=False).end("reminded").xml()


async def test_what_is_open_of_an_instance_is_answered_at_once(make_served):
    served = await make_served()
    await served.deploy("payment.bpmn", waiting("wait"))
    key = await served.start(variables={"order": "A-17"})
    found = (await served.client.get(f"/api/process-instances/{key}/open")).json()
    assert [(job["kind"], job["elementId"]) for job in found["jobs"]] == [("TIMER", "late")]
    assert found["jobs"][0]["runAt"]
    assert [(each["name"], each["correlationKey"]) for each in found["subscriptions"]] == [("paid", "A-17")]
    assert found["isWhole"] is True
    assert found["children"] == found["userTasks"] == []


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


async def test_what_is_open_of_an_instance_that_is_not_there_is_a_problem_with_its_key(make_served):
    served = await make_served()
    missing = await served.client.get("/api/process-instances/7/open")
    assert missing.status_code == 404
    assert missing.json()["detail"] == "Expected a process instance with key 7, found none"
