"""What sessions promise: clocks, hints that are not lost, work without session state, a caller's own transaction."""

from __future__ import annotations

import asyncio
import re
import time

import asyncpg
import pytest

from procession.ids import Keys
from procession.jobs.kinds import FOLLOW_UP_QUEUE
from procession.store.postgres import PostgresStore
from procession.store.rows import JobEnd, JobFence, JobOutcome, StartRequest, StepOutcome, Want
from procession.testing.conformance.stage import (
    apply,
    jobs_of,
    message,
    new_job,
    next_step,
    read,
    service_job,
    start_step,
    the_instance,
    waiting_for,
)


async def test_without_a_clock_of_its_own_a_store_uses_the_databases(make_store):
    store = await make_store()
    keys = Keys(await store.take_keys(100))
    step = start_step(keys)
    before = await store.now()
    await apply(store, keys, step)
    assert before <= (await the_instance(store, step.instance)).started_at <= await store.now()
    assert abs(before - time.time_ns() // 1_000_000) < 60_000


@pytest.mark.parametrize("due", [1, 1_700_000_000_123, 253_402_300_799_999])
async def test_instants_come_back_to_the_millisecond(make_store, due):
    store = await make_store()
    keys = Keys(await store.take_keys(100))
    await store.enqueue([new_job(keys, run_at=due)])
    (job,) = await jobs_of(store)
    assert job.run_at == due


async def test_the_last_announcement_of_a_burst_is_heard(make_store):
    speaker, listener = await make_store(), await make_store()
    heard: asyncio.Queue[str] = asyncio.Queue()
    stop = await listener.listen(heard.put_nowait)
    for number in range(200):
        await speaker.announce([f"q{number}"])
        if not number % 10:
            await asyncio.sleep(0)
    got = set()
    async with asyncio.timeout(10):
        while len(got) < 200:
            got.add(await heard.get())
    await stop()


async def test_announcements_are_few_however_often_they_are_made(make_store):
    speaker, listener = await make_store(), await make_store()
    heard: asyncio.Queue[str] = asyncio.Queue()
    stop = await listener.listen(heard.put_nowait)
    for _ in range(5_000):
        await speaker.announce(["mail"])
    await speaker.announce(["last"])
    got = []
    async with asyncio.timeout(10):
        while "last" not in got:
            got.append(await heard.get())
    assert len(got) < 50
    await stop()


async def test_two_schemas_do_not_hear_each_other(make_store, url):
    one = await make_store()
    two = PostgresStore(url, schema="second")
    await two.migrate()
    await two.open()
    heard: list[str] = []
    arrived = asyncio.Event()
    stop = await one.listen(lambda queue: (heard.append(queue), arrived.set()))
    await two.announce(["theirs"])
    await two.close()  # sends what is pending
    await one.announce(["ours"])
    async with asyncio.timeout(10):
        await arrived.wait()
    assert heard == ["ours"]
    await stop()


async def test_a_pooler_in_transaction_mode_sees_no_session_state(make_store, url):
    store = await make_store(pgbouncer=True)
    keys = Keys(await store.take_keys(1_000))
    assert await store.listen(lambda queue: None) is None
    step = start_step(keys)
    step.new_jobs = [service_job(keys, step)]
    await apply(store, keys, step)
    (run,) = await store.claim(1, [Want(queue="$job:charge", count=5)])
    second = next_step(step, closed_jobs=[JobFence(key=run.key, lease=run.lease)])
    second.new_subscriptions = [waiting_for(keys, step)]
    await apply(store, keys, second)
    (result,) = await store.publish([message(keys)], keys)
    assert result.instances == [step.instance]
    (follow_up,) = await store.claim(1, [Want(queue=FOLLOW_UP_QUEUE, count=5)])
    assert await store.finish([JobOutcome(key=follow_up.key, lease=1, end=JobEnd.DONE)]) == [True]
    (bad,) = await store.commit([start_step(keys, variables=b"{")], keys)
    assert bad.outcome is StepOutcome.REFUSED
    async with store._lanes.lend() as session:
        assert await session.connection.fetchval("select count(*) from pg_prepared_statements") == 0
        assert await session.connection.fetchval("show plan_cache_mode") == "auto"


async def test_an_instance_asked_for_in_a_callers_transaction_exists_with_its_commit_and_not_without(make_store, url):
    store = await make_store()
    keys = Keys(await store.take_keys(100))
    request = StartRequest(
        instance=keys.take(),
        job=keys.take(),
        definition=7,
        process_id="order",
        business_id="A-17",
        tags=["vip", 'with "quotes"'],
        variables=b'{"orderId":"A-17"}',
        command=b'{"type":"Send"}',
        tenant="acme",
    )
    caller = await asyncpg.connect(url)
    for is_committed in (False, True):
        transaction = caller.transaction()
        await transaction.start()
        for statement in store.start_request(request):
            sql, values = positional(statement.sql, statement.values)
            await caller.execute(sql, *values)
        assert await store.load([request.instance]) == []
        await (transaction.commit() if is_committed else transaction.rollback())
    await caller.close()
    found = await the_instance(store, request.instance)
    assert (found.rev, found.status, found.process_id, found.business_id) == (0, 0, "order", "A-17")
    assert (found.tags, found.tenant, read(found.variables)) == (request.tags, "acme", {"orderId": "A-17"})
    (job,) = await store.claim(1, [Want(queue=FOLLOW_UP_QUEUE, count=1)])
    assert (job.key, job.instance, job.tenant, job.args) == (request.job, request.instance, "acme", request.command)
    step = start_step(keys, instance=request.instance, rev=0, closed_jobs=[JobFence(key=job.key, lease=1)])
    await apply(store, keys, step)
    found = await the_instance(store, request.instance)
    assert (found.rev, found.business_id, found.tags, found.tenant) == (1, "A-17", request.tags, "acme")


def positional(sql: str, values: dict[str, object]) -> tuple[str, list[object]]:
    """``:name`` placeholders as asyncpg's ``$1``, as an adapter does it: no other colon stands in the text."""
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        if match[1] not in names:
            names.append(match[1])
        return f"${names.index(match[1]) + 1}"

    return re.sub(r":(\w*)", number, sql), [values[name] for name in names]


async def test_node_numbers_and_terms_survive_a_crash_that_empties_the_node_table(postgres_server):
    store = PostgresStore(postgres_server.url())
    await store.migrate()
    await store.open()
    node = await store.register("a", b"{}")
    term = await store.lead(node, 60_000)
    await asyncio.to_thread(postgres_server.kill)
    await asyncio.to_thread(postgres_server.start)
    await store.close()
    await store.open()
    assert await store.list_nodes() == []
    assert not await store.beat(node)
    again = await store.register("a", b"{}")
    assert again > node
    assert await store.lead(again, 60_000) > term
    await store.close()
