"""The gateway's server in this process' event loop: its address, its limits, its certificate, its health."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, cast

import grpc
import grpc.aio
from grpc_health.v1 import health, health_pb2_grpc
from grpc_health.v1.health_pb2 import HealthCheckResponse

from procession.api.gateway.messages import SERVICE
from procession.api.gateway.service import Gateway
from procession.api.settings import GrpcSettings
from procession.api.stations import Stations
from procession.errors import Misconfigured

METADATA_BYTES_MAX = 16 * 1024


@asynccontextmanager
async def serve_gateway(stations: Stations, settings: GrpcSettings, *, stop_s: float) -> AsyncGenerator[int]:
    """Serve within the block; gives the port. Raises Misconfigured.

    At its end new calls are refused, streams end, and what is under way may end within ``stop_s``.
    """
    gateway = Gateway(stations)
    server = grpc.aio.server(options=_options(settings), maximum_concurrent_rpcs=settings.calls_max)
    server.add_generic_rpc_handlers((gateway,))
    healthy = cast("Any", health).aio.HealthServicer()  # its package has no types
    cast("Any", health_pb2_grpc).add_HealthServicer_to_server(healthy, server)
    port = _bind(server, settings)
    await server.start()
    for name in ("", SERVICE):
        await healthy.set(name, HealthCheckResponse.SERVING)
    try:
        yield port
    finally:
        gateway.is_stopping = True
        await healthy.enter_graceful_shutdown()
        stations.desk.app.remote.stop()
        await server.stop(stop_s)
        await gateway.settle(stop_s)


def _options(settings: GrpcSettings) -> list[tuple[str, int]]:
    """Bounds on what one connection may do."""
    return [
        ("grpc.max_receive_message_length", settings.message_bytes_max),
        ("grpc.max_send_message_length", -1),  # a job is as large as its variables; chunks are bounded by ``jobs``
        ("grpc.max_metadata_size", METADATA_BYTES_MAX),
        ("grpc.absolute_max_metadata_size", METADATA_BYTES_MAX),
        ("grpc.max_concurrent_streams", settings.streams_max),
        # Calls that have come and that we have not looked at yet: all workers come at once after a restart. gRPC's own
        # bound is 1,000, beyond which it cancels by chance.
        ("grpc.server.max_pending_requests", settings.calls_max),
        ("grpc.server.max_pending_requests_hard_limit", 2 * settings.calls_max),
        ("grpc.so_reuseport", 0),  # two servers on one port would share it in silence
        # A peer that vanished without a word is found out; a client that asks all the time whether we live is cut off.
        ("grpc.keepalive_time_ms", settings.keep_alive_s * 1_000),
        ("grpc.keepalive_timeout_ms", settings.keep_alive_timeout_s * 1_000),
        ("grpc.keepalive_permit_without_calls", 0),
        ("grpc.http2.min_ping_interval_without_data_ms", settings.ping_s_min * 1_000),
        ("grpc.http2.max_ping_strikes", 2),
    ]


def _bind(server: grpc.aio.Server, settings: GrpcSettings) -> int:
    """The port. Raises Misconfigured where it, or the certificate, cannot be had."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    address = f"{host}:{settings.port}"
    try:
        if settings.certificate:
            pair = (settings.certificate_key, settings.certificate)
            port = server.add_secure_port(address, grpc.ssl_server_credentials([pair]))
        else:
            port = server.add_insecure_port(address)
    except (RuntimeError, ValueError):
        port = 0
    if not port:
        why = "it is in use, or not an address of this machine"
        if settings.certificate:
            why += ", or the certificate and its key are not a pair of PEM files"
        raise Misconfigured(f"'{address}' cannot be bound for gRPC: {why}")
    return port
