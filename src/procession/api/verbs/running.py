"""What is done to process instances: create (and wait), cancel, modify, migrate, suspend, resume, delete, resolve."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from procession.api.endpoints import Call, Endpoint, Load
from procession.api.problems import Problem
from procession.api.roles import Role, tenant_id_of, tenant_of
from procession.api.search import Record, Request
from procession.api.words import key_of, text_or_none
from procession.app import Procession
from procession.app.tracing import key_within_trace
from procession.core.commands import Activate, AnyCommand, Modify, Move, ResolveIncident, SetVariables
from procession.errors import Conflict, NotFound
from procession.limits import AWAIT_MS_MAX, PAGE_MAX
from procession.store.rows import StoredDefinition

GROUP = "Process instance"
AWAIT_MS = 15_000  # how long an awaited completion may take where the request does not say

Variables = dict[str, Any]


class StartInstruction(Request):
    """Where to begin."""

    element_id: str


class RuntimeInstruction(Request):
    """What happens on the way. Not served."""

    after_element_id: str = ""
    type: str = ""


class CreateProcessInstance(Request):
    """Start an instance: of a version by its key, or of a process by its id (latest, exact, or by tag)."""

    process_definition_id: str | UnsetType = UNSET
    process_definition_key: str | UnsetType = UNSET
    process_definition_version: int = -1
    process_definition_version_tag: str | UnsetType = UNSET
    variables: Variables | None = None
    tenant_id: str | UnsetType = UNSET
    operation_reference: int | UnsetType = UNSET
    start_instructions: list[StartInstruction] = []
    runtime_instructions: list[RuntimeInstruction] = []
    await_completion: bool = False
    fetch_variables: list[str] | None = None
    request_timeout: Annotated[int, Meta(ge=0, le=AWAIT_MS_MAX)] = 0
    tags: list[str] = []
    business_id: str | UnsetType | None = UNSET


class CreatedInstance(Record):
    """The instance, with the variables that it ended with if that was awaited."""

    process_definition_id: str
    process_definition_version: int
    tenant_id: str
    variables: Variables
    process_definition_key: str
    process_instance_key: str
    tags: list[str]
    business_id: str | None


class Reference(Request):
    """A request that says nothing more."""

    operation_reference: int | UnsetType = UNSET


class VariableInstruction(Request):
    """Variables to set; ``scopeId`` is the scope around the element, none the instance."""

    variables: Variables
    scope_id: str = ""


class ActivateInstruction(Request):
    """Begin at an element."""

    element_id: str
    variable_instructions: list[VariableInstruction] = []
    ancestor_element_instance_key: str = "-1"


class SourceById(Request, tag="byId", tag_field="sourceType"):
    """All tokens of an element."""

    source_element_id: str


class SourceByKey(Request, tag="byKey", tag_field="sourceType"):
    """One element instance."""

    source_element_instance_key: str


class AncestorScope(Request):
    """Which scope a moved token gets into."""

    ancestor_scope_type: Literal["direct", "inferred", "sourceParent"] = "inferred"
    ancestor_element_instance_key: str = ""


class MoveInstruction(Request):
    """Move tokens to another element."""

    source_element_instruction: SourceById | SourceByKey
    target_element_id: str
    ancestor_scope_instruction: AncestorScope | None = None
    variable_instructions: list[VariableInstruction] = []


class TerminateInstruction(Request):
    """End an element instance, or all of an element."""

    element_id: str | UnsetType = UNSET
    element_instance_key: str | UnsetType = UNSET


class ModifyProcessInstance(Request):
    """Change where an instance stands."""

    operation_reference: int | UnsetType = UNSET
    activate_instructions: list[ActivateInstruction] = []
    move_instructions: list[MoveInstruction] = []
    terminate_instructions: list[TerminateInstruction] = []


class MappingInstruction(Request):
    """An element that is another one in the target."""

    source_element_id: str
    target_element_id: str


class MigrateProcessInstance(Request):
    """Go on under another version."""

    target_process_definition_key: str
    mapping_instructions: list[MappingInstruction]
    operation_reference: int | UnsetType = UNSET


async def create_instance(call: Call) -> CreatedInstance:
    """Start, and wait for the end if that is asked for. Raises NotFound, InvalidValue, TimeoutError."""
    body: CreateProcessInstance = call.body
    tenant = call.desk.tenant(call.who, body.tenant_id)
    if body.runtime_instructions:
        raise Problem(400, "runtimeInstructions are not served: terminate an element by a modification instead")
    app = call.desk.app_of(tenant)
    definition = await _definition(call, app, body)
    business_id = body.business_id if isinstance(body.business_id, str) else ""
    options: dict[str, Any] = {"business_id": business_id, "tags": body.tags}
    at = [each.element_id for each in body.start_instructions]
    if not at:
        await _check_start(app, definition)
    traced = await key_within_trace(call.desk.app)
    key = await app.start_version(definition.key, body.variables, at=at, key=traced, **options)
    variables: Variables = {}
    if body.await_completion:
        call.answered()
        variables = await _awaited(app, key, body)
    return CreatedInstance(
        process_definition_id=definition.process_id,
        process_definition_version=definition.version,
        tenant_id=tenant_id_of(tenant),
        variables=variables,
        process_definition_key=str(definition.key),
        process_instance_key=str(key),
        tags=body.tags,
        business_id=text_or_none(business_id),
    )


async def _definition(call: Call, app: Procession, body: CreateProcessInstance) -> StoredDefinition:
    """Which version is meant. Raises Problem, NotFound."""
    by_key, by_id = body.process_definition_key, body.process_definition_id
    if isinstance(by_key, str):
        found = await call.desk.definition(call.who, key_of(by_key, "processDefinitionKey"))
        if found.tenant != tenant_of(body.tenant_id if isinstance(body.tenant_id, str) else ""):
            raise NotFound(f"Expected a process definition with key {by_key} of this tenant, found none")
        return found
    if not isinstance(by_id, str) or not by_id:
        raise Problem(400, "Expected processDefinitionId or processDefinitionKey, found neither")
    tag = body.process_definition_version_tag
    return await call.desk.latest(
        app, by_id, max(0, body.process_definition_version), tag if isinstance(tag, str) else ""
    )


async def _check_start(app: Procession, definition: StoredDefinition) -> None:
    """Whether it begins for somebody who just asks, and not only with a message or the like. Raises Conflict."""
    compiled = await app.compiled(definition.key)
    if compiled.start_events and compiled.none_start < 0:
        raise Conflict(f"Expected '{definition.process_id}' to have a none start event, found that events start it")


async def _awaited(app: Procession, key: int, body: CreateProcessInstance) -> Variables:
    """The variables at the end. Raises TimeoutError, Problem where it was terminated."""
    wait_ms = body.request_timeout or AWAIT_MS
    try:
        ended = await app.wait(key, timeout=wait_ms / 1000)
    except TimeoutError:
        raise Problem(
            504,
            f"Process instance {key} was started and did not end within {wait_ms} ms: it goes on",
        ) from None
    if ended.state != "COMPLETED":
        raise Problem(409, f"Process instance {key} was started and terminated before it was complete")
    row = await app.stored_instance(key)
    variables: Variables = msgspec.json.decode(row.variables or b"{}")
    wanted = body.fetch_variables
    return variables if not wanted else {name: variables[name] for name in wanted if name in variables}


def _key(call: Call) -> int:
    return key_of(call.path["processInstanceKey"], "processInstanceKey")


class AssignBusinessId(Request):
    """The business id that an instance gets."""

    business_id: Annotated[str, Meta(min_length=1)]


async def cancel_instance(call: Call) -> None:
    """End an instance and everything that it called."""
    key = _key(call)
    await call.desk.check_instance(call.who, key)
    try:
        await call.desk.app.cancel(key, reason=f"canceled by {call.who.name}")
    except Conflict as error:
        if (await call.desk.app.stored_instance(key)).ended_at:
            raise NotFound(str(error)) from None  # Camunda 8's answer for one that is over
        raise


async def assign_business_id(call: Call) -> None:
    """Give an instance its business id."""
    key = _key(call)
    await call.desk.check_instance(call.who, key)
    await call.desk.app.assign_business_id(key, call.body.business_id)


async def modify_instance(call: Call) -> None:
    """Change where an instance stands, in one step."""
    key = _key(call)
    body: ModifyProcessInstance = call.body
    await call.desk.check_instance(call.who, key)
    app = call.desk.app
    terminate = [await _terminated(app, key, each) for each in body.terminate_instructions]
    globally: Variables = {}
    command = Modify(
        activate=[_activated(each, globally) for each in body.activate_instructions],
        move=[_moved(each, globally) for each in body.move_instructions],
        terminate=list(dict.fromkeys(key for keys in terminate for key in keys)),
    )
    if globally:
        await app.command(key, SetVariables(globally))
    try:
        await app.command(key, command)
    except NotFound as error:
        await call.desk.instance(call.who, key)
        raise Problem(400, str(error)) from None  # the instance is there: an instruction names what is not


def _activated(instruction: ActivateInstruction, globally: Variables) -> Activate:
    ancestor = instruction.ancestor_element_instance_key
    local: Variables = {}
    for each in instruction.variable_instructions:
        (local if each.scope_id else globally).update(each.variables)
    key = 0 if ancestor in ("", "-1") else key_of(ancestor, "ancestorElementInstanceKey")
    return Activate(instruction.element_id, ancestor=key, variables=local)


def _moved(instruction: MoveInstruction, globally: Variables) -> Move:
    for each in instruction.variable_instructions:
        if each.scope_id:
            raise Problem(400, "Variables of a scope are not served in a move: activate and terminate instead")
        globally.update(each.variables)
    source = instruction.source_element_instruction
    if isinstance(source, SourceById):
        return Move(instruction.target_element_id, source=source.source_element_id)
    key = key_of(source.source_element_instance_key, "sourceElementInstanceKey")
    return Move(instruction.target_element_id, element_instance=key)


async def _terminated(app: Procession, key: int, instruction: TerminateInstruction) -> list[int]:
    """The element instances that an instruction means. Raises Problem, NotFound."""
    if isinstance(instruction.element_instance_key, str):
        return [key_of(instruction.element_instance_key, "elementInstanceKey")]
    if not isinstance(instruction.element_id, str):
        raise Problem(400, "Expected elementId or elementInstanceKey in a terminate instruction, found neither")
    active = (await app.instance(key)).elements
    found = [each.element_instance_key for each in active if each.element_id == instruction.element_id]
    if not found:
        raise Problem(400, f"'{instruction.element_id}' is not active in instance {key}: nothing to terminate")
    return found


async def migrate_instance(call: Call) -> None:
    """Go on under another version, or another process."""
    key = _key(call)
    body: MigrateProcessInstance = call.body
    await call.desk.check_instance(call.who, key)
    target = await call.desk.definition(
        call.who, key_of(body.target_process_definition_key, "targetProcessDefinitionKey")
    )
    mapping = {each.source_element_id: each.target_element_id for each in body.mapping_instructions}
    await call.desk.app.migrate_instance(key, target.key, mapping)


async def suspend_instance(call: Call) -> None:
    """Let an instance rest."""
    await call.desk.check_instance(call.who, _key(call))
    await call.desk.app.suspend(_key(call))


async def resume_instance(call: Call) -> None:
    """Let it go on."""
    await call.desk.check_instance(call.who, _key(call))
    await call.desk.app.resume(_key(call))


async def delete_instance(call: Call) -> None:
    """Delete an ended instance with its history."""
    await call.desk.check_instance(call.who, _key(call))
    await call.desk.app.delete_instance(_key(call))


async def resolve_incidents(call: Call) -> None:
    """Try again whatever raised an incident of this instance."""
    key = _key(call)
    await call.desk.instance(call.who, key)
    for incident in await call.desk.rows.list_incidents(instance=key, limit=PAGE_MAX):
        await resolve(call.desk.app, incident.instance, incident.key, incident.job)


async def resolve(app: Procession, instance: int, incident: int, job: int) -> None:
    """Resolve an incident with the attempts that its job was given. Raises NotFound, Conflict."""
    retries = (await app.stored_job(job)).retries if job else 0
    command: AnyCommand = ResolveIncident(incident, retries)
    await app.command(instance, command)


def _command(path: str, operation: str, verb: Any, summary: str, **more: Any) -> Endpoint:  # noqa: ANN401
    """An endpoint that gives one instance a command."""
    options: dict[str, Any] = {
        "method": "POST",
        "role": Role.OPERATOR,
        "group": GROUP,
        "status": 204,
        "problems": (409, 504),
        "load": Load.COMMAND,
        "entity": "PROCESS_INSTANCE",
        "body": Reference,
        "optional": True,
        **more,
    }
    where = f"/process-instances/{{processInstanceKey}}/{path}"
    return Endpoint(path=where, operation_id=operation, verb=verb, summary=summary, **options)


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/process-instances",
        operation_id="createProcessInstance",
        verb=create_instance,
        role=Role.OPERATOR,
        summary="Start a process instance, and wait for its end if asked to",
        group=GROUP,
        body=CreateProcessInstance,
        answer=CreatedInstance,
        problems=(404, 409, 504),
        load=Load.COMMAND,
        entity="PROCESS_INSTANCE",
    ),
    _command("cancellation", "cancelProcessInstance", cancel_instance, "Cancel an instance", load=Load.EXEMPT),
    _command(
        "business-id-assignment",
        "assignProcessInstanceBusinessId",
        assign_business_id,
        "Give a business id to an instance that has none",
        body=AssignBusinessId,
        optional=False,
    ),
    _command(
        "modification",
        "modifyProcessInstance",
        modify_instance,
        "Change where an instance stands",
        body=ModifyProcessInstance,
        optional=False,
        problems=(409, 504),
    ),
    _command(
        "migration",
        "migrateProcessInstance",
        migrate_instance,
        "Let an instance go on under another version",
        body=MigrateProcessInstance,
        optional=False,
    ),
    _command("suspension", "suspendProcessInstance", suspend_instance, "Let an instance rest"),
    _command("resumption", "resumeProcessInstance", resume_instance, "Let an instance go on"),
    _command("deletion", "deleteProcessInstance", delete_instance, "Delete an ended instance with its history"),
    _command(
        "incident-resolution",
        "resolveProcessInstanceIncidents",
        resolve_incidents,
        "Try again whatever raised an incident of an instance",
    ),
)
