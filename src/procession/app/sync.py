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
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import CancelledError
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypedDict, TypeVar, Unpack

from procession.app.adapters import Connection
from procession.app.arguments import seconds
from procession.app.batches import Batch, BatchError, How, Which
from procession.app.connections import end_of
from procession.app.operations import Finding
from procession.app.views import (
    DecisionDefinition,
    Deployment,
    HistoryEvent,
    Incident,
    InstanceDetails,
    JobInfo,
    Message,
    Node,
    ProcessDefinition,
    ProcessInstance,
    Published,
    Subscription,
    UserTask,
)
from procession.errors import Misconfigured, Unavailable
from procession.limits import PAGE_MAX

if TYPE_CHECKING:
    from procession.app.deployments import File
    from procession.app.procession import Procession

T = TypeVar("T")


class StartOptions(TypedDict, total=False):
    """Options of ``Procession.start``."""

    business_id: str
    version: int
    version_tag: str
    tags: Sequence[str]


class ModifyOptions(TypedDict, total=False):
    """Options of ``Procession.modify``."""

    activate: Sequence[str] | Mapping[str, dict[str, Any]]
    move: Mapping[str, str] | Mapping[int, str] | Mapping[str | int, str] | None
    terminate: Sequence[str | int]


class PublishOptions(TypedDict, total=False):
    """Options of ``Procession.publish``."""

    correlation_key: str
    variables: dict[str, Any] | None
    ttl: str | float | timedelta
    message_id: str


class InstanceFilters(TypedDict, total=False):
    """Filters of ``Procession.instances``."""

    process_id: str
    state: str
    business_id: str
    with_incident: bool
    tag: str
    parent: int
    after: int
    limit: int


class JobFilters(TypedDict, total=False):
    """Filters of ``Procession.jobs``."""

    process_instance_key: int
    state: str
    kind: str
    queue: str
    type: str
    after: int
    limit: int


class IncidentFilters(TypedDict, total=False):
    """Filters of ``Procession.incidents``."""

    process_instance_key: int
    process_id: str
    after: int
    limit: int


class UserTaskFilters(TypedDict, total=False):
    """Filters of ``Procession.user_tasks``."""

    process_instance_key: int
    assignee: str
    group: str
    after: int
    limit: int


END_S = 5.0  # for what still runs when it is closed
CALL_TIMEOUT_S = 60.0  # longer than the engine's own deadline of a command, so that its error is the one seen


class SyncProcession:
    """Made by ``Procession.sync``; safe to use from several threads."""

    def __init__(self, app: Procession, *, run_workers: bool = False) -> None:
        self._app = app
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
                self._loop = self._app.loop  # which nobody has to end here
            if self._loop is not None:
                return self
            loop = asyncio.new_event_loop()
            thread = threading.Thread(target=loop.run_forever, name="procession-sync", daemon=True)
            thread.start()
            try:
                self._run(self._app.open(run_workers=self._run_workers), loop, CALL_TIMEOUT_S)
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
                self._run(self._app.close(), loop, CALL_TIMEOUT_S)
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
        if self._loop is None or (self._thread is None and self._app.loop is not self._loop):
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
        self._app.forget()

    # -- the verbs ------------------------------------------------------------------------------------------------
    def deploy(self, *files: File) -> Deployment:
        """See ``Procession.deploy``."""
        return self.call(self._app.deploy(*files))

    def start(
        self,
        process_id: str,
        variables: dict[str, Any] | None = None,
        *,
        connection: Connection | None = None,
        **options: Unpack[StartOptions],
    ) -> int:
        """See ``Procession.start``; with ``connection`` in the transaction of that connection, in this thread."""
        if connection is None or self._app.ignores_connections:
            return self.call(self._app.start(process_id, variables, **options))
        key, statements = self.call(self._app.prepare_start(process_id, variables, **options))
        waiting = self._app.execute_on(connection, statements)
        if waiting is not None:
            getattr(waiting, "close", lambda: None)()
            message = "The synchronous face takes a synchronous connection; await Procession.start for this one"
            raise Misconfigured(message)
        self._expect_commit(connection)
        return key

    def publish(self, name: str, **options: Unpack[PublishOptions]) -> Published:
        """See ``Procession.publish``."""
        return self.call(self._app.publish(name, **options))

    def broadcast(self, name: str, variables: dict[str, Any] | None = None) -> list[int]:
        """See ``Procession.broadcast``."""
        return self.call(self._app.broadcast(name, variables))

    def cancel(self, process_instance_key: int, *, reason: str = "") -> None:
        """See ``Procession.cancel``."""
        self.call(self._app.cancel(process_instance_key, reason=reason))

    def modify(self, process_instance_key: int, **how: Unpack[ModifyOptions]) -> None:
        """See ``Procession.modify``."""
        self.call(self._app.modify(process_instance_key, **how))

    def suspend(self, process_instance_key: int) -> None:
        """See ``Procession.suspend``."""
        self.call(self._app.suspend(process_instance_key))

    def resume(self, process_instance_key: int) -> None:
        """See ``Procession.resume``."""
        self.call(self._app.resume(process_instance_key))

    def migrate_instance(
        self,
        process_instance_key: int,
        target_process_definition_key: int,
        mapping: Mapping[str, str] | None = None,
        *,
        dry_run: bool = False,
    ) -> list[Finding]:
        """See ``Procession.migrate_instance``."""
        target = target_process_definition_key
        return self.call(self._app.migrate_instance(process_instance_key, target, mapping, dry_run=dry_run))

    def batch(self, kind: str, *, per_second: float = 0, which: Which | None = None, **how: Unpack[How]) -> int:
        """See ``Procession.batch``."""
        return self.call(self._app.batch(kind, per_second=per_second, which=which, **how))

    def batch_progress(self, batch_key: int) -> Batch:
        """See ``Procession.batch_progress``."""
        return self.call(self._app.batch_progress(batch_key))

    def batches(self, *, limit: int = 100) -> list[Batch]:
        """See ``Procession.batches``."""
        return self.call(self._app.batches(limit=limit))

    def batch_errors(self, batch_key: int, *, after: int = 0, limit: int = 100) -> list[BatchError]:
        """See ``Procession.batch_errors``."""
        return self.call(self._app.batch_errors(batch_key, after=after, limit=limit))

    def cancel_batch(self, batch_key: int) -> None:
        """See ``Procession.cancel_batch``."""
        self.call(self._app.cancel_batch(batch_key))

    def delete_instance(self, process_instance_key: int) -> None:
        """See ``Procession.delete_instance``."""
        self.call(self._app.delete_instance(process_instance_key))

    def delete_definition(self, process_definition_key: int) -> None:
        """See ``Procession.delete_definition``."""
        self.call(self._app.delete_definition(process_definition_key))

    def resolve(self, incident_key: int, *, retries: int = 1) -> None:
        """See ``Procession.resolve``."""
        self.call(self._app.resolve(incident_key, retries=retries))

    def set_variables(
        self,
        process_instance_key: int,
        variables: dict[str, Any],
        *,
        element_instance_key: int = 0,
        local: bool = False,
    ) -> None:
        """See ``Procession.set_variables``."""
        self.call(
            self._app.set_variables(
                process_instance_key, variables, element_instance_key=element_instance_key, local=local
            )
        )

    def assign_user_task(self, user_task_key: int, assignee: str) -> None:
        """See ``Procession.assign_user_task``."""
        self.call(self._app.assign_user_task(user_task_key, assignee))

    def complete_user_task(self, user_task_key: int, variables: dict[str, Any] | None = None) -> None:
        """See ``Procession.complete_user_task``."""
        self.call(self._app.complete_user_task(user_task_key, variables))

    def wait(self, process_instance_key: int, *, timeout: float | None = None) -> ProcessInstance:
        """See ``Procession.wait``."""
        timeout = seconds(timeout, "timeout")
        limit = None if timeout is None else timeout + CALL_TIMEOUT_S
        return self.call(self._app.wait(process_instance_key, timeout=timeout), timeout_s=limit)

    def definitions(self, process_id: str = "") -> list[ProcessDefinition]:
        """See ``Procession.definitions``."""
        return self.call(self._app.definitions(process_id))

    def definition_xml(self, process_definition_key: int) -> bytes:
        """See ``Procession.definition_xml``."""
        return self.call(self._app.definition_xml(process_definition_key))

    def history(self, process_instance_key: int) -> list[HistoryEvent]:
        """See ``Procession.history``."""
        return self.call(self._app.history(process_instance_key))

    def count_instances(self, process_id: str = "") -> dict[str, int]:
        """See ``Procession.count_instances``."""
        return self.call(self._app.count_instances(process_id))

    def count_jobs(self) -> dict[tuple[str, str], int]:
        """See ``Procession.count_jobs``."""
        return self.call(self._app.count_jobs())

    def messages(self, name: str = "", *, limit: int = 100) -> list[Message]:
        """See ``Procession.messages``."""
        return self.call(self._app.messages(name, limit=limit))

    def subscriptions(
        self, *, process_instance_key: int = 0, name: str = "", limit: int = PAGE_MAX
    ) -> list[Subscription]:
        """See ``Procession.subscriptions``."""
        return self.call(self._app.subscriptions(process_instance_key=process_instance_key, name=name, limit=limit))

    def nodes(self) -> list[Node]:
        """See ``Procession.nodes``."""
        return self.call(self._app.nodes())

    def instance(self, process_instance_key: int) -> InstanceDetails:
        """See ``Procession.instance``."""
        return self.call(self._app.instance(process_instance_key))

    def instances(self, **which: Unpack[InstanceFilters]) -> list[ProcessInstance]:
        """See ``Procession.instances``."""
        return self.call(self._app.instances(**which))

    def decisions(self, decision_id: str = "") -> list[DecisionDefinition]:
        """See ``Procession.decisions``."""
        return self.call(self._app.decisions(decision_id))

    def decision_xml(self, decision_definition_key: int) -> bytes:
        """See ``Procession.decision_xml``."""
        return self.call(self._app.decision_xml(decision_definition_key))

    def jobs(self, **which: Unpack[JobFilters]) -> list[JobInfo]:
        """See ``Procession.jobs``."""
        return self.call(self._app.jobs(**which))

    def incidents(self, **which: Unpack[IncidentFilters]) -> list[Incident]:
        """See ``Procession.incidents``."""
        return self.call(self._app.incidents(**which))

    def user_tasks(self, **which: Unpack[UserTaskFilters]) -> list[UserTask]:
        """See ``Procession.user_tasks``."""
        return self.call(self._app.user_tasks(**which))

    # -- internal -------------------------------------------------------------------------------------------------
    def _expect_commit(self, connection: Connection) -> None:
        """Let the engine look for what the caller is about to commit."""
        is_over = end_of(connection)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._app.expect_commit, connection, is_over)


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
