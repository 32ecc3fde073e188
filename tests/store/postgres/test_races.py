"""Many at once on PostgreSQL: real connections, real locks, no order given."""

from __future__ import annotations

import asyncio
import random

import pytest

from procession.ids import Keys
from procession.jobs.kinds import FOLLOW_UP_QUEUE
from procession.store.rows import JobEnd, JobFence, JobOutcome, NewMessage, StepOutcome, Want
from procession.testing.conformance.stage import (
    apply,
    jobs_of,
    message,
    new_job,
    next_step,
    read,
    service_job,
    start_step,
    waiting_for,
)


async def test_claimers_of_several_processes_never_share_a_job(make_store):
    stores = [await make_store() for _ in range(4)]
    keys = Keys(await stores[0].take_keys(5_000))
    await stores[0].enqueue([new_job(keys, queue=f"q{n % 3}", priority=n % 5) for n in range(3_000)])
    taken: list[int] = []

    async def drain(store, node: int) -> None:
        wants = [Want(queue=f"q{n}", count=17) for n in range(3)]
        while jobs := await store.claim(node, wants):
            taken.extend(job.key for job in jobs)
            ended = [JobOutcome(key=job.key, lease=job.lease, end=JobEnd.DONE) for job in jobs]
            assert all(await store.finish(ended))

    while await stores[0].count_jobs():  # a claim skips what another one holds
        await asyncio.gather(*(drain(store, node) for node, store in enumerate(stores, 1)))
    assert len(taken) == 3_000 == len(set(taken))


async def test_fifty_publishers_and_fifty_subscribers_of_the_same_channels_lose_nothing(make_store):
    stores = [await make_store(lanes=8) for _ in range(3)]
    keys = Keys(await stores[0].take_keys(50_000))
    channels = [f"c-{number}" for number in range(10)]
    steps = []
    for number in range(50):
        step = start_step(keys, process_id="order")
        step.new_subscriptions = [waiting_for(keys, step, correlation_key=each) for each in channels]
        steps.append((number, step))
    messages: list[list[NewMessage]] = [
        [message(keys, correlation_key=each, variables=b'{"from":%d}' % number) for each in channels]
        for number in range(50)
    ]

    async def subscribe(number: int, step) -> None:
        await apply(stores[number % 3], keys, step)

    async def publish(number: int, batch: list[NewMessage]) -> None:
        random.shuffle(batch)
        await stores[number % 3].publish(batch, keys)

    calls = [subscribe(*each) for each in steps] + [publish(*each) for each in enumerate(messages)]
    random.shuffle(calls)
    await asyncio.gather(*calls)

    # 500 subscriptions and 500 messages, as many of each on every channel: all have met, each once.
    commands = [read(job.args)["command"] for job in await jobs_of(stores[0], queue=FOLLOW_UP_QUEUE)]
    assert len(commands) == 500
    assert len({each["subscription"] for each in commands}) == 500
    assert {each["message"] for each in commands} == {each.key for batch in messages for each in batch}
    assert await stores[0].list_messages() == []
    assert await stores[0].list_subscriptions() == []


async def test_commits_of_crossing_instances_neither_deadlock_nor_apply_twice(make_store):
    stores = [await make_store(lanes=4) for _ in range(2)]
    keys = Keys(await stores[0].take_keys(50_000))
    instances = [start_step(keys) for _ in range(60)]
    await apply(stores[0], keys, *instances)
    revisions = dict.fromkeys((step.instance for step in instances), 1)

    async def advance(store, rounds: int) -> int:
        applied = 0
        for _ in range(rounds):
            chosen = random.sample(instances, 40)
            steps = [next_step(step, rev=revisions[step.instance], events=b"[[1]]") for step in chosen]
            for step, result in zip(steps, await store.commit(steps, keys), strict=True):
                assert result.outcome in (StepOutcome.APPLIED, StepOutcome.STALE)
                if result.outcome is StepOutcome.APPLIED:
                    applied += 1
                    revisions[step.instance] = step.rev + 1
        return applied

    async with asyncio.timeout(60):
        applied = await asyncio.gather(*(advance(stores[number % 2], 15) for number in range(8)))
    found = await stores[0].load(list(revisions))
    assert {each.key: each.rev for each in found} == revisions
    assert sum(applied) == sum(revisions.values()) - len(instances)
    assert len([row for key in revisions for row in await stores[0].history(key)]) == sum(revisions.values())
    (deadlocks,) = await session_row(
        stores[0], "select deadlocks from pg_stat_database where datname = current_database()"
    )
    assert deadlocks == 0


async def test_a_step_and_a_rescue_of_its_job_at_once_change_the_state_once(make_store):
    store = await make_store(lanes=4)
    keys = Keys(await store.take_keys(20_000))
    for _ in range(20):
        steps = [start_step(keys) for _ in range(10)]
        for step in steps:
            step.new_jobs = [service_job(keys, step, owner=999)]  # of a node that nobody knows
        await apply(store, keys, *steps)
        ends = [next_step(step, status=1, closed_jobs=[JobFence(key=step.new_jobs[0].key, lease=1)]) for step in steps]
        results, _ = await asyncio.gather(
            store.commit(ends, keys), store.rescue(10_000, 100, crash_budget=3, backoff_ms=0)
        )
        left = {job.instance for job in await jobs_of(store)}
        for step, result in zip(ends, results, strict=True):
            # Applied: its job is gone. Fenced: its job is ready for somebody else, and nothing else was written.
            assert result.outcome in (StepOutcome.APPLIED, StepOutcome.FENCED)
            assert (step.instance in left) == (result.outcome is StepOutcome.FENCED)
        claimed = await store.claim(1, [Want(queue="$job:charge", count=100)])
        await store.finish([JobOutcome(key=job.key, lease=job.lease, end=JobEnd.DONE) for job in claimed])


@pytest.mark.parametrize("size", [1, 7, 64])
async def test_a_value_that_only_the_database_refuses_fails_its_own_step(make_store, size):
    store = await make_store()
    keys = Keys(await store.take_keys(5_000))
    steps = [start_step(keys) for _ in range(size)]
    bad = steps[size // 2]
    bad.variables = b'{"not":"json"'  # our early look at values does not parse them
    results = await store.commit(steps, keys)
    assert [result.outcome for result in results if result.outcome] == [StepOutcome.REFUSED]
    assert "json" in results[size // 2].error
    assert len(await store.load([step.instance for step in steps])) == size - 1


@pytest.mark.parametrize(
    "variables",
    [b'{"a":"\\u0000"}', b'{"a":"\\\\\\u0000"}', b'{"a\\u0000":1}', b'{"a":"\\ud800"}', b'{"a":"\\udc00\\ud800"}'],
)
async def test_json_that_postgresql_cannot_hold_is_refused_before_it_is_sent(make_store, variables):
    store = await make_store()
    keys = Keys(await store.take_keys(100))
    good = start_step(keys, variables=b'{"a":"\\\\u0000","b":"\\ud83e\\udd8a","c":"\\u0001"}')
    bad, neighbour = start_step(keys, variables=variables), start_step(keys)
    results = await store.commit([good, bad, neighbour], keys)
    assert [result.outcome for result in results] == [StepOutcome.APPLIED, StepOutcome.REFUSED, StepOutcome.APPLIED]
    assert "PostgreSQL" in results[1].error
    (found,) = await store.load([good.instance])
    assert read(found.variables) == {"a": "\\u0000", "b": "🦊", "c": "\x01"}


async def session_row(store, sql: str):
    async with store._rest.lend() as session:
        return await session.connection.fetchrow(sql)
