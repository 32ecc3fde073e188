"""What can be asked of `procession bench process`, and what its processes tell each other. Plain data."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

import msgspec

from procession.errors import Misconfigured

Client = Literal["aiohttp", "pyreqwest", "none"]
Stub = Literal["same-process", "process", "nginx"]

OWN_SERVER_SETTINGS: Final = {"shared_buffers": "2GB", "max_wal_size": "4GB"}
STUCK_S: Final = 60.0  # a run in which nothing completes for so long is given up and says so
VARIABLES: Final = {"orderId": 123, "customer": "a b c", "total": 12.5}  # what every instance is started with


class ProcessOptions(msgspec.Struct, kw_only=True, frozen=True):
    """How to measure the simple process. The defaults are those of the published figures."""

    instances: int = 100_000
    starters: int = 8
    batch_starts: int = 1  # starts that one starter has under way at once
    step_workers: int = 16
    job_workers: int = 16
    processes: int = 1
    rounds: int = 3
    variants: str = "*"
    ceiling: bool = True
    client: Client = "aiohttp"
    stub: Stub = "same-process"
    url: str = ""  # of a PostgreSQL server to use instead of an own one
    server_settings: dict[str, str] = msgspec.field(default_factory=OWN_SERVER_SETTINGS.copy)
    probe_s: float = 1.0
    stuck_s: float = STUCK_S
    out: Path = Path("bench-results")

    def __post_init__(self) -> None:
        """Refuse what cannot be measured. Raises Misconfigured."""
        counts = ("instances", "starters", "batch_starts", "step_workers", "job_workers", "processes", "rounds")
        for name in counts:
            if getattr(self, name) < 1:
                message = f"Expected {name} to be at least 1, found {getattr(self, name)}"
                raise Misconfigured(message)
        if self.starters % self.processes or self.instances < self.starters:
            message = (
                "Expected as many starters as processes or a multiple, and no more starters than instances; found "
                f"{self.starters} starters, {self.processes} processes, {self.instances} instances"
            )
            raise Misconfigured(message)

    def public(self) -> dict[str, object]:
        """The options as a result may show them: no path, no address."""
        shown = msgspec.to_builtins(msgspec.structs.replace(self, out=Path()), enc_hook=str)
        shown.update(url="given" if self.url else "", out="")
        return shown


class Load(msgspec.Struct, kw_only=True):
    """What one process of a run is to do: starters, workers, HTTP client and, if asked for, the stub."""

    url: str
    way: str
    history: str
    ceiling: bool
    instances: int
    starters: int
    batch_starts: int
    step_workers: int
    job_workers: int
    client: Client
    stub_url: str  # empty: a stub of its own


class Ready(msgspec.Struct, tag=True, kw_only=True):
    """The process has connected, deployed and measured itself, and waits for the word to go."""

    starts_per_s: float
    calls_per_s: float | None


class Progress(msgspec.Struct, tag=True, kw_only=True):
    """What the process has done so far. A hint for when to look: completions are counted in the database."""

    handled: int
    starts: int


class Report(msgspec.Struct, tag=True, kw_only=True):
    """What the process did from the word to go until it was told that all is done."""

    first_start_at: float  # seconds since the epoch, by this machine's clock
    first_start_monotonic: float
    cpu_s: float
    latencies_ms: list[float]
    starts: int
    rejected: int
    calls: int
    counters: dict[str, int]


class Failed(msgspec.Struct, tag=True, kw_only=True):
    """The process cannot go on."""

    error: str


Message = Ready | Progress | Report | Failed
