"""The page of `procession bench process`: charts, checkpoints, costs, every run, and the method in words.

It shows what a result holds and measures nothing; what was not measured is shown as a dash.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

from procession.lab.charts import Measured, Point, Series, lines, number, range_bars
from procession.lab.pages import asset, banner, bars_table, environment_list, page, section, table
from procession.lab.results import Result, Run
from procession.lab.summary import Spread, rate_at, spread, whole_runs

DASH = "&ndash;"
STORES = {"postgres": "PostgreSQL", "sqlite": "SQLite", "mariadb": "MariaDB"}
TABLES = ("instance", "job", "history")


def write_process_page(result: Result, file: Path) -> None:
    """Write the page, replacing an older one in one go."""
    partial = file.with_suffix(".partial")
    partial.write_text(process_page(result), encoding="utf-8")
    partial.replace(file)


def process_page(result: Result) -> str:
    """The whole page."""
    words = {str(variant["name"]): str(variant["words"]) for variant in result.variants}
    whole = {name: runs for name in words if (runs := whole_runs(result.runs, name))}
    lead = f"start → two calls → end; measured {result.started_at} to {result.ended_at}"
    body = [
        banner("Interrupted: this page shows what was measured until then.") if result.interrupted else "",
        section("Promised and found", bars_table(result.bars)),
        section("Instances per second, start to end", _rates(result, words, whole)),
        section("Over the run", *_curves(words, whole)),
        section("Checkpoints", _checkpoints(words, whole)),
        section("What an instance costs", _costs(words, whole)),
        section("Every run", _runs(result.runs, words)),
        section("Machine and programs", environment_list(result.environment, result.options)),
        section("Method", asset("process_method.html")),
    ]
    return page("Procession: the simple process", lead, body)


def _rates(result: Result, words: dict[str, str], whole: dict[str, list[Run]]) -> str:
    """A bar per variant."""
    items = [
        Measured(
            label=words[summary.variant],
            value=summary.rate_median,
            least=summary.rate_min,
            most=summary.rate_max,
            tip=f"{words[summary.variant]}\n{_range(spread(run.rate for run in whole[summary.variant]))} instances/s",
            colour=_colour(summary.variant),
        )
        for summary in result.summary
    ]
    return range_bars(items, "instances per second")


def _curves(words: dict[str, str], whole: dict[str, list[Run]]) -> list[str]:
    """A chart of lines per database and way."""
    groups: dict[str, list[str]] = {}
    for name in whole:
        if not name.endswith("-ceiling"):
            database, way, *_ = name.split("-")
            title = f"{STORES[database]}, "
            groups.setdefault(title + ("methods" if way == "methods" else "service tasks"), []).append(name)
    return [
        f"<h3>{escape(title)}</h3><figure>"
        + lines([_series(name, words[name], whole[name]) for name in names], "instances completed", "instances/s")
        + "</figure>"
        for title, names in groups.items()
    ]


def _series(name: str, label: str, runs: Sequence[Run]) -> Series:
    """The rate at each checkpoint."""
    points: list[Point] = []
    for checkpoint in runs[0].checkpoints:
        found = rate_at(runs, checkpoint.completed)
        assert found is not None
        tip = f"{label}\nat {checkpoint.completed:,}: {_range(found)} instances/s"
        points.append(Point(x=checkpoint.completed, value=found.median, least=found.least, most=found.most, tip=tip))
    return Series(label=label, points=tuple(points), colour=_colour(name))


def _colour(name: str) -> int:
    """The same kind of variant has the same colour everywhere; 0 is grey."""
    if name.endswith("-ceiling"):
        return 0
    if name.endswith("-nohistory-async"):
        return 4
    if name.endswith(("-nohistory", "-full")):
        return 3
    return 2 if name.endswith("-async") else 1


def _checkpoints(words: dict[str, str], whole: dict[str, list[Run]]) -> str:
    """The rate since the first start, when so many had completed."""
    counts = sorted({point.completed for runs in whole.values() for run in runs for point in run.checkpoints})
    rows = [[escape(words[name]), *(_cell(rate_at(runs, count)) for count in counts)] for name, runs in whole.items()]
    return table(["completed", *(f"{count:,}" for count in counts)], rows)


def _costs(words: dict[str, str], whole: dict[str, list[Run]]) -> str:
    """Processor, log, commits, rows and latencies, per instance."""
    columns: list[tuple[str, Callable[[Run], float | None]]] = [
        ("client, CPU µs", lambda run: _per(run, run.client and run.client.cpu_s, 1e6)),
        ("client, cores", lambda run: run.client and run.client.cpu_s / run.seconds),
        ("database, CPU µs", lambda run: _per(run, run.database and run.database.cpu_s, 1e6)),
        ("database, cores", lambda run: _over(run.database and run.database.cpu_s, run.seconds)),
        ("WAL bytes", lambda run: _per(run, run.database and run.database.wal_bytes)),
        ("commits", lambda run: _per(run, run.database and run.database.commits)),
        ("waits for the disk", lambda run: _per(run, run.database and run.database.wal_flushes)),
        ("steps per commit", _steps_per_commit),
        *((f"rows of {name}", _rows_of(name)) for name in TABLES),
        ("start p50 ms", lambda run: run.start_latency and run.start_latency.p50_ms),
        ("start p99 ms", lambda run: run.start_latency and run.start_latency.p99_ms),
        ("head-room, starts/s", lambda run: run.headroom and run.headroom.starts_per_s),
        ("head-room, calls/s", lambda run: run.headroom and run.headroom.calls_per_s),
    ]
    rows = [
        [escape(words[name]), *(_cell(_measured(runs, value)) for _, value in columns)] for name, runs in whole.items()
    ]
    return table(["per instance", *(title for title, _ in columns)], rows)


def _rows_of(name: str) -> Callable[[Run], float | None]:
    """Rows of a table written per instance: inserted, updated and deleted together."""

    def count(run: Run) -> float | None:
        written = run.database.rows.get(name) if run.database else None
        return _per(run, written.inserted + written.updated + written.deleted) if written else None

    return count


def _steps_per_commit(run: Run) -> float | None:
    counters = run.client.counters if run.client else {}
    return _over(counters.get("steps"), counters.get("commits", 0))


def _per(run: Run, value: float | None, factor: float = 1.0) -> float | None:
    """A value of the run per completed instance."""
    return None if value is None or not run.completed else value * factor / run.completed


def _over(value: float | None, divisor: float) -> float | None:
    return None if value is None or not divisor else value / divisor


def _measured(runs: Sequence[Run], value: Callable[[Run], float | None]) -> Spread | None:
    """Median and range of what was measured."""
    return spread(found for run in runs if (found := value(run)) is not None)


def _runs(runs: Sequence[Run], words: dict[str, str]) -> str:
    """A line per run, in the order they were made."""
    columns = [
        *("variant", "round", "completed", "seconds", "per second", "flushes/s before", "flushes/s after", "calls")
    ]
    rows = [
        [
            escape(words[run.variant]),
            str(run.round),
            f"{run.completed:,} of {run.instances:,}" if not run.is_whole else f"{run.completed:,}",
            f"{run.seconds:.2f}",
            number(run.rate),
            _plain(run.flushes_before_per_s),
            _plain(run.flushes_after_per_s),
            _plain(run.client.calls if run.client else None),
            f"<small>{escape(_remarks(run))}</small>",
        ]
        for run in runs
    ]
    return table([*columns, ""], rows)


def _remarks(run: Run) -> str:
    """Why the run is not whole, and what was not done as the method says."""
    return "; ".join(filter(None, ["interrupted" if run.interrupted else "", run.problem, *run.notes]))


def _plain(value: float | None) -> str:
    return DASH if value is None else number(value)


def _cell(found: Spread | None) -> str:
    """Median, with the range below."""
    if found is None:
        return DASH
    if found.count == 1:
        return number(found.median)
    return f"{number(found.median)}<small>{number(found.least)}&ndash;{number(found.most)}</small>"


def _range(found: Spread | None) -> str:
    """Median and range in words."""
    if found is None:
        return "not measured"
    rounds = "1 round" if found.count == 1 else f"{found.count} rounds"
    return f"{number(found.median)} ({number(found.least)} to {number(found.most)}, {rounds})"
