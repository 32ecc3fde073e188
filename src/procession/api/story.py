"""An instance's history as entries for people: what happened, where, what it changed, how long it took.

It is told event by event, so that a long history can be told in pieces. Pure: rows in, entries out.
"""

# ruff: noqa: D102 - one small method for each event, named like it

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from procession.api.search import Record
from procession.api.words import element_type, incident_type, instance_state
from procession.core import events as e
from procession.core.state import IncidentKind
from procession.jobs.kinds import JobKind
from procession.jobs.schedule import to_datetime
from procession.model.definition import Definition, Trigger
from procession.store.rows import HistoryRow

_events: Final = msgspec.json.Decoder(list[e.AnyEvent]).decode


class Change(Record):
    """A variable that was written. Where only names are kept, ``isKnown`` is false and both values are null."""

    name: str
    before: Any
    after: Any
    is_new: bool
    is_known: bool


class StoryEntry(Record, omit_defaults=True):
    """One thing that happened. Only what belongs to its type is there."""

    position: int
    index: int
    date: datetime
    type: str
    element_id: str | UnsetType = UNSET
    element_name: str | UnsetType = UNSET
    element_type: str | UnsetType = UNSET
    element_instance_key: str | UnsetType = UNSET
    scope_key: str | UnsetType = UNSET
    took_ms: int | UnsetType = UNSET
    loop_index: int | UnsetType = UNSET
    sequence_flow_id: str | UnsetType = UNSET
    changes: list[Change] | UnsetType = UNSET
    job_key: str | UnsetType = UNSET
    job_type: str | UnsetType = UNSET
    job_kind: str | UnsetType = UNSET
    retries: int | UnsetType = UNSET
    outcome: str | UnsetType = UNSET
    user_task_key: str | UnsetType = UNSET
    assignee: str | UnsetType = UNSET
    details: dict[str, Any] | UnsetType = UNSET
    trigger: str | UnsetType = UNSET
    due_date: datetime | UnsetType = UNSET
    name: str | UnsetType = UNSET
    correlation_key: str | UnsetType = UNSET
    code: str | UnsetType = UNSET
    message: str | UnsetType = UNSET
    incident_key: str | UnsetType = UNSET
    error_type: str | UnsetType = UNSET
    process_instance_key: str | UnsetType = UNSET  # called, or the one that called
    process_definition_key: str | UnsetType = UNSET
    state: str | UnsetType = UNSET
    decision_id: str | UnsetType = UNSET
    decision_version: int | UnsetType = UNSET
    result: Any = UNSET
    trace: list[Any] | UnsetType = UNSET


class _Active(msgspec.Struct):
    """An element instance that has begun."""

    element: int
    scope: int
    since: int


class Story:
    """What is known while the history is read. ``definition`` is to be set before each step of another version."""

    def __init__(self, *, has_values: bool) -> None:
        self.definition: Definition | None = None
        self.position = 0  # of the last step that was told
        self._has_values = has_values
        self._active: dict[int, _Active] = {}
        self._owners: dict[int, int] = {}  # jobs, tasks, timers, subscriptions, incidents: their element instances
        self._variables: dict[tuple[int, str], Any] = {}  # by scope and name
        self._root = 0

    def tell(self, row: HistoryRow) -> list[StoryEntry]:
        """The entries of one step."""
        entries: list[StoryEntry] = []
        for index, event in enumerate(_events(row.events)):
            for fields in self._entries(event, row.at):
                kind = fields.pop("type")
                place = {"position": row.position, "index": index, "date": to_datetime(row.at), "type": kind}
                entries.append(StoryEntry(**place, **fields))
        self.position = row.position
        return entries

    def _entries(self, event: e.AnyEvent, at: int) -> Iterator[dict[str, Any]]:
        """What an event tells; nothing where it is the engine's own business."""
        teller = _TELLERS.get(type(event))
        told = teller(self, event, at) if teller is not None else None
        if told is not None:
            yield told

    # -- places -------------------------------------------------------------------------------------------------------
    def _at(self, key: int) -> dict[str, Any]:
        """Where an element instance is."""
        active = self._active.get(key)
        return {"element_instance_key": str(key), **(self._of(active.element) if active is not None else {})}

    def _of(self, element: int) -> dict[str, Any]:
        """An element by its index."""
        definition = self.definition
        if definition is None or not 0 <= element < len(definition.elements):
            return {}
        found = definition.elements[element]
        name = definition.process_id if element == 0 else found.id
        return {"element_id": name, "element_name": found.name or name, "element_type": element_type(found.kind)}

    def _owned(self, key: int) -> dict[str, Any]:
        """Where what has this key belongs."""
        return self._at(self._owners.pop(key)) if key in self._owners else {}

    def begin(self, key: int, element: int, scope: int, at: int) -> None:
        """An element instance begins."""
        self._active[key] = _Active(element, scope, at)

    # -- events -------------------------------------------------------------------------------------------------------
    def started(self, event: e.Started, at: int) -> dict[str, Any]:
        self._root = event.instance
        self.begin(event.instance, 0, 0, at)
        more = {"process_instance_key": str(event.parent)} if event.parent else {}
        return {"type": "started", "process_definition_key": str(event.definition), **self._of(0), **more}

    def ended(self, event: e.Ended, at: int) -> dict[str, Any]:
        root = self._active.get(self._root)
        took = {"took_ms": at - root.since} if root is not None else {}
        message = {"message": event.reason} if event.reason else {}
        return {"type": "ended", "state": instance_state(event.status), **took, **message}

    def activated(self, event: e.Activated, at: int) -> dict[str, Any] | None:
        known = event.key in self._active
        self.begin(event.key, event.element, event.scope, at)
        if known or not event.scope:
            return None  # the process itself
        loop = {"loop_index": event.loop_index} if event.loop_index else {}
        scope = str(event.scope)
        return {"type": "element-started", "scope_key": scope, **loop, **self._at(event.key)}

    def over(self, event: e.Completed | e.Terminated, at: int) -> dict[str, Any] | None:
        place = self._at(event.key)
        active = self._active.pop(event.key, None)
        if active is None or not active.scope:
            return None
        kind = "element-completed" if isinstance(event, e.Completed) else "element-terminated"
        return {"type": kind, "took_ms": at - active.since, **place}

    def passed(self, event: e.Passed, at: int) -> dict[str, Any]:
        del at
        return {
            "type": "element-passed",
            "element_instance_key": str(event.key),
            "scope_key": str(event.scope),
            **self._of(event.element),
        }

    def flow(self, event: e.FlowTaken, at: int) -> dict[str, Any] | None:
        del at
        definition = self.definition
        if definition is None or not 0 <= event.flow < len(definition.flows):
            return None
        return {
            "type": "flow-taken",
            "sequence_flow_id": definition.flows[event.flow].id,
            "scope_key": str(event.scope),
        }

    def variables(self, event: e.VariablesSet, at: int) -> dict[str, Any] | None:
        del at
        if not event.values:
            return None
        changes: list[Change] = []
        for name, value in event.values.items():
            place = (event.scope, name)
            is_new = place not in self._variables
            before = self._variables.get(place)
            known = self._has_values or value is not None
            changes.append(Change(name=name, before=before, after=value, is_new=is_new, is_known=known))
            self._variables[place] = value
        return {"type": "variables", "scope_key": str(event.scope), "changes": changes, **self._at(event.scope)}

    def job(self, event: e.JobCreated, at: int) -> dict[str, Any]:
        del at
        self._owners[event.key] = event.element_instance
        return {
            "type": "job-created",
            "job_key": str(event.key),
            "job_type": event.type,
            "job_kind": JobKind(event.kind).name,
            "retries": event.retries,
            **self._at(event.element_instance),
        }

    def job_closed(self, event: e.JobClosed, at: int) -> dict[str, Any]:
        del at
        return {"type": "job-ended", "job_key": str(event.key), "outcome": event.outcome, **self._owned(event.key)}

    def job_revived(self, event: e.JobRevived, at: int) -> dict[str, Any]:
        del at
        owner = self._owners.get(event.key)
        place = self._at(owner) if owner is not None else {}
        return {"type": "job-revived", "job_key": str(event.key), "retries": event.retries, **place}

    def task(self, event: e.UserTaskCreated, at: int) -> dict[str, Any]:
        del at
        self._owners[event.key] = event.element_instance
        more: dict[str, Any] = {"assignee": event.assignee} if event.assignee else {}
        if event.due:
            more["due_date"] = to_datetime(event.due)
        return {
            "type": "user-task-created",
            "user_task_key": str(event.key),
            **more,
            **self._at(event.element_instance),
        }

    def task_updated(self, event: e.UserTaskUpdated, at: int) -> dict[str, Any]:
        del at
        owner = self._owners.get(event.key)
        place = self._at(owner) if owner is not None else {}
        return {
            "type": "user-task-updated",
            "user_task_key": str(event.key),
            "outcome": event.action,
            "details": event.changes,
            **place,
        }

    def task_closed(self, event: e.UserTaskClosed, at: int) -> dict[str, Any]:
        del at
        return {
            "type": "user-task-ended",
            "user_task_key": str(event.key),
            "outcome": event.outcome,
            **self._owned(event.key),
        }

    def timer(self, event: e.TimerArmed, at: int) -> dict[str, Any]:
        del at
        self._owners[event.key] = event.element_instance
        place = {**self._at(event.element_instance), **self._of(event.element)}
        return {"type": "timer-set", "due_date": to_datetime(event.due), "trigger": "TIMER", **place}

    def subscribed(self, event: e.Subscribed, at: int) -> dict[str, Any]:
        del at
        self._owners[event.key] = event.element_instance
        return {
            "type": "subscribed",
            "trigger": Trigger(event.trigger).name,
            "name": event.name,
            "correlation_key": event.correlation_key,
            **self._at(event.element_instance),
            **self._of(event.element),
        }

    def wait_closed(self, event: e.WaitClosed, at: int) -> dict[str, Any]:
        del at
        return {"type": "wait-ended", "outcome": event.reason, **self._owned(event.key)}

    def triggered(self, event: e.Triggered, at: int) -> dict[str, Any]:
        del at
        return {
            "type": "triggered",
            "trigger": Trigger(event.trigger).name,
            "scope_key": str(event.scope),
            **({"message": event.detail} if event.detail else {}),
            **self._of(event.element),
        }

    def error(self, event: e.ErrorThrown, at: int) -> dict[str, Any]:
        del at
        kind = Trigger(event.trigger).name
        return {"type": "error", "trigger": kind, "code": event.code, "message": event.message, **self._at(event.key)}

    def call(self, event: e.CallStarted, at: int) -> dict[str, Any]:
        del at
        return {"type": "called", "process_instance_key": str(event.instance), **self._at(event.element_instance)}

    def call_ended(self, event: e.CallEnded, at: int) -> dict[str, Any]:
        del at
        return {"type": "call-ended", "outcome": event.outcome, **self._at(event.element_instance)}

    def incident(self, event: e.IncidentRaised, at: int) -> dict[str, Any]:
        del at
        from_job = {"job_key": str(event.job)} if event.job else {}
        self._owners[event.key] = event.element_instance
        return {
            "type": "incident",
            "incident_key": str(event.key),
            "error_type": incident_type(IncidentKind(event.kind).name),
            "message": event.message,
            **from_job,
            **self._at(event.element_instance),
        }

    def resolved(self, event: e.IncidentResolved, at: int) -> dict[str, Any]:
        del at
        return {
            "type": "incident-ended",
            "incident_key": str(event.key),
            "outcome": event.reason,
            **self._owned(event.key),
        }

    def migrated(self, event: e.Migrated, at: int) -> dict[str, Any]:
        del at
        for active in self._active.values():
            active.element = event.elements.get(active.element, active.element)
        return {"type": "migrated", "process_definition_key": str(event.definition)}

    def modified(self, event: e.Modified, at: int) -> dict[str, Any]:
        del at
        moved = {"ended": [self._of(each) for each in event.ended], "begun": [self._of(each) for each in event.begun]}
        names = {side: [place.get("element_name", "") for place in places] for side, places in moved.items()}
        return {"type": "modified", "details": names}

    def warned(self, event: e.Warned, at: int) -> dict[str, Any]:
        del at
        return {"type": "warning", "message": event.message, **self._of(event.element)}

    def decided(self, event: e.DecisionEvaluated, at: int) -> dict[str, Any]:
        del at
        return {
            "type": "decision",
            "decision_id": event.decision_id,
            "decision_version": event.version,
            "result": event.result,
            "trace": event.trace,
            **({"message": event.warnings} if event.warnings else {}),
            **self._of(event.element),
        }

    def suspended(self, event: e.Suspended | e.Resumed, at: int) -> dict[str, Any]:
        del at
        return {"type": "suspended" if isinstance(event, e.Suspended) else "resumed"}


_TELLERS: Final[dict[type[e.Event], Any]] = {
    e.Started: Story.started,
    e.Ended: Story.ended,
    e.Activated: Story.activated,
    e.Completed: Story.over,
    e.Terminated: Story.over,
    e.Passed: Story.passed,
    e.FlowTaken: Story.flow,
    e.VariablesSet: Story.variables,
    e.JobCreated: Story.job,
    e.JobClosed: Story.job_closed,
    e.JobRevived: Story.job_revived,
    e.UserTaskCreated: Story.task,
    e.UserTaskUpdated: Story.task_updated,
    e.UserTaskClosed: Story.task_closed,
    e.TimerArmed: Story.timer,
    e.Subscribed: Story.subscribed,
    e.WaitClosed: Story.wait_closed,
    e.Triggered: Story.triggered,
    e.ErrorThrown: Story.error,
    e.CallStarted: Story.call,
    e.CallEnded: Story.call_ended,
    e.IncidentRaised: Story.incident,
    e.IncidentResolved: Story.resolved,
    e.Migrated: Story.migrated,
    e.Suspended: Story.suspended,
    e.Resumed: Story.suspended,
    e.Modified: Story.modified,
    e.Warned: Story.warned,
    e.DecisionEvaluated: Story.decided,
}
