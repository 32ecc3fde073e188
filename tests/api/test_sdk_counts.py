"""Counts, conditional starts, several documents at once: asked by Camunda's own client, unmodified."""

from __future__ import annotations

from io import BytesIO

import camunda_orchestration_sdk as sdk
import pytest
from camunda_orchestration_sdk import models
from camunda_orchestration_sdk.types import File

from procession import Procession
from procession.limits import DOCUMENT_BYTES_MAX
from procession.testing.bpmn import process
from tests.api.camunda import client_of
from tests.api.conftest import PAYMENT, Served
from tests.api.gateway.test_pyzeebe import RATE
from tests.api.test_identity import bearer

BOTH = pytest.mark.parametrize("url", ["memory", "sqlite", "postgresql"], indirect=True)
WAITING = process("waiting").start().catch("paid", message="payment-received", key="=orderId").end("done").xml()
CHEAP = process("cheap").start("low", condition="=price < 10").user("look").end().xml()


@pytest.fixture
async def client(served: Served):
    for name, content in (("payment.bpmn", PAYMENT), ("waiting.bpmn", WAITING), ("cheap.bpmn", CHEAP)):
        assert (await served.deploy(name, content)).status_code == 200
    async with client_of(served) as client:
        yield client


async def fail(served: Served, message: str) -> None:
    job = await served.take()
    await served.post(f"/jobs/{job['jobKey']}/failure", {"retries": 0, "errorMessage": message})


async def test_open_incidents_by_error_and_by_definition(served, client):
    for message in ("no money", "no money", "no card"):
        await served.start()
        await fail(served, message)
    by_error = await client.get_process_instance_statistics_by_error()
    counts = [(each.error_message, each.active_instances_with_error_count) for each in by_error.items]
    assert [(("no money" in message), count) for message, count in counts] == [(True, 2), (False, 1)]
    query = models.IncidentProcessInstanceStatisticsByDefinitionQuery(
        filter_=models.IncidentProcessInstanceStatisticsByDefinitionQueryFilter(
            error_hash_code=by_error.items[0].error_hash_code
        )
    )
    (found,) = (await client.get_process_instance_statistics_by_definition(data=query)).items
    assert (found.process_definition_id, found.process_definition_version) == ("payment", 1)
    assert (found.process_definition_name, found.active_instances_with_error_count) == ("Payment", 2)


async def test_active_instances_by_process_and_by_version(served, client):
    await served.start()
    await fail(served, "no money")
    await served.deploy("payment.bpmn", PAYMENT.replace(b"Approve", b"Confirm"))
    for _ in range(2):
        await served.start()
    found = {
        each.process_definition_id: each for each in (await client.get_process_definition_instance_statistics()).items
    }
    assert set(found) == {"payment", "waiting", "cheap"}
    payment = found["payment"]
    assert (payment.has_multiple_versions, payment.latest_process_definition_name) == (True, "Payment")
    assert payment.active_instances_with_incident_count == 1
    assert payment.active_instances_without_incident_count == 2
    query = models.ProcessDefinitionInstanceVersionStatisticsQuery(
        filter_=models.ProcessDefinitionInstanceVersionStatisticsQueryFilter(process_definition_id="payment")
    )
    versions = (await client.get_process_definition_instance_version_statistics(data=query)).items
    counts = [(each.process_definition_version, each.active_instances_without_incident_count) for each in versions]
    assert counts == [(2, 2), (1, 0)]
    assert (await served.post("/process-definitions/statistics/process-instances-by-version")).status_code == 400
    body = {"page": {"after": "x"}}
    assert (await served.post("/process-definitions/statistics/process-instances", body)).status_code == 400


async def test_instances_that_wait_for_messages_and_names_of_variables(served, client):
    for order in ("A", "B"):
        await served.start("waiting", variables={"orderId": order, f"only{order}": 1})
    (found,) = (await client.get_process_definition_message_subscription_statistics()).items
    assert (found.process_definition_id, found.active_subscriptions) == ("waiting", 2)
    assert found.process_instances_with_active_subscriptions == 2
    names = await client.search_process_definition_variable_names(found.process_definition_key)
    assert [each.name for each in names.items] == ["onlyA", "onlyB", "orderId"]
    body = {"filter": {"name": {"$like": "only*"}}, "page": {"limit": 1}}
    path = f"/process-definitions/{found.process_definition_key}/variable-names/search"
    page = (await served.post(path, body)).json()
    assert ([each["name"] for each in page["items"]], page["page"]["totalItems"]) == (["onlyA"], 2)


async def test_a_condition_starts_what_it_fulfils(served, client):
    def evaluation(price: int, **more) -> models.ConditionalEvaluationInstruction:
        variables = models.ConditionalEvaluationInstructionVariables.from_dict({"price": price})
        return models.ConditionalEvaluationInstruction(variables=variables, **more)

    assert (await client.evaluate_conditionals(data=evaluation(12))).process_instances == []
    (started,) = (await client.evaluate_conditionals(data=evaluation(7))).process_instances
    found = await client.get_process_instance(started.process_instance_key)
    assert (found.process_definition_id, str(found.state)) == ("cheap", "ACTIVE")
    only = evaluation(7, process_definition_key=started.process_definition_key)
    assert len((await client.evaluate_conditionals(data=only)).process_instances) == 1
    await served.deploy("cheap.bpmn", CHEAP.replace(b"price &lt; 10", b"price &lt; 20"))
    with pytest.raises(sdk.errors.NotFoundError):  # only the latest version is started by conditions
        await client.evaluate_conditionals(data=only)


async def test_several_documents_at_once(served, client):
    files = [
        File(payload=BytesIO(text), file_name=name, mime_type="text/plain") for name, text in (("a", b"1"), ("b", b"2"))
    ]
    made = await client.create_documents(data=models.CreateDocumentsData(files=files))
    assert [each.metadata.file_name for each in made.created_documents] == ["a", "b"]
    assert made.failed_documents == []
    large = [("files", ("a.txt", b"1")), ("files", ("b.bin", b"x" * (DOCUMENT_BYTES_MAX + 1)))]
    answer = (await served.client.post("/v2/documents/batch", files=large)).json()
    assert [each["metadata"]["fileName"] for each in answer["createdDocuments"]] == ["a.txt"]
    assert [(each["fileName"], each["status"]) for each in answer["failedDocuments"]] == [("b.bin", 413)]
    uneven = [*large[:1], ("metadataList", ("", b"{}")), ("metadataList", ("", b"{}"))]
    assert (await served.client.post("/v2/documents/batch", files=uneven)).status_code == 400


@BOTH
async def test_a_link_leads_to_a_document_without_a_name_for_a_while(make_served, url):
    now = [1_767_225_600_000]
    served = await make_served(Procession(url, clock=lambda: now[0]), identity=True)
    reader, operator = await bearer(served, "reader"), await bearer(served, "operator")
    assert (await served.post("/documents/none/links", headers=reader)).status_code == 403
    made = await served.client.post("/v2/documents", files={"file": ("a.txt", b"hello")}, headers=operator)
    path = f"/documents/{made.json()['documentId']}/links"
    link = (await served.post(path, {"timeToLive": 60_000}, headers=operator)).json()
    assert (link["url"].startswith(f"{served.url}/api/"), link["expiresAt"]) == (True, "2026-01-01T00:01:00Z")
    found = await served.client.get(link["url"])
    assert (found.content, found.headers["content-disposition"]) == (b"hello", "attachment")
    assert (await served.get(f"/documents/{made.json()['documentId']}")).status_code == 401
    for wrong in ("0" * 64, "", "é", "'; drop table x; --"):
        strange = link["url"].split("&signature=")[0] + f"&signature={wrong}"
        assert (await served.client.get(strange)).status_code == 404, wrong
    longer = link["url"].replace("expires=", "expires=9")
    assert (await served.client.get(longer)).status_code == 404
    for body in ({"timeToLive": 0}, {"timeToLive": 10**12}):
        assert (await served.post(path, body, headers=operator)).status_code == 400
    assert (await served.post("/documents/none/links", headers=operator)).status_code == 404
    now[0] += 61_000
    assert (await served.client.get(link["url"])).status_code == 404


async def test_a_link_begins_as_others_reach_the_server(make_served):
    served = await make_served(public_url="https://example.org/flow/")
    async with client_of(served) as client:
        file = File(payload=BytesIO(b"x"), file_name="x.txt", mime_type="text/plain")
        made = await client.create_document(data=models.CreateDocumentData(file=file))
        link = await client.create_document_link(made.document_id, data=models.DocumentLinkRequest(time_to_live=5_000))
    assert link.url.startswith(f"https://example.org/flow/api/document-links/{made.document_id}?expires=")


async def test_what_is_for_whole_clusters_is_not_served_by_name(served):
    for path in ("/cluster/v2/status", "/cluster/v2/backups/runtime/7", "/v2/decision-instances/deletion"):
        answer = await (served.client.post if "deletion" in path else served.client.get)(path)
        assert (answer.status_code, "not served" in answer.json()["detail"]) == (501, True)


RULED = process("ruled").start().rule("rate", decision="rate", result="rate").user("look").end().xml()


async def test_decisions_that_instances_have_evaluated(served, client):
    await served.deploy("rate.dmn", RATE)
    await served.deploy("ruled.bpmn", RULED)
    keys = [await served.start("ruled", variables={"member": member}) for member in (True, False)]
    found = (await client.search_decision_instances(data=models.DecisionInstanceSearchQuery())).items
    assert [each.process_instance_key for each in found] == keys[::-1]
    assert [(each.decision_definition_id, each.result, str(each.state)) for each in found] == [
        ("rate", "9", "EVALUATED"),
        ("rate", "5", "EVALUATED"),
    ]
    query = models.DecisionInstanceSearchQuery(
        filter_=models.DecisionInstanceSearchQueryFilter(process_instance_key=sdk.ProcessInstanceKey(keys[0]))
    )
    (first,) = (await client.search_decision_instances(data=query)).items
    assert str(first.decision_definition_type) == "DECISION_TABLE"
    details = await client.get_decision_instance(first.decision_evaluation_instance_key)
    assert [(each.input_name, each.input_value) for each in details.evaluated_inputs] == [("Member", "true")]
    assert [(each.rule_id, each.rule_index) for each in details.matched_rules] == [("r1", 1)]
    assert details.matched_rules[0].evaluated_outputs[0].output_value == "5"
    for path, expected in ((f"{keys[0]}-9", 404), ("x-1", 400), ("7", 400), ("0-1", 400)):
        assert (await served.get(f"/decision-instances/{path}")).status_code == expected, path


async def test_without_values_in_the_history_decisions_are_found_all_the_same(make_served):
    served = await make_served(Procession("memory://", history="activity"))
    await served.deploy("rate.dmn", RATE)
    await served.deploy("ruled.bpmn", RULED)
    await served.start("ruled", variables={"member": True})
    (found,) = (await served.post("/decision-instances/search")).json()["items"]
    assert (found["decisionDefinitionName"], found["state"], found["result"]) == ("Rate", "EVALUATED", "null")
    details = (await served.get(f"/decision-instances/{found['decisionEvaluationInstanceKey']}")).json()
    assert [each["ruleId"] for each in details["matchedRules"]] == ["r1"]


EVERYTHING = (
    process("everything")
    .start()
    .parallel("split")
    .service("job", type="work")
    .at("split")
    .catch("message", message="paid", key="=orderId")
    .at("split")
    .catch("signal", signal="alarm")
    .at("split")
    .catch("timer", timer="PT1H")
    .at("split")
    .user("person")
    .xml()
)


async def test_what_element_instances_wait_for(served, client):
    await served.deploy("everything.bpmn", EVERYTHING)
    key = await served.start("everything", variables={"orderId": "A"})
    await served.start()
    query = models.ElementInstanceWaitStateQuery(
        filter_=models.ElementInstanceWaitStateQueryFilter(process_instance_key=sdk.ProcessInstanceKey(key))
    )
    found = (await client.search_element_instance_wait_states(data=query)).items
    details = {each.element_id: each.details for each in found}
    assert {name: each.wait_state_type for name, each in details.items()} == {
        "job": "JOB",
        "message": "MESSAGE",
        "signal": "SIGNAL",
        "timer": "TIMER",
        "person": "USER_TASK",
    }
    assert (details["job"].job_type, details["job"].retries) == ("work", 3)
    assert (details["message"].message_name, details["message"].correlation_key) == ("paid", "A")
    assert details["signal"].signal_name == "alarm"
    assert details["timer"].due_date > served.app.now
    assert {str(each.element_type) for each in found} == {"SERVICE_TASK", "INTERMEDIATE_CATCH_EVENT", "USER_TASK"}
    for_people = {"filter": {"waitStateType": "USER_TASK"}}
    (person,) = (await served.post("/element-instances/wait-states/search", for_people)).json()["items"]
    assert person["elementId"] == "person"
    counts = (await client.get_process_instance_wait_state_statistics(sdk.ProcessInstanceKey(key))).items
    assert {each.element_id: each.waiting_count for each in counts} == dict.fromkeys(details, 1)


STARTED_BY = process("started").start("letter", message="hello").end().xml()


@BOTH
async def test_which_message_went_to_which_subscription(served, client):
    await served.deploy("started.bpmn", STARTED_BY)
    key = await served.start("waiting", variables={"orderId": "A"}, businessId="B-1")
    (open_one,) = (await served.post("/message-subscriptions/search", {"filter": {"processInstanceKey": key}})).json()[
        "items"
    ]
    message = models.MessagePublicationRequest(name="payment-received", correlation_key="A")
    published = await client.publish_message(data=message)
    await client.publish_message(data=models.MessagePublicationRequest(name="hello", correlation_key="K"))
    await served.until("/correlated-message-subscriptions/search", {}, 2)
    query = models.CorrelatedMessageSubscriptionSearchQuery(
        filter_=models.CorrelatedMessageSubscriptionSearchQueryFilter(process_instance_key=sdk.ProcessInstanceKey(key))
    )
    (found,) = (await client.search_correlated_message_subscriptions(data=query)).items
    assert (found.message_key, found.message_name, found.correlation_key) == (
        published.message_key,
        "payment-received",
        "A",
    )
    assert (found.subscription_key, found.element_instance_key) == (
        open_one["messageSubscriptionKey"],
        open_one["elementInstanceKey"],
    )
    assert (found.element_id, found.process_definition_id, found.business_id) == ("paid", "waiting", "B-1")
    by_name = {"filter": {"messageName": {"$like": "hel*"}}}
    (start,) = (await served.post("/correlated-message-subscriptions/search", by_name)).json()["items"]
    assert (start["elementId"], start["elementInstanceKey"], start["correlationKey"]) == ("letter", None, "K")
    assert start["processDefinitionId"] == "started"


@BOTH
async def test_a_business_id_is_given_once(served, client):
    key = sdk.ProcessInstanceKey(await served.start())
    given = models.ProcessInstanceBusinessIdAssignmentInstruction(business_id="order-1")
    for _ in range(2):  # the same again changes nothing
        await client.assign_process_instance_business_id(key, data=given)
    found = await served.post("/process-instances/search", {"filter": {"businessId": "order-1"}})
    assert [each["processInstanceKey"] for each in found.json()["items"]] == [key]
    assert (await served.take())["businessId"] == "order-1"
    other = models.ProcessInstanceBusinessIdAssignmentInstruction(business_id="order-2")
    with pytest.raises(sdk.errors.ConflictError):
        await client.assign_process_instance_business_id(key, data=other)
    assert (
        await served.post(f"/process-instances/{key}/business-id-assignment", {"businessId": ""})
    ).status_code == 400
    with pytest.raises(sdk.errors.NotFoundError):
        await client.assign_process_instance_business_id(sdk.ProcessInstanceKey("7"), data=given)


async def test_how_the_server_is_set_up(client):
    found = await client.get_system_configuration()
    assert found.deployment.max_request_size == 8 * 1024 * 1024
    assert (found.job_metrics.enabled, found.components.active) == (True, [])
    assert (found.authentication.is_login_delegated, found.deployment.is_multi_tenancy_enabled) == (False, False)


async def test_many_instances_are_suspended_and_resumed(served, client):
    key = await served.start()
    chosen = models.ProcessInstanceCancellationBatchOperationRequestFilter(process_definition_id="payment")
    suspension = models.ProcessInstanceSuspensionBatchOperationRequest(filter_=chosen)
    made = await client.suspend_process_instances_batch_operation(data=suspension)
    assert made.batch_operation_type == "SUSPEND_PROCESS_INSTANCE"
    await served.until("/process-instances/search", {"filter": {"processInstanceKey": key, "state": "SUSPENDED"}})
    resumption = models.ProcessInstanceResumptionBatchOperationRequest(filter_=chosen)
    await client.resume_process_instances_batch_operation(data=resumption)
    await served.until("/process-instances/search", {"filter": {"processInstanceKey": key, "state": "ACTIVE"}})


async def test_who_changed_a_user_task_is_known_after_its_end(served):
    await served.deploy()
    await served.start()
    job = await served.take()
    await served.post(f"/jobs/{job['jobKey']}/completion")
    (task,) = await served.until("/user-tasks/search", {})
    key = task["userTaskKey"]
    assert (await served.post(f"/user-tasks/{key}/assignment", {"assignee": "ada"})).status_code == 204
    assert (await served.post(f"/user-tasks/{key}/completion")).status_code == 204
    page = (await served.post(f"/user-tasks/{key}/audit-logs/search", {"filter": {"result": "SUCCESS"}})).json()
    assert [entry["operationType"] for entry in page["items"]] == ["completeUserTask", "assignUserTask"]
    assert {entry["entityKey"] for entry in page["items"]} == {key}
    other = (await served.post(f"/user-tasks/{int(key) + 1}/audit-logs/search")).json()
    assert other["items"] == []
