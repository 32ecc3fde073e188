"""Runs of jobs with traits: their ends with the whole answer, what they say meanwhile, what is left of them."""
# ruff: noqa: D102 - a test is named as a sentence

from __future__ import annotations

import pytest

from procession import limits
from procession.errors import InvalidValue
from procession.ids import Keys
from procession.jobs.kinds import JobState
from procession.jobs.options import KEEP_OUTPUT_MS
from procession.store.rows import JobAdjustment, JobEnd, JobOutcome
from procession.store.rows.queue import Answer, Deletion, FailedAttempt, LogLine, RunReport
from procession.testing.conformance.queue_stage import (
    QueueStore,
    details,
    end,
    is_clean,
    job_with,
    mutex,
    state_of,
    submit_one,
    take,
)
from procession.testing.conformance.stage import (
    ManualClock,
    apply,
    claim,
    fence,
    new_job,
    next_step,
    read,
    service_job,
    start_step,
)


class TestSettle:
    """Applied, stale, rejected: one answer per outcome."""

    async def test_each_outcome_gets_its_answer(self, store: QueueStore, keys: Keys) -> None:
        await store.submit([job_with(keys, keep_ms=1_000), job_with(keys, output=True)])
        await store.enqueue([new_job(keys)])
        one, two, plain = await take(store, 1)
        too_much = b'"' + b"x" * limits.JOB_OUTPUT_BYTES_MAX + b'"'
        outcomes = [
            JobOutcome(key=one.key, lease=one.lease + 1, end=JobEnd.DONE),
            JobOutcome(key=two.key, lease=two.lease, end=JobEnd.DONE, output=too_much),
            JobOutcome(key=plain.key, lease=plain.lease, end=JobEnd.DONE),
            JobOutcome(key=one.key, lease=one.lease, end=JobEnd.DONE),
        ]
        assert await store.settle(outcomes) == [Answer.STALE, Answer.REJECTED, Answer.APPLIED, Answer.APPLIED]
        assert await store.settle(outcomes) == [Answer.STALE, Answer.REJECTED, Answer.STALE, Answer.STALE]
        failure = JobOutcome(key=two.key, lease=two.lease, end=JobEnd.FAILED, error="its output is too large")
        assert await store.settle([failure]) == [Answer.APPLIED]
        assert await state_of(store, two.key) == JobState.FAILED

    async def test_when_a_job_failed_is_known_with_options_or_without(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        plain = [new_job(keys), new_job(keys)]
        optional = job_with(keys, title="x")
        await store.enqueue(plain)
        await store.submit([optional])
        clock.advance(70)
        for run in await take(store, 1):
            await end(store, run, JobEnd.FAILED, error="broken")
        assert {(await details(store, job)).ended_at for job in (*plain, optional)} == {clock()}
        await store.requeue_jobs([plain[0].key, optional.key])
        await store.retry_jobs([plain[1].key], 2)
        assert {(await details(store, job)).ended_at for job in (*plain, optional)} == {0}
        for run in await take(store, 1):
            await end(store, run, JobEnd.RETRY, delay_ms=9)
        assert {(await details(store, job)).ended_at for job in (*plain, optional)} == {0}

    async def test_what_has_traits_is_not_tried_again_as_if_it_had_none(self, store: QueueStore, keys: Keys) -> None:
        limited, ageing = job_with(keys, limits=mutex()), job_with(keys, ageing_ms=50, priority=3)
        await store.submit([limited])
        (run,) = await take(store, 1)
        await end(store, run, JobEnd.FAILED)
        assert await store.retry_jobs([limited.key], 3) == []
        await store.requeue_jobs([limited.key])
        assert await state_of(store, limited) == JobState.THROTTLED
        await store.submit([ageing])
        before = await details(store, ageing)
        changes = [JobAdjustment(key=ageing.key, priority=9), JobAdjustment(key=limited.key, priority=9)]
        assert await store.adjust_jobs(changes) == [False, True]
        assert await store.adjust_jobs([JobAdjustment(key=ageing.key, retries=7)]) == [True]
        found = await details(store, ageing)
        assert (found.priority, found.run_at, found.retries) == (before.priority, before.run_at, 7)
        assert await is_clean(store)

    async def test_finish_takes_jobs_of_both_kinds(self, store: QueueStore, keys: Keys) -> None:
        kept, plain = job_with(keys, keep_ms=1_000), new_job(keys)
        await store.submit([kept])
        await store.enqueue([plain])
        runs = await take(store, 1)
        outcomes = [JobOutcome(key=run.key, lease=run.lease, end=JobEnd.DONE) for run in runs]
        assert await store.finish(outcomes) == [True, True]
        assert await store.finish(outcomes) == [False, False]
        assert (await state_of(store, kept), await state_of(store, plain)) == (JobState.SUCCEEDED, None)

    async def test_finish_refuses_what_cannot_be_stored(self, store: QueueStore, keys: Keys) -> None:
        await store.submit([job_with(keys, output=True)])
        (run,) = await take(store, 1)
        with pytest.raises(InvalidValue, match="JOB_OUTPUT_BYTES_MAX"):
            await end(store, run, output=b"1" * (limits.JOB_OUTPUT_BYTES_MAX + 1))
        assert await end(store, run, output=b"[1]")

    async def test_what_goes_on_is_as_for_plain_jobs(self, store: QueueStore, keys: Keys, clock: ManualClock) -> None:
        job = job_with(keys, keep_ms=1_000, retries=3)
        await store.submit([job])
        (run,) = await take(store, 1)
        await end(store, run, JobEnd.RETRY, delay_ms=50, error="no answer")
        found = await details(store, job)
        assert (found.state, found.retries, found.attempt, found.run_at) == (JobState.SCHEDULED, 2, 1, clock() + 50)
        assert (found.error, found.owner) == ("no answer", 0)
        clock.advance(50)
        await store.promote(10)
        (run,) = await take(store, 1)
        await end(store, run, JobEnd.SNOOZE, delay_ms=0)
        (run,) = await take(store, 1)
        assert (run.attempt, run.retries, run.lease) == (2, 2, 3)
        await end(store, run, JobEnd.RELEASE)
        found = await details(store, job)
        assert (found.state, found.attempt, found.retries, found.lease) == (JobState.READY, 1, 2, 3)
        (run,) = await take(store, 1)
        await end(store, run, JobEnd.FAILED, error="no more")
        found = await details(store, job)
        assert (found.state, found.retries, found.error, found.ended_at) == (JobState.FAILED, 1, "no more", clock())


class TestArchive:
    """What is left of a job, and for how long."""

    async def test_a_kept_job_can_be_read_until_its_time_is_over(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        job = job_with(keys, keep_ms=1_000, title="t", args=b"[1]", priority=2)
        await store.submit([job])
        (run,) = await take(store, 1)
        clock.advance(5)
        await end(store, run, output=b"[2]")
        found = await details(store, job)
        assert (found.state, found.ended_at, found.priority) == (JobState.SUCCEEDED, clock(), 2)
        assert (found.output, read(found.args)) == (b"", [1])  # its output was not asked for
        assert found.options is not None
        assert found.options.title == "t"
        clock.advance(999)
        assert await store.expire_archive(10) == 0
        clock.advance(1)
        assert await store.expire_archive(10) == 1
        assert await state_of(store, job) is None

    async def test_an_output_that_was_asked_for_is_kept(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        job = job_with(keys, output=True)
        await store.submit([job])
        (run,) = await take(store, 1)
        await end(store, run, output=b'{"sum":3}')
        assert read((await details(store, job)).output) == {"sum": 3}
        clock.advance(KEEP_OUTPUT_MS - 1)
        assert await store.expire_archive(10) == 0

    async def test_a_canceled_plain_job_is_in_the_archive_with_the_reason(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        job = new_job(keys)
        await store.enqueue([job])
        (run,) = await take(store, 1)
        assert await end(store, run, JobEnd.CANCELED, error="not wanted")
        found = await details(store, job)
        assert (found.state, found.error) == (JobState.DELETED, "not wanted")
        clock.advance(limits.DELETED_KEPT_MS)
        assert await store.expire_archive(10) == 1


class TestReport:
    """Progress, checkpoints, logs: each under its lease."""

    async def test_a_run_says_how_it_gets_on(self, store: QueueStore, keys: Keys, clock: ManualClock) -> None:
        job = new_job(keys)
        await store.enqueue([job])
        (run,) = await take(store, 1)
        (answer,) = await store.report(
            [RunReport(key=run.key, lease=run.lease, progress=0.25, progress_text="page 1", checkpoint=b'{"page":1}')]
        )
        assert (answer.answer, answer.cancel_reason) == (Answer.APPLIED, None)
        await store.report([RunReport(key=run.key, lease=run.lease, progress=0.5)])
        found = await details(store, job)
        assert (found.progress, found.progress_text, read(found.checkpoint)) == (0.5, "page 1", {"page": 1})
        await end(store, run, JobEnd.RETRY)
        (again,) = await take(store, 1)
        assert read(again.checkpoint) == {"page": 1}
        late = RunReport(key=run.key, lease=run.lease, checkpoint=b'{"page":9}')
        assert [each.answer for each in await store.report([late])] == [Answer.STALE]
        assert read((await details(store, job)).checkpoint) == {"page": 1}
        assert clock()

    async def test_what_cannot_be_stored_is_rejected_alone(self, store: QueueStore, keys: Keys) -> None:
        await store.enqueue([new_job(keys), new_job(keys), new_job(keys)])
        one, two, three = await take(store, 1)
        reports = [
            RunReport(key=one.key, lease=one.lease, checkpoint=b"1" * (limits.CHECKPOINT_BYTES_MAX + 1)),
            RunReport(key=two.key, lease=two.lease, progress=1.5),
            RunReport(key=three.key, lease=three.lease, progress=1.0),
        ]
        answers = [each.answer for each in await store.report(reports)]
        assert answers == [Answer.REJECTED, Answer.REJECTED, Answer.APPLIED]
        with pytest.raises(InvalidValue, match="twice"):
            await store.report(reports[2:] * 2)

    async def test_lines_of_a_log_go_with_a_job_that_leaves_nothing_else(self, store: QueueStore, keys: Keys) -> None:
        job = new_job(keys)
        await store.enqueue([job])
        (run,) = await take(store, 1)
        await store.report([RunReport(key=run.key, lease=run.lease, log=[LogLine(text="said")])])
        assert await end(store, run)
        assert await store.job_log(job.key) == []
        assert (await store.sweep()).is_clean

    async def test_lines_of_a_log_are_kept_in_order_and_bounded(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        job = job_with(keys, keep_ms=60_000)
        await store.submit([job])
        (run,) = await take(store, 1)
        for n in range(3):
            lines = [LogLine(text=f"{n}.{m} Ω\0", level=10 * (m + 1)) for m in range(2)]
            await store.report([RunReport(key=run.key, lease=run.lease, log=lines)])
            clock.advance(1)
        found = await store.job_log(job.key)
        assert [line.number for line in found] == [1, 2, 3, 4, 5, 6]
        assert [line.at - found[0].at for line in found] == [0, 0, 1, 1, 2, 2]
        assert (found[1].text[:5], found[1].level, found[1].job) == ("0.1 Ω", 20, job.key)
        assert [line.number for line in await store.job_log(job.key, after=4, limit=1)] == [5]
        many = [LogLine(text="x" * 5_000)] * (limits.JOB_LOG_LINES_MAX + 5)
        await store.report([RunReport(key=run.key, lease=run.lease, log=many)])
        await store.report([RunReport(key=run.key, lease=run.lease, log=many)])
        found = await store.job_log(job.key, limit=5_000)
        assert len(found) == limits.JOB_LOG_LINES_MAX + 1
        assert "JOB_LOG_LINES_MAX" in found[-1].text
        assert len(found[-2].text) == limits.JOB_LOG_LINE_CHARS_MAX
        await end(store, run)
        assert len(await store.job_log(job.key, limit=5_000)) == limits.JOB_LOG_LINES_MAX + 1
        clock.advance(60_000)
        await store.expire_archive(10)
        assert await store.job_log(job.key) == []


class TestAttempts:
    """What failed attempts leave."""

    async def test_attempts_that_failed_are_kept_each_with_its_error(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        job = job_with(keys, keep_ms=60_000)
        await store.submit([job])
        for attempt in (1, 2):
            await _fail(store, attempt, f"broken {attempt} Ω\0")
            clock.advance(1)
        first, second = await store.job_attempts(job.key)
        assert (first.job, first.attempt, first.worker, first.type) == (job.key, 1, "worker", "ValueError")
        assert first.message.startswith("broken 1 Ω")
        assert (second.attempt, second.at - first.at, second.lease > first.lease) == (2, 1, True)
        (run,) = await take(store, 1)
        await end(store, run)
        assert len(await store.job_attempts(job.key)) == 2
        clock.advance(60_000)
        await store.expire_archive(10)
        assert await store.job_attempts(job.key) == []

    async def test_attempts_go_with_a_job_that_leaves_nothing_else(self, store: QueueStore, keys: Keys) -> None:
        job = new_job(keys)
        await store.enqueue([job])
        await _fail(store, 1, "broken")
        (run,) = await take(store, 1)
        assert await end(store, run)
        assert await store.job_attempts(job.key) == []
        assert await is_clean(store)

    async def test_of_many_attempts_the_last_ones_are_kept(self, store: QueueStore, keys: Keys) -> None:
        job = new_job(keys)
        await store.enqueue([job])
        for attempt in range(1, limits.JOB_ATTEMPTS_KEPT_MAX + 4):
            await _fail(store, attempt, str(attempt))
        found = [each.attempt for each in await store.job_attempts(job.key)]
        assert found == list(range(4, limits.JOB_ATTEMPTS_KEPT_MAX + 4))

    async def test_an_attempt_counts_under_its_lease_and_once(self, store: QueueStore, keys: Keys) -> None:
        await store.enqueue([new_job(keys)])
        (run,) = await take(store, 1)
        failed = FailedAttempt(attempt=1, worker="", type="", message="")
        for lease, answer in ((run.lease + 1, Answer.STALE), (run.lease, Answer.APPLIED), (run.lease, Answer.APPLIED)):
            (found,) = await store.report([RunReport(key=run.key, lease=lease, failed=failed)])
            assert found.answer == answer
        assert len(await store.job_attempts(run.key)) == 1

    async def test_attempts_of_an_instance_stay_as_long_as_it_does(self, store: QueueStore, keys: Keys) -> None:
        step = start_step(keys)
        step.new_jobs = [service_job(keys, step)]
        await apply(store, keys, step)
        assert await store.attempts_of(step.instance, limit=10) == []
        node = await store.register("a", b"{}")
        for attempt in (1, 2):
            (run,) = await claim(store, node, "$job:charge")
            failed = FailedAttempt(attempt=attempt, worker="worker", type="ValueError", message=f"broken {attempt}")
            await store.report([RunReport(key=run.key, lease=run.lease, failed=failed)])
            retried = JobOutcome(key=run.key, lease=run.lease, end=JobEnd.RETRY, error="broken", retries=3)
            assert await store.finish([retried]) == [True]
        (run,) = await claim(store, node, "$job:charge")
        await apply(store, keys, next_step(step, closed_jobs=[fence(run)], status=1))
        await store.sweep()
        assert [each.message for each in await store.attempts_of(step.instance, limit=10)] == ["broken 1", "broken 2"]
        assert [each.attempt for each in await store.attempts_of(step.instance, limit=1)] == [2]
        assert await store.attempts_of(step.instance + 1, limit=10) == []
        await store.delete_instances([step.instance])
        await store.sweep()
        assert await store.attempts_of(step.instance, limit=10) == []


async def _fail(store: QueueStore, attempt: int, message: str) -> None:
    """Claim the only job there is, and let its attempt fail."""
    (run,) = await take(store, 1)
    failed = FailedAttempt(attempt=attempt, worker="worker", type="ValueError", message=message)
    await store.report([RunReport(key=run.key, lease=run.lease, failed=failed)])
    assert await end(store, run, JobEnd.RETRY, error=message, retries=3)


class TestCancel:
    """A running job is told that somebody wants it to end."""

    async def test_a_run_is_told_and_however_it_ends_the_job_is_deleted(self, store: QueueStore, keys: Keys) -> None:
        node = await store.register("worker", b"{}")
        for how in (JobEnd.RETRY, JobEnd.SNOOZE, JobEnd.RELEASE, JobEnd.FAILED, JobEnd.CANCELED):
            job = new_job(keys)
            await store.enqueue([job])
            (run,) = await take(store, node)
            assert await store.delete_jobs([job.key], "wrong address") == [Deletion.CANCELING]
            (told,) = await store.canceled_runs(node)
            assert (told.key, told.lease, told.reason) == (job.key, run.lease, "wrong address")
            (answer,) = await store.report([RunReport(key=run.key, lease=run.lease, progress=0.5)])
            assert answer.cancel_reason == "wrong address"
            assert await end(store, run, how)
            found = await details(store, job)
            assert (found.state, found.error) == (JobState.DELETED, "wrong address")
            assert await store.canceled_runs(node) == []

    async def test_a_run_that_succeeds_all_the_same_has_succeeded(self, store: QueueStore, keys: Keys) -> None:
        job = job_with(keys, keep_ms=1_000)
        await store.submit([job])
        (run,) = await take(store, 1)
        await store.delete_jobs([job.key], "too late")
        assert await end(store, run)
        assert await state_of(store, job) == JobState.SUCCEEDED

    async def test_it_is_deleted_when_its_process_dies(self, store: QueueStore, keys: Keys, clock: ManualClock) -> None:
        node = await store.register("worker", b"{}")
        job = new_job(keys)
        await store.enqueue([job])
        await take(store, node)
        await store.delete_jobs([job.key], "wrong")
        clock.advance(10_000)
        rescue = await store.rescue(10_000, 100, crash_budget=3, backoff_ms=0)
        assert (rescue.nodes, rescue.jobs) == ([node], 1)
        assert await state_of(store, job) == JobState.DELETED


class TestDeadline:
    """What nobody starts in time fails."""

    async def test_what_waits_beyond_its_deadline_fails_with_the_reason(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        jobs = [
            job_with(keys, deadline_ms=100),
            job_with(keys, deadline_at=clock() + 200, deadline_ms=100, delay_ms=500),
            job_with(keys, deadline_ms=100, limits=mutex()),
            job_with(keys, deadline_ms=101),
            job_with(keys, deadline_ms=100, queue="other"),
        ]
        await store.submit(jobs)
        (started,) = await take(store, 1, queue="other")
        clock.advance(99)
        assert await store.expire_jobs(10) == ([], [])
        clock.advance(1)
        expired, _ = await store.expire_jobs(10)
        assert sorted(expired) == [job.key for job in jobs[:3]]
        found = await details(store, jobs[0])
        assert (found.state, found.ended_at) == (JobState.FAILED, clock())
        assert "deadline" in found.error
        assert await end(store, started)
        assert await store.requeue_jobs([jobs[0].key]) == [jobs[0].key]
        assert await store.expire_jobs(10) == ([], [])
        clock.advance(100)
        assert sorted((await store.expire_jobs(10))[0]) == [jobs[0].key, jobs[3].key]
        assert await is_clean(store)


class TestLostRuns:
    """Jobs with traits whose process is gone."""

    async def test_they_are_rescued_as_plain_ones_are(self, store: QueueStore, keys: Keys, clock: ManualClock) -> None:
        job, plain = job_with(keys, keep_ms=1_000), new_job(keys)
        await store.submit([job])
        await store.enqueue([plain])
        for crash in range(1, 4):
            node = await store.register("worker", b"{}")
            runs = await take(store, node)
            assert len(runs) == 2
            clock.advance(10_000)
            rescue = await store.rescue(10_000, 100, crash_budget=2, backoff_ms=50)
            assert rescue.jobs == 2
            for each in (job, plain):
                found = await details(store, each)
                expected = {1: JobState.READY, 2: JobState.SCHEDULED, 3: JobState.FAILED}[crash]
                assert (found.state, found.crashes, found.attempt) == (expected, crash, crash)
            assert rescue.failed == ([] if crash < 3 else [job.key, plain.key])
            assert rescue.woken == (["mail"] if crash == 1 else [])
            clock.advance(50)
            await store.promote(10)

    async def test_a_process_that_leaves_gives_them_back(self, store: QueueStore, keys: Keys) -> None:
        node = await store.register("worker", b"{}")
        jobs = [job_with(keys, keep_ms=1_000), job_with(keys, limits=mutex())]
        await store.submit(jobs)
        assert len(await take(store, node)) == 2
        await store.leave(node)
        states = [(await details(store, job)).state for job in jobs]
        assert states == [JobState.READY, JobState.THROTTLED]
        assert [(await details(store, job)).attempt for job in jobs] == [0, 0]
        assert len(await take(store, 7)) == 2
        assert (await submit_one(store, job_with(keys, limits=mutex()))).state == JobState.THROTTLED
        assert await is_clean(store)
