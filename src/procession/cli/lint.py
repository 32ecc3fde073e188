"""``procession lint``: everything that is wrong with BPMN and DMN files, or worth a remark. It needs no database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from procession.cli import screen
from procession.cli.endings import REJECTED
from procession.cli.files import Finding, examine, find, foresee
from procession.cli.loading import load
from procession.cli.options import options, with_options

SIGNS = {"error": "✗", "warning": "!", "info": "·"}
GITHUB = {"error": "error", "warning": "warning", "info": "notice"}


class Format(StrEnum):
    """How findings are written."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"


@with_options
def lint(
    files: Annotated[list[Path], typer.Argument(help="BPMN and DMN files, or folders of them.")],
    app: Annotated[
        str, typer.Option("--app", metavar="MODULE:ATTRIBUTE", help="Whose methods bare tasks are bound to.")
    ] = "",
    form: Annotated[Format, typer.Option("--format", help="github: annotations of a GitHub action.")] = Format.TEXT,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")] = False,
) -> None:
    """Check BPMN and DMN files.

    Every problem is told with its line, its element and what to do. Small models are explored as well: deadlocks,
    tokens that meet, elements that are never active (`procession explore` shows the way there). The exit code is 1 if
    there are errors.
    """
    paths = find(files)
    methods = load(app).handlers.methods.keys() if app else ()
    found: list[Finding] = []
    with screen.progress("Checking", len(paths), quiet=len(paths) < 20) as progress:
        for path in paths:
            of_file = [*examine(path, methods, among=paths), *foresee(path, methods)]
            found += sorted(of_file, key=lambda finding: finding.line)
            progress.step()
    show(found, Format.JSON if options().json else form)
    if form == Format.TEXT and not options().json:
        summary(len(paths), found)
    fatal = {"error", "warning"} if strict else {"error"}
    if any(finding.severity in fatal for finding in found):
        raise typer.Exit(REJECTED)


def show(found: Sequence[Finding], form: Format = Format.TEXT) -> None:
    """Write findings."""
    if form == Format.JSON:
        screen.json(found)
    elif form == Format.GITHUB:
        for finding in found:
            typer.echo(_github(finding))
    else:
        file = ""
        for finding in found:
            if finding.file != file:
                file = finding.file
                screen.line((file, "bold"))
            show_one(finding)


def show_one(finding: Finding) -> None:
    """One finding: where, what, and below it what to do."""
    style = screen.STYLES[finding.severity]
    element = f"  {finding.element_id}" if finding.element_id else ""
    screen.line(
        ("  ", ""),
        (SIGNS[finding.severity], style),
        (f" {finding.severity}", style),
        f"  line {finding.line}{element}",
        (f"  {finding.code}", "dim"),
    )
    screen.paragraph(finding.message, indent=4)
    if finding.suggestion:
        screen.paragraph(f"→ {finding.suggestion}", indent=4, style="cyan")


def summary(files: int, found: Sequence[Finding]) -> None:
    """How many of each."""
    counts = Counter(finding.severity for finding in found)
    names = {"error": "error", "warning": "warning", "info": "remark"}
    what = ", ".join(screen.counted(counts[name], shown) for name, shown in names.items() if counts[name])
    style = "red" if counts["error"] else "green"
    screen.line((f"{screen.counted(files, 'file')}: {what or 'nothing to say'}", style))


def _github(finding: Finding) -> str:
    """An annotation of a GitHub action; its data and its properties have their own escapes."""
    text = finding.message + (f" — {finding.suggestion}" if finding.suggestion else "")
    if finding.element_id:
        text = f"element '{finding.element_id}': {text}"
    data = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    file = finding.file.replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
    return f"::{GITHUB[finding.severity]} file={file},line={max(1, finding.line)},title={finding.code}::{data}"
