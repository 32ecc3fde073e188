"""Transactions that a handler and the end of its job share: on connections of their own, which a handler may set.

What our statements rely on is set anew when the handler has ended. A statement that fails does not end a transaction
here, and one that the server ends for another's sake is over for both: the job is tried again.
"""

from __future__ import annotations

from typing import Any, Final

from procession.errors import InvalidValue, Unavailable
from procession.ids import Keys
from procession.store._shared.queue.script import run
from procession.store._shared.queue.settling import settle
from procession.store.mysql._queue import asking
from procession.store.mysql._sessions import SQL_MODE, Options, Session, Sessions
from procession.store.mysql._steps import commit_within
from procession.store.rows import JobOutcome, Step, StepOutcome, StepResult
from procession.store.rows.queue import Answer

AT_ONCE_MAX: Final = 20  # transactions of handlers; more of them wait for one that ends

# What a handler may have changed and our statements rely on.
_OURS: Final = (b"SET NAMES utf8mb4", f"SET SESSION sql_mode = '{SQL_MODE}', time_zone = '+00:00'".encode())
# A handler may think for as long as it likes between two statements, and its statements may take their time.
_PATIENT: Final = b"SET SESSION max_statement_time = 0, idle_transaction_timeout = 0"


class Transactions:
    """The connections of handlers' transactions."""

    def __init__(self, options: Options) -> None:
        self._sessions = Sessions(AT_ONCE_MAX, options)

    async def begin(self) -> MysqlTransaction:
        """A transaction on a connection of its own. Raises Unavailable."""
        session = await self._sessions.take()
        begun = MysqlTransaction(self._sessions, session)
        try:
            await begun.begin()
        except BaseException:
            await begun.roll_back()
            raise
        return begun

    async def close(self) -> None:
        """Close what is free; what is lent goes when its handler has ended."""
        await self._sessions.close()


class MysqlTransaction:
    """One transaction, from ``begin`` to its end."""

    def __init__(self, sessions: Sessions, session: Session) -> None:
        self._sessions = sessions
        self._session: Session | None = session

    @property
    def connection(self) -> Any:  # noqa: ANN401 - the driver's own
        """asyncmy's, within the transaction."""
        return self._session.connection if self._session is not None else None

    async def begin(self) -> None:
        """Begin. Raises Unavailable."""
        session = self._session
        assert session is not None
        _put_ours(session)
        if session.is_mariadb:
            session.put_text("begin", _PATIENT)
        session.put_text("begin", b"START TRANSACTION")
        await session.send()

    async def commit(self, step: Step, keys: Keys) -> StepResult:
        """Apply a step, and commit if it is applied."""
        session = await self._joined()
        session.put_text("savepoint", b"SAVEPOINT procession_step")
        try:
            result = await commit_within(session, step, keys)
            if result.outcome == StepOutcome.APPLIED:
                await self._commit(session)
        except InvalidValue as refused:
            session.forget()
            session.put_text("savepoint", b"ROLLBACK TO SAVEPOINT procession_step")
            await session.send()
            return StepResult(outcome=StepOutcome.REFUSED, error=str(refused))
        return result

    async def finish(self, outcome: JobOutcome) -> tuple[bool, list[str]]:
        """End the run of a plain job, and commit if its lease was held."""
        session = await self._joined()
        now = (await session.run("now_of_transaction")).value()
        settled = await run(settle([outcome], now), asking(session))
        if settled.answers[0] != Answer.APPLIED:
            return False, []
        await self._commit(session)
        return True, sorted(settled.woken)

    async def roll_back(self) -> None:
        """Undo, and give the connection back; one that is in the middle of something is closed."""
        session, self._session = self._session, None
        if session is None:
            return
        try:
            await session.leave()
        finally:
            self._sessions.give_back(session)

    async def _joined(self) -> Session:
        """The session, as our statements need it. Raises Unavailable when the handler has ended the transaction."""
        session = self._session
        if session is None or not session.usable or not session.is_within_transaction:
            raise Unavailable("The transaction of a handler was over before its job ended: leave its end to the worker")
        session.join()
        _put_ours(session)
        return session

    async def _commit(self, session: Session) -> None:
        """Commit, and give the connection back."""
        session.put_text("commit", b"COMMIT")
        await session.send()
        await self.roll_back()


def _put_ours(session: Session) -> None:
    for sql in _OURS:
        session.put_text("settings", sql)
