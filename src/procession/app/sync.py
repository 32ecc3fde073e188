"""The synchronous face: the same verbs for Django, Flask and scripts, on an event loop in a thread of its own.

    app = Procession("postgresql://…")
    with app.sync as procession:
        procession.start("order", {"orderId": "A-17"}, connection=connection)

Handlers run on that loop too when ``run_workers`` is asked for. With ``connection=`` the statements are executed in the
calling thread, on the caller's own connection. It holds no rule and no state of its own.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypedDict, TypeVar, Unpack

from procession.app.connections import Connection, execute
from procession.app.views import (
    DecisionDefinition,
    Deployment,
    Incident,
    InstanceDetails,
    JobInfo,
    ProcessInstance,
    Published,
    UserTask,
)
from procession.errors import Misconfigured, Unavailable

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


class PublishOptions(TypedDict, total=False):
    """Options of ``Procession.publish``."""

    correlation_key: str
    variables: dict[str, Any] | None
    ttl: str | float
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


CALL_TIMEOUT_S = 60.0  # longer than the engine's own deadline of a command, so that its error is the one seen


class SyncProcession:
    """Made by ``Procession.sync``; safe to use from several threads."""

    def __init__(self, app: Procession, *, run_workers: bool = False) -> None:
        self._app = app
        self._run_workers = run_workers
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def open(self) -> Self:
        """Start the loop's thread and open the application; does nothing when it is open."""
        with self._lock:
            if self._loop is not None:
                return self
            loop = asyncio.new_event_loop()
            thread = threading.Thread(target=loop.run_forever, name="procession-sync", daemon=True)
            thread.start()
            self._loop, self._thread = loop, thread
        try:
            self.call(self._app.open(run_workers=self._run_workers))
        except BaseException:
            self._end_loop()
            raise
        return self

    def close(self) -> None:
        """Close the application and end the thread. Safe to call twice."""
        if self._loop is None:
            return
        try:
            self.call(self._app.close())
        finally:
            self._end_loop()

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def call(self, coroutine: Coroutine[Any, Any, T], *, timeout_s: float = CALL_TIMEOUT_S) -> T:
        """Run a coroutine of the application and wait for it. Raises what it raises, or Unavailable after a time."""
        loop = self._loop
        if loop is None:
            coroutine.close()
            message = "Open it first: `with app.sync as procession:` or `app.sync.open()`"
            raise Misconfigured(message)
        if threading.current_thread() is self._thread:
            coroutine.close()
            message = "This is the event loop's own thread (a handler?): use the async methods of the application here"
            raise Misconfigured(message)
        future = asyncio.run_coroutine_threadsafe(coroutine, loop)
        try:
            return future.result(timeout_s)
        except TimeoutError as error:
            if future.done():
                raise
            future.cancel()
            message = f"No answer within {timeout_s:.0f} s"
            raise Unavailable(message) from error

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
        if connection is None:
            return self.call(self._app.start(process_id, variables, **options))
        key, statements = self.call(self._app.prepare_start(process_id, variables, **options))
        if execute(connection, statements) is not None:
            message = "The synchronous face takes a synchronous connection; await Procession.start for this one"
            raise Misconfigured(message)
        self._hint()
        return key

    def publish(self, name: str, **options: Unpack[PublishOptions]) -> Published:
        """See ``Procession.publish``."""
        return self.call(self._app.publish(name, **options))

    def broadcast(self, name: str, variables: dict[str, Any] | None = None) -> list[int]:
        """See ``Procession.broadcast``."""
        return self.call(self._app.broadcast(name, variables))

    def cancel(self, process_instance_key: int) -> None:
        """See ``Procession.cancel``."""
        self.call(self._app.cancel(process_instance_key))

    def resolve(self, incident_key: int, *, retries: int = 1) -> None:
        """See ``Procession.resolve``."""
        self.call(self._app.resolve(incident_key, retries=retries))

    def set_variables(self, process_instance_key: int, variables: dict[str, Any]) -> None:
        """See ``Procession.set_variables``."""
        self.call(self._app.set_variables(process_instance_key, variables))

    def complete_user_task(self, user_task_key: int, variables: dict[str, Any] | None = None) -> None:
        """See ``Procession.complete_user_task``."""
        self.call(self._app.complete_user_task(user_task_key, variables))

    def wait(self, process_instance_key: int, *, timeout: float | None = None) -> ProcessInstance:
        """See ``Procession.wait``."""
        limit = CALL_TIMEOUT_S if timeout is None else timeout + CALL_TIMEOUT_S
        return self.call(self._app.wait(process_instance_key, timeout=timeout), timeout_s=limit)

    def instance(self, process_instance_key: int) -> InstanceDetails:
        """See ``Procession.instance``."""
        return self.call(self._app.instance(process_instance_key))

    def instances(self, **which: Unpack[InstanceFilters]) -> list[ProcessInstance]:
        """See ``Procession.instances``."""
        return self.call(self._app.instances(**which))

    def decisions(self, decision_id: str = "") -> list[DecisionDefinition]:
        """See ``Procession.decisions``."""
        return self.call(self._app.decisions(decision_id))

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
    def _hint(self) -> None:
        """Let the engine look for what the caller is about to commit."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._app.hint)

    def _end_loop(self) -> None:
        """Stop the loop and wait for its thread."""
        loop, thread = self._loop, self._thread
        self._loop = self._thread = None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join(10)
            loop.close()
