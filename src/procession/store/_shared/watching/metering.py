"""The scripts of the meter, and their calls: add to it, read a span of it, forget what is old."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from procession.store._shared.queue.script import Script, ask_for
from procession.store.rows.metering import MeterRow


def add_meter(rows: Sequence[MeterRow]) -> Script[None]:
    """Add to what was counted."""
    together: dict[tuple[int, int], dict[str, Any]] = {}
    for row in rows:
        place = (row.at, row.id)
        fields = together.get(place)
        if fields is None:
            together[place] = {**msgspec.structs.asdict(row), "id": row.id}
        else:
            fields["times"] += row.times
            fields["last_at"] = max(fields["last_at"], row.last_at)
    yield from ask_for("add_meter", [together[place] for place in sorted(together)])


def read_meter(since: int, until: int, measures: Sequence[int], limit: int) -> Script[list[MeterRow]]:
    """What was counted, by time."""
    rows = yield from ask_for("read_meter", sorted(measures), since, until, limit)
    return [
        MeterRow(
            at=row[0],
            measure=row[1],
            times=row[2],
            last_at=row[3],
            tenant=row[4],
            name=row[5],
            worker=row[6],
            detail=row[7],
        )
        for row in rows
    ]


def forget_meter(before: int, measures: Sequence[int], limit: int) -> Script[None]:
    """Delete what is old."""
    yield from ask_for("forget_meter", sorted(measures), before, limit)
