"""Transactions that a handler and the end of its job share: on connections of their own, with asyncpg's own types.

The handler's statements see nothing of the store's ways; only when it has ended does the connection speak the store's
types, for the statements of the step. The isolation is READ COMMITTED, which the guards of steps are made for.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any, Final

import asyncpg
import msgspec

from procession.errors import ProcessionError, Unavailable
from procession.ids import Keys
from procession.store._shared.queue.script import Ask, Rows, run
from procession.store._shared.queue.settling import settle
from procession.store.postgres._commit import commit_within
from procession.store.postgres._failures import meaning_of, meaning_of_connecting
from procession.store.postgres._sessions import (
    QUEUE,
    Connection,
    Options,
    Session,
    Statements,
    use_its_own_types,
    use_our_types,
)
from procession.store.rows import JobOutcome, Step, StepOutcome, StepResult
from procession.store.rows.queue import Answer

AT_ONCE_MAX: Final = 20  # transactions of handlers; more of them wait for one that ends
FAILURES: Final = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError)


class Transactions:
    """The connections of handlers' transactions."""

    def __init__(self, options: Options, statements: Statements) -> None:
        self._options = options
        self._statements = statements
        self._pool: asyncpg.Pool[Any] | None = None
        self._making = asyncio.Lock()

    async def begin(self, now: int | None) -> PostgresTransaction:
        """A transaction on a connection of its own. Raises Unavailable."""
        options = self._options
        try:
            async with self._making:
                if self._pool is None:
                    self._pool = await asyncpg.create_pool(
                        options.url,
                        min_size=0,
                        max_size=AT_ONCE_MAX,
                        timeout=options.connect_s,
                        statement_cache_size=0 if options.pooled else 100,
                        server_settings={} if options.pooled else {"application_name": "procession transaction"},
                    )
            connection = await self._pool.acquire(timeout=options.deadline_s)
        except FAILURES as failure:
            raise meaning_of_connecting(failure, options.url, options.connect_s) from failure
        begun = PostgresTransaction(self._pool, connection, self._statements, options, now)
        try:
            await begun.begin()
        except BaseException:
            await begun.roll_back()
            raise
        return begun

    async def close(self) -> None:
        """Close what is free; what is lent goes when its handler has ended, or with this process."""
        pool, self._pool = self._pool, None
        if pool is not None:
            try:
                await asyncio.wait_for(pool.close(), self._options.connect_s)
            except TimeoutError:
                pool.terminate()


class PostgresTransaction:
    """One transaction, from ``begin`` to its end."""

    def __init__(
        self, pool: asyncpg.Pool[Any], connection: Connection, statements: Statements, options: Options, now: int | None
    ) -> None:
        self._pool = pool
        self._statements = statements
        self._options = options
        self._now = now
        self._connection: Connection | None = connection
        self._transaction = connection.transaction(isolation="read_committed")
        self._session: Session | None = None

    @property
    def connection(self) -> Connection:
        """asyncpg's, within the transaction."""
        return self._connection

    async def begin(self) -> None:
        """Begin. Raises Unavailable."""
        try:
            await self._transaction.start()
        except FAILURES as failure:
            raise meaning_of(failure, "begin", self._options.deadline_s) from failure

    async def commit(self, step: Step, keys: Keys) -> StepResult:
        """Apply a step, and commit if it is applied."""
        result = await commit_within(await self._joined(), step, keys, self._now)
        if result.outcome == StepOutcome.APPLIED:
            await self._commit()
        return result

    async def finish(self, outcome: JobOutcome) -> tuple[bool, list[str]]:
        """End the run of a plain job, and commit if its lease was held."""
        session = await self._joined()
        now = (await session.fetch("now"))[0][0] if self._now is None else self._now

        async def execute(question: Ask) -> Rows:
            return await session.fetch(QUEUE + question.name, *question.values)

        settled = await run(settle([outcome], now), execute)
        if settled.answers[0] != Answer.APPLIED:
            return False, []
        await self._commit()
        return True, sorted(settled.woken)

    async def roll_back(self) -> None:
        """Undo, and give the connection back; one that is in the middle of something is closed."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            async with asyncio.timeout(self._options.deadline_s):
                if connection.is_in_transaction():
                    await self._transaction.rollback()
                if self._session is not None:
                    await use_its_own_types(connection)
        except (*FAILURES, ProcessionError):  # it is closed, which rolls back as well
            connection.terminate()
        except asyncio.CancelledError:
            connection.terminate()
            raise
        finally:
            with suppress(*FAILURES):
                await self._pool.release(connection)

    async def _joined(self) -> Session:
        """A session of ours on the connection. Raises Unavailable when the handler has ended the transaction itself."""
        connection = self._connection
        if connection is None or connection.is_closed() or not connection.is_in_transaction():
            raise Unavailable("The transaction of a handler was over before its job ended: leave its end to the worker")
        if self._session is None:
            try:
                await use_our_types(connection)
            except FAILURES as failure:
                raise meaning_of(failure, "types", self._options.deadline_s) from failure
            # Nothing is prepared: a connection is many sessions, one after the other.
            options = msgspec.structs.replace(self._options, pooled=True)
            self._session = Session(connection, self._statements, options).join()
        return self._session

    async def _commit(self) -> None:
        """Commit, and give the connection back."""
        try:
            await self._transaction.commit()
        except FAILURES as failure:
            raise meaning_of(failure, "commit", self._options.deadline_s) from failure
        with suppress(*FAILURES):
            await self.roll_back()
