"""Transactions that a handler and the end of its job share. Each has a connection of its own, and the file's one lock.

SQLite has one writer: while a handler holds its transaction, every other commit waits, also those of other processes
and the sign of life of this one. Such handlers have to be short.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from pathlib import Path
from typing import Final

from procession.errors import Unavailable
from procession.ids import Keys
from procession.store._shared.queue.script import run_at_once
from procession.store._shared.queue.settling import settle
from procession.store.port import Clock
from procession.store.rows import JobOutcome, Step, StepOutcome, StepResult
from procession.store.rows.queue import Answer
from procession.store.sqlite._connection import Synchronous, connect, failure_of, is_locked
from procession.store.sqlite._session import Session
from procession.store.sqlite._steps import commit_steps

RETRY_S: Final = 0.002  # another one writes: look again after this long


class SqliteTransaction:
    """One transaction, from ``begin`` to its end. Its connection may be used on any thread, on one at a time.

    ``turn`` is held meanwhile: of one process' handlers one at a time, since the file has one lock.
    """

    def __init__(
        self, path: Path, synchronous: Synchronous, clock: Clock, deadline_s: float, turn: asyncio.Lock
    ) -> None:
        self._path = path
        self._synchronous: Synchronous = synchronous
        self._clock = clock
        self._deadline_s = deadline_s
        self._turn = turn
        self._has_turn = False
        self._connection: sqlite3.Connection | None = None

    @property
    def connection(self) -> sqlite3.Connection | None:
        """sqlite3's, within the transaction."""
        return self._connection

    async def begin(self) -> None:
        """Wait for the lock, and begin. Raises Unavailable."""
        await self._turn.acquire()
        self._has_turn = True
        connection: sqlite3.Connection | None = None
        try:
            connection = await asyncio.to_thread(connect, self._path, self._synchronous)
            until = time.monotonic() + self._deadline_s
            while not await asyncio.to_thread(self._begin, connection, last=time.monotonic() > until):  # noqa: ASYNC110 - nobody says when another process has ended its own
                await asyncio.sleep(RETRY_S)
        except BaseException:
            if connection is not None:
                connection.close()
            self._end_turn()
            raise

    def _begin(self, connection: sqlite3.Connection, *, last: bool) -> bool:
        """Try to begin; False while another one writes."""
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            if is_locked(error) and not last:
                return False
            raise failure_of(error, self._path) from error
        self._connection = connection
        return True

    def _end_turn(self) -> None:
        """The next one's."""
        if self._has_turn:
            self._has_turn = False
            self._turn.release()

    async def commit(self, step: Step, keys: Keys) -> StepResult:
        """Apply a step, and commit if it is applied. Follow-up keys are the store's own."""
        del keys
        result = await asyncio.to_thread(self._apply, step)
        if result.outcome == StepOutcome.APPLIED:
            self._end_turn()
        return result

    def _apply(self, step: Step) -> StepResult:
        connection = self._open()
        try:
            (result,) = commit_steps(Session(connection, self._clock(), careful=True), [step])
            if result.outcome == StepOutcome.APPLIED:
                self._end(connection)
        except (sqlite3.Error, OverflowError, UnicodeError) as error:
            raise failure_of(error, self._path) from error
        return result

    async def finish(self, outcome: JobOutcome) -> tuple[bool, list[str]]:
        """End the run of a plain job, and commit if its lease was held."""
        applied, woken = await asyncio.to_thread(self._finish, outcome)
        if applied:
            self._end_turn()
        return applied, woken

    def _finish(self, outcome: JobOutcome) -> tuple[bool, list[str]]:
        connection = self._open()
        session = Session(connection, self._clock())
        try:
            settled = run_at_once(settle([outcome], session.now), session.answer)
            if settled.answers[0] != Answer.APPLIED:
                return False, []
            self._end(connection)
        except sqlite3.Error as error:
            raise failure_of(error, self._path) from error
        return True, sorted(settled.woken)

    async def roll_back(self) -> None:
        """Undo, and close the connection."""
        connection, self._connection = self._connection, None
        try:
            if connection is not None:
                await asyncio.to_thread(connection.close)
        finally:
            self._end_turn()

    def _open(self) -> sqlite3.Connection:
        """The connection. Raises Unavailable when the handler has ended the transaction itself."""
        connection = self._connection
        if connection is None or not connection.in_transaction:
            raise Unavailable("The transaction of a handler was over before its job ended: leave its end to the worker")
        return connection

    def _end(self, connection: sqlite3.Connection) -> None:
        connection.execute("COMMIT")
        self._connection = None
        connection.close()
