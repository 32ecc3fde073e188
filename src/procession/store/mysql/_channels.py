"""Message channels as numbers: what listens to one, what is sent to one, and the lock that both hold.

A channel's number is a digest of tenant, name and correlation key: one narrow index finds it, and a message and a
subscription of the same channel lock the same bucket. Two channels that share a number are told apart by their texts.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Final

from procession.store._shared.matching import Channel
from procession.store.mysql._sessions import Answer, Session

BUCKETS: Final = 1_000  # rows of procession_channel_lock


def number_of(channel: Channel) -> int:
    """The channel's number, as a signed number of 64 bits."""
    return int.from_bytes(_digest(channel, 8), "big", signed=True)


def number_of_signal(tenant: str, name: str) -> int:
    """The number of a signal's channel: whatever its subscriptions say, a signal has no correlation key."""
    return number_of((tenant, name, ""))


def identity_of(tenant: str, name: str, correlation_key: str, message_id: str) -> bytes:
    """What makes a message with an id the only one of its kind."""
    return _digest((tenant, name, correlation_key, message_id), 16)


def put_locks(session: Session, numbers: Iterable[int]) -> Answer:
    """Lock channels until the transaction ends: first of all, and sorted, as everyone does."""
    return session.put("lock_channels", buckets=sorted({number % BUCKETS for number in numbers}))


def _digest(parts: tuple[str, ...], size: int) -> bytes:
    return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=size).digest()  # no text has a NUL
