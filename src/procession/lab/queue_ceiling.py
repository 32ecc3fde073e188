"""The queue's raw ceiling: the rows that the product writes, written, claimed and deleted by bare set-based statements.

The tables are the product's own. What is left out is all that makes a queue: options, limits, retries, handlers, leases
that are looked at, notifications. Claims of hundreds at a time and deletes of what has gathered are pipelined on
connections of their own, as the product does it.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any, Final

from procession.app import Procession
from procession.lab.ceiling import FIRST_KEY, Lane, connect_for_keys
from procession.lab.queue_orders import Done, Order
from procession.lab.queue_product import ARGS, QUEUE, TYPE
from procession.lab.starters import starts_per_s

Connection = Any  # asyncpg.Connection, whose stubs are generic in the record class

CLAIM_ROWS: Final = 500
_TASK: Final = 0  # the kind of a plain job
_RETRIES: Final = 3
_ROW: Final = '{"number":1}'
assert ARGS == {"number": 1}, "the bare rows hold what the product's hold"

_INSERT: Final = """
insert into procession.job (key, kind, state, queue, type, priority, run_at, created_at, lease, attempt, retries, args)
select u.key, $1, 0, $2, $3, 0, now(), now(), 0, 0, $4, u.args
from unnest($5::bigint[], $6::json[]) as u (key, args)"""
_CLAIM: Final = """
update procession.job set state = 1, owner = 1, lease = lease + 1, attempt = attempt + 1
where key = any(array(
    select key from procession.job where state = 0 and queue = $1 order by priority desc, run_at, key limit $2
    for no key update skip locked))
returning key, lease, args"""
DELETE: Final = "delete from procession.job where key = any($1::bigint[]) and lease = 1"


def ceiling_for(order: Order) -> Ceiling:
    """The bare statements of a workload."""
    return {"bulk": BulkCeiling, "single": SingleCeiling, "drain": DrainCeiling}[order.workload](order)


class Ceiling:
    """What the three have in common: the schema, and connections."""

    ends_by_itself = True

    def __init__(self, order: Order) -> None:
        self.done = 0
        self.seconds = 0.0
        self.order = order
        self._next_key = FIRST_KEY
        self._connections: list[Connection] = []

    async def prepare(self) -> float | None:
        """Let the product make its schema."""
        await Procession(self.order.url).migrate()
        return None

    async def go(self) -> None:
        """Do it."""
        raise NotImplementedError

    def report(self, cpu_s: float) -> Done:
        """What was done."""
        return Done(done=self.done, seconds=round(self.seconds, 4), cpu_s=cpu_s)

    async def close(self) -> None:
        """Disconnect."""
        for connection in self._connections:
            await connection.close()

    async def connect(self) -> Connection:
        """A connection whose plans go by keys."""
        connection = await connect_for_keys(self.order.url)
        self._connections.append(connection)
        return connection

    def take_keys(self, count: int) -> list[int]:
        """Keys that nobody has."""
        first, self._next_key = self._next_key, self._next_key + count
        return list(range(first, first + count))


_COMMON: Final = (_TASK, QUEUE, TYPE, _RETRIES)


class BulkCeiling(Ceiling):
    """One insert of thousands after the other."""

    async def go(self) -> None:
        """Until all are in, or the time is over."""
        order, insert = self.order, await (await self.connect()).prepare(_INSERT)
        begun = time.perf_counter()
        while self.done < order.jobs and time.perf_counter() - begun < order.seconds_max:
            count = min(order.bulk, order.jobs - self.done)
            await insert.fetch(*_COMMON, self.take_keys(count), [_ROW] * count)
            self.done += count
        self.seconds = time.perf_counter() - begun


class SingleCeiling(Ceiling):
    """Callers that each wait for their row; what has gathered shares an insert."""

    async def prepare(self) -> float | None:
        """Also how fast the same callers are by themselves."""
        await super().prepare()
        connection = await connect_for_keys(self.order.url)
        self._lane = Lane(connection, await connection.prepare(_INSERT), _COMMON)
        return await starts_per_s(self.order.callers, 1, self.order.jobs)

    async def go(self) -> None:
        """All callers at once."""
        begun = time.perf_counter()
        self._end = begun + self.order.seconds_max
        share, more = divmod(self.order.jobs, self.order.callers)
        async with asyncio.TaskGroup() as group:
            for number in range(self.order.callers):
                group.create_task(self._call(share + (number < more)))
        self.seconds = time.perf_counter() - begun

    async def _call(self, count: int) -> None:
        for _ in range(count):
            if time.perf_counter() > self._end:
                return
            await self._lane.put((*self.take_keys(1), _ROW))
            self.done += 1

    async def close(self) -> None:
        """Stop the lane."""
        await self._lane.close()
        await super().close()


class DrainCeiling(Ceiling):
    """Claims of hundreds, and deletes of what was claimed, side by side."""

    ends_by_itself = False

    async def prepare(self) -> float | None:
        """Fill the queue, unless that was done."""
        if not self.order.fills:
            return None
        await super().prepare()
        insert = await (await self.connect()).prepare(_INSERT)
        for begin in range(0, self.order.jobs, self.order.bulk):
            count = min(self.order.bulk, self.order.jobs - begin)
            await insert.fetch(*_COMMON, self.take_keys(count), [_ROW] * count)
        return None

    async def go(self) -> None:
        """Until no claim finds any."""
        claim = await (await self.connect()).prepare(_CLAIM)
        delete = await (await self.connect()).prepare(DELETE)
        claimed: asyncio.Queue[list[int]] = asyncio.Queue(maxsize=2)

        async def claim_all() -> None:
            keys = [0]
            while keys:
                keys = [row[0] for row in await claim.fetch(QUEUE, CLAIM_ROWS)]
                await claimed.put(keys)

        claiming = asyncio.get_running_loop().create_task(claim_all())
        try:
            while keys := await claimed.get():
                await delete.fetch(keys)
                self.done += len(keys)
        finally:
            claiming.cancel()
            await asyncio.gather(claiming, return_exceptions=True)
