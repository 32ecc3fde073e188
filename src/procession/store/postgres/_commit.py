"""The commit protocol: many steps of different instances, applied in one statement per shape. It decides nothing.

One statement with several data-modifying parts (``with ... insert ... update ... delete``) is one round trip and one
transaction. Why that is safe under READ COMMITTED, where other transactions commit while it runs:

- *The guard is the instance's row.* ``update instance ... where key = s.instance and rev = s.rev`` locks the row. If
  another transaction holds it, ours waits, and PostgreSQL then checks the condition again on the row's newest version
  (EvalPlanQual): a changed revision no longer matches, the row is not updated and not returned. A new instance is
  guarded by its primary key: an insert waits for a concurrent one of the same key, and then fails (START, which is sent
  again as WIDE) or does nothing and returns nothing (WIDE).
- *Everything else follows the guard.* All parts of the statement see one snapshot, in which an instance may still look
  unchanged; so no part looks at the instance table again: each joins the set of keys that the guard returned. What the
  guard did not return has written nothing, whatever the snapshot showed.
- *The revision is the truth for process jobs, the lease a check on top.* Fences are read in the statement's snapshot.
  A job rescued, or claimed by somebody else, after that snapshot and before our commit is deleted all the same, by its
  key: its step has been applied, so its work is done; the later holder's step carries an old revision (STALE) or finds
  its job gone (FENCED). Both orders have a serial equivalent, and the state changes once. A job deleted elsewhere is
  not found: nothing to do, the guard having passed. Plain jobs have no instance; there ``finish`` is exact by lease.
- *Locks are taken in key order.* Rows are sent sorted by instance and by job; the plans of HOT sessions reach tables
  through index scans over sorted arrays (_sessions.py), so that two commits with crossing instances wait, and do not
  deadlock. Message channels come first (advisory locks, sorted), then instances, jobs, the rest. Claims, promotions and
  rescues skip what is locked, so a commit never waits for them in a circle. Should PostgreSQL still see a deadlock, it
  ends one transaction wholly, and that one is tried again.

A value that the database refuses ends the whole statement with nothing written. Then the batch is halved until the
refused step stands alone; its neighbours are applied in their halves.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Sequence
from typing import Any, Final

import msgspec

from procession.errors import Bug, InvalidValue
from procession.ids import Keys
from procession.store._shared.matching import needs_channel
from procession.store._shared.refusals import are_plain, clean_text
from procession.store._shared.refusals import refusal_of_step as refusal_everywhere
from procession.store.postgres._alike import CLOSE_COLUMNS, start_columns, step_columns
from procession.store.postgres._columns import (
    Columns,
    compact,
    encode_json,
    job_columns,
    lines,
    numbers,
    packed_jobs,
    pieces,
    refusal_of_step,
    sparse,
)
from procession.store.postgres._failures import Collided
from procession.store.postgres._matching import lock_channels, match_new_subscriptions
from procession.store.postgres._sessions import Session, Sessions
from procession.store.rows import JobChange, NewIncident, Row, Shape, Step, StepOutcome, StepResult, UserTaskChange

COLLISIONS_MAX: Final = 5  # deadlocks in a row that one commit survives; locks in order make even one a rarity
_APPLIED: Final = StepResult(outcome=StepOutcome.APPLIED)

Answers = dict[int, StepResult]  # per instance; a missing one is APPLIED


class Batch(Row):
    """Steps of one shape on their way into the database."""

    shape: Shape
    steps: list[Step]
    keys: Any  # ids.Keys
    now: int | None


async def commit(sessions: Sessions, steps: Sequence[Step], keys: Keys, now: int | None) -> list[StepResult]:
    """Apply steps; one answer per step, in order. Steps of different shapes are different transactions."""
    answers: Answers = {}
    batches: dict[Shape, Batch] = {}
    shapes = [step.shape() for step in steps]
    plain = Shape.WIDE not in shapes and are_plain(steps)
    for step, shape in zip(steps, shapes, strict=True):
        if not plain and (why := refusal_everywhere(step) or refusal_of_step(step)):
            answers[step.instance] = StepResult(outcome=StepOutcome.REFUSED, error=why)
            continue
        if shape not in batches:
            batches[shape] = Batch(shape, [], keys, now)
        batches[shape].steps.append(step)
    if len({step.instance for step in steps}) != len(steps):
        raise Bug("Expected at most one step per instance in a commit")
    for some in await _all([_apply(sessions, batch) for batch in batches.values()]):
        answers.update(some)
    if not answers:
        return [_APPLIED] * len(steps)
    await _prefer_stale(sessions, steps, answers)
    return [answers.get(step.instance, _APPLIED) for step in steps]


async def commit_within(session: Session, step: Step, keys: Keys, now: int | None) -> StepResult:
    """Apply one step in the transaction that the session has joined. After REFUSED that is not usable any more."""
    if why := refusal_everywhere(step) or refusal_of_step(step):
        return StepResult(outcome=StepOutcome.REFUSED, error=why)
    try:
        answers = await _WRITE[step.shape()](session, Batch(step.shape(), [step], keys, now))
    except InvalidValue as refused:
        return StepResult(outcome=StepOutcome.REFUSED, error=str(refused))
    answer = answers.get(step.instance, _APPLIED)
    if answer.outcome == StepOutcome.FENCED:
        found = {row[0]: row[1] for row in await session.fetch("revisions", [step.instance])}
        if found.get(step.instance, -1) != step.rev:
            return StepResult(outcome=StepOutcome.STALE)
    return answer


async def _all(writes: list[Coroutine[Any, Any, Answers]]) -> list[Answers]:
    """The answers of all writes, at once if there are several. The first failure counts when all have ended."""
    if len(writes) == 1:
        return [await writes[0]]
    found = await asyncio.gather(*writes, return_exceptions=True)
    answers: list[Answers] = []
    for each in found:
        if isinstance(each, BaseException):
            raise each
        answers.append(each)
    return answers


async def _apply(sessions: Sessions, batch: Batch) -> Answers:
    """Apply steps of one shape, halving the batch for as long as the database refuses a value in it."""
    steps = batch.steps
    steps.sort(key=_instance_of)
    try:
        return await _written(sessions, batch)
    except InvalidValue as refused:
        if len(steps) == 1:
            return {steps[0].instance: StepResult(outcome=StepOutcome.REFUSED, error=str(refused))}
    middle = len(steps) // 2
    first, second = (msgspec.structs.replace(batch, steps=half) for half in (steps[:middle], steps[middle:]))
    return await _apply(sessions, first) | await _apply(sessions, second)


async def _prefer_stale(sessions: Sessions, steps: Sequence[Step], answers: Answers) -> None:
    """A step that was decided on another revision is decided again before anybody looks at its leases and values."""
    failed = {step.instance: step.rev for step in steps if _is_refused_or_fenced(answers.get(step.instance))}
    if not failed:
        return
    found = {row[0]: row[1] for row in await sessions.fetch("revisions", list(failed))}
    for instance, rev in failed.items():
        if found.get(instance, -1) != rev:
            answers[instance] = StepResult(outcome=StepOutcome.STALE)
    await _prefer_fenced(sessions, steps, answers)


async def _prefer_fenced(sessions: Sessions, steps: Sequence[Step], answers: Answers) -> None:
    """Who has lost a lease is told so, whatever values came with it."""
    leases: dict[int, list[tuple[int, int]]] = {}
    for step in steps:
        answer = answers.get(step.instance)
        if answer is not None and answer.outcome == StepOutcome.REFUSED:
            fences = (*step.closed_jobs, *step.changed_jobs)
            leases[step.instance] = [(fence.key, fence.lease) for fence in fences if fence.lease]
    asked = [key for held in leases.values() for key, _ in held]
    if not asked:
        return
    running = {row[0]: row[1] for row in await sessions.fetch("held_leases", asked)}
    for instance, held in leases.items():
        if any(running.get(key) != lease for key, lease in held):
            answers[instance] = StepResult(outcome=StepOutcome.FENCED)


def _is_refused_or_fenced(answer: StepResult | None) -> bool:
    return answer is not None and answer.outcome in (StepOutcome.REFUSED, StepOutcome.FENCED)


async def _written(sessions: Sessions, batch: Batch) -> Answers:
    """Write a batch in one transaction, again if the database ended it in favour of another's."""
    collisions = 0
    while True:
        session = await sessions.take()
        try:
            return await _WRITE[batch.shape](session, batch)
        except Collided:
            collisions += 1
            if collisions == COLLISIONS_MAX:
                raise
        finally:
            sessions.give_back(session)


async def _write_start(session: Session, batch: Batch) -> Answers:
    steps = batch.steps
    alike = start_columns(steps, batch.now)
    try:
        if alike is not None:
            await session.fetch("commit_start_alike", *alike)
        else:
            await session.fetch("commit_start", *_packed_start(steps), batch.now, *packed_jobs(_jobs_of(steps)))
    except InvalidValue:  # a value, or an instance that exists already: the other statement tells them apart
        return _answers(await session.fetch("commit_wide", *_wide_columns(steps, batch.now)))
    return {}


async def _write_step(session: Session, batch: Batch) -> Answers:
    steps = batch.steps
    alike = step_columns(steps, batch.now)
    if alike is not None:
        name = "commit_step_alike" if len(alike) > CLOSE_COLUMNS else "commit_step_close"
        return _answers(await session.fetch(name, *alike))
    jobs = packed_jobs(_jobs_of(steps))
    return _answers(await session.fetch("commit_step", *_packed_step(steps), batch.now, *_packed_fences(steps), *jobs))


async def _write_wide(session: Session, batch: Batch) -> Answers:
    steps = batch.steps
    moving = any(step.moved_rows for step in steps)
    if not moving and not any(needs_channel(step) for step in steps):
        return _answers(await session.fetch("commit_wide", *_wide_columns(steps, batch.now)))
    async with session.transaction():
        await lock_channels(session, steps)
        answers = _answers(await session.fetch("commit_wide", *_wide_columns(steps, batch.now)))
        applied = [step for step in steps if step.instance not in answers]
        if moving:
            await _move_rows(session, applied)
        return answers | await match_new_subscriptions(session, applied, batch.keys, batch.now)


async def _move_rows(session: Session, steps: list[Step]) -> None:
    """Rows of migrated instances go with them: after the guard, in its transaction."""
    moved: dict[str, list[dict[str, object]]] = {}
    for step in steps:
        for row in step.moved_rows:
            fields: dict[str, object] = {
                "definition": step.definition,
                "process_id": step.process_id,
                **msgspec.structs.asdict(row),
            }
            moved.setdefault(row.table, []).append(fields)
    for table, rows in sorted(moved.items()):
        rows.sort(key=_key_in)
        await session.fetch(f"move_{table}", encode_json(rows))


_WRITE: Final = {Shape.START: _write_start, Shape.STEP: _write_step, Shape.WIDE: _write_wide}


def _answers(rows: list[Any]) -> Answers:
    """The steps that did not apply: (instance, whether a fence was the reason)."""
    return {
        row[0]: StepResult(outcome=StepOutcome.FENCED if len(row) > 1 and row[1] else StepOutcome.STALE) for row in rows
    }


def _instance_of(step: Step) -> int:
    return step.instance


def _jobs_of(steps: list[Step]) -> list[Any]:
    jobs = [job for step in steps for job in step.new_jobs]
    jobs.sort(key=_key_of)
    return jobs


def _key_of(job: Any) -> int:  # noqa: ANN401 - any row with a key
    return job.key


def _packed_start(steps: list[Step]) -> Columns:
    return [
        numbers([step.instance for step in steps]),
        numbers([step.definition for step in steps]),
        compact([step.process_id for step in steps]),
        numbers([step.status for step in steps]),
        sparse([step.tenant for step in steps]),
        *pieces([step.state for step in steps]),
        lines([step.variables for step in steps]),
        lines([step.events for step in steps]),
        lines([_more(step) for step in steps]),
    ]


def _more(step: Step) -> bytes | None:
    """What few instances have."""
    if not (step.business_id or step.parent or step.tags):
        return None
    return encode_json(
        {
            "business_id": step.business_id or None,
            "parent": step.parent or None,
            "parent_element_instance": step.parent_element_instance or None,
            "tags": step.tags or None,
        }
    )


def _packed_step(steps: list[Step]) -> Columns:
    return [
        numbers([step.instance for step in steps]),
        numbers([step.rev for step in steps]),
        numbers([step.definition for step in steps]),
        numbers([step.status for step in steps]),
        *pieces([step.state for step in steps]),
        lines([step.variables for step in steps]),
        lines([step.events for step in steps]),
    ]


def _packed_fences(steps: list[Step]) -> Columns:
    columns = _fence_columns(steps)
    return columns if columns[0] is None else [numbers(column) for column in columns]


def _step_columns(steps: list[Step]) -> Columns:
    return [
        [step.instance for step in steps],
        compact([step.rev for step in steps]),
        compact([step.definition for step in steps]),
        compact([int(step.status) for step in steps]),
        compact([step.state for step in steps]),
        sparse([step.variables for step in steps]),
        sparse([step.events for step in steps]),
    ]


def _fence_columns(steps: list[Step]) -> Columns:
    fences = [(fence.key, fence.lease, step.instance) for step in steps for fence in step.closed_jobs]
    fences.sort()
    return [list(column) for column in zip(*fences, strict=True)] or [None, None, None]


def _wide_columns(steps: list[Step], now: int | None) -> Columns:
    return [
        *_step_columns(steps),
        now,
        *_fence_columns(steps),
        *job_columns(_jobs_of(steps)),
        _document((step, change) for step in steps for change in step.changed_jobs),
        encode_json([_open(step) for step in steps]),
        encode_json([row for step in steps for row in step.new_subscriptions]),
        _document((step, key) for step in steps for key in step.closed_subscriptions),
        encode_json([_with_clean_text(row) for step in steps for row in step.new_incidents]),
        _document((step, key) for step in steps for key in step.closed_incidents),
        encode_json([row for step in steps for row in step.new_user_tasks]),
        _document((step, change) for step in steps for change in step.changed_user_tasks),
        _document((step, key) for step in steps for key in step.closed_user_tasks),
        _document((step, job.key) for step in steps for job in step.new_jobs if not job.instance),
    ]


def _open(step: Step) -> dict[str, object]:
    """The columns of an instance that a usual step does not write."""
    return {
        "instance": step.instance,
        "process_id": step.process_id,
        "business_id": step.business_id or None,
        "parent": step.parent or None,
        "parent_element_instance": step.parent_element_instance or None,
        "tags": step.tags or None,
        "tenant": step.tenant or None,
        "start_channel": step.start_channel or None,
        "release_channel": step.release_channel or None,
    }


def _document(rows: Iterable[tuple[Step, int | JobChange | UserTaskChange]]) -> bytes:
    """Rows of many steps as JSON, each with its instance, in key order."""
    document = [{"instance": step.instance, **_fields(row)} for step, row in rows]
    document.sort(key=_key_in)
    return encode_json(document)


def _fields(row: int | JobChange | UserTaskChange) -> dict[str, Any]:
    if isinstance(row, int):
        return {"key": row}
    if isinstance(row, JobChange):
        row = msgspec.structs.replace(row, error=clean_text(row.error))
    return msgspec.structs.asdict(row)


def _with_clean_text(incident: NewIncident) -> NewIncident:
    """What an incident says must not be why it is lost."""
    return msgspec.structs.replace(incident, message=clean_text(incident.message))


def _key_in(fields: dict[str, Any]) -> int:
    return fields["key"]
