"""What can be asked of `procession bench queue`, and what its processes are told and tell. Plain data.

The words between the benchmark and its processes are lines of JSON, so that the drivers of other queues (`peers/`) can
speak them in any language.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from procession.errors import Misconfigured
from procession.lab.options import OWN_SERVER_SETTINGS, STUCK_S

BULK_JOBS: Final = 10_000  # of one call
LATENCY_SAMPLES: Final = 520
LATENCY_DROPPED: Final = 20  # the first ones
LATENCY_EVERY_MS: Final = 10.0


class QueueOptions(msgspec.Struct, kw_only=True, frozen=True):
    """How to measure the queue. The defaults are those of the published figures; `scale` shortens every run alike."""

    rounds: int = 3
    variants: str = "postgres-*"
    scale: float = 1.0  # of the number of jobs
    concurrency: int = 100  # handlers at once
    ceiling: bool = True
    seconds_max: float = 30.0  # a run that is not over by then is cut: its rate is that of what was done
    url: str = ""  # of a PostgreSQL server to use instead of an own one
    server_settings: dict[str, str] = msgspec.field(default_factory=OWN_SERVER_SETTINGS.copy)
    probe_s: float = 0.5
    stuck_s: float = STUCK_S
    out: Path = Path("bench-results")

    def __post_init__(self) -> None:
        """Refuse what cannot be measured. Raises Misconfigured."""
        for name, least in (("rounds", 1), ("concurrency", 1), ("scale", 0.0001), ("seconds_max", 0.1)):
            if getattr(self, name) < least:
                message = f"Expected {name} to be at least {least}, found {getattr(self, name)}"
                raise Misconfigured(message)

    def public(self) -> dict[str, object]:
        """The options as a result may show them: no path, no address."""
        shown = msgspec.to_builtins(msgspec.structs.replace(self, out=Path()), enc_hook=str)
        shown.update(url="given" if self.url else "", out="")
        return shown


class Order(msgspec.Struct, kw_only=True, frozen=True):
    """What one process of a run is to do. Drivers read it from the first line of their standard input."""

    workload: str  # bulk | single | drain | latency | steps | fetch
    url: str
    jobs: int
    fills: bool = True  # this process makes the schema, and puts the jobs into the queue before it is ready
    callers: int = 1  # of single and steps
    concurrency: int = 100
    sleep_ms: float = 0.0
    limited: bool = False  # each job has a limit
    fetch: int = 0  # jobs taken by one call
    fills_first: int = 0  # jobs put in and drained before latencies are taken
    bulk: int = BULK_JOBS
    every_ms: float = LATENCY_EVERY_MS
    dropped: int = LATENCY_DROPPED
    seconds_max: float = 30.0
    settings: dict[str, str] = {}  # of a peer, as its table says


class Ready(msgspec.Struct, tag="ready", kw_only=True):
    """Connected, the schema and the jobs are there; waits for the word to go."""

    starts_per_s: float | None = None  # the load generator alone, where there is one


class Progress(msgspec.Struct, tag="progress", kw_only=True):
    """How many jobs have been done so far. A hint for when to look: completions are counted in the database."""

    done: int


class Done(msgspec.Struct, tag="done", kw_only=True):
    """What was done from the word to go on. `seconds` is measured where callers wait for answers themselves."""

    done: int
    seconds: float = 0.0
    cpu_s: float = 0.0
    latencies_ms: list[float] = []
    counters: dict[str, int] = {}
    notes: list[str] = []


class Failed(msgspec.Struct, tag="failed", kw_only=True):
    """The process cannot go on."""

    error: str


Said = Ready | Progress | Done | Failed
