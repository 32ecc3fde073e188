"""``procession decisions``: which decisions are deployed. It changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from procession.cli import screen
from procession.cli.options import with_options
from procession.cli.session import run
from procession.cli.tables import KEY, Column
from procession.cli.versions import COLUMNS, cells, print_file, show_versions

if TYPE_CHECKING:
    from procession.app.views import DecisionDefinition


@with_options
def decisions(
    decision_id: Annotated[str, typer.Argument(help="Only the versions of this decision.")] = "",
    xml: Annotated[
        int,
        typer.Option("--xml", metavar="KEY", help="Print the DMN file of this version instead.", show_default=False),
    ] = 0,
) -> None:
    """List deployed decisions."""
    if xml:
        print_file(lambda app: app.decision_xml(xml))
        return
    rows = run(lambda app: app.decisions(decision_id))
    columns = (KEY, Column("decision", whole=True), *COLUMNS, Column("name", rank=2))
    show_versions("decision", decision_id, rows, columns, _line)


def _line(row: DecisionDefinition) -> tuple[str, ...]:
    """One version."""
    return (screen.key(row.decision_definition_key), row.decision_definition_id, *cells(row), row.name)
