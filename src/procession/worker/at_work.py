"""Which job is at work where a line of the log is written: in its coroutine, its thread, and what these await.

    handler.addFilter(JobFilter())      # of logging: each line then has ``job_key``, ``process_instance_key``, ...

The dispatcher says which job it is; whoever writes lines asks. A handler in a process of its own logs there by itself:
nothing of this reaches it.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from typing import Any, Final

from procession.engine.delivery import Delivery, said

AT_WORK: Final[ContextVar[Delivery | None]] = ContextVar("procession_at_work", default=None)
NAMES: Final = {
    "job_key": "jobKey",
    "job_type": "jobType",
    "process_instance_key": "processInstanceKey",
    "element_id": "elementId",
    "trace_id": "traceId",
    "span_id": "spanId",
}


class JobFilter(logging.Filter):
    """Gives every line ``job_key``, ``job_type``, ``process_instance_key``, ``element_id``, ``trace_id``, ``span_id``.

    They are texts, empty where there is none: a format may name them (``%(job_key)s``). No line is left out.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Say what is at work."""
        found = {**job_of_now(), **trace_of_now()}
        for attribute, name in NAMES.items():
            setattr(record, attribute, found.get(name, ""))
        return True


def job_of_now() -> dict[str, str]:
    """The job that is at work here as fields of a line; empty outside of any."""
    delivery = AT_WORK.get()
    return said(delivery)["fields"] if delivery is not None else {}


def trace_of_now() -> dict[str, str]:
    """The trace and span that are under way, as OpenTelemetry writes them; empty outside of any, or without it."""
    if "opentelemetry.trace" not in sys.modules:  # who does not trace does not import it
        return {}
    from opentelemetry import trace  # noqa: PLC0415 - an optional guest

    found = trace.get_current_span().get_span_context()
    if not found.is_valid:
        return {}
    return {"traceId": trace.format_trace_id(found.trace_id), "spanId": trace.format_span_id(found.span_id)}


def in_thread(delivery: Delivery, function: Callable[..., Any]) -> Callable[..., Any]:
    """A call that says in its thread which job is at work there, for as long as it runs."""
    return partial(_call, delivery, function)


def _call(delivery: Delivery, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
    token = AT_WORK.set(delivery)
    try:
        return function(*args, **kwargs)
    finally:
        AT_WORK.reset(token)
