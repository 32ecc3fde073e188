"""The messages of an in-memory world: buffered with a time to live, one taker per process. It starts nothing."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from procession.core.commands import Send
from procession.errors import Conflict


class Channel(NamedTuple):
    """Name and correlation key."""

    name: str
    key: str


class Message(msgspec.Struct):
    """A published message. ``taken``: ids of the processes that took it."""

    key: int
    channel: Channel
    variables: dict[str, Any]
    expires: int
    message_id: str
    taken: set[str]


class Messages:
    """The messages that wait, oldest first."""

    def __init__(self) -> None:
        self.buffered: dict[int, Message] = {}
        self.postponed: list[Send] = []  # for instances that are suspended

    def admit(self, message: Message, now: int) -> None:
        """Refuse a message whose id is known while that one lives. Raises Conflict."""
        self.sweep(now)
        for other in self.buffered.values():
            if message.message_id and (other.channel, other.message_id) == (message.channel, message.message_id):
                text = f"A message '{message.channel.name}' with the id '{message.message_id}' was published already"
                raise Conflict(text)

    def keep(self, message: Message) -> None:
        """Buffer a message until its time to live ends, for processes that have not taken it yet."""
        self.buffered[message.key] = message

    def waiting(self, now: int) -> list[Message]:
        """The messages that live, oldest first."""
        self.sweep(now)
        return list(self.buffered.values())

    def find(self, key: int) -> Message | None:
        """The message that waits under this key."""
        return self.buffered.get(key)

    def postpone(self, send: Send) -> None:
        """Keep a correlation for an instance that takes no steps now."""
        self.postponed.append(send)

    def resumed(self, instance: int) -> list[Send]:
        """What was kept for an instance that takes steps again."""
        kept = [send for send in self.postponed if send.instance == instance]
        self.postponed = [send for send in self.postponed if send.instance != instance]
        return kept

    def sweep(self, now: int) -> None:
        """Drop what has lived."""
        self.buffered = {key: message for key, message in self.buffered.items() if message.expires > now}
