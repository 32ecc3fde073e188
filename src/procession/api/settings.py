"""Everything that can be set about a server. Plain data."""

from __future__ import annotations

from typing import Literal

import msgspec

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


class OidcSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Whose bearer tokens are taken."""

    issuer: str
    audience: str
    roles_claim: str = "roles"  # dotted path
    tenants_claim: str = "tenants"  # dotted path; a token without it sees the default tenant only
    leeway_s: float = 30.0
    keys_s: float = 300.0  # how long keys are used before they are read again


class GrpcSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The Zeebe gateway of a server."""

    host: str = "127.0.0.1"
    port: int = 26_500
    certificate: bytes = b""  # PEM, with its chain; empty: no TLS
    certificate_key: bytes = b""  # PEM
    message_bytes_max: int = 8 * 1024 * 1024  # of a request; larger deployments go over HTTP
    calls_max: int = 10_000  # under way together, those that wait included
    streams_max: int = 1_000  # calls under way of one connection
    keep_alive_s: int = 60  # a silent connection with calls is asked whether it lives
    keep_alive_timeout_s: int = 20
    ping_s_min: int = 10  # clients that ask more often are cut off


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """A server."""

    host: str = "127.0.0.1"
    port: int = 8080
    identity: bool = True  # False: everybody is an admin, and only the loopback is bound
    oidc: OidcSettings | None = None
    allowed_origins: tuple[str, ...] = ()  # for browsers: pages of these origins may use the API
    allowed_hosts: tuple[str, ...] = ()  # names that the server is known by; on the loopback its own are always taken
    body_bytes_max: int = 8 * 1024 * 1024
    upload_bytes_max: int = 64 * 1024 * 1024
    body_s: float = 30.0  # for a request to arrive whole
    headers_s: float = 10.0  # for its headers to arrive
    keep_alive_s: int = 75
    request_s: float = 60.0  # for a verb that does not wait by itself
    connections_max: int = 10_000
    stop_s: float = 20.0  # for what is under way when the server stops
    public_url: str = ""  # how others reach it, such as https://example.org/procession: links to documents begin so
    audit_jobs: bool = False  # workers' ends of jobs stand in the history of their instance; True: in the audit log too
    audit_keep_ms: int | None = None  # entries are deleted when they are so old; None: never
    is_https: bool = False  # behind a proxy that ends TLS: browsers are told to stay with it
    grpc: GrpcSettings | None = None  # None: HTTP only
    limit: Literal["aimd", "gradient", "off"] = "aimd"  # on commands in flight: see backpressure.py
    disk_free_bytes_min: int = 256 * 1024 * 1024  # below it no new work is taken, where the disk can be seen: SQLite
    database_bytes_max: int = 0  # above it no new work is taken; 0: it may grow as it likes
