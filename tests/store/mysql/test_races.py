"""Several processes on one MariaDB, and strangers who hold locks: nobody hears of a deadlock, and nothing is twice."""

from __future__ import annotations

import asyncio
from contextlib import closing

import pymysql
import pytest

from procession.errors import Unavailable
from procession.ids import Keys
from procession.store.mysql import MysqlStore
from procession.store.rows import JobEnd, JobOutcome, StepOutcome, Want
from procession.testing.conformance.stage import (
    apply,
    fence,
    jobs_of,
    message,
    new_job,
    next_step,
    service_job,
    start_step,
    waiting_for,
)
from tests.store.mysql.conftest import MakeStore
from tests.support.mariadb import connect

JOBS = 2_000
DEADLOCK = 1213


async def test_many_who_claim_and_finish_at_once_do_each_job_once(make_store: MakeStore) -> None:
    stores = [await make_store() for _ in range(4)]
    keys = Keys(await stores[0].take_keys(JOBS + 100))
    nodes = [await each.register(f"n{n}", b"{}") for n, each in enumerate(stores)]
    jobs = [new_job(keys, queue=f"q{number % 3}", priority=number % 2) for number in range(JOBS)]
    done: list[int] = []

    async def enqueue() -> None:
        for start in range(0, JOBS, 50):
            await stores[0].enqueue(jobs[start : start + 50])

    async def work(store: MysqlStore, node: int) -> None:
        while len(done) < JOBS:
            claimed = await store.claim(node, [Want(queue=f"q{n}", count=20) for n in range(3)])
            outcomes = [
                JobOutcome(
                    key=job.key,
                    lease=job.lease,
                    end=JobEnd.RETRY if job.key % 7 == 0 and job.attempt == 1 else JobEnd.DONE,
                )
                for job in claimed
            ]
            held = await store.finish(outcomes)
            done.extend(each.key for each, ok in zip(outcomes, held, strict=True) if ok and each.end is JobEnd.DONE)
            await store.promote(10)

    async with asyncio.timeout(60):
        await asyncio.gather(enqueue(), *(work(*each) for each in zip(stores, nodes, strict=True)))
    assert sorted(done) == [job.key for job in jobs]
    assert await jobs_of(stores[0]) == []


async def test_steps_of_the_same_instances_from_two_processes_are_applied_once(make_store: MakeStore) -> None:
    one, other = await make_store(), await make_store()
    keys = Keys(await one.take_keys(5_000))
    steps = [start_step(keys) for _ in range(30)]
    results = await asyncio.gather(one.commit(steps, keys), other.commit(steps[::-1], keys))
    outcomes = [[result.outcome for result in answer] for answer in (results[0], results[1][::-1])]
    assert [sorted(pair) for pair in zip(*outcomes, strict=True)] == [[StepOutcome.APPLIED, StepOutcome.STALE]] * 30
    for _ in range(5):
        before = steps
        steps = [next_step(step, new_jobs=[service_job(keys, step)]) for step in before]
        twins = [next_step(step, new_jobs=[service_job(keys, step)]) for step in before]
        results = await asyncio.gather(one.commit(steps, keys), other.commit(twins[::-1], keys))
        outcomes = [[result.outcome for result in answer] for answer in (results[0], results[1][::-1])]
        assert [sorted(pair) for pair in zip(*outcomes, strict=True)] == [[StepOutcome.APPLIED, StepOutcome.STALE]] * 30
    assert len(await jobs_of(one)) == 150


async def test_no_message_misses_a_subscription_that_opens_meanwhile(make_store: MakeStore) -> None:
    one, other = await make_store(), await make_store()
    keys, theirs = Keys(await one.take_keys(5_000)), Keys(await one.take_keys(5_000))
    for number in range(60):
        step = start_step(keys)
        step.new_subscriptions = [waiting_for(keys, step, correlation_key=f"A-{number}")]
        sent = message(theirs, correlation_key=f"A-{number}")
        await asyncio.gather(one.commit([step], keys), other.publish([sent], theirs))
    assert len(await jobs_of(one)) == 60
    assert await one.list_messages() == []
    assert await one.list_subscriptions() == []


async def test_a_deadlock_with_a_stranger_is_not_heard_of(store: MysqlStore, keys: Keys, url: str) -> None:
    """They hold the job and want the instance; the step holds the instance and wants the job."""
    for _ in range(3):
        step = start_step(keys)
        step.new_jobs = [service_job(keys, step, owner=1)]
        await apply(store, keys, step)
        key = step.new_jobs[0].key
        with closing(connect(url)) as stranger, stranger.cursor() as cursor:
            cursor.execute(f"select * from procession_job where `key` = {key} for update")
            for number in range(20):  # theirs is the heavier one: the server ends ours
                cursor.execute(
                    f"insert into procession_message_id values (unhex(lpad('{key}{number}', 32, '0')), 1, 1)"
                )
            ours = asyncio.create_task(store.commit([next_step(step, closed_jobs=[fence(step.new_jobs[0])])], keys))
            await asyncio.sleep(0.1)  # until ours waits for the job
            try:
                await asyncio.to_thread(
                    cursor.execute, f"select * from procession_instance where `key` = {step.instance} for update"
                )
            except pymysql.err.OperationalError as error:
                assert error.args[0] == DEADLOCK  # noqa: PT017 - either of us may be the one that is ended
            stranger.rollback()
        assert [result.outcome for result in await ours] == [StepOutcome.APPLIED]
    assert await jobs_of(store) == []


async def test_a_lock_that_is_held_too_long_is_unavailable_and_then_nothing_is_written(
    make_store: MakeStore, url: str
) -> None:
    store = await make_store(deadline_s=2.0)
    keys = Keys(await store.take_keys(100))
    step = start_step(keys)
    await apply(store, keys, step)
    with closing(connect(url)) as stranger, stranger.cursor() as cursor:
        cursor.execute(f"select * from procession_instance where `key` = {step.instance} for update")
        with pytest.raises(Unavailable):
            await store.commit([next_step(step)], keys)
        stranger.rollback()
    await apply(store, keys, next_step(step))


async def test_a_claim_passes_over_what_a_stranger_holds(store: MysqlStore, keys: Keys, url: str) -> None:
    jobs = [new_job(keys) for _ in range(3)]
    await store.enqueue(jobs)
    with closing(connect(url)) as stranger, stranger.cursor() as cursor:
        cursor.execute(f"select * from procession_job where `key` = {jobs[0].key} for update")
        claimed = await store.claim(1, [Want(queue="mail", count=10)])
        assert [job.key for job in claimed] == [job.key for job in jobs[1:]]
        stranger.rollback()
    assert [job.key for job in await store.claim(1, [Want(queue="mail", count=10)])] == [jobs[0].key]
