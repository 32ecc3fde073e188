"""Log lines as JSON objects: time, level, logger, message, what a line says of itself (instance, job, actor), trace."""

from __future__ import annotations

import logging
import sys
from datetime import UTC, datetime
from typing import Any

import msgspec

_encode = msgspec.json.Encoder(enc_hook=str).encode


class JsonLines(logging.Formatter):
    """One object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        fields = getattr(record, "fields", None)
        if isinstance(fields, dict):
            line.update(fields)  # pyright: ignore[reportUnknownArgumentType]
        line.update(trace_of_now())
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return _encode(line).decode()


def trace_of_now() -> dict[str, str]:
    """The trace and span that are under way, as OpenTelemetry writes them; empty outside of any, or without it."""
    if "opentelemetry.trace" not in sys.modules:  # who does not trace does not import it
        return {}
    from opentelemetry import trace  # noqa: PLC0415 - an optional guest

    found = trace.get_current_span().get_span_context()
    if not found.is_valid:
        return {}
    return {"traceId": trace.format_trace_id(found.trace_id), "spanId": trace.format_span_id(found.span_id)}
