"""Opens the databases that a benchmark measures on: servers of our own, one that was given, files, memory."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from contextlib import AsyncExitStack
from typing import Any

from procession.errors import Misconfigured
from procession.lab.databases import BenchDatabases
from procession.lab.mariadb_server import MariadbServer
from procession.lab.memory_databases import MemoryDatabases
from procession.lab.postgres_databases import PostgresDatabases
from procession.lab.postgres_server import PostgresServer
from procession.lab.results import Environment
from procession.lab.sqlite_databases import SqliteDatabases
from procession.lab.variants import Database


async def open_databases(
    wanted: Collection[Database],
    stack: AsyncExitStack,
    *,
    url: str,
    server_settings: Mapping[str, str],
    environment: Environment,
) -> dict[Database, BenchDatabases]:
    """Those that are wanted, closed with ``stack`` and described in ``environment``.

    ``url``: a PostgreSQL server to use; without it an own, durable one is started with ``server_settings``.
    Raises Misconfigured where MariaDB or its driver is not installed.
    """
    found: dict[Database, BenchDatabases] = {}
    if "postgres" in wanted:
        own = None if url else PostgresServer(durable=True, settings=server_settings)
        await _start(own, stack)
        found["postgres"] = PostgresDatabases(own=own, url=url)
    if "mariadb" in wanted:
        found["mariadb"] = await _mariadb(stack)
    if "sqlite" in wanted:
        found["sqlite"] = SqliteDatabases()
    if "memory" in wanted:
        found["memory"] = MemoryDatabases()
    for databases in found.values():
        stack.push_async_callback(databases.close)
        environment.databases.append(await databases.environment())
    return found


async def _mariadb(stack: AsyncExitStack) -> BenchDatabases:
    """A durable server of our own; its driver is an extra. Raises Misconfigured."""
    try:
        from procession.lab.mariadb_databases import MariadbDatabases  # noqa: PLC0415 - loaded where it is used
    except ModuleNotFoundError as missing:
        message = "MariaDB is measured with its driver: pip install 'procession[bench,mysql]' brings it"
        raise Misconfigured(message) from missing
    server = MariadbServer(durable=True)
    await _start(server, stack)
    return MariadbDatabases(server)


async def _start(server: Any, stack: AsyncExitStack) -> None:  # noqa: ANN401 - one of two kinds, or none
    """Start a server of our own, and stop it when the stack ends."""
    if server is not None:
        stack.callback(server.close)
        await asyncio.to_thread(server.start)
