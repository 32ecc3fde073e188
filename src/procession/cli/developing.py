"""What ``procession dev`` does: the parent watches and starts; the child deploys what stands next to it, and works."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import signal
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from procession.cli import screen
from procession.cli.files import DECISIONS, FORMS, SUFFIX, examine
from procession.cli.lint import show_one
from procession.cli.loading import folder_of
from procession.cli.options import DEFAULT_URL, options
from procession.cli.serve import PACKAGES
from procession.cli.serving import Stop, describe, tell
from procession.cli.session import said_url
from procession.errors import Rejected

if TYPE_CHECKING:
    from procession.app import Procession
    from procession.cli.children import Child

PATIENCE_S = 30.0  # for a child to end gracefully before it is killed: more than the engine's own patience


async def deploy_all(app: Procession, name: str) -> None:
    """Deploy what stands next to the application; a file that is wrong keeps no other from being deployed."""
    describe(app)
    place = folder_of(name) if name else Path.cwd()
    await _deploy_decisions(app, sorted(place.glob(f"*{DECISIONS}")))
    for path in sorted(place.glob(f"*{FORMS}")):
        await _deploy_form(app, path)
    for path in sorted(place.glob(f"*{SUFFIX}")):
        try:
            rows = await app.deploy(path)
        except Rejected as error:
            _refused(app, path, error)
            continue
        for row in rows:
            what = f"{row.process_definition_id} version {row.version}{'' if row.created else ', unchanged'}"
            tell(
                "deployed",
                f"  {path.name}: {what}",
                file=path.name,
                **row.to_dict(),
            )
    _hint(app)
    tell("ready", "Ready; it starts anew when a .py or model file changes; Ctrl-C stops it")


@asynccontextmanager
async def show_page(app: Procession, port: int | None) -> AsyncGenerator[None]:
    """Serve the web page and the API to this machine within the block; what is missing for it is said, and no more."""
    if port is None:
        yield
        return
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        tell("no page", "  The web page needs packages that are missing: " + ", ".join(missing), missing=missing)
        yield
        return
    from procession.api.server import serve as serve_app  # noqa: PLC0415 - packages that may be absent
    from procession.api.settings import Settings  # noqa: PLC0415 - as above
    from procession.ui import routes  # noqa: PLC0415 - as above

    settings = Settings(identity=False, port=port if _is_free(port) else 0)
    async with serve_app(app, settings, routes=routes()) as server:
        tell("page", f"  The web page is at {server.url}", url=server.url)
        yield


def _is_free(port: int) -> bool:
    """Whether a port of the loopback can be bound."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


async def _deploy_decisions(app: Procession, paths: list[Path]) -> None:
    """Deploy DMN files together, for they may import each other."""
    if not paths:
        return
    try:
        rows = (await app.deploy(*paths)).decisions
    except Rejected as error:
        _refused(app, paths[0], error)
        return
    for row in rows:
        what = f"{row.decision_definition_id} version {row.version}{'' if row.created else ', unchanged'}"
        tell("deployed", f"  {row.resource_name}: {what}", file=row.resource_name, **row.to_dict())


async def _deploy_form(app: Procession, path: Path) -> None:
    """Deploy a form."""
    try:
        rows = (await app.deploy(path)).forms
    except Rejected as error:
        _refused(app, path, error)
        return
    for row in rows:
        what = f"{row.form_id} version {row.version}{'' if row.created else ', unchanged'}"
        tell("deployed", f"  {path.name}: {what}", file=path.name, **row.to_dict())


def _refused(app: Procession, path: Path, error: Rejected) -> None:
    """What is wrong with a file; the version before it goes on."""
    if options().json:
        tell("refused", file=path.name, message=str(error))
        return
    screen.line((f"  {path.name} is not deployed; the version before it, if there is one, goes on:", "red"))
    found = [finding for finding in examine(path, app.handlers.methods.keys()) if finding.severity == "error"]
    for finding in found:
        show_one(finding)
    if not found:
        screen.line(f"  {error}")


def _hint(app: Procession) -> None:
    """How to look at it from another terminal."""
    if not options().json and not said_url() and app.url != DEFAULT_URL:
        screen.line((f"  Look at it: export PROCESSION_URL={app.url}; procession instances", "dim"))


# -- the parent -------------------------------------------------------------------------------------------------------
async def watch(app: str, folders: set[Path], more: list[str]) -> None:
    """Start the child, and anew whenever a file changes, until told to stop."""
    from procession.cli.children import how_it_ended, start  # noqa: PLC0415 - only here
    from procession.cli.watching import stamps, wait_for_change  # noqa: PLC0415 - only here

    running: list[Child] = []
    stop = Stop(at_once=lambda: running[0].send(signal.SIGKILL) if running else None)
    wish = asyncio.ensure_future(stop.wait())
    seen = stamps(folders)
    while not stop.wished:
        child = await start(["dev", *([app] if app else []), *more])
        running[:] = [child]
        change = asyncio.ensure_future(wait_for_change(folders, seen))
        await asyncio.wait([child.ended, change, wish], return_when=asyncio.FIRST_COMPLETED)
        if child.ended.done() and not stop.wished and not change.done():
            tell("ended", f"It {how_it_ended(child.code)}; waiting for a file to change", code=child.code)
            await asyncio.wait([change, wish], return_when=asyncio.FIRST_COMPLETED)
        if change.done():
            changed, seen = change.result()
            _tell_changes(changed)
        change.cancel()
        await _end(child)
    tell("stopped", "Stopped")


def _tell_changes(paths: list[str]) -> None:
    """Why it starts anew."""
    files = [os.path.relpath(path) for path in paths]
    names = ", ".join(files[:3]) + (" …" if len(files) > 3 else "")
    tell("changed", f"\n{names} changed: starting anew", files=files)


async def _end(child: Child) -> None:
    """End a child gracefully, or after long patience at once."""
    child.send(signal.SIGTERM)
    await asyncio.wait([child.ended], timeout=PATIENCE_S)
    child.send(signal.SIGKILL)
    await child.ended
