"""Who comes first: by priority, instant and name, and within one instant by key, whatever arrived first."""
# ruff: noqa: D102 - a test is named as a sentence

from __future__ import annotations

from procession.ids import Keys
from procession.jobs.kinds import FOLLOW_UP_QUEUE
from procession.store.port import Store
from procession.store.rows import ClaimedJob, JobEnd, JobOutcome, UserTaskFilter
from procession.testing.conformance.listing import incident_of, user_task_of
from procession.testing.conformance.stage import (
    SIGNAL,
    ManualClock,
    apply,
    claim,
    definition,
    deploy,
    instances_of,
    jobs_of,
    message,
    new_job,
    next_step,
    read,
    start_step,
    waiting_for,
)


class TestOrder:
    """Of what came at the same instant the lower key goes first."""

    async def test_jobs_of_one_priority_and_instant_are_claimed_by_key(self, store: Store, keys: Keys) -> None:
        jobs = [new_job(keys) for _ in range(6)]
        await store.enqueue(jobs[::-1])
        first = await claim(store, 1, count=2)
        rest = await claim(store, 1)
        assert [job.key for job in first + rest] == [job.key for job in jobs]

    async def test_jobs_that_became_due_are_claimed_by_when_they_were_due(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        late, early = new_job(keys, delay_ms=20), new_job(keys, delay_ms=10)
        urgent = new_job(keys, delay_ms=30, priority=1)
        await store.enqueue([late, urgent, early])
        clock.advance(30)
        await store.promote(10)
        assert [job.key for job in await claim(store, 1)] == [urgent.key, early.key, late.key]

    async def test_a_retried_job_goes_behind_those_that_waited_before(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        old, young = new_job(keys), new_job(keys)
        await store.enqueue([old, young])
        (run,) = await claim(store, 1, count=1)
        clock.advance(1)
        await store.finish([ended(run, JobEnd.RETRY)])
        assert [job.key for job in await claim(store, 1)] == [young.key, old.key]

    async def test_a_released_job_has_its_old_place(self, store: Store, keys: Keys, clock: ManualClock) -> None:
        old, young = new_job(keys), new_job(keys)
        await store.enqueue([old, young])
        (run,) = await claim(store, 1, count=1)
        clock.advance(1)
        await store.finish([ended(run, JobEnd.RELEASE)])
        assert [job.key for job in await claim(store, 1)] == [old.key, young.key]

    async def test_messages_of_one_instant_are_taken_and_listed_by_key(self, store: Store, keys: Keys) -> None:
        messages = [message(keys, variables=b'{"n":%d}' % n) for n in range(3)]
        await store.publish(messages[::-1], keys)
        assert [each.key for each in await store.list_messages()] == [each.key for each in messages]
        step = start_step(keys)
        step.new_subscriptions = [waiting_for(keys, step)]
        await apply(store, keys, step)
        (job,) = await jobs_of(store)
        assert read(job.args)["command"]["variables"] == {"n": 0}

    async def test_a_subscription_that_stays_takes_the_oldest_first(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        young, old = message(keys, variables=b'{"n":2}'), message(keys, variables=b'{"n":1}')
        await store.publish([old], keys)
        clock.advance(1)
        await store.publish([young], keys)
        step = start_step(keys)
        step.new_subscriptions = [waiting_for(keys, step, once=False)]
        await apply(store, keys, step)
        taken = [read(job.args)["command"]["variables"]["n"] for job in await claim(store, 1, FOLLOW_UP_QUEUE)]
        assert taken == [1, 2]

    async def test_subscriptions_of_one_instant_are_served_by_key(self, store: Store, keys: Keys) -> None:
        young, old = start_step(keys), start_step(keys)
        old.new_subscriptions = [waiting_for(keys, old)]
        young.new_subscriptions = [waiting_for(keys, young)]
        await apply(store, keys, young, old)
        results = await store.publish([message(keys), message(keys)], keys)
        assert [result.instances for result in results] == [[old.instance], [young.instance]]

    async def test_start_events_are_served_by_process_id_after_running_instances(
        self, store: Store, keys: Keys
    ) -> None:
        for process_id in ("b", "c", "a"):
            await deploy(store, keys, definition(keys, process_id, messages=["paid"]))
        step = start_step(keys, process_id="d")
        step.new_subscriptions = [waiting_for(keys, step)]
        await apply(store, keys, step)
        (result,) = await store.publish([message(keys)], keys)
        process_of = {each.definition: each.process_id for each in await store.list_subscriptions()}
        jobs = {job.instance: process_of.get(job.definition, "d") for job in await jobs_of(store)}
        assert [jobs[instance] for instance in result.instances] == ["d", "a", "b", "c"]

    async def test_subscriptions_are_listed_by_key_start_events_among_them(self, store: Store, keys: Keys) -> None:
        steps = [start_step(keys) for _ in range(3)]
        for step in steps:
            step.new_subscriptions = [waiting_for(keys, step)]
        await apply(store, keys, *steps[::-1])
        await deploy(store, keys, definition(keys, messages=["paid"], signals=["alarm"]))
        listed = [each.key for each in await store.list_subscriptions()]
        assert len(listed) == 5
        assert listed == sorted(listed)
        assert [each.key for each in await store.list_subscriptions(limit=2)] == listed[:2]
        assert [each.trigger for each in await store.list_subscriptions(name="alarm")] == [SIGNAL]

    async def test_the_instances_of_a_process_come_newest_first_in_pages(self, store: Store, keys: Keys) -> None:
        steps = [start_step(keys, status=n % 3) for n in range(6)]
        await apply(store, keys, *steps, start_step(keys, process_id="invoice"))
        newest_first = [step.instance for step in reversed(steps)]
        page = await instances_of(store, process_id="order", limit=4)
        assert [each.key for each in page] == newest_first[:4]
        rest = await instances_of(store, process_id="order", after=page[-1].key)
        assert [each.key for each in rest] == newest_first[4:]

    async def test_user_tasks_and_incidents_come_by_key_whatever_came_first(self, store: Store, keys: Keys) -> None:
        old, young = start_step(keys), start_step(keys)
        for step in (old, young):
            step.new_user_tasks, step.new_incidents = [user_task_of(keys, step)], [incident_of(keys, step)]
        await apply(store, keys, young)
        await apply(store, keys, old)
        assert [each.instance for each in await store.list_user_tasks(UserTaskFilter())] == [
            old.instance,
            young.instance,
        ]
        assert [each.instance for each in await store.list_incidents()] == [old.instance, young.instance]
        await apply(store, keys, next_step(old, closed_incidents=[old.new_incidents[0].key]))
        assert [each.instance for each in await store.list_incidents()] == [young.instance]


def ended(run: ClaimedJob, end: JobEnd) -> JobOutcome:
    """The outcome of a run."""
    return JobOutcome(key=run.key, lease=run.lease, end=end)
