"""The raw ceiling: the rows that the product writes, written by bare set-based statements. No engine, no call.

It first lets the product run one instance and copies what that wrote: state, variables and history of each step, and
the job. Then it writes the same for every instance, committed in the same number of steps, with what has gathered
while the last statement ran going into the next. What it leaves out is all that makes an engine: deciding, revisions,
leases, retries, handlers.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any, Final, Self

import asyncpg
import msgspec

from procession.errors import Bug
from procession.lab.options import Load
from procession.lab.product import Product

Connection = Any  # asyncpg.Connection, whose stubs are generic in the record class
Row = tuple[Any, ...]

FIRST_KEY: Final = 1 << 52  # far from the product's
ROWS_MAX: Final = 1_000  # of one statement
# Reach rows by their keys whatever the statistics of a table that was empty a moment ago say. That is also why the
# statements ask for `key = any(...)`: joined alone, the whole index was read for each of them as the tables grew.
PLANS: Final = {"plan_cache_mode": "force_generic_plan", "enable_seqscan": "off"}

_START: Final = """
with i as (
    insert into procession.instance (key, definition, started_at, rev, status, process_id, state, variables)
    select u.key, $2, now(), 1, 0, $1, u.state, u.variables
    from unnest($8::bigint[], $10::bytea[], $11::jsonb[]) as u (key, state, variables)
), j as (
    insert into procession.job (key, instance, element_instance, definition, kind, state, priority, queue, type,
                                element, owner, lease, attempt, retries, run_at, created_at)
    select n.key, n.instance, n.instance, $2, $3, 1, 0, $4, $5, $6, 1, 1, 1, $7, now(), now()
    from unnest($9::bigint[], $8) as n (key, instance)
)
insert into procession.history (instance, definition, at, events)
select u.key, $2, now(), u.events from unnest($8, $12::json[]) as u (key, events)"""
STEP: Final = """
with d as (
    delete from procession.job where job.key = any($7::bigint[]) and job.lease = 1
), i as (
    update procession.instance set rev = rev + 1, state = u.state
    from unnest($8::bigint[], $10::bytea[]) as u (key, state) where instance.key = any($8) and instance.key = u.key
), j as (
    insert into procession.job (key, instance, element_instance, definition, kind, state, priority, queue, type,
                                element, owner, lease, attempt, retries, run_at, created_at)
    select n.key, n.instance, n.instance, $1, $2, 1, 0, $3, $4, $5, 1, 1, 1, $6, now(), now()
    from unnest($9::bigint[], $8) as n (key, instance)
)
insert into procession.history (instance, definition, at, events)
select u.key, $1, now(), u.events from unnest($8, $11::json[]) as u (key, events)"""
END: Final = """
with d as (
    delete from procession.job where job.key = any($2::bigint[]) and job.lease = 1
), i as (
    update procession.instance set rev = rev + 1, status = 1, ended_at = now(), state = u.state
    from unnest($3::bigint[], $4::bytea[]) as u (key, state) where instance.key = any($3) and instance.key = u.key
)
insert into procession.history (instance, definition, at, events)
select u.key, $1, now(), u.events from unnest($3, $5::json[]) as u (key, events)"""


class Sample(msgspec.Struct, kw_only=True):
    """What the product wrote for one instance."""

    process_id: str
    definition: int
    variables: str
    states: list[bytes]  # after each step
    events: list[str]  # of each step
    job: Row  # kind, queue, type, element, retries


class Ceiling:
    """Takes the place of the product: `start`, and `handled` counting as if calls had been made."""

    def __init__(self, load: Load) -> None:
        self.handled = 0
        self._load = load
        self._next_key = FIRST_KEY
        self._lanes: list[Lane] = []
        self._sample: Sample | None = None
        self._running: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._sample = sample = await take_sample(self._load)
        job = (sample.definition, *sample.job)
        await self._open_lane(_START, (sample.process_id, *job))
        for _ in range(len(sample.states) - 2):
            await self._open_lane(STEP, job)
        await self._open_lane(END, (sample.definition,))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for lane in self._lanes:
            await lane.close()

    async def _open_lane(self, text: str, common: Row) -> None:
        connection = await connect_for_keys(self._load.url)
        self._lanes.append(Lane(connection, await connection.prepare(text), common))

    async def start(self) -> int:
        """Write the rows of a start; the rest follows by itself."""
        sample = self._sample
        assert sample is not None
        instance, job = self._take_key(), self._take_key()
        await self._lanes[0].put((instance, job, sample.states[0], sample.variables, sample.events[0]))
        task = asyncio.get_running_loop().create_task(self._go_on(sample, instance, job))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return instance

    async def _go_on(self, sample: Sample, instance: int, job: int) -> None:
        """The other steps, each after the one before is durable."""
        last = len(self._lanes) - 1
        for number in range(1, last):
            following = self._take_key()
            await self._lanes[number].put((job, instance, following, sample.states[number], sample.events[number]))
            job = following
        await self._lanes[last].put((job, instance, sample.states[last], sample.events[last]))
        self.handled += 2

    def _take_key(self) -> int:
        self._next_key += 1
        return self._next_key

    def counters(self) -> dict[str, int]:
        """Steps and the commits that they shared."""
        return {
            "steps": sum(lane.rows for lane in self._lanes),
            "commits": sum(lane.flushes for lane in self._lanes),
        }


async def connect_for_keys(url: str) -> Connection:
    """A connection whose plans do not depend on how large a table seemed."""
    return await asyncpg.connect(url, server_settings=PLANS)


class Lane:
    """One connection and one statement: whatever has gathered while it ran goes into its next run.

    `common` are the statement's first values, the same for all rows.
    """

    def __init__(self, connection: Connection, statement: Any, common: Row) -> None:  # noqa: ANN401 - asyncpg's
        self._connection = connection
        self._statement = statement
        self._common = common
        self._waiting: list[tuple[Row, asyncio.Future[None]]] = []
        self._wake = asyncio.Event()
        self.flushes = self.rows = 0
        self._task = asyncio.get_running_loop().create_task(self._run())

    def put(self, row: Row) -> asyncio.Future[None]:
        """Done when the row is durable."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((row, future))
        self._wake.set()
        return future

    async def close(self) -> None:
        """Stop and disconnect."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        await self._connection.close()

    async def _run(self) -> None:
        while True:
            while not self._waiting:
                self._wake.clear()
                await self._wake.wait()
            batch, self._waiting = self._waiting[:ROWS_MAX], self._waiting[ROWS_MAX:]
            columns = [list(column) for column in zip(*(row for row, _ in batch), strict=True)]
            try:
                await self._statement.fetch(*self._common, *columns)
            except asyncpg.PostgresError as error:
                for _, future in batch:
                    future.set_exception(error)
                continue
            self.flushes += 1
            self.rows += len(batch)
            for _, future in batch:
                future.set_result(None)


async def take_sample(load: Load) -> Sample:
    """Let the product run one instance, copy what it wrote, and remove it again. Raises Bug."""
    connection: Connection = await asyncpg.connect(load.url)
    states: dict[int, bytes] = {}
    jobs: list[Row] = []

    async def look() -> None:
        row = await connection.fetchrow("select rev, state from procession.instance")
        states[row[0]] = row[1]
        jobs.append(tuple(await connection.fetchrow("select kind, queue, type, element, retries from procession.job")))

    try:
        async with Product(load, None, before=look) as product:
            key = await product.start()
            await product.wait(key)
        ended = await connection.fetchrow(
            "select rev, state, process_id, definition, variables from procession.instance"
        )
        events = await connection.fetch("select events from procession.history order by position")
        await connection.execute("truncate procession.instance, procession.job, procession.history")
    finally:
        await connection.close()
    states[ended[0]] = ended[1]
    steps = [state for _, state in sorted(states.items())]
    if len(steps) != len(events) or len(steps) < 2:
        message = (
            f"Expected a history row for each of at least 2 steps, found {len(events)} rows for {len(steps)} steps"
        )
        raise Bug(message)
    return Sample(
        process_id=ended[2],
        definition=ended[3],
        variables=ended[4],
        states=steps,
        events=[row[0] for row in events],
        job=jobs[0],
    )
