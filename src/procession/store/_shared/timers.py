"""The job that stands for a start timer of a deployed version, the same in every store. It writes nothing."""

from __future__ import annotations

from procession.jobs.kinds import TIMER_QUEUE, JobKind
from procession.store.rows import NewJob, NewStartTimer


def start_timer_job(key: int, timer: NewStartTimer, definition: int, tenant: str) -> NewJob:
    """The timer's first firing; it belongs to no instance."""
    return NewJob(
        key=key,
        kind=JobKind.TIMER,
        queue=TIMER_QUEUE,
        type="",
        element=timer.element,
        definition=definition,
        run_at=timer.due_at,
        args=timer.args,
        tenant=tenant,
    )
