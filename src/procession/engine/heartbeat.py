"""The heartbeat: a thread of its own, so that a blocked event loop or a busy main thread does not look like death.

It has its own connection to the database, measures the store's clock, and watches the main loop: a handler that blocks
it is named. When the process cannot show that it lives in time, it says so (``lost``) before others may rescue its
work. It never touches an instance or a job.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from types import FrameType

from procession.engine.clock import StoreClock
from procession.engine.settings import Settings
from procession.errors import Unavailable
from procession.store.port import Store

logger = logging.getLogger("procession.engine")

WAITING_FILES = ("selectors.py", "asyncio/base_events.py", "asyncio/runners.py")  # where an idle loop stands


class Heartbeat:
    """Beats for one node. ``lost`` is called once per loss, from the thread, with the reason."""

    def __init__(
        self,
        settings: Settings,
        clock: StoreClock,
        *,
        open_store: Callable[[], Awaitable[Store]] | None,
        lost: Callable[[str], None],
        blocking: Callable[[FrameType], str],
    ) -> None:
        self._beat_s = settings.heartbeat_ms / 1000
        self._blocked_s = settings.blocked_ms / 1000
        self._silent_s = self._beat_s * settings.heartbeat_missed_max
        self._clock = clock
        self._open_store = open_store
        self._lost = lost
        self._blocking = blocking
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._node = 0
        self._beaten_at = 0.0
        self._seen_at = 0.0
        self._reported = False

    def start(self, node: int) -> None:
        """Beat for this node from now on; called on the main loop."""
        self._node = node
        self._beaten_at = self._seen_at = time.monotonic()
        if self._thread is None:
            self._stop.clear()
            loop = asyncio.get_running_loop()
            self._thread = threading.Thread(
                target=self._main, args=(loop, threading.get_ident()), name="procession heartbeat", daemon=True
            )
            self._thread.start()

    async def stop(self) -> None:
        """End the thread."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._stop.set()
            await asyncio.to_thread(thread.join, 10)

    # -- on the thread ----------------------------------------------------------------------------------------------
    def _main(self, loop: asyncio.AbstractEventLoop, main_thread: int) -> None:
        """The thread."""
        try:
            asyncio.run(self._beat_on(loop, main_thread))
        except Exception:
            logger.exception("the heartbeat ended")
            self._lose("the heartbeat ended by a defect")

    async def _beat_on(self, loop: asyncio.AbstractEventLoop, main_thread: int) -> None:
        """Beat after beat, each a fixed time after the last."""
        store: Store | None = None
        due = time.monotonic()
        try:
            while not self._stop.is_set():
                store = await self._one_beat(store)
                self._watch(loop, main_thread)
                due = max(due + self._beat_s, time.monotonic() + self._beat_s / 4)
                await self._until(due, loop, main_thread)
        finally:
            if store is not None:
                await store.close()

    async def _until(self, due: float, loop: asyncio.AbstractEventLoop, main_thread: int) -> None:
        """Wait for the next beat, looking after the main loop and for the end."""
        while (left := due - time.monotonic()) > 0 and not self._stop.is_set():
            await asyncio.sleep(min(left, self._blocked_s / 10))
            if time.monotonic() - self._seen_at > self._blocked_s:
                self._watch(loop, main_thread)

    async def _one_beat(self, store: Store | None) -> Store | None:
        """Say that this process lives, and see what time it is."""
        if self._open_store is None or not self._node:
            self._beaten_at = time.monotonic()
            return None
        node = self._node
        before = time.monotonic()
        try:
            async with asyncio.timeout(max(self._beat_s / 2, self._beaten_at + self._silent_s - before)):
                if store is None:
                    store = await self._open_store()
                alive = await store.beat(node)
                middle = time.monotonic()
                self._clock.measured(await store.now(), middle, time.monotonic())
        except (Unavailable, TimeoutError, OSError) as error:
            if time.monotonic() >= self._beaten_at + self._silent_s:
                self._lose(f"no heartbeat got through for {time.monotonic() - self._beaten_at:.1f} s: {error!r}")
            return store
        if node != self._node:
            return store
        self._beaten_at = before
        if not alive:
            self._lose("others have declared this process dead")
        return store

    def _lose(self, reason: str) -> None:
        """Report the loss of this node once."""
        if self._node:
            self._node = 0
            self._lost(reason)

    def _watch(self, loop: asyncio.AbstractEventLoop, main_thread: int) -> None:
        """Ask the main loop for a sign of life; name what blocks it."""
        silent_s = time.monotonic() - self._seen_at
        if silent_s > 2 * self._blocked_s and not self._reported:
            self._reported = True
            frame = sys._current_frames().get(main_thread)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - documented
            logger.warning("the event loop has been blocked for %.1f s by %s", silent_s, self._culprit(frame))
        try:
            loop.call_soon_threadsafe(self._seen)
        except RuntimeError:
            self._stop.set()  # the main loop is closed: nobody is left to beat for

    def _culprit(self, frame: FrameType | None) -> str:
        """What the main thread does."""
        if frame is None:
            return "something unknown"
        code = frame.f_code
        if code.co_filename.endswith(WAITING_FILES):
            return "nothing of its own: the machine is overloaded, or the process was paused"
        handler = self._blocking(frame) or "code that is not a handler"
        return f"{handler}, at {code.co_filename}:{frame.f_lineno}; a plain function would run in a thread"

    def _seen(self) -> None:
        """The main loop lives (called on it)."""
        self._seen_at = time.monotonic()
        self._reported = False
