"""``procession definitions``: what is deployed. It changes nothing."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from procession.cli import screen
from procession.cli.options import options, with_options
from procession.cli.session import run

if TYPE_CHECKING:
    from procession.app import Procession
    from procession.app.views import ProcessDefinition


@with_options
def definitions(
    process_id: Annotated[str, typer.Argument(help="Only the versions of this process.")] = "",
    xml: Annotated[int, typer.Option("--xml", metavar="KEY", help="Print the BPMN file of this version instead.")] = 0,
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
        screen.KEY,
        screen.Column("process", whole=True),
        screen.Column("version", right=True),
        screen.Column("tag"),
        screen.Column("name"),
        screen.Column("file"),
        screen.Column("deployed", whole=True),
        screen.Column("methods"),
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
