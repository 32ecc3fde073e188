"""``procession delete``: ended instances, a version that nothing runs any more, a form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from procession.cli import screen
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
    form: Annotated[list[int] | None, typer.Option("--form", metavar="KEY", help="A version of a form.")] = None,
    yes: Yes = False,
) -> None:
    """Delete ended instances, a version, or a form.

    Instances and versions go with their history and everything that they called. What still runs stays.
    """
    if sum(map(bool, (keys, definition, form))) != 1:
        message = "Name instances by key, versions with --definition, or forms with --form"
        raise typer.BadParameter(message)

    async def work(app: Procession) -> None:
        chosen = list(dict.fromkeys(keys or definition or form or ()))
        what = "form" if form else "version" if definition else "instance"
        confirm(
            f"Delete {screen.counted(len(chosen), what)}{'' if form else ' with all history'}?", len(chosen), yes=yes
        )
        if form:
            await act_on_all("deleted", "form", chosen, app.delete_form)
        elif definition:
            await act_on_all("deleted", "version", chosen, app.delete_definition)
        else:
            await act_on_all("deleted", "instance", chosen, app.delete_instance)

    run(work)
