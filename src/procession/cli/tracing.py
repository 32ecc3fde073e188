"""OpenTelemetry's SDK as its own environment variables say: sampler, resource, exporter. It knows no variable of ours.

The SDK reads most of them by itself; the exporter that ``OTEL_TRACES_EXPORTER`` names is found as the SDK's own tools
find it, by its entry point, so that any exporter that is installed can be named.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Final, cast

from procession.errors import Misconfigured

if TYPE_CHECKING:
    from opentelemetry.trace import TracerProvider

GROUP: Final = "opentelemetry_traces_exporter"
NONE: Final = "none"
OTLP: Final = {"grpc": "otlp_proto_grpc", "http/protobuf": "otlp_proto_http"}
NAME_VARIABLE: Final = "OTEL_SERVICE_NAME"


@contextmanager
def tracing_of_environment() -> Generator[TracerProvider]:
    """A provider with the exporter that the environment names, ``otlp`` if it names none. Raises Misconfigured.

    At its end what was not sent yet is sent.
    """
    try:
        sdk = cast("Any", import_module("opentelemetry.sdk.trace"))
        exporting = cast("Any", import_module("opentelemetry.sdk.trace.export"))
    except ModuleNotFoundError as missing:
        message = "--trace needs OpenTelemetry's SDK: pip install opentelemetry-distro opentelemetry-exporter-otlp"
        raise Misconfigured(message) from missing
    os.environ.setdefault(NAME_VARIABLE, "procession")
    provider = sdk.TracerProvider()
    for name in os.environ.get("OTEL_TRACES_EXPORTER", "otlp").split(","):
        if name.strip() != NONE:
            provider.add_span_processor(exporting.BatchSpanProcessor(_exporter(name.strip())()))
    try:
        yield provider
    finally:
        provider.shutdown()


def _exporter(name: str) -> Callable[[], object]:
    """What makes the exporter of this name. Raises Misconfigured."""
    protocol = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") or os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL")
    wanted = OTLP.get(protocol or "grpc", "") if name == "otlp" else name
    known = entry_points(group=GROUP)
    if wanted not in known.names:
        raise Misconfigured(
            f"Expected OTEL_TRACES_EXPORTER to name an exporter that is installed, found '{name}'"
            f"{f' (protocol {protocol})' if protocol and name == 'otlp' else ''}; "
            f"there are: {', '.join(sorted(known.names)) or 'none'} (opentelemetry-exporter-otlp brings otlp)"
        )
    return known[wanted].load()
