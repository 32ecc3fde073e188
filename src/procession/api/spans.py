"""OpenTelemetry: a span around each request and call, the child of the trace that its client is in. It is asked for.

Their names and attributes stand in ``docs/server-metrics.md``. What a verb enqueues takes the trace along
(``app/tracing.py``). Without a provider nothing of OpenTelemetry is imported and nothing costs anything.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from procession.app.tracing import context_of, tracer_of

if TYPE_CHECKING:
    from opentelemetry.trace import Span, TracerProvider

CARRIED: Final = ("traceparent", "tracestate")
KEYS: Final = {  # of paths, and what they are called on spans
    "processInstanceKey": "procession.process.instance_key",
    "processDefinitionKey": "procession.process.definition_key",
    "elementInstanceKey": "procession.element.instance_key",
    "jobKey": "procession.job.key",
    "userTaskKey": "procession.user_task.key",
    "incidentKey": "procession.incident.key",
}


class Visited:
    """What is said of one request while its span is open."""

    def __init__(self, span: Span | None) -> None:
        self._span = span

    def answered(self, status: str | int, name: str, *, actor: str, path: Mapping[str, str], error: str = "") -> None:
        """How it ended: ``status`` under the attribute ``name``; ``error``: why it is the server's fault, if it is."""
        span = self._span
        if span is None:
            return
        from opentelemetry.trace import StatusCode  # noqa: PLC0415 - an optional guest

        span.set_attribute(name, status)
        if actor:
            span.set_attribute("enduser.id", actor)
        for key, value in path.items():
            if key in KEYS:
                span.set_attribute(KEYS[key], value)
        if error:
            span.set_attribute("error.type", str(status))
            span.set_status(StatusCode.ERROR, error)


class Spans:
    """Of one server. Raises Misconfigured where a provider is given and opentelemetry-api is not there."""

    def __init__(self, tracer_provider: TracerProvider | None) -> None:
        self._tracer = tracer_of(tracer_provider) if tracer_provider is not None else None

    @property
    def are_wanted(self) -> bool:
        """Whether there are any."""
        return self._tracer is not None

    @contextmanager
    def around(self, name: str, carrier: Mapping[str, str], attributes: Mapping[str, str]) -> Generator[Visited]:
        """A span around a request; ``carrier`` are its headers, of which ``CARRIED`` are believed."""
        if self._tracer is None:
            yield UNTRACED
            return
        from opentelemetry.trace import SpanKind  # noqa: PLC0415 - an optional guest

        carried = {key: carrier[key] for key in CARRIED if key in carrier}
        with self._tracer.start_as_current_span(
            name, context_of(carried), kind=SpanKind.SERVER, attributes=dict(attributes)
        ) as span:
            yield Visited(span)


UNTRACED: Final = Visited(None)
