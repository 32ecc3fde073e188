"""PostgreSQL's store behind PgBouncer in transaction mode: no session is anybody's for longer than a transaction."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest

from procession.ids import Keys
from procession.store.postgres import PostgresStore
from procession.testing.conformance import ManualClock
from tests.support import pgbouncer
from tests.support.pgbouncer import PgBouncer
from tests.support.postgres import PostgresDatabases

KEYS = 20_000

MakeStore = Callable[..., Awaitable[PostgresStore]]


@pytest.fixture(scope="session")
def pooler(postgres_databases: PostgresDatabases) -> Iterator[PgBouncer]:
    """Skips what needs PgBouncer where there is none: no package of Python brings it."""
    if pgbouncer.program() is None:
        pytest.skip(pgbouncer.MISSING)
    with PgBouncer(postgres_databases.server.url()) as started:
        yield started


@pytest.fixture
def direct_url(postgres_url: str) -> str:
    """A migrated, empty database of the test's own, without a pooler."""
    return postgres_url


@pytest.fixture
def url(pooler: PgBouncer, direct_url: str) -> str:
    """The same database through the pooler."""
    return pooler.through(direct_url)


@pytest.fixture
def clock() -> ManualClock:
    """The store's clock, turned by hand."""
    return ManualClock()


@pytest.fixture
async def make_store(url: str) -> AsyncIterator[MakeStore]:
    """Opens stores through the pooler; they are closed at the test's end."""
    stores: list[PostgresStore] = []

    async def make(**options) -> PostgresStore:
        made = PostgresStore(options.pop("url", url), pgbouncer=True, **options)
        stores.append(made)
        await made.open()
        return made

    yield make
    for made in stores:
        await made.close()


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
