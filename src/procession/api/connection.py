"""HTTP on one connection: uvicorn's, with a time for headers to arrive, and refusals that cost next to nothing.

Under load most of what comes is refused. A refusal that is made here, as soon as its headers are known, costs a tenth
of one that is made where requests are served: nothing is decoded, nobody is asked who comes, no task is made. It is for
commands only, where nothing has to be known of the request but its path; all others go on to the application.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ClassVar, Final, cast

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from procession.api.bodies import ARRIVING
from procession.api.routing import Plain

HEADERS_BYTES_MAX: Final = 64 * 1024
BODY_BYTES_MAX: Final = 64 * 1024  # of a request that is refused here: it is read to its end, and forgotten
NEEDS_MORE: Final = frozenset({b"origin", b"transfer-encoding", b"expect", b"upgrade"})


class Connection(HttpToolsProtocol):
    """One connection of a server."""

    headers_s: ClassVar[float]
    refusal: ClassVar[Callable[[bytes], Plain | None]]  # what a POST to a path is answered if there is no room
    _deadline: asyncio.TimerHandle | None = None
    _waited_for = 0  # bytes of headers that have come and are not whole
    _refused: Plain | None = None  # the answer to the request that is being read

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Headers have to come."""
        super().connection_made(transport)
        self._arm()

    def data_received(self, data: bytes) -> None:
        """Bytes, of headers or of what follows."""
        if self._deadline is not None:
            self._waited_for += len(data)
            if self._waited_for > HEADERS_BYTES_MAX and self._refused is None and b"\r\n\r\n" not in data:
                self.transport.close()
                return
        super().data_received(data)

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._refused = None
        self._arm()

    def on_headers_complete(self) -> None:
        """Its headers are there: it is refused, or goes on."""
        if self._is_free() and self._is_simple():
            self._refused = type(self).refusal(self.url)
            if self._refused is not None:
                return  # its body has as long as headers have
        self._disarm()
        super().on_headers_complete()
        self.scope[ARRIVING] = self.cycle  # type: ignore[typeddict-unknown-key]

    def on_body(self, body: bytes) -> None:
        """A part of its body."""
        if self._refused is None:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """It is there as a whole."""
        if self._refused is None:
            super().on_message_complete()
            return
        self._disarm()
        self.transport.write(self._written(self._refused))
        self._unset_keepalive_if_required()
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        self._disarm()
        super().connection_lost(exc)

    def _is_free(self) -> bool:
        """Whether nothing is under way on it, and it takes what is written."""
        cycle = cast("RequestResponseCycle | None", self.cycle)  # None before the first request
        is_idle = cycle is None or cycle.response_complete
        return is_idle and not self.pipeline and not self.flow.write_paused

    def _is_simple(self) -> bool:
        """Whether nothing but its path has to be known: a small POST of no browser, on a connection that stays."""
        length = 0
        for name, value in self.headers:
            if name in NEEDS_MORE:
                return False
            if name == b"content-length":
                length = int(value) if value.isdigit() and len(value) < 10 else BODY_BYTES_MAX + 1
        parser = self.parser
        is_kept = parser is not None and parser.get_method() == b"POST" and parser.should_keep_alive()
        return is_kept and length <= BODY_BYTES_MAX

    def _written(self, answer: Plain) -> bytes:
        pairs = (*self.server_state.default_headers, *answer.headers)
        lines = b"".join(b"%b: %b\r\n" % pair for pair in pairs)
        length = b"content-length: %d\r\n\r\n" % len(answer.body)
        return STATUS_LINE[answer.status_code] + lines + length + answer.body

    def _arm(self) -> None:
        if self._deadline is None:
            self._waited_for = 0
            self._deadline = self.loop.call_later(self.headers_s, self.transport.close)

    def _disarm(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def connection_class(headers_s: float, refusal: Callable[[bytes], Plain | None]) -> type[Connection]:
    """Connections with these settings."""
    members = {"headers_s": headers_s, "refusal": staticmethod(refusal)}
    return type("ServersConnection", (Connection,), members)
