"""Every remote procedure of the gateway by the published stub: what it does, and every way in which it says no."""

from __future__ import annotations

import asyncio
import json

import pytest
from pyzeebe.proto import gateway_pb2 as pb

from procession.api.gateway import messages
from procession.api.gateway.rpcs import ACTIVATE, STREAM, UNARY
from procession.api.tables import endpoints
from procession.testing.bpmn import process
from tests.api.conftest import PAYMENT
from tests.api.gateway.conftest import poll, refusal, refused
from tests.api.gateway.test_pyzeebe import ALARM, RATE, WAITING

NOBODY = 2**51 + 999_999_999
PAYMENT_2 = PAYMENT.replace(b'id="approve"', b'id="confirm"').replace(b'"approve"', b'"confirm"')
WITHOUT_START = process("by-message").start("begin", message="go").end().xml()


def test_every_published_procedure_is_served_by_an_endpoint():
    rows = [*UNARY, ACTIVATE, STREAM]
    assert {row.name for row in rows} == messages.published_rpcs()
    assert {row.operation_id for row in rows} <= {endpoint.operation_id for _, endpoint in endpoints()}


def test_fields_that_camunda_has_added_stand_beside_the_published_ones():
    asked = messages.new("CompleteJobRequest", jobKey=7, result=messages.new("JobResult", denied=True))
    assert pb.CompleteJobRequest.FromString(asked.SerializeToString()).jobKey == 7  # who does not know them reads on
    back = messages.parsed("CompleteJobRequest", asked.SerializeToString())
    assert (back.result.denied, messages.has(back.result, "deniedReason")) == (True, False)


async def test_topology(gateway):
    answer = await gateway.stub.Topology(pb.TopologyRequest())
    assert (answer.clusterSize, answer.partitionsCount, answer.replicationFactor) == (1, 1, 1)
    (broker,) = answer.brokers
    assert broker.partitions[0].role == pb.Partition.LEADER
    assert answer.gatewayVersion == broker.version != ""


# -- deployments ------------------------------------------------------------------------------------------------------
async def test_deploy_and_deploy_again(gateway):
    first = await gateway.deploy()
    (process_,) = [each.process for each in first.deployments]
    assert (process_.bpmnProcessId, process_.version, process_.resourceName) == ("payment", 1, "payment.bpmn")
    again = (await gateway.deploy()).deployments[0].process
    assert again.processDefinitionKey == process_.processDefinitionKey
    other = (await gateway.deploy(PAYMENT_2)).deployments[0].process
    assert other.version == 2
    decisions = (await gateway.deploy(RATE, "rate.dmn")).deployments
    assert [each.WhichOneof("Metadata") for each in decisions] == ["decision", "decisionRequirements"]
    assert decisions[0].decision.decisionRequirementsKey == decisions[1].decisionRequirements.decisionRequirementsKey
    form = b'{"type": "default", "id": "address", "components": [], "schemaVersion": 16}'
    (found,) = (await gateway.deploy(form, "address.form")).deployments
    assert (found.form.formId, found.form.version) == ("address", 1)


async def test_the_deprecated_deployment_of_processes(gateway):
    request = pb.DeployProcessRequest(processes=[pb.ProcessRequestObject(name="payment.bpmn", definition=PAYMENT)])
    answer = await gateway.stub.DeployProcess(request)
    assert [(each.bpmnProcessId, each.version) for each in answer.processes] == [("payment", 1)]
    assert answer.key > 0


async def test_a_deployment_that_cannot_be(gateway):
    assert await refused(gateway.stub.DeployResource(pb.DeployResourceRequest())) == "INVALID_ARGUMENT"
    assert await refused(gateway.stub.DeployProcess(pb.DeployProcessRequest())) == "INVALID_ARGUMENT"
    status, words = await refusal(gateway.deploy(b"<definitions"))
    assert status == "INVALID_ARGUMENT"
    assert "payment.bpmn" in words
    flawed = PAYMENT.replace(b'targetRef="approve"', b'targetRef="nobody"')
    status, words = await refusal(gateway.deploy(flawed))
    assert (status, "nobody" in words) == ("INVALID_ARGUMENT", True)


async def test_resources_are_deleted(gateway):
    key = (await gateway.deploy()).deployments[0].process.processDefinitionKey
    await gateway.start()
    assert (
        await refused(gateway.stub.DeleteResource(pb.DeleteResourceRequest(resourceKey=key))) == "FAILED_PRECONDITION"
    )
    other = (await gateway.deploy(PAYMENT_2)).deployments[0].process.processDefinitionKey
    await gateway.stub.DeleteResource(pb.DeleteResourceRequest(resourceKey=other))
    for gone in (NOBODY, 0, -1):
        assert await refused(gateway.stub.DeleteResource(pb.DeleteResourceRequest(resourceKey=gone))) == "NOT_FOUND"


# -- instances --------------------------------------------------------------------------------------------------------
async def test_an_instance_by_id_version_and_key(gateway):
    key = (await gateway.deploy()).deployments[0].process.processDefinitionKey
    await gateway.deploy(PAYMENT_2)
    assert (await gateway.start()).version == 2
    create = gateway.stub.CreateProcessInstance
    first = await create(pb.CreateProcessInstanceRequest(bpmnProcessId="payment", version=1))
    assert (first.version, first.processDefinitionKey, first.tenantId) == (1, key, "<default>")
    by_key = await create(pb.CreateProcessInstanceRequest(processDefinitionKey=key, variables='{"amount": 2}'))
    assert (by_key.version, by_key.bpmnProcessId) == (1, "payment")
    at = pb.ProcessInstanceCreationStartInstruction(elementId="approve")
    jumped = await create(pb.CreateProcessInstanceRequest(processDefinitionKey=key, startInstructions=[at]))
    active = (await gateway.app.instance(jumped.processInstanceKey)).elements
    assert [each.element_id for each in active] == ["approve"]


async def test_an_instance_that_cannot_be(gateway):
    await gateway.deploy()
    await gateway.deploy(WITHOUT_START, "by-message.bpmn")
    create = gateway.stub.CreateProcessInstance
    for asked, expected in (
        ({"bpmnProcessId": "nobody", "version": -1}, "NOT_FOUND"),
        ({"bpmnProcessId": "payment", "version": 7}, "NOT_FOUND"),
        ({"processDefinitionKey": NOBODY}, "NOT_FOUND"),
        ({}, "INVALID_ARGUMENT"),
        ({"bpmnProcessId": "payment", "variables": "[1]"}, "INVALID_ARGUMENT"),
        ({"bpmnProcessId": "payment", "variables": "{rubbish"}, "INVALID_ARGUMENT"),
        ({"bpmnProcessId": "by-message", "version": -1}, "FAILED_PRECONDITION"),
    ):
        assert await refused(create(pb.CreateProcessInstanceRequest(**asked))) == expected, asked


async def test_a_process_that_a_message_may_start_too_starts_without_one(gateway):
    model = process("both").start("begin").end().apart().start("on_message", message="go").end().xml()
    await gateway.deploy(model, "both.bpmn")
    started = await gateway.start("both")
    assert (await gateway.app.wait(started.processInstanceKey, timeout=10)).state == "COMPLETED"


async def test_an_instance_with_its_result(gateway):
    await gateway.deploy(process("sum").start().script("add", "a + b", result="c").end().xml(), "sum.bpmn")
    asked = pb.CreateProcessInstanceRequest(bpmnProcessId="sum", version=-1, variables='{"a": 1, "b": 2}')
    with_result = gateway.stub.CreateProcessInstanceWithResult
    answer = await with_result(pb.CreateProcessInstanceWithResultRequest(request=asked))
    assert json.loads(answer.variables) == {"a": 1, "b": 2, "c": 3}
    answer = await with_result(pb.CreateProcessInstanceWithResultRequest(request=asked, fetchVariables=["c"]))
    assert (json.loads(answer.variables), answer.bpmnProcessId) == ({"c": 3}, "sum")
    await gateway.deploy()
    waits = pb.CreateProcessInstanceRequest(bpmnProcessId="payment", version=-1)
    request = pb.CreateProcessInstanceWithResultRequest(request=waits, requestTimeout=30)
    assert await refused(with_result(request)) == "DEADLINE_EXCEEDED"


async def test_cancel(gateway):
    await gateway.deploy()
    key = (await gateway.start()).processInstanceKey
    cancel = gateway.stub.CancelProcessInstance
    await cancel(pb.CancelProcessInstanceRequest(processInstanceKey=key, operationReference=7))
    for gone in (key, NOBODY, 0):
        assert await refused(cancel(pb.CancelProcessInstanceRequest(processInstanceKey=gone))) == "NOT_FOUND"


async def test_modify(gateway):
    await gateway.deploy()
    key = (await gateway.start()).processInstanceKey
    (job,) = await gateway.take()
    request = pb.ModifyProcessInstanceRequest
    activate = request.ActivateInstruction(
        elementId="approve",
        ancestorElementInstanceKey=-1,
        variableInstructions=[request.VariableInstruction(variables='{"note": 1}')],
    )
    terminate = request.TerminateInstruction(elementInstanceKey=job.elementInstanceKey)
    await gateway.stub.ModifyProcessInstance(
        request(processInstanceKey=key, activateInstructions=[activate], terminateInstructions=[terminate])
    )
    assert [each.element_id for each in (await gateway.app.instance(key)).elements] == ["approve"]
    assert json.loads((await gateway.app.stored_instance(key)).variables) == {"note": 1}
    modify = gateway.stub.ModifyProcessInstance
    unknown = request.ActivateInstruction(elementId="nobody")
    asked = request(processInstanceKey=key, activateInstructions=[unknown])
    assert await refused(modify(asked)) == "INVALID_ARGUMENT"
    assert await refused(modify(request(processInstanceKey=NOBODY, activateInstructions=[activate]))) == "NOT_FOUND"
    broken = request.VariableInstruction(variables="rubbish")
    activate = request.ActivateInstruction(elementId="approve", variableInstructions=[broken])
    asked = request(processInstanceKey=key, activateInstructions=[activate])
    assert await refused(modify(asked)) == "INVALID_ARGUMENT"


async def test_migrate(gateway):
    await gateway.deploy()
    key = (await gateway.start()).processInstanceKey
    target = (await gateway.deploy(PAYMENT_2)).deployments[0].process.processDefinitionKey
    request = pb.MigrateProcessInstanceRequest
    mapping = [request.MappingInstruction(sourceElementId="charge", targetElementId="charge")]
    plan = request.MigrationPlan(targetProcessDefinitionKey=target, mappingInstructions=mapping)
    migrate = gateway.stub.MigrateProcessInstance
    await migrate(request(processInstanceKey=key, migrationPlan=plan))
    assert (await gateway.app.stored_instance(key)).definition == target
    nowhere = request.MigrationPlan(targetProcessDefinitionKey=NOBODY)
    assert await refused(migrate(request(processInstanceKey=key, migrationPlan=nowhere))) == "NOT_FOUND"
    assert await refused(migrate(request(processInstanceKey=NOBODY, migrationPlan=plan))) == "NOT_FOUND"


async def test_variables_of_an_instance_and_of_an_element(gateway):
    await gateway.deploy()
    key = (await gateway.start()).processInstanceKey
    (job,) = await gateway.take()
    write = gateway.stub.SetVariables
    answer = await write(pb.SetVariablesRequest(elementInstanceKey=key, variables='{"a": 1}'))
    assert answer.key > 0
    await write(pb.SetVariablesRequest(elementInstanceKey=job.elementInstanceKey, variables='{"b": 2}', local=True))
    assert json.loads((await gateway.app.stored_instance(key)).variables) == {"a": 1}
    for asked, expected in (
        ({"elementInstanceKey": NOBODY, "variables": "{}"}, "NOT_FOUND"),
        ({"elementInstanceKey": key, "variables": "7"}, "INVALID_ARGUMENT"),
        ({"elementInstanceKey": key, "variables": "{"}, "INVALID_ARGUMENT"),
    ):
        assert await refused(write(pb.SetVariablesRequest(**asked))) == expected


# -- jobs -------------------------------------------------------------------------------------------------------------
async def test_a_job_from_its_worker_to_its_end(gateway):
    await gateway.deploy()
    started = await gateway.start(amount=12, other=True)
    (job,) = await gateway.take(fetchVariable=["amount"])
    assert (job.type, job.elementId, job.bpmnProcessId) == ("charge-card", "charge", "payment")
    assert (job.processInstanceKey, job.processDefinitionVersion) == (started.processInstanceKey, 1)
    assert (json.loads(job.variables), json.loads(job.customHeaders)) == ({"amount": 12}, {"region": "eu"})
    assert (job.retries, job.worker, job.tenantId) == (3, "w1", "<default>")
    assert job.deadline > gateway.app.now
    complete = gateway.stub.CompleteJob
    rubbish = pb.CompleteJobRequest(jobKey=job.key, variables="rubbish")
    assert await refused(complete(rubbish)) == "INVALID_ARGUMENT"
    await complete(pb.CompleteJobRequest(jobKey=job.key, variables='{"receipt": "R-1"}'))
    for gone in (job.key, NOBODY, 0, -7):
        assert await refused(complete(pb.CompleteJobRequest(jobKey=gone))) == "NOT_FOUND"


async def test_an_activation_that_cannot_be(gateway):
    async def take(**asked) -> None:
        async for _ in gateway.stub.ActivateJobs(poll(**asked)):
            raise AssertionError

    for asked in (
        {"job_type": ""},
        {"job_type": "  "},
        {"worker": ""},
        {"timeout": 0},
        {"timeout": -1},
        {"count": 0},
        {"timeout": 2**62},
    ):
        assert await refused(take(**asked)) == "INVALID_ARGUMENT", asked


async def test_failures_retries_timeouts_and_the_incident(gateway):
    await gateway.deploy()
    await gateway.start()
    (job,) = await gateway.take()
    fail, retries, resolve = gateway.stub.FailJob, gateway.stub.UpdateJobRetries, gateway.stub.ResolveIncident
    await gateway.stub.UpdateJobTimeout(pb.UpdateJobTimeoutRequest(jobKey=job.key, timeout=120_000))
    await fail(pb.FailJobRequest(jobKey=job.key, retries=1, errorMessage="again", variables='{"tried": 1}'))
    (again,) = await gateway.take()
    assert (again.key, again.retries, json.loads(again.variables)["tried"]) == (job.key, 1, 1)
    await fail(pb.FailJobRequest(jobKey=job.key, retries=0, errorMessage="no money"))
    assert await refused(fail(pb.FailJobRequest(jobKey=job.key, retries=0))) == "FAILED_PRECONDITION"
    (incident,) = await gateway.app.incidents()
    assert "no money" in incident.error_message
    asked = pb.ResolveIncidentRequest(incidentKey=incident.incident_key)
    assert await refused(resolve(asked)) == "FAILED_PRECONDITION"  # no attempts left
    assert await refused(retries(pb.UpdateJobRetriesRequest(jobKey=job.key, retries=0))) == "INVALID_ARGUMENT"
    await retries(pb.UpdateJobRetriesRequest(jobKey=job.key, retries=2))
    await resolve(asked)
    assert await refused(resolve(asked)) == "NOT_FOUND"
    assert (await gateway.take())[0].retries == 2
    assert await refused(fail(pb.FailJobRequest(jobKey=NOBODY))) == "NOT_FOUND"
    assert await refused(retries(pb.UpdateJobRetriesRequest(jobKey=NOBODY, retries=1))) == "NOT_FOUND"
    late = pb.UpdateJobTimeoutRequest(jobKey=NOBODY, timeout=1)
    assert await refused(gateway.stub.UpdateJobTimeout(late)) == "NOT_FOUND"


async def test_the_timeout_of_a_job_that_nobody_holds(gateway):
    await gateway.deploy()
    await gateway.start()
    (job,) = await gateway.app.jobs(type="charge-card")
    asked = pb.UpdateJobTimeoutRequest(jobKey=job.job_key, timeout=1_000)
    assert await refused(gateway.stub.UpdateJobTimeout(asked)) == "FAILED_PRECONDITION"


async def test_a_modelled_error(gateway):
    await gateway.deploy()
    started = await gateway.start()
    (job,) = await gateway.take()
    throw = gateway.stub.ThrowError
    await throw(pb.ThrowErrorRequest(jobKey=job.key, errorCode="card-declined", errorMessage="stolen"))
    assert (await gateway.app.wait(started.processInstanceKey, timeout=10)).state == "COMPLETED"
    assert await refused(throw(pb.ThrowErrorRequest(jobKey=job.key, errorCode="x"))) == "NOT_FOUND"
    await gateway.start()
    (job,) = await gateway.take()
    assert await refused(throw(pb.ThrowErrorRequest(jobKey=job.key))) == "INVALID_ARGUMENT"
    await throw(pb.ThrowErrorRequest(jobKey=job.key, errorCode="nobody-catches"))
    assert [each.error_type for each in await gateway.app.incidents()] == ["UNHANDLED_ERROR_EVENT"]


async def test_the_answer_of_an_ad_hoc_sub_process_reaches_the_process(gateway):
    choose = '<zeebe:taskDefinition type="choose" />'
    builder = process("adhoc").start().ad_hoc("any", extensions=choose).task("first").apart().task("second").done()
    model = builder.end("end").xml()
    await gateway.deploy(model, "adhoc.bpmn")
    started = await gateway.start("adhoc")
    (job,) = await gateway.take("choose")
    chosen = messages.new("JobResultActivateElement", elementId="second", variables='{"why": "cheaper"}')
    result = messages.new("JobResult", type="adHocSubProcess", activateElements=[chosen])
    await complete_raw(gateway, messages.new("CompleteJobRequest", jobKey=job.key, result=result))
    events = await gateway.app.history(started.processInstanceKey)
    assert any("second" in str(event) for event in events)
    strange = messages.new("JobResult", type="strange")
    asked = messages.new("CompleteJobRequest", jobKey=job.key, result=strange)
    assert await refused(complete_raw(gateway, asked)) == "INVALID_ARGUMENT"


LISTENERS = '<zeebe:taskListeners><zeebe:taskListener eventType="completing" type="check" /></zeebe:taskListeners>'


async def test_the_answer_of_a_task_listener_reaches_the_user_task(gateway):
    await gateway.deploy(process("listened").start().user("approve", extensions=LISTENERS).end().xml(), "listened.bpmn")
    started = await gateway.start("listened")
    (task,) = await gateway.app.user_tasks()

    async def answer(**fields) -> None:
        completing = asyncio.create_task(gateway.app.complete_user_task(task.user_task_key))
        (job,) = await gateway.take("check")
        asked = messages.new("CompleteJobRequest", jobKey=job.key, result=messages.new("JobResult", **fields))
        await complete_raw(gateway, asked)
        await asyncio.gather(completing, return_exceptions=True)

    await answer(denied=True, deniedReason="not yet")
    assert (await gateway.app.instance(started.processInstanceKey)).elements[0].element_id == "approve"
    groups = messages.new("StringList", values=["bank"])
    corrections = messages.new("JobResultCorrections", assignee="ada", candidateGroups=groups, priority=80)
    await answer(type="userTask", corrections=corrections)
    assert (await gateway.app.wait(started.processInstanceKey, timeout=10)).state == "COMPLETED"
    history = str(await gateway.app.history(started.processInstanceKey))
    assert "ada" in history
    assert "bank" in history


async def complete_raw(gateway, message) -> None:
    """As clients do that know younger fields than the published stub."""
    await gateway.channel.unary_unary("/gateway_protocol.Gateway/CompleteJob")(message.SerializeToString())


# -- messages, signals, decisions -------------------------------------------------------------------------------------
async def test_messages(gateway):
    await gateway.deploy(WAITING, "waiting.bpmn")
    started = await gateway.start("waiting", orderId="A-1")
    publish = gateway.stub.PublishMessage
    answer = await publish(
        pb.PublishMessageRequest(name="payment-received", correlationKey="A-1", variables='{"x": 1}')
    )
    assert (answer.key > 0, answer.tenantId) == (True, "<default>")
    assert (await gateway.app.wait(started.processInstanceKey, timeout=10)).state == "COMPLETED"
    once = pb.PublishMessageRequest(name="m", correlationKey="k", messageId="1", timeToLive=60_000)
    await publish(once)
    assert await refused(publish(once)) == "ALREADY_EXISTS"
    for asked in ({"name": ""}, {"name": "m", "timeToLive": -1}, {"name": "m", "variables": "null"}):
        assert await refused(publish(pb.PublishMessageRequest(**asked))) == "INVALID_ARGUMENT"


async def test_signals(gateway):
    await gateway.deploy(ALARM, "alarm.bpmn")
    broadcast = gateway.stub.BroadcastSignal
    answer = await broadcast(pb.BroadcastSignalRequest(signalName="fire", variables='{"siren": "east"}'))
    assert (answer.key > 0, answer.tenantId) == (True, "<default>")
    (job,) = await gateway.take("run-away")
    assert json.loads(job.variables) == {"siren": "east"}
    assert await refused(broadcast(pb.BroadcastSignalRequest())) == "INVALID_ARGUMENT"
    assert await refused(broadcast(pb.BroadcastSignalRequest(signalName="x", variables="1"))) == "INVALID_ARGUMENT"


async def test_decisions(gateway):
    key = (await gateway.deploy(RATE, "rate.dmn")).deployments[0].decision.decisionKey
    evaluate = gateway.stub.EvaluateDecision
    answer = await evaluate(pb.EvaluateDecisionRequest(decisionId="rate", variables='{"member": false}'))
    assert (answer.decisionOutput, answer.decisionKey, answer.failedDecisionId) == ("9", key, "")
    assert answer.evaluatedDecisions[0].matchedRules[0].ruleIndex == 2
    by_key = await evaluate(pb.EvaluateDecisionRequest(decisionKey=key, variables='{"member": true}'))
    assert by_key.decisionOutput == "5"
    for asked, expected in (
        ({}, "INVALID_ARGUMENT"),
        ({"decisionId": "rate", "decisionKey": key}, "INVALID_ARGUMENT"),
        ({"decisionId": "nobody"}, "NOT_FOUND"),
        ({"decisionKey": NOBODY}, "NOT_FOUND"),
        ({"decisionId": "rate", "variables": "[]"}, "INVALID_ARGUMENT"),
    ):
        assert await refused(evaluate(pb.EvaluateDecisionRequest(**asked))) == expected


@pytest.mark.parametrize(
    "path", ["/gateway_protocol.Gateway/Nothing", "/grpc.reflection.v1.ServerReflection/Info", "/"]
)
async def test_what_there_is_not(gateway, path):
    assert await refused(gateway.channel.unary_unary(path)(b"")) == "UNIMPLEMENTED"
