"""Paths to endpoints: a tree of their parts, looked up once, and problem documents where there is nothing.

What is not one of ours goes to Starlette's router, which serves the routes of others (a web page). An endpoint answers
its own exceptions, so none of the layers that do it for others is needed; trying the regular expression of each path
in turn, as a general router does, was a tenth of what a worker's request cost.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Router

from procession.api.guard import HEADERS_FOUND, NOT_PLAIN, SEPARATED, Asgi, Receive, Scope, Send
from procession.api.problems import MEDIA_TYPE, Problem

JSON_TYPE: Final = (b"content-type", b"application/json")

TAKES_NAMES: Final = "takes_names"  # of a route of others: names with encoded separators may stand in its paths


class Plain:
    """An answer that is there as a whole."""

    __slots__ = ("body", "headers", "status_code")

    def __init__(self, status_code: int, body: bytes = b"", headers: Sequence[tuple[bytes, bytes]] = ()) -> None:
        self.status_code = status_code
        self.body = body
        self.headers = headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        del scope, receive
        headers = [*self.headers]
        if self.status_code != 204:
            headers.append((b"content-length", b"%d" % len(self.body)))
        await send({"type": "http.response.start", "status": self.status_code, "headers": headers})
        await send({"type": "http.response.body", "body": self.body})


class Visit:
    """A request as it comes: nothing of it is looked at before it is asked for."""

    __slots__ = ("headers", "path", "receive", "scope", "send")

    def __init__(self, scope: Scope, receive: Receive, send: Send, path: dict[str, str]) -> None:
        self.scope = scope
        self.receive = receive
        self.send = send
        self.path = path  # what stands for the {names} of its path
        self.headers: dict[bytes, bytes] = scope[HEADERS_FOUND]

    def header(self, name: bytes) -> str:
        """What a header says; empty if it is not there."""
        value = self.headers.get(name)
        return value.decode("latin-1") if value is not None else ""

    @property
    def authorization(self) -> str | None:
        """The credentials."""
        return self.header(b"authorization") or None

    @property
    def request(self) -> Request:
        """The same as Starlette sees it."""
        return Request(self.scope, self.receive, self.send)


Answer = Callable[[Visit], Awaitable[Plain | Response]]
_Leaf = tuple[Answer, tuple[str, ...]]  # and the names in its path


class _Node:
    """One part of paths."""

    __slots__ = ("any", "leaves", "parts", "rest")

    def __init__(self) -> None:
        self.parts: dict[str, _Node] = {}
        self.any: _Node | None = None  # a part in braces
        self.leaves: dict[str, _Leaf] = {}  # by method, where a path ends here
        self.rest: dict[str, _Leaf] = {}  # by method, where it may go on in any way


class Routes:
    """Every path that is ours."""

    def __init__(self) -> None:
        self._root = _Node()

    def add(self, path: str, answer: Answer, method: str) -> None:
        """Serve a path; the first one that is added for a method stays."""
        node = self._root
        names: list[str] = []
        leaves: dict[str, _Leaf] | None = None
        for part in path.split("/")[1:]:
            if part.endswith(":path}"):
                names.append(part[1:-6])
                leaves = node.rest
                break
            if part.startswith("{"):
                names.append(part[1:-1])
                node.any = node.any or _Node()
                node = node.any
            else:
                node = node.parts.setdefault(part, _Node())
        (leaves if leaves is not None else node.leaves).setdefault(method, (answer, tuple(names)))

    def rest(self, routes: Sequence[BaseRoute]) -> Asgi:
        """The application; ``routes`` are those of others, for every path that is not one of these."""
        root = self._root
        others = Router(list(routes), redirect_slashes=False, default=_nothing)
        with_names = [route for route in routes if getattr(route, TAKES_NAMES, False)]

        async def serve(scope: Scope, receive: Receive, send: Send) -> None:
            method: str = scope["method"]
            found = _find(root, _parts(scope), 1, [])
            for leaves, values in found:
                leaf = leaves.get("GET" if method == "HEAD" else method)
                if leaf is None:
                    continue
                answer, names = leaf
                response = await answer(Visit(scope, receive, send, dict(zip(names, values, strict=True))))
                await response(scope, receive, send)
                return
            if not found:
                is_plain = not scope[SEPARATED] or any(route.matches(scope)[0] == Match.FULL for route in with_names)
                await (others if is_plain else _not_plain)(scope, receive, send)
                return
            allowed = ", ".join(sorted({each for leaves, _ in found for each in leaves}))
            problem = Problem(405, f"Expected another method than {method} at this path", headers={"Allow": allowed})
            await problem_response(problem, scope["path"])(scope, receive, send)

        return serve


def _parts(scope: Scope) -> list[str]:
    """The parts of a path. A separator that is encoded belongs to a name: that of a queue, of a limit."""
    if not scope[SEPARATED]:
        return scope["path"].split("/")
    raw: bytes = scope["raw_path"]
    return [unquote(part) for part in raw.partition(b"?")[0].decode("ascii", "replace").split("/")]


def _find(node: _Node, parts: list[str], index: int, values: list[str]) -> list[tuple[dict[str, _Leaf], list[str]]]:
    """What is served at a path, what says most about it first, with what stands for its names."""
    if index == len(parts):
        return [(node.leaves, values)] if node.leaves else []
    part = parts[index]
    found: list[tuple[dict[str, _Leaf], list[str]]] = []
    fixed = node.parts.get(part)
    if fixed is not None:
        found = _find(fixed, parts, index + 1, values)
    if node.any is not None and part:
        found += _find(node.any, parts, index + 1, [*values, part])
    if node.rest and not any("/" in part or "\\" in part for part in parts[index:]):
        found.append((node.rest, [*values, "/".join(parts[index:])]))
    return found


def problem_response(problem: Problem, path: str) -> Plain:
    """A problem as an answer."""
    headers = [(b"content-type", MEDIA_TYPE.encode())]
    headers += [(name.lower().encode(), value.encode("latin-1")) for name, value in problem.headers.items()]
    return Plain(problem.status, problem.document(path[:500]), headers)


async def _not_plain(scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401 - ASGI's
    """A path of others, which are files, with a separator where nobody looks for one."""
    await problem_response(Problem(400, NOT_PLAIN), scope["path"])(scope, receive, send)


async def _nothing(scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401 - ASGI's
    """There is no such path."""
    await problem_response(Problem(404, "There is nothing at this path"), scope["path"])(scope, receive, send)
