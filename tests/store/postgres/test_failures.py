"""PostgreSQL goes away in every way it can: callers are told, nothing is half written, the store heals by itself."""

from __future__ import annotations

import asyncio
from pathlib import Path

import asyncpg
import pytest

from procession.errors import Misconfigured, ProcessionError, SchemaMismatch, Unavailable
from procession.ids import Keys
from procession.store.postgres import PostgresStore
from procession.store.postgres._hints import Listener
from procession.store.rows import NewJob, StepOutcome, Want
from procession.testing.conformance.stage import apply, next_step, service_job, start_step, waiting_for
from tests.store.postgres.wire import Wire

MIGRATIONS = sorted(path.stem for path in Path("src/procession/store/postgres/migrations").glob("*.sql"))

HEALS_WITHIN_S = 30


async def test_a_backend_killed_while_it_commits_leaves_all_or_nothing(make_store, url):
    store = await make_store(lanes=2)
    keys = Keys(await store.take_keys(200_000))
    killer = await asyncpg.connect(url)
    unclear = 0
    for round_number in range(40):
        steps = [start_step(keys) for _ in range(200)]
        for step in steps:
            step.new_jobs = [service_job(keys, step)]
            if round_number % 2:
                step.new_subscriptions = [waiting_for(keys, step, trigger=3)]
        committing = asyncio.create_task(store.commit(steps, keys))
        await asyncio.sleep(round_number % 8 / 1_000)  # where the kill falls is what the rounds are for
        await killer.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> $1",
            killer.get_server_pid(),
        )
        try:
            results = await committing
        except Unavailable:
            unclear += 1
            results = await eventually(lambda steps=steps: store.commit(steps, keys))
        # Sent again after an unclear answer: every step applied now or had been.
        assert {result.outcome for result in results} <= {StepOutcome.APPLIED, StepOutcome.STALE}
        assert len({result.outcome for result in results}) == 1
        found = await eventually(lambda steps=steps: store.load([step.instance for step in steps]))
        assert [each.rev for each in found] == [1] * 200
    assert unclear > 0
    jobs = await killer.fetchval("select count(*) from procession.job")
    rows = await killer.fetchval("select count(*) from procession.history")
    assert (jobs, rows) == (40 * 200, 40 * 200)
    await killer.close()


async def test_the_store_heals_after_a_restart_of_the_server(postgres_server):
    url = postgres_server.url()
    store = PostgresStore(url)
    await store.migrate()
    await store.open()
    keys = Keys(await store.take_keys(1_000))
    heard: asyncio.Queue[str] = asyncio.Queue()
    stop = await store.listen(heard.put_nowait)
    assert stop is not None
    step = start_step(keys)
    step.new_jobs = [service_job(keys, step)]
    await apply(store, keys, step)
    await use_every_group(store)

    await asyncio.to_thread(postgres_server.stop, immediate=True)
    with pytest.raises(Unavailable):
        await store.load([step.instance])
    with pytest.raises(Unavailable):
        await store.commit([next_step(step)], keys)
    await asyncio.to_thread(postgres_server.start)

    await eventually(lambda: store.commit([next_step(step)], keys))
    await use_every_group(store)
    (found,) = await store.load([step.instance])
    assert found.rev == 2

    async def announced() -> str:
        await store.announce(["mail"])
        return await asyncio.wait_for(heard.get(), 0.5)

    assert await eventually(announced) == "mail"
    await stop()
    await store.close()


async def use_every_group(store: PostgresStore) -> None:
    await store.now()
    await store.claim(1, [Want(queue="nobody", count=1)])
    await store.finish([])
    await store.promote(1)
    await store.load([1])


async def test_a_half_open_connection_is_noticed_within_the_deadline(url):
    async with Wire(url) as wire:
        store = PostgresStore(wire.url, deadline_s=0.5, lanes=1)
        await store.open()
        keys = Keys(await store.take_keys(1_000))
        step = start_step(keys)
        await apply(store, keys, step)
        wire.hold()
        with pytest.raises(Unavailable, match=r"0\.5 s"):
            await store.commit([next_step(step)], keys)
        with pytest.raises(Unavailable):  # a new connection is not answered either
            await store.commit([next_step(step)], keys)
        wire.release()
        results = await eventually(lambda: store.commit([next_step(step)], keys))
        assert results[0].outcome in (StepOutcome.APPLIED, StepOutcome.STALE)
        assert (await store.load([step.instance]))[0].rev == 2
        await store.close()


async def test_a_listener_whose_connection_went_silent_hears_again(url):
    async with Wire(url) as wire:
        deaf, speaker = PostgresStore(wire.url, deadline_s=0.3), PostgresStore(url)
        heard: asyncio.Queue[str] = asyncio.Queue()
        listener = Listener(deaf._hints, deaf._channel, heard.put_nowait, check_s=0.05)
        stop = await listener.start()
        wire.hold()
        await asyncio.sleep(0.5)  # longer than the check and its deadline: the listener gives the connection up
        wire.forget()

        async def announced() -> str:
            await speaker.announce(["mail"])
            return await asyncio.wait_for(heard.get(), 0.2)

        assert await eventually(announced) == "mail"
        await stop()
        await deaf.close()
        await speaker.close()


async def test_waiting_for_a_lock_ends_with_the_deadline_and_writes_nothing(make_store, url):
    store = await make_store(deadline_s=0.5)
    keys = Keys(await store.take_keys(1_000))
    step = start_step(keys)
    await apply(store, keys, step)
    blocker = await asyncpg.connect(url)
    async with blocker.transaction():
        await blocker.execute("update procession.instance set state = '' where key = $1", step.instance)
        with pytest.raises(Unavailable):
            await store.commit([next_step(step, state=b"late")], keys)
    await blocker.close()
    assert (await store.load([step.instance]))[0].rev == 1
    await apply(store, keys, next_step(step))


async def test_a_cancelled_caller_leaves_no_broken_connection_behind(make_store, url):
    store = await make_store(lanes=1)
    keys = Keys(await store.take_keys(1_000))
    step = start_step(keys)
    await apply(store, keys, step)
    blocker = await asyncpg.connect(url)
    async with blocker.transaction():
        await blocker.execute("update procession.instance set state = '' where key = $1", step.instance)
        committing = asyncio.create_task(store.commit([next_step(step)], keys))
        await waits_for_a_lock(blocker)
        committing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await committing
    await blocker.close()
    await apply(store, keys, start_step(keys))


async def waits_for_a_lock(connection: asyncpg.Connection) -> None:
    async with asyncio.timeout(HEALS_WITHIN_S):
        while not await connection.fetchval("select count(*) from pg_locks where not granted"):  # noqa: ASYNC110 - what another process waits for has no event of ours
            await asyncio.sleep(0.005)


async def test_more_callers_than_connections_wait_for_their_turn(make_store):
    store = await make_store(lanes=2, pool_size=1)
    keys = Keys(await store.take_keys(5_000))
    steps = [start_step(keys) for _ in range(200)]
    await asyncio.gather(*(apply(store, keys, step) for step in steps), *(store.now() for _ in range(100)))
    assert len(await store.load([step.instance for step in steps])) == 200


async def test_a_closed_store_says_so_and_opens_again(make_store):
    store = await make_store()
    await store.close()
    with pytest.raises(Unavailable, match="closed"):
        await store.now()
    await store.open()
    assert await store.now() > 0


async def test_an_unknown_database_and_a_wrong_password_are_told_apart_from_an_absent_server(url):
    for wrong in (url + "_unknown", url.replace("postgres:", "nobody:", 2).replace("nobody://", "postgresql://")):
        with pytest.raises(Misconfigured):
            await PostgresStore(wrong).open()
    with pytest.raises(Unavailable):
        await PostgresStore("postgresql://postgres:x@127.0.0.1:1/x", deadline_s=1).open()


@pytest.mark.parametrize(
    ("options", "words"),
    [("?nonsense=1", "nonsense"), ("?work_mem=lots", "work_mem"), ("?sslmode=perhaps", "sslmode")],
)
async def test_an_option_that_postgresql_does_not_take_is_the_urls_fault(url, options, words):
    with pytest.raises(Misconfigured, match=words):
        await PostgresStore(url + options).migrate()


@pytest.mark.parametrize("server", ["127.0.0.1:1", "127.0.0.1:port"])
async def test_a_connection_that_fails_names_the_server_and_not_the_password(server):
    with pytest.raises(ProcessionError, match=server) as failed:
        await PostgresStore(f"postgresql://ada:secret@{server}/shop").migrate()
    assert "secret" not in str(failed.value)


async def test_a_schema_that_is_missing_or_newer_refuses_the_program(bare_postgres_url):
    store = PostgresStore(bare_postgres_url)
    assert (await store.schema_version())[0] == 0
    with pytest.raises(SchemaMismatch, match="db migrate"):
        await store.open()
    assert await store.migrate() == MIGRATIONS
    await store.open()
    connection = await asyncpg.connect(bare_postgres_url)
    await connection.execute("insert into procession.schema_version (version, name) values (99, 'of the future')")
    with pytest.raises(SchemaMismatch, match="update this program"):
        await PostgresStore(bare_postgres_url).open()
    with pytest.raises(SchemaMismatch):
        await store.migrate()
    await connection.close()
    await store.close()


async def test_many_processes_migrate_an_empty_database_at_once(bare_postgres_url):
    stores = [PostgresStore(bare_postgres_url) for _ in range(6)]
    applied = await asyncio.gather(*(store.migrate() for store in stores))
    assert sorted(applied) == [[]] * 5 + [MIGRATIONS]
    await asyncio.gather(*(store.close() for store in stores))


async def test_two_schemas_of_a_database_are_two_stores(url):
    one, two = PostgresStore(url), PostgresStore(url, schema="second")
    await two.migrate()
    await one.open()
    await two.open()
    await one.enqueue([NewJob(key=1, kind=0, queue="mail", type="send")])
    assert await two.count_jobs() == {}
    assert len(await one.count_jobs()) == 1
    await one.close()
    await two.close()


@pytest.mark.parametrize("schema", ["", "Procession", "a.b", "x; drop table y", "a" * 49])
def test_a_schema_name_that_needs_quotes_is_refused(schema):
    with pytest.raises(Misconfigured, match="schema name"):
        PostgresStore("postgresql://", schema=schema)


async def eventually(call):
    """The first answer of a call that fails while the database is away."""
    async with asyncio.timeout(HEALS_WITHIN_S):
        while True:
            try:
                return await call()
            except (Unavailable, TimeoutError):
                await asyncio.sleep(0.02)
