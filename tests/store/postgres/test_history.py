"""Readers of the whole history skip nothing, and people can read it in SQL."""

from __future__ import annotations

import asyncio
import random
from typing import get_args

import asyncpg
import msgspec

from procession.core import events as core_events
from procession.ids import Keys
from procession.store.postgres import PostgresStore
from procession.store.postgres.store import HistoryCursor
from procession.testing.conformance.stage import apply, definition, deploy, next_step, start_step

INSERT = "insert into procession.history (instance, definition, at, events) values ($1, 1, now(), '[]')"
DRAW_A_TRANSACTION = "select pg_current_xact_id()"


async def test_a_low_position_that_commits_late_is_not_skipped(make_store, url):
    """Both orders that lose rows for a reader by position alone: it reads a high position, then a lower one commits."""
    store = await make_store()
    slow, fast = await asyncpg.connect(url), await asyncpg.connect(url)
    for number, first in enumerate((fast, slow)):
        second = slow if first is fast else fast
        slow_transaction, fast_transaction = slow.transaction(), fast.transaction()
        await slow_transaction.start()
        await fast_transaction.start()
        await first.execute(DRAW_A_TRANSACTION)
        await second.execute(DRAW_A_TRANSACTION)
        await slow.execute(INSERT, 10 * number + 1)
        await fast.execute(INSERT, 10 * number + 2)
        await fast_transaction.commit()
        rows, cursor = await everything(store)
        await slow_transaction.commit()
        more, _ = await everything(store, cursor)
        if first is fast:  # a reader by position would have stood behind this row already
            assert max(row.position for row in rows) > max(row.position for row in more)
        found = [row.instance for row in rows + more if row.instance // 10 == number]
        assert sorted(found) == [10 * number + 1, 10 * number + 2]
    await slow.close()
    await fast.close()


async def test_slow_committers_at_once_hide_nothing_from_a_reader_and_nothing_comes_twice(make_store, url):
    store = await make_store(lanes=4)
    keys = Keys(await store.take_keys(20_000))
    written: list[int] = []
    seen: list[int] = []
    is_done = False

    async def write_slowly(number: int) -> None:
        connection = await asyncpg.connect(url)
        for round_number in range(15):
            instance = 1 + number * 100 + round_number
            async with connection.transaction():
                await connection.execute(INSERT, instance)
                await asyncio.sleep(random.random() / 50)  # others draw positions and commit meanwhile
            written.append(instance)
        await connection.close()

    async def write_steps() -> None:
        for _ in range(40):
            steps = [start_step(keys) for _ in range(20)]
            await apply(store, keys, *steps)
            written.extend(step.instance for step in steps)

    async def read() -> None:
        cursor = HistoryCursor()
        while True:
            was_done = is_done
            rows, cursor = await store.history_since(cursor, 17)
            seen.extend(row.instance for row in rows)
            if was_done and not rows:
                return
            await asyncio.sleep(0)

    reading = asyncio.create_task(read())
    async with asyncio.timeout(60):
        await asyncio.gather(*(write_slowly(number) for number in range(8)), write_steps(), write_steps())
        is_done = True
        await reading
    assert len(seen) == len(written)
    assert set(seen) == set(written)


async def test_steps_of_one_instance_come_to_a_reader_in_their_order(make_store):
    store = await make_store()
    keys = Keys(await store.take_keys(1_000))
    step = start_step(keys)
    await apply(store, keys, step)
    for number in range(20):
        step = next_step(step, events=b"[[%d]]" % number)
        await apply(store, keys, step)
    rows, _ = await everything(store)
    assert [row.events for row in rows[1:]] == [b"[[%d]]" % number for number in range(20)]


async def test_the_view_shows_one_row_per_event_with_the_element_id(make_store, url):
    store = await make_store()
    keys = Keys(await store.take_keys(1_000))
    (deployed,) = await deploy(store, keys, definition(keys, "order"))
    events = b'[["activated",9,1,3,0,false,0],["flow",0,3],["passed",4,2,3],["completed",9]]'
    step = start_step(keys, definition=deployed.key, events=events)
    await apply(store, keys, step)
    connection = await asyncpg.connect(url)
    rows = await connection.fetch(
        "select ordinal, event, element, fields from procession.history_event order by ordinal"
    )
    await connection.close()
    # elements of the definition: start, charge-card, end
    assert [tuple(row)[:3] for row in rows] == [
        (1, "activated", "charge-card"),
        (2, "flow", None),
        (3, "passed", "end"),
        (4, "completed", None),
    ]


async def test_the_view_knows_where_each_event_names_its_element(make_store, url):
    store = await make_store()
    keys = Keys(await store.take_keys(1_000))
    (deployed,) = await deploy(store, keys, definition(keys, "order"))
    samples, expected = [], {}
    for event in get_args(core_events.AnyEvent):
        fields = [field.name for field in msgspec.structs.fields(event)]
        samples.append([event.__struct_config__.tag, *(1 if name == "element" else 0 for name in fields)])
        expected[event.__struct_config__.tag] = "charge-card" if "element" in fields else None
    await apply(store, keys, start_step(keys, definition=deployed.key, events=msgspec.json.encode(samples)))
    connection = await asyncpg.connect(url)
    rows = await connection.fetch("select event, element from procession.history_event")
    await connection.close()
    assert {row["event"]: row["element"] for row in rows} == expected


async def everything(store: PostgresStore, cursor: HistoryCursor | None = None):
    """All that a reader gets from a cursor on."""
    cursor = cursor or HistoryCursor()
    found = []
    while True:
        rows, cursor = await store.history_since(cursor, 7)
        if not rows:
            return found, cursor
        found += rows
