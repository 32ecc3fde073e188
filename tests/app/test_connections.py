"""A start on the caller's connection lives and dies with the caller's transaction; without one it is refused."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import asyncmy
import asyncpg
import psycopg
import pytest
import sqlalchemy
from django.db import connections
from django.db.transaction import atomic

from procession import Procession, Settings
from procession.app.commits import Commits
from procession.errors import Misconfigured
from procession.jobs.kinds import JobState
from procession.store.rows import JobFilter
from procession.testing.bpmn import process
from tests.app.callers import (
    ON_MARIADB,
    ON_POSTGRES,
    ON_SQLITE,
    Caller,
    Open,
    Undo,
    async_engine,
    asyncmy_options,
    django_alias,
    sync_engine,
)
from tests.support import mariadb

MODEL = process("order").start().user("approve").end()
SERVED = process("served").start().service("serve", type="serve").end()
POLL_MS = 600_000  # so that nothing is found by polling while a test runs


async def opened(url: str) -> Procession:
    app = await Procession(url).open(run_workers=False, migrate=True)
    await app.deploy(("order.bpmn", MODEL.xml()))
    return app


@pytest.fixture
async def on_postgres(postgres_url: str) -> AsyncIterator[Procession]:
    app = await opened(postgres_url)
    yield app
    await app.close()


@pytest.fixture
async def on_mariadb(mariadb_url: str) -> AsyncIterator[Procession]:
    app = await opened(mariadb_url)
    yield app
    await app.close()


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'shop.db'}"


@pytest.fixture
async def on_sqlite(sqlite_url: str) -> AsyncIterator[Procession]:
    app = await opened(sqlite_url)
    yield app
    await app.close()


# -- commit, rollback, savepoints ---------------------------------------------------------------------------------


async def both_ends(app: Procession, url: str, connect: Open) -> None:
    async with connect(url) as caller:
        key = await app.start("order", {"n": 1}, business_id="A-1", tags=["red"], connection=caller.connection)
        assert not await app.instances()
        await caller.commit()
        assert [it.process_instance_key for it in await app.instances()] == [key]
    async with connect(url) as caller:
        lost = await app.start("order", {"n": 2}, connection=caller.connection)
        await caller.rollback()
    assert lost != key
    assert [it.business_id for it in await app.instances()] == ["A-1"]
    await app.run_until_idle()
    assert [task.process_instance_key for task in await app.user_tasks()] == [key]


async def start(app: Procession, caller: Caller, name: str) -> None:
    await app.start("order", business_id=name, connection=caller.connection)


async def undone(app: Procession, caller: Caller, name: str) -> None:
    with suppress(Undo):
        async with caller.savepoint():
            await start(app, caller, name)
            raise Undo


async def nested(app: Procession, url: str, connect: Open) -> None:
    async with connect(url) as caller:
        await start(app, caller, "outermost")
        await undone(app, caller, "undone")
        async with caller.savepoint():
            await start(app, caller, "kept")
            async with caller.savepoint():
                await start(app, caller, "kept, deeper")
            await undone(app, caller, "undone, deeper")
        assert not await app.instances()
        await caller.commit()
    await app.run_until_idle()
    assert {it.business_id for it in await app.instances()} == {"outermost", "kept", "kept, deeper"}
    assert len(await app.user_tasks()) == 3


@pytest.mark.parametrize("connect", ON_POSTGRES)
async def test_on_postgresql_a_start_comes_with_the_commit_and_goes_with_the_rollback(
    on_postgres: Procession, postgres_url: str, connect: Open
) -> None:
    await both_ends(on_postgres, postgres_url, connect)


@pytest.mark.parametrize("connect", ON_MARIADB)
async def test_on_mariadb_a_start_comes_with_the_commit_and_goes_with_the_rollback(
    on_mariadb: Procession, mariadb_url: str, connect: Open
) -> None:
    await both_ends(on_mariadb, mariadb_url, connect)


@pytest.mark.parametrize("connect", ON_MARIADB)
async def test_on_mariadb_a_start_goes_with_the_savepoint_that_it_is_in(
    on_mariadb: Procession, mariadb_url: str, connect: Open
) -> None:
    await nested(on_mariadb, mariadb_url, connect)


@pytest.mark.parametrize("connect", ON_SQLITE)
async def test_on_sqlite_a_start_comes_with_the_commit_and_goes_with_the_rollback(
    on_sqlite: Procession, sqlite_url: str, connect: Open
) -> None:
    await both_ends(on_sqlite, sqlite_url, connect)


@pytest.mark.parametrize("connect", ON_POSTGRES)
async def test_on_postgresql_a_start_goes_with_the_savepoint_that_it_is_in(
    on_postgres: Procession, postgres_url: str, connect: Open
) -> None:
    await nested(on_postgres, postgres_url, connect)


@pytest.mark.parametrize("connect", ON_SQLITE)
async def test_on_sqlite_a_start_goes_with_the_savepoint_that_it_is_in(
    on_sqlite: Procession, sqlite_url: str, connect: Open
) -> None:
    await nested(on_sqlite, sqlite_url, connect)


# -- what is refused ----------------------------------------------------------------------------------------------


async def test_a_connection_that_commits_each_statement_is_refused(
    on_postgres: Procession, postgres_url: str, monkeypatch
) -> None:
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
    lone, alias = await asyncpg.connect(postgres_url), django_alias(postgres_url)
    engine, later = sync_engine(postgres_url), async_engine(postgres_url)
    of_the_engine = sqlalchemy.orm.Session(engine.execution_options(isolation_level="AUTOCOMMIT"))
    made_async = await later.connect()
    with psycopg.connect(postgres_url, autocommit=True) as autocommit, engine.connect() as made:
        refused: list[Any] = [
            lone,
            autocommit,
            made.execution_options(isolation_level="AUTOCOMMIT"),
            await made_async.execution_options(isolation_level="AUTOCOMMIT"),
            of_the_engine,
            connections[alias],
        ]
        for connection in refused:
            with pytest.raises(Misconfigured, match="within a transaction, found one that commits each statement"):
                await on_postgres.start("order", connection=connection)
        with autocommit.transaction():
            await on_postgres.start("order", connection=autocommit)
        async with lone.transaction():
            await on_postgres.start("order", connection=lone)
        with atomic(using=alias):
            await on_postgres.start("order", connection=connections[alias])
    await lone.close()
    connections[alias].close()
    of_the_engine.close()
    engine.dispose()
    await made_async.close()
    await later.dispose()
    assert len(await on_postgres.instances()) == 3


@pytest.mark.parametrize("connect", ON_MARIADB)
async def test_on_mariadb_jobs_come_with_the_commit_and_go_with_the_rollback_as_they_were_given(
    on_mariadb: Procession, mariadb_url: str, connect: Open
) -> None:
    args = {"text": 'it\'s \\ "quoted" 100% :name ? 🦊 é\n\t\u2028', "n": 1.5, "deep": [{"a": None}]}
    async with connect(mariadb_url) as caller:
        given = {"queue": "Mail ", "priority": -3, "delay": "1h", "connection": caller.connection}
        wanted = await on_mariadb.enqueue("send", args, **given)
        assert not await on_mariadb.jobs()
        await caller.commit()
    async with connect(mariadb_url) as caller:
        await on_mariadb.enqueue("send", args, connection=caller.connection)
        await caller.rollback()
    (job,) = await on_mariadb._store.list_jobs(JobFilter())
    assert (job.key, job.queue, job.priority, job.state) == (wanted.job_key, "Mail ", -3, JobState.SCHEDULED)
    assert json.loads(job.args) == args


async def test_on_mariadb_without_a_transaction_it_is_refused_too(on_mariadb: Procession, mariadb_url: str) -> None:
    lone = await asyncmy.connect(**asyncmy_options(mariadb_url), autocommit=True)
    with closing(mariadb.connect(mariadb_url, autocommit=True)) as connection:
        for refused in (connection, lone):
            with pytest.raises(Misconfigured, match="within a transaction, found one that commits each statement"):
                await on_mariadb.start("order", connection=refused)
        connection.begin()
        await on_mariadb.start("order", connection=connection)
        connection.commit()
    await lone.begin()
    await on_mariadb.start("order", connection=lone)
    await lone.commit()
    await lone.ensure_closed()
    assert len(await on_mariadb.instances()) == 2


@pytest.mark.parametrize("connect", ON_MARIADB)
async def test_a_connection_to_another_database_of_a_mariadb_server_is_refused_by_its_name(
    on_mariadb: Procession, mariadb_databases, connect: Open
) -> None:
    other = mariadb_databases.create()
    async with connect(other) as caller:
        with pytest.raises(Misconfigured, match=f"of this Procession, found one to '{mariadb.database_of(other)}'"):
            await on_mariadb.start("order", connection=caller.connection)
        await caller.rollback()
    mariadb_databases.drop(other)


async def test_tables_that_are_missing_on_mariadb_are_said_to_be(mariadb_databases) -> None:
    url = mariadb_databases.create()
    app = await opened(url)
    connection = mariadb.connect(url)
    with closing(connection), connection.cursor() as cursor:
        cursor.execute("rename table procession_instance to gone")
        with pytest.raises(Misconfigured, match="one that has none of its tables"):
            await app.start("order", connection=connection)
    await app.close()
    mariadb_databases.drop(url)


async def test_on_sqlite_without_a_transaction_it_is_refused_too(on_sqlite: Procession, sqlite_url: str) -> None:
    path = sqlite_url.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        with pytest.raises(Misconfigured, match="begin immediate"):
            await on_sqlite.start("order", connection=connection)
        connection.execute("begin immediate")
        await on_sqlite.start("order", connection=connection)
        connection.execute("commit")
    assert len(await on_sqlite.instances()) == 1


async def test_pools_engines_and_cursors_are_no_connections(on_postgres: Procession, postgres_url: str) -> None:
    pool = await asyncpg.create_pool(postgres_url, min_size=1, max_size=1)
    engine, later = sync_engine(postgres_url), async_engine(postgres_url)
    sessions = sqlalchemy.orm.sessionmaker(engine)
    with psycopg.connect(postgres_url) as connection:
        for wrong in (pool, engine, later, sessions, connection.cursor(), object(), 7, "postgresql://host/shop"):
            with pytest.raises(Misconfigured, match="no pool, engine or cursor"):
                await on_postgres.start("order", connection=wrong)
    await pool.close()
    engine.dispose()
    assert not await on_postgres.instances()


async def test_a_connection_to_another_kind_of_database_is_refused(
    on_postgres: Procession, on_sqlite: Procession, postgres_url: str
) -> None:
    with (
        closing(sqlite3.connect(":memory:")) as wrong,
        pytest.raises(Misconfigured, match="the postgresql database of this Procession, found one to sqlite"),
    ):
        await on_postgres.start("order", connection=wrong)
    with (
        psycopg.connect(postgres_url) as wrong,
        pytest.raises(Misconfigured, match="the sqlite database of this Procession, found one to postgresql"),
    ):
        await on_sqlite.start("order", connection=wrong)


@pytest.mark.parametrize("connect", ON_POSTGRES)
async def test_a_connection_to_another_database_of_the_server_is_refused_by_its_name(
    on_postgres: Procession, postgres_databases, connect: Open
) -> None:
    other = postgres_databases.create()
    async with connect(other) as caller:
        with pytest.raises(Misconfigured, match=f"of this Procession, found one to '{other.rpartition('/')[2]}'"):
            await on_postgres.start("order", connection=caller.connection)
        await caller.rollback()
    postgres_databases.drop(other)


@pytest.mark.parametrize("connect", ON_POSTGRES)
async def test_behind_a_pooler_names_mean_nothing_but_missing_tables_do(
    postgres_url: str, postgres_databases, connect: Open
) -> None:
    app, other = await opened(f"{postgres_url}?pgbouncer=1"), postgres_databases.create()
    async with connect(other) as caller:
        with pytest.raises(Misconfigured, match="one that has none of its tables"):
            await app.start("order", connection=caller.connection)
        await caller.rollback()
    await app.close()
    postgres_databases.drop(other)


@pytest.mark.parametrize("connect", ON_SQLITE)
async def test_a_connection_to_another_file_is_refused(on_sqlite: Procession, tmp_path: Path, connect: Open) -> None:
    async with connect(f"sqlite:///{tmp_path / 'other.db'}") as caller:
        with pytest.raises(Misconfigured, match=r"found one to '.*other\.db'"):
            await on_sqlite.start("order", connection=caller.connection)
        await caller.rollback()


async def test_the_same_file_by_another_path_is_the_same_file(
    on_sqlite: Procession, sqlite_url: str, tmp_path: Path
) -> None:
    link = tmp_path / "link.db"
    link.hardlink_to(sqlite_url.removeprefix("sqlite:///"))
    with closing(sqlite3.connect(link)) as connection, connection:
        await on_sqlite.start("order", connection=connection)


async def test_what_the_database_refuses_is_the_drivers_own_error(on_postgres: Procession, postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as connection:
        connection.execute("set transaction read only")
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            await on_postgres.start("order", connection=connection)


async def test_the_memory_store_has_no_transactions_of_callers() -> None:
    app = await opened("memory://")
    with closing(sqlite3.connect(":memory:")) as connection, pytest.raises(Misconfigured, match="memory"):
        await app.start("order", connection=connection)
    await app.close()


# -- the wake-up --------------------------------------------------------------------------------------------------


async def wakes(app: Procession, url: str, connect: Open, elsewhere: Procession | None = None) -> None:
    """A start is found when it is committed, though nobody polls; ``elsewhere``: by another process."""
    served = asyncio.Event()
    worker = elsewhere or app

    @worker.job("serve")
    async def serve() -> None:
        served.set()

    await worker.open(migrate=True)
    if worker is not app:
        await app.open(run_workers=False)
    try:
        await app.deploy(("served.bpmn", SERVED.xml()))
        async with connect(url) as caller:
            await app.start("served", connection=caller.connection)
            await asyncio.wait_for(turns(100), 30)  # the loops of claims come to their long rest
            assert not served.is_set()
            await caller.commit()
            await asyncio.wait_for(served.wait(), 30)
    finally:
        await app.close()
        await worker.close()


async def turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


RARELY = Settings(claim_poll_ms_min=POLL_MS, claim_poll_ms_max=POLL_MS, check_ms=POLL_MS)


@pytest.mark.parametrize("connect", ON_POSTGRES)
async def test_on_postgresql_the_commit_wakes_the_workers_of_this_process(postgres_url: str, connect: Open) -> None:
    await wakes(Procession(postgres_url, settings=RARELY), postgres_url, connect)


@pytest.mark.parametrize("connect", ON_SQLITE)
async def test_on_sqlite_the_commit_wakes_the_workers_of_this_process(sqlite_url: str, connect: Open) -> None:
    await wakes(Procession(sqlite_url, settings=RARELY), sqlite_url, connect)


@pytest.mark.parametrize("connect", ON_MARIADB)
async def test_on_mariadb_the_commit_wakes_the_workers_of_this_process(mariadb_url: str, connect: Open) -> None:
    await wakes(Procession(mariadb_url, settings=RARELY), mariadb_url, connect)


@pytest.mark.parametrize("connect", ON_POSTGRES)
async def test_the_commit_wakes_workers_elsewhere(postgres_url: str, connect: Open) -> None:
    elsewhere = Procession(postgres_url, settings=RARELY)
    await wakes(Procession(postgres_url), postgres_url, connect, elsewhere)


async def test_nothing_is_announced_before_the_transaction_is_over_and_each_queue_once_or_twice_then() -> None:
    announced: list[str] = []
    over, heard = False, asyncio.Event()

    def announce(queue: str) -> None:
        announced.append(queue)
        heard.set()

    commits = Commits(announce)
    connection = object()
    for queue in ("mail", "mail", "sms"):
        commits.expect(connection, lambda: over, queue)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(heard.wait(), 0.1)
    over = True
    await asyncio.wait_for(heard.wait(), 10)
    assert sorted(announced) == ["mail", "sms"]
    commits.stop()


async def test_a_connection_that_is_none_any_more_counts_as_over() -> None:
    heard = asyncio.Event()

    def closed() -> bool:
        raise RuntimeError("the connection is closed")

    commits = Commits(lambda _: heard.set())
    commits.expect(object(), closed, "mail")
    await asyncio.wait_for(heard.wait(), 10)
    commits.stop()
