"""What MariaDB might take otherwise: texts alike but for case or blanks, decimals, quotes; and packets too large."""

from __future__ import annotations

from contextlib import closing

import pytest

from procession.errors import InvalidValue
from procession.ids import Keys
from procession.jobs.kinds import JobKind
from procession.jobs.options import Limit
from procession.store.mysql import MysqlStore
from procession.store.rows import NewJob, StepOutcome, Want
from procession.testing.conformance.queue_stage import job_with
from procession.testing.conformance.stage import (
    apply,
    claim,
    definition,
    deploy,
    instances_of,
    jobs_of,
    message,
    new_job,
    next_step,
    read,
    start_step,
    waiting_for,
)
from tests.support.mariadb import MariadbDatabases, connect, migrate

ALIKE = ["mail", "Mail", "MAIL", "mail ", "mäil", "ma\u0308il"]
ODD = [
    "it's",
    'a "quote"',
    "back\\slash",
    "\\",
    "\\'; drop table procession_job; --",
    ":queue",
    "@now",
    "?",
    "%b %s %(name)s",
    "/* rows */ (?) /* rows */",
    "line\nfeed\r\ttab\x1a",
    "🦊 Ω \u202e",
]


async def test_queues_that_differ_in_case_blanks_or_accents_are_different(store: MysqlStore, keys: Keys) -> None:
    await store.enqueue([new_job(keys, queue=queue) for queue in ALIKE])
    for queue in ALIKE:
        assert [job.queue for job in await claim(store, 1, queue)] == [queue]


async def test_process_ids_and_message_channels_that_differ_so_are_different(store: MysqlStore, keys: Keys) -> None:
    for process_id in ALIKE:
        await deploy(store, keys, definition(keys, process_id, messages=[f"start {process_id}"]))
    assert {each.process_id: each.version for each in await store.list_definitions()} == dict.fromkeys(ALIKE, 1)
    steps = [start_step(keys, process_id=name, business_id=name) for name in ALIKE]
    for step, name in zip(steps, ALIKE, strict=True):
        step.new_subscriptions = [waiting_for(keys, step, correlation_key=name)]
    await apply(store, keys, *steps)
    for step, name in zip(steps, ALIKE, strict=True):
        assert [each.key for each in await instances_of(store, business_id=name)] == [step.instance]
        (result,) = await store.publish([message(keys, correlation_key=name)], keys)
        assert result.instances == [step.instance]


async def test_message_ids_that_differ_so_are_no_duplicates(store: MysqlStore, keys: Keys) -> None:
    results = await store.publish([message(keys, message_id=name) for name in [*ALIKE, *ALIKE]], keys)
    assert [result.duplicate for result in results] == [False] * len(ALIKE) + [True] * len(ALIKE)


async def test_listings_are_ordered_by_code_points(store: MysqlStore, keys: Keys) -> None:
    for process_id in ALIKE:
        await deploy(store, keys, definition(keys, process_id))
    assert [each.process_id for each in await store.list_definitions()] == sorted(ALIKE)


@pytest.mark.parametrize("odd", ODD)
async def test_no_text_becomes_part_of_a_statement(store: MysqlStore, keys: Keys, odd: str) -> None:
    job = new_job(keys, queue=odd, type=odd, args=f'{{"a": {read_back(odd)}}}'.encode())
    await store.enqueue([job])
    step = start_step(keys, process_id=odd, business_id=odd, tags=[odd], state=odd.encode() + b"\0\xff'\\")
    await apply(store, keys, step)
    await apply(store, keys, next_step(step, state=b"\\" * 7 + odd.encode(), variables=job.args))
    (found,) = await claim(store, 1, odd)
    assert (found.queue, found.type, found.args) == (odd, odd, job.args)
    (instance,) = await store.load([step.instance])
    assert (instance.business_id, instance.tags) == (odd, [odd])
    assert (instance.state, instance.variables) == (b"\\" * 7 + odd.encode(), job.args)
    assert [each.key for each in await instances_of(store, tag=odd)] == [step.instance]


def read_back(value: str) -> str:
    """As JSON."""
    import json  # noqa: PLC0415 - the standard library's own escapes

    return json.dumps(value, ensure_ascii=False)


async def test_json_is_kept_to_the_byte(store: MysqlStore, keys: Keys) -> None:
    exact = b'{"b":1.10,"a":12345678901234567890.123456789,"c":1e400,"b2":"\\u0000"}'
    step = start_step(keys, variables=exact)
    await apply(store, keys, step)
    (found,) = await store.load([step.instance])
    assert found.variables == exact


async def test_what_a_column_cannot_hold_is_refused_and_never_cut(store: MysqlStore, keys: Keys) -> None:
    wide = start_step(keys, parent=2**63)  # a number beyond 64 bits
    fine = [start_step(keys) for _ in range(5)]
    results = await store.commit([fine[0], wide, *fine[1:]], keys)
    assert [result.outcome for result in results] == [
        StepOutcome.APPLIED,
        StepOutcome.REFUSED,
        *[StepOutcome.APPLIED] * 4,
    ]
    assert len(await store.load([step.instance for step in (*fine, wide)])) == 5


class TestPackets:
    """A server that takes 2 MB at once."""

    @pytest.fixture
    async def narrow(self, make_mariadb_server) -> MysqlStore:
        server = make_mariadb_server(durable=False, settings={"max_allowed_packet": "2M"})
        databases = MariadbDatabases(server)
        url = databases.create()
        await migrate(url)
        store = MysqlStore(url)
        await store.open()
        yield store
        await store.close()
        databases.close()

    async def test_a_batch_that_is_larger_than_a_packet_goes_in_several(self, narrow: MysqlStore) -> None:
        keys = Keys(await narrow.take_keys(1_000))
        large = b'{"a":"' + b"x" * 900_000 + b'"}'
        steps = [start_step(keys, variables=large) for _ in range(5)]
        await apply(narrow, keys, *steps)
        await apply(narrow, keys, *(next_step(step, variables=large[:-2] + b'y"}') for step in steps))
        await narrow.enqueue(
            [NewJob(key=keys.take(), kind=JobKind.TASK, queue="q", type="t", args=large) for _ in range(5)]
        )
        assert len(await narrow.claim(1, [Want(queue="q", count=10)])) == 5
        assert {len(each.variables) for each in await narrow.load([step.instance for step in steps])} == {
            len(large) + 1
        }

    async def test_a_value_that_no_packet_holds_fails_its_own_step_alone(self, narrow: MysqlStore) -> None:
        keys = Keys(await narrow.take_keys(1_000))
        steps = [start_step(keys) for _ in range(3)]
        steps[1].variables = b'{"a":"' + b"x" * 3_000_000 + b'"}'
        results = await narrow.commit(steps, keys)
        assert [result.outcome for result in results] == [StepOutcome.APPLIED, StepOutcome.REFUSED, StepOutcome.APPLIED]
        assert "max_allowed_packet" in results[1].error
        with pytest.raises(InvalidValue, match="max_allowed_packet"):
            await narrow.publish([message(keys, variables=steps[1].variables)], keys)
        assert await jobs_of(narrow) == []


async def test_people_read_events_in_sql(store: MysqlStore, keys: Keys, url: str) -> None:
    new = definition(keys, elements=["start", "it's"])
    await deploy(store, keys, new)
    await apply(store, keys, start_step(keys, definition=new.key, events=b'[["started",1],["activated",7,1]]'))
    with closing(connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute("select number, event, element, data from procession_history_event order by number")
        rows = cursor.fetchall()
    assert [row[:3] for row in rows] == [(1, "started", None), (2, "activated", "it's")]
    assert read(rows[1][3].encode()) == ["activated", 7, 1]


async def test_limits_are_counted_by_the_bytes_of_their_keys(store: MysqlStore, keys: Keys) -> None:
    """The key stands within a job's options, as JSON: the database's own character set must not read it."""
    names = ["Ω 🦊", "ω 🦊", "Ω 🦊 "]
    for name in names:
        limits = [Limit(name, most=1)]
        await store.submit([job_with(keys, limits=limits), job_with(keys, limits=limits)])
    assert len(await claim(store, 1)) == 3
    found = {each.key: (each.used, each.waiting) for each in await store.limits()}
    assert found == dict.fromkeys(names, (1, 1))
    report = await store.sweep()
    assert report == type(report)()
