"""Recurring jobs, and the sweep."""
# ruff: noqa: D102 - a test is named as a sentence

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from procession.errors import InvalidValue
from procession.ids import Keys
from procession.jobs.kinds import JobState
from procession.jobs.options import JobOptions, Limit, Unique
from procession.jobs.recurring import plan_firing
from procession.store.rows import NewJob
from procession.store.rows.queue import Fired, Firing, Missed, RecurringJob
from procession.store.rows.queue_reading import PastFiring, StoredRecurring
from procession.testing.conformance.queue_stage import QueueStore, details, end, is_clean, job_with, run_all, take
from procession.testing.conformance.stage import ManualClock, new_job, read

HOURLY = "0 * * * *"


def _recurring(keys: Keys, clock: ManualClock, name: str = "report", **more: Any) -> RecurringJob:  # noqa: ANN401
    job = new_job(keys, args=b'{"a":1.50}', priority=2, options=JobOptions(tags=["r"], keep_ms=1_000))
    fields: dict[str, Any] = {"name": name, "cycle": HOURLY, "job": job, "next_at": clock() + 1_000, **more}
    return RecurringJob(**fields)


async def _one(store: QueueStore, name: str = "report") -> StoredRecurring:
    (found,) = await store.recurring_jobs(name=name)
    return found


def _firing(row: StoredRecurring, keys: Keys, clock: ManualClock, **more: Any) -> Firing:  # noqa: ANN401
    """What the duty decides on a row."""
    plan = plan_firing(row.cycle, row.next_at, row.missed, clock())
    jobs = [msgspec.structs.replace(row.job, key=keys.take()) for _ in plan.due]
    fields: dict[str, Any] = {
        "name": row.name,
        "version": row.version,
        "next_at": plan.next_at,
        "last_at": plan.last_at,
        "jobs": jobs,
        "tenant": row.tenant,
        **more,
    }
    return Firing(**fields)


async def _fire(store: QueueStore, keys: Keys, clock: ManualClock) -> list[Fired]:
    due, _ = await store.due_recurring(10)
    return await store.fire([_firing(row, keys, clock) for row in due])


class TestRecurring:
    """Kept, changed by declaration, fired once."""

    async def test_a_recurring_job_keeps_what_it_was_given(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        job = _recurring(keys, clock, group="g", missed=Missed.ALL, overlap=False)
        assert await store.put_recurring([job]) == (["report"], [])
        found = await _one(store)
        assert (found.cycle, found.group, found.missed, found.overlap) == (HOURLY, "g", Missed.ALL, False)
        assert (found.paused, found.next_at, found.last_at, found.fired) == (False, clock() + 1_000, 0, 0)
        assert (found.job.queue, found.job.type, found.job.priority) == ("mail", "send", 2)
        assert (read(found.job.args), found.job.options) == ({"a": 1.5}, job.job.options)
        assert found.created_at == clock()

    async def test_each_firing_is_once_however_many_fire(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        await store.put_recurring([_recurring(keys, clock)])
        assert await store.due_recurring(10) == ([], clock() + 1_000)
        clock.advance(1_000)
        (row,), _ = await store.due_recurring(10)
        firings = [_firing(row, keys, clock) for _ in range(6)]
        answers = await asyncio.gather(*(store.fire([firing]) for firing in firings))
        assert sum(fired.applied for (fired,) in answers) == 1
        (job,) = await take(store, 1)
        assert read(job.args) == {"a": 1.5}
        found = await _one(store)
        assert (found.fired, found.last_job, found.last_at) == (1, job.key, row.next_at)
        assert found.firings == [PastFiring(at=clock(), due_at=row.next_at, jobs=[job.key])]
        assert found.next_at > clock()
        assert (await store.due_recurring(10))[0] == []

    @pytest.mark.parametrize(("missed", "runs"), [(Missed.ONCE, 1), (Missed.ALL, 5), (Missed.SKIP, 0)])
    async def test_missed_runs_are_made_up_for_as_asked(
        self, store: QueueStore, keys: Keys, clock: ManualClock, missed: Missed, runs: int
    ) -> None:
        at = clock() // 3_600_000 * 3_600_000 + 3_600_000
        await store.put_recurring([_recurring(keys, clock, missed=missed, next_at=at)])
        clock.now = at + 4 * 3_600_000 + 1_800_000
        (fired,) = await _fire(store, keys, clock)
        assert (fired.applied, len(fired.submitted)) == (True, runs)
        found = await _one(store)
        assert (found.next_at, found.last_at) == (at + 5 * 3_600_000, at + 4 * 3_600_000)
        assert len(await run_all(store, 1)) == runs

    async def test_without_overlap_a_firing_is_passed_over_while_the_last_run_goes_on(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        await store.put_recurring([_recurring(keys, clock, overlap=False)])
        clock.advance(1_000)
        await _fire(store, keys, clock)
        (run,) = await take(store, 1)
        clock.now = (await _one(store)).next_at
        (fired,) = await _fire(store, keys, clock)
        assert (fired.applied, fired.submitted) == (True, [])
        await end(store, run)
        clock.now = (await _one(store)).next_at
        (fired,) = await _fire(store, keys, clock)
        assert len(fired.submitted) == 1
        assert (await _one(store)).fired == 2

    async def test_paused_it_does_not_fire_and_resumed_there_is_no_burst(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        await store.put_recurring([_recurring(keys, clock, missed=Missed.ALL)])
        (row,) = await store.recurring_jobs()
        assert await store.pause_recurring("report", paused=True)
        clock.advance(10 * 3_600_000)
        assert await store.due_recurring(10) == ([], 0)
        (fired,) = await store.fire([_firing(await _one(store), keys, clock)])
        assert not fired.applied
        assert await store.pause_recurring("report", paused=False, next_at=clock() + 5)
        assert await store.pause_recurring("report", paused=False, next_at=clock() + 9)
        found = await _one(store)
        assert (found.paused, found.next_at) == (False, clock() + 5)
        assert found.version > row.version
        assert not await store.pause_recurring("other", paused=True)

    async def test_a_person_may_trigger_it_now(self, store: QueueStore, keys: Keys, clock: ManualClock) -> None:
        await store.put_recurring([_recurring(keys, clock, overlap=False)])
        await store.pause_recurring("report", paused=True)
        row = await _one(store)
        for _ in range(2):
            row = await _one(store)
            jobs = [msgspec.structs.replace(row.job, key=keys.take())]
            manual = Firing(name="report", version=row.version, next_at=row.next_at, last_at=0, jobs=jobs, manual=True)
            (fired,) = await store.fire([manual])
            assert len(fired.submitted) == 1
        found = await _one(store)
        assert (found.next_at, found.last_at, found.fired, found.paused) == (row.next_at, 0, 2, True)

    async def test_a_group_is_made_what_was_declared(self, store: QueueStore, keys: Keys, clock: ManualClock) -> None:
        kept, changed, gone = (_recurring(keys, clock, name, group="app") for name in ("kept", "changed", "gone"))
        other = _recurring(keys, clock, "other", group="")
        assert await store.put_recurring([kept, changed, gone, other]) == (["changed", "gone", "kept", "other"], [])
        await store.pause_recurring("changed", paused=True)
        before = {row.name: row for row in await store.recurring_jobs()}
        clock.advance(10)
        kept.next_at = clock() + 99
        changed.missed, changed.next_at = Missed.SKIP, clock() + 99
        new = _recurring(keys, clock, "new", group="app")
        assert await store.put_recurring([new, kept, changed], group="app") == (["changed", "new"], ["gone"])
        found = {row.name: row for row in await store.recurring_jobs()}
        assert list(found) == ["changed", "kept", "new", "other"]
        assert found["kept"] == before["kept"]
        assert (found["changed"].missed, found["changed"].paused) == (Missed.SKIP, True)
        assert found["changed"].next_at == before["changed"].next_at  # the cycle is as it was
        changed.cycle, changed.next_at = "@daily", clock() + 7
        await store.put_recurring([changed])
        assert (await _one(store, "changed")).next_at == clock() + 7
        assert await store.put_recurring([], group="app") == ([], ["changed", "kept", "new"])
        assert [row.name for row in await store.recurring_jobs(group="")] == ["other"]

    async def test_it_is_removed_by_name_and_tenant(self, store: QueueStore, keys: Keys, clock: ManualClock) -> None:
        await store.put_recurring([_recurring(keys, clock), _recurring(keys, clock, tenant="acme")])
        assert await store.remove_recurring("report", tenant="acme")
        assert not await store.remove_recurring("report", tenant="acme")
        assert [row.tenant for row in await store.recurring_jobs()] == [""]
        assert await store.recurring_jobs(after="report") == []

    async def test_its_job_may_have_all_options(self, store: QueueStore, keys: Keys, clock: ManualClock) -> None:
        options = JobOptions(unique=Unique("r"), limits=[Limit("door", most=1)])
        await store.put_recurring([_recurring(keys, clock, job=new_job(keys, options=options))])
        clock.advance(1_000)
        await _fire(store, keys, clock)
        (run,) = await take(store, 1)
        assert (await details(store, run.key)).options == options

    async def test_what_no_store_can_keep_is_refused(self, store: QueueStore, keys: Keys, clock: ManualClock) -> None:
        for wrong in (
            _recurring(keys, clock, ""),
            _recurring(keys, clock, "n" * 201),
            _recurring(keys, clock, job=NewJob(key=1, kind=0, queue="q" * 201, type="x")),
        ):
            with pytest.raises(InvalidValue):
                await store.put_recurring([wrong])
        with pytest.raises(InvalidValue, match="once"):
            await store.put_recurring([_recurring(keys, clock), _recurring(keys, clock)])


class TestSweep:
    """What no transaction leaves behind."""

    async def test_a_store_in_order_is_left_alone(self, store: QueueStore, keys: Keys) -> None:
        parent = job_with(keys, unique=Unique("u"), limits=[Limit("door", most=1)])
        await store.submit([parent, job_with(keys, limits=[Limit("door", most=1)])])
        await store.submit([job_with(keys, title="x"), job_with(keys, delay_ms=5)])
        before = await store.queue_stats()
        assert await is_clean(store)
        assert await store.queue_stats() == before
        await take(store, 1)
        assert await is_clean(store)
        assert (await details(store, parent)).state == JobState.RUNNING
