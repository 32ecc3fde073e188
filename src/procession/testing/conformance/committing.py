"""Steps: all or nothing, at the revision they were decided on, under the leases of the jobs they close."""
# ruff: noqa: D102 - a test is named as a sentence

from __future__ import annotations

import asyncio

import pytest

from procession.ids import Keys
from procession.jobs.kinds import FOLLOW_UP_QUEUE, JobState
from procession.store.port import Store
from procession.store.rows import JobChange, JobFence, Shape, StepOutcome
from procession.testing.conformance.stage import (
    ManualClock,
    apply,
    claim,
    definition,
    deploy,
    fence,
    instances_of,
    jobs_of,
    message,
    new_job,
    next_step,
    read,
    service_job,
    start_step,
    the_instance,
    the_job,
    waiting_for,
)


class TestCommit:
    """What a step writes."""

    async def test_a_new_instance_has_all_that_its_first_step_says(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        step = start_step(
            keys, business_id="A-17", parent=3, parent_element_instance=4, tags=["vip", "eu"], tenant="acme"
        )
        await apply(store, keys, step)
        found = await the_instance(store, step.instance)
        assert (found.key, found.rev, found.definition, found.process_id) == (step.instance, 1, 7, "order")
        assert (found.status, found.state, read(found.variables)) == (0, step.state, {"orderId": "A-17"})
        assert (found.business_id, found.parent, found.parent_element_instance) == ("A-17", 3, 4)
        assert (found.tags, found.tenant, found.started_at, found.ended_at) == (["vip", "eu"], "acme", clock(), 0)

    async def test_a_following_step_replaces_the_state_and_leaves_what_did_not_change(
        self, store: Store, keys: Keys
    ) -> None:
        step = start_step(keys, business_id="A-17", tags=["vip"])
        await apply(store, keys, step)
        second = next_step(step, state=b"\x00\xff")
        await apply(store, keys, second)
        found = await the_instance(store, step.instance)
        assert (found.rev, found.state, read(found.variables)) == (2, b"\x00\xff", {"orderId": "A-17"})
        assert (found.business_id, found.tags) == ("A-17", ["vip"])
        await apply(store, keys, next_step(second, variables=b'{"paid":true}'))
        assert read((await the_instance(store, step.instance)).variables) == {"paid": True}

    async def test_an_instance_without_a_business_id_gets_one_with_a_later_step(self, store: Store, keys: Keys) -> None:
        step = start_step(keys)
        await apply(store, keys, step)
        second = next_step(step, business_id="A-17")
        await apply(store, keys, second)
        await apply(store, keys, next_step(second))
        found = await the_instance(store, step.instance)
        assert (found.rev, found.business_id) == (3, "A-17")

    async def test_an_instance_without_variables_has_an_empty_object(self, store: Store, keys: Keys) -> None:
        step = start_step(keys, variables=None)
        await apply(store, keys, step)
        assert read((await the_instance(store, step.instance)).variables) == {}

    @pytest.mark.parametrize("status", [1, 2])
    async def test_an_ended_instance_has_its_end(
        self, store: Store, keys: Keys, clock: ManualClock, status: int
    ) -> None:
        step = start_step(keys)
        await apply(store, keys, step)
        clock.advance(10)
        await apply(store, keys, next_step(step, status=status))
        found = await the_instance(store, step.instance)
        assert (found.status, found.started_at, found.ended_at) == (status, clock() - 10, clock())

    async def test_an_instance_that_starts_and_ends_in_one_step_has_both_instants(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        step = start_step(keys, status=1)
        await apply(store, keys, step)
        found = await the_instance(store, step.instance)
        assert (found.rev, found.status, found.started_at, found.ended_at) == (1, 1, clock(), clock())

    async def test_a_suspended_instance_has_not_ended(self, store: Store, keys: Keys) -> None:
        step = start_step(keys)
        await apply(store, keys, step)
        suspended = next_step(step, status=3)
        await apply(store, keys, suspended)
        found = await the_instance(store, step.instance)
        assert (found.status, found.ended_at) == (3, 0)
        await apply(store, keys, next_step(suspended, status=0))
        found = await the_instance(store, step.instance)
        assert (found.rev, found.status, found.ended_at) == (3, 0, 0)

    async def test_an_instance_may_move_to_another_version_of_its_process(self, store: Store, keys: Keys) -> None:
        step, stays = start_step(keys), start_step(keys)
        await apply(store, keys, step, stays)
        moved = next_step(step, definition=8)
        await apply(store, keys, moved, next_step(stays))
        found = await the_instance(store, step.instance)
        assert (found.rev, found.definition, found.process_id, found.status) == (2, 8, "order", 0)
        assert [each.key for each in await instances_of(store, definition=8)] == [step.instance]
        assert [row.definition for row in await store.history(step.instance)] == [7]
        await apply(store, keys, next_step(moved, status=1, events=b"[]"))
        assert await store.count_instances("order") == await store.count_instances() == {0: 1, 1: 1}
        assert [row.definition for row in await store.history(step.instance)] == [7, 8]

    async def test_jobs_are_opened_and_closed_with_the_step(self, store: Store, keys: Keys) -> None:
        step = start_step(keys)
        first = service_job(keys, step)
        step.new_jobs = [first]
        await apply(store, keys, step)
        (run,) = await claim(store, 1, "$job:charge")
        second = next_step(step, closed_jobs=[fence(run)])
        second.new_jobs = [service_job(keys, step, type="ship", queue="$job:ship")]
        assert second.shape() is Shape.STEP
        await apply(store, keys, second)
        (left,) = await jobs_of(store)
        assert (left.type, left.state, left.instance) == ("ship", JobState.READY, step.instance)

    async def test_a_job_inserted_with_an_owner_is_handed_over_without_a_claim(self, store: Store, keys: Keys) -> None:
        node = await store.register("worker", b"{}")
        step = start_step(keys)
        job = service_job(keys, step, owner=node)
        step.new_jobs = [job]
        await apply(store, keys, step)
        assert await claim(store, node, "$job:charge") == []
        await apply(store, keys, next_step(step, closed_jobs=[fence(job)], status=1))
        assert await jobs_of(store) == []

    async def test_a_due_time_makes_a_timer_wait(self, store: Store, keys: Keys, clock: ManualClock) -> None:
        step = start_step(keys)
        timer = service_job(keys, step, queue="$timer", run_at=clock() + 100)
        step.new_jobs = [timer]
        await apply(store, keys, step)
        assert await claim(store, 1, "$timer") == []
        assert await store.promote(10) == ([], clock() + 100)

    async def test_a_start_timer_that_fires_leaves_its_next_firing_which_belongs_to_no_instance(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        fired = new_job(keys, queue="$timer")
        await store.enqueue([fired])
        (held,) = await claim(store, 1, "$timer")
        upcoming = new_job(keys, queue="$timer", run_at=clock() + 10)
        refused = start_step(keys, closed_jobs=[JobFence(key=fired.key, lease=held.lease + 1)])
        refused.new_jobs = [new_job(keys, queue="$timer")]
        started = start_step(keys, closed_jobs=[fence(held)], new_jobs=[upcoming])
        results = await store.commit([refused, started], keys)
        assert [result.outcome for result in results] == [StepOutcome.FENCED, StepOutcome.APPLIED]
        (left,) = await jobs_of(store)
        assert (left.key, left.instance, left.state, left.run_at) == (upcoming.key, 0, JobState.SCHEDULED, clock() + 10)

    async def test_a_job_that_is_gone_already_does_not_matter_without_a_lease(self, store: Store, keys: Keys) -> None:
        step = start_step(keys)
        await apply(store, keys, step)
        await apply(store, keys, next_step(step, closed_jobs=[JobFence(key=keys.take())]))

    async def test_a_job_that_runs_elsewhere_is_closed_without_a_lease(self, store: Store, keys: Keys) -> None:
        step = start_step(keys)
        job = service_job(keys, step)
        step.new_jobs = [job]
        await apply(store, keys, step)
        await claim(store, 1, "$job:charge")
        await apply(store, keys, next_step(step, closed_jobs=[JobFence(key=job.key)]))
        assert await the_job(store, job.key) is None

    async def test_many_steps_of_all_shapes_in_one_call(self, store: Store, keys: Keys) -> None:
        starts = [start_step(keys) for _ in range(300)]
        for step in starts:
            step.new_jobs = [service_job(keys, step)]
        await apply(store, keys, *starts)
        following = [next_step(step, closed_jobs=[JobFence(key=step.new_jobs[0].key)]) for step in starts]
        for step in following[::3]:
            step.new_subscriptions = [waiting_for(keys, step)]
        await apply(store, keys, *following, *(start_step(keys) for _ in range(100)))
        found = await store.load([step.instance for step in starts])
        assert sorted((each.key, each.rev) for each in found) == [(step.instance, 2) for step in starts]
        assert await jobs_of(store) == []
        assert len(await store.list_subscriptions()) == 100

    async def test_no_steps_are_no_work(self, store: Store, keys: Keys) -> None:
        assert await store.commit([], keys) == []


class TestFences:
    """A step that was decided on something else writes nothing."""

    async def test_a_step_decided_on_another_revision_is_stale(self, store: Store, keys: Keys) -> None:
        step = start_step(keys)
        await apply(store, keys, step)
        second = next_step(step, state=b"second", events=b"[[2]]")
        await apply(store, keys, second)
        late = next_step(step, state=b"late", new_jobs=[service_job(keys, step)], events=b"[[3]]")
        (result,) = await store.commit([late], keys)
        assert result.outcome is StepOutcome.STALE
        assert (await the_instance(store, step.instance)).state == b"second"
        assert await jobs_of(store) == []
        assert [read(row.events) for row in await store.history(step.instance)] == [[["started", 1]], [[2]]]

    async def test_a_step_sent_again_after_an_unclear_commit_is_stale(self, store: Store, keys: Keys) -> None:
        step = start_step(keys)
        await apply(store, keys, step)
        (again,) = await store.commit([step], keys)
        assert again.outcome is StepOutcome.STALE
        assert (await the_instance(store, step.instance)).rev == 1

    async def test_a_step_of_an_unknown_instance_is_stale(self, store: Store, keys: Keys) -> None:
        results = await store.commit([start_step(keys, rev=4), start_step(keys, rev=0)], keys)
        assert [result.outcome for result in results] == [StepOutcome.STALE] * 2

    async def test_a_lost_lease_counts_before_a_value_that_cannot_be_kept(self, store: Store, keys: Keys) -> None:
        step = start_step(keys)
        job = service_job(keys, step)
        step.new_jobs = [job]
        await apply(store, keys, step)
        (held,) = await claim(store, 1, "$job:charge")
        wrong = service_job(keys, step, type="\ud800")
        lost = next_step(step, closed_jobs=[JobFence(key=job.key, lease=held.lease + 1)], new_jobs=[wrong])
        (result,) = await store.commit([lost], keys)
        assert result.outcome is StepOutcome.FENCED
        (result,) = await store.commit([next_step(step, closed_jobs=[fence(held)], new_jobs=[wrong])], keys)
        assert result.outcome is StepOutcome.REFUSED

    @pytest.mark.parametrize("lease", [2, 99])
    async def test_a_job_under_another_lease_fences_the_whole_step(self, store: Store, keys: Keys, lease: int) -> None:
        step = start_step(keys)
        job = service_job(keys, step)
        step.new_jobs = [job]
        await apply(store, keys, step)
        await claim(store, 1, "$job:charge")
        late = next_step(step, state=b"late", closed_jobs=[JobFence(key=job.key, lease=lease)])
        (result,) = await store.commit([late], keys)
        assert result.outcome is StepOutcome.FENCED
        assert (await the_instance(store, step.instance)).rev == 1
        assert await the_job(store, job.key) is not None

    async def test_a_job_that_is_not_running_fences(self, store: Store, keys: Keys) -> None:
        step = start_step(keys)
        job = service_job(keys, step)
        step.new_jobs = [job]
        await apply(store, keys, step)
        gone = next_step(step, closed_jobs=[JobFence(key=keys.take(), lease=1)])
        ready = next_step(step, closed_jobs=[JobFence(key=job.key, lease=1)])
        for late in (gone, ready):
            (result,) = await store.commit([late], keys)
            assert result.outcome is StepOutcome.FENCED

    async def test_a_step_that_is_stale_and_fenced_is_stale(self, store: Store, keys: Keys) -> None:
        step = start_step(keys)
        await apply(store, keys, step)
        await apply(store, keys, next_step(step))
        no_lease = JobFence(key=keys.take(), lease=1)
        (result,) = await store.commit([next_step(step, closed_jobs=[no_lease])], keys)
        assert result.outcome is StepOutcome.STALE

    async def test_a_changed_job_is_fenced_like_a_closed_one(self, store: Store, keys: Keys) -> None:
        step = start_step(keys)
        job = service_job(keys, step)
        step.new_jobs = [job]
        await apply(store, keys, step)
        (run,) = await claim(store, 1, "$job:charge")
        failed = JobChange(key=job.key, state=JobState.FAILED, lease=run.lease + 1, retries=0, error="no")
        (result,) = await store.commit([next_step(step, changed_jobs=[failed])], keys)
        assert result.outcome is StepOutcome.FENCED
        failed.lease = run.lease
        await apply(store, keys, next_step(step, changed_jobs=[failed]))
        stored = await the_job(store, job.key)
        assert stored is not None
        assert (stored.state, stored.owner, stored.retries, stored.error) == (JobState.FAILED, 0, 0, "no")

    async def test_a_revived_job_can_be_claimed_again(self, store: Store, keys: Keys) -> None:
        step = start_step(keys)
        job = service_job(keys, step)
        step.new_jobs = [job]
        await apply(store, keys, step)
        (run,) = await claim(store, 1, "$job:charge")
        failed = JobChange(key=job.key, state=JobState.FAILED, lease=run.lease, retries=0, error="no")
        second = next_step(step, changed_jobs=[failed])
        await apply(store, keys, second)
        revived = JobChange(key=job.key, state=JobState.READY, retries=3)
        missing = JobChange(key=keys.take(), state=JobState.READY, retries=3)
        await apply(store, keys, next_step(second, changed_jobs=[revived, missing]))
        (again,) = await claim(store, 1, "$job:charge")
        assert (again.key, again.lease, again.attempt, again.retries) == (job.key, 2, 2, 3)

    async def test_new_attempts_clear_crashes_and_silence_keeps_the_last_error(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        step = start_step(keys)
        job = service_job(keys, step, owner=4_711)  # of a node that nobody knows
        step.new_jobs = [job]
        await apply(store, keys, step)
        due = clock()
        await store.rescue(10_000, 10, crash_budget=3, backoff_ms=0)
        clock.advance(10)
        second = next_step(step, changed_jobs=[JobChange(key=job.key, state=JobState.FAILED, error="no")])
        await apply(store, keys, second)
        stored = await the_job(store, job.key)
        assert stored is not None
        assert (stored.state, stored.crashes, stored.retries, stored.run_at) == (JobState.FAILED, 1, 3, due)
        revived = JobChange(key=job.key, state=JobState.READY, retries=5)
        await apply(store, keys, next_step(second, changed_jobs=[revived]))
        stored = await the_job(store, job.key)
        assert stored is not None
        assert (stored.state, stored.crashes, stored.retries, stored.run_at) == (JobState.READY, 0, 5, due)
        assert stored.error == "no"

    async def test_a_changed_job_that_still_runs_keeps_its_lease(self, store: Store, keys: Keys) -> None:
        step = start_step(keys)
        step.new_jobs = [service_job(keys, step)]
        await apply(store, keys, step)
        (run,) = await claim(store, 6, "$job:charge")
        more = JobChange(key=run.key, state=JobState.RUNNING, retries=9)
        await apply(store, keys, next_step(step, changed_jobs=[more]))
        stored = await the_job(store, run.key)
        assert stored is not None
        assert (stored.state, stored.owner, stored.lease, stored.retries) == (JobState.RUNNING, 6, run.lease, 9)

    async def test_neighbours_of_a_stale_or_fenced_step_are_applied(self, store: Store, keys: Keys) -> None:
        good, stale, fenced = start_step(keys), start_step(keys), start_step(keys)
        await apply(store, keys, stale, fenced)
        no_lease = [JobFence(key=keys.take(), lease=1)]
        steps = [next_step(stale, rev=9), good, next_step(fenced, closed_jobs=no_lease), start_step(keys)]
        results = await store.commit(steps, keys)
        assert [result.outcome for result in results] == [
            StepOutcome.STALE,
            StepOutcome.APPLIED,
            StepOutcome.FENCED,
            StepOutcome.APPLIED,
        ]
        assert len(await store.load([good.instance, steps[3].instance])) == 2

    async def test_of_two_steps_decided_on_one_revision_one_is_applied(self, store: Store, keys: Keys) -> None:
        step = start_step(keys)
        await apply(store, keys, step)
        rivals = [next_step(step, state=bytes([n])) for n in range(10)]
        answers = await asyncio.gather(*(store.commit([rival], keys) for rival in rivals))
        outcomes = sorted(result.outcome for (result,) in answers)
        assert outcomes == [StepOutcome.APPLIED] + [StepOutcome.STALE] * 9
        assert (await the_instance(store, step.instance)).rev == 2


class TestHistory:
    """One row per step, in the step's transaction."""

    async def test_the_steps_of_an_instance_come_in_order_and_in_pages(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        step = start_step(keys, events=b"[[1]]")
        await apply(store, keys, step, start_step(keys))
        begun = clock()
        for number in range(2, 6):
            clock.advance(10)
            step = next_step(step, events=b"[[%d]]" % number)
            await apply(store, keys, step)
        rows = await store.history(step.instance)
        assert [read(row.events) for row in rows] == [[[number]] for number in range(1, 6)]
        assert [row.at for row in rows] == [begun + 10 * n for n in range(5)]
        assert {(row.instance, row.definition) for row in rows} == {(step.instance, step.definition)}
        assert [row.position for row in rows] == sorted({row.position for row in rows})
        page = await store.history(step.instance, after=rows[1].position, limit=2)
        assert page == rows[2:4]

    async def test_a_step_without_events_leaves_no_row(self, store: Store, keys: Keys) -> None:
        step = start_step(keys, events=None)
        await apply(store, keys, step)
        assert await store.history(step.instance) == []

    async def test_events_are_kept_as_they_were_written(self, store: Store, keys: Keys) -> None:
        events = '[["variables",1,{"amount":12345678901234567890.10,"name":"Žofie 🦊"}]]'.encode()
        step = start_step(keys, events=events)
        await apply(store, keys, step)
        (row,) = await store.history(step.instance)
        assert row.events == events


class TestStartChannels:
    """One instance per message start key at a time, and requested starts."""

    async def test_an_instance_that_ends_lets_the_next_message_start_one(self, store: Store, keys: Keys) -> None:
        (deployed,) = await deploy(store, keys, definition(keys, messages=["paid"]))
        (first,) = await store.publish([message(keys)], keys)
        (instance,) = first.instances
        waiting = [message(keys, variables=b'{"n":%d}' % n) for n in (1, 2)]
        held = await store.publish(waiting, keys)
        assert [(result.instances, result.buffered) for result in held] == [([], True)] * 2
        step = start_step(keys, instance=instance, start_channel="A-17", definition=deployed.key)
        await apply(store, keys, step)
        (more,) = await store.publish([message(keys, variables=b'{"n":3}')], keys)
        assert more.buffered
        (result,) = await store.commit([next_step(step, status=1, release_channel="A-17")], keys)
        assert (result.outcome, result.woken) == (StepOutcome.APPLIED, [FOLLOW_UP_QUEUE])
        started, following = [read(job.args) for job in await claim(store, 1, FOLLOW_UP_QUEUE)]
        assert (started["instance"], started["variables"]) == (instance, {"amount": 12.50})
        assert (following["type"], following["variables"]) == ("StartByEvent", {"n": 1})
        assert (following["start_channel"], following["message"]) == ("A-17", waiting[0].key)
        assert (following["definition"], following["start"]) == (deployed.key, "on-paid")
        assert [read(each.variables) for each in await store.list_messages()] == [{"n": 2}, {"n": 3}]

    async def test_the_channel_is_held_by_the_instance_that_was_let_through(self, store: Store, keys: Keys) -> None:
        await deploy(store, keys, definition(keys, messages=["paid"]))
        (first,) = await store.publish([message(keys)], keys)
        await store.publish([message(keys)], keys)
        step = start_step(keys, instance=first.instances[0], start_channel="A-17")
        await apply(store, keys, step, next_step(start_step(keys), rev=-1))
        await apply(store, keys, next_step(step, status=1, release_channel="A-17"))
        (third,) = await store.publish([message(keys)], keys)
        assert (third.instances, third.buffered) == ([], True)
        second = read((await jobs_of(store, queue=FOLLOW_UP_QUEUE))[-1].args)["instance"]
        step = start_step(keys, instance=second, start_channel="A-17")
        await apply(store, keys, step)
        await apply(store, keys, next_step(step, status=2, release_channel="A-17"))
        assert len(await jobs_of(store, queue=FOLLOW_UP_QUEUE)) == 3
        assert await store.list_messages() == []

    async def test_a_freed_channel_without_messages_starts_at_once(self, store: Store, keys: Keys) -> None:
        await deploy(store, keys, definition(keys, messages=["paid"]))
        step = start_step(keys, start_channel="A-17")
        await apply(store, keys, step)
        (result,) = await store.commit([next_step(step, status=1, release_channel="A-17")], keys)
        assert (result.outcome, result.woken) == (StepOutcome.APPLIED, [])
        (published,) = await store.publish([message(keys)], keys)
        assert len(published.instances) == 1

    async def test_a_channel_that_another_instance_holds_is_not_freed(self, store: Store, keys: Keys) -> None:
        await deploy(store, keys, definition(keys, messages=["paid"]))
        holder, stranger = start_step(keys, start_channel="A-17"), start_step(keys)
        await apply(store, keys, holder, stranger)
        await apply(store, keys, next_step(stranger, status=1, release_channel="A-17"))
        (published,) = await store.publish([message(keys)], keys)
        assert (published.instances, published.buffered) == ([], True)

    async def test_a_held_channel_refuses_another_holder(self, store: Store, keys: Keys) -> None:
        holder, rival = start_step(keys, start_channel="A-17"), start_step(keys, start_channel="A-17")
        await apply(store, keys, holder)
        (result,) = await store.commit([rival], keys)
        assert result.outcome is StepOutcome.REFUSED
        assert "A-17" in result.error
        assert await store.load([rival.instance]) == []

    async def test_an_expired_message_is_not_let_through(self, store: Store, keys: Keys, clock: ManualClock) -> None:
        await deploy(store, keys, definition(keys, messages=["paid"]))
        step = start_step(keys, start_channel="A-17")
        await apply(store, keys, step)
        await store.publish([message(keys, ttl_ms=10)], keys)
        clock.advance(10)
        await apply(store, keys, next_step(step, status=1, release_channel="A-17"))
        assert await jobs_of(store) == []

    async def test_a_job_and_its_instance_are_inserted_together_or_not_at_all(self, store: Store, keys: Keys) -> None:
        taken = new_job(keys)
        await store.enqueue([taken])
        step = start_step(keys)
        step.new_jobs = [service_job(keys, step), service_job(keys, step, key=taken.key)]
        neighbour = start_step(keys)
        results = await store.commit([step, neighbour], keys)
        assert [result.outcome for result in results] == [StepOutcome.REFUSED, StepOutcome.APPLIED]
        assert str(taken.key) in results[0].error
        assert await store.load([step.instance]) == []
        assert len(await jobs_of(store)) == 1
