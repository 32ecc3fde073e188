"""Operations over many instances: begin them, look at them, cancel them. A filter that cannot be used is refused."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from procession.api.endpoints import Call, Endpoint, Load
from procession.api.problems import Problem
from procession.api.roles import Role, tenant_of
from procession.api.search import Found, Record, Request, Rows, Search, Source, Specials, Text, holds, matching, search
from procession.api.verbs.instances import InstanceFilter
from procession.api.verbs.jobs import Changeset, JobFilter, checked_changes, job_source
from procession.api.verbs.running import MappingInstruction
from procession.api.words import BATCH_ITEM_STATES, BATCH_STATES, key_of
from procession.app.batches import Batch, Which
from procession.app.operations import UPDATE
from procession.errors import NotFound
from procession.limits import BATCH_JOBS_MAX, PAGE_MAX

GROUP = "Batch operation"
TYPES = {
    "cancel": "CANCEL_PROCESS_INSTANCE",
    "modify": "MODIFY_PROCESS_INSTANCE",
    "migrate": "MIGRATE_PROCESS_INSTANCE",
    "resolve": "RESOLVE_INCIDENT",
    "delete": "DELETE_PROCESS_INSTANCE",
    "restart": "RESTART_PROCESS_INSTANCE",
    "suspend": "SUSPEND_PROCESS_INSTANCE",
    "resume": "RESUME_PROCESS_INSTANCE",
    UPDATE: "UPDATE_JOB",
}


class OverInstances(Request):
    """Which instances."""

    filter: InstanceFilter
    operation_reference: int | UnsetType = UNSET


class ResolveIncidents(Request):
    """Whose incidents: those of a process, or all."""

    filter: InstanceFilter | None = None
    operation_reference: int | UnsetType = UNSET


class MigrationPlan(Request):
    """Where to."""

    target_process_definition_key: str
    mapping_instructions: list[MappingInstruction] = []


class MigrateInstances(OverInstances, kw_only=True):
    """Let many go on under another version."""

    migration_plan: MigrationPlan


class MoveInstruction(Request):
    """Move all tokens of an element to another."""

    source_element_id: str
    target_element_id: str


class ModifyInstances(OverInstances, kw_only=True):
    """Change where many stand."""

    move_instructions: Annotated[list[MoveInstruction], Meta(min_length=1)]


class Created(Record):
    """It goes on by itself."""

    batch_operation_key: str
    batch_operation_type: str


class UpdateJobs(Request):
    """Which jobs, and what changes about them."""

    filter: JobFilter
    changeset: Changeset
    operation_reference: int | UnsetType = UNSET


class BatchError(Record):
    """What kept some items from being done."""

    partition_id: int
    type: str
    message: str


class BatchOperation(Record):
    """How far it is."""

    batch_operation_key: str
    state: str
    batch_operation_type: str
    start_date: datetime | None
    end_date: datetime | None
    actor_type: str | None
    actor_id: str | None
    operations_total_count: int
    operations_failed_count: int
    operations_completed_count: int
    errors: list[BatchError]


class BatchFilter(Request):
    """Which batch operations."""

    WORDS = {"state": BATCH_STATES}

    batch_operation_key: Text = UNSET
    operation_type: Text = UNSET
    state: Text = UNSET
    actor_type: Text = UNSET
    actor_id: Text = UNSET


class BatchItem(Record):
    """An item that could not be done."""

    operation_type: str
    batch_operation_key: str
    item_key: str
    process_instance_key: str | None
    root_process_instance_key: str | None
    state: str
    processed_date: datetime | None
    error_message: str | None


class ItemFilter(Request):
    """Which items. The batch has to be named by its key."""

    WORDS = {"state": BATCH_ITEM_STATES}

    batch_operation_key: Text = UNSET
    item_key: Text = UNSET
    process_instance_key: Text = UNSET
    state: Text = UNSET
    operation_type: Text = UNSET


async def _begin(call: Call, kind: str, chosen: InstanceFilter | None, **how: Any) -> Created:  # noqa: ANN401
    which, tenant = _which(call, chosen, kind)
    key = await call.desk.app_of(tenant).batch(kind, which=which, **how)
    call.about.update(batch_key=key, filter=dict(which), tenant=tenant)
    return Created(batch_operation_key=str(key), batch_operation_type=TYPES[kind])


def _which(call: Call, chosen: InstanceFilter | None, kind: str) -> tuple[Which, str]:
    """The filter as a batch takes it, and the tenant. Raises Problem for what a batch cannot look for."""
    which: dict[str, Any] = {}
    given = msgspec.structs.asdict(chosen) if chosen is not None else {}
    values = {name: value for name, value in given.items() if value is not UNSET}
    tenant_id = values.pop("tenant_id", None)
    names = {
        "process_definition_id": "process_id",
        "business_id": "business_id",
        "state": "state",
        "has_incident": "with_incident",
    }
    for name, value in values.items():
        if name in names and isinstance(value, str | bool):
            which[names[name]] = value
        elif name in {"process_definition_key", "parent_process_instance_key"} and isinstance(value, str):
            ours = "process_definition_key" if name == "process_definition_key" else "parent"
            which[ours] = key_of(value, name)
        elif name == "tags" and len(value) == 1:
            which["tag"] = value[0]
        else:
            raise Problem(400, f"A batch '{kind}' cannot look for '{name}' in this way: it takes {KNOWN}")
    if call.who.tenants is not None and tenant_id is None and len(call.who.tenants) > 1:
        raise Problem(400, "Expected tenantId in the filter: a batch is of one tenant, and you have several")
    if tenant_id is None and call.who.tenants is not None:
        return Which(**which), next(iter(call.who.tenants), "")
    if tenant_id is not None and not isinstance(tenant_id, str):
        raise Problem(400, "Expected tenantId in the filter of a batch to be one tenant")
    return Which(**which), call.desk.tenant(call.who, tenant_id)


KNOWN = (
    "processDefinitionId, processDefinitionKey, state, businessId, hasIncident, parentProcessInstanceKey, one of tags, "
    "tenantId, each an exact value"
)


async def cancel_instances(call: Call) -> Created:
    """Cancel many."""
    return await _begin(call, "cancel", call.body.filter, reason=f"canceled by {call.who.name}")


async def delete_instances(call: Call) -> Created:
    """Delete many that are over."""
    return await _begin(call, "delete", call.body.filter)


async def suspend_instances(call: Call) -> Created:
    """Let many rest."""
    return await _begin(call, "suspend", call.body.filter)


async def resume_instances(call: Call) -> Created:
    """Let many go on that rest."""
    return await _begin(call, "resume", call.body.filter)


async def resolve_instances(call: Call) -> Created:
    """Resolve the incidents of many."""
    body: ResolveIncidents = call.body or ResolveIncidents()
    return await _begin(call, "resolve", body.filter)


async def migrate_instances(call: Call) -> Created:
    """Let many go on under another version."""
    plan: MigrationPlan = call.body.migration_plan
    mapping = {each.source_element_id: each.target_element_id for each in plan.mapping_instructions}
    target = await call.desk.definition(
        call.who, key_of(plan.target_process_definition_key, "targetProcessDefinitionKey")
    )
    return await _begin(call, "migrate", call.body.filter, target_process_definition_key=target.key, mapping=mapping)


async def modify_instances(call: Call) -> Created:
    """Move tokens of many."""
    body: ModifyInstances = call.body
    move = {each.source_element_id: each.target_element_id for each in body.move_instructions}
    return await _begin(call, "modify", body.filter, move=move)


def record_of(batch: Batch, errors: list[str]) -> BatchOperation:
    """As clients see it."""
    state = "PARTIALLY_COMPLETED" if batch.state == "COMPLETED" and batch.failed else batch.state
    return BatchOperation(
        batch_operation_key=str(batch.batch_key),
        state=state,
        batch_operation_type=TYPES.get(batch.kind, batch.kind.upper()),
        start_date=batch.start_date,
        end_date=batch.end_date,
        actor_type=None,
        actor_id=None,
        operations_total_count=batch.total,
        operations_failed_count=batch.failed,
        operations_completed_count=batch.done,
        errors=[BatchError(partition_id=1, type="QUERY_FAILED", message=text) for text in errors[:1]],
    )


async def search_batches(call: Call) -> Found[BatchOperation]:
    """Batch operations, the newest first unless sorted."""

    async def fetch(after: int, limit: int) -> Rows:
        rows = await call.desk.app.batches(after=after, limit=limit)
        seen = [record_of(row, []) for row in rows if call.who.sees(row.tenant_id)]
        return Rows(seen, rows[-1].batch_key if len(rows) == limit else 0)

    specials: Specials = {"operation_type": lambda wanted, record: holds(wanted, record.batch_operation_type)}
    return await search(call.body, Source(fetch, "batch_operation_key", specials), BatchOperation)


async def _the_batch(call: Call) -> Batch:
    """The batch that a request names. Raises NotFound."""
    key = key_of(call.path["batchOperationKey"], "batchOperationKey")
    batch = await call.desk.app.batch_progress(key)
    if not call.who.sees(batch.tenant_id):
        raise NotFound(f"Expected a batch with key {key}, found none")
    return batch


async def get_batch(call: Call) -> BatchOperation:
    """One of them."""
    batch = await _the_batch(call)
    return record_of(batch, [])


async def cancel_batch(call: Call) -> None:
    """Begin no more of it."""
    batch = await _the_batch(call)
    await call.desk.app.cancel_batch(batch.batch_key)


async def suspend_batch(call: Call) -> None:
    """Let it rest."""
    batch = await _the_batch(call)
    await call.desk.app.suspend_batch(batch.batch_key)


async def resume_batch(call: Call) -> None:
    """Let it go on."""
    batch = await _the_batch(call)
    await call.desk.app.resume_batch(batch.batch_key)


async def update_jobs(call: Call) -> Created:
    """Change the jobs that fit now. Raises Problem for a filter that says nothing, or means too many."""
    body: UpdateJobs = call.body
    if all(getattr(body.filter, name) in (UNSET, None) for name in body.filter.__struct_fields__):
        raise Problem(400, "Expected at least one condition in the filter: without any it would mean all jobs")
    changes = checked_changes(body.changeset)
    found = await matching(body.filter, job_source(call, body.filter))
    if not found:
        raise Problem(400, "Expected a filter that means at least one job that is there, found none")
    if len(found) >= BATCH_JOBS_MAX:
        raise Problem(400, f"The filter means {BATCH_JOBS_MAX} jobs or more (BATCH_JOBS_MAX): narrow it")
    tenants = {row.tenant_id for row in found}
    if len(tenants) > 1:
        raise Problem(400, "Expected tenantId in the filter: a batch is of one tenant, and these jobs are of several")
    tenant = tenant_of(tenants.pop())
    key = await call.desk.app_of(tenant).update_jobs([int(row.job_key) for row in found], **changes)
    call.about.update(batch_key=key, jobs=len(found), tenant=tenant)
    return Created(batch_operation_key=str(key), batch_operation_type=TYPES[UPDATE])


async def search_items(call: Call) -> Found[BatchItem]:
    """What could not be done of one batch, and why; items that are done leave no trace."""
    query: Search[ItemFilter] = call.body
    wanted = query.filter.batch_operation_key if query.filter is not None else UNSET
    if not isinstance(wanted, str):
        raise Problem(400, "Expected batchOperationKey in the filter: items are kept by their batch")
    key = key_of(wanted, "batchOperationKey")
    batch = await call.desk.app.batch_progress(key)
    if not call.who.sees(batch.tenant_id):
        raise NotFound(f"Expected a batch with key {key}, found none")

    async def fetch(after: int, limit: int) -> Rows:
        errors = await call.desk.app.batch_errors(key, after=after, limit=min(limit, PAGE_MAX))
        items = [
            BatchItem(
                operation_type=TYPES.get(batch.kind, batch.kind.upper()),
                batch_operation_key=str(key),
                item_key=str(error.key),
                process_instance_key=str(error.key) if batch.kind not in {"resolve", UPDATE} else None,
                root_process_instance_key=None,
                state="FAILED",
                processed_date=None,
                error_message=error.message,
            )
            for error in errors
        ]
        return Rows(items, errors[-1].key if len(errors) == limit else 0)

    return await search(query, Source(fetch, "item_key"), BatchItem)


def _many(path: str, operation: str, verb: Any, summary: str, body: Any, **more: Any) -> Endpoint:  # noqa: ANN401
    return Endpoint(
        method="POST",
        path=f"/process-instances/{path}",
        operation_id=operation,
        verb=verb,
        role=Role.OPERATOR,
        summary=summary,
        group="Process instance",
        body=body,
        answer=Created,
        problems=(404, 409),
        load=Load.COMMAND,
        entity="BATCH",
        **more,
    )


def _turn(path: str, operation: str, verb: Any, summary: str) -> Endpoint:  # noqa: ANN401
    return Endpoint(
        method="POST",
        path=f"/batch-operations/{{batchOperationKey}}/{path}",
        operation_id=operation,
        verb=verb,
        role=Role.OPERATOR,
        summary=summary,
        group=GROUP,
        status=204,
        problems=(409,),
        entity="BATCH",
    )


ENDPOINTS = (
    _many(
        "cancellation",
        "cancelProcessInstancesBatchOperation",
        cancel_instances,
        "Cancel many instances",
        OverInstances,
    ),
    _many(
        "deletion", "deleteProcessInstancesBatchOperation", delete_instances, "Delete many that are over", OverInstances
    ),
    _many("suspension", "suspendProcessInstancesBatchOperation", suspend_instances, "Suspend many", OverInstances),
    _many("resumption", "resumeProcessInstancesBatchOperation", resume_instances, "Resume many", OverInstances),
    _many(
        "incident-resolution",
        "resolveIncidentsBatchOperation",
        resolve_instances,
        "Resolve the incidents of many instances",
        ResolveIncidents,
        optional=True,
    ),
    _many(
        "migration",
        "migrateProcessInstancesBatchOperation",
        migrate_instances,
        "Let many instances go on under another version",
        MigrateInstances,
    ),
    _many(
        "modification",
        "modifyProcessInstancesBatchOperation",
        modify_instances,
        "Move tokens of many instances",
        ModifyInstances,
    ),
    Endpoint(
        method="POST",
        path="/batch-operations/search",
        operation_id="searchBatchOperations",
        verb=search_batches,
        role=Role.READER,
        summary="Search batch operations",
        group=GROUP,
        body=Search[BatchFilter],
        optional=True,
        answer=Found[BatchOperation],
    ),
    Endpoint(
        method="POST",
        path="/batch-operation-items/search",
        operation_id="searchBatchOperationItems",
        verb=search_items,
        role=Role.READER,
        summary="What could not be done of a batch operation",
        group=GROUP,
        body=Search[ItemFilter],
        answer=Found[BatchItem],
        problems=(404,),
    ),
    Endpoint(
        method="GET",
        path="/batch-operations/{batchOperationKey}",
        operation_id="getBatchOperation",
        verb=get_batch,
        role=Role.READER,
        summary="How far a batch operation is",
        group=GROUP,
        answer=BatchOperation,
    ),
    _turn("cancellation", "cancelBatchOperation", cancel_batch, "Begin no more of a batch operation"),
    _turn("suspension", "suspendBatchOperation", suspend_batch, "Let a batch operation rest"),
    _turn("resumption", "resumeBatchOperation", resume_batch, "Let a suspended batch operation go on"),
    Endpoint(
        method="POST",
        path="/jobs/batch-update",
        operation_id="updateJobsBatchOperation",
        verb=update_jobs,
        role=Role.OPERATOR,
        summary="Change retries, timeout or priority of many jobs",
        group="Job",
        body=UpdateJobs,
        answer=Created,
        problems=(404,),
        load=Load.COMMAND,
        entity="BATCH",
    ),
)
