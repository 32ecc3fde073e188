"""Shipped helpers for tests: your application rehearsed in memory, a clock turned by hand, what every store must keep.

    from procession.testing import Rehearsal

Nothing but tests imports it. The names below are loaded when they are first used, so that pytest, which finds the
plugin in every environment that has this package, loads nothing else of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from procession.testing.rehearsal import Rehearsal
    from procession.testing.rehearsal_sync import SyncRehearsal
    from procession.testing.virtual_clock import VirtualClock
    from procession.testing.watching import Enqueued, Failure

_HOMES = {
    "Enqueued": "procession.testing.watching",
    "Failure": "procession.testing.watching",
    "Rehearsal": "procession.testing.rehearsal",
    "SyncRehearsal": "procession.testing.rehearsal_sync",
    "VirtualClock": "procession.testing.virtual_clock",
}

__all__ = ["Enqueued", "Failure", "Rehearsal", "SyncRehearsal", "VirtualClock"]


def __getattr__(name: str) -> object:
    """Load a public name when it is asked for."""
    home = _HOMES.get(name)
    if home is None:
        message = f"module 'procession.testing' has no attribute '{name}'"
        raise AttributeError(message)
    return getattr(import_module(home), name)
