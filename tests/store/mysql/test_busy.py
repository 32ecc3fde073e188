"""A row that somebody else holds right now: the answer is BUSY, nothing is written, and sent again it is applied."""

from __future__ import annotations

from contextlib import closing

from procession.ids import Keys
from procession.jobs.kinds import JobState
from procession.store.mysql import MysqlStore
from procession.store.rows import JobEnd, JobOutcome
from procession.store.rows.queue import Answer, RunReport
from procession.testing.conformance.queue_stage import job_with, state_of, take
from tests.support.mariadb import connect


async def test_outcomes_and_reports_of_a_held_row_are_busy(store: MysqlStore, keys: Keys, url: str):
    await store.submit([job_with(keys, keep_ms=1_000), job_with(keys, keep_ms=1_000)])
    held, free = await take(store, 1)
    outcomes = [JobOutcome(key=run.key, lease=run.lease, end=JobEnd.DONE) for run in (held, free)]
    report = RunReport(key=held.key, lease=held.lease, progress=0.5)
    with closing(connect(url)) as stranger, stranger.cursor() as cursor:
        stranger.begin()
        cursor.execute("select `key` from procession_job where `key` = %s for update", (held.key,))
        assert await store.settle(outcomes) == [Answer.BUSY, Answer.APPLIED]
        assert (await store.report([report]))[0].answer == Answer.BUSY
        stranger.rollback()
    assert (await store.report([report]))[0].answer == Answer.APPLIED
    assert await store.settle(outcomes) == [Answer.APPLIED, Answer.STALE]
    assert await state_of(store, held.key) == JobState.SUCCEEDED
