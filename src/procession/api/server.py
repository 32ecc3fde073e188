"""The server in this process' event loop: uvicorn on an open application, until told to stop.

async with Procession("sqlite:///orders.db") as app:
    async with serve(app, Settings(identity=False)) as server:
        print(server.url)
        await stop.wait()
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING, Any, cast

import uvicorn
from starlette.routing import BaseRoute
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from procession.api.admission import Gate
from procession.api.audit_retention import AuditRetention
from procession.api.connection import connection_class
from procession.api.desk import Desk
from procession.api.guard import Asgi
from procession.api.identity import check_binding
from procession.api.settings import Settings
from procession.api.spans import Spans
from procession.api.web import Web
from procession.app import Procession
from procession.errors import Misconfigured

if TYPE_CHECKING:
    from opentelemetry.trace import TracerProvider

logger = logging.getLogger("procession.api")

BACKLOG = 2_048


class Server:
    """A server that runs."""

    def __init__(self, web: Web, host: str, port: int, grpc_address: str = "") -> None:
        self.web = web
        self.host = host
        self.port = port
        self.grpc_address = grpc_address  # of the Zeebe gateway; empty: there is none

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://{_named(self.host)}:{self.port}"


def _named(host: str) -> str:
    """A host in an address."""
    return f"[{host}]" if ":" in host else host


@asynccontextmanager
async def serve(
    app: Procession,
    settings: Settings | None = None,
    *,
    turn_clock: Callable[[int | None], None] | None = None,
    routes: tuple[BaseRoute, ...] = (),
    tracer_provider: TracerProvider | None = None,
) -> AsyncGenerator[Server]:
    """Serve an open application within the block; port 0 is any free one. Raises Misconfigured.

    ``tracer_provider``: OpenTelemetry's; each request and call is a span then.
    At its end new requests are refused, waiting workers get their empty answers, and what is under way may end.
    """
    settings = settings or Settings()
    check_binding(settings)
    desk, gate = Desk(app, settings, turn_clock), Gate(app, settings)
    app.at_edge(gate.numbers)
    web = Web(desk, settings, gate, Spans(tracer_provider))
    retention = AuditRetention(app, settings.audit_keep_ms) if settings.audit_keep_ms else None
    listening = _listen(settings)
    running = _Uvicorn(_config(web.asgi(*routes), settings, connection_class(settings.headers_s, web.refusal)))
    serving = asyncio.create_task(running.serve([listening]), name="procession server")
    port: int = listening.getsockname()[1]
    desk.port = port
    try:
        while not running.started and not serving.done():  # noqa: ASYNC110 - uvicorn tells it in no other way
            await asyncio.sleep(0.005)
        if serving.done():
            serving.result()
        desk.watch.start()
        if retention is not None:
            retention.start()
        async with _gateway(web, settings) as grpc_address:
            yield Server(web, settings.host, port, grpc_address)
    finally:
        web.is_stopping = True
        app.remote.stop()
        await desk.watch.stop()
        if retention is not None:
            await retention.stop()
        running.should_exit = True
        with suppress(asyncio.CancelledError):
            await serving
        listening.close()


def _config(served: Asgi, settings: Settings, connection: type[HttpToolsProtocol]) -> uvicorn.Config:
    """What uvicorn is told."""
    return uvicorn.Config(
        cast("Any", served),
        http=connection,
        ws="none",
        lifespan="off",
        loop="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # who comes is never read from a header that anybody may send
        date_header=True,
        backlog=BACKLOG,
        limit_concurrency=settings.connections_max,
        timeout_keep_alive=settings.keep_alive_s,
        timeout_graceful_shutdown=max(1, int(settings.stop_s)),
        h11_max_incomplete_event_size=64 * 1024,
    )


@asynccontextmanager
async def _gateway(web: Web, settings: Settings) -> AsyncGenerator[str]:
    """The Zeebe gateway beside it, if it is wanted: its address. Raises Misconfigured."""
    if settings.grpc is None:
        yield ""
        return
    from procession.api.gateway.server import serve_gateway  # noqa: PLC0415 - packages that may be absent

    async with serve_gateway(web.stations, settings.grpc, stop_s=settings.stop_s) as port:
        yield f"{_named(settings.grpc.host)}:{port}"


class _Uvicorn(uvicorn.Server):
    """Signals are the command line's business."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """None."""
        yield


def _listen(settings: Settings) -> socket.socket:
    """The socket. Raises Misconfigured where it cannot be had."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # With its protocol named, asyncio sends small answers at once; otherwise each waits 40 ms for the client's word.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
    except (OSError, OverflowError) as error:
        listening.close()
        raise Misconfigured(f"Port {settings.port} of '{settings.host}' cannot be bound: {error}") from error
    listening.listen(BACKLOG)
    listening.setblocking(False)  # noqa: FBT003 - the standard library's
    return listening
