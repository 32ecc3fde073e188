"""Stories of what is tried again: failed items of a batch, failed follow-ups, messages for an instance that rested."""

from __future__ import annotations

import pytest

from procession.errors import Conflict, NotFound
from procession.jobs.kinds import FOLLOW_UP_QUEUE, JobKind
from procession.store.rows import JobEnd, JobFence, JobOutcome, NewJob, Want
from procession.testing.bpmn import process
from tests.operations.stage import DAY, MINUTE, Stage

SECOND = 1_000
ORDER = process("order").start().user("check").end()


async def _over(stage: Stage, batch: int) -> tuple[int, int]:
    """Done and failed items of a batch when it is over."""
    for _ in range(100):
        found = await stage.app.batch_progress(batch)
        if found.state != "ACTIVE":
            return found.done, found.failed
        await stage.pass_time(SECOND)
    raise AssertionError(found)


async def test_failed_items_are_done_again_by_another_batch_once(stage: Stage):
    await stage.deploy(ORDER)
    keys = [await stage.start("order") for _ in range(3)]
    other = await stage.deploy(process("order").start().user("look").end())
    batch = await stage.app.batch("migrate", which={"business_id": ""}, target_process_definition_key=other)
    with pytest.raises(Conflict, match="is under way"):
        await stage.app.retry_batch(batch)
    assert await _over(stage, batch) == (0, 3)
    (task,) = await stage.app.user_tasks(process_instance_key=keys[0])
    await stage.app.complete_user_task(task.user_task_key)
    again = await stage.app.retry_batch(batch)
    assert (await stage.app.batch_progress(again)).total == 3
    assert await _over(stage, again) == (0, 3)
    messages = [error.message for error in await stage.app.batch_errors(again)]
    assert sum("'check' is active" in message for message in messages) == 2
    with pytest.raises(Conflict, match=f"The failed items of batch {batch} are done again by another batch already"):
        await stage.app.retry_batch(batch)
    assert [(row.batch_key, row.retry_of) for row in await stage.app.batches()] == [(again, batch), (batch, 0)]


async def test_what_a_batch_brings_about_is_not_meant_by_it(stage: Stage):
    """A resolved incident whose cause is there still is raised again; the batch does not go round in circles."""
    await stage.deploy(process("order").start().user("check", due_date="=soon").end())
    keys = [await stage.start("order") for _ in range(2)]
    before = {incident.incident_key for incident in await stage.app.incidents()}
    assert await _over(stage, await stage.app.batch("resolve", which={"process_id": "order"})) == (2, 0)
    incidents = await stage.app.incidents()
    assert {incident.process_instance_key for incident in incidents} == set(keys)
    assert before.isdisjoint(incident.incident_key for incident in incidents)


async def test_incidents_that_could_not_be_resolved_are_resolved_later(stage: Stage):
    """One that is gone meanwhile is an error that says so."""
    await stage.deploy(process("order").start().user("check", due_date="=soon").end())
    keys = [await stage.start("order") for _ in range(2)]
    batch = await stage.app.batch("resolve", which={"process_id": "nothing"})
    assert await _over(stage, batch) == (0, 0)
    await _fail(stage, batch, [incident.incident_key for incident in await stage.app.incidents()])
    await stage.app.cancel(keys[0])
    await stage.app.set_variables(keys[1], {"soon": "2030-01-01T00:00:00Z"})
    again = await stage.app.retry_batch(batch)
    assert await _over(stage, again) == (1, 1)
    assert [error.message for error in await stage.app.batch_errors(again)] == ["It is not there any more"]
    assert [task.element_id for task in await stage.app.user_tasks()] == ["check"]


async def _fail(stage: Stage, batch: int, items: list[int]) -> None:
    """Keep these items of a batch as failed, as a process with a defect would."""
    store = stage.app._engine.store
    node = await store.register("a process with a defect", b"{}")
    for item in items:
        (key,) = await stage.app._engine.take_keys(1)
        await store.enqueue([NewJob(key=key, kind=JobKind.FOLLOW_UP, queue="defect", type="")])
        (job,) = await store.claim(node, [Want(queue="defect", count=1)])
        assert await store.fail_batch_item(batch, item, "a defect", JobFence(key=key, lease=job.lease))


async def test_a_batch_without_failures_has_nothing_to_retry(stage: Stage):
    await stage.deploy(ORDER)
    await stage.start("order")
    batch = await stage.app.batch("cancel")
    assert await _over(stage, batch) == (1, 0)
    with pytest.raises(Conflict, match="no failed items"):
        await stage.app.retry_batch(batch)
    with pytest.raises(NotFound):
        await stage.app.retry_batch(1)


async def test_a_batch_means_instances_of_several_states(stage: Stage):
    await stage.deploy(ORDER)
    runs, rests, ends = [await stage.start("order") for _ in range(3)]
    await stage.app.suspend(rests)
    await stage.app.cancel(ends)
    batch = await stage.app.batch("cancel", which={"state": ["ACTIVE", "SUSPENDED"]})
    assert await _over(stage, batch) == (2, 0)
    assert [await stage.state(key) for key in (runs, rests, ends)] == ["TERMINATED"] * 3
    batch = await stage.app.batch("delete", which={"state": ["COMPLETED", "TERMINATED"]})
    assert await _over(stage, batch) == (3, 0)


async def test_a_trial_of_a_batch_names_what_would_be_refused(stage: Stage):
    await stage.deploy(ORDER)
    keys = [await stage.start("order") for _ in range(2)]
    other = await stage.deploy(process("order").start().user("look").end())
    trial = await stage.app.try_batch("migrate", target_process_definition_key=other)
    assert (trial.total, [error.key for error in trial.errors]) == (2, sorted(keys, reverse=True))
    assert "'check' is active and the target has no 'check'" in trial.errors[0].message
    assert (await stage.app.try_batch("cancel")).errors == []
    trial = await stage.app.try_batch("modify", move={"nothing": "check"})
    assert "no element 'nothing'" in trial.errors[0].message
    assert await stage.app.count_instances() == {"ACTIVE": 2}
    assert await stage.app.batches() == []


async def test_batches_that_are_over_go_after_a_month(stage: Stage):
    await stage.deploy(ORDER)
    await stage.start("order")
    batch = await stage.app.batch("cancel")
    await _over(stage, batch)
    retention = stage.app._engine._duties.retention
    await stage.pass_time(29 * DAY)
    await retention.forget_batches()
    assert len(await stage.app.batches()) == 1
    await stage.pass_time(2 * DAY)
    await retention.forget_batches()
    assert await stage.app.batches() == []


async def test_a_failed_follow_up_is_tried_again(stage: Stage):
    """It had failed for good; what it carries is done now, and its place is free for nobody else."""
    await stage.deploy(process("order").start().catch("paid", message="paid", key='="A"').end())
    key = await stage.start("order")
    await stage.app.publish("paid", correlation_key="A")
    store = stage.app._engine.store
    node = await store.register("a process with a defect", b"{}")
    (job,) = await store.claim(node, [Want(queue=FOLLOW_UP_QUEUE, count=9)])
    with pytest.raises(Conflict, match="has not failed for good: it is running"):
        await stage.app.retry_job(job.key)
    await store.finish([JobOutcome(key=job.key, lease=job.lease, end=JobEnd.FAILED, error="Bug: a defect")])
    await stage.app.run_until_idle()
    assert await stage.state(key) == "ACTIVE"
    (failed,) = await stage.app.jobs(state="failed")
    await stage.app.retry_job(failed.job_key)
    await stage.app.run_until_idle()
    assert await stage.state(key) == "COMPLETED"
    with pytest.raises(NotFound):
        await stage.app.retry_job(failed.job_key)


async def test_a_job_of_an_element_is_tried_again_by_its_incident(stage: Stage):
    await stage.deploy(process("order").start().service("pay").end())
    await stage.start("order")
    (job,) = await stage.app.jobs()
    with pytest.raises(Conflict, match="which is a service job: resolve its incident"):
        await stage.app.retry_job(job.job_key)


async def test_a_message_for_an_instance_that_rests_is_delivered_when_it_goes_on(stage: Stage):
    """Not when its next try would have been."""
    await stage.deploy(process("order").start().catch("paid", message="paid", key='="A"').end())
    key = await stage.start("order")
    await stage.app.suspend(key)
    await stage.app.publish("paid", correlation_key="A", ttl="1d")
    for _ in range(3):
        await stage.pass_time(6 * MINUTE)
    assert await stage.active(key) == ["paid"]
    await stage.app.resume(key)
    await stage.app.run_until_idle()
    assert await stage.state(key) == "COMPLETED"
