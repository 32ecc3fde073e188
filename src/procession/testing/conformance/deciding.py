"""Decisions: their versions, the files that they need, and how one is found."""
# ruff: noqa: D102 - a test is named as a sentence

from __future__ import annotations

from procession.ids import Keys
from procession.store.port import Store
from procession.store.rows import Deployed, Deployment, NewDecision, NewResource
from procession.testing.conformance.stage import ManualClock, definition


def _decision(keys: Keys, decision_id: str = "discount", checksum: str = "a", **more: object) -> NewDecision:
    fields: dict[str, object] = {"name": decision_id.title(), **more}
    return NewDecision(key=keys.take(), decision_id=decision_id, checksum=checksum * 64, **fields)  # pyright: ignore[reportArgumentType]


def _file(keys: Keys, *decisions: NewDecision, name: str = "pricing.dmn", content: bytes = b"<dmn/>") -> NewResource:
    key = keys.take()
    return NewResource(
        key=key, name=name, kind="dmn", content=content, checksum=f"{key:064x}", decisions=list(decisions)
    )


async def _deploy(store: Store, keys: Keys, *files: NewResource, key: int = 0, tenant: str = "") -> Deployed:
    return await store.deploy(Deployment(key=key or keys.take(), resources=list(files), tenant=tenant))


class TestDecisions:
    """Deployed and versioned like processes."""

    async def test_a_decision_has_all_that_was_deployed(self, store: Store, keys: Keys, clock: ManualClock) -> None:
        new = _decision(keys, version_tag="blue", requirements_id="pricing")
        file = _file(keys, new, content=b"\x00<dmn/>")
        deployment = keys.take()
        deployed = await _deploy(store, keys, file, key=deployment, tenant="acme")
        (stored,) = deployed.decisions
        assert deployed.is_new
        assert stored.created
        assert (stored.key, stored.decision_id, stored.version, stored.name) == (new.key, "discount", 1, "Discount")
        assert (stored.version_tag, stored.requirements_id) == ("blue", "pricing")
        assert (stored.resource, stored.resource_name, stored.imports) == (file.key, "pricing.dmn", [])
        assert (stored.checksum, stored.deployment, stored.deployed_at) == ("a" * 64, deployment, clock())
        assert stored.tenant == "acme"
        assert await store.resource(file.key) == b"\x00<dmn/>"
        stored.created = False
        assert await store.list_decisions() == [stored]
        assert await store.find_decision("discount", tenant="acme") == stored

    async def test_the_same_decision_is_no_new_version(self, store: Store, keys: Keys) -> None:
        first = await _deploy(store, keys, _file(keys, _decision(keys)))
        again_file = _file(keys, _decision(keys))
        again = await _deploy(store, keys, again_file)
        changed = await _deploy(store, keys, _file(keys, _decision(keys, checksum="b")))
        assert [each.is_new for each in (first, again, changed)] == [True, False, True]
        assert again.decisions[0].key == first.decisions[0].key
        assert changed.decisions[0].version == 2
        assert await store.resource(again_file.key) is None
        assert len(await store.list_decisions()) == 2

    async def test_a_decision_and_a_process_of_one_name_do_not_meet(self, store: Store, keys: Keys) -> None:
        process = _file(keys, name="order.bpmn")
        process.definitions.append(definition(keys, "order", messages=["paid"]))
        await _deploy(store, keys, process)
        deployed = await _deploy(store, keys, _file(keys, _decision(keys, "order")))
        assert deployed.decisions[0].version == 1
        assert deployed.definitions == []
        assert [each.name for each in await store.list_subscriptions()] == ["paid"]
        assert await store.find_definition("order") is not None

    async def test_one_new_decision_of_a_file_writes_the_file(self, store: Store, keys: Keys) -> None:
        await _deploy(store, keys, _file(keys, _decision(keys, "old")))
        file = _file(keys, _decision(keys, "old"), _decision(keys, "new"))
        deployed = await _deploy(store, keys, file)
        assert [each.created for each in deployed.decisions] == [False, True]
        assert deployed.decisions[1].resource == file.key
        assert await store.resource(file.key) is not None

    async def test_a_file_that_a_new_decision_imports_is_kept_for_it(self, store: Store, keys: Keys) -> None:
        await _deploy(store, keys, _file(keys, _decision(keys, "base"), name="base.dmn"))
        base = _file(keys, _decision(keys, "base"), name="base.dmn", content=b"<base/>")
        uses = _file(keys, _decision(keys, "uses", imports=[base.key]))
        deployed = await _deploy(store, keys, uses, base)
        assert [each.created for each in deployed.decisions] == [True, False]
        found = await store.find_decision("uses")
        assert found is not None
        assert found.imports == [base.key]
        assert await store.resource(base.key) == b"<base/>"


class TestFindDecision:
    """By version, tag or deployment."""

    async def test_by_version_tag_and_the_latest(self, store: Store, keys: Keys) -> None:
        for checksum, tag in (("a", "blue"), ("b", "blue"), ("c", "green")):
            await _deploy(store, keys, _file(keys, _decision(keys, checksum=checksum, version_tag=tag)))

        async def version(decision_id: str = "discount", number: int = 0, tag: str = "") -> int:
            found = await store.find_decision(decision_id, version=number, version_tag=tag)
            return found.version if found else 0

        assert [await version(), await version(number=1), await version(tag="blue")] == [3, 1, 2]
        assert [await version(number=9), await version(tag="red"), await version("unknown")] == [0, 0, 0]

    async def test_by_a_deployment_even_if_it_made_no_new_version_of_it(self, store: Store, keys: Keys) -> None:
        one, two = keys.take(), keys.take()
        await _deploy(store, keys, _file(keys, _decision(keys, "a"), _decision(keys, "b")), key=one)
        await _deploy(store, keys, _file(keys, _decision(keys, "a", "c"), _decision(keys, "b")), key=two)
        versions = {
            (decision_id, deployment): found.version
            for decision_id in ("a", "b")
            for deployment in (one, two)
            if (found := await store.find_decision(decision_id, deployment=deployment))
        }
        assert versions == {("a", one): 1, ("a", two): 2, ("b", one): 1, ("b", two): 1}
        assert await store.find_decision("a", deployment=keys.take()) is None

    async def test_tenants_do_not_see_each_other(self, store: Store, keys: Keys) -> None:
        await _deploy(store, keys, _file(keys, _decision(keys)), tenant="acme")
        assert await store.find_decision("discount") is None
        assert await store.list_decisions(tenant="other") == []
        assert len(await store.list_decisions(tenant="acme")) == 1

    async def test_the_list_shows_the_newest_version_of_each_decision_first(self, store: Store, keys: Keys) -> None:
        for decision_id, checksum in (("b", "1"), ("a", "2"), ("b", "3")):
            await _deploy(store, keys, _file(keys, _decision(keys, decision_id, checksum)))
        listed = [(each.decision_id, each.version) for each in await store.list_decisions()]
        assert listed == [("a", 1), ("b", 2), ("b", 1)]
        assert [each.version for each in await store.list_decisions(decision_id="b")] == [2, 1]
