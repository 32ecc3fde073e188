"""Which variants of the queue are run, what they are asked to do, and which promises are judged by what they give."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from procession.errors import Misconfigured
from procession.lab.environment import environment
from procession.lab.peer_table import PEERS
from procession.lab.queue_bars import queue_bars
from procession.lab.queue_orders import QueueOptions
from procession.lab.queue_results import Peer, QueueResult, QueueRun, summarise_queue
from procession.lab.queue_run import jobs_of
from procession.lab.queue_variants import WORKLOADS, all_queue_variants, chosen_queue_variants
from procession.lab.results import DatabaseWork, Latency

FULL = QueueOptions()


def names(patterns: str, *, ceiling: bool = True) -> list[str]:
    return [variant.name for variant in chosen_queue_variants(patterns, ceiling=ceiling)]


def test_every_workload_is_on_every_store_once_but_for_what_only_postgresql_has():
    found = [variant.name for variant in all_queue_variants()]
    assert len(found) == len(set(found))
    everywhere = [workload for workload in WORKLOADS if not workload.postgres_only]
    for store in ("sqlite-normal", "sqlite-full", "mariadb", "memory"):
        assert [name for name in found if name.startswith(f"{store}-")] == [f"{store}-{w.name}" for w in everywhere]
    assert [name for name in found if name.startswith("postgres-")] == [f"postgres-{w.name}" for w in WORKLOADS]


def test_the_published_workloads_are_as_they_were_published():
    found = {workload.name: workload for workload in WORKLOADS}
    assert [found[name].mark for name in ("bulk", "single", "drain", "drain-1ms", "latency", "steps")] == [
        f"W{number}" for number in range(1, 7)
    ]
    assert (found["drain"].jobs, found["drain-1ms"].jobs, found["drain-1ms"].sleep_ms) == (50_000, 20_000, 1.0)
    assert (found["single"].callers, found["single-64"].callers, found["latency"].jobs) == (8, 64, 520)
    assert (found["fetch-50"].fetch, found["fetch-200"].fetch) == (50, 200)


def test_a_ceiling_stands_before_what_it_limits_and_only_on_postgresql():
    assert names("*-drain") == [
        *("postgres-drain-ceiling", "postgres-drain"),
        *("sqlite-normal-drain", "sqlite-full-drain", "mariadb-drain", "memory-drain"),
    ]
    assert names("postgres-drain,postgres-latency", ceiling=False) == ["postgres-drain", "postgres-latency"]


def test_a_name_that_fits_nothing_is_refused_with_those_that_would():
    with pytest.raises(Misconfigured, match=r"postgres-bulk.*found 'oracle-\*'"):
        names("postgres-drain,oracle-*")


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"rounds": 0}, "rounds to be at least 1"), ({"scale": 0.0}, "scale"), ({"seconds_max": 0.0}, "seconds_max")],
    ids=["rounds", "scale", "seconds"],
)
def test_options_that_cannot_be_measured_are_refused(changes, words):
    with pytest.raises(Misconfigured, match=words):
        QueueOptions(**changes)


def test_a_result_shows_neither_the_address_nor_the_folder():
    shown = QueueOptions(url="postgresql://me:secret@host/db", out=Path("/home/me")).public()
    assert "secret" not in str(shown)
    assert "/home" not in str(shown)


def test_a_short_run_has_fewer_jobs_but_enough_to_say_something():
    short = QueueOptions(scale=0.01)
    found = {workload.name: jobs_of(workload, short) for workload in WORKLOADS}
    assert (found["drain"], found["single-64"], found["latency"]) == (500, 1_000, 40)
    assert all(jobs_of(workload, QueueOptions(scale=0.0001)) >= workload.callers for workload in WORKLOADS)


def run(variant: str, *, round_number: int = 1, rate: float = 0.0, **changes) -> QueueRun:
    values = {"jobs": 1_000, "done": 1_000, "seconds": 1.0, **changes}
    return QueueRun(variant=variant, round=round_number, started_at="", rate=rate, **values)


def result_of(*runs: QueueRun, peers: tuple[str, ...] = ()) -> QueueResult:
    result = QueueResult(started_at="", options={}, environment=environment(), runs=list(runs))
    units = {one.variant: "ms" if "latency" in one.variant else "jobs/s" for one in runs}
    result.summary = summarise_queue(result.runs, units)
    result.peers = [Peer(name=name, language="Python", settings="", source="") for name in peers]
    return result


def test_a_summary_is_the_median_of_whole_runs_and_a_cut_run_is_one():
    result = result_of(
        run("postgres-drain", rate=10.0),
        run("postgres-drain", round_number=2, rate=30.0, done=500, cut=True),
        run("postgres-drain", round_number=3, rate=20.0),
        run("postgres-drain", round_number=4, rate=900.0, problem="it broke"),
        run("postgres-drain", round_number=5, rate=900.0, done=10, interrupted=True),
    )
    (found,) = result.summary
    assert (found.median, found.least, found.most, found.rounds) == (20.0, 10.0, 30.0, 3)


def test_costs_are_those_of_a_job():
    work = DatabaseWork(cpu_s=0.004, wal_bytes=500_000, commits=100)
    (found,) = result_of(run("postgres-drain", rate=1.0, database=work)).summary
    assert (found.wal_bytes_per_job, found.commits_per_job, found.jobs_per_commit) == (500.0, 0.1, 10.0)
    assert found.database_us_per_job == pytest.approx(4.0)
    assert found.client_us_per_job is None, "what was not measured is not zero"


def test_bars_are_judged_by_what_was_found():
    fast, slow = (
        Latency(count=500, p50_ms=1.0, p99_ms=4.0, max_ms=9.0),
        Latency(count=500, p50_ms=1.1, p99_ms=7.0, max_ms=9.0),
    )
    result = result_of(
        run("postgres-drain", rate=61_000.0, database=DatabaseWork(wal_bytes=700_000)),
        run("postgres-bulk", rate=140_000.0),
        run("postgres-latency", latency=fast),
        run("postgres-latency-held", latency=slow),
        run("mariadb-drain", rate=9_000.0),
    )
    found = {bar.name: bar.reached for bar in queue_bars(result, FULL)}
    assert found == {
        "W1, bulk insert, PostgreSQL": False,
        "W3, drain, no-op, PostgreSQL": True,
        "W3, drain, no-op, MariaDB": True,
        "W5, PostgreSQL, p50": True,
        "W5, PostgreSQL, p99": True,
        "log bytes of a job drained, PostgreSQL": False,
        "latency beside a long transaction against alone": True,
    }
    assert queue_bars(result, msgspec.structs.replace(FULL, scale=0.5)) == [], "a short run is judged by nothing"


def test_the_fastest_of_the_others_is_the_one_to_beat():
    peers = ("slow", "fast", "absent")
    runs = [run("slow-drain", rate=100.0), run("fast-drain", rate=70_000.0)]
    (_, beaten) = queue_bars(result_of(run("postgres-drain", rate=69_000.0), *runs, peers=peers), FULL)
    (_, ahead) = queue_bars(result_of(run("postgres-drain", rate=71_000.0), *runs, peers=peers), FULL)
    assert (beaten.reached, ahead.reached) == (False, True)
    assert "fast: 70,000" in beaten.expected
    half = msgspec.structs.replace(FULL, scale=0.5)
    assert queue_bars(result_of(run("postgres-drain", rate=69_000.0), *runs, peers=peers), half) == [beaten]


def test_every_peer_says_how_it_is_counted_and_has_a_driver():
    folder = Path(__file__).parents[2] / "src/procession/lab/peers"
    known = {workload.name for workload in WORKLOADS}
    for spec in PEERS:
        assert (folder / spec.driver).exists()
        assert set(spec.workloads) <= known
        assert bool(spec.open_query) == spec.stores
        assert bool(spec.done_query) == (spec.stores and "steps-64" in spec.workloads)
        assert spec.words
        assert spec.source.startswith("https://")
