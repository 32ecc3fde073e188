"""What the lab's commands share: common options, tables for people, words for what cannot be measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.table import Table

from procession.errors import ProcessionError
from procession.lab.results import Bar

OUT: Final = Path("bench-results")
INTERRUPTED: Final = 130  # what a shell expects of a command that Ctrl-C ended
MISSED: Final = 1
NAME_WIDTH: Final = 30  # of the first column, which says what was measured

Out = Annotated[Path, typer.Option(help="Folder for the results.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON instead of tables.")]
Setting = Annotated[
    list[str] | None, typer.Option(help="Setting of the own server, NAME=VALUE; may be given several times.")
]
Url = Annotated[str, typer.Option(help="A PostgreSQL server to use; databases are made on it and dropped.")]


def print_tables(
    columns: Sequence[str], rows: Sequence[Sequence[str]], bars: Sequence[Bar], files: Sequence[Path]
) -> None:
    """Tables for people, and where the files are."""
    console = Console()
    found = Table(show_edge=False)
    for number, column in enumerate(columns):
        found.add_column(column, min_width=0 if number else NAME_WIDTH, justify="right" if number else "left")
    for row in rows:
        found.add_row(*row)
    console.print(found)
    if bars:
        promised = Table("bar", "promised", "found", "")
        for bar in bars:
            value = "not measured" if bar.found is None else f"{bar.found:,.2f}"
            promised.add_row(bar.name, bar.expected, value, "reached" if bar.reached else "missed")
        console.print(promised)
    for file in files:
        console.print(str(file), soft_wrap=True, highlight=False)


def refused(error: ProcessionError) -> typer.Exit:
    """Say why, and how the command ends."""
    typer.echo(f"Error: {error}", err=True)
    return typer.Exit(2)


def settings_of(texts: Sequence[str] | None) -> dict[str, str]:
    """NAME=VALUE pairs."""
    found: dict[str, str] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals:
            message = f"Expected --setting to be NAME=VALUE, found '{text}'"
            raise typer.BadParameter(message)
        found[name.strip()] = value.strip()
    return found
