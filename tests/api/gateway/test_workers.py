"""Workers that wait over gRPC: woken by what they wait for, cheap while nothing happens, no job lost with a client."""

from __future__ import annotations

import asyncio
import json
import resource

import grpc
import pytest
from pyzeebe.proto import gateway_pb2 as pb
from pyzeebe.proto.gateway_pb2_grpc import GatewayStub

from procession.api.gateway import jobs
from tests.api.gateway.conftest import poll, refused, until

DATABASES = pytest.mark.parametrize("url", ["memory", "sqlite", "postgresql"], indirect=True)
LONG = 60_000


def stream(gateway, job_type: str = "charge-card", **options):
    given = {"worker": "w1", "timeout": 60_000, **options}
    return gateway.stub.StreamActivatedJobs(pb.StreamActivatedJobsRequest(type=job_type, **given))


async def test_a_poll_waits_and_is_woken_by_a_start(gateway):
    await gateway.deploy()
    waiting = asyncio.create_task(gateway.take(requestTimeout=LONG))
    await gateway.waiting()
    key = (await gateway.start()).processInstanceKey
    (job,) = await asyncio.wait_for(waiting, 5)
    assert job.processInstanceKey == key


async def test_a_poll_that_nothing_comes_for_ends_empty(gateway):
    assert await gateway.take(requestTimeout=50) == []
    assert await gateway.take(requestTimeout=-1) == []


async def test_a_worker_that_wants_user_tasks_as_jobs_is_told_that_there_are_none(gateway):
    kind = "io.camunda.zeebe:userTask"
    for call in (gateway.stub.ActivateJobs(poll(kind)), stream(gateway, kind)):
        with pytest.raises(grpc.aio.AioRpcError) as refusal:
            await anext(aiter(call))
        assert refusal.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert "/v2/user-tasks" in refusal.value.details()
    body = {"type": kind, "timeout": 1_000, "maxJobsToActivate": 1}
    assert (await gateway.served.post("/jobs/activation", body)).status_code == 400


async def test_many_jobs_come_in_chunks_that_a_client_can_receive(gateway, monkeypatch):
    monkeypatch.setattr(jobs, "CHUNK_BYTES_MAX", 30_000)
    await gateway.deploy()
    for number in range(7):
        await gateway.start(number=number, text="x" * 10_000)
    answers = [answer async for answer in gateway.stub.ActivateJobs(poll(count=100))]
    assert [len(answer.jobs) for answer in answers] == [2, 2, 2, 1]
    numbers = [json.loads(job.variables)["number"] for answer in answers for job in answer.jobs]
    assert sorted(numbers) == list(range(7))


@DATABASES
async def test_a_client_that_goes_away_while_it_waits_loses_no_job(gateway):
    await gateway.deploy()
    call = gateway.stub.ActivateJobs(poll(requestTimeout=LONG))
    await gateway.waiting()
    call.cancel()
    await gateway.waiting(0)
    await gateway.start()
    (job,) = await gateway.take()
    assert job.retries == 3
    assert [row.attempt for row in await gateway.app.jobs(type="charge-card")] == [1]  # who went away was given nothing


async def test_what_is_not_written_to_a_stream_that_ends_is_ready_at_once(gateway, monkeypatch):
    """The client reads but one: a few megabytes go into the transport, the rest waits here, and goes back."""
    monkeypatch.setattr(jobs, "PUSHED_AT_ONCE", 24)
    await gateway.deploy()
    for _ in range(24):
        await gateway.start(text="x" * 500_000)
    call = stream(gateway, timeout=3_600_000)
    while gateway.app.remote.delivered < 24:  # noqa: ASYNC110 - the moment between the claim and the push
        await asyncio.sleep(0.005)
    first = await call.read()
    call.cancel()
    await gateway.waiting(0)
    back = await until(lambda: gateway.app.jobs(type="charge-card", state="READY"))
    assert first.key not in {row.job_key for row in back}  # it was delivered: it is its worker's until its time is over
    assert {row.attempt for row in back} == {0}


async def test_a_stream_is_pushed_what_is_there_and_what_comes(gateway):
    await gateway.deploy()
    await gateway.start(number=0)
    call = stream(gateway, fetchVariable=["number"])
    seen = [await asyncio.wait_for(call.read(), 5)]
    for number in range(1, 4):
        await gateway.start(number=number, other=1)
        seen.append(await asyncio.wait_for(call.read(), 5))
    assert [json.loads(job.variables) for job in seen] == [{"number": number} for number in range(4)]
    assert (seen[0].worker, seen[0].tenantId) == ("w1", "<default>")
    call.cancel()
    await gateway.waiting(0)


async def test_a_stream_and_a_poll_share_the_work(gateway):
    await gateway.deploy()
    call = stream(gateway)
    waiting = asyncio.create_task(gateway.take(requestTimeout=LONG))
    await gateway.waiting(2)
    keys = {(await gateway.start()).processInstanceKey for _ in range(2)}
    pushed = await asyncio.wait_for(call.read(), 5)
    (polled,) = await asyncio.wait_for(waiting, 5)
    assert {pushed.processInstanceKey, polled.processInstanceKey} == keys
    call.cancel()


async def test_a_stream_that_cannot_be(gateway):
    for asked in ({"job_type": ""}, {"timeout": 0}):
        assert await refused(anext(aiter(stream(gateway, **asked)))) == "INVALID_ARGUMENT"


async def test_streams_and_polls_end_when_the_server_stops(gateway):
    call = stream(gateway)
    waiting = asyncio.create_task(gateway.take(requestTimeout=LONG))
    await gateway.waiting(2)
    gateway.app.remote.stop()
    assert await asyncio.wait_for(waiting, 5) == []
    assert await refused(asyncio.wait_for(call.read(), 5)) == "UNAVAILABLE"  # clients come back elsewhere


async def test_a_command_goes_on_when_its_client_goes_away(gateway):
    await gateway.deploy()
    asked = pb.CreateProcessInstanceRequest(bpmnProcessId="payment", version=-1)
    request = pb.CreateProcessInstanceWithResultRequest(request=asked, requestTimeout=LONG)
    call = gateway.stub.CreateProcessInstanceWithResult(request)
    found = await until(gateway.app.instances)
    call.cancel()
    metrics = gateway.served.server.web.metrics.grpc
    while not metrics.disconnects:  # noqa: ASYNC110 - the server hears of it
        await asyncio.sleep(0.005)
    assert found[0].state == "ACTIVE"
    await gateway.app.cancel(found[0].process_instance_key)


async def test_a_thousand_workers_that_wait_cost_next_to_nothing(gateway):
    """Under a tenth of a core while idle; both ends of the connections are in this process."""
    channels = [
        grpc.aio.insecure_channel(gateway.address, options=[("grpc.use_local_subchannel_pool", 1)]) for _ in range(20)
    ]
    stubs = [GatewayStub(channel) for channel in channels]
    calls = [
        stubs[number % 20].ActivateJobs(poll(f"type-{number % 20}", requestTimeout=600_000)) for number in range(1_000)
    ]
    await asyncio.wait_for(gateway.waiting(1_000), 60)
    claimed = gateway.app.counters.claimed
    before = resource.getrusage(resource.RUSAGE_SELF)
    began = asyncio.get_running_loop().time()
    await asyncio.sleep(2)
    seconds = asyncio.get_running_loop().time() - began
    after = resource.getrusage(resource.RUSAGE_SELF)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    for call in calls:
        call.cancel()
    await asyncio.wait_for(gateway.waiting(0), 60)
    for channel in channels:
        await channel.close()
    assert busy / seconds < 0.1, f"{busy:.2f} s of CPU in {seconds:.1f} s"
    assert gateway.app.counters.claimed == claimed
