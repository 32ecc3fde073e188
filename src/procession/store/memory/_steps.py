"""Steps: everything is looked at before anything is written, so that a step is applied wholly or not at all."""

from __future__ import annotations

from collections.abc import Container, Iterable

import msgspec

from procession.core.state import Status
from procession.ids import Keys
from procession.jobs.kinds import FOLLOW_UP_QUEUE, JobState
from procession.store._shared.refusals import clean_text, refusal_of_step
from procession.store._shared.texts import held_channel_error, known_key_error
from procession.store.memory._jobs import is_held
from procession.store.memory._messages import match_subscription, release_start_channel
from procession.store.memory._tables import Tables, Waiting
from procession.store.rows import (
    HistoryRow,
    JobChange,
    NewIncident,
    NewSubscription,
    NewUserTask,
    Step,
    StepOutcome,
    StepResult,
    StoredIncident,
    StoredInstance,
    StoredJob,
    StoredSubscription,
    StoredUserTask,
)

_ENDED = (Status.COMPLETED, Status.TERMINATED)


def apply_step(tables: Tables, step: Step, keys: Keys) -> StepResult:
    """Write one step, or say why nothing was written."""
    instance = tables.instances.get(step.instance)
    if (instance.rev if instance else -1) != step.rev:
        return StepResult(outcome=StepOutcome.STALE)
    for fence in (*step.closed_jobs, *step.changed_jobs):
        if fence.lease and not _is_leased(tables, fence.key, fence.lease):
            return StepResult(outcome=StepOutcome.FENCED)
    if refusal := refusal_of_step(step) or _collision(tables, step):
        return StepResult(outcome=StepOutcome.REFUSED, error=refusal)
    now = tables.clock()
    if instance is None:
        instance = _insert_instance(tables, step, now)
    else:
        _update_instance(instance, step, now)
    if step.start_channel and step.rev <= 0:
        tables.start_channels[instance.tenant, step.process_id, step.start_channel] = step.instance
    _write_jobs(tables, step, now)
    _write_people(tables, step, now)
    _move_rows(tables, step)
    woken = _write_subscriptions(tables, step, keys, now)
    if step.release_channel:
        channel = (instance.tenant, step.process_id, step.release_channel)
        woken |= release_start_channel(tables, step.instance, channel, keys, now)
    if step.events is not None:
        tables.position += 1
        row = HistoryRow(
            position=tables.position,
            instance=step.instance,
            definition=step.definition,
            at=now,
            events=step.events,
        )
        tables.history.setdefault(step.instance, []).append(row)
    return StepResult(outcome=StepOutcome.APPLIED, woken=[FOLLOW_UP_QUEUE] if woken else [])


def _is_leased(tables: Tables, key: int, lease: int) -> bool:
    job = tables.jobs.get(key)
    return job is not None and job.lease == lease and is_held(job)


def _collision(tables: Tables, step: Step) -> str:
    """Which key of the step is in use already, in words."""
    if step.start_channel and step.rev <= 0:
        instance = tables.instances.get(step.instance)
        tenant = step.tenant or (instance.tenant if instance else "")
        holder = tables.start_channels.get((tenant, step.process_id, step.start_channel), step.instance)
        if holder != step.instance:
            return held_channel_error(step.process_id, step.start_channel, holder)
    return (
        _first_known("job", [row.key for row in step.new_jobs], tables.jobs)
        or _first_known("subscription", [row.key for row in step.new_subscriptions], tables.subscriptions)
        or _first_known("incident", [row.key for row in step.new_incidents], tables.incidents)
        or _first_known("user task", [row.key for row in step.new_user_tasks], tables.user_tasks)
    )


def _first_known(what: str, keys: Iterable[int], known: Container[int]) -> str:
    seen: set[int] = set()
    for key in keys:
        if key in known or key in seen:
            return known_key_error(what, key)
        seen.add(key)
    return ""


def _insert_instance(tables: Tables, step: Step, now: int) -> StoredInstance:
    instance = StoredInstance(
        key=step.instance,
        rev=1,
        definition=step.definition,
        process_id=step.process_id,
        status=step.status,
        state=step.state,
        variables=b"{}" if step.variables is None else step.variables,
        business_id=step.business_id,
        parent=step.parent,
        parent_element_instance=step.parent_element_instance,
        tags=list(step.tags),
        tenant=step.tenant,
        started_at=now,
        ended_at=now if step.status in _ENDED else 0,
    )
    tables.instances[step.instance] = instance
    return instance


def _update_instance(instance: StoredInstance, step: Step, now: int) -> None:
    instance.business_id = step.business_id or instance.business_id
    if step.rev == 0:
        instance.parent = step.parent or instance.parent
        instance.parent_element_instance = step.parent_element_instance or instance.parent_element_instance
        instance.tags = list(step.tags) or instance.tags
        instance.tenant = step.tenant or instance.tenant
    instance.rev += 1
    instance.definition, instance.process_id = step.definition, step.process_id
    instance.status, instance.state = step.status, step.state
    if step.variables is not None:
        instance.variables = step.variables
    instance.ended_at = now if step.status in _ENDED else 0


def _write_jobs(tables: Tables, step: Step, now: int) -> None:
    for fence in step.closed_jobs:
        tables.jobs.pop(fence.key, None)
    for change in step.changed_jobs:
        _change_job(tables, change)
    for new in step.new_jobs:
        tables.insert_job(new, now)


def _change_job(tables: Tables, change: JobChange) -> None:
    job = tables.jobs.get(change.key)
    if job is None:
        return
    if change.retries >= 0:
        job.retries, job.crashes = change.retries, 0
    if change.error:
        job.error = clean_text(change.error)
    if change.state != JobState.RUNNING:
        job.owner = 0
    job.state = change.state
    if change.state == JobState.READY:
        tables.make_ready(job)
    elif change.state == JobState.SCHEDULED:
        tables.schedule(job)


def _write_people(tables: Tables, step: Step, now: int) -> None:
    """Incidents and user tasks."""
    for key in step.closed_incidents:
        if incident := tables.incidents.pop(key, None):
            tables.incident_counts[incident.instance] -= 1
    for incident in step.new_incidents:
        tables.incidents[incident.key] = _stored_incident(incident, now)
        tables.incident_counts[incident.instance] = tables.incident_counts.get(incident.instance, 0) + 1
    for key in step.closed_user_tasks:
        tables.user_tasks.pop(key, None)
    for task in step.new_user_tasks:
        tables.user_tasks[task.key] = _stored_user_task(task, now)
    for change in step.changed_user_tasks:
        if task := tables.user_tasks.get(change.key):
            for field, value in change.changes.items():
                setattr(task, field, value)


def _move_rows(tables: Tables, step: Step) -> None:
    """Rows of a migrated instance go with it to the step's definition."""
    for moved in step.moved_rows:
        match moved.table:
            case "job":
                row = tables.jobs.get(moved.key)
            case "subscription":
                waiting = tables.subscriptions.get(moved.key)
                row = waiting.row if waiting is not None else None
            case "incident":
                row = tables.incidents.get(moved.key)
            case _:
                row = tables.user_tasks.get(moved.key)
        if row is None:
            continue
        row.element, row.definition = moved.element, step.definition
        if not isinstance(row, StoredJob):
            row.process_id = step.process_id
        if isinstance(row, StoredUserTask):
            row.name = moved.name


def _write_subscriptions(tables: Tables, step: Step, keys: Keys, now: int) -> bool:
    """Close and open subscriptions; whether a buffered message met one."""
    for key in step.closed_subscriptions:
        tables.remove_subscription(key)
    woken = False
    for new in step.new_subscriptions:
        waiting = Waiting(row=_stored_subscription(new, step), created_at=now)
        tables.add_subscription(waiting)
        woken |= match_subscription(tables, waiting, keys, now)
    return woken


def _stored_subscription(new: NewSubscription, step: Step) -> StoredSubscription:
    return StoredSubscription(
        key=new.key,
        instance=new.instance,
        element_instance=new.element_instance,
        element=new.element,
        definition=step.definition,
        process_id=new.process_id,
        trigger=new.trigger,
        name=new.name,
        correlation_key=new.correlation_key,
        once=new.once,
        tenant=new.tenant,
    )


def _stored_incident(new: NewIncident, now: int) -> StoredIncident:
    fields = msgspec.structs.asdict(new)
    fields["message"] = clean_text(new.message)
    return StoredIncident(**fields, created_at=now)


def _stored_user_task(new: NewUserTask, now: int) -> StoredUserTask:
    return StoredUserTask(**msgspec.structs.asdict(new), created_at=now)
