"""Processes for handlers that need a core of their own. Started fresh (spawn), replaced after a number of calls."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from typing import Any

logger = logging.getLogger("procession.worker")


class Processes:
    """A pool, made when it is first needed and made anew when one of its processes died."""

    def __init__(self, count: int, calls_max: int) -> None:
        self._count = count
        self._calls_max = calls_max
        self._pool: ProcessPoolExecutor | None = None

    async def run(self, function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401 - the handler's result
        """Call a function in a process. Raises what it raises; RuntimeError when the process died."""
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self._count,
                mp_context=multiprocessing.get_context("spawn"),
                max_tasks_per_child=self._calls_max,
            )
        pool = self._pool
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, partial(function, *args, **kwargs))
        except BrokenProcessPool as error:
            if self._pool is pool:
                self._pool = None
            message = f"the process that ran {getattr(function, '__qualname__', function)} died"
            raise RuntimeError(message) from error

    def stop(self) -> None:
        """End the processes as they become free."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)
