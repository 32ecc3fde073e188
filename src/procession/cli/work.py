"""``procession work``: run an application's handlers, timers and follow-ups until told to stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from procession.cli import screen
from procession.cli.options import options, with_options
from procession.cli.session import application

if TYPE_CHECKING:
    from procession.app import Procession

PROCESSES_MAX = 128

Supervised = Annotated[bool, typer.Option("--supervised", hidden=True)]


@with_options
def work(
    app: Annotated[str, typer.Argument(metavar="MODULE:ATTRIBUTE", help="The application, such as orders:app.")],
    processes: Annotated[
        int, typer.Option("--processes", min=1, max=PROCESSES_MAX, help="Processes; a killed one is started again.")
    ] = 1,
    supervised: Supervised = False,
) -> None:
    """Run an application's handlers, timers and follow-ups.

    SIGTERM or Ctrl-C stops gracefully, a second one at once. The database is the application's own, unless --url or
    $PROCESSION_URL names another.
    """
    from procession.cli.serving import exit_with, run_loop, serve, show_logs, tell  # noqa: PLC0415 - an event loop

    loaded = application(app)
    if processes > 1:
        from procession.cli.children import supervise  # noqa: PLC0415 - only here

        if not options().json:
            screen.line(f"{processes} processes for {app}; Ctrl-C stops them")
        tell("supervising", processes=processes)
        exit_with(run_loop(supervise(["work", app], processes)))
        return
    show_logs()
    run_loop(serve(loaded, _opened, supervised=supervised))


async def _opened(app: Procession) -> None:
    """Say so."""
    from procession.cli.serving import describe, tell  # noqa: PLC0415 - as above

    describe(app)
    tell("ready", "Ready; Ctrl-C stops it")
