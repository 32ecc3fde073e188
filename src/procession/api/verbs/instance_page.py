"""What the page of one instance asks beyond the rest: all that is open of it at once, and a migration tried out.

It changes an instance only by the migration, and only if that is not a trial.
"""

from __future__ import annotations

from typing import Any

from procession.api.endpoints import Call, Endpoint, Load
from procession.api.roles import Role
from procession.api.search import Record, Request
from procession.api.verbs.own import Items, Object, shown
from procession.api.words import key_of
from procession.app.views import JobInfo, ProcessInstance, Subscription, UserTask
from procession.limits import PAGE_MAX
from procession.store.rows import InstanceFilter, JobFilter, UserTaskFilter

GROUP = "Procession"
CHILDREN_MAX = 100
OPEN_MAX = min(500, PAGE_MAX)  # of each kind: more cannot be read by anybody


class OpenOfInstance(Record):
    """What an instance waits for: its jobs (timers included), subscriptions, user tasks, and what it has called."""

    jobs: list[Object]
    subscriptions: list[Object]
    user_tasks: list[Object]
    children: list[Object]
    is_whole: bool  # False: there is more than is shown


class TryMigration(Request):
    """Another version to go on under; ``mapping``: elements that are called otherwise there."""

    target_process_definition_key: str
    mapping: dict[str, str] = {}
    dry_run: bool = True


async def open_of_instance(call: Call) -> OpenOfInstance:
    """What is open of an instance, up to OPEN_MAX of each kind."""
    row = await call.desk.instance(call.who, call.path["processInstanceKey"])
    rows = call.desk.rows
    jobs = await rows.list_jobs(JobFilter(instance=row.key, limit=OPEN_MAX))
    subscriptions = await rows.list_subscriptions(instance=row.key, limit=OPEN_MAX)
    tasks = await rows.list_user_tasks(UserTaskFilter(instance=row.key, limit=OPEN_MAX))
    children = await rows.list_instances(InstanceFilter(parent=row.key, limit=CHILDREN_MAX))
    return OpenOfInstance(
        jobs=[shown(JobInfo.of(job)) for job in jobs],
        subscriptions=[shown(Subscription.of(each)) for each in subscriptions],
        user_tasks=[shown(UserTask.of(task)) for task in tasks],
        children=[shown(ProcessInstance.of(child)) for child in children if call.who.sees(child.tenant)],
        is_whole=max(len(jobs), len(subscriptions), len(tasks)) < OPEN_MAX and len(children) < CHILDREN_MAX,
    )


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


def _of_instance(method: str, path: str, operation: str, verb: Any, summary: str, **more: Any) -> Endpoint:  # noqa: ANN401
    where = f"/process-instances/{{processInstanceKey}}/{path}"
    options: dict[str, Any] = {"role": Role.READER, "group": GROUP, "answer": Items, **more}
    return Endpoint(method=method, path=where, operation_id=operation, verb=verb, summary=summary, **options)


ENDPOINTS = (
    _of_instance(
        "GET", "open", "getOpenOfInstance", open_of_instance, "What is open of an instance", answer=OpenOfInstance
    ),
    _of_instance(
        "POST",
        "migration",
        "tryMigration",
        try_migration,
        "Try a migration out, or carry it out",
        role=Role.OPERATOR,
        body=TryMigration,
        problems=(409,),
        load=Load.COMMAND,
        entity="PROCESS_INSTANCE",
    ),
)
