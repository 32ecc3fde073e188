"""``procession tasks``: user tasks, as a person would list, take, change and complete them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from procession.cli import screen
from procession.cli.options import options, with_options
from procession.cli.session import run
from procession.cli.tables import KEY, Column
from procession.cli.values import Var, Vars, variables
from procession.limits import PAGE_MAX

if TYPE_CHECKING:
    from rich.text import Text

    from procession.app.views import UserTask

PLAIN_PRIORITY = 50  # what a task has whose model says none
Task = Annotated[int, typer.Argument(metavar="TASK", help="The task's key.")]
group = typer.Typer(help="List, claim, change and complete user tasks.", invoke_without_command=True)


@group.callback()
@with_options
def tasks(context: typer.Context) -> None:
    """List, claim, change and complete user tasks; without a command: list them."""
    if context.invoked_subcommand is None:
        _list({}, 50)


@group.command("list")
@with_options
def list_tasks(
    *,
    instance: Annotated[
        int, typer.Option("--instance", "-i", metavar="KEY", help="Only of this instance.", show_default=False)
    ] = 0,
    process_id: Annotated[str, typer.Option("--process", "-p", metavar="ID", help="Only of this process.")] = "",
    element_id: Annotated[str, typer.Option("--element", metavar="ID", help="Only of this element.")] = "",
    assignee: Annotated[str, typer.Option("--assignee", help="Only those that this person has.")] = "",
    unassigned: Annotated[bool, typer.Option("--unassigned", help="Only those that nobody has.")] = False,
    user: Annotated[str, typer.Option("--user", help="Only those offered to this person.")] = "",
    group_name: Annotated[str, typer.Option("--group", help="Only those offered to this group.")] = "",
    due_before: Annotated[str, typer.Option("--due-before", metavar="DATE", help="Only those due by then.")] = "",
    follow_up_before: Annotated[
        str, typer.Option("--follow-up-before", metavar="DATE", help="Only those to be looked at by then.")
    ] = "",
    priority: Annotated[
        int, typer.Option("--priority", min=0, help="Only those of this priority or more.", show_default=False)
    ] = 0,
    after: Annotated[int, typer.Option("--after", metavar="KEY", help="Go on after this key.", show_default=False)] = 0,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=PAGE_MAX, help="How many.")] = 50,
) -> None:
    """List open user tasks, the oldest first.

    A date is written as 2030-01-31T12:00:00Z.
    """
    said = {
        "process_instance_key": instance,
        "process_id": process_id,
        "element_id": element_id,
        "assignee": assignee,
        "unassigned": unassigned,
        "candidate_user": user,
        "candidate_group": group_name,
        "due_before": due_before,
        "follow_up_before": follow_up_before,
        "priority": priority,
        "after": after,
    }
    _list({name: value for name, value in said.items() if value}, limit)


@group.command("show")
@with_options
def show(key: Task) -> None:
    """Show one open user task."""
    row = run(lambda app: app.user_task(key))
    if options().json:
        screen.json(row.to_dict())
        return
    screen.line((row.name or row.element_id, "bold"), f" {row.user_task_key}")
    pairs = (
        ("process", row.process_definition_id),
        ("instance", screen.key(row.process_instance_key)),
        ("assignee", row.assignee or "nobody"),
        ("offered to", _offered(row)),
        ("due", screen.when(row.due_date)),
        ("follow-up", screen.when(row.follow_up_date)),
        ("priority", str(row.priority)),
        ("form", row.form_key),
        ("since", screen.when(row.creation_date)),
    )
    screen.pairs(pair for pair in pairs if pair[1])


@group.command("claim")
@with_options
def claim(key: Task, person: Annotated[str, typer.Argument(help="Who takes it.")]) -> None:
    """Take a user task that nobody has; refused where somebody has it."""
    run(lambda app: app.claim_user_task(key, person))
    _tell("Claimed", key, {"assignee": person}, f" for {person}")


@group.command("unclaim")
@with_options
def unclaim(key: Task) -> None:
    """Give a user task back to those whom it is offered to."""
    run(lambda app: app.unclaim_user_task(key))
    _tell("Given back", key, {"assignee": ""})


@group.command("assign")
@with_options
def assign(
    key: Task,
    person: Annotated[str, typer.Argument(help="Who is to do it; nobody: the task is given back.")] = "",
) -> None:
    """Give a user task to a person, whoever has it, or take it back."""
    run(lambda app: app.assign_user_task(key, person))
    _tell("Assigned", key, {"assignee": person}, f" to {person}" if person else " to nobody")


@group.command("update")
@with_options
def update(
    *,
    key: Task,
    user: Annotated[list[str] | None, typer.Option("--user", help="Offer it to this person, and only those.")] = None,
    group_name: Annotated[list[str] | None, typer.Option("--group", help="Offer it to this group likewise.")] = None,
    due: Annotated[str | None, typer.Option("--due", metavar="DATE", help="Until when; empty: no date.")] = None,
    follow_up: Annotated[
        str | None, typer.Option("--follow-up", metavar="DATE", help="When to look at it; empty: no date.")
    ] = None,
    priority: Annotated[int | None, typer.Option("--priority", min=0, help="The higher, the more urgent.")] = None,
) -> None:
    """Change to whom a user task is offered, its dates, its priority.

    An empty name (--group "") leaves nobody. A date is written as 2030-01-31T12:00:00Z.
    """
    people = None if user is None else [name for name in user if name]
    groups = None if group_name is None else [name for name in group_name if name]
    run(
        lambda app: app.update_user_task(
            key,
            candidate_users=people,
            candidate_groups=groups,
            due_date=due,
            follow_up_date=follow_up,
            priority=priority,
        )
    )
    _tell("Changed", key, {})


@group.command("complete")
@with_options
def complete(
    key: Task,
    var: Var = None,
    vars: Vars = "",  # noqa: A002 - the option's name
) -> None:
    """Complete a user task with its results."""
    values = variables(var, vars)
    run(lambda app: app.complete_user_task(key, values))
    _tell("Completed", key, {})


def _tell(done: str, key: int, more: dict[str, Any], end: str = "") -> None:
    """What was done."""
    if options().json:
        screen.json({"userTaskKey": key, **more})
    else:
        screen.line(f"{done} ", (str(key), "bold"), end)


def _list(which: dict[str, Any], limit: int) -> None:
    """Find and show."""
    rows = run(lambda app: app.user_tasks(**which, limit=limit))
    if options().json:
        screen.views(rows)
        return
    if not rows:
        screen.note("No user task is open." if not which else "No open user task is like that.")
        return
    columns = (
        KEY,
        Column("task"),
        Column("process", rank=4),
        Column("instance", whole=True, rank=3),
        Column("assignee"),
        Column("offered to", rank=1),
        Column("due", whole=True),
        Column("prio", right=True, rank=2),
        Column("since", whole=True, rank=5),
    )
    screen.table(columns, [_line(row) for row in rows])
    screen.more(rows, limit, rows[-1].user_task_key)


def _line(row: UserTask) -> tuple[str | Text, ...]:
    """One task."""
    return (
        screen.key(row.user_task_key),
        row.name or row.element_id,
        row.process_definition_id,
        screen.key(row.process_instance_key),
        row.assignee,
        _offered(row),
        screen.when(row.due_date),
        str(row.priority) if row.priority != PLAIN_PRIORITY else "",
        screen.when(row.creation_date),
    )


def _offered(row: UserTask) -> str:
    """To whom it is offered."""
    return ", ".join([*row.candidate_users, *row.candidate_groups])
