"""From what was decided to the rows that are written: one pure function, ``write_step``.

A job, subscription, timer, user task or incident that a step both opens and closes is never written. Variables travel
only when the instance's own changed. A value over its limit is refused here, before anything is written.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from operator import is_
from typing import Any

import msgspec

from procession.core import State, encode_state
from procession.core import events as e
from procession.core.commands import FollowUp
from procession.core.lines import Trail
from procession.core.state import IncidentKind
from procession.engine.history import encode_along, encode_events
from procession.engine.moved import moved_rows
from procession.engine.settings import History
from procession.engine.usual import USUAL, Ledger, fill_along, fill_usual, job_row
from procession.engine.values import encode_json
from procession.errors import InvalidValue
from procession.ids import Keys
from procession.jobs.kinds import FOLLOW_UP_QUEUE, TIMER_QUEUE, JobKind, JobState
from procession.limits import STATE_BYTES_MAX, VARIABLES_BYTES_MAX
from procession.model.definition import Definition
from procession.store.rows import (
    JobChange,
    JobFence,
    NewIncident,
    NewJob,
    NewSubscription,
    NewUserTask,
    Step,
    UserTaskChange,
)

FOLLOW_UP_RETRIES = 10  # attempts that fail for a technical reason before the job is kept as FAILED

_TASK_COLUMNS = {"due": "due_at", "follow_up": "follow_up_at"}
_DIGITS = re.compile(r"\d+")


class Draft(msgspec.Struct, gc=False):
    """What was decided for one instance and is not written yet: perhaps several commands, one after the other."""

    events: list[e.Event] = []
    trails: list[Trail] | None = []  # one for each decision along a straight line; None: there was another one
    follow_ups: list[FollowUp] = []
    fences: dict[int, int] = {}  # job -> lease under which it must be held
    extra_jobs: list[NewJob] = []  # rows beside the events: the next firing of a start timer
    raw: bytes = b""  # JSON of the variables it was started with
    started_with: dict[str, Any] = {}  # and the variables themselves


def timers_of(state: State) -> set[int]:
    """Which waits of a loaded state are timers: those with a due instant."""
    if not state.waits:
        return set()
    return {wait.key for node in state.nodes.values() if node.waits for wait in node.waits if wait.due}


def write_step(
    definition: Definition, state: State, draft: Draft, ledger: Ledger, *, keys: Keys, now: int, level: History
) -> Step:
    """The rows of one step. Changes the ledger (timers, channel), never the state. Raises InvalidValue over a limit."""
    trails, rev = draft.trails, ledger.rev
    step = Step(
        instance=ledger.instance,
        rev=rev,
        definition=definition.key,
        process_id=definition.process_id,
        status=state.status,
        state=_state_bytes(state, ledger.marks),
    )
    if trails and fill_along(step, definition, state, draft.fences, ledger, trails):
        written = False
        for trail in trails:
            written = written or trail.written >= 0
        step.events = encode_along(draft.events, level, trails)
        writes = written or rev <= 0
    else:
        writes = _fill(step, definition, state, draft, ledger, now, level) or rev <= 0
    if writes:
        is_start = trails and len(trails) == 1 and not trails[0].closed  # it has the variables that it was given
        step.variables = draft.raw if is_start and draft.raw else _variable_bytes(state, draft)
    if rev <= 0:
        step.business_id = state.business_id
        step.parent = state.parent
        step.parent_element_instance = state.parent_element_instance
        step.tags = ledger.tags
        step.tenant = ledger.tenant
    for follow_up in draft.follow_ups:
        step.new_jobs.append(_follow_up_job(follow_up, keys.take(), ledger, definition))
    if draft.extra_jobs:
        step.new_jobs.extend(draft.extra_jobs)
    return step


def _fill(
    step: Step, definition: Definition, state: State, draft: Draft, ledger: Ledger, now: int, level: History
) -> bool:
    """The rows of a step of any kind, from its events; whether the instance's variables changed."""
    kinds = set(map(type, draft.events))
    step.events = encode_events(draft.events, level, kinds)
    if not (kinds <= USUAL and fill_usual(step, definition, state, draft.events, draft.fences, ledger)):
        rows = _Rows(definition, state, ledger, now)
        for event in draft.events:
            write = _WRITERS.get(type(event))
            if write is not None:
                write(rows, event)
        rows.fill(step, draft.fences)
    if e.BusinessIdAssigned in kinds:
        step.business_id = state.business_id
    return e.VariablesSet in kinds and _writes_variables(draft.events, ledger.instance)


def _writes_variables(events: list[e.Event], instance: int) -> bool:
    """Whether the instance's own variables changed: only they are stored apart."""
    return any(type(event) is e.VariablesSet and event.scope == instance for event in events)


class _Rows:
    """The rows gathered so far; what is opened and closed again leaves no trace."""

    __slots__ = (
        "changed_jobs",
        "closed_incidents",
        "closed_jobs",
        "closed_subscriptions",
        "closed_tasks",
        "definition",
        "incidents",
        "jobs",
        "ledger",
        "migrated",
        "now",
        "release",
        "start_channel",
        "state",
        "subscriptions",
        "task_changes",
        "tasks",
        "timers",
    )

    def __init__(self, definition: Definition, state: State, ledger: Ledger, now: int) -> None:
        self.definition = definition
        self.state = state
        self.ledger = ledger
        self.now = now
        self.jobs: dict[int, e.JobCreated] = {}
        self.timers: dict[int, e.TimerArmed] = {}
        self.closed_jobs: list[int] = []
        self.changed_jobs: dict[int, JobChange] = {}
        self.subscriptions: dict[int, e.Subscribed] = {}
        self.closed_subscriptions: list[int] = []
        self.incidents: dict[int, e.IncidentRaised] = {}
        self.closed_incidents: list[int] = []
        self.tasks: dict[int, e.UserTaskCreated] = {}
        self.task_changes: dict[int, dict[str, object]] = {}
        self.closed_tasks: list[int] = []
        self.migrated = False
        self.start_channel = ""
        self.release = ""

    def element_id(self, element_instance: int) -> str:
        """The element id of an element instance that is still there."""
        node = self.state.nodes.get(element_instance)
        return self.definition.elements[node.element].id if node is not None else ""

    def fill(self, step: Step, fences: dict[int, int]) -> None:
        """Put what is left into the step."""
        if self.jobs:
            step.new_jobs = [job_row(event, self.definition, self.state, self.ledger) for event in self.jobs.values()]
        for event in self.timers.values():
            step.new_jobs.append(self._timer(event))
        self._fill_closed_jobs(step, fences)
        if self.changed_jobs:
            step.changed_jobs = list(self.changed_jobs.values())
        if self.subscriptions or self.closed_subscriptions:
            step.new_subscriptions = [self._subscription(event) for event in self.subscriptions.values()]
            step.closed_subscriptions = self.closed_subscriptions
        if self.incidents or self.closed_incidents:
            step.new_incidents = [self._incident(event) for event in self.incidents.values()]
            step.closed_incidents = self.closed_incidents
        if self.tasks or self.task_changes or self.closed_tasks:
            self._fill_user_tasks(step)
        if self.migrated:
            step.migrates = True
            new = self.jobs.keys() | self.timers.keys() | self.subscriptions.keys() | self.tasks.keys()
            step.moved_rows = moved_rows(self.definition, self.state, self.ledger.timers, new | self.incidents.keys())
        if self.release:
            step.release_channel = self.release
        elif self.start_channel:
            step.start_channel = self.start_channel

    def _fill_closed_jobs(self, step: Step, fences: dict[int, int]) -> None:
        """Closed jobs with the lease they are fenced by, if any; a fenced job that stays is changed under its lease."""
        closed = [JobFence(key=key, lease=fences.get(key, 0)) for key in self.closed_jobs]
        if fences:
            seen = set(self.closed_jobs)
            for key, lease in fences.items():
                if key in seen:
                    continue
                change = self.changed_jobs.get(key)
                if change is not None:
                    change.lease = lease
                elif key in self.state.jobs:
                    self.changed_jobs[key] = JobChange(key=key, state=JobState.FAILED, lease=lease)
                else:
                    closed.append(JobFence(key=key, lease=lease))
        step.closed_jobs = closed

    def _fill_user_tasks(self, step: Step) -> None:
        """New, changed and closed user tasks."""
        step.new_user_tasks = [self._user_task(event) for event in self.tasks.values()]
        step.changed_user_tasks = [
            UserTaskChange(key=key, changes=changes) for key, changes in self.task_changes.items()
        ]
        step.closed_user_tasks = self.closed_tasks

    def _timer(self, event: e.TimerArmed) -> NewJob:
        """A timer: a job that becomes ready when it is due."""
        return NewJob(
            key=event.key,
            kind=JobKind.TIMER,
            queue=TIMER_QUEUE,
            type="",
            instance=self.ledger.instance,
            element_instance=event.element_instance,
            element=self.definition.elements[event.element].id,
            definition=self.definition.key,
            run_at=event.due if event.due > self.now else 0,
            retries=FOLLOW_UP_RETRIES,
            tenant=self.ledger.tenant,
        )

    def _subscription(self, event: e.Subscribed) -> NewSubscription:
        """A waiting message, signal or condition."""
        return NewSubscription(
            key=event.key,
            instance=self.ledger.instance,
            element_instance=event.element_instance,
            element=self.definition.elements[event.element].id,
            process_id=self.definition.process_id,
            trigger=event.trigger,
            name=event.name,
            correlation_key=event.correlation_key,
            once=event.once,
            tenant=self.ledger.tenant,
        )

    def _incident(self, event: e.IncidentRaised) -> NewIncident:
        """A problem, with a fingerprint that is the same for the same problem of other instances."""
        element = self.element_id(event.element_instance)
        kind = IncidentKind(event.kind).name
        gist = f"{self.definition.process_id}|{element}|{kind}|{_DIGITS.sub('#', event.message)[:500]}"
        return NewIncident(
            key=event.key,
            instance=self.ledger.instance,
            element_instance=event.element_instance,
            element=element,
            definition=self.definition.key,
            process_id=self.definition.process_id,
            kind=kind,
            message=event.message,
            job=event.job,
            fingerprint=f"{zlib.crc32(gist.encode(errors='replace')):08x}",
            tenant=self.ledger.tenant,
        )

    def _user_task(self, event: e.UserTaskCreated) -> NewUserTask:
        """An open user task, with what changed since it was created in the same step."""
        node = self.state.nodes[event.element_instance]
        element = self.definition.elements[node.element]
        task = NewUserTask(
            key=event.key,
            instance=self.ledger.instance,
            element_instance=event.element_instance,
            element=element.id,
            name=element.name,
            definition=self.definition.key,
            process_id=self.definition.process_id,
            assignee=event.assignee,
            candidate_users=list(event.candidate_users),
            candidate_groups=list(event.candidate_groups),
            due_at=event.due,
            follow_up_at=event.follow_up,
            priority=event.priority,
            form_key=event.form_key,
            form=event.form,
            tenant=self.ledger.tenant,
        )
        changes = self.task_changes.pop(event.key, None)
        return msgspec.structs.replace(task, **changes) if changes else task


# --- one small function per event that has rows -----------------------------------------------------------------------


def _started(rows: _Rows, event: e.Started) -> None:
    """The instance may hold its message start key."""
    rows.ledger.channel = rows.start_channel = event.start_channel


def _ended(rows: _Rows, event: e.Ended) -> None:  # noqa: ARG001 - same shape as its siblings
    """The message start key is free again."""
    rows.release, rows.ledger.channel = rows.ledger.channel, ""


def _job_created(rows: _Rows, event: e.JobCreated) -> None:
    rows.jobs[event.key] = event


def _job_closed(rows: _Rows, event: e.JobClosed) -> None:
    if rows.jobs.pop(event.key, None) is None:
        rows.closed_jobs.append(event.key)
        rows.changed_jobs.pop(event.key, None)


def _job_revived(rows: _Rows, event: e.JobRevived) -> None:
    if event.key not in rows.jobs:
        rows.changed_jobs[event.key] = JobChange(
            key=event.key, state=JobState.READY, retries=event.retries if event.retries > 0 else -1
        )


def _timer_armed(rows: _Rows, event: e.TimerArmed) -> None:
    rows.timers[event.key] = event
    rows.ledger.timers.add(event.key)


def _subscribed(rows: _Rows, event: e.Subscribed) -> None:
    rows.subscriptions[event.key] = event


def _wait_closed(rows: _Rows, event: e.WaitClosed) -> None:
    key = event.key
    if key in rows.ledger.timers:
        rows.ledger.timers.discard(key)
        if rows.timers.pop(key, None) is None:
            rows.closed_jobs.append(key)
    elif rows.subscriptions.pop(key, None) is None:
        rows.closed_subscriptions.append(key)


def _incident_raised(rows: _Rows, event: e.IncidentRaised) -> None:
    rows.incidents[event.key] = event
    if event.job and event.job in rows.state.jobs and event.job not in rows.jobs:
        rows.changed_jobs[event.job] = JobChange(key=event.job, state=JobState.FAILED, retries=0, error=event.message)


def _incident_resolved(rows: _Rows, event: e.IncidentResolved) -> None:
    if rows.incidents.pop(event.key, None) is None:
        rows.closed_incidents.append(event.key)


def _task_created(rows: _Rows, event: e.UserTaskCreated) -> None:
    rows.tasks[event.key] = event


def _task_updated(rows: _Rows, event: e.UserTaskUpdated) -> None:
    changes = {_TASK_COLUMNS.get(name, name): value for name, value in event.changes.items()}
    rows.task_changes.setdefault(event.key, {}).update(changes)


def _task_closed(rows: _Rows, event: e.UserTaskClosed) -> None:
    rows.task_changes.pop(event.key, None)
    if rows.tasks.pop(event.key, None) is None:
        rows.closed_tasks.append(event.key)


def _suspended(rows: _Rows, event: e.Suspended) -> None:  # noqa: ARG001 - same shape as its siblings
    """Jobs and timers are hidden; a new one of this very step is written ready and found again when it is claimed."""
    for key in _open_jobs(rows):
        rows.changed_jobs[key] = JobChange(key=key, state=JobState.SUSPENDED)


def _resumed(rows: _Rows, event: e.Resumed) -> None:  # noqa: ARG001 - same shape as its siblings
    """Jobs are ready again, except those that wait for an incident; timers are scheduled again."""
    stuck = {incident.job for incident in rows.state.incidents.values()}
    for key in _open_jobs(rows):
        if key in stuck:
            state = JobState.FAILED
        elif key in rows.ledger.timers:
            state = JobState.SCHEDULED
        else:
            state = JobState.READY
        rows.changed_jobs[key] = JobChange(key=key, state=state)


def _open_jobs(rows: _Rows) -> list[int]:
    """Jobs and timers of the instance that have a row already."""
    nodes = rows.state.nodes
    jobs = [key for key, owner in rows.state.jobs.items() if nodes[owner].job == key]
    return [key for key in [*jobs, *rows.ledger.timers] if key not in rows.jobs and key not in rows.timers]


def _migrated(rows: _Rows, event: e.Migrated) -> None:  # noqa: ARG001 - same shape as its siblings
    """Every row of the instance goes with it."""
    rows.migrated = True


_WRITERS: dict[type[e.Event], Callable[[_Rows, Any], None]] = {
    e.Started: _started,
    e.Ended: _ended,
    e.JobCreated: _job_created,
    e.JobClosed: _job_closed,
    e.JobRevived: _job_revived,
    e.TimerArmed: _timer_armed,
    e.Subscribed: _subscribed,
    e.WaitClosed: _wait_closed,
    e.IncidentRaised: _incident_raised,
    e.IncidentResolved: _incident_resolved,
    e.UserTaskCreated: _task_created,
    e.UserTaskUpdated: _task_updated,
    e.UserTaskClosed: _task_closed,
    e.Suspended: _suspended,
    e.Resumed: _resumed,
    e.Migrated: _migrated,
}


def _follow_up_job(follow_up: FollowUp, key: int, ledger: Ledger, definition: Definition) -> NewJob:
    """A system job that carries what must reach something other than this instance."""
    args = encode_json(follow_up)
    if len(args) > VARIABLES_BYTES_MAX:
        raise InvalidValue(
            f"Expected what instance {ledger.instance} passes on to take at most {VARIABLES_BYTES_MAX} bytes as JSON "
            f"(VARIABLES_BYTES_MAX), found {len(args)} in {type(follow_up).__name__}"
        )
    return NewJob(
        key=key,
        kind=JobKind.FOLLOW_UP,
        queue=FOLLOW_UP_QUEUE,
        type=type(follow_up).__name__,
        instance=ledger.instance,
        definition=definition.key,
        retries=FOLLOW_UP_RETRIES,
        args=args,
        tenant=ledger.tenant,
    )


def _state_bytes(state: State, marks: list[int]) -> bytes:
    """The scope tree, bounded."""
    raw = encode_state(state, marks)
    if len(raw) > STATE_BYTES_MAX:
        raise InvalidValue(
            f"Expected the state of instance {state.key} to take at most {STATE_BYTES_MAX} bytes (STATE_BYTES_MAX), "
            f"found {len(raw)} with {len(state.nodes)} active elements"
        )
    return raw


def _variable_bytes(state: State, draft: Draft) -> bytes:
    """The instance's variables as JSON, bounded; encoded once if nothing was added to what it was started with."""
    variables = state.variables
    raw = draft.raw if draft.raw and _same_values(variables, draft.started_with) else encode_json(variables)
    if len(raw) > VARIABLES_BYTES_MAX:
        raise InvalidValue(
            f"Expected the variables of instance {state.key} to take at most {VARIABLES_BYTES_MAX} bytes as JSON "
            f"(VARIABLES_BYTES_MAX), found {len(raw)}"
        )
    return raw


def _same_values(variables: dict[str, Any], started_with: dict[str, Any]) -> bool:
    """Whether these are the very values (not equals: True equals 1) that the JSON at hand was made from."""
    return (
        len(variables) == len(started_with)
        and all(map(is_, variables.values(), started_with.values()))
        and variables.keys() == started_with.keys()
    )
