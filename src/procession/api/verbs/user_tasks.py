"""User tasks: search, one, assign, unassign, update, complete, their form and variables. Done ones are gone."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from procession.api.endpoints import Call, Endpoint, Load
from procession.api.roles import Role, tenant_id_of
from procession.api.search import (
    Date,
    Found,
    Number,
    Record,
    Request,
    Rows,
    Search,
    Source,
    Specials,
    Text,
    holds,
    listed,
    search,
)
from procession.api.verbs.variables import Variable, VariableSearchResult, shortened, variables_of
from procession.api.words import USER_TASK_STATES, key_of, key_or_none, text_or_none, when
from procession.app.forms import FormDetails
from procession.errors import NotFound
from procession.store.rows import StoredUserTask
from procession.store.rows import UserTaskFilter as RowFilter

GROUP = "User task"

Variables = dict[str, Any]


class UserTask(Record):
    """An open user task."""

    user_task_key: str
    name: str | None
    state: str
    assignee: str | None
    element_id: str
    element_instance_key: str
    candidate_groups: list[str]
    candidate_users: list[str]
    process_definition_id: str
    process_definition_key: str
    process_definition_version: int
    process_name: str | None
    process_instance_key: str
    root_process_instance_key: str | None
    creation_date: datetime | None
    completion_date: datetime | None
    due_date: datetime | None
    follow_up_date: datetime | None
    form_key: str | None
    external_form_reference: str | None
    custom_headers: dict[str, str]
    priority: int
    tags: list[str]
    business_id: str | None
    tenant_id: str


class VariableCondition(Request):
    """A variable and its value, as JSON."""

    name: str
    value: Text


class UserTaskConditions(Request):
    """Which user tasks, without alternatives."""

    WORDS = {"state": USER_TASK_STATES}

    state: Text = UNSET
    assignee: Text = UNSET
    business_id: Text = UNSET
    priority: Number = UNSET
    element_id: str | UnsetType = UNSET
    name: Text = UNSET
    candidate_group: Text = UNSET
    candidate_user: Text = UNSET
    tenant_id: Text = UNSET
    process_definition_id: Text = UNSET
    creation_date: Date = UNSET
    completion_date: Date = UNSET
    follow_up_date: Date = UNSET
    due_date: Date = UNSET
    process_instance_variables: list[VariableCondition] | UnsetType = UNSET
    local_variables: list[VariableCondition] | UnsetType = UNSET
    user_task_key: str | UnsetType = UNSET
    process_definition_key: Text = UNSET
    process_instance_key: Text = UNSET
    element_instance_key: str | UnsetType = UNSET
    tags: list[str] | UnsetType = UNSET


class UserTaskFilter(UserTaskConditions, rename={"or_": "$or"}):
    """Which user tasks."""

    or_: list[UserTaskConditions] | UnsetType = UNSET


class AssignUserTask(Request):
    """Give it to a person."""

    assignee: Annotated[str, Meta(min_length=1)]
    allow_override: bool | None = True
    action: str | None = None


class CompleteUserTask(Request):
    """It is done."""

    variables: Variables | None = None
    action: str | None = None


class Changeset(Request):
    """What changes; an empty text or list takes a value away."""

    due_date: str | UnsetType | None = UNSET
    follow_up_date: str | UnsetType | None = UNSET
    candidate_users: list[str] | UnsetType | None = UNSET
    candidate_groups: list[str] | UnsetType | None = UNSET
    priority: Annotated[int, Meta(ge=0, le=100)] | UnsetType | None = UNSET


class UpdateUserTask(Request):
    """Change attributes."""

    changeset: Changeset | None = None
    action: str | None = None


class VariableFilter(Request):
    """Which variables of a task."""

    name: Text = UNSET
    value: Text = UNSET


class Form(Record):
    """A deployed form."""

    form_key: str
    form_id: str
    version: int
    schema: str
    tenant_id: str


async def records_of(call: Call, rows: list[StoredUserTask]) -> list[UserTask]:
    """As clients see them."""
    definitions = await call.desk.definitions(row.definition for row in rows)
    instances = await call.desk.instances(row.instance for row in rows)
    roots = await call.desk.roots(instances.values())
    records: list[UserTask] = []
    for row in rows:
        definition, instance = definitions.get(row.definition), instances.get(row.instance)
        records.append(
            UserTask(
                user_task_key=str(row.key),
                name=text_or_none(row.name) or row.element,
                state="CREATED",
                assignee=text_or_none(row.assignee),
                element_id=row.element,
                element_instance_key=str(row.element_instance),
                candidate_groups=row.candidate_groups,
                candidate_users=row.candidate_users,
                process_definition_id=row.process_id,
                process_definition_key=str(row.definition),
                process_definition_version=definition.version if definition is not None else 0,
                process_name=text_or_none(definition.name) if definition is not None else None,
                process_instance_key=str(row.instance),
                root_process_instance_key=str(roots.get(row.instance, row.instance)),
                creation_date=when(row.created_at),
                completion_date=None,
                due_date=when(row.due_at),
                follow_up_date=when(row.follow_up_at),
                form_key=key_or_none(row.form),
                external_form_reference=text_or_none(row.form_key),
                custom_headers={},
                priority=row.priority,
                tags=instance.tags if instance is not None else [],
                business_id=text_or_none(instance.business_id) if instance is not None else None,
                tenant_id=tenant_id_of(row.tenant),
            )
        )
    return records


async def search_user_tasks(call: Call) -> Found[UserTask]:
    """Open user tasks, the oldest first unless sorted."""
    query: Search[UserTaskFilter] = call.body
    return await search(query, _source(call, query.filter), UserTask)


def _source(call: Call, chosen: UserTaskFilter | None) -> Source:
    which = _pushed_down(chosen)
    variables: dict[str, Variables] = {}
    needs = chosen is not None and any(
        each is not UNSET for each in (chosen.process_instance_variables, chosen.local_variables, chosen.or_)
    )

    async def fetch(after: int, limit: int) -> Rows:
        rows = await call.desk.rows.list_user_tasks(msgspec.structs.replace(which, after=after, limit=limit))
        seen = [row for row in rows if call.who.sees(row.tenant)]
        if needs:
            variables.clear()
            for key, row in (await call.desk.instances(each.instance for each in seen)).items():
                variables[str(key)] = msgspec.json.decode(row.variables or b"{}")
        return Rows(await records_of(call, seen), rows[-1].key if len(rows) == limit else 0)

    specials: Specials = {
        "candidate_group": lambda wanted, record: any(holds(wanted, each) for each in record.candidate_groups),
        "candidate_user": lambda wanted, record: any(holds(wanted, each) for each in record.candidate_users),
        "tags": lambda wanted, record: set(wanted) <= set(record.tags),
        "process_instance_variables": lambda wanted, record: _has(wanted, variables, record),
        "local_variables": lambda wanted, record: _has(wanted, variables, record),
    }
    return Source(fetch, "user_task_key", specials)


def _has(wanted: list[VariableCondition], variables: dict[str, Variables], record: UserTask) -> bool:
    """Whether the task's instance has these variables."""
    found = variables.get(record.process_instance_key, {})
    return all(
        each.name in found and holds(each.value, msgspec.json.encode(found[each.name]).decode()) for each in wanted
    )


def _pushed_down(chosen: UserTaskFilter | None) -> RowFilter:
    """What the store looks for."""
    which = RowFilter()
    if chosen is None:
        return which
    if isinstance(chosen.process_instance_key, str):
        which.instance = key_of(chosen.process_instance_key, "processInstanceKey")
    if isinstance(chosen.process_definition_id, str):
        which.process_id = chosen.process_definition_id
    if isinstance(chosen.user_task_key, str):
        which.key = key_of(chosen.user_task_key, "userTaskKey")
    for name in ("assignee", "candidate_user", "candidate_group"):
        wanted = getattr(chosen, name)
        if isinstance(wanted, str):
            setattr(which, name, wanted)
    if isinstance(chosen.element_id, str):
        which.element = chosen.element_id
    return which


async def the_task(call: Call) -> StoredUserTask:
    """The user task that a request names. Raises NotFound."""
    key = key_of(call.path["userTaskKey"], "userTaskKey")
    rows = await call.desk.rows.list_user_tasks(RowFilter(key=key, limit=1))
    if not rows or rows[0].key != key or not call.who.sees(rows[0].tenant):
        raise NotFound(f"Expected an open user task with key {key}, found none: it was completed or canceled")
    return rows[0]


async def get_user_task(call: Call) -> UserTask:
    """One open user task."""
    (record,) = await records_of(call, [await the_task(call)])
    return record


async def assign_user_task(call: Call) -> None:
    """Give it to a person; without ``allowOverride`` only one that nobody has."""
    body: AssignUserTask = call.body
    row = await the_task(call)
    call.about.update(process_instance_key=row.instance, before=row.assignee, after=body.assignee)
    if body.allow_override is False:
        await call.desk.app.claim_user_task(row.key, body.assignee)
    else:
        await call.desk.app.assign_user_task(row.key, body.assignee)


async def unassign_user_task(call: Call) -> None:
    """Take it back."""
    row = await the_task(call)
    call.about.update(process_instance_key=row.instance, before=row.assignee, after="")
    await call.desk.app.assign_user_task(row.key, "")


async def update_user_task(call: Call) -> None:
    """Change attributes."""
    body: UpdateUserTask = call.body or UpdateUserTask()
    row = await the_task(call)
    changes = _changes(body.changeset or Changeset())
    call.about.update(process_instance_key=row.instance, after=changes)
    if changes:
        await call.desk.app.update_user_task(row.key, **changes)


def _changes(changeset: Changeset) -> dict[str, Any]:
    """What changes; null is no change."""
    given = msgspec.structs.asdict(changeset).items()
    return {name: value for name, value in given if value is not UNSET and value is not None}


async def complete_user_task(call: Call) -> None:
    """It is done."""
    body: CompleteUserTask = call.body or CompleteUserTask()
    row = await the_task(call)
    call.about.update(process_instance_key=row.instance)
    await call.desk.app.complete_user_task(row.key, body.variables)


async def user_task_form(call: Call) -> Form | None:
    """The form that it is shown in, deployed or embedded; nothing where it has none of these."""
    row = await the_task(call)
    found = await call.desk.app.user_task_form(row.key)
    return form_of(found) if found is not None else None


def form_of(found: FormDetails) -> Form:
    """As clients see it."""
    return Form(
        form_key=str(found.form_key),
        form_id=found.form_id,
        version=found.version,
        schema=msgspec.json.encode(found.form_schema).decode(),
        tenant_id=tenant_id_of(found.tenant_id),
    )


async def task_variables(call: Call) -> Found[VariableSearchResult]:
    """The variables that the task sees: its own, those of the scopes around it, the instance's."""
    task = await the_task(call)
    row = await call.desk.instance(call.who, task.instance)
    state = await call.desk.app.state_of(row)
    scopes: list[str] = []
    key = task.element_instance
    while state is not None and key in state.nodes:
        scopes.append(str(key))
        key = state.nodes[key].scope
    scopes.append(str(row.key))
    nearest: dict[str, Variable] = {}
    for variable in await variables_of(call, row):
        if variable.scope_key not in scopes:
            continue
        held = nearest.get(variable.name)
        if held is None or scopes.index(variable.scope_key) < scopes.index(held.scope_key):
            nearest[variable.name] = variable
    whole = call.query.get("truncateValues", "true") == "false"
    records = [shortened(variable, whole=whole) for variable in nearest.values()]
    return await search(call.body, listed(records, "variable_key"), VariableSearchResult)


def _change(path: str, operation: str, verb: Any, summary: str, **more: Any) -> Endpoint:  # noqa: ANN401
    """An endpoint that changes one user task."""
    options: dict[str, Any] = {
        "method": "POST",
        "role": Role.OPERATOR,
        "group": GROUP,
        "status": 204,
        "problems": (409, 504),
        "load": Load.COMMAND,
        "entity": "USER_TASK",
        **more,
    }
    where = f"/user-tasks/{{userTaskKey}}{path}"
    return Endpoint(path=where, operation_id=operation, verb=verb, summary=summary, **options)


def _variables(path: str, operation: str, summary: str) -> Endpoint:
    return Endpoint(
        method="POST",
        path=f"/user-tasks/{{userTaskKey}}/{path}/search",
        operation_id=operation,
        verb=task_variables,
        role=Role.READER,
        summary=summary,
        group=GROUP,
        body=Search[VariableFilter],
        optional=True,
        answer=Found[VariableSearchResult],
        queries=("truncateValues",),
    )


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/user-tasks/search",
        operation_id="searchUserTasks",
        verb=search_user_tasks,
        role=Role.READER,
        summary="Search open user tasks",
        group=GROUP,
        body=Search[UserTaskFilter],
        optional=True,
        answer=Found[UserTask],
    ),
    Endpoint(
        method="GET",
        path="/user-tasks/{userTaskKey}",
        operation_id="getUserTask",
        verb=get_user_task,
        role=Role.READER,
        summary="One open user task",
        group=GROUP,
        answer=UserTask,
    ),
    Endpoint(
        method="GET",
        path="/user-tasks/{userTaskKey}/form",
        operation_id="getUserTaskForm",
        verb=user_task_form,
        role=Role.READER,
        summary="The form of a user task; 204 where it has none",
        group=GROUP,
        answer=Form,
        problems=(204,),
    ),
    _variables("variables", "searchUserTaskVariables", "The variables that a user task sees"),
    _variables("effective-variables", "searchUserTaskEffectiveVariables", "The same"),
    _change("/assignment", "assignUserTask", assign_user_task, "Assign a user task", body=AssignUserTask),
    _change("/assignee", "unassignUserTask", unassign_user_task, "Take a user task back", method="DELETE"),
    _change(
        "", "updateUserTask", update_user_task, "Change a user task", method="PATCH", body=UpdateUserTask, optional=True
    ),
    _change(
        "/completion",
        "completeUserTask",
        complete_user_task,
        "Complete a user task",
        body=CompleteUserTask,
        optional=True,
        load=Load.EXEMPT,
    ),
)
