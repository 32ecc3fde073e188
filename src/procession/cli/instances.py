"""``procession instances`` and ``cancel``: many instances at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from procession.cli import screen
from procession.cli.bulk import Yes, act_on_all, confirm
from procession.cli.options import options, with_options
from procession.cli.session import run
from procession.cli.tables import KEY, Column
from procession.limits import PAGE_MAX

if TYPE_CHECKING:
    from procession.app import Procession
    from procession.app.views import ProcessInstance

ProcessId = Annotated[str, typer.Option("--process", "-p", metavar="ID", help="Only of this process.")]
BusinessId = Annotated[str, typer.Option("--business-id", help="Only with this business id.")]
WithIncident = Annotated[bool, typer.Option("--with-incident", help="Only those with an open incident.")]
Tag = Annotated[str, typer.Option("--tag", help="Only with this tag.")]


@with_options
def instances(
    *,
    process_id: ProcessId = "",
    state: Annotated[
        list[str] | None,
        typer.Option("--state", help="active, completed, terminated or suspended. Several are fine."),
    ] = None,
    business_id: BusinessId = "",
    with_incident: WithIncident = False,
    tag: Tag = "",
    parent: Annotated[
        int, typer.Option("--parent", metavar="KEY", help="Only those called by this one.", show_default=False)
    ] = 0,
    after: Annotated[int, typer.Option("--after", metavar="KEY", help="Go on after this key.", show_default=False)] = 0,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=PAGE_MAX, help="How many.")] = 50,
    count: Annotated[
        bool, typer.Option("--count", help="How many per state instead (of all, or of one process).")
    ] = False,
) -> None:
    """List instances.

    The newest come first. A red ! marks an open incident.
    """
    if count:
        _count(process_id)
        return

    async def work(app: Procession) -> list[ProcessInstance]:
        return await app.instances(
            process_id,
            state=state or "",
            business_id=business_id,
            with_incident=with_incident,
            tag=tag,
            parent=parent,
            after=after,
            limit=limit,
        )

    rows = run(work)
    if options().json:
        screen.views(rows)
        return
    if not rows:
        said = process_id or state or business_id or with_incident or tag or parent or after
        screen.note("No instance is like that." if said else "There is no instance: procession start PROCESS.")
        return
    _show(rows)
    screen.more(rows, limit, rows[-1].process_instance_key)


def _show(rows: list[ProcessInstance]) -> None:
    """A table of instances."""
    columns = (
        KEY,
        Column("process"),
        Column("state", whole=True),
        Column("business id"),
        Column("started", whole=True),
        Column("ended", whole=True),
        Column("called by", whole=True, rank=2),
        Column("tags", rank=1),
    )
    screen.table(
        columns,
        [
            (
                screen.key(row.process_instance_key),
                row.process_definition_id,
                screen.state(row.state, has_incident=row.has_incident),
                row.business_id,
                screen.when(row.start_date),
                screen.when(row.end_date),
                screen.key(row.parent_process_instance_key),
                ", ".join(row.tags),
            )
            for row in rows
        ],
    )


def _count(process_id: str) -> None:
    """How many instances there are per state."""
    counts = run(lambda app: app.count_instances(process_id))
    if options().json:
        screen.json(counts)
        return
    if not counts:
        screen.note("There is no instance: procession start PROCESS.")
        return
    screen.table(
        (Column("state"), Column("instances", right=True)),
        [(screen.state(name), f"{number:,}") for name, number in counts.items()],
    )


@with_options
def cancel(
    keys: Annotated[list[int] | None, typer.Argument(metavar="[INSTANCE]...", help="Keys of instances.")] = None,
    process_id: ProcessId = "",
    business_id: BusinessId = "",
    with_incident: WithIncident = False,
    tag: Tag = "",
    reason: Annotated[str, typer.Option("--reason", help="Kept in the history.")] = "",
    yes: Yes = False,
) -> None:
    """Cancel instances, and everything that they called.

    Those named by key, or all active ones that the options describe.
    """
    filtered = bool(process_id or business_id or with_incident or tag)
    if bool(keys) == filtered:
        message = "Name instances by key, or describe them (--process, --business-id, --with-incident, --tag)"
        raise typer.BadParameter(message)

    async def work(app: Procession) -> None:
        chosen = list(dict.fromkeys(keys or ()))
        if filtered:
            chosen = await _active(app, process_id, business_id, tag, with_incident=with_incident)
            confirm(f"Cancel {screen.counted(len(chosen), 'instance')}?", len(chosen), yes=yes)
        await act_on_all("canceled", "instance", chosen, lambda key: app.cancel(key, reason=reason))

    run(work)


async def _active(app: Procession, process_id: str, business_id: str, tag: str, *, with_incident: bool) -> list[int]:
    """The keys of all active instances that fit and that nobody called: a called one ends with its caller."""
    found: list[int] = []
    after = 0
    while True:
        page = await app.instances(
            process_id,
            state="ACTIVE",
            business_id=business_id,
            with_incident=with_incident,
            tag=tag,
            after=after,
            limit=PAGE_MAX,
        )
        found += [row.process_instance_key for row in page if not row.parent_process_instance_key]
        if len(page) < PAGE_MAX:
            return found
        after = page[-1].process_instance_key
