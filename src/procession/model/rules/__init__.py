"""What a deployable model must hold: one small function per rule, each with a code of its own."""

from __future__ import annotations

from procession.model.draft import ProcessDraft
from procession.model.reader.reading import Reading


def check(process: ProcessDraft, reading: Reading) -> None:
    """Hold every rule against a linked process; each adds what it finds."""
