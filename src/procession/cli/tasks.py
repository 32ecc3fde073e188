"""``procession tasks``: user tasks, as a person would list, take and complete them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from procession.cli import screen
from procession.cli.options import options, with_options
from procession.cli.session import run
from procession.cli.tables import KEY, Column
from procession.cli.values import Var, Vars, variables
from procession.limits import PAGE_MAX

if TYPE_CHECKING:
    from procession.app import Procession
    from procession.app.views import UserTask

group = typer.Typer(help="List, assign and complete user tasks.", invoke_without_command=True)


@group.callback()
@with_options
def tasks(context: typer.Context) -> None:
    """List, assign and complete user tasks; without a command: list them."""
    if context.invoked_subcommand is None:
        _list(0, "", "", 0, 50)


@group.command("list")
@with_options
def list_tasks(
    instance: Annotated[
        int, typer.Option("--instance", "-i", metavar="KEY", help="Only of this instance.", show_default=False)
    ] = 0,
    assignee: Annotated[str, typer.Option("--assignee", help="Only those of this person.")] = "",
    group_name: Annotated[str, typer.Option("--group", help="Only those offered to this group.")] = "",
    after: Annotated[int, typer.Option("--after", metavar="KEY", help="Go on after this key.", show_default=False)] = 0,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=PAGE_MAX, help="How many.")] = 50,
) -> None:
    """List open user tasks, the oldest first."""
    _list(instance, assignee, group_name, after, limit)


@group.command("complete")
@with_options
def complete(
    key: Annotated[int, typer.Argument(metavar="TASK", help="The task's key.")],
    var: Var = None,
    vars: Vars = "",  # noqa: A002 - the option's name
) -> None:
    """Complete a user task with its results."""
    values = variables(var, vars)
    run(lambda app: app.complete_user_task(key, values))
    if options().json:
        screen.json({"userTaskKey": key})
    else:
        screen.line("Completed ", (str(key), "bold"))


@group.command("assign")
@with_options
def assign(
    key: Annotated[int, typer.Argument(metavar="TASK", help="The task's key.")],
    person: Annotated[str, typer.Argument(help="Who is to do it; nobody: the task is given back.")] = "",
) -> None:
    """Give a user task to a person, or take it back."""
    run(lambda app: app.assign_user_task(key, person))
    if options().json:
        screen.json({"userTaskKey": key, "assignee": person})
    else:
        screen.line("Assigned ", (str(key), "bold"), f" to {person}" if person else " to nobody")


def _list(instance: int, assignee: str, group_name: str, after: int, limit: int) -> None:
    """Find and show."""

    async def work(app: Procession) -> list[UserTask]:
        return await app.user_tasks(
            process_instance_key=instance, assignee=assignee, candidate_group=group_name, after=after, limit=limit
        )

    rows = run(work)
    if options().json:
        screen.views(rows)
        return
    if not rows:
        screen.note("No user task is open.")
        return
    columns = (
        KEY,
        Column("task"),
        Column("process"),
        Column("instance", whole=True, rank=4),
        Column("assignee"),
        Column("offered to", rank=2),
        Column("due", whole=True),
        Column("since", whole=True, rank=3),
    )
    screen.table(
        columns,
        [
            (
                screen.key(row.user_task_key),
                row.name or row.element_id,
                row.process_definition_id,
                screen.key(row.process_instance_key),
                row.assignee,
                ", ".join([*row.candidate_users, *row.candidate_groups]),
                screen.when(row.due_date),
                screen.when(row.creation_date),
            )
            for row in rows
        ],
    )
    screen.more(rows, limit, rows[-1].user_task_key)
