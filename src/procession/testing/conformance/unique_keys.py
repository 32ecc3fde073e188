"""Options of jobs, and unique keys: who holds one, and what becomes of those who come later."""
# ruff: noqa: D102 - a test is named as a sentence

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from procession import limits
from procession.errors import InvalidValue
from procession.ids import Keys
from procession.jobs.kinds import JobState
from procession.jobs.options import JobOptions, Limit, Unique, UniqueMode
from procession.store.rows import JobEnd, JobFence
from procession.store.rows.queue import Submission
from procession.testing.conformance.queue_stage import (
    QueueStore,
    details,
    end,
    is_clean,
    job_with,
    run_all,
    state_of,
    submit_one,
    take,
)
from procession.testing.conformance.stage import ManualClock, new_job, read

BAD_OPTIONS: dict[str, dict[str, Any]] = {
    "too many tags": {"tags": [str(n) for n in range(limits.TAGS_MAX + 1)]},
    "a long tag": {"tags": ["t" * (limits.KEY_TEXT_BYTES_MAX + 1)]},
    "an empty tag": {"tags": [""]},
    "too many keys of metadata": {"metadata": {str(n): "" for n in range(limits.METADATA_KEYS_MAX + 1)}},
    "too much metadata": {"metadata": {"a": "x" * limits.METADATA_BYTES_MAX}},
    "a long unique key": {"unique": Unique("u" * (limits.KEY_TEXT_BYTES_MAX + 1))},
    "an empty unique key": {"unique": Unique("")},
    "a NUL in the title": {"title": "a\0b"},
    "a limit without a rule": {"limits": [Limit("api")]},
    "the same limit twice": {"limits": [Limit("api", most=1), Limit("api", most=2)]},
    "a negative rate": {"limits": [Limit("api", rate=-1)]},
    "half of a surrogate pair": {"metadata": {"a": "\ud800"}},
    "a negative timeout": {"timeout_ms": -1},
}


class TestSubmit:
    """Jobs with options."""

    async def test_a_job_keeps_all_that_it_was_given(self, store: QueueStore, keys: Keys, clock: ManualClock) -> None:
        job = job_with(
            keys,
            args=b'{"n":[1.50,"\xc3\xa9"]}',
            priority=3,
            retries=5,
            tenant="acme",
            title="Send",
            tags=["red", "blue"],
            metadata={"trace": "00-ab"},
            timeout_ms=5_000,
            deadline_ms=60_000,
            backoff="constant",
            keep_ms=1_000,
            output=True,
        )
        answer = await submit_one(store, job)
        assert (answer.key, answer.outcome, answer.state) == (job.key, Submission.INSERTED, JobState.READY)
        found = await details(store, job)
        assert (found.queue, found.type, found.priority, found.retries) == ("mail", "send", 3, 5)
        assert (found.tenant, found.created_at, found.run_at, found.attempt) == ("acme", clock(), clock(), 0)
        assert read(found.args) == {"n": [1.5, "é"]}
        assert found.options is not None
        assert found.options.deadline_at == clock() + 60_000
        found.options.deadline_at = 0
        assert found.options == job.options
        (claimed,) = await take(store, 1)
        given = read(claimed.options)
        assert (given["title"], given["tags"], given["timeout_ms"]) == ("Send", ["red", "blue"], 5_000)
        assert (claimed.args, claimed.lease, claimed.attempt) == (found.args, 1, 1)

    async def test_a_delayed_job_waits_for_its_time(self, store: QueueStore, keys: Keys, clock: ManualClock) -> None:
        job, later = job_with(keys, delay_ms=100, title="x"), job_with(keys, run_at=clock() + 200, title="y")
        answers = await store.submit([job, later])
        assert [answer.state for answer in answers] == [JobState.SCHEDULED] * 2
        clock.advance(100)
        assert await store.promote(10) == (["mail"], clock() + 100)
        assert await run_all(store, 1) == [job.key]

    async def test_a_plain_job_costs_no_options(self, store: QueueStore, keys: Keys) -> None:
        job = new_job(keys)
        await store.submit([job])
        assert (await details(store, job)).options is None
        assert await run_all(store, 1) == [job.key]
        assert await state_of(store, job) is None

    async def test_the_same_call_again_changes_nothing(self, store: QueueStore, keys: Keys) -> None:
        jobs = [job_with(keys, unique=Unique("u")), job_with(keys, keep_ms=1_000), job_with(keys, batch=0)]
        first = await store.submit(jobs)
        assert await store.submit(jobs) == first
        (claimed, *_) = await take(store, 1)
        await end(store, claimed)
        again = await store.submit(jobs[1:])
        assert [answer.key for answer in again] == [job.key for job in jobs[1:]]

    @pytest.mark.parametrize("options", BAD_OPTIONS.values(), ids=BAD_OPTIONS.keys())
    async def test_options_over_a_limit_are_refused_with_its_name(
        self, store: QueueStore, keys: Keys, options: dict[str, Any]
    ) -> None:
        good = job_with(keys, title="fine")
        with pytest.raises(InvalidValue, match="Expected"):
            await store.submit([good, job_with(keys, **options)])
        assert await store.job(good.key) is None

    async def test_enqueue_is_for_plain_jobs(self, store: QueueStore, keys: Keys) -> None:
        with pytest.raises(InvalidValue, match="submit"):
            await store.enqueue([new_job(keys), job_with(keys, title="x")])
        assert await store.count_jobs() == {}

    async def test_a_job_may_belong_to_the_process_that_inserts_it(self, store: QueueStore, keys: Keys) -> None:
        node = await store.register("worker", b"{}")
        mine = job_with(keys, owner=node, title="x")
        later = job_with(keys, owner=node, delay_ms=5)
        answers = await store.submit([mine, later])
        assert [answer.state for answer in answers] == [JobState.RUNNING, JobState.SCHEDULED]
        found = await details(store, mine)
        assert (found.owner, found.lease, found.attempt) == (node, 1, 1)

    async def test_the_job_that_asked_for_it_is_closed_with_it(self, store: QueueStore, keys: Keys) -> None:
        """A follow-up that is carried out twice submits once."""
        await store.enqueue([new_job(keys, queue="asks")])
        (asks,) = await take(store, 1, queue="asks")
        job = job_with(keys, title="x")
        closes = JobFence(key=asks.key, lease=asks.lease)
        assert len(await store.submit([job], closes=closes)) == 1
        other = job_with(keys, title="y")
        assert await store.submit([other], closes=closes) == []
        assert await state_of(store, other) is None
        assert await state_of(store, asks.key) is None


def _once(keys: Keys, key: str = "mail:A-17", **more: Any) -> Any:  # noqa: ANN401 - a job
    fields: dict[str, Any] = {name: more.pop(name) for name in list(more) if name in Unique.__struct_fields__}
    return job_with(keys, unique=Unique(key, **fields), **more)


class TestUnique:
    """One holder per tenant and key."""

    async def test_a_duplicate_is_told_the_holders_key(self, store: QueueStore, keys: Keys) -> None:
        first, second, other = _once(keys), _once(keys), _once(keys, tenant="acme")
        assert (await submit_one(store, first)).outcome == Submission.INSERTED
        answer = await submit_one(store, second)
        assert (answer.key, answer.outcome, answer.state) == (first.key, Submission.DUPLICATE, JobState.READY)
        assert (await submit_one(store, other)).outcome == Submission.INSERTED
        assert await state_of(store, second) is None

    async def test_of_one_call_the_later_meets_the_first(self, store: QueueStore, keys: Keys) -> None:
        jobs = [_once(keys), job_with(keys, title="x"), _once(keys), _once(keys, key="other")]
        answers = await store.submit(jobs)
        assert [answer.key for answer in answers] == [jobs[0].key, jobs[1].key, jobs[0].key, jobs[3].key]
        assert answers[2].outcome == Submission.DUPLICATE

    @pytest.mark.parametrize("how", [JobEnd.DONE, JobEnd.FAILED, JobEnd.CANCELED])
    async def test_the_key_is_free_when_the_job_is_final(self, store: QueueStore, keys: Keys, how: JobEnd) -> None:
        first = _once(keys)
        await store.submit([first])
        (run,) = await take(store, 1)
        assert (await submit_one(store, _once(keys))).outcome == Submission.DUPLICATE
        await end(store, run, how)
        assert (await submit_one(store, _once(keys))).outcome == Submission.INSERTED
        assert await is_clean(store)

    @pytest.mark.parametrize("how", [JobEnd.RETRY, JobEnd.SNOOZE, JobEnd.RELEASE])
    async def test_the_key_is_held_while_the_job_goes_on(self, store: QueueStore, keys: Keys, how: JobEnd) -> None:
        first = _once(keys)
        await store.submit([first])
        (run,) = await take(store, 1)
        await end(store, run, how)
        assert (await submit_one(store, _once(keys))).key == first.key

    async def test_for_a_time_whatever_becomes_of_the_job(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        first = _once(keys, for_ms=1_000)
        await store.submit([first])
        await run_all(store, 1)
        clock.advance(999)
        answer = await submit_one(store, _once(keys, for_ms=1_000))
        assert (answer.key, answer.outcome) == (first.key, Submission.DUPLICATE)
        clock.advance(1)
        second = _once(keys, for_ms=1_000)
        assert (await submit_one(store, second)).outcome == Submission.INSERTED
        clock.advance(1_000)
        assert (await submit_one(store, _once(keys))).outcome == Submission.INSERTED  # the second still waits
        assert await is_clean(store)

    async def test_replace_gives_a_holder_that_has_not_started_what_it_brings(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        first = _once(keys, args=b'{"n":1}', delay_ms=1_000, mode=UniqueMode.REPLACE)
        await store.submit([first])
        more: dict[str, Any] = {
            "title": "new",
            "priority": 4,
            "retries": 9,
            "type": "print",
            "mode": UniqueMode.REPLACE,
        }
        answer = await submit_one(store, _once(keys, args=b'{"n":2}', **more))
        assert (answer.key, answer.outcome, answer.state) == (first.key, Submission.REFRESHED, JobState.READY)
        found = await details(store, first)
        assert (read(found.args), found.priority, found.retries, found.type) == ({"n": 2}, 4, 9, "print")
        assert (found.run_at, found.state, found.created_at) == (clock(), JobState.READY, clock())
        assert found.options is not None
        assert found.options.title == "new"
        assert await run_all(store, 1) == [first.key]

    async def test_a_holder_that_is_replaced_into_another_queue_leaves_its_own(
        self, store: QueueStore, keys: Keys
    ) -> None:
        first = _once(keys, mode=UniqueMode.REPLACE)
        await store.submit([first])
        await store.submit([_once(keys, mode=UniqueMode.REPLACE, queue="other")])
        assert await take(store, 1) == []
        assert await run_all(store, 1, queue="other") == [first.key]

    @pytest.mark.parametrize("mode", [UniqueMode.REPLACE, UniqueMode.DEBOUNCE])
    async def test_where_the_holder_has_started_the_new_one_takes_the_key_over(
        self, store: QueueStore, keys: Keys, mode: UniqueMode
    ) -> None:
        await store.submit([_once(keys, mode=mode)])
        (run,) = await take(store, 1)
        second = _once(keys, mode=mode)
        assert (await submit_one(store, second)).outcome == Submission.INSERTED
        await end(store, run)
        assert (await submit_one(store, _once(keys))).key == second.key
        assert await is_clean(store)

    async def test_debounce_pushes_a_waiting_holder_back_up_to_a_longest_wait(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        more: dict[str, Any] = {"mode": UniqueMode.DEBOUNCE, "delay_ms": 100, "longest_ms": 250}
        first = _once(keys, args=b"1", **more)
        await store.submit([first])
        for n, due in ((2, 150), (3, 200), (4, 250), (5, 250)):
            clock.advance(50)
            answer = await submit_one(store, _once(keys, args=b"%d" % n, **more))
            assert (answer.key, answer.outcome) == (first.key, Submission.PUSHED_BACK)
            found = await details(store, first)
            assert found.run_at - found.created_at == due
            assert read(found.args) == n

    async def test_debounce_may_keep_the_first_arguments(self, store: QueueStore, keys: Keys) -> None:
        more: dict[str, Any] = {"mode": UniqueMode.DEBOUNCE, "delay_ms": 100, "keep_first": True}
        jobs = [_once(keys, args=b"%d" % n, **more) for n in range(3)]
        await store.submit(jobs[:2])
        await store.submit(jobs[2:])
        assert read((await details(store, jobs[0])).args) == 0

    async def test_many_at_once_are_one(self, store: QueueStore, keys: Keys) -> None:
        jobs = [_once(keys) for _ in range(16)]
        answers = await asyncio.gather(*(store.submit([job]) for job in jobs))
        inserted = [answer for (answer,) in answers if answer.outcome == Submission.INSERTED]
        assert len(inserted) == 1
        assert {answer.key for (answer,) in answers} == {inserted[0].key}

    async def test_a_failed_one_does_not_come_back_while_another_holds_its_key(
        self, store: QueueStore, keys: Keys
    ) -> None:
        first, second = _once(keys), _once(keys)
        await store.submit([first])
        (run,) = await take(store, 1)
        await end(store, run, JobEnd.FAILED)
        await store.submit([second])
        assert await store.requeue_jobs([first.key]) == []
        assert await run_all(store, 1) == [second.key]
        assert await store.requeue_jobs([first.key]) == [first.key]
        assert (await submit_one(store, _once(keys))).key == first.key
        assert await is_clean(store)

    async def test_keys_that_held_for_a_time_are_forgotten(
        self, store: QueueStore, keys: Keys, clock: ManualClock
    ) -> None:
        await store.submit([_once(keys, for_ms=1_000)])
        await run_all(store, 1)
        clock.advance(1_000)
        await store.expire_archive(100)
        assert (await submit_one(store, _once(keys))).outcome == Submission.INSERTED


class TestTurns:
    """Jobs that age, and jobs that take turns."""

    async def test_waiting_is_worth_priority(self, store: QueueStore, keys: Keys, clock: ManualClock) -> None:
        """One that waits for a minute overtakes one of the next priority."""
        old = job_with(keys, priority=0, ageing_ms=60_000)
        await store.submit([old])
        clock.advance(59_999)
        newer = job_with(keys, priority=1, ageing_ms=60_000)
        await store.submit([newer])
        clock.advance(2)
        newest = job_with(keys, priority=1, ageing_ms=60_000)
        await store.submit([newest])
        assert [(await details(store, job)).priority for job in (old, newer)] == [0, 1]
        assert await run_all(store, 1) == [newer.key, old.key, newest.key]

    async def test_a_delayed_one_ages_from_its_time(self, store: QueueStore, keys: Keys, clock: ManualClock) -> None:
        late = job_with(keys, priority=2, ageing_ms=1_000, delay_ms=500)
        await store.submit([late])
        clock.advance(500)
        await store.promote(10)
        early = job_with(keys, priority=1, ageing_ms=1_000)
        await store.submit([early])
        assert await run_all(store, 1) == [late.key, early.key]
        assert JobOptions(ageing_ms=1).priority == 0

    async def test_a_key_with_many_jobs_makes_another_wait_for_one(self, store: QueueStore, keys: Keys) -> None:
        many = [job_with(keys, fair_key="big") for _ in range(20)]
        await store.submit(many)
        ran: list[int] = []
        for job in await take(store, 1, count=5):
            ran.append(job.key)
            await end(store, job)
        small = [job_with(keys, fair_key="small") for _ in range(3)]
        await store.submit(small)
        order = await run_all(store, 1)
        places = [order.index(job.key) for job in small]
        assert places == [1, 3, 5]
        assert [key for key in order if key in {job.key for job in many}] == [job.key for job in many[5:]]

    async def test_turns_of_one_call_are_the_same_as_of_many(self, store: QueueStore, keys: Keys) -> None:
        jobs = [job_with(keys, fair_key=key) for key in ("a", "a", "a", "b", "b", "c")]
        await store.submit(jobs)
        order = await run_all(store, 1)
        assert [jobs[n].key for n in (0, 3, 5, 1, 4, 2)] == order
