"""The worlds that the stories of the core are told in: the pure core, and the engine on each kind of store.

A story that takes ``world`` is told five times. One that needs the core's own insides is marked ``pure`` and told once;
the mark says why. One about what only a store can show is marked ``stored`` and told on the stores.
"""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from procession.testing.store_world import StoreWorld
from procession.testing.world import CoreWorld
from tests.support.mariadb import MariadbDatabases
from tests.support.postgres import PostgresDatabases

RUNNERS = ("core", "memory", "sqlite", "postgres", "mariadb")
SERVERS = ("postgres", "mariadb")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every story on every runner, but for those that are marked otherwise."""
    if "make_world" not in metafunc.fixturenames:
        return
    definition = metafunc.definition
    names = RUNNERS[:1] if definition.get_closest_marker("pure") else RUNNERS
    names = names[1:] if definition.get_closest_marker("stored") else names
    marked = [pytest.param(name, marks=getattr(pytest.mark, name)) if name in SERVERS else name for name in names]
    metafunc.parametrize("runner", marked)


@pytest.fixture
def make_world(
    runner: str, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Callable[[], CoreWorld | StoreWorld]]:
    """Makes worlds without definitions at the first instant of 2026; a story may want several."""
    numbers = itertools.count()
    with ExitStack() as opened:

        def make() -> CoreWorld | StoreWorld:
            if runner == "core":
                return CoreWorld()
            made = StoreWorld(database(), migrate=False)
            opened.callback(made.close)
            return made

        def database() -> str:
            if runner == "memory":
                return "memory://"
            if runner == "sqlite":
                file = tmp_path / f"story-{next(numbers)}.db"
                shutil.copy(request.getfixturevalue("migrated_sqlite"), file)
                return f"sqlite:///{file}"
            if runner == "mariadb":
                lenders: MariadbDatabases = request.getfixturevalue("mariadb_databases")
                lent = lenders.lend()
                opened.callback(lenders.give_back, lent)
                return lent
            databases: PostgresDatabases = request.getfixturevalue("postgres_databases")
            url = databases.create(template=request.getfixturevalue("migrated_postgres_url"))
            opened.callback(databases.drop, url)
            return url

        yield make


@pytest.fixture
def world(make_world: Callable[[], CoreWorld | StoreWorld]) -> CoreWorld | StoreWorld:
    """A world without definitions at the first instant of 2026."""
    return make_world()
