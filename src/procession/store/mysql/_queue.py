"""The queue's half of this store: scripts in transactions, and what the hot path leaves over. It has no rule.

A script's sets of rows and keys come as JSON; here they become rows and lists of values, and a statement without a
repeated row is sent for each of its rows, all in one packet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import msgspec

from procession.store._shared.queue import settling
from procession.store._shared.queue.calls import QueueCalls
from procession.store._shared.queue.claiming import as_started, claim_limited, rest_of
from procession.store._shared.queue.script import Ask, Rows, Script, as_bytes, run
from procession.store._shared.queue.settling import with_lost
from procession.store.mysql import _jobs as jobs_of
from procession.store.mysql._sessions import Answer, Session, Sessions
from procession.store.mysql._statements import QUEUE
from procession.store.rows import Claimed, ClaimedJob, JobOutcome, Rescue, Want

T = TypeVar("T")
ROWS_MAX: Final = 500  # of one statement with a repeated row
_NAMES: Final = "abcd"  # of a script's values, in order


class MysqlQueue(QueueCalls):
    """The calls of the queue, on a server."""

    _queue: Sessions  # transactions of several statements
    _rest: Sessions  # statements that only read
    _claims: Sessions
    _finishes: Sessions
    _duties: Sessions

    async def now(self) -> int:
        """The clock given, or the database's."""
        raise NotImplementedError

    async def _run_script(self, make: Callable[[int], Script[T]], *, reads: bool = False) -> T:
        if reads:
            async with self._rest.lend() as session:  # asked on the same: one of four must not wait for another
                at: int = (await session.run("now_of_transaction")).value()
                return await run(make(at), asking(session))

        async def work(session: Session) -> T:
            now: int = (await session.run("now_of_transaction")).value()
            return await run(make(now), asking(session))

        return await self._queue.transact(work)

    # -- the hot path -----------------------------------------------------------------------------------------------
    async def claim(self, node: int, wants: Sequence[Want]) -> Claimed:
        """Lease ready jobs to a node, or to workers that are no nodes; of a queue with limited ones first those."""
        claimed, throttled = await jobs_of.claim(self._claims, node, wants)
        local = [want for want in wants if want.queue in throttled and want.count > 0 and not want.lease_ms]
        # Whether what is due has a handler here is seen only by a look at each.
        held_back = {want.queue for want in local if want.at_once == 0 and not want.strangers}
        mixed = [want for want in local if want.at_once != 0 or want.strangers]
        if not mixed:
            return Claimed(claimed, held_back)
        started = await self._run_script(lambda now: claim_limited(node, mixed, now))
        limited = [as_started(claimed_job(row), started) for row in started.rows]
        claimed += limited
        if rest := rest_of([want for want in mixed if want.at_once != 0], limited):
            claimed += (await jobs_of.claim(self._claims, node, rest, heedless=True))[0]
        return Claimed(claimed, held_back | started.held_back, is_partial=started.is_partial)

    async def finish(self, outcomes: Sequence[JobOutcome]) -> list[bool]:
        """End runs under their lease; what the hot statements leave over (traits, lost leases) goes the long way."""
        answers = await jobs_of.finish(self._finishes, outcomes)
        rest = [outcome for outcome, is_held in zip(outcomes, answers, strict=True) if not is_held]
        if not rest:
            return answers
        following = iter(await self._settle_rest(rest))
        return [answer or next(following) for answer in answers]

    async def leave(self, node: int) -> None:
        """The process stops."""
        await self._run_script(lambda now: settling.release_runs(node, now))
        await jobs_of.leave(self._duties, node)

    async def rescue(self, dead_after_ms: int, limit: int, *, crash_budget: int, backoff_ms: int) -> Rescue:
        """Give back the jobs of dead and unknown nodes."""
        rescued = await jobs_of.rescue(self._duties, dead_after_ms, limit, crash_budget, backoff_ms)
        bounds = {"crash_budget": crash_budget, "backoff_ms": backoff_ms}
        return with_lost(rescued, await self._run_script(lambda now: settling.rescue_runs(limit, now, **bounds)))


def asking(session: Session) -> Callable[[Ask], Any]:
    """How a script's questions are asked on a session."""

    async def execute(question: Ask) -> Rows:
        if question.name == "clock":  # not @now, which is when the transaction began
            return [(await session.clock(),)]
        answers = _put(session, question)
        await session.send()
        return [row for answer in answers for row in answer.rows]

    return execute


def _put(session: Session, question: Ask) -> list[Answer]:
    """Gather the statements of a question."""
    first, *more = question.values
    given: list[Any] = msgspec.json.decode(first) if isinstance(first, bytes) else [first]
    values: dict[str, object] = dict(zip(_NAMES[1:], more, strict=False))
    found: list[Answer] = []
    for statement in QUEUE[question.name]:
        if not given or not isinstance(given[0], dict):
            lines = [f"queue {each}" for each in given]
            sql = statement.write({**values, "a": given, "lines": lines}, ())
            found.append(session.put_text(question.name, sql))
        elif statement.repeats:
            for start in range(0, len(given), ROWS_MAX):
                sql = statement.write(values, given[start : start + ROWS_MAX])
                found.append(session.put_text(question.name, sql))
        else:
            found += [session.put_text(question.name, statement.write(_named(row, values), ())) for row in given]
    return found


def _named(row: dict[str, Any], values: dict[str, object]) -> dict[str, object]:
    """A row's fields by name, and what filters ask of them besides."""
    named = {**values, **row}
    if "tag" in row:
        named["tag_json"] = msgspec.json.encode(row["tag"])
    for name, flag in (("kinds", "any_kind"), ("keys", "any_key")):
        if name in row:
            named[flag] = not row[name]
    return named


def claimed_job(row: Sequence[Any]) -> ClaimedJob:
    """A row of read_claimed.sql."""
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
