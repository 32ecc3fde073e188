"""``procession deploy``: store BPMN files as new versions, all or nothing; files that are wrong are told in full."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from procession.cli import screen
from procession.cli.endings import REJECTED
from procession.cli.files import Finding, examine, find
from procession.cli.lint import show_one
from procession.cli.options import options, with_options
from procession.cli.session import application, run
from procession.cli.tables import KEY, Column

if TYPE_CHECKING:
    from procession.app import Procession
    from procession.app.views import ProcessDefinition


@with_options
def deploy(
    files: Annotated[list[Path], typer.Argument(help="BPMN files, or folders of them.")],
    app: Annotated[
        str,
        typer.Option(
            "--app", metavar="MODULE:ATTRIBUTE", help="Whose methods bare tasks are bound to, and whose database."
        ),
    ] = "",
) -> None:
    """Deploy BPMN files together, all or nothing.

    A file that has not changed makes no new version. A file with errors is told in full, and nothing is deployed.
    """
    paths = find(files)
    methods = application(app).handlers.methods.keys() if app else ()
    found = [finding for path in paths for finding in examine(path, methods)]
    if any(finding.severity == "error" for finding in found):
        refuse(found)
        raise typer.Exit(REJECTED)
    if not options().json:
        for finding in found:
            if finding.severity == "warning":
                screen.note((f"{finding.file}:{finding.line}: ", "yellow"), f"{finding.message} [{finding.code}]")

    async def work(app: Procession) -> list[ProcessDefinition]:
        return await app.deploy(*paths)

    show(run(work, app=app, creates=True))


def refuse(found: list[Finding]) -> None:
    """Say why nothing was deployed."""
    wrong = [finding for finding in found if finding.severity == "error"]
    files = len({finding.file for finding in wrong})
    count = f"{screen.counted(len(wrong), 'error')} in {screen.counted(files, 'file')}"
    if options().json:
        screen.error_json(
            {"error": {"type": "InvalidModel", "message": count, "exitCode": REJECTED, "problems": wrong}}
        )
        return
    file = ""
    with screen.to_errors():
        for finding in wrong:
            if finding.file != file:
                file = finding.file
                screen.line((file, "bold"))
            show_one(finding)
    screen.error(f"nothing was deployed: {count}")


def show(rows: list[ProcessDefinition]) -> None:
    """What is deployed now."""
    if options().json:
        screen.views(rows)
        return
    if not rows:
        screen.note("Stored; there is no executable process in it.")
        return
    columns = (
        KEY,
        Column("process", whole=True),
        Column("version", right=True),
        Column(""),
        Column("file"),
        Column("methods"),
    )
    screen.table(
        columns,
        [
            (
                screen.key(row.process_definition_key),
                row.process_definition_id,
                str(row.version),
                screen.styled("new", "green") if row.created else screen.styled("unchanged", "dim"),
                row.resource_name,
                ", ".join(row.methods),
            )
            for row in rows
        ],
    )
