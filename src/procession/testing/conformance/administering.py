"""What operators see and do."""
# ruff: noqa: D102 - a test is named as a sentence

from __future__ import annotations

from typing import Any

import pytest

from procession import limits
from procession.errors import Conflict, InvalidValue, NotFound
from procession.ids import Keys
from procession.jobs.kinds import JobKind, JobState
from procession.jobs.options import After
from procession.store.rows import JobEnd, JobOutcome
from procession.store.rows.queue import Deletion, JobChange, NewJobBatch, PauseKind
from procession.store.rows.queue_reading import QueueFilter, StatRow
from procession.testing.conformance.queue_stage import (
    QueueStore,
    details,
    end,
    is_clean,
    job_with,
    mutex,
    run_all,
    state_of,
    take,
)
from procession.testing.conformance.stage import ManualClock, apply, new_job, service_job, start_step

MINUTE = 60_000


class TestLook:
    """One job, and pages of them."""

    async def test_a_filter_lets_through_what_it_means(self, store: QueueStore, keys: Keys) -> None:
        await store.open_job_batch(NewJobBatch(key=keys.take()))
        batch = keys.take()
        await store.open_job_batch(NewJobBatch(key=batch))
        jobs = [
            job_with(keys, tags=["red"], title="Send the Invoice"),
            job_with(keys, queue="other", args=b'{"to":"BOB_1"}'),
            job_with(keys, type="print", tenant="acme", tags=["red", "blue"]),
            job_with(keys, batch=batch, delay_ms=5),
            job_with(keys, limits=mutex()),
        ]
        await store.submit(jobs)
        (run,) = await take(store, 3, queue="other")
        filters: list[tuple[dict[str, Any], list[int]]] = [
            ({}, [0, 1, 2, 3, 4]),
            ({"queue": "other"}, [1]),
            ({"type": "print"}, [2]),
            ({"tag": "red"}, [0, 2]),
            ({"tag": "re"}, []),
            ({"batch": batch}, [3]),
            ({"owner": 3}, [1]),
            ({"tenant": "acme"}, [2]),
            ({"state": JobState.SCHEDULED}, [3]),
            ({"state": JobState.RUNNING}, [1]),
            ({"state": JobState.RUNNING, "owner": 3}, [1]),
            ({"state": JobState.RUNNING, "owner": 4}, []),
            ({"state": JobState.READY, "queue": "mail"}, [0, 2]),
            ({"state": JobState.THROTTLED}, [4]),
            ({"text": "invoice"}, [0]),
            ({"text": "bob_1"}, [1]),
            ({"text": "bob%1"}, []),
            ({"text": "PRINT"}, [2]),
            ({"kinds": [int(JobKind.SERVICE)]}, []),
            ({"kinds": [int(JobKind.TASK)], "tag": "blue"}, [2]),
            ({"state": JobState.SUCCEEDED}, []),
        ]
        for which, expected in filters:
            found = await store.jobs(QueueFilter(**which))
            assert [job.key for job in found] == [jobs[n].key for n in expected], which
        await end(store, run, JobEnd.CANCELED, error="gone")
        found = await store.jobs(QueueFilter(state=JobState.DELETED, text="gone"))
        assert [job.key for job in found] == [jobs[1].key]

    async def test_pages_follow_each_other(self, store: QueueStore, keys: Keys) -> None:
        jobs = [job_with(keys, title="x") for _ in range(5)]
        await store.submit(jobs)
        seen: list[int] = []
        page = QueueFilter(limit=2)
        while found := await store.jobs(page):
            seen += [job.key for job in found]
            page.after = found[-1].key
        assert seen == [job.key for job in jobs]

    async def test_a_listing_goes_either_way_and_says_where_it_goes_on(self, store: QueueStore, keys: Keys) -> None:
        jobs = [job_with(keys, title="x") for _ in range(5)] + [job_with(keys, delay_ms=5)]
        await store.submit(jobs)
        newest = [job.key for job in reversed(jobs)]
        seen: list[int] = []
        for state, expected in ((-1, newest), (JobState.READY, newest[1:])):
            seen.clear()
            page = QueueFilter(state=state, newest=True, limit=2)
            for _ in range(9):
                found = await store.find_jobs(page)
                seen += [job.key for job in found.jobs]
                page.after = found.after
                if not found.after:
                    break
            assert seen == expected
        assert await store.count_meant(QueueFilter(), 10) == (6, False)
        assert await store.count_meant(QueueFilter(state=JobState.READY), 3) == (3, True)
        assert await store.count_meant(QueueFilter(text="nowhere"), 3) == (0, False)
        some = QueueFilter(keys=[jobs[5].key, jobs[1].key, 1])
        assert [job.key for job in await store.jobs(some)] == [jobs[1].key, jobs[5].key]
        assert [job.key for job in await store.jobs_of([jobs[3].key, 1])] == [jobs[3].key]

    async def test_a_page_looks_at_so_many_rows_and_no_more(
        self, store: QueueStore, keys: Keys, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(limits, "LOOKED_AT_MAX", 3)
        monkeypatch.setattr(limits, "CANDIDATES_MAX", 2)
        jobs = [job_with(keys, tags=["red"] if number in (1, 7) else ["blue"]) for number in range(8)]
        await store.submit(jobs)
        first = await store.find_jobs(QueueFilter(tag="red"))
        assert ([job.key for job in first.jobs], first.after) == ([jobs[1].key], jobs[2].key)
        assert (await store.find_jobs(QueueFilter(tag="red", after=jobs[2].key))).jobs == []
        assert [job.key for job in await store.jobs(QueueFilter(tag="red"))] == [jobs[1].key, jobs[7].key]
        ready = QueueFilter(state=JobState.READY, tag="red", newest=True)
        assert [job.key for job in await store.jobs(ready)] == [jobs[7].key, jobs[1].key]
        assert await store.count_meant(QueueFilter(tag="red"), 9) == (1, True)

    async def test_jobs_know_what_they_come_after_and_who_comes_after_them(self, store: QueueStore, keys: Keys) -> None:
        first = job_with(keys, title="first")
        second = job_with(keys, after=[After(first.key)])
        third = job_with(keys, after=[After(first.key), After(second.key, either=True)])
        await store.submit([first, second, third])
        found = await store.job_links([second.key])
        assert [(link.child, link.parent, link.either) for link in found] == [
            (second.key, first.key, False),
            (third.key, second.key, True),
        ]

    async def test_queues_are_counted_and_say_since_when_somebody_waits(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        await store.submit([job_with(keys, title="x"), job_with(keys, delay_ms=5), job_with(keys, queue="b")])
        await store.submit([job_with(keys, queue="c", limits=mutex())])
        await store.pause(PauseKind.QUEUE, "d", reason="moving")
        start = clock()
        clock.advance(1_000)
        await store.submit([job_with(keys, title="y")])
        await take(store, 1, queue="b")
        found = {each.queue: each for each in await store.queue_stats()}
        assert list(found) == ["b", "c", "d", "mail"]
        assert found["mail"].counts == {JobState.READY: 2, JobState.SCHEDULED: 1}
        assert [found[name].oldest_at for name in found] == [0, start, 0, start]
        assert [found[name].paused for name in found] == [False, False, True, False]

    async def test_counts_end_at_a_bound_and_say_so(
        self, store: QueueStore, keys: Keys, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(limits, "COUNTED_MAX", 2)
        await store.submit([job_with(keys, title="x") for _ in range(3)] + [job_with(keys, delay_ms=5)])
        await store.submit([job_with(keys, queue="b", priority=n, title="y") for n in (1, 9)])
        found = {each.queue: each for each in await store.queue_stats()}
        assert found["mail"].counts == {JobState.READY: 2, JobState.SCHEDULED: 1}
        assert [found[name].beyond for name in ("mail", "b")] == [[JobState.READY], []]

    async def test_counts_per_minute_add_up(self, store: QueueStore, clock: ManualClock) -> None:
        minute = clock() // MINUTE * MINUTE
        first = StatRow(minute=minute, queue="mail", type="send", enqueued=5, succeeded=3, run_ms=40)
        await store.add_stats([first, StatRow(minute=minute + MINUTE, queue="a", failed=1)])
        await store.add_stats([StatRow(minute=minute, queue="mail", type="send", succeeded=1, retried=2)])
        rows = await store.stats(since=minute, until=minute + 2 * MINUTE)
        assert rows[0] == StatRow(
            minute=minute, queue="mail", type="send", enqueued=5, succeeded=4, retried=2, run_ms=40
        )
        assert rows[1:] == [StatRow(minute=minute + MINUTE, queue="a", failed=1)]
        assert await store.stats(since=minute, until=minute + MINUTE, queue="a") == []
        with pytest.raises(InvalidValue, match="minute"):
            await store.add_stats([StatRow(minute=minute + 1, queue="a")])
        clock.advance(limits.STAT_KEPT_MS + MINUTE)
        await store.expire_archive(100)
        assert await store.stats(since=minute, until=minute + MINUTE) == []


class TestKeep:
    """What has succeeded is kept where its end asks for that."""

    async def test_a_job_is_archived_as_long_as_its_end_or_its_options_ask(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        plain, kept = new_job(keys), job_with(keys, keep_ms=60_000)
        await store.enqueue([plain, new_job(keys)])
        await store.submit([kept])
        runs = {run.key: run for run in await take(store, 9)}
        outcomes = [JobOutcome(key=run.key, lease=run.lease, end=JobEnd.DONE) for run in runs.values()]
        for outcome in outcomes:
            outcome.keep_ms = 5_000 if outcome.key in (plain.key, kept.key) else 0
        assert await store.finish(outcomes) == [True] * 3
        assert await store.finish(outcomes) == [False] * 3
        found = await store.jobs(QueueFilter(state=JobState.SUCCEEDED))
        assert [job.key for job in found] == sorted([plain.key, kept.key])
        clock.advance(5_000)
        await store.expire_archive(10)
        assert [job.key for job in await store.jobs(QueueFilter(state=JobState.SUCCEEDED))] == [kept.key]
        await is_clean(store)


class TestOperate:
    """Delete, requeue, change, pause."""

    async def test_what_waits_is_changed_where_it_waits(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        ready, late = job_with(keys, title="x"), job_with(keys, delay_ms=9_000)
        child = job_with(keys, after=[After(ready.key)])
        ageing = job_with(keys, ageing_ms=5)
        await store.submit([ready, late, child, ageing])
        changed = await store.change_jobs([ready.key, late.key, child.key, ageing.key, 1], JobChange(priority=7))
        assert changed == [ready.key, late.key, child.key]
        assert await store.change_jobs([late.key], JobChange(delay_ms=0, retries=9)) == [late.key]
        seen = await details(store, late.key)
        assert (seen.state, seen.priority, seen.retries) == (JobState.READY, 7, 9)
        assert await store.change_jobs([ready.key, child.key], JobChange(run_at=clock() + 60_000)) == [
            ready.key,
            child.key,
        ]
        assert await state_of(store, ready.key) == JobState.SCHEDULED
        assert await state_of(store, child.key) == JobState.AWAITING
        run, _ = await take(store, 1)
        assert run.key == late.key
        assert await store.change_jobs([late.key], JobChange(priority=1)) == []
        some = await store.change_where(QueueFilter(queue="mail", limit=9), JobChange(priority=-1))
        assert (some.done, some.after) == (2, 0)
        await is_clean(store)

    async def test_a_limited_job_that_is_due_later_leaves_its_place_to_others(
        self, store: QueueStore, keys: Keys
    ) -> None:
        jobs = [job_with(keys, limits=mutex()) for _ in range(3)]
        await store.submit(jobs)
        (run,) = await take(store, 5)
        await store.change_jobs([jobs[1].key], JobChange(delay_ms=60_000))
        await end(store, run, JobEnd.DONE)
        (run,) = await take(store, 5)
        assert run.key == jobs[2].key
        await end(store, run, JobEnd.DONE)
        await is_clean(store)

    async def test_a_rule_that_a_person_has_set_outlives_its_jobs(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        await store.submit([job_with(keys, limits=mutex())])
        (limit,) = await store.limits()
        await store.set_limit(limit.key, most=4, rate=0, per_ms=1_000, burst=0)
        await store.expire_archive(10)
        assert [(each.key, each.most) for each in await store.limits()] == [(limit.key, 4)]
        await run_all(store, 1)
        clock.advance(25 * 3_600_000)
        await store.expire_archive(10)
        assert await store.limits() == []

    async def test_a_limit_is_dropped_when_it_holds_nobody(self, store: QueueStore, keys: Keys) -> None:
        await store.submit([job_with(keys, limits=mutex())])
        (limit,) = await store.limits()
        with pytest.raises(Conflict, match="1 wait"):
            await store.drop_limit(limit.key)
        (run,) = await take(store, 1)
        with pytest.raises(Conflict, match="1 jobs run"):
            await store.drop_limit(limit.key)
        await end(store, run, JobEnd.DONE)
        await store.drop_limit(limit.key)
        assert await store.limits() == []
        with pytest.raises(NotFound):
            await store.drop_limit(limit.key)

    async def test_what_does_not_run_is_deleted_with_the_reason(self, store: QueueStore, keys: Keys) -> None:
        jobs = [new_job(keys), job_with(keys, delay_ms=5), job_with(keys, limits=mutex())]
        await store.enqueue(jobs[:1])
        await store.submit(jobs[1:])
        answers = await store.delete_jobs([*(job.key for job in jobs), 1], "by hand")
        assert answers == [Deletion.DELETED] * 3 + [Deletion.NOT_FOUND]
        assert await store.count_jobs() == {}
        for job in jobs:
            found = await details(store, job)
            assert (found.state, found.error) == (JobState.DELETED, "by hand")

    async def test_jobs_of_instances_are_left_alone(self, store: QueueStore, keys: Keys) -> None:
        step = start_step(keys)
        step.new_jobs = [service_job(keys, step)]
        await apply(store, keys, step)
        key = step.new_jobs[0].key
        assert await store.delete_jobs([key], "by hand") == [Deletion.NOT_FOUND]
        assert await store.requeue_jobs([key]) == []
        assert (await details(store, key)).state == JobState.READY

    async def test_a_failed_job_starts_over(self, store: QueueStore, keys: Keys, clock: ManualClock) -> None:
        jobs = [new_job(keys, retries=2), job_with(keys, retries=2, keep_ms=1_000)]
        await store.enqueue(jobs[:1])
        await store.submit(jobs[1:])
        for _ in range(2):
            for run in await take(store, 1):
                last = run.retries == 1
                await end(store, run, JobEnd.FAILED if last else JobEnd.RETRY, error="no")
        clock.advance(7)
        for job in jobs:
            assert (await details(store, job)).state == JobState.FAILED
        assert await store.requeue_jobs([job.key for job in jobs]) == [job.key for job in jobs]
        for job in jobs:
            found = await details(store, job)
            assert (found.state, found.attempt, found.retries, found.run_at) == (JobState.READY, 0, 2, clock())
            assert (found.ended_at, found.lease) == (0, 2)
        (run, _) = await take(store, 1)
        assert (run.lease, run.attempt) == (3, 1)

    async def test_a_scheduled_job_goes_now(self, store: QueueStore, keys: Keys) -> None:
        jobs = [job_with(keys, delay_ms=500), job_with(keys, delay_ms=500, limits=mutex())]
        await store.submit(jobs)
        assert await store.requeue_jobs([job.key for job in jobs]) == [job.key for job in jobs]
        assert sorted(await run_all(store, 1)) == [job.key for job in jobs]

    async def test_a_filter_is_worked_through_page_by_page(self, store: QueueStore, keys: Keys) -> None:
        jobs = [job_with(keys, tags=["old"] if n % 2 else []) for n in range(11)]
        await store.submit(jobs)
        done, after, pages = 0, 0, 0
        while pages == 0 or after:
            result = await store.delete_where(QueueFilter(tag="old", limit=2, after=after), "cleaned")
            done, after, pages = done + result.done, result.after, pages + 1
        assert (done, pages) == (5, 3)
        assert len(await run_all(store, 1)) == 6
        failed = [new_job(keys) for _ in range(3)]
        await store.enqueue(failed)
        for run in await take(store, 1):
            await end(store, run, JobEnd.FAILED)
        result = await store.requeue_where(QueueFilter(state=JobState.FAILED, queue="mail"), retries=9)
        assert (result.done, result.after) == (3, 0)
        assert {run.retries for run in await take(store, 1)} == {9}

    async def test_nobody_claims_from_what_is_paused(self, store: QueueStore, keys: Keys, clock: ManualClock) -> None:
        jobs = [job_with(keys, queue=queue, type=type_) for queue in ("a", "b") for type_ in ("x", "y")]
        limited = [job_with(keys, queue="a", limits=mutex()), job_with(keys, queue="b", type="x", limits=mutex("k"))]
        await store.submit([*jobs, *limited])
        assert await store.pause(PauseKind.QUEUE, "a", reason="moving")
        assert not await store.pause(PauseKind.QUEUE, "a")
        assert await store.pause(PauseKind.TYPE, "x")
        found = await store.pauses()
        assert [(each.kind, each.name, each.since, each.reason) for each in found] == [
            (PauseKind.QUEUE, "a", clock(), "moving"),
            (PauseKind.TYPE, "x", clock(), ""),
        ]
        assert await take(store, 1, queue="a") == []
        assert [run.key for run in await take(store, 1, queue="b")] == [jobs[3].key]
        assert await store.resume(PauseKind.TYPE, "x")
        assert not await store.resume(PauseKind.TYPE, "x")
        assert {run.key for run in await take(store, 1, queue="b")} == {jobs[2].key, limited[1].key}
        await store.resume(PauseKind.QUEUE, "a")
        assert len(await take(store, 1, queue="a")) == 3
        assert await state_of(store, jobs[0]) == JobState.RUNNING
        assert await is_clean(store)
