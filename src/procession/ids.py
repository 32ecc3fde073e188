"""Keys: 64-bit integers, known before the row is inserted. It never reads a clock or a random source.

A key is ``partition << 51 | counter``, as in Zeebe, so keys are positive, sortable by creation within a partition, and
fit the clients that expect Camunda 8's keys. Counters are taken from the database in blocks (``Store.take_keys``).
"""

from __future__ import annotations

from typing import NewType

from procession.errors import Bug

InstanceKey = NewType("InstanceKey", int)
ElementInstanceKey = NewType("ElementInstanceKey", int)
JobKey = NewType("JobKey", int)
DefinitionKey = NewType("DefinitionKey", int)

PARTITION_SHIFT = 51
FIRST_PARTITION = 1


def key_of(partition: int, counter: int) -> int:
    """The key of a counter within a partition (1 to 4095)."""
    return partition << PARTITION_SHIFT | counter


class Keys:
    """A stock of unused keys, handed to ``decide`` as an argument so that it stays pure.

    ``refill`` adds a block; ``take`` gives the next key. Running dry is a bug of the caller, who has to refill before
    a step (a step takes at most ``limits.STEP_KEYS_MAX``).
    """

    __slots__ = ("end", "next", "spare")

    def __init__(self, block: range = range(0)) -> None:
        self.next = block.start
        self.end = block.stop
        self.spare: list[range] = []

    def __len__(self) -> int:
        """How many keys are left."""
        return self.end - self.next + sum(len(block) for block in self.spare)

    def refill(self, block: range) -> None:
        """Add a block of keys that nobody else has."""
        self.spare.append(block)

    def take(self) -> int:
        """The next unused key. Raises Bug when the stock is empty."""
        key = self.next
        if key >= self.end:
            if not self.spare:
                message = "No keys left: the stock was not refilled before the step"
                raise Bug(message)
            block = self.spare.pop(0)
            key, self.end = block.start, block.stop
        self.next = key + 1
        return key

    def take_row(self, count: int) -> int:
        """The first of so many keys in a row, all of them taken; 0 if the block at hand ends before."""
        key = self.next
        after = key + count
        if after > self.end:
            return 0
        self.next = after
        return key

    def take_many(self, count: int) -> list[int]:
        """The next unused keys. Raises Bug when the stock is empty."""
        taken: list[int] = []
        while len(taken) < count:
            taken.append(self.take())  # the first of a further block, if this one is used up
            end = min(self.end, self.next + count - len(taken))
            taken += range(self.next, end)
            self.next = end
        return taken
