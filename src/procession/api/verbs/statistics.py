"""How often each element of a process is active, was left, was interrupted, waits for a person."""

from __future__ import annotations

from collections import Counter

from procession.api.endpoints import Call
from procession.api.search import Record


class ElementStatistics(Record):
    """How often an element is active, was left, was interrupted, waits for a person."""

    element_id: str
    active: int
    canceled: int
    incidents: int
    completed: int


class Statistics(Record):
    """Of every element that something happened at."""

    items: list[ElementStatistics]


async def count_elements(call: Call, instance: int, counts: dict[str, Counter[str]]) -> None:
    """Add what happened in one instance."""
    rows = await call.desk.rows.load([instance])
    if not rows:
        return
    for past in (await call.desk.app.past(rows[0])).elements.values():
        if past.scope == 0 or not past.element_id:
            continue
        count = counts.setdefault(past.element_id, Counter())
        count[past.state] += 1
        if past.incident:
            count["incidents"] += 1


def statistics_of(counts: dict[str, Counter[str]]) -> list[ElementStatistics]:
    """As clients see them: an element that waits for a person is not among the active ones."""
    return [
        ElementStatistics(
            element_id=element,
            active=count["ACTIVE"] - count["incidents"],
            canceled=count["TERMINATED"],
            incidents=count["incidents"],
            completed=count["COMPLETED"],
        )
        for element, count in sorted(counts.items())
    ]
