"""Who may call the gateway, and calls that nobody would make: refused with the right status, logged, nothing leaked."""

from __future__ import annotations

import base64
import datetime as dt
import json
import logging

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from pyzeebe.proto import gateway_pb2 as pb

from procession.api import tokens
from procession.api.gateway import jobs
from procession.api.identity import check_binding
from procession.api.settings import GrpcSettings, Settings
from procession.errors import Misconfigured
from tests.api.conftest import PAYMENT
from tests.api.gateway.conftest import poll, refusal, refused

CREATE = pb.CreateProcessInstanceRequest(bpmnProcessId="payment", version=-1)


@pytest.fixture
async def guarded(make_gateway):
    """A gateway that wants to know who comes."""
    return await make_gateway(identity=True)


async def bearer(gateway, *roles: str, tenants: list[str] | None = None, name: str = ""):
    _, text = await tokens.create_token(gateway.app, name or "-".join(roles), list(roles), tenants=tenants)
    return (("authorization", f"Bearer {text}"),)


async def test_nobody_comes_in_without_a_name(guarded):
    create = guarded.stub.CreateProcessInstance
    for value in ("", "Bearer prc_nonsense", "Bearer x.y.z", "Basic !!", "Digest x", "Bearer"):
        metadata = (("authorization", value),) if value else ()
        assert await refused(create(CREATE, metadata=metadata)) == "UNAUTHENTICATED", value
    twice = await bearer(guarded, "admin")
    assert await refused(create(CREATE, metadata=(*twice, *twice))) == "UNAUTHENTICATED"
    assert await refused(guarded.stub.Topology(pb.TopologyRequest())) == "UNAUTHENTICATED"


async def test_a_token_does_as_a_bearer_and_as_a_password(guarded):
    metadata = await bearer(guarded, "deployer")
    await guarded.deploy(metadata=metadata)
    token = metadata[0][1].removeprefix("Bearer ")
    basic = base64.b64encode(f"anybody:{token}".encode()).decode()
    await guarded.stub.Topology(pb.TopologyRequest(), metadata=(("authorization", f"Basic {basic}"),))


async def test_roles_are_those_of_the_rest_api(guarded):
    for role, expected in (("deployer", "OK"), ("reader", "NO"), ("worker", "NO"), ("operator", "NO")):
        metadata = await bearer(guarded, role)
        if expected == "OK":
            await guarded.deploy(metadata=metadata)
        else:
            assert await refused(guarded.deploy(metadata=metadata)) == "PERMISSION_DENIED"
    worker = await bearer(guarded, "worker", name="w2")
    status, words = await refusal(guarded.stub.CreateProcessInstance(CREATE, metadata=worker))
    assert (status, "'operator'" in words) == ("PERMISSION_DENIED", True)
    reader = await bearer(guarded, "reader", name="r2")
    asked = guarded.stub.ActivateJobs(poll(), metadata=reader)
    assert await refused(anext(aiter(asked))) == "PERMISSION_DENIED"


async def test_what_is_anothers_is_not_there(guarded):
    admin = await bearer(guarded, "admin")
    theirs = await bearer(guarded, "admin", tenants=["globex"], name="globex")
    for tenant, metadata in (("acme", admin), ("globex", theirs)):
        resource = pb.Resource(name="payment.bpmn", content=PAYMENT)
        request = pb.DeployResourceRequest(resources=[resource], tenantId=tenant)
        assert (await guarded.stub.DeployResource(request, metadata=metadata)).tenantId == tenant
    asked = pb.CreateProcessInstanceRequest(bpmnProcessId="payment", version=-1, tenantId="acme")
    started = await guarded.stub.CreateProcessInstance(asked, metadata=admin)
    assert started.tenantId == "acme"
    assert await refused(guarded.stub.CreateProcessInstance(asked, metadata=theirs)) == "PERMISSION_DENIED"
    (job,) = [
        job
        async for answer in guarded.stub.ActivateJobs(poll(tenantIds=["acme"]), metadata=admin)
        for job in answer.jobs
    ]
    assert job.tenantId == "acme"
    key = started.processInstanceKey
    stub = guarded.stub
    for call in (
        stub.CompleteJob(pb.CompleteJobRequest(jobKey=job.key), metadata=theirs),
        stub.FailJob(pb.FailJobRequest(jobKey=job.key), metadata=theirs),
        stub.ThrowError(pb.ThrowErrorRequest(jobKey=job.key, errorCode="x"), metadata=theirs),
        stub.UpdateJobRetries(pb.UpdateJobRetriesRequest(jobKey=job.key, retries=2), metadata=theirs),
        stub.UpdateJobTimeout(pb.UpdateJobTimeoutRequest(jobKey=job.key, timeout=2), metadata=theirs),
        stub.CancelProcessInstance(pb.CancelProcessInstanceRequest(processInstanceKey=key), metadata=theirs),
        stub.SetVariables(pb.SetVariablesRequest(elementInstanceKey=key, variables="{}"), metadata=theirs),
        stub.ModifyProcessInstance(pb.ModifyProcessInstanceRequest(processInstanceKey=key), metadata=theirs),
        stub.DeleteResource(pb.DeleteResourceRequest(resourceKey=started.processDefinitionKey), metadata=theirs),
    ):
        assert await refused(call) == "NOT_FOUND"
    asked = stub.ActivateJobs(poll(tenantIds=["acme"]), metadata=theirs)
    assert await refused(anext(aiter(asked))) == "PERMISSION_DENIED"


async def test_a_stream_ends_when_its_token_is_revoked(guarded, monkeypatch):
    monkeypatch.setattr(tokens, "REMEMBERED_S", 0.0)
    monkeypatch.setattr(jobs, "ROUND_MS", 20)
    metadata = await bearer(guarded, "worker")
    asked = pb.StreamActivatedJobsRequest(type="x", worker="w1", timeout=1_000)
    call = guarded.stub.StreamActivatedJobs(asked, metadata=metadata)
    await guarded.waiting()
    await tokens.revoke(guarded.app, "token", "worker")
    with pytest.raises(StopAsyncIteration):  # the worker comes again, with what it then has
        await anext(aiter(call))
    again = guarded.stub.StreamActivatedJobs(asked, metadata=metadata)
    assert await refused(anext(aiter(again))) == "UNAUTHENTICATED"


async def test_changes_stand_in_the_audit_log(guarded):
    metadata = await bearer(guarded, "admin", name="ada")
    await guarded.deploy(metadata=metadata)
    started = await guarded.stub.CreateProcessInstance(CREATE, metadata=metadata)
    cancel = pb.CancelProcessInstanceRequest(processInstanceKey=started.processInstanceKey)
    await guarded.stub.CancelProcessInstance(cancel, metadata=metadata)
    headers = {"Authorization": metadata[0][1]}
    found = (await guarded.served.post("/audit-logs/search", headers=headers)).json()["items"]
    assert [each["operationType"] for each in found] == [
        "cancelProcessInstance",
        "createProcessInstance",
        "createDeployment",
    ]
    assert {each["actorId"] for each in found} == {"ada"}
    assert (found[0]["before"]["state"], found[0]["after"]["state"]) == ("ACTIVE", "TERMINATED")


async def test_a_refusal_under_load_says_why_and_when_to_come_again(gateway):
    await gateway.deploy()
    gate = gateway.served.gate.admission
    gate.limit.limit = 1.0
    gate.in_flight = 1
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await gateway.start()
    assert caught.value.code().name == "RESOURCE_EXHAUSTED"
    trailers = dict(caught.value.trailing_metadata())
    assert (trailers["reason"], trailers["limit"], trailers["current"]) == ("commands-in-flight", "1", "1")
    assert (trailers["retry-after"], trailers["grpc-retry-pushback-ms"]) == ("1", "1000")
    assert gate.rejected == {"commands-in-flight": 1}
    gate.in_flight = 0
    await gateway.start()


@pytest.mark.parametrize(
    "raw", [b"\xff\xff\xff", b"\x0a\xff\xff\xff\xff\x0f", b"\x22\x02\xff\xfe", b"rubbish", b"\x08" + b"\xff" * 20]
)
async def test_bytes_that_are_no_message(gateway, raw):
    call = gateway.channel.unary_unary("/gateway_protocol.Gateway/CreateProcessInstance")(raw)
    assert await refused(call) == "INVALID_ARGUMENT"


async def test_variables_that_are_no_json(gateway):
    await gateway.deploy()
    for text in (
        "[" * 100_000,
        '{"a":' * 50_000,
        '{"a": 1e999999}',
        "NaN",
        '{"a": "\\ud800"}',
        '{"a": "\\u0000"}',
        "'; DROP TABLE job; --",
        '{"a": 1} x',
        "\x00",
    ):
        asked = pb.CreateProcessInstanceRequest(bpmnProcessId="payment", version=-1, variables=text)
        assert await refused(gateway.stub.CreateProcessInstance(asked)) == "INVALID_ARGUMENT", text[:20]
    assert await gateway.app.instances() == []


async def test_texts_that_would_be_sql_are_texts(gateway):
    hostile = "x' OR 1=1; DROP TABLE instance; --"
    asked = pb.CreateProcessInstanceRequest(bpmnProcessId=hostile, version=-1)
    assert await refused(gateway.stub.CreateProcessInstance(asked)) == "NOT_FOUND"
    assert await gateway.take(hostile, requestTimeout=-1) == []
    publish = pb.PublishMessageRequest(name=hostile, correlationKey=hostile, messageId=hostile, timeToLive=1_000)
    await gateway.stub.PublishMessage(publish)
    assert await refused(gateway.stub.EvaluateDecision(pb.EvaluateDecisionRequest(decisionId=hostile))) == "NOT_FOUND"


async def test_a_message_that_is_too_large(make_gateway):
    gateway = await make_gateway(GrpcSettings(port=0, message_bytes_max=10_000))
    asked = pb.CreateProcessInstanceRequest(bpmnProcessId="payment", variables=json.dumps({"a": "x" * 20_000}))
    assert await refused(gateway.stub.CreateProcessInstance(asked)) == "RESOURCE_EXHAUSTED"


async def test_more_calls_than_may_wait(make_gateway):
    gateway = await make_gateway(GrpcSettings(port=0, calls_max=2))
    calls = [gateway.stub.ActivateJobs(poll(requestTimeout=60_000)) for _ in range(2)]
    await gateway.waiting(2)
    assert await refused(gateway.stub.Topology(pb.TopologyRequest())) == "RESOURCE_EXHAUSTED"
    for call in calls:
        call.cancel()


async def test_of_a_defect_only_a_number_goes_out(gateway, monkeypatch, caplog):
    async def break_down(*_args, **_options):
        raise ZeroDivisionError("secret of the engine")

    monkeypatch.setattr(type(gateway.app), "nodes", break_down)
    with caplog.at_level(logging.ERROR, "procession.api"):
        status, words = await refusal(gateway.stub.Topology(pb.TopologyRequest()))
    assert status == "INTERNAL"
    assert "secret" not in words
    assert "Zero" not in words
    assert words.rpartition(" ")[2] in caplog.text


async def test_long_words_are_cut_so_that_they_arrive(gateway):
    asked = pb.CreateProcessInstanceRequest(bpmnProcessId="ü" * 250_000, version=-1)
    status, words = await refusal(gateway.stub.CreateProcessInstance(asked))
    assert status in {"NOT_FOUND", "INVALID_ARGUMENT"}
    assert len(words) <= 2_000


def test_without_identity_nothing_but_the_loopback_is_bound():
    check_binding(Settings(identity=False, grpc=GrpcSettings(host="::1")))
    with pytest.raises(Misconfigured, match="loopback"):
        check_binding(Settings(identity=False, grpc=GrpcSettings(host="0.0.0.0")))


async def test_a_port_that_is_taken(gateway, make_gateway):
    taken = int(gateway.address.rpartition(":")[2])
    with pytest.raises(Misconfigured, match="cannot be bound"):
        await make_gateway(GrpcSettings(port=taken))


def certificate() -> tuple[bytes, bytes]:
    """A certificate for localhost and its key, both PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    kept = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return made.public_bytes(pem), kept


async def test_tls(make_gateway):
    made, key = certificate()
    gateway = await make_gateway(GrpcSettings(port=0, certificate=made, certificate_key=key))
    credentials = grpc.ssl_channel_credentials(root_certificates=made)
    options = [("grpc.ssl_target_name_override", "localhost")]
    async with grpc.aio.secure_channel(gateway.address, credentials, options=options) as channel:
        call = channel.unary_unary("/gateway_protocol.Gateway/Topology")(b"")
        assert pb.TopologyResponse.FromString(await call).clusterSize == 1
    assert await refused(gateway.stub.Topology(pb.TopologyRequest())) == "UNAVAILABLE"  # without TLS
    with pytest.raises(Misconfigured, match="PEM"):
        await make_gateway(GrpcSettings(port=0, certificate=b"rubbish", certificate_key=b"rubbish"))
