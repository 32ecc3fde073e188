"""What a deployable model must hold: one small function per rule, each with a code of its own.

Rules see linked drafts and add findings; they change nothing and stop nothing. What a reference leads to, and whether
an attribute can be read at all, is found before, by `reader` and `link`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from procession.model.draft import ProcessDraft
from procession.model.reader.reading import Reading
from procession.model.rules import activities, compensation, constants, events, flows, gateways, scopes

RULES: Final[tuple[Callable[[ProcessDraft, Reading], None], ...]] = (
    *scopes.RULES,
    *events.RULES,
    *gateways.RULES,
    *compensation.RULES,
    *activities.RULES,
    *flows.RULES,
    *constants.RULES,
)


def check(process: ProcessDraft, reading: Reading) -> None:
    """Hold every rule against a linked process; each adds what it finds."""
    for rule in RULES:
        rule(process, reading)
