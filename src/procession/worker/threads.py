"""Persistent threads for blocking handlers: work goes in by a queue, answers come back to the loop in bunches."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from procession.worker.at_work import AT_WORK, in_thread

Work = tuple[Callable[..., Any], list[Any], dict[str, Any], "asyncio.Future[Any]"]


class Threads:
    """As many threads as there are blocking handlers running at once; they live until ``stop``."""

    def __init__(self) -> None:
        self._work: SimpleQueue[Work | None] = SimpleQueue()
        self._done: deque[tuple[asyncio.Future[Any], Any, BaseException | None]] = deque()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ringing = False
        self._threads = 0
        self._busy = 0

    def run(self, function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> asyncio.Future[Any]:
        """Call a function in a thread; called on the loop."""
        loop = self._loop
        if loop is None:
            loop = self._loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        delivery = AT_WORK.get()
        if delivery is not None:
            function = in_thread(delivery, function)
        self._busy += 1
        if self._busy > self._threads:
            self._threads += 1
            threading.Thread(target=self._serve, name=f"procession handler {self._threads}", daemon=True).start()
        self._work.put((function, args, kwargs, future))
        return future

    def stop(self) -> None:
        """End the threads as they become free."""
        for _ in range(self._threads):
            self._work.put(None)
        self._threads = 0

    def _serve(self) -> None:
        """A thread's life."""
        while (work := self._work.get()) is not None:
            function, args, kwargs, future = work
            try:
                answer = (future, function(*args, **kwargs), None)
            except BaseException as error:  # noqa: BLE001 - whatever a handler raises is its answer
                answer = (future, None, error)
            del work, function, args, kwargs, future
            self._done.append(answer)
            del answer
            if not self._ringing:
                self._ringing = True
                try:
                    assert self._loop is not None
                    self._loop.call_soon_threadsafe(self._collect)
                except RuntimeError:
                    return  # the loop is closed: nobody waits

    def _collect(self) -> None:
        """On the loop: hand out the answers."""
        self._ringing = False
        done = self._done
        while done:
            future, value, error = done.popleft()
            self._busy -= 1
            if future.done():
                continue
            if error is None:
                future.set_result(value)
            elif isinstance(error, StopIteration | KeyboardInterrupt | GeneratorExit):  # not the loop's own
                future.set_exception(RuntimeError(f"the handler raised {error!r}"))
            else:
                future.set_exception(error)
