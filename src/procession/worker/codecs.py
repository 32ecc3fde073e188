"""Codecs that come with Procession: encryption with keys that rotate, compression. They know no job and no store.

What encryption writes: a version, flags, the id of the key, a nonce, and the ciphertext of AES-GCM with its tag. All
that stands before the nonce is authenticated with it. A nonce is 96 bits of chance, for one value: with one key at most
2^32 values should be written, so rotate in time.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping
from typing import Final

from procession.errors import Misconfigured, Unreadable
from procession.limits import DECODED_BYTES_MAX, KEY_TEXT_BYTES_MAX

VERSION: Final = 1
COMPRESSED: Final = 1  # a flag
NONCE_BYTES: Final = 12
KEY_BYTES: Final = (16, 24, 32)
SMALL: Final = 256  # bytes that compression leaves alone
PACKED: Final = b"z"  # what Compression begins with
PLAIN: Final = b"p"


class Encryption:
    """AES-GCM. ``keys``: 16, 24 or 32 bytes each, by id; what is written is written with ``current``.

    To rotate: give every process the new key, then make it the current one, and take the old one away when nothing is
    left that was written with it. ``compress``: larger values are compressed first; how long they are then tells
    something about what is in them.
    """

    def __init__(self, keys: Mapping[str, bytes], *, current: str = "", compress: bool = False) -> None:
        try:
            from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - an optional guest
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - the same
        except ModuleNotFoundError as missing:
            message = "Encryption needs the package cryptography: pip install 'procession[encryption]' brings it"
            raise Misconfigured(message) from missing
        if not current and len(keys) == 1:
            current = next(iter(keys))
        if current not in keys:
            known = ", ".join(map(repr, keys)) or "none"
            message = f"Expected current to be the id of one of the keys ({known}), found {current!r}"
            raise Misconfigured(message)
        for name, key in keys.items():
            _check_key(name, key)
        self._ciphers = {name.encode(): AESGCM(key) for name, key in keys.items()}
        self._current = current.encode()
        self._compress = compress
        self._wrong: type[Exception] = InvalidTag

    def __repr__(self) -> str:
        """The ids of its keys."""
        return f"<Encryption with {', '.join(name.decode() for name in self._ciphers)}>"

    def encode(self, data: bytes) -> bytes:
        """Encrypt."""
        flags = 0
        if self._compress and len(data) > SMALL:
            smaller = zlib.compress(data)
            if len(smaller) < len(data):
                data, flags = smaller, COMPRESSED
        head = bytes((VERSION, flags, len(self._current))) + self._current
        nonce = os.urandom(NONCE_BYTES)
        return head + nonce + self._ciphers[self._current].encrypt(nonce, data, head)

    def decode(self, data: bytes) -> bytes:
        """Decrypt. Raises Unreadable."""
        if len(data) < 3 or data[0] != VERSION:
            message = "Expected what Encryption writes, found something else"
            raise Unreadable(message)
        end = 3 + data[2]
        name = data[3:end]
        cipher = self._ciphers.get(name)
        if cipher is None:
            here = ", ".join(repr(each.decode()) for each in self._ciphers)
            message = f"Expected the key {name.decode(errors='replace')!r}, with which it was encrypted, found {here}"
            raise Unreadable(message)
        try:
            plain = cipher.decrypt(data[end : end + NONCE_BYTES], data[end + NONCE_BYTES :], data[:end])
        except (self._wrong, ValueError):
            message = (
                f"Expected what was encrypted with the key {name.decode()!r}, found that it does not fit: "
                "the key is another one of that id, or somebody has changed it"
            )
            raise Unreadable(message) from None
        return _larger(plain) if data[1] & COMPRESSED else plain


class Compression:
    """zlib, for values of more than ``least`` bytes; smaller ones are stored with one byte before them."""

    def __init__(self, *, least: int = 1_024) -> None:
        self._least = least

    def encode(self, data: bytes) -> bytes:
        """Compress what is worth it."""
        smaller = zlib.compress(data) if len(data) > self._least else data
        return PACKED + smaller if len(smaller) < len(data) else PLAIN + data

    def decode(self, data: bytes) -> bytes:
        """Undo it. Raises Unreadable."""
        if data[:1] == PACKED:
            return _larger(data[1:])
        if data[:1] == PLAIN:
            return data[1:]
        message = "Expected what Compression writes, found something else"
        raise Unreadable(message)


def _larger(data: bytes) -> bytes:
    """What was compressed, up to the bound that no honest value reaches. Raises Unreadable."""
    unpack = zlib.decompressobj()
    try:
        plain = unpack.decompress(data, DECODED_BYTES_MAX)
    except zlib.error as error:
        message = "Expected what zlib has compressed, found something else"
        raise Unreadable(message) from error
    if not unpack.eof:
        message = f"Expected at most {DECODED_BYTES_MAX} bytes when decompressed (DECODED_BYTES_MAX), found more"
        raise Unreadable(message)
    return plain


def _check_key(name: str, key: bytes) -> None:
    """An id that fits, and a key of a length that AES has. Raises Misconfigured; it never shows a key."""
    if not 1 <= len(name.encode()) <= KEY_TEXT_BYTES_MAX:
        message = f"Expected the id of a key to take 1 to {KEY_TEXT_BYTES_MAX} bytes, found {name!r}"
        raise Misconfigured(message)
    if not isinstance(key, bytes | bytearray) or len(key) not in KEY_BYTES:  # pyright: ignore[reportUnnecessaryIsInstance] - a caller's
        found = f"{len(key)} bytes" if isinstance(key, bytes | bytearray) else type(key).__name__  # pyright: ignore[reportUnnecessaryIsInstance]
        message = f"Expected key {name!r} to be 16, 24 or 32 bytes, found {found}"
        raise Misconfigured(message)
