"""What the benchmark of the queue found, beside the records that all benchmarks share (`results.py`). Plain data."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import msgspec

from procession.lab.results import FORMAT, Bar, ClientWork, DatabaseWork, Environment, Latency, Record


class QueueRun(Record, kw_only=True):
    """One variant in one round."""

    variant: str
    round: int
    started_at: str
    jobs: int  # asked for
    done: int = 0  # counted in the database
    seconds: float = 0.0
    rate: float = 0.0
    interrupted: bool = False
    cut: bool = False  # the time for a run was over before all were done: the rate is that of what was done
    problem: str = ""
    notes: list[str] = msgspec.field(default_factory=list[str])
    latency: Latency | None = None  # of the call, or (latency) from the call to the handler's first line
    starts_per_s: float | None = None  # the load generator alone
    flushes_before_per_s: float | None = None
    flushes_after_per_s: float | None = None
    client: ClientWork | None = None
    database: DatabaseWork | None = None

    @property
    def is_whole(self) -> bool:
        """Whether it says what the variant can do."""
        return not self.interrupted and not self.problem and (self.cut or self.done == self.jobs)


class QueueSummary(Record, kw_only=True):
    """The whole rounds of one variant: median and range of the rate, or of the p50 where it is a latency."""

    variant: str
    unit: str  # jobs/s | instances/s | ms
    rounds: int
    median: float
    least: float
    most: float
    p99_median: float | None = None
    wal_bytes_per_job: float | None = None
    commits_per_job: float | None = None
    jobs_per_commit: float | None = None
    client_us_per_job: float | None = None
    database_us_per_job: float | None = None


class Peer(Record, kw_only=True):
    """Another queue or engine, as it was measured."""

    name: str
    version: str = ""
    language: str
    settings: str  # in words: those for throughput
    source: str  # where they say so
    problem: str = ""  # why there are no figures


class QueueResult(Record, kw_only=True):
    """The benchmark of the queue, alone or beside others."""

    benchmark: str = "queue"  # queue | compare
    format: int = FORMAT
    started_at: str
    ended_at: str = ""
    interrupted: bool = False
    options: dict[str, object]
    environment: Environment
    variants: list[dict[str, object]] = msgspec.field(default_factory=list[dict[str, object]])
    peers: list[Peer] = msgspec.field(default_factory=list[Peer])
    runs: list[QueueRun] = msgspec.field(default_factory=list[QueueRun])
    summary: list[QueueSummary] = msgspec.field(default_factory=list[QueueSummary])
    bars: list[Bar] = msgspec.field(default_factory=list[Bar])


def whole_queue_runs(runs: Sequence[QueueRun], variant: str) -> list[QueueRun]:
    """The runs of a variant that say what it can do."""
    return [run for run in runs if run.variant == variant and run.is_whole]


def summarise_queue(runs: Sequence[QueueRun], units: dict[str, str]) -> list[QueueSummary]:
    """One line per variant that has a whole run, in the order of the first round."""
    found: list[QueueSummary] = []
    for name in dict.fromkeys(run.variant for run in runs):
        whole = whole_queue_runs(runs, name)
        unit = units[name]
        values = [value for run in whole if (value := _figure(run, unit)) is not None]
        if values:
            found.append(_summary(name, unit, values, whole))
    return found


def _figure(run: QueueRun, unit: str) -> float | None:
    """What counts of a run."""
    if unit != "ms":
        return run.rate
    return run.latency.p50_ms if run.latency is not None else None


def _summary(name: str, unit: str, values: list[float], whole: Sequence[QueueRun]) -> QueueSummary:
    commits = _median([_per_job(run, run.database.commits if run.database else None) for run in whole])
    return QueueSummary(
        variant=name,
        unit=unit,
        rounds=len(values),
        median=round(statistics.median(values), 3),
        least=round(min(values), 3),
        most=round(max(values), 3),
        p99_median=_median([run.latency.p99_ms if run.latency else None for run in whole]),
        wal_bytes_per_job=_median([_per_job(run, run.database.wal_bytes if run.database else None) for run in whole]),
        commits_per_job=commits,
        jobs_per_commit=round(1 / commits, 1) if commits else None,
        client_us_per_job=_median([_us(run, run.client.cpu_s if run.client else None) for run in whole]),
        database_us_per_job=_median([_us(run, run.database.cpu_s if run.database else None) for run in whole]),
    )


def _per_job(run: QueueRun, value: float | None) -> float | None:
    return None if value is None or not run.done else value / run.done


def _us(run: QueueRun, seconds: float | None) -> float | None:
    found = _per_job(run, seconds)
    return None if found is None else found * 1e6


def _median(values: Sequence[float | None]) -> float | None:
    """Of what was measured."""
    found = [value for value in values if value is not None]
    return round(statistics.median(found), 4) if found else None
