"""The rows of the usual step, which opens and closes jobs and nothing else, in one pass over its events.

Almost every step is one: a start, a completed job, a run of methods, the end. Along straight lines (``core.lines``)
even their events need not be looked at. ``writer`` makes the same rows of any
step, with a container for each kind of them; a test compares the two. Nothing is changed here but the step's rows.
"""

from __future__ import annotations

import msgspec

from procession.core import State
from procession.core import events as e
from procession.core.lines import Trail
from procession.core.state import Status
from procession.jobs.kinds import JobKind, job_queue, method_queue
from procession.model.definition import Definition
from procession.store.rows import JobFence, NewJob, Step

USUAL: frozenset[type[e.Event]] = frozenset(
    {
        e.Started,
        e.Ended,
        e.Activated,
        e.Completed,
        e.Passed,
        e.FlowTaken,
        e.TokenParked,
        e.TokensJoined,
        e.VariablesSet,
        e.JobCreated,
        e.JobClosed,
    }
)
METHOD, ACTIVE = JobKind.METHOD, int(Status.ACTIVE)


class Ledger(msgspec.Struct):
    """What the rows of an instance need beyond its state. Belongs to whoever caches the state."""

    instance: int
    rev: int
    timers: set[int] = set()  # which of the state's waits are timers
    channel: str = ""  # the message start key it holds
    tags: list[str] = []
    tenant: str = ""
    marks: list[int] = []  # of the last steps that no lease can tell from another process' steps


def fill_along(
    step: Step, definition: Definition, state: State, fences: dict[int, int], ledger: Ledger, trails: list[Trail]
) -> bool:
    """Put the rows of steps along straight lines into one step. False, with nothing done, if there are others too."""
    if ledger.channel and state.status != ACTIVE:
        return False
    if len(trails) == 1:  # most steps: one command, one job closed and one opened at most
        trail = trails[0]
        key, opened = trail.closed, trail.opened
        if len(fences) != (key in fences):
            return False
        if opened is not None:
            step.new_jobs = [job_row(opened, definition, state, ledger)]
        if key:
            step.closed_jobs = [JobFence(key=key, lease=fences.get(key, 0))]
        return True
    created: dict[int, e.JobCreated] = {}
    closed: list[JobFence] = []
    fenced = 0
    for trail in trails:
        key, opened = trail.closed, trail.opened
        if key and created.pop(key, None) is None:
            fenced += key in fences
            closed.append(JobFence(key=key, lease=fences.get(key, 0)))
        if opened is not None:
            created[opened.key] = opened
    if fenced != len(fences):
        return False
    if created:
        step.new_jobs = [job_row(event, definition, state, ledger) for event in created.values()]
    step.closed_jobs = closed
    return True


def fill_usual(
    step: Step,
    definition: Definition,
    state: State,
    events: list[e.Event],
    fences: dict[int, int],
    ledger: Ledger,
) -> bool:
    """Put the rows of events of USUAL kinds into the step. False, with nothing done, if it is not usual after all."""
    created: dict[int, e.JobCreated] = {}
    closed: list[JobFence] = []
    fenced = 0
    for event in events:
        if type(event) is e.JobCreated:
            created[event.key] = event
        elif type(event) is e.JobClosed:
            key = event.key
            if created.pop(key, None) is None:
                fenced += key in fences
                closed.append(JobFence(key=key, lease=fences.get(key, 0)))
        elif (type(event) is e.Started and event.start_channel) or (type(event) is e.Ended and ledger.channel):
            return False
    if fenced != len(fences):
        return False
    if created:
        step.new_jobs = [job_row(event, definition, state, ledger) for event in created.values()]
    step.closed_jobs = closed
    return True


def job_row(event: e.JobCreated, definition: Definition, state: State, ledger: Ledger) -> NewJob:
    """A job of an element; the queue is that of its type or method."""
    owner = state.nodes.get(event.element_instance)
    return NewJob(
        key=event.key,
        kind=event.kind,
        queue=method_queue(event.type) if event.kind == METHOD else job_queue(event.type),
        type=event.type,
        instance=ledger.instance,
        element_instance=event.element_instance,
        element=definition.elements[owner.element].id if owner is not None else "",
        definition=definition.key,
        priority=event.priority,
        retries=event.retries,
        tenant=ledger.tenant,
    )
