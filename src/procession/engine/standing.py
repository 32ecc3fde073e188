"""What a process does for its queues at a moment: its slots, what waits in them, what is stuck. Plain data.

Each process keeps it in the database under its node's number while it works, so that others can show it.
"""

from __future__ import annotations

from typing import Final

import msgspec

KIND: Final = "worker"  # of what is kept


class QueueSlots(msgspec.Struct, omit_defaults=True):
    """The slots of one queue."""

    queue: str
    slots: int
    types: list[str] = []  # of its handlers
    running: int = 0
    buffered: int = 0


class Stuck(msgspec.Struct):
    """A run whose handler ignores its cancellation; its slot has been replaced."""

    job: int
    type: str


class Standing(msgspec.Struct, omit_defaults=True):
    """One process."""

    queues: list[QueueSlots] = []
    stuck: list[Stuck] = []


encode: Final = msgspec.json.Encoder().encode
decode: Final = msgspec.json.Decoder(Standing).decode
