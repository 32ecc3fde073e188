"""``procession variables set``: write variables of a running instance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from procession.cli import screen
from procession.cli.options import options, with_options
from procession.cli.session import run
from procession.cli.values import Vars, variables

if TYPE_CHECKING:
    from procession.app import Procession

group = typer.Typer(help="Write variables of an instance.")


@group.callback()
def about() -> None:
    """Write variables of an instance.

    `procession instance KEY` shows them.
    """


@group.command("set")
@with_options
def set_variables(
    instance: Annotated[int, typer.Argument(metavar="INSTANCE", help="The instance's key.")],
    values: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME=VALUE]...", help="The value is JSON if it parses, else a text."),
    ] = None,
    vars: Vars = "",  # noqa: A002 - the option's name
    scope: Annotated[
        int, typer.Option("--scope", metavar="KEY", help="An element instance instead.", show_default=False)
    ] = 0,
    local: Annotated[bool, typer.Option("--local", help="Make them in this scope, never further out.")] = False,
) -> None:
    """Write variables of a running instance, or of one of its scopes."""
    found = variables(values, vars)
    if not found:
        message = "Expected at least one NAME=VALUE, or --vars"
        raise typer.BadParameter(message)

    async def work(app: Procession) -> None:
        await app.set_variables(instance, found, element_instance_key=scope, local=local)

    run(work)
    if options().json:
        screen.json({"processInstanceKey": instance, "variables": found})
    else:
        screen.line(f"Set {', '.join(found)} of ", (str(scope or instance), "bold"))
