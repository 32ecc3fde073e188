"""Everything adjustable about a worker."""

from __future__ import annotations

import msgspec

from procession.worker.registry import CONCURRENCY


class WorkerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything adjustable about a worker."""

    concurrency: int = CONCURRENCY  # handlers at once per queue, where neither handler nor queue says otherwise
    queues: dict[str, int] = {}  # concurrency of plain queues
    stuck_ms: int = 5_000  # a cancelled handler that goes on for longer loses its slot
    processes: int = 2
    process_calls_max: int = 1_000  # calls before a process of a handler is replaced
