"""``procession batch`` and ``batches``: operations over all instances of a filter, and how far they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from procession.cli import screen
from procession.cli.bulk import Yes, confirm
from procession.cli.endings import REJECTED
from procession.cli.instances import BusinessId, ProcessId, Tag, WithIncident
from procession.cli.modify import pair
from procession.cli.options import options, with_options
from procession.cli.session import run
from procession.cli.tables import KEY, Column
from procession.limits import PAGE_MAX

if TYPE_CHECKING:
    from procession.app import Procession
    from procession.app.batches import Batch, BatchError, BatchTrial

LOOK_S = 0.5  # between two looks at a batch that is waited for
ERRORS = 20  # of a batch, or of a trial, that are shown
Wait = Annotated[bool, typer.Option("--wait", "-w", help="Wait for its end; exit code 1 if items failed.")]


@with_options
def batch(
    kind: Annotated[str, typer.Argument(help="cancel, modify, migrate, resolve, restart or delete.")],
    *,
    process_id: ProcessId = "",
    business_id: BusinessId = "",
    with_incident: WithIncident = False,
    tag: Tag = "",
    state: Annotated[
        list[str] | None,
        typer.Option("--state", help="active, suspended; restart, delete: completed, terminated. Several are fine."),
    ] = None,
    reason: Annotated[str, typer.Option("--reason", help="cancel: kept in the history.")] = "",
    retries: Annotated[int, typer.Option("--retries", help="resolve: new attempts.", show_default=False)] = 0,
    activate: Annotated[list[str] | None, typer.Option("--activate", metavar="ELEMENT", help="modify.")] = None,
    move: Annotated[list[str] | None, typer.Option("--move", metavar="FROM=TO", help="modify.")] = None,
    to: Annotated[
        int, typer.Option("--to", metavar="KEY", help="migrate, restart: the version.", show_default=False)
    ] = 0,
    mapping: Annotated[list[str] | None, typer.Option("--map", metavar="FROM=TO", help="migrate.")] = None,
    before: Annotated[list[str] | None, typer.Option("--before", metavar="ELEMENT", help="restart.")] = None,
    after: Annotated[list[str] | None, typer.Option("--after", metavar="ELEMENT", help="restart.")] = None,
    variables: Annotated[str, typer.Option("--variables", help="restart: last, initial or none.")] = "",
    per_second: Annotated[float, typer.Option("--per-second", help="At most so many.", show_default=False)] = 0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would happen, and change nothing.")] = False,
    wait: Wait = False,
    yes: Yes = False,
) -> None:
    """Begin an operation over all instances of a filter.

    It goes on by itself, in the processes that work; batches shows how far it is. Where no filter is said, you are
    asked.
    """
    which = _said(process_id=process_id, business_id=business_id, with_incident=with_incident, tag=tag, state=state)
    how = _said(
        reason=reason,
        retries=retries,
        activate=activate,
        move=dict(pair(text, "--move") for text in move or ()),
        target_process_definition_key=to if kind != "restart" else 0,
        process_definition_key=to if kind == "restart" else 0,
        mapping=dict(pair(text, "--map") for text in mapping or ()),
        before=before,
        after=after,
        variables=variables,
    )
    if dry_run:
        _show_trial(run(lambda app: app.try_batch(kind, which=which, **how)))
        return

    async def work(app: Procession) -> None:
        if not which:
            total = (await app.try_batch(kind, **how)).total
            confirm(f"No filter is said: {kind} {screen.counted(total, 'item')} of all processes?", total, yes=yes)
        await follow(app, await app.batch(kind, per_second=per_second, which=which, **how), wait=wait)

    run(work)


def _said(**values: Any) -> Any:  # noqa: ANN401 - options of many types
    """The options that were said."""
    return {name: value for name, value in values.items() if value}


def _show_trial(trial: BatchTrial) -> None:
    """What would happen. Ends with exit code 1 when something would be refused."""
    if options().json:
        screen.json(trial.to_dict())
    else:
        screen.line(f"{trial.kind} would mean {screen.counted(trial.total, 'item')}; nothing was changed")
        if trial.tried < trial.total:
            screen.note((f"Only the first {trial.tried} were tried", "dim"))
        _show_errors(trial.errors, len(trial.errors))
    if trial.errors:
        raise typer.Exit(REJECTED)


async def follow(app: Procession, key: int, *, wait: bool) -> None:
    """Say that a batch has begun, and show how far it is until its end if asked."""
    begun = await app.batch_progress(key)
    if not options().json:
        screen.line(f"Batch {key}: {begun.kind} {screen.counted(begun.total, 'item')}")
        if not await app.nodes():
            screen.note("No process works on this database: it begins when one does (procession work, dev)")
    if wait:
        await _wait(app, begun)
    elif options().json:
        screen.json(begun.to_dict())


async def _wait(app: Procession, begun: Batch) -> None:
    """A bar until a batch is over, then how it ended. Ends with exit code 1 if items failed, or if it was canceled."""
    import asyncio  # noqa: PLC0415 - `--help` needs no event loop

    found = begun
    with screen.progress(begun.kind, begun.total, quiet=options().json) as bar:
        while found.state == "ACTIVE" or found.open:
            await asyncio.sleep(LOOK_S)
            found = await app.batch_progress(begun.batch_key)
            bar.to(found.done + found.failed)
    await _show_one(app, found, 0, ERRORS)
    if found.failed or found.state == "CANCELED":
        raise typer.Exit(REJECTED)


@with_options
def batches(
    *,
    key: Annotated[int, typer.Argument(metavar="[BATCH]", help="One: with its errors.", show_default=False)] = 0,
    cancel: Annotated[bool, typer.Option("--cancel", help="Begin no more of it.")] = False,
    suspend: Annotated[bool, typer.Option("--suspend", help="Let it rest.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Let it go on that rests.")] = False,
    retry: Annotated[bool, typer.Option("--retry", help="Do its failed items again, as another batch.")] = False,
    wait: Wait = False,
    after: Annotated[
        int, typer.Option("--after", metavar="KEY", help="Go on after this batch, or this error.", show_default=False)
    ] = 0,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=PAGE_MAX, help="How many.")] = 50,
) -> None:
    """List operations over many instances.

    How many items are done, how many failed; of one batch also why.
    """
    if (cancel or suspend or resume or retry or wait) and not key:
        message = "Name the batch by its key"
        raise typer.BadParameter(message)
    if (cancel or suspend) + (resume or retry or wait) > 1 or (cancel and suspend) or (resume and retry):
        message = "Say one of --cancel, --suspend, --resume and --retry; --wait goes with --resume and --retry"
        raise typer.BadParameter(message)

    async def work(app: Procession) -> None:
        if cancel:
            await app.cancel_batch(key)
        if suspend:
            await app.suspend_batch(key)
        if resume:
            await app.resume_batch(key)
        if retry:
            await follow(app, await app.retry_batch(key), wait=wait)
        elif wait:
            await _wait(app, await app.batch_progress(key))
        elif key:
            await _show_one(app, await app.batch_progress(key), after, limit)
        else:
            _show(await app.batches(after=after, limit=limit), limit)

    run(work)


def _show(rows: list[Batch], limit: int) -> None:
    """A page of batches."""
    if options().json:
        screen.views(rows)
        return
    if not rows:
        screen.note("There is no batch: procession batch begins one.")
        return
    _table(rows)
    screen.more(rows, limit, rows[-1].batch_key)


async def _show_one(app: Procession, row: Batch, after: int, limit: int) -> None:
    """One batch with its errors."""
    errors = await app.batch_errors(row.batch_key, after=after, limit=limit) if row.failed else []
    if options().json:
        screen.json({**row.to_dict(), "errors": [each.to_dict() for each in errors]})
        return
    _table([row])
    _show_errors(errors, limit)
    if row.failed and row.state not in {"ACTIVE", "SUSPENDED"}:
        screen.note((f"procession batches {row.batch_key} --retry does the failed items again", "dim"))


def _show_errors(errors: list[BatchError], limit: int) -> None:
    """Why items failed."""
    for each in errors:
        screen.paragraph(f"{each.key}: {each.message}", indent=2)
    if errors:
        screen.more(errors, limit, errors[-1].key)


def _table(rows: list[Batch]) -> None:
    """Batches, one a line."""
    columns = (
        KEY,
        Column("what"),
        Column("state", whole=True),
        Column("of", right=True),
        Column("done", right=True),
        Column("failed", right=True),
        Column("started", whole=True, rank=1),
        Column("ended", whole=True, rank=2),
        Column("retries", whole=True, rank=3),
    )
    screen.table(columns, [_row(row) for row in rows])


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
        screen.key(row.retry_of),
    )
