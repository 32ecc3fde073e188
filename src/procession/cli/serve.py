"""``procession serve``: Camunda 8's REST API, our own, the Zeebe gateway; with this process' handlers beside them."""

from __future__ import annotations

import importlib.util
import logging
import os
import re
import time
from contextlib import nullcontext
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from procession.cli import screen
from procession.cli.options import DEFAULT_URL, options, with_options
from procession.cli.session import application, said_url
from procession.cli.tracing import tracing_of_environment
from procession.cli.work import Supervised
from procession.errors import Misconfigured

if TYPE_CHECKING:
    from opentelemetry.trace import TracerProvider

    from procession.api.server import Server
    from procession.api.settings import GrpcSettings, OidcSettings, Settings
    from procession.app import Procession

PACKAGES = ("starlette", "uvicorn", "httptools", "multipart", "prometheus_client", "jwt")
GRPC_PACKAGES = ("grpc", "grpc_health", "google.protobuf", "pyzeebe")
GRPC_PORT = 26_500


class Limit(Enum):
    """Rules of ``api/backpressure.py``."""

    AIMD = "aimd"
    GRADIENT = "gradient"
    OFF = "off"


Origins = Annotated[
    list[str] | None, typer.Option(metavar="ORIGIN", help="Pages of this origin may use the API. Repeatable.")
]
Hosts = Annotated[list[str] | None, typer.Option(metavar="HOST", help="A name of this server. Repeatable; none: any.")]
AuditKeep = Annotated[
    str, typer.Option(metavar="SPAN", help="Delete entries of the audit log when they are so old: 365d. Never.")
]
Bounded = Annotated[Limit, typer.Option(help="How the number of commands in flight is bounded.", case_sensitive=False)]
DatabaseMax = Annotated[
    str, typer.Option(metavar="SIZE", help="Take no new work when the database is so large: 50GB. No bound.")
]
Trace = Annotated[
    bool, typer.Option("--trace", help="OpenTelemetry spans, as its environment variables (OTEL_...) say.")
]
PublicUrl = Annotated[
    str, typer.Option("--public-url", metavar="URL", help="How others reach it: links to documents begin so.")
]
GrpcAddress = Annotated[
    str, typer.Option(metavar="HOST:PORT", help="Where the gateway is bound. Default: --host, port 26500.")
]
GrpcCertificate = Annotated[
    Path | None, typer.Option(metavar="FILE", help="The gateway speaks TLS with this certificate (PEM).")
]
Identified = Annotated[
    bool,
    typer.Option("--identity/--no-identity", help="Without it everybody is an admin: only on the loopback."),
]


@with_options
def serve(  # noqa: PLR0917 - options of the command line
    app: Annotated[
        str,
        typer.Argument(metavar="[MODULE:ATTRIBUTE]", help="The application whose handlers run here."),
    ] = "",
    host: Annotated[str, typer.Option(help="The address to bind.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port; 0 is any free one.")] = 8080,
    identity: Identified = True,
    oidc_issuer: Annotated[str, typer.Option(metavar="URL", help="Take bearer tokens of this OpenID provider.")] = "",
    oidc_audience: Annotated[str, typer.Option(help="The audience that they must be for.")] = "",
    oidc_roles: Annotated[str, typer.Option(metavar="CLAIM", help="Where the roles stand, dotted.")] = "roles",
    oidc_tenants: Annotated[str, typer.Option(metavar="CLAIM", help="Where the tenants stand, dotted.")] = "tenants",
    allow_origin: Origins = None,
    allow_host: Hosts = None,
    grpc: Annotated[bool, typer.Option("--grpc", help="The Zeebe gateway, too: gRPC, on port 26500.")] = False,
    grpc_address: GrpcAddress = "",
    grpc_certificate: GrpcCertificate = None,
    grpc_key: Annotated[Path | None, typer.Option(metavar="FILE", help="The certificate's key (PEM).")] = None,
    https: Annotated[bool, typer.Option("--https", help="A proxy in front ends TLS.")] = False,
    public_url: PublicUrl = "",
    audit_jobs: Annotated[bool, typer.Option("--audit-jobs", help="Ends of jobs in the audit log, too.")] = False,
    audit_keep: AuditKeep = "",
    limit: Bounded = Limit.AIMD,
    database_max: DatabaseMax = "",
    page: Annotated[bool, typer.Option("--page/--no-page", help="The web page, at /.")] = True,
    test_clock: Annotated[bool, typer.Option("--test-clock", help="Clients may set the clock. For tests.")] = False,
    trace: Trace = False,
    json_logs: Annotated[bool, typer.Option("--json-logs", help="Log JSON objects, one a line.")] = False,
    supervised: Supervised = False,
) -> None:
    """Serve Camunda 8's REST API (/v2), our own (/api), the web page (/), with --grpc the Zeebe gateway.

    Clients come with a token (`procession tokens create`), as a user (`procession users create`), or with a token of an
    OpenID provider. SIGTERM or Ctrl-C stops gracefully, a second one at once.
    """
    _expect_packages(PACKAGES, "serve")
    from procession.api.settings import Settings  # noqa: PLC0415 - packages that may be absent
    from procession.cli.serving import run_loop  # noqa: PLC0415 - an event loop
    from procession.jobs.retry import span_ms  # noqa: PLC0415 - heavy

    settings = Settings(
        host=host,
        port=port,
        identity=identity,
        oidc=_provider(oidc_issuer, oidc_audience, oidc_roles, oidc_tenants),
        allowed_origins=tuple(allow_origin or ()),
        allowed_hosts=tuple(allow_host or ()),
        public_url=public_url,
        audit_jobs=audit_jobs,
        audit_keep_ms=span_ms(audit_keep, "--audit-keep") or None if audit_keep else None,
        is_https=https,
        grpc=_gateway(grpc_address, host, grpc_certificate, grpc_key) if grpc or grpc_address else None,
        limit=limit.value,
        database_bytes_max=_bytes(database_max) if database_max else 0,
    )
    _show_logs(as_json=json_logs)
    with tracing_of_environment() if trace else nullcontext() as provider:
        run_loop(_serve(app, settings, provider, page=page, test_clock=test_clock, supervised=supervised))


def _bytes(text: str) -> int:
    """A size as people write it: 50GB, 512MB, a number of bytes. Raises Misconfigured."""
    found = re.fullmatch(r"(\d{1,15})\s*(|[KMGT])i?B?", text.strip(), re.IGNORECASE)
    size = int(found[1]) * 1024 ** " KMGT".index(found[2].upper() or " ") if found is not None else 0
    if size <= 0:
        raise Misconfigured(f"Expected --database-max as a size, such as 50GB or 512MB, found '{text}'")
    return size


def _provider(issuer: str, audience: str, roles: str, tenants: str) -> OidcSettings | None:
    """The OpenID provider whose tokens are taken."""
    from procession.api.settings import OidcSettings  # noqa: PLC0415 - packages that may be absent

    if bool(issuer) != bool(audience):
        raise Misconfigured("Expected --oidc-issuer and --oidc-audience together, found one of them")
    if not issuer:
        return None
    return OidcSettings(issuer=issuer, audience=audience, roles_claim=roles, tenants_claim=tenants)


def _gateway(address: str, host: str, certificate: Path | None, key: Path | None) -> GrpcSettings:
    """What is set about the gateway. Raises Misconfigured."""
    _expect_packages(GRPC_PACKAGES, "grpc")
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # gRPC's own lines are for its authors
    from procession.api.settings import GrpcSettings  # noqa: PLC0415 - packages that may be absent

    if (certificate is None) != (key is None):
        raise Misconfigured("Expected --grpc-certificate and --grpc-key together, found one of them")
    bound, _, port = address.rpartition(":") if address else (host, "", str(GRPC_PORT))
    if not bound or not (port.isascii() and port.isdigit() and int(port) <= 65_535):
        raise Misconfigured(f"Expected --grpc-address as HOST:PORT, such as 127.0.0.1:{GRPC_PORT}, found '{address}'")
    return GrpcSettings(
        host=bound.strip("[]"), port=int(port), certificate=_content(certificate), certificate_key=_content(key)
    )


def _content(path: Path | None) -> bytes:
    """A file's bytes. Raises Misconfigured."""
    try:
        return path.read_bytes() if path is not None else b""
    except OSError as error:
        raise Misconfigured(f"'{path}' cannot be read: {error.strerror}") from error


def _expect_packages(names: tuple[str, ...], extra: str) -> None:
    """Raises Misconfigured."""
    missing = [name for name in names if not _is_there(name)]
    if missing:
        raise Misconfigured(f"Expected the packages of the server, missing {', '.join(missing)}: procession[{extra}]")


def _is_there(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # of the package around it
        return False


async def _serve(
    name: str,
    settings: Settings,
    tracer_provider: TracerProvider | None,
    *,
    page: bool,
    test_clock: bool,
    supervised: bool,
) -> None:
    """Open, serve, stop: first the server, then the workers."""
    from procession.api.identity import check_binding  # noqa: PLC0415 - packages that may be absent
    from procession.api.server import serve as serve_app  # noqa: PLC0415 - as above
    from procession.app.tracing import trace_jobs  # noqa: PLC0415 - as above
    from procession.cli.serving import Stop, settle, tell  # noqa: PLC0415 - an event loop
    from procession.ui import routes  # noqa: PLC0415 - packages that may be absent

    check_binding(settings)
    clock = _TestClock() if test_clock else None
    app = _application(name, clock)
    if tracer_provider is not None:
        trace_jobs(app, tracer_provider=tracer_provider)
    stop = Stop(silent=supervised)
    if supervised:
        stop.end_with_stdin()
    turn = clock.turn if clock is not None else None
    serving = serve_app(
        app, settings, turn_clock=turn, routes=routes() if page else (), tracer_provider=tracer_provider
    )
    async with app, serving as server:
        words = _words(app, server, settings, page=page)
        settle()
        more = {"grpc": server.grpc_address} if server.grpc_address else {}
        tell("serving", words, url=server.url, database=app.url, identity=settings.identity, **more)
        await stop.wait()
    tell("stopped", "" if supervised else "Stopped")


def _application(name: str, clock: _TestClock | None) -> Procession:
    """The application named, or one without handlers. Raises Misconfigured."""
    from procession.app import Procession  # noqa: PLC0415 - heavy: a driver, an event loop

    if clock is None:
        return application(name)
    if name:
        raise Misconfigured("Expected --test-clock without an application: its own clock cannot be set from here")
    return Procession(said_url() or DEFAULT_URL, clock=clock)


class _TestClock:
    """The world's clock until it is set, then that instant until it is set again."""

    def __init__(self) -> None:
        self._pinned: int | None = None

    def __call__(self) -> int:
        return time.time_ns() // 1_000_000 if self._pinned is None else self._pinned

    def turn(self, instant: int | None) -> None:
        """Set it, or let it go."""
        self._pinned = instant


def _words(app: Procession, server: Server, settings: Settings, *, page: bool) -> str:
    """What this process is, for whoever started it."""
    url = server.url
    lines = [f"Serving {app.url} at {url}/v2 ({url}/openapi.json describes it)"]
    if page:
        lines.append(f"The web page is at {url}")
    if settings.grpc is not None:
        tls = ", TLS" if settings.grpc.certificate else ""
        lines.append(f"The Zeebe gateway is at {server.grpc_address} (gRPC{tls})")
    if not settings.identity:
        lines.append("Without identity: whoever reaches this machine's loopback is an admin")
    lines.append("Ready; Ctrl-C stops it")
    return "\n".join(lines)


def _show_logs(*, as_json: bool) -> None:
    """To stderr, for people or for programs."""
    from procession.cli.serving import show_logs  # noqa: PLC0415 - as above

    show_logs()
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    if as_json:
        from procession.api.logs import JsonLines  # noqa: PLC0415 - only here

        for handler in logging.getLogger().handlers:
            handler.setFormatter(JsonLines())
    if options().debug:
        screen.note("Requests are logged one by one")
