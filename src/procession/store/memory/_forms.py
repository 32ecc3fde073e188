"""Forms: their versions, how one is found, and how one goes. Part of the store's face."""

from __future__ import annotations

import msgspec

from procession.store.memory._tables import Tables
from procession.store.rows import Deployment, NewForm, NewResource, StoredForm


def deploy_form(tables: Tables, deployment: Deployment, resource: NewResource, new: NewForm, now: int) -> StoredForm:
    """The version that a form is: the latest one if that is the same, or a new one."""
    versions = _versions(tables, new.form_id, deployment.tenant)
    latest = versions[-1] if versions else None
    if latest and latest.checksum == new.checksum:
        return msgspec.structs.replace(latest)
    stored = StoredForm(
        key=new.key,
        form_id=new.form_id,
        version=latest.version + 1 if latest else 1,
        version_tag=new.version_tag,
        resource=resource.key,
        resource_name=resource.name,
        checksum=new.checksum,
        deployment=deployment.key,
        deployed_at=now,
        tenant=deployment.tenant,
    )
    tables.forms[new.key] = stored
    return msgspec.structs.replace(stored, created=True)


def _versions(tables: Tables, form_id: str, tenant: str) -> list[StoredForm]:
    """Oldest first."""
    found = [each for each in tables.forms.values() if (each.form_id, each.tenant) == (form_id, tenant)]
    return sorted(found, key=lambda each: each.version)


class Forms:
    """Forms."""

    _tables: Tables

    async def find_form(
        self, form_id: str, *, version: int = 0, version_tag: str = "", deployment: int = 0, tenant: str = ""
    ) -> StoredForm | None:
        """The newest that fits."""
        within = self._tables.deployed_forms.get(deployment, ())
        for found in reversed(_versions(self._tables, form_id, tenant)):
            if (
                version in (0, found.version)
                and version_tag in ("", found.version_tag)
                and (not deployment or found.key in within)
            ):
                return msgspec.structs.replace(found)
        return None

    async def list_forms(self, *, key: int = 0, form_id: str = "", tenant: str = "") -> list[StoredForm]:
        """All versions, the newest first within each form id."""
        found = [
            msgspec.structs.replace(each)
            for each in self._tables.forms.values()
            if key in (0, each.key) and form_id in ("", each.form_id) and tenant in ("", each.tenant)
        ]
        return sorted(found, key=lambda each: (each.form_id, -each.version, each.tenant))

    async def delete_form(self, form: int) -> bool:
        """Delete a version with its file."""
        tables = self._tables
        found = tables.forms.pop(form, None)
        if found is None:
            return False
        for meant in tables.deployed_forms.values():
            if form in meant:
                meant.remove(form)
        tables.resources.pop(found.resource, None)
        return True
