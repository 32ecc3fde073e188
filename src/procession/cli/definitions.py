"""``procession definitions``: what is deployed. It changes nothing."""

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
    from procession.app.views import ProcessDefinition


@with_options
def definitions(
    process_id: Annotated[str, typer.Argument(help="Only the versions of this process.")] = "",
    xml: Annotated[
        int,
        typer.Option("--xml", metavar="KEY", help="Print the BPMN file of this version instead.", show_default=False),
    ] = 0,
) -> None:
    """List deployed versions."""
    if xml:
        content = run(lambda app: app.definition_xml(xml))
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        return

    async def work(app: Procession) -> list[ProcessDefinition]:
        return await app.definitions(process_id)

    rows = run(work)
    if options().json:
        screen.views(rows)
        return
    if not rows:
        screen.note("Nothing is deployed." if not process_id else f"No version of '{process_id}' is deployed.")
        return
    columns = (
        KEY,
        Column("process", whole=True),
        Column("version", right=True),
        Column("tag", rank=1),
        Column("name", rank=3),
        Column("file"),
        Column("deployed", whole=True),
        Column("methods", rank=2),
    )
    screen.table(
        columns,
        [
            (
                screen.key(row.process_definition_key),
                row.process_definition_id,
                str(row.version),
                row.version_tag,
                row.name,
                row.resource_name,
                screen.when(row.deployed_at),
                ", ".join(row.methods),
            )
            for row in rows
        ],
    )
