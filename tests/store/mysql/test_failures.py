"""MariaDB goes away, comes back, or does not let us in: what callers are told, and that the store heals."""

from __future__ import annotations

import asyncio
from contextlib import closing

import pytest

from procession.errors import Misconfigured, SchemaMismatch, Unavailable
from procession.ids import Keys
from procession.lab.mariadb_server import MariadbServer
from procession.store.mysql import MysqlStore
from procession.testing.conformance.stage import apply, claim, new_job, next_step, start_step, the_instance
from tests.store.mysql.conftest import MakeStore
from tests.support.mariadb import MariadbDatabases, connect, database_of, migrate


@pytest.fixture
async def durable(mariadb_server: MariadbServer) -> str:
    """A migrated database on a durable server of the test's own."""
    with closing(connect(mariadb_server.url())) as connection:
        connection.query("create database shop")
    url = mariadb_server.url("shop")
    await migrate(url)
    return url


@pytest.mark.parametrize("end", ["restart", "kill"])
async def test_a_store_survives_its_server(mariadb_server: MariadbServer, durable: str, end: str) -> None:
    store = MysqlStore(durable, deadline_s=5)
    await store.open()
    keys = Keys(await store.take_keys(100))
    step, job = start_step(keys), new_job(keys)
    await apply(store, keys, step)
    await store.enqueue([job])
    node = await store.register("n", b"{}")

    await asyncio.to_thread(mariadb_server.kill if end == "kill" else mariadb_server.stop)
    for call in (store.commit([next_step(step)], keys), store.claim(node, []), store.enqueue([new_job(keys)])):
        if call.__name__ == "claim":
            await call
            continue
        with pytest.raises(Unavailable):
            await call
    await asyncio.to_thread(mariadb_server.start)

    assert (await the_instance(store, step.instance)).rev == 1
    await apply(store, keys, next_step(step))
    assert [each.key for each in await claim(store, node)] == [job.key]
    later = await store.register("later", b"{}")
    assert later > node
    assert (await store.take_keys(1)).start > keys.take()
    await store.close()


async def test_sessions_that_are_ended_are_replaced(
    store: MysqlStore, keys: Keys, url: str, mariadb_databases: MariadbDatabases
) -> None:
    for _ in range(3):
        await apply(store, keys, start_step(keys))
        mariadb_databases._end_sessions(database_of(url))
        await asyncio.sleep(0.05)  # until the end has come through
        try:
            await store.enqueue([new_job(keys)])
        except Unavailable:
            await store.enqueue([new_job(keys)])


async def test_a_call_that_is_cancelled_leaves_no_lock_and_no_half_of_a_transaction(
    store: MysqlStore, keys: Keys, url: str
) -> None:
    step = start_step(keys)
    await apply(store, keys, step)
    with closing(connect(url)) as stranger, stranger.cursor() as cursor:
        cursor.execute(f"select * from procession_instance where `key` = {step.instance} for update")
        waiting = asyncio.create_task(store.commit([next_step(step), start_step(keys)], keys))
        await asyncio.sleep(0.1)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        stranger.rollback()
    await apply(store, keys, next_step(step))
    assert sum((await store.count_instances()).values()) == 1


async def test_who_is_not_let_in_is_told_why_and_no_password_is_shown(
    mariadb_databases: MariadbDatabases, url: str
) -> None:
    password = url.split(":")[2].partition("@")[0]
    for wrong, words in (
        (url.replace(password, "guessed"), "Access denied"),
        (url.replace(database_of(url), "nowhere"), "nowhere"),
    ):
        store = MysqlStore(wrong)
        with pytest.raises(Misconfigured, match=words) as refused:
            await store.open()
        assert password not in str(refused.value)
        assert "guessed" not in str(refused.value)
        assert password not in repr(store._options.address)


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    with pytest.raises(Unavailable, match=r"127\.0\.0\.1:1"):
        await MysqlStore("mysql://ada:secret@127.0.0.1:1/shop", deadline_s=1).open()


async def test_a_server_that_never_answers_is_unavailable_within_the_deadline() -> None:
    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    silent = await asyncio.start_server(hold, "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    with pytest.raises(Unavailable, match=r"within 0\.5 s"):
        await MysqlStore(f"mysql://ada@127.0.0.1:{port}/shop", deadline_s=0.5).open()
    silent.close()


async def test_without_a_schema_the_store_does_not_open(mariadb_databases: MariadbDatabases) -> None:
    url = mariadb_databases.create()
    store = MysqlStore(url)
    assert (await store.schema_version())[0] == 0
    with pytest.raises(SchemaMismatch, match="procession db migrate"):
        await store.open()
    mariadb_databases.drop(url)


async def test_a_binary_log_of_statements_is_refused_by_name(make_mariadb_server) -> None:
    """The isolation level that keeps claims from deadlocks cannot be logged so."""
    settings = {"log_bin": "ON", "binlog_format": "STATEMENT", "server_id": "1"}
    server = make_mariadb_server(durable=False, settings=settings)
    databases = MariadbDatabases(server)
    url = databases.create()
    store = MysqlStore(url)
    with pytest.raises(Misconfigured, match=r"binlog|binary|logging"):
        await store.migrate()
    await store.close()
    databases.close()


async def test_row_and_mixed_binary_logs_work(make_mariadb_server) -> None:
    server = make_mariadb_server(durable=True, settings={"log_bin": "ON", "sync_binlog": "1", "server_id": "1"})
    databases = MariadbDatabases(server)
    url = databases.create()
    await migrate(url)
    store = MysqlStore(url)
    await store.open()
    keys = Keys(await store.take_keys(100))
    step = start_step(keys)
    await apply(store, keys, step)
    await apply(store, keys, next_step(step))
    await store.close()
    databases.close()


async def test_the_instants_are_the_servers_whatever_its_time_zone(make_mariadb_server, make_store: MakeStore) -> None:
    server = make_mariadb_server(durable=False, settings={"default_time_zone": "-07:00"})
    databases = MariadbDatabases(server)
    url = databases.create()
    await migrate(url)
    elsewhere, here = MysqlStore(url), await make_store()
    await elsewhere.open()
    assert abs(await elsewhere.now() - await here.now()) < 60_000
    await elsewhere.close()
    databases.close()
