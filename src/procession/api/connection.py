"""HTTP on one connection: uvicorn's, with a time for headers to arrive, and refusals that cost next to nothing.

Under load most of what comes is refused. A refusal that is made here, as soon as its headers are known, costs a tenth
of one that is made where requests are served: nothing is decoded, nobody is asked who comes, no task is made. It is for
commands only, where nothing has to be known of the request but its path; all others go on to the application.

A client sends the same headers again and again. Those of a request that was refused are remembered as they came, and a
request that brings the same bytes is refused without being parsed: what the parser would say of them is known.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import ClassVar, Final, cast

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from procession.api.bodies import ARRIVING
from procession.api.routing import Plain

HEADERS_BYTES_MAX: Final = 64 * 1024
BODY_BYTES_MAX: Final = 64 * 1024  # of a request that is refused here: it is read to its end, and forgotten
NEEDS_MORE: Final = frozenset({b"origin", b"transfer-encoding", b"expect", b"upgrade"})
HEADS_MAX: Final = 1_024  # headers that are remembered
HEAD_BYTES_MAX: Final = 2 * 1024  # of each of them
ANSWERS_MAX: Final = 2_048  # refusals that are remembered as they are written
HEAD_END: Final = b"\r\n\r\n"


class Connection(HttpToolsProtocol):
    """One connection of a server."""

    headers_s: ClassVar[float]
    refusal: ClassVar[Callable[[bytes], Plain | None]]  # what a POST to a path is answered if there is no room
    heads: ClassVar[dict[bytes, tuple[bytes, int]]]  # headers that were refused: the path, the length of the body
    _deadline: asyncio.TimerHandle | None = None
    _waited_for = 0  # bytes of headers that have come and are not whole
    _refused: Plain | None = None  # the answer to the request that is being read
    _is_between = True  # no request is being read
    _length = 0  # of the body of the request that is being read
    _refused_at = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Headers have to come."""
        super().connection_made(transport)
        self._arm()

    def data_received(self, data: bytes) -> None:
        """Bytes, of headers or of what follows."""
        is_first = self._is_between
        if is_first and self._refuse_known(data):
            return
        if self._deadline is not None:
            self._waited_for += len(data)
            if self._waited_for > HEADERS_BYTES_MAX and self._refused is None and HEAD_END not in data:
                self.transport.close()
                return
        super().data_received(data)
        if is_first and self._refused is not None and self._is_between:
            self._remember(data)

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._refused = None
        self._is_between = False
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
        self._is_between = True
        if self._refused is None:
            super().on_message_complete()
            return
        self._answer(self._refused)

    def timeout_keep_alive_handler(self) -> None:
        """Nothing has come for a while, or only what was refused: that moves no timer, it costs more than the rest."""
        left_s = self._refused_at + self.timeout_keep_alive - self.loop.time()
        if left_s <= 0:
            super().timeout_keep_alive_handler()
        else:
            self.timeout_keep_alive_task = self.loop.call_later(left_s, self.timeout_keep_alive_handler)

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
        self._length = length
        parser = self.parser
        is_kept = parser is not None and parser.get_method() == b"POST" and parser.should_keep_alive()
        return is_kept and length <= BODY_BYTES_MAX

    def _refuse_known(self, data: bytes) -> bool:
        """Refuse a request whose headers are known and which is there as a whole, alone; whether it was one."""
        end = data.find(HEAD_END) + len(HEAD_END)
        head = data[:end]
        known = self.heads.get(head)
        if known is None or len(data) != end + known[1] or not self._is_free():
            return False
        refused = type(self).refusal(known[0])
        if refused is None:
            return False
        self._answer(refused)
        return True

    def _remember(self, data: bytes) -> None:
        """The headers of the request that these bytes were, if they were one and no more."""
        end = data.find(HEAD_END) + len(HEAD_END)
        if len(data) != end + self._length or end > HEAD_BYTES_MAX or not data.startswith(b"POST "):
            return
        if len(self.heads) >= HEADS_MAX:
            del self.heads[next(iter(self.heads))]
        self.heads[data[:end]] = (self.url, self._length)

    def _answer(self, refused: Plain) -> None:
        """Write a refusal; the connection stays open for as long as after any other answer."""
        self._disarm()
        state = self.server_state
        self.transport.write(
            STATUS_LINE[refused.status_code] + _lines(tuple(state.default_headers)) + _written(refused)
        )
        self._refused_at = self.loop.time()
        if self.timeout_keep_alive_task is None:
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

    def _arm(self) -> None:
        if self._deadline is None:
            self._waited_for = 0
            self._deadline = self.loop.call_later(self.headers_s, self.transport.close)

    def _disarm(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def _lines(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Headers as they are written."""
    return b"".join(b"%b: %b\r\n" % pair for pair in headers)


@lru_cache(maxsize=ANSWERS_MAX)
def _written(answer: Plain) -> bytes:
    """An answer from its own headers on; one that is the same object is written once."""
    return _lines(answer.headers) + b"content-length: %d\r\n\r\n" % len(answer.body) + answer.body


def connection_class(headers_s: float, refusal: Callable[[bytes], Plain | None]) -> type[Connection]:
    """Connections with these settings."""
    members: dict[str, object] = {"headers_s": headers_s, "refusal": staticmethod(refusal), "heads": {}}
    return type("ServersConnection", (Connection,), members)
