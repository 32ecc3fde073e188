"""Forms: their versions in the transaction of a deployment, how one is found, and how one goes."""

from __future__ import annotations

import msgspec

from procession.store.postgres._reading import stored_form
from procession.store.postgres._sessions import Session, Sessions
from procession.store.rows import Deployment, NewForm, NewResource, StoredForm


class Forms:
    """Forms. Part of the store's face."""

    _rest: Sessions

    async def find_form(
        self, form_id: str, *, version: int = 0, version_tag: str = "", deployment: int = 0, tenant: str = ""
    ) -> StoredForm | None:
        """The newest that fits."""
        rows = await self._rest.fetch("find_form", tenant, form_id, version, version_tag, deployment)
        return stored_form(rows[0]) if rows else None

    async def list_forms(self, *, key: int = 0, form_id: str = "", tenant: str = "") -> list[StoredForm]:
        """All versions, newest first within each form id."""
        return [stored_form(row) for row in await self._rest.fetch("list_forms", key, form_id, tenant)]

    async def delete_form(self, form: int) -> bool:
        """Delete a version with its file."""
        return bool(await self._rest.fetch("delete_form", form))


async def decide_forms(session: Session, deployment: Deployment) -> list[StoredForm]:
    """The versions that the forms are: the latest ones where those are the same, or new ones. Writes nothing."""
    news = [(resource, new) for resource in deployment.resources for new in resource.forms]
    if not news:
        return []
    rows = await session.fetch("deploy_latest_forms", deployment.tenant, [new.form_id for _, new in news])
    latest = {each.form_id: each for each in map(stored_form, rows)}
    return [_decide(deployment, resource, new, latest) for resource, new in news]


async def write_forms(session: Session, forms: list[StoredForm]) -> None:
    """Insert the new versions."""
    for each in forms:
        if each.created:
            which = (each.key, each.tenant, each.form_id, each.version, each.version_tag)
            await session.fetch("deploy_form", *which, each.resource, each.checksum, each.deployment)


def _decide(deployment: Deployment, resource: NewResource, new: NewForm, latest: dict[str, StoredForm]) -> StoredForm:
    before = latest.get(new.form_id)
    if before is not None and before.checksum == new.checksum:
        return msgspec.structs.replace(before, created=False)
    stored = StoredForm(
        key=new.key,
        form_id=new.form_id,
        version=before.version + 1 if before else 1,
        version_tag=new.version_tag,
        resource=resource.key,
        resource_name=resource.name,
        checksum=new.checksum,
        deployment=deployment.key,
        deployed_at=0,
        tenant=deployment.tenant,
        created=True,
    )
    latest[new.form_id] = stored
    return stored
