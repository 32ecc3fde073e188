"""What the simple process writes and asks, per instance from start to end: rows, bytes of the log, round trips, claims.

None of it depends on the machine. The product is used as a user would: eight callers, handlers that do nothing and have
slots for all.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import asyncpg
import pytest

from procession import Procession, Settings
from procession.ids import Keys
from procession.store.postgres import PostgresStore
from procession.store.rows import JobEnd, JobOutcome, Want
from procession.testing.bpmn import ProcessBuilder, process
from procession.testing.conformance.stage import new_job
from tests.store.postgres.wire import Wire

STARTERS, EACH = 8, 25
COUNT = STARTERS * EACH
VARIABLES = {"orderId": 17, "customer": "a b c", "total": 12.5}
# Nothing but the instances: no poll, no heartbeat and no duty falls into the time that is counted.
QUIET = Settings(claim_poll_ms_min=60_000, claim_poll_ms_max=60_000, heartbeat_ms=60_000, dead_after_ms=600_000)
# Inserted, updated, deleted per instance.
METHODS = {"instance": (1, 1, 0), "job": (1, 0, 1), "history": (2, 0, 0)}
SERVICE = {"instance": (1, 2, 0), "job": (2, 0, 2), "history": (3, 0, 0)}
ROWS = """
select relname, n_tup_ins, n_tup_upd, n_tup_del from pg_stat_user_tables
where schemaname = 'procession' and relname in ('instance', 'job', 'history')"""
OTHERS_MAX, RUNS_MAX = 10, 4  # round trips besides commits; runs, on a machine so slow that duties begin in them
PATIENCE_S = 60
STATISTICS_S_MAX = 30


class Cost(NamedTuple):
    """Of all instances of a run together; rows: of all runs."""

    runs: int
    rows: dict[str, tuple[int, ...]]
    wal_bytes: int
    round_trips: int
    steps: int
    commits: int
    claimed: int


async def nothing() -> None:
    """Do no work."""


@pytest.fixture
async def wire(url: str) -> AsyncIterator[Wire]:
    async with Wire(url) as wire:
        yield wire


async def run(url: str, wire: Wire, model: ProcessBuilder) -> Cost:
    """Run all instances once to warm up, and once to count; again where the first duties came in between."""
    app = Procession(wire.url, settings=QUIET)
    for name in ("a", "b"):
        app.method(name, concurrency=COUNT)(nothing)
        app.job(name, concurrency=COUNT)(nothing)
    watch: Any = await asyncpg.connect(url)
    async with app:
        await app.deploy(("p.bpmn", model.xml()))
        await start_all(app)
        cost = await count(app, wire, watch)
        runs = 2
        while cost.round_trips > cost.commits + OTHERS_MAX and runs < RUNS_MAX:
            cost = await count(app, wire, watch)
            runs += 1
    rows = await written(watch, runs)
    await watch.close()
    return cost._replace(runs=runs, rows=rows)


async def count(app: Procession, wire: Wire, watch: Any) -> Cost:
    """What one run costs."""
    trips, counters = wire.round_trips, asdict(app)
    begun = await watch.fetchval("select pg_current_wal_insert_lsn()")
    await start_all(app)
    trips, now = wire.round_trips - trips, asdict(app)
    wal = await watch.fetchval("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1)::bigint", begun)
    steps, commits, claimed = (now[name] - counters[name] for name in ("steps", "commits", "claimed"))
    return Cost(0, {}, wal, trips, steps, commits, claimed)


def asdict(app: Procession) -> dict[str, int]:
    return {name: getattr(app.counters, name) for name in ("steps", "commits", "claimed")}


async def start_all(app: Procession) -> None:
    async def starter() -> None:
        for _ in range(EACH):
            await app.start("p", VARIABLES)

    until = app.counters.completed + COUNT
    await asyncio.gather(*(starter() for _ in range(STARTERS)))
    async with asyncio.timeout(PATIENCE_S):
        while app.counters.completed < until:  # noqa: ASYNC110 - the product says it to nobody but who waits for one
            await asyncio.sleep(0)


async def written(watch: Any, runs: int) -> dict[str, tuple[int, ...]]:
    """The rows that were written, once the sessions, which have ended, have reported them."""
    for _ in range(STATISTICS_S_MAX * 10):
        found = {row[0]: tuple(row)[1:] for row in await watch.fetch(ROWS)}
        most = runs * COUNT
        if found["instance"][:2] >= (most, most) and found["job"][2] >= found["job"][0] >= most:
            return found
        await asyncio.sleep(0.1)
    pytest.fail(f"the sessions did not report their rows within {STATISTICS_S_MAX} s")


MODELS = [
    pytest.param(process("p").start().task("a").task("b").end(), METHODS, 2, 2_270, id="methods"),
    pytest.param(
        process("p").start().service("a", type="a").service("b", type="b").end(), SERVICE, 3, 3_170, id="jobs"
    ),
]


@pytest.mark.parametrize(("model", "rows", "steps", "wal_bytes"), MODELS)
async def test_an_instance_writes_these_rows_so_many_bytes_and_asks_so_often(
    url: str, wire: Wire, model: ProcessBuilder, rows: dict[str, tuple[int, ...]], steps: int, wal_bytes: int
):
    cost = await run(url, wire, model)
    assert cost.rows == {table: tuple(cost.runs * COUNT * each for each in some) for table, some in rows.items()}
    assert cost.steps == steps * COUNT
    assert cost.claimed == 0, "every job is claimed with its insert"
    assert cost.wal_bytes <= wal_bytes * COUNT, f"{cost.wal_bytes / COUNT:.0f}"
    assert cost.round_trips <= cost.commits + OTHERS_MAX, "one for each commit, and now and then for more keys"


BULK, AT_ONCE = 3_000, 500
ENQUEUED_BYTES, DRAINED_BYTES = 276, 436  # of the log for each job; 251 and 400 when this was written


async def test_a_queued_job_writes_so_many_bytes_and_many_share_their_round_trips(url: str, wire: Wire):
    store = PostgresStore(wire.url)
    await store.open()
    store._floors.may_be_used = False  # a slow machine is no transaction that holds up vacuum
    keys = Keys(await store.take_keys(2 * BULK))
    watch: Any = await asyncpg.connect(url)

    async def through(count: int) -> tuple[int, int, int]:
        """Bytes of the log for what comes and for what is done, and round trips of both."""
        before, begun = wire.round_trips, await watch.fetchval("select pg_current_wal_insert_lsn()")
        await store.enqueue([new_job(keys, args=b'{"i":1}') for _ in range(count)])
        inserted = await watch.fetchval("select pg_current_wal_insert_lsn()")
        for _ in range(count // AT_ONCE):
            runs = await store.claim(1, [Want(queue="mail", count=AT_ONCE)])
            assert len(runs) == AT_ONCE
            await store.finish([JobOutcome(key=run.key, lease=run.lease, end=JobEnd.DONE) for run in runs])
        ended = await watch.fetchval("select pg_current_wal_insert_lsn()")
        difference = "select pg_wal_lsn_diff($1, $2)::bigint"
        trips = wire.round_trips - before
        return (
            await watch.fetchval(difference, inserted, begun),
            await watch.fetchval(difference, ended, inserted),
            trips,
        )

    await through(AT_ONCE)
    come, done, trips = await through(BULK)
    await watch.close()
    await store.close()
    assert come <= ENQUEUED_BYTES * BULK, f"{come / BULK:.0f}"
    assert done <= DRAINED_BYTES * BULK, f"{done / BULK:.0f}"
    assert trips == 2 + 2 * BULK // AT_ONCE, "a copy is two"
