"""Spans around requests: their names, what they say, whose children they are, and what the log says of them."""

from __future__ import annotations

import logging

import grpc.aio
import msgspec
import pytest
from opentelemetry.trace import SpanKind, StatusCode
from pyzeebe.proto.gateway_pb2 import CancelProcessInstanceRequest, TopologyRequest
from pyzeebe.proto.gateway_pb2_grpc import GatewayStub

from procession import Procession, trace_jobs
from procession.api.logs import JsonLines
from procession.api.settings import GrpcSettings
from tests.app.test_middleware import Provider

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
HEADERS = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}


async def test_a_request_is_a_span_and_the_child_of_its_client(make_served):
    provider = Provider()
    served = await make_served(tracer_provider=provider)
    await served.deploy()
    key = await served.start()
    answer = await served.post(f"/process-instances/{key}/cancellation", headers=HEADERS)
    assert answer.status_code == 204
    span = provider.tracer.spans[-1]
    assert (span.name, span.kind) == ("POST /v2/process-instances/{processInstanceKey}/cancellation", SpanKind.SERVER)
    assert f"{span.parent.trace_id:032x}" == TRACE
    assert span.attributes == {
        "http.request.method": "POST",
        "http.route": "/v2/process-instances/{processInstanceKey}/cancellation",
        "url.path": f"/v2/process-instances/{key}/cancellation",
        "http.response.status_code": 204,
        "procession.operation": "cancelProcessInstance",
        "procession.process.instance_key": key,
        "enduser.id": "local",
    }
    assert span.status is None


async def test_a_refusal_is_no_error_of_the_server_and_one_under_load_is(make_served):
    provider = Provider()
    served = await make_served(tracer_provider=provider, disk_free_bytes_min=1)
    await served.get("/process-instances/1")
    assert (provider.tracer.spans[-1].attributes["http.response.status_code"], provider.tracer.spans[-1].status) == (
        404,
        None,
    )
    served.gate.admission.disk(0)
    assert (await served.post("/process-instances", {"processDefinitionId": "payment"})).status_code == 503
    span = provider.tracer.spans[-1]
    assert (span.status, span.attributes["error.type"]) == (StatusCode.ERROR, "503")


async def test_a_job_that_a_request_enqueues_runs_in_its_trace(make_served):
    provider = Provider()
    app = Procession("memory://")
    trace_jobs(app, tracer_provider=provider)

    @app.job("send")
    async def send() -> None:
        return None

    served = await make_served(app, tracer_provider=provider)
    answer = await served.client.post("/api/jobs", json={"type": "send", "args": [{}]}, headers=HEADERS)
    assert answer.status_code == 200, answer.text
    await app.run_until_idle()
    assert [(span.name, f"{span.get_span_context().trace_id:032x}") for span in provider.tracer.spans] == [
        ("POST /api/jobs", TRACE),
        ("enqueue send", TRACE),
        ("run send", TRACE),
    ]


async def test_a_call_over_grpc_is_a_span_too(make_served):
    provider = Provider()
    served = await make_served(tracer_provider=provider, grpc=GrpcSettings(port=0))
    async with grpc.aio.insecure_channel(served.server.grpc_address) as channel:
        stub = GatewayStub(channel)
        await stub.Topology(TopologyRequest(), metadata=tuple(HEADERS.items()))
        with pytest.raises(grpc.aio.AioRpcError):
            await stub.CancelProcessInstance(CancelProcessInstanceRequest(processInstanceKey=7))
    asked, refused = provider.tracer.spans
    assert (asked.name, asked.kind) == ("gateway_protocol.Gateway/Topology", SpanKind.SERVER)
    assert f"{asked.parent.trace_id:032x}" == TRACE
    assert asked.attributes == {
        "rpc.system": "grpc",
        "rpc.service": "gateway_protocol.Gateway",
        "rpc.method": "Topology",
        "rpc.grpc.status": "OK",
        "procession.operation": "getTopology",
        "enduser.id": "local",
    }
    assert (refused.attributes["rpc.grpc.status"], refused.status) == ("NOT_FOUND", None)
    assert refused.attributes["procession.process.instance_key"] == "7"


async def test_lines_of_the_log_say_the_instance_and_the_trace(make_served, caplog):
    served = await make_served(tracer_provider=Provider())
    lines: list[dict] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(msgspec.json.decode(JsonLines().format(record)))

    handler = Kept()
    logging.getLogger("procession.api").addHandler(handler)
    try:
        with caplog.at_level(logging.INFO, "procession.api"):
            await served.post("/process-instances/77/cancellation", headers=HEADERS)
            await served.post("/jobs/78/completion", headers=HEADERS)
    finally:
        logging.getLogger("procession.api").removeHandler(handler)
    cancelled, completed = lines
    assert (cancelled["processInstanceKey"], cancelled["traceId"]) == ("77", TRACE)
    assert (completed["jobKey"], completed["traceId"]) == ("78", TRACE)
    assert len(completed["spanId"]) == 16


async def test_without_a_provider_nothing_is_traced(served):
    assert not served.server.web.stations.spans.are_wanted
    assert (await served.get("/topology", headers=HEADERS)).status_code == 200
