"""Bodies on their way in: within their size, within their time, and what they are said to be. It decides nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final, Protocol

import msgspec
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect, Request

from procession.api.endpoints import NO_BODY, Endpoint, Upload
from procession.api.guard import Receive
from procession.api.problems import Problem
from procession.api.routing import Visit
from procession.api.settings import Settings

ARRIVING: Final = "procession.body"  # of a scope: what of its body is there already
PARTS_MAX = 200
FIELD_BYTES_MAX = 64 * 1024  # of a part that is no file


DRAINED_BYTES_MAX = 1024 * 1024  # of a body that is refused: a client that is still sending would not see the answer
DRAINED_S = 1.0


class Arriving(Protocol):
    """A body on its way in, as the server below knows it (``connection.py``)."""

    body: bytes
    more_body: bool


async def drain(receive: Receive) -> None:
    """Read on for a moment and forget it."""
    with suppress(TimeoutError, ClientDisconnect, RuntimeError):
        async with asyncio.timeout(DRAINED_S):
            await _forget(receive)


async def _forget(receive: Receive) -> None:
    seen = 0
    while seen < DRAINED_BYTES_MAX:
        message = await receive()
        seen += len(message.get("body", b""))
        if not message.get("more_body"):
            return


async def read_body(visit: Visit, endpoint: Endpoint, settings: Settings) -> Any:  # noqa: ANN401 - what the endpoint says
    """The decoded body. Raises Problem."""
    if endpoint.body is NO_BODY:
        return None
    raw = await _bytes(visit, settings.body_bytes_max, settings.body_s)
    if not raw:
        if endpoint.optional:
            return _empty(endpoint.body)
        raise Problem(400, "Expected a body, found none")
    if visit.headers.get(b"content-type") != b"application/json":
        _check_type(visit)
    try:
        return _decoder(endpoint.body).decode(raw)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise Problem(400, f"The request cannot be read: {str(error)[:500]}") from None
    except (RecursionError, UnicodeDecodeError):
        raise Problem(400, "The request cannot be read: it is nested too deeply, or is no UTF-8") from None


def _check_type(visit: Visit) -> None:
    """Raises Problem."""
    kind = visit.header(b"content-type").partition(";")[0].strip().lower()
    if kind not in {"application/json", "text/json"} and not kind.endswith("+json"):
        raise Problem(415, f"Expected a body of type application/json, found '{kind[:100] or 'none'}'")


async def read_uploads(visit: Visit, settings: Settings) -> list[Upload]:
    """The parts of a multipart body. Raises Problem."""
    kind = visit.header(b"content-type").partition(";")[0].strip().lower()
    if kind != "multipart/form-data":
        raise Problem(415, f"Expected a body of type multipart/form-data, found '{kind[:100] or 'none'}'")
    _check_length(visit, settings.upload_bytes_max)
    try:
        bounded = _Bounded(visit.scope, visit.receive, settings.upload_bytes_max)
        async with (
            asyncio.timeout(settings.body_s),
            bounded.form(max_files=PARTS_MAX, max_fields=PARTS_MAX, max_part_size=FIELD_BYTES_MAX) as form,
        ):
            return [await _upload(name, part) for name, part in form.multi_items()]
    except TimeoutError:
        raise Problem(408, f"Expected the body within {settings.body_s:g} s") from None
    except MultiPartException as error:
        raise Problem(400, f"The parts cannot be read: {error.message[:300]}") from None


async def _upload(name: str, part: UploadFile | str) -> Upload:
    if isinstance(part, str):
        return Upload(name=name, filename="", content_type="text/plain", data=part.encode(errors="replace"))
    return Upload(name=name, filename=part.filename or "", content_type=part.content_type or "", data=await part.read())


class _Bounded(Request):
    """A request whose stream ends in a problem when it is too long."""

    def __init__(self, scope: Any, receive: Any, bytes_max: int) -> None:  # noqa: ANN401 - ASGI's
        super().__init__(scope, receive)
        self._bytes_max = bytes_max

    async def stream(self) -> AsyncIterator[bytes]:  # pyright: ignore[reportIncompatibleMethodOverride]
        seen = 0
        async for chunk in super().stream():
            seen += len(chunk)
            if seen > self._bytes_max:
                raise _too_large(self._bytes_max)
            yield chunk


async def _bytes(visit: Visit, bytes_max: int, body_s: float) -> bytes:
    """The whole body. Raises Problem."""
    arriving: Arriving | None = visit.scope.get(ARRIVING)
    if arriving is not None and not arriving.more_body and len(arriving.body) <= bytes_max:
        return arriving.body  # it came with its headers, as small ones do: there is nothing to wait for
    _check_length(visit, bytes_max)
    try:
        async with asyncio.timeout(body_s):
            return await _gathered(visit.request, bytes_max)
    except TimeoutError:
        raise Problem(408, f"Expected the body within {body_s:g} s", headers={"Connection": "close"}) from None
    except ClientDisconnect:
        raise Problem(400, "The client went away before its request was whole") from None


async def _gathered(request: Request, bytes_max: int) -> bytes:
    chunks: list[bytes] = []
    seen = 0
    async for chunk in request.stream():
        seen += len(chunk)
        if seen > bytes_max:
            raise _too_large(bytes_max)
        chunks.append(chunk)
    return b"".join(chunks)


def _check_length(visit: Visit, bytes_max: int) -> None:
    said = visit.header(b"content-length")
    if not said:
        return
    if not (said.isascii() and said.isdigit() and len(said) < 20):
        raise Problem(400, "Expected Content-Length to be a number")
    if int(said) > bytes_max:
        raise _too_large(bytes_max)


def _too_large(bytes_max: int) -> Problem:
    return Problem(413, f"Expected a body of at most {bytes_max} bytes", headers={"Connection": "close"})


def _empty(body: Any) -> Any:  # noqa: ANN401 - what the endpoint says
    """What stands for a body that was left out."""
    return _decoder(body).decode(b"{}")


@lru_cache(maxsize=500)
def _decoder(body: Any) -> msgspec.json.Decoder[Any]:  # noqa: ANN401 - what the endpoint says
    return msgspec.json.Decoder(body)
