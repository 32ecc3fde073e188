"""Forms: what is deployed, which one a user task or the start of a process shows. It shows none itself.

A form is deployed as a ``.form`` file (form-js) and named by its id, or embedded in a process. Any other reference of a
user task (``externalReference``, a ``formKey`` of another product) is handed on as it is.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Self

import msgspec

from procession.app import arguments
from procession.app.inspection import Inspection
from procession.app.views import EMBEDDED, View
from procession.core.elements.tasks import form_request
from procession.errors import NotFound
from procession.jobs.schedule import to_datetime
from procession.model.definition import Definition, Evaluable
from procession.store.rows import StoredForm, UserTaskFilter


class Form(View, frozen=True, kw_only=True):
    """A deployed version of a form."""

    form_key: int
    form_id: str
    version: int
    version_tag: str
    resource_name: str
    deployed_at: datetime
    tenant_id: str
    created: bool = False  # in the answer to a deployment: whether this is a new version

    @classmethod
    def of(cls, row: StoredForm) -> Self:
        """The view of a row."""
        return cls(
            form_key=row.key,
            form_id=row.form_id,
            version=row.version,
            version_tag=row.version_tag,
            resource_name=row.resource_name,
            deployed_at=to_datetime(row.deployed_at),
            tenant_id=row.tenant,
            created=row.created,
        )


class FormDetails(View, frozen=True, kw_only=True):
    """A form to be shown. An embedded one has no key; its version is that of the process."""

    form_key: int
    form_id: str
    version: int
    form_schema: dict[str, Any] = msgspec.field(name="schema")
    tenant_id: str


class Forms(Inspection):
    """The forms of ``Procession``."""

    async def forms(self, form_id: str = "") -> list[Form]:
        """Deployed versions, the newest first within each form id."""
        rows = await self._store.list_forms(form_id=arguments.text(form_id, "form_id"), tenant=self._tenant)
        return [Form.of(row) for row in rows]

    async def form(self, form_key: int) -> FormDetails:
        """A version with its schema. Raises NotFound."""
        row = await self._stored_form(form_key)
        content = await self.form_file(form_key)
        schema = msgspec.json.decode(content, type=dict[str, Any])
        return FormDetails(
            form_key=row.key, form_id=row.form_id, version=row.version, form_schema=schema, tenant_id=row.tenant
        )

    async def form_file(self, form_key: int) -> bytes:
        """The file of a version, byte for byte. Raises NotFound."""
        row = await self._stored_form(form_key)
        content = await self._store.resource(row.resource)
        if content is None:
            raise NotFound(_no_form(form_key))
        return content

    async def delete_form(self, form_key: int) -> None:
        """Delete a version. Open user tasks that show it show none any more. Raises NotFound."""
        arguments.key(form_key, "form_key")
        await self._engine.delete_form(form_key, tenant=self._tenant)

    async def user_task_form(self, user_task_key: int) -> FormDetails | None:
        """The form of an open user task: the deployed one that it was created with, or an embedded one.

        None where it shows none, or one that only others know (``external_form_reference``). Raises NotFound.
        """
        arguments.key(user_task_key, "user_task_key")
        rows = await self._store.list_user_tasks(UserTaskFilter(key=user_task_key, tenant=self._tenant))
        if not rows:
            message = f"Expected user task {user_task_key} to exist, found none with this key"
            raise NotFound(message)
        row = rows[0]
        if row.form:
            return await self.form(row.form) if await self._store.list_forms(key=row.form) else None
        if not row.form_key.startswith(EMBEDDED):
            return None
        return _embedded(await self._engine.definitions.obtain(row.definition), row.form_key)

    async def start_form(self, process_definition_key: int) -> FormDetails | None:
        """The form that the start of a process shows; None where it shows none. Raises NotFound."""
        arguments.key(process_definition_key, "process_definition_key")
        definition = await self._engine.obtain_definition(process_definition_key, self._tenant)
        spec = definition.elements[definition.none_start].user_task if definition.none_start >= 0 else None
        if spec is None:
            return None
        if spec.form_key is not None or spec.form_id is None:
            key = _text(spec.form_key)
            return _embedded(definition, key) if key.startswith(EMBEDDED) else None
        found = await self._engine.decisions.form_of(form_request(definition, spec, _text(spec.form_id)))
        return await self.form(found.key) if found is not None else None

    async def _stored_form(self, form_key: int) -> StoredForm:
        """One version. Raises NotFound."""
        arguments.key(form_key, "form_key")
        rows = await self._store.list_forms(key=form_key, tenant=self._tenant)
        if not rows:
            raise NotFound(_no_form(form_key))
        return rows[0]


def _embedded(definition: Definition, form_key: str) -> FormDetails | None:
    """A form that a process carries with it."""
    form_id = form_key.removeprefix(EMBEDDED)
    for known, text in definition.forms:
        if known == form_id:
            return FormDetails(
                form_key=0,
                form_id=form_id,
                version=definition.version,
                form_schema=_schema(text),
                tenant_id=definition.tenant,
            )
    return None


def _schema(text: str) -> dict[str, Any]:
    """An embedded form; nothing of one that is no JSON object, which a deployment does not look into."""
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.DecodeError:
        return {}


def _text(expression: Evaluable | None) -> str:
    """What an attribute says without any variable."""
    value = expression.evaluate({}) if expression is not None else None
    return value if isinstance(value, str) else ""


def _no_form(form_key: int) -> str:
    return f"Expected a form with key {form_key}, found none"
