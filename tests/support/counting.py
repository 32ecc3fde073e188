"""How often a store asks its database, whichever it is: counted by what lies between them, never by the clock."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from procession.store.memory import MemoryStore
from procession.store.mysql import MysqlStore
from procession.store.port import Clock, Store
from procession.store.postgres import PostgresStore
from procession.store.sqlite import SqliteStore
from tests.store.postgres.wire import Wire

Count = Callable[[], int]


@asynccontextmanager
async def counted_store(kind: str, url: str, folder: Path, clock: Clock) -> AsyncIterator[tuple[Store, Count]]:
    """An open store of this kind, and how often it has asked until now: statements of the file, round trips of servers.

    Memory asks nobody: always 0.
    """
    if kind == "memory":
        memory = MemoryStore(clock=clock)
        await memory.open()
        yield memory, lambda: 0
        await memory.close()
    elif kind == "sqlite":
        file = SqliteStore(folder / "counted.db", clock=clock)
        await file.migrate()
        await file.open()
        yield file, statements_of(file)
        await file.close()
    elif kind == "postgres":
        async with Wire(url) as wire:
            postgres = PostgresStore(wire.url, clock=clock)
            await postgres.open()
            yield postgres, lambda: wire.round_trips
            await postgres.close()
    else:
        mariadb = MysqlStore(url, clock=clock)
        await mariadb.open()
        yield mariadb, lambda: trips_of(mariadb)
        await mariadb.close()


def trips_of(store: MysqlStore) -> int:
    """Of all sessions that are open."""
    sessions = {session for group in store._groups for session in (*group._free, *group._lent)}
    return sum(session.round_trips for session in sessions)


def statements_of(store: SqliteStore, beginning: str = "") -> Count:
    """What the writer's connection has executed from now on, BEGIN and COMMIT included; or only what begins so."""
    assert store._writer is not None
    executed: list[str] = []
    store._writer._connected().set_trace_callback(executed.append)
    return lambda: sum(statement.startswith(beginning) for statement in executed)
