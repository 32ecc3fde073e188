"""Mounts the measuring commands of ``lab``, which bring their own options. It measures nothing.

``lab`` is imported when it is asked for: it needs the extra ``bench``, and time.
"""

from __future__ import annotations

from typing import Any

import typer

from procession.cli.options import options
from procession.errors import Misconfigured

# Everything behind `bench` is passed on as it stands.
RAW: dict[str, Any] = {
    "allow_extra_args": True,
    "ignore_unknown_options": True,
    "allow_interspersed_args": False,
    "help_option_names": [],
}


def mount(program: typer.Typer, *, panel: str) -> None:
    """Add ``bench`` to the commands."""
    program.command(
        "bench",
        rich_help_panel=panel,
        context_settings=RAW,
        add_help_option=False,
        options_metavar="process|queue|compare|core|feel [OPTIONS]",
        help="Measure this machine and this database.",
    )(bench)


def bench(context: typer.Context) -> None:
    """Hand the rest of the line to the lab."""
    try:
        from procession.lab.commands import bench as lab  # noqa: PLC0415 - heavy, and an extra
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("procession"):
            raise
        message = f"`procession bench` needs '{error.name}', which is not installed: pip install 'procession[bench]'"
        raise Misconfigured(message) from error
    arguments = list(context.args) or ["--help"]
    if options().json and arguments and "--json" not in arguments:
        arguments.append("--json")
    command = typer.main.get_command(lab)
    code = command.main(arguments, prog_name="procession bench", standalone_mode=False)
    if isinstance(code, int) and code:
        raise typer.Exit(code)
