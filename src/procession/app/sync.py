"""The synchronous face: the same verbs for Django, Flask and scripts, on an event loop in a thread of its own.

    app = Procession("postgresql://…")
    with app.sync as procession:
        procession.start("order", {"orderId": "A-17"}, connection=connection)

Handlers run on that loop too when ``run_workers`` is asked for. With ``connection=`` the statements are executed in the
calling thread, on the caller's own connection. It holds no rule and no state of its own.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine, Iterable, Sequence
from concurrent.futures import CancelledError
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypedDict, TypeVar, Unpack

from procession.app.adapters import Connection
from procession.app.arguments import seconds
from procession.app.connections import end_of
from procession.app.flows import EnqueuedFlow, FlowJob
from procession.app.job_rows import EnqueueOptions
from procession.app.queueing import EnqueuedJob
from procession.app.sync_verbs import SyncVerbs
from procession.app.views import ProcessInstance
from procession.errors import Misconfigured, Unavailable
from procession.jobs.kinds import FOLLOW_UP_QUEUE
from procession.store.rows import Statement

if TYPE_CHECKING:
    from procession.app.procession import Procession

T = TypeVar("T")


class StartOptions(TypedDict, total=False):
    """Options of ``Procession.start``."""

    business_id: str
    version: int
    version_tag: str
    tags: Sequence[str]


END_S = 5.0  # for what still runs when it is closed
CALL_TIMEOUT_S = 60.0  # longer than the engine's own deadline of a command, so that its error is the one seen


class SyncProcession(SyncVerbs):
    """Made by ``Procession.sync``; safe to use from several threads."""

    def __init__(self, app: Procession, *, run_workers: bool = False) -> None:
        self.app = app
        self._run_workers = run_workers
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._process = os.getpid()
        self._lock = threading.Lock()

    def open(self) -> Self:
        """Start the loop's thread and open the application; does nothing when it is open.

        Of several threads that open it at once, one does and the others wait. Where the application is open on another
        loop already (a worker, whose blocking handlers run in threads), it is that loop that answers. In a process that
        was forked from one where it was open (a server that loads the application before it forks), it is opened anew.
        """
        if self._process != os.getpid():
            self._begin_anew()
        with self._lock:
            if self._thread is None:
                self._loop = self.app.loop  # which nobody has to end here
            if self._loop is not None:
                return self
            loop = asyncio.new_event_loop()
            thread = threading.Thread(target=loop.run_forever, name="procession-sync", daemon=True)
            thread.start()
            try:
                self._run(self.app.open(run_workers=self._run_workers), loop, CALL_TIMEOUT_S)
            except BaseException:
                _end_loop(loop, thread)
                raise
            self._loop, self._thread = loop, thread
        return self

    def close(self) -> None:
        """Close the application and end the thread; calls under way are answered first. Safe to call twice."""
        if self._process != os.getpid():
            self._begin_anew()
        with self._lock:
            loop, thread = self._loop, self._thread
            if loop is None or thread is None:
                self._loop = None
                return
            self._expect_another_thread()
            self._loop = self._thread = None
            try:
                self._run(self.app.close(), loop, CALL_TIMEOUT_S)
            finally:
                _end_loop(loop, thread)

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def call(self, coroutine: Coroutine[Any, Any, T], *, timeout_s: float | None = CALL_TIMEOUT_S) -> T:
        """Run a coroutine of the application and wait for it. Raises what it raises, or Unavailable after a time."""
        try:
            loop = self._loop_to_wait_for()
        except Misconfigured:
            coroutine.close()
            raise
        return self._run(coroutine, loop, timeout_s)

    def _loop_to_wait_for(self) -> asyncio.AbstractEventLoop:
        """The loop that works, as another thread sees it. Raises Misconfigured."""
        if self._loop is None or (self._thread is None and self.app.loop is not self._loop):
            message = "Open it first: `with app.sync as procession:` or `app.sync.open()`"
            raise Misconfigured(message)
        if self._process != os.getpid():
            message = "This process was forked from the one that opened it: call `app.sync.open()` in this one too"
            raise Misconfigured(message)
        self._expect_another_thread()
        return self._loop

    def _run(self, coroutine: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop, timeout_s: float | None) -> T:
        """Run a coroutine on a loop and wait. Raises what it raises, Unavailable after a time or when it was closed."""
        future = asyncio.run_coroutine_threadsafe(coroutine, loop)
        try:
            return future.result(timeout_s)
        except TimeoutError as error:
            if future.done():
                raise
            future.cancel()
            message = f"No answer within {timeout_s:.0f} s"
            raise Unavailable(message) from error
        except CancelledError:
            message = "It was closed before the answer came"
            raise Unavailable(message) from None
        except BaseException:
            future.cancel()  # an interrupted caller wants no answer any more
            raise

    def _expect_another_thread(self) -> None:
        """Nobody can wait on the thread that has to work. Raises Misconfigured."""
        try:
            here = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            here = False
        if here:
            message = "This is the event loop's own thread (a handler?): use the async methods of the application here"
            raise Misconfigured(message)

    def _begin_anew(self) -> None:
        """Forget what belongs to the process that this one was forked from: its loop's thread does not run here."""
        self._lock = threading.Lock()
        self._loop = self._thread = None
        self._process = os.getpid()
        self.app.forget()

    # -- the verbs that are not as their namesakes -----------------------------------------------------------------
    def start(
        self,
        process_id: str,
        variables: dict[str, Any] | None = None,
        *,
        connection: Connection | None = None,
        **options: Unpack[StartOptions],
    ) -> int:
        """See ``Procession.start``; with ``connection`` in the transaction of that connection, in this thread."""
        if connection is None or self.app.ignores_connections:
            return self.call(self.app.start(process_id, variables, **options))
        key, statements = self.call(self.app.prepare_start(process_id, variables, **options))
        self._execute_on(connection, statements, FOLLOW_UP_QUEUE)
        return key

    def enqueue(
        self,
        type: str,  # noqa: A002 - Camunda's word
        args: Any = None,  # noqa: ANN401 - a mapping, or an object with fields
        *,
        connection: Connection | None = None,
        **options: Unpack[EnqueueOptions],
    ) -> EnqueuedJob:
        """See ``Procession.enqueue``; with ``connection`` in the transaction of that connection, in this thread."""
        (enqueued,) = self.enqueue_many(type, [args], connection=connection, **options)
        return enqueued

    def enqueue_many(
        self,
        type: str,  # noqa: A002 - Camunda's word
        args: Iterable[Any],
        *,
        connection: Connection | None = None,
        **options: Unpack[EnqueueOptions],
    ) -> list[EnqueuedJob]:
        """See ``Procession.enqueue_many``."""
        if connection is None or self.app.ignores_connections:
            return self.call(self.app.enqueue_many(type, args, **options))
        prepared = self.call(self.app.prepare_jobs(type, args, **options))
        if prepared.statements:
            self._execute_on(connection, prepared.statements, prepared.queue)
        return prepared.jobs

    def enqueue_flow(
        self, jobs: Iterable[FlowJob], *, title: str = "", connection: Connection | None = None
    ) -> EnqueuedFlow:
        """See ``Procession.enqueue_flow``."""
        flow = list(jobs)
        if connection is None or self.app.ignores_connections:
            return self.call(self.app.enqueue_flow(flow, title=title))
        prepared = self.call(self.app.prepare_flow(flow, title=title))
        if prepared.statements:
            self._execute_on(connection, prepared.statements, prepared.queue)
        enqueued = EnqueuedFlow(zip((job.name for job in flow), prepared.jobs, strict=True))
        enqueued.flow_key = prepared.flow_key
        return enqueued

    def wait(self, process_instance_key: int, *, timeout: float | None = None) -> ProcessInstance:
        """See ``Procession.wait``."""
        timeout = seconds(timeout, "timeout")
        limit = None if timeout is None else timeout + CALL_TIMEOUT_S
        return self.call(self.app.wait(process_instance_key, timeout=timeout), timeout_s=limit)

    def for_tenant(self, tenant_id: str) -> SyncProcession:
        """See ``Procession.for_tenant``; to be called while this one is open."""
        return self.app.for_tenant(tenant_id).sync.open()

    # -- internal -------------------------------------------------------------------------------------------------
    def _execute_on(self, connection: Connection, statements: Sequence[Statement], queue: str) -> None:
        """Execute on a caller's connection, and let the engine look for what the caller is about to commit."""
        waiting = self.app.execute_on(connection, statements)
        if waiting is not None:
            getattr(waiting, "close", lambda: None)()
            message = "The synchronous face takes a synchronous connection; await Procession.start for this one"
            raise Misconfigured(message)
        is_over = end_of(connection)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.app.expect_commit, connection, is_over, queue)


def _end_loop(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    """End what still runs on a loop, so that nobody waits for it for ever, and stop the loop and its thread."""

    async def end() -> None:
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        await asyncio.wait(rest, timeout=END_S) if rest else None

    asyncio.run_coroutine_threadsafe(end(), loop).result(2 * END_S)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(2 * END_S)
    if not thread.is_alive():
        loop.close()
