"""Deployments: versions, what their start events bring, and how a definition is found."""
# ruff: noqa: D102 - a test is named as a sentence

from __future__ import annotations

from procession.ids import Keys
from procession.jobs.kinds import JobKind, JobState
from procession.store.port import Store
from procession.store.rows import Deployed, Deployment, NewResource
from procession.testing.conformance.stage import ManualClock, claim, definition, deploy, jobs_of


class TestDeploy:
    """All or nothing, and the same thing twice is no new version."""

    async def test_a_definition_has_all_that_was_deployed(self, store: Store, keys: Keys, clock: ManualClock) -> None:
        new = definition(keys, version_tag="blue", methods=["charge-card"])
        resource = NewResource(
            key=keys.take(), name="o.bpmn", kind="bpmn", content=b"\x00<x/>", checksum="c" * 64, definitions=[new]
        )
        deployment = Deployment(key=keys.take(), resources=[resource], tenant="acme")
        (stored,) = (await store.deploy(deployment)).definitions
        assert stored.created
        assert (stored.key, stored.process_id, stored.version, stored.name) == (new.key, "order", 1, "Order")
        assert (stored.version_tag, stored.resource, stored.resource_name) == ("blue", resource.key, "o.bpmn")
        assert (stored.checksum, stored.deployment, stored.deployed_at) == ("c" * 64, deployment.key, clock())
        assert (stored.elements, stored.methods) == (["start", "charge-card", "end"], ["charge-card"])
        assert stored.tenant == "acme"
        assert await store.resource(resource.key) == b"\x00<x/>"
        stored.created = False
        assert await store.definitions([stored.key, keys.take()]) == [stored]

    async def test_the_same_bytes_are_no_new_version(self, store: Store, keys: Keys) -> None:
        first = await deploy(store, keys, definition(keys), checksum="a" * 64)
        again = await deploy(store, keys, definition(keys), checksum="a" * 64)
        assert [each.created for each in first + again] == [True, False]
        assert (again[0].key, again[0].version) == (first[0].key, 1)
        assert len(await store.list_definitions()) == 1

    async def test_other_methods_are_a_new_version_of_the_same_bytes(self, store: Store, keys: Keys) -> None:
        await deploy(store, keys, definition(keys), checksum="a" * 64)
        (second,) = await deploy(store, keys, definition(keys, methods=["ship"]), checksum="a" * 64)
        assert (second.created, second.version) == (True, 2)

    async def test_only_the_latest_version_counts_as_the_same(self, store: Store, keys: Keys) -> None:
        for checksum in ("a" * 64, "b" * 64, "a" * 64):
            last = await deploy(store, keys, definition(keys), checksum=checksum)
        assert (last[0].created, last[0].version) == (True, 3)

    async def test_versions_count_per_process_and_tenant(self, store: Store, keys: Keys) -> None:
        await deploy(store, keys, definition(keys, "order"))
        both = await deploy(store, keys, definition(keys, "order"), definition(keys, "invoice"))
        other = await deploy(store, keys, definition(keys, "order"), tenant="acme")
        assert [(each.process_id, each.version) for each in both + other] == [
            ("order", 2),
            ("invoice", 1),
            ("order", 1),
        ]

    async def test_resources_without_processes_are_kept(self, store: Store, keys: Keys) -> None:
        form = NewResource(
            key=keys.take(), name="a.form", kind="form", content=b"{}", checksum="f" * 64, definitions=[]
        )
        assert await store.deploy(Deployment(key=keys.take(), resources=[form])) == Deployed()
        assert await store.resource(form.key) == b"{}"
        assert await store.resource(keys.take()) is None

    async def test_a_new_version_takes_over_the_start_events(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        due = clock() + 1_000
        await deploy(store, keys, definition(keys, messages=["paid"], signals=["alarm"], timers=[due]))
        await deploy(store, keys, definition(keys, "other", messages=["paid"], timers=[due + 7]))
        (second,) = await deploy(store, keys, definition(keys, messages=["ordered"], timers=[due + 5]))
        starts = await store.list_subscriptions()
        assert sorted((each.process_id, each.name) for each in starts) == [("order", "ordered"), ("other", "paid")]
        (ours,) = [each for each in starts if each.process_id == "order"]
        assert (ours.definition, ours.instance, ours.element) == (second.key, 0, "on-ordered")
        timers = await jobs_of(store, kind=JobKind.TIMER)
        assert sorted(job.run_at for job in timers) == [due + 5, due + 7]

    async def test_a_version_without_start_events_removes_those_of_the_old_one(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        await deploy(store, keys, definition(keys, messages=["paid"], timers=[clock() + 9]))
        await deploy(store, keys, definition(keys))
        assert await store.list_subscriptions() == []
        assert await jobs_of(store) == []

    async def test_start_timers_are_jobs_of_no_instance(self, store: Store, keys: Keys, clock: ManualClock) -> None:
        due = clock() + 1_000
        (deployed,) = await deploy(store, keys, definition(keys, timers=[due, clock()]))
        later, now = sorted(await jobs_of(store), key=lambda job: job.state, reverse=True)
        assert (later.kind, later.queue, later.state, later.run_at) == (
            JobKind.TIMER,
            "$timer",
            JobState.SCHEDULED,
            due,
        )
        assert (later.instance, later.definition, later.element) == (0, deployed.key, f"at-{due}")
        assert now.state == JobState.READY
        assert [job.key for job in await claim(store, 1, "$timer")] == [now.key]

    async def test_a_running_start_timer_of_an_old_version_goes_too(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        await deploy(store, keys, definition(keys, timers=[clock()]))
        assert len(await claim(store, 1, "$timer")) == 1
        await deploy(store, keys, definition(keys))
        assert await jobs_of(store) == []

    async def test_deploying_the_same_again_leaves_the_start_events_alone(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        new = definition(keys, messages=["paid"], timers=[clock() + 9])
        await deploy(store, keys, new, checksum="a" * 64)
        before = await store.list_subscriptions(), await jobs_of(store)
        await deploy(store, keys, new, checksum="a" * 64)
        assert (await store.list_subscriptions(), await jobs_of(store)) == before

    async def test_a_deployment_that_brings_nothing_new_writes_nothing(self, store: Store, keys: Keys) -> None:
        (first,) = await deploy(store, keys, definition(keys), checksum="a" * 64)
        (again,) = await deploy(store, keys, definition(keys), checksum="a" * 64)
        assert (again.deployment, again.resource, again.deployed_at) == (
            first.deployment,
            first.resource,
            first.deployed_at,
        )
        first.created = False
        assert await store.list_definitions() == [first]

    async def test_a_file_without_processes_that_is_known_is_not_stored_again(self, store: Store, keys: Keys) -> None:
        def form(checksum: str, name: str = "a.form") -> NewResource:
            key = keys.take()
            return NewResource(key=key, name=name, kind="form", content=b"{}", checksum=checksum * 64, definitions=[])

        forms = [form("a"), form("a"), form("b"), form("a", "b.form")]
        for each in forms:
            await store.deploy(Deployment(key=keys.take(), resources=[each]))
        assert [await store.resource(each.key) for each in forms] == [b"{}", None, b"{}", b"{}"]

    async def test_a_new_version_leaves_the_start_events_of_other_tenants_alone(
        self, store: Store, keys: Keys, clock: ManualClock
    ) -> None:
        starts = definition(keys, messages=["paid"], timers=[clock() + 9])
        (theirs,) = await deploy(store, keys, starts, tenant="acme")
        await deploy(store, keys, definition(keys, messages=["paid"], timers=[clock() + 9]))
        await deploy(store, keys, definition(keys))
        assert [(each.definition, each.tenant) for each in await store.list_subscriptions()] == [(theirs.key, "acme")]
        assert [(job.definition, job.tenant) for job in await jobs_of(store)] == [(theirs.key, "acme")]


class TestFindDefinition:
    """By version, tag or deployment."""

    async def test_by_version_and_the_latest(self, store: Store, keys: Keys) -> None:
        first = await deploy(store, keys, definition(keys))
        second = await deploy(store, keys, definition(keys))
        latest = await store.find_definition("order")
        assert latest is not None
        assert latest.key == second[0].key
        exact = await store.find_definition("order", version=1)
        assert exact is not None
        assert exact.key == first[0].key
        assert await store.find_definition("order", version=3) is None
        assert await store.find_definition("unknown") is None

    async def test_by_the_latest_with_a_tag(self, store: Store, keys: Keys) -> None:
        for tag in ("blue", "blue", "green"):
            await deploy(store, keys, definition(keys, version_tag=tag))
        tagged = await store.find_definition("order", version_tag="blue")
        assert tagged is not None
        assert tagged.version == 2
        assert await store.find_definition("order", version_tag="red") is None

    async def test_by_a_deployment_even_if_it_made_no_new_version_of_it(self, store: Store, keys: Keys) -> None:
        def resource(name: str, process_id: str, checksum: str) -> NewResource:
            new = definition(keys, process_id)
            key = keys.take()
            return NewResource(key=key, name=name, kind="bpmn", content=b"", checksum=checksum * 64, definitions=[new])

        one, two = keys.take(), keys.take()
        await store.deploy(Deployment(key=one, resources=[resource("a.bpmn", "a", "1"), resource("b.bpmn", "b", "2")]))
        await store.deploy(Deployment(key=two, resources=[resource("a.bpmn", "a", "3"), resource("b.bpmn", "b", "2")]))
        versions = {
            (process_id, deployment): found.version
            for process_id in ("a", "b")
            for deployment in (one, two)
            if (found := await store.find_definition(process_id, deployment=deployment))
        }
        assert versions == {("a", one): 1, ("a", two): 2, ("b", one): 1, ("b", two): 1}
        assert await store.find_definition("a", deployment=keys.take()) is None

    async def test_tenants_do_not_see_each_other(self, store: Store, keys: Keys) -> None:
        await deploy(store, keys, definition(keys), tenant="acme")
        assert await store.find_definition("order") is None
        assert await store.find_definition("order", tenant="acme") is not None
        assert await store.list_definitions(tenant="other") == []
        assert len(await store.list_definitions(tenant="acme")) == 1
        assert len(await store.list_definitions()) == 1

    async def test_the_list_shows_the_newest_version_of_each_process_first(self, store: Store, keys: Keys) -> None:
        for process_id in ("b", "a", "b", "a", "b"):
            await deploy(store, keys, definition(keys, process_id))
        listed = [(each.process_id, each.version) for each in await store.list_definitions()]
        assert listed == [("a", 2), ("a", 1), ("b", 3), ("b", 2), ("b", 1)]
        assert [each.version for each in await store.list_definitions(process_id="a")] == [2, 1]
