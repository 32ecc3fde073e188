"""Batches of steps that are alike, as most are: of one definition, with one job closed and one opened each at most.

And jobs of no step that are alike.

What all of them share is sent once, as a plain value, and their jobs come in the rows of the steps. So the statement
has one list of rows to read instead of three, and none to join. Other batches go the general way (_commit.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from procession.store.postgres._columns import Columns, encode_json, lines, numbers, pieces
from procession.store.rows import NewJob, Step

CLOSE_COLUMNS: Final = 12  # values of commit_step_close.sql; commit_step_alike.sql has more
COPIED: Final = (
    *("key", "args", "kind", "state", "queue", "type", "priority", "run_at", "created_at"),
    *("owner", "lease", "attempt", "retries", "tenant"),
)
_NO_FENCE: Final = (None, None)
_NULL: Final = b"\\N"
_SPECIAL: Final[Mapping[bytes, bytes]] = {b"\\": rb"\\", b"\t": rb"\t", b"\n": rb"\n", b"\r": rb"\r"}


def start_columns(steps: list[Step], now: int | None) -> Columns | None:
    """The values of commit_start_alike.sql, or None if these starts are not alike. In the order of the steps."""
    first = steps[0]
    definition, tenant = first.definition, first.tenant
    jobs: list[NewJob] = []
    model: NewJob | None = None
    for step in steps:
        if (
            step.definition != definition
            or step.status
            or len(step.new_jobs) != 1
            or step.business_id
            or step.parent
            or step.tags
            or step.tenant != tenant
        ):
            return None
        job = step.new_jobs[0]
        model = model or job
        if not _is_like(job, model, step) or job.tenant != tenant:
            return None
        jobs.append(job)
    assert model is not None
    return [
        numbers([step.instance for step in steps]),
        definition,
        first.process_id,
        tenant,
        *pieces([step.state for step in steps]),
        lines([step.variables for step in steps]),
        lines([step.events for step in steps]),
        now,
        numbers([job.key for job in jobs]),
        numbers([job.element_instance for job in jobs]),
        *_shared(model)[:-1],
    ]


def step_columns(steps: list[Step], now: int | None) -> Columns | None:
    """The values of commit_step_alike.sql; of commit_step_close.sql (CLOSE_COLUMNS) if no job is opened; or None."""
    definition = steps[0].definition
    fences: list[tuple[int | None, int | None]] = []
    opened: list[NewJob | None] = []
    model: NewJob | None = None
    for step in steps:
        closed, new = step.closed_jobs, step.new_jobs
        if step.definition != definition or len(closed) > 1 or len(new) > 1:
            return None
        fences.append((closed[0].key, closed[0].lease) if closed else _NO_FENCE)
        if not new:
            opened.append(None)
            continue
        job = new[0]
        model = model or job
        if not _is_like(job, model, step):
            return None
        opened.append(job)
    columns: Columns = [
        numbers([step.instance for step in steps]),
        numbers([step.rev for step in steps]),
        definition,
        numbers([step.status for step in steps]),
        *pieces([step.state for step in steps]),
        lines([step.variables for step in steps]),
        lines([step.events for step in steps]),
        now,
        numbers([key for key, _ in fences]),
        numbers([lease for _, lease in fences]),
    ]
    if model is not None:
        columns.append(numbers([job.key if job is not None else None for job in opened]))
        columns.append(numbers([job.element_instance if job is not None else None for job in opened]))
        columns += _shared(model)
    return columns


def enqueue_columns(jobs: Sequence[NewJob], now: int | None, *, alike: bool = False) -> Columns | None:
    """The values of enqueue_alike.sql, or None if these jobs are not alike; ``alike`` if that is known already."""
    first = jobs[0]
    if _is_of_process(first) or not (alike or _are_like(first, jobs)):
        return None
    return [
        numbers([job.key for job in jobs]),
        lines([job.args for job in jobs]),
        now,
        int(first.kind),
        first.queue,
        first.type,
        first.priority,
        first.run_at or None,
        first.delay_ms,
        first.owner or None,
        1 if first.owner else 0,
        first.retries,
        first.tenant,
    ]


def due_columns(jobs: Sequence[NewJob], *, alike: bool = False) -> Columns | None:
    """The same for enqueue_due.sql; the first of them ``is_due``."""
    first = jobs[0]
    if not (alike or _are_like(first, jobs)):
        return None
    return [
        numbers([job.key for job in jobs]),
        lines([job.args for job in jobs]),
        int(first.kind),
        1 if first.owner else 0,
        first.queue,
        first.type,
        first.priority,
        first.owner or None,
        first.retries,
        first.tenant or None,
    ]


def is_due(job: NewJob) -> bool:
    """Whether nothing has to be computed for a job, as COPY needs it: it is of no process, and due at once."""
    return not (job.run_at or job.delay_ms or _is_of_process(job))


def enqueue_copy(jobs: Sequence[NewJob]) -> bytes:
    """Jobs that are alike, and are copied, as COPY takes them: a line each, in the order of COPIED.

    The database reads ``now`` as the beginning of the transaction.
    """
    first = jobs[0]
    claimed = 1 if first.owner else 0
    numbers_of_all = (first.kind, claimed, first.priority, claimed, claimed, first.retries)
    texts = (first.queue, first.type, first.tenant)
    kind, state, priority, lease, attempt, retries = (b"%d" % number for number in numbers_of_all)
    queue, type_, tenant = (_copied(text.encode()) or _NULL for text in texts)
    owner = b"%d" % first.owner if first.owner else _NULL
    shared = (kind, state, queue, type_, priority, b"now", b"now", owner, lease, attempt, retries, tenant)
    tail = b"\t" + b"\t".join(shared) + b"\n"
    args = [job.args for job in jobs]
    together = b"".join(args)
    if b"" in args or any(special in together for special in _SPECIAL):
        args = [_copied(value) or _NULL for value in args]
    keys = encode_json([job.key for job in jobs])[1:-1].split(b",")
    return tail.join([*map(b"\t".join, zip(keys, args, strict=True)), b""])


def _is_of_process(job: NewJob) -> bool:
    return bool(job.element or job.definition or job.instance or job.element_instance)


def _copied(value: bytes) -> bytes:
    """A value as COPY reads it. Of JSON, what separates lines and columns is between tokens."""
    for special, written in _SPECIAL.items():
        value = value.replace(special, written)
    return value


def _are_like(first: NewJob, jobs: Sequence[NewJob]) -> bool:
    kind, queue, type_, priority, retries = first.kind, first.queue, first.type, first.priority, first.retries
    run_at, delay_ms, owner, tenant = first.run_at, first.delay_ms, first.owner, first.tenant
    for job in jobs:
        if (
            job.queue != queue
            or job.type != type_
            or job.owner != owner
            or job.kind != kind
            or job.priority != priority
            or job.retries != retries
            or job.run_at != run_at
            or job.delay_ms != delay_ms
            or job.tenant != tenant
            or job.element
            or job.definition
            or job.instance
            or job.element_instance
        ):
            return False
    return True


def _shared(job: NewJob) -> list[Any]:
    """What jobs that are alike share: their columns in the order of the statements."""
    return [
        int(job.kind),
        job.queue,
        job.type,
        job.element or None,
        job.priority,
        job.retries,
        job.owner or None,
        job.tenant,
    ]


def _is_like(job: NewJob, model: NewJob, step: Step) -> bool:
    """Whether a job is its step's, ready at once, and differs from the first by nothing but its keys."""
    return (
        not (job.run_at or job.delay_ms or job.args or job.options)
        and job.instance == step.instance
        and job.definition == step.definition
        and job.element_instance > 0
        and job.type == model.type
        and job.element == model.element
        and job.queue == model.queue
        and job.owner == model.owner
        and job.kind == model.kind
        and job.priority == model.priority
        and job.retries == model.retries
        and job.tenant == model.tenant
    )
