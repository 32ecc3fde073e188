"""``procession deploy``: store BPMN, DMN and form files, all or nothing; files that are wrong are told in full."""

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
from procession.cli.versions import show_deployed

if TYPE_CHECKING:
    from procession.app import Procession
    from procession.app.views import Deployment


@with_options
def deploy(
    files: Annotated[list[Path], typer.Argument(help="BPMN, DMN and form files, or folders of them.")],
    app: Annotated[
        str,
        typer.Option(
            "--app", metavar="MODULE:ATTRIBUTE", help="Whose methods bare tasks are bound to, and whose database."
        ),
    ] = "",
) -> None:
    """Deploy BPMN, DMN and form files together, all or nothing.

    A file that has not changed makes no new version. A file with errors is told in full, and nothing is deployed.
    """
    paths = find(files)
    methods = application(app).handlers.methods.keys() if app else ()
    found = [finding for path in paths for finding in examine(path, methods, among=paths)]
    elsewhere = {finding.file for finding in found if finding.code == "MISSING_IMPORT"}  # perhaps deployed before
    if any(finding.severity == "error" and finding.file not in elsewhere for finding in found):
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
        screen.views([*rows, *rows.decisions, *rows.forms])
        return
    processes = [(row.process_definition_key, row.process_definition_id, row) for row in rows]
    if processes:
        show_deployed("process", processes, [", ".join(row.methods) for row in rows])
    decisions = [(row.decision_definition_key, row.decision_definition_id, row) for row in rows.decisions]
    if decisions:
        show_deployed("decision", decisions)
    forms = [(row.form_key, row.form_id, row) for row in rows.forms]
    if forms:
        show_deployed("form", forms)
    if not (processes or decisions or forms):
        screen.note("Stored; there is no executable process, no decision and no form in it.")
