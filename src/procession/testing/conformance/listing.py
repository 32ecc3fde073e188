"""What people see: pages, filters, counts, incidents and user tasks."""
# ruff: noqa: D102 - a test is named as a sentence

from __future__ import annotations

from procession.ids import Keys
from procession.jobs.kinds import JobKind, JobState
from procession.store.port import Store
from procession.store.rows import JobChange, NewIncident, NewUserTask, Step, UserTaskChange, UserTaskFilter
from procession.testing.conformance.stage import (
    MESSAGE,
    ManualClock,
    apply,
    claim,
    instances_of,
    jobs_of,
    message,
    new_job,
    next_step,
    service_job,
    start_step,
    waiting_for,
)


def incident_of(keys: Keys, step: Step, **more: object) -> NewIncident:
    """An incident of the step's instance."""
    incident = NewIncident(
        key=keys.take(),
        instance=step.instance,
        element_instance=keys.take(),
        element="charge-card",
        definition=step.definition,
        process_id=step.process_id,
        kind="JOB_NO_RETRIES",
        message="card expired",
        tenant=step.tenant,
    )
    for field, value in more.items():
        setattr(incident, field, value)
    return incident


def user_task_of(keys: Keys, step: Step, **more: object) -> NewUserTask:
    """A user task of the step's instance."""
    task = NewUserTask(
        key=keys.take(),
        instance=step.instance,
        element_instance=keys.take(),
        element="approve",
        name="Approve the order",
        definition=step.definition,
        process_id=step.process_id,
        tenant=step.tenant,
    )
    for field, value in more.items():
        setattr(task, field, value)
    return task


class TestListings:
    """Pages and filters."""

    async def test_instances_come_newest_first_in_pages_without_their_state(self, store: Store, keys: Keys) -> None:
        steps = [start_step(keys) for _ in range(5)]
        await apply(store, keys, *steps)
        newest_first = [step.instance for step in reversed(steps)]
        page = await instances_of(store, limit=2)
        assert [each.key for each in page] == newest_first[:2]
        assert {(each.state, each.variables) for each in page} == {(b"", b"")}
        rest = await instances_of(store, after=page[-1].key)
        assert [each.key for each in rest] == newest_first[2:]

    async def test_each_filter_of_instances_restricts(self, store: Store, keys: Keys) -> None:
        plain = start_step(keys)
        special = start_step(
            keys,
            process_id="invoice",
            definition=8,
            business_id="B-1",
            parent=plain.instance,
            tags=["vip"],
            tenant="acme",
            status=1,
        )
        await apply(store, keys, plain, special)
        await apply(store, keys, next_step(special, new_incidents=[incident_of(keys, special)]))
        for which in (
            {"process_id": "invoice"},
            {"definition": 8},
            {"status": 1},
            {"business_id": "B-1"},
            {"parent": plain.instance},
            {"with_incident": True},
            {"tag": "vip"},
            {"tenant": "acme"},
            {"statuses": [1, 2]},
            {"process_id": "invoice", "tag": "vip", "status": 1},
        ):
            assert [each.key for each in await instances_of(store, **which)] == [special.instance], which
        assert await instances_of(store, process_id="invoice", status=0) == []
        assert await instances_of(store, tag="vi") == []
        assert len(await instances_of(store, statuses=[0, 1])) == 2
        assert await instances_of(store, statuses=[0, 1], status=2) == []
        assert [each.incidents for each in await instances_of(store)] == [1, 0]

    async def test_instances_are_counted_by_status(self, store: Store, keys: Keys) -> None:
        await apply(store, keys, *(start_step(keys, status=status) for status in (0, 0, 1, 2, 3)))
        await apply(store, keys, start_step(keys, process_id="invoice"))
        assert await store.count_instances() == {0: 3, 1: 1, 2: 1, 3: 1}
        assert await store.count_instances("invoice") == {0: 1}
        assert await store.count_instances("unknown") == {}
        await apply(store, keys, start_step(keys, tenant="acme", status=1))
        assert (
            await store.count_instances(tenant="acme") == await store.count_instances("order", tenant="acme") == {1: 1}
        )
        assert await store.count_instances("invoice", tenant="acme") == {}

    async def test_what_waits_is_listed_by_tenant(self, store: Store, keys: Keys) -> None:
        """Subscriptions, messages, incidents and jobs; subscriptions also page by page."""
        ours, theirs = start_step(keys), start_step(keys, tenant="acme")
        for step in (ours, theirs):
            step.new_subscriptions = [waiting_for(keys, step, tenant=step.tenant)]
            step.new_incidents = [incident_of(keys, step)]
            step.new_jobs = [service_job(keys, step, tenant=step.tenant)]
        await apply(store, keys, ours, theirs)
        letters = [message(keys, name="nobody", ttl_ms=60_000, tenant=tenant) for tenant in ("", "acme")]
        await store.publish(letters, keys)
        instance, everyone = theirs.instance, await store.list_subscriptions()
        assert [each.instance for each in await store.list_subscriptions(tenant="acme")] == [instance]
        assert await store.list_subscriptions(after=everyone[0].key) == everyone[1:]
        assert await store.list_subscriptions(instance=instance, after=everyone[1].key) == []
        assert await store.list_subscriptions(instance=instance, tenant="other") == []
        assert [each.instance for each in await store.list_incidents(tenant="acme")] == [instance]
        assert [each.key for each in await store.list_messages(tenant="acme")] == [letters[1].key]
        assert sum((await store.count_jobs(tenant="acme")).values()) == 1
        assert sum((await store.count_jobs()).values()) == 2

    async def test_loading_leaves_unknown_instances_out(self, store: Store, keys: Keys) -> None:
        step = start_step(keys)
        await apply(store, keys, step)
        found = await store.load([keys.take(), step.instance])
        assert [each.key for each in found] == [step.instance]
        assert await store.load([]) == []

    async def test_jobs_come_oldest_first_in_pages(self, store: Store, keys: Keys) -> None:
        jobs = [new_job(keys) for _ in range(5)]
        await store.enqueue(list(reversed(jobs)))
        page = await jobs_of(store, limit=2)
        assert [job.key for job in page] == [job.key for job in jobs[:2]]
        assert [job.key for job in await jobs_of(store, after=page[-1].key)] == [job.key for job in jobs[2:]]

    async def test_each_filter_of_jobs_restricts(self, store: Store, keys: Keys, clock: ManualClock) -> None:
        step = start_step(keys)
        special = service_job(keys, step, tenant="acme", run_at=clock() + 5)
        step.new_jobs = [special]
        await apply(store, keys, step)
        await store.enqueue([new_job(keys), new_job(keys)])
        for which in (
            {"instance": step.instance},
            {"state": JobState.SCHEDULED},
            {"kind": JobKind.SERVICE},
            {"queue": "$job:charge"},
            {"type": "charge"},
            {"tenant": "acme"},
            {"instance": step.instance, "type": "charge", "state": JobState.SCHEDULED},
        ):
            assert [job.key for job in await jobs_of(store, **which)] == [special.key], which
        assert await jobs_of(store, instance=step.instance, type="send") == []

    async def test_jobs_are_counted_by_queue_and_state(self, store: Store, keys: Keys) -> None:
        await store.enqueue([new_job(keys), new_job(keys), new_job(keys, queue="b"), new_job(keys, delay_ms=9)])
        await claim(store, 1, count=1)
        assert await store.count_jobs() == {
            ("mail", JobState.READY): 1,
            ("mail", JobState.RUNNING): 1,
            ("mail", JobState.SCHEDULED): 1,
            ("b", JobState.READY): 1,
        }

    async def test_a_key_leads_to_its_instance(self, store: Store, keys: Keys) -> None:
        step = start_step(keys)
        step.new_jobs = [service_job(keys, step)]
        step.new_user_tasks = [user_task_of(keys, step)]
        step.new_incidents = [incident_of(keys, step)]
        step.new_subscriptions = [waiting_for(keys, step)]
        await apply(store, keys, step)
        for kind, key in (
            ("job", step.new_jobs[0].key),
            ("user_task", step.new_user_tasks[0].key),
            ("incident", step.new_incidents[0].key),
            ("subscription", step.new_subscriptions[0].key),
        ):
            assert await store.find(kind, key) == step.instance
            assert await store.find(kind, keys.take()) == 0

    async def test_subscriptions_are_listed_as_they_were_opened(self, store: Store, keys: Keys) -> None:
        step = start_step(keys, tenant="acme")
        waiting = waiting_for(keys, step, once=False)
        step.new_subscriptions = [waiting]
        other = start_step(keys)
        other.new_subscriptions = [waiting_for(keys, other, "shipped")]
        await apply(store, keys, step, other)
        (listed,) = await store.list_subscriptions(instance=step.instance)
        assert (listed.key, listed.instance, listed.element) == (waiting.key, step.instance, "wait-for-payment")
        assert (listed.element_instance, listed.process_id) == (waiting.element_instance, "order")
        assert (listed.trigger, listed.name, listed.correlation_key) == (MESSAGE, "paid", "A-17")
        assert (listed.once, listed.tenant) == (False, "acme")
        assert [each.instance for each in await store.list_subscriptions(name="shipped")] == [other.instance]
        assert len(await store.list_subscriptions()) == 2
        assert len(await store.list_subscriptions(limit=1)) == 1


class TestIncidents:
    """Problems that wait for a person."""

    async def test_an_incident_is_open_until_a_step_closes_it(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        step = start_step(keys, tenant="acme")
        incident = incident_of(keys, step, job=99, fingerprint="f1")
        step.new_incidents = [incident]
        await apply(store, keys, step)
        (listed,) = await store.list_incidents()
        assert (listed.key, listed.instance, listed.element) == (incident.key, step.instance, "charge-card")
        assert (listed.element_instance, listed.definition) == (incident.element_instance, step.definition)
        assert (listed.process_id, listed.kind, listed.message) == ("order", "JOB_NO_RETRIES", "card expired")
        assert (listed.job, listed.created_at, listed.fingerprint, listed.tenant) == (99, clock(), "f1", "acme")
        await apply(store, keys, next_step(step, closed_incidents=[incident.key, keys.take()]))
        assert await store.list_incidents() == []

    async def test_incidents_come_oldest_first_in_pages_by_instance_and_process(self, store: Store, keys: Keys) -> None:
        step, other = start_step(keys), start_step(keys, process_id="invoice")
        step.new_incidents = [incident_of(keys, step) for _ in range(3)]
        other.new_incidents = [incident_of(keys, other)]
        await apply(store, keys, other, step)
        mine = [incident.key for incident in step.new_incidents]
        assert [each.key for each in await store.list_incidents(instance=step.instance)] == mine
        assert [each.key for each in await store.list_incidents(process_id="order", limit=2)] == mine[:2]
        assert [each.key for each in await store.list_incidents(after=mine[0], process_id="order")] == mine[1:]
        assert len(await store.list_incidents()) == 4

    async def test_the_words_of_an_incident_are_never_a_reason_to_lose_it(self, store: Store, keys: Keys) -> None:
        step = start_step(keys)
        step.new_incidents = [incident_of(keys, step, message="NUL \0 and \udc80 " + "x" * 20_000)]
        await apply(store, keys, step)
        (listed,) = await store.list_incidents()
        assert listed.message.startswith("NUL ")
        assert len(listed.message) <= 10_000

    async def test_neither_are_the_words_of_a_failed_job(self, store: Store, keys: Keys) -> None:
        step = start_step(keys)
        job = service_job(keys, step)
        step.new_jobs = [job]
        await apply(store, keys, step)
        hostile = "NUL \0 and \udc80 " + "x" * 20_000
        failed = JobChange(key=job.key, state=JobState.FAILED, retries=0, error=hostile)
        await apply(store, keys, next_step(step, changed_jobs=[failed]))
        (stored,) = await jobs_of(store)
        assert stored.error.startswith("NUL ")
        assert len(stored.error) <= 10_000


class TestUserTasks:
    """Work for people."""

    async def test_a_user_task_is_listed_with_all_its_attributes(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        step = start_step(keys, tenant="acme")
        task = user_task_of(
            keys,
            step,
            assignee="ada",
            candidate_users=["bob"],
            candidate_groups=["sales", "chiefs"],
            due_at=clock() + 9,
            follow_up_at=clock() + 5,
            priority=80,
            form_key="approval",
        )
        step.new_user_tasks = [task]
        await apply(store, keys, step)
        (listed,) = await store.list_user_tasks(UserTaskFilter())
        assert (listed.key, listed.instance, listed.element, listed.name) == (
            task.key,
            step.instance,
            "approve",
            "Approve the order",
        )
        assert (listed.element_instance, listed.definition, listed.process_id) == (task.element_instance, 7, "order")
        assert (listed.assignee, listed.candidate_users, listed.candidate_groups) == (
            "ada",
            ["bob"],
            ["sales", "chiefs"],
        )
        assert (listed.due_at, listed.follow_up_at, listed.priority) == (clock() + 9, clock() + 5, 80)
        assert (listed.form_key, listed.created_at, listed.tenant) == ("approval", clock(), "acme")

    async def test_user_tasks_are_found_by_assignee_group_and_instance(self, store: Store, keys: Keys) -> None:
        step = start_step(keys)
        ada = user_task_of(keys, step, assignee="ada")
        sales = user_task_of(keys, step, candidate_groups=["sales"])
        other = start_step(keys)
        step.new_user_tasks, other.new_user_tasks = [ada, sales], [user_task_of(keys, other)]
        await apply(store, keys, step, other)
        assert [each.key for each in await store.list_user_tasks(UserTaskFilter(assignee="ada"))] == [ada.key]
        assert [each.key for each in await store.list_user_tasks(UserTaskFilter(candidate_group="sales"))] == [
            sales.key
        ]
        assert await store.list_user_tasks(UserTaskFilter(candidate_group="sal")) == []
        assert [
            each.key for each in await store.list_user_tasks(UserTaskFilter(instance=step.instance, after=ada.key))
        ] == [sales.key]
        assert len(await store.list_user_tasks(UserTaskFilter(limit=2))) == 2

    async def test_user_tasks_are_found_by_whom_and_when(self, store: Store, keys: Keys, clock: ManualClock) -> None:
        """By candidates, dates, priority, process, element, tenant and key; one without a date is never due."""
        step, theirs = start_step(keys), start_step(keys, tenant="acme")
        dated = user_task_of(keys, step, due_at=clock() + 5, follow_up_at=clock() + 2, priority=80)
        offered = user_task_of(keys, step, candidate_users=["bob"], candidate_groups=["sales"], priority=0)
        taken = user_task_of(keys, step, assignee="ada", form=7)
        other = user_task_of(keys, theirs, form_key="of theirs")
        step.new_user_tasks, theirs.new_user_tasks = [dated, offered, taken], [other]
        await apply(store, keys, step, theirs)

        async def found(**which: object) -> list[int]:
            return [each.key for each in await store.list_user_tasks(UserTaskFilter(**which))]  # pyright: ignore[reportArgumentType]

        everything = [dated.key, offered.key, taken.key, other.key]
        assert await found() == everything
        assert await found(due_before=clock() + 5) == []
        assert await found(due_before=clock() + 6) == [dated.key]
        assert await found(follow_up_before=clock() + 3) == [dated.key]
        assert await found(unassigned=True) == [dated.key, offered.key, other.key]
        assert await found(candidate_user="bob", candidate_group="sales") == [offered.key]
        assert await found(candidate_user="bo") == []
        assert await found(priority=80) == [dated.key]
        assert await found(tenant="acme") == await found(key=other.key) == [other.key]
        assert await found(process_id="order", element="approve") == everything
        assert await found(process_id="other") == await found(element="other") == []
        assert [each.form for each in await store.list_user_tasks(UserTaskFilter())] == [0, 0, 7, 0]

    async def test_a_step_changes_only_the_given_attributes(self, store: Store, keys: Keys) -> None:
        step = start_step(keys)
        task = user_task_of(keys, step, assignee="ada", candidate_groups=["sales"])
        step.new_user_tasks = [task]
        await apply(store, keys, step)
        changes: dict[str, object] = {"assignee": "", "candidate_users": ["bob"], "priority": 7, "due_at": 12}
        gone = UserTaskChange(key=keys.take(), changes={"assignee": "nobody"})
        second = next_step(step, changed_user_tasks=[UserTaskChange(key=task.key, changes=changes), gone])
        await apply(store, keys, second)
        (listed,) = await store.list_user_tasks(UserTaskFilter())
        assert (listed.assignee, listed.candidate_users, listed.candidate_groups) == ("", ["bob"], ["sales"])
        assert (listed.priority, listed.due_at, listed.name) == (7, 12, "Approve the order")

    async def test_a_closed_user_task_is_gone(self, store: Store, keys: Keys) -> None:
        step = start_step(keys)
        task = user_task_of(keys, step)
        step.new_user_tasks = [task]
        await apply(store, keys, step)
        await apply(store, keys, next_step(step, closed_user_tasks=[task.key, keys.take()]))
        assert await store.list_user_tasks(UserTaskFilter()) == []
        assert await store.find("user_task", task.key) == 0
