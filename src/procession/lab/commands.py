"""`procession bench process | core | feel` as commands, for the command line to mount: options in, tables out.

`queue` and `compare` are in `queue_commands.py`.

It measures nothing itself; `bench_process`, `bench_core` and `bench_feel` do.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from procession.errors import ProcessionError
from procession.lab import queue_commands
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
from procession.lab.core_bench import CoreOptions, bench_core
from procession.lab.core_report import write_core_page
from procession.lab.feel_bench import FeelOptions, bench_feel
from procession.lab.feel_report import write_feel_page
from procession.lab.loop import run
from procession.lab.options import OWN_SERVER_SETTINGS, Client, ProcessOptions, Stub
from procession.lab.process_bench import Written, bench_process
from procession.lab.progress import CasesShow, ProgressShow
from procession.lab.results import CoreResult, FeelResult, write_json
from procession.lab.variants import all_variants

bench = typer.Typer(
    no_args_is_help=True,
    help="Measure. Results are a JSON file and a page that can be read without network.",
)


@bench.command("process")
def process_command(  # noqa: PLR0913 - an option of the command line is an argument to typer
    *,
    instances: Annotated[int, typer.Option(help="Instances of each run.")] = 100_000,
    starters: Annotated[int, typer.Option(help="Callers of start, each waiting for its start to be durable.")] = 8,
    batch_starts: Annotated[int, typer.Option(help="Starts that each starter has under way at once.")] = 1,
    workers: Annotated[
        str, typer.Option(help="Slots for steps (methods) and for jobs.", metavar="STEPS/JOBS")
    ] = "16/16",
    processes: Annotated[int, typer.Option(help="Processes that share starters; each has all the workers.")] = 1,
    rounds: Annotated[int, typer.Option(help="Rounds; every second one runs backwards.")] = 3,
    variants: Annotated[
        str, typer.Option(help="Names or patterns, with commas: 'postgres-*,sqlite-methods-full'.")
    ] = "*",
    ceiling: Annotated[bool, typer.Option(help="Also run bare statements in the same rounds.")] = True,
    client: Annotated[str, typer.Option(help="HTTP client of the two calls: aiohttp, pyreqwest, or none.")] = "aiohttp",
    no_call: Annotated[bool, typer.Option("--no-call", help="Handlers do nothing: the same as --client none.")] = False,
    stub: Annotated[
        str, typer.Option(help="What answers the calls: same-process, process, or nginx.")
    ] = "same-process",
    url: Url = "",
    setting: Setting = None,
    names: Annotated[bool, typer.Option("--list", help="Print the names of the variants and end.")] = False,
    out: Out = OUT,
    json: Json = False,
) -> None:
    """Start, two calls, end: completed instances per second, in all variants."""
    if names:
        for variant in all_variants():
            typer.echo(f"{variant.name:34} {variant.words}")
        return
    steps, jobs = _workers(workers)
    options = _checked(
        {
            "instances": instances,
            "starters": starters,
            "batch_starts": batch_starts,
            "step_workers": steps,
            "job_workers": jobs,
            "processes": processes,
            "rounds": rounds,
            "variants": variants,
            "ceiling": ceiling,
            "client": _one_of("--client", "none" if no_call else client, Client),
            "stub": _one_of("--stub", stub, Stub),
            "url": url,
            "server_settings": {**OWN_SERVER_SETTINGS, **settings_of(setting)},
            "out": out,
        }
    )
    _run_process(options, json=json)


@bench.command("core")
def core_command(
    *,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds; every second one runs backwards.")] = 5,
    instances: Annotated[int, typer.Option(min=1, help="Instances per case and round; long ones get fewer.")] = 1_000,
    peers: Annotated[bool, typer.Option("--peers", help="Install SpiffWorkflow and bpmn-engine, and compare.")] = False,
    peers_folder: Annotated[str, typer.Option(help="Where these are kept; the user's cache if not said.")] = "",
    out: Out = OUT,
    json: Json = False,
) -> None:
    """The rules alone, without a store: processor time from start to end, and per step."""
    with CasesShow() as show:
        result = bench_core(
            CoreOptions(rounds=rounds, instances=instances, peers=peers, peers_folder=peers_folder), show
        )
    out.mkdir(parents=True, exist_ok=True)
    stem = "core-" + datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    json_file, html_file = out / f"{stem}.json", out / f"{stem}.html"
    write_json(result, json_file)
    write_core_page(result, html_file)
    if json:
        typer.echo(msgspec.json.encode(result).decode())
    else:
        rows = [
            [case.name, f"{case.best_us:,.1f}", f"{case.us_per_step:,.2f}", f"{case.per_s:,.0f}"]
            for case in result.cases
        ]
        print_tables(["", "best, µs", "µs per step", "per second"], rows, result.bars, (json_file, html_file))
        _print_peers(result)
    if result.interrupted:
        raise typer.Exit(INTERRUPTED)


@bench.command("feel")
def feel_command(
    *,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds; every second one runs backwards.")] = 5,
    seconds: Annotated[float, typer.Option(min=0.001, help="How long each case is timed in each round.")] = 0.05,
    peers: Annotated[
        bool, typer.Option("--peers", help="Install pySFeel, bkflow-feel and feelin (where node is), and compare.")
    ] = False,
    peers_folder: Annotated[str, typer.Option(help="Where these are kept; without it they go with the run.")] = "",
    out: Out = OUT,
    json: Json = False,
) -> None:
    """Expressions and decision tables: compiled, evaluated, beside other engines."""
    options = FeelOptions(rounds=rounds, seconds=seconds, peers=peers, peers_folder=peers_folder)
    with CasesShow() as show:
        result = bench_feel(options, show)
    out.mkdir(parents=True, exist_ok=True)
    stem = "feel-" + datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    json_file, html_file = out / f"{stem}.json", out / f"{stem}.html"
    write_json(result, json_file)
    write_feel_page(result, html_file)
    if json:
        typer.echo(msgspec.json.encode(result).decode())
    else:
        rows = [[case.name, f"{case.best_us:,.2f}", f"{case.per_s:,.0f}"] for case in result.cases]
        print_tables(["", "best, µs", "per second"], rows, result.bars, (json_file, html_file))
        _print_peers(result)
    if result.interrupted:
        raise typer.Exit(INTERRUPTED)


def _print_peers(result: CoreResult | FeelResult) -> None:
    """Other engines, one line for each expression and way."""
    console = Console()
    if result.peers:
        found = Table("engine", "what", "", "µs")
        for figure in result.peers:
            value = figure.note if figure.us is None else f"{figure.us:,.1f}"
            found.add_row(f"{figure.engine} {figure.version}", figure.expression, figure.way, value)
        console.print(found)
    for note in result.notes:
        console.print(note, markup=False)


def _run_process(options: ProcessOptions, *, json: bool) -> None:
    """Measure with bars on the terminal; after Ctrl-C or SIGTERM say what there is and where."""
    kept: list[Written] = []
    try:
        with ProgressShow() as show:
            run(bench_process(options, show, written=kept.append))
    except (KeyboardInterrupt, asyncio.CancelledError):
        if kept:
            _print_process(kept[-1], json=json)
        raise typer.Exit(INTERRUPTED) from None
    except ProcessionError as error:
        raise refused(error) from None
    _print_process(kept[-1], json=json)
    if not all(one.is_whole for one in kept[-1].result.runs):
        raise typer.Exit(MISSED)


def _print_process(written: Written, *, json: bool) -> None:
    result = written.result
    if json:
        typer.echo(msgspec.json.encode(result).decode())
        return
    words = {str(variant["name"]): str(variant["words"]) for variant in result.variants}
    rows = [
        [words[one.variant], f"{one.rate_median:,.0f}", f"{one.rate_min:,.0f} - {one.rate_max:,.0f}", str(one.rounds)]
        for one in result.summary
    ]
    print_tables(["", "instances/s", "range", "rounds"], rows, result.bars, (written.json_file, written.html_file))


def _checked(values: dict[str, Any]) -> ProcessOptions:
    """The options, or the reason why they cannot be measured."""
    try:
        return ProcessOptions(**values)
    except ProcessionError as error:
        raise refused(error) from None


def _workers(text: str) -> tuple[int, int]:
    """`16/16`: slots for steps and for jobs; one number stands for both."""
    steps, _, jobs = text.partition("/")
    if not steps.isdecimal() or not (jobs or steps).isdecimal():
        message = f"Expected --workers to be a number or two with a slash, such as 16/16; found '{text}'"
        raise typer.BadParameter(message)
    return int(steps), int(jobs or steps)


def _one_of(option: str, value: str, known: Any) -> str:  # noqa: ANN401 - a Literal is no type to the type checker
    """A value of a closed set."""
    values: tuple[str, ...] = known.__args__
    if value not in values:
        message = f"Expected {option} to be one of {', '.join(values)}; found '{value}'"
        raise typer.BadParameter(message)
    return value


queue_commands.mount(bench)

__all__ = ["bench", "core_command", "feel_command", "process_command"]
