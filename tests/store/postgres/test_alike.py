"""Steps that are alike go in statements of their own: what these write and answer is what the general ones do."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import asyncpg
import pytest
from msgspec import structs

from procession.errors import InvalidValue
from procession.ids import Keys
from procession.store.postgres import PostgresStore
from procession.store.postgres._alike import CLOSE_COLUMNS, enqueue_columns, is_due, start_columns, step_columns
from procession.store.postgres.store import COPY_MIN
from procession.store.rows import JobFence, Step, StepOutcome
from procession.testing.conformance.stage import new_job, next_step, service_job, start_step

ROWS = {
    "instance": "select to_jsonb(i) - 'started_at' - 'ended_at' || jsonb_build_object('over', ended_at is not null)"
    " from procession.instance i where definition = 7 order by key",
    "job": "select to_jsonb(j) - 'run_at' - 'created_at' from procession.job j where definition = 7 order by key",
    "history": "select to_jsonb(h) - 'position' - 'txid' - 'at' from procession.history h where definition = 7"
    " order by instance, position",
}
OWNER = 3
APPLIED, STALE, FENCED = StepOutcome.APPLIED, StepOutcome.STALE, StepOutcome.FENCED


def odd_one(keys: Keys) -> Step:
    """A start that is like no other: with it in the batch, all of them go the general way."""
    return start_step(keys, definition=8, tags=["odd"])


def starts(keys: Keys, *, owner: int = OWNER, tenant: str = "") -> list[Step]:
    steps = [start_step(keys, tenant=tenant, variables=b'{"n": %d}' % n) for n in range(3)]
    steps[1].variables = None
    steps[2].events = None
    for step in steps:
        step.new_jobs = [service_job(keys, step, owner=owner, tenant=tenant, priority=5, retries=2)]
    return steps


def following(keys: Keys, before: list[Step], *, opens: int) -> list[Step]:
    """Steps that close the jobs of these; the first ``opens`` open another, the last one is the end."""
    steps: list[Step] = []
    for number, step in enumerate(before):
        after = next_step(step, state=b"\x81\xa1k\x02", events=b'[["n",%d]]' % number)
        after.closed_jobs = [JobFence(key=step.new_jobs[0].key, lease=1)]
        if number < opens:
            after.new_jobs = [service_job(keys, after, owner=OWNER, tenant=step.tenant)]
        steps.append(after)
    steps[0].variables = b'{"changed":true}'
    steps[1].closed_jobs = []
    steps[-1].status = 1
    return steps


async def rows(url: str) -> dict[str, list[Any]]:
    connection = await asyncpg.connect(url)
    found = {table: [json.loads(row[0]) for row in await connection.fetch(sql)] for table, sql in ROWS.items()}
    await connection.close()
    return found


async def written(url: str, store: PostgresStore, *, odd: bool, opens: int, owner: int, tenant: str) -> Any:
    keys = Keys(range(1_000, 2_000))
    more = Keys(range(5_000, 6_000))
    first = starts(keys, owner=owner, tenant=tenant)
    second = following(keys, first, opens=opens)
    if not odd:
        assert start_columns(first, None) is not None
        columns = step_columns(second, None)
        assert columns is not None
        assert (len(columns) == CLOSE_COLUMNS) == (opens == 0)
    outcomes: list[StepOutcome] = []
    for batch in (first, second):
        sent = [*batch]
        if odd and batch is first:
            sent.append(odd_one(more))
        elif odd:
            other = start_step(more, definition=8)
            await store.commit([other], more)
            sent.append(next_step(other))
        outcomes += [result.outcome for result in await store.commit(sent, more)][: len(batch)]
    return outcomes, await rows(url)


@pytest.mark.parametrize(("owner", "tenant"), [(OWNER, ""), (0, "acme")])
@pytest.mark.parametrize("opens", [0, 2])
async def test_both_ways_write_the_same_rows(
    postgres_databases, migrated_postgres_url, make_store, opens, owner, tenant
):
    found: list[Any] = []
    for odd in (False, True):
        url = postgres_databases.create(template=migrated_postgres_url)
        store = await make_store(url=url)
        found.append(await written(url, store, odd=odd, opens=opens, owner=owner, tenant=tenant))
        await store.close()
        postgres_databases.drop(url)
    assert found[0] == found[1]
    assert len(found[0][1]["job"]) >= 1


async def test_one_that_does_not_apply_keeps_no_other_from_it(url, make_store):
    store = await make_store()
    keys = Keys(range(1_000, 2_000))
    first = [step for _ in range(2) for step in starts(keys)]
    await store.commit(first, keys)
    second = following(keys, first, opens=4)
    second[2].rev = 7
    second[3].closed_jobs[0].lease = 9
    second[4].rev, second[4].closed_jobs[0].lease = 7, 9
    assert step_columns(second, None) is not None
    outcomes = [result.outcome for result in await store.commit(second, keys)]
    assert outcomes == [APPLIED, APPLIED, STALE, FENCED, STALE, APPLIED]
    found = await rows(url)
    assert [row["rev"] for row in found["instance"]] == [2, 2, 1, 1, 1, 2]
    assert len(found["history"]) == 4 + 3
    jobs = {row["key"] for row in found["job"]}
    kept = {first[n].new_jobs[0].key for n in (1, 2, 3, 4)}  # the second step closed none
    assert jobs == kept | {second[n].new_jobs[0].key for n in (0, 1)}


async def test_a_start_that_is_there_already_is_told_from_the_others(make_store):
    store = await make_store()
    keys = Keys(range(1_000, 2_000))
    first = starts(keys)
    await store.commit([first[0]], keys)
    assert start_columns(first, None) is not None
    outcomes = [result.outcome for result in await store.commit(first, keys)]
    assert outcomes == [STALE, APPLIED, APPLIED]


@pytest.mark.parametrize(
    "change",
    [{"retries": 1}, {"type": "other"}, {"delay_ms": 5}, {"args": b"{}"}, {"owner": 0}, {"definition": 8}],
)
def test_jobs_that_differ_by_more_than_their_keys_go_the_general_way(change: dict[str, Any]):
    keys = Keys(range(1_000, 2_000))
    first = starts(keys)
    second = following(keys, first, opens=2)
    for job in (first[1].new_jobs[0], second[1].new_jobs[0]):
        for name, value in change.items():
            setattr(job, name, value)
    assert start_columns(first, None) is None
    assert step_columns(second, None) is None


JOBS = "select to_jsonb(j) - 'run_at' - 'created_at' from procession.job j where queue <> 'odd' order by key"


@pytest.mark.parametrize(
    "common", [{}, {"owner": OWNER}, {"delay_ms": 60_000}, {"run_at": 4_000_000_000_000, "tenant": "acme"}]
)
async def test_jobs_of_no_step_are_the_same_both_ways(url, make_store, common: dict[str, Any]):
    store = await make_store()
    keys = Keys(range(1_000, 2_000))
    found: list[list[str]] = []
    for odd in (False, True):
        keys.next = 1_000
        jobs = [new_job(keys, args=args, **common) for args in (b'{"n":1}', b"", b'{"n":\n3}')]
        assert enqueue_columns(jobs, None) is not None
        more = [new_job(keys, queue="odd")] if odd else []
        await store.enqueue([*jobs, *more])
        connection = await asyncpg.connect(url)
        found.append([row[0] for row in await connection.fetch(JOBS)])
        await connection.execute("truncate procession.job")
        await connection.close()
    assert len(found[0]) == 3
    assert found[0] == found[1]


STRANGE = [
    b"",
    b'{"path": "C:\\\\new\\\\table", "lines": "a\\nb\\tc", "quote": "\\""}',
    b'{\n\t"n":\r\n3}',
    '{"name": "Zoë 🙂"}'.encode(),
    b'{"null": null, "mark": "\\\\N"}',
]


@pytest.mark.parametrize("common", [{}, {"owner": OWNER, "tenant": "acme\\n", "priority": -7}])
async def test_many_jobs_are_copied_and_are_the_same(url, make_store, common: dict[str, Any]):
    store = await make_store()
    keys = Keys(range(1_000, 10_000))
    found: list[list[Any]] = []
    for odd in (False, True):
        keys.next = 1_000
        like = new_job(keys, queue="a\\t\tb\n", type="\\N", **common)
        jobs = [structs.replace(like, key=keys.take(), args=args) for args in STRANGE * (COPY_MIN // 4)]
        assert is_due(jobs[0])
        more = [new_job(keys, queue="odd")] if odd else []
        await store.enqueue([*jobs, *more])
        connection = await asyncpg.connect(url)
        found.append([json.loads(row[0]) for row in await connection.fetch(JOBS)])
        since = await connection.fetch("select distinct created_at - run_at, created_at > now() from procession.job")
        await connection.execute("truncate procession.job")
        await connection.close()
        assert [tuple(row) for row in since] == [(timedelta(0), False)]
    assert len(found[0]) == len(STRANGE) * (COPY_MIN // 4)
    assert found[0] == found[1]


async def test_of_many_jobs_those_that_are_there_stay_and_a_value_that_is_refused_refuses_all(url, make_store):
    store = await make_store()
    keys = Keys(range(1_000, 10_000))
    like = new_job(keys)
    jobs = [structs.replace(like, key=keys.take()) for _ in range(COPY_MIN)]
    await store.enqueue(jobs[:3])
    await store.enqueue(jobs)
    connection = await asyncpg.connect(url)
    assert await connection.fetchval("select count(*) from procession.job") == COPY_MIN
    broken = [structs.replace(like, key=keys.take(), args=b'{"n":1}') for _ in range(COPY_MIN)]
    broken[7].args = b'{"n":'
    with pytest.raises(InvalidValue):
        await store.enqueue(broken)
    assert await connection.fetchval("select count(*) from procession.job") == COPY_MIN
    await connection.close()


async def test_jobs_sent_again_are_there_once(url, make_store):
    store = await make_store()
    keys = Keys(range(1_000, 2_000))
    jobs = [new_job(keys) for _ in range(3)]
    await store.enqueue(jobs[:2])
    await store.enqueue(jobs)
    connection = await asyncpg.connect(url)
    assert await connection.fetchval("select count(*) from procession.job") == 3
    await connection.close()
