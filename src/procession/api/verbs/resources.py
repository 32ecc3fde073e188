"""Deployments and the files that they brought: deploy, read, delete; forms."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, UnsetType

from procession.api.endpoints import Call, Content, Endpoint
from procession.api.problems import Problem
from procession.api.roles import Role, tenant_id_of
from procession.api.search import Found, Record, Request, Search, Text, listed, search
from procession.api.verbs.user_tasks import Form, form_of
from procession.api.words import key_of, text_or_none
from procession.errors import NotFound
from procession.store.rows import StoredDecision, StoredDefinition, StoredForm

GROUP = "Resource"
FILES_MAX = 100  # of one deployment


class DeployedProcess(Record):
    """A process of the deployment."""

    process_definition_id: str
    process_definition_version: int
    process_definition_key: str
    resource_name: str
    tenant_id: str


class DeployedDecision(Record):
    """A decision of the deployment."""

    decision_definition_id: str
    decision_definition_key: str
    version: int
    name: str
    decision_requirements_id: str
    decision_requirements_key: str
    tenant_id: str


class DeployedRequirements(Record):
    """A DMN file of the deployment."""

    decision_requirements_id: str
    decision_requirements_name: str
    decision_requirements_key: str
    version: int
    resource_name: str
    tenant_id: str


class DeployedForm(Record):
    """A form of the deployment."""

    form_id: str
    form_key: str
    version: int
    resource_name: str
    tenant_id: str


class Deployed(Record):
    """One thing that the deployment brought, or found unchanged."""

    process_definition: DeployedProcess | None = None
    decision_definition: DeployedDecision | None = None
    decision_requirements: DeployedRequirements | None = None
    form: DeployedForm | None = None
    resource: None = None


class Deployment(Record):
    """Everything of it."""

    deployment_key: str
    tenant_id: str
    deployments: list[Deployed]


class Resource(Record):
    """A deployed file by what it defines."""

    resource_key: str
    resource_id: str
    resource_name: str
    version: int
    version_tag: str | None
    tenant_id: str


class ResourceFilter(Request):
    """Which files."""

    resource_key: Text = UNSET
    resource_id: Text = UNSET
    resource_name: Text = UNSET
    version: int | UnsetType = UNSET
    version_tag: Text = UNSET
    tenant_id: Text = UNSET


class DeleteResource(Request):
    """Delete a version. Its ended instances go with it."""

    operation_reference: int | UnsetType = UNSET
    delete_history: bool = False


class DeletedResource(Record):
    """It is gone."""

    resource_key: str
    batch_operation: None = None


async def deploy(call: Call) -> Deployment:
    """Deploy files together, all or nothing. Raises InvalidModel with every problem."""
    files = [part for part in call.uploads if part.name == "resources"]
    if not files:
        raise Problem(400, "Expected at least one file in the parts named 'resources', found none")
    if len(files) > FILES_MAX:
        raise Problem(400, f"Expected at most {FILES_MAX} files in one deployment, found {len(files)}")
    named = next((part.data.decode(errors="replace") for part in call.uploads if part.name == "tenantId"), None)
    tenant = call.desk.tenant(call.who, named)
    app = call.desk.app_of(tenant)
    deployed = await app.deploy(*((part.filename, part.data) for part in files))
    forms = [form.form_key for form in deployed.forms]
    rows = await call.desk.definitions(row.process_definition_key for row in deployed)
    decisions = (
        {row.key: row for row in await call.desk.rows.list_decisions(tenant=tenant)} if deployed.decisions else {}
    )
    items = [_process(rows[row.process_definition_key]) for row in deployed]
    found = [decisions[row.decision_definition_key] for row in deployed.decisions]
    items += [_decision(row) for row in found]
    items += [_requirements(row) for row in {row.resource: row for row in found}.values()]
    form_rows = [row for key in forms for row in await call.desk.rows.list_forms(key=key)]
    items += [_form(row) for row in form_rows]
    made = [*rows.values(), *found, *form_rows]
    call.about.update(names=[part.filename for part in files])
    return Deployment(
        deployment_key=str(max((row.deployment for row in made), default=await app.new_key())),
        tenant_id=tenant_id_of(tenant),
        deployments=items,
    )


def _process(row: StoredDefinition) -> Deployed:
    return Deployed(
        process_definition=DeployedProcess(
            process_definition_id=row.process_id,
            process_definition_version=row.version,
            process_definition_key=str(row.key),
            resource_name=row.resource_name,
            tenant_id=tenant_id_of(row.tenant),
        )
    )


def _decision(row: StoredDecision) -> Deployed:
    return Deployed(
        decision_definition=DeployedDecision(
            decision_definition_id=row.decision_id,
            decision_definition_key=str(row.key),
            version=row.version,
            name=row.name,
            decision_requirements_id=row.requirements_id,
            decision_requirements_key=str(row.resource),
            tenant_id=tenant_id_of(row.tenant),
        )
    )


def _requirements(row: StoredDecision) -> Deployed:
    return Deployed(
        decision_requirements=DeployedRequirements(
            decision_requirements_id=row.requirements_id,
            decision_requirements_name=row.requirements_id,
            decision_requirements_key=str(row.resource),
            version=row.version,
            resource_name=row.resource_name,
            tenant_id=tenant_id_of(row.tenant),
        )
    )


def _form(row: StoredForm) -> Deployed:
    return Deployed(
        form=DeployedForm(
            form_id=row.form_id,
            form_key=str(row.key),
            version=row.version,
            resource_name=row.resource_name,
            tenant_id=tenant_id_of(row.tenant),
        )
    )


AnyRow = StoredDefinition | StoredDecision | StoredForm


async def _all(call: Call) -> list[AnyRow]:
    """Whatever is deployed and seen: processes, decisions, forms."""
    rows: list[AnyRow] = [*await call.desk.rows.list_definitions(), *await call.desk.rows.list_decisions()]
    rows += await call.desk.rows.list_forms()
    return [row for row in rows if call.who.sees(row.tenant)]


def _resource(row: AnyRow) -> Resource:
    match row:
        case StoredDefinition():
            name = row.process_id
        case StoredDecision():
            name = row.decision_id
        case StoredForm():
            name = row.form_id
    return Resource(
        resource_key=str(row.key),
        resource_id=name,
        resource_name=row.resource_name,
        version=row.version,
        version_tag=text_or_none(row.version_tag),
        tenant_id=tenant_id_of(row.tenant),
    )


async def _the_row(call: Call) -> AnyRow:
    """What a request names. Raises NotFound."""
    key = key_of(call.path["resourceKey"], "resourceKey")
    for row in await _all(call):
        if key in (row.key, row.resource):
            return row
    raise NotFound(f"Expected a deployed resource with key {key}, found none")


async def search_resources(call: Call) -> Found[Resource]:
    """Everything that is deployed."""
    return await search(call.body, listed([_resource(row) for row in await _all(call)], "resource_key"), Resource)


async def get_resource(call: Call) -> Resource:
    """One of them."""
    return _resource(await _the_row(call))


async def get_resource_content(call: Call) -> Content:
    """Its file."""
    row = await _the_row(call)
    content = await call.desk.rows.resource(row.resource)
    if content is None:
        raise NotFound(f"Expected the file of resource {row.key}, found none")
    return Content(data=content, media_type="application/octet-stream", headers=DOWNLOAD)


DOWNLOAD = {"Content-Disposition": "attachment"}  # never shown in a page of ours: it is somebody's XML


async def delete_resource(call: Call) -> DeletedResource:
    """Delete a version of a process, or a form. Raises Conflict while an instance of it runs."""
    row = await _the_row(call)
    match row:
        case StoredDefinition():
            await call.desk.app.delete_definition(row.key)
            call.desk.forget_definition(row.key)
        case StoredForm():
            await call.desk.app.delete_form(row.key)
        case StoredDecision():
            raise Problem(409, "Decisions cannot be deleted: deploy a version without the rules instead")
    return DeletedResource(resource_key=str(row.key))


async def get_form(call: Call) -> Form:
    """One deployed form."""
    found = await call.desk.app.form(key_of(call.path["formKey"], "formKey"))
    if not call.who.sees(found.tenant_id):
        raise NotFound(f"Expected a form with key {found.form_key}, found none")
    return form_of(found)


async def get_start_form(call: Call) -> Form | None:
    """The form of a process' start event; nothing where it has none that was deployed or embedded."""
    row = await call.desk.definition(call.who, key_of(call.path["processDefinitionKey"], "processDefinitionKey"))
    found = await call.desk.app.start_form(row.key)
    return form_of(found) if found is not None else None


def _get(path: str, operation: str, verb: Any, summary: str, answer: Any, **more: Any) -> Endpoint:  # noqa: ANN401
    options: dict[str, Any] = {"method": "GET", "role": Role.READER, "group": GROUP, **more}
    return Endpoint(path=path, operation_id=operation, verb=verb, summary=summary, answer=answer, **options)


_BYTES = "application/octet-stream"

ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/deployments",
        operation_id="createDeployment",
        verb=deploy,
        role=Role.DEPLOYER,
        summary="Deploy files together, all or nothing",
        group=GROUP,
        multipart=True,
        answer=Deployment,
        entity="RESOURCE",
    ),
    _get(
        "/resources/search",
        "searchResources",
        search_resources,
        "Search what is deployed",
        Found[Resource],
        method="POST",
        body=Search[ResourceFilter],
        optional=True,
    ),
    _get("/resources/{resourceKey}", "getResource", get_resource, "What a deployed file defines", Resource),
    _get(
        "/resources/{resourceKey}/content",
        "getResourceContent",
        get_resource_content,
        "A deployed file",
        Content,
        media_type=_BYTES,
    ),
    _get(
        "/resources/{resourceKey}/content/binary",
        "getResourceContentBinary",
        get_resource_content,
        "A deployed file",
        Content,
        media_type=_BYTES,
    ),
    Endpoint(
        method="POST",
        path="/resources/{resourceKey}/deletion",
        operation_id="deleteResource",
        verb=delete_resource,
        role=Role.DEPLOYER,
        summary="Delete a version of a process, or a form",
        group=GROUP,
        body=DeleteResource,
        optional=True,
        answer=DeletedResource,
        problems=(409,),
        entity="RESOURCE",
    ),
    _get("/forms/{formKey}", "getFormByKey", get_form, "A deployed form", Form, group="Form"),
    _get(
        "/process-definitions/{processDefinitionKey}/form",
        "getStartProcessForm",
        get_start_form,
        "The form of a process' start event; 204 where it has none",
        Form,
        group="Process definition",
        problems=(204,),
    ),
)
