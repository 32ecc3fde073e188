"""``procession batch`` and ``batches``: operations over all instances of a filter, and how far they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from procession.cli import screen
from procession.cli.instances import BusinessId, ProcessId, Tag, WithIncident
from procession.cli.modify import pair
from procession.cli.options import options, with_options
from procession.cli.session import run
from procession.cli.tables import KEY, Column
from procession.limits import PAGE_MAX

if TYPE_CHECKING:
    from procession.app import Procession
    from procession.app.batches import Batch, BatchError


@with_options
def batch(
    kind: Annotated[str, typer.Argument(help="cancel, modify, migrate, resolve or delete.")],
    *,
    process_id: ProcessId = "",
    business_id: BusinessId = "",
    with_incident: WithIncident = False,
    tag: Tag = "",
    state: Annotated[str, typer.Option("--state", help="active, suspended; for delete completed, terminated.")] = "",
    reason: Annotated[str, typer.Option("--reason", help="cancel: kept in the history.")] = "",
    retries: Annotated[int, typer.Option("--retries", help="resolve: new attempts.", show_default=False)] = 0,
    activate: Annotated[list[str] | None, typer.Option("--activate", metavar="ELEMENT", help="modify.")] = None,
    move: Annotated[list[str] | None, typer.Option("--move", metavar="FROM=TO", help="modify.")] = None,
    to: Annotated[int, typer.Option("--to", metavar="KEY", help="migrate: the version.", show_default=False)] = 0,
    mapping: Annotated[list[str] | None, typer.Option("--map", metavar="FROM=TO", help="migrate.")] = None,
    per_second: Annotated[float, typer.Option("--per-second", help="At most so many.", show_default=False)] = 0,
) -> None:
    """Begin an operation over all instances of a filter.

    It goes on by itself, in the processes that work; batches shows how far it is.
    """
    which = _said(process_id=process_id, business_id=business_id, with_incident=with_incident, tag=tag, state=state)
    how = _said(
        reason=reason,
        retries=retries,
        activate=activate,
        move=dict(pair(text, "--move") for text in move or ()),
        target_process_definition_key=to,
        mapping=dict(pair(text, "--map") for text in mapping or ()),
    )

    async def work(app: Procession) -> Batch:
        return await app.batch_progress(await app.batch(kind, per_second=per_second, which=which, **how))

    begun = run(work)
    if options().json:
        screen.json(begun.to_dict())
    else:
        screen.line(f"Batch {begun.batch_key}: {kind} {screen.counted(begun.total, 'item')}")


def _said(**values: Any) -> Any:  # noqa: ANN401 - options of many types
    """The options that were said."""
    return {name: value for name, value in values.items() if value}


@with_options
def batches(
    key: Annotated[int, typer.Argument(metavar="[BATCH]", help="One: with its errors.", show_default=False)] = 0,
    cancel: Annotated[bool, typer.Option("--cancel", help="Begin no more of it.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=PAGE_MAX, help="How many.")] = 50,
) -> None:
    """List operations over many instances.

    How many items are done, how many failed; of one batch also why.
    """

    async def work(app: Procession) -> tuple[list[Batch], list[BatchError]]:
        if not key:
            return await app.batches(limit=limit), []
        if cancel:
            await app.cancel_batch(key)
        return [await app.batch_progress(key)], await app.batch_errors(key, limit=limit)

    if cancel and not key:
        message = "Name the batch to cancel by its key"
        raise typer.BadParameter(message)
    rows, errors = run(work)
    if options().json:
        shown = [row.to_dict() for row in rows]
        screen.json({**shown[0], "errors": [each.to_dict() for each in errors]} if key else shown)
        return
    if not rows:
        screen.note("There is no batch.")
        return
    columns = (
        KEY,
        Column("what"),
        Column("state", whole=True),
        Column("of", right=True),
        Column("done", right=True),
        Column("failed", right=True),
        Column("started", whole=True, rank=1),
        Column("ended", whole=True, rank=2),
    )
    screen.table(columns, [_row(row) for row in rows])
    for each in errors:
        screen.paragraph(f"{each.key}: {each.message}", indent=2)


def _row(row: Batch) -> tuple[Any, ...]:
    """One line of the table."""
    return (
        screen.key(row.batch_key),
        row.kind,
        screen.state(row.state),
        f"{row.total:,}",
        f"{row.done:,}",
        f"{row.failed:,}",
        screen.when(row.start_date),
        screen.when(row.end_date),
    )
