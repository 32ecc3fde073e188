"""The two threads behind the store: one writes, committing whatever has gathered; one reads.

Calls come from any event loop and are answered there. A call has a deadline, after which its caller gets Unavailable:
what has not begun by then is not done; what has begun may still be committed, which the port's calls allow for.
"""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from procession import limits
from procession.errors import Unavailable
from procession.store.port import Clock
from procession.store.sqlite._connection import Synchronous, connect, failure_of, is_locked
from procession.store.sqlite._session import Session

Work = Callable[[Session], Any]  # a call's work within a transaction
EachWork = Callable[[Session, Sequence[Any]], list[Any]]  # the same for many calls' items together, an answer per item

_RETRY_S: Final = 0.001  # another process writes: look again after this long
_SWEEP_S: Final = 0.25  # how late a deadline may be noticed


class Call:
    """A call on its way through a thread. ``items`` belong to ``each``; otherwise ``work`` is done alone."""

    __slots__ = ("each", "future", "items", "until", "work")

    def __init__(
        self, work: Work | None, each: EachWork | None, items: Sequence[Any], until: float, future: asyncio.Future[Any]
    ) -> None:
        self.work = work
        self.each = each
        self.items = items
        self.until = until
        self.future = future

    def run(self, session: Session) -> Any:  # noqa: ANN401 - whatever the call answers
        """Do this call's work alone."""
        if self.each is not None:
            return self.each(session, self.items)
        assert self.work is not None
        return self.work(session)


class Answer(Protocol):
    """How a thread gives answers back."""

    def __call__(self, call: Call, value: object, error: BaseException | None) -> None:
        """Answer one call."""
        ...


class StoreThread:
    """A thread with a connection of its own; subclasses say what it does with the calls that have gathered."""

    reads_only = False

    def __init__(self, path: Path, synchronous: Synchronous, clock: Clock, deadline_ms: int, name: str) -> None:
        self._path = path
        self._synchronous: Synchronous = synchronous
        self._clock = clock
        self._deadline_s = deadline_ms / 1_000
        self._calls: queue.SimpleQueue[Call | None] = queue.SimpleQueue()
        self._pending: dict[Call, None] = {}
        self._sweeping = False
        self._connection: sqlite3.Connection | None = None
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._closed = False
        self._thread.start()

    def close(self) -> None:
        """Finish what has gathered and end the thread. Blocks until it has ended."""
        if not self._closed:
            self._closed = True
            self._calls.put(None)
        self._thread.join()

    async def do(self, work: Work) -> Any:  # noqa: ANN401 - whatever the work answers
        """Run one call's work in a transaction."""
        return await self._put(work, None, ())

    async def do_each(self, each: EachWork, items: Sequence[Any]) -> list[Any]:
        """Run a call's items, together with those of other calls of the same kind."""
        return await self._put(None, each, items)

    async def _put(self, work: Work | None, each: EachWork | None, items: Sequence[Any]) -> Any:  # noqa: ANN401
        if self._closed:
            raise Unavailable(f"The store on {self._path} is closed")
        loop = asyncio.get_running_loop()
        call = Call(work, each, items, time.monotonic() + self._deadline_s, loop.create_future())
        self._pending[call] = None
        if not self._sweeping:
            self._sweeping = True
            loop.call_later(_SWEEP_S, self._sweep, loop)
        self._calls.put(call)
        try:
            return await call.future
        finally:
            self._pending.pop(call, None)

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        """Give up on calls whose deadline is over; one timer serves all of them."""
        now = time.monotonic()
        for call in list(self._pending):
            if call.until <= now and call.future.get_loop() is loop and not call.future.done():
                waited = f"{self._deadline_s:g} s"
                call.future.set_exception(
                    Unavailable(f"Expected an answer from {self._path} within {waited}, got none; try again")
                )
                self.interrupt()
        self._sweeping = bool(self._pending)
        if self._sweeping:
            loop.call_later(_SWEEP_S, self._sweep, loop)

    def interrupt(self) -> None:
        """A deadline is over: stop what can be stopped."""

    # -- in the thread --------------------------------------------------------------------------------------------
    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            calls, closing = self._gather(call)
            calls = [each for each in calls if not each.future.done()]
            answers: list[tuple[Call, object, BaseException | None]] = []
            if calls:
                try:
                    answers = self._serve(calls)
                except BaseException as error:  # noqa: BLE001 - the callers get it; the thread lives on
                    failure = failure_of(error, self._path)
                    answers = [(each, None, failure) for each in calls]
            _deliver(answers)
            if closing:
                break
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _gather(self, call: Call) -> tuple[list[Call], bool]:
        """What has gathered, and whether the store is closing."""
        calls, room = [call], limits.COMMIT_STEPS_MAX
        while (room := room - max(1, len(calls[-1].items))) > 0:
            try:
                following = self._calls.get_nowait()
            except queue.Empty:
                break
            if following is None:
                return calls, True
            calls.append(following)
        return calls, False

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = connect(self._path, self._synchronous, reads_only=self.reads_only)
        return self._connection

    def _serve(self, calls: list[Call]) -> list[tuple[Call, object, BaseException | None]]:
        raise NotImplementedError


class Reader(StoreThread):
    """Queries, one after the other, each on what was committed when it began."""

    reads_only = True

    def interrupt(self) -> None:
        """Stop the query that runs; its caller has gone."""
        if self._connection is not None:
            self._connection.interrupt()

    def _serve(self, calls: list[Call]) -> list[tuple[Call, object, BaseException | None]]:
        answers: list[tuple[Call, object, BaseException | None]] = []
        for call in calls:
            try:
                answers.append((call, call.run(Session(self._connected(), self._clock())), None))
            except Exception as error:  # noqa: BLE001 - the caller gets it
                answers.append((call, None, failure_of(error, self._path)))
        return answers


class Writer(StoreThread):
    """Transactions. First all gathered calls in one, items of one kind together; if anything is refused, one by one."""

    def _serve(self, calls: list[Call]) -> list[tuple[Call, object, BaseException | None]]:
        connection = self._connected()
        try:
            calls = self._begin(connection, calls)
            answers = _together(Session(connection, self._clock()), calls)
            connection.execute("COMMIT")
        except Exception as error:
            self._roll_back(connection)
            if isinstance(error, sqlite3.OperationalError):
                raise
        else:
            return answers
        try:
            calls = self._begin(connection, calls)
            answers = self._one_by_one(Session(connection, self._clock(), careful=True), calls)
            connection.execute("COMMIT")
        except BaseException:
            self._roll_back(connection)
            raise
        return answers

    def _begin(self, connection: sqlite3.Connection, calls: list[Call]) -> list[Call]:
        """Get the right to write before the last deadline is over; the calls that somebody still waits for."""
        until = max(call.until for call in calls)
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if not is_locked(error) or time.monotonic() > until:
                    raise
                time.sleep(_RETRY_S)
            else:
                return [call for call in calls if not call.future.done()]

    def _one_by_one(self, session: Session, calls: list[Call]) -> list[tuple[Call, object, BaseException | None]]:
        answers: list[tuple[Call, object, BaseException | None]] = []
        for call in calls:
            session.begin_part()
            try:
                value = call.run(session)
            except sqlite3.OperationalError:
                raise
            except Exception as error:  # noqa: BLE001 - the caller gets it
                session.undo_part()
                answers.append((call, None, failure_of(error, self._path)))
            else:
                session.keep_part()
                answers.append((call, value, None))
        return answers

    def _roll_back(self, connection: sqlite3.Connection) -> None:
        """Undo; a connection that cannot even do that is thrown away."""
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except sqlite3.Error:
            self._connection = None
            connection.close()


def _together(session: Session, calls: list[Call]) -> list[tuple[Call, object, BaseException | None]]:
    kinds: dict[EachWork, list[Call]] = {}
    answers: list[tuple[Call, object, BaseException | None]] = []
    for call in calls:
        if call.each is not None:
            kinds.setdefault(call.each, []).append(call)
        else:
            answers.append((call, call.run(session), None))
    for each, alike in kinds.items():
        if len(alike) == 1:
            answers.append((alike[0], each(session, alike[0].items), None))
            continue
        values = each(session, [item for call in alike for item in call.items])
        start = 0
        for call in alike:
            answers.append((call, values[start : start + len(call.items)], None))
            start += len(call.items)
    return answers


def _deliver(answers: list[tuple[Call, object, BaseException | None]]) -> None:
    """Wake each event loop once for all of its answers."""
    loops: dict[asyncio.AbstractEventLoop, list[tuple[Call, object, BaseException | None]]] = {}
    for answer in answers:
        loops.setdefault(answer[0].future.get_loop(), []).append(answer)
    for loop, its_answers in loops.items():
        try:
            loop.call_soon_threadsafe(_settle, its_answers)
        except RuntimeError:  # the loop is closed: nobody waits any more
            continue


def _settle(answers: list[tuple[Call, object, BaseException | None]]) -> None:
    for call, value, error in answers:
        if call.future.done():
            continue
        if error is None:
            call.future.set_result(value)
        else:
            call.future.set_exception(error)
