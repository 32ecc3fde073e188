"""What an application puts around enqueuing and running, and the trace that goes along with a job."""

from __future__ import annotations

import asyncio
import contextvars
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.trace import NonRecordingSpan, SpanContext, SpanKind, StatusCode, TraceFlags

from procession import Fail, FlowJob, Job, JobsToCome, Procession, Snooze, trace_jobs
from procession.app.tracing import carrier_of_now, context_of
from procession.errors import InvalidValue, Misconfigured
from procession.testing.bpmn import process

request_id = contextvars.ContextVar("request_id", default="")


@pytest.fixture
def app(make: Callable[..., Procession]) -> Procession:
    return make()


async def _open(app: Procession) -> Procession:
    return await app.open(run_workers=False, migrate=True)


async def test_what_stands_around_enqueuing_may_change_arguments_and_options(app):
    seen: list[tuple[object, ...]] = []

    @app.job("send")
    async def send(job: Job, to: str) -> None:
        seen.append((to, job.metadata, job.tags, job.title))

    @app.around_enqueue
    async def sign(jobs: list[JobsToCome], proceed):
        for each in jobs:
            each.args = [{**args, "to": args["to"].upper()} for args in each.args]
            each.options["metadata"] = {"request": "r-1"}
        answers = await proceed()
        assert [answer.type for answer in answers] == ["send"] * len(answers)
        return answers

    await _open(app)
    await app.enqueue("send", {"to": "ada"}, tags=["a"], title="t")
    await app.enqueue_many("send", [{"to": "grace"}, {"to": "alan"}])
    await app.enqueue_flow([FlowJob("one", "send", {"to": "edsger"}), FlowJob("two", "send", {"to": "barbara"})])
    await app.run_until_idle()
    assert {to for to, *_ in seen} == {"ADA", "GRACE", "ALAN", "EDSGER", "BARBARA"}
    assert ("ADA", {"request": "r-1"}, ["a"], "t") in seen
    assert all(metadata == {"request": "r-1"} for _, metadata, *_ in seen)


async def test_the_first_registered_is_the_outermost_and_may_change_how_a_run_ends(app):
    order: list[str] = []

    def noting(name: str):
        async def around(job: Job, proceed):
            order.append(f"{name} before {job.type} {job.attempt}")
            value = await proceed()
            order.append(f"{name} after")
            return {"n": value["n"] + 1}

        return around

    app.around_run(noting("outer"))
    app.around_run(noting("inner"))

    @app.job("count")
    async def count(n: int) -> dict[str, int]:
        order.append("handler")
        return {"n": n}

    await _open(app)
    job = await app.enqueue("count", {"n": 1}, output=True)
    await app.run_until_idle()
    assert order == ["outer before count 1", "inner before count 1", "handler", "inner after", "outer after"]
    assert (await app.job_record(job.job_key)).output == {"n": 3}


async def test_what_is_raised_around_a_run_is_its_outcome(app):
    @app.around_run
    async def refuse(job: Job, proceed):
        if job.variables.get("stop"):
            raise Fail("not today")
        return await proceed()

    ran: list[int] = []

    @app.job("work")
    async def work(n: int = 0, **rest: object) -> None:
        ran.append(n)

    await _open(app)
    job = await app.enqueue("work", {"stop": True})
    await app.enqueue("work", {"n": 7})
    await app.run_until_idle()
    record = await app.job_record(job.job_key)
    assert (record.state, record.error_message) == ("FAILED", "not today")
    assert ran == [7]


async def test_jobs_of_processes_and_methods_have_it_around_them_and_threads_see_its_context(app):
    seen: list[tuple[str, str, str]] = []

    @app.around_run
    async def within(job: Job, proceed):
        request_id.set(f"r of {job.type}")
        return await proceed()

    @app.method("look")
    async def look(job: Job) -> None:
        seen.append((job.type, job.element_id, request_id.get()))

    @app.job("do")
    def do(job: Job) -> None:
        seen.append((job.type, job.element_id, request_id.get()))

    await _open(app)
    await app.deploy(("p.bpmn", process("p").start().task("look").service("do", type="do").end().xml()))
    await app.start("p")
    await app.run_until_idle()
    assert seen == [("look", "look", "r of look"), ("do", "do", "r of do")]


async def test_middleware_that_gives_no_answers_is_named():
    app = Procession("memory://")

    @app.around_enqueue
    async def forget(jobs, proceed):
        await proceed()

    @app.job("send")
    async def send() -> None: ...

    async with app:
        with pytest.raises(Misconfigured, match=r"what proceed\(\) gave, 1 answers, found NoneType"):
            await app.enqueue("send")


async def test_what_is_refused_around_enqueuing_is_not_enqueued(app):
    @app.around_enqueue
    async def refuse(jobs, proceed):
        raise InvalidValue("not on a Sunday")

    await _open(app)
    with pytest.raises(InvalidValue, match="not on a Sunday"):
        await app.enqueue("send")
    assert await app.jobs() == []


def test_it_is_around_what_joins_a_callers_transaction_too(tmp_path: Path):
    app = Procession(f"sqlite:///{tmp_path / 'jobs.db'}")

    @app.around_enqueue
    async def sign(jobs, proceed):
        jobs[0].options["title"] = "signed"
        return await proceed()

    with app.sync, closing(sqlite3.connect(tmp_path / "jobs.db")) as connection:
        app.sync.enqueue("send", {"to": "ada"}, connection=connection)
        flow = app.sync.enqueue_flow(
            [FlowJob("first", "send"), FlowJob("then", "send", after=["first"])], connection=connection
        )
        connection.commit()
        assert set(flow) == {"first", "then"}
        assert {job.queue for job in app.sync.jobs()} == {"$submit"}


# -- traces -----------------------------------------------------------------------------------------------------------


class Recorded(NonRecordingSpan):
    """A span of OpenTelemetry's interface that can be looked at."""

    def __init__(self, name: str, context: SpanContext, parent: SpanContext, kind: SpanKind, attributes: dict) -> None:
        super().__init__(context)
        self.name, self.parent, self.kind, self.attributes = name, parent, kind, dict(attributes or {})
        self.status, self.errors = None, []

    def set_attribute(self, key, value):
        self.attributes[key] = value

    def set_status(self, status, description=None):
        self.status = status

    def record_exception(self, exception, *args, **options):
        self.errors.append(exception)


class Tracer(trace.Tracer):
    """Keeps its spans."""

    def __init__(self) -> None:
        self.spans: list[Recorded] = []

    def start_span(self, name, context=None, kind=SpanKind.INTERNAL, attributes=None, **options):
        parent = trace.get_current_span(context).get_span_context()
        number = len(self.spans) + 1
        own = SpanContext(parent.trace_id or 1000 + number, number, is_remote=False, trace_flags=TraceFlags(1))
        self.spans.append(Recorded(name, own, parent, kind, attributes))
        return self.spans[-1]

    @contextmanager
    def start_as_current_span(self, name, context=None, *args, **options) -> Iterator[Recorded]:
        span = self.start_span(name, context, *args, **options)
        with trace.use_span(span):
            yield span


class Provider(trace.TracerProvider):
    def __init__(self) -> None:
        self.tracer = Tracer()

    def get_tracer(self, *args, **options):
        return self.tracer


async def test_a_run_is_a_child_of_what_enqueued_the_job(app):
    provider = Provider()
    trace_jobs(app, tracer_provider=provider)
    inside: list[dict[str, str]] = []

    @app.job("send", queue="mail")
    def send(job: Job) -> None:
        inside.append(carrier_of_now())

    await _open(app)
    job = await app.enqueue("send", metadata={"by": "shop"})
    await app.run_until_idle()
    enqueued, ran = provider.tracer.spans
    assert (enqueued.name, enqueued.kind) == ("enqueue send", SpanKind.PRODUCER)
    assert (ran.name, ran.kind) == ("run send", SpanKind.CONSUMER)
    assert ran.parent.span_id == enqueued.get_span_context().span_id
    assert ran.get_span_context().trace_id == enqueued.get_span_context().trace_id
    assert enqueued.attributes["messaging.message.id"] == ran.attributes["messaging.message.id"] == str(job.job_key)
    assert enqueued.attributes["messaging.destination.name"] == ran.attributes["messaging.destination.name"] == "mail"
    assert inside[0]["traceparent"].split("-")[2] == f"{ran.get_span_context().span_id:016x}"
    assert ran.status is None


async def test_a_flow_is_one_span_and_the_runs_are_its_children():
    app, provider = Procession("memory://"), Provider()
    trace_jobs(app, tracer_provider=provider)

    @app.job("send")
    async def send() -> None: ...

    await app.open(run_workers=False)
    await app.enqueue_flow([FlowJob("a", "send"), FlowJob("b", "send", after=["a"])])
    await app.run_until_idle()
    first, *runs = provider.tracer.spans
    assert (first.name, first.attributes["messaging.batch.message_count"]) == ("enqueue flow", 2)
    assert [run.parent.span_id for run in runs] == [first.get_span_context().span_id] * 2
    await app.close()


@pytest.mark.parametrize(
    ("raised", "status", "outcome", "errors"),
    [
        (ConnectionError("broken"), StatusCode.ERROR, None, 1),
        (Fail("no"), StatusCode.ERROR, "Fail", 0),
        (Snooze("1h"), None, "Snooze", 0),
    ],
)
async def test_how_a_run_ended_is_said_by_its_span(raised, status, outcome, errors):
    app, provider = Procession("memory://"), Provider()
    trace_jobs(app, tracer_provider=provider)

    @app.job("work", retries=1)
    async def work() -> None:
        raise raised

    await app.open(run_workers=False)
    await app.enqueue("work")
    await app.run_until_idle()
    span = provider.tracer.spans[-1]
    assert (span.status, span.attributes.get("procession.job.outcome"), len(span.errors)) == (status, outcome, errors)
    await app.close()


def test_a_carrier_without_a_trace_brings_none():
    assert context_of({"by": "shop"}) is None
    assert carrier_of_now() == {}


async def test_without_middleware_a_run_is_called_as_it_is():
    app = Procession("memory://")

    @app.job("work")
    async def work() -> None:
        await asyncio.sleep(0)

    async with app:
        local = app._engine.dispatcher._local
        assert local._call == local._call_handler
