"""Your own application on a database in memory, with a clock that you turn: for tests of the code that uses it.

    from orders import app

    async def test_an_order_that_nobody_pays_for_is_cancelled():
        async with Rehearsal(app) as rehearsal:
            await app.deploy("order.bpmn")
            key = await app.start("order", {"orderId": "A-17"})
            await rehearsal.drain()
            await rehearsal.assert_at(key, "wait-for-payment")
            await rehearsal.advance("14d")
            await rehearsal.assert_completed(key)

Handlers run in ``drain`` and ``advance``, or, with ``inline=True``, before each call that causes them returns. It waits
for nothing: what is due later runs when the clock is turned. ``with Rehearsal(app) as rehearsal`` is the same for
code that uses ``app.sync``.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from procession.app import Procession
from procession.app.views import Incident, ProcessInstance
from procession.errors import Bug, Conflict
from procession.jobs.retry import Span, span_ms
from procession.limits import PROMOTE_MAX
from procession.store.port import Store
from procession.testing.virtual_clock import START, Moment, VirtualClock, instant_of
from procession.testing.watching import Enqueued, Failure, Records, contains, watched

if TYPE_CHECKING:
    from procession.testing.rehearsal_sync import SyncRehearsal

TURNS_MAX = 100_000  # instants at which something is due before one turn of the clock is given up
SHOWN_MAX = 20  # lines of what was found, in a failed assertion
SCOPES = frozenset({"SUB_PROCESS", "EVENT_SUB_PROCESS", "TRANSACTION", "AD_HOC_SUB_PROCESS"})

# Everything else that can be asked of an application may cause something that is due now.
LIFE = frozenset({"close", "migrate", "open", "run", "run_until_idle", "schema_version", "wait"})


class Rehearsal:
    """Within the block the application works in memory; afterwards it is what it was.

    ``inline``: handlers run before the call that causes them returns. ``at``: where the clock stands at first.
    ``connection=`` of the application's calls is looked at and then left aside: no transaction of yours reaches
    memory, so what is enqueued is there at once and stays. Raises Conflict when the application is open.
    """

    def __init__(self, app: Procession, *, inline: bool = False, at: Moment = START) -> None:
        self.app = app
        self.clock = VirtualClock(at)
        self._inline = inline
        self._records = Records(app.codec)
        self._stack = ExitStack()
        self._store: Store | None = None
        self._draining = asyncio.Lock()
        self._sync: SyncRehearsal | None = None

    # -- life -----------------------------------------------------------------------------------------------------
    def enter(self) -> None:
        """Let the application work in memory; it is not opened yet."""
        using = self.app.using("memory://", clock=self.clock, around=self._watch, ignores_connections=True)
        self._stack.enter_context(using)
        if self._inline:
            for name, _ in inspect.getmembers(type(self.app), inspect.iscoroutinefunction):
                if not name.startswith("_") and name not in LIFE:
                    setattr(self.app, name, self._and_drain(getattr(self.app, name)))
                    self._stack.callback(delattr, self.app, name)
            setattr(self.app.sync, "call", self._and_drain_sync(self.app.sync.call))  # noqa: B010 - as above
            self._stack.callback(delattr, self.app.sync, "call")

    def leave(self) -> None:
        """Let the application be what it was; it is closed already."""
        self._stack.close()

    async def __aenter__(self) -> Self:
        self.enter()
        try:
            await self.app.open(run_workers=False)
        except BaseException:
            self.leave()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        try:
            await self.app.close()
        finally:
            self.leave()

    def __enter__(self) -> SyncRehearsal:
        from procession.testing.rehearsal_sync import SyncRehearsal  # noqa: PLC0415 - it is made of this one

        self._sync = SyncRehearsal(self)
        return self._sync.open()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._sync is not None:
            self._sync.close()

    # -- the crank ------------------------------------------------------------------------------------------------
    @property
    def now(self) -> datetime:
        """Where the clock stands."""
        return self.clock.now

    async def drain(self) -> None:
        """Run everything that is due now, and what follows from it, until nothing is left. Raises Conflict.

        What fails is tried again when its next attempt is due: turn the clock. ``failures`` says what failed.
        """
        self._expect_no_handler()
        async with self._draining:
            await self.app.run_until_idle()

    async def advance(self, span: Span) -> None:
        """Turn the clock forward (seconds, '30s', '2h', 'P1D', a timedelta); what becomes due runs at its instant."""
        await self.advance_to(self.clock() + span_ms(span, "how far the clock is turned"))

    async def advance_to(self, at: Moment) -> None:
        """Turn the clock to an instant; what becomes due on the way runs at its own. Raises Conflict, Bug."""
        until = instant_of(at)
        if until < self.clock():
            message = f"Expected a moment from {self.now:%Y-%m-%d %H:%M:%S} on, found {at}: `clock.set` goes back"
            raise Conflict(message)
        await self.drain()
        for _ in range(TURNS_MAX):
            due = await self._next_due()
            if not due or due > until:
                self.clock.set(until)
                await self.drain()
                return
            self.clock.set(max(due, self.clock()))
            await self.drain()
        message = f"More than {TURNS_MAX} instants at which something is due on the way to {self.now}"
        raise Bug(message)

    # -- what happened --------------------------------------------------------------------------------------------
    @property
    def failures(self) -> list[Failure]:
        """Runs that failed, oldest first."""
        return list(self._records.failures)

    def enqueued(
        self,
        type: str = "",  # noqa: A002 - Camunda's word
        *,
        args: Mapping[str, Any] | None = None,
        queue: str = "",
    ) -> list[Enqueued]:
        """Jobs that were enqueued, oldest first, whether they have run or not: by your code, or by a process.

        ``args``: what the arguments have at least.
        """
        return [
            job
            for job in self._records.enqueued
            if type in ("", job.type) and queue in ("", job.queue) and contains(job.args, args or {})
        ]

    def assert_enqueued(
        self,
        type: str,  # noqa: A002 - Camunda's word
        *,
        args: Mapping[str, Any] | None = None,
        queue: str = "",
        count: int | None = None,
    ) -> list[Enqueued]:
        """At least one such job was enqueued (``count``: exactly so many); these jobs. See ``enqueued``."""
        found = self.enqueued(type, args=args, queue=queue)
        if (not found) if count is None else len(found) != count:
            many = "at least one job" if count is None else f"{count} job{'s' * (count != 1)}"
            asked = _said(type=type, args=args, queue=queue)
            raise self._failed(f"Expected {many} with {asked}, found {len(found)}", "enqueued", self._records.enqueued)
        return found

    def assert_not_enqueued(
        self,
        type: str = "",  # noqa: A002 - Camunda's word
        *,
        args: Mapping[str, Any] | None = None,
        queue: str = "",
    ) -> None:
        """No such job was enqueued; without arguments: none at all."""
        found = self.enqueued(type, args=args, queue=queue)
        if found:
            asked = _said(type=type, args=args, queue=queue) or "whatever type"
            raise self._failed(f"Expected no job with {asked}, found {len(found)}", "enqueued", found)

    def assert_no_failures(self) -> None:
        """Every run so far has succeeded."""
        if self._records.failures:
            raise self._failed(f"Expected no failures, found {len(self._records.failures)}", "", [])

    async def assert_at(self, process_instance_key: int, *element_ids: str) -> None:
        """An instance is active and waits at these elements and at no others; scopes around them need no mention."""
        await self._rest()
        details = await self.app.instance(process_instance_key)
        asked = set(element_ids)
        active = {element.element_id for element in details.elements}
        at = {element.element_id for element in details.elements if element.type not in SCOPES}
        if details.instance.state != "ACTIVE" or not at <= asked <= active:
            expected = f"Expected instance {process_instance_key} at {', '.join(sorted(asked)) or 'no element'}"
            where = f"found it {details.instance.state} at {', '.join(sorted(at)) or 'no element'}"
            waits = [f"{element.element_id}: {element.waits_for}" for element in details.elements]
            raise self._failed(f"{expected}, {where}", "active", waits)

    async def assert_completed(self, process_instance_key: int, *, end: str = "") -> ProcessInstance:
        """An instance has come to its end; ``end``: it has passed this end event (or any other element)."""
        await self._rest()
        details = await self.app.instance(process_instance_key)
        if details.instance.state != "COMPLETED":
            waits = [f"{element.element_id}: {element.waits_for}" for element in details.elements]
            expected = f"Expected instance {process_instance_key} to be COMPLETED, found it {details.instance.state}"
            raise self._failed(expected, "active", waits)
        if end:
            await self.assert_passed(process_instance_key, end)
        return details.instance

    async def assert_passed(self, process_instance_key: int, *element_ids: str) -> None:
        """An instance has been at these elements, in this order (others may lie between)."""
        await self._rest()
        events = await self.app.history(process_instance_key)
        passed = [event.element_id for event in events if event.event in {"activated", "passed"} and event.element_id]
        rest = iter(passed)
        for element_id in element_ids:
            if element_id not in rest:
                expected = f"Expected instance {process_instance_key} to have passed {', '.join(element_ids)}"
                raise self._failed(f"{expected}, found that it did not pass '{element_id}' so", "passed", passed)

    async def assert_incident(
        self, process_instance_key: int, *, element_id: str = "", error_type: str = "", message: str = ""
    ) -> Incident:
        """An instance has an open incident like this (``message``: a part of it); the oldest of them."""
        await self._rest()
        found = await self.app.incidents(process_instance_key=process_instance_key)
        for incident in found:
            same = element_id in ("", incident.element_id) and error_type in ("", incident.error_type)
            if same and message in incident.error_message:
                return incident
        asked = _said(element_id=element_id, error_type=error_type, message=message) or "whatever reason"
        lines = [f"{each.error_type} at {each.element_id}: {each.error_message.splitlines()[0]}" for each in found]
        expected = f"Expected instance {process_instance_key} to have an incident with {asked}, found {len(found)}"
        raise self._failed(expected, "incidents", lines)

    async def assert_no_incident(self, process_instance_key: int) -> None:
        """An instance has no open incident."""
        await self._rest()
        found = await self.app.incidents(process_instance_key=process_instance_key)
        if found:
            lines = [f"{each.error_type} at {each.element_id}: {each.error_message.splitlines()[0]}" for each in found]
            expected = f"Expected instance {process_instance_key} to have no incident, found {len(found)}"
            raise self._failed(expected, "incidents", lines)

    async def assert_variables(self, process_instance_key: int, expected: Mapping[str, Any]) -> None:
        """An instance has at least these variables; of an object, at least these members."""
        await self._rest()
        variables = (await self.app.instance(process_instance_key)).variables
        wrong = [name for name, value in expected.items() if not contains(variables, {name: value})]
        if wrong:
            lines = [f"{name}: expected {expected[name]!r}, found {variables.get(name, '(none)')!r}" for name in wrong]
            raise self._failed(f"Expected other variables of instance {process_instance_key}", "variables", lines)

    # -- internal -------------------------------------------------------------------------------------------------
    def _watch(self, store: Store) -> Store:
        """The store that the application works on."""
        self._store = watched(store, self._records)
        return self._store

    async def _next_due(self) -> int:
        """When the next job is due, or the next recurring one is inserted; 0 for never."""
        assert self._store is not None, "rehearse within `async with`"
        _, due = await self._store.promote(PROMOTE_MAX)
        _, recurring = await self._store.due_recurring(PROMOTE_MAX)
        return min((at for at in (due, recurring) if at), default=0)

    async def _rest(self) -> None:
        """Inline, what the last call caused may have come from a thread that nobody waited for."""
        if self._inline:
            await self.drain()

    def _and_drain(self, verb: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        """A verb of the application that runs what it causes. Within a handler the drain under way goes on with it."""

        @functools.wraps(verb)
        async def call(*args: Any, **options: Any) -> Any:  # noqa: ANN401 - the verb's own
            answer = await verb(*args, **options)
            if not self._draining.locked():
                await self.drain()
            return answer

        return call

    def _and_drain_sync(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """The way that all synchronous verbs go, likewise."""

        @functools.wraps(call)
        def and_drain(*args: Any, **options: Any) -> Any:  # noqa: ANN401 - any verb's
            answer = call(*args, **options)
            if not self._draining.locked():
                call(self.drain(), timeout_s=None)
            return answer

        return and_drain

    def _expect_no_handler(self) -> None:
        """A handler that waits for all handlers waits for itself. Raises Conflict."""
        task = asyncio.current_task()
        if self._draining.locked() and task is not None and task.get_name().startswith("procession "):
            message = "A handler cannot drain: it would wait for itself. What it enqueues runs after it, by itself"
            raise Conflict(message)

    def _failed(self, message: str, what: str, found: Sequence[object]) -> AssertionError:
        """What is to be read when an assertion fails."""
        lines = [message]
        lines += [f"  {what}: {each}" for each in found[-SHOWN_MAX:]]
        if len(found) > SHOWN_MAX:
            lines.append(f"  ... and {len(found) - SHOWN_MAX} before")
        lines += [f"  failed: {each}" for each in self._records.failures[-SHOWN_MAX:]]
        return AssertionError("\n".join(lines))


def _said(**asked: object) -> str:
    """What was asked for, as a message says it."""
    return ", ".join(f"{name} {value!r}" for name, value in asked.items() if value)
