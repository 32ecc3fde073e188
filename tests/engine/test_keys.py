"""Keys for rows on a caller's own connection: on SQLite that caller may hold the one write lock, and must not wait."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from procession import Procession
from procession.engine import keys
from procession.errors import Unavailable
from procession.limits import CALLER_KEYS
from procession.testing.bpmn import process

WAITS = process("p").start().user("wait").end()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "shop.db"


@pytest.fixture
async def app(path: Path) -> AsyncIterator[Procession]:
    made = Procession(f"sqlite:///{path}")
    await made.open(run_workers=False)
    await made.deploy(("p.bpmn", WAITS.xml()))
    yield made
    await made.close()


@pytest.fixture
def database(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection of the user's own."""
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as connection:
        yield connection


def use_up(stock: keys.KeyStock) -> None:
    """As if steps had taken all keys."""
    while len(stock.keys):
        stock.keys.take()
    stock._credit = 0


async def test_a_start_in_a_callers_transaction_takes_no_keys_of_the_steps(
    app: Procession, database: sqlite3.Connection
) -> None:
    database.execute("BEGIN IMMEDIATE")
    use_up(app._engine._keys)
    async with asyncio.timeout(10):
        started = [await app.start("p", connection=database) for _ in range(3)]
    assert await app.instances() == []
    database.execute("COMMIT")
    assert {each.process_instance_key for each in await app.instances()} == set(started)


async def test_thousands_of_starts_in_one_transaction_need_no_other_writer(
    app: Procession, database: sqlite3.Connection
) -> None:
    database.execute("BEGIN IMMEDIATE")
    async with asyncio.timeout(60):
        for _ in range(2_000):
            await app.start("p", connection=database)
    database.execute("ROLLBACK")
    assert await app.instances() == []


async def test_a_caller_that_stands_in_its_own_way_is_told_so(
    app: Procession, database: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys, "CALLER_WAIT_S", 0.05)
    stock = app._engine._keys
    database.execute("BEGIN IMMEDIATE")
    await stock.take_for_caller(CALLER_KEYS // 2)
    await stock.take_for_caller(CALLER_KEYS // 2 - 1)
    with pytest.raises(Unavailable, match=r"CALLER_KEYS.*commit it"):
        await app.start("p", connection=database)
    database.execute("COMMIT")
    monkeypatch.undo()
    database.execute("BEGIN")
    key = await app.start("p", connection=database)
    database.execute("COMMIT")
    assert [each.process_instance_key for each in await app.instances()] == [key]


async def test_a_used_up_stock_is_filled_while_the_caller_holds_no_lock(
    app: Procession, database: sqlite3.Connection
) -> None:
    stock = app._engine._keys
    await stock.take_for_caller(CALLER_KEYS // 2)
    await stock.take_for_caller(CALLER_KEYS // 2)
    taken = await stock.take_for_caller(2)
    assert len(set(taken)) == 2


def test_the_synchronous_face_does_not_wait_for_its_own_lock_either(path: Path, database: sqlite3.Connection) -> None:
    app = Procession(f"sqlite:///{path}")
    with app.sync as procession:
        procession.deploy(("p.bpmn", WAITS.xml()))
        database.execute("BEGIN IMMEDIATE")
        use_up(app._engine._keys)
        key = procession.start("p", connection=database)
        database.execute("COMMIT")
        assert [each.process_instance_key for each in procession.instances()] == [key]
