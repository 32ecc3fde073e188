"""Forms: their versions, how one is found, and how one goes. Part of the store's face."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec

from procession.store.rows import Deployment, NewForm, NewResource, StoredForm
from procession.store.sqlite._session import Session
from procession.store.sqlite._threads import Work


class Forms:
    """Forms."""

    async def _read(self, work: Work) -> Any:  # noqa: ANN401 - what the work gives
        raise NotImplementedError

    async def _write(self, work: Work) -> Any:  # noqa: ANN401 - what the work gives
        raise NotImplementedError

    async def find_form(
        self, form_id: str, *, version: int = 0, version_tag: str = "", deployment: int = 0, tenant: str = ""
    ) -> StoredForm | None:
        """The newest that fits."""
        which = {"version": version, "version_tag": version_tag, "deployment": deployment, "tenant": tenant}
        rows = await self._read(lambda session: session.rows("find_form", form_id=form_id, **which))
        return _read_form(rows[0]) if rows else None

    async def list_forms(self, *, key: int = 0, form_id: str = "", tenant: str = "") -> list[StoredForm]:
        """All versions, the newest first within each form id."""
        rows = await self._read(lambda session: session.rows("list_forms", key=key, form_id=form_id, tenant=tenant))
        return [_read_form(row) for row in rows]

    async def delete_form(self, form: int) -> bool:
        """Delete a version with its file."""
        return await self._write(partial(_delete_form, key=form))


def deploy_form(session: Session, deployment: Deployment, resource: NewResource, new: NewForm) -> StoredForm:
    """The version that a form is: the latest one if that is the same, or a new one."""
    which = {"form_id": new.form_id, "tenant": deployment.tenant}
    latest = session.rows("find_form", **which, version=0, version_tag="", deployment=0)
    before = _read_form(latest[0]) if latest else None
    if before is not None and before.checksum == new.checksum:
        return before
    stored = StoredForm(
        key=new.key,
        form_id=new.form_id,
        version=before.version + 1 if before else 1,
        version_tag=new.version_tag,
        resource=resource.key,
        resource_name=resource.name,
        checksum=new.checksum,
        deployment=deployment.key,
        deployed_at=session.now,
        tenant=deployment.tenant,
        created=True,
    )
    values = msgspec.structs.asdict(stored)
    del values["created"]
    session.run("insert_form", **values)
    return stored


def _delete_form(session: Session, key: int) -> bool:
    resource = session.value("delete_form", key=key)
    if resource is None:
        return False
    session.run("delete_deployment_form", key=key)
    session.run("delete_resource", key=resource)
    return True


def _read_form(row: Any) -> StoredForm:  # noqa: ANN401 - a row of a query
    return StoredForm(
        key=row[0],
        form_id=row[1],
        version=row[2],
        version_tag=row[3],
        resource=row[4],
        resource_name=row[5],
        checksum=row[6],
        deployment=row[7],
        deployed_at=row[8],
        tenant=row[9],
    )
