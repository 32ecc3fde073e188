"""The page of `procession bench feel`: bars, tables, other engines beside ours. It measures nothing."""

from __future__ import annotations

from html import escape
from pathlib import Path

from procession.lab.charts import Measured, number, range_bars
from procession.lab.pages import asset, banner, bars_table, environment_list, page, section, table
from procession.lab.results import FeelCase, FeelResult

HEADINGS = {"evaluate": "Expressions, evaluated", "compile": "Expressions, compiled", "table": "Decision tables"}


def write_feel_page(result: FeelResult, file: Path) -> None:
    """Write the page, replacing an older one in one go."""
    partial = file.with_suffix(".partial")
    partial.write_text(feel_page(result), encoding="utf-8")
    partial.replace(file)


def feel_page(result: FeelResult) -> str:
    """The whole page."""
    groups = [
        section(heading, _chart(cases), _table(cases))
        for group, heading in HEADINGS.items()
        if (cases := [case for case in result.cases if case.group == group])
    ]
    body = [
        banner("Interrupted: this page shows what was measured until then.") if result.interrupted else "",
        section("Promised and found", bars_table(result.bars)),
        *groups,
        section("Beside other engines", table(*peers_table(result)), *(banner(note) for note in result.notes))
        if result.peers or result.notes
        else "",
        section("Machine and programs", environment_list(result.environment, result.options)),
        section("Method", asset("feel_method.html")),
    ]
    return page("Procession: FEEL and DMN", f"measured {result.started_at} to {result.ended_at}", body)


def peers_table(result: FeelResult) -> tuple[list[str], list[list[str]]]:
    """Columns and rows: one engine and way of evaluating a column, one expression a row, in microseconds."""
    own = {case.name: case for case in result.cases}
    columns: dict[tuple[str, str], None] = dict.fromkeys(
        (f"{figure.engine} {figure.version}", figure.way) for figure in result.peers if figure.us is not None
    )
    shown = {
        (figure.expression, f"{figure.engine} {figure.version}", figure.way): figure.us
        for figure in result.peers
        if figure.us is not None
    }
    rows = [
        [
            f"<code>{escape(own[name].text)}</code>",
            number(own[name].best_us),
            number(own[name].best_us + own[f"{name}, compiled"].best_us),
            *(
                number(found) if (found := shown.get((name, engine, way))) is not None else "cannot"
                for engine, way in columns
            ),
        ]
        for name in dict.fromkeys(figure.expression for figure in result.peers)
        if name in own and f"{name}, compiled" in own
    ]
    heads = [f"{engine}, {'text' if way == 'text' else 'read once'}, µs" for engine, way in columns]
    return ["", "Procession, compiled once, µs", "Procession, text, µs", *heads], rows


def _chart(cases: list[FeelCase]) -> str:
    items = [
        Measured(
            label=case.name,
            value=case.best_us,
            least=case.best_us,
            most=case.worst_us,
            tip=f"{case.text}\nbest {case.best_us:g} µs, worst round {case.worst_us:g} µs",
        )
        for case in cases
    ]
    return range_bars(items, "µs of the processor") + '<p class="lead">µs of the processor</p>'


def _table(cases: list[FeelCase]) -> str:
    rows = [
        [
            escape(case.name),
            f"<code>{escape(case.text)}</code>",
            number(case.best_us),
            number(case.median_us),
            number(case.per_s),
        ]
        for case in cases
    ]
    return table(["", "what", "best, µs", "median, µs", "per second"], rows)
