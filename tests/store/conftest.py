"""Fixtures of the stores: an open, empty store of each kind on a clock turned by hand."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

pytest.register_assert_rewrite("procession.testing.conformance")  # before it is imported, or its asserts say little

from procession.ids import Keys  # noqa: E402 - see above
from procession.store.memory import MemoryStore  # noqa: E402 - see above
from procession.store.port import Store  # noqa: E402 - see above
from procession.store.sqlite import SqliteStore  # noqa: E402 - see above
from procession.testing.conformance import ManualClock, Reopen  # noqa: E402 - see above


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=["memory", "sqlite"])
def store_kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
async def reopen(store_kind: str, tmp_path: Path, migrated_sqlite: Path, clock: ManualClock) -> AsyncIterator[Reopen]:
    """Opens further stores on the database of the test; they are closed after it."""
    file = tmp_path / "procession.db"
    async with AsyncExitStack() as opened:

        async def another() -> Store | None:
            if store_kind == "memory":
                return None
            if not file.exists():
                shutil.copy(migrated_sqlite, file)
            made = SqliteStore(file, clock=clock)
            await made.open()
            opened.push_async_callback(made.close)
            return made

        yield another


@pytest.fixture
async def store(store_kind: str, reopen: Reopen, clock: ManualClock) -> AsyncIterator[Store]:
    made = MemoryStore(clock=clock) if store_kind == "memory" else await reopen()
    assert made is not None
    await made.open()
    yield made
    await made.close()


@pytest.fixture
async def keys(store: Store) -> Keys:
    return Keys(await store.take_keys(100_000))
