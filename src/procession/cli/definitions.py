"""``procession definitions``: which processes are deployed. It changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from procession.cli import screen
from procession.cli.options import with_options
from procession.cli.session import run
from procession.cli.tables import KEY, Column
from procession.cli.versions import COLUMNS, cells, print_file, show_versions

if TYPE_CHECKING:
    from procession.app.views import ProcessDefinition


@with_options
def definitions(
    process_id: Annotated[str, typer.Argument(help="Only the versions of this process.")] = "",
    xml: Annotated[
        int,
        typer.Option("--xml", metavar="KEY", help="Print the BPMN file of this version instead.", show_default=False),
    ] = 0,
) -> None:
    """List deployed versions of processes."""
    if xml:
        print_file(lambda app: app.definition_xml(xml))
        return
    rows = run(lambda app: app.definitions(process_id))
    columns = (KEY, Column("process", whole=True), *COLUMNS, Column("name", rank=3), Column("methods", rank=2))
    show_versions("process", process_id, rows, columns, _line)


def _line(row: ProcessDefinition) -> tuple[str, ...]:
    """One version."""
    methods = ", ".join(row.methods)
    return (screen.key(row.process_definition_key), row.process_definition_id, *cells(row), row.name, methods)
