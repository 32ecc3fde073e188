"""What a job is and where it is in its life: the words that the stores, the engine and the command line share."""

from __future__ import annotations

from enum import IntEnum


class JobKind(IntEnum):
    """What a row of the job table stands for. One queue for everything that is due now or later."""

    TASK = 0  # a plain queue job: no process behind it
    SERVICE = 1  # a job of a service-like element
    METHOD = 2  # a step that waits for a process that has the method's code
    TIMER = 3  # a timer of an instance or of a start event
    FOLLOW_UP = 4  # a command for another instance, or a message to publish
    LISTENER = 5  # an execution or task listener


class JobState(IntEnum):
    """The states of a job. Succeeded and deleted ones have no row in the queue, at most one in the archive."""

    READY = 0
    RUNNING = 1
    SCHEDULED = 2  # due later: a delay, a timer, a retry that backs off
    AWAITING = 3  # waits for other jobs
    THROTTLED = 4  # held by a limit
    FAILED = 5  # no attempts left; kept until somebody requeues or deletes it
    SUSPENDED = 6  # its instance is suspended
    SUCCEEDED = 7
    DELETED = 8  # deleted, canceled, or doomed because a job that it comes after was deleted


REMOTE = -1  # owner of a job leased to a worker that is no node: SCHEDULED for the end of its lease, then READY again

FOLLOW_UP_QUEUE = "$follow-up"
TIMER_QUEUE = "$timer"
SUBMIT_QUEUE = "$submit"  # jobs with options that a caller's own transaction asked for
METHOD_QUEUE_PREFIX = "$method:"
JOB_QUEUE_PREFIX = "$job:"


def method_queue(name: str) -> str:
    """The queue of the steps that wait for the method ``name``."""
    return METHOD_QUEUE_PREFIX + name


def job_queue(job_type: str) -> str:
    """The queue of the process jobs of a type; the prefix keeps them apart from plain queues of the same name."""
    return JOB_QUEUE_PREFIX + job_type
