"""What a benchmark found, as it is written to JSON and read again. Plain data: nothing here measures or decides.

Times are in the unit that their name ends with; rates are per second. Counts of instances come from the database. A
field that could not be measured is null, never zero.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

FORMAT = 1  # grows when a reader of older files would misunderstand newer ones


class Record(msgspec.Struct, kw_only=True):
    """Base of all records."""


class DatabaseEnvironment(Record, kw_only=True):
    """One database: what it is and what was set differently from its defaults."""

    name: str  # postgres | sqlite
    version: str
    server: str  # own: started by the benchmark; given: named by its user; in process: a library
    settings: dict[str, str]


class Environment(Record, kw_only=True):
    """The machine and the programs. No name of a machine, no path, no address."""

    cpu: str
    cores: int
    memory_bytes: int
    system: str
    filesystem: str
    load_average: float  # over the last minute, before the first run
    python: str
    event_loop: str
    packages: dict[str, str]
    databases: list[DatabaseEnvironment] = []


class Checkpoint(Record, kw_only=True):
    """When so many instances had completed, since the first start, by the database's clock."""

    completed: int
    seconds: float
    rate: float


class Latency(Record, kw_only=True):
    """How long the calls took, of all that were made."""

    count: int
    p50_ms: float
    p99_ms: float
    max_ms: float


class Headroom(Record, kw_only=True):
    """What the load generator reaches by itself, without the product."""

    starts_per_s: float  # the starters' own loop, with a start that does nothing
    calls_per_s: float | None  # the HTTP client against the stub; null without calls


class RowsWritten(Record, kw_only=True):
    """Rows of one table, of the whole run."""

    inserted: int
    updated: int
    deleted: int


class DatabaseWork(Record, kw_only=True):
    """What the run cost the database. WAL is counted for the whole server, the rest for the run's database."""

    cpu_s: float | None = None
    wal_bytes: int | None = None
    wal_records: int | None = None
    wal_full_pages: int | None = None
    wal_flushes: int | None = None  # waits for the disk; commits share them, and asynchronous ones need few
    commits: int | None = None
    rows: dict[str, RowsWritten] = {}


class ClientWork(Record, kw_only=True):
    """What the run cost the process or processes that ran starters and workers."""

    cpu_s: float
    calls: int  # HTTP requests that the stub answered; where it runs elsewhere, those that handlers made
    starts: int
    rejected: int  # starts that were refused for the moment and tried again
    counters: dict[str, int] = {}  # what the product itself counted


class Books(Record, kw_only=True):
    """What stood in the database when the run was over, counted by a connection of its own."""

    instances: dict[str, int]  # per status
    jobs: int
    incidents: int
    history_rows: int


class Run(Record, kw_only=True):
    """One variant in one round."""

    variant: str
    round: int
    started_at: str
    instances: int  # asked for
    completed: int  # counted in the database
    seconds: float  # from the first start until the last completion was seen (or until the end of the run)
    rate: float
    interrupted: bool = False
    problem: str = ""  # why it did not complete all instances
    notes: list[str] = []  # what could not be done as the method says
    checkpoints: list[Checkpoint] = []
    observed: list[tuple[float, int]] = []  # (seconds, completed) as counted while it ran
    start_latency: Latency | None = None
    headroom: Headroom | None = None
    flushes_before_per_s: float | None = None  # the disk, before and after: single-row commits per second
    flushes_after_per_s: float | None = None
    client: ClientWork | None = None
    database: DatabaseWork | None = None
    books: Books | None = None

    @property
    def is_whole(self) -> bool:
        """Whether it says what the variant can do."""
        return not self.interrupted and not self.problem and self.completed == self.instances


class VariantSummary(Record, kw_only=True):
    """The rounds of one variant: medians and ranges of the whole runs."""

    variant: str
    rounds: int
    rate_median: float
    rate_min: float
    rate_max: float


class Bar(Record, kw_only=True):
    """A figure that was promised, and the one that was found."""

    name: str
    expected: str
    found: float | None  # null: not measured in this result
    reached: bool | None


class Result(Record, kw_only=True):
    """One benchmark."""

    benchmark: str  # process
    format: int = FORMAT
    started_at: str
    ended_at: str = ""
    interrupted: bool = False
    options: dict[str, object]
    environment: Environment
    variants: list[dict[str, object]] = []
    runs: list[Run] = []
    summary: list[VariantSummary] = []
    bars: list[Bar] = []


class CoreCase(Record, kw_only=True):
    """One process stepped without a store, or one step of it, in microseconds of the processor."""

    name: str
    group: str  # process | open elements | model size
    size: int  # jobs per instance, open elements, elements of the model
    steps: int  # commands that one unit takes
    best_us: float
    median_us: float
    worst_us: float
    us_per_step: float  # best
    with_state_us: float | None = None  # best, with the state encoded after each step
    per_s: float = 0.0


class PeerFigure(Record, kw_only=True):
    """One case in another engine: how long it took, or why there is no figure."""

    engine: str
    version: str
    expression: str  # the name of a case
    way: str  # text: it is read with every evaluation | compiled: it was read before | in memory
    us: float | None = None
    note: str = ""


class CoreResult(Record, kw_only=True):
    """The benchmark of the core."""

    benchmark: str = "core"
    format: int = FORMAT
    started_at: str
    ended_at: str = ""
    interrupted: bool = False
    options: dict[str, object]
    environment: Environment
    cases: list[CoreCase] = []
    peers: list[PeerFigure] = []
    notes: list[str] = []
    bars: list[Bar] = []


class FeelCase(Record, kw_only=True):
    """One expression evaluated or compiled, or one decision table, in microseconds of the processor."""

    name: str
    group: str  # evaluate | compile | table
    text: str
    best_us: float
    median_us: float
    worst_us: float
    per_s: float


class FeelResult(Record, kw_only=True):
    """The benchmark of expressions and decisions."""

    benchmark: str = "feel"
    format: int = FORMAT
    started_at: str
    ended_at: str = ""
    interrupted: bool = False
    options: dict[str, object]
    environment: Environment
    cases: list[FeelCase] = []
    peers: list[PeerFigure] = []
    notes: list[str] = []
    bars: list[Bar] = []


def write_json(result: Record, path: Path) -> None:
    """Write the result, replacing an older one in one go, so that a kill leaves the one or the other."""
    partial = path.with_suffix(".partial")
    partial.write_bytes(msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n")
    partial.replace(path)


def read_json(path: Path) -> Result:
    """A result of `procession bench process`. Raises msgspec.ValidationError for anything else."""
    return msgspec.json.decode(path.read_bytes(), type=Result)
