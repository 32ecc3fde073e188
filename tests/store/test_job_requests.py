"""Jobs with options that a caller's own transaction asks for: nothing before its commit, everything once after it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from procession.ids import Keys
from procession.jobs.kinds import SUBMIT_QUEUE, JobState
from procession.jobs.options import Unique
from procession.store.rows import JobFence
from procession.store.rows.queue import Submission, decode_submission
from procession.store.sqlite import SqliteStore
from procession.testing.conformance import ManualClock
from procession.testing.conformance.queue_stage import after, job_with, run_all, state_of, take
from procession.testing.conformance.stage import new_job


async def test_jobs_with_options_are_submitted_after_the_callers_commit(tmp_path: Path, clock: ManualClock) -> None:
    store = SqliteStore(tmp_path / "procession.db", clock=clock)
    await store.migrate()
    await store.open()
    keys = Keys(await store.take_keys(100))
    parent = job_with(keys, unique=Unique("u"), args=b'{"a":1.50}')
    plain, child = new_job(keys), job_with(keys, after=after(parent))
    (statement,) = store.job_request([parent, plain, child])
    with closing(sqlite3.connect(tmp_path / "procession.db", isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(statement.sql, statement.values)
        assert await state_of(store, plain) is None
        connection.execute("COMMIT")
    assert await state_of(store, plain) == JobState.READY
    (request,) = await take(store, 1, queue=SUBMIT_QUEUE)
    assert request.key == parent.key
    closes = JobFence(key=request.key, lease=request.lease)
    answers = await store.submit(decode_submission(request.args), closes=closes)
    assert [answer.outcome for answer in answers] == [Submission.INSERTED] * 2
    assert await store.submit(decode_submission(request.args), closes=closes) == []
    assert sorted(await run_all(store, 1)) == [parent.key, plain.key, child.key]
    await store.close()
