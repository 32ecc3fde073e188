"""How often the server is asked: counted, since on a real network that is what a call costs."""

from __future__ import annotations

from collections.abc import Awaitable

import pytest

from procession.ids import Keys
from procession.store.mysql import MysqlStore
from procession.store.rows import JobEnd, JobOutcome, Want
from procession.testing.conformance.stage import (
    apply,
    claim,
    fence,
    message,
    new_job,
    next_step,
    service_job,
    start_step,
    waiting_for,
)


async def trips(store: MysqlStore, call: Awaitable[object]) -> int:
    """The round trips of a call, on sessions that are there."""
    sessions = {session for group in store._groups for session in (*group._free, *group._lent)}
    before = {session: session.round_trips for session in sessions}
    await call
    return sum(session.round_trips - count for session, count in before.items())


@pytest.fixture
async def warm(store: MysqlStore, keys: Keys) -> MysqlStore:
    """Every group has its connection."""
    step = start_step(keys)
    await apply(store, keys, step)
    await store.load([step.instance])
    await store.enqueue([new_job(keys)])
    (job,) = await claim(store, 1)
    await store.finish([JobOutcome(key=job.key, lease=job.lease, end=JobEnd.DONE)])
    await store.promote(1)
    return store


@pytest.mark.parametrize("count", [1, 100])
async def test_a_start_is_one_and_a_step_two_however_many_there_are(warm: MysqlStore, keys: Keys, count: int) -> None:
    steps = [start_step(keys) for _ in range(count)]
    for step in steps:
        step.new_jobs = [service_job(keys, step, owner=1)]
    assert await trips(warm, apply(warm, keys, *steps)) == 1
    following = [
        next_step(step, closed_jobs=[fence(step.new_jobs[0])], new_jobs=[service_job(keys, step)]) for step in steps
    ]
    assert await trips(warm, apply(warm, keys, *following)) == 2
    assert await trips(warm, warm.load([step.instance for step in steps])) == 1


async def test_a_step_that_opens_message_subscriptions_takes_none_more_if_nothing_waits(
    warm: MysqlStore, keys: Keys
) -> None:
    step = start_step(keys)
    step.new_subscriptions = [waiting_for(keys, step)]
    assert await trips(warm, apply(warm, keys, step)) == 2
    assert await trips(warm, warm.publish([message(keys) for _ in range(20)], keys)) == 2
    other = start_step(keys)
    other.new_subscriptions = [waiting_for(keys, other)]
    assert await trips(warm, apply(warm, keys, other)) == 3


async def test_jobs_are_enqueued_in_one_claimed_in_two_and_finished_in_one(warm: MysqlStore, keys: Keys) -> None:
    jobs = [new_job(keys, queue=f"queue {number % 20}") for number in range(1_000)]
    assert await trips(warm, warm.enqueue(jobs)) == 1
    wants = [Want(queue=f"queue {number}", count=50) for number in range(20)]
    assert await trips(warm, warm.claim(1, wants)) == 2
    done = [JobOutcome(key=job.key, lease=1, end=JobEnd.DONE) for job in jobs[:500]]
    assert await trips(warm, warm.finish(done)) == 1
    again = [JobOutcome(key=job.key, lease=1, end=JobEnd.RETRY, delay_ms=5) for job in jobs[500:]]
    assert await trips(warm, warm.finish(again)) == 2
    assert await warm.claim(1, wants) == []
    assert await trips(warm, warm.promote(10)) == 2
    assert await trips(warm, warm.take_keys(10)) == 1
    assert await trips(warm, warm.beat(1)) == 1
