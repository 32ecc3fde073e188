"""Log lines as JSON objects: time, level, logger, message, and what a line says of itself (instance, job, actor)."""

from __future__ import annotations

import logging
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
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return _encode(line).decode()
