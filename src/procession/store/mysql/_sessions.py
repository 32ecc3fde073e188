"""Connections, and who may use them: a session gathers named statements and sends them together, within a deadline.

A round trip costs more than most statements, so statements are put (``put``) and go with the next ``send``, in one
packet: a transaction that reads nothing before it writes is one round trip, its BEGIN and COMMIT included; one that
looks first is two. If a statement fails, the server does none of those after it in its packet, COMMIT included.

Groups are lanes: commits, claims, finishes and the rest never wait for each other's connections. A session whose
outcome is unknown (no answer, a broken connection, a cancelled caller) is closed, never reused.

Instants: ``@now`` is the clock given, or the server's, once per transaction or lone statement.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, TypeVar, cast

import asyncmy

from procession.errors import InvalidValue, Misconfigured, ProcessionError, Unavailable
from procession.store._shared.lending import Lending
from procession.store.mysql._address import Address
from procession.store.mysql._failures import Collided, leaves_connection_usable, meaning_of, meaning_of_connecting
from procession.store.mysql._statements import STATEMENTS, Literals
from procession.store.port import Clock

Connection = Any  # asyncmy.Connection, whose stubs leave out what we read
_dial: Any = cast("Any", asyncmy).connect  # its stubs do not know that ``autocommit`` may be None
T = TypeVar("T")

SERVER_SHARE: Final = 0.9  # of the deadline: the server gives up before we do, so that most timeouts have an outcome
LOCK_WAIT_SHARE: Final = (
    0.3  # of the deadline: how long a statement waits for a lock before the transaction begins anew
)
PACKET_BYTES_MIN: Final = 1024 * 1024  # less than this and not even small batches go
_PAUSE_S: Final = 0.002  # after a collision, doubled with each
_PAUSE_S_MAX: Final = 0.1
_IN_TRANSACTION: Final = 1  # a bit of the server's status
_FOUND_ROWS: Final = 2  # CLIENT.FOUND_ROWS: an update counts the rows it found, be they changed or not
# The server's clock in milliseconds, whatever its time zone and that of the session.
SERVER_NOW: Final = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000"
_SET_SERVER_NOW: Final = f"SET @now = {SERVER_NOW}".encode()
# A backslash escapes (see _statements.py), and a value that does not fit is refused, never cut.
SQL_MODE: Final = "STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"


class Options:
    """How sessions of a store are made."""

    def __init__(self, address: Address, *, deadline_s: float, connect_s: float, clock: Clock | None) -> None:
        self.address = address
        self.deadline_s = deadline_s
        self.connect_s = connect_s
        self.clock = clock


class Answer:
    """What the server said to one statement, once it was sent."""

    __slots__ = ("count", "inserted", "name", "rows")

    def __init__(self, name: str) -> None:
        self.name = name
        self.rows: Sequence[tuple[Any, ...]] = ()
        self.count = 0  # rows found by an update, or deleted, or inserted
        self.inserted = 0  # the number that an insert made, or that LAST_INSERT_ID() was given

    def value(self) -> Any:  # noqa: ANN401 - a column of any type
        """The first column of the first row, or None."""
        return self.rows[0][0] if self.rows else None


class Session:
    """One connection."""

    def __init__(self, connection: Connection, options: Options, packet_bytes_max: int, *, is_mariadb: bool) -> None:
        self.connection = connection
        self.is_mariadb = is_mariadb
        self.statement_bytes_max = packet_bytes_max // 2  # of the values; names and commas come on top
        self.round_trips = 0
        self._options = options
        self._packet_bytes_max = packet_bytes_max
        self._gathered: list[tuple[Answer, bytes]] = []
        self._has_now = False
        self._in_transaction = False

    @property
    def usable(self) -> bool:
        """Whether the next call may use it."""
        connection = self.connection
        return connection.connected and not connection._stream_broken  # noqa: SLF001 - the peer may have closed it

    def put(self, name: str, rows: Sequence[Literals] = (), /, **values: object) -> Answer:
        """Gather a named statement; its answer is known after ``send``."""
        statement = STATEMENTS[name]
        if statement.uses_now and not self._has_now:
            self._has_now = True
            self.put_text("now", self._set_now())
        return self.put_text(name, statement.write(values, rows))

    def put_text(self, name: str, sql: bytes) -> Answer:
        """Gather a statement that is written already."""
        answer = Answer(name)
        self._gathered.append((answer, sql))
        return answer

    async def run(self, name: str, rows: Sequence[Literals] = (), /, **values: object) -> Answer:
        """Send a named statement, with what was gathered."""
        answer = self.put(name, rows, **values)
        await self.send()
        return answer

    async def fetch(self, name: str, /, **values: object) -> Sequence[tuple[Any, ...]]:
        """The rows of a named query."""
        return (await self.run(name, **values)).rows

    async def send(self) -> None:
        """Send what was gathered, in as few packets as the server takes."""
        gathered, self._gathered = self._gathered, []
        if not self._in_transaction:
            self._has_now = False
        for packet in self._packets(gathered):
            await self._send(packet)

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[Session, None]:
        """Everything within is committed at the end, or nothing."""
        self._gathered.clear()
        self.put_text("begin", b"START TRANSACTION")
        self._in_transaction, self._has_now = True, False
        try:
            yield self
            self.put_text("commit", b"COMMIT")
            await self.send()
        except BaseException:
            await self._roll_back()
            raise
        finally:
            self._in_transaction = self._has_now = False

    @property
    def is_within_transaction(self) -> bool:
        """Whether the server said, with its last answer, that a transaction is under way."""
        return bool(self.connection.server_status & _IN_TRANSACTION)

    def join(self) -> None:
        """From here on speak within a transaction that somebody else has begun on this connection."""
        self.forget()
        self._in_transaction, self._has_now = True, False

    async def leave(self) -> None:
        """Undo a transaction that was joined, if it is not over, and be as before."""
        self._in_transaction = False
        if self.is_within_transaction:
            await self._roll_back()
        self.forget()

    def forget(self) -> None:
        """Send nothing of what was gathered."""
        self._gathered.clear()

    def drop(self) -> None:
        """Close at once, without waiting for the server."""
        self.connection.close()

    async def close(self) -> None:
        """Close in order, or at once if the server does not answer."""
        try:
            async with asyncio.timeout(self._options.deadline_s):
                await self.connection.ensure_closed()
        except Exception:  # noqa: BLE001 - it is to be closed, however that fails
            self.drop()

    async def clock(self) -> int:
        """The clock as it is now, also within a transaction that has waited."""
        clock = self._options.clock
        return clock() if clock is not None else (await self.run("clock")).value()

    # -- inside ---------------------------------------------------------------------------------------------------
    def _set_now(self) -> bytes:
        clock = self._options.clock
        return _SET_SERVER_NOW if clock is None else b"SET @now = %d" % clock()

    def _packets(self, gathered: list[tuple[Answer, bytes]]) -> list[list[tuple[Answer, bytes]]]:
        packets: list[list[tuple[Answer, bytes]]] = []
        room = 0
        for answer, sql in gathered:
            size = len(sql) + 1
            if size >= self._packet_bytes_max:
                raise InvalidValue(
                    f"Expected a statement ({answer.name}) below the server's max_allowed_packet of "
                    f"{self._packet_bytes_max} bytes, got {size}; raise that setting, or store less at once"
                )
            if size >= room:
                packets.append([])
                room = self._packet_bytes_max
            packets[-1].append((answer, sql))
            room -= size
        return packets

    async def _send(self, packet: list[tuple[Answer, bytes]]) -> None:
        self.round_trips += 1
        answered: list[Answer] = []
        try:
            async with asyncio.timeout(self._options.deadline_s):
                await self.connection.query(b";".join([sql for _, sql in packet]))
                await self._read([answer for answer, _ in packet], answered)
        except BaseException as failure:
            raise self._after(failure, packet[min(len(answered), len(packet) - 1)][0].name) from failure

    async def _read(self, answers: list[Answer], answered: list[Answer]) -> None:
        """Read the answer to each statement of a packet; those that came are in ``answered``."""
        connection = self.connection
        for answer in answers:
            if answered:
                await connection.next_result()
            result = connection._result  # noqa: SLF001 - the cursor would ask for warnings in between
            answer.rows = result.rows or ()
            answer.count, answer.inserted = result.affected_rows, result.insert_id
            answered.append(answer)

    async def _roll_back(self) -> None:
        self._gathered.clear()
        if self.usable:
            with suppress(ProcessionError):  # the session is closed then, which rolls back as well
                await self._send([(Answer("rollback"), b"ROLLBACK")])

    def _after(self, failure: BaseException, where: str) -> BaseException:
        if isinstance(failure, ProcessionError):
            return failure
        if not leaves_connection_usable(failure):
            self.drop()
        if isinstance(failure, Exception):
            return meaning_of(failure, where, self._options.deadline_s)
        return failure


class Sessions(Lending[Session]):
    """A group of sessions. What collides with another transaction is done again here, and nobody hears of it."""

    def __init__(self, size: int, options: Options) -> None:
        super().__init__(size, options.deadline_s)
        self._options = options
        self.collisions = 0

    async def connect(self) -> Session:
        """A session outside of the group's count, for whoever keeps it."""
        return await connect(self._options)

    async def run(self, name: str, rows: Sequence[Literals] = (), /, **values: object) -> Answer:
        """Execute one statement as its own transaction."""

        async def work(session: Session) -> Answer:
            return await session.run(name, rows, **values)

        return await self._tried(work)

    async def fetch(self, name: str, /, **values: object) -> Sequence[tuple[Any, ...]]:
        """The rows of one query."""
        return (await self.run(name, **values)).rows

    async def transact(self, work: Callable[[Session], Awaitable[T]]) -> T:
        """Do work within one transaction; it may be done several times, until it collides with none."""

        async def within(session: Session) -> T:
            async with session.transaction():
                return await work(session)

        return await self._tried(within)

    async def _tried(self, work: Callable[[Session], Awaitable[T]]) -> T:
        until = time.monotonic() + self._options.deadline_s
        pause_s = _PAUSE_S
        while True:
            session = await self.take()
            try:
                return await work(session)
            except Collided:
                self.collisions += 1
                if time.monotonic() > until:
                    raise
            finally:
                self.give_back(session)
            await asyncio.sleep(pause_s * random.uniform(0.5, 1.5))  # noqa: S311 - so that two do not meet again
            pause_s = min(2 * pause_s, _PAUSE_S_MAX)


async def connect(options: Options) -> Session:
    """A session as all of ours are: see what is set."""
    # The driver waits with wait_for, which before Python 3.12 loses a cancellation that comes together with the answer;
    # so it waits in a task of its own, and we are cancelled here.
    making = asyncio.ensure_future(_make(options))
    try:
        await asyncio.wait({making}, timeout=options.connect_s)
    except asyncio.CancelledError:
        making.cancel()
        making.add_done_callback(_forget)
        raise
    if not making.done():
        making.cancel()
        making.add_done_callback(_forget)
        raise meaning_of_connecting(TimeoutError(), str(options.address), options.connect_s)
    return making.result()


def _forget(making: asyncio.Future[Session]) -> None:
    """Nobody waits for this session any more."""
    if not making.cancelled() and making.exception() is None:
        making.result().drop()


async def _make(options: Options) -> Session:
    address, connection = options.address, None
    try:
        connection = await _dial(
            **address.arguments(),
            charset="utf8mb4",
            autocommit=None,
            client_flag=_FOUND_ROWS,
            connect_timeout=max(1, int(options.connect_s + 0.999)),
            program_name="procession",
        )
        is_mariadb = "mariadb" in connection.get_server_info().lower()
        packet_bytes_max = await _set_up(connection, options.deadline_s, is_mariadb=is_mariadb)
    except BaseException as failure:
        if connection is not None:
            connection.close()
        if isinstance(failure, Exception):
            raise meaning_of_connecting(failure, str(address), options.connect_s) from failure
        raise
    if packet_bytes_max < PACKET_BYTES_MIN:
        connection.close()
        raise Misconfigured(
            f"Expected max_allowed_packet of at least {PACKET_BYTES_MIN} bytes on {address}, found {packet_bytes_max}"
        )
    return Session(connection, options, packet_bytes_max, is_mariadb=is_mariadb)


async def _set_up(connection: Connection, deadline_s: float, *, is_mariadb: bool) -> int:
    """Set what our statements rely on; the largest packet that the server takes."""
    within_s = deadline_s * SERVER_SHARE
    settings = [
        "SET NAMES utf8mb4",
        f"SET SESSION sql_mode = '{SQL_MODE}'",
        "SET SESSION time_zone = '+00:00', autocommit = 1",
        f"SET SESSION innodb_lock_wait_timeout = {max(1, int(deadline_s * LOCK_WAIT_SHARE))}",
        "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    ]
    if is_mariadb:
        # Ours may look idle for as long as our process has no time for it.
        idle_s = max(1, int(deadline_s + 0.999))
        settings.append(f"SET SESSION max_statement_time = {within_s:g}, idle_transaction_timeout = {idle_s}")
    else:
        settings.append(f"SET SESSION max_execution_time = {int(within_s * 1000)}")
    await connection.query(";".join([*settings, "SELECT @@max_allowed_packet"]).encode())
    for _ in settings:
        await connection.next_result()
    rows = connection._result.rows  # noqa: SLF001 - as above
    if not rows:
        raise Unavailable("The database did not say how large a packet may be")
    return int(rows[0][0])
