"""``procession incidents`` and ``resolve``: problems that wait for a person."""

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
    from procession.app.views import Incident

Instance = Annotated[
    int, typer.Option("--instance", "-i", metavar="KEY", help="Only of this instance.", show_default=False)
]
NEWLINE = "\n"
ProcessId = Annotated[str, typer.Option("--process", "-p", metavar="ID", help="Only of this process.")]


@with_options
def incidents(
    instance: Instance = 0,
    process_id: ProcessId = "",
    after: Annotated[int, typer.Option("--after", metavar="KEY", help="Go on after this key.", show_default=False)] = 0,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=PAGE_MAX, help="How many.")] = 50,
) -> None:
    """List open incidents."""

    async def work(app: Procession) -> list[Incident]:
        return await app.incidents(process_instance_key=instance, process_id=process_id, after=after, limit=limit)

    rows = run(work)
    if options().json:
        screen.views(rows)
        return
    if not rows:
        screen.note("No incident is open.")
        return
    columns = (
        KEY,
        Column("process"),
        Column("element"),
        Column("instance", whole=True),
        Column("since", whole=True),
    )
    screen.table(
        columns,
        [
            (
                screen.key(row.incident_key),
                row.process_definition_id,
                row.element_id,
                screen.key(row.process_instance_key),
                screen.when(row.creation_time),
            )
            for row in rows
        ],
        below=[screen.styled(f"{row.error_type}: {row.error_message.partition(NEWLINE)[0]}", "red") for row in rows],
    )
    screen.more(rows, limit, rows[-1].incident_key)


@with_options
def resolve(
    keys: Annotated[list[int] | None, typer.Argument(metavar="[INCIDENT]...", help="Keys of incidents.")] = None,
    instance: Instance = 0,
    process_id: ProcessId = "",
    every: Annotated[bool, typer.Option("--all", help="Every open incident.")] = False,
    retries: Annotated[int, typer.Option("--retries", min=1, help="New attempts of the job.")] = 1,
    yes: Yes = False,
) -> None:
    """Try again what raised incidents.

    Those named by key, or all that the options describe.
    """
    filtered = bool(instance or process_id or every)
    if bool(keys) == filtered:
        message = "Name incidents by key, or describe them (--instance, --process, --all)"
        raise typer.BadParameter(message)

    async def work(app: Procession) -> None:
        chosen = list(dict.fromkeys(keys or ()))
        if filtered:
            chosen = await _open(app, instance, process_id)
            confirm(f"Resolve {screen.counted(len(chosen), 'incident')}?", len(chosen), yes=yes)
        await act_on_all("resolved", "incident", chosen, lambda key: app.resolve(key, retries=retries))

    run(work)


async def _open(app: Procession, instance: int, process_id: str) -> list[int]:
    """The keys of all open incidents that fit."""
    found: list[int] = []
    after = 0
    while True:
        page = await app.incidents(process_instance_key=instance, process_id=process_id, after=after, limit=PAGE_MAX)
        found += [row.incident_key for row in page]
        if len(page) < PAGE_MAX:
            return found
        after = page[-1].incident_key
