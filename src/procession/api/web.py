"""The ASGI application: a request is decoded, goes through its stations, is answered; its client may go in between."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from functools import partial
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute

from procession.api.admission import Gate
from procession.api.bodies import drain, read_body, read_uploads
from procession.api.desk import Desk
from procession.api.endpoints import Call, Content, Endpoint, Load, Stream
from procession.api.guard import PATH_CHARS_MAX, Asgi, Guard
from procession.api.metrics import MEDIA_TYPE as METRICS_TYPE
from procession.api.openapi import document
from procession.api.problems import Problem
from procession.api.roles import Principal, Role
from procession.api.routing import Answer, Groups, problem_response
from procession.api.settings import Settings
from procession.api.spans import UNTRACED, Spans, Visited
from procession.api.stations import Stations, problem_for
from procession.api.tables import endpoints
from procession.api.tokens import REMEMBERED_S
from procession.errors import Unavailable

logger = logging.getLogger("procession.api")

_encode = msgspec.json.Encoder().encode

Handle = Callable[..., Awaitable[Response]]  # of a request, and of its span as `visited`


class Gone(Exception):
    """The client went away before its answer."""


class Web:
    """Serves one open application."""

    def __init__(self, desk: Desk, settings: Settings, gate: Gate, spans: Spans | None = None) -> None:
        self._desk = desk
        self._settings = settings
        self.gate = gate
        self.stations = Stations(desk, settings, gate, spans or Spans(None))
        self.metrics = self.stations.metrics
        self._table = endpoints()
        self.is_stopping = False

    def asgi(self, *more: BaseRoute) -> Asgi:
        """The application, with routes of others (a web page) behind its own."""
        groups = Groups()
        for prefix, endpoint in self._table:
            path = prefix + endpoint.path
            groups.add(path, self._traced(endpoint, path, self._handler(endpoint)), endpoint.method)
        for path, answer in (
            ("/health", self._health),
            ("/ready", self._ready),
            ("/metrics", self._metrics),
            ("/openapi.json", self._openapi),
        ):
            groups.add(path, answer, "GET")
        return Guard(groups.rest(more), self._settings)

    # -- one request ------------------------------------------------------------------------------------------------
    def _traced(self, endpoint: Endpoint, path: str, handle: Handle) -> Answer:
        """The handler within a span, where spans are wanted."""
        spans = self.stations.spans
        if not spans.are_wanted:
            return partial(handle, visited=UNTRACED)
        name = f"{endpoint.method} {path}"
        fixed = {
            "http.request.method": endpoint.method,
            "http.route": path,
            "procession.operation": endpoint.operation_id,
        }

        async def within(request: Request) -> Response:
            attributes = {**fixed, "url.path": request.url.path[:PATH_CHARS_MAX]}
            with spans.around(name, request.headers, attributes) as visited:
                return await handle(request, visited=visited)

        return within

    def _handler(self, endpoint: Endpoint) -> Handle:
        async def handle(request: Request, visited: Visited) -> Response:
            loop = asyncio.get_running_loop()
            began = loop.time()
            traffic = self.metrics.http
            traffic.open.inc()
            who: Principal | None = None
            try:
                who = await self.stations.who(request.headers.get("authorization"), endpoint)
                response = await self._serve(endpoint, request, who)
            except Gone:
                traffic.disconnects.inc()
                response = Response(status_code=499)
            except Exception as error:  # noqa: BLE001 - whatever it is, the client gets a problem document
                response = answer_of(error, request.url.path)
                if response.status_code == 413:
                    await drain(request)
            finally:
                traffic.open.dec()
            took_s = loop.time() - began
            status = response.status_code
            traffic.answered(endpoint.operation_id, str(status), took_s, waits=endpoint.load is Load.WAIT)
            visited.answered(
                status,
                "http.response.status_code",
                actor=who.name if who is not None else "",
                path=request.path_params,
                error=endpoint.operation_id if status >= 500 else "",
            )
            _log(endpoint, request, who, status, took_s)
            return response

        return handle

    async def _serve(self, endpoint: Endpoint, request: Request, who: Principal) -> Response:
        """Decode, do, encode."""
        call = Call(
            desk=self._desk,
            who=who,
            path=request.path_params,
            query=dict(request.query_params),
            last_event_id=request.headers.get("last-event-id", ""),
            body=await read_body(request, endpoint, self._settings),
            uploads=await read_uploads(request, self._settings) if endpoint.multipart else [],
        )
        if endpoint.load is Load.WAIT:
            result = await self._until_gone(endpoint, call, request)
        else:
            result = await self.stations.do(endpoint, call)
        if result is None:
            return Response(status_code=204)
        if isinstance(result, Content):
            return Response(result.data, media_type=result.media_type, headers=result.headers)
        if isinstance(result, Stream):
            authorization = request.headers.get("authorization")
            pieces = self._while_known(result.pieces, who, authorization, endpoint)
            return StreamingResponse(pieces, media_type=result.media_type)
        return Response(_encode(result), status_code=endpoint.status, media_type="application/json")

    async def _while_known(
        self, pieces: AsyncGenerator[bytes, None], who: Principal, authorization: str | None, endpoint: Endpoint
    ) -> AsyncGenerator[bytes, None]:
        """A stream, until whoever asked for it is not who they were: a revoked token hears nothing more."""
        loop = asyncio.get_running_loop()
        looked = loop.time()
        async with aclosing(pieces):
            async for piece in pieces:
                is_long_ago = loop.time() - looked >= REMEMBERED_S
                looked = loop.time() if is_long_ago else looked
                if is_long_ago and not await self._is_still(who, authorization, endpoint):
                    return
                yield piece

    async def _is_still(self, who: Principal, authorization: str | None, endpoint: Endpoint) -> bool:
        """Whether the same credentials still name the same, who still may."""
        try:
            return await self.stations.who(authorization, endpoint) == who
        except Problem:
            return False
        except Unavailable:
            return True  # the database is away, and says nothing of them

    async def _until_gone(self, endpoint: Endpoint, call: Call, request: Request) -> Any:  # noqa: ANN401
        """Do it while the client is there; what comes too late for it is undone at once. Raises Gone."""
        doing = asyncio.ensure_future(self.stations.do(endpoint, call))
        watching = asyncio.ensure_future(_gone(request))
        try:
            await asyncio.wait([doing, watching], return_when=asyncio.FIRST_COMPLETED)
            if not watching.done():
                return doing.result()
            doing.cancel()
            await asyncio.gather(doing, return_exceptions=True)
            for undo in call.undo:
                undo()
            raise Gone
        finally:
            doing.cancel()
            watching.cancel()

    # -- about itself -----------------------------------------------------------------------------------------------
    async def _health(self, request: Request) -> Response:
        """It lives."""
        del request
        return Response(b'{"status":"UP"}', media_type="application/json")

    async def _ready(self, request: Request) -> Response:
        """It can work: the database answers, and it is not about to stop."""
        try:
            async with asyncio.timeout(5):
                await self._desk.rows.now()
        except (Unavailable, TimeoutError):
            return answer_of(Problem(503, "The database does not answer"), request.url.path)
        if self.is_stopping:
            return answer_of(Problem(503, "The server is stopping"), request.url.path)
        return Response(b'{"status":"UP"}', media_type="application/json")

    async def _metrics(self, request: Request) -> Response:
        """What it counts."""
        return await self._for_readers(request, lambda: Response(self.metrics.page(), media_type=METRICS_TYPE))

    async def _openapi(self, request: Request) -> Response:
        """What can be asked of it."""
        del request
        described = document(self._table, identity=self._settings.identity)
        return Response(_encode(described), media_type="application/json")

    async def _for_readers(self, request: Request, answer: Any) -> Response:  # noqa: ANN401 - makes the response
        try:
            await self.stations.who_may(request.headers.get("authorization"), Role.READER)
            return answer()
        except Exception as error:  # noqa: BLE001 - as for any request
            return answer_of(error, request.url.path)


async def _gone(request: Request) -> None:
    """Until the client goes away."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def answer_of(error: BaseException, path: str) -> Response:
    """The answer that an exception stands for."""
    return problem_response(problem_for(error, path), path)


def _log(endpoint: Endpoint, request: Request, who: Principal | None, status: int, took_s: float) -> None:
    level = logging.WARNING if status == 500 else logging.INFO if status >= 400 else logging.DEBUG
    if not logger.isEnabledFor(level):
        return
    client = request.client.host if request.client is not None else ""
    extra = {
        "operation": endpoint.operation_id,
        "status": status,
        "took_ms": round(took_s * 1000, 2),
        "actor": who.name if who is not None else "",
        "client": client,
        **request.path_params,
    }
    logger.log(level, "%s %d in %.1f ms", endpoint.operation_id, status, took_s * 1000, extra={"fields": extra})
