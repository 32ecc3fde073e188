"""One verb for many things: a question before, a bar meanwhile, and afterwards what was done and what was refused."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any

import typer

from procession.cli import screen
from procession.cli.endings import REJECTED
from procession.cli.options import options
from procession.cli.session import each

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def confirm(question: str, count: int, *, yes: bool) -> None:
    """Ask a person before many things change. Raises a usage error where there is nobody to ask, Abort on no."""
    if yes or count == 0:
        return
    if not sys.stdin.isatty():
        message = f"{question} Say --yes: there is no terminal to ask on"
        raise typer.BadParameter(message)
    typer.confirm(question, abort=True, err=True)


async def act_on_all(
    done: str,
    what: str,
    keys: Sequence[int],
    act: Callable[[int], Awaitable[None]],
    *,
    more: Callable[[], dict[str, Any]] = dict,
    tell: Callable[[], None] | None = None,
) -> None:
    """Do it, several at once, and tell. Ends with exit code 1 when some were refused. Raises Unavailable.

    ``more`` is what else to say in JSON afterwards, ``tell`` says it for eyes.
    """
    with screen.progress(done.capitalize(), len(keys), quiet=options().json) as progress:
        refused = await each(keys, act, progress.step)
    agreed = [key for key in keys if key not in refused]
    if options().json:
        problems = [{"key": key, "message": str(error)} for key, error in refused.items()]
        screen.json({done: agreed, "refused": problems, **more()})
    else:
        for error in refused.values():
            screen.error(str(error))
        if tell is not None:
            tell()
        if agreed or not refused:
            screen.line(f"{screen.counted(len(agreed), what)} {done}")
    if refused:
        raise typer.Exit(REJECTED)
