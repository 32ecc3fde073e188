"""What is done from the page of one instance beyond Camunda's API: try a migration out, give a failed job new attempts.

In Camunda's API, retries of a job belong to workers, and an incident is resolved with what a worker has given it. An
operator does both at once here.
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from procession.api.endpoints import Call, Endpoint, Load
from procession.api.roles import Role
from procession.api.search import Request
from procession.api.verbs.own import Items, shown
from procession.api.words import key_of
from procession.core.listening import RETRIES_MAX
from procession.limits import PAGE_MAX

GROUP = "Procession"

Attempts = Annotated[int, Meta(ge=1, le=RETRIES_MAX)]


class TryMigration(Request):
    """Another version to go on under; ``mapping``: elements that are called otherwise there."""

    target_process_definition_key: str
    mapping: dict[str, str] = {}
    dry_run: bool = True


class GiveRetries(Request):
    """New attempts."""

    retries: Attempts = 1


async def try_migration(call: Call) -> Items:
    """Let an instance go on under another version, or say what would prevent it. Raises Conflict, NotFound."""
    body: TryMigration = call.body
    row = await call.desk.instance(call.who, call.path["processInstanceKey"])
    target = await call.desk.definition(
        call.who, key_of(body.target_process_definition_key, "targetProcessDefinitionKey")
    )
    app = call.desk.app
    findings = await app.migrate_instance(row.key, target.key, body.mapping, dry_run=body.dry_run)
    return Items(items=[shown(finding) for finding in findings])


async def resolve_incident(call: Call) -> None:
    """Try again what raised an incident. Raises Conflict, NotFound."""
    key = key_of(call.path["incidentKey"], "incidentKey")
    await call.desk.check_owner(call.who, "incident", key)
    await call.desk.app.resolve(key, retries=_retries(call))


async def resolve_instance(call: Call) -> None:
    """Try again whatever raised an incident of an instance. Raises Conflict, NotFound."""
    row = await call.desk.instance(call.who, call.path["processInstanceKey"])
    for incident in await call.desk.rows.list_incidents(instance=row.key, limit=PAGE_MAX):
        await call.desk.app.resolve(incident.key, retries=_retries(call))


async def change_retries(call: Call) -> None:
    """Give a job of an instance another number of attempts. Raises Conflict, NotFound."""
    key = key_of(call.path["jobKey"], "jobKey")
    await call.desk.check_owner(call.who, "job", key)
    await call.desk.app.update_job(key, retries=_retries(call))


def _retries(call: Call) -> int:
    body: GiveRetries | None = call.body
    return body.retries if body is not None else 1


def _command(path: str, operation: str, verb: Any, summary: str, **more: Any) -> Endpoint:  # noqa: ANN401
    options: dict[str, Any] = {
        "method": "POST",
        "role": Role.OPERATOR,
        "group": GROUP,
        "status": 204,
        "problems": (409, 504),
        "load": Load.COMMAND,
        "entity": "PROCESS_INSTANCE",
        "body": GiveRetries,
        "optional": True,
        **more,
    }
    return Endpoint(path=path, operation_id=operation, verb=verb, summary=summary, **options)


ENDPOINTS = (
    _command(
        "/process-instances/{processInstanceKey}/migration",
        "tryMigration",
        try_migration,
        "Try a migration out, or carry it out",
        body=TryMigration,
        optional=False,
        answer=Items,
        status=200,
    ),
    _command(
        "/process-instances/{processInstanceKey}/incident-resolution",
        "retryInstance",
        resolve_instance,
        "Try again, with new attempts, whatever raised an incident of an instance",
    ),
    _command(
        "/incidents/{incidentKey}/resolution",
        "retryIncident",
        resolve_incident,
        "Try again, with new attempts, what raised an incident",
        entity="INCIDENT",
    ),
    _command("/jobs/{jobKey}/retries", "changeRetries", change_retries, "Change the attempts of a job", entity="JOB"),
)
