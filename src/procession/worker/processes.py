"""Processes for handlers that need a core of their own: started fresh (spawn), each with one call at a time.

One is replaced after a number of calls, when it has grown too large, when it died, and when its call is cancelled: a
handler in a process sees no flag, so the process is killed, and the next call gets a new one.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import pickle
import sys
from collections import deque
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from procession.errors import InvalidValue
from procession.worker.failures import FarError, failure_text, type_name

logger = logging.getLogger("procession.worker")


class Processes:
    """At most ``count`` processes, each made when it is first needed. ``memory_mb_max`` 0: however large."""

    def __init__(self, count: int, calls_max: int, memory_mb_max: int = 0) -> None:
        self._count = count
        self._calls_max = calls_max
        self._memory_mb_max = memory_mb_max
        self._made = 0
        self._free: list[ProcessPoolExecutor] = []
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def run(self, function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401 - the handler's result
        """Call a function in a process. Raises what it raises; RuntimeError when the process died.

        What cannot be carried from there to here is told: an exception as ``FarError``, a result as InvalidValue.
        """
        process = await self._take()
        name = getattr(function, "__qualname__", str(function))
        try:
            loop = asyncio.get_running_loop()
            carried, memory_mb = await loop.run_in_executor(process, _call, function, args, kwargs)
        except asyncio.CancelledError:
            logger.warning("the process that ran %s is killed: its call was cancelled", name)
            _kill(process)
            self._replace()
            raise
        except BrokenProcessPool as error:
            self._replace()
            message = f"the process that ran {name} died"
            raise RuntimeError(message) from error
        except BaseException:
            self._give_back(process)
            raise
        if self._memory_mb_max and memory_mb > self._memory_mb_max:
            logger.info("the process that ran %s has taken %d MB: the next call gets a new one", name, memory_mb)
            process.shutdown(wait=False)
            self._replace()
        else:
            self._give_back(process)
        return _unpacked(carried, name)

    def stop(self) -> None:
        """End the processes; those that run something do so when it has ended."""
        for process in self._free:
            process.shutdown(wait=False, cancel_futures=True)
        self._made -= len(self._free)
        self._free.clear()

    async def _take(self) -> ProcessPoolExecutor:
        """A process that runs nothing; waits for one where all do."""
        while not self._free and self._made >= self._count:
            wait: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(wait)
            try:
                await wait
            except asyncio.CancelledError:
                if wait.done() and not wait.cancelled():
                    self._wake()  # what this one was woken for, the next one takes
                raise
        if self._free:
            return self._free.pop()
        self._made += 1
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(1, mp_context=context, max_tasks_per_child=self._calls_max)

    def _give_back(self, process: ProcessPoolExecutor) -> None:
        """It runs nothing any more."""
        self._free.append(process)
        self._wake()

    def _replace(self) -> None:
        """It is gone: there may be another one."""
        self._made -= 1
        self._wake()

    def _wake(self) -> None:
        while self._waiting:
            wait = self._waiting.popleft()
            if not wait.done():
                wait.set_result(None)
                return


def _call(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> tuple[bytes, int]:
    """In the process: what the function gives, and how large the process has been in MB (0 where nobody knows).

    The pool takes a process for dead whose answer it cannot read. So it gets only answers that it can.
    """
    try:
        value = function(*args, **kwargs)
    except BaseException as error:
        if _is_carried(error):
            raise
        raise FarError(type_name(error), failure_text(error)) from None
    carried = pickle.dumps(value)
    try:
        import resource  # noqa: PLC0415 - not on Windows, and only here
    except ModuleNotFoundError:
        return carried, 0
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return carried, largest >> (20 if sys.platform == "darwin" else 10)


def _is_carried(error: BaseException) -> bool:
    """Whether an exception can be sent, and made again from that: one with arguments of its own often cannot."""
    try:
        return type(pickle.loads(pickle.dumps(error))) is type(error)  # noqa: S301 - what was just written
    except Exception:  # noqa: BLE001 - whatever its class does in pickling
        return False


def _unpacked(carried: bytes, name: str) -> Any:  # noqa: ANN401 - the handler's result
    try:
        return pickle.loads(carried)  # noqa: S301 - of our own process
    except Exception as error:
        message = f"Expected the result of {name} to come back from its process, but it cannot be made again: {error}"
        raise InvalidValue(message) from error


def _kill(pool: ProcessPoolExecutor) -> None:
    """End a pool whose process may never end by itself."""
    processes: dict[int, Any] = dict(
        getattr(pool, "_processes", None) or {}
    )  # public from Python 3.14 on: kill_workers
    for process in processes.values():
        process.kill()
    pool.shutdown(wait=False, cancel_futures=True)
