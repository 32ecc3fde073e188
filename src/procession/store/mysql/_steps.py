"""The commit protocol: many steps of different instances in one transaction; look at all, then write, table by table.

Why that is safe under READ COMMITTED, where other transactions commit while it runs:

- *The guard is the instance's row.* It is locked (``FOR UPDATE``, in key order) by the statement that looks at it and
  held to the commit: what was looked at cannot change in between. A new instance is guarded by its primary key: an
  insert waits for a concurrent one of the same key and then fails, and its step, looked at again, is STALE.
- *Fences are exact.* The jobs that a step closes are locked and looked at before anything is written.
- *Locks are taken in one order*: channels (buckets, sorted), instances, jobs, the rest, each in key order; claims and
  rescues skip what is locked. Should the server still see a deadlock, or a lock be held too long, it ends one
  transaction, and that one is done again (_sessions.py): its caller never hears of it.

Round trips: starts are one (BEGIN, inserts, COMMIT in a packet), other steps two (look; write and COMMIT), those that
meet a buffered message or free a start channel up to four.

A value that the server refuses ends the transaction with nothing written. Then the batch is halved until the refused
step stands alone; its neighbours are applied in their halves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgspec

from procession.core.state import Status
from procession.errors import Bug, InvalidValue
from procession.ids import Keys
from procession.jobs.kinds import FOLLOW_UP_QUEUE, JobState
from procession.store._shared.matching import needs_channel
from procession.store._shared.refusals import clean_text, refusal_of_step
from procession.store._shared.texts import held_channel_error, known_key_error
from procession.store.mysql._channels import number_of, number_of_signal
from procession.store.mysql._failures import Duplicate
from procession.store.mysql._jobs import CASES_MAX, put_jobs, put_keys, put_rows
from procession.store.mysql._matching import Match
from procession.store.mysql._sessions import Session, Sessions
from procession.store.mysql._statements import Literals, blob, number, quoted, text
from procession.store.rows import NewSubscription, Shape, Step, StepOutcome, StepResult

_ENDED: Final = frozenset({int(Status.COMPLETED), int(Status.TERMINATED)})
_SIGNAL: Final = 3  # model.Trigger.SIGNAL
_LISTS: Final = frozenset({"candidate_users", "candidate_groups"})
_CHANGEABLE: Final = ("name", "assignee", *sorted(_LISTS), "due_at", "follow_up_at", "priority", "form_key")
_NEW_ROWS: Final = (
    ("job", "new_jobs"),
    ("subscription", "new_subscriptions"),
    ("incident", "new_incidents"),
    ("user_task", "new_user_tasks"),
)
_encode_json = msgspec.json.Encoder().encode

Answers = dict[int, StepResult]  # per instance


class Place(NamedTuple):
    """Where an instance stands before its step: a row of find_places.sql."""

    key: int
    rev: int
    definition: int
    status: int
    process_id: str
    tenant: str

    def is_kept_by(self, step: Step) -> bool:
        """Whether the step changes nothing that an index knows."""
        return (
            step.status == self.status
            and step.definition == self.definition
            and step.process_id == self.process_id
            and self.status not in _ENDED
        )


async def commit(sessions: Sessions, steps: Sequence[Step], keys: Keys) -> list[StepResult]:
    """Apply steps; one answer per step, in order."""
    if not steps:
        return []
    if len({step.instance for step in steps}) != len(steps):
        raise Bug("Expected at most one step per instance in a commit")
    refusals = {step.instance: why for step in steps if (why := refusal_of_step(step))}
    ordered = sorted(steps, key=_instance_of)
    if not refusals and all(step.shape() is Shape.START for step in ordered) and await _start(sessions, ordered):
        return [StepResult(outcome=StepOutcome.APPLIED) for _ in steps]
    answers = await _apply(sessions, ordered, keys, refusals)
    return [answers[step.instance] for step in steps]


async def commit_within(session: Session, step: Step, keys: Keys) -> StepResult:
    """Apply one step in a transaction that the session has joined. What it writes is gathered, not sent yet."""
    why = refusal_of_step(step)
    return (await _commit(session, [step], keys, {step.instance: why} if why else {}))[step.instance]


async def _start(sessions: Sessions, steps: list[Step]) -> bool:
    """Insert new instances without a look; False where one of them, or a value of them, needs one."""

    async def work(session: Session) -> None:
        _put_common(session, steps, {})

    try:
        await sessions.transact(work)
    except InvalidValue:
        return False
    return True


async def _apply(sessions: Sessions, steps: list[Step], keys: Keys, refusals: dict[int, str]) -> Answers:
    """Apply steps, halving the batch for as long as the server refuses a value in it."""
    try:
        return await sessions.transact(lambda session: _commit(session, steps, keys, refusals))
    except InvalidValue as refused:
        if len(steps) == 1:
            return await _refused(sessions, steps[0], keys, refused)
    middle = len(steps) // 2
    first = await _apply(sessions, steps[:middle], keys, refusals)
    return first | await _apply(sessions, steps[middle:], keys, refusals)


async def _refused(sessions: Sessions, step: Step, keys: Keys, refused: InvalidValue) -> Answers:
    """The answer to a step that the server refuses: for its value, or because another was faster."""
    words = str(refused)
    if isinstance(refused, Duplicate):
        words = await _known_key(sessions, step) or words
        try:  # its instance, or the start channel that it takes, may be there since we looked
            return await sessions.transact(lambda session: _commit(session, [step], keys, {}))
        except InvalidValue:
            pass
    return {step.instance: StepResult(outcome=StepOutcome.REFUSED, error=words)}


async def _known_key(sessions: Sessions, step: Step) -> str:
    """Which new key of the step is in use already, in words."""
    for table, field in _NEW_ROWS:
        seen: set[int] = set()
        for row in getattr(step, field):
            if row.key in seen or await sessions.fetch(f"find_instance_of_{table}", key=row.key):
                return known_key_error(table.replace("_", " "), row.key)
            seen.add(row.key)
    return ""


async def _commit(session: Session, steps: list[Step], keys: Keys, refusals: dict[int, str]) -> Answers:
    match = Match([step for step in steps if needs_channel(step)])
    await match.put_look(session)
    found = session.put("find_places", keys=[step.instance for step in steps])
    fences = sorted({fence.key for step in steps for fence in (*step.closed_jobs, *step.changed_jobs) if fence.lease})
    leases = session.put("find_leases", keys=fences) if fences else None
    starting = [step for step in steps if step.start_channel and step.rev <= 0]
    held = None
    if starting:
        held = session.put(
            "find_held_channels",
            process_ids=sorted({step.process_id for step in starting}),
            correlation_keys=sorted({step.start_channel for step in starting}),
        )
    await session.send()
    places = {row[0]: Place(*row) for row in found.rows}
    answers = _look(steps, places, dict(leases.rows) if leases else {}, refusals)
    holders = {tuple(row[:3]): row[3] for row in held.rows} if held else {}
    _hold_start_channels(session, starting, places, holders, answers)
    applied = [step for step in steps if answers[step.instance].outcome is StepOutcome.APPLIED]
    _put_common(session, applied, places)
    wide = [step for step in applied if step.shape() is Shape.WIDE]
    if wide:
        _put_wide(session, wide)
        for instance in await match.put(session, wide, places, keys):
            answers[instance].woken = [FOLLOW_UP_QUEUE]
    return answers


def _look(steps: list[Step], places: dict[int, Place], leases: dict[int, int], refusals: dict[int, str]) -> Answers:
    """Which steps may be applied: revisions first, then leases, then values."""
    answers: Answers = {}
    for step in steps:
        place = places.get(step.instance)
        fences = (*step.closed_jobs, *step.changed_jobs)
        if (-1 if place is None else place.rev) != step.rev:
            answers[step.instance] = StepResult(outcome=StepOutcome.STALE)
        elif any(fence.lease and leases.get(fence.key) != fence.lease for fence in fences):
            answers[step.instance] = StepResult(outcome=StepOutcome.FENCED)
        elif why := refusals.get(step.instance):
            answers[step.instance] = StepResult(outcome=StepOutcome.REFUSED, error=why)
        else:
            answers[step.instance] = StepResult(outcome=StepOutcome.APPLIED)
    return answers


def _hold_start_channels(
    session: Session,
    starting: list[Step],
    places: dict[int, Place],
    holders: dict[tuple[Any, ...], int],
    answers: Answers,
) -> None:
    """Take the channels of steps that start an instance by a correlation key; one that is held refuses its step."""
    rows: list[Literals] = []
    for step in starting:
        if answers[step.instance].outcome is not StepOutcome.APPLIED:
            continue
        tenant = step.tenant or (places[step.instance].tenant if step.instance in places else "")
        channel = (tenant, step.process_id, step.start_channel)
        holder = holders.setdefault(channel, 0)
        if holder == 0:
            holders[channel] = step.instance
            rows.append((*map(text, channel), number(step.instance)))
        elif holder != step.instance:
            words = held_channel_error(step.process_id, step.start_channel, holder)
            answers[step.instance] = StepResult(outcome=StepOutcome.REFUSED, error=words)
    put_rows(session, "hold_start_channels", sorted(rows))


def _put_common(session: Session, steps: list[Step], places: dict[int, Place]) -> None:
    """What every step writes: its instance, its jobs, its history."""
    new: list[Literals] = []
    changed: list[Literals] = []
    moved: list[Literals] = []
    for step in steps:
        if step.rev < 0:
            new.append(_new_instance(step))
            continue
        key, variables = b"%d" % step.instance, b"variables" if step.variables is None else quoted(step.variables)
        if places[step.instance].is_kept_by(step):
            changed.append((key, variables, blob(step.state)))
        else:
            ended_at = b"@now" if int(step.status) in _ENDED else b"0"
            names = (number(step.definition), text(step.process_id), number(step.status))
            moved.append((key, *names, ended_at, variables, blob(step.state)))
    put_rows(session, "insert_instances", new)
    put_rows(session, "update_instances", changed, CASES_MAX)
    put_rows(session, "move_instances", moved, CASES_MAX)
    put_keys(session, "delete_jobs", [fence.key for step in steps for fence in step.closed_jobs])
    put_jobs(session, [job for step in steps for job in step.new_jobs])
    put_rows(
        session,
        "insert_history",
        [
            (number(step.instance), number(step.definition), quoted(step.events))
            for step in steps
            if step.events is not None
        ],
    )


def _new_instance(step: Step) -> Literals:
    return (
        b"%d" % step.instance,
        b"%d" % step.definition,
        b"%d" % step.status,
        b"%d" % step.parent,
        b"%d" % step.parent_element_instance,
        b"@now" if int(step.status) in _ENDED else b"0",
        text(step.process_id),
        text(step.business_id),
        text(step.tenant),
        quoted(_encode_json(step.tags)) if step.tags else b"'[]'",
        b"'{}'" if step.variables is None else quoted(step.variables),
        blob(step.state),
    )


def _put_wide(session: Session, steps: list[Step]) -> None:
    """What few steps have."""
    for step in steps:
        if step.is_told_more:
            session.put(
                "start_requested_instance",
                key=step.instance,
                business_id=step.business_id,
                parent=step.parent,
                parent_element_instance=step.parent_element_instance,
                tags=_encode_json(step.tags),
                tenant=step.tenant,
            )
    changes = [_changed_job(change) for step in steps for change in step.changed_jobs]
    put_rows(session, "change_jobs", changes, CASES_MAX)
    _put_moves(session, steps)
    for what in ("subscriptions", "incidents", "user_tasks"):
        put_keys(session, f"delete_{what}", [key for step in steps for key in getattr(step, f"closed_{what}")])
    put_rows(
        session, "insert_subscriptions", [_subscription(step, new) for step in steps for new in step.new_subscriptions]
    )
    put_rows(session, "insert_incidents", [_incident(new) for step in steps for new in step.new_incidents])
    put_rows(session, "insert_user_tasks", [_user_task(new) for step in steps for new in step.new_user_tasks])
    for step in steps:
        for change in step.changed_user_tasks:
            values: dict[str, Any] = {field: change.changes.get(field) for field in _CHANGEABLE}
            values |= {field: _encode_json(values[field]) for field in _LISTS & change.changes.keys()}
            session.put("change_user_task", **values, key=change.key)


def _put_moves(session: Session, steps: list[Step]) -> None:
    """Rows of migrated instances go with them to their steps' definitions."""
    for step in steps:
        for moved in step.moved_rows:
            values: dict[str, Any] = {"key": moved.key, "element": moved.element, "definition": step.definition}
            if moved.table != "job":
                values["process_id"] = step.process_id
            if moved.table == "user_task":
                values["name"] = moved.name
            session.put(f"move_{moved.table}", **values)


def _changed_job(change: Any) -> Literals:  # noqa: ANN401 - a JobChange
    state, keeps = int(change.state), change.retries < 0
    return (
        number(change.key),
        number(state),
        b"owner" if state == JobState.RUNNING else b"0",
        b"retries" if keeps else number(change.retries),
        b"crashes" if keeps else b"0",
        text(clean_text(change.error)) if change.error else b"error",
        b"run_at" if state == JobState.SCHEDULED else b"NULL",
    )


def _subscription(step: Step, new: NewSubscription) -> Literals:
    if new.trigger == _SIGNAL:
        channel = number_of_signal(new.tenant, new.name)
    else:
        channel = number_of((new.tenant, new.name, new.correlation_key))
    return (
        number(new.key),
        number(new.instance),
        number(new.element_instance),
        number(step.definition),
        number(new.trigger),
        number(new.once),
        number(channel),
        text(new.process_id),
        text(new.element),
        text(new.name),
        text(new.correlation_key),
        text(new.tenant),
    )


def _incident(new: Any) -> Literals:  # noqa: ANN401 - a NewIncident
    return (
        number(new.key),
        number(new.instance),
        number(new.element_instance),
        number(new.definition),
        number(new.job),
        text(new.element),
        text(new.process_id),
        text(new.kind),
        text(clean_text(new.message)),
        text(new.fingerprint),
        text(new.tenant),
    )


def _user_task(new: Any) -> Literals:  # noqa: ANN401 - a NewUserTask
    return (
        number(new.key),
        number(new.instance),
        number(new.element_instance),
        number(new.definition),
        number(new.due_at),
        number(new.follow_up_at),
        number(new.priority),
        text(new.element),
        text(new.name),
        text(new.process_id),
        text(new.assignee),
        quoted(_encode_json(new.candidate_users)),
        quoted(_encode_json(new.candidate_groups)),
        text(new.form_key),
        text(new.tenant),
        number(new.form),
    )


def _instance_of(step: Step) -> int:
    return step.instance
