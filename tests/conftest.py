"""Fixtures for every room: PostgreSQL servers and databases, and the model collections.

A test says by its arguments what it needs. Servers start when the first test asks and end with the run, even if the
run is killed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import hypothesis
import pytest

from procession.lab.postgres_server import PostgresServer
from tests.support.corpora import VARIABLE, corpora_directory
from tests.support.postgres import FIXTURES, PostgresDatabases

# A shared machine stalls: how long one example takes says nothing about the code. A build repeats the same examples,
# so that it fails for a change and not by chance; everybody else looks for new ones.
hypothesis.settings.register_profile("procession", deadline=None, print_blob=True, derandomize="CI" in os.environ)
hypothesis.settings.load_profile("procession")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs PostgreSQL, so that `-m "not postgres"` leaves it out."""
    for item in items:
        if FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.postgres)


@pytest.fixture(scope="session")
def postgres_databases() -> Iterator[PostgresDatabases]:
    """Databases on the server that the whole run shares (each xdist worker has its own); it does not flush to disk."""
    with PostgresServer(durable=False, settings={"shared_buffers": "256MB"}) as server:
        databases = PostgresDatabases(server)
        yield databases
        databases.close()


@pytest.fixture
def postgres_url(postgres_databases: PostgresDatabases) -> Iterator[str]:
    """The URL of an empty database of the test's own."""
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
def corpora() -> Path:
    """The folder of the model collections."""
    directory = corpora_directory()
    if not directory.is_dir():
        pytest.skip(f"no model collections at {directory}; set {VARIABLE} to where they are")
    return directory
