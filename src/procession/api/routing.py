"""Paths to endpoints: Starlette's routes, one router for each noun, and problem documents where there is nothing.

An endpoint stands in its route as a plain ASGI application: it answers its own exceptions, so none of the layers that
do it for others is needed, which is a third of what an empty request costs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, Router

from procession.api.guard import Asgi, Receive, Scope, Send
from procession.api.problems import MEDIA_TYPE, Problem

Answer = Callable[[Request], Awaitable[Response]]


class Endpoint:
    """A function of a request as an ASGI application."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401 - ASGI's
        """Answer."""
        response = await self._answer(Request(scope, receive, send))
        await response(scope, receive, send)


class Strict(Route):
    """A route that says what is wrong with a method in a problem document."""

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401 - ASGI's
        """Answer, or refuse the method."""
        methods = self.methods or set()
        if scope["method"] in methods:
            await self.app(scope, receive, send)
            return
        detail = f"Expected another method than {scope['method']} at this path"
        headers = {"Allow": ", ".join(sorted(methods))}
        await problem_response(Problem(405, detail, headers=headers), scope["path"])(scope, receive, send)


class Groups:
    """One router for the paths under each noun: the regular expressions of a hundred others are not tried before."""

    def __init__(self) -> None:
        self._groups: dict[str, Router] = {}

    def add(self, path: str, answer: Answer, method: str) -> None:
        """Serve a path."""
        name = _group_of(path)
        router = self._groups.get(name)
        if router is None:
            router = self._groups[name] = Router(redirect_slashes=False, default=_nothing)
        router.routes.append(Strict(path, Endpoint(answer), methods=[method]))

    def rest(self, routes: Sequence[BaseRoute]) -> Asgi:
        """The application; ``routes`` are those of others, for every path that is not one of these."""
        groups = self._groups
        others = Router(list(routes), redirect_slashes=False, default=_nothing)

        async def serve(scope: Scope, receive: Receive, send: Send) -> None:
            await groups.get(_group_of(scope["path"]), others)(scope, receive, send)

        return serve


def _group_of(path: str) -> str:
    """The first two parts of a path: ``/v2/jobs``."""
    first = path.find("/", 1)
    end = path.find("/", first + 1) if first > 0 else -1
    return path if end < 0 else path[:end]


def problem_response(problem: Problem, path: str) -> Response:
    """A problem as an answer."""
    return Response(
        problem.document(path[:500]), status_code=problem.status, media_type=MEDIA_TYPE, headers=problem.headers
    )


async def _nothing(scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401 - ASGI's
    """There is no such path."""
    await problem_response(Problem(404, "There is nothing at this path"), scope["path"])(scope, receive, send)
