"""The page of `procession bench queue` and `compare`: a chart per workload, costs, every run, the method in words.

It shows what a result holds and measures nothing; what was not measured is shown as a dash.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from procession.lab.charts import Measured, number, range_bars
from procession.lab.pages import asset, banner, bars_table, environment_list, page, section, table
from procession.lab.queue_results import Peer, QueueResult, QueueRun, QueueSummary

DASH = "&ndash;"
COLOURS = {"ceiling": 0, "procession": 1}
PEER_COLOUR = 3
TITLES = {"queue": "Procession: the queue", "compare": "Procession beside other queues and engines"}

Variant = dict[str, Any]


def write_queue_page(result: QueueResult, file: Path) -> None:
    """Write the page, replacing an older one in one go."""
    partial = file.with_suffix(".partial")
    partial.write_text(queue_page(result), encoding="utf-8")
    partial.replace(file)


def queue_page(result: QueueResult) -> str:
    """The whole page."""
    variants: dict[str, Variant] = {str(variant["name"]): variant for variant in result.variants}
    lead = f"Measured {result.started_at} to {result.ended_at}; medians of the rounds, with their range."
    body = [
        banner("Interrupted: this page shows what was measured until then.") if result.interrupted else "",
        section("Promised and found", bars_table(result.bars)),
        section("At a glance", _glance(result, variants)),
        section("Who is measured", _peers(result, variants)),
        section("Workload by workload", *_charts(result, variants)),
        section("What a job costs", _costs(result, variants)),
        section("Every run", _runs(result.runs, variants)),
        section("Machine and programs", environment_list(result.environment, result.options)),
        section("Method", asset("queue_method.html")),
    ]
    return page(TITLES[result.benchmark], lead, body)


def who(variant: Variant) -> str:
    """Whose figure it is."""
    subject, store = str(variant["subject"]), str(variant["store"])
    if subject == "ceiling":
        return f"raw ceiling, {store}"
    return f"Procession, {store}" if subject == "procession" else subject


def _glance(result: QueueResult, variants: dict[str, Variant]) -> str:
    """Every figure: subjects and stores against workloads, the longer side down the page."""
    workloads = {name: _heading(workload) for name, workload in _workloads(variants).items()}
    found: dict[tuple[str, str], str] = {}
    for one in result.summary:
        variant = variants[one.variant]
        found[who(variant), str(variant["workload"]["name"])] = _figure(one)
    subjects = [who(variant) for variant in variants.values()] + [peer.name for peer in result.peers]
    names = list(dict.fromkeys(subjects))
    if len(names) < len(workloads):
        rows = [
            [escape(heading), *(found.get((name, key), DASH) for name in names)] for key, heading in workloads.items()
        ]
        return table(["", *names], rows)
    rows = [[escape(name), *(found.get((name, key), DASH) for key in workloads)] for name in names]
    return table(["", *workloads.values()], rows)


def _workloads(variants: dict[str, Variant]) -> dict[str, dict[str, Any]]:
    """The workloads that occur, by name, in their order."""
    return {str(variant["workload"]["name"]): variant["workload"] for variant in variants.values()}


def _heading(workload: dict[str, Any]) -> str:
    mark = str(workload["mark"])
    return f"{mark} {workload['words']}".strip()


def _figure(one: QueueSummary) -> str:
    """Median and range; of latencies p50 and p99."""
    if one.unit == "ms":
        p99 = DASH if one.p99_median is None else number(one.p99_median)
        return f"{number(one.median)} / {p99} ms"
    ranged = f"<small>{number(one.least)}&ndash;{number(one.most)}</small>" if one.rounds > 1 else ""
    return f"{number(one.median)}{ranged}"


def _peers(result: QueueResult, variants: dict[str, Variant]) -> str:
    """Versions and settings of the others, and why one has no figures, or failed."""
    rows = [
        [
            escape(peer.name),
            escape(peer.version) or DASH,
            escape(peer.language),
            _words(peer, "; ".join(_problems(peer, result, variants))),
        ]
        for peer in result.peers
    ]
    return table(["", "version", "", "settings, for throughput"], rows)


def _words(peer: Peer, problems: str) -> str:
    """A cell of words, not of figures."""
    settings = f"{escape(peer.settings)}<small>{escape(peer.source)}</small>"
    return f'<div class="words">{settings}<span class="bad">{escape(problems)}</span></div>'


def _problems(peer: Peer, result: QueueResult, variants: dict[str, Variant]) -> list[str]:
    """Why it could not be installed, and which workloads it failed in, each once."""
    failed = {
        f"{variants[run.variant]['workload']['name']}: {run.problem}": None
        for run in result.runs
        if run.problem and variants[run.variant]["subject"] == peer.name
    }
    return [peer.problem, *failed] if peer.problem else list(failed)


def _charts(result: QueueResult, variants: dict[str, Variant]) -> list[str]:
    """Bars per workload, the fastest first; of latencies the shortest."""
    charts: list[str] = []
    for name, workload in _workloads(variants).items():
        found = [one for one in result.summary if variants[one.variant]["workload"]["name"] == name]
        if not found:
            continue
        found.sort(key=lambda one: one.median if one.unit == "ms" else -one.median)
        unit = "p50 in ms, shorter is better" if found[0].unit == "ms" else found[0].unit
        bars = range_bars([_bar(one, variants[one.variant]) for one in found], unit)
        charts.append(f"<h3>{escape(_heading(workload))}: {escape(unit)}</h3><figure>{bars}</figure>")
    return charts


def _bar(one: QueueSummary, variant: Variant) -> Measured:
    unit = "ms" if one.unit == "ms" else one.unit
    rounds = "1 round" if one.rounds == 1 else f"{one.rounds} rounds"
    p99 = f"\np99 {number(one.p99_median)} ms" if one.p99_median is not None else ""
    tip = f"{who(variant)}\n{number(one.median)} {unit} ({number(one.least)} to {number(one.most)}, {rounds}){p99}"
    return Measured(
        label=who(variant),
        value=one.median,
        least=one.least,
        most=one.most,
        tip=tip,
        colour=COLOURS.get(str(variant["subject"]), PEER_COLOUR),
    )


def _costs(result: QueueResult, variants: dict[str, Variant]) -> str:
    """Processor time, log and commits per job."""
    columns: list[tuple[str, Callable[[QueueSummary], float | None]]] = [
        ("client, CPU µs", lambda one: one.client_us_per_job),
        ("database, CPU µs", lambda one: one.database_us_per_job),
        ("WAL bytes", lambda one: one.wal_bytes_per_job),
        ("commits", lambda one: one.commits_per_job),
        ("jobs per commit", lambda one: one.jobs_per_commit),
        ("call p99 ms", lambda one: one.p99_median if one.unit != "ms" else None),
    ]
    rows = [
        [escape(str(variants[one.variant]["words"])), *(_plain(value(one)) for _, value in columns)]
        for one in result.summary
    ]
    return table(["per job or instance", *(title for title, _ in columns)], rows)


def _runs(runs: Sequence[QueueRun], variants: dict[str, Variant]) -> str:
    """A line per run, in the order they were made."""
    columns = ["variant", "round", "done", "seconds", "per second", "generator alone", "flushes/s before", "after", ""]
    rows = [
        [
            escape(str(variants[run.variant]["words"])),
            str(run.round),
            f"{run.done:,}" if run.done == run.jobs else f"{run.done:,} of {run.jobs:,}",
            f"{run.seconds:.2f}",
            number(run.rate),
            _plain(run.starts_per_s),
            _plain(run.flushes_before_per_s),
            _plain(run.flushes_after_per_s),
            f"<small>{escape(_remarks(run))}</small>",
        ]
        for run in runs
    ]
    return table(columns, rows)


def _remarks(run: QueueRun) -> str:
    """Why the run is not whole, and what was not done as the method says."""
    cut = "cut when its time was over" if run.cut else ""
    return "; ".join(filter(None, ["interrupted" if run.interrupted else "", run.problem, cut, *run.notes]))


def _plain(value: float | None) -> str:
    return DASH if value is None else number(value)
