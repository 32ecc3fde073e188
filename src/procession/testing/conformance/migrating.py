"""Steps that change an instance's definition, and the rows that go with it."""

from __future__ import annotations

from procession.ids import Keys
from procession.store.port import Store
from procession.store.rows import InstanceFilter, NewIncident, NewUserTask, StepOutcome, UserTaskFilter
from procession.store.rows.steps import MovedRow
from procession.testing.conformance.stage import (
    apply,
    message,
    next_step,
    service_job,
    start_step,
    the_instance,
    the_job,
    waiting_for,
)


class TestMigration:
    """A migrated instance is another definition's, with every row of it."""

    async def test_a_step_moves_the_instance_and_its_rows_to_another_definition(self, store: Store, keys: Keys) -> None:
        """The instance, a job, a subscription, an incident and a user task; nothing of others."""
        step = start_step(keys)
        job, waits = service_job(keys, step), waiting_for(keys, step)
        incident = NewIncident(
            key=keys.take(),
            instance=step.instance,
            element_instance=job.element_instance,
            element="charge-card",
            definition=step.definition,
            process_id=step.process_id,
            kind="JOB_NO_RETRIES",
            message="no",
            job=job.key,
        )
        task = NewUserTask(
            key=keys.take(),
            instance=step.instance,
            element_instance=keys.take(),
            element="check",
            name="Check",
            definition=step.definition,
            process_id=step.process_id,
        )
        step.new_jobs, step.new_subscriptions = [job], [waits]
        step.new_incidents, step.new_user_tasks = [incident], [task]
        other = start_step(keys)
        other_job = service_job(keys, other)
        other.new_jobs = [other_job]
        await apply(store, keys, step, other)

        moved = [
            MovedRow(table="job", key=job.key, element="charge"),
            MovedRow(table="subscription", key=waits.key, element="wait"),
            MovedRow(table="incident", key=incident.key, element="charge"),
            MovedRow(table="user_task", key=task.key, element="look", name="Look at it"),
        ]
        await apply(store, keys, next_step(step, definition=8, process_id="purchase", moved_rows=moved))

        instance = await the_instance(store, step.instance)
        assert (instance.definition, instance.process_id, instance.rev) == (8, "purchase", 2)
        found = await the_job(store, job.key)
        assert found is not None
        assert (found.element, found.definition, found.state) == ("charge", 8, 0)
        untouched = await the_job(store, other_job.key)
        assert untouched is not None
        assert (untouched.element, untouched.definition) == ("charge-card", 7)
        (subscription,) = await store.list_subscriptions(instance=step.instance)
        assert (subscription.element, subscription.definition, subscription.process_id) == ("wait", 8, "purchase")
        (problem,) = await store.list_incidents(process_id="purchase")
        assert (problem.element, problem.definition) == ("charge", 8)
        (open_task,) = await store.list_user_tasks(UserTaskFilter(instance=step.instance))
        assert (open_task.element, open_task.name, open_task.definition) == ("look", "Look at it", 8)
        assert open_task.process_id == "purchase"
        (result,) = await store.publish([message(keys)], keys)
        assert result.instances == [step.instance]

    async def test_an_instance_without_rows_moves_to_another_process_id(self, store: Store, keys: Keys) -> None:
        """It is found by the new one, and an ordinary step after it leaves it there."""
        step = start_step(keys)
        await apply(store, keys, step)
        moved = next_step(step, definition=8, process_id="purchase", migrates=True)
        await apply(store, keys, moved)
        await apply(store, keys, next_step(moved))
        instance = await the_instance(store, step.instance)
        assert (instance.definition, instance.process_id, instance.rev) == (8, "purchase", 3)
        listed = await store.list_instances(InstanceFilter(process_id="purchase"))
        assert [each.key for each in listed] == [step.instance]

    async def test_a_migration_decided_on_an_old_revision_moves_nothing(self, store: Store, keys: Keys) -> None:
        """STALE: not a row of it."""
        step = start_step(keys)
        job = service_job(keys, step)
        step.new_jobs = [job]
        await apply(store, keys, step)
        late = next_step(step, definition=8, moved_rows=[MovedRow(table="job", key=job.key, element="charge")])
        await apply(store, keys, next_step(step))
        (result,) = await store.commit([late], keys)
        assert result.outcome == StepOutcome.STALE
        found = await the_job(store, job.key)
        assert found is not None
        assert (found.element, found.definition) == ("charge-card", 7)
        assert (await the_instance(store, step.instance)).definition == 7
