"""Keys, plain jobs, and jobs that are due later."""
# ruff: noqa: D102 - a test is named as a sentence

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from procession.errors import InvalidValue
from procession.ids import Keys
from procession.jobs.kinds import JobState
from procession.limits import JOB_ARGS_BYTES_MAX
from procession.store.port import Store
from procession.store.rows import NewJob, StoredJob
from procession.testing.conformance.stage import ManualClock, claim, jobs_of, new_job, read, the_job


def expect_as_made(made: NewJob, found: StoredJob, now: int) -> None:
    """A job is stored as it was given."""
    due = made.run_at or now + made.delay_ms
    ready = JobState.READY if due <= now else JobState.SCHEDULED
    assert (found.state, found.run_at) == (JobState.RUNNING if made.owner else ready, due)
    assert (found.priority, found.retries, found.owner) == (made.priority, made.retries, made.owner)
    assert (found.kind, found.type, found.queue, found.tenant) == (made.kind, made.type, made.queue, made.tenant)
    assert (found.instance, found.element_instance) == (made.instance, made.element_instance)
    assert (found.element, found.definition) == (made.element, made.definition)
    assert read(found.args) == read(made.args)


class TestKeys:
    """A key belongs to one taker."""

    async def test_blocks_do_not_overlap(self, store: Store) -> None:
        blocks = await asyncio.gather(*(store.take_keys(10) for _ in range(20)))
        taken = [key for block in blocks for key in block]
        assert len(taken) == 200 == len(set(taken))

    async def test_keys_are_positive_and_of_the_first_partition(self, store: Store) -> None:
        block = await store.take_keys(3)
        assert len(block) == 3
        assert all(key >> 51 == 1 for key in block)

    async def test_the_clock_is_the_one_given(self, store: Store, clock: ManualClock) -> None:
        assert await store.now() == clock()
        clock.advance(5)
        assert await store.now() == clock()


class TestEnqueue:
    """Jobs that belong to no step."""

    async def test_a_job_is_ready_at_once_with_all_it_was_given(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        job = new_job(keys, priority=5, retries=7, args=b'{"to":"a@example.org"}', tenant="acme")
        await store.enqueue([job])
        (stored,) = await jobs_of(store)
        assert (stored.key, stored.kind, stored.queue, stored.type) == (job.key, job.kind, "mail", "send")
        assert (stored.state, stored.priority, stored.retries, stored.attempt) == (JobState.READY, 5, 7, 0)
        assert (stored.lease, stored.owner, stored.crashes, stored.error) == (0, 0, 0, "")
        assert (stored.run_at, stored.created_at, stored.tenant) == (clock(), clock(), "acme")
        assert read(stored.args) == {"to": "a@example.org"}

    async def test_ten_thousand_in_one_call(self, store: Store, keys: Keys) -> None:
        await store.enqueue([new_job(keys) for _ in range(10_000)])
        assert await store.count_jobs() == {("mail", JobState.READY): 10_000}

    async def test_of_many_in_one_call_each_is_as_it_was_given(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        node = await store.register("worker", b"{}")
        kinds: list[dict[str, Any]] = [
            {},
            {"priority": 3},
            {"delay_ms": 500},
            {"run_at": clock() + 900},
            {"retries": 0},
            {"type": "print"},
            {"queue": "other"},
            {"tenant": "acme"},
            {"owner": node},
            {"instance": 11, "element_instance": 12, "element": "e", "definition": 13},
        ]
        jobs = [new_job(keys, args=b'{"n":%d}' % n, **kind) for n in range(40) for kind in kinds]
        await store.enqueue(jobs)
        await store.enqueue(jobs[::7])
        stored = await jobs_of(store)
        assert [job.key for job in stored] == [job.key for job in jobs]
        for made, found in zip(jobs, stored, strict=True):
            expect_as_made(made, found, clock())

    async def test_of_a_bulk_whose_jobs_are_alike_each_is_as_it_was_given(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        node = await store.register("worker", b"{}")
        alike: list[dict[str, Any]] = [
            {},
            {"priority": -3, "retries": 7, "tenant": "ac'me", "type": "a\\b", "queue": "Ω 🦊"},
            {"delay_ms": 500},
            {"run_at": clock() + 900},
            {"owner": node},
            {"instance": 11, "element_instance": 12, "element": "e", "definition": 13},
        ]
        awkward = [b"{}", b'{"a":"it\'s"}', b'{"a":"\\"b\\\\"}', '{"Ω":"🦊"}'.encode(), b'{"a":"%s ?"}']
        long = b'{"a":"' + 2_000 * b"x" + b'"}'
        jobs: list[NewJob] = []
        for words in alike:
            for args in (awkward, [*awkward, long]):
                bulk = [new_job(keys, args=args[n % len(args)], **words) for n in range(30)]
                await store.enqueue(bulk[4:8])  # an earlier try that nobody knows of
                await store.enqueue(bulk[::-1])
                jobs += bulk
        stored = await jobs_of(store)
        assert [job.key for job in stored] == [job.key for job in jobs]
        for made, found in zip(jobs, stored, strict=True):
            expect_as_made(made, found, clock())

    async def test_what_cannot_be_stored_is_found_in_a_bulk(self, store: Store, keys: Keys) -> None:
        for wrong in (b'{"a":"\0"}', b'{"a":"\xff"}', b'"' + JOB_ARGS_BYTES_MAX * b"x" + b'"'):
            bulk = [new_job(keys, args=b"{}") for _ in range(30)]
            bulk[17].args = wrong
            with pytest.raises(InvalidValue):
                await store.enqueue(bulk)
        assert await store.count_jobs() == {}

    async def test_a_key_that_is_there_keeps_its_job_whatever_comes_under_it(self, store: Store, keys: Keys) -> None:
        job = new_job(keys, args=b'{"n":1}')
        await store.enqueue([job])
        before = await jobs_of(store)
        await store.enqueue([new_job(keys, key=job.key, queue="other", priority=7, args=b'{"n":2}')])
        await store.enqueue([new_job(keys, key=job.key, instance=5, owner=1) for _ in range(1)])
        assert await jobs_of(store) == before

    async def test_none_is_no_work(self, store: Store) -> None:
        await store.enqueue([])
        assert await store.count_jobs() == {}

    async def test_the_same_job_sent_again_after_an_unclear_answer_changes_nothing(
        self, store: Store, keys: Keys
    ) -> None:
        job, other = new_job(keys, args=b'{"n":1}'), new_job(keys)
        await store.enqueue([job])
        (claimed,) = await claim(store, 1)
        await store.enqueue([job, other])
        again = await the_job(store, job.key)
        assert again is not None
        assert (again.state, again.lease) == (JobState.RUNNING, claimed.lease)
        assert await the_job(store, other.key) is not None

    async def test_a_job_with_an_owner_is_running_from_the_start(self, store: Store, keys: Keys) -> None:
        node = await store.register("worker", b"{}")
        job = new_job(keys, owner=node)
        await store.enqueue([job])
        stored = await the_job(store, job.key)
        assert stored is not None
        assert (stored.state, stored.owner, stored.lease, stored.attempt) == (JobState.RUNNING, node, 1, 1)
        assert await claim(store, node) == []

    async def test_a_due_time_that_is_over_counts_as_its_age(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        young, old = new_job(keys), new_job(keys, run_at=clock() - 60_000)
        await store.enqueue([young, old])
        assert [job.key for job in await claim(store, 1)] == [old.key, young.key]


class TestPromote:
    """Jobs that are due later."""

    async def test_a_delayed_job_waits_until_it_is_due(self, store: Store, keys: Keys, clock: ManualClock) -> None:
        job = new_job(keys, delay_ms=1_000)
        await store.enqueue([job])
        due = clock() + 1_000
        assert await claim(store, 1) == []
        assert await store.promote(100) == ([], due)
        clock.advance(999)
        assert await store.promote(100) == ([], due)
        clock.advance(1)
        assert await store.promote(100) == (["mail"], 0)
        (claimed,) = await claim(store, 1)
        assert claimed.key == job.key

    async def test_the_earliest_due_go_first_and_the_rest_is_reported_due(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        late = new_job(keys, queue="late", run_at=clock() + 20)
        early = new_job(keys, queue="early", run_at=clock() + 10)
        await store.enqueue([late, early])
        clock.advance(50)
        assert await store.promote(1) == (["early"], late.run_at)
        assert await store.promote(1) == (["late"], 0)
        assert await store.promote(1) == ([], 0)

    async def test_every_queue_that_got_a_job_is_named_once(self, store: Store, keys: Keys, clock: ManualClock) -> None:
        await store.enqueue([new_job(keys, queue=name, delay_ms=5) for name in ("b", "a", "b", "a")])
        clock.advance(5)
        queues, next_due = await store.promote(100)
        assert (sorted(queues), next_due) == (["a", "b"], 0)

    async def test_nothing_is_due_in_an_empty_store(self, store: Store) -> None:
        assert await store.promote(100) == ([], 0)

    async def test_a_due_job_keeps_its_place_by_the_time_it_was_due(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        delayed = new_job(keys, delay_ms=10)
        await store.enqueue([delayed])
        clock.advance(20)
        younger = new_job(keys)
        await store.enqueue([younger])
        await store.promote(100)
        assert [job.key for job in await claim(store, 1)] == [delayed.key, younger.key]
