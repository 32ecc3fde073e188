"""``procession forms`` and ``form``: which forms are deployed, and what one asks for. It changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from procession.cli import screen
from procession.cli.options import options, with_options
from procession.cli.session import run
from procession.cli.tables import KEY, Column
from procession.cli.versions import COLUMNS, cells, print_file, show_versions

if TYPE_CHECKING:
    from procession.app import Procession
    from procession.app.forms import Form, FormDetails

DEPTH_MAX = 20  # of components within components


@with_options
def forms(form_id: Annotated[str, typer.Argument(help="Only the versions of this form.")] = "") -> None:
    """List deployed forms."""
    rows = run(lambda app: app.forms(form_id))
    show_versions("form", form_id, rows, (KEY, Column("form", whole=True), *COLUMNS), _line)


def _line(row: Form) -> tuple[str, ...]:
    """One version."""
    return (screen.key(row.form_key), row.form_id, *cells(row))


@with_options
def form(
    key: Annotated[int, typer.Argument(metavar="[FORM]", help="The form's key.", show_default=False)] = 0,
    task: Annotated[
        int, typer.Option("--task", metavar="KEY", help="The form of this user task instead.", show_default=False)
    ] = 0,
    start: Annotated[
        int, typer.Option("--start", metavar="KEY", help="The form of this version's start.", show_default=False)
    ] = 0,
    file: Annotated[bool, typer.Option("--file", help="Print the file, byte for byte.")] = False,
) -> None:
    """Show what a form asks for.

    Named by its key, by the user task that shows it, or by the process version that starts with it.
    """
    if sum(map(bool, (key, task, start))) != 1:
        message = "Name one form: by its key, or with --task or --start"
        raise typer.BadParameter(message)
    if file:
        if not key:
            message = "Name the form by its key to print its file"
            raise typer.BadParameter(message)
        print_file(lambda app: app.form_file(key))
        return

    async def work(app: Procession) -> FormDetails | None:
        if key:
            return await app.form(key)
        return await (app.user_task_form(task) if task else app.start_form(start))

    _show(run(work))


def _show(found: FormDetails | None) -> None:
    """Its fields, one a line."""
    if options().json:
        screen.json(found.to_dict() if found is not None else None)
        return
    if found is None:
        screen.note("It shows no form that is deployed or embedded.")
        return
    version = f"  version {found.version}" if found.form_key else f"  embedded in version {found.version}"
    screen.line((found.form_id, "bold"), version)
    screen.table((Column("field"), Column("type", whole=True), Column("label")), _fields(found.form_schema, 0))


def _fields(schema: dict[str, Any], depth: int) -> list[tuple[str, str, str]]:
    """Name, type and label of the components, groups with what they hold."""
    lines: list[tuple[str, str, str]] = []
    components = schema.get("components")
    for each in cast("list[Any]", components) if isinstance(components, list) else []:
        if isinstance(each, dict):
            one = cast("dict[str, Any]", each)
            name = str(one.get("key") or one.get("path") or "")
            label = str(one.get("label") or one.get("text") or "").partition("\n")[0]
            lines.append(("  " * depth + (name or "·"), str(one.get("type") or ""), label))
            if depth < DEPTH_MAX:
                lines += _fields(one, depth + 1)
    return lines
