"""What the tests of MariaDB's store share: a store on an empty database with our schema."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest

from procession.ids import Keys
from procession.store.mysql import MysqlStore
from procession.testing.conformance import ManualClock
from tests.support.mariadb import MariadbDatabases

KEYS = 20_000

MakeStore = Callable[..., Awaitable[MysqlStore]]


@pytest.fixture
def url(mariadb_databases: MariadbDatabases) -> Iterator[str]:
    """A migrated, empty database of the test's own."""
    url = mariadb_databases.lend()
    yield url
    mariadb_databases.give_back(url)


@pytest.fixture
def clock() -> ManualClock:
    """The store's clock, turned by hand."""
    return ManualClock()


@pytest.fixture
async def make_store(url: str) -> AsyncIterator[MakeStore]:
    """Opens stores on the database of the test with any options; they are closed at its end."""
    stores: list[MysqlStore] = []

    async def make(**options) -> MysqlStore:
        store = MysqlStore(options.pop("url", url), **options)
        stores.append(store)
        await store.open()
        return store

    yield make
    for store in stores:
        await store.close()


@pytest.fixture
async def store(make_store: MakeStore, clock: ManualClock) -> MysqlStore:
    """An open store on the clock that is turned by hand."""
    return await make_store(clock=clock)


@pytest.fixture
async def keys(store: MysqlStore) -> Keys:
    """Keys of the store."""
    return Keys(await store.take_keys(KEYS))


@pytest.fixture
def reopen(make_store: MakeStore, clock: ManualClock) -> Callable[[], Awaitable[MysqlStore]]:
    """Opens another store object on the same database."""

    async def open_another() -> MysqlStore:
        return await make_store(clock=clock)

    return open_another
