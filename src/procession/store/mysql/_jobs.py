"""Leases: enqueue, claim, finish, promote, leave, rescue. Rows are found first and written by their keys.

A claim reads its queue in the order of one index and skips what others hold; everything else reaches jobs by primary
key, in key order. So no two of these wait for each other in a circle, and none waits for a gap.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain
from typing import Any, Final

from procession.jobs.kinds import JobState
from procession.store._shared.refusals import clean_text
from procession.store._shared.texts import crash_error
from procession.store.mysql._failures import Duplicate
from procession.store.mysql._sessions import Answer, Session, Sessions
from procession.store.mysql._statements import Literals, Written, number, quoted, text
from procession.store.rows import (
    ClaimedJob,
    JobAdjustment,
    JobEnd,
    JobFence,
    JobOutcome,
    NewJob,
    Rescue,
    Want,
)

ROWS_MAX: Final = 1_000  # of one insert
CASES_MAX: Final = 64  # of one update; finding a row's case takes time that grows with their number
LISTED_BYTES_MAX: Final = 500  # of the arguments of jobs of a bulk: longer ones the server would list on disk
_TRIES: Final = 3  # of an enqueue some of whose keys are in use

_READY, _RUNNING, _SCHEDULED, _FAILED = (
    b"%d" % state for state in (JobState.READY, JobState.RUNNING, JobState.SCHEDULED, JobState.FAILED)
)
_NULL: Final = b"NULL"
_NOW: Final = b"@now"


def put_rows(session: Session, name: str, rows: Sequence[Literals], rows_max: int = ROWS_MAX, **values: object) -> None:
    """Gather a statement for many rows, in pieces of so many rows, and of no more bytes than the server takes well."""
    bytes_max = session.statement_bytes_max
    for start in range(0, len(rows), rows_max):
        piece = rows[start : start + rows_max]
        if sum(map(len, chain.from_iterable(piece))) <= bytes_max:
            session.put(name, piece, **values)
        else:
            for part in _parts(piece, bytes_max):
                session.put(name, part, **values)


def _parts(rows: Sequence[Literals], bytes_max: int) -> list[list[Literals]]:
    """Rows in lists of about so many bytes; a larger row is alone."""
    parts: list[list[Literals]] = []
    room = -1
    for row in rows:
        size = sum(map(len, row))
        if size > room or not parts:
            parts.append([])
            room = bytes_max
        parts[-1].append(row)
        room -= size
    return parts


def put_keys(session: Session, name: str, keys: Sequence[int], **values: object) -> None:
    """Gather a statement for the rows with these keys, if there are any."""
    if keys:
        session.put(name, keys=sorted(keys), **values)


def put_jobs(session: Session, jobs: Iterable[NewJob]) -> None:
    """Gather the inserts of jobs whose keys must be new."""
    put_rows(session, "insert_jobs", [_row(job) for job in sorted(jobs, key=_key_of)])


async def enqueue(sessions: Sessions, jobs: Sequence[NewJob], *, alike: bool = False) -> None:
    """Insert jobs that are not there yet. ``alike``: they are, see ``_shared/bulk.py``."""
    if not jobs:
        return
    left = sorted(jobs, key=_key_of)
    insert = _insert_bulk if alike and _is_short(jobs) else _insert
    for _ in range(_TRIES):
        try:
            await sessions.transact(partial(insert, jobs=left))
        except Duplicate:
            left = await _unknown(sessions, left)
        else:
            return
    if left:
        await sessions.transact(partial(_insert, jobs=left))


def _is_short(jobs: Sequence[NewJob]) -> bool:
    """Whether their arguments keep the server's list of them in memory."""
    return max(len(job.args) for job in jobs) <= LISTED_BYTES_MAX


async def _unknown(sessions: Sessions, jobs: Sequence[NewJob]) -> list[NewJob]:
    """The jobs whose keys are not in use; of those with one key the first."""
    known = {row[0] for row in await sessions.fetch("find_jobs", keys=[job.key for job in jobs])}
    first = {job.key: job for job in reversed(jobs) if job.key not in known}
    return sorted(first.values(), key=_key_of)


async def _insert(session: Session, jobs: Sequence[NewJob]) -> None:
    plain: list[Literals] = []
    others: list[NewJob] = []
    shared_of: dict[tuple[object, ...], bytes] = {}
    for job in jobs:
        if not _is_plain(job):
            others.append(job)
            continue
        like = (job.kind, job.priority, job.run_at, job.delay_ms, job.retries, job.queue, job.type, job.tenant)
        shared = shared_of.get(like)
        if shared is None:
            shared = shared_of[like] = _shared(job)
        plain.append((b"%d" % job.key, shared, quoted(job.args)))
    put_rows(session, "insert_plain_jobs", plain)
    put_jobs(session, others)


async def _insert_bulk(session: Session, jobs: Sequence[NewJob]) -> None:
    """As ``_insert``, of jobs that are alike."""
    if not jobs or not session.is_mariadb or not _is_plain(jobs[0]):
        await _insert(session, jobs)
        return
    rows = [(b"%d" % job.key, quoted(job.args)) for job in jobs]
    put_rows(session, "insert_like_jobs", rows, shared=Written(_shared(jobs[0])))


def _is_plain(job: NewJob) -> bool:
    """Whether it is no process's and leased to nobody."""
    return not (job.owner or job.instance or job.element_instance or job.definition or job.element)


def _shared(job: NewJob) -> bytes:
    """What jobs of a bulk have in common, written down once."""
    state, run_at, due_at = _when(job)
    names = (text(job.queue), text(job.type), text(job.tenant))
    numbers = (number(job.kind), state, number(-job.priority), run_at, due_at, number(job.retries))
    return b", ".join((*numbers, *names))


async def claim(
    sessions: Sessions, node: int, wants: Sequence[Want], *, heedless: bool = False
) -> tuple[list[ClaimedJob], set[str]]:
    """Lease ready jobs, by priority and age within each queue; and the queues with limited ones whose start is due.

    Those queues give none, since the limited ones come first, unless there is no room for limited ones or they have had
    their turn (``heedless``).
    """

    async def work(session: Session) -> tuple[list[ClaimedJob], set[str]]:
        asked = [(want, _put_find(session, want)) for want in wants if want.count > 0]
        lines = [f"queue {want.queue}" for want, _ in asked if not want.lease_ms]
        throttled = session.put("find_throttled_queues", lines=lines)
        await session.send()
        limited = {row[0] for row in throttled.rows}
        if limited and not heedless:
            asked = [(want, answer) for want, answer in asked if want.queue not in limited or not _goes_first(want)]
        local = [row[0] for want, answer in asked if not want.lease_ms for row in answer.rows]
        put_keys(session, "lease_jobs", local, node=node)
        for want, answer in asked:
            if want.lease_ms:
                put_keys(session, "lease_jobs_remotely", [row[0] for row in answer.rows], lease_ms=want.lease_ms)
        return [_claimed(row) for _, answer in asked for row in answer.rows], limited

    return await sessions.transact(work) if any(want.count > 0 for want in wants) else ([], set())


async def finish(sessions: Sessions, outcomes: Sequence[JobOutcome]) -> list[bool]:
    """End runs without traits whose leases are held; of several ends of one run the first counts."""
    if not outcomes:
        return []
    if all(outcome.end is JobEnd.DONE and not outcome.keep_ms for outcome in outcomes):
        ended = set((await sessions.transact(lambda session: _delete(session, outcomes))).rows)
        return [_take_out(ended, outcome) for outcome in outcomes]

    async def work(session: Session) -> list[bool]:
        answer = await session.run("find_leases", keys=sorted({outcome.key for outcome in outcomes}))
        held = set(answer.rows)
        done: list[int] = []
        ends: list[Literals] = []
        answers: list[bool] = []
        for outcome in outcomes:
            is_held = outcome.end is not JobEnd.CANCELED and not outcome.keep_ms and _take_out(held, outcome)
            answers.append(is_held)
            if not is_held:
                continue
            if outcome.end is JobEnd.DONE:
                done.append(outcome.key)
            else:
                ends.append(_end_of_run(outcome))
        put_keys(session, "delete_jobs", done)
        put_rows(session, "end_runs", sorted(ends), CASES_MAX)
        return answers

    return await sessions.transact(work)


async def _delete(session: Session, outcomes: Sequence[JobOutcome]) -> Answer:
    """Delete jobs of runs that are held: one round trip, since the statement looks at the leases itself."""
    return put_close(session, [JobFence(key=each.key, lease=each.lease) for each in outcomes])


async def adjust(sessions: Sessions, changes: Sequence[JobAdjustment]) -> list[bool]:
    """Change jobs where they are."""

    async def work(session: Session) -> list[Answer]:
        return [
            session.put(
                "adjust_job",
                key=change.key,
                lease=change.lease,
                lease_ms=change.lease_ms,
                retries=change.retries,
                priority=change.priority,
            )
            for change in changes
        ]

    return [answer.count > 0 for answer in await sessions.transact(work)] if changes else []


def put_close(session: Session, fences: Sequence[JobFence]) -> Answer:
    """Gather the deletion of jobs whose leases are held; the answer's rows are (key, lease) of what was held."""
    keys = sorted({fence.key for fence in fences})
    answer = session.put("find_leases", keys=keys)
    session.put("delete_held_jobs", [(b"%d" % fence.key, b"%d" % fence.lease) for fence in fences], keys=keys)
    return answer


def closed_of(answer: Answer, fences: Sequence[JobFence]) -> set[int]:
    """Which of the jobs were held under their leases."""
    held = set(answer.rows)
    return {fence.key for fence in fences if (fence.key, fence.lease) in held}


async def promote(sessions: Sessions, limit: int) -> tuple[list[str], int]:
    """Make due jobs ready."""

    async def work(session: Session) -> tuple[set[str], Answer, Answer]:
        due = await session.fetch("find_due_jobs", limit=limit)
        put_keys(session, "make_jobs_ready", [row[0] for row in due])
        limited, next_due = session.put("find_limited_queues"), session.put("find_next_due")
        return {row[1] for row in due}, limited, next_due

    queues, limited, next_due = await sessions.transact(work)
    return sorted(queues | {row[0] for row in limited.rows}), next_due.value() or 0


async def leave(sessions: Sessions, node: int) -> None:
    """Forget a node; its jobs become ready, their attempts are not used."""

    async def work(session: Session) -> None:
        session.put("remove_node", node=node)
        session.put("end_leadership", node=node)
        rows = await session.fetch("find_jobs_of_node", node=node)
        put_keys(session, "give_back_jobs", [row[0] for row in rows], node=node)

    await sessions.transact(work)


async def rescue(sessions: Sessions, dead_after_ms: int, limit: int, crash_budget: int, backoff_ms: int) -> Rescue:
    """Give back the jobs of nodes that are dead or unknown."""

    async def work(session: Session) -> Rescue:
        dead = session.put("find_dead_nodes", dead_after_ms=dead_after_ms)
        lost = session.put("find_lost_jobs", dead_after_ms=dead_after_ms, limit=limit)
        nodes = session.put("find_living_nodes")
        await session.send()
        rescued = Rescue(nodes=[row[0] for row in dead.rows])
        if rescued.nodes:
            session.put("delete_nodes", nodes=rescued.nodes)
        living = [row[0] for row in nodes.rows if row[0] not in rescued.nodes]
        if lost.rows:
            keys = [row[0] for row in lost.rows]
            rows = await session.fetch("lock_lost_jobs", keys=keys, living=[*living, 0])
            _put_rescue(session, rows, rescued, crash_budget, backoff_ms)
        return rescued

    return await sessions.transact(work)


def _put_rescue(
    session: Session, rows: Sequence[tuple[Any, ...]], rescued: Rescue, crash_budget: int, backoff_ms: int
) -> None:
    ready: list[int] = []
    later: list[int] = []
    woken: set[str] = set()
    for key, queue, crashes in rows:
        if crashes > crash_budget:
            rescued.failed.append(key)
            session.put("fail_lost_job", key=key, error=crash_error(crashes))
        elif crashes > 1 and backoff_ms > 0:
            later.append(key)
        else:
            ready.append(key)
            woken.add(queue)
    put_keys(session, "rescue_jobs", ready, state=JobState.READY, backoff_ms=0)
    put_keys(session, "rescue_jobs", later, state=JobState.SCHEDULED, backoff_ms=backoff_ms)
    rescued.jobs, rescued.woken = len(rows), sorted(woken)


def _goes_first(want: Want) -> bool:
    """Whether limited jobs of a queue are claimed before its others."""
    return not want.lease_ms and want.at_once != 0


def _put_find(session: Session, want: Want) -> Answer:
    if want.tenants is None:
        return session.put("find_ready_jobs", queue=want.queue, count=want.count, strangers=want.strangers)
    return session.put("find_ready_jobs_of_tenants", queue=want.queue, count=want.count, tenants=want.tenants)


def _claimed(row: tuple[Any, ...]) -> ClaimedJob:
    return ClaimedJob(
        key=row[0],
        lease=row[1] + 1,
        kind=row[2],
        queue=row[3],
        type=row[4],
        instance=row[5],
        element_instance=row[6],
        element=row[7],
        definition=row[8],
        priority=row[9],
        attempt=row[10] + 1,
        retries=row[11],
        args=row[12].encode(),
        tenant=row[13],
        options=(row[14] or "").encode(),
        checkpoint=(row[15] or "").encode(),
        crashes=row[16],
    )


def _take_out(held: set[tuple[Any, ...]], outcome: JobOutcome) -> bool:
    """Whether this run was held; an outcome that is in a batch twice counts the first time."""
    run = (outcome.key, outcome.lease)
    if run in held:
        held.discard(run)
        return True
    return False


def _when(job: NewJob) -> tuple[bytes, bytes, bytes]:
    """State, run_at and due_at of a new job, as expressions of the store's clock."""
    if job.run_at:
        at = b"%d" % job.run_at
        if job.owner:
            return _RUNNING, at, _NULL
        return b"IF(%b > @now, 2, 0)" % at, at, b"IF(%b > @now, %b, NULL)" % (at, at)
    at = b"@now + %d" % job.delay_ms if job.delay_ms else _NOW
    if job.owner:
        return _RUNNING, at, _NULL
    return (_SCHEDULED, at, at) if job.delay_ms > 0 else (_READY, at, _NULL)


def _row(job: NewJob) -> Literals:
    state, run_at, due_at = _when(job)
    ran = b"1" if job.owner else b"0"
    return (
        b"%d" % job.key,
        b"%d" % job.kind,
        state,
        b"%d" % -job.priority,
        run_at,
        due_at,
        ran,
        b"%d" % job.retries,
        ran,
        b"%d" % job.owner,
        b"%d" % job.instance,
        b"%d" % job.element_instance,
        b"%d" % job.definition,
        text(job.queue),
        text(job.type),
        text(job.element),
        text(job.tenant),
        quoted(job.args),
    )


def _end_of_run(outcome: JobOutcome) -> Literals:
    """A row of end_runs.sql: expressions of the job's columns."""
    end = outcome.end
    uses_attempt = end in (JobEnd.RETRY, JobEnd.FAILED)
    state, run_at, due_at = _READY, b"IF(owner = -1, @now, run_at)", _NULL
    if end is JobEnd.FAILED:
        state = _FAILED
    elif end is not JobEnd.RELEASE:
        run_at = b"@now + %d" % outcome.delay_ms
        if outcome.delay_ms > 0:
            state, due_at = _SCHEDULED, run_at
    if not uses_attempt:
        retries = b"retries"
    elif outcome.retries >= 0:
        retries = b"%d" % outcome.retries
    else:
        retries = b"GREATEST(0, retries - 1)"
    return (
        b"%d" % outcome.key,
        run_at,
        due_at,
        state,
        b"attempt" if uses_attempt else b"attempt - 1",
        retries,
        b"crashes" if end is JobEnd.RELEASE else b"0",
        text(clean_text(outcome.error)) if outcome.error else b"error",
        b"@now" if end is JobEnd.FAILED else _NULL,
    )


def _key_of(job: NewJob) -> int:
    return job.key
