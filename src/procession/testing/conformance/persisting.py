"""What outlives a process: rows, keys and node numbers; and the versions of the schema."""
# ruff: noqa: D102 - a test is named as a sentence

from __future__ import annotations

import asyncio

import pytest

from procession.ids import Keys
from procession.store.port import Store
from procession.store.rows import JobEnd, JobOutcome
from procession.testing.conformance.stage import (
    Reopen,
    apply,
    claim,
    jobs_of,
    new_job,
    next_step,
    service_job,
    start_step,
    the_instance,
)

ONE_OBJECT = "this store is one object: nothing outlives it"


class TestDurability:
    """Another process sees what was committed."""

    async def test_another_process_goes_on_where_this_one_stopped(
        self, store: Store, keys: Keys, reopen: Reopen
    ) -> None:
        step = start_step(keys)
        step.new_jobs = [service_job(keys, step)]
        await apply(store, keys, step)
        node = await store.register("a", b"{}")
        await store.close()
        other = await reopen()
        if other is None:
            pytest.skip(ONE_OBJECT)
        assert (await the_instance(other, step.instance)).state == step.state
        assert len(await jobs_of(other)) == 1
        assert await other.register("b", b"{}") > node
        assert (await other.take_keys(1)).start >= keys.take()
        await apply(other, keys, next_step(step, status=1))

    async def test_two_processes_never_lease_one_job_twice(self, store: Store, keys: Keys, reopen: Reopen) -> None:
        other = await reopen()
        if other is None:
            pytest.skip(ONE_OBJECT)
        await store.enqueue([new_job(keys) for _ in range(200)])
        taken: list[int] = []

        async def drain(which: Store, node: int) -> None:
            while jobs := await claim(which, node, count=9):
                taken.extend(job.key for job in jobs)
                await which.finish([JobOutcome(key=job.key, lease=job.lease, end=JobEnd.DONE) for job in jobs])

        while await store.count_jobs():
            await asyncio.gather(drain(store, 1), drain(other, 2), drain(store, 3), drain(other, 4))
        assert len(taken) == 200 == len(set(taken))

    async def test_closing_twice_is_safe(self, store: Store) -> None:
        await store.close()
        await store.close()


class TestMigrations:
    """Forward, once, by whoever comes first."""

    async def test_a_migrated_store_has_the_version_of_the_program(self, store: Store) -> None:
        found, known = await store.schema_version()
        assert found == known > 0

    async def test_migrating_again_applies_nothing(self, store: Store) -> None:
        assert await store.migrate() == []

    async def test_several_processes_may_migrate_at_once(self, store: Store, reopen: Reopen) -> None:
        others = [await reopen() for _ in range(3)]
        applied = await asyncio.gather(store.migrate(), *(other.migrate() for other in others if other))
        assert applied == [[]] * len(applied)
