"""``procession decisions``: which decisions are deployed. It changes nothing."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from procession.cli import screen
from procession.cli.options import options, with_options
from procession.cli.session import run
from procession.cli.tables import KEY, Column

if TYPE_CHECKING:
    from procession.app import Procession
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
        content = run(lambda app: app.decision_xml(xml))
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        return

    async def work(app: Procession) -> list[DecisionDefinition]:
        return await app.decisions(decision_id)

    rows = run(work)
    if options().json:
        screen.views(rows)
        return
    if not rows:
        screen.note("No decision is deployed." if not decision_id else f"No version of '{decision_id}' is deployed.")
        return
    columns = (
        KEY,
        Column("decision", whole=True),
        Column("version", right=True),
        Column("tag", rank=1),
        Column("name", rank=2),
        Column("file"),
        Column("deployed", whole=True),
    )
    screen.table(
        columns,
        [
            (
                screen.key(row.decision_definition_key),
                row.decision_definition_id,
                str(row.version),
                row.version_tag,
                row.name,
                row.resource_name,
                screen.when(row.deployed_at),
            )
            for row in rows
        ],
    )
