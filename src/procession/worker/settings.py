"""Everything adjustable about a worker."""

from __future__ import annotations

import msgspec

from procession.errors import Misconfigured
from procession.limits import KEY_TEXT_BYTES_MAX, QUEUE_WEIGHT_MAX
from procession.worker.registry import CONCURRENCY, CONCURRENCY_MAX


class WorkerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything adjustable about a worker. Raises Misconfigured for weights that cannot be."""

    concurrency: int = CONCURRENCY  # handlers at once per queue, where neither handler nor queue says otherwise
    queues: dict[str, int] = {}  # concurrency of plain queues
    weights: dict[str, int] = {}  # take plain jobs from these queues alone, in ``concurrency`` slots that they share
    stuck_ms: int = 5_000  # a cancelled handler that goes on for longer loses its slot
    processes: int = 2
    process_calls_max: int = 1_000  # calls before a process of a handler is replaced
    process_memory_mb_max: int = 0  # a process that has taken more is replaced after its call; 0: however large

    def __post_init__(self) -> None:
        """What is shared has to be shareable."""
        if not 1 <= self.concurrency <= CONCURRENCY_MAX:
            message = f"Expected a concurrency of 1 to {CONCURRENCY_MAX}, found {self.concurrency!r}"
            raise Misconfigured(message)
        for queue, weight in self.weights.items():
            if not 1 <= len(queue.encode()) <= KEY_TEXT_BYTES_MAX or queue.startswith("$"):
                message = (
                    f"Expected queues of yours, of 1 to {KEY_TEXT_BYTES_MAX} bytes and without '$' at the beginning, "
                    f"found {queue!r}"
                )
                raise Misconfigured(message)
            if not isinstance(weight, int) or isinstance(weight, bool) or not 1 <= weight <= QUEUE_WEIGHT_MAX:  # pyright: ignore[reportUnnecessaryIsInstance] - a caller's
                message = (
                    f"Expected the weight of queue '{queue}' to be a whole number from 1 to {QUEUE_WEIGHT_MAX} "
                    f"(QUEUE_WEIGHT_MAX), found {weight!r}"
                )
                raise Misconfigured(message)
