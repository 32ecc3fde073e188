"""Log lines as JSON objects: time, level, logger, message, the job at work, what a line says of itself, trace."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import Any

import msgspec

from procession.worker.at_work import job_of_now, trace_of_now

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
        line.update(job_of_now())
        fields = getattr(record, "fields", None)
        if isinstance(fields, dict):
            line.update(fields)  # pyright: ignore[reportUnknownArgumentType]
        line.update(trace_of_now())
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return _encode(line).decode()
