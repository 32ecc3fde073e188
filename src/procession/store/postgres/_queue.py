"""The queue's half of PostgreSQL's store: scripts in transactions, and what the hot path leaves over. It has no rule.

A script that meets a deadlock (its locks are in order, but what follows from the end of a job is not known beforehand)
is run again from its beginning, on what is stored then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any, Final, TypeVar

from procession.store._shared.queue import settling
from procession.store._shared.queue.calls import QueueCalls
from procession.store._shared.queue.claiming import as_started, claim_limited, rest_of
from procession.store._shared.queue.script import Ask, Rows, Script, run
from procession.store._shared.queue.settling import with_lost
from procession.store._shared.refusals import clean_text
from procession.store.postgres import _reading as reading
from procession.store.postgres._columns import encode_json, numbers, sparse
from procession.store.postgres._failures import Collided
from procession.store.postgres._floors import Floors
from procession.store.postgres._sessions import QUEUE, Sessions
from procession.store.rows import Claimed, ClaimedJob, JobEnd, JobOutcome, Rescue, Want
from procession.store.rows.queue import PauseKind

T = TypeVar("T")
COLLISIONS_MAX: Final = 8  # deadlocks in a row that one call survives


class PostgresQueue(QueueCalls):
    """The calls of the queue, on a server."""

    _queue: Sessions  # transactions of several statements
    _rest: Sessions  # statements that only read
    _claims: Sessions
    _finishes: Sessions
    _duties: Sessions
    _floors: Floors

    def _bound_now(self) -> int | None:
        raise NotImplementedError

    async def now(self) -> int:
        """The clock given, or the database's."""
        raise NotImplementedError

    async def _run_script(self, make: Callable[[int], Script[T]], *, reads: bool = False) -> T:
        if reads:
            return await run(make(await self.now()), self._read_rows)
        for collisions in range(COLLISIONS_MAX):
            try:
                return await self._run_once(make)
            except Collided:
                if collisions == COLLISIONS_MAX - 1:
                    raise
        raise AssertionError

    async def _run_once(self, make: Callable[[int], Script[T]]) -> T:
        session = await self._queue.take()
        try:
            async with session.transaction():
                now = self._bound_now()
                if now is None:
                    now = (await session.fetch("now"))[0][0]

                async def execute(question: Ask) -> Rows:
                    if question.name == "clock":  # not the transaction's, which is when it began
                        bound = self._bound_now()
                        return [(bound,)] if bound is not None else await session.fetch("clock")
                    return await session.fetch(QUEUE + question.name, *question.values)

                return await run(make(now), execute)
        finally:
            self._queue.give_back(session)

    async def _read_rows(self, question: Ask) -> Rows:
        return await self._rest.fetch(QUEUE + question.name, *question.values)

    # -- the hot path -----------------------------------------------------------------------------------------------
    async def claim(self, node: int, wants: Sequence[Want]) -> Claimed:
        """Lease ready jobs to a node, or to workers that are no nodes; of a queue with limited ones first those."""
        local = [want for want in wants if not want.lease_ms]
        claimed: list[ClaimedJob] = []
        held_back: set[str] = set()
        is_partial = False
        if local:
            claimed, throttled = await self._claim_ready(node, local)
            held_back = {want.queue for want in local if want.queue in throttled and want.at_once == 0}
            mixed = [want for want in local if want.queue in throttled - held_back]
            if mixed:
                started = await self._run_script(lambda now: claim_limited(node, mixed, now))
                held_back |= started.held_back
                is_partial = started.is_partial
                limited = [as_started(reading.claimed_job(row), started) for row in started.rows]
                claimed += limited
                if rest := rest_of(mixed, limited):
                    claimed += (await self._claim_ready(node, rest, heedless=True))[0]
        remote = [want for want in wants if want.lease_ms]
        if remote:
            claimed += await self._claim_remotely(remote)
        return Claimed(claimed, held_back, is_partial=is_partial)

    async def _claim_ready(
        self, node: int, wants: Sequence[Want], *, heedless: bool = False
    ) -> tuple[list[ClaimedJob], set[str]]:
        """Ready jobs in claim order, and the queues that have limited ones whose start is due.

        Those queues give none, since the limited ones come first, unless there is no room for limited ones or they
        have had their turn (``heedless``).
        """
        queues, counts = [want.queue for want in wants], [want.count for want in wants]
        began = monotonic()
        floors = self._floors.columns(wants, began)
        values = (queues, counts, node, self._bound_now(), [heedless or want.at_once == 0 for want in wants])
        strangers = [encode_json(want.strangers) if want.strangers else None for want in wants]
        if floors is None:
            rows = await self._claims.fetch("claim", *values, strangers)
        else:
            rows = await self._claims.fetch("claim_above", *values, *floors, strangers)
        throttled = {row["queue"] for row in rows if row["key"] is None}
        if throttled:
            rows = [row for row in rows if row["key"] is not None]
        rows.sort(key=_claim_order)
        self._floors.learn(rows, began, monotonic(), with_floors=floors is not None)
        return [reading.claimed_job(row) for row in rows], throttled

    async def resume(self, kind: PauseKind, name: str) -> bool:
        """Take a pause back; what was passed over is below the floors."""
        self._floors.places.clear()
        return await super().resume(kind, name)

    async def finish(self, outcomes: Sequence[JobOutcome]) -> list[bool]:
        """End runs under their lease; what the hot statements leave over (traits, lost leases) goes the long way."""
        if _are_done_alike(outcomes):
            lease = outcomes[0].lease
            rows = await self._finishes.fetch("finish_alike", numbers(sorted([each.key for each in outcomes])), lease)
            if len(rows) == len(outcomes):
                return [True] * len(rows)
            held = Counter((row[0], lease) for row in rows)
        else:
            ordered = sorted((each for each in outcomes if _is_plain(each)), key=_key_of)
            held = await self._finish_plain(ordered) if ordered else Counter[tuple[int, int]]()
        answers: list[bool] = []
        rest: list[JobOutcome] = []
        for each in outcomes:
            run_of = (each.key, each.lease)
            is_held = held[run_of] > 0 and _is_plain(each)
            held[run_of] -= is_held  # an outcome that is in a batch twice counts the first time
            answers.append(is_held)
            if not is_held:
                rest.append(each)
        if not rest:
            return answers
        following = iter(await self._settle_rest(rest))
        return [answer or next(following) for answer in answers]

    async def _finish_plain(self, ordered: Sequence[JobOutcome]) -> Counter[tuple[int, int]]:
        """The runs (key, lease) of jobs without traits that were ended."""
        columns: list[Any] = [[each.key for each in ordered], [each.lease for each in ordered]]
        if all(each.end is JobEnd.DONE for each in ordered):
            rows = await self._finishes.fetch("finish_done", *columns)
        else:
            columns += [
                [int(each.end) for each in ordered],
                [each.delay_ms for each in ordered],
                [each.retries for each in ordered],
                sparse([clean_text(each.error) for each in ordered]),
            ]
            rows = await self._finishes.fetch("finish", *columns, self._bound_now())
        return Counter((row[0], row[1]) for row in rows)

    async def leave(self, node: int) -> None:
        """The process stops."""
        await self._run_script(lambda now: settling.release_runs(node, now))
        await self._duties.fetch("leave", node, self._bound_now())

    async def rescue(self, dead_after_ms: int, limit: int, *, crash_budget: int, backoff_ms: int) -> Rescue:
        """Give back the jobs of dead and unknown nodes."""
        values = (dead_after_ms, limit, crash_budget, backoff_ms, self._bound_now())
        row = (await self._duties.fetch("rescue", *values))[0]
        rescue = Rescue(nodes=row["nodes"], jobs=row["jobs"], woken=row["woken"], failed=row["failed"])
        bounds = {"crash_budget": crash_budget, "backoff_ms": backoff_ms}
        return with_lost(rescue, await self._run_script(lambda now: settling.rescue_runs(limit, now, **bounds)))

    async def _claim_remotely(self, wants: Sequence[Want]) -> list[ClaimedJob]:
        columns = [[w.queue for w in wants], [w.count for w in wants], [w.lease_ms for w in wants]]
        tenants = [None if w.tenants is None else encode_json(w.tenants) for w in wants]
        rows = await self._claims.fetch("claim_remotely", *columns, self._bound_now(), tenants)
        rows.sort(key=_claim_order)
        return [reading.claimed_job(row) for row in rows]


def _claim_order(row: Any) -> tuple[int, int, int]:  # noqa: ANN401 - a row of the driver
    return -row["priority"], row["run_at"], row["key"]


def _is_plain(outcome: JobOutcome) -> bool:
    """Whether a run of a job without traits ends by the short statements: nothing of it stays."""
    return outcome.end is not JobEnd.CANCELED and not outcome.keep_ms


def _are_done_alike(outcomes: Sequence[JobOutcome]) -> bool:
    """Whether these are jobs that ended well, all under leases of one number: mostly the first of each."""
    if not outcomes:
        return False
    lease, done = outcomes[0].lease, JobEnd.DONE
    return all([each.end is done and each.lease == lease and not each.keep_ms for each in outcomes])  # noqa: C419 - as a list it is faster


def _key_of(row: JobOutcome) -> int:
    return row.key
