"""Whether the books balance: what the engine says became of each order against what the world really did. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

# How an order may end, and what must then have been done for it, each exactly once.
DONE_AT_END = {
    "shipped": {"charge", "ask", "ship"},
    "declined": {"notify"},
    "rejected": {"charge", "ask", "refund"},
}
REMINDERS = {"remind warehouse", "remind managers"}  # depend on who was late: allowed, never required


@dataclass
class Ended:
    """What the engine's history says about one order."""

    order_id: str
    state: str  # of the instance
    times: int  # how often the history says that it ended
    ends: Sequence[str]  # the end events of the process that were reached, reminders left out


def problems(orders: Collection[Ended], effects: Collection[tuple[str, str]]) -> list[str]:
    """Everything that does not balance, in words; empty when all is well."""
    found: list[str] = []
    done: dict[str, set[str]] = {order.order_id: set() for order in orders}
    for order_id, what in effects:
        if order_id not in done:
            found.append(f"{order_id}: the world did '{what}' for an order that nobody placed")
            continue
        done[order_id].add(what)
    for order in orders:
        found += _of_one(order, done[order.order_id] - REMINDERS)
    found += [f"{order_id}: placed {n} times" for order_id, n in _twice(orders)]
    return found


def _of_one(order: Ended, done: set[str]) -> list[str]:
    if order.state != "COMPLETED" or order.times != 1 or len(order.ends) != 1:
        reached = ", ".join(order.ends) or "nothing"
        return [f"{order.order_id}: expected one end, found {order.state}, ended {order.times} times, at {reached}"]
    wanted = DONE_AT_END[order.ends[0]]
    found = [f"{order.order_id}: {order.ends[0]}, but '{what}' was never done" for what in sorted(wanted - done)]
    return found + [f"{order.order_id}: {order.ends[0]}, but '{what}' was done" for what in sorted(done - wanted)]


def _twice(orders: Collection[Ended]) -> list[tuple[str, int]]:
    return [(order_id, n) for order_id, n in Counter(order.order_id for order in orders).items() if n > 1]
