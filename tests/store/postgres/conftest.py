"""What the tests of PostgreSQL's store share: a store on a database of the test's own, migrated once and copied."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from procession.ids import Keys
from procession.store.postgres import PostgresStore
from procession.testing.conformance import ManualClock

KEYS = 20_000

MakeStore = Callable[..., Awaitable[PostgresStore]]


@pytest.fixture
def url(postgres_url: str) -> str:
    """A migrated, empty database of the test's own."""
    return postgres_url


@pytest.fixture
def clock() -> ManualClock:
    """The store's clock, turned by hand."""
    return ManualClock()


@pytest.fixture
async def make_store(url: str) -> AsyncIterator[MakeStore]:
    """Opens stores on the database of the test with any options; they are closed at its end."""
    stores: list[PostgresStore] = []

    async def make(**options) -> PostgresStore:
        store = PostgresStore(options.pop("url", url), **options)
        stores.append(store)
        await store.open()
        return store

    yield make
    for store in stores:
        await store.close()


@pytest.fixture
async def store(make_store: MakeStore, clock: ManualClock) -> PostgresStore:
    """An open store on the clock that is turned by hand."""
    return await make_store(clock=clock)


@pytest.fixture
async def keys(store: PostgresStore) -> Keys:
    """Keys of the store."""
    return Keys(await store.take_keys(KEYS))


@pytest.fixture
def reopen(make_store: MakeStore, clock: ManualClock) -> Callable[[], Awaitable[PostgresStore]]:
    """Opens another store object on the same database."""

    async def open_another() -> PostgresStore:
        return await make_store(clock=clock)

    return open_another
