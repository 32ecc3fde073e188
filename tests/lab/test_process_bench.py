"""The simple process, measured small: what is reported is what stands in the database."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import subprocess
import sys

import asyncpg
import msgspec
import psycopg
import pytest

from procession.lab.options import ProcessOptions
from procession.lab.postgres_databases import PostgresDatabases
from procession.lab.process_bench import Silence, bench_process
from procession.lab.process_run import ProcessRun, checkpoint_counts
from procession.lab.results import Result, read_json
from procession.lab.variants import all_variants
from tests.lab.page_reader import read_page

INSTANCES = 200
CALLS = 2
# A shell that runs the tests in the background lets its children ignore SIGINT.
HEARS_SIGINT = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
PROGRAM = "from procession.lab.commands import bench; bench()"


def options_for(tmp_path, variants: str, **changes) -> ProcessOptions:
    values = {"instances": INSTANCES, "rounds": 1, "probe_s": 0.05, "stuck_s": 20.0}
    return ProcessOptions(variants=variants, out=tmp_path, **{**values, **changes})


def only(result: Result, variant: str):
    (found,) = [run for run in result.runs if run.variant == variant]
    return found


def rows(run) -> dict:
    return {table: msgspec.structs.astuple(written) for table, written in run.database.rows.items()}


async def test_sqlite_is_measured_from_end_to_end(tmp_path):
    written = await bench_process(options_for(tmp_path, "sqlite-methods-normal,sqlite-service-full"))

    result = read_json(written.json_file)
    assert not result.interrupted
    assert [run.variant for run in result.runs] == ["sqlite-methods-normal", "sqlite-service-full"]
    for run, steps in zip(result.runs, (2, 3), strict=True):
        assert run.is_whole, run.problem
        assert run.books.instances == {"completed": INSTANCES}
        assert (run.books.jobs, run.books.incidents) == (0, 0)
        assert run.books.history_rows == steps * INSTANCES
        assert run.client.calls == CALLS * INSTANCES
        assert run.client.starts == run.start_latency.count == INSTANCES
        assert run.start_latency.p50_ms <= run.start_latency.p99_ms <= run.start_latency.max_ms
        assert run.client.cpu_s > 0
        assert run.database.cpu_s is None, "the database works in the client's process"
        assert min(run.flushes_before_per_s, run.flushes_after_per_s) > 0
        assert min(run.headroom.starts_per_s, run.headroom.calls_per_s) > 0
    assert [summary.variant for summary in result.summary] == ["sqlite-methods-normal", "sqlite-service-full"]
    assert result.environment.databases[0].name == "sqlite"
    assert read_page(written.html_file).title == "Procession: the simple process"


async def test_postgresql_and_its_ceiling_write_the_same_rows(tmp_path, postgres_databases):
    url = postgres_databases.server.url()

    written = await bench_process(options_for(tmp_path, "postgres-methods,postgres-service", url=url))

    result = read_json(written.json_file)
    for way, steps in (("methods", 2), ("service", 3)):
        run, ceiling = only(result, f"postgres-{way}"), only(result, f"postgres-{way}-ceiling")
        assert run.is_whole, run.problem
        assert ceiling.is_whole, ceiling.problem
        expected = {
            "instance": (INSTANCES, (steps - 1) * INSTANCES, 0),
            "job": ((steps - 1) * INSTANCES, 0, (steps - 1) * INSTANCES),
            "history": (steps * INSTANCES, 0, 0),
        }
        assert rows(ceiling) == expected
        for table, (inserted, updated, deleted) in expected.items():
            found = rows(run)[table]
            claimed = run.client.counters["claimed"] if table == "job" else 0  # what no slot was free for at its insert
            assert found == (inserted, updated + claimed, deleted)
        assert run.books == ceiling.books
        assert run.database.wal_bytes > 0
        assert 0 < run.database.commits < steps * INSTANCES, "steps share commits"
        assert run.client.calls == CALLS * INSTANCES
        assert ceiling.client.calls == 0
    assert url not in written.json_file.read_text()
    assert leftovers(url) == []


def leftovers(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        found = connection.execute("select datname from pg_database where datname like 'procession_bench%'")
        return [name for (name,) in found]


async def test_an_own_durable_server_shows_its_processor_time_and_its_waits_for_the_disk(tmp_path):
    options = options_for(
        tmp_path, "postgres-methods,postgres-methods-async", ceiling=False, server_settings={"shared_buffers": "64MB"}
    )

    result = (await bench_process(options)).result

    safe, fast = only(result, "postgres-methods"), only(result, "postgres-methods-async")
    assert safe.database.cpu_s > 0
    assert safe.database.wal_flushes > 10
    assert fast.database.wal_flushes < safe.database.wal_flushes / 2
    assert result.environment.databases[0].settings["shared_buffers"] == "64MB"
    assert not [name for name in result.environment.databases[0].settings if "directory" in name or "file" in name]


async def test_checkpoints_and_counts_on_the_way_tell_the_same_story(tmp_path):
    options = options_for(tmp_path, "sqlite-methods-normal", instances=3_000, client="none")

    run = (await bench_process(options)).result.runs[0]

    assert [point.completed for point in run.checkpoints] == checkpoint_counts(3_000)
    assert all(one.seconds <= two.seconds for one, two in itertools.pairwise(run.checkpoints))
    last = run.checkpoints[-1]
    assert (last.completed, last.seconds) == (3_000, run.seconds)
    assert last.rate == pytest.approx(run.rate, rel=0.01)
    assert run.rate == pytest.approx(3_000 / run.seconds, rel=0.01)
    for seconds, counted in run.observed:
        reached = [point for point in run.checkpoints if point.completed <= counted]
        assert all(point.seconds <= seconds + 0.01 for point in reached)
    assert run.headroom.calls_per_s is None
    assert run.client.calls == 0


class LosingDatabases(PostgresDatabases):
    """PostgreSQL in which some completions are never written, although every handler has run."""

    async def create(self, commit):
        database = await super().create(commit)
        settle = database.settle

        async def settle_and_lose() -> None:
            await settle()
            connection = await asyncpg.connect(database.url)
            await connection.execute(
                "create function lose() returns trigger language plpgsql as $$ begin "
                "if new.status = 1 and abs(hashint8(new.key)) % 4 = 0 then new.status := 0; end if; return new; end $$;"
                "create trigger lose before update on procession.instance for each row execute function lose()"
            )
            await connection.close()

        database.settle = settle_and_lose
        return database


async def test_what_the_database_does_not_count_is_not_reported(tmp_path, postgres_databases):
    (variant,) = [variant for variant in all_variants() if variant.name == "postgres-methods"]
    databases = LosingDatabases(own=None, url=postgres_databases.server.url())
    database = await databases.create(variant.commit)
    options = options_for(tmp_path, "postgres-methods", instances=100, stuck_s=3.0, client="none")
    try:
        attempt = ProcessRun(options, variant, 1, database, "")
        await attempt.measure(lambda _: None)
    finally:
        await database.drop()

    run = attempt.run
    assert not run.is_whole
    assert 0 < run.completed < 100
    assert run.problem == f"nothing completed for 3 s: {run.completed} of 100"
    assert run.books.instances["completed"] == run.completed
    assert max(point.completed for point in run.checkpoints) <= run.completed


async def test_several_processes_share_the_work(tmp_path, postgres_databases):
    url = postgres_databases.server.url()
    options = options_for(
        tmp_path, "postgres-service", url=url, processes=2, starters=4, ceiling=False, batch_starts=3, stub="process"
    )

    run = (await bench_process(options)).result.runs[0]

    assert run.is_whole, run.problem
    assert run.client.starts == run.client.counters["started"] == INSTANCES
    assert run.client.calls == CALLS * INSTANCES


class CancelAtFirstCount(Silence):
    """Ends the benchmark as Ctrl-C would, as soon as some instances have been counted."""

    def __init__(self) -> None:
        self.task = asyncio.current_task()

    def completed(self, count):
        if count:
            self.task.cancel()


async def test_an_interrupted_run_keeps_what_was_measured(tmp_path):
    kept = []
    options = options_for(tmp_path, "sqlite-methods-normal", instances=50_000, client="none")

    with pytest.raises(asyncio.CancelledError):
        await bench_process(options, CancelAtFirstCount(), written=kept.append)

    result = read_json(kept[0].json_file)
    assert result.interrupted
    (run,) = result.runs
    assert run.interrupted
    assert 0 < run.completed < 50_000
    assert run.books.instances["completed"] >= run.completed
    assert run.client.starts >= run.completed
    assert run.rate == pytest.approx(run.completed / run.seconds, rel=0.01)
    assert result.summary == [], "half a run is no figure"
    assert "Interrupted" in read_page(kept[0].html_file).text


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_the_command_ends_at_a_signal_with_its_files_and_without_a_trace(tmp_path, ending):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = [
        *(
            sys.executable,
            "-c",
            HEARS_SIGINT + PROGRAM,
            "process",
            "--variants",
            "sqlite-methods-*",
            "--rounds",
            "50",
            "--no-call",
        ),
        *("--instances", "100", "--out", str(tmp_path / "out")),
    ]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(temporary)},
        start_new_session=True,
    ) as process:
        assert process.stderr
        first = process.stderr.readline()
        process.send_signal(ending)
        output, _ = process.communicate()

    assert "instances/s" in first
    assert process.returncode == 130
    (file,) = (tmp_path / "out").glob("*.json")
    result = read_json(file)
    assert result.interrupted
    assert result.runs[0].is_whole
    assert file.name in output
    assert list(temporary.iterdir()) == []
