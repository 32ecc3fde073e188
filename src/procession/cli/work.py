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
    queues: Annotated[
        list[str] | None,
        typer.Option("--queue", metavar="NAME[=WEIGHT]", help="Take plain jobs from these alone, slots by weight."),
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option("--concurrency", min=1, help="Handlers at once; of all --queue together.")
    ] = None,
    supervised: Supervised = False,
) -> None:
    """Run an application's handlers, timers and follow-ups.

    SIGTERM or Ctrl-C stops gracefully, a second one at once. The database is the application's own, unless --url or
    $PROCESSION_URL names another.
    """
    from procession.cli.serving import exit_with, run_loop, serve, show_logs, tell  # noqa: PLC0415 - an event loop

    weights = dict(_weighted(each) for each in queues or ())
    loaded = application(app)
    if weights or concurrency is not None:
        loaded.work_on(weights, concurrency=concurrency)
    if processes > 1:
        from procession.cli.children import supervise  # noqa: PLC0415 - only here

        if not options().json:
            screen.line(f"{processes} processes for {app}; Ctrl-C stops them")
        tell("supervising", processes=processes)
        said = [f"--queue={name}={weight}" for name, weight in weights.items()]
        said += [f"--concurrency={concurrency}"] if concurrency is not None else []
        exit_with(run_loop(supervise(["work", app, *said], processes)))
        return
    show_logs()
    run_loop(serve(loaded, _opened, supervised=supervised))


def _weighted(said: str) -> tuple[str, int]:
    """A queue and its weight. Raises BadParameter."""
    name, equals, weight = said.rpartition("=")
    if not equals:
        return said, 1
    try:
        return name, int(weight)
    except ValueError:
        message = f"expected NAME or NAME=WEIGHT with a whole number, found {said!r}"
        raise typer.BadParameter(message, param_hint="--queue") from None


async def _opened(app: Procession) -> None:
    """Say so."""
    from procession.cli.serving import describe, tell  # noqa: PLC0415 - as above

    describe(app)
    tell("ready", "Ready; Ctrl-C stops it")
