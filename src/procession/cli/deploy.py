"""``procession deploy``: store BPMN and DMN files, all or nothing; files that are wrong are told in full."""

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
    from procession.app.views import DecisionDefinition, Deployment, ProcessDefinition


@with_options
def deploy(
    files: Annotated[list[Path], typer.Argument(help="BPMN and DMN files, or folders of them.")],
    app: Annotated[
        str,
        typer.Option(
            "--app", metavar="MODULE:ATTRIBUTE", help="Whose methods bare tasks are bound to, and whose database."
        ),
    ] = "",
) -> None:
    """Deploy BPMN and DMN files together, all or nothing.

    A file that has not changed makes no new version. A file with errors is told in full, and nothing is deployed.
    """
    paths = find(files)
    methods = application(app).handlers.methods.keys() if app else ()
    found = [finding for path in paths for finding in examine(path, methods, among=paths)]
    if any(finding.severity == "error" for finding in found):
        refuse(found)
        raise typer.Exit(REJECTED)
    if not options().json:
        for finding in found:
            if finding.severity == "warning":
                screen.note((f"{finding.file}:{finding.line}: ", "yellow"), f"{finding.message} [{finding.code}]")

    async def work(app: Procession) -> Deployment:
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


def show(rows: Deployment) -> None:
    """What is deployed now."""
    if options().json:
        screen.views([*rows, *rows.decisions])
        return
    if rows:
        _show_processes(rows)
    if rows.decisions:
        _show_decisions(rows.decisions)
    if not rows and not rows.decisions:
        screen.note("Stored; there is no executable process and no decision in it.")


def _show_decisions(rows: list[DecisionDefinition]) -> None:
    screen.table(
        (KEY, Column("decision", whole=True), Column("version", right=True), Column(""), Column("file")),
        [
            (
                screen.key(row.decision_definition_key),
                row.decision_definition_id,
                str(row.version),
                screen.styled("new", "green") if row.created else screen.styled("unchanged", "dim"),
                row.resource_name,
            )
            for row in rows
        ],
    )


def _show_processes(rows: list[ProcessDefinition]) -> None:
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
