"""Forms: their versions, how one is found, and how one goes."""
# ruff: noqa: D102 - a test is named as a sentence

from __future__ import annotations

from procession.ids import Keys
from procession.store.port import Store
from procession.store.rows import Deployed, Deployment, NewForm, NewResource
from procession.testing.conformance.stage import ManualClock, definition


def _form(keys: Keys, form_id: str = "approval", content: bytes = b"{}", **more: object) -> NewResource:
    """A file with one form; its checksum says what it holds."""
    checksum = content.hex().ljust(64, "0")[:64]
    form = NewForm(key=keys.take(), form_id=form_id, checksum=checksum, **more)  # pyright: ignore[reportArgumentType]
    name = f"{form_id}.form"
    return NewResource(key=keys.take(), name=name, kind="form", content=content, checksum=checksum, forms=[form])


async def _deploy(store: Store, keys: Keys, *files: NewResource, key: int = 0, tenant: str = "") -> Deployed:
    return await store.deploy(Deployment(key=key or keys.take(), resources=list(files), tenant=tenant))


class TestForms:
    """Deployed and versioned like processes."""

    async def test_a_form_has_all_that_was_deployed(self, store: Store, keys: Keys, clock: ManualClock) -> None:
        file = _form(keys, content=b'{"a":1}', version_tag="blue")
        deployment = keys.take()
        deployed = await _deploy(store, keys, file, key=deployment, tenant="acme")
        (stored,) = deployed.forms
        assert deployed.is_new
        assert stored.created
        assert (stored.key, stored.form_id, stored.version) == (file.forms[0].key, "approval", 1)
        assert (stored.version_tag, stored.resource, stored.resource_name) == ("blue", file.key, "approval.form")
        assert (stored.checksum, stored.deployment, stored.deployed_at) == (file.checksum, deployment, clock())
        assert stored.tenant == "acme"
        assert await store.resource(file.key) == b'{"a":1}'
        stored.created = False
        assert await store.list_forms() == [stored]
        assert await store.list_forms(key=stored.key, form_id="approval", tenant="acme") == [stored]
        assert await store.find_form("approval", tenant="acme") == stored
        assert await store.list_forms(tenant="other") == await store.list_forms(key=1) == []
        assert await store.find_form("approval") is None

    async def test_the_same_bytes_are_no_new_version(self, store: Store, keys: Keys) -> None:
        first = await _deploy(store, keys, _form(keys))
        again_file = _form(keys)
        again = await _deploy(store, keys, again_file)
        changed = await _deploy(store, keys, _form(keys, content=b"{1}"))
        assert [each.is_new for each in (first, again, changed)] == [True, False, True]
        assert again.forms[0].key == first.forms[0].key
        assert changed.forms[0].version == 2
        assert await store.resource(again_file.key) is None
        assert [each.version for each in await store.list_forms(form_id="approval")] == [2, 1]

    async def test_a_form_is_found_by_version_tag_and_deployment(self, store: Store, keys: Keys) -> None:
        """A deployment means its version, even one that it only found."""
        one, two = keys.take(), keys.take()
        await _deploy(store, keys, _form(keys, version_tag="blue"), key=one)
        await _deploy(store, keys, _form(keys, "other"), _form(keys, version_tag="blue"), key=two)
        await _deploy(store, keys, _form(keys, content=b"{1}", version_tag="green"))

        async def version(number: int = 0, tag: str = "", deployment: int = 0) -> int:
            found = await store.find_form("approval", version=number, version_tag=tag, deployment=deployment)
            return found.version if found else 0

        assert [await version(), await version(1), await version(9)] == [2, 1, 0]
        assert [await version(tag="blue"), await version(tag="green"), await version(tag="red")] == [1, 2, 0]
        assert [await version(deployment=one), await version(deployment=two), await version(deployment=7)] == [1, 1, 0]

    async def test_a_form_goes_alone_with_its_file(self, store: Store, keys: Keys) -> None:
        """The version before is the latest then; a process of the same deployment stays."""
        old = (await _deploy(store, keys, _form(keys))).forms[0]
        process = NewResource(key=keys.take(), name="p.bpmn", kind="bpmn", content=b"<p/>", checksum="f" * 64)
        process.definitions.append(definition(keys, "order"))
        new = (await _deploy(store, keys, _form(keys, content=b"{1}"), process)).forms[0]
        assert await store.delete_form(new.key)
        assert not await store.delete_form(new.key)
        assert await store.resource(new.resource) is None
        assert await store.resource(process.key) is not None
        assert await store.find_form("approval", deployment=new.deployment) is None
        found = await store.find_form("approval")
        assert found is not None
        assert found.key == old.key
