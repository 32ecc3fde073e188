"""``procession modify``: change where an instance stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from procession.cli.bulk import act_on_all
from procession.cli.options import with_options
from procession.cli.session import run

if TYPE_CHECKING:
    from procession.app import Procession


@with_options
def modify(
    keys: Annotated[list[int], typer.Argument(metavar="INSTANCE...", help="Keys of instances.")],
    activate: Annotated[
        list[str] | None, typer.Option("--activate", "-a", metavar="ELEMENT", help="Begin at this element.")
    ] = None,
    move: Annotated[
        list[str] | None,
        typer.Option("--move", "-m", metavar="FROM=TO", help="From an active element to another."),
    ] = None,
    terminate: Annotated[
        list[str] | None,
        typer.Option("--terminate", "-t", metavar="ELEMENT", help="End it: an id, or an element instance's key."),
    ] = None,
) -> None:
    """Activate, move and terminate elements by hand.

    In each instance all of it happens, or nothing. One that loses its last token is over.
    """
    moves = dict(pair(text, "--move") for text in move or ())
    ends = [int(each) if each.isdecimal() else each for each in terminate or ()]
    if not (activate or moves or ends):
        message = "Say what to do: --activate, --move or --terminate"
        raise typer.BadParameter(message)

    async def work(app: Procession) -> None:
        await act_on_all(
            "modified",
            "instance",
            list(dict.fromkeys(keys)),
            lambda key: app.modify(key, activate=activate or [], move=moves, terminate=ends),
        )

    run(work)


def pair(text: str, option: str) -> tuple[str, str]:
    """The two sides of ``from=to``. Raises a usage error."""
    source, sign, target = text.partition("=")
    if not (sign and source and target):
        message = f"Expected {option} FROM=TO, found '{text}'"
        raise typer.BadParameter(message)
    return source, target
