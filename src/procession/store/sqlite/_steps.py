"""Steps in one transaction: look at all of them with two queries, then write what may be written, table by table."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import msgspec

from procession.core.state import Status
from procession.jobs.kinds import FOLLOW_UP_QUEUE
from procession.store._shared.refusals import clean_text, refusal_of_step
from procession.store._shared.texts import held_channel_error, known_key_error
from procession.store.rows import Shape, Step, StepOutcome, StepResult
from procession.store.sqlite._jobs import insert_jobs
from procession.store.sqlite._messages import Mail
from procession.store.sqlite._session import Session, as_json

_ENDED = frozenset({int(Status.COMPLETED), int(Status.TERMINATED)})
_EMPTY = b"{}"
_CHANGEABLE_LISTS = frozenset({"candidate_users", "candidate_groups"})
_CHANGEABLE = ("name", "assignee", *_CHANGEABLE_LISTS, "due_at", "follow_up_at", "priority", "form_key")
_NEW_ROWS = (
    ("job", "new_jobs"),
    ("subscription", "new_subscriptions"),
    ("incident", "new_incidents"),
    ("user_task", "new_user_tasks"),
)


class _Place(msgspec.Struct, array_like=True, gc=False):
    """Where an instance stands before its step: a row of ``find_places``."""

    key: int
    rev: int
    definition: int
    status: int
    process_id: str

    def is_kept_by(self, step: Step) -> bool:
        """Whether the step changes nothing that an index knows."""
        return (
            step.status == self.status
            and step.definition == self.definition
            and step.process_id == self.process_id
            and self.status not in _ENDED
        )


_decode_places = msgspec.json.Decoder(list[_Place]).decode


def commit_steps(session: Session, steps: Sequence[Step]) -> list[StepResult]:
    """Apply steps; one answer each. Steps of one instance are applied one after the other."""
    if not steps:
        return []
    if session.careful:
        return [_commit_alone(session, step) for step in steps]
    if len({step.instance for step in steps}) < len(steps):
        return [result for step in steps for result in _commit_together(session, [step])]
    return _commit_together(session, steps)


def _commit_alone(session: Session, step: Step) -> StepResult:
    """Apply one step so that a refusal by the database undoes nothing else."""
    session.begin_part()
    try:
        (result,) = _commit_together(session, [step])
    except sqlite3.OperationalError:
        raise
    except (sqlite3.Error, OverflowError, UnicodeError) as error:
        session.undo_part()
        words = _known_key(session, step) or f"SQLite refuses a value of the step: {error}"
        return StepResult(outcome=StepOutcome.REFUSED, error=words)
    session.keep_part()
    return result


def _known_key(session: Session, step: Step) -> str:
    """Which new key of the step is in use already, in words."""
    for table, field in _NEW_ROWS:
        seen: set[int] = set()
        for row in getattr(step, field):
            in_use = row.key in seen or session.value(f"find_instance_of_{table}", key=row.key) is not None
            if in_use:
                return known_key_error(table.replace("_", " "), row.key)
            seen.add(row.key)
    return ""


def _commit_together(session: Session, steps: Sequence[Step]) -> list[StepResult]:
    places = _places(session, steps)
    results = _look(session, steps, places)
    applied = [step for step, result in zip(steps, results, strict=True) if result.outcome == StepOutcome.APPLIED]
    wide = [step for step in applied if step.shape() == Shape.WIDE]
    refused = _hold_start_channels(session, wide)
    if refused:
        results = [refused.get(step.instance, result) for step, result in zip(steps, results, strict=True)]
        applied = [step for step in applied if step.instance not in refused]
        wide = [step for step in wide if step.instance not in refused]
    _write_instances(session, applied, places)
    session.for_keys("delete_jobs", [fence.key for step in applied for fence in step.closed_jobs])
    insert_jobs(session, [job for step in applied for job in step.new_jobs])
    _write_history(session, applied)
    woken = _write_wide(session, wide) if wide else set[int]()
    for step, result in zip(steps, results, strict=True):
        if step.instance in woken:
            result.woken = [FOLLOW_UP_QUEUE]
    return results


def _places(session: Session, steps: Sequence[Step]) -> dict[int, _Place]:
    found = session.value("find_places", keys=as_json([step.instance for step in steps]))
    return {place.key: place for place in _decode_places(found)}


def _look(session: Session, steps: Sequence[Step], places: dict[int, _Place]) -> list[StepResult]:
    """Which steps may be applied: revisions first, then leases, then values."""
    fenced = [fence.key for step in steps for fence in (*step.closed_jobs, *step.changed_jobs) if fence.lease]
    leases = session.pairs("find_leases", fenced) if fenced else {}
    results: list[StepResult] = []
    for step in steps:
        place = places.get(step.instance)
        if (-1 if place is None else place.rev) != step.rev:
            results.append(StepResult(outcome=StepOutcome.STALE))
        elif any(fence.lease and leases.get(fence.key) != fence.lease for fence in step.closed_jobs) or any(
            fence.lease and leases.get(fence.key) != fence.lease for fence in step.changed_jobs
        ):
            results.append(StepResult(outcome=StepOutcome.FENCED))
        elif refusal := refusal_of_step(step):
            results.append(StepResult(outcome=StepOutcome.REFUSED, error=refusal))
        else:
            results.append(StepResult(outcome=StepOutcome.APPLIED))
    return results


def _write_instances(session: Session, steps: Sequence[Step], places: dict[int, _Place]) -> None:
    now = session.now
    new: list[tuple[object, ...]] = []
    changed: list[tuple[object, ...]] = []
    moved: list[tuple[object, ...]] = []
    for step in steps:
        status = int(step.status)
        ended_at = now if status in _ENDED else 0
        if step.rev < 0:
            new.append(
                (
                    step.instance,
                    step.definition,
                    status,
                    step.parent,
                    step.parent_element_instance,
                    now,
                    ended_at,
                    step.process_id,
                    step.business_id,
                    step.tenant,
                    as_json(step.tags) if step.tags else "[]",
                    _EMPTY if step.variables is None else step.variables,
                    step.state,
                )
            )
        elif places[step.instance].is_kept_by(step):
            changed.append((step.instance, step.variables, step.state))
        else:
            moved.append(
                (step.instance, step.definition, step.process_id, status, ended_at, step.variables, step.state)
            )
    session.insert("insert_instances", new)
    session.insert("update_instances", changed)
    session.insert("move_instances", moved)


def _write_history(session: Session, steps: Sequence[Step]) -> None:
    now = session.now
    session.insert(
        "insert_history",
        [(step.instance, step.definition, now, step.events) for step in steps if step.events is not None],
    )


def _hold_start_channels(session: Session, steps: Sequence[Step]) -> dict[int, StepResult]:
    """Take the channels of steps that start an instance by a correlation key; which steps cannot, and why."""
    refused: dict[int, StepResult] = {}
    for step in steps:
        if not step.start_channel or step.rev > 0:
            continue
        channel = {
            "process_id": step.process_id,
            "correlation_key": step.start_channel,
            "tenant": step.tenant or _tenants(session, [step]).get(step.instance, ""),
        }
        session.run("hold_start_channel", **channel, instance=step.instance)
        holder = session.value("find_start_channel", **channel)
        if holder != step.instance:
            words = held_channel_error(step.process_id, step.start_channel, holder)
            refused[step.instance] = StepResult(outcome=StepOutcome.REFUSED, error=words)
    return refused


def _tenants(session: Session, steps: Sequence[Step]) -> dict[int, str]:
    return dict(session.rows("find_tenants", keys=as_json([step.instance for step in steps])))


def _write_wide(session: Session, steps: Sequence[Step]) -> set[int]:
    """Everything that most steps do not have; the instances whose step met a buffered message."""
    for step in steps:
        if step.is_told_more:
            session.run(
                "start_requested_instance",
                key=step.instance,
                business_id=step.business_id,
                parent=step.parent,
                parent_element_instance=step.parent_element_instance,
                tags=as_json(step.tags),
                tenant=step.tenant,
            )
    _change_jobs(session, steps)
    _move_rows(session, steps)
    _write_incidents(session, steps)
    _write_user_tasks(session, steps)
    return _write_subscriptions(session, steps)


def _change_jobs(session: Session, steps: Sequence[Step]) -> None:
    session.for_each(
        "change_jobs",
        [
            {
                "key": change.key,
                "state": int(change.state),
                "retries": change.retries,
                "error": clean_text(change.error),
            }
            for step in steps
            for change in step.changed_jobs
        ],
    )


def _move_rows(session: Session, steps: Sequence[Step]) -> None:
    """Rows of migrated instances go with them to their steps' definitions."""
    for step in steps:
        for moved in step.moved_rows:
            values: dict[str, object] = {"key": moved.key, "element": moved.element, "definition": step.definition}
            if moved.table != "job":
                values["process_id"] = step.process_id
            if moved.table == "user_task":
                values["name"] = moved.name
            session.run(f"move_{moved.table}", **values)


def _write_incidents(session: Session, steps: Sequence[Step]) -> None:
    session.for_keys("delete_incidents", [key for step in steps for key in step.closed_incidents])
    session.insert(
        "insert_incidents",
        [
            (
                new.key,
                new.instance,
                new.element_instance,
                new.definition,
                new.job,
                session.now,
                new.element,
                new.process_id,
                new.kind,
                clean_text(new.message),
                new.fingerprint,
                new.tenant,
            )
            for step in steps
            for new in step.new_incidents
        ],
    )


def _write_user_tasks(session: Session, steps: Sequence[Step]) -> None:
    session.for_keys("delete_user_tasks", [key for step in steps for key in step.closed_user_tasks])
    session.insert(
        "insert_user_tasks",
        [
            (
                new.key,
                new.instance,
                new.element_instance,
                new.definition,
                new.due_at,
                new.follow_up_at,
                new.priority,
                session.now,
                new.element,
                new.name,
                new.process_id,
                new.assignee,
                as_json(new.candidate_users),
                as_json(new.candidate_groups),
                new.form_key,
                new.tenant,
                new.form,
            )
            for step in steps
            for new in step.new_user_tasks
        ],
    )
    for step in steps:
        for change in step.changed_user_tasks:
            values = {field: change.changes.get(field) for field in _CHANGEABLE}
            values |= {field: as_json(values[field]) for field in _CHANGEABLE_LISTS & change.changes.keys()}
            session.run("change_user_task", **values, key=change.key)


def _write_subscriptions(session: Session, steps: Sequence[Step]) -> set[int]:
    session.for_keys("delete_subscriptions", [key for step in steps for key in step.closed_subscriptions])
    session.insert(
        "insert_subscriptions",
        [
            (
                new.key,
                new.instance,
                new.element_instance,
                step.definition,
                int(new.trigger),
                int(new.once),
                session.now,
                new.process_id,
                new.element,
                new.name,
                new.correlation_key,
                new.tenant,
            )
            for step in steps
            for new in step.new_subscriptions
        ],
    )
    mail = Mail(session)
    woken: set[int] = set()
    releasing = [step for step in steps if step.release_channel]
    tenants = _tenants(session, releasing) if releasing else {}
    for step in steps:
        for new in step.new_subscriptions:
            if mail.match_subscription(new, step.definition):
                woken.add(step.instance)
        if step.release_channel and mail.release_start_channel(step, tenants.get(step.instance, "")):
            woken.add(step.instance)
    mail.send()
    return woken
