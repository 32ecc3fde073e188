"""The queue's half of the SQLite store: scripts run on the writer's thread, in the transaction of what has gathered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from procession.errors import InvalidValue
from procession.store._shared.queue import settling
from procession.store._shared.queue.calls import QueueCalls
from procession.store._shared.queue.claiming import as_started, claim_limited
from procession.store._shared.queue.script import Script, as_bytes, run_at_once
from procession.store.rows import Claimed, ClaimedJob, JobOutcome, Want
from procession.store.rows.queue import Answer
from procession.store.sqlite._session import Session
from procession.store.sqlite._threads import Work

T = TypeVar("T")


class SqliteQueue(QueueCalls):
    """The calls of the queue, on a file."""

    async def _read(self, work: Work) -> Any:  # noqa: ANN401 - what the work gives
        raise NotImplementedError

    async def _write(self, work: Work) -> Any:  # noqa: ANN401 - what the work gives
        raise NotImplementedError

    async def _run_script(self, make: Callable[[int], Script[T]], *, reads: bool = False) -> T:
        def work(session: Session) -> T:
            return run_at_once(make(session.now), session.answer)

        return await (self._read(work) if reads else self._write(work))


def claim_throttled(session: Session, node: int, wants: Sequence[Want]) -> Claimed:
    """Lease limited jobs that may start."""
    if not wants:
        return Claimed()
    started = run_at_once(claim_limited(node, wants, session.now), session.answer)
    jobs = [as_started(_claimed(row), started) for row in started.rows]
    return Claimed(jobs, started.held_back, is_partial=started.is_partial)


def settle_runs(session: Session, outcomes: Sequence[JobOutcome]) -> list[bool]:
    """End runs the long way. Raises InvalidValue for one that cannot be stored."""
    answers = run_at_once(settling.settle(outcomes, session.now), session.answer).answers
    for outcome, answer in zip(outcomes, answers, strict=True):
        if answer == Answer.REJECTED:
            raise InvalidValue(settling.refusal_of_outcome(outcome))
    return [answer == Answer.APPLIED for answer in answers]


def rescue_runs(session: Session, limit: int, crash_budget: int, backoff_ms: int) -> settling.Lost:
    """Give back the jobs with traits of processes that are gone."""
    script = settling.rescue_runs(limit, session.now, crash_budget=crash_budget, backoff_ms=backoff_ms)
    return run_at_once(script, session.answer)


def release_runs(session: Session, node: int) -> None:
    """Jobs with traits of a process that stops wait as before their claims."""
    run_at_once(settling.release_runs(node, session.now), session.answer)


def _claimed(row: Any) -> ClaimedJob:  # noqa: ANN401 - a row of a statement
    return ClaimedJob(
        key=row[0],
        lease=row[1],
        kind=row[2],
        queue=row[3],
        type=row[4],
        instance=row[5],
        element_instance=row[6],
        element=row[7],
        definition=row[8],
        priority=row[9],
        attempt=row[10],
        retries=row[11],
        args=as_bytes(row[12]),
        tenant=row[13],
        options=as_bytes(row[15]),
        checkpoint=as_bytes(row[16]),
        crashes=row[17],
    )
