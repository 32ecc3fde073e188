"""The event loop that the lab's processes run on: uvloop where it is installed, else the standard library's."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def loop_name() -> str:
    """The loop that `run` uses."""
    return "uvloop" if _has_uvloop() else "asyncio"


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end; Ctrl-C cancels it and then raises KeyboardInterrupt."""
    with asyncio.Runner(loop_factory=_factory()) as runner:
        return runner.run(coroutine)


def _has_uvloop() -> bool:
    return importlib.util.find_spec("uvloop") is not None


def _factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    if not _has_uvloop():
        return None
    import uvloop  # noqa: PLC0415 - it is not installed everywhere

    return uvloop.new_event_loop
