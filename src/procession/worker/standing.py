"""What the slots of a process do at a moment, for people elsewhere. It only looks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import FrameType

from procession.engine import Delivery
from procession.engine.standing import QueueSlots, Standing, Stuck
from procession.jobs.kinds import JOB_QUEUE_PREFIX, METHOD_QUEUE_PREFIX
from procession.worker.line import Line
from procession.worker.registry import Registry


def standing_of(lines: Mapping[str, Line], registry: Registry, stuck: Iterable[Delivery]) -> Standing:
    """Every queue that has a handler here, or work."""
    types: dict[str, list[str]] = {}
    for handler in registry.jobs.values():
        types.setdefault(handler.queue, []).append(handler.name)
    return Standing(
        queues=[_slots(line, sorted(types.get(name, [])) or _own_type(name)) for name, line in sorted(lines.items())],
        stuck=[Stuck(delivery.key, delivery.type or delivery.queue) for delivery in stuck],
    )


def handler_at(registry: Registry, frame: FrameType) -> str:
    """The handler that a frame belongs to, or its callers; empty if none."""
    current: FrameType | None = frame
    while current is not None:
        handler = registry.handler_at(current.f_code)
        if handler is not None:
            return repr(handler)
        current = current.f_back
    return ""


def _slots(line: Line, types: list[str]) -> QueueSlots:
    running = sum(slot.delivery is not None for slot in line.slots)
    return QueueSlots(line.queue, line.concurrency, types, running, len(line.buffer))


def _own_type(queue: str) -> list[str]:
    """The type in the name of a queue of process jobs or methods."""
    for prefix in (JOB_QUEUE_PREFIX, METHOD_QUEUE_PREFIX):
        if queue.startswith(prefix):
            return [queue.removeprefix(prefix)]
    return []
