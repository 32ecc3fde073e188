"""Fixtures for every room: PostgreSQL and MariaDB servers and databases, and the model collections.

A test says by its arguments what it needs. Servers start when the first test asks and end with the run, even if the
run is killed.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import hypothesis
import pytest

from procession.app.wiring import store_factory
from procession.lab.mariadb_server import MariadbServer, mariadb_is_installed
from procession.lab.postgres_server import PostgresServer
from tests.support import mariadb, postgres, scratch
from tests.support.apart import run_apart
from tests.support.corpora import VARIABLE, corpora_directory
from tests.support.mariadb import MariadbDatabases
from tests.support.postgres import PostgresDatabases

# A shared machine stalls: how long one example takes says nothing about the code. A build repeats the same examples,
# so that it fails for a change and not by chance; everybody else looks for new ones.
hypothesis.settings.register_profile("procession", deadline=None, print_blob=True, derandomize="CI" in os.environ)
hypothesis.settings.load_profile("procession")


def pytest_configure() -> None:
    """Before the first folder is made."""
    scratch.use_memory_for_test_folders()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs a server, so that `-m "not postgres and not mariadb"` leaves it out; the longest come first.

    A long test that is begun last is waited for alone.
    """
    items.sort(key=lambda item: item.get_closest_marker("kill") is None)
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        if postgres.FIXTURES & fixtures:
            item.add_marker(pytest.mark.postgres)
        if mariadb.FIXTURES & fixtures:
            item.add_marker(pytest.mark.mariadb)


def pytest_collection_finish() -> None:
    """What is there for the whole run (tests, models, libraries) is not looked through again with each collection."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def postgres_databases() -> Iterator[PostgresDatabases]:
    """Databases on the server that the whole run shares (each xdist worker has its own); it does not flush to disk."""
    # What it keeps may lie in memory. No database lives until it would be vacuumed, and each that is made or dropped
    # waits for the process that would do it.
    settings = {"shared_buffers": "256MB", "max_wal_size": "256MB", "autovacuum": "off"}
    with ExitStack() as stack:
        with scratch.temporary_folders_in_memory():
            server = stack.enter_context(PostgresServer(durable=False, settings=settings))
        databases = PostgresDatabases(server)
        yield databases
        databases.close()


@pytest.fixture(scope="session")
def migrated_postgres_url(postgres_databases: PostgresDatabases) -> str:
    """A database with our schema, to copy and never to use: a third of the time that migrating takes."""
    url = postgres_databases.create()
    run_apart(_migrate(url))
    return url


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with our schema, to copy and never to open."""
    file = tmp_path_factory.mktemp("sqlite") / "migrated.db"
    run_apart(_migrate(f"sqlite:///{file}"))
    return file


async def _migrate(url: str) -> None:
    store = store_factory(url)()
    await store.migrate()
    await store.close()


@pytest.fixture
def postgres_url(postgres_databases: PostgresDatabases, migrated_postgres_url: str) -> Iterator[str]:
    """The URL of a database of the test's own, empty but for our schema."""
    url = postgres_databases.create(template=migrated_postgres_url)
    yield url
    postgres_databases.drop(url)


@pytest.fixture
def bare_postgres_url(postgres_databases: PostgresDatabases) -> Iterator[str]:
    """The URL of a database of the test's own without anything."""
    url = postgres_databases.create()
    yield url
    postgres_databases.drop(url)


@pytest.fixture
def make_postgres_server() -> Iterator[Callable[..., PostgresServer]]:
    """Makes running servers of the test's own: `make_postgres_server(durable=True, settings={...})`."""
    with ExitStack() as servers:

        def make(**options) -> PostgresServer:
            return servers.enter_context(PostgresServer(**options))

        yield make


@pytest.fixture
def postgres_server(make_postgres_server) -> PostgresServer:
    """A durable server of the test's own, to stop, kill and start again."""
    return make_postgres_server(durable=True)


@pytest.fixture(scope="session")
def mariadb_is_there() -> None:
    """Skips what needs MariaDB where there is none: no package of Python brings it."""
    if not mariadb_is_installed():
        pytest.skip(mariadb.MISSING)


@pytest.fixture(scope="session")
def mariadb_databases(mariadb_is_there) -> Iterator[MariadbDatabases]:
    """Databases on the server that the whole run shares (each xdist worker has its own); it does not flush to disk."""
    with ExitStack() as stack:
        with scratch.temporary_folders_in_memory():
            server = stack.enter_context(MariadbServer(durable=False))
        databases = MariadbDatabases(server)
        yield databases
        databases.close()


@pytest.fixture
def mariadb_url(mariadb_databases: MariadbDatabases) -> Iterator[str]:
    """The URL of a database of the test's own, empty but for our schema."""
    url = mariadb_databases.lend()
    yield url
    mariadb_databases.give_back(url)


@pytest.fixture
def make_mariadb_server(mariadb_is_there) -> Iterator[Callable[..., MariadbServer]]:
    """Makes running servers of the test's own: `make_mariadb_server(durable=True, settings={...})`."""
    with ExitStack() as servers:

        def make(**options) -> MariadbServer:
            return servers.enter_context(MariadbServer(**options))

        yield make


@pytest.fixture
def mariadb_server(make_mariadb_server) -> MariadbServer:
    """A durable server of the test's own, to stop, kill and start again."""
    return make_mariadb_server(durable=True)


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The folder of the model collections."""
    directory = corpora_directory()
    if not directory.is_dir():
        pytest.skip(f"no model collections at {directory}; set {VARIABLE} to where they are")
    return directory
