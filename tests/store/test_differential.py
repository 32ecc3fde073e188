"""SQLite, PostgreSQL and MariaDB answer like the memory store, whatever is asked in whatever order."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from procession.ids import Keys
from procession.store.mysql import MysqlStore
from procession.store.port import Store
from procession.store.postgres import PostgresStore
from procession.store.sqlite import SqliteStore
from tests.store.machine import Jobs, Mail, Steps, TwoStores
from tests.store.oracle import TIME, WITHOUT_SHRINKING, compare
from tests.support.mariadb import MariadbDatabases
from tests.support.postgres import PostgresDatabases

pytestmark = TIME
SETTINGS = settings(max_examples=40, stateful_step_count=30, suppress_health_check=[HealthCheck.too_slow])


class MemoryAndSqlite(TwoStores):
    """Each example on a file of its own."""

    def open_other(self) -> Store:
        self.folder = tempfile.TemporaryDirectory()
        store = SqliteStore(Path(self.folder.name) / "procession.db", clock=self.clock)
        self.runner.run(store.migrate())
        self.runner.run(store.open())
        return store

    def teardown(self) -> None:
        super().teardown()
        self.folder.cleanup()


class QueueOnSqlite(Jobs, MemoryAndSqlite):
    """Plain jobs only: deeper than everything at once gets."""


class MailOnSqlite(Steps, Mail, MemoryAndSqlite):
    """Instances that wait for messages and signals."""


class EverythingOnSqlite(Jobs, Steps, Mail, MemoryAndSqlite):
    """Everything at once."""


@pytest.mark.parametrize("machine", [QueueOnSqlite, MailOnSqlite, EverythingOnSqlite])
def test_sqlite_answers_like_memory(machine: type[TwoStores]) -> None:
    compare(machine, SETTINGS)


class EverythingOnPostgres(Jobs, Steps, Mail):
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


def test_postgres_answers_like_memory(postgres_databases: PostgresDatabases) -> None:
    EverythingOnPostgres.databases = postgres_databases
    EverythingOnPostgres.migrated = postgres_databases.create()
    asyncio.run(_migrate(EverythingOnPostgres.migrated))
    compare(EverythingOnPostgres, SETTINGS, max_examples=15, stateful_step_count=20, phases=WITHOUT_SHRINKING)


async def _migrate(url: str) -> None:
    store = PostgresStore(url)
    await store.migrate()
    await store.close()


class EverythingOnMariadb(Jobs, Steps, Mail):
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


def test_mariadb_answers_like_memory(mariadb_databases: MariadbDatabases) -> None:
    EverythingOnMariadb.databases = mariadb_databases
    compare(EverythingOnMariadb, SETTINGS, max_examples=15, stateful_step_count=20, phases=WITHOUT_SHRINKING)
