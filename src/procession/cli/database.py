"""``procession db``: the schema in the database and the one of this program."""

from __future__ import annotations

import typer

from procession.cli import screen
from procession.cli.endings import REJECTED
from procession.cli.options import options, with_options
from procession.cli.session import application

group = typer.Typer(help="Migrate the database, or look at its version.")


@group.callback()
def about() -> None:
    """Migrate the database, or look at its version."""


@group.command("migrate")
@with_options
def migrate() -> None:
    """Bring the schema to this program's version; safe to run twice, and from several machines at once."""
    import asyncio  # noqa: PLC0415 - `--help` needs no event loop

    app = application()
    with screen.waiting(f"migrating {app.url}", quiet=options().json):
        applied = asyncio.run(app.migrate())
    if options().json:
        screen.json({"url": app.url, "applied": applied})
        return
    if not applied:
        screen.line(f"{app.url} is up to date")
    for name in applied:
        screen.line(("applied ", "green"), name)


@group.command("status")
@with_options
def status() -> None:
    """Compare the schema's version with this program's. Exit code 1 if they differ."""
    import asyncio  # noqa: PLC0415 - `--help` needs no event loop

    app = application()
    found, wanted = asyncio.run(app.schema_version())
    if options().json:
        screen.json({"url": app.url, "version": found, "programVersion": wanted, "upToDate": found == wanted})
    elif found == wanted:
        screen.line(f"{app.url}: schema version {found}, ", ("up to date", "green"))
    elif found < wanted:
        what = "no schema yet" if not found else f"schema version {found}"
        screen.line(f"{app.url}: {what}, this program's is {wanted}: ", ("procession db migrate", "bold"))
    else:
        screen.line(f"{app.url}: schema version {found}, this program only knows {wanted}: ", ("upgrade it", "red"))
    if found != wanted:
        raise typer.Exit(REJECTED)
