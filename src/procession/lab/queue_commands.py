"""`procession bench queue` and `compare` as commands: options in, tables out. It measures nothing itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Annotated, Any, Final

import msgspec
import typer
from rich.console import Console

from procession.errors import ProcessionError
from procession.lab._command_parts import (
    INTERRUPTED,
    MISSED,
    OUT,
    Json,
    Out,
    Setting,
    Url,
    print_tables,
    refused,
    settings_of,
)
from procession.lab.compare_bench import COMPARED, CompareOptions, bench_compare
from procession.lab.loop import run
from procession.lab.options import OWN_SERVER_SETTINGS
from procession.lab.peer_table import PEERS
from procession.lab.progress import ProgressShow
from procession.lab.queue_bench import QueueWritten, bench_queue
from procession.lab.queue_orders import QueueOptions
from procession.lab.queue_results import QueueSummary
from procession.lab.queue_variants import all_queue_variants

WIDE: Final = 110  # characters of a terminal
COSTS: Final = 3  # columns that are left out on a narrower one

Measure = Callable[[ProgressShow, Callable[[QueueWritten], None]], Coroutine[Any, Any, Any]]


def mount(bench: typer.Typer) -> None:
    """Add the commands."""
    bench.command("queue")(queue_command)
    bench.command("compare")(compare_command)


def queue_command(  # noqa: PLR0913 - an option of the command line is an argument to typer
    *,
    variants: Annotated[
        str, typer.Option(help="Names or patterns, with commas: '*-drain,sqlite-*'; '*' for every store.")
    ] = "postgres-*",
    rounds: Annotated[int, typer.Option(help="Rounds; every second one runs backwards.")] = 3,
    scale: Annotated[float, typer.Option(help="Jobs of each run, as a share of the usual number.")] = 1.0,
    concurrency: Annotated[int, typer.Option(help="Handlers at once.")] = 100,
    seconds: Annotated[float, typer.Option(help="How long a run may take; then it is cut.")] = 30.0,
    ceiling: Annotated[bool, typer.Option(help="Also run bare statements in the same rounds.")] = True,
    url: Url = "",
    setting: Setting = None,
    names: Annotated[bool, typer.Option("--list", help="Print the names of the variants and end.")] = False,
    out: Out = OUT,
    json: Json = False,
) -> None:
    """The queue: inserts, drains, latency, steps, on PostgreSQL, SQLite, MariaDB and in memory."""
    if names:
        for variant in all_queue_variants():
            typer.echo(f"{variant.name:34} {variant.words}")
        return
    try:
        options = QueueOptions(
            rounds=rounds,
            variants=variants,
            scale=scale,
            concurrency=concurrency,
            seconds_max=seconds,
            ceiling=ceiling,
            url=url,
            server_settings={**OWN_SERVER_SETTINGS, **settings_of(setting)},
            out=out,
        )
    except ProcessionError as error:
        raise refused(error) from None
    measure_and_print(lambda show, written: bench_queue(options, show, written=written), json=json)


def compare_command(  # noqa: PLR0913 - an option of the command line is an argument to typer
    *,
    peers: Annotated[str, typer.Option(help="Names or patterns, with commas: 'pg*,DBOS'.")] = "*",
    workloads: Annotated[str, typer.Option(help="Names or patterns, with commas.")] = ",".join(COMPARED),
    rounds: Annotated[int, typer.Option(help="Rounds; every second one runs backwards.")] = 3,
    scale: Annotated[float, typer.Option(help="Jobs of each run, as a share of the usual number.")] = 1.0,
    seconds: Annotated[float, typer.Option(help="How long a run may take; then it is cut.")] = 10.0,
    peers_folder: Annotated[str, typer.Option(help="Where environments are kept; the user's cache if not said.")] = "",
    url: Url = "",
    setting: Setting = None,
    names: Annotated[bool, typer.Option("--list", help="Print the peers and end.")] = False,
    out: Out = OUT,
    json: Json = False,
) -> None:
    """Other queues and engines beside ours: installed from PyPI and npm, in the same rotation on PostgreSQL."""
    if names:
        for spec in PEERS:
            typer.echo(f"{spec.name:16} {spec.language:8} {', '.join(spec.workloads)}")
        return
    try:
        options = CompareOptions(
            rounds=rounds,
            variants=workloads,
            scale=scale,
            seconds_max=seconds,
            url=url,
            server_settings={**OWN_SERVER_SETTINGS, **settings_of(setting)},
            peers=peers,
            peers_folder=peers_folder,
            out=out,
        )
    except ProcessionError as error:
        raise refused(error) from None
    measure_and_print(
        lambda show, written: bench_compare(options, show, written=written, saying=show.say), json=json, fails=False
    )


def measure_and_print(measure: Measure, *, json: bool, fails: bool = True) -> None:
    """Measure with bars on the terminal; after Ctrl-C or SIGTERM say what there is and where.

    ``fails``: a run that is not whole makes the command fail; those of others do not.
    """
    kept: list[QueueWritten] = []
    try:
        with ProgressShow() as show:
            run(measure(show, kept.append))
    except (KeyboardInterrupt, asyncio.CancelledError):
        if kept:
            print_queue(kept[-1], json=json)
        raise typer.Exit(INTERRUPTED) from None
    except ProcessionError as error:
        raise refused(error) from None
    print_queue(kept[-1], json=json)
    if fails and not all(one.is_whole for one in kept[-1].result.runs):
        raise typer.Exit(MISSED)


def print_queue(written: QueueWritten, *, json: bool) -> None:
    """The result as it was asked for."""
    result = written.result
    if json:
        typer.echo(msgspec.json.encode(result).decode())
        return
    words = {str(variant["name"]): str(variant["words"]) for variant in result.variants}
    rows = [[words[one.variant], *_cells(one)] for one in result.summary]
    rows += [[peer.name, peer.problem, "", "", "", ""] for peer in result.peers if peer.problem]
    columns = ["", "per second, or p50", "p99 ms", "log bytes", "jobs per commit", "CPU µs, client + database"]
    shown = len(columns) if Console().width >= WIDE else len(columns) - COSTS  # the page has them all
    lines = [row[:shown] for row in rows]
    print_tables(columns[:shown], lines, result.bars, (written.json_file, written.html_file))


def _cells(one: QueueSummary) -> list[str]:
    """The figures of a variant, as a line of a table."""
    middle, least, most = (f"{value:,.3g}" if one.unit == "ms" else f"{value:,.0f}" for value in _spread(one))
    unit = " ms" if one.unit == "ms" else ""
    ranged = f" ({least} - {most})" if one.rounds > 1 else ""
    used = [value for value in (one.client_us_per_job, one.database_us_per_job) if value is not None]
    return [
        f"{middle}{unit}{ranged}",
        "" if one.p99_median is None else f"{one.p99_median:,.3g}",
        "" if one.wal_bytes_per_job is None else f"{one.wal_bytes_per_job:,.0f}",
        "" if one.jobs_per_commit is None else f"{one.jobs_per_commit:,.1f}",
        " + ".join(f"{value:,.1f}" for value in used),
    ]


def _spread(one: QueueSummary) -> tuple[float, float, float]:
    return one.median, one.least, one.most
