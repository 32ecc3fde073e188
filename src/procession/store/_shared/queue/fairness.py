"""Jobs of one queue take turns by a key: each gets a place in line as if every key had a line of its own.

The line of a queue is the order of its READY jobs: ``run_at`` within a priority. A new job's place is one millisecond
after the last one of its key, but never before the job that is first in line now, and from there on if its key has had
no place for a while (start-time fair queueing). So a key with ten thousand jobs in line makes another one wait for one
of them. One row per queue and key is written on insert; claims are as they always were.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from procession.jobs.kinds import JobState
from procession.store._shared.queue.script import Script, ask_for

if TYPE_CHECKING:
    from procession.store._shared.queue.submitting import Draft

_Line = tuple[str, str]


def take_turns(drafts: Iterable[Draft], now: int) -> Script[None]:
    """Give READY jobs with a fair key their places in line."""
    fair = [draft for draft in drafts if draft.options.fair_key and draft.state == JobState.READY]
    if not fair:
        return
    names: list[_Line] = sorted({(draft.job.queue, draft.options.fair_key) for draft in fair})
    keys: list[dict[str, object]] = [{"queue": queue, "key": key} for queue, key in names]
    yield from ask_for("add_fair", keys)
    places: dict[_Line, int] = {(row[0], row[1]): row[2] for row in (yield from ask_for("lock_fair", keys))}
    firsts: dict[tuple[str, int], int] = {}
    for draft in fair:
        line = (draft.job.queue, draft.priority)
        if line not in firsts:
            rows = yield from ask_for("first_in_line", [draft.job.queue], draft.priority)
            firsts[line] = rows[0][0] if rows else 0
        first = firsts[line]
        name = (draft.job.queue, draft.options.fair_key)
        place = max(first, places[name] + 1) if first else now
        firsts[line] = first or place
        places[name] = draft.due = place
    yield from ask_for("set_fair", [{"queue": queue, "key": key, "place": places[queue, key]} for queue, key in names])
