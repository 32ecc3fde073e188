"""The queue, measured small: what is reported is what stands in the database, whatever a driver says."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import psycopg
import pytest

from procession.app import Procession
from procession.lab import ceiling, queue_ceiling
from procession.lab.mariadb_databases import MariadbDatabases
from procession.lab.peer_environments import driver_file, install
from procession.lab.peer_table import PEERS
from procession.lab.queue_bench import QueueWritten, bench_queue
from procession.lab.queue_orders import QueueOptions
from procession.lab.queue_results import QueueResult, QueueRun
from procession.lab.queue_run import Means, QueueMeasurement
from procession.lab.queue_variants import all_queue_variants
from procession.lab.sqlite_databases import SqliteDatabases
from tests.lab.page_reader import read_page
from tests.lab.test_process_bench import HEARS_SIGINT, PROGRAM, leftovers

HERE = Path(__file__).parent


def options_for(tmp_path, variants: str, **changes) -> QueueOptions:
    return QueueOptions(
        **{
            "variants": variants,
            "out": tmp_path,
            "rounds": 1,
            "scale": 0.01,
            "probe_s": 0.02,
            "seconds_max": 20.0,
            **changes,
        }
    )


def read(written: QueueWritten) -> QueueResult:
    """The result as it was written."""
    return msgspec.json.decode(written.json_file.read_bytes(), type=QueueResult)


def check(run: QueueRun, jobs: int) -> None:
    assert run.problem == ""
    assert run.is_whole
    assert (run.done, run.jobs) == (jobs, jobs)
    assert run.rate == pytest.approx(run.done / run.seconds, rel=0.01)
    assert run.client.cpu_s > 0


async def test_every_kind_of_workload_runs_on_sqlite(tmp_path):
    kinds = ("single", "drain", "latency", "steps", "fetch-50")
    written = await bench_queue(options_for(tmp_path, ",".join(f"sqlite-normal-{kind}" for kind in kinds)))

    result = read(written)
    assert not result.interrupted
    for run, jobs in zip(result.runs, (200, 500, 40, 200, 50), strict=True):
        check(run, jobs)
        assert run.flushes_before_per_s > 0
        assert run.flushes_after_per_s > 0
    runs = dict(zip(kinds, result.runs, strict=True))
    assert runs["single"].latency.count == 200
    assert runs["latency"].latency.count == 20, "the first twenty are dropped"
    assert runs["steps"].client.counters["completed"] == 200
    assert runs["single"].starts_per_s > runs["single"].rate, "the generator alone is faster"
    page = read_page(written.html_file)
    assert len(page.tips) == len(kinds)
    assert "W5 latency" in page.text


async def test_the_memory_store_is_counted_by_its_own_process(tmp_path):
    result = read(await bench_queue(options_for(tmp_path, "memory-drain")))

    check(result.runs[0], 500)
    assert "counted by its own process" in result.runs[0].notes[0]


async def test_postgresql_is_measured_bare_beside_a_long_transaction_and_by_two(tmp_path, postgres_databases):
    url = postgres_databases.server.url()
    variants = "postgres-drain,postgres-drain-held,postgres-drain-limited,postgres-drain-1ms-2-processes"
    written = await bench_queue(options_for(tmp_path, variants, url=url, scale=0.02))

    result = read(written)
    bare, drain, limited, held, shared = result.runs
    assert [run.variant.removeprefix("postgres-") for run in result.runs] == [
        *("drain-ceiling", "drain", "drain-limited", "drain-held", "drain-1ms-2-processes")
    ]
    for run in (bare, drain, held):
        check(run, 1_000)
        # Claimed by an update, finished by a delete, whoever does it.
        assert msgspec.structs.astuple(run.database.rows["job"]) == (0, 1_000, 1_000)
        assert run.database.wal_bytes > 0
        assert run.database.commits < 200, "jobs share commits"
    check(limited, 200)
    check(shared, 400)
    assert shared.client.counters["jobs_done"] == 400, "of both processes together"
    assert url not in written.json_file.read_text()
    assert leftovers(url) == []


@pytest.mark.parametrize("shape", ["empty", "large"])
async def test_bare_statements_reach_rows_by_their_keys_whatever_the_tables_hold(postgres_url, shape):
    await Procession(postgres_url).migrate()
    texts = {
        "step": ceiling.STEP,
        "end": ceiling.END,
        "delete": queue_ceiling.DELETE,
    }
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        if shape == "large":
            connection.execute(
                "insert into procession.job (key, kind, state, queue, type, priority, run_at, created_at, lease,"
                " attempt, retries) select k, 0, 0, 'q', 't', 0, now(), now(), 1, 1, 1 from generate_series(1, 2000) k"
            )
        connection.execute("vacuum analyze")
        for name, value in ceiling.PLANS.items():
            connection.execute(f"set {name} = '{value}'")
        for name, text in texts.items():
            plan = [line for (line,) in connection.execute(f"explain (generic_plan) {text}").fetchall()]
            scans = [number for number, line in enumerate(plan) if "_pkey" in line]
            assert scans, name
            for number in scans:
                assert "Index Cond: (key = ANY" in plan[number + 1], "\n".join(plan)


async def measured(tmp_path, script: Path, workload: str = "drain", *, seconds: float = 1.0, **changes) -> QueueRun:
    """A run of a driver that is not ours, on a file of SQLite."""
    (variant,) = [one for one in all_queue_variants() if one.name == f"sqlite-normal-{workload}"]
    databases = SqliteDatabases()
    environment = {**os.environ, "PYTHONPATH": str(driver_file("speaking.py").parent)}
    means = Means(
        command=(sys.executable, str(script)),
        environment=environment,
        open_query="select count(*) from job",
        done_query="select count(*) from instance where status = 1",
        **changes,
    )
    options = options_for(tmp_path, "*", seconds_max=seconds)
    measurement = QueueMeasurement(options, variant, 1, await databases.create("NORMAL"), means)
    try:
        await measurement.measure(lambda count: None)
    finally:
        await databases.close()
    return measurement.run


async def test_a_driver_that_only_says_so_has_done_nothing(tmp_path):
    run = await measured(tmp_path, HERE / "lying_driver.py")

    assert run.done == 0
    assert "nothing was done in 1 s" in run.problem
    assert not run.is_whole


async def test_a_driver_that_fails_is_shown_with_its_reason(tmp_path):
    run = await measured(tmp_path, HERE / "lying_driver.py", settings={"fails": "1"})

    assert "RuntimeError: no such queue" in run.problem
    assert not run.is_whole


@pytest.mark.parametrize(("workload", "jobs"), [("single", 200), ("drain", 500), ("latency", 40), ("steps", 200)])
async def test_drivers_of_others_do_the_same_workloads(tmp_path, workload, jobs):
    run = await measured(tmp_path, HERE / "toy_queue.py", workload, seconds=20.0)

    assert run.problem == ""
    assert run.done == jobs
    assert run.rate > 0


@pytest.mark.parametrize("language", ["Python", "Node.js"])
async def test_what_cannot_be_installed_says_why(tmp_path, language):
    (tmp_path / "taken").write_text("a file where the folder would be")
    spec = next(one for one in PEERS if one.language == language)

    found = await install(spec, tmp_path / "taken")

    assert found.problem.startswith("cannot be installed")
    assert found.command == ()


async def test_mariadb_is_seen_from_outside(mariadb_databases):
    databases = MariadbDatabases(mariadb_databases.server)
    database = await databases.create("on")

    assert await database.flushes_per_s(0.02) > 0
    await database.begin_work()
    assert await database.flushes_per_s(0.02) > 0
    await database.end_work()
    work = await database.work()
    assert work.wal_bytes > 0
    assert work.cpu_s >= 0
    assert await database.number("select 7") == 7
    await database.settle()
    await database.drop()
    await database.drop()
    assert "MariaDB" in (await databases.environment()).version


def test_the_command_ends_at_a_signal_with_its_files_and_without_a_trace(tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    line = ["queue", "--variants", "memory-drain", "--rounds", "50", "--scale", "0.01", "--out", str(tmp_path / "out")]
    with subprocess.Popen(
        [sys.executable, "-c", HEARS_SIGINT + PROGRAM, *line],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(temporary)},
        start_new_session=True,
    ) as process:
        assert process.stderr
        first = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate()

    assert "jobs/s" in first
    assert process.returncode == 130
    (file,) = (tmp_path / "out").glob("*.json")
    result = msgspec.json.decode(file.read_bytes(), type=QueueResult)
    assert result.interrupted
    assert result.runs[0].is_whole
    assert file.name in output
    assert "Interrupted" in read_page(file.with_suffix(".html")).text
    assert list(temporary.iterdir()) == []
