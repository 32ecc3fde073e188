"""The sweep repairs what hands in the tables, a restored backup or a defect leave behind, and says what it found."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from procession.ids import Keys
from procession.jobs.kinds import JobState
from procession.jobs.options import Unique
from procession.store.rows import JobEnd
from procession.store.rows.queue import JobBatchState, LogLine, NewJobBatch, RunReport, Submission
from procession.store.sqlite import SqliteStore
from procession.testing.conformance import ManualClock
from procession.testing.conformance.queue_stage import (
    after,
    details,
    end,
    job_with,
    mutex,
    run_all,
    state_of,
    submit_one,
    take,
)

Damage = Callable[..., Any]


@pytest.fixture
async def store(tmp_path: Path, clock: ManualClock) -> AsyncIterator[SqliteStore]:
    made = SqliteStore(tmp_path / "procession.db", clock=clock)
    await made.migrate()
    await made.open()
    yield made
    await made.close()


@pytest.fixture
def damage(store: SqliteStore) -> Damage:
    """Change the tables behind the store's back."""

    async def execute(sql: str, *values: object) -> None:
        await store._write(lambda session: session._connection.execute(sql, values))

    return execute


async def test_slots_of_jobs_that_do_not_run_are_freed(store: SqliteStore, keys: Keys, damage: Damage) -> None:
    jobs = [job_with(keys, limits=mutex()) for _ in range(2)]
    await store.submit(jobs)
    await take(store, 1)
    await damage("DELETE FROM procession_job WHERE key = ?", jobs[0].key)
    report = await store.sweep()
    assert (report.lost_slots, report.stuck_throttled) == (1, 1)
    assert (await store.sweep()).is_clean
    assert await run_all(store, 1) == [jobs[1].key]


async def test_keys_of_jobs_that_are_gone_are_free(store: SqliteStore, keys: Keys, damage: Damage) -> None:
    job = job_with(keys, unique=Unique("u"))
    await store.submit([job])
    await damage("DELETE FROM procession_job")
    assert (await store.sweep()).lost_keys == 1
    assert (await submit_one(store, job_with(keys, unique=Unique("u")))).outcome == Submission.INSERTED


async def test_children_that_nobody_told_are_released_or_doomed(store: SqliteStore, keys: Keys, damage: Damage) -> None:
    done, gone = job_with(keys, title="x"), job_with(keys, delay_ms=5)
    waits, doomed = job_with(keys, after=after(done)), job_with(keys, after=after(gone))
    await store.submit([done, gone, waits, doomed])
    await damage("DELETE FROM procession_job WHERE key = ?", done.key)
    await store.delete_jobs([gone.key])
    await damage("UPDATE procession_dependency SET resolved = 0")
    report = await store.sweep()
    assert report.stuck_children == 1
    assert await state_of(store, waits) == JobState.READY
    assert await state_of(store, doomed) == JobState.DELETED
    assert (await store.sweep()).is_clean


async def test_a_batch_whose_members_are_all_final_is_finished(store: SqliteStore, keys: Keys, damage: Damage) -> None:
    batch = keys.take()
    await store.open_job_batch(NewJobBatch(key=batch))
    follow_up = job_with(keys, after=after(batch))
    await store.submit([job_with(keys, batch=batch), follow_up])
    await store.seal_job_batch(batch)
    await damage("UPDATE procession_job_batch SET succeeded = 1")
    await damage("DELETE FROM procession_job WHERE batch = ?", batch)
    assert (await store.sweep()).stuck_batches == 1
    (found,) = await store.job_batches(keys=[batch])
    assert found.state == JobBatchState.FINISHED
    assert await state_of(store, follow_up) == JobState.READY


async def test_states_that_cannot_be_are_put_right(store: SqliteStore, keys: Keys, damage: Damage) -> None:
    limited, plain = job_with(keys, limits=mutex()), job_with(keys, title="x")
    await store.submit([limited, plain])
    await damage("UPDATE procession_job SET state = 4 - state")
    assert (await store.sweep()).wrong_states == 2
    assert (await details(store, limited)).state == JobState.THROTTLED
    assert (await details(store, plain)).state == JobState.READY
    assert (await store.sweep()).is_clean


async def test_what_belongs_to_no_job_goes(store: SqliteStore, keys: Keys, damage: Damage) -> None:
    parent = job_with(keys, title="x")
    child = job_with(keys, after=after(parent))
    await store.submit([parent, child])
    (run,) = await take(store, 1)
    await store.report([RunReport(key=run.key, lease=run.lease, log=[LogLine(text="x")])])
    await end(store, run, JobEnd.RETRY)
    await damage("DELETE FROM procession_job")
    report = await store.sweep()
    assert (report.lost_dependencies, report.lost_rows) == (1, 1)
    assert await store.job_log(parent.key) == []
    assert (await store.sweep()).is_clean


async def test_batches_are_counted_again_by_their_members(store: SqliteStore, keys: Keys, damage: Damage) -> None:
    batch, part = keys.take(), keys.take()
    await store.open_job_batch(NewJobBatch(key=batch))
    await store.open_job_batch(NewJobBatch(key=part, parent=batch))
    members = [job_with(keys, batch=batch) for _ in range(5)]
    await store.submit(members)
    first, second = await take(store, 1, 2)
    await end(store, first)
    await end(store, second, JobEnd.FAILED)
    assert (await store.sweep()).is_clean
    (before,) = await store.job_batches(keys=[batch])
    await damage("UPDATE procession_job_batch SET total = 9, succeeded = 4, failed = 0 WHERE key = ?", batch)
    await damage("DELETE FROM procession_job WHERE key = ?", members[-1].key)
    report = await store.sweep()
    assert report.miscounted_batches == 1
    (found,) = await store.job_batches(keys=[batch])
    assert (before.total, before.succeeded, before.failed) == (6, 1, 1)
    assert (found.total, found.succeeded, found.failed) == (9, 5, 1)  # two are ready, one failed, a batch is open
    assert (await store.sweep()).is_clean


async def test_a_batch_that_had_lost_count_is_finished_by_the_same_sweep(
    store: SqliteStore, keys: Keys, damage: Damage
) -> None:
    batch = keys.take()
    await store.open_job_batch(NewJobBatch(key=batch))
    await store.submit([job_with(keys, batch=batch)])
    await store.seal_job_batch(batch)
    await damage("DELETE FROM procession_job")
    report = await store.sweep()
    assert (report.miscounted_batches, report.stuck_batches) == (1, 1)
    (found,) = await store.job_batches(keys=[batch])
    assert (found.state, found.succeeded) == (JobBatchState.FINISHED, 1)
