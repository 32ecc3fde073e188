"""``procession dev``: work while you write. Deploys the models next to the app, starts anew on changes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from procession.cli.loading import folder
from procession.cli.options import with_options
from procession.cli.session import application
from procession.cli.work import Supervised


@with_options
def dev(
    app: Annotated[
        str,
        typer.Argument(metavar="[MODULE:ATTRIBUTE]", help="The application; without one nothing but the engine runs."),
    ] = "",
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="The web page's port; if it is taken, any free one.")
    ] = 8080,
    page: Annotated[bool, typer.Option("--page/--no-page", help="The web page, for this machine only.")] = True,
    supervised: Supervised = False,
) -> None:
    """Deploy and work while you write: starts anew on changes, with the web page beside it.

    The .bpmn, .dmn and .form files next to the application are deployed; the database is the application's own, unless
    --url or $PROCESSION_URL names another. Ctrl-C stops it.
    """
    from procession.cli.developing import deploy_all, show_page, watch  # noqa: PLC0415 - an event loop
    from procession.cli.serving import run_loop, serve, show_logs  # noqa: PLC0415 - as above

    if supervised:
        show_logs(tracebacks=True)
        run_loop(
            serve(
                application(app),
                lambda opened: deploy_all(opened, app),
                supervised=True,
                beside=lambda opened: show_page(opened, port if page else None),
            )
        )
        return
    folders = {folder(app) if app else Path.cwd()}
    run_loop(watch(app, folders, [f"--port={port}", "--page" if page else "--no-page"]))
