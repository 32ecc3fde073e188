"""Messages on their way between processes, and in which order they can be received. It knows no process.

An engine of this kind keeps messages until somebody waits for them, whatever came first: ``BAG``. The other orders are
those of the literature on collaborations; they show what a model would do over a transport that keeps an order.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple, assert_never

Messages = tuple[int, ...]  # numbers of message flows: one entry per message that nobody has received yet


class Network(StrEnum):
    """In which order messages are received."""

    BAG = "bag"  # in any order
    PAIR = "pair"  # first in, first out, between each two processes
    INBOX = "inbox"  # first in, first out, for each receiver
    OUTBOX = "outbox"  # first in, first out, for each sender
    FIFO = "fifo"  # first in, first out, for all together
    SYNCHRONOUS = "synchronous"  # one message at a time: nobody sends while one is on its way


class Link(NamedTuple):
    """A message flow between elements of two processes."""

    number: int
    id: str
    sender: int  # process
    source: int  # element
    receiver: int
    target: int
    line: int


def sent(network: Network, links: tuple[Link, ...], messages: Messages, number: int) -> Messages | None:
    """The messages on their way after one was sent; None where it has to wait."""
    if network == Network.BAG:
        return tuple(sorted((*messages, number)))
    if network == Network.SYNCHRONOUS and messages:
        return None
    return tuple(sorted((*messages, number), key=lambda entry: _queue(network, links[entry])))


def receivable(network: Network, links: tuple[Link, ...], messages: Messages) -> Iterator[int]:
    """Positions of the messages that can be received now, one of those that are alike."""
    seen: set[object] = set()
    for position, number in enumerate(messages):
        queue = number if network == Network.BAG else _queue(network, links[number])
        if queue not in seen:
            seen.add(queue)
            yield position


def _queue(network: Network, link: Link) -> tuple[int, int]:
    match network:
        case Network.PAIR:
            return (link.sender, link.receiver)
        case Network.INBOX:
            return (link.receiver, -1)
        case Network.OUTBOX:
            return (link.sender, -1)
        case Network.BAG | Network.FIFO | Network.SYNCHRONOUS:
            return (-1, -1)
        case _:
            assert_never(network)
