"""What only the SQLite store promises: its file, its threads, other processes, a caller's own connection."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import threading
import typing
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from procession.core import events
from procession.errors import InvalidValue, Misconfigured, SchemaMismatch, Unavailable
from procession.ids import Keys
from procession.jobs.kinds import FOLLOW_UP_QUEUE, JobState
from procession.store.rows import JobEnd, JobFilter, JobOutcome, StartRequest, StepOutcome
from procession.store.sqlite import SqliteStore
from procession.testing.conformance import ManualClock
from procession.testing.conformance.stage import (
    apply,
    claim,
    definition,
    deploy,
    jobs_of,
    new_job,
    next_step,
    read,
    service_job,
    start_step,
    the_instance,
)

MIGRATIONS = sorted(path.stem for path in Path("src/procession/store/sqlite/migrations").glob("*.sql"))


@pytest.fixture
def store_kind() -> str:
    return "sqlite"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "procession.db"


# -- the file ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [":memory:", "", "file::memory:?cache=shared"])
def test_a_database_in_memory_is_refused_with_advice(path: str) -> None:
    with pytest.raises(Misconfigured, match="memory://"):
        SqliteStore(path)


def test_an_unknown_level_of_safety_is_refused() -> None:
    with pytest.raises(Misconfigured, match="NORMAL or FULL"):
        SqliteStore("x.db", synchronous="OFF")  # pyright: ignore[reportArgumentType]


async def test_a_file_without_schema_asks_for_a_migration_and_is_not_made(path: Path) -> None:
    store = SqliteStore(path)
    assert await store.schema_version() == (0, len(MIGRATIONS))
    with pytest.raises(SchemaMismatch, match="procession db migrate"):
        await store.open()
    assert not await asyncio.to_thread(path.exists)


async def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="nowhere"):
        await SqliteStore(tmp_path / "nowhere" / "procession.db").migrate()


async def test_a_file_that_is_no_database_is_refused(path: Path) -> None:
    await asyncio.to_thread(path.write_bytes, b"this is a letter to my aunt, not a database" * 100)
    with pytest.raises(Misconfigured, match=r"procession\.db to be a SQLite database"):
        await SqliteStore(path).open()
    with pytest.raises(Misconfigured, match=r"procession\.db to be a SQLite database"):
        await SqliteStore(path).migrate()


async def test_a_database_that_cannot_be_written_says_what_it_needs(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="allowed to write to it and to its folder"):
        await SqliteStore(tmp_path).migrate()  # a folder: nobody may write to it as a file, not even root


async def test_a_newer_schema_refuses_this_program_by_name(path: Path) -> None:
    store = SqliteStore(path)
    assert await store.migrate() == MIGRATIONS
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO procession_migration VALUES (99, 'from_the_future', 0)")
        connection.commit()
    with pytest.raises(SchemaMismatch, match=r"version 99.*update this program"):
        await store.open()
    with pytest.raises(SchemaMismatch, match=r"version 99.*update this program"):
        await store.migrate()


async def test_of_many_that_migrate_a_new_file_at_once_one_does_it(path: Path) -> None:
    applied = await asyncio.gather(*(SqliteStore(path).migrate() for _ in range(6)))
    assert sorted(applied) == [[]] * 5 + [MIGRATIONS]


async def test_the_users_own_tables_of_any_name_live_in_the_same_file(path: Path, clock: ManualClock) -> None:
    theirs = ("job", "instance", "message", "history", "sequence", "migration", "node", "history_event")
    with closing(sqlite3.connect(path)) as connection:
        for name in theirs:
            connection.execute(f"CREATE TABLE {name} (id INTEGER PRIMARY KEY)")
        connection.execute("CREATE INDEX job_ready ON job (id)")
    store = SqliteStore(path, clock=clock)
    await store.migrate()
    await store.open()
    await apply(store, Keys(await store.take_keys(10)), start_step(Keys(range(1, 10))))
    await store.close()
    with closing(sqlite3.connect(path)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema")]
    ours = {name for name in names if not name.startswith("sqlite_")} - {*theirs, "job_ready"}
    assert ours
    assert [name for name in ours if not name.startswith("procession_")] == []


@pytest.mark.parametrize(("synchronous", "expected"), [("NORMAL", 1), ("FULL", 2)])
async def test_commits_are_as_safe_as_asked(path: Path, synchronous: typing.Any, expected: int) -> None:
    store = SqliteStore(path, synchronous=synchronous)
    await store.migrate()
    await store.open()

    def pragmas(session: typing.Any) -> tuple[int, str]:
        connection = session._connection
        (level,) = connection.execute("PRAGMA synchronous").fetchone()
        (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
        return level, mode

    assert await store._write(pragmas) == (expected, "wal")
    await store.close()


# -- threads and deadlines ---------------------------------------------------------------------------------------------


async def test_a_store_that_is_not_open_is_unavailable(path: Path) -> None:
    store = SqliteStore(path)
    await store.migrate()
    with pytest.raises(Unavailable, match="not open"):
        await store.take_keys(1)
    with pytest.raises(Unavailable, match="not open"):
        await store.list_nodes()


async def test_closing_commits_what_was_under_way_and_ends_the_threads(path: Path) -> None:
    others = set(threading.enumerate())  # of stores that live as long as the run
    store = SqliteStore(path)
    await store.migrate()
    await store.open()
    keys = Keys(await store.take_keys(1_000))
    under_way = [asyncio.ensure_future(store.enqueue([new_job(keys)])) for _ in range(50)]
    await asyncio.sleep(0)
    await store.close()
    await asyncio.gather(*under_way)
    left = set(threading.enumerate()) - others
    assert not [thread for thread in left if thread.name.startswith("procession-sqlite")]
    await store.open()
    assert len(await jobs_of(store)) == 50
    await store.close()


async def test_a_locked_file_is_unavailable_at_the_deadline_and_nothing_is_written_later(path: Path) -> None:
    store = SqliteStore(path, deadline_ms=300)
    await store.migrate()
    await store.open()
    keys = Keys(await store.take_keys(10))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable, match=r"procession\.db"):
            await store.enqueue([new_job(keys)])
        assert await jobs_of(store) == []  # reading goes on
        other.execute("ROLLBACK")
    assert await jobs_of(store) == []
    await store.enqueue([new_job(keys)])
    assert len(await jobs_of(store)) == 1
    await store.close()


async def test_a_writer_waits_for_another_process_that_writes(path: Path) -> None:
    store = SqliteStore(path)
    await store.migrate()
    await store.open()
    keys = Keys(await store.take_keys(10))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        waiting = asyncio.ensure_future(store.enqueue([new_job(keys)]))
        assert await jobs_of(store) == []
        assert not waiting.done()
        other.execute("COMMIT")
        await waiting
    assert len(await jobs_of(store)) == 1
    await store.close()


async def test_calls_that_share_a_commit_fail_alone(path: Path) -> None:
    store = SqliteStore(path)
    await store.migrate()
    await store.open()
    keys = Keys(await store.take_keys(100))
    beyond = new_job(keys, key=2**63)  # no check knows this one: SQLite itself refuses it
    neighbours = [store.enqueue([new_job(keys)]) for _ in range(5)]
    bad_step, good_step = start_step(keys), start_step(keys)
    bad_step.new_jobs = [service_job(keys, bad_step, element_instance=2**63)]
    answers = await asyncio.gather(
        *neighbours,
        store.enqueue([new_job(keys), beyond]),
        store.commit([good_step, bad_step], keys),
        store.register("late", b"{}"),
        return_exceptions=True,
    )
    assert answers[:5] == [None] * 5
    assert isinstance(answers[5], InvalidValue)
    assert [result.outcome for result in answers[6]] == [StepOutcome.APPLIED, StepOutcome.REFUSED]
    assert answers[7] == 1
    assert len(await jobs_of(store)) == 5
    await store.close()


async def test_a_store_serves_several_event_loops(path: Path) -> None:
    store = SqliteStore(path)
    await store.migrate()
    await store.open()
    node = await store.register("a", b"{}")
    beats: list[bool] = []
    thread = threading.Thread(target=lambda: beats.append(asyncio.run(store.beat(node))))
    thread.start()
    await asyncio.to_thread(thread.join)
    assert beats == [True]
    await store.close()


# -- other processes ---------------------------------------------------------------------------------------------------

DRAIN = """
import asyncio, sys
from procession.store.rows import JobEnd, JobOutcome, Want
from procession.store.sqlite import SqliteStore

async def drain(path):
    store = SqliteStore(path)
    await store.open()
    node = await store.register("drain", b"{}")
    while jobs := await store.claim(node, [Want(queue="mail", count=3)]):
        for job in jobs:
            print(job.key)
        ended = [JobOutcome(key=job.key, lease=job.lease, end=JobEnd.DONE) for job in jobs]
        assert all(await store.finish(ended))
    await store.close()

asyncio.run(drain(sys.argv[1]))
"""


async def test_processes_share_a_file_and_run_each_job_once(path: Path) -> None:
    store = SqliteStore(path)
    await store.migrate()
    await store.open()
    keys = Keys(await store.take_keys(1_000))
    jobs = [new_job(keys) for _ in range(300)]
    await store.enqueue(jobs)
    drains = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", DRAIN, str(path), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(3)
    ]
    outputs = await asyncio.gather(*(drain.communicate() for drain in drains))
    assert [drain.returncode for drain in drains] == [0, 0, 0], outputs
    ran = [int(line) for output, _ in outputs for line in output.split()]
    assert sorted(ran) == [job.key for job in jobs]
    assert await jobs_of(store) == []
    await store.close()


# -- a caller's own connection -----------------------------------------------------------------------------------------


async def test_an_instance_asked_for_in_a_callers_transaction_starts_after_its_commit(
    store: SqliteStore, keys: Keys, path: Path, clock: ManualClock
) -> None:
    request = StartRequest(
        instance=keys.take(),
        job=keys.take(),
        definition=7,
        process_id="order",
        business_id="A-17",
        tags=["vip"],
        variables='{"name":"Žofie"}'.encode(),
        command=b'{"type":"Send"}',
        tenant="acme",
    )
    with closing(sqlite3.connect(path, isolation_level=None)) as callers:
        for ending in ("ROLLBACK", "COMMIT"):
            callers.execute("BEGIN")
            for statement in store.start_request(request):
                callers.execute(statement.sql, statement.values)
            assert await store.load([request.instance]) == []
            callers.execute(ending)
    found = await the_instance(store, request.instance)
    assert (found.rev, found.status, found.state, read(found.variables)) == (0, 0, b"", {"name": "Žofie"})
    assert (found.business_id, found.tags, found.tenant, found.started_at) == ("A-17", ["vip"], "acme", clock())
    (job,) = await claim(store, 1, FOLLOW_UP_QUEUE)
    assert (job.key, job.instance, job.args) == (request.job, request.instance, b'{"type":"Send"}')
    stale = next_step(start_step(keys, instance=request.instance))
    step = start_step(keys, instance=request.instance, rev=0, variables=None, parent=5)
    results = await store.commit([stale], keys)
    assert results[0].outcome is StepOutcome.STALE
    await apply(store, keys, step)
    found = await the_instance(store, request.instance)
    assert (found.rev, found.state, read(found.variables)) == (1, step.state, {"name": "Žofie"})
    assert (found.business_id, found.tags, found.parent) == ("A-17", ["vip"], 5)
    await store.finish([JobOutcome(key=job.key, lease=job.lease, end=JobEnd.DONE)])


def test_a_statement_for_a_callers_connection_has_only_named_placeholders(path: Path) -> None:
    request = StartRequest(instance=1, job=2, definition=3, process_id="order")
    for statement in SqliteStore(path).start_request(request):
        names = [part.partition(",")[0].strip(" )\n") for part in statement.sql.split(":")[1:]]
        assert set(names) == set(statement.values)


def test_a_request_that_cannot_be_stored_is_refused_before_the_callers_transaction_sees_it(path: Path) -> None:
    request = StartRequest(instance=1, job=2, definition=3, process_id="order", business_id="a\0b")
    with pytest.raises(InvalidValue, match="business_id"):
        SqliteStore(path).start_request(request)


# -- for people who ask in SQL -----------------------------------------------------------------------------------------


async def test_the_view_shows_one_row_per_event_with_its_element(store: SqliteStore, keys: Keys, path: Path) -> None:
    new = definition(keys, elements=["order", "start", "charge-card"])
    await deploy(store, keys, new)
    written = [["activated", 5, 2, 1, -1, False, 0], ["passed", 6, 1, 1], ["completed", 5], ["joined", 2, 1, [3]]]
    step = start_step(keys, definition=new.key, events=msgspec.json.encode(written))
    await apply(store, keys, step, start_step(keys, definition=1, events=b'[["passed",6,1,1]]'))
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            "SELECT number, event, element, data FROM procession_history_event WHERE instance = ? "
            "ORDER BY position, number",
            (step.instance,),
        ).fetchall()
        unknown = connection.execute("SELECT element FROM procession_history_event WHERE definition = 1").fetchall()
    assert [row[:3] for row in rows] == [
        (0, "activated", "charge-card"),
        (1, "passed", "start"),
        (2, "completed", None),
        (3, "joined", "charge-card"),
    ]
    assert [msgspec.json.decode(row[3]) for row in rows] == written
    assert unknown == [(None,)]


def test_the_view_knows_where_each_event_names_its_element() -> None:
    script = Path("src/procession/store/sqlite/migrations/0015_correlated_in_the_view.sql").read_text()
    known = {}
    for line in script.splitlines():
        if line.strip().startswith("WHEN '"):
            _, tag, _, place, _ = line.split("'")
            known[tag] = int(place.strip("$[]"))
    expected = {}
    for kind in typing.get_args(events.AnyEvent):
        if "element" in kind.__struct_fields__:
            expected[kind.__struct_config__.tag] = 1 + kind.__struct_fields__.index("element")
    assert known == expected


async def test_jobs_read_as_text_in_any_sqlite_tool(store: SqliteStore, keys: Keys, path: Path) -> None:
    await store.enqueue([new_job(keys, args='{"name":"Žofie"}'.encode())])
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT state, args, args ->> 'name' FROM procession_job").fetchall()
    assert rows == [(JobState.READY, '{"name":"Žofie"}', "Žofie")]
    (job,) = await store.list_jobs(JobFilter())
    assert job.args == '{"name":"Žofie"}'.encode()
