"""A problem within a step that becomes an incident. Never leaves the core."""

from __future__ import annotations

from procession.core.state import IncidentKind


class Problem(Exception):
    """An element cannot go on: which kind of incident it becomes, and the text for the person who looks at it."""

    def __init__(self, kind: IncidentKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
