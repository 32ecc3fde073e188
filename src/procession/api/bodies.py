"""Bodies on their way in: within their size, within their time, and what they are said to be. It decides nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import lru_cache
from typing import Any

import msgspec
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect, Request

from procession.api.endpoints import NO_BODY, Endpoint, Upload
from procession.api.problems import Problem
from procession.api.settings import Settings

PARTS_MAX = 200
FIELD_BYTES_MAX = 64 * 1024  # of a part that is no file


DRAINED_BYTES_MAX = 1024 * 1024  # of a body that is refused: a client that is still sending would not see the answer
DRAINED_S = 1.0


async def drain(request: Request) -> None:
    """Read on for a moment and forget it."""
    with suppress(TimeoutError, ClientDisconnect, RuntimeError):
        async with asyncio.timeout(DRAINED_S):
            await _forget(request)


async def _forget(request: Request) -> None:
    seen = 0
    while seen < DRAINED_BYTES_MAX:
        message = await request.receive()
        seen += len(message.get("body", b""))
        if not message.get("more_body"):
            return


async def read_body(request: Request, endpoint: Endpoint, settings: Settings) -> Any:  # noqa: ANN401 - what the endpoint says
    """The decoded body. Raises Problem."""
    if endpoint.body is NO_BODY:
        return None
    raw = await _bytes(request, settings.body_bytes_max, settings.body_s)
    if not raw:
        if endpoint.optional:
            return _empty(endpoint.body)
        raise Problem(400, "Expected a body, found none")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in {"application/json", "text/json"} and not kind.endswith("+json"):
        raise Problem(415, f"Expected a body of type application/json, found '{kind[:100] or 'none'}'")
    try:
        return _decoder(endpoint.body).decode(raw)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise Problem(400, f"The request cannot be read: {str(error)[:500]}") from None
    except (RecursionError, UnicodeDecodeError):
        raise Problem(400, "The request cannot be read: it is nested too deeply, or is no UTF-8") from None


async def read_uploads(request: Request, settings: Settings) -> list[Upload]:
    """The parts of a multipart body. Raises Problem."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "multipart/form-data":
        raise Problem(415, f"Expected a body of type multipart/form-data, found '{kind[:100] or 'none'}'")
    _check_length(request, settings.upload_bytes_max)
    try:
        bounded = _Bounded(request.scope, request.receive, settings.upload_bytes_max)
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


async def _bytes(request: Request, bytes_max: int, body_s: float) -> bytes:
    """The whole body. Raises Problem."""
    _check_length(request, bytes_max)
    try:
        async with asyncio.timeout(body_s):
            return await _gathered(request, bytes_max)
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


def _check_length(request: Request, bytes_max: int) -> None:
    said = request.headers.get("content-length")
    if said is None:
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
