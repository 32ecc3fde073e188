"""What every request passes, whatever it asks for: tricks in paths, wrong hosts, pages of strangers, browsers' headers.

It wraps an ASGI application and knows nothing of what that serves.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from procession.api.problems import MEDIA_TYPE, Problem
from procession.api.settings import LOOPBACK, Settings

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

logger = logging.getLogger("procession.api")

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
PATH_CHARS_MAX = 2_048
QUERY_CHARS_MAX = 8_192
TRICKS = re.compile(rb"//|/\.{1,2}(/|$)|\\|%00|%2e|\x00", re.IGNORECASE)
SEPARATORS = re.compile(rb"%2f|%5c", re.IGNORECASE)  # within a name, where a path has a place for one
SEPARATED = "procession.separated"  # of a scope: there are some
HEADERS_FOUND = "procession.headers"  # of a scope: the headers by name, for whoever serves it
NOT_PLAIN = "Expected a plain path, without '//', '..', backslashes, or encoded separators but in a name"
METHODS = "GET, POST, PUT, PATCH, DELETE"
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cache-control", b"no-store"),
)
_NAMES = frozenset({name for name, _ in HEADERS} | {b"strict-transport-security", b"vary"})


class Guard:
    """The outermost layer."""

    def __init__(self, app: Asgi, settings: Settings) -> None:
        self._app = app
        self._origins = frozenset(settings.allowed_origins)
        self._hosts = frozenset(host.lower() for host in settings.allowed_hosts)
        self._any_host = settings.identity and not self._hosts
        self._headers = list(HEADERS)
        if settings.is_https:
            self._headers.append((b"strict-transport-security", b"max-age=31536000"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or refuse."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        scope[HEADERS_FOUND] = headers
        origin = headers.get(b"origin", b"").decode("latin-1")
        is_allowed = origin in self._origins
        ours = [*self._headers, *self._cors(origin)] if is_allowed else self._headers

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name for name, _ in message["headers"]}
                is_free = given.isdisjoint(_NAMES)
                more = ours if is_free else [pair for pair in ours if pair[0] not in given]
                message["headers"] = [*message["headers"], *more]
            await send(message)

        problem = self._problem(scope, headers, origin, is_allowed=is_allowed)
        if problem is not None:
            await _refuse(scope, answer, problem)
        elif is_allowed and scope["method"] == "OPTIONS" and b"access-control-request-method" in headers:
            await answer({"type": "http.response.start", "status": 204, "headers": []})
            await answer({"type": "http.response.body", "body": b""})
        else:
            await self._app(scope, receive, answer)

    def _problem(self, scope: Scope, headers: dict[bytes, bytes], origin: str, *, is_allowed: bool) -> Problem | None:
        """What is wrong with a request before anybody looks at what it asks for."""
        raw: bytes = scope.get("raw_path") or scope["path"].encode()
        if len(raw) > PATH_CHARS_MAX or len(scope.get("query_string", b"")) > QUERY_CHARS_MAX:
            return Problem(414, f"Expected a path of at most {PATH_CHARS_MAX} characters")
        if TRICKS.search(raw):
            return Problem(400, NOT_PLAIN)
        scope[SEPARATED] = SEPARATORS.search(raw) is not None
        if not self._any_host and not self._knows_host(headers.get(b"host", b"").decode("latin-1")):
            return Problem(403, "Expected the name of this server in the Host header (allowed_hosts)")
        if scope["method"] in SAFE or is_allowed:
            return None
        # A page of a stranger may make a browser send something, with what the browser knows of the person. Clients
        # that are no browsers send neither header.
        if headers.get(b"sec-fetch-site", b"none") not in {b"none", b"same-origin"}:
            return Problem(403, "Requests from pages of other sites are refused (allowed_origins)")
        if origin and origin.partition("://")[2] != headers.get(b"host", b"").decode("latin-1"):
            return Problem(403, "Requests from pages of other origins are refused (allowed_origins)")
        return None

    def _knows_host(self, host: str) -> bool:
        name = host.lower()
        bare = name.rpartition(":")[0] if name.rpartition(":")[2].isdigit() else name
        return bare.strip("[]") in LOOPBACK or name in self._hosts or bare in self._hosts

    @staticmethod
    def _cors(origin: str) -> list[tuple[bytes, bytes]]:
        return [
            (b"access-control-allow-origin", origin.encode()),
            (b"access-control-allow-methods", METHODS.encode()),
            (b"access-control-allow-headers", b"authorization, content-type"),
            (b"access-control-max-age", b"600"),
            (b"vary", b"origin"),
        ]


async def _refuse(scope: Scope, send: Send, problem: Problem) -> None:
    client = scope.get("client")
    fields = {"status": problem.status, "client": client[0] if client else "", "path": scope["path"][:200]}
    logger.info("refused with %d: %s", problem.status, problem.detail, extra={"fields": fields})
    body = problem.document(scope["path"][:200])
    headers = [(b"content-type", MEDIA_TYPE.encode()), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
