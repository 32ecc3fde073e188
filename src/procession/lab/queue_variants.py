"""Which workloads the queue is measured with, on which stores, and what the variants are called. It runs none."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Final, Literal

import msgspec

from procession.errors import Misconfigured
from procession.lab.variants import Database

Kind = Literal["bulk", "single", "drain", "latency", "steps", "fetch"]
Commit = Literal["on", "NORMAL", "FULL"]


class Workload(msgspec.Struct, kw_only=True, frozen=True):
    """One thing to do. `mark` is what the published comparisons call it."""

    name: str
    kind: Kind
    words: str
    jobs: int
    mark: str = ""
    callers: int = 1
    sleep_ms: float = 0.0
    fetch: int = 0
    limited: bool = False
    held: bool = False  # a transaction is open elsewhere all the while
    processes: int = 1
    has_ceiling: bool = False
    postgres_only: bool = False

    @property
    def unit(self) -> str:
        """What the figure counts."""
        if self.kind == "latency":
            return "ms"
        return "instances/s" if self.kind == "steps" else "jobs/s"


class QueueVariant(msgspec.Struct, kw_only=True, frozen=True):
    """A workload on a store. `subject` is procession, ceiling (bare statements) or the name of a peer."""

    name: str
    workload: Workload
    database: Database
    commit: Commit = "on"
    subject: str = "procession"

    @property
    def store(self) -> str:
        """For people."""
        words = {"postgres": "PostgreSQL", "mariadb": "MariaDB", "memory": "memory"}
        return words.get(self.database, f"SQLite {self.commit}")

    @property
    def words(self) -> str:
        """For people."""
        where = {"procession": self.store, "ceiling": f"raw ceiling, {self.store}"}
        return f"{self.workload.words}: {where.get(self.subject, self.subject)}"


WORKLOADS: Final = (
    Workload(name="bulk", kind="bulk", mark="W1", jobs=200_000, words="bulk insert, 10,000 a call", has_ceiling=True),
    Workload(
        name="single",
        kind="single",
        mark="W2",
        jobs=20_000,
        callers=8,
        words="single inserts, 8 callers",
        has_ceiling=True,
    ),
    Workload(
        name="single-64",
        kind="single",
        mark="W2",
        jobs=100_000,
        callers=64,
        words="single inserts, 64 callers",
        has_ceiling=True,
    ),
    Workload(name="drain", kind="drain", mark="W3", jobs=50_000, words="drain, no-op", has_ceiling=True),
    Workload(name="drain-1ms", kind="drain", mark="W4", jobs=20_000, sleep_ms=1.0, words="drain, 1 ms of sleep"),
    Workload(name="latency", kind="latency", mark="W5", jobs=520, words="latency, one job every 10 ms"),
    Workload(name="steps", kind="steps", mark="W6", jobs=20_000, callers=8, words="start, two steps, end, 8 callers"),
    Workload(
        name="steps-64", kind="steps", mark="W6", jobs=40_000, callers=64, words="start, two steps, end, 64 callers"
    ),
    Workload(name="fetch-50", kind="fetch", jobs=5_000, fetch=50, words="take and complete, 50 a call"),
    Workload(name="fetch-200", kind="fetch", jobs=10_000, fetch=200, words="take and complete, 200 a call"),
    Workload(name="drain-limited", kind="drain", jobs=10_000, limited=True, words="drain, every job has a limit"),
    Workload(
        name="drain-held",
        kind="drain",
        jobs=50_000,
        held=True,
        words="drain, a long transaction open elsewhere",
        postgres_only=True,
    ),
    Workload(
        name="latency-held",
        kind="latency",
        jobs=520,
        held=True,
        words="latency, a long transaction open elsewhere",
        postgres_only=True,
    ),
    Workload(
        name="drain-2-processes",
        kind="drain",
        jobs=50_000,
        processes=2,
        words="drain, no-op, two processes",
        postgres_only=True,
    ),
    Workload(
        name="drain-1ms-2-processes",
        kind="drain",
        jobs=20_000,
        sleep_ms=1.0,
        processes=2,
        words="drain, 1 ms of sleep, two processes",
        postgres_only=True,
    ),
)
STORES: Final[tuple[tuple[str, Database, Commit], ...]] = (
    ("postgres", "postgres", "on"),
    ("sqlite-normal", "sqlite", "NORMAL"),
    ("sqlite-full", "sqlite", "FULL"),
    ("mariadb", "mariadb", "on"),
    ("memory", "memory", "on"),
)


def all_queue_variants() -> list[QueueVariant]:
    """Every workload on every store that it makes sense on."""
    return [
        QueueVariant(name=f"{store}-{workload.name}", workload=workload, database=database, commit=commit)
        for store, database, commit in STORES
        for workload in WORKLOADS
        if database == "postgres" or not workload.postgres_only
    ]


def chosen_queue_variants(patterns: str, *, ceiling: bool) -> list[QueueVariant]:
    """Those that a comma-separated list of names or patterns names; on PostgreSQL each with its raw ceiling before it.

    Raises Misconfigured for a name or pattern that fits nothing.
    """
    known = all_queue_variants()
    wanted = [pattern.strip() for pattern in patterns.split(",") if pattern.strip()]
    for pattern in wanted:
        if not any(fnmatchcase(variant.name, pattern) for variant in known):
            names = ", ".join(variant.name for variant in known)
            message = f"Expected --variants to name some of {names}; found '{pattern}', which fits none"
            raise Misconfigured(message)
    chosen: list[QueueVariant] = []
    for variant in known:
        if not any(fnmatchcase(variant.name, pattern) for pattern in wanted):
            continue
        if ceiling and variant.database == "postgres" and variant.workload.has_ceiling:
            chosen.append(msgspec.structs.replace(variant, name=f"{variant.name}-ceiling", subject="ceiling"))
        chosen.append(variant)
    return chosen
