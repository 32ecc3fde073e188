"""The ASGI application: a request is decoded, goes through its stations, is answered; its client may go in between.

What is refused for want of room is refused as early as can be known, before anything of it is read (``refusal``).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from functools import lru_cache, partial
from typing import Any

import msgspec
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute

from procession.api.admission import Gate, refused
from procession.api.backpressure import Refusal
from procession.api.bodies import drain, read_body, read_uploads
from procession.api.desk import Desk
from procession.api.endpoints import Call, Content, Endpoint, Load, Stream
from procession.api.guard import HEADERS, PATH_CHARS_MAX, Asgi, Guard, Receive
from procession.api.metrics import MEDIA_TYPE as METRICS_TYPE
from procession.api.openapi import document
from procession.api.problems import Problem
from procession.api.roles import Principal, Role
from procession.api.routing import JSON_TYPE, Answer, Plain, Routes, Visit, problem_response
from procession.api.settings import Settings
from procession.api.spans import UNTRACED, Spans, Visited
from procession.api.stations import Stations, problem_for
from procession.api.tables import endpoints
from procession.api.tokens import REMEMBERED_S
from procession.errors import Unavailable

logger = logging.getLogger("procession.api")

_encode = msgspec.json.Encoder().encode

REFUSALS_MAX = 2_048  # answers that are remembered
Handle = Callable[..., Awaitable[Plain | Response]]  # of a request, and of its span as `visited`


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
        self._gated = {
            (prefix + row.path).encode(): row
            for prefix, row in self._table
            if row.load is Load.COMMAND and row.method == "POST" and "{" not in row.path
        }
        self.is_stopping = False

    def asgi(self, *more: BaseRoute) -> Asgi:
        """The application, with routes of others (a web page) behind its own."""
        table = Routes()
        for prefix, endpoint in self._table:
            path = prefix + endpoint.path
            table.add(path, self._traced(endpoint, path, self._handler(endpoint)), endpoint.method)
        for path, answer in (
            ("/health", self._health),
            ("/ready", self._ready),
            ("/metrics", self._metrics),
            ("/openapi.json", self._openapi),
        ):
            table.add(path, answer, "GET")
        return Guard(table.rest(more), self._settings)

    def refusal(self, path: bytes) -> Plain | None:
        """The answer to a command that finds no room, before its body is read and anybody asks who sends it."""
        endpoint = self._gated.get(path)
        if endpoint is None or self.stations.spans.are_wanted:  # a refusal is a span, too
            return None
        found = self.gate.refusal()
        if found is None:
            return None
        self.metrics.http.answered(endpoint.operation_id, "503", 0.0, waits=False)
        return _answer_of_refusal(found, path)

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

        async def within(visit: Visit) -> Plain | Response:
            attributes = {**fixed, "url.path": visit.scope["path"][:PATH_CHARS_MAX]}
            with spans.around(name, visit.request.headers, attributes) as visited:
                return await handle(visit, visited=visited)

        return within

    def _handler(self, endpoint: Endpoint) -> Handle:
        traffic, name, is_waiting = self.metrics.http, endpoint.operation_id, endpoint.load is Load.WAIT

        async def handle(visit: Visit, visited: Visited) -> Plain | Response:
            loop = asyncio.get_running_loop()
            began = loop.time()
            traffic.open += 1
            who: Principal | None = None
            try:
                who = await self.stations.who(visit.authorization, endpoint)
                response = await self._serve(endpoint, visit, who)
            except Gone:
                traffic.disconnects += 1
                response = Plain(499)
            except Exception as error:  # noqa: BLE001 - whatever it is, the client gets a problem document
                response = answer_of(error, visit.scope["path"])
                if response.status_code == 413:
                    await drain(visit.receive)
            finally:
                traffic.open -= 1
            took_s = loop.time() - began
            status = response.status_code
            traffic.answered(name, str(status), took_s, waits=is_waiting)
            if visited is not UNTRACED:
                _tell(visited, endpoint, visit, who, status)
            if status >= 400 or is_telling_all():
                _log(endpoint, visit, who, status, took_s)
            return response

        return handle

    async def _serve(self, endpoint: Endpoint, visit: Visit, who: Principal) -> Plain | Response:
        """Decode, do, encode."""
        query = visit.scope["query_string"]
        call = Call(
            desk=self._desk,
            who=who,
            path=visit.path,
            query=dict(visit.request.query_params) if query else {},
            last_event_id=visit.header(b"last-event-id"),
            body=await read_body(visit, endpoint, self._settings),
            uploads=await read_uploads(visit, self._settings) if endpoint.multipart else [],
        )
        if endpoint.load is Load.WAIT:
            result = await self._until_gone(endpoint, call, visit.receive)
        else:
            result = await self.stations.do(endpoint, call)
        if result is None:
            return Plain(204)
        if isinstance(result, Content):
            return Response(result.data, media_type=result.media_type, headers=result.headers)
        if isinstance(result, Stream):
            pieces = self._while_known(result.pieces, who, visit.authorization, endpoint)
            return StreamingResponse(pieces, media_type=result.media_type)
        return Plain(endpoint.status, _encode(result), _JSON)

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

    async def _until_gone(self, endpoint: Endpoint, call: Call, receive: Receive) -> Any:  # noqa: ANN401
        """Do it while the client is there; what comes too late for it is undone at once. Raises Gone."""
        doing = asyncio.ensure_future(self.stations.do(endpoint, call))
        watching = asyncio.ensure_future(_gone(receive))
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
    async def _health(self, visit: Visit) -> Plain:
        """It lives."""
        del visit
        return Plain(200, b'{"status":"UP"}', _JSON)

    async def _ready(self, visit: Visit) -> Plain:
        """It can work: the database answers, and it is not about to stop."""
        path: str = visit.scope["path"]
        try:
            async with asyncio.timeout(5):
                await self._desk.rows.now()
        except (Unavailable, TimeoutError):
            return answer_of(Problem(503, "The database does not answer"), path)
        if self.is_stopping:
            return answer_of(Problem(503, "The server is stopping"), path)
        return Plain(200, b'{"status":"UP"}', _JSON)

    async def _metrics(self, visit: Visit) -> Plain:
        """What it counts."""
        try:
            await self.stations.who_may(visit.authorization, Role.READER)
            return Plain(200, self.metrics.page(), ((b"content-type", METRICS_TYPE.encode()),))
        except Exception as error:  # noqa: BLE001 - as for any request
            return answer_of(error, visit.scope["path"])

    async def _openapi(self, visit: Visit) -> Plain:
        """What can be asked of it."""
        del visit
        described = document(self._table, identity=self._settings.identity)
        return Plain(200, _encode(described), _JSON)


_JSON = (JSON_TYPE,)


@lru_cache(maxsize=REFUSALS_MAX)
def _answer_of_refusal(refusal: Refusal, path: bytes) -> Plain:
    """A refusal with the headers of every answer: the same one for the same numbers, which come again and again."""
    answer = problem_response(refused(refusal), path.decode())
    answer.headers = (*answer.headers, *HEADERS)
    return answer


async def _gone(receive: Receive) -> None:
    """Until the client goes away."""
    while (await receive())["type"] != "http.disconnect":
        pass


def answer_of(error: BaseException, path: str) -> Plain:
    """The answer that an exception stands for."""
    return problem_response(problem_for(error, path), path)


def is_telling_all() -> bool:
    """Whether requests that went well stand in the log."""
    return logger.isEnabledFor(logging.DEBUG)


def _tell(visited: Visited, endpoint: Endpoint, visit: Visit, who: Principal | None, status: int) -> None:
    """What the span is told of a request."""
    visited.answered(
        status,
        "http.response.status_code",
        actor=who.name if who is not None else "",
        path=visit.path,
        error=endpoint.operation_id if status >= 500 else "",
    )


def _log(endpoint: Endpoint, visit: Visit, who: Principal | None, status: int, took_s: float) -> None:
    level = logging.WARNING if status == 500 else logging.INFO if status >= 400 else logging.DEBUG
    is_refused = status == 503 and endpoint.load is Load.COMMAND  # the gate says how many, once a second
    if is_refused or not logger.isEnabledFor(level):
        return
    client = visit.scope.get("client")
    extra = {
        "operation": endpoint.operation_id,
        "status": status,
        "took_ms": round(took_s * 1000, 2),
        "actor": who.name if who is not None else "",
        "client": client[0] if client else "",
        **visit.path,
    }
    logger.log(level, "%s %d in %.1f ms", endpoint.operation_id, status, took_s * 1000, extra={"fields": extra})
