"""Messages and signals: no message is lost between a publisher and a subscriber, and none arrives twice."""
# ruff: noqa: D102 - a test is named as a sentence

from __future__ import annotations

import asyncio

from procession.ids import Keys
from procession.jobs.kinds import FOLLOW_UP_QUEUE, JobKind, JobState
from procession.store.port import Store
from procession.store.rows import ClaimedJob, StepOutcome
from procession.testing.conformance.stage import (
    SIGNAL,
    ManualClock,
    apply,
    claim,
    definition,
    deploy,
    fence,
    jobs_of,
    message,
    new_job,
    next_step,
    read,
    start_step,
    the_job,
    waiting_for,
)


class TestPublish:
    """Correlate or buffer."""

    async def test_a_waiting_instance_gets_a_follow_up(self, store: Store, keys: Keys, clock: ManualClock) -> None:
        step = start_step(keys, tenant="acme")
        waiting = waiting_for(keys, step)
        step.new_subscriptions = [waiting]
        await apply(store, keys, step)
        new = message(keys, tenant="acme")
        (result,) = await store.publish([new], keys)
        assert (result.instances, result.buffered, result.duplicate) == ([step.instance], False, False)
        assert result.woken == [FOLLOW_UP_QUEUE]
        (job,) = await jobs_of(store)
        assert (job.kind, job.queue, job.state) == (JobKind.FOLLOW_UP, FOLLOW_UP_QUEUE, JobState.READY)
        assert (job.instance, job.tenant) == (step.instance, "acme")
        assert read(job.args) == {
            "type": "Send",
            "instance": step.instance,
            "command": {
                "type": "Correlate",
                "subscription": waiting.key,
                "name": "paid",
                "variables": {"amount": 12.50},
                "message": new.key,
                "correlation_key": "A-17",
                "expires": clock() + 60_000,
            },
        }
        assert b"12.50" in job.args
        assert await store.list_messages() == []

    async def test_a_subscription_taken_once_takes_no_other_message(self, store: Store, keys: Keys) -> None:
        step = start_step(keys)
        step.new_subscriptions = [waiting_for(keys, step)]
        await apply(store, keys, step)
        results = await store.publish([message(keys), message(keys)], keys)
        assert [(result.instances, result.buffered) for result in results] == [([step.instance], False), ([], True)]
        assert await store.list_subscriptions() == []
        assert await store.find("subscription", step.new_subscriptions[0].key) == step.instance

    async def test_a_subscription_that_stays_takes_every_message(self, store: Store, keys: Keys) -> None:
        step = start_step(keys)
        step.new_subscriptions = [waiting_for(keys, step, once=False)]
        await apply(store, keys, step)
        results = await store.publish([message(keys) for _ in range(3)], keys)
        assert [result.instances for result in results] == [[step.instance]] * 3
        assert len(await jobs_of(store)) == 3
        assert len(await store.list_subscriptions()) == 1

    async def test_of_one_process_the_oldest_gets_it_and_another_process_gets_it_too(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        young = start_step(keys)
        oldest, other = start_step(keys), start_step(keys, process_id="invoice")
        for step in (oldest, other, young):
            step.new_subscriptions = [waiting_for(keys, step)]
            await apply(store, keys, step)
            clock.advance(1)
        (result,) = await store.publish([message(keys)], keys)
        assert result.instances == [oldest.instance, other.instance]
        (left,) = await store.list_subscriptions()
        assert left.instance == young.instance

    async def test_name_key_and_tenant_all_have_to_match(self, store: Store, keys: Keys) -> None:
        step = start_step(keys)
        step.new_subscriptions = [waiting_for(keys, step)]
        await apply(store, keys, step)
        others = [
            message(keys, name="shipped"),
            message(keys, correlation_key="A-18"),
            message(keys, tenant="acme"),
        ]
        results = await store.publish(others, keys)
        assert [(result.instances, result.buffered) for result in results] == [([], True)] * 3

    async def test_a_start_event_gets_what_no_running_instance_waits_for(self, store: Store, keys: Keys) -> None:
        (deployed,) = await deploy(store, keys, definition(keys, messages=["paid"]))
        (start,) = await store.list_subscriptions()
        new = message(keys)
        (result,) = await store.publish([new], keys)
        (job,) = await jobs_of(store)
        assert result.instances == [job.instance]
        assert (job.definition, job.kind, job.queue) == (deployed.key, JobKind.FOLLOW_UP, FOLLOW_UP_QUEUE)
        assert read(job.args) == {
            "type": "StartByEvent",
            "instance": job.instance,
            "definition": deployed.key,
            "start": "on-paid",
            "variables": {"amount": 12.50},
            "start_channel": "A-17",
            "message": new.key,
            "event": "paid",
            "subscription": start.key,
        }

    async def test_a_running_instance_goes_before_a_start_event_of_the_same_process(
        self, store: Store, keys: Keys
    ) -> None:
        await deploy(store, keys, definition(keys, messages=["paid"]))
        step = start_step(keys)
        step.new_subscriptions = [waiting_for(keys, step)]
        await apply(store, keys, step)
        (first,) = await store.publish([message(keys)], keys)
        assert first.instances == [step.instance]
        (second,) = await store.publish([message(keys)], keys)
        assert len(second.instances) == 1
        assert second.instances != [step.instance]

    async def test_one_message_starts_an_instance_of_every_process_that_wants_it(
        self, store: Store, keys: Keys
    ) -> None:
        for process_id in ("order", "invoice"):
            await deploy(store, keys, definition(keys, process_id, messages=["paid"]))
        (result,) = await store.publish([message(keys)], keys)
        started = [read(job.args) for job in await jobs_of(store)]
        assert len(started) == 2
        assert sorted(each["instance"] for each in started) == sorted(result.instances)

    async def test_without_a_correlation_key_every_message_starts_an_instance(self, store: Store, keys: Keys) -> None:
        await deploy(store, keys, definition(keys, messages=["paid"]))
        results = await store.publish([message(keys, correlation_key="") for _ in range(3)], keys)
        instances = [instance for result in results for instance in result.instances]
        assert len(instances) == 3 == len(set(instances))

    async def test_with_a_correlation_key_one_instance_runs_at_a_time(self, store: Store, keys: Keys) -> None:
        await deploy(store, keys, definition(keys, messages=["paid"]))
        same = [message(keys), message(keys)]
        results = await store.publish([*same, message(keys, correlation_key="B-1")], keys)
        assert [(len(result.instances), result.buffered) for result in results] == [(1, False), (0, True), (1, False)]

    async def test_a_message_for_one_process_that_is_held_goes_on_to_another(self, store: Store, keys: Keys) -> None:
        await deploy(store, keys, definition(keys, messages=["paid"]))
        (first,) = await store.publish([message(keys)], keys)
        step = start_step(keys, process_id="invoice")
        step.new_subscriptions = [waiting_for(keys, step)]
        await apply(store, keys, step)
        held = message(keys, variables=b'{"n":2}')
        (second,) = await store.publish([held], keys)
        assert (second.instances, second.buffered) == ([step.instance], True)
        late = start_step(keys, process_id="invoice")
        late.new_subscriptions = [waiting_for(keys, late)]
        await apply(store, keys, late)
        assert [job for job in await jobs_of(store) if job.instance == late.instance] == []
        holder = start_step(keys, instance=first.instances[0], start_channel="A-17")
        await apply(store, keys, holder)
        await apply(store, keys, next_step(holder, status=1, release_channel="A-17"))
        assert read((await jobs_of(store))[-1].args)["variables"] == {"n": 2}
        assert await store.list_messages() == []

    async def test_without_time_to_live_or_buffer_a_message_is_now_or_never(self, store: Store, keys: Keys) -> None:
        results = await store.publish([message(keys, ttl_ms=0), message(keys, buffer=False)], keys)
        assert [(result.instances, result.buffered) for result in results] == [([], False)] * 2
        assert await store.list_messages() == []

    async def test_a_message_id_counts_once_while_its_message_is_buffered(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        first = message(keys, message_id="m-1")
        others = [message(keys, message_id="m-2"), message(keys, message_id="m-1", correlation_key="B")]
        results = await store.publish([first, message(keys, message_id="m-1"), *others], keys)
        assert [(result.duplicate, result.buffered) for result in results] == [
            (False, True),
            (True, False),
            (False, True),
            (False, True),
        ]
        clock.advance(60_000)
        (again,) = await store.publish([message(keys, message_id="m-1")], keys)
        assert (again.duplicate, again.buffered) == (False, True)

    async def test_a_message_id_counts_once_within_its_time_to_live_even_after_a_match(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        steps = [start_step(keys), start_step(keys)]
        for step in steps:
            step.new_subscriptions = [waiting_for(keys, step)]
        await apply(store, keys, *steps)
        results = await store.publish([message(keys, message_id="m-1"), message(keys, message_id="m-1")], keys)
        assert [(len(result.instances), result.duplicate) for result in results] == [(1, False), (0, True)]
        assert await store.list_messages() == []
        clock.advance(60_000)
        (again,) = await store.publish([message(keys, message_id="m-1")], keys)
        assert (len(again.instances), again.duplicate) == (1, False)

    async def test_a_message_id_counts_once_per_tenant(self, store: Store, keys: Keys) -> None:
        tenants = ("", "acme", "", "acme")
        results = await store.publish([message(keys, message_id="m-1", tenant=each) for each in tenants], keys)
        assert [result.duplicate for result in results] == [False, False, True, True]

    async def test_a_message_id_of_a_dropped_message_may_come_again(self, store: Store, keys: Keys) -> None:
        dropped = [message(keys, message_id="m-1", buffer=False) for _ in range(2)]
        results = await store.publish(dropped, keys)
        assert [(result.duplicate, result.buffered) for result in results] == [(False, False)] * 2
        (again,) = await store.publish([message(keys, message_id="m-1")], keys)
        assert (again.duplicate, again.buffered) == (False, True)

    async def test_a_message_that_could_not_be_taken_is_offered_again_to_its_process_until_its_first_end(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        step = start_step(keys)
        step.new_subscriptions = [waiting_for(keys, step)]
        await apply(store, keys, step)
        new = message(keys)
        await store.publish([new], keys)
        expires = clock() + 60_000
        clock.advance(1_000)
        again = message(keys, key=new.key, ttl_ms=0, expires_at=expires, process_id="order")
        (result,) = await store.publish([again], keys)
        assert result.buffered
        (buffered,) = await store.list_messages()
        assert (buffered.key, buffered.expires_at) == (new.key, expires)
        stranger, other = start_step(keys, process_id="invoice"), start_step(keys)
        stranger.new_subscriptions = [waiting_for(keys, stranger)]
        other.new_subscriptions = [waiting_for(keys, other)]
        results = await store.commit([stranger, other], keys)
        assert [result.woken for result in results] == [[], [FOLLOW_UP_QUEUE]]
        assert await store.list_messages() == []

    async def test_expired_messages_are_deleted_a_bounded_number_at_a_time(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        await store.publish([message(keys, ttl_ms=10) for _ in range(5)] + [message(keys)], keys)
        assert await store.expire_messages(100) == 0
        clock.advance(10)
        assert len(await store.list_messages()) == 1
        assert await store.expire_messages(3) == 3
        assert await store.expire_messages(3) == 2
        assert await store.expire_messages(3) == 0
        assert len(await store.list_messages()) == 1

    async def test_buffered_messages_are_listed_oldest_first(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        second, first = message(keys, message_id="2"), message(keys, name="shipped", message_id="1")
        await store.publish([first], keys)
        clock.advance(1)
        await store.publish([second], keys)
        listed = await store.list_messages()
        assert [each.message_id for each in listed] == ["1", "2"]
        assert (listed[0].key, listed[0].name, listed[0].correlation_key) == (first.key, "shipped", "A-17")
        assert (listed[0].published_at, listed[0].expires_at) == (clock() - 1, clock() - 1 + 60_000)
        assert listed[0].variables == first.variables
        assert [each.message_id for each in await store.list_messages(name="paid")] == ["2"]
        assert [each.message_id for each in await store.list_messages(limit=1)] == ["1"]


class TestSubscribe:
    """A subscription that opens finds what was buffered before."""

    async def test_a_new_subscription_takes_the_oldest_buffered_message(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        for number in (1, 2):
            await store.publish([message(keys, variables=b'{"n":%d}' % number)], keys)
            clock.advance(1)
        step = start_step(keys)
        step.new_subscriptions = [waiting_for(keys, step)]
        (result,) = await store.commit([step], keys)
        assert (result.outcome, result.woken) == (StepOutcome.APPLIED, [FOLLOW_UP_QUEUE])
        (job,) = await jobs_of(store)
        command = read(job.args)["command"]
        assert (command["subscription"], command["variables"]) == (step.new_subscriptions[0].key, {"n": 1})
        assert [read(each.variables) for each in await store.list_messages()] == [{"n": 2}]
        assert await store.list_subscriptions() == []

    async def test_a_new_subscription_that_stays_takes_all_of_them(self, store: Store, keys: Keys) -> None:
        await store.publish([message(keys) for _ in range(3)], keys)
        step = start_step(keys)
        step.new_subscriptions = [waiting_for(keys, step, once=False)]
        await apply(store, keys, step)
        assert len(await jobs_of(store)) == 3
        assert await store.list_messages() == []
        assert len(await store.list_subscriptions()) == 1

    async def test_an_expired_message_is_not_taken(self, store: Store, keys: Keys, clock: ManualClock) -> None:
        await store.publish([message(keys, ttl_ms=10)], keys)
        clock.advance(10)
        step = start_step(keys)
        step.new_subscriptions = [waiting_for(keys, step)]
        (result,) = await store.commit([step], keys)
        assert (result.woken, await jobs_of(store)) == ([], [])

    async def test_two_subscriptions_of_one_step_take_one_message_each(self, store: Store, keys: Keys) -> None:
        await store.publish([message(keys), message(keys)], keys)
        steps = [start_step(keys), start_step(keys), start_step(keys)]
        for step in steps:
            step.new_subscriptions = [waiting_for(keys, step)]
        results = await store.commit(steps, keys)
        assert [result.woken for result in results] == [[FOLLOW_UP_QUEUE], [FOLLOW_UP_QUEUE], []]
        assert [job.instance for job in await jobs_of(store)] == [step.instance for step in steps[:2]]

    async def test_a_step_that_is_not_applied_takes_no_message(self, store: Store, keys: Keys) -> None:
        await store.publish([message(keys)], keys)
        step = start_step(keys)
        await apply(store, keys, step)
        (result,) = await store.commit([next_step(step, rev=5, new_subscriptions=[waiting_for(keys, step)])], keys)
        assert (result.outcome, result.woken) == (StepOutcome.STALE, [])
        assert len(await store.list_messages()) == 1

    async def test_a_closed_subscription_takes_nothing(self, store: Store, keys: Keys) -> None:
        step = start_step(keys)
        waiting = waiting_for(keys, step)
        step.new_subscriptions = [waiting]
        await apply(store, keys, step)
        await apply(store, keys, next_step(step, closed_subscriptions=[waiting.key, keys.take()]))
        (result,) = await store.publish([message(keys)], keys)
        assert (result.instances, result.buffered) == ([], True)
        assert await store.find("subscription", waiting.key) == 0

    async def test_publishers_and_subscribers_at_once_miss_nothing(self, store: Store, keys: Keys) -> None:
        names = [f"n-{number}" for number in range(40)]
        steps = [start_step(keys) for _ in names]
        for step, name in zip(steps, names, strict=True):
            step.new_subscriptions = [waiting_for(keys, step, name)]
        both = [store.publish([message(keys, name)], keys) for name in names]
        await asyncio.gather(*both, *(store.commit([step], keys) for step in steps))
        assert sorted(job.instance for job in await jobs_of(store)) == sorted(step.instance for step in steps)
        assert await store.list_messages() == []

    async def test_a_message_reaches_one_of_many_rivals(self, store: Store, keys: Keys) -> None:
        steps = [start_step(keys) for _ in range(10)]
        for step in steps:
            step.new_subscriptions = [waiting_for(keys, step)]
        publishing = [store.publish([message(keys)], keys) for _ in range(4)]
        await asyncio.gather(*(store.commit([step], keys) for step in steps), *publishing)
        reached = [job.instance for job in await jobs_of(store)]
        assert len(reached) == 4 == len(set(reached))
        assert len(await store.list_subscriptions()) == 6


class TestSignals:
    """Everyone who waits, once, and nobody later."""

    async def test_every_waiting_subscription_and_every_start_event_gets_it(self, store: Store, keys: Keys) -> None:
        (deployed,) = await deploy(store, keys, definition(keys, signals=["alarm"]))
        steps = [start_step(keys), start_step(keys)]
        for step in steps:
            step.new_subscriptions = [waiting_for(keys, step, "alarm", trigger=SIGNAL, correlation_key="")]
        await apply(store, keys, *steps)
        reached = await store.broadcast("alarm", b'{"level":3}', keys)
        jobs = await jobs_of(store)
        assert sorted(reached) == sorted(job.instance for job in jobs)
        assert set(reached) > {step.instance for step in steps}
        commands = [read(job.args) for job in jobs]
        sent = sorted(each["command"]["subscription"] for each in commands if each["type"] == "Send")
        assert sent == sorted(step.new_subscriptions[0].key for step in steps)
        (start,) = [each for each in commands if each["type"] == "StartByEvent"]
        assert (start["definition"], start["start"]) == (deployed.key, "on-alarm")
        assert start["variables"] == {"level": 3}
        assert {job.queue for job in jobs} == {FOLLOW_UP_QUEUE}

    async def test_a_signal_takes_no_subscription_since_its_instance_may_pass_over_it(
        self, store: Store, keys: Keys
    ) -> None:
        once, stays = start_step(keys), start_step(keys)
        once.new_subscriptions = [waiting_for(keys, once, "alarm", trigger=SIGNAL)]
        stays.new_subscriptions = [waiting_for(keys, stays, "alarm", trigger=SIGNAL, once=False)]
        await apply(store, keys, once, stays)
        assert sorted(await store.broadcast("alarm", b"{}", keys)) == sorted([once.instance, stays.instance])
        assert sorted(await store.broadcast("alarm", b"{}", keys)) == sorted([once.instance, stays.instance])
        assert len(await store.list_subscriptions(name="alarm")) == 2

    async def test_a_signal_is_not_kept_for_later(self, store: Store, keys: Keys) -> None:
        assert await store.broadcast("alarm", b"{}", keys) == []
        step = start_step(keys)
        step.new_subscriptions = [waiting_for(keys, step, "alarm", trigger=SIGNAL)]
        await apply(store, keys, step)
        assert await jobs_of(store) == []

    async def test_messages_and_signals_of_one_name_do_not_mix(self, store: Store, keys: Keys) -> None:
        step = start_step(keys)
        waiting = waiting_for(keys, step, "alarm")
        signal = waiting_for(keys, step, "alarm", trigger=SIGNAL)
        step.new_subscriptions = [waiting, signal]
        await apply(store, keys, step)
        assert await store.broadcast("alarm", b"{}", keys) == [step.instance]
        (result,) = await store.publish([message(keys, "alarm")], keys)
        assert result.instances == [step.instance]
        taken = [read(job.args)["command"]["subscription"] for job in await jobs_of(store)]
        assert sorted(taken) == sorted([signal.key, waiting.key])

    async def test_a_new_signal_subscription_takes_no_buffered_message(self, store: Store, keys: Keys) -> None:
        await store.publish([message(keys, "alarm")], keys)
        step = start_step(keys)
        step.new_subscriptions = [waiting_for(keys, step, "alarm", trigger=SIGNAL)]
        (result,) = await store.commit([step], keys)
        assert (result.woken, await jobs_of(store)) == ([], [])
        assert len(await store.list_messages()) == 1

    async def test_a_signal_stays_within_its_tenant(self, store: Store, keys: Keys) -> None:
        step = start_step(keys, tenant="acme")
        step.new_subscriptions = [waiting_for(keys, step, "alarm", trigger=SIGNAL)]
        await apply(store, keys, step)
        assert await store.broadcast("alarm", b"{}", keys) == []
        assert await store.broadcast("alarm", b"{}", keys, tenant="acme") == [step.instance]


class TestPublishingJobs:
    """A follow-up that publishes is closed in the same transaction, so that carrying it out twice publishes once."""

    async def test_a_message_closes_the_job_that_publishes_it(self, store: Store, keys: Keys) -> None:
        job = await _claimed(store, keys)
        (result,) = await store.publish([message(keys, closes=fence(job))], keys)
        assert (result.buffered, result.fenced) == (True, False)
        assert await the_job(store, job.key) is None

    async def test_a_job_that_was_closed_publishes_nothing_again(self, store: Store, keys: Keys) -> None:
        job = await _claimed(store, keys)
        other = message(keys, "other")
        await store.publish([message(keys, closes=fence(job))], keys)
        again, neighbour = await store.publish([message(keys, closes=fence(job)), other], keys)
        assert (again.fenced, again.buffered, again.instances, again.woken) == (True, False, [], [])
        assert (neighbour.fenced, neighbour.buffered) == (False, True)
        assert len(await store.list_messages()) == 2

    async def test_a_job_that_went_to_another_publishes_nothing(self, store: Store, keys: Keys) -> None:
        job = await _claimed(store, keys)
        late = fence(job)
        late.lease -= 1
        (result,) = await store.publish([message(keys, closes=late)], keys)
        assert result.fenced
        assert await store.list_messages() == []
        assert await store.broadcast("alarm", b"{}", keys, closes=late) == []
        assert await the_job(store, job.key) is not None

    async def test_a_duplicate_closes_its_job_all_the_same(self, store: Store, keys: Keys) -> None:
        job = await _claimed(store, keys)
        await store.publish([message(keys, message_id="m-1")], keys)
        (result,) = await store.publish([message(keys, message_id="m-1", closes=fence(job))], keys)
        assert (result.duplicate, result.fenced) == (True, False)
        assert await the_job(store, job.key) is None

    async def test_a_signal_closes_the_job_that_broadcasts_it(self, store: Store, keys: Keys) -> None:
        step = start_step(keys)
        step.new_subscriptions = [waiting_for(keys, step, "alarm", trigger=SIGNAL, correlation_key="", once=False)]
        await apply(store, keys, step)
        job = await _claimed(store, keys)
        assert await store.broadcast("alarm", b"{}", keys, closes=fence(job)) == [step.instance]
        assert await store.broadcast("alarm", b"{}", keys, closes=fence(job)) == []
        assert await the_job(store, job.key) is None


async def _claimed(store: Store, keys: Keys) -> ClaimedJob:
    """A job that is held."""
    await store.enqueue([new_job(keys)])
    (job,) = await claim(store, await store.register("publisher", b"{}"))
    return job
