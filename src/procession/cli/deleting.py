"""``procession delete``: ended instances, or a version that nothing runs any more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from procession.cli.bulk import Yes, act_on_all, confirm
from procession.cli.options import with_options
from procession.cli.session import run

if TYPE_CHECKING:
    from procession.app import Procession


@with_options
def delete(
    keys: Annotated[list[int] | None, typer.Argument(metavar="[INSTANCE]...", help="Keys of ended instances.")] = None,
    definition: Annotated[
        list[int] | None,
        typer.Option("--definition", metavar="KEY", help="A version, with its ended instances."),
    ] = None,
    yes: Yes = False,
) -> None:
    """Delete ended instances, or a version.

    With their history and everything that they called. What still runs stays.
    """
    if bool(keys) == bool(definition):
        message = "Name instances by key, or versions with --definition"
        raise typer.BadParameter(message)

    async def work(app: Procession) -> None:
        chosen = list(dict.fromkeys(keys or definition or ()))
        confirm(f"Delete {len(chosen)} with their history?", len(chosen), yes=yes)
        if definition:
            await act_on_all("deleted", "version", chosen, app.delete_definition)
        else:
            await act_on_all("deleted", "instance", chosen, app.delete_instance)

    run(work)
