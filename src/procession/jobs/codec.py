"""How arguments, results and checkpoints look when a codec has written them. Pure: what a codec does, it does itself.

The stores keep JSON. What a codec gives is bytes, so it is stored as ``{"$encoded":"..."}`` with those bytes in base
64, and everything that looks at a stored value can tell that it was encoded.
"""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64
from collections.abc import Sequence
from itertools import repeat
from typing import Final, Protocol

import msgspec

from procession.errors import InvalidValue, Unreadable

NAME: Final = "$encoded"
MARK: Final = b'{"$encoded":'  # what an encoded value begins with, as we write it and as every store gives it back


class Codec(Protocol):
    """Two functions over bytes that undo each other."""

    def encode(self, data: bytes) -> bytes:
        """What is stored for these bytes, which are JSON."""
        ...

    def decode(self, data: bytes) -> bytes:
        """The bytes that were encoded. Raises Unreadable."""
        ...


class _Envelope(msgspec.Struct):
    data: str = msgspec.field(name=NAME)


_decode = msgspec.json.Decoder(_Envelope).decode


def is_encoded(stored: bytes) -> bool:
    """Whether a stored value was written by a codec."""
    return stored.startswith(MARK)


def seal(codec: Codec | None, plain: bytes, what: str) -> bytes:
    """JSON as it is stored. Raises InvalidValue for what would be taken for an encoded value."""
    if codec is not None:
        return MARK + b'"' + b2a_base64(codec.encode(plain), newline=False) + b'"}'
    if plain.startswith(MARK):
        message = f"Expected {what} without an object whose first name is '{NAME}': encoded values are stored so"
        raise InvalidValue(message)
    return plain


def seal_all(codec: Codec | None, plain: Sequence[bytes], what: str) -> Sequence[bytes]:
    """``seal`` of each. Raises InvalidValue likewise."""
    if codec is None and not any(map(bytes.startswith, plain, repeat(MARK))):
        return plain
    return [seal(codec, each, what) for each in plain]


def unseal(codec: Codec | None, stored: bytes, what: str) -> bytes:
    """The JSON of what is stored, encoded or not. Raises Unreadable."""
    if not stored.startswith(MARK):
        return stored
    if codec is None:
        message = f"Expected a codec to read {what}, which one has written, found none: give Procession(codec=...)"
        raise Unreadable(message)
    try:
        data = a2b_base64(_decode(stored).data, strict_mode=True)
    except (ValueError, msgspec.DecodeError) as error:
        message = f"Expected {what} as a codec writes it, found something that is no base 64: somebody has changed it"
        raise Unreadable(message) from error
    try:
        return codec.decode(data)
    except Unreadable as error:
        message = f"{what}: {error}"
        raise Unreadable(message) from error
    except Exception as error:  # noqa: BLE001 - a user's codec; the text of its error may hold what is secret
        message = f"{what} cannot be read: the codec raised {type(error).__name__}"
        raise Unreadable(message) from None
