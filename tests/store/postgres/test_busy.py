"""A row that somebody else holds right now: the answer is BUSY, nothing is written, and sent again it is applied."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import asyncpg
import pytest

from procession.errors import Unavailable
from procession.ids import Keys
from procession.jobs.kinds import JobState
from procession.store.rows import JobEnd, JobOutcome
from procession.store.rows.queue import Answer, LogLine, RunReport
from procession.testing.conformance.queue_stage import job_with, state_of, take

Hold = Callable[[int], AbstractAsyncContextManager[None]]


@pytest.fixture
async def hold(url: str) -> AsyncIterator[Hold]:
    """Hold the row of a job, as somebody with a session of their own does."""
    stranger = await asyncpg.connect(url)

    @asynccontextmanager
    async def holding(key: int) -> AsyncIterator[None]:
        async with stranger.transaction():
            await stranger.fetch("select from procession.job where key = $1 for update", key)
            yield

    yield holding
    await stranger.close()


async def _run(make_store: Callable[..., Awaitable], **options):
    store = await make_store()
    keys = Keys(await store.take_keys(1_000))
    await store.submit([job_with(keys, keep_ms=1_000, **options), job_with(keys, keep_ms=1_000)])
    held, free = await take(store, 1)
    return store, held, free


async def test_an_outcome_of_a_held_row_is_busy_and_its_neighbour_is_applied(make_store, hold: Hold):
    store, held, free = await _run(make_store)
    outcomes = [JobOutcome(key=run.key, lease=run.lease, end=JobEnd.DONE) for run in (held, free)]
    async with hold(held.key):
        assert await store.settle(outcomes) == [Answer.BUSY, Answer.APPLIED]
        assert await state_of(store, held.key) == JobState.RUNNING
        with pytest.raises(
            Unavailable, match=f"row of job {held.key} to be free, but somebody holds it; send it again"
        ):
            await store.finish(outcomes[:1])
    assert await store.settle(outcomes) == [Answer.APPLIED, Answer.STALE]
    assert await state_of(store, held.key) == JobState.SUCCEEDED


async def test_a_report_of_a_held_row_is_busy(make_store, hold: Hold):
    store, held, free = await _run(make_store)
    reports = [
        RunReport(key=run.key, lease=run.lease, progress=0.5, checkpoint=b"1", log=[LogLine(text="x")])
        for run in (held, free)
    ]
    async with hold(held.key):
        assert [each.answer for each in await store.report(reports)] == [Answer.BUSY, Answer.APPLIED]
        assert await store.job_log(held.key) == []
    assert [each.answer for each in await store.report(reports[:1])] == [Answer.APPLIED]
    assert len(await store.job_log(held.key)) == 1
