"""The figures of the queue that were promised, and whether a result reached them. It measures nothing.

A bar is judged only by a result that was measured at full size; in any other it is left out, but for the comparison
with others of the same run.
"""

from __future__ import annotations

from typing import Final

from procession.lab.queue_orders import QueueOptions
from procession.lab.queue_results import QueueResult, QueueSummary
from procession.lab.results import Bar

# variant -> at least so many per second
RATES: Final = (
    ("postgres-bulk", "W1, bulk insert, PostgreSQL", 150_000),
    ("postgres-single", "W2, 8 callers, PostgreSQL", 15_000),
    ("postgres-single-64", "W2, 64 callers, PostgreSQL", 50_000),
    ("postgres-drain", "W3, drain, no-op, PostgreSQL", 60_000),
    ("postgres-drain-1ms", "W4, drain, 1 ms, PostgreSQL", 40_000),
    ("postgres-steps-64", "W6, two steps, PostgreSQL", 7_000),
    ("sqlite-normal-bulk", "W1, bulk insert, SQLite", 300_000),
    ("sqlite-normal-drain", "W3, drain, no-op, SQLite", 60_000),
    ("mariadb-bulk", "W1, bulk insert, MariaDB", 60_000),
    ("mariadb-drain", "W3, drain, no-op, MariaDB", 8_000),
    ("memory-drain", "W3, drain, no-op, memory", 100_000),
)
# variant -> p50 and p99 at most, in milliseconds
LATENCIES: Final = (
    ("postgres-latency", "W5, PostgreSQL", 1.2, 5.0),
    ("sqlite-normal-latency", "W5, SQLite", 0.3, None),
)
WAL_BYTES_PER_JOB: Final = 600.0
LATENCY_GROWTH_MAX: Final = 2.0  # beside a long transaction
OWN_DRAIN: Final = "postgres-drain"
COMPARABLE_SCALE: Final = 0.2  # from here on a drain is long enough to be compared with others of the same run


def queue_bars(result: QueueResult, options: QueueOptions) -> list[Bar]:
    """The bars that these options measure."""
    found = {one.variant: one for one in result.summary}
    if options.scale < 1:
        return _above_peers(result, found) if options.scale >= COMPARABLE_SCALE else []
    bars = [_at_least(name, least, found[variant].median) for variant, name, least in RATES if variant in found]
    for variant, name, p50, p99 in LATENCIES:
        if variant in found:
            bars += _latency(name, p50, p99, found[variant])
    drain = found.get(OWN_DRAIN)
    if drain is not None and drain.wal_bytes_per_job is not None:
        bars.append(_at_most("log bytes of a job drained, PostgreSQL", WAL_BYTES_PER_JOB, drain.wal_bytes_per_job, ""))
    alone, beside = found.get("postgres-latency"), found.get("postgres-latency-held")
    if alone is not None and beside is not None and alone.median:
        growth = beside.median / alone.median
        bars.append(_at_most("latency beside a long transaction against alone", LATENCY_GROWTH_MAX, growth, "times"))
    return bars + _above_peers(result, found)


def _above_peers(result: QueueResult, found: dict[str, QueueSummary]) -> list[Bar]:
    """Our drain against the fastest of the others, in the same rotation."""
    ours = found.get(OWN_DRAIN)
    names = [peer.name for peer in result.peers]
    theirs = {name: found[f"{name}-drain"].median for name in names if f"{name}-drain" in found}
    if ours is None or not theirs:
        return []
    best = max(theirs, key=lambda name: theirs[name])
    return [
        Bar(
            name="W3 against every peer of the same run",
            expected=f"above {best}: {theirs[best]:,.0f}",
            found=ours.median,
            reached=ours.median > theirs[best],
        )
    ]


def _latency(name: str, p50: float, p99: float | None, found: QueueSummary) -> list[Bar]:
    bars = [_at_most(f"{name}, p50", p50, found.median, "ms")]
    if p99 is not None and found.p99_median is not None:
        bars.append(_at_most(f"{name}, p99", p99, found.p99_median, "ms"))
    return bars


def _at_least(name: str, least: float, found: float) -> Bar:
    return Bar(name=name, expected=f"at least {least:,.0f}", found=round(found, 2), reached=found >= least)


def _at_most(name: str, most: float, found: float, unit: str) -> Bar:
    return Bar(name=name, expected=f"at most {most:g} {unit}".strip(), found=round(found, 3), reached=found <= most)
