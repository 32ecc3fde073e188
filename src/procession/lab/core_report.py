"""The page of `procession bench core`: bars, tables, and the method in words. It measures nothing."""

from __future__ import annotations

from html import escape
from pathlib import Path

from procession.lab.charts import Measured, number, range_bars
from procession.lab.pages import asset, banner, bars_table, environment_list, page, section, table
from procession.lab.results import CoreCase, CoreResult

HEADINGS = {
    "process": "Processes, from start to end",
    "open elements": "One job of an instance with many open elements",
    "model size": "One job of a process with many elements",
}


def write_core_page(result: CoreResult, file: Path) -> None:
    """Write the page, replacing an older one in one go."""
    partial = file.with_suffix(".partial")
    partial.write_text(core_page(result), encoding="utf-8")
    partial.replace(file)


def core_page(result: CoreResult) -> str:
    """The whole page."""
    lead = f"commands in, events out, no store; measured {result.started_at} to {result.ended_at}"
    groups = [
        section(heading, _chart(cases), _table(cases))
        for group, heading in HEADINGS.items()
        if (cases := [case for case in result.cases if case.group == group])
    ]
    body = [
        banner("Interrupted: this page shows what was measured until then.") if result.interrupted else "",
        section("Promised and found", bars_table(result.bars)),
        *groups,
        section("Other engines, two tasks from start to end", _peers(result)),
        section("Machine and programs", environment_list(result.environment, result.options)),
        section("Method", asset("core_method.html")),
    ]
    return page("Procession: the core alone", lead, body)


def _chart(cases: list[CoreCase]) -> str:
    """Processor time per step, so that processes of different length compare."""
    items = [
        Measured(
            label=case.name,
            value=case.us_per_step,
            least=case.us_per_step,
            most=case.us_per_step * case.worst_us / case.best_us,
            tip=f"{case.name}\nbest {case.us_per_step:g} µs per step, worst round "
            f"{case.us_per_step * case.worst_us / case.best_us:.2f} µs",
        )
        for case in cases
    ]
    return range_bars(items, "µs of the processor per step") + '<p class="lead">µs of the processor per step</p>'


def _peers(result: CoreResult) -> str:
    """Ours and theirs, in processor time; theirs with everything that their process does."""
    own = [
        [f"Procession, {escape(case.name)}", "", number(case.best_us)]
        for case in result.cases
        if case.name == "two service tasks"
    ]
    theirs = [
        [escape(peer.engine), escape(peer.version), "&ndash;" if peer.us is None else number(peer.us)]
        for peer in result.peers
    ]
    notes = "".join(f"<p>{escape(note)}</p>" for note in result.notes)
    return (table(["", "version", "µs of the processor"], own + theirs) if theirs else "") + notes


def _table(cases: list[CoreCase]) -> str:
    rows = [
        [
            escape(case.name),
            f"{case.steps:,}",
            number(case.best_us),
            number(case.median_us),
            number(case.us_per_step),
            "&ndash;" if case.with_state_us is None else number(case.with_state_us),
            number(case.per_s),
        ]
        for case in cases
    ]
    return table(["", "steps", "best, µs", "median, µs", "µs per step", "with state, µs", "per second"], rows)
