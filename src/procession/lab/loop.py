"""What the lab's processes run on, as ``procession work`` does: uvloop where it is installed, a calm collector."""

from __future__ import annotations

import asyncio
import importlib.util
import signal
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from procession.worker.collector import calm_collector

T = TypeVar("T")


def loop_name() -> str:
    """The loop that `run` uses."""
    return "uvloop" if _has_uvloop() else "asyncio"


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end.

    Ctrl-C cancels it and then raises KeyboardInterrupt; SIGTERM cancels it and then raises CancelledError.
    """
    calm_collector()
    with asyncio.Runner(loop_factory=_factory()) as runner:
        return runner.run(_until_sigterm(coroutine))


async def _until_sigterm(coroutine: Coroutine[Any, Any, T]) -> T:
    """Await it in this task, which a signal cancels."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await coroutine


def _has_uvloop() -> bool:
    return importlib.util.find_spec("uvloop") is not None


def _factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    if not _has_uvloop():
        return None
    import uvloop  # noqa: PLC0415 - it is not installed everywhere

    return uvloop.new_event_loop
