"""OpenTelemetry: spans around enqueuing and running, and the trace that goes along with the job. It is asked for.

    app = Procession(URL)
    trace_jobs(app)             # needs opentelemetry-api: pip install 'procession[tracing]'

=================== ========= ======================================================================================
span                kind      attributes
=================== ========= ======================================================================================
``enqueue <type>``  PRODUCER  ``messaging.destination.name`` (the queue), ``messaging.message.id`` (the job's key), of
                              several ``messaging.batch.message_count``; ``procession.job.outcome`` of one
``enqueue flow``    PRODUCER  ``messaging.batch.message_count``
``run <type>``      CONSUMER  the same of the job, ``procession.job.attempt``, of a job of a process its
                              ``procession.process.instance_key`` and ``procession.process.element_id``
=================== ========= ======================================================================================

All have ``messaging.system`` = ``procession`` and ``messaging.operation.type`` (``send``, ``process``). The context is
that of W3C, as ``traceparent`` and ``tracestate`` in the job's metadata: the run is a child of what enqueued it. The
functions over carriers are for whoever brings a trace from elsewhere, such as the headers of a request.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from weakref import WeakKeyDictionary

from procession.app.middleware import JobsToCome, Put
from procession.errors import Misconfigured
from procession.worker import Cancel, Fail, Job, Outcome, Retry
from procession.worker.middleware import Proceed

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer, TracerProvider

    from procession.app.commanding import Commanding
    from procession.app.middleware import Middleware
    from procession.app.queueing import EnqueuedJob

NAME: Final = "procession"
INSTANCES_MAX: Final = 10_000  # whose traces are remembered
SYSTEM: Final = {"messaging.system": NAME}


Began: TypeAlias = "OrderedDict[int, dict[str, str]]"  # the carriers of instances that began here
_BEGAN: Final[WeakKeyDictionary[object, Began]] = WeakKeyDictionary()  # of applications that are traced


def trace_jobs(app: Middleware, *, tracer_provider: TracerProvider | None = None) -> None:
    """Trace what the application enqueues and runs: see above for the spans. Before it is opened, once.

    ``tracer_provider``: the one of OpenTelemetry's own configuration where it is not said. A job that has been enqueued
    within a trace has metadata, and is inserted as a job with options. Raises Misconfigured without opentelemetry-api.
    """
    tracer = tracer_of(tracer_provider)
    began = _BEGAN.setdefault(app, OrderedDict())
    app.around_enqueue(_Enqueuing(tracer))
    app.around_run(_Running(tracer, began))


async def key_within_trace(app: Commanding) -> int:
    """A key for an instance that begins now, whose jobs are to run in the trace that is under way; 0 outside of any.

    It is remembered here, for the jobs that run in this process, of the last INSTANCES_MAX instances.
    """
    began = _BEGAN.get(app)
    carrier = carrier_of_now() if began is not None else {}
    if began is None or not carrier:
        return 0
    key = await app.new_key()
    began[key] = carrier
    while len(began) > INSTANCES_MAX:
        began.popitem(last=False)
    return key


def tracer_of(tracer_provider: TracerProvider | None = None) -> Tracer:
    """Procession's tracer. Raises Misconfigured without opentelemetry-api."""
    try:
        from opentelemetry import trace  # noqa: PLC0415 - an optional guest
    except ModuleNotFoundError as missing:
        message = "Tracing needs the package opentelemetry-api: pip install 'procession[tracing]' brings it"
        raise Misconfigured(message) from missing
    return trace.get_tracer(NAME, tracer_provider=tracer_provider)


def carrier_of_now() -> dict[str, str]:
    """The trace that is under way as ``traceparent`` and ``tracestate``; empty outside of any."""
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator  # noqa: PLC0415 - see above

    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier)
    return carrier


def context_of(carrier: Mapping[str, str]) -> Context | None:
    """The trace that a carrier brings (a job's metadata, the headers of a request); None where it brings none."""
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator  # noqa: PLC0415 - see above

    return TraceContextTextMapPropagator().extract(carrier) if "traceparent" in carrier else None


class _Enqueuing:
    """Around a call that enqueues."""

    def __init__(self, tracer: Tracer) -> None:
        from opentelemetry.trace import SpanKind  # noqa: PLC0415 - see above

        self._tracer = tracer
        self._kind = SpanKind.PRODUCER

    async def __call__(self, jobs: list[JobsToCome], proceed: Put) -> list[EnqueuedJob]:
        """Within a span of its own, which the jobs take along."""
        name = f"enqueue {jobs[0].type}" if len(jobs) == 1 else "enqueue flow"
        attributes = {**SYSTEM, "messaging.operation.type": "send"}
        with self._tracer.start_as_current_span(name, kind=self._kind, attributes=attributes) as span:
            if carrier := carrier_of_now():
                for each in jobs:
                    each.options["metadata"] = {**(each.options.get("metadata") or {}), **carrier}
            answers = await proceed()
            _say_of_jobs(span, answers)
            return answers


class _Running:
    """Around a run."""

    def __init__(self, tracer: Tracer, began: Began) -> None:
        from opentelemetry.trace import SpanKind, StatusCode  # noqa: PLC0415 - see above

        self._tracer = tracer
        self._began = began
        self._kind = SpanKind.CONSUMER
        self._error = StatusCode.ERROR

    async def __call__(self, job: Job, proceed: Proceed) -> object:
        """Within a span that is a child of what enqueued the job."""
        attributes = _attributes_of(job)
        context = context_of(job.metadata) or context_of(self._began.get(job.process_instance_key, {}))
        with self._tracer.start_as_current_span(
            f"run {job.type}",
            context,
            kind=self._kind,
            attributes=attributes,
            record_exception=False,  # what handlers raise as their outcome is no exception
            set_status_on_exception=False,
        ) as span:
            try:
                value = await proceed()
            except Outcome as outcome:
                self._say_outcome(span, outcome)
                raise
            except BaseException as error:
                span.record_exception(error)
                span.set_status(self._error, type(error).__name__)
                raise
            if isinstance(value, Outcome):
                self._say_outcome(span, value)
            return value

    def _say_outcome(self, span: Span, outcome: Outcome) -> None:
        span.set_attribute("procession.job.outcome", type(outcome).__name__)
        if isinstance(outcome, Retry | Fail | Cancel):
            span.set_status(self._error, str(outcome))


def _say_of_jobs(span: Span, answers: list[EnqueuedJob]) -> None:
    if len(answers) == 1:
        (one,) = answers
        span.set_attribute("messaging.message.id", str(one.job_key))
        span.set_attribute("procession.job.outcome", one.outcome)
    else:
        span.set_attribute("messaging.batch.message_count", len(answers))
    queues = {each.queue for each in answers}
    if len(queues) == 1:
        span.set_attribute("messaging.destination.name", queues.pop())


def _attributes_of(job: Job) -> dict[str, Any]:
    found: dict[str, Any] = {
        **SYSTEM,
        "messaging.operation.type": "process",
        "messaging.destination.name": job.queue,
        "messaging.message.id": str(job.key),
        "procession.job.attempt": job.attempt,
    }
    if job.process_instance_key:
        found["procession.process.instance_key"] = job.process_instance_key
        found["procession.process.element_id"] = job.element_id
    return found
