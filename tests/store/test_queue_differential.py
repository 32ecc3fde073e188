"""SQLite, PostgreSQL and MariaDB keep the queue's rules like memory does, whatever is asked in whatever order."""

from __future__ import annotations

import asyncio

from hypothesis import HealthCheck, settings

from procession.ids import Keys
from procession.store.mysql import MysqlStore
from procession.store.port import Store
from procession.store.postgres import PostgresStore
from tests.store.oracle import TIME, WITHOUT_SHRINKING, compare
from tests.store.queue_machine import QueueRules
from tests.store.test_differential import MemoryAndSqlite
from tests.support.mariadb import MariadbDatabases
from tests.support.postgres import PostgresDatabases

pytestmark = TIME
SETTINGS = settings(
    max_examples=25, stateful_step_count=40, suppress_health_check=[HealthCheck.too_slow], phases=WITHOUT_SHRINKING
)


class QueueOnSqlite(QueueRules, MemoryAndSqlite):
    """Everything of the queue against a file."""


def test_sqlite_keeps_the_queue_like_memory() -> None:
    compare(QueueOnSqlite, SETTINGS)


class QueueOnPostgres(QueueRules):
    """The same against a server; each example on a database of its own."""

    databases: PostgresDatabases
    migrated: str

    def open_other(self) -> Store:
        self.memory_keys, self.other_keys = (Keys(range(2_000_000, 3_000_000)) for _ in range(2))
        self.url = self.databases.create(template=self.migrated)
        store = PostgresStore(self.url, clock=self.clock, pool_size=1, lanes=1)
        self.runner.run(store.open())
        return store

    def teardown(self) -> None:
        super().teardown()
        self.databases.drop(self.url)


def test_postgres_keeps_the_queue_like_memory(postgres_databases: PostgresDatabases) -> None:
    QueueOnPostgres.databases = postgres_databases
    QueueOnPostgres.migrated = postgres_databases.create()
    asyncio.run(_migrate(QueueOnPostgres.migrated))
    compare(QueueOnPostgres, SETTINGS, max_examples=8, stateful_step_count=30, phases=WITHOUT_SHRINKING)


class QueueOnMariadb(QueueRules):
    """The same against MariaDB; each example on a database that is empty again."""

    databases: MariadbDatabases

    def open_other(self) -> Store:
        self.memory_keys, self.other_keys = (Keys(range(2_000_000, 3_000_000)) for _ in range(2))
        self.url = self.databases.lend()
        store = MysqlStore(self.url, clock=self.clock, pool_size=1, lanes=1)
        self.runner.run(store.open())
        return store

    def teardown(self) -> None:
        super().teardown()
        self.databases.give_back(self.url)


def test_mariadb_keeps_the_queue_like_memory(mariadb_databases: MariadbDatabases) -> None:
    QueueOnMariadb.databases = mariadb_databases
    compare(QueueOnMariadb, SETTINGS, max_examples=15, stateful_step_count=40, phases=WITHOUT_SHRINKING)


async def _migrate(url: str) -> None:
    store = PostgresStore(url)
    await store.migrate()
    await store.close()
