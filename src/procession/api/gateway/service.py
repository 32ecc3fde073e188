"""One remote procedure call, from bytes to bytes: read, through the same stations as a request over HTTP, written.

A command goes on when its client goes away: it was accepted, and it is written down. What is about to be delivered to
a worker that goes away is given back.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from typing import Any

import grpc
import grpc.aio
import msgspec

from procession.api.endpoints import Call, Endpoint, Load
from procession.api.gateway import jobs
from procession.api.gateway.messages import SERVICE, Message, has, new, parsed, signature
from procession.api.gateway.rpcs import ACTIVATE, STREAM, UNARY, Rpc
from procession.api.gateway.statuses import code_of, details_of, trailers_of
from procession.api.problems import Problem
from procession.api.roles import Principal
from procession.api.spans import UNTRACED, Visited
from procession.api.stations import Stations, problem_for
from procession.api.tables import endpoints

logger = logging.getLogger("procession.api")

Context = grpc.aio.ServicerContext[bytes, bytes]
Deliver = Callable[[jobs.Worker], Awaitable[None]]


class Visit:
    """What became of one call, for metrics and log."""

    def __init__(self, rpc: Rpc, endpoint: Endpoint) -> None:
        self.rpc = rpc
        self.endpoint = endpoint
        self.who: Principal | None = None
        self.path: dict[str, str] = {}
        self.problem: Problem | None = None


class Gateway(grpc.GenericRpcHandler):
    """Every remote procedure. Those that are not in the table are answered UNIMPLEMENTED by gRPC itself."""

    def __init__(self, stations: Stations) -> None:
        self._stations = stations
        self._under_way: set[asyncio.Task[Any]] = set()
        self.is_stopping = False
        rows = {endpoint.operation_id: endpoint for _, endpoint in endpoints()}
        found = {rpc.name: self._unary(rpc, rows[rpc.operation_id]) for rpc in UNARY}
        for rpc, deliver in ((ACTIVATE, jobs.activate), (STREAM, jobs.push)):
            found[rpc.name] = self._delivering(rpc, rows[rpc.operation_id], deliver)
        self._handlers = {f"/{SERVICE}/{name}": handler for name, handler in found.items()}

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[bytes, bytes] | None:
        """The handler of a call."""
        return self._handlers.get(handler_call_details.method)

    async def settle(self, wait_s: float) -> None:
        """Let commands end whose clients are gone, for so long."""
        if self._under_way:
            _, late = await asyncio.wait(self._under_way, timeout=wait_s)
            for task in late:
                task.cancel()

    # -- the two shapes ---------------------------------------------------------------------------------------------
    def _unary(self, rpc: Rpc, endpoint: Endpoint) -> grpc.RpcMethodHandler[bytes, bytes]:
        takes, gives = signature(rpc.name)

        async def handle(raw: bytes, context: Context) -> bytes:
            async with self._visit(rpc, endpoint, context) as visit:
                call, _ = await self._call(visit, parsed, takes, raw, context)
                result = await self._do(endpoint, call)
                return (await self._written(rpc, gives, result)).SerializeToString()
            return b""  # not reached: the visit has aborted the call

        return grpc.unary_unary_rpc_method_handler(handle)  # pyright: ignore[reportArgumentType] - the stubs know no aio

    def _delivering(self, rpc: Rpc, endpoint: Endpoint, deliver: Deliver) -> grpc.RpcMethodHandler[bytes, bytes]:
        takes, _ = signature(rpc.name)

        async def handle(raw: bytes, context: Context) -> None:
            async with self._visit(rpc, endpoint, context) as visit:
                call, authorization = await self._call(visit, parsed, takes, raw, context)

                async def is_welcome() -> bool:
                    try:
                        return not self.is_stopping and await self._stations.who(authorization, endpoint) == call.who
                    except Problem:
                        return False  # it ends, and whoever comes again is told why

                await deliver(jobs.Worker(call=call, write=context.write, is_welcome=is_welcome))

        return grpc.unary_stream_rpc_method_handler(handle)  # pyright: ignore[reportArgumentType] - as above

    # -- what they share --------------------------------------------------------------------------------------------
    @asynccontextmanager
    async def _visit(self, rpc: Rpc, endpoint: Endpoint, context: Context) -> AsyncGenerator[Visit]:
        """Around a call: what goes wrong is its status; it is counted and logged."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        traffic = self._stations.metrics.grpc
        visit = Visit(rpc, endpoint)
        traffic.open += 1
        status = "OK"
        with self._span(visit, context) as visited:
            try:
                yield visit
            except asyncio.CancelledError:
                status = "CANCELLED"
                traffic.disconnects += 1
                raise
            except Exception as error:  # noqa: BLE001 - whatever it is, the client gets a status
                visit.problem = problem_for(error, rpc.name)
                status = code_of(visit.problem).name
            finally:
                took_s = loop.time() - began
                traffic.open -= 1
                traffic.answered(rpc.name, status, took_s, waits=endpoint.load is Load.WAIT)
                _say(visited, visit, status)
                _log(visit, context, status, took_s)
        problem = visit.problem
        if problem is not None:
            await context.abort(code_of(problem), details_of(problem), trailers_of(problem))

    def _span(self, visit: Visit, context: Context) -> AbstractContextManager[Visited]:
        """Around a call, where spans are wanted."""
        spans, name = self._stations.spans, visit.rpc.name
        if not spans.are_wanted:
            return nullcontext(UNTRACED)
        carrier = {key: value for key, value in context.invocation_metadata() or () if isinstance(value, str)}
        attributes = {
            "rpc.system": "grpc",
            "rpc.service": SERVICE,
            "rpc.method": name,
            "procession.operation": visit.endpoint.operation_id,
        }
        return spans.around(f"{SERVICE}/{name}", carrier, attributes)

    async def _call(
        self, visit: Visit, read: Callable[[str, bytes], Message], takes: str, raw: bytes, context: Context
    ) -> tuple[Call, str | None]:
        """Who comes, and what they ask for. Raises Problem."""
        authorization = _authorization(context)
        endpoint = visit.endpoint
        visit.who = await self._stations.who(authorization, endpoint)
        message = read(takes, raw)
        asked = visit.rpc.read(message)
        if has(message, "operationReference"):
            asked.body["operationReference"] = message.operationReference
        visit.path = asked.path
        body = _checked(endpoint, asked.body)
        call = Call(desk=self._stations.desk, who=visit.who, path=asked.path, body=body, uploads=asked.uploads)
        return call, authorization

    async def _do(self, endpoint: Endpoint, call: Call) -> Any:  # noqa: ANN401 - the verb's answer
        """The verb, which goes on where its client goes away."""
        doing = asyncio.ensure_future(self._stations.do(endpoint, call))
        self._under_way.add(doing)
        doing.add_done_callback(self._done)
        return await asyncio.shield(doing)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._under_way.discard(task)
        if not task.cancelled():
            task.exception()  # nobody may be left to hear of it; the audit log has it

    async def _written(self, rpc: Rpc, gives: str, result: Any) -> Message:  # noqa: ANN401 - the verb's answer
        if rpc.write is not None:
            return rpc.write(result)
        return new(gives, key=await self._stations.desk.app.new_key()) if rpc.is_key else new(gives)


def _checked(endpoint: Endpoint, body: dict[str, Any]) -> Any:  # noqa: ANN401 - what the endpoint says
    """The body as the endpoint's own type, whose rules hold here, too. Raises Problem."""
    if endpoint.body is type(None):
        return None
    try:
        return msgspec.convert(body, endpoint.body)
    except msgspec.ValidationError as error:
        raise Problem(400, f"The request cannot be read: {str(error)[:500]}") from None


def _authorization(context: Context) -> str | None:
    """The credentials of a call. Raises Problem for two of them."""
    found = [value for name, value in context.invocation_metadata() or () if name == "authorization"]
    if len(found) > 1:
        raise Problem(401, "Expected one authorization, found several")
    value = found[0] if found else None
    return value.decode("latin-1") if isinstance(value, bytes) else value


def _say(visited: Visited, visit: Visit, status: str) -> None:
    """What the span is told of a call."""
    problem = visit.problem
    error = visit.rpc.name if problem is not None and problem.status >= 500 else ""
    actor = visit.who.name if visit.who is not None else ""
    visited.answered(status, "rpc.grpc.status", actor=actor, path=visit.path, error=error)


def _log(visit: Visit, context: Context, status: str, took_s: float) -> None:
    level = {"OK": logging.DEBUG, "CANCELLED": logging.DEBUG, "INTERNAL": logging.WARNING}.get(status, logging.INFO)
    if not logger.isEnabledFor(level):
        return
    name = visit.rpc.name
    extra = {
        "operation": name,
        "status": status,
        "took_ms": round(took_s * 1000, 2),
        "actor": visit.who.name if visit.who is not None else "",
        "client": context.peer(),
        **visit.path,
    }
    logger.log(level, "gRPC %s %s in %.1f ms", name, status, took_s * 1000, extra={"fields": extra})
