"""Pauses of queues and job types, and the counts per minute."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from procession.errors import InvalidValue
from procession.limits import KEY_TEXT_BYTES_MAX
from procession.store._shared.queue.script import Script, ask_for
from procession.store._shared.refusals import check_text, clean_text
from procession.store.rows.queue import PauseKind
from procession.store.rows.queue_reading import StatRow

MINUTE_MS = 60_000


def pause(kind: PauseKind, name: str, reason: str, now: int) -> Script[bool]:
    """Pause; False where it was paused already."""
    check_text(name, "a queue or type", KEY_TEXT_BYTES_MAX, "KEY_TEXT_BYTES_MAX")
    names = [{"kind": int(kind), "name": name}]
    if (yield from ask_for("lock_pauses", names)):
        return False
    yield from ask_for("add_pauses", [{**names[0], "since": now, "reason": clean_text(reason)}])
    return True


def resume(kind: PauseKind, name: str) -> Script[bool]:
    """Go on; False where it was not paused."""
    names = [{"kind": int(kind), "name": name}]
    if not (yield from ask_for("lock_pauses", names)):
        return False
    yield from ask_for("remove_pauses", names)
    return True


def add_stats(rows: Sequence[StatRow]) -> Script[None]:
    """Add counts to what is there, in the order of their keys."""
    for row in rows:
        check_text(row.queue, "queue", KEY_TEXT_BYTES_MAX, "KEY_TEXT_BYTES_MAX")
        check_text(row.type, "type")
        if row.minute % MINUTE_MS:
            raise InvalidValue(f"Expected the beginning of a minute, found instant {row.minute}")
    ordered = sorted(rows, key=_name_of)
    yield from ask_for("add_stats", [msgspec.structs.asdict(row) for row in ordered])


def _name_of(row: StatRow) -> tuple[int, str, str]:
    return row.minute, row.queue, row.type
