"""What becomes of a job whose unique key somebody holds. Pure."""

from __future__ import annotations

from enum import Enum, auto

from procession.jobs.kinds import JobState
from procession.jobs.options import Unique, UniqueMode
from procession.jobs.transitions import STARTED


class Meeting(Enum):
    """What a new job does when it meets the holder of its key."""

    TAKES_OVER = auto()  # it is inserted and holds the key
    IS_DUPLICATE = auto()
    REFRESHES = auto()  # the holder gets what it brings
    PUSHES_BACK = auto()  # the holder waits longer


def meet(unique: Unique, holder: JobState | None, until: int, now: int) -> Meeting:
    """The rule. ``holder`` None: the job that held the key has no row any more; ``until`` 0: held while it lives."""
    if until and until <= now:
        return Meeting.TAKES_OVER
    started = holder is None or holder in STARTED
    if not until and (holder is None or holder in STARTED - {JobState.RUNNING}):
        return Meeting.TAKES_OVER
    if unique.mode == UniqueMode.PLAIN:
        return Meeting.IS_DUPLICATE
    if started:
        return Meeting.IS_DUPLICATE if until else Meeting.TAKES_OVER
    return Meeting.REFRESHES if unique.mode == UniqueMode.REPLACE else Meeting.PUSHES_BACK


def pushed_back(unique: Unique, created_at: int, due: int) -> int:
    """The due time of a debounced holder that was first inserted at ``created_at``."""
    return min(due, created_at + unique.longest_ms) if unique.longest_ms else due
