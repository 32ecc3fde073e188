"""A run of a job as its handler has it: its own time and pauses, its result, progress, log, checkpoints, parents."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest

from procession import Cancel, Fail, Job, Procession, Retry, Snooze
from procession.errors import Conflict, InvalidValue
from procession.store.rows import JobEnd, JobOutcome


@pytest.fixture
def app(make: Callable[..., Procession]) -> Procession:
    return make()


async def _open(app: Procession) -> Procession:
    return await app.open(run_workers=False, migrate=True)


async def _later(app: Procession, clock, **span: float) -> None:
    clock.turn(int(timedelta(**span).total_seconds() * 1000))
    await app.run_until_idle()


async def test_the_jobs_own_timeout_wins_over_the_handlers(app):
    @app.job("hang", retries=1, timeout="1h")
    async def hang() -> None:
        await asyncio.Event().wait()

    await _open(app)
    job = await app.enqueue("hang", timeout="10ms")
    await app.run_until_idle()
    record = await app.job_record(job.job_key)
    assert record.state == "FAILED"
    assert "did not end within its timeout" in record.error_message


async def test_the_jobs_own_pauses_win_over_the_handlers(app, clock):
    runs: list[int] = []

    @app.job("break", retries=3, backoff="1d")
    async def broken(job: Job) -> None:
        runs.append(job.attempt)
        raise ConnectionError("broken")

    await _open(app)
    await app.enqueue("break", backoff=["10s", "60s"])
    await app.run_until_idle()
    await _later(app, clock, seconds=10)
    assert runs == [1, 2]
    await _later(app, clock, seconds=59)
    assert runs == [1, 2]
    await _later(app, clock, seconds=1)
    assert runs == [1, 2, 3]


async def test_what_the_handler_gives_back_is_kept_where_it_is_asked_for(app):
    @app.job("double")
    async def double(n: int) -> dict[str, int]:
        return {"n": n * 2}

    await _open(app)
    kept = await app.enqueue("double", {"n": 4}, output=True)
    plain = await app.enqueue("double", {"n": 5})
    await app.run_until_idle()
    record = await app.job_record(kept.job_key)
    assert (record.state, record.output) == ("SUCCEEDED", {"n": 8})
    assert [row.job_key for row in await app.job_records(state="SUCCEEDED")] == [kept.job_key]
    assert plain.job_key != kept.job_key


async def test_a_result_that_cannot_be_kept_fails_only_the_job_that_was_asked_for_it(app):
    @app.job("odd")
    async def odd() -> object:
        return object()

    await _open(app)
    asked = await app.enqueue("odd", output=True)
    await app.enqueue("odd")
    await app.enqueue("odd", keep="1h")
    await app.run_until_idle()
    (failed,) = await app.jobs()
    assert (failed.job_key, failed.state) == (asked.job_key, "FAILED")
    assert "result of 'odd'" in failed.error_message


async def test_arguments_that_do_not_decode_fail_at_once(app):
    @app.job("double", retries=5, backoff="0s")
    async def double(n: int) -> int:
        return n * 2

    await _open(app)
    wrong, missing = await app.enqueue_many("double", [{"n": "four"}, {"m": 4}])
    await app.run_until_idle()
    for job, message in ((wrong, "Expected `int`, got `str`; found str 'four'"), (missing, "found none of that name")):
        record = await app.job_record(job.job_key)
        assert (record.state, record.attempt) == ("FAILED", 1)
        assert message in record.error_message


async def test_a_job_that_its_handler_cancels_is_deleted_with_the_reason(app):
    @app.job("pointless")
    async def pointless() -> None:
        raise Cancel("nobody needs it")

    await _open(app)
    job = await app.enqueue("pointless", title="t")
    await app.run_until_idle()
    record = await app.job_record(job.job_key)
    assert (record.state, record.cancel_reason or record.error_message) == ("DELETED", "nobody needs it")


@pytest.mark.parametrize("options", [{}, {"title": "with options"}])
async def test_a_run_goes_on_from_where_the_last_one_came_to(app, options):
    seen: list[object] = []

    @app.job("walk", retries=3, backoff="0s")
    async def walk(job: Job) -> None:
        seen.append(job.state)
        done = (job.state or {"done": 0})["done"] + 1
        await job.checkpoint({"done": done})
        await job.progress(done / 3, f"{done} of 3")
        await job.log(f"step {done}", level=30)
        if done < 3:
            raise ConnectionError("the line broke")

    await _open(app)
    job = await app.enqueue("walk", queue="default", **options, **({"keep": "1h"} if options else {}))
    await app.run_until_idle()
    assert seen == [None, {"done": 1}, {"done": 2}]
    if options:
        log = await app.job_log(job.job_key)
        assert [(line.level, line.text) for line in log] == [(30, "step 1"), (30, "step 2"), (30, "step 3")]


async def test_a_handler_in_a_thread_says_the_same_and_waits(app):
    @app.job("walk", retries=1)
    def walk(job: Job) -> None:
        job.progress(0.5, "half")
        job.log("one")
        job.checkpoint([1, 2])
        assert job.parents() == []
        raise ConnectionError("broken")

    await _open(app)
    job = await app.enqueue("walk")
    await app.run_until_idle()
    record = await app.job_record(job.job_key)
    assert (record.state, record.progress, record.progress_text) == ("FAILED", 0.5, "half")
    assert [line.text for line in await app.job_log(job.job_key)] == ["one"]
    assert "broken" in record.error_message


async def test_a_job_reads_what_those_before_it_gave_back(app):
    found: list[tuple[int, str, object]] = []

    @app.job("count")
    async def count(n: int) -> int:
        return n + 1

    @app.job("sum")
    async def total(job: Job) -> None:
        found.extend((parent.key, parent.state, parent.output) for parent in await job.parents())

    await _open(app)
    first, second = await app.enqueue_many("count", [{"n": 1}, {"n": 2}])
    await app.enqueue("sum", after=[first.job_key, second.job_key])
    await app.run_until_idle()
    assert found == [(first.job_key, "SUCCEEDED", 2), (second.job_key, "SUCCEEDED", 3)]


async def test_many_reports_at_once_are_one_call(app):
    calls: list[int] = []

    @app.job("talk")
    async def talk(job: Job) -> None:
        said = [job.log(f"line {number}") for number in range(50)]
        await asyncio.gather(*said, job.progress(1))

    await _open(app)
    store = app._engine.store
    report = store.report

    async def counted(reports):
        calls.append(len(reports))
        return await report(reports)

    store.report = counted
    job = await app.enqueue("talk", keep="1h")
    await app.run_until_idle()
    assert calls == [1]
    assert len(await app.job_log(job.job_key)) == 50


async def test_a_run_that_counts_no_more_is_told_so(app):
    told: list[str] = []

    @app.job("late")
    async def late(job: Job) -> None:
        job.lease += 1
        with pytest.raises(Conflict, match="another run of it counts") as refusal:
            await job.checkpoint(1)
        told.append(str(refusal.value))

    await _open(app)
    await app.enqueue("late")
    await app.run_until_idle()
    assert len(told) == 1


async def test_a_run_that_reports_learns_that_it_is_to_end(app):
    ended: list[str] = []

    @app.job("long")
    async def long(job: Job) -> None:
        await app.delete_job(job.key, reason="enough")
        try:
            await job.progress(0.1)
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("canceled")
            raise

    await _open(app)
    job = await app.enqueue("long", title="t")
    await app.run_until_idle()
    assert ended == ["canceled"]
    assert (await app.job_record(job.job_key)).state == "DELETED"


async def test_what_cannot_be_reported_is_refused_where_it_is_said(app):
    refusals: list[str] = []

    @app.job("odd")
    async def odd(job: Job) -> None:
        for say in (
            lambda: job.progress(2),
            lambda: job.progress("half"),
            lambda: job.checkpoint(object()),
            lambda: job.checkpoint("x" * (1024 * 1024)),
            lambda: job.log(7),
        ):
            with pytest.raises(InvalidValue) as refusal:
                await say()
            refusals.append(str(refusal.value))
        await job.log("a \0 and \ud800 are replaced" + "x" * 10_000)

    await _open(app)
    job = await app.enqueue("odd", keep="1h")
    await app.run_until_idle()
    assert len(refusals) == 5
    assert "CHECKPOINT_BYTES_MAX" in refusals[3]
    (line,) = await app.job_log(job.job_key)
    assert line.text.startswith("a \ufffd and ? are replaced")
    assert line.text.endswith("…")


def report_from_a_process(job: Job) -> None:
    job.progress(0.5)


async def test_a_handler_in_a_process_of_its_own_is_told_that_it_cannot_report(app):
    app.job("apart", retries=1, process=True)(report_from_a_process)
    await _open(app)
    job = await app.enqueue("apart")
    await app.run_until_idle()
    record = await app.job_record(job.job_key)
    assert record.state == "FAILED"
    assert "process=True" in record.error_message


async def test_an_end_that_cannot_be_stored_is_kept_as_a_failure_that_says_why(app):
    written: list[bool] = []

    @app.job("bad")
    async def bad(job: Job) -> None:
        told: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        outcome = JobOutcome(key=job.key, lease=job.lease, end=JobEnd.DONE, output=b'"' + b"x" * 1_048_576 + b'"')
        app._engine.outcomes.put(outcome, told.set_result)
        written.append(await told)

    await _open(app)
    job = await app.enqueue("bad", output=True)
    await app.run_until_idle()
    record = await app.job_record(job.job_key)
    assert (written, record.state) == ([True], "FAILED")
    assert "JOB_OUTPUT_BYTES_MAX" in record.error_message


async def test_a_transactional_handlers_result_is_kept_too(app, url):
    if url.startswith("memory"):
        pytest.skip("the memory store has no transaction to lend")

    @app.job("double", transactional=True)
    async def double(job: Job, n: int) -> int:
        assert job.connection is not None
        return n * 2

    await _open(app)
    job = await app.enqueue("double", {"n": 4}, output=True)
    await app.run_until_idle()
    record = await app.job_record(job.job_key)
    assert (record.state, record.output) == ("SUCCEEDED", 8)


# -- what failed attempts leave, and what is said without waiting -----------------------------------------------------


async def test_each_attempt_that_failed_is_kept_with_its_error(app, clock):
    errors = [ConnectionError("no route"), Retry(after="1s", reason="busy"), Fail("no such address")]

    @app.job("flaky", retries=5, backoff="1s")
    async def flaky() -> None:
        raise errors.pop(0)

    await _open(app)
    job = await app.enqueue("flaky")
    for _ in range(3):
        await _later(app, clock, seconds=1)
    found = await app.job_attempts(job.job_key)
    assert [(each.attempt, each.error_type) for each in found] == [(1, "ConnectionError"), (2, "Retry"), (3, "Fail")]
    assert found[0].message.startswith("ConnectionError: no route\nTraceback")
    assert (found[2].message, found[0].worker != "") == ("no such address", True)
    assert (found[1].at - found[0].at).total_seconds() == 1
    assert (await app.job_in_full(job.job_key)).attempts == found
    await app.requeue(job.job_key)
    await app.delete_job(job.job_key)
    assert len(await app.job_attempts(job.job_key)) == 3  # a deleted job can still be looked at


async def test_an_attempt_that_was_given_back_or_snoozed_leaves_nothing(app, clock):
    outcomes = [Snooze("1s"), None]

    @app.job("later", retries=1)
    async def later() -> object:
        return outcomes.pop(0)

    await _open(app)
    job = await app.enqueue("later", keep="1h")
    await app.run_until_idle()
    await _later(app, clock, seconds=1)
    assert (await app.job_record(job.job_key)).state == "SUCCEEDED"
    assert await app.job_attempts(job.job_key) == []


async def test_what_is_said_without_waiting_is_written_before_the_run_ends(app):
    @app.job("talk", retries=1)
    async def talk(job: Job, fails: bool) -> None:
        for number in range(3):
            job.log(f"line {number}")
        job.progress(0.5)
        if fails:
            raise ConnectionError("and then it broke")

    await _open(app)
    for fails in (False, True):
        job = await app.enqueue("talk", {"fails": fails}, keep="1h")
        await app.run_until_idle()
        assert [line.text for line in await app.job_log(job.job_key)] == ["line 0", "line 1", "line 2"]
        assert (await app.job_record(job.job_key)).progress == 0.5
