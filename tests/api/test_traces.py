"""Traces as OpenTelemetry's own SDK exports them: one trace from a client's request to the end of what it began."""

from __future__ import annotations

import logging
from itertools import pairwise

import msgspec
import pytest
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from procession import Procession, trace_jobs
from procession.api.logs import JsonLines
from procession.testing.bpmn import process

SHOP = process("shop").start().service("pay", type="charge-card").service("weigh").end().xml()


@pytest.fixture
def exported() -> tuple[TracerProvider, InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource.create({"service.name": "shop"}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider, exporter


class Kept(logging.Handler):
    """Lines as JSON objects."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[dict] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(msgspec.json.decode(JsonLines().format(record)))


def headers() -> dict[str, str]:
    """The trace that a client is in, as its HTTP library sends it."""
    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier)
    return carrier


async def test_a_start_a_job_and_its_completion_over_http_are_one_trace(make_served, exported, caplog):
    provider, exporter = exported
    app = Procession("memory://")
    trace_jobs(app, tracer_provider=provider)

    @app.job("weigh")
    async def weigh() -> None:
        logging.getLogger("shop").info("weighed")

    served = await make_served(app, tracer_provider=provider)
    await served.deploy("shop.bpmn", SHOP)
    exporter.clear()
    kept = Kept()
    for name in ("procession.api", "shop"):
        logging.getLogger(name).addHandler(kept)
    with caplog.at_level(logging.DEBUG, "procession.api"), caplog.at_level(logging.INFO, "shop"):
        with provider.get_tracer("client").start_as_current_span("order") as root:
            start = {"processDefinitionId": "shop"}
            started = (await served.post("/process-instances", start, headers=headers())).json()
            taken = {"type": "charge-card", "timeout": 60_000, "maxJobsToActivate": 1, "requestTimeout": 5_000}
            (job,) = (await served.post("/jobs/activation", taken, headers=headers())).json()["jobs"]
            with provider.get_tracer("client").start_as_current_span("charge"):
                await served.post(f"/jobs/{job['jobKey']}/completion", headers=headers())
        await app.wait(int(started["processInstanceKey"]), timeout=20)
    for name in ("procession.api", "shop"):
        logging.getLogger(name).removeHandler(kept)
    spans = {span.name: span for span in exporter.get_finished_spans()}
    client, charge = root.get_span_context(), spans["charge"].context
    parents = {
        "POST /v2/process-instances": client.span_id,
        "POST /v2/jobs/activation": client.span_id,
        "POST /v2/jobs/{jobKey}/completion": charge.span_id,
    }
    for name, parent in parents.items():
        assert spans[name].context.trace_id == client.trace_id, name
        assert spans[name].parent.span_id == parent, name
        assert spans[name].kind is trace.SpanKind.SERVER
    assert spans["POST /v2/jobs/{jobKey}/completion"].attributes["procession.job.key"] == job["jobKey"]
    run = spans["run weigh"]
    assert run.context.trace_id == client.trace_id
    assert run.parent.span_id == spans["POST /v2/process-instances"].context.span_id
    assert run.attributes["procession.process.instance_key"] == int(started["processInstanceKey"])
    assert run.resource.attributes["service.name"] == "shop"
    of_requests = [line for line in kept.lines if "operation" in line]
    assert {line["traceId"] for line in of_requests} == {trace.format_trace_id(client.trace_id)}
    completion = next(line for line in of_requests if line["operation"] == "completeJob")
    assert completion["spanId"] == trace.format_span_id(spans["POST /v2/jobs/{jobKey}/completion"].context.span_id)
    assert completion["jobKey"] == job["jobKey"]
    (weighed,) = [line for line in kept.lines if line["message"] == "weighed"]
    assert weighed["processInstanceKey"] == started["processInstanceKey"]
    assert weighed["traceId"] == trace.format_trace_id(run.context.trace_id)
    assert weighed["spanId"] == trace.format_span_id(run.context.span_id)


async def test_a_job_that_a_request_enqueues_runs_in_its_trace_and_its_lines_say_so(make_served, exported, caplog):
    provider, exporter = exported
    app = Procession("memory://")
    trace_jobs(app, tracer_provider=provider)

    @app.job("send")
    def send() -> None:  # in a thread
        logging.getLogger("shop").info("sent")

    served = await make_served(app, tracer_provider=provider)
    kept = Kept()
    logging.getLogger("shop").addHandler(kept)
    with caplog.at_level(logging.INFO, "shop"):
        with provider.get_tracer("client").start_as_current_span("order") as root:
            body = {"type": "send", "args": [{}]}
            answer = (await served.client.post("/api/jobs", json=body, headers=headers())).json()
        await app.run_until_idle()
    logging.getLogger("shop").removeHandler(kept)
    spans = {span.name: span for span in exporter.get_finished_spans()}
    line = ["order", "POST /api/jobs", "enqueue send", "run send"]
    for parent, child in pairwise(line):
        assert spans[child].parent.span_id == spans[parent].context.span_id, child
    assert {spans[name].context.trace_id for name in line} == {root.get_span_context().trace_id}
    (sent,) = kept.lines
    assert sent["traceId"] == trace.format_trace_id(root.get_span_context().trace_id)
    assert sent["spanId"] == trace.format_span_id(spans["run send"].context.span_id)
    assert sent["jobKey"] in str(answer)
