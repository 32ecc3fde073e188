"""A rehearsal for code that uses ``app.sync`` (Django, Flask, scripts): the same, without ``await``.

    with Rehearsal(app) as rehearsal:
        app.sync.start("order", {"orderId": "A-17"})
        rehearsal.drain()

The application's event loop is in a thread of its own. It holds no rule: each method is the one of ``Rehearsal``.
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self, TypeVar

from procession.app import Procession
from procession.app.views import Incident, ProcessInstance
from procession.jobs.retry import Span
from procession.testing.virtual_clock import Moment, VirtualClock
from procession.testing.watching import Enqueued, Failure

if TYPE_CHECKING:
    from procession.testing.rehearsal import Rehearsal

T = TypeVar("T")


class SyncRehearsal:
    """Made by ``with Rehearsal(app) as rehearsal``."""

    def __init__(self, rehearsal: Rehearsal) -> None:
        self._rehearsal = rehearsal

    def open(self) -> Self:
        """Let the application work in memory, and open ``app.sync``."""
        self._rehearsal.enter()
        try:
            self.app.sync.open()
        except BaseException:
            self._rehearsal.leave()
            raise
        return self

    def close(self) -> None:
        """Close ``app.sync``, and let the application be what it was."""
        try:
            self.app.sync.close()
        finally:
            self._rehearsal.leave()

    @property
    def app(self) -> Procession:
        """The application."""
        return self._rehearsal.app

    @property
    def clock(self) -> VirtualClock:
        """Its clock."""
        return self._rehearsal.clock

    @property
    def now(self) -> datetime:
        """Where the clock stands."""
        return self._rehearsal.now

    @property
    def failures(self) -> list[Failure]:
        """See ``Rehearsal.failures``."""
        return self._rehearsal.failures

    def drain(self) -> None:
        """See ``Rehearsal.drain``."""
        self._call(self._rehearsal.drain())

    def advance(self, span: Span) -> None:
        """See ``Rehearsal.advance``."""
        self._call(self._rehearsal.advance(span))

    def advance_to(self, at: Moment) -> None:
        """See ``Rehearsal.advance_to``."""
        self._call(self._rehearsal.advance_to(at))

    def enqueued(
        self,
        type: str = "",  # noqa: A002 - Camunda's word
        *,
        args: Mapping[str, Any] | None = None,
        queue: str = "",
    ) -> list[Enqueued]:
        """See ``Rehearsal.enqueued``."""
        return self._rehearsal.enqueued(type, args=args, queue=queue)

    def assert_enqueued(
        self,
        type: str,  # noqa: A002 - Camunda's word
        *,
        args: Mapping[str, Any] | None = None,
        queue: str = "",
        count: int | None = None,
    ) -> list[Enqueued]:
        """See ``Rehearsal.assert_enqueued``."""
        return self._rehearsal.assert_enqueued(type, args=args, queue=queue, count=count)

    def assert_not_enqueued(
        self,
        type: str = "",  # noqa: A002 - Camunda's word
        *,
        args: Mapping[str, Any] | None = None,
        queue: str = "",
    ) -> None:
        """See ``Rehearsal.assert_not_enqueued``."""
        self._rehearsal.assert_not_enqueued(type, args=args, queue=queue)

    def assert_no_failures(self) -> None:
        """See ``Rehearsal.assert_no_failures``."""
        self._rehearsal.assert_no_failures()

    def assert_at(self, process_instance_key: int, *element_ids: str) -> None:
        """See ``Rehearsal.assert_at``."""
        self._call(self._rehearsal.assert_at(process_instance_key, *element_ids))

    def assert_completed(self, process_instance_key: int, *, end: str = "") -> ProcessInstance:
        """See ``Rehearsal.assert_completed``."""
        return self._call(self._rehearsal.assert_completed(process_instance_key, end=end))

    def assert_passed(self, process_instance_key: int, *element_ids: str) -> None:
        """See ``Rehearsal.assert_passed``."""
        self._call(self._rehearsal.assert_passed(process_instance_key, *element_ids))

    def assert_incident(
        self, process_instance_key: int, *, element_id: str = "", error_type: str = "", message: str = ""
    ) -> Incident:
        """See ``Rehearsal.assert_incident``."""
        return self._call(
            self._rehearsal.assert_incident(
                process_instance_key, element_id=element_id, error_type=error_type, message=message
            )
        )

    def assert_no_incident(self, process_instance_key: int) -> None:
        """See ``Rehearsal.assert_no_incident``."""
        self._call(self._rehearsal.assert_no_incident(process_instance_key))

    def assert_variables(self, process_instance_key: int, expected: Mapping[str, Any]) -> None:
        """See ``Rehearsal.assert_variables``."""
        self._call(self._rehearsal.assert_variables(process_instance_key, expected))

    def _call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run on the application's loop and wait."""
        return self.app.sync.call(coroutine, timeout_s=None)
