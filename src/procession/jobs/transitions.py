"""The one table of a job's states: what may happen in which state, and where it leads. Pure.

Stores follow it, the conformance suite holds them to it, and the diagram in the documentation is drawn from it
(``diagram``). READY and THROTTLED stand for each other: a job with limits is THROTTLED wherever another one is READY.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec

from procession.jobs.kinds import JobState
from procession.jobs.options import Trait

ARCHIVED: Final = frozenset({JobState.SUCCEEDED, JobState.DELETED})  # no row in the queue, at most one in the archive
FINAL: Final = ARCHIVED | {JobState.FAILED}
STARTED: Final = FINAL | {JobState.RUNNING}  # no new job with the same unique key replaces it or pushes it back


class Happening(StrEnum):
    """What may happen to a job."""

    INSERTED = "inserted"
    RESOLVED = "the last one that it comes after has ended"
    DUE = "its time has come"
    CLAIMED = "claimed under its limits"
    MOVED = "no slot or start free"
    SUCCEEDED = "succeeded"
    RETRIED = "failed, attempts are left"
    SNOOZED = "snoozed"
    RELEASED = "returned unstarted"
    RESCUED = "its process died"
    FAILED = "failed for good"
    EXPIRED = "deadline over"
    CANCELED = "canceled"
    DOOMED = "one that it comes after was deleted"
    DELETED = "deleted"
    REQUEUED = "requeued"
    PAUSED = "suspended"
    RESUMED = "resumed"


class Transition(msgspec.Struct, frozen=True):
    """``before`` None: there is no such job yet."""

    before: JobState | None
    happening: Happening
    after: JobState


def _rows(*rows: tuple[tuple[JobState | None, ...], Happening, tuple[JobState, ...]]) -> tuple[Transition, ...]:
    return tuple(
        Transition(before, happening, after)
        for befores, happening, afters in rows
        for before in befores
        for after in afters
    )


_READY, _THROTTLED, _SCHEDULED, _AWAITING = JobState.READY, JobState.THROTTLED, JobState.SCHEDULED, JobState.AWAITING
_RUNNING, _FAILED, _SUSPENDED = JobState.RUNNING, JobState.FAILED, JobState.SUSPENDED
_WAITING = (_AWAITING, _SCHEDULED, _READY, _THROTTLED)

TRANSITIONS: Final[tuple[Transition, ...]] = _rows(
    ((None,), Happening.INSERTED, (*_WAITING, _RUNNING)),
    ((None,), Happening.DOOMED, (JobState.DELETED,)),
    ((_AWAITING,), Happening.RESOLVED, (_READY, _THROTTLED, _SCHEDULED)),
    ((_SCHEDULED,), Happening.DUE, (_READY, _THROTTLED)),
    ((_READY, _THROTTLED), Happening.CLAIMED, (_RUNNING,)),
    ((_THROTTLED,), Happening.MOVED, (_THROTTLED,)),
    ((_RUNNING,), Happening.SUCCEEDED, (JobState.SUCCEEDED,)),
    ((_RUNNING,), Happening.RETRIED, (_SCHEDULED, _READY, _THROTTLED)),
    ((_RUNNING,), Happening.SNOOZED, (_SCHEDULED, _READY, _THROTTLED)),
    ((_RUNNING,), Happening.RELEASED, (_READY, _THROTTLED)),
    ((_RUNNING,), Happening.RESCUED, (_READY, _THROTTLED, _SCHEDULED, _FAILED)),
    ((_RUNNING,), Happening.FAILED, (_FAILED,)),
    (_WAITING, Happening.EXPIRED, (_FAILED,)),
    ((*_WAITING, _SUSPENDED, _RUNNING), Happening.CANCELED, (JobState.DELETED,)),
    ((_AWAITING,), Happening.DOOMED, (JobState.DELETED,)),
    ((*_WAITING, _SUSPENDED, _FAILED), Happening.DELETED, (JobState.DELETED,)),
    ((_FAILED, _SCHEDULED), Happening.REQUEUED, (_READY, _THROTTLED)),
    (_WAITING, Happening.PAUSED, (_SUSPENDED,)),
    ((_SUSPENDED,), Happening.RESUMED, (_READY, _SCHEDULED, _THROTTLED)),
)


def waiting_state(traits: int, *, due: bool) -> JobState:
    """The state of a job that waits for nothing but its time, its limits and a free worker."""
    if not due:
        return JobState.SCHEDULED
    return JobState.THROTTLED if traits & Trait.LIMITED else JobState.READY


def may_change(before: JobState | None, after: JobState) -> bool:
    """Whether anything leads from one state to the other at once."""
    return any(each.before == before and each.after == after for each in TRANSITIONS)


def diagram() -> str:
    """The table as a Mermaid state diagram."""
    lines = ["stateDiagram-v2"]
    for each in TRANSITIONS:
        before = "[*]" if each.before is None else each.before.name.lower()
        line = f"    {before} --> {each.after.name.lower()}: {each.happening}"
        if line not in lines and before != each.after.name.lower():
            lines.append(line)
    lines += [f"    {state.name.lower()} --> [*]" for state in sorted(ARCHIVED)]
    return "\n".join(lines)
