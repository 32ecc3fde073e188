"""``pyzeebe``, a client and worker that others wrote, works unmodified; nothing but the address is given.

Annotations are evaluated here: pyzeebe finds the argument that is the job by its type.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator

import pytest
import pyzeebe
from pyzeebe.errors import (
    DecisionNotFoundError,
    InvalidJSONError,
    MessageAlreadyExistsError,
    ProcessDefinitionNotFoundError,
    ProcessInstanceNotFoundError,
    ProcessInvalidError,
    ProcessTimeoutError,
)

from procession.testing.bpmn import process
from tests.api.conftest import PAYMENT
from tests.api.gateway.conftest import until

pytestmark = pytest.mark.timeout(40)
DATABASES = pytest.mark.parametrize("url", ["sqlite", "postgresql"], indirect=True)

WAITING = process("waiting").start().catch("paid", message="payment-received", key="=orderId").end("done").xml()
ALARM = process("alarm").start("fire", signal="fire").service("run", type="run-away").end().xml()
TASK = process("task").start().user("approve").end().xml()
RATE = b"""<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="rates" name="Rates" namespace="x">
  <decision id="rate" name="Rate"><variable name="rate" />
    <decisionTable id="table">
      <input id="in" label="Member"><inputExpression><text>member</text></inputExpression></input>
      <output id="out" name="rate" />
      <rule id="r1"><inputEntry><text>true</text></inputEntry><outputEntry><text>5</text></outputEntry></rule>
      <rule id="r2"><inputEntry><text>false</text></inputEntry><outputEntry><text>9</text></outputEntry></rule>
    </decisionTable></decision></definitions>"""


@pytest.fixture
async def client(gateway, tmp_path) -> pyzeebe.ZeebeClient:
    files = {"payment.bpmn": PAYMENT, "waiting.bpmn": WAITING, "alarm.bpmn": ALARM, "task.bpmn": TASK, "rate.dmn": RATE}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    client = pyzeebe.ZeebeClient(gateway.channel)
    deployed = await client.deploy_resource(*(tmp_path / name for name in files))
    found = [getattr(each, "bpmn_process_id", "") for each in deployed.deployments]
    assert found[:4] == ["payment", "waiting", "alarm", "task"]
    assert (deployed.tenant_id, deployed.deployments[0].version) == ("<default>", 1)
    assert {each.dmn_decision_requirements_id for each in deployed.deployments[4:]} == {"rates"}
    return client


@pytest.fixture
async def run_worker(gateway) -> AsyncIterator:
    """Let a worker of pyzeebe work until the test ends."""
    running = []

    def run(worker: pyzeebe.ZeebeWorker) -> None:
        running.append((worker, asyncio.create_task(worker.work())))

    yield run
    for worker, task in running:
        await worker.stop()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def ended(gateway, key: int) -> tuple[str, dict]:
    done = await gateway.app.wait(key, timeout=20)
    return done.state, await variables_of(gateway, key)


async def variables_of(gateway, key: int) -> dict:
    return json.loads((await gateway.app.stored_instance(key)).variables)


async def task_of(gateway, key: int) -> int:
    """The user task of an instance, once it is there."""
    found = await until(lambda: gateway.app.user_tasks(process_instance_key=key))
    return found[0].user_task_key


@DATABASES
@pytest.mark.parametrize("stream", [False, True], ids=["polled", "streamed"])
async def test_async_and_sync_tasks_do_the_work(gateway, client, run_worker, stream):
    worker = pyzeebe.ZeebeWorker(gateway.channel, name="w1", request_timeout=2_000, stream_enabled=stream)
    seen = []

    @worker.task(task_type="charge-card", timeout_ms=30_000)
    async def charge(amount: float, job: pyzeebe.Job) -> dict:
        seen.append((job.element_id, job.bpmn_process_id, job.retries, dict(job.custom_headers), job.tenant_id))
        return {"receipt": f"R-{amount:g}"}

    @worker.task(task_type="run-away", single_value=True, variable_name="where")
    def run(siren: str) -> str:
        return f"away from {siren}"

    run_worker(worker)
    started = [await client.run_process("payment", {"amount": number}) for number in range(3)]
    for number, each in enumerate(started):
        await gateway.app.complete_user_task(await task_of(gateway, each.process_instance_key))
        state, variables = await ended(gateway, each.process_instance_key)
        assert (state, variables) == ("COMPLETED", {"amount": number, "receipt": f"R-{number}"})
    assert seen == [("charge", "payment", 3, {"region": "eu"}, "<default>")] * 3
    signal = await client.broadcast_signal("fire", {"siren": "east"})
    assert signal.key > 0
    found = await until(lambda: gateway.app.instances(process_id="alarm", state="COMPLETED"))
    assert (await variables_of(gateway, found[0].process_instance_key))["where"] == "away from east"


@DATABASES
async def test_failures_errors_and_incidents(gateway, client, run_worker):
    worker = pyzeebe.ZeebeWorker(gateway.channel, request_timeout=2_000)
    tried = asyncio.Queue()

    async def refuse(error: Exception, job: pyzeebe.Job, controller: pyzeebe.JobController) -> None:
        await tried.put(job.retries)
        if job.variables["kind"] == "declined":
            await controller.set_error_status(str(error), error_code="card-declined", variables={"why": "stolen"})
        else:
            await controller.set_failure_status(f"no money: {error}", retry_back_off_ms=0, variables={"tried": True})

    @worker.task(task_type="charge-card", exception_handler=refuse)
    async def charge(kind: str) -> None:
        raise ValueError(kind)

    run_worker(worker)
    declined = await client.run_process("payment", {"kind": "declined"})
    assert (await ended(gateway, declined.process_instance_key))[0] == "COMPLETED"
    failed = await client.run_process("payment", {"kind": "broke"})
    assert [await asyncio.wait_for(tried.get(), 20) for _ in range(4)] == [3, 3, 2, 1]
    found = await until(lambda: gateway.app.incidents(process_instance_key=failed.process_instance_key))
    assert "no money" in found[0].error_message
    await client.cancel_process_instance(failed.process_instance_key)
    with pytest.raises(ProcessInstanceNotFoundError):
        await client.cancel_process_instance(failed.process_instance_key)


@DATABASES
async def test_messages_results_and_decisions(client):
    published = await client.publish_message(
        "payment-received", "A-17", {"sum": 4}, time_to_live_in_milliseconds=60_000, message_id="m-1"
    )
    assert published.key > 0
    with pytest.raises(MessageAlreadyExistsError):
        await client.publish_message("payment-received", "A-17", time_to_live_in_milliseconds=60_000, message_id="m-1")
    result = await client.run_process_with_result(
        "waiting", {"orderId": "A-17", "other": 1}, variables_to_fetch=["sum", "orderId"]
    )
    assert result.variables == {"sum": 4, "orderId": "A-17"}
    with pytest.raises(ProcessTimeoutError):
        await client.run_process_with_result("waiting", {"orderId": "nobody"}, timeout=50)
    decided = await client.evaluate_decision(decision_key=None, decision_id="rate", variables={"member": True})
    assert (decided.decision_output, decided.decision_name, decided.decision_instance_key > 0) == (5, "Rate", True)
    (trace,) = decided.evaluated_decisions
    assert (trace.decision_type, trace.matched_rules[0].rule_id) == ("DECISION_TABLE", "r1")
    assert trace.matched_rules[0].evaluated_outputs[0].output_value == 5
    assert (trace.evaluated_inputs[0].input_name, trace.evaluated_inputs[0].input_value) == ("Member", True)
    by_key = await client.evaluate_decision(decided.decision_key, None, {"member": False})
    assert by_key.decision_output == 9


async def test_what_cannot_be_is_told_with_pyzeebes_own_errors(client, tmp_path):
    with pytest.raises(ProcessDefinitionNotFoundError):
        await client.run_process("nobody")
    with pytest.raises(ProcessDefinitionNotFoundError):
        await client.run_process("payment", version=9)
    with pytest.raises(InvalidJSONError):
        await client.run_process("payment", {"amount": float("nan")})
    with pytest.raises(DecisionNotFoundError):
        await client.evaluate_decision(None, "nobody")
    (tmp_path / "broken.bpmn").write_text("<definitions")
    with pytest.raises(ProcessInvalidError):
        await client.deploy_resource(tmp_path / "broken.bpmn")
    topology = await client.topology()
    assert (topology.cluster_size, topology.partitions_count) == (1, 1)
    assert (await client.healthcheck()).status == 1


SCRIPT = """
import sys
from pyzeebe import SyncZeebeClient, create_insecure_channel
client = SyncZeebeClient(create_insecure_channel(sys.argv[1]))
print(client.run_process("payment", {"amount": 1}).process_instance_key)
"""


async def test_the_synchronous_client_works_as_well(gateway, client):
    del client
    pipe = asyncio.subprocess.PIPE
    script = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SCRIPT, gateway.address, stdout=pipe, stderr=pipe
    )
    out, err = await script.communicate()
    assert script.returncode == 0, err.decode()
    assert (await gateway.app.stored_instance(int(out))).process_id == "payment"
