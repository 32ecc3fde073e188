"""Migrations of a database that commits each definition by itself: they go on where they stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing

import pytest

from procession.errors import SchemaMismatch
from procession.ids import Keys
from procession.store.mysql import MysqlStore
from procession.store.mysql import _migrating as migrating
from procession.testing.conformance.stage import apply, start_step
from tests.support.mariadb import MariadbDatabases, connect

NAMES = [migration.name for migration in migrating.MIGRATIONS]


class Stopped(Exception):
    """The process is gone."""


@pytest.fixture
def empty(mariadb_databases: MariadbDatabases) -> Iterator[str]:
    """The URL of a database without our schema."""
    url = mariadb_databases.create()
    yield url
    mariadb_databases.drop(url)


def schema(url: str) -> list[tuple]:
    """All columns and indexes."""
    with closing(connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute(
            "select table_name, column_name, column_type, is_nullable, column_default, collation_name, column_key "
            "from information_schema.columns where table_schema = database() order by 1, ordinal_position"
        )
        columns = list(cursor.fetchall())
        cursor.execute(
            "select table_name, index_name, seq_in_index, column_name, non_unique "
            "from information_schema.statistics where table_schema = database() order by 1, 2, 3"
        )
        return columns + list(cursor.fetchall())


@pytest.mark.parametrize("known", [False, True], ids=["done and not known to be", "known to be done"])
async def test_a_migration_goes_on_after_a_stop_at_any_statement(
    empty: str, mariadb_databases: MariadbDatabases, monkeypatch, known: bool
) -> None:
    whole = mariadb_databases.create()
    await migrate(whole)
    execute, calls = migrating._execute, 0
    stop_after = 0

    async def execute_some(session, sql: str):
        nonlocal calls
        is_progress = sql.startswith("UPDATE procession_migration SET statements")
        if is_progress and calls >= stop_after and not known:
            raise Stopped
        rows = await execute(session, sql)
        if is_progress:
            calls += 1
            if calls > stop_after and known:
                raise Stopped
        return rows

    monkeypatch.setattr(migrating, "_execute", execute_some)
    stops = 0
    while True:
        calls, stop_after = 0, 3
        try:
            await migrate(empty)
        except Stopped:
            stops += 1
            assert stops < 200
        else:
            break
    assert stops >= 5
    monkeypatch.undo()
    assert schema(empty) == schema(whole)
    store = MysqlStore(empty)
    assert await store.migrate() == []
    await store.open()
    keys = Keys(await store.take_keys(10))
    await apply(store, keys, start_step(keys))
    await store.close()
    mariadb_databases.drop(whole)


async def test_several_processes_may_migrate_at_once(empty: str) -> None:
    found = await asyncio.gather(*(migrate(empty) for _ in range(4)))
    assert sorted(found, key=len) == [[], [], [], NAMES]


async def test_a_schema_that_is_newer_than_the_program_is_refused(empty: str) -> None:
    await migrate(empty)
    with closing(connect(empty, autocommit=True)) as connection:
        connection.query("insert into procession_migration values (9999, 'the_future', 1, 1)")
    store = MysqlStore(empty)
    for call in (store.open, store.migrate):
        with pytest.raises(SchemaMismatch, match="9999"):
            await call()
    await store.close()


async def test_every_text_compares_by_bytes(empty: str) -> None:
    """A migration that forgets the collation would join what differs in case."""
    await migrate(empty)
    names = {row[5] for row in schema(empty) if len(row) > 5 and row[5]}
    with closing(connect(empty)) as connection, connection.cursor() as cursor:
        cursor.execute(
            "select distinct table_name, collation_name from information_schema.columns "
            "where table_schema = database() and collation_name is not null "
            "and table_name not in ('procession_migration', 'procession_history_event')"
        )
        assert {collation for _, collation in cursor.fetchall()} <= {"utf8mb4_nopad_bin", "ascii_bin"}
    assert "utf8mb4_nopad_bin" in names


async def migrate(url: str) -> list[str]:
    store = MysqlStore(url)
    try:
        return await store.migrate()
    finally:
        await store.close()
