"""The round-trip budgets of the design, counted on the wire."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from procession.ids import Keys
from procession.store.postgres import PostgresStore
from procession.store.rows import JobEnd, JobFence, JobOutcome, Want
from procession.testing.conformance.stage import (
    apply,
    message,
    new_job,
    next_step,
    service_job,
    start_step,
    waiting_for,
)
from tests.store.postgres.wire import Wire


class Counted:
    """A store whose round trips are counted."""

    def __init__(self, wire: Wire, store: PostgresStore, keys: Keys) -> None:
        self.wire, self.store, self.keys = wire, store, keys

    async def trips(self, call) -> int:
        """How many round trips a call takes once its statements are prepared."""
        before = self.wire.round_trips
        await call
        return self.wire.round_trips - before


@pytest.fixture
async def counted(url) -> AsyncIterator[Counted]:
    async with Wire(url) as wire:
        store = PostgresStore(wire.url, lanes=1, pool_size=1)
        await store.open()
        counted = Counted(wire, store, Keys(await store.take_keys(20_000)))
        await warm(counted)
        yield counted
        await store.close()


async def warm(counted: Counted) -> None:
    """Use every statement once, so that only what always happens is counted."""
    store, keys = counted.store, counted.keys
    step = start_step(keys)
    step.new_jobs = [service_job(keys, step)]
    await apply(store, keys, step)
    (run,) = await store.claim(1, [Want(queue="$job:charge", count=1)])
    second = next_step(step, closed_jobs=[JobFence(key=run.key, lease=run.lease)])
    second.new_jobs = [service_job(keys, step)]
    await apply(store, keys, second)
    second = next_step(second, closed_jobs=[JobFence(key=second.new_jobs[0].key)])
    await apply(store, keys, second)
    others = [start_step(keys), start_step(keys, definition=8)]
    await apply(store, keys, *others)
    await apply(store, keys, *[next_step(other) for other in others])
    third = next_step(second, new_subscriptions=[waiting_for(keys, step, "warm")])
    await apply(store, keys, third)
    await store.publish([message(keys, "warm"), message(keys, "warm", message_id="m")], keys)
    await apply(store, keys, next_step(third, new_subscriptions=[waiting_for(keys, step, "warm")]))
    await store.load([step.instance])
    job = new_job(keys)
    await store.enqueue([job])
    await store.claim(1, [Want(queue="mail", count=1)])
    await store.finish([JobOutcome(key=job.key, lease=1, end=JobEnd.DONE)])


async def test_a_start_alone_takes_one_of_its_two_round_trips(counted):
    step = start_step(counted.keys)
    step.new_jobs = [service_job(counted.keys, step, owner=1)]
    assert await counted.trips(apply(counted.store, counted.keys, step)) == 1


async def test_a_job_completion_with_the_next_job_claimed_on_insert_takes_one(counted):
    step = start_step(counted.keys)
    step.new_jobs = [service_job(counted.keys, step, owner=1)]
    await apply(counted.store, counted.keys, step)
    second = next_step(step, closed_jobs=[JobFence(key=step.new_jobs[0].key, lease=1)])
    second.new_jobs = [service_job(counted.keys, step, owner=1)]
    assert await counted.trips(apply(counted.store, counted.keys, second)) == 1


async def test_of_an_instance_that_is_not_cached_it_takes_two(counted):
    step = start_step(counted.keys)
    step.new_jobs = [service_job(counted.keys, step, owner=1)]
    await apply(counted.store, counted.keys, step)

    async def load_and_complete() -> None:
        (found,) = await counted.store.load([step.instance])
        second = next_step(step, rev=found.rev, closed_jobs=[JobFence(key=step.new_jobs[0].key, lease=1)])
        await apply(counted.store, counted.keys, second)

    assert await counted.trips(load_and_complete()) == 2


async def test_a_thousand_steps_take_as_many_as_one(counted):
    steps = [start_step(counted.keys) for _ in range(1_000)]
    for step in steps:
        step.new_jobs = [service_job(counted.keys, step, owner=1)]
    assert await counted.trips(apply(counted.store, counted.keys, *steps)) == 1
    following = [next_step(step, closed_jobs=[JobFence(key=step.new_jobs[0].key, lease=1)]) for step in steps]
    assert await counted.trips(apply(counted.store, counted.keys, *following)) == 1


async def test_a_wide_step_takes_one_unless_it_opens_a_message_subscription(counted):
    step = start_step(counted.keys)
    await apply(counted.store, counted.keys, step)
    signal = next_step(step, new_subscriptions=[waiting_for(counted.keys, step, trigger=3)])
    assert await counted.trips(apply(counted.store, counted.keys, signal)) == 1
    catch = next_step(signal, new_subscriptions=[waiting_for(counted.keys, step)])
    assert await counted.trips(apply(counted.store, counted.keys, catch)) == 5  # begin, lock, write, match, commit


async def test_many_wide_steps_with_messages_take_as_many_as_one(counted):
    steps = [start_step(counted.keys) for _ in range(200)]
    for number, step in enumerate(steps):
        step.new_subscriptions = [waiting_for(counted.keys, step, correlation_key=f"k-{number}")]
    assert await counted.trips(apply(counted.store, counted.keys, *steps)) == 5


async def test_claiming_from_many_queues_and_finishing_take_one_each(counted):
    await counted.store.enqueue([new_job(counted.keys, queue=f"q{number}") for number in range(50)])
    wants = [Want(queue=f"q{number}", count=10) for number in range(50)]
    claimed = []

    async def claim() -> None:
        claimed.extend(await counted.store.claim(1, wants))

    assert await counted.trips(claim()) == 1
    assert len(claimed) == 50
    ended = [JobOutcome(key=job.key, lease=job.lease, end=JobEnd.DONE) for job in claimed]
    assert await counted.trips(counted.store.finish(ended)) == 1


async def test_enqueuing_takes_one(counted):
    assert await counted.trips(counted.store.enqueue([new_job(counted.keys) for _ in range(100)])) == 1


async def test_a_buffered_message_that_is_met_costs_two_more(counted):
    keys = counted.keys
    messages = [message(keys, correlation_key=f"k-{number}") for number in range(50)]
    await counted.store.publish(messages, keys)
    steps = [start_step(keys) for _ in range(50)]
    for number, step in enumerate(steps):
        step.new_subscriptions = [waiting_for(keys, step, correlation_key=f"k-{number}")]
    results = []

    async def commit() -> None:
        results.extend(await counted.store.commit(steps, keys))

    assert await counted.trips(commit()) == 7  # and what changed, and the follow-ups
    assert all(result.woken for result in results)


async def test_behind_a_pooler_a_lone_statement_takes_four(url):
    async with Wire(url) as wire:
        store = PostgresStore(wire.url, pgbouncer=True, pool_size=1)
        await store.open()
        await store.now()
        before = wire.round_trips
        await store.now()
        assert wire.round_trips - before == 4  # begin, parse, execute, commit
        await store.close()
